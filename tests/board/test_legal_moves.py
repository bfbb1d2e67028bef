"""The readable rules, held to facts from outside (see golden/README.md) and to a second, naive statement."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from naive_moves import routes
from paths import GOLDEN
from strategies import positions, random_positions

from tablebase.board.notation import parse_move
from tablebase.board.position import (
    Color,
    Move,
    Piece,
    Position,
    find_legal,
    has_capture,
    legal_moves,
    moves_along,
    play,
    position_after,
)
from tablebase.board.squares import SQUARE_NAMES, parse_square, reverse
from tablebase.errors import IllegalMoveError


def golden(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


def results(fen: str) -> set[Position]:
    position = Position.from_fen(fen)
    moves = position.legal_moves()
    found = {position.play(move) for move in moves}
    assert len(found) == len(moves), "two moves lead to one position"
    return found


def fens(*texts: str) -> set[Position]:
    return {Position.from_fen(text) for text in texts}


def perft(position: Position, depth: int) -> int:
    moves = legal_moves(position)
    if depth == 1:
        return len(moves)
    return sum(perft(position_after(position, move), depth - 1) for move in moves)


# Facts from outside


def perft_cases() -> list[tuple[str, int, int]]:
    facts = golden("perft.json")
    return [
        (fact["position"], int(depth), count)
        for fact in [facts["start"], *facts["other_positions"]]
        for depth, count in fact["unique"].items()
        if int(depth) <= 6
    ]


@pytest.mark.parametrize(("fen", "depth", "count"), perft_cases())
def test_perft(fen: str, depth: int, count: int) -> None:
    assert perft(Position.from_fen(fen), depth) == count


def test_perft_begins_where_a_game_begins() -> None:
    assert Position.from_fen(golden("perft.json")["start"]["position"]) == Position.start()


@pytest.mark.parametrize("case", golden("moves.json"), ids=lambda case: f"{case['position']} {case['why']}")
def test_known_positions(case: dict[str, Any]) -> None:
    assert results(case["position"]) == fens(*case["results"])


def test_known_random_positions() -> None:
    lines = (GOLDEN / "random_moves.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 400
    for line in lines:
        case = json.loads(line)
        assert results(case["position"]) == fens(*case["results"]), case["position"]


@pytest.mark.parametrize("example", golden("worked_examples.json")["examples"])
def test_worked_examples_of_the_rules(example: dict[str, Any]) -> None:
    position = Position.from_fen(example["position"])
    for text in example["line"].split():
        position = position.play(parse_move(position, text))
    assert position == Position.from_fen(example["then"])
    if "results" in example:
        assert results(example["then"]) == fens(*example["results"])
    for text, after in example.get("must_contain", {}).items():
        assert position.play(parse_move(position, text)) == Position.from_fen(after), text


MOVE_BUGS = [case for case in golden("bug_cases.json") if isinstance(case["expected"], dict)]


@pytest.mark.parametrize("case", MOVE_BUGS, ids=lambda case: case["source"])
def test_faults_of_other_programs(case: dict[str, Any]) -> None:
    found = results(case["position_fen_or_moves"])
    assert found == fens(*case["expected"]["legal_results"])
    assert len(found) == case["expected"]["count"]


def test_a_side_without_pieces_has_no_move() -> None:  # py-draughts issue 28
    position = Position.from_fen("B:We5:B")
    assert position.legal_moves() == []
    assert not has_capture(position)


def test_a_move_cannot_be_played_twice() -> None:  # py-draughts issue 27
    position = Position.from_fen("W:WKc1,Ka1:Bd6,e5,f4")
    move = position.legal_moves()[0]
    after = position.play(move)
    with pytest.raises(IllegalMoveError):
        after.play(move)


def test_two_kings_on_the_main_road_are_no_draw() -> None:  # adugin/draughts 9fdacef
    assert results("W:WKa1:BKh8") == fens(
        *(f"B:WK{name}:BKh8" for name in ("b2", "c3", "d4", "e5", "f6", "g7"))
    )
    for after in results("W:WKa1:BKh8"):
        assert any(not result.wk for result in map(after.play, after.legal_moves()))


# Rule by rule; the articles are those that tablebase/board/position.py names


def test_moving_men_step_forward_and_kings_fly() -> None:  # 3.4, 3.9
    assert results("W:Wc3:B") == fens("B:Wb4:B", "B:Wd4:B")
    assert results("B:W:Bc3") == fens("W:W:Bb2", "W:W:Bd2")
    assert len(results("W:WKd4:B")) == 13


def test_moving_own_pieces_are_never_jumped() -> None:  # 4.7
    assert all(after.wk == 1 for after in results("W:WKa1,b2:BKh8"))  # the king on a1 has no way out
    assert not has_capture(Position.from_fen("W:WKa1,Kb2:Bc3,d4"))
    assert not has_capture(Position.from_fen("W:WKa1,c3:Be5"))
    assert has_capture(Position.from_fen("W:WKa1:Be5"))


def test_crowning_by_a_quiet_move_ends_the_move() -> None:  # 3.5
    assert results("W:Wa7:Bc7") == fens("B:WKb8:Bc7")


def test_crowning_in_a_capture_goes_on_as_a_king() -> None:  # unlike 4.15
    assert results("W:Wb6:Bc7,f6") == fens("B:WKg5:B", "B:WKh4:B")
    (move, other) = Position.from_fen("W:Wb6:Bc7,f6").legal_moves()
    assert move.piece is other.piece is Piece.MAN
    assert move.promotes
    assert other.promotes


def test_crowning_sticks_when_the_piece_leaves_the_last_row() -> None:  # unlike 4.15
    assert results("W:Wf6:Bc7,e7") == fens("B:WKa5:B", "B:WKb6:B")


def test_capturing_men_capture_backward_too() -> None:  # 4.1, 4.2
    assert results("W:Wc5:Bd4") == fens("B:We3:B")
    assert results("W:Wc5:Bb4,d6") == fens("B:Wa3:Bd6", "B:We7:Bb4")


def test_capturing_two_pieces_in_line_stop_a_king() -> None:  # 4.3
    assert not has_capture(Position.from_fen("W:WKa1:Bc3,d4"))
    assert has_capture(Position.from_fen("W:WKa1:Bc3,e5"))


def test_compulsion_a_capture_comes_before_any_other_move() -> None:  # 4.2
    assert results("W:Wc3,h2:Bd4,h8") == fens("B:We5,h2:Bh8")


def test_compulsion_leaves_the_choice_of_capture_but_not_of_its_end() -> None:  # 4.5, unlike 4.13
    assert results("W:Wc3:Bd6,b4,d4") == fens("B:Wa5:Bd6,d4", "B:Wc7:Bb4")


def test_kings_landing_where_the_capture_goes_on() -> None:  # 4.6
    assert results("W:WKa1:Bc3,c5") == fens(
        "B:WKb6:B", "B:WKa7:B"
    )  # by d4, the one square that has c5 behind it
    assert results("W:WKa1:Bb2,f6") == fens("B:WKg7:B", "B:WKh8:B")  # the same line goes on


def test_kings_landing_is_free_where_the_capture_ends() -> None:  # 4.3
    assert results("W:WKa1:Bf6,c7") == fens("B:WKg7:Bc7", "B:WKh8:Bc7")


def test_kings_landing_is_judged_for_each_first_jump_alone() -> None:  # deepdraughts 1.2.0
    assert results("B:WKd6,Kb4:BKf8,Ke1") == fens("W:W:BKa3,Ke1", "W:WKd6:BKf8,Ka5")


def test_turkish_stroke_a_captured_piece_blocks_the_way() -> None:  # 4.8, 4.11
    # From g1 the way back to c5 leads over f2, which is captured but leaves only after the move.
    assert results("W:WKd4:BKf2,Kc5") == fens("B:WKg1:BKc5", "B:WKb6:BKf2", "B:WKa7:BKf2")


def test_turkish_stroke_the_start_square_counts_as_empty() -> None:  # 4.8
    ring = results("W:WKd2:Bc5,e5,c3,e3")
    assert ring == fens("B:WKc1:B", "B:WKd2:B", "B:WKe1:B")


def test_the_end_comes_with_no_move() -> None:  # 7.2.2, 7.2.3
    assert results("W:WKa1:Bc3,b2") == set()
    assert results("W:Wa3:Bb4,c5") == set()
    assert results("W:W:BKh8") == set()


# The second statement of the rules


def check_against_naive(position: Position) -> None:
    moves = legal_moves(position)
    by_result = {position_after(position, move): move for move in moves}
    expected: dict[Position, set[str]] = {}
    for text, after in routes(position):
        expected.setdefault(after, set()).add(text)
    assert by_result.keys() == expected.keys(), position.to_fen()
    assert len(moves) == len(by_result)
    assert has_capture(position) == any(move.is_capture for move in moves)
    for after, texts in expected.items():
        move = by_result[after]
        assert full_path(move) in texts
        for text in texts:
            squares = [parse_square(name) for name in text.replace(":", "-").split("-")]
            assert moves_along(position, squares) == [move], f"{text} in {position.to_fen()}"


def full_path(move: Move) -> str:
    return (":" if move.is_capture else "-").join(SQUARE_NAMES[square] for square in move.path)


def test_every_route_of_random_positions() -> None:
    for position in random_positions(1500, seed=1):
        check_against_naive(position)


@given(positions(max_pieces=12))
def test_every_route(position: Position) -> None:
    check_against_naive(position)


@given(positions())
def test_moves_of_the_mirror_are_the_mirrored_moves(position: Position) -> None:
    turned = position.flip()
    assert {after.flip() for after in map(position.play, position.legal_moves())} == {
        turned.play(move) for move in turned.legal_moves()
    }


@given(positions())
def test_properties_of_moves(position: Position) -> None:
    white = position.turn is Color.WHITE
    own_men, own_kings = (position.wm, position.wk) if white else (position.bm, position.bk)
    enemies = position.bm | position.bk if white else position.wm | position.wk
    moves = position.legal_moves()
    for move in moves:
        after = position.play(move)
        assert after.turn is position.turn.other
        assert after.pieces == position.pieces - len(move.captured)
        assert (own_kings if move.piece is Piece.KING else own_men) >> move.start & 1
        assert all(enemies >> square & 1 for square in move.captured)
        assert len(set(move.captured)) == len(move.captured)
        assert len(move.path) == max(len(move.captured), 1) + 1
        assert move.zeroing == (move.is_capture or move.piece is Piece.MAN)
        kings_after = after.wk if white else after.bk
        assert kings_after.bit_count() == own_kings.bit_count() + move.promotes
        same_ends = [other for other in moves if (other.start, other.end) == (move.start, move.end)]
        assert move.ambiguous == (len(same_ends) > 1)


# Playing


@given(positions(max_pieces=10), positions(max_pieces=10))
def test_play_takes_legal_moves_only(position: Position, other: Position) -> None:
    legal = position.legal_moves()
    for move in other.legal_moves():
        if move in legal:
            assert position.play(move).turn is position.turn.other
        elif not any((move.start, move.end) == (known.start, known.end) for known in legal):
            with pytest.raises(IllegalMoveError):
                position.play(move)


def test_play_takes_any_route_to_a_legal_result() -> None:
    position = Position.from_fen("W:WKa1:Bb2,f6")
    for landing in ("c3", "d4", "e5"):
        path = tuple(map(parse_square, ("a1", landing, "h8")))
        by_route = Move(path, (parse_square("b2"), parse_square("f6")), Piece.KING, False)
        assert play(position, by_route) == Position.from_fen("B:WKh8:B")
        assert find_legal(position, by_route) in position.legal_moves()


def test_illegal_moves_are_rejected_with_the_legal_ones() -> None:
    position = Position.from_fen("W:Wc3:Bd4")
    quiet = Move((parse_square("c3"), parse_square("b4")), (), Piece.MAN, False)
    with pytest.raises(IllegalMoveError, match="c3-b4 is not legal in W:Wc3:Bd4; legal moves: c3:e5"):
        position.play(quiet)
    with pytest.raises(IllegalMoveError, match="has lost"):
        Position.from_fen("W:W:Bd4").play(quiet)


def test_moves_with_wrong_properties_are_rejected() -> None:
    position = Position.from_fen("W:Wa7:Bh4")
    (move,) = position.legal_moves()
    assert move.promotes
    for wrong in (
        replace(move, promotes=False),
        replace(move, piece=Piece.KING),
        replace(move, captured=(parse_square("h4"),)),
    ):
        with pytest.raises(IllegalMoveError):
            position.play(wrong)


def test_moves_along_needs_a_route_of_a_piece_of_ones_own() -> None:
    position = Position.from_fen("W:Wc3:Bd4,d6")
    named = {name: parse_square(name) for name in SQUARE_NAMES}
    (move,) = position.legal_moves()
    assert moves_along(position, [named["c3"], named["c7"]]) == [move]
    assert moves_along(position, [named["c3"]]) == []
    assert moves_along(position, [named["a1"], named["c7"]]) == []
    assert moves_along(position, [named["d4"], named["c7"]]) == []
    assert moves_along(position, [named["c3"], named["c3"], named["c7"]]) == []  # it lands on c3 at no time
    assert moves_along(position, [named["c3"], named["c7"], named["c7"]]) == []


def test_order_of_moves_is_deterministic() -> None:
    position = Position.from_fen("W:WKa1,c3:BKh8")
    assert [str(move) for move in position.legal_moves()] == ["a1-b2", "c3-b4", "c3-d4"]
    assert position.legal_moves() == Position.from_fen("W:BKh8:Wc3,Ka1").legal_moves()


def test_black_plays_down() -> None:
    position = Position.start().flip()
    assert position.turn is Color.BLACK
    assert {after.bm for after in map(position.play, position.legal_moves())} == {
        reverse(after.wm) for after in map(Position.start().play, Position.start().legal_moves())
    }
