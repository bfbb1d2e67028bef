"""What the draw rules say of a game, as plain data for JSON: the same in the API and the command line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict

from tablebase.board import Color
from tablebase.clock import RuleState, Unit
from tablebase.ruleset import Claim, RuleName


class RuleStateReport(TypedDict):
    """What a draw rule says of a position and its game."""

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


def rules_report(states: Iterable[RuleState]) -> list[RuleStateReport]:
    """What draw rules say of a position and its game."""
    return [
        {
            "rule": str(state.rule),
            "article": state.article,
            "applies": state.applies,
            "count": state.count,
            "limit": state.limit,
            "unit": str(state.unit),
            "remaining": state.remaining,
            "fired": state.fired,
            "claim": str(state.claim),
            "stronger": None if state.stronger is None else str(state.stronger),
        }
        for state in states
    ]
