"""The rules on a lone king: three kings against one, and the main road.

Both are about the last phase of a game, in which one side has a king and nothing else, and both give the
other side, the *stronger* one, a number of moves. Which forces and how many moves, a ruleset says; under the
official rules, with articles of FMJD-64:

- `three-kings` [7.2.4]: three or more kings, and nothing else, against a lone king. 15 moves, from the moment
  that this balance of forces stood, to end the game.
- `main-road` [7.2.7]: three kings, two kings and a man, or a king and two men against a lone king that stands
  on the main road a1-h8. After the 5th move the game is a draw unless the position is won on the board.

What of this has been played already, the counters of a `Clock` say.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from tablebase.board.position import Color, Position, legal_moves, position_after
from tablebase.errors import DamagedTableError, MissingTableError
from tablebase.games.lone_king_sentences import Facts, explain
from tablebase.games.prospect import unruled_outcome
from tablebase.games.search import win_oracle
from tablebase.probe.tablebase import Tablebase
from tablebase.rules.clock import Clock, RuleState, Unit
from tablebase.rules.outcome import Outcome, Probe
from tablebase.rules.ruleset import Rule, RuleName
from tablebase.rules.rulesets import OFFICIAL
from tablebase.rules.scope import Road, Scope

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


class DrawRule(StrEnum):
    """The rules of `draw_cases`; the text of one names it everywhere."""

    THREE_KINGS = RuleName.THREE_KINGS.value
    MAIN_ROAD = RuleName.MAIN_ROAD.value


@dataclass(frozen=True, slots=True)
class DrawCase:
    """What one draw rule says about a position and its game.

    Attributes:
        rule: the rule.
        applies: whether the position is one that the rule is about.
        stronger: the side that has more than a king; None where the rule does not apply.
        limit_moves: how many moves of its own the rule gives that side; a limit of plies is half as many
            moves. None where the ruleset has no such rule.
        board_outcome: the outcome for the stronger side on the board, without any draw rule: `WIN`, `DRAW`,
            `LOSS`, or `UNKNOWN` where there is no table; None where the rule does not apply.
        moves_needed: how many moves of its own the stronger side needs, with best play of both sides. For
            `three-kings` to the end of the game; for `main-road` to force the lone king off the road,
            captured or without a move, or the material out of the rule, while it keeps the win. None where
            it does not win on the board, or where a table is missing.
        within_limit: whether the moves that remain of the limit are enough for that; None where
            `moves_needed` is.
        state: the rule's article, its limit as the text has it, how far the count has come, and whether the
            rule has fired; None where the ruleset has no such rule.
        explanation: all this as a sentence.
    """

    rule: DrawRule
    applies: bool
    stronger: Color | None
    limit_moves: int | None
    board_outcome: Outcome | None
    moves_needed: int | None
    within_limit: bool | None
    state: RuleState | None
    explanation: str


def draw_cases(tablebase: Tablebase, game: Position | Clock) -> list[DrawCase]:
    """What each of the two draw rules says about a position; both are always in the list.

    Args:
        tablebase: the tables.
        game: a game in progress, with its counters and its ruleset; or a position, where the counts of the
            official rules begin.

    Raises:
        TableError: a table is there but cannot be read.
        ClosedError: the tablebase has been closed.
    """
    clock = game if isinstance(game, Clock) else Clock.start(game)
    states = {state.rule: state for state in clock.ruling(win_oracle(tablebase)).states}
    return [_case(rule, tablebase, clock, states.get(RuleName(rule))) for rule in DrawRule]


def _case(rule: DrawRule, tablebase: Tablebase, clock: Clock, state: RuleState | None) -> DrawCase:
    ruled = clock.ruleset.rule(RuleName(rule))
    position = clock.position
    stronger = state.stronger if state is not None and state.applies else None
    if ruled is None or state is None or stronger is None:
        facts = Facts(clock, RuleName(rule), ruled, state)
        limit = None if state is None else _limit_moves(state)
        return DrawCase(rule, False, None, limit, None, None, None, state, explain(facts))
    probe = tablebase.get_probe(position)
    outcome = unruled_outcome(probe)
    if position.turn is not stronger:
        outcome = -outcome
    needed = None
    if outcome is Outcome.WIN:
        if rule is DrawRule.THREE_KINGS:
            needed = _moves_to_the_end(probe)
        else:
            needed = _moves_off_the_road(tablebase, position, stronger, ruled, probe)
    left = _moves_left(state, position.turn is stronger)
    return DrawCase(
        rule=rule,
        applies=True,
        stronger=stronger,
        limit_moves=_limit_moves(state),
        board_outcome=outcome,
        moves_needed=needed,
        within_limit=None if needed is None else needed <= left,
        state=state,
        explanation=explain(Facts(clock, RuleName(rule), ruled, state, stronger, outcome, needed, left)),
    )


def _limit_moves(state: RuleState) -> int:
    """The limit in moves of the stronger side, whose turn is every second ply."""
    return state.limit if state.unit is Unit.OWN_MOVES else state.limit // 2


def _moves_left(state: RuleState, is_its_turn: bool) -> int:
    """How many moves of its own the stronger side has before the limit is passed: the last may reach it."""
    return state.remaining if state.unit is Unit.OWN_MOVES else (state.remaining + is_its_turn) // 2


def _moves_to_the_end(probe: Probe) -> int | None:
    """The winner's own moves to the end of the game, whoever is to move.

    The winner makes the last ply: with it to move DTW is odd and it has the odd ply more; else every second
    ply is its.
    """
    return None if probe.dtw is None else (probe.dtw + 1) // 2


def _moves_off_the_road(
    tablebase: Tablebase, position: Position, stronger: Color, rule: Rule, probe: Probe
) -> int | None:
    # Whether other pieces stand on the road is nothing that the lone king can be forced to.
    search = MainRoadSearch(tablebase, stronger, replace(rule.limits[0].scope, road=Road.LONE_KING))
    longest = _moves_to_the_end(probe)
    try:
        if longest is None:
            return search.moves_needed(position)
        return search.moves_needed(position, longest)
    except MissingTableError:
        return None
