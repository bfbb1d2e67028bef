"""The blocks of a slice and its mirror: every placement of the men, in the order in which they can be
solved."""

from itertools import pairwise
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.subsets import BINOMIAL, rank, subsets
from tablebase.indexing import first_blocks
from tablebase.kernels.bits import lowest, popcount, reverse, signed
from tablebase.kernels.jit import inlined, kernel
from tablebase.material import Material

_OWN_MEN_SQUARES = 0x0FFFFFFF
_OTHER_MEN_SQUARES = 0xFFFFFFF0


class Blocks(NamedTuple):
    """The blocks of a slice and its mirror, each pair once, by their men's advance.

    `men`, `turned_men`, `bases`: int64 [block, 2], as `solve_batch` takes them. `runs`: bounds of the runs of
    blocks of equal advance (and all or none of them their own twins); the blocks of one run do not lead to
    each other, only to those of earlier runs.
    """

    men: NDArray[np.int64]
    turned_men: NDArray[np.int64]
    bases: NDArray[np.int64]
    runs: list[tuple[int, int]]


@inlined
def _rows_to_go(men: int, opponent_men: int) -> int:
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


@kernel
def _fill(
    outer_sets: NDArray[np.uint32],
    inner_sets: NDArray[np.uint32],
    own_outer: bool,
    mirror_first: NDArray[np.int64],
    mirror_own_outer: bool,
    men: NDArray[np.int64],
    turned: NDArray[np.int64],
    turned_number: NDArray[np.int64],
    to_go: NDArray[np.int64],
) -> None:
    """Every placement in order of block number, with the number of the turned one in the mirror."""
    block = 0
    for i in range(len(outer_sets)):
        for j in range(len(inner_sets)):
            if own_outer:
                own, other = signed(outer_sets[i]), signed(inner_sets[j]) << 4
            else:
                own, other = signed(inner_sets[j]), signed(outer_sets[i]) << 4
            if own & other:
                continue
            turned_own, turned_other = reverse(other), reverse(own)
            men[block, 0], men[block, 1] = own, other
            turned[block, 0], turned[block, 1] = turned_own, turned_other
            if mirror_own_outer:
                first = mirror_first[rank(turned_own)]
                number = first + _rank_among(turned_other, _OTHER_MEN_SQUARES & ~turned_own)
            else:
                first = mirror_first[rank(turned_other >> 4)]
                number = first + _rank_among(turned_own, _OWN_MEN_SQUARES & ~turned_other)
            turned_number[block] = number
            to_go[block] = _rows_to_go(own, other)
            block += 1


def _sets(size: int) -> NDArray[np.uint32]:
    """All sets of `size` squares below 28, in order of rank."""
    tables = subsets(size, 0)
    return tables.squares[tables.start[size] : tables.start[size] + comb(28, size)]


def blocks_of(material: Material) -> Blocks:
    """The blocks of a material and its mirror."""
    men = np.empty((material.blocks, 2), dtype=np.int64)
    turned = np.empty_like(men)
    turned_numbers = np.empty(len(men), dtype=np.int64)
    to_go = np.empty(len(men), dtype=np.int64)
    mirror = material.mirror
    own_outer, mirror_own_outer = material.own_men_outer, mirror.own_men_outer
    mirror_first = np.array(first_blocks(mirror.own_men, mirror.other_men, mirror_own_outer), dtype=np.int64)
    outer_sets, inner_sets = _sets(material.own_men), _sets(material.other_men)
    if not own_outer:
        outer_sets, inner_sets = inner_sets, outer_sets
    _fill(
        outer_sets, inner_sets, own_outer, mirror_first, mirror_own_outer, men, turned, turned_numbers, to_go
    )
    numbers = np.arange(len(men))
    bases = np.column_stack((numbers, turned_numbers)) * material.block_size
    if material == mirror:
        # The other side to move is in the same slice: keep one block of each pair of twins.
        bases[numbers == turned_numbers, 1] = -1
        keep = numbers <= turned_numbers
        men, turned, bases, to_go = men[keep], turned[keep], bases[keep], to_go[keep]
    kind = (2 * to_go + (bases[:, 1] < 0)).astype(np.uint16)  # small integers are sorted in linear time
    order = np.argsort(kind, kind="stable")
    bounds = [0, *(np.flatnonzero(np.diff(kind[order])) + 1).tolist(), len(order)]
    return Blocks(men[order], turned[order], bases[order], list(pairwise(bounds)))
