"""The index of a position in its slice: a bijection to 0, 1, 2, ... without gaps.

Sets of squares are 32-bit masks seen by the side to move, which plays up the board: own men on squares
0..27, other men on squares 4..31. Sets of equal size are ranked in colexicographic order:
`rank(set) = sum of C(square_i, i + 1)`, squares rising, i from 0. This is the combinatorial number system
(Knuth, The Art of Computer Programming, volume 4A, section 7.2.1.3). `docs/architecture.md` describes the
order of the parts.
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
from tablebase.board.squares import ALL_SQUARES, OTHER_MEN_SQUARES, OWN_MEN_SQUARES, SQUARES, squares_of
from tablebase.errors import IllegalPositionError

# C(n, k) at [k][n]: a row for each size of set, to be searched for a rank.
_BINOMIAL = tuple(tuple(comb(n, k) for n in range(SQUARES + 1)) for k in range(SQUARES + 1))
_BINOMIAL_ARRAY = np.array(_BINOMIAL, np.int64)
_EVERY_SQUARE = np.arange(SQUARES, dtype=np.uint32)

SetArray = NDArray[np.uint32]
"""Array of shape (n,), uint32: a set of squares for each position."""


def rank(squares: int, among: int) -> int:
    """Return the colexicographic rank of a set among the sets of its size within `among`.

    The squares of `among` are renumbered 0, 1, 2, ... in rising order.
    """
    total = 0
    size = 0
    while squares:
        lowest = squares & -squares
        squares ^= lowest
        size += 1
        total += _BINOMIAL[size][(among & (lowest - 1)).bit_count()]
    return total


def unrank(number: int, size: int, among: int) -> int:
    """Return the set of `size` squares of `among` with rank `number`: the inverse of `rank`."""
    bits = _single_squares(among)
    squares = 0
    for k in range(size, 0, -1):
        position = bisect_right(_BINOMIAL[k], number, k - 1, len(bits)) - 1
        number -= _BINOMIAL[k][position]
        squares |= bits[position]
    return squares


def _single_squares(among: int) -> list[int]:
    """Return the squares of a set as sets of one square, in rising order."""
    return [1 << square for square in squares_of(among)]


@cache
def first_blocks(own_men: int, other_men: int, own_outer: bool) -> tuple[int, ...]:
    """Return the number of the first block of each placement of the outer men, and the number of blocks.

    Args:
        own_men: the number of own men.
        other_men: the number of the other side's men.
        own_outer: whether the outer men, by which blocks are numbered first, are own men
            (`Material.own_men_outer`).

    Returns:
        One number for each placement of the outer men, by rank; last, the number of blocks.
    """
    outer, inner = (own_men, other_men) if own_outer else (other_men, own_men)
    squares, inner_squares = (
        (OWN_MEN_SQUARES, OTHER_MEN_SQUARES) if own_outer else (OTHER_MEN_SQUARES, OWN_MEN_SQUARES)
    )
    firsts = [0]
    # Combinations of falling squares, reversed, come in colexicographic order.
    for men in reversed(list(combinations(reversed(_single_squares(squares)), outer))):
        left = (inner_squares & ~sum(men)).bit_count()
        firsts.append(firsts[-1] + comb(left, inner))
    return tuple(firsts)


class _Shape(NamedTuple):
    """Constants of the index of one slice.

    Attributes:
        own_outer: `Material.own_men_outer`.
        firsts: the result of `first_blocks`.
        block_size: number of positions in a block.
        owns: number of placements of own kings for one placement of the other side's kings.
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
    """Return the index of a position in its slice, 0 to `Material.positions - 1`.

    Args:
        own_men: the men of the side to move, a set of squares seen by that side.
        own_kings: its kings.
        other_men: the men of the opponent, on the same board.
        other_kings: its kings.

    Raises:
        IllegalPositionError: a man stands on its own last row.
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


def sets_at(material: Material, index: int) -> tuple[int, int, int, int]:
    """Return the position with an index, as sets: own men, own kings, other men, other kings.

    Raises:
        IndexError: the index is outside the slice.
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


def sets_at_each(material: Material, indices: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Return the positions with some indices, as sets.

    Args:
        material: the slice.
        indices: shape (n,), int64: indices in the slice.

    Returns:
        Shape (n, 4), uint32: own men, own kings, other men and other kings of each position.

    Raises:
        IndexError: an index is outside the slice.
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


def _unrank(numbers: NDArray[np.int64], size: int, among: SetArray) -> SetArray:
    """Return, for each row, the set of `size` squares of `among` whose rank is in `numbers`.

    Args:
        numbers: shape (n,), int64: ranks.
        size: the number of squares in each set.
        among: shape (n,), uint32: the sets to choose from, one for each row.

    Returns:
        Shape (n,), uint32: the sets.
    """
    found = np.zeros(len(numbers), np.uint32)
    if not size:
        return found
    numbers = numbers.copy()
    counted = np.cumsum((among[:, np.newaxis] >> _EVERY_SQUARE) & 1, axis=1, dtype=np.uint8)
    for k in range(size, 0, -1):
        position = np.searchsorted(_BINOMIAL_ARRAY[k], numbers, "right") - 1
        numbers -= _BINOMIAL_ARRAY[k][position]
        square = np.argmax(counted > position[:, np.newaxis], axis=1)
        found |= np.uint32(1) << square.astype(np.uint32)
    return found
