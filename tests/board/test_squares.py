from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import positions

from tablebase.board.position import Color, Position
from tablebase.board.squares import (
    DOWN_RAYS,
    MAIN_ROAD,
    RAYS,
    SQUARE_NAMES,
    UP_RAYS,
    parse_square,
    reverse,
    square_name,
    squares_of,
)
from tablebase.errors import IllegalPositionError, NotationError, TablebaseError

SETS = st.integers(0, 2**32 - 1)


def bits(*names: str) -> int:
    return sum(1 << parse_square(name) for name in names)


def test_squares_run_row_by_row_from_whites_left() -> None:
    assert SQUARE_NAMES[:8] == ("a1", "c1", "e1", "g1", "b2", "d2", "f2", "h2")
    assert SQUARE_NAMES[-4:] == ("b8", "d8", "f8", "h8")
    assert [parse_square(name) for name in SQUARE_NAMES] == list(range(32))
    assert [square_name(square) for square in range(32)] == list(SQUARE_NAMES)


@pytest.mark.parametrize("number", [-1, 32])
def test_square_name_rejects_numbers_beyond_the_board(number: int) -> None:
    with pytest.raises(IndexError):
        square_name(number)


@pytest.mark.parametrize(
    ("text", "said"), [("a2", "light"), ("i1", "not a square"), ("", "not a square"), ("a11", "not a square")]
)
def test_parse_square_rejects_all_but_dark_squares(text: str, said: str) -> None:
    with pytest.raises(NotationError, match=said):
        parse_square(text)


def test_rays_are_diagonals_to_the_edge_nearest_first() -> None:
    d4 = parse_square("d4")
    assert [[square_name(square) for square in ray] for ray in RAYS[d4]] == [
        ["c5", "b6", "a7"],
        ["e5", "f6", "g7", "h8"],
        ["c3", "b2", "a1"],
        ["e3", "f2", "g1"],
    ]
    for square in range(32):
        up, down = UP_RAYS[square], DOWN_RAYS[square]
        assert RAYS[square] == up + down
        turned = tuple(tuple(31 - other for other in ray) for ray in reversed(DOWN_RAYS[31 - square]))
        assert turned == up
    assert (
        sum(len(ray) for rays in RAYS for ray in rays) == 280
    )  # the moves of a lone king, from every square


def test_the_main_road_is_a1_to_h8() -> None:
    assert bits("a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8") == MAIN_ROAD
    assert reverse(MAIN_ROAD) == MAIN_ROAD


@given(SETS)
def test_reverse_turns_every_square(squares: int) -> None:
    assert reverse(squares) == sum(1 << 31 - square for square in squares_of(squares))
    assert reverse(reverse(squares)) == squares
    assert sum(1 << square for square in squares_of(squares)) == squares


def test_colors_read_as_words() -> None:
    assert f"{Color.WHITE} {Color.BLACK}" == "white black"
    assert Color.WHITE.other is Color.BLACK
    assert Color.BLACK.other is Color.WHITE


def test_the_start_position() -> None:
    start = Position.start()
    assert start.turn is Color.WHITE
    assert start.wm == bits(*SQUARE_NAMES[:12])
    assert start.bm == bits(*SQUARE_NAMES[20:])
    assert start.pieces == 24
    assert start.flip().flip() == start
    assert start.flip() == Position(start.wm, 0, start.bm, 0, Color.BLACK)


def test_a_position_prints_as_a_board() -> None:
    position = Position(bits("c3"), bits("a1"), bits("d6"), bits("h8"), Color.BLACK)
    assert str(position).splitlines() == [
        "8   .   .   .   B",
        "7 .   .   .   .",
        "6   .   b   .   .",
        "5 .   .   .   .",
        "4   .   .   .   .",
        "3 .   w   .   .",
        "2   .   .   .   .",
        "1 W   .   .   .",
        "  a b c d e f g h",
        "black to move",
    ]


def test_a_position_is_immutable_and_equal_by_value() -> None:
    position = Position(1, 2, 1 << 20, 1 << 31)
    assert position == Position(1, 2, 1 << 20, 1 << 31, Color.WHITE)
    assert position != Position(1, 2, 1 << 20, 1 << 31, Color.BLACK)
    assert len({position, Position(1, 2, 1 << 20, 1 << 31)}) == 1
    with pytest.raises(FrozenInstanceError):
        position.wm = 0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        ((1, 1, 0, 0), "more than one piece on a1"),
        ((0, 6, 0, 4), "more than one piece on e1"),
        ((0, 0, 1 << 31, 1 << 31), "more than one piece on h8"),
        ((1 << 32, 0, 0, 0), "wm = 0x100000000"),
        ((0, 0, 0, -1), "bk = -0x1"),
        ((1 << 28, 0, 0, 0), "white man on b8"),
        ((0, 0, 0b1010, 0), "black man on c1, g1"),
    ],
)
def test_impossible_positions_are_rejected_with_their_square(
    sets: tuple[int, int, int, int], said: str
) -> None:
    with pytest.raises(IllegalPositionError, match=said) as caught:
        Position(*sets)
    assert isinstance(caught.value, TablebaseError)
    assert isinstance(caught.value, ValueError)


def test_position_rejects_an_invalid_turn() -> None:
    with pytest.raises(IllegalPositionError, match="must be Color"):
        Position(1, 0, 0, 2, "red")  # type: ignore[arg-type]


def test_numpy_integers_and_plain_text_become_plain_values() -> None:
    position = Position(np.uint32(1), 0, np.uint32(1 << 31), 0, "black")  # type: ignore[arg-type]
    assert position == Position(1, 0, 1 << 31, 0, Color.BLACK)
    assert type(position.wm) is int
    assert position.turn is Color.BLACK


@given(positions())
def test_flip_turns_the_board_and_passes_the_turn(position: Position) -> None:
    flipped = position.flip()
    assert flipped.turn is position.turn.other
    assert flipped.flip() == position
    assert flipped.pieces == position.pieces
    assert (flipped.own_men, flipped.own_kings) == (position.own_men, position.own_kings)
    assert (flipped.other_men, flipped.other_kings) == (position.other_men, position.other_kings)


@given(positions())
def test_the_side_to_move_sees_itself_playing_up(position: Position) -> None:
    white = position if position.turn is Color.WHITE else position.flip()
    assert (position.own_men, position.own_kings, position.other_men, position.other_kings) == (
        white.wm,
        white.wk,
        white.bm,
        white.bk,
    )
    assert not position.own_men >> 28
    assert not position.other_men & 0xF
