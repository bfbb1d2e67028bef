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
def _rank_of_other_men(men: int, other_men: int) -> int:
    """The rank of the other side's men among the squares that are left to them."""
    among = _OTHER_MEN_SQUARES & ~men
    total = 0
    size = 0
    while other_men:
        size += 1
        total += BINOMIAL[popcount(among & ((1 << lowest(other_men)) - 1)), size]
        other_men &= other_men - 1
    return total


@kernel
def _fill(
    own_sets: NDArray[np.uint32],
    other_sets: NDArray[np.uint32],
    mirror_first: NDArray[np.int64],
    men: NDArray[np.int64],
    turned: NDArray[np.int64],
    turned_number: NDArray[np.int64],
    to_go: NDArray[np.int64],
) -> None:
    """Every placement in order of block number, with the number of the turned one in the mirror."""
    block = 0
    for i in range(len(own_sets)):
        own = signed(own_sets[i])
        for j in range(len(other_sets)):
            other = signed(other_sets[j]) << 4
            if own & other:
                continue
            turned_own, turned_other = reverse(other), reverse(own)
            men[block, 0], men[block, 1] = own, other
            turned[block, 0], turned[block, 1] = turned_own, turned_other
            turned_number[block] = mirror_first[rank(turned_own)] + _rank_of_other_men(
                turned_own, turned_other
            )
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
    mirror_first = np.array(first_blocks(material.other_men, material.own_men), dtype=np.int64)
    own_sets, other_sets = _sets(material.own_men), _sets(material.other_men)
    _fill(own_sets, other_sets, mirror_first, men, turned, turned_numbers, to_go)
    numbers = np.arange(len(men))
    bases = np.column_stack((numbers, turned_numbers)) * material.block_size
    if material == material.mirror:
        # The other side to move is in the same slice: keep one block of each pair of twins.
        bases[numbers == turned_numbers, 1] = -1
        keep = numbers <= turned_numbers
        men, turned, bases, to_go = men[keep], turned[keep], bases[keep], to_go[keep]
    kind = (2 * to_go + (bases[:, 1] < 0)).astype(np.uint16)  # small integers are sorted in linear time
    order = np.argsort(kind, kind="stable")
    bounds = [0, *(np.flatnonzero(np.diff(kind[order])) + 1).tolist(), len(order)]
    return Blocks(men[order], turned[order], bases[order], list(pairwise(bounds)))
