"""Outcomes and distances: what a position is worth, what a move to it is worth, and which move is better."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from math import inf

from tablebase.errors import ArgumentError
from tablebase.rules.rulesets import Ruleset


class Outcome(Enum):
    """How the game ends under the draw rules, for the side to move, when both sides play best.

    A cursed win is won on the board but drawn under the move-count rules; a blessed loss is its other side.
    The text of an outcome (`str`) is the same everywhere: files, command line, HTTP.
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
        """The outcome as a number, 2 (win) to -2 (loss); None where it is unknown."""
        return _WDL_OF.get(self)

    @classmethod
    def from_wdl(cls, wdl: int) -> Outcome:
        """The outcome of a number from -2 to 2. Raises ArgumentError for any other."""
        try:
            return _OUTCOME_OF[wdl]
        except KeyError:
            raise ArgumentError(f"{wdl} is no outcome; outcomes are -2, -1, 0, 1, 2") from None

    def __neg__(self) -> Outcome:
        """The same outcome as the opponent sees it."""
        return self if (wdl := self.wdl) is None else _OUTCOME_OF[-wdl]

    @property
    def is_decided(self) -> bool:
        """Whether it is a win or a loss under the rules."""
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
    """What a position, or a move, is worth to the player whose turn it is, from a fresh count.

    Attributes:
        outcome: the outcome under the draw rules.
        dtc: plies to the next zeroing move or the end of the game, whoever makes it, in a line that keeps the
            outcome; None unless the outcome is a win or a loss, or where it is not known.
        dtw: plies to the end of the game on the board, both sides playing best for length and without draw
            rules; None for a draw on the board, or where it is not known.
        dtb: plies to the next balance change (a capture or a promotion) or the end of the game: the fewest
            that have to be left of the count of the balance of forces for the outcome to stand, while the
            count of king moves is fresh. None unless the outcome is a win or a loss; where the rules do not
            count the balance, as a side has no king or there is no limit for so many pieces; or where it is
            not known. (A game that is over has 0, whatever is counted.)
    """

    outcome: Outcome
    dtc: int | None = None
    dtw: int | None = None
    dtb: int | None = None

    @property
    def wdl(self) -> int | None:
        """The outcome as a number, 2 (win) to -2 (loss); None where it is unknown."""
        return self.outcome.wdl


UNKNOWN = Probe(Outcome.UNKNOWN)
"""The value of a position that is in no table."""

LOST = Probe(Outcome.LOSS, dtc=0, dtw=0, dtb=0)
"""The value of a side without a move, or without pieces: the one way in which a game ends."""


def move_value(
    after: Probe, zeroing: bool, balance_change: bool, rules: Ruleset, balance_plies: int | None = None
) -> Probe:
    """What a move is worth to the player who makes it, distances counted from before the move.

    Args:
        after: the value of the position after the move, for the opponent.
        zeroing: whether the move is a capture or the move of a man.
        balance_change: whether it is a capture or a promotion.
        rules: the ruleset that `after` assumes.
        balance_plies: what it allows from one balance change to the next with the pieces before the move;
            None for no limit.

    The outcome of the position after a king move is one from a fresh count, but the king move itself has
    been counted: a loss in as many plies as the rules allow at all is, one ply earlier, a cursed win. The
    same goes for any move but a balance change and the plies of the balance. Where `after` is decided but its
    DTC or DTB is not known (a set without such tables) this cannot be told, and the outcome is the fresh one.
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
    """A distance a ply earlier; `reached`: by that very ply."""
    if reached:
        return 1
    return None if distance is None else distance + 1


SortKey = tuple[int, tuple[float, ...], str]


def move_order(value: Probe, notation: str) -> SortKey:
    """Return the key that sorts moves by their values from fresh counters, best first.

    The kinds are wins (DTC, then DTW, both rising), cursed wins (DTW rising), draws, blessed losses (DTW
    falling), losses (DTC, then DTW, both falling), unknown moves. Ties go by notation. A distance that is not
    known comes after the known ones of its kind.

    Args:
        value: the move's own value, as `move_value` gives it.
        notation: the move as text.
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
