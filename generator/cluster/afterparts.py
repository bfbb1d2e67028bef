"""After tables on their way between workers: those of a whole pair, or of some of its blocks."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator import afters
from generator.afters import (
    Afters,
    block_numbers,
    lanes,
    parts_of,
    put_block_bits,
    take_block_bits,
    words,
    words_in_block,
)
from generator.boardwords import BoardWords
from generator.cluster.arrayfile import read_arrays
from generator.materialgraph import both
from generator.memory import Memory
from generator.menplacements import Placed
from generator.slices import Crew
from tablebase.material import Material

# Names of arrays are "0.lost" and so on: which of `both`, and which part.
_SCORE, _LOST, _WON = "score", "lost", "won"
_PARTS = (_SCORE, _LOST, _WON)
_NUMBERS = "blocks"
_BOARD = "board"
_FORGET = "forget"
_BITS = "bits"


def whole(tables: Afters, pair: Material) -> dict[str, NDArray[Any]]:
    """The after tables of a pair."""
    found: dict[str, NDArray[Any]] = {}
    for side, material in enumerate(both(pair)):
        for name, part in zip(_PARTS, parts_of(tables, material), strict=True):
            found[f"{side}.{name}"] = part
        begin, end = np.searchsorted(tables.board.words, _words_of(tables, material))
        numbers, lost, won = tables.board
        board = BoardWords(numbers[begin:end], lost[begin:end], won[begin:end])
        found |= _board_arrays(tables, side, material, board)
    return found


def of_blocks(
    tables: Afters, pair: Material, placed: Placed, board_words: Iterable[BoardWords]
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
                bits = take_block_bits(part, numbers, words_in_block(material))
                found[f"{side}.{name}.{_BITS}"] = np.packbits(bits)
            elif len(part):
                found[f"{side}.{name}"] = _by_block(part, material, name)[numbers].reshape(-1)
        first, last = _words_of(tables, material)
        mine = [(part.words >= first) & (part.words < last) for part in listed]
        # In order, as threads list them in any.
        numbers_listed = [part.words[here] for part, here in zip(listed, mine, strict=True)]
        order = np.argsort(np.concatenate([np.zeros(0, np.int64), *numbers_listed]), kind="stable")
        for number, field in enumerate(BoardWords._fields):
            parts = [part[number][here] for part, here in zip(listed, mine, strict=True)]
            kind = np.int64 if field == "words" else np.uint32
            joined = np.concatenate([np.zeros(0, kind), *parts])[order]
            found[f"{side}.{_BOARD}.{field}"] = joined - first if field == "words" else joined
    return found


def load(tables: Afters, pair: Material, path: Path, memory: Memory) -> list[BoardWords]:
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
                put_block_bits(places[f"{side}.{name}"], numbers, size, unpacked)
            if numbers is not None and values is not None:
                target = places[f"{side}.{name}"]
                memory.take(target)
                by_block = _by_block(target, material, name)
                by_block[numbers] = values.reshape(len(numbers), -1)
        listed = BoardWords(*(kept[f"{side}.{_BOARD}.{field}"] for field in BoardWords._fields))
        board.append(listed._replace(words=listed.words + _words_of(tables, material)[0]))
    return board


def forgotten(tables: Afters, pair: Material, places: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Places of positions of a pair that its after tables are to forget (`Crew.drawn_by_both`)."""
    found: dict[str, NDArray[Any]] = {}
    for side, material in enumerate(both(pair)):
        first, last = _words_of(tables, material)
        here = places[(places[:, 0] >= first) & (places[:, 0] < last)] - np.array([first, 0])
        found[f"{side}.{_FORGET}"] = np.ascontiguousarray(here).reshape(-1)
    return found


def load_forgotten(crew: Crew, pair: Material, path: Path) -> None:
    """Let after tables, all of which are loaded, forget what a file says.

    Raises:
        DamagedFileError: the file is damaged.
        OSError: it cannot be read.
    """
    found = read_arrays(path)
    places = [
        found[f"{side}.{_FORGET}"].reshape(-1, 2) + np.array([_words_of(crew.afters, material)[0], 0])
        for side, material in enumerate(both(pair))
    ]
    crew.forget(np.concatenate(places))


def score_arrays(parts: Iterable[NDArray[np.uint8]]) -> dict[str, NDArray[Any]]:
    """The scores to the balance change of some blocks (`BalanceScores.parts`)."""
    return {f"{side}.{_SCORE}": part for side, part in enumerate(parts)}


def read_scores(path: Path, parts: Iterable[NDArray[np.uint8]]) -> None:
    """Read them back into where they belong.

    Raises:
        DamagedFileError: the file is damaged, and the scores are in disorder.
        OSError: it cannot be read.
    """
    rooms = score_arrays(parts)
    read_arrays(path, lambda name, kind, count: rooms[name])


def _numbers(pair: Material, placed: Placed) -> list[NDArray[np.int64]]:
    """The numbers of blocks in the after tables of `both`."""
    numbers = block_numbers(placed.men)
    turned = block_numbers(placed.turned_men[placed.bases[:, 1] >= 0])
    return [np.concatenate((numbers, turned))] if pair == pair.mirror else [numbers, turned]


def _is_packed(material: Material, name: str) -> bool:
    return not material.own_kings and name != _SCORE


def _by_block(part: NDArray[Any], material: Material, name: str) -> NDArray[Any]:
    size = words_in_block(material) * (lanes(material) if name == _SCORE else 1)
    return part.reshape(-1, size)


def _words_of(tables: Afters, material: Material) -> tuple[int, int]:
    first = afters.first_word(tables, material)
    return first, first + words(material)


def _board_arrays(
    tables: Afters, side: int, material: Material, board: BoardWords
) -> dict[str, NDArray[Any]]:
    relative = board._replace(words=board.words - _words_of(tables, material)[0])
    return {f"{side}.{_BOARD}.{field}": array for field, array in relative._asdict().items()}
