"""The set of tables itself: what is missing, damaged, closed or of another kind, and many who ask at once."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import numpy as np
import pytest
from naive import Solved
from table_files import as_probe, reseal

from tablebase import (
    ClosedError,
    DamagedFrameError,
    DamagedHeaderError,
    DataDirectoryError,
    Material,
    Metric,
    MissingTableError,
    NotATableError,
    Outcome,
    Position,
    PositionArray,
    Tablebase,
    TooManyPiecesError,
    TruncatedTableError,
    WrongVersionError,
    open_tablebase,
)
from tablebase.rules.outcome import UNKNOWN
from tablebase.rules.rulesets import OFFICIAL
from tablebase.tables.format import write_table

THREE_QUIET = "W:WKa1,Ka3:BKh2"


@pytest.fixture
def two(plain2: Path) -> Iterator[Tablebase]:
    with open_tablebase(plain2) as opened:
        yield opened


# What is missing


def test_missing_tables_are_named(two: Tablebase, plain2: Path, tmp_path: Path) -> None:
    assert two.pieces == 2
    three = Position.from_fen(THREE_QUIET)
    with pytest.raises(TooManyPiecesError) as caught:
        two.probe_wdl(three)
    assert str(caught.value) == (
        f"KKvK has 3 pieces, and the tables in {plain2} hold up to 2: there is no KKvK.wdl; "
        f"make it with `shashki generate --pieces 3 --data {plain2}`"
    )
    assert isinstance(caught.value, KeyError)
    start = Position.start()
    with pytest.raises(TooManyPiecesError, match="MMMMMMMMMMMMvMMMMMMMMMMMM has 24 pieces"):
        two.probe(start)
    assert two.get_wdl(start) is two.get_dtc(start) is two.get_dtw(start) is None
    assert two.get_wdl(start, 7) == two.get_dtc(start, 7) == two.get_dtw(start, 7) == 7
    assert two.get_probe(start) == UNKNOWN
    tight = tmp_path / "two words"
    tight.mkdir()
    with open_tablebase(tight) as empty:
        with pytest.raises(MissingTableError) as caught:
            empty.probe_wdl(three)
        assert str(caught.value) == (
            f"there is no table KKvK.wdl in {tight}; "
            f"make it with `shashki generate --pieces 3 --data '{tight}'`"
        )
        empty.add_directory(tmp_path)
        with pytest.raises(MissingTableError, match=rf"in {tight} or {tmp_path}; make it with .* '{tight}'`"):
            empty.probe_wdl(three)
    with Tablebase() as bare, pytest.raises(MissingTableError, match="no directory; add one with add_dir"):
        bare.probe_wdl(three)
    copy(plain2, tmp_path, "KvK.wdl", "KvM.wdl", "MvM.wdl")
    with open_tablebase(tmp_path) as some:
        assert some.pieces == 0
        with pytest.raises(
            MissingTableError, match=r"no table MvK\.wdl in .*; make it with `shashki generate"
        ):
            some.probe_wdl(Position.from_fen("W:Wa1:BKh2"))


def test_missing_distance_table_keeps_the_outcome(
    plain2: Path, tmp_path: Path, solved2: dict[Position, Solved]
) -> None:
    copy(plain2, tmp_path, *(file.name for file in plain2.glob("*.wdl")))
    with open_tablebase(tmp_path) as bare:
        assert bare.pieces == 2
        for position, value in list(solved2.items())[::7]:
            probe = bare.probe(position)
            assert probe.wdl == value.wdl
            assert probe.dtc in (None, value.dtc)
            assert probe.dtw in (None, value.dtw)
        won = Position.from_fen("W:WKc1:Bh4")
        assert bare.probe(won).outcome is Outcome.WIN
        for ask, name in ((bare.probe_dtc, r"KvM\.dtc"), (bare.probe_dtw, r"KvM\.dtw")):
            with pytest.raises(MissingTableError, match=name):
                ask(won)
        assert bare.get_dtw(won, -1) == -1
        assert bare.moves(won)[0].outcome is Outcome.WIN


def copy(source: Path, target: Path, *names: str) -> None:
    for name in names:
        (target / name).write_bytes((source / name).read_bytes())


# The set


def test_adding_directories(plain2: Path, tmp_path: Path) -> None:
    copy(plain2, tmp_path, "KvK.wdl", "KvK.dtw")
    (tmp_path / "manifest.json").write_text("{}")
    (tmp_path / "KvK.wdl.123.tmp").write_bytes(b"half a table")
    (tmp_path / "notes.wdl").write_text("not a material")
    with Tablebase() as opened:
        assert opened.add_directory(tmp_path) == 2
        assert opened.pieces == 0
        assert opened.has_table(Material.parse("KvK"))
        assert not opened.has_table(Material.parse("KvK"), Metric.DTC)
        assert opened.add_directory(str(plain2)) == 10
        assert opened.add_directory(plain2) == 0
        assert opened.pieces == 2
        nowhere = tmp_path / "nowhere"
        message = f"no directory {nowhere}; make tables there with `shashki generate --data {nowhere}`"
        with pytest.raises(DataDirectoryError, match=message):
            opened.add_directory(nowhere)
        with pytest.raises(DataDirectoryError, match=r"KvK\.wdl is not a directory"):
            opened.add_directory(tmp_path / "KvK.wdl")


def test_non_file_with_the_name_of_a_table_is_refused(plain2: Path, tmp_path: Path) -> None:
    copy(plain2, tmp_path, "KvK.wdl")
    strange = tmp_path / "KvM.wdl"
    says = rf"KvM\.wdl has the name of a table but is {{}}; remove it, .*generate --data {tmp_path}`"
    with Tablebase() as opened:
        strange.mkdir()
        with pytest.raises(NotATableError, match=says.format("a directory")):
            opened.add_directory(tmp_path)
        strange.rmdir()
        strange.symlink_to(tmp_path / "nowhere")
        with pytest.raises(NotATableError, match=says.format("a broken link")):
            opened.add_directory(tmp_path)
        strange.unlink()
        os.mkfifo(strange)  # reading from it would wait for ever
        with pytest.raises(NotATableError, match=says.format("not a regular file")):
            opened.add_directory(tmp_path)
        strange.unlink()
        strange.symlink_to(plain2 / "KvM.wdl")
        assert opened.add_directory(tmp_path) == 2


@pytest.mark.parametrize(
    ("offset", "new", "message"),
    [(8, b"\0", "older format"), (24, b"king-moves-only", "under the ruleset king-moves-only")],
)
def test_tables_of_another_version_are_refused(
    plain2: Path, tmp_path: Path, offset: int, new: bytes, message: str
) -> None:
    copy(plain2, tmp_path, *(file.name for file in plain2.iterdir()))
    path = tmp_path / "MvK.dtw"
    data = path.read_bytes()
    path.write_bytes(reseal(data[:offset] + new + data[offset + len(new) :]))
    with pytest.raises(WrongVersionError, match=rf"MvK\.dtw .*{message}.*generate the tables again"):
        open_tablebase(tmp_path)


def test_damaged_tables_are_named_at_first_use(plain2: Path, tmp_path: Path) -> None:
    copy(plain2, tmp_path, "KvK.wdl", "KvM.wdl", "MvK.wdl")
    data = (plain2 / "KvK.wdl").read_bytes()
    (tmp_path / "KvK.wdl").write_bytes(data[:-8] + bytes([data[-8] ^ 1]) + data[-7:])
    (tmp_path / "KvM.wdl").write_bytes(data)
    (tmp_path / "MvK.wdl").write_bytes(data[:-2])
    with open_tablebase(tmp_path) as opened:
        for fen, error, message in (
            ("W:WKa1:BKg1", DamagedFrameError, r"KvK\.wdl is damaged: frame 0"),
            ("W:WKa1:Bg3", DamagedHeaderError, r"KvM\.wdl is the table KvK\.wdl under another name"),
            ("W:Wa1:BKg3", TruncatedTableError, r"MvK\.wdl ends too early"),
        ):
            for ask in (opened.probe_wdl, opened.probe, opened.get_wdl, opened.get_probe):
                with pytest.raises(error, match=message):
                    ask(Position.from_fen(fen))


def test_invalid_outcome_in_a_table_is_damage(tmp_path: Path) -> None:
    material = Material.parse("KvK")
    values = np.zeros(material.positions, np.int8)
    values[-1] = 3
    path = tmp_path / "KvK.wdl"
    write_table(path, material, Metric.WDL, OFFICIAL, values, generator_version="test")
    position = Position.from_fen("W:WKa1:BKg1")
    boards = PositionArray.of([position])
    with open_tablebase(tmp_path) as opened:
        for ask in (opened.probe_wdl, opened.probe, lambda _: opened.probe_many(boards.sets, boards.black)):
            with pytest.raises(DamagedHeaderError, match=r"KvK\.wdl is damaged: .* the outcome 3"):
                ask(position)


def test_table_removed_after_opening(plain2: Path, tmp_path: Path) -> None:
    copy(plain2, tmp_path, "KvK.wdl")
    with open_tablebase(tmp_path) as opened:
        (tmp_path / "KvK.wdl").unlink()
        with pytest.raises(MissingTableError, match=r"KvK\.wdl was removed"):
            opened.probe_wdl(Position.from_fen("W:WKa1:BKg1"))


def test_closed_tablebase_raises(plain2: Path) -> None:
    position = Position.from_fen("W:WKa1:BKg1")
    opened = open_tablebase(plain2)
    assert opened.probe_wdl(position) == 0
    opened.close()
    opened.close()
    for ask in (opened.probe_wdl, opened.probe, opened.moves):
        with pytest.raises(ClosedError, match="closed; open it again"):
            ask(position)


@pytest.mark.parametrize("cache_bytes", [0, 500, 1 << 20])
def test_many_threads_and_little_memory(
    plain2: Path, solved2: dict[Position, Solved], cache_bytes: int
) -> None:
    positions = Random(cache_bytes).sample(list(solved2), 1500)
    with open_tablebase(plain2, cache_bytes=cache_bytes) as opened, ThreadPoolExecutor(8) as pool:
        for position, probe in zip(positions, pool.map(opened.probe, positions), strict=True):
            assert probe == as_probe(solved2[position], position)


def test_probing_needs_neither_numba_nor_flask(plain2: Path) -> None:
    code = (
        "import sys; sys.modules.update(numba=None, flask=None, tqdm=None)\n"
        "from tablebase import Position, open_tablebase\n"
        "with open_tablebase(sys.argv[1]) as opened:\n"
        "    print(opened.probe(Position.from_fen('W:WKc1:Bh4')).outcome)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, plain2], capture_output=True, text=True, check=True)
    assert done.stdout == "win\n"
