"""After tables and DTB scores as files that travel between tasks.

u64         length of what comes next
JSON        a list of [name, dtype, count]
zstd        the arrays one after another, with a checksum at the end
"""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from generator.errors import DamagedFileError
from generator.materials import both
from generator.memory import Memory
from generator.solver import successors as afters
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


# Names of arrays are "0.lost" and so on: which of `both`, and which part.
_SCORE, _LOST, _WON = "score", "lost", "won"
_PARTS = (_SCORE, _LOST, _WON)
_NUMBERS = "blocks"
_BOARD = "board"
_FORGET = "forget"
_BITS = "bits"


def whole(tables: SuccessorTables, pair: Material) -> dict[str, NDArray[Any]]:
    """The after tables of a pair."""
    found: dict[str, NDArray[Any]] = {}
    for side, material in enumerate(both(pair)):
        for name, part in zip(_PARTS, parts_of(tables, material), strict=True):
            found[f"{side}.{name}"] = part
        begin, end = np.searchsorted(tables.exceptions.words, _words_of(tables, material))
        numbers, lost, won = tables.exceptions
        board = OutcomeExceptions(numbers[begin:end], lost[begin:end], won[begin:end])
        found |= _board_arrays(tables, side, material, board)
    return found


def of_blocks(
    tables: SuccessorTables, pair: Material, placed: PlacedBlocks, board_words: Iterable[OutcomeExceptions]
) -> dict[str, NDArray[Any]]:
    """The after tables of some blocks.

    Args:
        tables: all after tables.
        pair: the pair that the blocks are of.
        placed: the blocks.
        board_words: what of them is otherwise on the board.
    """
    listed = list(board_words)
    found: dict[str, NDArray[Any]] = {}
    for side, (material, numbers) in enumerate(zip(both(pair), _numbers(pair, placed), strict=True)):
        found[f"{side}.{_NUMBERS}"] = numbers
        for name, part in zip(_PARTS, parts_of(tables, material), strict=True):
            if len(part) and _is_packed(material, name):
                bits = read_block_bits(part, numbers, words_in_block(material))
                found[f"{side}.{name}.{_BITS}"] = np.packbits(bits)
            elif len(part):
                found[f"{side}.{name}"] = _by_block(part, material, name)[numbers].reshape(-1)
        first, last = _words_of(tables, material)
        mine = [(part.words >= first) & (part.words < last) for part in listed]
        # In order, as threads list them in any.
        numbers_listed = [part.words[here] for part, here in zip(listed, mine, strict=True)]
        order = np.argsort(np.concatenate([np.zeros(0, np.int64), *numbers_listed]), kind="stable")
        for number, field in enumerate(OutcomeExceptions._fields):
            parts = [part[number][here] for part, here in zip(listed, mine, strict=True)]
            kind = np.int64 if field == "words" else np.uint32
            joined = np.concatenate([np.zeros(0, kind), *parts])[order]
            found[f"{side}.{_BOARD}.{field}"] = joined - first if field == "words" else joined
    return found


def load(tables: SuccessorTables, pair: Material, path: Path, memory: Memory) -> list[OutcomeExceptions]:
    """Fill in after tables from a file of either kind; returns what of them is otherwise on the board. Any
    number of threads may do this, with a file each.

    Raises:
        DamagedFileError: the file is damaged, and the after tables are in disorder.
        OSError: it cannot be read.
    """
    sides = both(pair)
    kept: dict[str, NDArray[Any]] = {}
    places = {
        f"{side}.{name}": part
        for side, material in enumerate(sides)
        for name, part in zip(_PARTS, parts_of(tables, material), strict=True)
    }

    def room(name: str, kind: np.dtype[Any], count: int) -> NDArray[Any]:
        if name in places and len(places[name]) == count:  # a whole one: read straight into its place
            memory.take(places[name])
            return places[name]
        kept[name] = np.empty(count, kind)
        return kept[name]

    read_arrays(path, room)
    board = []
    for side, material in enumerate(sides):
        numbers = kept.get(f"{side}.{_NUMBERS}")
        for name in _PARTS:
            bits, values = kept.get(f"{side}.{name}.{_BITS}"), kept.get(f"{side}.{name}")
            if numbers is not None and bits is not None:
                size = words_in_block(material)
                memory.take(places[f"{side}.{name}"])
                unpacked = np.unpackbits(bits, count=len(numbers) * size)
                write_block_bits(places[f"{side}.{name}"], numbers, size, unpacked)
            if numbers is not None and values is not None:
                target = places[f"{side}.{name}"]
                memory.take(target)
                by_block = _by_block(target, material, name)
                by_block[numbers] = values.reshape(len(numbers), -1)
        listed = OutcomeExceptions(*(kept[f"{side}.{_BOARD}.{field}"] for field in OutcomeExceptions._fields))
        board.append(listed._replace(words=listed.words + _words_of(tables, material)[0]))
    return board


def forgotten(tables: SuccessorTables, pair: Material, places: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """The places of the positions of a pair that both counters draw together, for `load_forgotten`."""
    found: dict[str, NDArray[Any]] = {}
    for side, material in enumerate(both(pair)):
        first, last = _words_of(tables, material)
        here = places[(places[:, 0] >= first) & (places[:, 0] < last)] - np.array([first, 0])
        found[f"{side}.{_FORGET}"] = np.ascontiguousarray(here).reshape(-1)
    return found


def load_forgotten(crew: SliceSolver, pair: Material, path: Path) -> None:
    """Let after tables, all of which are loaded, forget what a file says.

    Raises:
        DamagedFileError: the file is damaged.
        OSError: it cannot be read.
    """
    found = read_arrays(path)
    places = [
        found[f"{side}.{_FORGET}"].reshape(-1, 2) + np.array([_words_of(crew.successors, material)[0], 0])
        for side, material in enumerate(both(pair))
    ]
    crew.mark_drawn(np.concatenate(places))


def score_arrays(parts: Iterable[NDArray[np.uint8]]) -> dict[str, NDArray[Any]]:
    """The scores to the balance change of some blocks (`DtbScores.parts`)."""
    return {f"{side}.{_SCORE}": part for side, part in enumerate(parts)}


def read_scores(path: Path, parts: Iterable[NDArray[np.uint8]]) -> None:
    """Read them back into where they belong.

    Raises:
        DamagedFileError: the file is damaged, and the scores are in disorder.
        OSError: it cannot be read.
    """
    rooms = score_arrays(parts)
    read_arrays(path, lambda name, kind, count: rooms[name])


def _numbers(pair: Material, placed: PlacedBlocks) -> list[NDArray[np.int64]]:
    """The numbers of blocks in the after tables of `both`."""
    numbers = block_numbers(placed.men)
    turned = block_numbers(placed.turned_men[placed.first_index[:, 1] >= 0])
    return [np.concatenate((numbers, turned))] if pair == pair.mirror else [numbers, turned]


def _is_packed(material: Material, name: str) -> bool:
    return not material.own_kings and name != _SCORE


def _by_block(part: NDArray[Any], material: Material, name: str) -> NDArray[Any]:
    size = words_in_block(material) * (lanes(material) if name == _SCORE else 1)
    return part.reshape(-1, size)


def _words_of(tables: SuccessorTables, material: Material) -> tuple[int, int]:
    first = afters.first_word(tables, material)
    return first, first + words(material)


def _board_arrays(
    tables: SuccessorTables, side: int, material: Material, board: OutcomeExceptions
) -> dict[str, NDArray[Any]]:
    relative = board._replace(words=board.words - _words_of(tables, material)[0])
    return {f"{side}.{_BOARD}.{field}": array for field, array in relative._asdict().items()}
