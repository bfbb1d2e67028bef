"""Draw rules and rulesets as plain data for JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict, TypeVar, cast

from tablebase.board.counters import CounterName
from tablebase.board.position import Color
from tablebase.rules.clock import RuleState, Unit, unit_of
from tablebase.rules.ruleset import Claim, Limit, Repeats, Rule, RuleName, Ruleset
from tablebase.rules.scope import MOST, Road


class RuleStateReport(TypedDict):
    """What a draw rule says about a position and its game."""

    rule: Annotated[str, RuleName, "the rule"]
    article: Annotated[str, "where it stands in the text"]
    applies: Annotated[bool, "whether it can make a draw in this position at all"]
    count: Annotated[int, "how far it has come, in units"]
    limit: Annotated[int, "how far it may come: reaching it makes the draw"]
    unit: Annotated[str, Unit, "what is counted"]
    remaining: Annotated[int, "how many more units, at least, until the limit is reached"]
    fired: Annotated[bool | None, "whether it makes a draw here; null where no table tells"]
    claim: Annotated[str, Claim, "how the draw comes about once it has fired"]
    stronger: Annotated[str | None, Color, "the side whose moves or whose win it is about"]


_Report = TypeVar("_Report")


def copy_fields(report: type[_Report], source: object) -> _Report:
    """Return a report whose fields are the attributes of an object that have the same names.

    Numbers, truth values and None stay, a tuple becomes a list, and any other value becomes its text.

    Args:
        report: a `TypedDict`, whose fields are attributes of `source` in the order of the report.
        source: the object.
    """
    fields = {name: _plain(getattr(source, name)) for name in report.__annotations__}
    return cast(_Report, fields)


def _plain(value: object) -> object:
    if value is None or isinstance(value, int):
        return value
    return [_plain(item) for item in value] if isinstance(value, tuple) else str(value)


def rules_report(states: Iterable[RuleState]) -> list[RuleStateReport]:
    """Return what draw rules say about a position and its game."""
    return [copy_fields(RuleStateReport, state) for state in states]


class ForceReport(TypedDict):
    """What one side may have."""

    kings: Annotated[list[int | None], "the least and the greatest number of kings; null for no bound"]
    men: Annotated[list[int | None], "the least and the greatest number of men; null for no bound"]


class RuleLimitReport(TypedDict):
    """A limit of a draw rule, and the positions it is about."""

    rule: Annotated[str, RuleName, "the rule"]
    article: Annotated[str, "where the limit stands in the text"]
    claim: Annotated[str, Claim, "how the draw comes about"]
    counter: Annotated[str, CounterName, "which counter is looked at"]
    limit: Annotated[int, "how far it may come"]
    unit: Annotated[str, Unit, "in what"]
    pieces: Annotated[
        list[int | None], "the least and the greatest number of pieces on the board; null for no bound"
    ]
    both_kings: Annotated[bool, "whether both sides must have kings"]
    against_lone_king: Annotated[
        list[ForceReport] | None,
        "what the one side may have where the other has a king alone; null: no lone king is asked for",
    ]
    road: Annotated[str, Road, "what is asked of the main road"]
    unless_won: Annotated[bool, "whether it spares what the stronger side wins on the board"]


class RulesetReport(TypedDict):
    """A ruleset."""

    name: Annotated[str, "as the parameter ruleset has it"]
    source: Annotated[str, "which text it is taken from"]
    tables: Annotated[
        str | None, "the ruleset whose tables tell outcomes under it from fresh counters; null where none do"
    ]
    repeats: Annotated[str, Repeats, "what the rule on repetition counts"]
    rules: Annotated[list[RuleLimitReport], "the limits of its rules"]


class RulesetsReport(TypedDict):
    """Every ruleset that this version knows."""

    rulesets: Annotated[list[RulesetReport], "all of them"]


def rulesets_report(rulesets: Iterable[Ruleset]) -> RulesetsReport:
    """Return the rulesets, in their order."""
    return {
        "rulesets": [
            {
                "name": ruleset.name,
                "source": ruleset.source,
                "tables": ruleset.tables,
                "repeats": str(ruleset.repeats),
                "rules": [
                    _limit_report(limit, rule, ruleset) for rule in ruleset.rules for limit in rule.limits
                ],
            }
            for ruleset in rulesets
        ]
    }


def _limit_report(limit: Limit, rule: Rule, ruleset: Ruleset) -> RuleLimitReport:
    counter, most = limit.thresholds[0]
    scope = limit.scope
    forces = scope.against_lone_king
    return {
        "rule": str(rule.name),
        "article": limit.article,
        "claim": str(rule.claim),
        "counter": str(counter),
        "limit": most,
        "unit": str(unit_of(limit, ruleset)),
        "pieces": _bounds(scope.pieces),
        "both_kings": scope.both_kings,
        "against_lone_king": None
        if forces is None
        else [{"kings": _bounds(force.kings), "men": _bounds(force.men)} for force in forces],
        "road": str(scope.road),
        "unless_won": limit.unless_won,
    }


def _bounds(bounds: tuple[int, int]) -> list[int | None]:
    least, most = bounds
    return [least, None if most == MOST else most]
