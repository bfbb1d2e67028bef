import hashlib
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_files import read_by_the_book, reseal

from tablebase.board.material import Material
from tablebase.errors import (
    DamagedFrameError,
    DamagedHeaderError,
    NotATableError,
    TableError,
    TruncatedTableError,
    WrongVersionError,
)
from tablebase.rules.rulesets import OFFICIAL
from tablebase.tables import files as atomicfile
from tablebase.tables.files import write_atomically
from tablebase.tables.format import (
    FRAME_SIZE,
    Metric,
    Packing,
    Values,
    dtw_plies,
    read_header,
    stored_dtw,
    write_table,
)
from tablebase.tables.table import Table

MATERIAL = Material.parse("KKvKK")  # 215,760 positions, so that there are many frames
SMALL = Material.parse("KvM")


def some_values(count: int, alphabet: list[int], seed: int = 0) -> list[int]:
    random = Random(seed)
    return [value for value in random.choices(alphabet, k=count // 3 + 1) for _ in range(3)][:count]


def write(path: Path, values: Values, material: Material = MATERIAL, metric: Metric = Metric.DTW) -> bytes:
    record = write_table(path, material, metric, OFFICIAL, values, generator_version="1.2.3")
    data = path.read_bytes()
    assert record.size == len(data)
    assert record.sha256 == hashlib.sha256(data).hexdigest()
    return data


@pytest.mark.parametrize(
    ("alphabet", "dtype"),
    [
        ([7], np.uint8),
        ([-2, 2], np.int8),
        ([-2, 0, 2], np.int8),
        ([-2, -1, 0, 1, 2], np.int16),
        (list(range(16)), np.uint8),
        (list(range(17)), np.uint8),
        (list(range(256)), np.uint8),
        (list(range(-128, 128)), np.int8),
        (list(range(100, 357)), np.uint16),
        ([-32768, -5, 0, *range(300, 900), 32767], np.int16),
    ],
    ids=lambda value: f"{len(value)}" if isinstance(value, list) else value.__name__,
)
def test_tables_round_trip(tmp_path: Path, alphabet: list[int], dtype: type) -> None:
    values = some_values(MATERIAL.positions, alphabet)
    path = tmp_path / "KKvKK.dtw"
    data = write(path, np.array(values, dtype))
    assert read_by_the_book(data) == values
    with Table(path) as table:
        assert table.header.alphabet == tuple(alphabet)
        assert table.header.frames == (
            0 if len(alphabet) == 1 else -(-len(values) // table.header.frame_values)
        )
        assert table.read_all().tolist() == values
        with ThreadPoolExecutor(2) as pool:
            assert table.read_all(pool.map).tolist() == values
        for index in [0, 1, len(values) - 1, *Random(1).choices(range(len(values)), k=500)]:
            assert table.value(index) == values[index]
        some = Random(2).choices(range(len(values)), k=3000)
        assert table.values(np.array(some)).tolist() == [values[index] for index in some]
        assert table.values(np.empty(0, np.int64)).tolist() == []
        for index in (-1, len(values)):
            with pytest.raises(IndexError, match=r"0 to 215759"):
                table.value(index)
            with pytest.raises(IndexError, match=r"0 to 215759"):
                table.values(np.array([5, index]))


@given(st.integers(2, 600), st.integers(1, 100), st.randoms(use_true_random=False))
def test_packing(symbols: int, count: int, random: Random) -> None:
    packing = Packing.of(symbols)
    values = [random.randrange(symbols) for _ in range(count)]
    packed = packing.pack(np.array(values, np.uint8 if symbols <= 256 else np.uint16))
    assert len(packed) == packing.packed_size(count)
    if symbols > 256:
        assert list(struct.unpack(f"<{count}H", packed)) == values
    else:
        assert symbols**packing.per_byte <= 256
        assert packing.per_byte == 8 or symbols ** (packing.per_byte + 1) > 256
        assert packing.unpacked()[list(packed)].ravel()[:count].tolist() == values


def test_threads_write_the_same_file(tmp_path: Path) -> None:
    values = np.array(some_values(MATERIAL.positions, list(range(40))), np.uint8)
    alone = write(tmp_path / "alone", values)
    with ThreadPoolExecutor(3) as pool:
        write_table(
            tmp_path / "together",
            MATERIAL,
            Metric.DTW,
            OFFICIAL,
            values,
            generator_version="1.2.3",
            run=pool.map,
        )
    assert (tmp_path / "together").read_bytes() == alone


def test_header_round_trips(tmp_path: Path) -> None:
    data = write(tmp_path / "KvM.wdl", np.array(some_values(868, [0, 2]), np.int8), SMALL, Metric.WDL)
    header = read_header(data, len(data), tmp_path / "KvM.wdl")
    assert (header.material, header.metric, header.ruleset) == (SMALL, Metric.WDL, OFFICIAL)
    assert (header.generator_version, header.positions, header.frame_size) == ("1.2.3", 868, FRAME_SIZE)
    assert header.to_bytes() == data[: header.frames_start]


def test_dtw_is_stored_halved() -> None:
    for plies in range(400):
        assert dtw_plies(stored_dtw(plies), won=plies % 2 == 1) == plies


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros(867, np.int8), "KvM has 868 positions"),
        (np.zeros(868, np.int32), "one or two bytes"),
        (np.zeros(868, np.float16), "one or two bytes"),
        (np.zeros(1736, np.int8)[::2], "contiguous"),
        (np.full(868, 40_000, np.uint16), "40000 does not fit"),
    ],
)
def test_invalid_values_are_rejected(tmp_path: Path, values: Values, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        write(tmp_path / "KvM.wdl", values, SMALL)
    assert not list(tmp_path.iterdir())


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_atomically(path, [b"old"])

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomicfile.os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left") as raised:
        write_atomically(path, [b"new", b"er"])
    assert raised.value.filename == str(path)
    with pytest.raises(FileNotFoundError) as missing:
        write_atomically(tmp_path / "none" / "x", [b"new"])
    assert missing.value.filename == str(tmp_path / "none" / "x")
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == b"old"


# Damaged files, one fault each. `MANY` has frames, `ONE` has none.

MANY, ONE = "many", "one"


@cache  # no fixture: hypothesis would print all of it beside a failing example
def whole(which: str) -> bytes:
    with TemporaryDirectory() as folder:
        if which == ONE:
            return write(Path(folder) / ONE, np.full(868, 2, np.int8), SMALL, Metric.WDL)
        values = np.array(some_values(MATERIAL.positions, list(range(40))), np.uint8)
        return write(Path(folder) / MANY, values)


def put(offset: int, layout: str, *values: object) -> Callable[[bytes], bytes]:
    """A change of one field, with the checksums made right again."""

    def change(data: bytes) -> bytes:
        changed = bytearray(data)
        struct.pack_into(layout, changed, offset, *values)
        return reseal(bytes(changed))

    return change


def flip(offset: int) -> Callable[[bytes], bytes]:
    """A change of one byte, checksums as they were."""
    return lambda data: data[:offset] + bytes([data[offset] ^ 0x40]) + data[offset:][1:]


FAULTS: list[tuple[str, Callable[[bytes], bytes], type[TableError], str]] = [
    (MANY, lambda data: b"", TruncatedTableError, "empty"),
    (MANY, lambda data: b"\x89PNG\r\n\x1a\n" + data[8:], NotATableError, "signature"),
    (MANY, lambda data: b"x", NotATableError, "signature"),
    (MANY, lambda data: data[:5], TruncatedTableError, "it has 5 bytes, the header alone has 128"),
    (MANY, lambda data: data[:127], TruncatedTableError, "127 bytes"),
    (MANY, lambda data: data[:130], TruncatedTableError, "it has 130 bytes, its header says"),
    (MANY, lambda data: data[:-1], TruncatedTableError, "ends too early"),
    (MANY, lambda data: data + b"\0", TruncatedTableError, "goes on after its end"),
    (ONE, lambda data: data + b"\0", TruncatedTableError, "goes on after its end"),
    (ONE, lambda data: data[:-1], TruncatedTableError, "ends too early"),
    (MANY, put(8, "<H", 1), WrongVersionError, "older format .version 1.*generate the tables again"),
    (MANY, put(8, "<H", 3), WrongVersionError, "newer format .version 3"),
    (MANY, put(24, "32s", b"another"), WrongVersionError, "other draw rules, another.*generate the tables"),
    (MANY, put(56, "<I", 60), WrongVersionError, "king moves: 60 plies.*generate the tables again"),
    (MANY, flip(13), DamagedHeaderError, "checksum of its header"),
    (MANY, flip(124), DamagedHeaderError, "checksum of its header"),
    (MANY, flip(128), DamagedHeaderError, "checksum of its alphabet"),
    (MANY, flip(211), DamagedHeaderError, "checksum of its alphabet"),
    (MANY, put(10, "<H", 64), DamagedHeaderError, "header size is 64"),
    (MANY, put(12, "4B", 3, 0, 2, 0), DamagedHeaderError, "number of positions"),
    (MANY, put(12, "4B", 255, 255, 255, 255), DamagedHeaderError, "no board holds"),
    (MANY, put(16, "8s", b"mtc"), DamagedHeaderError, "mtc"),
    (MANY, put(16, "8s", b"\xff"), DamagedHeaderError, "decode"),
    (MANY, put(60, "<I", 0), DamagedHeaderError, "frame size, 0"),
    (MANY, put(60, "<I", 1 << 31), DamagedHeaderError, "frame size, 2147483648"),
    (MANY, put(60, "<I", 8192), DamagedHeaderError, "number of frames"),
    (MANY, put(64, "<Q", 1), DamagedHeaderError, "number of positions is 1"),
    (MANY, put(72, "<Q", 1), DamagedHeaderError, "block size is 1"),
    (ONE, put(80, "<I", 1), TruncatedTableError, "ends too early"),
    (MANY, put(88, "B", 2), DamagedHeaderError, "values a byte is 2"),
    (MANY, put(89, "B", 2), DamagedHeaderError, "bytes a value is 2"),
    (MANY, put(130, "<h", 0), DamagedHeaderError, "alphabet do not rise"),
    (MANY, put(208, "<Q", 208), DamagedHeaderError, "frame index do not rise"),
    (MANY, put(216, "<Q", 1 << 60), DamagedHeaderError, "frame index do not rise"),
]


@pytest.mark.parametrize(("which", "fault", "error", "message"), FAULTS)
def test_damaged_file(
    tmp_path: Path,
    which: str,
    fault: Callable[[bytes], bytes],
    error: type[TableError],
    message: str,
) -> None:
    path = tmp_path / "damaged.table"
    path.write_bytes(fault(whole(which)))
    with pytest.raises(error, match=message) as caught:
        Table(path)
    assert type(caught.value) is error
    assert "damaged.table" in str(caught.value)


def test_damaged_frame(tmp_path: Path) -> None:
    path = tmp_path / "damaged.table"
    data = whole(MANY)
    header = read_header(data, len(data), path)
    assert header.frames > 10
    start, end = header.frame_span(3)
    for offset in (start, start + 5, (start + end) // 2, end - 1):
        path.write_bytes(flip(offset)(data))
        with Table(path) as table:
            one, some = 3 * FRAME_SIZE + 9, np.array([3 * FRAME_SIZE + 9, 7])
            for read in (
                table.read_all,
                lambda table=table, one=one: table.value(one),
                lambda table=table, some=some: table.values(some),
            ):
                with pytest.raises(DamagedFrameError, match=r"damaged\.table is damaged: frame 3 of 14: "):
                    read()
            table.value(2 * FRAME_SIZE)  # other frames can still be read


def test_bytes_between_frames(tmp_path: Path) -> None:
    data = whole(MANY)
    header = read_header(data, len(data), tmp_path)
    path = tmp_path / "damaged.table"
    longer = bytearray(data + b"more")
    struct.pack_into("<Q", longer, header.frames_start - 8, len(longer))
    path.write_bytes(reseal(bytes(longer)))
    with Table(path) as table:
        for read in (table.read_all, lambda: table.value(header.positions - 1)):
            with pytest.raises(DamagedFrameError, match="frame 13 of 14"):
                read()


def test_symbol_beyond_the_alphabet(tmp_path: Path) -> None:
    # A shorter alphabet over the same frames: only the frames can show that something is wrong.
    data = whole(MANY)
    header = read_header(data, len(data), tmp_path)
    path = tmp_path / "damaged.table"
    changed = bytearray(data)
    struct.pack_into(
        "<I", changed, 84, 37
    )  # 37 values take as much room as 40, with the zero bytes after them
    path.write_bytes(reseal(bytes(changed)))
    with Table(path) as table:
        index = read_by_the_book(data).index(header.alphabet[-1])
        for read in (table.read_all, lambda: table.value(index), lambda: table.values(np.array([index]))):
            with pytest.raises(DamagedFrameError, match=r"symbol 39|symbol 3\d is not in the alphabet"):
                read()


def read_everything(path: Path) -> None:
    try:
        with Table(path) as table:
            table.value(table.header.positions - 1)
            if table.header.frames:
                table.read_all()
    except TableError:
        pass


@given(st.binary(max_size=400), st.booleans())
def test_arbitrary_bytes_are_a_table_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, signed: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.table"
    path.write_bytes(b"\x93SHASHKI\x01\x00" + data if signed else data)
    read_everything(path)


OFFSETS = st.integers(0, 130) | st.integers(130, 400) | st.integers(0, 90_000)


@settings(max_examples=500)
@given(
    st.sampled_from([MANY, ONE]),
    st.lists(st.tuples(OFFSETS, st.binary(min_size=1, max_size=4)), min_size=1, max_size=4),
    st.booleans(),
)
def test_changed_bytes_are_a_table_or_an_error(
    tmp_path_factory: pytest.TempPathFactory,
    which: str,
    changes: list[tuple[int, bytes]],
    sealed: bool,
) -> None:
    data = bytearray(whole(which))
    for offset, new in changes:
        data[offset : offset + len(new)] = new
    path = tmp_path_factory.getbasetemp() / "fuzz.table"
    path.write_bytes(reseal(bytes(data)) if sealed and len(data) >= 128 else bytes(data))
    read_everything(path)
