"""The blocks of a slice and its mirror: every placement of the men, in the order in which they can be
solved."""

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
# The kind of a block that is solved as the twin of another. (Twelve men have 84 steps to go at most.)
_DUPLICATE = 255


class PlacedBlocks(NamedTuple):
    """Some blocks, as `solve_batch` takes them: `men`, `turned_men`, `bases`, int64 [block, 2]."""

    men: NDArray[np.int64]
    turned_men: NDArray[np.int64]
    first_index: NDArray[np.int64]


@inlined
def _steps_to_go(men: int, opponent_men: int) -> int:
    """Steps until the last row, of all men of both sides."""
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
    """The rank of men among the squares that are left to them."""
    total = 0
    size = 0
    while men:
        size += 1
        total += BINOMIAL[popcount(among & ((1 << lowest(men)) - 1)), size]
        men &= men - 1
    return total


@inlined
def _block_number(own: int, other: int, own_outer: bool, first_block: NDArray[np.int64]) -> int:
    """The block number of a placement of men."""
    if own_outer:
        return int(first_block[rank(own)] + _rank_among(other, _OTHER_MEN_SQUARES & ~own))
    return int(first_block[rank(other >> 4)] + _rank_among(own, _OWN_MEN_SQUARES & ~other))


@inlined
def _insert_gaps(squares: int, gaps: int) -> int:
    """A set with its squares moved up, in order, past each of the `gaps`."""
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
    """For every placement in order of block number, twice the steps to go, and one more for its own twin.
    With `twins` the other side to move is in the same slice, and the second of each pair is _NOT_KEPT."""
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
    """The numbers of the blocks that are kept, by kind; `ends` [256] says where those of each kind end."""
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
    """The placements of some block numbers."""
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
    """All sets of `size` squares below 28, in order of rank."""
    tables = subsets(size, 0)
    return tables.squares[tables.start[size] : tables.start[size] + comb(28, size)]


def _first_blocks(material: Material) -> NDArray[np.int64]:
    return np.array(first_blocks(material.own_men, material.other_men, material.own_men_outer), np.int64)


class Blocks:
    """The blocks of a slice and its mirror, each pair once, by their men's advance. There are millions of
    them, so only their order is kept, 4 bytes a block, and their men are worked out a part at a time.

    Attributes:
        runs: bounds of the runs of blocks of equal advance (and all or none of them their own twins); the
            blocks of one run do not lead to each other, only to those of earlier runs.
        steps_to_go: of each run, the steps that the men of its blocks have yet to go.
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
        """The blocks `first` to `last` - 1."""
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
