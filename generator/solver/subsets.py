"""Sets of k squares by rank, and flat tables over them that the solver reads.

`rank(set) = sum of C(square_i, i + 1)`, squares rising: the colexicographic order, as in the index of files,
but over all 32 squares.
"""

import functools
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tablebase.kernels.bits import lowest, reverse, signed
from tablebase.kernels.jit import inlined, kernel

MOST_KINGS = 7

# BINOMIAL[n, k] = C(n, k), 0 for k > n.
BINOMIAL = np.array([[comb(n, k) for k in range(MOST_KINGS + 2)] for n in range(34)], dtype=np.int64)


def _steps() -> NDArray[np.int64]:
    """Return the table `STEP`."""
    table = np.full((32, 4), -1, dtype=np.int64)
    for square in range(32):
        row, column = square // 4, 2 * (square % 4) + square // 4 % 2
        for direction, (up, right) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
            if 0 <= row + up < 8 and 0 <= column + right < 8:
                table[square, direction] = (row + up) * 4 + (column + right) // 2
    return table


# STEP[square, direction]: the neighbour, or -1. Directions 0 and 1 go up the board; 3 - d is opposite to d.
STEP = _steps()


@inlined
def rank(squares: int) -> int:
    """Return the rank of a set among the sets of its size."""
    result = 0
    size = 0
    while squares:
        size += 1
        result += BINOMIAL[lowest(squares), size]
        squares &= squares - 1
    return result


class Subsets(NamedTuple):
    """Tables over all sets of 0 to `most` squares; the set of size k and rank r has the index `start[k] + r`.

    Attributes:
        start: int64 [size], the index of the first set of a size.
        squares: uint32 [set], the set.
        reversed_rank: int32 [set], the rank of the set on the turned board.
        less_one_start: int64 [size], the first entry of a size in `less_one`.
        less_one: int32 [less_one_start[k] + r * k + i], the rank, on the turned board, of the set without its
            i-th square.
        king_steps_start: int64 [set], where the list of the set begins in `king_steps`.
        king_steps: int32, lists of pairs for the kings of a set, one king at a time: (square, rank of the set
            after the move) for each square reached, direction by direction. (-1, _) ends a direction, (-2, _)
            the list.
    """

    start: NDArray[np.int64]
    squares: NDArray[np.uint32]
    reversed_rank: NDArray[np.int32]
    less_one_start: NDArray[np.int64]
    less_one: NDArray[np.int32]
    king_steps_start: NDArray[np.int64]
    king_steps: NDArray[np.int32]


@kernel
def _fill_tables(
    most: int,
    start: NDArray[np.int64],
    squares: NDArray[np.uint32],
    reversed_rank: NDArray[np.int32],
    less_one_start: NDArray[np.int64],
    less_one: NDArray[np.int32],
) -> None:
    """Write the tables for sets of 0 to `most` squares."""
    for size in range(most + 1):
        current = (1 << size) - 1
        for r in range(BINOMIAL[32, size]):
            squares[start[size] + r] = current
            reversed_rank[start[size] + r] = rank(reverse(current))
            left = current
            for i in range(size):
                less_one[less_one_start[size] + r * size + i] = rank(reverse(current & ~(left & -left)))
                left &= left - 1
            if current:  # the next set of this size in colexicographic order
                low = current & -current
                ripple = current + low
                current = ripple | (((current ^ ripple) >> 2) // low)


@kernel
def _king_steps(
    first: int,
    last: int,
    squares: NDArray[np.uint32],
    begin: NDArray[np.int64],
    out: NDArray[np.int32],
    write: bool,
) -> int:
    """Write the lists of king steps of the sets `first` to `last` - 1 if `write`; return their length."""
    at = 0
    for position in range(first, last):
        kings = signed(squares[position])
        if write:
            begin[position] = at
        left = kings
        while left:
            square = lowest(left)
            left &= left - 1
            rest = kings & ~(1 << square)
            for direction in range(4):
                target = STEP[square, direction]
                if target < 0 or (kings >> target) & 1:
                    continue
                while target >= 0 and not (kings >> target) & 1:
                    if write:
                        out[at] = target
                        out[at + 1] = rank(rest | (1 << target))
                    at += 2
                    target = STEP[target, direction]
                if write:
                    out[at] = -1
                at += 2
        if write:
            out[at] = -2
        at += 2
    return at


@functools.lru_cache(maxsize=8)
def subsets(most: int, most_stepping: int) -> Subsets:
    """Return the tables for sets of up to `most` squares, with king steps up to `most_stepping` squares."""
    sizes = [comb(32, size) for size in range(most + 1)]
    start = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    less_one_start = np.concatenate(([0], np.cumsum([n * k for k, n in enumerate(sizes)]))).astype(np.int64)
    squares = np.zeros(start[-1], dtype=np.uint32)
    reversed_rank = np.zeros(start[-1], dtype=np.int32)
    less_one = np.zeros(less_one_start[-1], dtype=np.int32)
    _fill_tables(most, start, squares, reversed_rank, less_one_start, less_one)
    stepping = int(start[most_stepping + 1])
    king_steps_start = np.zeros(stepping, dtype=np.int64)
    length = _king_steps(0, stepping, squares, king_steps_start, np.zeros(0, dtype=np.int32), False)
    king_steps = np.zeros(length, dtype=np.int32)
    _king_steps(0, stepping, squares, king_steps_start, king_steps, True)
    return Subsets(start, squares, reversed_rank, less_one_start, less_one, king_steps_start, king_steps)
