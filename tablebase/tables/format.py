"""The file format of tables: header, packing of values, frames (docs/format.md).

A file is a header of fixed length, the alphabet, the frame index, and the frames. This module writes whole
files and reads everything but the frames; `tablebase.tables.table` reads those.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from mmap import mmap
from pathlib import Path
from threading import local
from typing import Any, NoReturn, Protocol
from zlib import crc32

import numpy as np
import zstandard
from numpy.typing import NDArray

from tablebase.board.material import Material
from tablebase.errors import (
    ArgumentError,
    DamagedHeaderError,
    MaterialError,
    NotATableError,
    TruncatedTableError,
    WrongVersionError,
)
from tablebase.rules.rulesets import RULESETS, Ruleset
from tablebase.tables.files import FileRecord, write_atomically

Values = NDArray[np.int8] | NDArray[np.uint8] | NDArray[np.int16] | NDArray[np.uint16]
"""Values as a table's writer takes them: integers of one or two bytes."""

Symbols = NDArray[np.uint8] | NDArray[np.uint16]
"""Places in the alphabet."""


@dataclass(frozen=True, slots=True)
class Packing:
    """How symbols are put into bytes: `per_byte` of them in one byte, or one in two bytes."""

    symbols: int
    per_byte: int
    value_bytes: int

    @classmethod
    def of(cls, symbols: int) -> Packing:
        """As many symbols in a byte as fit; two bytes for each where there are more than 256."""
        if symbols > 256:
            return cls(symbols, 1, 2)
        per_byte = 8
        while max(symbols, 2) ** per_byte > 256:
            per_byte -= 1
        return cls(symbols, per_byte, 1)

    def packed_size(self, count: int) -> int:
        """How many bytes `count` symbols take."""
        return -(-count // self.per_byte) * self.value_bytes

    def pack(self, symbols: Symbols) -> bytes:
        """The bytes of a run of symbols; the first one in a byte is its least significant digit.

        Places of the last byte that no symbol fills are digit 0.
        """
        if self.value_bytes == 2:
            return symbols.astype("<u2", copy=False).tobytes()
        if self.per_byte == 1:
            return symbols.tobytes()
        if rest := len(symbols) % self.per_byte:
            symbols = np.concatenate([symbols, np.zeros(self.per_byte - rest, np.uint8)])
        digits = symbols.reshape(-1, self.per_byte)
        packed = digits[:, -1].astype(np.uint8)
        for place in range(self.per_byte - 2, -1, -1):
            packed *= np.uint8(self.symbols)
            packed += digits[:, place]
        return packed.tobytes()

    def unpacked(self) -> NDArray[np.uint8]:
        """For each byte, its symbols: shape (256, per_byte)."""
        powers = self.symbols ** np.arange(self.per_byte)
        return (np.arange(256)[:, None] // powers % self.symbols).astype(np.uint8)


MAGIC = b"\x93SHASHKI"
FORMAT_VERSION = 2
FRAME_SIZE = 16384
"""How many bytes a frame decodes to, at most, in the files written here."""
MAX_FRAME_SIZE = 65536
"""The most that a reader accepts, so that a forged header cannot ask it for all its memory."""
COMPRESSION = zstandard.ZstdCompressionParameters(
    strategy=zstandard.STRATEGY_BTOPT,
    window_log=14,  # a frame
    chain_log=15,
    hash_log=14,
    search_log=2,
    min_match=3,
    target_length=256,
    write_content_size=True,
    write_checksum=True,
)
"""How zstd compresses frames. No level has these parameters: each of those that are as fast comes out larger
(docs/performance.md)."""

_HEADER = struct.Struct("<8s2H4B8s32sIIQQIIBBH28sI")
_CRC = struct.Struct("<I")
_RULESET_FIELD = 8  # the place of the ruleset's name among the fields; its limit follows
HEADER_SIZE = _HEADER.size + _CRC.size

_FRAMES_A_TASK = 32  # frames encoded by one call of the mapping function: enough to make its overhead small


class Metric(StrEnum):
    """What a table stores of each position; the text of one is the ending of its files' names."""

    WDL = "wdl"
    DTC = "dtc"
    DTW = "dtw"
    DTB = "dtb"

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        raise ArgumentError(f"{value!r} is nothing that tables store; they store {', '.join(cls)}")

    def fits(self, material: Material, ruleset: Ruleset) -> bool:
        """Whether there is a table of it for a slice: DTB has one only where it is more than DTC."""
        return self is not Metric.DTB or ruleset.counts_material_separately(material)


class MapFunction(Protocol):
    """A function like `map`, e.g. that of a ThreadPoolExecutor: how much of the work is done at once."""

    def __call__(self, function: Callable[[Any], Any], tasks: Iterable[Any], /) -> Iterable[Any]:
        """The results of `function` for each of the tasks, in their order."""


def table_name(material: Material, metric: Metric) -> str:
    """The name of a table's file, e.g. `KKMvK.wdl`."""
    return f"{material}.{metric}"


def stored_dtw(plies: int) -> int:
    """What a `.dtw` table stores: half the plies, as wins take an odd number and losses an even one."""
    return plies // 2


def dtw_plies(stored: int, won: bool) -> int:
    """The DTW in plies of a position that is won (else lost) on the board: the inverse of `stored_dtw`."""
    return 2 * stored + won


@dataclass(frozen=True)
class TableHeader:
    """All that a file says of itself.

    Attributes:
        material: the slice, side to move first.
        metric: what is stored of each position.
        ruleset: the move-count rules that the values assume.
        generator_version: of the program that made the file.
        frame_size: how many bytes a frame decodes to; the last one may be shorter.
        alphabet: the values that occur, rising; a symbol is a place in it.
        frame_ends: where each frame ends, bytes from the start of the file.
    """

    material: Material
    metric: Metric
    ruleset: Ruleset
    generator_version: str
    frame_size: int
    alphabet: tuple[int, ...]
    frame_ends: NDArray[np.uint64] = field(repr=False, compare=False)

    @property
    def positions(self) -> int:
        """How many positions the table has."""
        return self.material.positions

    @cached_property
    def packing(self) -> Packing:
        """How the symbols are put into bytes."""
        return Packing.of(len(self.alphabet))

    @cached_property
    def frame_values(self) -> int:
        """How many values a frame holds; the last one may hold fewer."""
        return self.frame_size // self.packing.value_bytes * self.packing.per_byte

    @cached_property
    def frames(self) -> int:
        """How many frames there are: none where no position is stored, or all have the same value."""
        return 0 if len(self.alphabet) <= 1 else -(-self.positions // self.frame_values)

    @cached_property
    def frames_start(self) -> int:
        """Where the first frame begins, bytes from the start of the file."""
        return HEADER_SIZE + _padded(2 * len(self.alphabet)) + 8 * self.frames

    def frame_span(self, frame: int) -> tuple[int, int]:
        """Where a frame begins and ends, bytes from the start of the file."""
        start = int(self.frame_ends[frame - 1]) if frame else self.frames_start
        return start, int(self.frame_ends[frame])

    def decoded_size(self, frame: int) -> int:
        """How many bytes a frame decodes to."""
        first = frame * self.frame_values
        return self.packing.packed_size(min(self.frame_values, self.positions - first))

    def to_bytes(self) -> bytes:
        """The header, the alphabet and the frame index as they stand at the start of the file."""
        alphabet = np.array(self.alphabet, "<i2").tobytes()
        body = alphabet.ljust(_padded(len(alphabet)), b"\0") + self.frame_ends.astype("<u8").tobytes()
        material = self.material
        head = _HEADER.pack(
            MAGIC,
            FORMAT_VERSION,
            HEADER_SIZE,
            material.own_kings,
            material.own_men,
            material.other_kings,
            material.other_men,
            _text(self.metric, 8),
            _text(self.ruleset.name, 32),
            self.ruleset.king_moves_plies or 0,
            self.frame_size,
            self.positions,
            material.block_size,
            self.frames,
            len(self.alphabet),
            self.packing.per_byte,
            self.packing.value_bytes,
            0,
            _text(self.generator_version, 28),
            crc32(body),
        )
        return head + _CRC.pack(crc32(head)) + body


def _padded(size: int) -> int:
    """The frame index stands on a multiple of 8 bytes, so that it can be mapped and used as it is."""
    return -(-size // 8) * 8


def _text(text: str, width: int) -> bytes:
    encoded = text.encode("ascii")
    if len(encoded) > width:
        raise ArgumentError(f"{text!r} does not fit the {width} bytes that a table's header has for it")
    return encoded


# Reading


def read_header(data: bytes | mmap, size: int, path: Path) -> TableHeader:
    """Read and check all but the frames.

    Args:
        data: the file from its start, as much as holds the header, alphabet and frame index; all of it, say.
        size: the length of the file.
        path: what to call the file in errors.

    Raises:
        NotATableError: these are not the bytes of a table.
        WrongVersionError: another version of the format, or other rules than this program knows.
        TruncatedTableError: the file is shorter or longer than it says.
        DamagedHeaderError: header, alphabet or index are not what was written.
    """
    start = bytes(data[: len(MAGIC)])
    if not MAGIC.startswith(start) or len(start) < len(MAGIC) <= size:
        raise NotATableError(
            f"{path} is no table of this project: it does not begin with its signature; "
            "take it out of the data directory"
        )
    if size < HEADER_SIZE:
        raise _truncated(path, size, HEADER_SIZE)
    check_version(data, path)
    if _CRC.unpack_from(data, _HEADER.size)[0] != crc32(data[: _HEADER.size]):
        raise _damaged(path, "the checksum of its header does not match")
    (
        _,
        _,
        header_size,
        own_kings,
        own_men,
        other_kings,
        other_men,
        metric,
        ruleset_name,
        king_moves_plies,
        frame_size,
        positions,
        block_size,
        frames,
        symbols,
        per_byte,
        value_bytes,
        _,
        generator_version,
        body_crc,
    ) = _HEADER.unpack_from(data)
    ruleset = _known_ruleset(ruleset_name, king_moves_plies, path)
    body_end = HEADER_SIZE + _padded(2 * symbols) + 8 * frames
    if size < body_end:
        raise _truncated(path, size, body_end)
    body = data[HEADER_SIZE:body_end]
    if body_crc != crc32(body):
        raise _damaged(path, "the checksum of its alphabet and frame index does not match")
    if not 2 <= frame_size <= MAX_FRAME_SIZE or frame_size % 2:
        raise _damaged(path, f"its frame size, {frame_size}, is not an even number up to {MAX_FRAME_SIZE}")
    try:
        header = TableHeader(
            Material(own_kings, own_men, other_kings, other_men),
            Metric(_read_text(metric)),
            ruleset,
            _read_text(generator_version),
            frame_size,
            tuple(np.frombuffer(body, "<i2", symbols).tolist()),
            np.frombuffer(body, "<u8", offset=_padded(2 * symbols)).astype(np.uint64),
        )
    except (MaterialError, ValueError) as error:
        raise _damaged(path, str(error)) from None
    packing = header.packing
    for what, found, expected in (
        ("header size", header_size, HEADER_SIZE),
        ("number of positions", positions, header.positions),
        ("block size", block_size, header.material.block_size),
        ("number of values a byte", per_byte, packing.per_byte),
        ("number of bytes a value", value_bytes, packing.value_bytes),
        ("number of frames", frames, header.frames),
    ):
        if found != expected:
            raise _damaged(path, f"its {what} is {found}, where {header.material} has {expected}")
    if any(a >= b for a, b in zip(header.alphabet, header.alphabet[1:], strict=False)):
        raise _damaged(path, "the values of its alphabet do not rise")
    ends = header.frame_ends
    if frames and (ends[0] <= header.frames_start or (ends[1:] <= ends[:-1]).any()):
        raise _damaged(path, "the places in its frame index do not rise")
    length = int(ends[-1]) if frames else body_end
    if length != size:
        raise _truncated(path, size, length)
    return header


def check_version(data: bytes | mmap, path: Path) -> Ruleset | None:
    """Look whether a file that begins with `data` is one that this program reads, damage apart.

    Returns:
        The rules that its values assume; None where damage hides them.

    Args:
        data: the file from its start, HEADER_SIZE bytes at least.
        path: what to call the file in errors.

    Raises:
        WrongVersionError: it has another version of the format, or was made under other rules.
    """
    if data[: len(MAGIC)] != MAGIC:
        return None
    version = int.from_bytes(data[len(MAGIC) : len(MAGIC) + 2], "little")
    if version != FORMAT_VERSION:
        age = "an older" if version < FORMAT_VERSION else "a newer"
        raise WrongVersionError(
            f"{path} has {age} format (version {version}, this program reads {FORMAT_VERSION}): "
            "generate the tables again with this program, or read them with the one that made them"
        )
    head = data[: _HEADER.size]
    if _CRC.unpack_from(data, _HEADER.size)[0] == crc32(head):
        fields = _HEADER.unpack(head)
        return _known_ruleset(fields[_RULESET_FIELD], fields[_RULESET_FIELD + 1], path)
    return None


def _known_ruleset(name: bytes, king_moves_plies: int, path: Path) -> Ruleset:
    ruleset = RULESETS.get(name.rstrip(b"\0").decode("ascii", "backslashreplace"))
    if ruleset is None or (ruleset.king_moves_plies or 0) != king_moves_plies:
        known = ", ".join(f"{r.name} (king moves: {r.king_moves_plies} plies)" for r in RULESETS.values())
        shown = name.rstrip(b"\0").decode("ascii", "backslashreplace")
        raise WrongVersionError(
            f"{path} was made under other draw rules, {shown} (king moves: {king_moves_plies} plies); "
            f"this program knows {known}: generate the tables again"
        )
    return ruleset


def _read_text(raw: bytes) -> str:
    return raw.rstrip(b"\0").decode("ascii")


def _truncated(path: Path, size: int, expected: int) -> TruncatedTableError:
    how = "ends too early" if size < expected else "goes on after its end"
    return TruncatedTableError(
        f"{path} {how}: {size} bytes, where its header says {expected}; delete it and generate it again"
        if size >= HEADER_SIZE
        else f"{path} ends too early: {size} bytes, where the header alone has {expected}; "
        "delete it and generate it again"
    )


def _damaged(path: Path, what: str) -> DamagedHeaderError:
    return DamagedHeaderError(f"{path} is damaged: {what}; delete it and generate it again")


# Writing


def write_table(
    path: Path | str,
    material: Material,
    metric: Metric,
    ruleset: Ruleset,
    values: Values,
    *,
    generator_version: str,
    compression: zstandard.ZstdCompressionParameters = COMPRESSION,
    run: MapFunction = map,
) -> FileRecord:
    """Write one table, whole or not at all; returns the size and SHA-256 of its file.

    Args:
        path: the file to write, usually `table_name(material, metric)` in a data directory.
        material: the slice.
        metric: what the values are.
        ruleset: the rules they assume.
        values: shape (material.positions,), integers of one or two bytes, in index order, as the metric is
            stored (WDL -2..2; DTC and DTB plies; DTW plies halved). Slots that nobody reads may hold whatever
            compresses best, but no value that is stored nowhere else: it would make the alphabet longer.
        generator_version: ASCII, 28 characters at most.
        compression: of zstd; with the content's size and checksum.
        run: does the work, e.g. the `map` of a ThreadPoolExecutor; the heavy parts let other threads run.

    Raises:
        ArgumentError: the number or the type of the values is not right, or one does not fit 16 signed bits.
        OSError: the file cannot be written; nothing is left behind then.
    """
    if values.shape != (material.positions,):
        raise ArgumentError(
            f"{material} has {material.positions} positions; got values of shape {values.shape}"
        )
    if values.dtype.kind not in "iu" or values.dtype.itemsize > 2 or not values.flags.c_contiguous:
        raise ArgumentError(f"values must be contiguous integers of one or two bytes, not {values.dtype}")
    alphabet = np.unique(values)
    packing = Packing.of(len(alphabet))

    def pack(first: int, last: int) -> bytes:
        symbols = np.searchsorted(alphabet, values[first:last])
        return packing.pack(
            symbols.astype(np.uint8) if packing.value_bytes == 1 else symbols.astype(np.uint16)
        )

    return write_packed(
        path,
        material,
        metric,
        ruleset,
        tuple(alphabet.tolist()),
        pack,
        generator_version=generator_version,
        compression=compression,
        run=run,
    )


def write_packed(
    path: Path | str,
    material: Material,
    metric: Metric,
    ruleset: Ruleset,
    alphabet: tuple[int, ...],
    pack: Callable[[int, int], bytes],
    *,
    generator_version: str,
    compression: zstandard.ZstdCompressionParameters = COMPRESSION,
    run: MapFunction = map,
) -> FileRecord:
    """Write one table as `write_table` does, from a function that packs its values.

    Args:
        path, material, metric, ruleset, generator_version, compression, run: as for `write_table`.
        alphabet: the values that occur, rising.
        pack: called with `first` and `last`, returns what `Packing.pack` makes of the symbols of the values
            `first` to `last` - 1. Many threads may call it at a time.

    Raises:
        ArgumentError: a value does not fit 16 signed bits.
        OSError: the file cannot be written; nothing is left behind then.
    """
    if alphabet[-1] > np.iinfo(np.int16).max:
        raise ArgumentError(
            f"the value {alphabet[-1]} does not fit the 16 signed bits of an alphabet's entry"
        )
    empty = np.zeros(0, np.uint64)
    header = TableHeader(material, metric, ruleset, generator_version, FRAME_SIZE, alphabet, empty)
    frames: Sequence[bytes] = ()
    if header.frames:
        encoder = _Encoder(header, pack, compression)
        step = header.frame_values * _FRAMES_A_TASK
        tasks = [
            (start, min(start + step, material.positions)) for start in range(0, material.positions, step)
        ]
        frames = [frame for encoded in run(encoder.encode, tasks) for frame in encoded]
        ends = header.frames_start + np.cumsum([len(frame) for frame in frames], dtype=np.uint64)
        header = TableHeader(material, metric, ruleset, generator_version, FRAME_SIZE, alphabet, ends)
    return write_atomically(Path(path), [header.to_bytes(), *frames])


class _Encoder:
    """Turns runs of values into frames, in any number of threads."""

    def __init__(
        self,
        header: TableHeader,
        pack: Callable[[int, int], bytes],
        compression: zstandard.ZstdCompressionParameters,
    ) -> None:
        self._header = header
        self._pack = pack
        self._compression = compression
        self._threads = local()  # a compressor may be used by one thread at a time

    def encode(self, values: tuple[int, int]) -> list[bytes]:
        """The frames of a run of values (the first, the end) that begins with a frame."""
        compress = self._compressor().compress
        packed = self._pack(*values)
        size = self._header.frame_size
        return [compress(packed[start : start + size]) for start in range(0, len(packed), size)]

    def _compressor(self) -> zstandard.ZstdCompressor:
        found: zstandard.ZstdCompressor | None = getattr(self._threads, "compressor", None)
        if found is None:
            found = zstandard.ZstdCompressor(compression_params=self._compression)
            self._threads.compressor = found
        return found
