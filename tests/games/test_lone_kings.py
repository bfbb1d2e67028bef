"""The draw-rule cases: when they apply, whom they are about, and how many moves are needed."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tablebase import (
    Clock,
    Color,
    DamagedTableError,
    MissingTableError,
    Outcome,
    Position,
    Probe,
    Tablebase,
    find_ruleset,
    open_tablebase,
)
from tablebase.board.position import legal_moves, position_after
from tablebase.board.squares import MAIN_ROAD
from tablebase.games.lone_kings import DrawCase, DrawRule, MainRoadSearch, draw_cases

THREE_KINGS, MAIN_ROAD_RULE = DrawRule


@pytest.fixture(scope="module")
def tablebase(tables4: Path) -> Iterator[Tablebase]:
    with open_tablebase(tables4) as opened:
        yield opened


def case(tablebase: Tablebase, fen: str, rule: DrawRule) -> DrawCase:
    found = {found.rule: found for found in draw_cases(tablebase, Position.from_fen(fen))}
    assert list(found) == [THREE_KINGS, MAIN_ROAD_RULE]
    return found[rule]


class Telling(Tablebase):
    """No tables, and one answer to everything."""

    def __init__(self, probe: Probe) -> None:
        super().__init__()
        self.answer = probe

    def get_probe(self, position: Position, default: Probe = Probe(Outcome.UNKNOWN)) -> Probe:  # noqa: B008
        return self.answer


# When a rule applies, and to whom


@pytest.mark.parametrize(
    ("fen", "stronger"),
    [
        ("W:WKa1,Kc1,Ke1:BKb8", "white"),
        ("B:WKa1,Kc1,Ke1:BKb8", "white"),
        ("W:WKb8:BKa1,Kc1,Ke1", "black"),
        ("W:WKa1,Kc1,Ke1,Kg1:BKb8", "white"),  # more than three kings
        ("W:WKa1,Kc1,Ke1,Kg1,Kb2,Kd2:BKb8", "white"),
        ("W:WKa1,Kc1:BKb8", None),  # two kings only
        ("W:WKa1,Kc1,c3:BKb8", None),  # a man among them
        ("W:WKa1,Kc1,Ke1,c3:BKb8", None),  # three kings, but not nothing else
        ("W:WKa1,Kc1,Ke1:BKb8,Kd8", None),  # no lone king
        ("W:WKa1,Kc1,Ke1:Bb8", None),  # a lone man
        ("W:WKa1,Kc1,Ke1:B", None),
    ],
)
def test_three_kings_is_about_three_or_more_kings_and_nothing_else(
    tablebase: Tablebase, fen: str, stronger: str | None
) -> None:
    found = case(tablebase, fen, THREE_KINGS)
    assert found.applies == (stronger is not None)
    assert found.stronger == stronger
    assert found.limit_moves == 15


@pytest.mark.parametrize(
    ("fen", "stronger"),
    [
        ("W:WKa5,Kc1,Kg1:BKe5", "white"),
        ("W:WKa5,Kc1,g1:BKa1", "white"),
        ("B:WKa5,c1,g1:BKh8", "white"),
        ("B:WKd4:BKa7,Kc7,h4", "black"),
        ("W:WKa1,Kc1,Kg1:BKb8", None),  # only the lone king's place matters
        ("W:WKa5,Kc1,Kg1:BKb6", None),  # a7-g1 is another road
        ("W:Wa5,c1,g1:BKe5", None),  # three men
        ("W:WKa5,Kc1:BKe5", None),
        ("W:WKa5,Kc1,Ke1,Kg1:BKe5", None),
        ("W:WKa5,Kc1,Kg1:Be5", None),
        ("W:WKa5,Kc1,Kg1:BKe5,h4", None),
    ],
)
def test_main_road_is_about_three_materials_and_the_place_of_the_lone_king(
    tablebase: Tablebase, fen: str, stronger: str | None
) -> None:
    found = case(tablebase, fen, MAIN_ROAD_RULE)
    assert found.applies == (stronger is not None)
    assert found.stronger == stronger
    assert found.limit_moves == 5


def test_a_rule_that_does_not_apply_says_why_and_nothing_else(tablebase: Tablebase) -> None:
    found = case(tablebase, "W:WKa1,Kc1,g1:BKb8", MAIN_ROAD_RULE)
    assert (found.board_outcome, found.moves_needed, found.within_limit) == (None, None, None)
    assert "White has two kings and a man" in found.explanation
    assert "does not stand on the main road" in found.explanation


# The outcome on the board


def test_a_draw_on_the_board_needs_no_number(tablebase: Tablebase) -> None:
    # Three kings cannot win against a king that holds the main road.
    for rule in DrawRule:
        found = case(tablebase, "W:WKb8,Kd8,Kh4:BKh8", rule)
        assert found.applies
        assert (found.board_outcome, found.moves_needed, found.within_limit) == (Outcome.DRAW, None, None)
        assert "draw" in found.explanation


def test_the_stronger_side_may_lose(tablebase: Tablebase) -> None:
    found = case(tablebase, "B:WKd4,a1,c1:BKe5", MAIN_ROAD_RULE)
    assert (found.board_outcome, found.moves_needed, found.within_limit) == (Outcome.LOSS, None, None)
    assert "loses" in found.explanation


@pytest.mark.parametrize("turn", ["W", "B"])
def test_a_cursed_win_is_a_win_on_the_board_and_may_exceed_the_limit(turn: str) -> None:
    probe = Probe(Outcome.CURSED_WIN, None, 31) if turn == "W" else Probe(Outcome.BLESSED_LOSS, None, 32)
    found = case(Telling(probe), f"{turn}:WKa1,Kc1,Ke1,Kg1:BKb8", THREE_KINGS)
    assert (found.board_outcome, found.moves_needed, found.within_limit) == (Outcome.WIN, 16, False)
    assert "allows only 15" in found.explanation


def test_the_fifteenth_move_is_within_the_limit() -> None:
    found = case(Telling(Probe(Outcome.WIN, 29, 29)), "W:WKa1,Kc1,Ke1:BKb8", THREE_KINGS)
    assert (found.moves_needed, found.within_limit) == (15, True)


def test_without_tables_the_rule_applies_and_the_outcome_is_unknown() -> None:
    with Tablebase() as empty:
        for rule in DrawRule:
            found = case(empty, "W:WKa1,Kc1,Ke1:BKh8", rule)
            assert found.applies
            assert (found.board_outcome, found.moves_needed) == (Outcome.UNKNOWN, None)
            assert "no table" in found.explanation


def test_a_missing_distance_leaves_the_number_open(tables4: Path, tmp_path: Path) -> None:
    for file in tables4.glob("*.wdl"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    with open_tablebase(tmp_path) as outcomes_only:
        three = case(outcomes_only, "W:WKa1,Kc1,Kc3:BKb8", THREE_KINGS)
        assert (three.board_outcome, three.moves_needed, three.within_limit) == (Outcome.WIN, None, None)
        assert "missing table" in three.explanation
        # The main road needs outcomes only.
        road = case(outcomes_only, "W:WKf2,Kh2,a1:BKf6", MAIN_ROAD_RULE)
        assert (road.moves_needed, road.within_limit) == (2, True)


# With counters, and under other rulesets


def in_game(tablebase: Tablebase, fen: str, rule: DrawRule, ruleset: str = "official") -> DrawCase:
    clock = Clock.from_fen(fen, find_ruleset(ruleset))
    return {found.rule: found for found in draw_cases(tablebase, clock)}[rule]


@pytest.mark.parametrize(
    ("made", "left", "within"), [(0, 15, True), (2, 13, True), (3, 12, False), (14, 1, False)]
)
def test_three_kings_is_judged_by_what_remains(
    tablebase: Tablebase, made: int, left: int, within: bool
) -> None:
    found = in_game(tablebase, f"W:WKc1,Kd2,Ka3:BKe1:C{made},{made},{made},0,1", THREE_KINGS)
    assert found.state is not None
    assert (found.limit_moves, found.moves_needed, found.within_limit) == (15, 13, within)
    assert (found.state.article, found.state.count, found.state.remaining) == ("7.2.4", made, left)
    assert not found.state.fired
    if made:
        assert (
            f"{made} of 15 moves are made, and {'' if within else 'only '}{left} remain" in found.explanation
        )
    else:
        assert found == case(tablebase, "W:WKc1,Kd2,Ka3:BKe1", THREE_KINGS)


def test_a_rule_that_has_fired_says_so(tablebase: Tablebase) -> None:
    three = in_game(tablebase, "B:WKc1,Kh2,Kg7:BKb8:C15,15,15,0,1", THREE_KINGS)
    assert three.state is not None
    assert three.state.fired
    assert (three.moves_needed, three.within_limit) == (10, False)
    assert "15 of 15 moves are made: the game is a draw." in three.explanation
    road = in_game(tablebase, "B:WKb8,Kd8,Kh4:BKh8:C9,9,5,5,1", MAIN_ROAD_RULE)
    assert road.state is not None
    assert road.state.fired
    assert "5 of 5 moves are made: the game is a draw." in road.explanation
    beyond = in_game(tablebase, "B:WKc1,Kh2,Kg7:BKb8:C20,20,20,0,1", THREE_KINGS)
    assert "20 moves are made, the limit is 15: the game is a draw." in beyond.explanation


def test_main_road_with_its_moves_made_spares_what_is_won(tablebase: Tablebase) -> None:
    found = in_game(tablebase, "W:WKd6,a1,a3:BKd4:C0,0,0,5,1", MAIN_ROAD_RULE)
    assert found.state is not None
    assert (found.moves_needed, found.within_limit, found.state.fired) == (7, False, False)
    assert "5 of 5 moves are made, and none remain; but the rule makes no draw" in found.explanation
    left = in_game(tablebase, "W:WKf2,Kh2,a1:BKf6:C3,3,0,3,1", MAIN_ROAD_RULE)
    assert (left.moves_needed, left.within_limit) == (2, True)
    assert "3 of 5 moves are made, and 2 remain" in left.explanation


def test_a_rule_that_may_have_fired_depends_on_a_table() -> None:
    with Tablebase() as empty:
        found = in_game(empty, "B:WKa5,Kc1,Kg1:BKe5:C9,9,5,5,1", MAIN_ROAD_RULE)
    assert found.state is not None
    assert found.state.fired is None
    assert "a draw unless it is won on the board, which no table tells" in found.explanation


@pytest.mark.parametrize(
    ("fen", "clock", "left", "within"),
    [
        # 25 plies to the end of the game: the last of them may come as the clock would reach 30.
        ("W:WKc1,Kd2,Ka3:BKe1", 0, 30, True),
        ("W:WKc1,Kd2,Ka3:BKe1", 5, 25, True),
        ("W:WKc1,Kd2,Ka3:BKe1", 6, 24, False),
        # 24 plies, the lone king to move.
        ("B:WKc1,Ka3,Ka5:BKe1", 6, 24, True),
        ("B:WKc1,Ka3,Ka5:BKe1", 7, 23, False),
    ],
)
def test_a_limit_of_plies_is_judged_in_plies(
    tablebase: Tablebase, fen: str, clock: int, left: int, within: bool
) -> None:
    found = in_game(tablebase, f"{fen}:H{clock}", THREE_KINGS, "lidraughts")
    assert found.state is not None
    assert (found.state.unit, found.state.limit, found.state.remaining) == ("plies", 30, left)
    needed = 13 if fen[0] == "W" else 12
    assert (found.limit_moves, found.moves_needed, found.within_limit) == (15, needed, within)
    assert "plies" in found.explanation


@pytest.mark.parametrize(
    ("fen", "ruleset", "rule", "applies", "limit", "says"),
    [
        (
            "W:WKa3,Kc1,Ke1:BKh8",
            "lidraughts",
            MAIN_ROAD_RULE,
            True,
            5,
            "after 10 plies, if that king, and nothing",
        ),
        ("W:WKa3,Kc1,Ke1:BKh8", "lidraughts", THREE_KINGS, False, 15, "another rule stands in place"),
        ("W:WKa1,Kc1,Ke1:BKh8", "lidraughts", MAIN_ROAD_RULE, False, 5, "is not alone on the main road"),
        (
            "W:WKa3,Kc1,Ke1:BKh8",
            "classic",
            MAIN_ROAD_RULE,
            False,
            None,
            "The ruleset classic has no such rule.",
        ),
        ("W:WKa3,Kc1,Ke1:BKh8", "club", THREE_KINGS, False, None, "The ruleset club has no such rule."),
        ("W:WKa1,Kc1,Ke1:BKb8", "classic", THREE_KINGS, True, 15, "the rule allows 15"),
        (
            "W:WKa1,Kc1,Ke1,Kg1:BKb8",
            "classic",
            THREE_KINGS,
            False,
            15,
            "about three kings, and nothing else,",
        ),
        ("W:WKa1,Kc1:BKb8", "road-with-three-men", MAIN_ROAD_RULE, False, 5, "two men, or three men against"),
        ("W:Wa1,d4,a5:BKf6", "road-with-three-men", MAIN_ROAD_RULE, True, 5, "has three men against"),
        ("W:Wa1,d4,a5:BKf6", "official", MAIN_ROAD_RULE, False, 5, "or a king and two men against"),
    ],
)
def test_the_ruleset_says_what_a_rule_is_about(
    tablebase: Tablebase, fen: str, ruleset: str, rule: DrawRule, applies: bool, limit: int | None, says: str
) -> None:
    found = in_game(tablebase, fen, rule, ruleset)
    assert (found.applies, found.limit_moves) == (applies, limit)
    assert (found.state is None) == (limit is None)
    assert says in found.explanation


def test_three_men_are_searched_by_the_rule_that_is_about_them(tablebase: Tablebase) -> None:
    # The longest of three men, counted over every position in docs/draws.md.
    found = in_game(tablebase, "W:Wa1,d4,a5:BKf6", MAIN_ROAD_RULE, "road-with-three-men")
    assert (found.moves_needed, found.within_limit) == (9, False)


# The numbers


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        # From a page about the triangle of Petrov, whose lengths (in plies) a separate solver found.
        ("W:WKc3,Ka1,Kc1:BKb8", 12),
        ("W:WKc3,Kb2,Ka1:BKf4", 13),
        # From the positions of an exercise page, likewise.
        ("W:WKf8,Ke5,Kh2:BKh6", 9),
        ("W:WKd8,Kf8,Kf6:BKa1", 2),
        ("W:WKb4:BKg7,Kh4,Ka1", 12),
    ],
)
def test_three_kings_counts_the_stronger_sides_moves_to_the_end(
    tablebase: Tablebase, fen: str, moves: int
) -> None:
    found = case(tablebase, fen, THREE_KINGS)
    assert (found.board_outcome, found.moves_needed, found.within_limit) == (Outcome.WIN, moves, True)
    assert f"{moves} moves" in found.explanation


def test_three_kings_counts_what_is_played(tablebase: Tablebase) -> None:
    """Best play for length, move by move, has as many moves of the stronger side as the case says."""
    for position in sample(Random(5), 40, kings=(3,), men=(0,), on_the_road=False):
        needed = draw_cases(tablebase, position)[0].moves_needed
        if needed is None:
            continue
        made, now = 0, position
        while moves := tablebase.moves(now):
            made += now.turn is Color.WHITE
            choose: Any = min if now.turn is Color.WHITE else max
            kept = [move for move in moves if move.wdl == moves[0].wdl]
            now = choose(kept, key=lambda move: move.dtw).after
        assert made == needed, position.to_fen()


def sample(
    random: Random, count: int, kings: tuple[int, ...], men: tuple[int, ...], on_the_road: bool
) -> Iterator[Position]:
    """Random positions of White's kings and men against a lone king."""
    road = [square for square in range(32) if MAIN_ROAD >> square & 1]
    while count:
        number = random.randrange(len(kings))
        lone = random.choice(road if on_the_road else range(32))
        squares = random.sample(
            [square for square in range(32) if square != lone], kings[number] + men[number]
        )
        bits = [1 << square for square in squares]
        wm, wk = sum(bits[kings[number] :]), sum(bits[: kings[number]])
        if wm < 1 << 28:
            yield Position(wm, wk, 0, 1 << lone, random.choice(list(Color)))
            count -= 1


def plain_moves_needed(tablebase: Tablebase, position: Position) -> int:
    """What the definition says, word for word, by looking at everything."""

    @cache
    def forced(now: Position, moves: int) -> bool:
        kings, men = now.wk.bit_count(), now.wm.bit_count()
        if not now.bk & MAIN_ROAD or kings == 0 or kings + men != 3:
            return True
        if now.turn is Color.BLACK:
            return all(forced(position_after(now, move), moves) for move in legal_moves(now))
        after = [position_after(now, move) for move in legal_moves(now)] if moves else []
        return any(tablebase.probe_wdl(then) < 0 and forced(then, moves - 1) for then in after)

    return next(moves for moves in range(20) if forced(position, moves))


@pytest.mark.parametrize("kings", [1, 2, 3])
def test_main_road_equals_the_definition(tablebase: Tablebase, kings: int) -> None:
    seen = set()
    for position in sample(Random(kings), 800, kings=(kings,), men=(3 - kings,), on_the_road=True):
        found = draw_cases(tablebase, position)[1]
        assert found.applies
        turned = draw_cases(tablebase, position.flip())[1]
        assert (turned.stronger, turned.moves_needed) == ("black", found.moves_needed)
        if found.board_outcome is not Outcome.WIN:
            assert found.moves_needed is None
            continue
        assert found.moves_needed == plain_moves_needed(tablebase, position), position.to_fen()
        seen.add((position.turn, found.moves_needed))
    assert {(Color.WHITE, 1), (Color.WHITE, 2), (Color.BLACK, 0), (Color.BLACK, 1)} <= seen


@pytest.mark.parametrize(
    ("fen", "moves"),
    [
        ("W:WKa1,Kc1,Ke1:BKh8", 1),
        ("W:WKf2,Kh2,a1:BKf6", 2),
        # The longest of all, found by working back from the end over every position of the three materials.
        ("W:WKd6,a1,a3:BKd4", 7),
        ("B:WKc7,a1,a3:BKh8", 7),
        ("B:WKg3,a1,a3:BKh8", 6),
    ],
)
def test_main_road_numbers(tablebase: Tablebase, fen: str, moves: int) -> None:
    found = case(tablebase, fen, MAIN_ROAD_RULE)
    assert (found.board_outcome, found.moves_needed) == (Outcome.WIN, moves)
    assert found.within_limit == (moves <= 5)


@pytest.mark.parametrize("rule", DrawRule)
def test_a_game_that_is_won_needs_no_move(tablebase: Tablebase, rule: DrawRule) -> None:
    found = case(tablebase, "B:WKg7,Kf6,Kh2:BKh8", rule)
    assert (found.board_outcome, found.moves_needed, found.within_limit) == (Outcome.WIN, 0, True)
    assert "has won" in found.explanation


def test_a_search_tells_which_table_it_lacks() -> None:
    with Tablebase() as empty, pytest.raises(MissingTableError, match=r"KKvK\.wdl"):
        MainRoadSearch(empty, Color.WHITE).moves_needed(Position.from_fen("W:WKa1,Kc1,Ke1:BKh8"))


def test_tables_that_contradict_each_other_are_found_out(tablebase: Tablebase) -> None:
    search = MainRoadSearch(tablebase, Color.WHITE)
    position = Position.from_fen("W:WKf2,Kh2,a1:BKf6")
    assert search.moves_needed(position, longest=2) == 2
    with pytest.raises(DamagedTableError, match=r"contradict each other.*no way within 1 moves"):
        search.moves_needed(position, longest=1)
