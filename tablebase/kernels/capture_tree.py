"""Positions with all that their captures lead to, and values carried back from there.

A tree is an array of int64, one row a position: the positions asked about come first, and those that a row's
captures lead to stand behind it, so that one pass backwards sees each row after all that follows from it.
"""

import numpy as np
from numpy.typing import NDArray

from tablebase.kernels.bits import popcount, reverse, signed
from tablebase.kernels.index import Layout, slot_of
from tablebase.kernels.jit import inlined, kernel
from tablebase.kernels.movegen import (
    ALL_SQUARES,
    BUFFER_ROWS,
    DIRECTIONS,
    UP_LEFT,
    UP_RIGHT,
    captures,
    has_capture,
    step,
)

# Columns 0-3: own men, own kings, other men, other kings, as the side to move sees them
PARENT = 4  # the row that a capture comes from; -1 for a position asked about
SLICE = 5  # the slice's number in the layout, or one of the following
INDEX = 6  # the index in the slice; of a position asked about that has a capture, its material (`counts_of`)
COLUMNS = 7

OVER = -1  # the side to move has no move, and has lost
ONE_MOVE = -2  # the opponent has no pieces: any move wins
CAPTURE = -3  # decided by the rows that have this one as their parent
NO_SLICE = -4  # the layout does not have its slice
LARGE = -5  # too many pieces for a buffer of captures

MOST_PIECES = 8
"""Positions of more pieces are not followed, as `movegen.MAX_SUCCESSORS` says."""

UNDECIDED = -100  # an outcome before any of a row's captures has been seen


def new_tree(rows: int) -> NDArray[np.int64]:
    """An array for `expand`, with room for so many positions before it has to be made longer."""
    return np.empty((rows + BUFFER_ROWS, COLUMNS), np.int64)


def counts_of(material: int) -> tuple[int, int, int, int]:
    """Own kings, own men, other kings and other men of a material as `expand` writes it."""
    return material >> 24, material >> 16 & 255, material >> 8 & 255, material & 255


@kernel
def add_positions(sets: NDArray[np.uint32], black: NDArray[np.bool_], tree: NDArray[np.int64]) -> None:
    """Write positions to the first rows of a tree, as their side to move sees them.

    Args:
        sets: shape (n, 4), uint32: White's men and kings, Black's men and kings.
        black: shape (n,), bool: whether it is Black's turn.
        tree: by `new_tree`, n rows or more.
    """
    for row in range(len(sets)):
        wm, wk = signed(sets[row, 0]), signed(sets[row, 1])
        bm, bk = signed(sets[row, 2]), signed(sets[row, 3])
        if black[row]:
            wm, wk, bm, bk = reverse(bm), reverse(bk), reverse(wm), reverse(wk)
        tree[row, 0], tree[row, 1], tree[row, 2], tree[row, 3] = wm, wk, bm, bk
        tree[row, PARENT] = -1


@inlined
def _has_quiet_move(own_men: int, own_kings: int, empty: int) -> bool:
    moves = step(own_men, UP_LEFT) | step(own_men, UP_RIGHT)
    for direction in range(DIRECTIONS):
        moves |= step(own_kings, direction)
    return moves & empty != 0


@kernel
def expand(layout: Layout, tree: NDArray[np.int64], done: int, count: int) -> tuple[int, int]:
    """Find the place of each row from `done` on, adding rows for what captures lead to.

    Args:
        layout: the slices that have tables.
        tree: sets and parents filled in for rows `done` to `count - 1`; the rest is scratch.
        done, count: of the call before; 0 and the number of positions asked about, at first.

    Returns:
        The same two numbers; where they differ the tree has to be made longer, and this called again.
    """
    most = layout.number.shape[0]
    room = tree.shape[0] - BUFFER_ROWS
    while done < count:
        if count > room:
            break
        row = tree[done]
        own_men, own_kings, other_men, other_kings = row[0], row[1], row[2], row[3]
        others = other_men | other_kings
        empty = ALL_SQUARES & ~(own_men | own_kings | others)
        a, b = popcount(own_kings), popcount(own_men)
        c, d = popcount(other_kings), popcount(other_men)
        if has_capture(own_men, own_kings, other_men, other_kings):
            row[SLICE] = CAPTURE
            row[INDEX] = a << 24 | b << 16 | c << 8 | d
            if a + b + c + d > MOST_PIECES:
                row[SLICE] = LARGE
            else:
                found = captures(own_men, own_kings, other_men, other_kings, tree[count:])
                for child in range(count, count + found):
                    tree[child, PARENT] = done
                count += found
        elif not _has_quiet_move(own_men, own_kings, empty):
            row[SLICE] = OVER
        elif others == 0:
            row[SLICE] = ONE_MOVE
        else:
            which = NO_SLICE
            if a < most and b < most and c < most and d < most and layout.number[a, b, c, d] >= 0:
                which = layout.number[a, b, c, d]
                row[INDEX] = slot_of(layout, own_men, own_kings, other_men, other_kings) - layout.start[which]
            row[SLICE] = which
        done += 1
    return done, count


def expand_all(
    layout: Layout, tree: NDArray[np.int64], done: int, count: int
) -> tuple[NDArray[np.int64], int]:
    """`expand` a tree to its end; it, or a larger one, and how many rows it has."""
    while True:
        done, count = expand(layout, tree, done, count)
        if done == count:
            return tree, count
        longer = new_tree(2 * len(tree))
        longer[:count] = tree[:count]
        tree = longer


@kernel
def expand_one(
    layout: Layout, tree: NDArray[np.int64], own_men: int, own_kings: int, other_men: int, other_kings: int
) -> tuple[int, int, int, int]:
    """`expand` for one position: the two numbers, and the position's own place and index."""
    tree[0, 0], tree[0, 1], tree[0, 2], tree[0, 3] = own_men, own_kings, other_men, other_kings
    tree[0, PARENT] = -1
    done, count = expand(layout, tree, 0, 1)
    return done, count, tree[0, SLICE], tree[0, INDEX]


@kernel
def by_slice(
    tree: NDArray[np.int64],
    count: int,
    starts: NDArray[np.int64],
    rows: NDArray[np.int64],
    indices: NDArray[np.int64],
) -> None:
    """Sort the rows that have a slice by it.

    Args:
        tree, count: as `expand` leaves them.
        starts: shape (slices + 1,), written: where the rows of each slice begin in the following.
        rows: shape (count,), written: the rows, slice by slice.
        indices: shape (count,), written: their indices in their slices.
    """
    starts[:] = 0
    for row in range(count):
        if tree[row, SLICE] >= 0:
            starts[tree[row, SLICE] + 1] += 1
    for which in range(1, len(starts)):
        starts[which] += starts[which - 1]
    for row in range(count):
        which = tree[row, SLICE]
        if which >= 0:
            rows[starts[which]] = row
            indices[starts[which]] = tree[row, INDEX]
            starts[which] += 1
    for which in range(len(starts) - 1, 0, -1):
        starts[which] = starts[which - 1]
    starts[0] = 0


@kernel
def settle_outcomes(tree: NDArray[np.int64], count: int, unknown: int, wdl: NDArray[np.int8]) -> None:
    """Outcomes of rows that have no slice, and of those with a capture from what it leads to.

    Args:
        tree, count: as `expand` leaves them.
        unknown: the number that stands for an unknown outcome; one capture of unknown outcome makes one.
        wdl: shape (count,), int8: outcomes of the rows that have a slice; the others are written.
    """
    for row in range(count):
        place = tree[row, SLICE]
        if place == OVER:
            wdl[row] = -2
        elif place == ONE_MOVE:
            wdl[row] = 2
        elif place == CAPTURE:
            wdl[row] = UNDECIDED
        elif place < 0:
            wdl[row] = unknown
    for row in range(count - 1, -1, -1):
        parent = tree[row, PARENT]
        if parent < 0 or wdl[parent] == unknown:
            continue
        wdl[parent] = unknown if wdl[row] == unknown else max(wdl[parent], -wdl[row])


@kernel
def settle_lengths(
    tree: NDArray[np.int64],
    count: int,
    unknown: int,
    none: int,
    wdl: NDArray[np.int8],
    dtw: NDArray[np.int16],
) -> None:
    """DTW in plies, as `settle_outcomes` does for outcomes, which come before.

    Args:
        tree, count, wdl: as `settle_outcomes` leaves them.
        unknown: the number that stands for an unknown distance.
        none: the number that stands for no distance, of a draw on the board.
        dtw: shape (count,), int16: those of the rows that have a slice; the others are written.
    """
    for row in range(count):
        place = tree[row, SLICE]
        if place == OVER:
            dtw[row] = 0
        elif place == ONE_MOVE:
            dtw[row] = 1
        elif wdl[row] == unknown:
            dtw[row] = unknown
        elif place == CAPTURE:
            dtw[row] = none
    for row in range(count - 1, -1, -1):
        parent = tree[row, PARENT]
        # A move that does not keep the outcome on the board has no say in how long it takes.
        if parent < 0 or wdl[parent] == unknown or -wdl[row] * wdl[parent] <= 0 or dtw[parent] == unknown:
            continue
        if dtw[row] == unknown:
            dtw[parent] = unknown
        elif dtw[parent] == none:
            dtw[parent] = dtw[row] + 1
        elif wdl[parent] > 0:
            dtw[parent] = min(dtw[parent], dtw[row] + 1)
        else:
            dtw[parent] = max(dtw[parent], dtw[row] + 1)
