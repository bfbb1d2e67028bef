"""The inverse of the index for many positions at once, in arrays: what `tablebase.indexing.sets_at` does for
one."""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from tablebase.board import ALL_SQUARES, FIRST_ROW, LAST_ROW, SQUARES
from tablebase.indexing import first_blocks
from tablebase.material import Material

_CHOOSE = np.array([[comb(n, k) for n in range(SQUARES + 1)] for k in range(SQUARES + 1)], np.int64)
_EVERY_SQUARE = np.arange(SQUARES, dtype=np.uint32)

Sets = NDArray[np.uint32]
"""Shape (n,): a set of squares for each position."""


def sets_at_each(material: Material, indices: NDArray[np.int64]) -> NDArray[np.uint32]:
    """The positions at some places of a slice, shape (n, 4): own men, own kings, other men, other kings.

    Raises:
        IndexError: the slice has not all of these places.
    """
    if len(indices) and not 0 <= indices.min() <= indices.max() < material.positions:
        raise IndexError(f"{material} has the positions 0 to {material.positions - 1}, not all of these")
    squares = np.full(len(indices), ALL_SQUARES, np.uint32)
    own_squares, other_squares = squares & ~np.uint32(LAST_ROW), squares & ~np.uint32(FIRST_ROW)
    block, inside = np.divmod(indices, material.block_size)
    firsts = np.array(first_blocks(material.own_men, material.other_men, material.own_men_outer), np.int64)
    outer = np.searchsorted(firsts, block, "right") - 1
    inner = block - firsts[outer]
    if material.own_men_outer:
        own_men = _unrank(outer, material.own_men, own_squares)
        other_men = _unrank(inner, material.other_men, other_squares & ~own_men)
    else:
        other_men = _unrank(outer, material.other_men, other_squares)
        own_men = _unrank(inner, material.own_men, own_squares & ~other_men)
    free = squares & ~(own_men | other_men)
    owns = comb(material.free - material.other_kings, material.own_kings)
    other_rank, own_rank = np.divmod(inside, owns)
    other_kings = _unrank(other_rank, material.other_kings, free)
    own_kings = _unrank(own_rank, material.own_kings, free & ~other_kings)
    return np.stack([own_men, own_kings, other_men, other_kings], axis=1)


def _unrank(numbers: NDArray[np.int64], size: int, among: Sets) -> Sets:
    """For each row the set of `size` squares of its own set `among` that has the rank in `numbers`."""
    found = np.zeros(len(numbers), np.uint32)
    if not size:
        return found
    numbers = numbers.copy()
    counted = np.cumsum((among[:, np.newaxis] >> _EVERY_SQUARE) & 1, axis=1, dtype=np.uint8)
    for k in range(size, 0, -1):
        place = np.searchsorted(_CHOOSE[k], numbers, "right") - 1
        numbers -= _CHOOSE[k][place]
        square = np.argmax(counted > place[:, np.newaxis], axis=1)
        found |= np.uint32(1) << square.astype(np.uint32)
    return found
