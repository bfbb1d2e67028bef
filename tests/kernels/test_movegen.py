"""The scalar move generator is held to the readable rules, and to generators from outside."""

import json
import random
import warnings
from collections.abc import Iterable

import draughts
import numpy as np
import pytest
from paths import GOLDEN
from strategies import random_positions

from tablebase.board import position as rules
from tablebase.board.material import Material, materials
from tablebase.board.position import Color, Position
from tablebase.kernels.movegen import (
    MAX_SUCCESSORS,
    captures,
    count_quiet_moves,
    has_capture,
    new_buffer,
    quiet_moves,
    successors,
)
from tablebase.tables.index import sets_at

BUFFER = new_buffer()


def sets_of(position: Position) -> tuple[int, int, int, int]:
    return position.own_men, position.own_kings, position.other_men, position.other_kings


def as_position(sets: Iterable[int], turn: Color) -> Position:
    position = Position(*(int(squares) for squares in sets), Color.WHITE)
    return position if turn is Color.WHITE else position.flip()


def by_kernel(position: Position) -> list[Position]:
    count = successors(*sets_of(position), BUFFER)
    return [as_position(row, position.turn.other) for row in BUFFER[:count]]


def by_rules(position: Position) -> list[Position]:
    return [rules.position_after(position, move) for move in rules.legal_moves(position)]


def check(position: Position) -> None:
    count = successors(*sets_of(position), BUFFER)
    found = sorted(map(tuple, BUFFER[:count].tolist()))
    assert found == sorted(map(sets_of, by_rules(position))), position.to_fen()
    assert has_capture(*sets_of(position)) == rules.has_capture(position), position.to_fen()


def slice_positions(material: Material) -> Iterable[Position]:
    # Black to move: what it leads to is then seen as White sees it, which costs least.
    for index in range(material.positions):
        yield as_position(sets_at(material, index), Color.BLACK)


@pytest.mark.parametrize("pieces", [1, 2])
def test_every_position_of_one_and_two_pieces(pieces: int) -> None:
    if pieces == 1:
        positions = [Position(1 << s, 0, 0, 0) for s in range(28)] + [
            Position(0, 1 << s, 0, 0) for s in range(32)
        ]
    else:
        positions = [p for material in materials(2) for p in slice_positions(material)]
        assert len(positions) == 3488
    for position in positions:
        check(position)


def test_every_position_of_three_pieces() -> None:
    seen = 0
    for material in materials(3):
        for position in slice_positions(material):
            check(position)
            seen += 1
    assert seen == 196_032


def test_random_positions() -> None:
    for position in random_positions(4000, seed=2, max_pieces=24):
        check(position)


def test_random_positions_with_many_captures() -> None:
    chooser = random.Random(5)
    longest = 0
    for _ in range(400):
        # Pieces on one colour of a lattice leave every other square to land on.
        lattice = [s for s in range(4, 28) if (s // 4) % 2]
        others = sum(1 << s for s in chooser.sample(lattice, chooser.randint(5, 12)))
        start = chooser.choice([s for s in range(32) if not others >> s & 1])
        position = Position(0, 1 << start, 0, others)
        check(position)
        longest = max(longest, others.bit_count() - min(p.bk.bit_count() for p in by_kernel(position)))
    assert longest >= 6


def test_sides_without_pieces_or_moves_have_no_successor() -> None:
    assert by_kernel(Position(0, 0, 1 << 20, 1 << 30)) == []
    blocked = Position.from_fen("W:WKa1:Bc3,b2")
    assert by_kernel(blocked) == []
    assert not has_capture(*sets_of(blocked))


@pytest.mark.parametrize("name", ["moves.json", "random_moves.jsonl"])
def test_published_and_agreed_positions(name: str) -> None:
    text = (GOLDEN / name).read_text("utf-8")
    cases = [json.loads(line) for line in text.splitlines()] if name.endswith("l") else json.loads(text)
    assert len(cases) >= 86
    for case in cases:
        position = Position.from_fen(case["position"])
        expected = sorted(Position.from_fen(fen).to_fen() for fen in case["results"])
        assert sorted(found.to_fen() for found in by_kernel(position)) == expected, case


def test_agrees_with_pydraughts() -> None:
    for position in random_positions(250, seed=3, max_pieces=16):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            game = draughts.Board(variant="russian", fen=position.to_fen())
            expected = set()
            for move in game.legal_moves():
                after = draughts.Board(variant="russian", fen=position.to_fen())
                after.push(move)
                expected.add(Position.from_fen(after.fen))
        assert set(by_kernel(position)) == expected, position.to_fen()


def test_counts_without_writing() -> None:
    for position in random_positions(500, seed=4):
        sets = sets_of(position)
        assert count_quiet_moves(*sets) == quiet_moves(*sets, BUFFER), position.to_fen()
        if not has_capture(*sets):
            assert captures(*sets, BUFFER) == 0


def test_successors_are_seen_by_the_next_side_to_move() -> None:
    count = successors(*sets_of(Position.from_fen("W:Wa1:BKh8")), BUFFER)
    assert count == 1
    after = Position.from_fen("B:Wb2:BKh8")
    assert tuple(BUFFER[0].tolist()) == sets_of(after)


def test_a_full_buffer_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    from tablebase.kernels import bits, movegen
    from tablebase.kernels.jit import for_python

    # The same code, run as plain Python with a buffer of two.
    monkeypatch.setattr(movegen, "MAX_SUCCESSORS", 2)
    position = Position.from_fen("W:WKd4:Bc5,e5,c3,e3")
    assert len(by_rules(position)) > 2
    for name in ("_write", "_captures_of", "captures", "has_capture", "can_capture", "slide", "step"):
        monkeypatch.setattr(movegen, name, getattr(movegen, name).py_func)
    for name in ("popcount", "reverse"):  # these are made of machine instructions
        monkeypatch.setattr(movegen, name, for_python(getattr(bits, name)))
    with pytest.raises(OverflowError, match="MAX_SUCCESSORS"):
        movegen.captures(*sets_of(position), np.empty((600, 4), np.int64))
    assert MAX_SUCCESSORS > 2
