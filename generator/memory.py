"""The large arrays of a run, in memory or mapped from scratch files.

The system gives memory to an array page by page, when a page is first written. `Memory` gives it back by
array or by part. The system moves the pages of mapped arrays between memory and file. A thread drops them
from the process when the process comes near its limit.
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
_FULL = 0.85  # part of the limit: the rest is for what the process takes until the next look
_MAP_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)  # has a name from Python 3.13 on
_PAGE = mmap.PAGESIZE


class _File:
    """A scratch file without a name, open for the lifetime of this object."""

    def __init__(self, directory: Path, size: int) -> None:
        with tempfile.TemporaryFile(dir=directory) as file:
            file.truncate(size)
            self.descriptor = os.dup(file.fileno())

    def __del__(self) -> None:
        if hasattr(self, "descriptor"):
            os.close(self.descriptor)


class _Mapping(NamedTuple):
    """A mapping: its first address, its size in bytes, and the scratch file behind it, if any."""

    start: int
    size: int
    map: mmap.mmap
    file: _File | None


class Memory:
    """Allocator of the large arrays of a run.

    Args:
        scratch: directory for the files that arrays are mapped from; None keeps arrays in memory. The files
            have no names and vanish with the process, even if it is killed.
        limit: bytes of memory that the process should stay within; used only with `scratch`.
    """

    def __init__(self, scratch: Path | None = None, limit: int | None = None) -> None:
        self._scratch = scratch
        self._limit = limit
        self._mappings: list[_Mapping] = []
        self._lock = threading.Lock()

    def zeros(self, count: int, dtype: DTypeLike) -> NDArray[Any]:
        """Return an array of zeros, shape (count,).

        The array takes memory or disk only for the parts that are written. Call `reserve_disk` for a part
        before you write to it.
        """
        kind = np.dtype(dtype)
        if not count:
            return np.zeros(0, kind)
        size = count * kind.itemsize
        file: _File | None = None
        if self._scratch is None:
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
            memory = mmap.mmap(-1, size, flags=flags)
            with suppress(OSError):
                memory.madvise(mmap.MADV_HUGEPAGE)  # large pages make random look-ups faster
        else:
            file = _File(self._scratch, size)
            memory = mmap.mmap(file.descriptor, size)
        array = np.frombuffer(memory, kind, count)
        with self._lock:
            self._mappings.append(_Mapping(array.ctypes.data, size, memory, file))
        return array

    def reserve_disk(self, part: NDArray[Any]) -> None:
        """Reserve disk space for a part of a mapped array; do nothing for an array in memory.

        Without the space, a write to the part would kill the process (SIGBUS).

        Raises:
            OSError: the disk is full.
        """
        mapping, first, size = self._find(part)
        if mapping is not None and mapping.file is not None:
            os.posix_fallocate(mapping.file.descriptor, first, size)

    def discard(self, part: NDArray[Any]) -> None:
        """Give back the memory and the disk of a part of an array.

        The part holds zeros then. Only whole pages are given back: values that share a page with other parts
        of the array stay.
        """
        mapping, first, size = self._find(part)
        if mapping is None:
            return
        begin = -(-first // _PAGE) * _PAGE
        end = (first + size) // _PAGE * _PAGE
        if end > begin:
            # Some file systems cannot make holes: the disk space then stays taken.
            with suppress(OSError):
                advice = mmap.MADV_DONTNEED if mapping.file is None else mmap.MADV_REMOVE
                mapping.map.madvise(advice, begin, end - begin)

    def free(self, arrays: Iterable[NDArray[Any]]) -> None:
        """Give back the memory and the disk of whole arrays at once.

        Their values are lost, even if a variable still refers to an array.
        """
        arrays = list(arrays)
        for array in arrays:
            self.discard(array)
        gone = {found.start for array in arrays if (found := self._find(array)[0]) is not None}
        with self._lock:
            self._mappings = [each for each in self._mappings if each.start not in gone]

    def _find(self, part: NDArray[Any]) -> tuple[_Mapping | None, int, int]:
        """Return the mapping of a part, the offset of the part in it and the size of the part, in bytes."""
        at = part.ctypes.data
        with self._lock:
            mappings = self._mappings if part.nbytes else []
        for mapping in mappings:
            if mapping.start <= at < mapping.start + mapping.size:
                return mapping, at - mapping.start, part.nbytes
        return None, 0, 0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Keep the process within its limit during the block, if arrays are mapped."""
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
                    mappings = self._mappings
                for mapping in mappings:
                    # The pages stay in the file, and in the system's cache while that has room.
                    mapping.map.madvise(mmap.MADV_DONTNEED)


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * _PAGE
