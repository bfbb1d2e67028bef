"""The blocks of a slice and its mirror: every placement of the men, in the order in which they can be
solved."""

from itertools import pairwise
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.subsets import subsets
from tablebase.material import Material

_ROWS = np.arange(32) // 4


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


def _sets(size: int) -> NDArray[np.int64]:
    """All sets of `size` squares below 28, in order of rank."""
    tables = subsets(size, 0)
    return tables.squares[tables.start[size] : tables.start[size] + comb(28, size)].astype(np.int64)


def _placements(own_men: int, other_men: int) -> NDArray[np.int64]:
    """Every placement [block, 2] of own and other men, in order of block number."""
    other = _sets(other_men) << 4
    parts = []
    for own in _sets(own_men):
        apart = other[(other & own) == 0]
        parts.append(np.column_stack((np.full(len(apart), own), apart)))
    return np.concatenate(parts)


def _turned(squares: NDArray[np.int64]) -> NDArray[np.int64]:
    result = np.zeros_like(squares)
    for square in range(32):
        result |= (squares >> square & 1) << (31 - square)
    return result


def _rows_to_go(men: NDArray[np.int64]) -> NDArray[np.int64]:
    """Steps until the last row, of all men of both sides."""
    total = np.zeros(len(men), dtype=np.int64)
    for square in range(32):
        total += (men[:, 0] >> square & 1) * (7 - _ROWS[square]) + (men[:, 1] >> square & 1) * _ROWS[square]
    return total


def _keys(men: NDArray[np.int64]) -> NDArray[np.int64]:
    return men[:, 0] << 32 | men[:, 1]


def blocks_of(material: Material) -> Blocks:
    """The blocks of a material and its mirror."""
    men = _placements(material.own_men, material.other_men)
    turned = _turned(men[:, ::-1])
    numbers = np.arange(len(men))
    mirror_keys = _keys(_placements(material.other_men, material.own_men))
    order = np.argsort(mirror_keys)
    turned_numbers = order[np.searchsorted(mirror_keys, _keys(turned), sorter=order)]
    bases = np.column_stack((numbers, turned_numbers)) * material.block_size
    if material == material.mirror:
        # The other side to move is in the same slice: keep one block of each pair of twins.
        bases[numbers == turned_numbers, 1] = -1
        keep = numbers <= turned_numbers
        men, turned, bases = men[keep], turned[keep], bases[keep]
    to_go = _rows_to_go(men)
    kind = 2 * to_go + (bases[:, 1] < 0)
    order = np.argsort(kind, kind="stable")
    bounds = [0, *(np.flatnonzero(np.diff(kind[order])) + 1).tolist(), len(order)]
    return Blocks(men[order], turned[order], bases[order], list(pairwise(bounds)))
