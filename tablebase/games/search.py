"""Outcomes, moves and lines of games in progress, by a search over the tables.

The bounds of `tablebase.games.prospect` decide most positions. Where they leave a `maybe`, the search follows
the moves of both sides with their counters. It stops where the tables prove each line, or after a number of
positions; then the outcome stays a `maybe`. It looks at all moves of a position or at none.

The search never repeats a position. A winner who can win from the second visit, with less of every count
left, could have won from the first. Repetitions before the search began do count.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from tablebase.board.position import Color, Move, Position, legal_moves
from tablebase.errors import ArgumentError, MissingTableError
from tablebase.games.prospect import prospect_of
from tablebase.probe.line import Line, LineEnd, MoveValue
from tablebase.probe.tablebase import Tablebase
from tablebase.rules.clock import BoardWon, Clock, GameStatus, RuleState
from tablebase.rules.outcome import Outcome, Probe, RulesOutcome, SortKey, rules_move_order
from tablebase.rules.ruleset import Claim, Repeats, RuleName


def win_oracle(tablebase: Tablebase) -> BoardWon:
    """Return a function that answers whether a side wins a position without draw rules.

    `Clock.states` and `Clock.ruling` take it as `board_won`. A cursed win counts as a win: only a rule makes
    it a draw. The answer is None if a table is missing.

    The function raises TableError if a table cannot be read, and ClosedError if the tablebase is closed.
    """

    def board_won(position: Position, color: Color) -> bool | None:
        outcome = tablebase.get_probe(position).outcome
        if outcome is Outcome.UNKNOWN:
            return None
        own = outcome if position.turn is color else -outcome
        return own in (Outcome.WIN, Outcome.CURSED_WIN)

    return board_won


MAX_NODES = 5000
"""Default limit of positions for one search. Under the official rules hardly any search needs as many. Under
lidraughts some do, and take about a second."""


@dataclass(frozen=True, slots=True)
class RuledMove:
    """A legal move of a game in progress.

    Attributes:
        value: the move with its value from fresh counters.
        clock: the game after the move.
        prospect: the rules outcome of the move for the player who makes it.
        searched: whether the tables alone did not decide it, so that it was searched.
    """

    value: MoveValue
    clock: Clock
    prospect: RulesOutcome
    searched: bool = False

    @property
    def move(self) -> Move:
        """The move."""
        return self.value.move


class RuleSearch:
    """Rules outcomes, moves and lines of games in progress. One thread at a time may use it.

    Args:
        tablebase: the tables.
        max_nodes: limit of positions for one search; 0 turns the search off.
        max_total_nodes: limit of positions for all searches of this object together; None sets no limit.
    """

    def __init__(
        self, tablebase: Tablebase, max_nodes: int = MAX_NODES, max_total_nodes: int | None = None
    ) -> None:
        self._tablebase = tablebase
        self._max_nodes = max_nodes
        self._max_total_nodes = max_total_nodes
        self._left = 0
        self._board_won = win_oracle(tablebase)
        self._found: dict[_Node, bool | None] = {}
        self._probes: dict[Position, Probe] = {}

    def prospect(
        self, clock: Clock, verdict: GameStatus | None = None, probe: Probe | None = None
    ) -> RulesOutcome:
        """Return the rules outcome of a game for its side to move; `UNKNOWN` if a table is missing.

        Args:
            clock: the game.
            verdict: the status of the game by its rules; None computes it.
            probe: the value of its position from fresh counters; None probes it.

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        found = self._by_tables(clock, clock.seen_twice, probe, verdict)
        if _is_open(found):
            self._begin()
            found = self._by_search(clock, found)
        return found

    def evaluate(
        self, clock: Clock, verdict: GameStatus, probe: Probe
    ) -> tuple[RulesOutcome, list[RuledMove]]:
        """Return the rules outcome of a game and its `moves`, from one search.

        Args:
            clock: the game.
            verdict: the status of the game by its rules.
            probe: the value of its position from fresh counters.

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        moves = self.moves(clock)
        found = self._by_tables(clock, clock.seen_twice, probe, verdict)
        if _is_open(found) and moves and unknown_that_matters(moves) is None:
            best = moves[0].prospect
            found = found if _is_open(best) else best
        return found, moves

    def moves(self, clock: Clock) -> list[RuledMove]:
        """Return every legal move of a game, best first by `rules_move_order`; none if the game is lost.

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        return self._searched(clock, self._moves_by_tables(clock))

    def best_move(self, clock: Clock) -> RuledMove | None:
        """Return the best move of a game; None if the side to move has lost.

        A player who always plays this move wins every game that is won under the rules.

        >>> from tablebase import Clock, Position, Tablebase
        >>> with Tablebase() as tablebase:  # the move wins at once, so no table is needed
        ...     print(RuleSearch(tablebase).best_move(Clock.start(Position.from_fen("W:Wc3:Bd4"))).move)
        c3:e5

        Raises:
            MissingTableError: a move leads to a position without a table, and may be the best one.
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        moves = self.playable_moves(clock)
        if (missing := self._missing_table(moves)) is not None:
            raise missing
        return moves[0] if moves else None

    def playable_moves(self, clock: Clock) -> list[RuledMove]:
        """Return `moves`, but without a search if the tables prove that the first one wins.

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        by_tables = self._moves_by_tables(clock)
        first = min(by_tables, key=_sort_key, default=None)
        if first is not None and first.prospect is RulesOutcome.WIN:
            return sorted(by_tables, key=_sort_key)
        return self._searched(clock, by_tables)

    def _searched(self, clock: Clock, found: list[RuledMove]) -> list[RuledMove]:
        """Search the moves that the tables leave open, and sort all."""
        self._begin()
        for at, move in enumerate(found):
            if _is_open(move.prospect):
                prospect = -self._by_search(move.clock, -move.prospect)
                found[at] = RuledMove(move.value, move.clock, prospect, True)
        return sorted(found, key=_sort_key)

    def line(self, clock: Clock, limit: int = 500) -> Line:
        """Return the line of best play of both sides under the rules.

        A draw that only the rules make, such as a cursed win, is played until they make it. A draw without
        draw rules ends the line. From fresh counters: `line(Clock.start(position))`.

        Args:
            clock: the game at the first position of the line.
            limit: the largest number of plies.

        Raises:
            ArgumentError: the limit is negative.
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        if limit < 0:
            raise ArgumentError(f"the limit of a line is 0 plies or more, not {limit}")
        played: list[MoveValue] = []
        positions = [clock.position]

        def ends(end: LineEnd, winner: Color | None = None, fired: tuple[RuleState, ...] = ()) -> Line:
            return Line(tuple(played), tuple(positions), end, winner, fired=fired)

        while True:
            ruling = clock.ruling(self._board_won)
            if ruling.verdict is GameStatus.DRAWN:
                return ends(LineEnd.DRAW, fired=ruling.fired)
            moves = self.playable_moves(clock)
            if not moves:
                return ends(LineEnd.GAME_OVER, clock.position.turn.other)
            best = moves[0]
            missing = self._missing_table(moves)
            if missing is None and ruling.verdict is GameStatus.UNDETERMINED:
                # A rule spares won positions, and no table tells whether this one is won.
                missing = self._tablebase.missing_table(clock.position)
            if missing is not None:
                return Line(tuple(played), tuple(positions), LineEnd.UNKNOWN, missing=missing)
            if best.prospect is RulesOutcome.DRAW and best.value.outcome is Outcome.DRAW:
                return ends(LineEnd.DRAW)
            if len(played) >= limit:
                return ends(LineEnd.LIMIT)
            clock = best.clock
            played.append(best.value)
            positions.append(clock.position)

    def _missing_table(self, moves: list[RuledMove]) -> MissingTableError | None:
        """Return the error of a move without a table that may be better than the first; None if none is."""
        unknown = unknown_that_matters(moves)
        return None if unknown is None else self._tablebase.missing_table(unknown.clock.position)

    def _moves_by_tables(self, clock: Clock) -> list[RuledMove]:
        found = []
        for value in self._tablebase.moves(clock.position):
            after = clock.play_unchecked(value.move)
            prospect = -self._by_tables(after, after.seen_twice, value.probe_after)
            found.append(RuledMove(value, after, prospect))
        return found

    def _by_tables(
        self,
        clock: Clock,
        seen_twice: frozenset[Position],
        probe: Probe | None = None,
        verdict: GameStatus | None = None,
    ) -> RulesOutcome:
        tablebase = self._tablebase
        if probe is None:
            probe = tablebase.get_probe(clock.position)
        if verdict is None:
            verdict = clock.verdict(self._board_won)
        twice = [tablebase.get_probe(position) for position in seen_twice]
        return prospect_of(clock, verdict, probe, tablebase.ruleset, twice)

    def _begin(self) -> None:
        """Prepare a search: reset its limit of positions, and drop the results of the last one."""
        self._left = (
            self._max_nodes if self._max_total_nodes is None else min(self._max_nodes, self._max_total_nodes)
        )
        self._found.clear()
        self._probes.clear()

    def _by_search(self, clock: Clock, found: RulesOutcome) -> RulesOutcome:
        """Search a position that the tables leave open; return `found` if the search does not decide it."""
        if clock.ruleset.repeats is Repeats.MOVES:
            return found  # earlier moves count under this rule, so no two nodes would be the same
        turn, winner = clock.position.turn, _may_win(found, clock)
        won = self._is_won(clock.without_history(), clock.seen_twice, winner)
        if won is None:
            return found
        if not won:
            return RulesOutcome.DRAW
        return RulesOutcome.WIN if winner is turn else RulesOutcome.LOSS

    def _is_won(self, clock: Clock, seen_twice: frozenset[Position], winner: Color) -> bool | None:
        """Whether the side that wins without draw rules wins under them; None if this is not decided."""
        node = clock.position, clock.counters, seen_twice
        if node in self._found:
            return self._found[node]
        if self._left <= 0:
            return None
        self._found[node] = won = self._look_ahead(clock, seen_twice, winner)
        return won

    def _look_ahead(self, clock: Clock, seen_twice: frozenset[Position], winner: Color) -> bool | None:
        aim = clock.position.turn is winner  # the answer that the side to move wants
        is_left_open = False
        open_moves: list[tuple[float, float, int, Clock, frozenset[Position]]] = []
        moves = legal_moves(clock.position)
        self._left -= len(moves)
        if self._max_total_nodes is not None:
            self._max_total_nodes -= len(moves)
        for move in moves:
            after = clock.play_unchecked(move).without_history()
            twice = frozenset[Position]() if move.zeroing else seen_twice
            if after.position in twice and self._makes_a_draw(after, winner):
                won: bool | None = False
            else:
                # The same position comes up with other counters, too.
                probe = self._probes.get(after.position)
                if probe is None:
                    probe = self._probes[after.position] = self._tablebase.get_probe(after.position)
                found = self._by_tables(after, twice, probe)
                if _is_open(found) and _may_win(found, after) is winner:
                    open_moves.append((*_promise(probe, aim), len(open_moves), after, twice))
                    continue
                won = None if found is RulesOutcome.UNKNOWN else _is_win_of(found, after, winner)
            if won is aim:
                return aim
            is_left_open |= won is None
        for *_, after, twice in sorted(open_moves, key=lambda entry: entry[:3]):
            won = self._is_won(after, twice, winner)
            if won is aim:
                return aim
            is_left_open |= won is None
        return None if is_left_open else not aim

    def _makes_a_draw(self, clock: Clock, winner: Color) -> bool:
        """Whether the third occurrence of a position lets the other side draw."""
        rule = clock.ruleset.rule(RuleName.REPETITION)
        if rule is None:
            return False
        return rule.claim is not Claim.SIDE_TO_MOVE or clock.position.turn is not winner


_Node = tuple[Position, object, frozenset[Position]]


def unknown_that_matters(moves: list[RuledMove]) -> RuledMove | None:
    """Return an unknown move that may be better than the first of `moves`, which are sorted; else None."""
    if moves and moves[0].prospect is not RulesOutcome.WIN and moves[-1].prospect is RulesOutcome.UNKNOWN:
        return moves[-1]
    return None


def _is_open(prospect: RulesOutcome) -> bool:
    return prospect in (RulesOutcome.MAYBE_WIN, RulesOutcome.MAYBE_LOSS)


def _may_win(prospect: RulesOutcome, clock: Clock) -> Color:
    """Return the side that wins without draw rules; `prospect` is open."""
    turn = clock.position.turn
    return turn if prospect is RulesOutcome.MAYBE_WIN else turn.other


def _is_win_of(prospect: RulesOutcome, clock: Clock, winner: Color) -> bool:
    return prospect is (RulesOutcome.WIN if clock.position.turn is winner else RulesOutcome.LOSS)


def _promise(probe: Probe, nearest_first: bool) -> tuple[float, float]:
    """Return the key that sorts open moves for the search, most promising first.

    The winner tries the moves nearest to a zeroing move first, the other side the moves farthest from it.
    """
    dtc = inf if probe.dtc is None else probe.dtc
    dtb = inf if probe.dtb is None else probe.dtb
    return (dtc, dtb) if nearest_first else (-dtc, -dtb)


def _sort_key(move: RuledMove) -> SortKey:
    return rules_move_order(move.prospect, move.searched, move.value.probe, str(move.move))
