"""The index of a position in its slice: dense, without holes, invertible.

Sets are 32-bit masks as seen by the side to move, which plays up the board: own men on squares 0..27, other
men on squares 4..31. Sets of equal size are ranked in colexicographic order:
`rank(set) = sum of C(square_i, i + 1)`, squares rising, i from 0.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tablebase.board.material import Material
from tablebase.board.squares import ALL_SQUARES, OTHER_MEN_SQUARES, OWN_MEN_SQUARES, SQUARES
from tablebase.errors import IllegalPositionError

# C(n, k) at [k][n]: a row for each size of set, to be searched for a rank.
_BINOMIAL = tuple(tuple(comb(n, k) for n in range(SQUARES + 1)) for k in range(SQUARES + 1))
_BINOMIAL_ARRAY = np.array(_BINOMIAL, np.int64)
_EVERY_SQUARE = np.arange(SQUARES, dtype=np.uint32)

Sets = tuple[int, int, int, int]
"""own men, own kings, other men, other kings."""


def rank(squares: int, among: int) -> int:
    """The colexicographic rank of a set within `among`, whose squares are renumbered 0, 1, 2, ... rising."""
    total = 0
    size = 0
    while squares:
        lowest = squares & -squares
        squares ^= lowest
        size += 1
        total += _BINOMIAL[size][(among & (lowest - 1)).bit_count()]
    return total


def unrank(number: int, size: int, among: int) -> int:
    """The set of `size` squares of `among` whose rank is `number`: the inverse of `rank`."""
    places = _squares(among)
    squares = 0
    for k in range(size, 0, -1):
        place = bisect_right(_BINOMIAL[k], number, k - 1, len(places)) - 1
        number -= _BINOMIAL[k][place]
        squares |= places[place]
    return squares


def _squares(among: int) -> list[int]:
    """Each square of a set as a set of its own, rising."""
    places = []
    while among:
        lowest = among & -among
        places.append(lowest)
        among ^= lowest
    return places


@cache
def first_blocks(own_men: int, other_men: int, own_outer: bool) -> tuple[int, ...]:
    """For each placement of the men that are numbered first, by rank, the number of its first block; last,
    the number of blocks. These are own men where `own_outer`, else the other side's."""
    outer, inner = (own_men, other_men) if own_outer else (other_men, own_men)
    squares, inner_squares = (
        (OWN_MEN_SQUARES, OTHER_MEN_SQUARES) if own_outer else (OTHER_MEN_SQUARES, OWN_MEN_SQUARES)
    )
    firsts = [0]
    # Combinations of falling squares, reversed, come in colexicographic order.
    for men in reversed(list(combinations(reversed(_squares(squares)), outer))):
        left = (inner_squares & ~sum(men)).bit_count()
        firsts.append(firsts[-1] + comb(left, inner))
    return tuple(firsts)


class _Shape(NamedTuple):
    """What the index of a slice is made of.

    Attributes:
        own_outer: `Material.own_men_outer`.
        firsts: `first_blocks`.
        block_size: positions of a block.
        owns: placements of own kings for each one of the other side's.
    """

    own_outer: bool
    firsts: tuple[int, ...]
    block_size: int
    owns: int


@cache
def _shape(own_kings: int, own_men: int, other_kings: int, other_men: int) -> _Shape:
    material = Material(own_kings, own_men, other_kings, other_men)
    own_outer = material.own_men_outer
    owns = comb(material.free - other_kings, own_kings)
    return _Shape(own_outer, first_blocks(own_men, other_men, own_outer), material.block_size, owns)


def index_of(own_men: int, own_kings: int, other_men: int, other_kings: int) -> int:
    """The place of a position in the slice of its material, 0 to `Material.positions - 1`.

    Raises:
        IllegalPositionError: a man on its own last row.
    """
    if own_men & ~OWN_MEN_SQUARES or other_men & ~OTHER_MEN_SQUARES:
        raise IllegalPositionError("a man stands on its own last row; no index has such a position")
    own_outer, firsts, size, owns = _shape(
        own_kings.bit_count(), own_men.bit_count(), other_kings.bit_count(), other_men.bit_count()
    )
    if own_outer:
        block = firsts[rank(own_men, OWN_MEN_SQUARES)] + rank(other_men, OTHER_MEN_SQUARES & ~own_men)
    else:
        block = firsts[rank(other_men, OTHER_MEN_SQUARES)] + rank(own_men, OWN_MEN_SQUARES & ~other_men)
    free = ALL_SQUARES & ~(own_men | other_men)
    return block * size + rank(other_kings, free) * owns + rank(own_kings, free & ~other_kings)


def sets_at(material: Material, index: int) -> Sets:
    """The position at a place of a slice, as the sets (own men, own kings, other men, other kings).

    Raises:
        IndexError: the slice has no such place.
    """
    if not 0 <= index < material.positions:
        raise IndexError(f"{material} has the positions 0 to {material.positions - 1}, not {index}")
    own_outer, firsts, size, owns = _shape(
        material.own_kings, material.own_men, material.other_kings, material.other_men
    )
    block, inside = divmod(index, size)
    outer = bisect_right(firsts, block) - 1
    inner = block - firsts[outer]
    if own_outer:
        own_men = unrank(outer, material.own_men, OWN_MEN_SQUARES)
        other_men = unrank(inner, material.other_men, OTHER_MEN_SQUARES & ~own_men)
    else:
        other_men = unrank(outer, material.other_men, OTHER_MEN_SQUARES)
        own_men = unrank(inner, material.own_men, OWN_MEN_SQUARES & ~other_men)
    free = ALL_SQUARES & ~(own_men | other_men)
    other_king_rank, own_king_rank = divmod(inside, owns)
    other_kings = unrank(other_king_rank, material.other_kings, free)
    own_kings = unrank(own_king_rank, material.own_kings, free & ~other_kings)
    return own_men, own_kings, other_men, other_kings


SetArrays = NDArray[np.uint32]
"""Shape (n,): a set of squares for each position."""


def sets_at_each(material: Material, indices: NDArray[np.int64]) -> NDArray[np.uint32]:
    """The positions at some places of a slice, shape (n, 4): own men, own kings, other men, other kings.

    Raises:
        IndexError: the slice has not all of these places.
    """
    if len(indices) and not 0 <= indices.min() <= indices.max() < material.positions:
        raise IndexError(f"{material} has the positions 0 to {material.positions - 1}, not all of these")
    squares = np.full(len(indices), ALL_SQUARES, np.uint32)
    own_squares, other_squares = squares & np.uint32(OWN_MEN_SQUARES), squares & np.uint32(OTHER_MEN_SQUARES)
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


def _unrank(numbers: NDArray[np.int64], size: int, among: SetArrays) -> SetArrays:
    """For each row the set of `size` squares of its own set `among` that has the rank in `numbers`."""
    found = np.zeros(len(numbers), np.uint32)
    if not size:
        return found
    numbers = numbers.copy()
    counted = np.cumsum((among[:, np.newaxis] >> _EVERY_SQUARE) & 1, axis=1, dtype=np.uint8)
    for k in range(size, 0, -1):
        place = np.searchsorted(_BINOMIAL_ARRAY[k], numbers, "right") - 1
        numbers -= _BINOMIAL_ARRAY[k][place]
        square = np.argmax(counted > place[:, np.newaxis], axis=1)
        found |= np.uint32(1) << square.astype(np.uint32)
    return found
