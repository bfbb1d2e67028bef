"""The C library detects damaged tables, or the damage is harmless; it never crashes and never hangs."""

import resource
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import c_probe as probec
import numpy as np
import pytest
from c_probe import CTables, ProbeError, answer
from table_files import HEADER_SIZE, reseal
from test_compiled import any_positions, positions_of

from tablebase import (
    DamagedFrameError,
    DamagedTableError,
    Material,
    Metric,
    NotATableError,
    Position,
    PositionArray,
    TableError,
    TruncatedTableError,
    WrongVersionError,
    open_tablebase,
)

ALL = (Metric.DTC, Metric.DTW, Metric.DTB)
CODES = {
    NotATableError: probec.NOT_A_TABLE,
    WrongVersionError: probec.VERSION,
    TruncatedTableError: probec.TRUNCATED,
    DamagedFrameError: probec.FRAME,
    DamagedTableError: probec.HEADER,
}
# Errors of C for files that Python reads, or for which it raises another error. Python checks the length of a
# file before its numbers, and does not check how long a frame is.
STRICTER = {probec.HEADER, probec.TRUNCATED}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return probec.load(probec.build(tmp_path_factory.mktemp("probe")))


@pytest.fixture
def folder(tables3: Path, tmp_path: Path) -> Path:
    """A directory of links to tables, for tests that replace one of them."""
    (tmp_path / "tables").mkdir()
    for file in tables3.iterdir():
        (tmp_path / "tables" / file.name).symlink_to(file)
    return tmp_path / "tables"


def replace(folder: Path, name: str, data: bytes) -> None:
    (folder / name).unlink()
    (folder / name).write_bytes(data)


def asked(material: str, count: int = 400) -> list[Position]:
    of = Material.parse(material)
    places = sorted({*Random(1).choices(range(of.positions), k=count), 0, of.positions - 1})
    return list(positions_of(of, places))


def answers_of(library: Any, folder: Path, positions: list[Position]) -> Any:
    """Return all values in C, or the code of the error."""
    boards = PositionArray.of(positions)

    def ask() -> Any:
        with CTables(library, folder) as tables:
            return tables.many(probec.c_positions(boards.sets, boards.black))

    return answer(ask)


@pytest.mark.parametrize("name", ["KvK.wdl", "KMvK.wdl", "KMvK.dtb", "MMvM.dtw", "MMvM.wdl"])
def test_changed_bytes(library: Any, folder: Path, name: str) -> None:
    data = (folder / name).read_bytes()
    positions = asked(name.partition(".")[0])
    whole = answers_of(library, folder, positions)
    random = Random(name)
    head = range(min(len(data), 300))
    places = [*head, *random.sample(range(len(data)), 200)] if len(data) > 300 else list(head)
    errors = 0
    for place in places:
        changed = bytearray(data)
        changed[place] ^= random.randrange(1, 256)
        replace(folder, name, changed)
        found = answers_of(library, folder, positions)
        if isinstance(found, int):
            assert found in CODES.values(), place
            errors += 1
        else:
            assert (found == whole).all(), place
    assert errors >= 128


@pytest.mark.parametrize("name", ["KvK.wdl", "MMvM.dtw"])
def test_wrong_lengths(library: Any, folder: Path, name: str) -> None:
    data = (folder / name).read_bytes()
    positions = asked(name.partition(".")[0])
    for length in {*range(0, 140), *range(140, len(data), 97), len(data) - 1}:
        if length < len(data):
            replace(folder, name, data[:length])
            assert answers_of(library, folder, positions) in (probec.NOT_A_TABLE, probec.TRUNCATED), length
    replace(folder, name, data + b"\0")
    assert answers_of(library, folder, positions) == probec.TRUNCATED


def in_python(folder: Path, boards: PositionArray) -> Any:
    """Return all values in Python, or the code of C for its error."""
    try:
        with open_tablebase(folder, compiled=False) as opened:
            found = opened.probe_many(boards.sets, boards.black, list(ALL))
    except TableError as error:
        return next(code for kind, code in CODES.items() if isinstance(error, kind))
    return np.column_stack([found.wdl, found.dtc, found.dtw, found.dtb])  # type: ignore[arg-type]


FIELDS = [(12, "B", 1), (60, "<I", 4), (64, "<Q", 8), (72, "<Q", 8), (80, "<I", 4), (84, "<I", 4)]
FIELDS += [(88, "B", 1), (89, "B", 1), (10, "<H", 2)]


def forged(data: bytes, random: Random) -> bytes:
    """Return a table with random changes and, if possible, correct checksums."""
    changed = bytearray(data)
    symbols, frames = struct.unpack_from("<I", data, 84)[0], struct.unpack_from("<I", data, 80)[0]
    index = HEADER_SIZE + -(-2 * symbols // 8) * 8
    for _ in range(random.randint(1, 3)):
        match random.randrange(5):
            case 0:
                offset, form, field = random.choice(FIELDS)
                value = random.choice([0, 1, 2, 3, 5, 8, 255, 16384, 65536, 1 << 31, (1 << 64) - 1])
                struct.pack_into(form, changed, offset, value % (1 << 8 * field))
            case 1:
                place = HEADER_SIZE + 2 * random.randrange(max(symbols, 1))
                struct.pack_into("<h", changed, min(place, len(changed) - 2), random.randint(-3, 300))
            case 2 if frames:
                place = index + 8 * random.randrange(frames)
                struct.pack_into("<Q", changed, place, random.choice([0, len(data), 1 << 63, 150]))
            case 3 if frames:
                changed[random.randrange(index + 8 * frames, len(changed))] ^= 1 << random.randrange(8)
            case _:
                changed[random.randrange(len(changed))] = random.randrange(256)
    try:
        return reseal(bytes(changed))
    except struct.error:
        return bytes(changed)


def test_forged_tables(library: Any, folder: Path) -> None:
    """C refuses every file that Python refuses, mostly with the same error."""
    random = Random(6)
    same = stricter = 0
    for name in ("KvK.wdl", "KMvK.wdl", "MMvM.wdl", "MMvM.dtw", "KMvK.dtb", "KKvM.dtc"):
        data = (folder / name).read_bytes()
        positions = asked(name.partition(".")[0], 60)
        boards = PositionArray.of(positions)
        for _ in range(60):
            replace(folder, name, forged(data, random))
            found = answers_of(library, folder, positions)
            expected = in_python(folder, boards)
            if isinstance(found, int) or isinstance(expected, int):
                assert isinstance(found, int)
                agree = isinstance(expected, int) and found == expected
                same += agree
                stricter += not agree
                assert agree or found in STRICTER
            else:
                assert (found == expected).all()
        replace(folder, name, data)
    assert same > 150
    assert stricter < same


def test_file_truncated_while_open(library: Any, folder: Path) -> None:
    data = (folder / "MMvM.wdl").read_bytes()
    replace(folder, "MMvM.wdl", data)
    positions = asked("MMvM")
    with CTables(library, folder, 0) as tables:
        codes = {answer(lambda: tables.one("wdl", position)) for position in positions}  # noqa: B023
        assert codes <= {-2, -1, 0, 1, 2}
        with (folder / "MMvM.wdl").open("r+b") as file:
            file.truncate(len(data) // 2)
        codes = {answer(lambda: tables.one("wdl", position)) for position in positions}  # noqa: B023
        assert probec.TRUNCATED in codes


def test_preloading_before_a_damaged_table(library: Any, folder: Path) -> None:
    replace(folder, "MvMM.wdl", b"damaged")
    of_two = asked("MvM")
    with CTables(library, folder) as tables:
        assert answer(lambda: tables.preload(3, 0)) == probec.TRUNCATED
        for position in of_two:
            assert tables.one("wdl_cached", position) in (-2, 0, 2)


def a_directory(path: Path) -> None:
    path.mkdir()


def nowhere(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize("make", [a_directory, nowhere])
def test_not_a_file(library: Any, folder: Path, make: Callable[[Path], None]) -> None:
    (folder / "KvK.wdl").unlink()
    make(folder / "KvK.wdl")
    with pytest.raises(ProbeError) as error:
        CTables(library, folder)
    assert error.value.code == probec.NOT_A_TABLE
    assert "KvK.wdl" in error.value.text


def test_not_a_directory(library: Any, tmp_path: Path) -> None:
    for path in (tmp_path / "missing", Path(__file__)):
        with pytest.raises(ProbeError) as error:
            CTables(library, path)
        assert error.value.code == probec.DIRECTORY
    with CTables(library, tmp_path) as tables:
        assert tables.pieces == 0
        assert answer(lambda: tables.one("wdl", any_positions(2, 1, 1)[0])) in (2, probec.NO_TABLE)


def test_two_rulesets(library: Any, tables2: Path, kings4: Path, tmp_path: Path) -> None:
    shutil.copy(tables2 / "KvK.wdl", tmp_path)
    shutil.copy(kings4 / "KvM.wdl", tmp_path)
    with pytest.raises(ProbeError) as error:
        CTables(library, tmp_path)
    assert error.value.code == probec.VERSION


def test_removed_file(library: Any, folder: Path) -> None:
    with CTables(library, folder) as tables:
        (folder / "KvM.wdl").unlink()
        codes = {answer(lambda: tables.one("wdl", position)) for position in asked("KvM")}  # noqa: B023
        assert probec.NO_TABLE in codes
        assert "has been removed" in tables.library.shashki_last_error().decode()


def test_relative_directory(
    library: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The set keeps its directory if the process changes its own, or if the directory is renamed."""
    positions = asked("KvM")
    given = probec.c_positions(PositionArray.of(positions).sets, PositionArray.of(positions).black)
    with CTables(library, folder) as tables:
        expected = tables.many(given)
    monkeypatch.chdir(tmp_path)
    with CTables(library, Path("tables")) as tables:
        monkeypatch.chdir("/")
        assert (tables.many(given) == expected).all()
    with CTables(library, folder, 0) as tables:
        folder.rename(tmp_path / "renamed")
        assert (tables.many(given) == expected).all()


def test_file_replaced_by_another_ruleset(library: Any, tables3: Path, kings4: Path, tmp_path: Path) -> None:
    shutil.copytree(tables3, tmp_path / "tables")
    with CTables(library, tmp_path / "tables") as tables:
        replace(tmp_path / "tables", "KMvK.wdl", (kings4 / "KMvK.wdl").read_bytes())
        codes = {answer(lambda: tables.one("wdl", position)) for position in asked("KMvK")}  # noqa: B023
        assert probec.VERSION in codes
        text = tables.library.shashki_last_error().decode()
        assert text == "KMvK.wdl was generated under other draw rules than the other tables"


def open_files() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_limit_of_open_files(library: Any, tables4: Path) -> None:
    """All sets together keep half as many files open as the process may open."""
    before, limits = open_files(), resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 2 * before + 20
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, limits[1]))
        for _ in range(2):
            with CTables(library, tables4) as one, CTables(library, tables4) as two:
                for tables in (one, two):
                    assert tables.preload(4, probec.DTC | probec.DTW) == 0
                assert open_files() == before + most // 2
        assert open_files() == before
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_limit_of_steps(tables3: Path, tmp_path: Path) -> None:
    """A library with a limit of 3 steps fails on ordinary captures."""
    source = (probec.SOURCES / "shashki_probe.c").read_text("utf-8")
    assert source.count("MAX_STEPS = 200000") == 1
    (tmp_path / "bounded.c").write_text(source.replace("MAX_STEPS = 200000", "MAX_STEPS = 3"), "utf-8")
    positions = any_positions(3, 500, 1)
    boards = PositionArray.of(positions)
    with CTables(probec.load(probec.build(tmp_path, tmp_path / "bounded.c")), tables3) as tables:
        codes = [answer(lambda: tables.one("wdl", position)) for position in positions]  # noqa: B023
        found = tables.many(probec.c_positions(boards.sets, boards.black))[:, 0].tolist()
    assert 0 < codes.count(probec.TOO_COMPLEX) < len(codes)
    assert found == [probec.UNKNOWN if code == probec.TOO_COMPLEX else code for code in codes]


def test_invalid_arguments(library: Any, tables2: Path) -> None:
    position = Position.from_fen("W:WKa1:BKh2")
    with CTables(library, tables2) as tables:
        assert answer(lambda: tables.probe(position, 8)) == probec.ARGUMENT
        assert answer(lambda: tables.probe(position, 0, 2)) == probec.ARGUMENT
        assert answer(lambda: tables.many(np.array([[3, 1, 0, 0, 0]], np.uint32))) == probec.POSITION
        assert answer(lambda: tables.many(np.array([[1 << 31, 0, 0, 1, 0]], np.uint32))) == probec.POSITION
        assert answer(lambda: tables.many(np.array([[1, 0, 0, 2, 2]], np.uint32))) == probec.POSITION
    for code in range(-13, 1):
        assert library.shashki_error_text(code) != library.shashki_error_text(1)
