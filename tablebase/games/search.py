"""Outcomes and moves under the draw rules of a game, by search over the tables.

Tables tell most of it (`tablebase.games.prospect`). Where they leave a `maybe`, the moves of both sides are
looked at, counters and all, until the tables prove each line, or until as many positions have been looked at
as were allowed (all that the moves of one lead to are looked at, or none): then it stays a `maybe`.

The search treads no position twice for the sake of the winner: who can win from the second visit, with less
left of every count, could have done so from the first. What has come up before it began does count.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from tablebase.board.position import Color, Move, Position, legal_moves
from tablebase.errors import ArgumentError
from tablebase.games.prospect import RulesOutcome, prospect_of
from tablebase.probe.line import Line, LineEnd, MoveValue
from tablebase.rules.clock import BoardWon, Clock, GameStatus, RuleState
from tablebase.rules.outcome import Outcome, Probe
from tablebase.rules.ruleset import Claim, Repeats, RuleName

if TYPE_CHECKING:
    from tablebase.probe.tablebase import Tablebase


def win_oracle(tablebase: Tablebase) -> BoardWon:
    """A `board_won` for `Clock.states` and `Clock.ruling`: what the tables say, None where there is no table.

    A cursed win counts as won: it is won on the board, and only a rule makes a draw of it. The function
    raises what `Tablebase.get_probe` does.
    """

    def board_won(position: Position, color: Color) -> bool | None:
        outcome = tablebase.get_probe(position).outcome
        if outcome is Outcome.UNKNOWN:
            return None
        own = outcome if position.turn is color else -outcome
        return own in (Outcome.WIN, Outcome.CURSED_WIN)

    return board_won


EFFORT = 5000
"""How many positions a search looks at by default, at the most. Under the official rules hardly any takes so
many; where they would not be enough, as under lidraughts, that takes about a second."""


@dataclass(frozen=True, slots=True)
class RuledMove:
    """A legal move of a game in progress.

    Attributes:
        value: the move and what it is worth from fresh counters.
        clock: the game after it.
        prospect: what it is worth under the rules, counters as they are, to the player who makes it.
        searched: whether it took a search to tell, or to leave it open.
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
    """Answers about games in progress from a set of tables. One thread at a time may use it.

    Args:
        tablebase: the tables.
        effort: how many positions one question may look at where the tables alone do not tell; 0 asks these
            alone.
        in_all: how many all questions together may look at; None sets no limit.
    """

    def __init__(self, tablebase: Tablebase, effort: int = EFFORT, in_all: int | None = None) -> None:
        self._tablebase = tablebase
        self._effort = effort
        self._in_all = in_all
        self._left = 0
        self._board_won = win_oracle(tablebase)
        self._found: dict[_Node, bool | None] = {}
        self._probes: dict[Position, Probe] = {}

    def prospect(
        self, clock: Clock, verdict: GameStatus | None = None, probe: Probe | None = None
    ) -> RulesOutcome:
        """What the position of a clock is worth to its side to move. `UNKNOWN` where a table is missing.

        Args:
            clock: the game.
            verdict: what the rules say of it, if that is known.
            probe: what the position is worth from fresh counters, if that is known.

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase has been closed.
        """
        found = self._by_tables(clock, clock.seen_twice, probe, verdict)
        if _is_open(found):
            self._begin()
            found = self._by_search(clock, found)
        return found

    def told(self, clock: Clock, verdict: GameStatus, probe: Probe) -> tuple[RulesOutcome, list[RuledMove]]:
        """What the position of a clock is worth, and its `moves`: one search tells both.

        Args:
            clock: the game.
            verdict: what the rules say of it.
            probe: what the position is worth from fresh counters.

        Raises as `prospect` does.
        """
        moves = self.moves(clock)
        found = self._by_tables(clock, clock.seen_twice, probe, verdict)
        if _is_open(found) and moves and unknown_that_matters(moves) is None:
            best = moves[0].prospect
            found = found if _is_open(best) else best
        return found, moves

    def moves(self, clock: Clock) -> list[RuledMove]:
        """Every legal move, best first; none where the side to move has lost.

        Wins come first, then what may be a win, draws, what may be a loss, losses, unknown moves. Wins by
        DTB, DTC, DTW, all rising, those that the tables prove before those that took a search: who always
        plays the first comes nearer to the end with every move. Losses the other way round. Draws by what
        they are worth on the board. Raises as `prospect` does.
        """
        return self._searched(clock, self._moves_by_tables(clock))

    def best_move(self, clock: Clock) -> RuledMove | None:
        """The first of `moves`; None if the side to move has lost.

        A player that plays these moves from a position that is won under the rules wins before a rule makes a
        draw of it.

        Raises:
            MissingTableError: no table has the position after some move, which may be better than all moves
                with a known value.
            TableError: a table cannot be read.
            ClosedError: the tablebase has been closed.
        """
        moves = self.playable_moves(clock)
        if (unknown := unknown_that_matters(moves)) is not None:
            self._tablebase.probe(unknown.clock.position)  # raises the error that names the table
        return moves[0] if moves else None

    def playable_moves(self, clock: Clock) -> list[RuledMove]:
        """As `moves`, but where the tables tell that the first one wins, others may be left open that a
        search could settle. Raises as `prospect` does."""
        by_tables = self._moves_by_tables(clock)
        first = min(by_tables, key=_order, default=None)
        if first is not None and first.prospect is RulesOutcome.WIN:
            return sorted(by_tables, key=_order)
        return self._searched(clock, by_tables)

    def _searched(self, clock: Clock, found: list[RuledMove]) -> list[RuledMove]:
        """The moves in their order, what the tables leave open looked at."""
        self._begin()
        for at, move in enumerate(found):
            if _is_open(move.prospect):
                prospect = -self._by_search(move.clock, -move.prospect)
                found[at] = RuledMove(move.value, move.clock, prospect, True)
        return sorted(found, key=_order)

    def line(self, clock: Clock, limit: int = 500) -> Line:
        """Best play of both sides under the rules, up to the end of the game, or as far as it goes.

        What only the rules draw is played on until they do; what is drawn on the board is not.

        Args:
            clock: the game where the line begins.
            limit: the most plies to play.

        Raises:
            ArgumentError: the limit is negative.
            TableError: a table is there but cannot be read.
        """
        if limit < 0:
            raise ArgumentError(f"a line has a limit of 0 plies or more, not {limit}")
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
            if ruling.verdict is GameStatus.UNDETERMINED or unknown_that_matters(moves) is not None:
                return ends(LineEnd.UNKNOWN)
            if best.prospect is RulesOutcome.DRAW and best.value.outcome is Outcome.DRAW:
                return ends(LineEnd.DRAW)
            if len(played) >= limit:
                return ends(LineEnd.LIMIT)
            clock = best.clock
            played.append(best.value)
            positions.append(clock.position)

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
        """Begin the search of a question."""
        self._left = self._effort if self._in_all is None else min(self._effort, self._in_all)
        self._found.clear()
        self._probes.clear()

    def _by_search(self, clock: Clock, found: RulesOutcome) -> RulesOutcome:
        """What a search makes of a position that the tables leave open."""
        if clock.ruleset.repeats is Repeats.MOVES:
            return found  # what has been moved before counts here, and grows with every ply
        turn, winner = clock.position.turn, _may_win(found, clock)
        won = self._is_won(clock.without_history(), clock.seen_twice, winner)
        if won is None:
            return found
        if not won:
            return RulesOutcome.DRAW
        return RulesOutcome.WIN if winner is turn else RulesOutcome.LOSS

    def _is_won(self, clock: Clock, seen_twice: frozenset[Position], winner: Color) -> bool | None:
        """Whether the winner on the board wins under the rules; None where that has not been found out."""
        node = clock.position, clock.counters, seen_twice
        if node in self._found:
            return self._found[node]
        if self._left <= 0:
            return None
        self._found[node] = won = self._look_ahead(clock, seen_twice, winner)
        return won

    def _look_ahead(self, clock: Clock, seen_twice: frozenset[Position], winner: Color) -> bool | None:
        aim = clock.position.turn is winner  # what the side to move would like to hear
        is_left_open = False
        open_moves: list[tuple[float, float, int, Clock, frozenset[Position]]] = []
        moves = legal_moves(clock.position)
        self._left -= len(moves)
        if self._in_all is not None:
            self._in_all -= len(moves)
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
                    open_moves.append((*_nearness(probe, aim), len(open_moves), after, twice))
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
        """Whether the other side can have a draw because the position has come up for the third time."""
        rule = clock.ruleset.rule(RuleName.REPETITION)
        if rule is None:
            return False
        return rule.claim is not Claim.SIDE_TO_MOVE or clock.position.turn is not winner


_Node = tuple[Position, object, frozenset[Position]]


def unknown_that_matters(moves: list[RuledMove]) -> RuledMove | None:
    """Of moves, best first, one of unknown worth that may be better than the first, if there is any."""
    if moves and moves[0].prospect is not RulesOutcome.WIN and moves[-1].prospect is RulesOutcome.UNKNOWN:
        return moves[-1]
    return None


def _is_open(prospect: RulesOutcome) -> bool:
    return prospect in (RulesOutcome.MAYBE_WIN, RulesOutcome.MAYBE_LOSS)


def _may_win(prospect: RulesOutcome, clock: Clock) -> Color:
    """The side that wins on the board, of an open prospect."""
    turn = clock.position.turn
    return turn if prospect is RulesOutcome.MAYBE_WIN else turn.other


def _is_win_of(prospect: RulesOutcome, clock: Clock, winner: Color) -> bool:
    return prospect is (RulesOutcome.WIN if clock.position.turn is winner else RulesOutcome.LOSS)


def _nearness(probe: Probe, first_the_near: bool) -> tuple[float, float]:
    """How promising a move is to look at: the winner tries what comes soonest to a zeroing move, the other
    side what puts it off longest."""
    dtc = inf if probe.dtc is None else probe.dtc
    dtb = inf if probe.dtb is None else probe.dtb
    return (dtc, dtb) if first_the_near else (-dtc, -dtb)


_SortKey = tuple[int, tuple[float, ...], str]


def _order(move: RuledMove) -> _SortKey:
    """The key that sorts the moves of a game in progress, best first."""
    value, notation = move.value, str(move.move)
    distances = value.dtb, value.dtc, value.dtw
    soonest = tuple(inf if plies is None else plies for plies in distances)
    latest = tuple(0 if plies is None else -plies for plies in distances)
    match move.prospect:
        case RulesOutcome.WIN:
            return 1 if move.searched else 0, soonest, notation
        case RulesOutcome.MAYBE_WIN:
            return 2, soonest, notation
        case RulesOutcome.DRAW:
            wdl, length = value.wdl or 0, value.dtw or 0
            return 3, (-wdl, length if wdl > 0 else -length), notation
        case RulesOutcome.MAYBE_LOSS:
            return 4, latest, notation
        case RulesOutcome.LOSS:
            return 5, latest, notation
        case RulesOutcome.UNKNOWN:
            return 6, (), notation
