"""Perft against published numbers (tests/golden/perft.json, `unique`)."""

import json

import pytest
from paths import GOLDEN

from tablebase.board.position import Position
from tablebase.errors import ArgumentError
from tablebase.kernels.perft import perft

PERFT = json.loads((GOLDEN / "perft.json").read_text("utf-8"))
ENTRIES = [PERFT["start"], *PERFT["other_positions"]]
CASES = [
    pytest.param(
        entry["position"],
        int(depth),
        lines,
        id=f"{number}-{depth}",
        marks=[pytest.mark.whole] if int(depth) > 10 else [],
    )
    for number, entry in enumerate(ENTRIES)
    for depth, lines in entry["unique"].items()
    if int(depth) <= 12
]


@pytest.mark.parametrize(("fen", "depth", "lines"), CASES)
def test_published_numbers(fen: str, depth: int, lines: int) -> None:
    assert perft(Position.from_fen(fen), depth) == lines


def test_the_first_entry_is_the_start_of_the_game() -> None:
    assert Position.from_fen(PERFT["start"]["position"]) == Position.start()
    assert "9" in PERFT["start"]["unique"]


def test_colours_do_not_matter() -> None:
    position = Position.from_fen("B:WKd8,c1,Ka3:Bf6,b4,Kh2")
    assert perft(position, 5) == perft(position.flip(), 5) > 0


def test_depth_0_is_one_line_and_ended_games_have_none() -> None:
    assert perft(Position.start(), 0) == 1
    blocked = Position.from_fen("W:WKa1:Bc3,b2")
    assert [perft(blocked, depth) for depth in (0, 1, 2, 5)] == [1, 0, 0, 0]


def test_a_negative_depth_is_rejected() -> None:
    with pytest.raises(ArgumentError, match="-1"):
        perft(Position.start(), -1)
