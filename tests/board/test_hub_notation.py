"""Positions and moves as the Hub protocol writes them, beside pydraughts, which has a driver for it."""

import pytest
from draughts import Board
from hypothesis import given
from strategies import positions, random_positions

from tablebase import Numbering, Position
from tablebase.board.notation import (
    format_hub_move,
    format_hub_position,
    parse_hub_move,
    parse_hub_position,
)
from tablebase.errors import IllegalMoveError, IllegalPositionError, NotationError

START = "W" + "b" * 12 + "e" * 8 + "w" * 12


def test_the_start() -> None:
    assert format_hub_position(Position.start(), Numbering.B8) == START
    assert parse_hub_position(START, Numbering.B8) == Position.start()


@given(positions())
def test_positions_round_trip(position: Position) -> None:
    for numbering in Numbering:
        assert parse_hub_position(format_hub_position(position, numbering), numbering) == position


def test_moves_round_trip() -> None:
    for position in random_positions(150, 31, 12):
        for move in position.legal_moves():
            for numbering in Numbering:
                assert parse_hub_move(position, format_hub_move(move, numbering), numbering) == move


def test_pydraughts_writes_the_same() -> None:
    """Its driver sends positions that begin at b8, and moves that begin at a1."""
    for position in random_positions(100, 32, 12):
        board = Board("russian", position.to_fen())
        assert board._game.initial_hub_fen == format_hub_position(position, Numbering.B8)
        theirs = {move.hub_move for move in board.legal_moves()}
        assert theirs == {format_hub_move(move, Numbering.A1) for move in position.legal_moves()}


def test_captured_pieces_come_in_any_order() -> None:
    position = Position.from_fen("W:Wc3:Bd4,d6,f6")
    (move, other) = position.legal_moves()
    assert (str(move), str(other)) == ("c3:c7", "c3:g7")
    assert format_hub_move(move, Numbering.A1) == "10x26x14x22"
    for text in ("10x26x14x22", "10x26x22x14"):
        assert parse_hub_move(position, text, Numbering.A1) == move


@pytest.mark.parametrize("text", ["", START[1:], START + "e", START.lower(), "X" + START[1:], "W" + "q" * 32])
def test_invalid_positions_are_rejected(text: str) -> None:
    with pytest.raises(NotationError, match="not a position of this board"):
        parse_hub_position(text, Numbering.B8)


def test_a_man_on_its_last_row_is_refused() -> None:
    with pytest.raises(IllegalPositionError, match="b8"):
        parse_hub_position("Ww" + "e" * 31, Numbering.B8)


@pytest.mark.parametrize("text", ["", "10", "10x26", "c3-d4", "10-14-19", "10-14x3", "100-1", "10x26x"])
def test_invalid_moves_are_rejected(text: str) -> None:
    with pytest.raises(NotationError, match="not a move of the Hub protocol"):
        parse_hub_move(Position.start(), text, Numbering.A1)


def test_illegal_moves_are_rejected() -> None:
    with pytest.raises(NotationError, match="99 is not a square"):
        parse_hub_move(Position.start(), "9-99", Numbering.A1)
    for text in ("9-18", "10x26x14x22", "24-19"):
        with pytest.raises(IllegalMoveError, match="legal moves: a3-b4"):
            parse_hub_move(Position.start(), text, Numbering.A1)
