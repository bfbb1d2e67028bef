"""Blocks of a slice and its mirror: every placement of the men, in the order in which they are solved."""

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.solver.subsets import BINOMIAL, rank, subsets
from tablebase.board.material import Material
from tablebase.kernels.bits import lowest, popcount, reverse, signed
from tablebase.kernels.jit import inlined, kernel
from tablebase.tables.index import first_blocks

_OWN_MEN_SQUARES = 0x0FFFFFFF
_OTHER_MEN_SQUARES = 0xFFFFFFF0
# Kind of a block that is solved as the mirror of another. Other kinds are less: 12 men have 84 steps to go.
_DUPLICATE = 255


class PlacedBlocks(NamedTuple):
    """Some blocks with their men, as `solve_batch` takes them.

    Attributes:
        men: int64 [block, 2], bit sets: own men and the opponent's, as the first side sees them.
        turned_men: int64 [block, 2], bit sets: the men as the other side sees them when it moves.
        first_index: int64 [block, 2], the index of the block's first position in the slice of either side; -1
            for the second side of a block that is its own mirror.
    """

    men: NDArray[np.int64]
    turned_men: NDArray[np.int64]
    first_index: NDArray[np.int64]


@inlined
def _steps_to_go(men: int, opponent_men: int) -> int:
    """Return the steps that all men of both sides have yet to make to the last row."""
    total = 0
    while men:
        total += 7 - lowest(men) // 4
        men &= men - 1
    while opponent_men:
        total += lowest(opponent_men) // 4
        opponent_men &= opponent_men - 1
    return total


@inlined
def _rank_among(men: int, among: int) -> int:
    """Return the rank of men among the squares that are left to them."""
    total = 0
    size = 0
    while men:
        size += 1
        total += BINOMIAL[popcount(among & ((1 << lowest(men)) - 1)), size]
        men &= men - 1
    return total


@inlined
def _block_number(own: int, other: int, own_outer: bool, first_block: NDArray[np.int64]) -> int:
    """Return the number of the block with these men."""
    if own_outer:
        return int(first_block[rank(own)] + _rank_among(other, _OTHER_MEN_SQUARES & ~own))
    return int(first_block[rank(other >> 4)] + _rank_among(own, _OWN_MEN_SQUARES & ~other))


@inlined
def _insert_gaps(squares: int, gaps: int) -> int:
    """Return a set with its squares moved up, in order, past each of the `gaps`."""
    while gaps:
        low = squares & ((gaps & -gaps) - 1)
        squares = low | (squares ^ low) << 1
        gaps &= gaps - 1
    return squares


@kernel
def _classify_blocks(
    outer_sets: NDArray[np.uint32],
    inner_sets: NDArray[np.uint32],
    own_outer: bool,
    self_mirrored: bool,
    first_block: NDArray[np.int64],
    kinds: NDArray[np.uint8],
) -> None:
    """Write the kind of every block, in order of block number.

    Args:
        outer_sets: uint32 [set], the sets of the men that the index goes by first.
        inner_sets: uint32 [set], the sets of the other men.
        own_outer: whether the mover's men are the outer ones.
        self_mirrored: whether the material is its own mirror, so that the other side to move is in the same
            slice.
        first_block: int64 [outer set], the number of its first block.
        kinds: uint8 [block], written: twice the steps to go, and one more if the block is its own mirror;
            _DUPLICATE for the second block of a pair of mirrors.
    """
    outer_to_go = np.empty(len(outer_sets), np.int64)
    inner_to_go = np.empty(len(inner_sets), np.int64)
    for i in range(len(outer_sets)):
        own, other = (signed(outer_sets[i]), 0) if own_outer else (0, signed(outer_sets[i]) << 4)
        outer_to_go[i] = _steps_to_go(own, other)
    for j in range(len(inner_sets)):
        own, other = (0, signed(inner_sets[j]) << 4) if own_outer else (signed(inner_sets[j]), 0)
        inner_to_go[j] = _steps_to_go(own, other)
    block = 0
    for i in range(len(outer_sets)):
        outer = signed(outer_sets[i]) if own_outer else signed(outer_sets[i]) << 4
        for j in range(len(inner_sets)):
            inner = signed(inner_sets[j]) << 4 if own_outer else signed(inner_sets[j])
            if outer & inner:
                continue
            kind = 2 * (outer_to_go[i] + inner_to_go[j])
            if self_mirrored:
                own, other = (outer, inner) if own_outer else (inner, outer)
                turned = _block_number(reverse(other), reverse(own), own_outer, first_block)
                if turned < block:
                    kind = _DUPLICATE
                elif turned == block:
                    kind += 1
            kinds[block] = kind
            block += 1


@kernel
def _sort_blocks(kinds: NDArray[np.uint8], ends: NDArray[np.int64], order: NDArray[np.uint32]) -> None:
    """Write the numbers of the blocks by kind, without duplicates.

    Args:
        kinds: uint8 [block], from `_classify_blocks`.
        ends: int64 [256], written: where the blocks of each kind end in `order`.
        order: uint32 [block], written.
    """
    ends[:] = 0
    for block in range(len(kinds)):
        ends[kinds[block]] += 1
    first = 0
    for kind in range(len(ends)):
        first += ends[kind]
        ends[kind] = first - ends[kind]
    for block in range(len(kinds)):
        kind = kinds[block]
        if kind != _DUPLICATE:
            order[ends[kind]] = block
            ends[kind] += 1


@kernel
def _place_blocks(
    numbers: NDArray[np.uint32],
    outer_sets: NDArray[np.uint32],
    inner_sets: NDArray[np.uint32],
    own_outer: bool,
    first_block: NDArray[np.int64],
    mirror_own_outer: bool,
    mirror_first: NDArray[np.int64],
    self_mirrored: bool,
    block_size: int,
    men: NDArray[np.int64],
    turned_men: NDArray[np.int64],
    first_index: NDArray[np.int64],
) -> None:
    """Write the men and first indices of some blocks.

    Args:
        numbers: uint32 [block], block numbers.
        outer_sets: uint32 [set], as in `_classify_blocks`.
        inner_sets: uint32 [set], as in `_classify_blocks`.
        own_outer: whether the mover's men are the outer ones.
        first_block: int64 [outer set], the number of its first block.
        mirror_own_outer: `own_outer` of the mirror.
        mirror_first: `first_block` of the mirror.
        self_mirrored: whether the material is its own mirror.
        block_size: positions in a block.
        men: int64 [block, 2], written, as in `PlacedBlocks`.
        turned_men: int64 [block, 2], written.
        first_index: int64 [block, 2], written.
    """
    for block in range(len(numbers)):
        number = signed(numbers[block])
        i = np.searchsorted(first_block, number, side="right") - 1
        outer, inner = signed(outer_sets[i]), signed(inner_sets[number - first_block[i]])
        if own_outer:
            own, other = outer, _insert_gaps(inner, outer >> 4) << 4
        else:
            own, other = _insert_gaps(inner, outer << 4 & _OWN_MEN_SQUARES), outer << 4
        turned_own, turned_other = reverse(other), reverse(own)
        turned = _block_number(turned_own, turned_other, mirror_own_outer, mirror_first)
        men[block, 0], men[block, 1] = own, other
        turned_men[block, 0], turned_men[block, 1] = turned_own, turned_other
        first_index[block, 0] = number * block_size
        first_index[block, 1] = -1 if self_mirrored and turned == number else turned * block_size


def _sets(size: int) -> NDArray[np.uint32]:
    """Return all sets of `size` squares below 28 in order of rank."""
    tables = subsets(size, 0)
    return tables.squares[tables.start[size] : tables.start[size] + comb(28, size)]


def _first_blocks(material: Material) -> NDArray[np.int64]:
    return np.array(first_blocks(material.own_men, material.other_men, material.own_men_outer), np.int64)


class Blocks:
    """The blocks of a slice and its mirror, each pair once, ordered by the advance of their men.

    There are millions of blocks. So only their order is kept, 4 bytes a block, and `place` finds the men of
    some.

    Attributes:
        runs: bounds of the runs of blocks: equal advance, and all or none are their own mirror. Blocks of a
            run lead to blocks of earlier runs only.
        steps_to_go: for each run, the steps that the men of a block have yet to make.
    """

    def __init__(self, material: Material) -> None:
        self._material = material
        self._own_outer = material.own_men_outer
        self._self_mirrored = material == material.mirror
        self._first = _first_blocks(material)
        self._mirror_first = self._first if self._self_mirrored else _first_blocks(material.mirror)
        own_sets, other_sets = _sets(material.own_men), _sets(material.other_men)
        self._sets = (own_sets, other_sets) if self._own_outer else (other_sets, own_sets)
        kinds = np.empty(material.blocks, np.uint8)
        _classify_blocks(*self._sets, self._own_outer, self._self_mirrored, self._first, kinds)
        order = np.empty(material.blocks, np.uint32)
        ends = np.empty(256, np.int64)
        _sort_blocks(kinds, ends, order)
        self.runs: list[tuple[int, int]] = []
        self.steps_to_go: list[int] = []
        first = 0
        for kind, last in enumerate(ends[:_DUPLICATE].tolist()):
            if last > first:
                self.runs.append((first, last))
                self.steps_to_go.append(kind // 2)
                first = last
        self._order = order[:first].copy() if self._self_mirrored else order

    def __len__(self) -> int:
        return len(self._order)

    def place(self, first: int, last: int) -> PlacedBlocks:
        """Return the blocks `first` to `last` - 1 of the order."""
        shape = (last - first, 2)
        placed = PlacedBlocks(np.empty(shape, np.int64), np.empty(shape, np.int64), np.empty(shape, np.int64))
        _place_blocks(
            self._order[first:last],
            *self._sets,
            self._own_outer,
            self._first,
            self._material.mirror.own_men_outer,
            self._mirror_first,
            self._self_mirrored,
            self._material.block_size,
            *placed,
        )
        return placed
