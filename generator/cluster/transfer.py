"""Files of arrays that tasks leave for other tasks: successor tables, values and DTB scores.

Format of a file:

    u64, little-endian    length of the JSON text
    JSON                  list of [name, dtype, count], one for each array
    zstd frame            all arrays in that order, with a checksum
"""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from generator.errors import DamagedFileError
from generator.materials import with_mirror
from generator.memory import Memory
from generator.solver import successors
from generator.solver.blocks import PlacedBlocks
from generator.solver.solver import SliceSolver
from generator.solver.successors import (
    OutcomeExceptions,
    SuccessorTables,
    block_numbers,
    lanes,
    parts_of,
    read_block_bits,
    words,
    words_in_block,
    write_block_bits,
)
from tablebase.board.material import Material

_LEVEL = 1  # files are read only a few times: time counts more than size
_CHUNK_BYTES = 1 << 26

Arrays = Mapping[str, NDArray[Any]]
Allocator = Callable[[str, np.dtype[Any], int], NDArray[Any]]
"""Returns the array to read into, by its name, dtype and count."""


def write_arrays(path: Path, arrays: Arrays, threads: int = 1) -> None:
    """Write one-dimensional arrays to a file.

    Args:
        path: the file.
        arrays: the arrays, by name.
        threads: number of threads that compress.

    Raises:
        OSError: the file cannot be written.
    """
    head = json.dumps([[name, array.dtype.str, len(array)] for name, array in arrays.items()]).encode()
    # 0 threads make other bytes than 1 or more, and a repeated task must write the same bytes.
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True, threads=max(1, threads))
    with path.open("wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        with compressor.stream_writer(file, closefd=False) as stream:
            for array in arrays.values():
                data = np.ascontiguousarray(array).view(np.uint8).data
                for first in range(0, len(data), _CHUNK_BYTES):
                    stream.write(data[first : first + _CHUNK_BYTES])


def _new_array(name: str, kind: np.dtype[Any], count: int) -> NDArray[Any]:
    return np.empty(count, kind)


def read_arrays(path: Path, allocate: Allocator = _new_array) -> dict[str, NDArray[Any]]:
    """Read a file of arrays.

    Args:
        path: the file.
        allocate: returns the array to read into.

    Returns:
        The arrays, by name.

    Raises:
        DamagedFileError: the file is damaged; the contents of the arrays are undefined.
        OSError: the file cannot be read.
    """
    found = {}
    try:
        with path.open("rb") as file:
            head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
            with zstandard.ZstdDecompressor().stream_reader(file, closefd=False) as stream:
                for name, kind, count in head:
                    found[name] = allocate(name, np.dtype(kind), count)
                    _fill(stream, found[name])
                if stream.read(1):
                    raise ValueError("there is data after its end")
    except (zstandard.ZstdError, ValueError, TypeError, EOFError) as error:
        raise DamagedFileError(path.name, str(error)) from None
    return found


def _fill(stream: Any, array: NDArray[Any]) -> None:
    left = array.view(np.uint8).data
    while len(left):
        count = stream.readinto(left[:_CHUNK_BYTES])
        if not count:
            raise EOFError("it is cut off")
        left = left[count:]


# Names of arrays are like "0.lost": the index of the material in `with_mirror(pair)`, and the part.
_SCORE, _LOST, _WON = "score", "lost", "won"
_PARTS = (_SCORE, _LOST, _WON)
_NUMBERS = "blocks"
_BOARD = "board"
_FORGET = "forget"
_BITS = "bits"


def pair_arrays(tables: SuccessorTables, pair: Material) -> dict[str, NDArray[Any]]:
    """Return the arrays of the successor tables of a whole pair."""
    found: dict[str, NDArray[Any]] = {}
    for side, material in enumerate(with_mirror(pair)):
        for name, part in zip(_PARTS, parts_of(tables, material), strict=True):
            found[f"{side}.{name}"] = part
        begin, end = np.searchsorted(tables.exceptions.words, _words_of(tables, material))
        numbers, lost, won = tables.exceptions
        board = OutcomeExceptions(numbers[begin:end], lost[begin:end], won[begin:end])
        found |= _board_arrays(tables, side, material, board)
    return found


def block_arrays(
    tables: SuccessorTables, pair: Material, placed: PlacedBlocks, board_words: Iterable[OutcomeExceptions]
) -> dict[str, NDArray[Any]]:
    """Return the arrays of the successor tables of some blocks.

    Args:
        tables: the successor tables of all materials.
        pair: the pair of the blocks.
        placed: the blocks.
        board_words: the words of the blocks that differ without draw rules.
    """
    listed = list(board_words)
    found: dict[str, NDArray[Any]] = {}
    for side, (material, numbers) in enumerate(zip(with_mirror(pair), _numbers(pair, placed), strict=True)):
        found[f"{side}.{_NUMBERS}"] = numbers
        for name, part in zip(_PARTS, parts_of(tables, material), strict=True):
            if len(part) and _is_packed(material, name):
                bits = read_block_bits(part, numbers, words_in_block(material))
                found[f"{side}.{name}.{_BITS}"] = np.packbits(bits)
            elif len(part):
                found[f"{side}.{name}"] = _by_block(part, material, name)[numbers].reshape(-1)
        first, last = _words_of(tables, material)
        mine = [(part.words >= first) & (part.words < last) for part in listed]
        # Sort them: threads list them in any order.
        numbers_listed = [part.words[here] for part, here in zip(listed, mine, strict=True)]
        order = np.argsort(np.concatenate([np.zeros(0, np.int64), *numbers_listed]), kind="stable")
        for number, field in enumerate(OutcomeExceptions._fields):
            parts = [part[number][here] for part, here in zip(listed, mine, strict=True)]
            kind = np.int64 if field == "words" else np.uint32
            joined = np.concatenate([np.zeros(0, kind), *parts])[order]
            found[f"{side}.{_BOARD}.{field}"] = joined - first if field == "words" else joined
    return found


def load_successors(
    tables: SuccessorTables, pair: Material, path: Path, memory: Memory
) -> list[OutcomeExceptions]:
    """Load successor tables from a file with the arrays of `pair_arrays` or `block_arrays`.

    Several threads may call this at once, for different files.

    Args:
        tables: the successor tables to fill.
        pair: the pair of the file.
        path: the file.
        memory: the allocator of the successor tables.

    Returns:
        The words of the file that differ without draw rules, for each material of the pair.

    Raises:
        DamagedFileError: the file is damaged; the contents of the successor tables are undefined.
        OSError: the file cannot be read, or the disk of mapped tables is full.
    """
    sides = with_mirror(pair)
    kept: dict[str, NDArray[Any]] = {}
    targets = {
        f"{side}.{name}": part
        for side, material in enumerate(sides)
        for name, part in zip(_PARTS, parts_of(tables, material), strict=True)
    }

    def allocate(name: str, kind: np.dtype[Any], count: int) -> NDArray[Any]:
        if name in targets and len(targets[name]) == count:  # of a whole slice: read directly into the table
            memory.reserve_disk(targets[name])
            return targets[name]
        kept[name] = np.empty(count, kind)
        return kept[name]

    read_arrays(path, allocate)
    board = []
    for side, material in enumerate(sides):
        numbers = kept.get(f"{side}.{_NUMBERS}")
        for name in _PARTS:
            bits, values = kept.get(f"{side}.{name}.{_BITS}"), kept.get(f"{side}.{name}")
            if numbers is not None and bits is not None:
                size = words_in_block(material)
                target = targets[f"{side}.{name}"]
                memory.reserve_disk(target)
                write_block_bits(target, numbers, size, np.unpackbits(bits, count=len(numbers) * size))
            if numbers is not None and values is not None:
                target = targets[f"{side}.{name}"]
                memory.reserve_disk(target)
                by_block = _by_block(target, material, name)
                by_block[numbers] = values.reshape(len(numbers), -1)
        listed = OutcomeExceptions(*(kept[f"{side}.{_BOARD}.{field}"] for field in OutcomeExceptions._fields))
        board.append(listed._replace(words=listed.words + _words_of(tables, material)[0]))
    return board


def drawn_arrays(
    tables: SuccessorTables, pair: Material, places: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """Return arrays for `load_drawn`: the positions of a pair that both counters together make drawn.

    Args:
        tables: the successor tables.
        pair: the pair.
        places: shape (n, 2), int64: word and lane of each position in the successor tables.
    """
    found: dict[str, NDArray[Any]] = {}
    for side, material in enumerate(with_mirror(pair)):
        first, last = _words_of(tables, material)
        here = places[(places[:, 0] >= first) & (places[:, 0] < last)] - np.array([first, 0])
        found[f"{side}.{_FORGET}"] = np.ascontiguousarray(here).reshape(-1)
    return found


def load_drawn(solver: SliceSolver, pair: Material, path: Path) -> None:
    """Mark the positions of a file of `drawn_arrays` as drawn in the successor tables.

    All successor tables of the pair must be loaded.

    Raises:
        DamagedFileError: the file is damaged.
        OSError: the file cannot be read.
    """
    found = read_arrays(path)
    places = [
        found[f"{side}.{_FORGET}"].reshape(-1, 2) + np.array([_words_of(solver.successors, material)[0], 0])
        for side, material in enumerate(with_mirror(pair))
    ]
    solver.mark_drawn(np.concatenate(places))


def score_arrays(parts: Iterable[NDArray[np.uint8]]) -> dict[str, NDArray[Any]]:
    """Return the arrays of DTB scores of some blocks, from `DtbScores.parts`."""
    return {f"{side}.{_SCORE}": part for side, part in enumerate(parts)}


def read_scores(path: Path, parts: Iterable[NDArray[np.uint8]]) -> None:
    """Read DTB scores from a file of `score_arrays` into the arrays `parts`.

    Raises:
        DamagedFileError: the file is damaged; the contents of the arrays are undefined.
        OSError: the file cannot be read.
    """
    targets = score_arrays(parts)
    read_arrays(path, lambda name, kind, count: targets[name])


def _numbers(pair: Material, placed: PlacedBlocks) -> list[NDArray[np.int64]]:
    """Return the block numbers in the successor tables, for each material of `with_mirror(pair)`."""
    numbers = block_numbers(placed.men)
    turned = block_numbers(placed.turned_men[placed.first_index[:, 1] >= 0])
    return [np.concatenate((numbers, turned))] if pair == pair.mirror else [numbers, turned]


def _is_packed(material: Material, name: str) -> bool:
    return not material.own_kings and name != _SCORE


def _by_block(part: NDArray[Any], material: Material, name: str) -> NDArray[Any]:
    size = words_in_block(material) * (lanes(material) if name == _SCORE else 1)
    return part.reshape(-1, size)


def _words_of(tables: SuccessorTables, material: Material) -> tuple[int, int]:
    first = successors.first_word(tables, material)
    return first, first + words(material)


def _board_arrays(
    tables: SuccessorTables, side: int, material: Material, board: OutcomeExceptions
) -> dict[str, NDArray[Any]]:
    relative = board._replace(words=board.words - _words_of(tables, material)[0])
    return {f"{side}.{_BOARD}.{field}": array for field, array in relative._asdict().items()}
