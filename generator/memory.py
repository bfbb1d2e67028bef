"""The large arrays of a run: in memory, or mapped from a scratch file where memory is not to hold them all.

Memory is taken page by page as it is written to, and given back array by array, or part by part. Mapped
arrays go to and fro between memory and the file as the system sees fit; a watch drops their pages from the
process whenever it has grown beyond its limit.
"""

import mmap
import os
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

_WATCH_SECONDS = 0.05
_FULL = 0.85  # of the limit: what may come before the watch looks again must fit into the rest
_MAP_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)  # has a name from Python 3.13 on
_PAGE = mmap.PAGESIZE


class _File:
    """A scratch file without a name, open as long as this object is there."""

    def __init__(self, directory: Path, size: int) -> None:
        with tempfile.TemporaryFile(dir=directory) as file:
            file.truncate(size)
            self.descriptor = os.dup(file.fileno())

    def __del__(self) -> None:
        if hasattr(self, "descriptor"):
            os.close(self.descriptor)


class _Room(NamedTuple):
    """One mapping: where it begins in memory, its size, and the scratch file behind it, if there is one."""

    start: int
    size: int
    map: mmap.mmap
    file: _File | None


class Memory:
    """Where the large arrays of a run come from.

    Args:
        scratch: a directory for files that arrays are mapped from; None keeps them in memory. The files have
            no name there, and are gone with the process however it ends.
        limit: bytes that the process should stay within, where arrays are mapped.
    """

    def __init__(self, scratch: Path | None = None, limit: int | None = None) -> None:
        self._scratch = scratch
        self._limit = limit
        self._rooms: list[_Room] = []
        self._lock = threading.Lock()

    def zeros(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        """An array of zeros, shape (count,), that takes memory (or disk) only for the parts that are taken by
        `take` before they are written to."""
        kind = np.dtype(dtype)
        if not count:
            return np.zeros(0, kind)
        size = count * kind.itemsize
        file: _File | None = None
        if self._scratch is None:
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
            room = mmap.mmap(-1, size, flags=flags)
            with suppress(OSError):
                room.madvise(mmap.MADV_HUGEPAGE)  # look-ups go anywhere: large pages are found faster
        else:
            file = _File(self._scratch, size)
            room = mmap.mmap(file.descriptor, size)
        array = np.frombuffer(room, kind, count)
        with self._lock:
            self._rooms.append(_Room(array.ctypes.data, size, room, file))
        return array

    def take(self, part: NDArray[Any]) -> None:
        """Make sure of the disk for a part of an array, where it is mapped: a write without it would end the
        process.

        Raises:
            OSError: there is no room for it.
        """
        room, first, size = self._place(part)
        if room is not None and room.file is not None:
            os.posix_fallocate(room.file.descriptor, first, size)

    def release(self, part: NDArray[Any]) -> None:
        """Give back the memory (and the disk) of a part of an array: it is all zeros again, but for what
        shares a page with its neighbours."""
        room, first, size = self._place(part)
        if room is None:
            return
        begin = -(-first // _PAGE) * _PAGE
        end = (first + size) // _PAGE * _PAGE
        if end > begin:
            # Not every file system can make holes; the disk is then kept to the end.
            with suppress(OSError):
                advice = mmap.MADV_DONTNEED if room.file is None else mmap.MADV_REMOVE
                room.map.madvise(advice, begin, end - begin)

    def forget(self, arrays: Iterable[NDArray[Any]]) -> None:
        """Let go of whole arrays. Their memory is given back at once, though somebody may still have them (a
        variable that has not been used again will do): what they held is gone."""
        arrays = list(arrays)
        for array in arrays:
            self.release(array)
        gone = {room.start for array in arrays if (room := self._place(array)[0]) is not None}
        with self._lock:
            self._rooms = [room for room in self._rooms if room.start not in gone]

    def _place(self, part: NDArray[Any]) -> tuple[_Room | None, int, int]:
        """The mapping that a part lies in, where it begins in it, and its bytes."""
        at = part.ctypes.data
        with self._lock:
            rooms = self._rooms if part.nbytes else []
        for room in rooms:
            if room.start <= at < room.start + room.size:
                return room, at - room.start, part.nbytes
        return None, 0, 0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Keep the process within its limit meanwhile, where arrays are mapped."""
        if self._scratch is None or self._limit is None:
            yield
            return
        done = threading.Event()
        watch = threading.Thread(target=self._watch, args=(done, self._limit), daemon=True)
        watch.start()
        try:
            yield
        finally:
            done.set()
            watch.join()

    def _watch(self, done: threading.Event, limit: int) -> None:
        while not done.wait(_WATCH_SECONDS):
            if resident() > limit * _FULL:
                with self._lock:
                    rooms = self._rooms
                for room in rooms:
                    # The pages stay in the file, and in the system's cache as long as that has room.
                    room.map.madvise(mmap.MADV_DONTNEED)


def resident() -> int:
    """Bytes of memory that this process holds just now, as the system counts them."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * _PAGE
