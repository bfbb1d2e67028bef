"""What the rulesets are, as plain data for JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from tablebase.clock import unit_of
from tablebase.ruleset import Limit, Rule, Ruleset
from tablebase.scope import MOST


class ForceReport(TypedDict):
    """What one side may have: the least and the greatest number of its kings and of its men, None for no
    bound."""

    kings: list[int | None]
    men: list[int | None]


class RuleLimitReport(TypedDict):
    """A limit of a draw rule: the attributes of a `Limit`, of its rule and of its scope."""

    rule: str
    article: str
    claim: str
    counter: str
    limit: int
    unit: str
    pieces: list[int | None]
    both_kings: bool
    against_lone_king: list[ForceReport] | None
    road: str
    unless_won: bool


class RulesetReport(TypedDict):
    """A ruleset: where it is taken from, whose tables tell outcomes under it, and the limits of its rules."""

    name: str
    source: str
    tables: str | None
    repeats: str
    rules: list[RuleLimitReport]


class RulesetsReport(TypedDict):
    """Every ruleset that this version knows."""

    rulesets: list[RulesetReport]


def rulesets_report(rulesets: Iterable[Ruleset]) -> RulesetsReport:
    """The rulesets, in their order."""
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
