"""Moves with their values, and lines: best play of both sides from a position on."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from tablebase.board.position import Color, Move, Position
from tablebase.errors import MissingTableError
from tablebase.rules.clock import RuleState
from tablebase.rules.outcome import Outcome, Probe
from tablebase.rules.ruleset import cite


@dataclass(frozen=True, slots=True)
class MoveValue:
    """A legal move with its value for the player who makes it, from fresh counters.

    All distances are in plies, counted from before the move. A distance is None if its table is missing.

    Attributes:
        move: the move.
        outcome: the outcome under the draw rules.
        dtc: the DTC; 1 if the move zeroes or ends the game. None unless the outcome is a win or a loss.
        dtw: the DTW; None for a draw without draw rules.
        dtb: the DTB; 1 for a capture, a promotion or a move that ends the game. None unless the outcome is a
            win or a loss, and None if the rules do not count the balance in the position before the move.
        after: the position after the move.
        probe_after: the value of that position for the opponent; `UNKNOWN` if its table is missing.
    """

    move: Move
    outcome: Outcome
    dtc: int | None
    dtw: int | None
    dtb: int | None
    after: Position
    probe_after: Probe

    @property
    def probe(self) -> Probe:
        """The outcome and the distances of the move as one value."""
        return Probe(self.outcome, self.dtc, self.dtw, self.dtb)

    @property
    def wdl(self) -> int | None:
        """The outcome as a number, 2 (win) to -2 (loss); None if it is unknown."""
        return self.outcome.wdl


class LineEnd(StrEnum):
    """The reason why a line stops."""

    GAME_OVER = "game-over"
    DRAW = "draw"
    LIMIT = "limit"
    UNKNOWN = "unknown"


def lost_in_words(position: Position) -> str:
    """Return a sentence that says why the side to move has lost; the position has no legal move."""
    why = "has no move" if position.own_men | position.own_kings else "has no pieces left"
    return f"{position.turn.capitalize()} {why}: {position.turn.other.capitalize()} wins."


@dataclass(frozen=True, slots=True)
class Line:
    """A line of best play of both sides.

    Attributes:
        moves: the moves, first to last, each with its value for the player who makes it.
        positions: the positions before the first move and after each move; one more than `moves`.
        end: why the line stops. The game is over, it is a draw, the limit of plies is reached, or the best
            move is unknown because a table is missing.
        winner: the winner if the game is over; None otherwise.
        fired: the rules that have made the draw at the end; empty if it is a draw without draw rules.
        missing: the error that names the missing table, if the end is `UNKNOWN`; None otherwise.
    """

    moves: tuple[MoveValue, ...]
    positions: tuple[Position, ...]
    end: LineEnd
    winner: Color | None = None
    fired: tuple[RuleState, ...] = ()
    missing: MissingTableError | None = field(default=None, compare=False)

    @property
    def reason(self) -> str:
        """A sentence that says why the line stops."""
        last = self.positions[-1]
        match self.end:
            case LineEnd.GAME_OVER:
                return lost_in_words(last)
            case LineEnd.DRAW if self.fired:
                rules = " and ".join(f"{state.rule}, {cite(state.article)}" for state in self.fired)
                return f"A draw by the rules: {rules}."
            case LineEnd.DRAW:
                return "From here on the game is a draw."
            case LineEnd.LIMIT:
                return f"The limit of {len(self.moves)} plies is reached."
            case LineEnd.UNKNOWN:
                return f"The best move in {last.to_fen()} is unknown: a table is missing."
