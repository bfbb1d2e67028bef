"""A line: best play of both sides from a position on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile

from tablebase.board.position import Color, Move, Position
from tablebase.rules.clock import RuleState
from tablebase.rules.outcome import Outcome, Probe
from tablebase.rules.ruleset import cite


@dataclass(frozen=True, slots=True)
class MoveValue:
    """A legal move and what it is worth to the player who makes it.

    Attributes:
        move: the move.
        outcome: the outcome under the draw rules, for the player who makes it.
        dtc: the move's own DTC in plies, counted from before it: 1 if it zeroes or ends the game; None unless
            the outcome is a win or a loss, or where it is not known.
        dtw: the move's own DTW in plies, counted from before it; None for a draw on the board, or not known.
        dtb: the move's own DTB in plies, counted from before it: 1 for a capture or a promotion, or if it
            ends the game; None unless the outcome is a win or a loss, where the rules do not count the
            balance in the position before it, or where it is not known.
        after: the position after it.
        probe_after: the value of that position, for the opponent; `UNKNOWN` where there is no table for it.
    """

    move: Move
    outcome: Outcome
    dtc: int | None
    dtw: int | None
    dtb: int | None
    after: Position
    probe_after: Probe

    @property
    def wdl(self) -> int | None:
        """The outcome as a number, 2 (win) to -2 (loss); None where it is unknown."""
        return self.outcome.wdl


class LineEnd(StrEnum):
    """Why a line stops."""

    GAME_OVER = "game-over"
    DRAW = "draw"
    LIMIT = "limit"
    UNKNOWN = "unknown"


def lost_in_words(position: Position) -> str:
    """Why the side to move of a position has lost, which has no move in it, as a sentence."""
    why = "has no move" if position.own_men | position.own_kings else "has no pieces left"
    return f"{position.turn.capitalize()} {why}: {position.turn.other.capitalize()} wins."


@dataclass(frozen=True, slots=True)
class Line:
    """Best play of both sides.

    Attributes:
        moves: the moves, first to last, each with its value to the player who makes it.
        positions: the positions, one more than there are moves: before the first move, and after each.
        end: why the line stops: the game is over; it is a draw under the rules from here on; the limit of
            plies is reached; or the best move cannot be told, since a table is missing.
        winner: who has won, where the game is over; None otherwise.
        counted_out: whether the end is a draw that the 15-king-moves rule has made on the way: as many king
            moves in a row have been played as it allows.
        fired: the rules that have made the draw at the end, where the line was played under a ruleset.
    """

    moves: tuple[MoveValue, ...]
    positions: tuple[Position, ...]
    end: LineEnd
    winner: Color | None = None
    counted_out: bool = False
    fired: tuple[RuleState, ...] = ()

    @property
    def reason(self) -> str:
        """Why the line stops, as a sentence."""
        last = self.positions[-1]
        match self.end:
            case LineEnd.GAME_OVER:
                return lost_in_words(last)
            case LineEnd.DRAW if self.fired:
                rules = " and ".join(f"{state.rule}, {cite(state.article)}" for state in self.fired)
                return f"A draw by the rules: {rules}."
            case LineEnd.DRAW if self.counted_out:
                plies = len(list(takewhile(lambda move: not move.move.zeroing, reversed(self.moves))))
                return (
                    f"The 15-king-moves rule makes it a draw: {plies} plies in a row by kings only, "
                    "without a capture."
                )
            case LineEnd.DRAW:
                return "From here on the game is a draw."
            case LineEnd.LIMIT:
                return f"The limit of {len(self.moves)} plies is reached."
            case LineEnd.UNKNOWN:
                return f"No table tells the best move of {last.to_fen()}."
