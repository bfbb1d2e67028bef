"""What the draw rules say of a game, as plain data for JSON: the same in the API and the command line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from tablebase.clock import RuleState


class RuleStateReport(TypedDict):
    """What a draw rule says: the attributes of a `RuleState`, enumerations as their texts."""

    rule: str
    article: str
    applies: bool
    count: int
    limit: int
    unit: str
    remaining: int
    fired: bool | None
    claim: str
    stronger: str | None


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
