"""Files of named arrays, on their way from one task to another: compressed, read straight to where they go.

u64         length of what comes next
JSON        a list of [name, dtype, count]
zstd        the arrays one after another, with a checksum at the end
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from generator.cluster.errors import DamagedFileError

_LEVEL = 1  # they are read a few times: time counts more than size
_AT_ONCE = 1 << 26

Arrays = Mapping[str, NDArray[Any]]
Room = Callable[[str, np.dtype[Any], int], NDArray[Any]]


def write_arrays(path: Path, arrays: Arrays, threads: int = 1) -> None:
    """Write arrays of one dimension to a file.

    Raises:
        OSError: it cannot be written.
    """
    head = json.dumps([[name, array.dtype.str, len(array)] for name, array in arrays.items()]).encode()
    # Never 0, which makes other bytes: a task that is done twice is to leave the same.
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True, threads=max(1, threads))
    with path.open("wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        with compressor.stream_writer(file, closefd=False) as stream:
            for array in arrays.values():
                data = np.ascontiguousarray(array).view(np.uint8).data
                for first in range(0, len(data), _AT_ONCE):
                    stream.write(data[first : first + _AT_ONCE])


def _new_room(name: str, kind: np.dtype[Any], count: int) -> NDArray[Any]:
    return np.empty(count, kind)


def read_arrays(path: Path, room: Room = _new_room) -> dict[str, NDArray[Any]]:
    """Read a file of arrays.

    Args:
        path: the file.
        room: gives, by name, dtype and count, the array to read into.

    Raises:
        DamagedFileError: the file is not what was written; arrays that were given are in disorder then.
        OSError: it cannot be read.
    """
    found = {}
    try:
        with path.open("rb") as file:
            head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
            with zstandard.ZstdDecompressor().stream_reader(file, closefd=False) as stream:
                for name, kind, count in head:
                    found[name] = room(name, np.dtype(kind), count)
                    _fill(stream, found[name])
                if stream.read(1):
                    raise ValueError("it goes on after its end")
    except (zstandard.ZstdError, ValueError, TypeError, EOFError) as error:
        raise DamagedFileError(path.name, str(error)) from None
    return found


def _fill(stream: Any, array: NDArray[Any]) -> None:
    left = array.view(np.uint8).data
    while len(left):
        count = stream.readinto(left[:_AT_ONCE])
        if not count:
            raise EOFError("it ends too early")
        left = left[count:]
