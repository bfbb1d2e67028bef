"""The two draw rules that arbiters are asked about most: do they apply here, and is there time to win?

Both are about the last phase of a game, in which one side has a king and nothing else, and both give the
other side, the *stronger* one, a number of its own moves. Articles are those of FMJD-64's official rules.

- `three-kings` [7.2.4]: three or more kings, and nothing else, against a lone king. 15 moves, from the moment
  that this balance of forces stood, to end the game.
- `main-road` [7.2.7]: three kings, two kings and a man, or a king and two men against a lone king that stands
  on the main road a1-h8. After the 5th move the game is a draw unless the position is won on the board.

Counts begin at the position asked about: what has been played before it is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tablebase.board import Color, Position
from tablebase.errors import MissingTableError
from tablebase.mainroad import MainRoadSearch, has_main_road_material, is_main_road_case, men_and_kings
from tablebase.outcome import Outcome, Probe
from tablebase.rules import legal_moves
from tablebase.tablebase import Tablebase


class DrawRule(StrEnum):
    """The rules of `draw_cases`; the text of one names it everywhere."""

    THREE_KINGS = "three-kings"
    MAIN_ROAD = "main-road"

    @property
    def limit_moves(self) -> int:
        """How many moves of its own the rule gives the stronger side."""
        return 15 if self is DrawRule.THREE_KINGS else 5


@dataclass(frozen=True, slots=True)
class DrawCase:
    """What one draw rule says about a position.

    Attributes:
        rule: the rule.
        applies: whether the position is one that the rule is about.
        stronger: the side that has more than a king; None where the rule does not apply.
        limit_moves: how many moves of its own the rule gives that side.
        board_outcome: the outcome for the stronger side on the board, without any draw rule: `WIN`, `DRAW`,
            `LOSS`, or `UNKNOWN` where there is no table; None where the rule does not apply.
        moves_needed: how many moves of its own the stronger side needs, with best play of both sides. For
            `three-kings` to the end of the game; for `main-road` to force the lone king off the road,
            captured or without a move, or the material out of the rule, while it keeps the win. None where
            it does not win on the board, or where a table is missing.
        within_limit: whether that is within the limit; None where `moves_needed` is.
        explanation: all this as a sentence.
    """

    rule: DrawRule
    applies: bool
    stronger: Color | None
    limit_moves: int
    board_outcome: Outcome | None
    moves_needed: int | None
    within_limit: bool | None
    explanation: str


def draw_cases(tablebase: Tablebase, position: Position) -> list[DrawCase]:
    """What each of the two draw rules says about a position; both are always in the list.

    Raises:
        TableError: a table is there but cannot be read.
        ClosedError: the tablebase has been closed.
    """
    return [_case(rule, tablebase, position) for rule in DrawRule]


def _case(rule: DrawRule, tablebase: Tablebase, position: Position) -> DrawCase:
    stronger = _stronger_side(rule, position)
    if stronger is None:
        return DrawCase(
            rule, False, None, rule.limit_moves, None, None, None, _why_it_does_not_apply(rule, position)
        )
    probe = tablebase.get_probe(position)
    outcome = _board_outcome(probe, for_mover=position.turn is stronger)
    needed = None
    if outcome is Outcome.WIN:
        if rule is DrawRule.THREE_KINGS:
            needed = _moves_to_the_end(probe)
        else:
            needed = _moves_off_the_road(tablebase, position, stronger, probe)
    return DrawCase(
        rule=rule,
        applies=True,
        stronger=stronger,
        limit_moves=rule.limit_moves,
        board_outcome=outcome,
        moves_needed=needed,
        within_limit=None if needed is None else needed <= rule.limit_moves,
        explanation=_explanation(rule, position, stronger, outcome, needed),
    )


def _opponent_of_a_lone_king(position: Position) -> Color | None:
    """The side that has two pieces or more against a king and nothing else, if there is one."""
    for color in Color:
        if men_and_kings(position, color.other) == (0, 1) and sum(men_and_kings(position, color)) > 1:
            return color
    return None


def _stronger_side(rule: DrawRule, position: Position) -> Color | None:
    """The side that the rule gives a number of moves; None where the rule does not apply."""
    stronger = _opponent_of_a_lone_king(position)
    if stronger is None:
        return None
    if rule is DrawRule.MAIN_ROAD:
        return stronger if is_main_road_case(position, stronger) else None
    men, kings = men_and_kings(position, stronger)
    return stronger if men == 0 and kings >= 3 else None


def _board_outcome(probe: Probe, for_mover: bool) -> Outcome:
    """The outcome without draw rules: a cursed win is a win, a blessed loss is a loss."""
    outcome = probe.outcome if for_mover else -probe.outcome
    return {Outcome.CURSED_WIN: Outcome.WIN, Outcome.BLESSED_LOSS: Outcome.LOSS}.get(outcome, outcome)


def _moves_to_the_end(probe: Probe) -> int | None:
    """The winner's own moves to the end of the game, whoever is to move.

    The winner makes the last ply: with it to move DTW is odd and it has the odd ply more; else every second
    ply is its.
    """
    return None if probe.dtw is None else (probe.dtw + 1) // 2


def _moves_off_the_road(
    tablebase: Tablebase, position: Position, stronger: Color, probe: Probe
) -> int | None:
    search = MainRoadSearch(tablebase, stronger)
    longest = _moves_to_the_end(probe)
    try:
        if longest is None:
            return search.moves_needed(position)
        return search.moves_needed(position, longest)
    except MissingTableError:
        return None


# Explanations

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


def _some(count: int, noun: str, plural: str) -> str:
    return f"{_COUNTS[count] if count < len(_COUNTS) else count} {noun if count == 1 else plural}"


def _force(position: Position, color: Color) -> str:
    """The pieces of a side in words, like `two kings and a man`."""
    men, kings = men_and_kings(position, color)
    parts = []
    if kings:
        parts.append(_some(kings, "king", "kings"))
    if men:
        parts.append(_some(men, "man", "men"))
    return " and ".join(parts)


def _moves(count: int) -> str:
    return f"{count} move" if count == 1 else f"{count} moves"


def _why_it_does_not_apply(rule: DrawRule, position: Position) -> str:
    if rule is DrawRule.THREE_KINGS:
        return "This rule is about three or more kings, and nothing else, against a lone king."
    stronger = _opponent_of_a_lone_king(position)
    if stronger is None or not has_main_road_material(position, stronger):
        return (
            "This rule is about three kings, two kings and a man, or a king and two men "
            "against a lone king on the main road."
        )
    force = _force(position, stronger)
    return (
        f"{stronger.capitalize()} has {force} against a lone king, "
        "but that king does not stand on the main road."
    )


def _explanation(
    rule: DrawRule, position: Position, stronger: Color, outcome: Outcome, needed: int | None
) -> str:
    where = "a lone king" if rule is DrawRule.THREE_KINGS else "a lone king on the main road"
    return (
        f"{stronger.capitalize()} has {_force(position, stronger)} against {where} "
        f"{_prospect(rule, position, stronger, outcome, needed)}."
    )


def _prospect(
    rule: DrawRule, position: Position, stronger: Color, outcome: Outcome, needed: int | None
) -> str:
    limit = rule.limit_moves
    if outcome is Outcome.UNKNOWN:
        return f"and {limit} moves by the rule, but no table tells what the position is worth on the board"
    if not legal_moves(position):
        return "and has won the game" if outcome is Outcome.WIN else "but has lost the game"
    if outcome is Outcome.LOSS:
        return "but loses on the board"
    if outcome is Outcome.DRAW:
        held = "" if rule is DrawRule.THREE_KINGS else ", if that king still keeps the road then"
        return (
            f"but cannot win on the board: the game is a draw, by the rule at the latest "
            f"after {stronger.capitalize()}'s move {limit}{held}"
        )
    if needed is None:
        return (
            f"and wins on the board; the rule allows {limit} moves, "
            "but a missing table hides whether they are enough"
        )
    enough = needed <= limit
    if rule is DrawRule.THREE_KINGS:
        if enough:
            return f"and wins in {_moves(needed)}; the rule allows {limit}"
        return (
            f"and would win on the board in {_moves(needed)}, but the rule allows only {limit}: "
            "against the best defence the game is a draw"
        )
    if needed == 0:
        return "and wins on the board; whatever that king does now, the rule's count ends"
    if enough:
        return (
            f"and wins on the board; in {_moves(needed)} that king is off the road, captured or blocked, "
            f"and the rule allows {limit}"
        )
    return (
        f"and wins on the board; that king can keep the road for {_moves(needed)}, longer than the {limit} "
        "of the rule, which makes no draw of a position that is won on the board"
    )
