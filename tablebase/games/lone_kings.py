"""The rules on a lone king: three kings against one, and the main road.

Both rules are about the end of a game, in which one side has a king and nothing else. They give the other
side, the *stronger* one, a number of moves. The ruleset defines the pieces and the number of moves. The
official rules, with articles of FMJD-64:

- `three-kings` [7.2.4]: three or more kings, and nothing else, against a lone king. The stronger side has 15
  moves to end the game, from the position in which this material balance began.
- `main-road` [7.2.7]: three kings, two kings and a man, or a king and two men against a lone king on the main
  road a1-h8. After the 5th move the game is a draw unless the position is won without draw rules.

The counters of a `Clock` hold the moves that have been played already.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from tablebase.board.counters import Counters
from tablebase.board.position import Color, Position, legal_moves, position_after
from tablebase.errors import DamagedTableError, MissingTableError
from tablebase.games.prospect import unruled_outcome
from tablebase.games.search import win_oracle
from tablebase.probe.tablebase import Tablebase
from tablebase.rules.clock import Clock, RuleState, Ruling, Unit
from tablebase.rules.outcome import Outcome, Probe
from tablebase.rules.ruleset import Rule, RuleName
from tablebase.rules.rulesets import OFFICIAL
from tablebase.rules.scope import MOST, Force, Road, Scope

# The most moves of the stronger side that the search tries where no DTW bounds them.
_LONGEST = 200


_RULE = OFFICIAL.rule(RuleName.MAIN_ROAD)
assert _RULE is not None
OFFICIAL_CASE = _RULE.limits[0].scope
"""The case of the official rule: three kings, two kings and a man, or a king and two men against a lone king
on the main road a1-h8."""


class MainRoadSearch:
    """A search for the fewest own moves in which the stronger side ends the main-road case and keeps its win.

    The stronger side plays only moves after which it still wins without draw rules; the lone king plays any
    legal move. The case has ended when, after a move of either side, the lone king is captured, has no move,
    is off the road, or has captured something. One search serves any number of positions.

    Args:
        tablebase: tells which moves keep the win.
        stronger: the side that has more than a king.
        case: the positions of the case: their pieces, and the squares of the lone king.
    """

    def __init__(self, tablebase: Tablebase, stronger: Color, case: Scope = OFFICIAL_CASE) -> None:
        self._tablebase = tablebase
        self._stronger = stronger
        self._case = case
        # For each position: a number of moves that is enough, perhaps not the least, and one that is too few.
        self._enough: dict[Position, int] = {}
        self._too_few: dict[Position, int] = {}
        self._after: dict[Position, list[Position]] = {}
        self._keeps: dict[Position, bool] = {}
        self._replies: dict[Position, list[Position]] = {}

    def moves_needed(self, position: Position, longest: int = _LONGEST) -> int:
        """Return the least number of the stronger side's own moves that force the end of the case.

        Args:
            position: a position of the case that the stronger side wins without draw rules, either side to
                move.
            longest: the stronger side's moves to the end of the game, which ends the case too.

        Raises:
            MissingTableError: a table that the search needs is missing.
            DamagedTableError: the case does not end within `longest` moves: the tables contradict each other.
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
        """Whether a number of moves is enough, with the stronger side to move."""
        if moves >= self._enough.get(position, moves + 1):
            return True
        if moves <= self._too_few.get(position, 0):
            return False
        # A short line, if there is one, is found far sooner than a line of all the moves allowed.
        if moves > 1 and self._forces(position, moves - 1):
            return True
        for after in self._positions_after(position):
            # At the last move, the replies are cheaper to find than a value in the tables.
            if moves == 1 and self._replies_that_stay(after):
                continue
            if self._keeps_the_win(after) and self._cannot_stay(after, moves - 1):
                self._enough[position] = moves
                return True
        self._too_few[position] = moves
        return False

    def _cannot_stay(self, position: Position, moves: int) -> bool:
        """Whether the lone king, to move, cannot prolong the case beyond a number of moves."""
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
    """The rules of `draw_cases`, by the names that they have in `RuleName`."""

    THREE_KINGS = RuleName.THREE_KINGS.value
    MAIN_ROAD = RuleName.MAIN_ROAD.value


@dataclass(frozen=True, slots=True)
class DrawCase:
    """One of the two draw rules in a position and its game.

    Attributes:
        rule: the rule.
        clock: the position, its counters and the ruleset of the game.
        state: the rule's article, limit and count, and whether it has fired; None if the ruleset has no such
            rule.
        stronger: the side that has more than a king; None if the rule does not apply.
        board_outcome: the outcome for the stronger side without any draw rule: `WIN`, `DRAW`, `LOSS`, or
            `UNKNOWN` if its table is missing; None if the rule does not apply.
        moves_needed: how many moves of its own the stronger side needs, with best play of both sides. For
            `three-kings` to the end of the game; for `main-road` to force the lone king off the road,
            captured or without a move, or the material out of the rule, while it keeps the win. None if it
            does not win without draw rules, or if a table is missing.
    """

    rule: DrawRule
    clock: Clock
    state: RuleState | None
    stronger: Color | None = None
    board_outcome: Outcome | None = None
    moves_needed: int | None = None

    @property
    def applies(self) -> bool:
        """Whether the position is one that the rule is about."""
        return self.stronger is not None

    @property
    def limit_moves(self) -> int | None:
        """How many moves of its own the rule gives the stronger side; None if the ruleset has no such rule.

        A limit in plies is half as many moves: the stronger side makes every second ply.
        """
        state = self.state
        if state is None:
            return None
        return state.limit if state.unit is Unit.OWN_MOVES else state.limit // 2

    @property
    def moves_left(self) -> int | None:
        """How many moves of its own the stronger side has left; the last of them may reach the limit.

        None if the rule does not apply.
        """
        state = self.state
        if state is None or self.stronger is None:
            return None
        if state.unit is Unit.OWN_MOVES:
            return state.remaining
        return (state.remaining + (self.clock.position.turn is self.stronger)) // 2

    @property
    def within_limit(self) -> bool | None:
        """Whether the moves left are enough for `moves_needed`; None if that is None."""
        needed, left = self.moves_needed, self.moves_left
        return None if needed is None or left is None else needed <= left

    @property
    def explanation(self) -> str:
        """The case as one or two sentences, for an arbiter."""
        return _explain(self)


def draw_cases(tablebase: Tablebase, game: Position | Clock) -> list[DrawCase]:
    """Return what each of the two draw rules says about a position; both are always in the list.

    Args:
        tablebase: the tables.
        game: a game in progress, with its counters and its ruleset; or a position, with fresh counters under
            the official rules.

    Raises:
        TableError: a table is there but cannot be read.
        ClosedError: the tablebase has been closed.
    """
    clock = game if isinstance(game, Clock) else Clock.start(game)
    return draw_cases_of(tablebase, clock, clock.ruling(win_oracle(tablebase)))


def draw_cases_of(
    tablebase: Tablebase, clock: Clock, ruling: Ruling, probe: Probe | None = None
) -> list[DrawCase]:
    """Return the `draw_cases` of a game whose ruling is known already.

    Args:
        tablebase: the tables.
        clock: the game.
        ruling: what the rules say about it.
        probe: the value of the position from fresh counters; None: it is probed if a rule applies.

    Raises:
        TableError: a table is there but cannot be read.
        ClosedError: the tablebase has been closed.
    """
    states = {state.rule: state for state in ruling.states}
    return [_case(rule, tablebase, clock, states.get(RuleName(rule)), probe) for rule in DrawRule]


def _case(
    rule: DrawRule, tablebase: Tablebase, clock: Clock, state: RuleState | None, probe: Probe | None
) -> DrawCase:
    if state is None or not state.applies or state.stronger is None:
        return DrawCase(rule, clock, state)
    position, stronger = clock.position, state.stronger
    probe = probe or tablebase.get_probe(position)
    outcome = unruled_outcome(probe)
    if position.turn is not stronger:
        outcome = -outcome
    needed = None
    if outcome is Outcome.WIN:
        if rule is DrawRule.THREE_KINGS:
            needed = _moves_to_the_end(probe)
        else:
            ruled = clock.ruleset.rule(RuleName.MAIN_ROAD)
            assert ruled is not None, "its state is there"
            needed = _moves_off_the_road(tablebase, position, stronger, ruled, probe)
    return DrawCase(rule, clock, state, stronger, outcome, needed)


def _moves_to_the_end(probe: Probe) -> int | None:
    """Return the winner's own moves to the end of the game; None if the DTW is not known.

    The winner makes the last ply. With the winner to move DTW is odd, and the winner makes the odd ply; else
    it makes every second ply.
    """
    return None if probe.dtw is None else (probe.dtw + 1) // 2


def _moves_off_the_road(
    tablebase: Tablebase, position: Position, stronger: Color, rule: Rule, probe: Probe
) -> int | None:
    # Only the lone king's own square matters: the win cannot force other pieces onto the road.
    search = MainRoadSearch(tablebase, stronger, replace(rule.limits[0].scope, road=Road.LONE_KING))
    longest = _moves_to_the_end(probe)
    try:
        if longest is None:
            return search.moves_needed(position)
        return search.moves_needed(position, longest)
    except MissingTableError:
        return None


# A case in sentences

_COUNTS = (
    "no",
    "a",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)


def _explain(case: DrawCase) -> str:
    """Return one or two sentences on a case."""
    position, state, stronger = case.clock.position, case.state, case.stronger
    rule = case.clock.ruleset.rule(RuleName(case.rule))
    if rule is None or state is None:
        return f"The ruleset {case.clock.ruleset.name} has no such rule."
    if stronger is None:
        return _why_it_does_not_apply(position, rule)
    where = "a lone king" if rule.name is RuleName.THREE_KINGS else "a lone king on the main road"
    head = f"{stronger.capitalize()} has {_force(position, stronger)} against {where}"
    if state.fired:
        return f"{head}, and {_count(state)}: the game is a draw."
    if state.fired is None:
        unless = "unless it is won on the board, which no table tells"
        return f"{head}, and {_count(state)}: the game is a draw {unless}."
    return f"{head} {_prospect(case, rule, state, stronger)}."


def _why_it_does_not_apply(position: Position, rule: Rule) -> str:
    scope = rule.limits[0].scope
    anywhere = scope.stronger(position, ignore_squares=True)
    if rule.name is RuleName.MAIN_ROAD and anywhere:
        stronger = anywhere[0]
        does_not = "does not stand on the main road"
        if replace(scope, road=Road.LONE_KING).fits(position):
            does_not = "is not alone on the main road"
        return (
            f"{stronger.capitalize()} has {_force(position, stronger)} against a lone king, "
            f"but that king {does_not}."
        )
    if anywhere:
        return (
            f"{anywhere[0].capitalize()} has {_force(position, anywhere[0])} against a lone king, "
            "but another rule stands in place of this one here."
        )
    forces = _forces(scope)
    if rule.name is RuleName.THREE_KINGS:
        return f"This rule is about {forces}, and nothing else, against a lone king."
    return f"This rule is about {forces} against a lone king on the main road."


def _prospect(case: DrawCase, rule: Rule, state: RuleState, stronger: Color) -> str:
    """Return what the stronger side can reach, while the rule has not made a draw."""
    outcome, needed = case.board_outcome, case.moves_needed
    if outcome is Outcome.UNKNOWN:
        return f"and {_given(case, state)}, but no table tells what the position is worth on the board"
    if not legal_moves(case.clock.position):
        return "and has won the game" if outcome is Outcome.WIN else "but has lost the game"
    if outcome is Outcome.LOSS:
        return "but loses on the board"
    if outcome is Outcome.DRAW:
        return (
            f"but cannot win on the board: the game is a draw, by the rule at the latest "
            f"{_when(state, stronger)}{_condition(rule)}"
        )
    if needed is None:
        hidden = "but a missing table hides whether they are enough"
        return f"and wins on the board; {_allowed(case, state)}, {hidden}"
    if rule.name is RuleName.THREE_KINGS:
        return _three_kings(case, state, needed)
    return _main_road(case, rule, state, needed)


def _three_kings(case: DrawCase, state: RuleState, needed: int) -> str:
    if not case.within_limit:
        only = _allowed(case, state, only=True)
        anew = "a capture on the way begins the count anew"
        return f"and wins on the board in {_moves(needed)}, but {only}, unless {anew}"
    # With counters that are not fresh, other rules may leave less time than this one.
    where = "" if case.clock.counters == Counters() else " on the board"
    return f"and wins{where} in {_moves(needed)}; {_allowed(case, state)}"


def _main_road(case: DrawCase, rule: Rule, state: RuleState, needed: int) -> str:
    if needed == 0:
        return "and wins on the board; whatever that king does now, the rule's count ends"
    if case.within_limit:
        return (
            f"and wins on the board; in {_moves(needed)} that king is off the road, captured or blocked"
            f"{'; ' if state.count else ', and '}{_allowed(case, state)}"
        )
    spares = all(limit.unless_won for limit in rule.limits)
    mercy = "makes no draw of a position that is won on the board"
    kept = f"and wins on the board; that king can keep the road for {_moves(needed)}"
    if state.count:
        return f"{kept}; {_allowed(case, state)}" + (f"; but the rule {mercy}" if spares else "")
    longer = f"longer than the {_amount(state.limit, state.unit)} of the rule"
    return f"{kept}, {longer}" + (f", which {mercy}" if spares else "")


# Counts in words


def _amount(count: int, unit: Unit) -> str:
    if unit is Unit.PLIES:
        return "1 ply" if count == 1 else f"{count} plies"
    return str(count)


def _moves(count: int | None) -> str:
    return f"{count} move" if count == 1 else f"{count} moves"


def _count(state: RuleState) -> str:
    """Return the count: `5 of 15 moves are made`, or the count and the limit if it is beyond the limit."""
    unit = "moves" if state.unit is Unit.OWN_MOVES else "plies"
    if state.count > state.limit:
        return f"{state.count} {unit} are made, the limit is {state.limit}"
    return f"{state.count} of {state.limit} {unit} are made"


def _rest(case: DrawCase, state: RuleState) -> str:
    """Return what remains of a limit after the count has begun."""
    if state.unit is Unit.OWN_MOVES:
        return f"{state.remaining or 'none'} {_remain(state)}"
    least = "" if state.count + state.remaining == state.limit else "at least "
    plies = f"{least}{_amount(state.remaining, state.unit)} {_remain(state)}"
    return f"{plies}, {_moves(case.moves_left)} of its own"


def _allowed(case: DrawCase, state: RuleState, only: bool = False) -> str:
    """Return the limit as a clause, `the rule allows 15`, or the rest of it after the count has begun."""
    if state.count:
        return f"{_count(state)}, and {'only ' if only and state.remaining else ''}{_rest(case, state)}"
    own = f", {_moves(case.moves_left)} of its own" if state.unit is Unit.PLIES else ""
    return f"the rule allows {'only ' if only else ''}{_amount(state.limit, state.unit)}{own}"


def _remain(state: RuleState) -> str:
    return "remains" if state.remaining == 1 else "remain"


def _given(case: DrawCase, state: RuleState) -> str:
    if state.count:
        return _allowed(case, state)
    unit = "moves" if state.unit is Unit.OWN_MOVES else "plies"
    return f"{state.limit} {unit} by the rule"


def _when(state: RuleState, stronger: Color) -> str:
    if state.unit is Unit.PLIES:
        return f"after {_amount(state.remaining, state.unit)}" + (" more" if state.count else "")
    if not state.count:
        return f"after {stronger.capitalize()}'s move {state.limit}"
    if state.remaining:
        return f"after {state.remaining} more of {stronger.capitalize()}'s moves"
    return f"after {stronger.capitalize()}'s next move"


def _condition(rule: Rule) -> str:
    if rule.name is RuleName.THREE_KINGS:
        return ""
    if rule.limits[0].scope.road is Road.LONE_KING_ONLY:
        return ", if that king, and nothing else, stands on the road then"
    return ", if that king still keeps the road then"


# Forces in words


def _some(count: int, noun: str, plural: str) -> str:
    return f"{_COUNTS[count] if count < len(_COUNTS) else count} {noun if count == 1 else plural}"


def _pieces(kings: str | None, men: str | None) -> str:
    return " and ".join(part for part in (kings, men) if part)


def _force(position: Position, color: Color) -> str:
    """Return the pieces of a side in words, like `two kings and a man`."""
    men, kings = (position.wm, position.wk) if color is Color.WHITE else (position.bm, position.bk)
    return _pieces(
        _range(kings.bit_count(), kings.bit_count(), "king"), _men(men.bit_count(), men.bit_count())
    )


def _forces(scope: Scope) -> str:
    """Return the pieces that a class allows in words, like `three kings, or two kings and a man`."""
    words = [_force_of(force) for force in scope.against_lone_king or ()]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])}, or {words[-1]}"


def _force_of(force: Force) -> str:
    return _pieces(_range(*force.kings, "king"), _men(*force.men))


def _men(least: int, most: int) -> str | None:
    return _range(least, most, "man", "men")


def _range(least: int, most: int, noun: str, plural: str | None = None) -> str | None:
    if most == 0:
        return None
    more = " or more" if most == MOST else ""
    count = _COUNTS[least] if least < len(_COUNTS) else str(least)
    return f"{count}{more} {noun if least == 1 and not more else plural or noun + 's'}"
