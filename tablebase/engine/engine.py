"""The engine: the best move by the tables, or by a shallow search if they do not decide it.

The search follows captures to their end. It takes values from the tables, from fresh counters, and evaluates
other positions by their pieces. It ignores draw rules, which hardly matter with so many pieces. The same
search to the same depth has the same result; with a limit of time it may not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from tablebase.board.position import Move, Position, legal_moves, position_after
from tablebase.board.squares import FIRST_ROW
from tablebase.games.search import RuledMove, RuleSearch, unknown_that_matters
from tablebase.probe.tablebase import Tablebase
from tablebase.rules.clock import Clock
from tablebase.rules.outcome import RulesOutcome

DEPTH = 6
"""Default depth in plies. It takes a second or two with all pieces on the board, less with fewer."""

MAX_DEPTH = 64
"""Largest depth in plies; it applies if only time or nodes limit the search."""

WON = 100_000
"""The value of a win, less the plies to the position where it is known. Values are in hundredths of a man."""

_MIN_NODES = 2_000
"""Positions that the first ply may visit in spite of the limits: half a second. It needs more only on boards
full of kings, with hundreds of thousands of captures in sequence."""

_MAN, _KING, _ROW = 100, 300, 2


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a shallow search.

    Attributes:
        move: the best move.
        value: its value for the player who makes it, in hundredths of a man; `WON` less some plies if it
            wins.
        depth: the depth searched, in plies.
        nodes: the number of positions visited.
    """

    move: Move
    value: int
    depth: int
    nodes: int


Stop = Callable[[], bool]
"""A function that returns whether a search must stop; the search calls it every few milliseconds."""


def never() -> bool:
    """Return False: the search runs to its limits."""
    return False


class _Stopped(Exception):
    """A limit of time or positions is reached, or `stop` returned True."""


class ShallowSearch:
    """An alpha-beta search of a few plies that probes the tables. One thread at a time may use it.

    Args:
        tablebase: the tables.
    """

    def __init__(self, tablebase: Tablebase) -> None:
        self._tablebase = tablebase
        self._nodes = self._min_nodes = 0
        self._max_nodes = self._deadline = inf
        self._stop: Stop = never

    def best(
        self,
        position: Position,
        moves: Sequence[Move],
        depth: int = DEPTH,
        seconds: float | None = None,
        nodes: int | None = None,
        stop: Stop = never,
    ) -> SearchResult:
        """Return the best of some legal moves of a position.

        The search completes one ply in spite of all limits. If even its captures take too long, the result is
        the first move with value 0 and depth 0.

        Args:
            position: the position.
            moves: the moves to choose from, at least one.
            depth: limit of the depth, in plies.
            seconds: limit of the time; None sets no limit.
            nodes: limit of the positions visited; None sets no limit.
            stop: returns whether the search must stop.

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        self._nodes, self._min_nodes, self._stop = 0, _MIN_NODES, stop
        self._max_nodes = inf if nodes is None else nodes
        self._deadline = inf if seconds is None else time.monotonic() + seconds
        order, found = list(moves), SearchResult(moves[0], 0, 0, 0)
        for plies in range(1, max(1, depth) + 1):
            try:
                valued = self._valued(position, order, plies)
            except _Stopped:
                break
            value, move = valued[0]
            found = SearchResult(move, value, plies, self._nodes)
            order = [move for _, move in valued]
            self._min_nodes = 0
            if len(moves) == 1 or abs(value) >= WON - MAX_DEPTH or self._is_over():
                break
        return found

    def _is_over(self) -> bool:
        return self._nodes >= self._max_nodes or time.monotonic() >= self._deadline or self._stop()

    def _valued(self, position: Position, moves: list[Move], depth: int) -> list[tuple[int, Move]]:
        """Return the moves, the best one first and the others in their order."""
        best, first = -WON - 1, moves[0]
        for move in moves:
            value = -self._value(position_after(position, move), depth - 1, 1, -WON - 1, -best)
            if value > best:
                best, first = value, move
        return [(best, first), *((best, move) for move in moves if move is not first)]

    def _value(self, position: Position, depth: int, ply: int, alpha: int, beta: int) -> int:
        self._nodes += 1
        if self._nodes > self._min_nodes and (
            self._nodes > self._max_nodes or (self._nodes % 256 == 0 and self._is_over())
        ):
            raise _Stopped
        moves = legal_moves(position)
        if not moves:
            return ply - WON
        known = self._by_tables(position, ply)
        if known is not None:
            return known
        if depth <= 0 and not moves[0].is_capture:
            return _material(position)
        for move in moves:
            value = -self._value(position_after(position, move), depth - 1, ply + 1, -beta, -alpha)
            if value >= beta:
                return value
            alpha = max(alpha, value)
        return alpha

    def _by_tables(self, position: Position, ply: int) -> int | None:
        # With more pieces only positions with a capture have values, and the search follows captures anyway.
        if position.pieces > self._tablebase.pieces:
            return None
        match self._tablebase.get_wdl(position):
            case None:
                return None
            case 2:
                return WON - ply
            case -2:
                return ply - WON
            case _:
                return 0


def _material(position: Position) -> int:
    """Return the value of the pieces for the side to move; men count more on later rows."""
    own = _MAN * position.own_men.bit_count() + _KING * position.own_kings.bit_count()
    other = _MAN * position.other_men.bit_count() + _KING * position.other_kings.bit_count()
    rows = sum(
        row * ((position.own_men >> 4 * row) & FIRST_ROW).bit_count()
        - (7 - row) * ((position.other_men >> 4 * row) & FIRST_ROW).bit_count()
        for row in range(8)
    )
    return own - other + _ROW * rows


_KNOWN_VALUES = {
    RulesOutcome.WIN: WON,
    RulesOutcome.MAYBE_WIN: WON // 2,
    RulesOutcome.DRAW: 0,
    RulesOutcome.MAYBE_LOSS: -WON // 2,
    RulesOutcome.LOSS: -WON,
}


MAX_SECONDS = 10.0
"""Limit of time for a shallow search without a limit of its own, in seconds."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a shallow search.

    Attributes:
        depth: limit of the depth, in plies. None means `MAX_DEPTH` if time or nodes are limited, else
            `DEPTH`.
        seconds: limit of the time; None means `MAX_SECONDS`.
        nodes: limit of the positions visited after the first ply; None sets no limit.
    """

    depth: int | None = None
    seconds: float | None = None
    nodes: int | None = None

    @property
    def plies(self) -> int:
        """The limit of the depth, defaults applied."""
        if self.depth is not None:
            return min(self.depth, MAX_DEPTH)
        return DEPTH if self.seconds is None and self.nodes is None else MAX_DEPTH


@dataclass(frozen=True, slots=True)
class Choice:
    """The move that the engine chose.

    Attributes:
        move: the move.
        ruled: the move with its rules outcome, which is `UNKNOWN` if the tables do not decide it.
        found: the result of the shallow search; None if the tables decided which move is best.
    """

    move: Move
    ruled: RuledMove
    found: SearchResult | None = None


class Engine:
    """A player that chooses moves by tables and search. One thread at a time may use it.

    Args:
        tablebase: the tables.
    """

    def __init__(self, tablebase: Tablebase) -> None:
        self._by_tables = RuleSearch(tablebase)
        self._by_search = ShallowSearch(tablebase)

    def choose(self, clock: Clock, limits: Limits | None = None, stop: Stop = never) -> Choice | None:
        """Return the move to play; None if the side to move has lost.

        This is the best move under the rules of the game if the tables decide it. If an unknown move may be
        better, the unknown moves are searched, and the best of them is compared with the best known one.

        Args:
            clock: the game.
            limits: limits of the search; None means `Limits()`.
            stop: returns whether the search must stop and return the best move so far.

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        moves = self._by_tables.playable_moves(clock)
        if not moves:
            return None
        first = moves[0]
        if unknown_that_matters(moves) is None:
            return Choice(first.move, first)
        limits = limits or Limits()
        unknown = {ruled.move: ruled for ruled in moves if ruled.prospect is RulesOutcome.UNKNOWN}
        seconds = MAX_SECONDS if limits.seconds is None else limits.seconds
        found = self._by_search.best(clock.position, list(unknown), limits.plies, seconds, limits.nodes, stop)
        if found.value <= _KNOWN_VALUES.get(first.prospect, -WON - 1):
            return Choice(first.move, first)
        return Choice(found.move, unknown[found.move], found)
