"""Compiled probing says what plain Python says, of one position and of many, whatever the tables lack."""

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import naive
import pytest
from naive import Solved
from strategies import random_positions
from table_files import write_solved

from tablebase import (
    ClosedError,
    DamagedFrameError,
    Material,
    Metric,
    MissingPackageError,
    MissingTableError,
    Position,
    PositionArray,
    Ruleset,
    Tablebase,
    materials,
    open_tablebase,
)
from tablebase.probe import compiled as compiledvalues
from tablebase.rules.rulesets import RULESETS
from tablebase.tables.index import sets_at

DISTANCES = (Metric.DTC, Metric.DTW, Metric.DTB)
ONE_PLY = Ruleset("one-ply", 1)


def positions_of(material: Material, indices: Iterable[int]) -> Iterator[Position]:
    """By turns with White and with Black to move."""
    for index in indices:
        own_men, own_kings, other_men, other_kings = sets_at(material, index)
        position = Position(own_men, own_kings, other_men, other_kings)
        yield position.flip() if index % 2 else position


def any_positions(pieces: int, count: int, seed: int) -> list[Position]:
    random = Random(seed)
    slices = list(materials(pieces))
    chosen = random.choices(slices, [material.positions for material in slices], k=count)
    return [next(positions_of(material, [random.randrange(material.positions)])) for material in chosen]


@pytest.fixture(scope="module")
def both(tables4: Path) -> Iterator[tuple[Tablebase, Tablebase]]:
    """Plain and compiled."""
    with open_tablebase(tables4, compiled=False) as plain, open_tablebase(tables4, compiled=True) as fast:
        yield plain, fast


def compare(both: tuple[Tablebase, Tablebase], positions: list[Position]) -> set[int | None]:
    """Single probes and arrays, of the compiled one to single probes of the plain one; the outcomes seen."""
    plain, fast = both
    boards = PositionArray.of(positions)
    found = fast.probe_many(boards.sets, boards.black, DISTANCES)
    outcomes_alone = fast.probe_many(boards.sets, boards.black)
    assert (outcomes_alone.wdl == found.wdl).all()
    assert outcomes_alone.dtc is outcomes_alone.dtw is outcomes_alone.dtb is None
    assert found.dtc is not None
    assert found.dtw is not None
    assert found.dtb is not None
    columns = (found.wdl.tolist(), found.dtc.tolist(), found.dtw.tolist(), found.dtb.tolist())
    seen = set()
    for position, row in zip(positions, zip(*columns, strict=True), strict=True):
        probe = plain.get_probe(position)
        assert fast.get_probe(position) == probe, position
        assert fast.get_wdl(position) == probe.wdl, position
        as_probed = tuple(None if value < 0 else value for value in row[1:])
        assert (None if row[0] == -128 else row[0], *as_probed) == (
            probe.wdl,
            probe.dtc,
            probe.dtw,
            probe.dtb,
        ), position
        seen.add(probe.wdl)
    return seen


def compare_arrays(both: tuple[Tablebase, Tablebase], positions: list[Position]) -> None:
    """Whole arrays of both, -1 and -128 told apart."""
    boards = PositionArray.of(positions)
    one, other = (tables.probe_many(boards.sets, boards.black, DISTANCES) for tables in both)
    for name in ("wdl", "dtc", "dtw", "dtb"):
        plain, fast = getattr(one, name), getattr(other, name)
        assert plain.dtype == fast.dtype
        assert [positions[place] for place in (plain != fast).nonzero()[0]] == []


@pytest.mark.parametrize(("pieces", "step"), [(2, 1), (3, 5), pytest.param(3, 1, marks=pytest.mark.whole)])
def test_small_positions(both: tuple[Tablebase, Tablebase], pieces: int, step: int) -> None:
    for material in materials(pieces):
        places = range(material.positions % step, material.positions, step)
        assert compare(both, list(positions_of(material, places))) <= {-2, 0, 2}


def test_random_positions_of_four_pieces(both: tuple[Tablebase, Tablebase]) -> None:
    positions = any_positions(4, 30_000, 4)
    assert compare(both, positions) == {-2, 0, 2}
    compare_arrays(both, positions[:5000])


@pytest.mark.whole
def test_random_positions_of_five_pieces(tables5: Path) -> None:
    with open_tablebase(tables5, compiled=False) as plain, open_tablebase(tables5, compiled=True) as fast:
        assert {-2, 0, 2} <= compare((plain, fast), any_positions(5, 100_000, 5))


def test_moves_with_their_values(both: tuple[Tablebase, Tablebase]) -> None:
    plain, fast = both
    for position in any_positions(4, 2000, 6) + any_positions(3, 500, 7):
        assert fast.moves(position) == plain.moves(position), position


def test_more_pieces_than_the_tables_have(both: tuple[Tablebase, Tablebase]) -> None:
    """Captures bring some of them into the tables; what brings none there is unknown."""
    positions = random_positions(3000, 1, max_pieces=14)
    assert compare(both, positions) == {-2, 0, 2, None}
    compare_arrays(both, positions)
    known = [both[0].get_wdl(position) is not None for position in positions if position.pieces > 8]
    assert 0 < sum(known) < len(known)


def test_sides_without_pieces_and_sides_without_moves(both: tuple[Tablebase, Tablebase]) -> None:
    lone = ("W:W:BKa1", "B:W:BKa1", "W:Wa1:B", "B:WKa1,Kb2:B", "W:W:B")
    blocked = ("W:Wh2:Bg3,f4", "W:Wa5:Bb6,c7", "W:WKa1:Bb2,c3", "W:Wh6,a3:Bg7,b4,Kh8,c5")
    positions = [Position.from_fen(fen) for fen in lone + blocked]
    assert compare(both, positions + [position.flip() for position in positions]) >= {-2, 2}


def test_cursed_wins_and_blessed_losses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULESETS, ONE_PLY.name, ONE_PLY)
    solved = naive.solve(2, limit=1)
    write_solved(tmp_path, solved, 2, ruleset=ONE_PLY)
    with (
        Tablebase(ruleset=ONE_PLY, compiled=False) as plain,
        Tablebase(ruleset=ONE_PLY, compiled=True) as fast,
    ):
        plain.add_directory(tmp_path)
        fast.add_directory(tmp_path)
        assert compare((plain, fast), list(solved)) == {-2, -1, 0, 1, 2}


def asked(tables: Tablebase) -> list[Callable[[Position], int | None]]:
    return [tables.probe_wdl, tables.probe_dtc, tables.probe_dtw, tables.probe_dtb]


def answer(ask: Callable[[Position], int | None], position: Position) -> int | str | None:
    """What is answered, or the message that says why there is no answer."""
    try:
        return ask(position)
    except MissingTableError as error:
        return str(error)


@pytest.mark.parametrize("gone", ["*.wdl", "*.dtc", "*.dtw", "*.dtb", "K*"])
def test_missing_tables(copy3: Path, gone: str) -> None:
    removed = [path for path in copy3.glob(gone) if len(path.stem) == 4]
    assert removed
    for path in removed:
        path.unlink()
    with open_tablebase(copy3, compiled=False) as plain, open_tablebase(copy3, compiled=True) as fast:
        positions = any_positions(3, 3000, 8) + any_positions(4, 3000, 9)
        compare((plain, fast), positions)
        compare_arrays((plain, fast), positions)
        for one, other in zip(*map(asked, (plain, fast)), strict=True):
            answers = [answer(one, position) for position in positions]
            assert answers == [answer(other, position) for position in positions]
            assert any(isinstance(said, str) for said in answers)


def test_table_removed_after_opening(copy3: Path) -> None:
    with open_tablebase(copy3, compiled=True) as fast:
        (copy3 / "KvK.wdl").unlink()
        boards = PositionArray.of([Position.from_fen("W:WKa1:BKg1"), Position.from_fen("W:WKc1:Bh4")])
        assert fast.probe_many(boards.sets, boards.black).wdl.tolist() == [-128, 2]


def test_tables_added_later(tables3: Path) -> None:
    position = Position.from_fen("W:WKa1,Ka3:BKh2")
    boards = PositionArray.of([position])
    with Tablebase(compiled=True) as fast:
        assert fast.get_wdl(position) is None
        assert fast.probe_many(boards.sets, boards.black).wdl.tolist() == [-128]
        fast.add_directory(tables3)
        assert fast.get_wdl(position) == 0
        assert fast.probe_many(boards.sets, boards.black).wdl.tolist() == [0]


def test_trees_grow_and_are_split(both: tuple[Tablebase, Tablebase], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiledvalues, "_ROWS", 0)
    monkeypatch.setattr(compiledvalues, "_ROWS_PER_POSITION", 0)
    monkeypatch.setattr(compiledvalues, "_BATCH", 1000)
    positions = any_positions(4, 2500, 10)
    with ThreadPoolExecutor(1) as pool:  # a thread that has no tree yet
        assert pool.submit(compare, both, positions).result() == {-2, 0, 2}


def test_many_threads(both: tuple[Tablebase, Tablebase], tables4: Path) -> None:
    plain, _ = both
    parts = [any_positions(4, 1500, seed) for seed in range(8)]
    with open_tablebase(tables4, compiled=True, array_bytes=1 << 20) as fast, ThreadPoolExecutor(8) as pool:
        list(pool.map(compare, [(plain, fast)] * 8, parts))


def test_damage_and_closing(copy3: Path) -> None:
    path = copy3 / "KvK.wdl"
    data = path.read_bytes()
    path.write_bytes(data[:-8] + bytes([data[-8] ^ 1]) + data[-7:])
    position = Position.from_fen("W:WKa1:BKg1")
    boards = PositionArray.of([position] * 3)
    fast = open_tablebase(copy3, compiled=True)
    with pytest.raises(DamagedFrameError, match=r"KvK\.wdl is damaged: frame 0"):
        fast.probe_wdl(position)
    with pytest.raises(DamagedFrameError, match=r"KvK\.wdl is damaged: frame 0"):
        fast.probe_many(boards.sets, boards.black)
    fast.close()
    with pytest.raises(ClosedError, match="closed; open it again"):
        fast.probe_wdl(position)
    with pytest.raises(ClosedError, match="closed; open it again"):
        fast.probe_many(boards.sets, boards.black)


def test_without_numba(plain2: Path, solved2: dict[Position, Solved]) -> None:
    code = (
        "import sys; sys.modules.update(numba=None, llvmlite=None)\n"
        "from tablebase import PositionArray, MissingPackageError, Position, open_tablebase\n"
        "boards = PositionArray.of([Position.from_fen(fen) for fen in ('W:WKc1:Bh4', 'B:WKc1:Bh4')])\n"
        "with open_tablebase(sys.argv[1]) as opened:\n"
        "    found = opened.probe_many(boards.sets, boards.black, ['dtw'])\n"
        "print(found.wdl.tolist(), found.dtw.tolist(), found.dtc)\n"
        "try:\n"
        "    open_tablebase(sys.argv[1], compiled=True)\n"
        "except MissingPackageError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, plain2], capture_output=True, text=True, check=True)
    values = [solved2[Position.from_fen(fen)] for fen in ("W:WKc1:Bh4", "W:Wa5:BKf8")]
    assert done.stdout.splitlines() == [
        f"{[value.wdl for value in values]} {[value.dtw for value in values]} None",
        "compiled probing needs the package numba, which is not installed: "
        "pip install 'shashki-tablebase[fast]', or use compiled=False",
    ]
    assert issubclass(MissingPackageError, ImportError)


def test_numba_is_loaded_at_first_use(plain2: Path) -> None:
    code = (
        "import sys\n"
        "from tablebase import PositionArray, Position, open_tablebase\n"
        "position = Position.from_fen('W:WKc1:Bh4')\n"
        "boards = PositionArray.of([position])\n"
        "with open_tablebase(sys.argv[1]) as opened:\n"
        "    opened.moves(position)\n"
        "    print('numba' in sys.modules)\n"
        "    opened.probe_many(boards.sets, boards.black)\n"
        "    print('numba' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, plain2], capture_output=True, text=True, check=True)
    assert done.stdout == "False\nTrue\n"
