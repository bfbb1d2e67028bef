"""The readable rules against a generator written by others: pydraughts, variant "russian"."""

import pytest
from draughts import Board
from strategies import random_positions

from tablebase.board.notation import Numbering, parse_fen, parse_move
from tablebase.board.position import Position


def theirs(position: Position) -> dict[str, Position]:
    """pydraughts' legal moves, by its own text for them (numbers, a1 = 1), with the position after each."""
    found = {}
    for move in Board(variant="russian", fen=position.to_fen()).legal_moves():
        board = Board(variant="russian", fen=position.to_fen())
        board.push(move)
        found[move.pdn_move] = parse_fen(board.fen)
    return found


@pytest.mark.parametrize(("seed", "max_pieces"), [(11, 5), (12, 12), (13, 24)])
def test_pydraughts_agrees_on_random_positions(seed: int, max_pieces: int) -> None:
    for position in random_positions(150, seed, max_pieces):
        ours = {position.play(move) for move in position.legal_moves()}
        assert ours == set(theirs(position).values()), position.to_fen()


def test_pydraughts_agrees_on_a_game() -> None:
    position = Position.start()
    for ply in range(60):
        moves = position.legal_moves()
        if not moves:
            break
        after = [position.play(move) for move in moves]
        assert set(after) == set(theirs(position).values()), position.to_fen()
        position = after[ply % len(after)]
    assert ply > 20


def test_moves_as_pydraughts_writes_them_are_read() -> None:
    for position in random_positions(150, seed=14, max_pieces=12):
        for text, after in theirs(position).items():
            assert position.play(parse_move(position, text, Numbering.A1)) == after, text
