"""The file format of tables: header, packing of values and frames (docs/format.md).

A file has a header of fixed length, the alphabet, the frame index and the frames. This module writes whole
files, and reads all parts except the frames; `tablebase.tables.table` reads those.
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
"""Values that the writer of tables accepts: integers of one or two bytes."""

Symbols = NDArray[np.uint8] | NDArray[np.uint16]
"""Symbols: indices in the alphabet."""


@dataclass(frozen=True, slots=True)
class Packing:
    """The way in which symbols are packed into bytes.

    Attributes:
        symbols: the number of different symbols.
        per_byte: the number of symbols in a byte; 1 if a symbol takes two bytes.
        value_bytes: the bytes of a unit of symbols, 1 or 2.
    """

    symbols: int
    per_byte: int
    value_bytes: int

    @classmethod
    def of(cls, symbols: int) -> Packing:
        """Return the densest packing of so many different symbols; two bytes a symbol if they exceed 256."""
        if symbols > 256:
            return cls(symbols, 1, 2)
        per_byte = 8
        while max(symbols, 2) ** per_byte > 256:
            per_byte -= 1
        return cls(symbols, per_byte, 1)

    def packed_size(self, count: int) -> int:
        """Return the number of bytes that `count` symbols take."""
        return -(-count // self.per_byte) * self.value_bytes

    def pack(self, symbols: Symbols) -> bytes:
        """Return the bytes of a run of symbols.

        The first symbol in a byte is its least significant digit. Unused digits of the last byte are 0.

        Args:
            symbols: shape (n,), uint8 or uint16.
        """
        if self.value_bytes == 2:
            return symbols.astype("<u2", copy=False).tobytes()
        if self.per_byte == 1:
            return symbols.tobytes()
        if rest := len(symbols) % self.per_byte:
            symbols = np.concatenate([symbols, np.zeros(self.per_byte - rest, np.uint8)])
        digits = symbols.reshape(-1, self.per_byte)
        packed = digits[:, -1].astype(np.uint8)
        for digit in range(self.per_byte - 2, -1, -1):
            packed *= np.uint8(self.symbols)
            packed += digits[:, digit]
        return packed.tobytes()

    def unpacked(self) -> NDArray[np.uint8]:
        """Return the symbols of each byte: shape (256, per_byte), uint8."""
        powers = self.symbols ** np.arange(self.per_byte)
        return (np.arange(256)[:, None] // powers % self.symbols).astype(np.uint8)


MAGIC = b"\x93SHASHKI"
FORMAT_VERSION = 2
FRAME_SIZE = 16384
"""Bytes that a frame decodes to in written files; the last frame may be shorter."""
MAX_FRAME_SIZE = 65536
"""Largest frame that a reader accepts, so that a forged header cannot exhaust memory."""
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
"""Parameters of zstd for frames. They belong to no level: every level of equal speed makes larger files
(docs/performance.md)."""

_HEADER = struct.Struct("<8s2H4B8s32sIIQQIIBBH28sI")
_CRC = struct.Struct("<I")
_RULESET_FIELD = 8  # field number of the ruleset's name; its limit of king moves follows
HEADER_SIZE = _HEADER.size + _CRC.size

_FRAMES_A_TASK = 32  # frames encoded by one task: enough to make the overhead of a task small


class Metric(StrEnum):
    """A kind of value that tables store, as the text that ends their file names."""

    WDL = "wdl"
    DTC = "dtc"
    DTW = "dtw"
    DTB = "dtb"

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        raise ArgumentError(f"{value!r} is not a metric; the metrics are {', '.join(cls)}")

    def fits(self, material: Material, ruleset: Ruleset) -> bool:
        """Whether a slice has a table of this metric; DTB has one only if it may differ from DTC."""
        return self is not Metric.DTB or ruleset.counts_material_separately(material)


class MapFunction(Protocol):
    """A function like `map`, e.g. that of a ThreadPoolExecutor, which runs tasks in parallel."""

    def __call__(self, function: Callable[[Any], Any], tasks: Iterable[Any], /) -> Iterable[Any]:
        """Return the results of `function` for the tasks, in the order of the tasks."""


def table_name(material: Material, metric: Metric) -> str:
    """Return the name of a table's file, e.g. `KKMvK.wdl`."""
    return f"{material}.{metric}"


def stored_dtw(plies: int) -> int:
    """Return the value in a `.dtw` table: half of the plies, because wins are odd and losses even."""
    return plies // 2


def dtw_plies(stored: int, won: bool) -> int:
    """Return the DTW in plies: the inverse of `stored_dtw`.

    Args:
        stored: the stored value.
        won: whether the position is won without draw rules; otherwise it is lost.
    """
    return 2 * stored + won


@dataclass(frozen=True)
class TableHeader:
    """The header, the alphabet and the frame index of a table file.

    Attributes:
        material: the slice, side to move first.
        metric: the metric of the values.
        ruleset: the draw rules of the values.
        generator_version: version of the program that made the file.
        frame_size: bytes that a frame decodes to; the last frame may be shorter.
        alphabet: the values that occur, rising; a symbol is an index in it.
        frame_ends: shape (frames,), uint64: end of each frame, in bytes from the start of the file.
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
        """Number of positions in the table."""
        return self.material.positions

    @cached_property
    def packing(self) -> Packing:
        """Packing of the symbols."""
        return Packing.of(len(self.alphabet))

    @cached_property
    def frame_values(self) -> int:
        """Number of values in a frame; the last frame may hold fewer."""
        return self.frame_size // self.packing.value_bytes * self.packing.per_byte

    @cached_property
    def frames(self) -> int:
        """Number of frames; 0 if no position is stored or all values are equal."""
        return 0 if len(self.alphabet) <= 1 else -(-self.positions // self.frame_values)

    @cached_property
    def frames_start(self) -> int:
        """Start of the first frame, in bytes from the start of the file."""
        return HEADER_SIZE + _padded(2 * len(self.alphabet)) + 8 * self.frames

    def frame_span(self, frame: int) -> tuple[int, int]:
        """Return the start and the end of a frame, in bytes from the start of the file."""
        start = int(self.frame_ends[frame - 1]) if frame else self.frames_start
        return start, int(self.frame_ends[frame])

    def decoded_size(self, frame: int) -> int:
        """Return the number of bytes that a frame decodes to."""
        first = frame * self.frame_values
        return self.packing.packed_size(min(self.frame_values, self.positions - first))

    def to_bytes(self) -> bytes:
        """Return the bytes of header, alphabet and frame index, with which the file begins."""
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
    """Round a size up to a multiple of 8 bytes, so that a mapped frame index is aligned."""
    return -(-size // 8) * 8


def _text(text: str, width: int) -> bytes:
    encoded = text.encode("ascii")
    if len(encoded) > width:
        raise ArgumentError(
            f"{text!r} is longer than the {width} bytes that the header of a table has for it"
        )
    return encoded


# Reading


def read_header(data: bytes | mmap, size: int, path: Path) -> TableHeader:
    """Return the header of a table file, after checking header, alphabet and frame index.

    Args:
        data: the file from its start, at least as far as the end of the frame index.
        size: length of the file in bytes.
        path: path of the file, for errors.

    Raises:
        NotATableError: the data is not a table.
        WrongVersionError: the table has another format version, or draw rules unknown to this program.
        TruncatedTableError: the file is shorter or longer than its header says.
        DamagedHeaderError: the header, the alphabet or the frame index is damaged.
    """
    start = bytes(data[: len(MAGIC)])
    if not MAGIC.startswith(start) or len(start) < len(MAGIC) <= size:
        raise NotATableError(
            f"{path} is not a table of this project: it does not begin with the signature of tables; "
            "move it out of the data directory"
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
        raise _damaged(path, "the frame ends in its frame index do not rise")
    length = int(ends[-1]) if frames else body_end
    if length != size:
        raise _truncated(path, size, length)
    return header


def check_version(data: bytes | mmap, path: Path) -> Ruleset | None:
    """Return the ruleset of a table file after checking its version, without looking for damage.

    Args:
        data: the file from its start, at least HEADER_SIZE bytes.
        path: path of the file, for errors.

    Returns:
        The draw rules of the values; None if damage hides them.

    Raises:
        WrongVersionError: the table has another format version, or draw rules unknown to this program.
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
    source = "its header says" if size >= HEADER_SIZE else "the header alone has"
    return TruncatedTableError(
        f"{path} {how}: it has {size} bytes, {source} {expected}; delete it and generate it again"
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
    """Write a table file, completely or not at all, and return its size and SHA-256.

    Args:
        path: the file to write, usually `table_name(material, metric)` in a data directory.
        material: the slice.
        metric: the metric of the values.
        ruleset: the draw rules of the values.
        values: shape (material.positions,), integers of one or two bytes, in index order, as the metric is
            stored: WDL -2..2; DTC and DTB in plies; DTW in plies, halved. Values that nobody reads may be
            chosen to compress best, but must occur elsewhere, or the alphabet grows.
        generator_version: ASCII, at most 28 characters.
        compression: parameters of zstd; they must write the content size and the checksum.
        run: the function that runs the tasks, `map` or e.g. that of a ThreadPoolExecutor. Compression
            releases the GIL.

    Raises:
        ArgumentError: the values have a wrong shape or type, or one does not fit 16 signed bits.
        OSError: the file cannot be written; no temporary file is left.
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
    """Write a table file from a function that packs its values, and return its size and SHA-256.

    Args:
        path: the file to write, usually `table_name(material, metric)` in a data directory.
        material: the slice.
        metric: the metric of the values.
        ruleset: the draw rules of the values.
        alphabet: the values that occur, rising.
        pack: function of `first` and `last` that returns the packed symbols of the values `first` to
            `last` - 1, as `Packing.pack` does. Several threads may call it at the same time.
        generator_version: ASCII, at most 28 characters.
        compression: parameters of zstd; they must write the content size and the checksum.
        run: the function that runs the tasks, `map` or e.g. that of a ThreadPoolExecutor.

    Raises:
        ArgumentError: a value does not fit 16 signed bits.
        OSError: the file cannot be written; no temporary file is left.
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
    """An encoder of runs of values into frames, for any number of threads."""

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
        """Return the frames of the values from the first to the end, exclusive; the first begins a frame."""
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
