"""Arrays of positions: what is taken, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from strategies import random_positions

from tablebase import ArgumentError, IllegalPositionError, Metric, PositionArray, open_tablebase

GOOD = (1, 0, 0, 1 << 31)


def test_positions_to_arrays_and_back() -> None:
    positions = random_positions(500, 3)
    boards = PositionArray.of(positions)
    assert (boards.sets.shape, boards.sets.dtype, boards.black.dtype) == ((500, 4), np.uint32, np.bool_)
    assert [boards.position(place) for place in range(len(boards))] == positions


@pytest.mark.parametrize("kind", [np.uint32, np.int64, np.uint64, list])
def test_any_integer_type(kind: type) -> None:
    rows = [GOOD, (0, 1 << 31, 2 << 8, 0)]
    boards = PositionArray(rows if kind is list else np.array(rows, kind), [False, True])
    assert boards.sets.tolist() == [list(GOOD), [0, 1 << 31, 2 << 8, 0]]


def test_strided_arrays() -> None:
    wide = np.zeros((6, 8), np.uint32)
    wide[::2, ::2] = GOOD
    assert PositionArray(wide[::2, ::2], np.zeros(6, np.bool_)[::2]).sets.tolist() == [list(GOOD)] * 3


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ((1, 1, 0, 0), "more than one piece on a1"),
        ((1, 0, 0, 1), "more than one piece on a1"),
        ((0, 16, 16, 0), "more than one piece on b2"),
        ((0, 0, 16, 16), "more than one piece on b2"),
        ((1 << 31, 0, 0, 1), "white man on h8"),
        ((0, 1 << 31, 1, 0), "black man on a1"),
        ((1 << 32, 0, 0, 1), "wm = 0x100000000 is not a set of squares"),
        ((1, 0, 0, -2), "bk = -0x2 is not a set of squares"),
    ],
)
def test_first_illegal_position_is_named(wrong: tuple[int, int, int, int], message: str) -> None:
    sets = np.array([GOOD, GOOD, wrong, GOOD, wrong])
    fits = 0 <= min(wrong) <= max(wrong) < 1 << 32
    for given in (sets, sets.astype(np.uint32)) if fits else (sets,):
        with pytest.raises(IllegalPositionError, match=f"^position 2 of the array: {message}"):
            PositionArray(given, np.zeros(5, np.bool_))


@pytest.mark.parametrize(
    ("sets", "black", "message"),
    [
        (
            [GOOD, GOOD],
            [True],
            r"turns must be .* of shape \(2,\), True for Black, not bool \(1,\)",
        ),
        ([GOOD], [1], "not int64"),
        (GOOD, [True], r"shape \(n, 4\), not int64 \(4,\)"),
        ([GOOD[:3]], [True], r"shape \(n, 4\), not int64 \(1, 3\)"),
        (np.array([GOOD], np.float64), [True], "not float64"),
    ],
)
def test_wrong_shapes_and_types_are_refused(sets: object, black: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        PositionArray(sets, black)  # type: ignore[arg-type]


@pytest.mark.parametrize("compiled", [False, True])
def test_empty_arrays_and_unknown_distances(plain2: Path, compiled: bool) -> None:
    with open_tablebase(plain2, compiled=compiled) as opened:
        for sets in ([], np.empty((0, 4), np.uint32)):
            found = opened.probe_many(sets, [], list(Metric))
            assert (found.wdl.shape, found.wdl.dtype) == ((0,), np.int8)
            assert found.dtb is not None
            assert (found.dtb.shape, found.dtb.dtype) == ((0,), np.int16)
        with pytest.raises(ArgumentError, match="'dtx' is not a metric"):
            opened.probe_many([GOOD], [False], ["dtx"])  # type: ignore[list-item]
        with pytest.raises(ArgumentError, match=r"like \[Metric.DTW\], not 'dtw'"):
            opened.probe_many([GOOD], [False], Metric.DTW)  # type: ignore[arg-type]
        with pytest.raises(IllegalPositionError, match="position 0 of the array"):
            opened.probe_many([(1, 1, 0, 0)], [False])
