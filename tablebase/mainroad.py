"""How soon a lone king can be forced off the main road: an exact search, on top of the tables."""

from __future__ import annotations

from tablebase.board import Color, Position
from tablebase.drawrules import OFFICIAL
from tablebase.errors import DamagedTableError
from tablebase.rules import legal_moves, position_after
from tablebase.ruleset import RuleName
from tablebase.scope import Scope
from tablebase.tablebase import Tablebase

# The longest way to the end of a game, in the stronger side's moves, that is believed without a DTW.
_LONGEST = 200


_RULE = OFFICIAL.rule(RuleName.MAIN_ROAD)
assert _RULE is not None
OFFICIAL_CASE = _RULE.limits[0].scope
"""The case of the official rule: three kings, two kings and a man, or a king and two men against a lone king
on the main road a1-h8."""


class MainRoadSearch:
    """The least number of own moves in which the stronger side ends the main-road case and keeps its win.

    The stronger side plays only moves after which it still wins on the board, the lone king any legal move.
    The case has ended when, after a move of either side, the lone king is captured, has no move, or stands
    off the road, or when it has captured something. One search may be asked about any number of positions.

    Args:
        tablebase: tells which moves keep the win.
        stronger: the side that has more than a king.
        case: the positions of the case, by which forces there are and where the lone king stands.
    """

    def __init__(self, tablebase: Tablebase, stronger: Color, case: Scope = OFFICIAL_CASE) -> None:
        self._tablebase = tablebase
        self._stronger = stronger
        self._case = case
        # Of each position: so many moves have been found to be enough, perhaps not the least; and too few.
        self._enough: dict[Position, int] = {}
        self._too_few: dict[Position, int] = {}
        self._after: dict[Position, list[Position]] = {}
        self._keeps: dict[Position, bool] = {}
        self._replies: dict[Position, list[Position]] = {}

    def moves_needed(self, position: Position, longest: int = _LONGEST) -> int:
        """The least number of the stronger side's own moves that force the end of the case.

        Args:
            position: one of the case, with either side to move, that the stronger side wins on the board.
            longest: the stronger side's moves to the end of the game, which ends the case too.

        Raises:
            MissingTableError: a table that the search needs is not there.
            DamagedTableError: the tables hold no such way, so that they contradict each other.
        """
        for moves in range(longest + 1):
            if position.turn is self._stronger:
                forced = moves > 0 and self._forces(position, moves)
            else:
                forced = self._cannot_stay(position, moves)
            if forced:
                return moves
        raise DamagedTableError(
            f"the tables contradict each other: {position.to_fen()} is a win, "
            f"but no way within {longest} moves leads to its end; check them with `shashki verify`"
        )

    def _forces(self, position: Position, moves: int) -> bool:
        """Whether so many moves are enough, the first of them to be made now."""
        if moves >= self._enough.get(position, moves + 1):
            return True
        if moves <= self._too_few.get(position, 0):
            return False
        # A short way, where there is one, is found far sooner than one of as many moves as are allowed.
        if moves > 1 and self._forces(position, moves - 1):
            return True
        for after in self._positions_after(position):
            # The reply is looked at first where it is cheaper than the tables: at the last move.
            if moves == 1 and self._replies_that_stay(after):
                continue
            if self._keeps_the_win(after) and self._cannot_stay(after, moves - 1):
                self._enough[position] = moves
                return True
        self._too_few[position] = moves
        return False

    def _cannot_stay(self, position: Position, moves: int) -> bool:
        """Whether the lone king, to move, has no way to uphold the case for more than so many moves."""
        replies = self._replies_that_stay(position)
        return not replies or (moves > 0 and all(self._forces(reply, moves) for reply in replies))

    def _positions_after(self, position: Position) -> list[Position]:
        if position not in self._after:
            self._after[position] = [position_after(position, move) for move in legal_moves(position)]
        return self._after[position]

    def _keeps_the_win(self, position: Position) -> bool:
        if position not in self._keeps:
            self._keeps[position] = self._tablebase.probe_wdl(position) < 0
        return self._keeps[position]

    def _replies_that_stay(self, position: Position) -> list[Position]:
        if position not in self._replies:
            after = (position_after(position, move) for move in legal_moves(position))
            self._replies[position] = [
                reply for reply in after if self._stronger in self._case.stronger(reply)
            ]
        return self._replies[position]
