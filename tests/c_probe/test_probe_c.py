"""The C library (probe/) returns the values and moves of Python."""

import ctypes
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import c_probe as probec
import numpy as np
import pytest
from c_probe import CACHED, DTB, DTC, DTW, NO_TABLE, NOT_CACHED, CMove, CTables, answer, as_position, plain
from numpy.typing import NDArray
from strategies import random_positions
from table_files import write_solved
from test_compiled import any_positions

from tablebase import (
    OFFICIAL,
    Material,
    Metric,
    MissingTableError,
    Position,
    PositionArray,
    Tablebase,
    materials,
    open_tablebase,
)
from tablebase.probe.line import MoveValue
from tablebase.tables import format as table_format
from tablebase.tables.format import table_name, write_table
from tablebase.tables.index import sets_at_each
from tablebase.tables.table import Table

ALL = (Metric.DTC, Metric.DTW, Metric.DTB)
TOGETHER = 1 << 17
SLOT_HEAD = 24  # bytes of the cache for a slot, besides its frame, at most


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return probec.load(probec.build(tmp_path_factory.mktemp("probe")))


@pytest.fixture(scope="module")
def both(library: Any, tables4: Path) -> Iterator[tuple[CTables, Tablebase]]:
    """All tables of up to 4 pieces, opened in C and in Python."""
    with CTables(library, tables4) as tables, open_tablebase(tables4) as opened:
        yield tables, opened


def index_chunks(material: Material, step: int = 1) -> Iterator[NDArray[np.int64]]:
    """Yield every `step`-th index of a material, in chunks."""
    for start in range(0, material.positions, step * TOGETHER):
        yield np.arange(start, min(start + step * TOGETHER, material.positions), step)


def rotated(sets: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Rotate sets of squares by 180 degrees."""
    octets = np.ascontiguousarray(sets, "<u4").reshape(-1, 1).view(np.uint8)
    bits = np.unpackbits(octets, axis=1, bitorder="little")[:, ::-1]
    return np.packbits(bits, axis=1, bitorder="little").view("<u4").reshape(sets.shape)


def boards_of(material: Material, indices: NDArray[np.int64]) -> PositionArray:
    """Return the positions at some indices, with Black to move for odd ones, as `positions_of` does."""
    sets = sets_at_each(material, indices)
    black = indices % 2 == 1
    sets[black] = rotated(sets[black][:, [2, 3, 0, 1]])
    return PositionArray(sets, black)


def any_boards(pieces: int, count: int, seed: int) -> PositionArray:
    """Return uniformly random positions."""
    random = np.random.default_rng(seed)
    slices = list(materials(pieces))
    sizes = np.array([material.positions for material in slices])
    chosen = random.choice(len(slices), count, p=sizes / sizes.sum())
    parts = [
        boards_of(material, random.integers(0, material.positions, (chosen == number).sum()))
        for number, material in enumerate(slices)
    ]
    return PositionArray(
        np.concatenate([part.sets for part in parts]), np.concatenate([part.black for part in parts])
    )


def compare(both: tuple[CTables, Tablebase], boards: PositionArray) -> None:
    """Assert that all values of many positions are those of `probe_many`."""
    tables, opened = both
    found = opened.probe_many(boards.sets, boards.black, ALL)
    expected = np.column_stack([found.wdl, found.dtc, found.dtw, found.dtb])  # type: ignore[arg-type]
    given = probec.c_positions(boards.sets, boards.black)
    values = tables.many(given)
    assert [boards.position(place) for place in (values != expected).any(axis=1).nonzero()[0]] == []
    # Outcomes alone, which stop at the first winning capture; then from memory alone.
    assert (tables.many(given, 0)[:, 0] == expected[:, 0]).all()
    cached = tables.many(given, 0, CACHED)[:, 0]
    assert ((cached == expected[:, 0]) | (cached == probec.UNKNOWN)).all()
    assert (cached == expected[:, 0]).any()


def compare_all(both: tuple[CTables, Tablebase], pieces: int, step: int = 1) -> int:
    number = 0
    for material in materials(pieces):
        for indices in index_chunks(material, step):
            compare(both, boards_of(material, indices))
            number += len(indices)
    return number


def as_python(move: CMove) -> tuple[object, ...]:
    """Return a move of C in the form of `as_c`."""
    captured = {square for square in range(32) if move.captured >> square & 1}
    value = plain((move.value.wdl, move.value.dtc, move.value.dtw, move.value.dtb))
    path = tuple(move.path[: move.path_length])
    return (
        move.notation.decode(),
        path,
        captured,
        bool(move.king),
        bool(move.promotes),
        value,
        as_position(move.after),
    )


def as_c(move: MoveValue) -> tuple[object, ...]:
    value = (move.wdl, move.dtc, move.dtw, move.dtb)
    king = move.move.piece == "king"
    return (
        str(move.move),
        move.move.path,
        set(move.move.captured),
        king,
        move.move.promotes,
        value,
        move.after,
    )


def compare_moves(both: tuple[CTables, Tablebase], positions: list[Position]) -> int:
    tables, opened = both
    number = 0
    for position in positions:
        moves = [as_python(move) for move in tables.moves(position)]
        assert moves == [as_c(move) for move in opened.moves(position)], position
        number += len(moves)
    return number


# Values


@pytest.mark.parametrize(("pieces", "step"), [(2, 1), (3, 1), (4, 17)])
def test_values(both: tuple[CTables, Tablebase], pieces: int, step: int) -> None:
    assert both[0].pieces == both[1].pieces == 4
    assert compare_all(both, pieces, step) > 2000


@pytest.mark.whole
def test_every_value_of_four_pieces(both: tuple[CTables, Tablebase]) -> None:
    assert compare_all(both, 4) == sum(material.positions for material in materials(4))


@pytest.mark.whole
def test_a_million_values_of_five_pieces(library: Any, tables5: Path) -> None:
    with CTables(library, tables5) as tables, open_tablebase(tables5) as opened:
        for seed in range(10):
            compare((tables, opened), any_boards(5, 100_000, seed))


def test_single_values(both: tuple[CTables, Tablebase]) -> None:
    tables, opened = both
    for position in any_positions(4, 300, 1) + any_positions(3, 100, 2) + [Position(0, 0, 0, 0)]:
        probe = opened.probe(position)
        assert tables.one("wdl", position) == probe.wdl
        assert tables.one("wdl_cached", position) == probe.wdl
        for name, plies in (("dtc", probe.dtc), ("dtw", probe.dtw), ("dtb", probe.dtb)):
            assert tables.one(name, position) == (probec.NONE if plies is None else plies), (name, position)


def test_values_of_many_pieces(both: tuple[CTables, Tablebase]) -> None:
    """Captures from positions of many pieces into the tables are resolved."""
    tables, opened = both
    known = 0
    for position in random_positions(4000, 3, 12):
        probe = opened.get_probe(position)
        value = answer(lambda: plain(tables.probe(position)))  # noqa: B023
        if probe.wdl is None:
            assert value == NO_TABLE, position
        else:
            assert value == (probe.wdl, probe.dtc, probe.dtw, probe.dtb), position
        known += probe.wdl is not None and position.pieces > 4
    assert known > 50


@pytest.fixture
def lacking(tables3: Path, tmp_path: Path) -> Path:
    """A directory without some tables: outcomes of one slice, distances of others."""
    for file in tables3.iterdir():
        if file.name not in ("KMvK.wdl", "KKvK.dtw", "MMvM.dtw", "KvK.dtc", "KvMM.dtc"):
            (tmp_path / file.name).symlink_to(file)
    return tmp_path


def test_missing_tables(library: Any, lacking: Path) -> None:
    with CTables(library, lacking) as tables, open_tablebase(lacking) as opened:
        assert tables.pieces == opened.pieces == 2
        positions = any_positions(3, 2000, 3) + any_positions(4, 2000, 4)
        compare_with_missing(tables, opened, positions)
        compare_moves((tables, opened), positions[::7])


def compare_with_missing(tables: CTables, opened: Tablebase, positions: list[Position]) -> None:
    boards = PositionArray.of(positions)
    found = opened.probe_many(boards.sets, boards.black, ALL)
    expected = np.column_stack([found.wdl, found.dtc, found.dtw, found.dtb])  # type: ignore[arg-type]
    assert (expected == probec.UNKNOWN).any(axis=0).all()
    assert (tables.many(probec.c_positions(boards.sets, boards.black)) == expected).all()
    for position in positions[::5]:
        for name in ("wdl", "dtc", "dtw", "dtb"):
            value = answer(lambda: tables.one(name, position))  # noqa: B023
            try:
                plies = getattr(opened, f"probe_{name}")(position)
            except MissingTableError as missing:
                table = library_text(tables).removeprefix("there is no table ")
                complaint = str(missing)
            else:
                assert value == (probec.NONE if plies is None else plies)
                continue
            assert value == NO_TABLE
            assert table in complaint


def library_text(tables: CTables) -> str:
    return str(tables.library.shashki_last_error().decode())


def test_another_ruleset(library: Any, kings4: Path) -> None:
    with CTables(library, kings4) as tables, open_tablebase(kings4) as opened:
        assert library.shashki_ruleset(tables.tables) == b"king-moves-only"
        compare((tables, opened), any_boards(4, 20_000, 8))
        compare_moves((tables, opened), any_positions(4, 200, 9))


def test_tables_with_unused_slots(library: Any, solved2: Any, tmp_path: Path) -> None:
    write_solved(tmp_path, solved2, 2)
    with CTables(library, tmp_path) as tables, open_tablebase(tmp_path) as opened:
        compare_all((tables, opened), 2)


# Moves


def test_moves(both: tuple[CTables, Tablebase]) -> None:
    for pieces in (2, 3, 4):
        assert compare_moves(both, any_positions(pieces, 400, pieces)) > 1000


def test_moves_of_many_pieces(both: tuple[CTables, Tablebase]) -> None:
    """The lists and notations are those of Python; most values are unknown."""
    random = Random(5)
    positions = random_positions(1500, 4)
    # Kings on both sides: rings, different paths, two pieces that can make the same capture.
    for _ in range(1500):
        squares = random.sample(range(32), random.randint(4, 12))
        own = random.randint(1, 3)
        kings, others = (sum(1 << square for square in part) for part in (squares[:own], squares[own:]))
        position = Position(0, kings, 0, others)
        positions.append(position.flip() if random.random() < 0.5 else position)
    seen = {square for position in positions for square in map(len, compare_paths(both, position))}
    assert max(seen) > 5


def compare_paths(both: tuple[CTables, Tablebase], position: Position) -> list[tuple[int, ...]]:
    compare_moves(both, [position])
    return [tuple(move.path[: move.path_length]) for move in both[0].moves(position)]


@pytest.mark.whole
def test_a_large_sample_of_moves(library: Any, both: tuple[CTables, Tablebase], tables5: Path) -> None:
    for pieces in (2, 3, 4):
        compare_moves(both, any_positions(pieces, 10_000, 20 + pieces))
    with CTables(library, tables5) as tables, open_tablebase(tables5, compiled=True) as opened:
        compare_moves((tables, opened), any_positions(5, 20_000, 25))


def test_capacity_for_fewer_moves(both: tuple[CTables, Tablebase]) -> None:
    tables, _ = both
    position = Position.from_fen("W:WKc1,Kd2,Ka3:BKe1")
    moves = [move.notation for move in tables.moves(position)]
    assert len(moves) > 3
    assert [move.notation for move in tables.moves(position, 3)] == moves[:3]
    assert tables.moves(position, 0) == []


@pytest.fixture(params=[16384, 256, 2])
def invented(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tables of invented values: all outcomes, distances beyond the rules, alphabets of 1 to 400 values,
    frames of several sizes."""
    monkeypatch.setattr(table_format, "FRAME_SIZE", request.param)
    random = np.random.default_rng(request.param)
    for pieces in (2, 3):
        for number, material in enumerate(materials(pieces)):
            for metric, most in ((Metric.WDL, 5), (Metric.DTC, 40), (Metric.DTW, 1), (Metric.DTB, 16)):
                if not metric.fits(material, OFFICIAL):
                    continue
                symbols = (1, 2, 3, 4, 6, 16, 40, 400)[number % 8] if metric is Metric.DTW else most
                values = random.integers(0, symbols, material.positions).astype(np.int16)
                if metric is Metric.WDL:
                    values -= 2
                path = tmp_path / table_name(material, metric)
                write_table(path, material, metric, OFFICIAL, values, generator_version="test")
    assert Table(tmp_path / "KMvM.wdl").header.frame_size == request.param
    return tmp_path


def test_invented_values(library: Any, invented: Path) -> None:
    """Among them are wins that only both counters together turn into draws."""
    with CTables(library, invented) as tables, open_tablebase(invented) as opened:
        assert tables.pieces == 3
        positions = any_positions(3, 3000, 14) + any_positions(2, 500, 15)
        compare((tables, opened), PositionArray.of(positions))
        compare_moves((tables, opened), positions[::5])
        seen = {move.wdl for position in positions[:50] for move in opened.moves(position)}
        assert seen == {-2, -1, 0, 1, 2}


# Memory alone


def test_cached_probes(library: Any, tables4: Path) -> None:
    positions = any_positions(4, 200, 11)
    boards = PositionArray.of(positions)
    with CTables(library, tables4) as tables:
        for position in positions:
            before = tables.stats().frames_read
            early = answer(lambda: tables.one("wdl_cached", position))  # noqa: B023
            assert tables.stats().frames_read == before
            wdl = tables.one("wdl", position)
            assert early in (NOT_CACHED, wdl)
            assert tables.one("wdl_cached", position) == wdl
    with CTables(library, tables4, 0) as tables:
        tables.many(probec.c_positions(boards.sets, boards.black))
        assert NOT_CACHED in {
            answer(lambda: tables.one("wdl_cached", position))  # noqa: B023
            for position in positions
        }


def test_preloading(library: Any, tables4: Path) -> None:
    boards = PositionArray.of(any_positions(4, 5000, 12))
    given = probec.c_positions(boards.sets, boards.black)
    with CTables(library, tables4, 64 << 20) as tables:
        expected = tables.many(given)
    assert not (expected == probec.UNKNOWN).any()
    with CTables(library, tables4, 64 << 20) as tables:
        assert tables.preload(4, DTC | DTW | DTB) == 0
        frames = tables.stats().frames_read
        assert (tables.many(given, mode=CACHED) == expected).all()
        assert tables.preload(4, DTC | DTW | DTB) == 0
        assert tables.stats().frames_read == frames
    with CTables(library, tables4, 1 << 20) as tables:
        left = tables.preload(4, DTC | DTW | DTB)
        assert left > 0
        assert tables.stats().frames_read + left == frames
        found = tables.many(given, mode=CACHED)
        assert (found[:, 0] == probec.UNKNOWN).any()
        assert (tables.many(given) == expected).all()


def test_preloading_into_a_used_cache(library: Any, tables4: Path) -> None:
    """Preloaded frames are in the cache, whatever it held before."""
    boards = PositionArray.of(any_positions(4, 5000, 12))
    given = probec.c_positions(boards.sets, boards.black)
    with CTables(library, tables4) as tables:
        tables.preload(4, 0)
        budget = (tables.stats().frames_read + 20) * (SLOT_HEAD + table_format.FRAME_SIZE)
    for metrics in (DTC, DTW, DTC | DTW):
        with CTables(library, tables4, budget) as tables:
            tables.preload(4, metrics)
            tables.many(given[:1000])
            assert tables.preload(4, 0) == 0
            assert not (tables.many(given, 0, CACHED)[:, 0] == probec.UNKNOWN).any()


def test_huge_cache_budgets(library: Any, tables4: Path) -> None:
    """The cache takes no more than all tables need."""
    boards = PositionArray.of(any_positions(4, 500, 13))
    given = probec.c_positions(boards.sets, boards.black)
    for budget in (1 << 45, (1 << 8 * ctypes.sizeof(ctypes.c_size_t)) - 1):
        with CTables(library, tables4, budget) as tables:
            assert tables.preload(4, DTC | DTW | DTB) == 0
            assert not (tables.many(given, mode=CACHED) == probec.UNKNOWN).any()


def test_no_positions(both: tuple[CTables, Tablebase]) -> None:
    """An empty array may be NULL, like the data of an empty std::vector."""
    none = ctypes.c_size_t(0)
    assert both[0].library.shashki_probe_many(both[0].tables, None, none, DTC, 0, None) == probec.OK
    assert both[0].library.shashki_probe_many(both[0].tables, None, none, 8, 0, None) == probec.ARGUMENT
    one = ctypes.c_size_t(1)
    assert both[0].library.shashki_probe_many(both[0].tables, None, one, 0, 0, None) == probec.ARGUMENT


def test_small_cache_budgets(library: Any, both: tuple[CTables, Tablebase], tables4: Path) -> None:
    for budget in (0, 16_000, 17_000, 100_000):
        with CTables(library, tables4, budget) as tables:
            boards = PositionArray.of(any_positions(4, 500, 13))
            given = probec.c_positions(boards.sets, boards.black)
            assert (tables.many(given) == both[0].many(given)).all()
