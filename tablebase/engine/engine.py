"""The engine: the best move by the tables, or by a shallow search where they do not tell it.

Captures are always followed to their end. What the tables hold is taken from them, from fresh counts;
elsewhere the pieces are counted at the horizon. Draw rules are not looked at: they hardly matter where there
is so much on the board. The same question with the same depth has the same answer; with a limit of time it
need not have it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from tablebase.board.position import Move, Position, legal_moves, position_after
from tablebase.board.squares import FIRST_ROW
from tablebase.games.prospect import RulesOutcome
from tablebase.games.search import RuledMove, RuleSearch, unknown_that_matters
from tablebase.rules.clock import Clock

if TYPE_CHECKING:
    from tablebase.probe.tablebase import Tablebase


DEPTH = 6
"""Plies that are looked ahead where nothing limits the search. That takes a second or two with all pieces on
the board, less with fewer."""

DEEPEST = 64
"""Plies, at the most: where there is only a limit of time."""

WON = 100_000
"""The value of a win, less the plies to where it is known; all values are in hundredths of a man."""

_SURE_NODES = 2_000
"""Positions that the first ply may look at, whatever the limits: half a second, and more than it takes but
for boards full of kings, whose captures one after another may be hundreds of thousands."""

_MAN, _KING, _ROW = 100, 300, 2


@dataclass(frozen=True, slots=True)
class Found:
    """What a search has found.

    Attributes:
        move: the best move.
        value: what it is worth to the player who makes it, in hundredths of a man; `WON` less some plies
            where it wins.
        depth: how many plies were looked ahead.
        nodes: how many positions were looked at.
    """

    move: Move
    value: int
    depth: int
    nodes: int


Stop = Callable[[], bool]
"""Whether a search is to end at once; it asks every few milliseconds."""


def never() -> bool:
    """A search that nobody stops."""
    return False


class _Stopped(Exception):
    """The time is over, or enough positions have been looked at, or somebody has said stop."""


class ShallowSearch:
    """Searches of one set of tables. One thread at a time may use it.

    Args:
        tablebase: the tables.
    """

    def __init__(self, tablebase: Tablebase) -> None:
        self._tablebase = tablebase
        self._nodes = self._sure_nodes = 0
        self._most_nodes = self._deadline = inf
        self._stop: Stop = never

    def best(
        self,
        position: Position,
        moves: Sequence[Move],
        depth: int = DEPTH,
        seconds: float | None = None,
        nodes: int | None = None,
        stop: Stop = never,
    ) -> Found:
        """The best of some legal moves of a position, one at least.

        Args:
            position: the position.
            moves: what to choose among.
            depth: how many plies to look ahead, at the most.
            seconds: for how long, at the most; None sets no limit.
            nodes: how many positions to look at, at the most; None sets no limit.
            stop: whether to end at once. One ply is looked ahead in any case, whatever the limits, unless its
                captures take too long to follow: then the first move is the answer, of value 0 and depth 0.

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase has been closed.
        """
        self._nodes, self._sure_nodes, self._stop = 0, _SURE_NODES, stop
        self._most_nodes = inf if nodes is None else nodes
        self._deadline = inf if seconds is None else time.monotonic() + seconds
        order, found = list(moves), Found(moves[0], 0, 0, 0)
        for plies in range(1, max(1, depth) + 1):
            try:
                valued = self._valued(position, order, plies)
            except _Stopped:
                break
            value, move = valued[0]
            found = Found(move, value, plies, self._nodes)
            order = [move for _, move in valued]
            self._sure_nodes = 0
            if len(moves) == 1 or abs(value) >= WON - DEEPEST or self._is_over():
                break
        return found

    def _is_over(self) -> bool:
        return self._nodes >= self._most_nodes or time.monotonic() >= self._deadline or self._stop()

    def _valued(self, position: Position, moves: list[Move], depth: int) -> list[tuple[int, Move]]:
        """The moves, the best first; of the others the order is that in which they came."""
        best, first = -WON - 1, moves[0]
        for move in moves:
            value = -self._value(position_after(position, move), depth - 1, 1, -WON - 1, -best)
            if value > best:
                best, first = value, move
        return [(best, first), *((best, move) for move in moves if move is not first)]

    def _value(self, position: Position, depth: int, ply: int, alpha: int, beta: int) -> int:
        self._nodes += 1
        if self._nodes > self._sure_nodes and (
            self._nodes > self._most_nodes or (self._nodes % 256 == 0 and self._is_over())
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
        # Of more pieces they know positions with a capture alone, which are followed here anyway.
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
    """The pieces of the side to move against the others, and how far the men have come."""
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


LONGEST_SECONDS = 10.0
"""For how long a shallow search looks ahead where nothing limits its time: however deep it is to go."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a search may take; the tables take none of it.

    Attributes:
        depth: plies that a shallow search looks ahead, at the most; None: `DEPTH`, or as many as the time
            or the nodes allow where these are limited.
        seconds: for how long, at the most; None: `LONGEST_SECONDS`.
        nodes: how many positions a shallow search looks at, at the most, but for the first ply; None: any.
    """

    depth: int | None = None
    seconds: float | None = None
    nodes: int | None = None

    @property
    def plies(self) -> int:
        """The depth that holds."""
        if self.depth is not None:
            return min(self.depth, DEEPEST)
        return DEPTH if self.seconds is None and self.nodes is None else DEEPEST


@dataclass(frozen=True, slots=True)
class Choice:
    """A move that was chosen.

    Attributes:
        move: the move.
        ruled: what it is worth under the rules, counters as they are; its prospect is `UNKNOWN` where the
            tables do not tell.
        found: what a shallow search has found of it; None where the tables told which move is best.
    """

    move: Move
    ruled: RuledMove
    found: Found | None = None


class Engine:
    """Chooses moves. One thread at a time may use it.

    Args:
        tablebase: the tables.
    """

    def __init__(self, tablebase: Tablebase) -> None:
        self._by_tables = RuleSearch(tablebase)
        self._by_search = ShallowSearch(tablebase)

    def choose(self, clock: Clock, limits: Limits | None = None, stop: Stop = never) -> Choice | None:
        """The move to make; None where the side to move has lost.

        Where the tables tell the best move under the rules of the game, counters as they are, it is that.
        Where a move whose worth they do not tell may be better than all of which they do, those are searched,
        and the best of them is compared with the best one known.

        Args:
            clock: the game.
            limits: how much a search may take; None: what `Limits` has.
            stop: whether a search is to end at once, with the best move so far.

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase has been closed.
        """
        moves = self._by_tables.playable_moves(clock)
        if not moves:
            return None
        first = moves[0]
        if unknown_that_matters(moves) is None:
            return Choice(first.move, first)
        limits = limits or Limits()
        unknown = {ruled.move: ruled for ruled in moves if ruled.prospect is RulesOutcome.UNKNOWN}
        seconds = LONGEST_SECONDS if limits.seconds is None else limits.seconds
        found = self._by_search.best(clock.position, list(unknown), limits.plies, seconds, limits.nodes, stop)
        if found.value <= _KNOWN_VALUES.get(first.prospect, -WON - 1):
            return Choice(first.move, first)
        return Choice(found.move, unknown[found.move], found)
