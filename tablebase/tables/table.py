"""Table files opened for reading, and the cache of decoded frames that they share."""

from __future__ import annotations

import mmap
from collections import OrderedDict
from collections.abc import Callable
from itertools import count, pairwise
from pathlib import Path
from threading import Lock, local
from types import TracebackType

import numpy as np
import zstandard
from numpy.typing import NDArray

from tablebase.errors import ClosedError, DamagedFrameError, TruncatedTableError
from tablebase.tables.format import MapFunction, TableHeader, read_header

DEFAULT_CACHE_BYTES = 64 << 20

Key = tuple[int, int]
"""Number of a table, from `FrameCache.new_owner`, and number of a frame in it."""


class FrameCache:
    """A cache of the most recently used frames (LRU). Any number of threads may use it.

    Args:
        max_bytes: the limit for all frames together; a larger frame is not kept.
    """

    def __init__(self, max_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        self.max_bytes = max_bytes
        self._bytes = 0
        self._frames: OrderedDict[Key, bytes] = OrderedDict()
        self._lock = Lock()
        self._owners = count()

    @property
    def used_bytes(self) -> int:
        """Bytes of all frames that are kept now."""
        return self._bytes

    def new_owner(self) -> int:
        """Return a number for a table that no other table of this cache has."""
        return next(self._owners)

    def get(self, owner: int, frame: int, decode: Callable[[int], bytes]) -> bytes:
        """Return a frame from the cache, or from `decode(frame)`, whose errors are not caught."""
        key = owner, frame
        with self._lock:
            found = self._frames.get(key)
            if found is not None:
                self._frames.move_to_end(key)
                return found
        # Decode outside the lock: threads often need different frames, and seldom the same one.
        found = decode(frame)
        with self._lock:
            if key not in self._frames and len(found) <= self.max_bytes:
                self._frames[key] = found
                self._bytes += len(found)
                while self._bytes > self.max_bytes:
                    self._bytes -= len(self._frames.popitem(last=False)[1])
        return found

    def drop(self, owner: int) -> None:
        """Remove all frames of a table."""
        with self._lock:
            for key in [key for key in self._frames if key[0] == owner]:
                self._bytes -= len(self._frames.pop(key))


class Table:
    """A table file opened for reading. A context manager that any number of threads may read from.

    The values are those that the file *stores*. They mean nothing for a capture position, and a DTC or DTW
    has a meaning only together with the WDL of the same position (docs/format.md). `Tablebase` combines them.

    Args:
        path: the file.
        cache: the cache of decoded frames; None for a cache of its own.

    Raises:
        NotATableError: the file is not a table.
        WrongVersionError: the table has another format version or other draw rules.
        TruncatedTableError: the file is shorter or longer than its header says.
        DamagedHeaderError: the header, the alphabet or the frame index is damaged.
        OSError: the file cannot be opened.
    """

    def __init__(self, path: Path | str, cache: FrameCache | None = None) -> None:
        self.path = Path(path)
        self._cache = FrameCache() if cache is None else cache
        self._owner = self._cache.new_owner()
        self._threads = local()  # a decompressor may be used by one thread at a time
        with self.path.open("rb") as file:
            size = file.seek(0, 2)
            if size == 0:
                raise TruncatedTableError(f"{self.path} is empty; delete it and generate it again")
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            self.header: TableHeader = read_header(self._bytes, size, self.path)
        except BaseException:
            self._bytes.close()
            raise
        packing = self.header.packing
        self._positions = self.header.positions
        self._alphabet = self.header.alphabet
        self._frame_values = self.header.frame_values
        self._per_byte = packing.per_byte
        self._value_bytes = packing.value_bytes
        self._powers = [packing.symbols**place for place in range(packing.per_byte)]

    def value(self, index: int) -> int:
        """Return the stored value of the position with this index.

        Raises:
            IndexError: the index is outside the slice.
            DamagedFrameError: the frame of the position is damaged.
            ClosedError: the table has been closed.
        """
        if not 0 <= index < self._positions:
            raise IndexError(f"{self.path} has the positions 0 to {self._positions - 1}, not {index}")
        if not self.header.frames:
            return self._alphabet[0] if self._alphabet else 0
        frame, inside = divmod(index, self._frame_values)
        decoded = self._cache.get(self._owner, frame, self._decode)
        if self._value_bytes == 2:
            symbol = decoded[2 * inside] | decoded[2 * inside + 1] << 8
        else:
            byte, place = divmod(inside, self._per_byte)
            symbol = decoded[byte]
            if self._per_byte > 1:
                symbol = symbol // self._powers[place] % len(self._alphabet)
        if symbol >= len(self._alphabet):
            raise self._damaged(frame, f"symbol {symbol} is not in the alphabet")
        return self._alphabet[symbol]

    def values(self, indices: NDArray[np.int64]) -> NDArray[np.int16]:
        """Return the stored values of positions, decoding each frame once.

        Args:
            indices: shape (n,), int64: indices in the slice, in any order.

        Returns:
            Shape (n,), int16: the values, in the order of `indices`.

        Raises:
            IndexError: an index is outside the slice.
            DamagedFrameError: a frame is damaged.
            ClosedError: the table has been closed.
        """
        if len(indices) and not 0 <= indices.min() <= indices.max() < self._positions:
            raise IndexError(f"{self.path} has the positions 0 to {self._positions - 1}, not all of these")
        alphabet = np.array(self._alphabet or (0,), np.int16)
        found = np.empty(len(indices), np.int16)
        if not self.header.frames or not len(indices):
            found[:] = alphabet[0]
            return found
        order = np.argsort(indices)
        frames, inside = np.divmod(indices[order], self._frame_values)
        places, digits = np.divmod(inside, self._per_byte)
        edges = np.flatnonzero(np.diff(frames)) + 1
        for first, last in pairwise([0, *edges.tolist(), len(order)]):
            frame = int(frames[first])
            decoded = self._cache.get(self._owner, frame, self._decode)
            units = np.frombuffer(decoded, "<u2" if self._value_bytes == 2 else np.uint8)
            symbols = units[places[first:last]]
            if self._per_byte > 1:
                symbols = symbols // np.take(self._powers, digits[first:last]) % len(alphabet)
            if (highest := int(symbols.max())) >= len(alphabet):
                raise self._damaged(frame, f"symbol {highest} is not in the alphabet")
            found[order[first:last]] = alphabet[symbols]
        return found

    def read_all(self, run: MapFunction = map) -> NDArray[np.int16]:
        """Return the stored values of all positions of the slice.

        Args:
            run: the function that decodes the frames, `map` or e.g. that of a ThreadPoolExecutor.

        Returns:
            Shape (positions,), int16, in index order.

        Raises:
            DamagedFrameError: a frame is damaged.
            ClosedError: the table has been closed.
        """
        header = self.header
        if not header.frames:
            self._check_open()
            return np.full(header.positions, self._alphabet[0] if self._alphabet else 0, np.int16)
        values = np.empty(header.positions, np.int16)
        alphabet = np.array(self._alphabet, np.int16)
        by_byte = alphabet[header.packing.unpacked()] if self._per_byte > 1 else None

        def fill(frame: int) -> None:
            start = frame * self._frame_values
            place = values[start : start + self._frame_values]
            decoded = self._decode(frame)
            if by_byte is not None:
                place[:] = by_byte[np.frombuffer(decoded, np.uint8)].ravel()[: len(place)]
                return
            symbols = np.frombuffer(decoded, "<u2" if self._value_bytes == 2 else np.uint8)
            if (highest := int(symbols.max())) >= len(alphabet):
                raise self._damaged(frame, f"symbol {highest} is not in the alphabet")
            place[:] = alphabet[symbols]

        for _ in run(fill, range(header.frames)):
            pass
        return values

    def close(self) -> None:
        """Close the file. Closing twice is allowed."""
        self._cache.drop(self._owner)
        self._bytes.close()

    def __enter__(self) -> Table:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _decode(self, frame: int) -> bytes:
        self._check_open()
        start, end = self.header.frame_span(frame)
        expected = self.header.decoded_size(frame)
        try:
            compressed = self._bytes[start:end]
        except ValueError:  # another thread has closed the table just now
            raise self._closed() from None
        try:
            # Check first: zstandard allocates the size that the frame declares, which may be forged.
            if zstandard.frame_content_size(compressed) != expected:
                raise self._damaged(frame, f"it does not decode to {expected} bytes")
            decoded: bytes = self._decompressor().decompress(compressed, allow_extra_data=False)
        except zstandard.ZstdError as error:
            raise self._damaged(frame, str(error)) from None
        if len(decoded) != expected:
            raise self._damaged(frame, f"it decodes to {len(decoded)} bytes, not {expected}")
        return decoded

    def _decompressor(self) -> zstandard.ZstdDecompressor:
        found: zstandard.ZstdDecompressor | None = getattr(self._threads, "decompressor", None)
        if found is None:
            found = self._threads.decompressor = zstandard.ZstdDecompressor()
        return found

    def _check_open(self) -> None:
        if self._bytes.closed:
            raise self._closed()

    def _closed(self) -> ClosedError:
        return ClosedError(f"{self.path} has been closed; open it again to read from it")

    def _damaged(self, frame: int, what: str) -> DamagedFrameError:
        return DamagedFrameError(
            f"{self.path} is damaged: frame {frame} of {self.header.frames}: {what}; "
            "delete the file and generate it again"
        )
