"""Outcomes and distances of positions and moves, and the order of moves from best to worst."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from math import inf

from tablebase.errors import ArgumentError
from tablebase.rules.rulesets import Ruleset


class Outcome(Enum):
    """The result of best play by both sides under the draw rules, for the side to move.

    A cursed win is won without draw rules but drawn under them. A blessed loss is the opponent's view of a
    cursed win. The words are those of Syzygy's chess tablebases. `str` gives the text that files, the command
    line and HTTP use.
    """

    WIN = "win"
    CURSED_WIN = "cursed-win"
    DRAW = "draw"
    BLESSED_LOSS = "blessed-loss"
    LOSS = "loss"
    UNKNOWN = "unknown"

    def __str__(self) -> str:
        return self.value

    @property
    def wdl(self) -> int | None:
        """The outcome as a number from 2 (win) to -2 (loss); None if it is unknown."""
        return _WDL_OF.get(self)

    @classmethod
    def from_wdl(cls, wdl: int) -> Outcome:
        """Return the outcome for a number from -2 to 2.

        Raises:
            ArgumentError: the number is not one of these.
        """
        try:
            return _OUTCOME_OF[wdl]
        except KeyError:
            raise ArgumentError(f"{wdl} is not an outcome; outcomes are -2, -1, 0, 1, 2") from None

    def __neg__(self) -> Outcome:
        """Return the outcome for the opponent."""
        return self if (wdl := self.wdl) is None else _OUTCOME_OF[-wdl]

    @property
    def is_decided(self) -> bool:
        """Whether the outcome is a win or a loss under the draw rules."""
        return self in (Outcome.WIN, Outcome.LOSS)


_WDL_OF = {
    Outcome.WIN: 2,
    Outcome.CURSED_WIN: 1,
    Outcome.DRAW: 0,
    Outcome.BLESSED_LOSS: -1,
    Outcome.LOSS: -2,
}
_OUTCOME_OF = {wdl: outcome for outcome, wdl in _WDL_OF.items()}

_AGED = {Outcome.WIN: Outcome.CURSED_WIN, Outcome.LOSS: Outcome.BLESSED_LOSS}


class RulesOutcome(StrEnum):
    """How a game in progress ends when both sides play best, its counters as they are."""

    WIN = "win"
    MAYBE_WIN = "maybe-win"
    """A win or a draw: won without draw rules, and not proved that the rules leave time for it."""
    DRAW = "draw"
    MAYBE_LOSS = "maybe-loss"
    """A loss or a draw."""
    LOSS = "loss"
    UNKNOWN = "unknown"

    def __neg__(self) -> RulesOutcome:
        """Return the same outcome as the opponent sees it."""
        return _OPPOSITE.get(self, self)

    @property
    def rank(self) -> int | None:
        """1 for a win, 0 for a draw, -1 for a loss; None for the other three."""
        return _RANK.get(self)


_RANK = {RulesOutcome.WIN: 1, RulesOutcome.DRAW: 0, RulesOutcome.LOSS: -1}
_OPPOSITE = {
    RulesOutcome.WIN: RulesOutcome.LOSS,
    RulesOutcome.MAYBE_WIN: RulesOutcome.MAYBE_LOSS,
    RulesOutcome.MAYBE_LOSS: RulesOutcome.MAYBE_WIN,
    RulesOutcome.LOSS: RulesOutcome.WIN,
}


@dataclass(frozen=True, slots=True)
class Probe:
    """The value of a position or move for the side to move, from fresh counters.

    All distances are in plies. A distance that no table holds is None.

    Attributes:
        outcome: the outcome under the draw rules.
        dtc: distance to the next zeroing move of either side, or to the end of the game, in a line that keeps
            the outcome. None unless the outcome is a win or a loss.
        dtw: distance to the end of the game without draw rules: the winner plays for the shortest way, the
            loser for the longest. None for a draw without draw rules.
        dtb: distance to the next balance change (a capture or a promotion), or to the end of the game. It is
            the least number of plies left of the `balance` count for which the outcome stands, while the
            count of king moves is fresh. None unless the outcome is a win or a loss, and None if the rules
            set no `balance` limit: a side has no king, or the number of pieces has no limit. (A game that is
            over has 0 in any case.)
    """

    outcome: Outcome
    dtc: int | None = None
    dtw: int | None = None
    dtb: int | None = None

    @property
    def wdl(self) -> int | None:
        """The outcome as a number from 2 (win) to -2 (loss); None if it is unknown."""
        return self.outcome.wdl


UNKNOWN = Probe(Outcome.UNKNOWN)
"""The value of a position without a table."""

LOST = Probe(Outcome.LOSS, dtc=0, dtw=0, dtb=0)
"""The value of a position whose side to move has no legal move: the only way to lose a game."""


def move_value(
    after: Probe, zeroing: bool, balance_change: bool, rules: Ruleset, balance_plies: int | None = None
) -> Probe:
    """Return the value of a move for the player who makes it, with distances from before the move.

    `after` assumes fresh counters, but a king move has been counted. If the opponent loses in exactly the
    plies that the rules allow, the move is therefore a cursed win. Likewise, a move without a balance change
    has been counted by the rule `balance`. If `after` is decided but its DTC or DTB is None, this cannot be
    known, and the outcome is that of fresh counters.

    Args:
        after: the value of the position after the move, for the opponent.
        zeroing: whether the move is a capture or the move of a man.
        balance_change: whether the move is a capture or a promotion.
        rules: the ruleset that `after` assumes.
        balance_plies: the plies that the rules allow between two balance changes, with the pieces before the
            move; None for no limit.
    """
    outcome = -after.outcome
    dtw = None if after.dtw is None else after.dtw + 1
    if not outcome.is_decided:
        return Probe(outcome, None, dtw)
    dtc = _further(after.dtc, zeroing)
    dtb = _further(after.dtb, balance_change)
    if not zeroing and dtc is not None and rules.exceeds(dtc):
        return Probe(_AGED[outcome], None, dtw)
    if not balance_change and dtb is not None and balance_plies is not None and dtb > balance_plies:
        return Probe(_AGED[outcome], None, dtw)
    return Probe(outcome, dtc, dtw, dtb)


def _further(distance: int | None, reached: bool) -> int | None:
    """Return a distance from one ply earlier; `reached` if that ply reaches the goal."""
    if reached:
        return 1
    return None if distance is None else distance + 1


SortKey = tuple[int, tuple[float, ...], str]


def move_order(value: Probe, notation: str) -> SortKey:
    """Return the key that sorts the moves of a position from best to worst.

    The order is: wins by rising DTC, then rising DTW; cursed wins by rising DTW; draws; blessed losses by
    falling DTW; losses by falling DTC, then falling DTW; unknown moves. Equal moves are sorted by notation. A
    distance of None comes after the known ones.

    Args:
        value: the value of the move, from `move_value`.
        notation: the text of the move.
    """
    match value.outcome:
        case Outcome.WIN:
            return 0, _soonest(value.dtc, value.dtw), notation
        case Outcome.CURSED_WIN:
            return 1, _soonest(value.dtw), notation
        case Outcome.DRAW:
            return 2, (), notation
        case Outcome.BLESSED_LOSS:
            return 3, _latest(value.dtw), notation
        case Outcome.LOSS:
            return 4, _latest(value.dtc, value.dtw), notation
        case Outcome.UNKNOWN:
            return 5, (), notation


def rules_move_order(outcome: RulesOutcome, searched: bool, value: Probe, notation: str) -> SortKey:
    """Return the key that sorts the moves of a game in progress, best first.

    Wins come first, by DTB, DTC, DTW, all rising; wins proved by the tables come before searched ones. So a
    player who always plays the first move comes nearer to the end with each. Moves that may win follow in the
    same order. Draws are next, by their values without draw rules. Moves that may lose come after them, then
    losses, both by DTB, DTC, DTW, all falling. Unknown moves are last. Ties go by notation.

    Args:
        outcome: the outcome of the move under the rules, counters as they are.
        searched: whether it took a search to tell.
        value: the move's own value from fresh counters, as `move_value` gives it.
        notation: the move as text.
    """
    distances = value.dtb, value.dtc, value.dtw
    match outcome:
        case RulesOutcome.WIN:
            return 1 if searched else 0, _soonest(*distances), notation
        case RulesOutcome.MAYBE_WIN:
            return 2, _soonest(*distances), notation
        case RulesOutcome.DRAW:
            wdl, length = value.wdl or 0, value.dtw or 0
            return 3, (-wdl, length if wdl > 0 else -length), notation
        case RulesOutcome.MAYBE_LOSS:
            return 4, _latest(*distances), notation
        case RulesOutcome.LOSS:
            return 5, _latest(*distances), notation
        case RulesOutcome.UNKNOWN:
            return 6, (), notation


def _soonest(*distances: int | None) -> tuple[float, ...]:
    return tuple(inf if plies is None else plies for plies in distances)


def _latest(*distances: int | None) -> tuple[float, ...]:
    return tuple(inf if plies is None else -plies for plies in distances)
