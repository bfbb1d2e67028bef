"""Perft: the number of lines of play from a position, the usual test of a move generator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tablebase.errors import ArgumentError
from tablebase.kernels.jit import kernel
from tablebase.kernels.movegen import BUFFER_ROWS, captures, count_quiet_moves, successors

if TYPE_CHECKING:
    from tablebase.board.position import Position


def perft(position: Position, depth: int) -> int:
    """Return the number of lines of exactly `depth` plies from a position.

    Moves that lead from one position to the same position count once, as in the published `unique` numbers. A
    line in which the game ends earlier is not counted.

    Raises:
        ArgumentError: the depth is negative.
    """
    if depth < 0:
        raise ArgumentError(f"the depth of perft is {depth}; it must be a number of plies, 0 or more")
    if depth == 0:
        return 1
    return int(
        _count_lines(
            position.own_men,
            position.own_kings,
            position.other_men,
            position.other_kings,
            depth,
            np.empty((depth, BUFFER_ROWS, 4), np.int64),
        )
    )


@kernel
def _count_moves(
    own_men: int, own_kings: int, other_men: int, other_kings: int, out: NDArray[np.int64]
) -> int:
    count = captures(own_men, own_kings, other_men, other_kings, out)
    return count if count > 0 else count_quiet_moves(own_men, own_kings, other_men, other_kings)


@kernel
def _count_lines(
    own_men: int, own_kings: int, other_men: int, other_kings: int, depth: int, buffers: NDArray[np.int64]
) -> int:
    """Return the number of lines of `depth` >= 1 plies.

    `buffers` has shape (depth, BUFFER_ROWS, 4), int64: one buffer of successors for each ply.
    """
    if depth == 1:
        return _count_moves(own_men, own_kings, other_men, other_kings, buffers[0])
    waiting = np.zeros(depth, np.int64)  # successors of each ply that are not yet visited
    waiting[0] = successors(own_men, own_kings, other_men, other_kings, buffers[0])
    lines = 0
    ply = 0
    while ply >= 0:
        if waiting[ply] == 0:
            ply -= 1
            continue
        waiting[ply] -= 1
        child = buffers[ply, waiting[ply]]
        if ply == depth - 2:
            lines += _count_moves(child[0], child[1], child[2], child[3], buffers[ply + 1])
        else:
            ply += 1
            waiting[ply] = successors(child[0], child[1], child[2], child[3], buffers[ply])
    return lines
