"""The index of positions for kernels, over several slices in one array (docs/architecture.md).

This code is independent of `tablebase.tables.index`, so that the verifier finds a fault in either. Tests
compare the two. Sets of squares are int64 scalars, as in `tablebase.kernels.movegen`.
"""

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tablebase.board.material import Material
from tablebase.board.squares import ALL_SQUARES, OTHER_MEN_SQUARES, OWN_MEN_SQUARES
from tablebase.kernels.bits import popcount
from tablebase.kernels.jit import inlined, kernel

BINOMIAL = np.array([[comb(n, k) for k in range(33)] for n in range(33)], np.int64)


class Layout(NamedTuple):
    """The arrangement of several slices in one array of slots, each slice in the order of its index.

    All arrays are int64. A *slot* is a number in the array: the start of the slice plus the index.

    Attributes:
        number: shape (m, m, m, m), by own kings, own men, other kings, other men: number of the slice, or -1.
        counts: shape (slices, 4): own kings, own men, other kings, other men.
        start: shape (slices + 1,): first slot of each slice; last, the number of slots.
        block_size: shape (slices,): number of positions in a block.
        owns: shape (slices,): number of placements of own kings for one placement of the other kings.
        own_outer: shape (slices,): 1 if blocks are numbered by own men first, 0 if by the other side's men.
        first_block: shape (n,): for each slice, the first block of each placement of the men that are
            numbered first, and then the number of blocks.
        first_block_start: shape (slices,): start of each slice in `first_block`.
    """

    number: NDArray[np.int64]
    counts: NDArray[np.int64]
    start: NDArray[np.int64]
    block_size: NDArray[np.int64]
    owns: NDArray[np.int64]
    own_outer: NDArray[np.int64]
    first_block: NDArray[np.int64]
    first_block_start: NDArray[np.int64]


def layout_of(materials: Sequence[Material]) -> Layout:
    """Return the layout of slices in the given order."""
    counts = np.array([(m.own_kings, m.own_men, m.other_kings, m.other_men) for m in materials], np.int64)
    counts = counts.reshape(len(materials), 4)
    side = int(counts.max(initial=0)) + 2  # a promotion may exceed the kings of all slices: find -1 then
    number = np.full((side,) * 4, -1, np.int64)
    start, block_size, owns, own_outer, first_block_start = [0], [], [], [], []
    firsts: dict[tuple[int, int, bool], tuple[int, NDArray[np.int64]]] = {}
    filled = 0
    for slice_id, (own_kings, own_men, other_kings, other_men) in enumerate(counts.tolist()):
        number[own_kings, own_men, other_kings, other_men] = slice_id
        # The weaker side's men come first: fewer pieces, or as many pieces and fewer kings.
        outer = (own_kings + own_men, own_kings) < (other_kings + other_men, other_kings)
        if (own_men, other_men, outer) not in firsts:
            firsts[own_men, other_men, outer] = filled, _first_blocks(own_men, other_men, outer)
            filled += len(firsts[own_men, other_men, outer][1])
        begins, table = firsts[own_men, other_men, outer]
        free = 32 - own_men - other_men
        owns.append(comb(free - other_kings, own_kings))
        own_outer.append(int(outer))
        block_size.append(comb(free, other_kings) * owns[-1])
        first_block_start.append(begins)
        start.append(start[-1] + int(table[-1]) * block_size[-1])
    tables = [table for _, table in firsts.values()]
    return Layout(
        number,
        counts,
        np.array(start, np.int64),
        np.array(block_size, np.int64),
        np.array(owns, np.int64),
        np.array(own_outer, np.int64),
        np.concatenate(tables) if tables else np.empty(0, np.int64),
        np.array(first_block_start, np.int64),
    )


@inlined
def rank(squares: int, among: int) -> int:
    """Return the colexicographic rank of a set within `among`: sum of C(position_i, i), i from 1."""
    total = 0
    size = 0
    while squares != 0:
        bit = squares & -squares
        squares ^= bit
        size += 1
        total += BINOMIAL[popcount(among & (bit - 1)), size]
    return total


@inlined
def unrank(number: int, size: int, among: int) -> int:
    """Return the set of `size` squares of `among` with rank `number`."""
    squares = 0
    position = popcount(among)
    square = 32
    while size > 0:
        square -= 1
        if among >> square & 1:
            position -= 1
            if BINOMIAL[position, size] <= number:
                number -= BINOMIAL[position, size]
                squares |= 1 << square
                size -= 1
    return squares


@kernel
def _first_blocks(own_men: int, other_men: int, own_outer: bool) -> NDArray[np.int64]:
    outer, inner = (own_men, other_men) if own_outer else (other_men, own_men)
    outer_squares, inner_squares = OTHER_MEN_SQUARES, OWN_MEN_SQUARES
    if own_outer:
        outer_squares, inner_squares = OWN_MEN_SQUARES, OTHER_MEN_SQUARES
    placements = BINOMIAL[28, outer]
    firsts = np.zeros(placements + 1, np.int64)
    for number in range(placements):
        men = unrank(number, outer, outer_squares)
        firsts[number + 1] = firsts[number] + BINOMIAL[popcount(inner_squares & ~men), inner]
    return firsts


@inlined
def block_of(layout: Layout, slice_id: int, own_men: int, other_men: int) -> int:
    """Return the number of the block with these men in a slice."""
    begin = layout.first_block_start[slice_id]
    if layout.own_outer[slice_id]:
        block = layout.first_block[begin + rank(own_men, OWN_MEN_SQUARES)]
        return int(block + rank(other_men, OTHER_MEN_SQUARES & ~own_men))
    block = layout.first_block[begin + rank(other_men, OTHER_MEN_SQUARES)]
    return int(block + rank(own_men, OWN_MEN_SQUARES & ~other_men))


@inlined
def inside_block(owns: int, own_kings: int, other_kings: int, free: int) -> int:
    """Return the index of these kings in their block.

    `free` is the set of squares without men, and `owns` as in `Layout`.
    """
    return rank(other_kings, free) * owns + rank(own_kings, free & ~other_kings)


@kernel
def slot_of(layout: Layout, own_men: int, own_kings: int, other_men: int, other_kings: int) -> int:
    """Return the slot of a position, or -1 if the layout does not have its slice.

    Both sides must have a piece. The sets are seen by the side to move.
    """
    slice_id = layout.number[
        popcount(own_kings), popcount(own_men), popcount(other_kings), popcount(other_men)
    ]
    if slice_id < 0:
        return -1
    block = block_of(layout, slice_id, own_men, other_men)
    free = ALL_SQUARES & ~(own_men | other_men)
    inside = inside_block(layout.owns[slice_id], own_kings, other_kings, free)
    return int(layout.start[slice_id] + block * layout.block_size[slice_id] + inside)


@inlined
def men_at(layout: Layout, slice_id: int, block: int) -> tuple[int, int]:
    """Return the own men and the other men of a block of a slice."""
    begin = layout.first_block_start[slice_id]
    own_outer = layout.own_outer[slice_id] != 0
    low, high = 0, BINOMIAL[28, layout.counts[slice_id, 1 if own_outer else 3]]
    while high - low > 1:
        middle = (low + high) // 2
        if layout.first_block[begin + middle] <= block:
            low = middle
        else:
            high = middle
    inner = block - layout.first_block[begin + low]
    if own_outer:
        own_men = unrank(low, layout.counts[slice_id, 1], OWN_MEN_SQUARES)
        return own_men, unrank(inner, layout.counts[slice_id, 3], OTHER_MEN_SQUARES & ~own_men)
    other_men = unrank(low, layout.counts[slice_id, 3], OTHER_MEN_SQUARES)
    return unrank(inner, layout.counts[slice_id, 1], OWN_MEN_SQUARES & ~other_men), other_men


@kernel
def sets_at(layout: Layout, slice_id: int, index: int) -> tuple[int, int, int, int]:
    """Return own men, own kings, other men and other kings of the position with an index in a slice."""
    own_men, other_men = men_at(layout, slice_id, index // layout.block_size[slice_id])
    inside = index % layout.block_size[slice_id]
    free = ALL_SQUARES & ~(own_men | other_men)
    other_kings = unrank(inside // layout.owns[slice_id], layout.counts[slice_id, 2], free)
    own_kings = unrank(inside % layout.owns[slice_id], layout.counts[slice_id, 0], free & ~other_kings)
    return own_men, own_kings, other_men, other_kings
