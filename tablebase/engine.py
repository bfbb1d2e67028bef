"""A player: the move to make in a game, by the tables, and by a shallow search where they do not tell it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tablebase.clock import Clock
from tablebase.prospect import Prospect
from tablebase.rules import Move
from tablebase.rulesearch import RuledMove, RuleSearch, unknown_that_matters
from tablebase.shallowsearch import DEEPEST, DEPTH, WON, Found, ShallowSearch, Stop, never

if TYPE_CHECKING:
    from tablebase.tablebase import Tablebase

_KNOWN_VALUES = {
    Prospect.WIN: WON,
    Prospect.MAYBE_WIN: WON // 2,
    Prospect.DRAW: 0,
    Prospect.MAYBE_LOSS: -WON // 2,
    Prospect.LOSS: -WON,
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
        moves = self._by_tables.moves_to_play(clock)
        if not moves:
            return None
        first = moves[0]
        if unknown_that_matters(moves) is None:
            return Choice(first.move, first)
        limits = limits or Limits()
        unknown = {ruled.move: ruled for ruled in moves if ruled.prospect is Prospect.UNKNOWN}
        seconds = LONGEST_SECONDS if limits.seconds is None else limits.seconds
        found = self._by_search.best(clock.position, list(unknown), limits.plies, seconds, limits.nodes, stop)
        if found.value <= _KNOWN_VALUES.get(first.prospect, -WON - 1):
            return Choice(first.move, first)
        return Choice(found.move, unknown[found.move], found)
