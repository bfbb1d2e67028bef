"""Materials in which an outcome never comes up, from what was counted of all positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tablebase.manifest import Statistics
from tablebase.material import Material


@dataclass(frozen=True, slots=True)
class AbsentOutcomes:
    """Materials in which the side named first never wins, draws or loses, each as text.

    Attributes:
        won, drawn, lost: with that side to move.
        won_by_turns, drawn_by_turns, lost_by_turns: whoever is to move.
    """

    won: tuple[str, ...]
    drawn: tuple[str, ...]
    lost: tuple[str, ...]
    won_by_turns: tuple[str, ...]
    drawn_by_turns: tuple[str, ...]
    lost_by_turns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Counts:
    won: int
    drawn: int
    lost: int


def absent_outcomes(counted: Iterable[Statistics], on_the_board: bool) -> AbsentOutcomes:
    """Which outcomes never come up.

    Args:
        counted: what was counted, of each material and of its mirror.
        on_the_board: whether a cursed win is a win and a blessed loss a loss, or both are draws.
    """
    moving = {each.material: _counts(each, on_the_board) for each in counted}
    by_turns = {name: _by_turns(moving, name) for name in moving}

    def without(outcome: str, counts: Mapping[str, _Counts]) -> tuple[str, ...]:
        return tuple(name for name, count in counts.items() if not getattr(count, outcome))

    outcomes = ("won", "drawn", "lost")
    return AbsentOutcomes(
        *(without(outcome, counts) for counts in (moving, by_turns) for outcome in outcomes)
    )


def _counts(counted: Statistics, on_the_board: bool) -> _Counts:
    won, drawn, lost = counted.win, counted.draw, counted.loss
    if on_the_board:
        return _Counts(won + counted.cursed_win, drawn, lost + counted.blessed_loss)
    return _Counts(won, drawn + counted.cursed_win + counted.blessed_loss, lost)


def _by_turns(moving: Mapping[str, _Counts], name: str) -> _Counts:
    """The outcomes of the side named first, with it and with the other side to move."""
    own, other = moving[name], moving[str(Material.parse(name).mirror)]
    return _Counts(own.won + other.lost, own.drawn + other.drawn, own.lost + other.won)
