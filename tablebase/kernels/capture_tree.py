"""Trees of captures below capture positions, and values carried back from their leaves.

A tree is an array of shape (rows, COLUMNS), int64, with one row for each position. The roots come first. The
positions after a row's captures come behind that row, so that one pass backwards sees each row after all its
descendants.
"""

import numpy as np
from numpy.typing import NDArray

from tablebase.board.squares import ALL_SQUARES
from tablebase.kernels.bits import popcount, reverse, signed
from tablebase.kernels.index import Layout, slot_of
from tablebase.kernels.jit import inlined, kernel
from tablebase.kernels.movegen import BUFFER_ROWS, DIRECTIONS, UP_LEFT, UP_RIGHT, captures, has_capture, step

# Columns 0-3: own men, own kings, other men, other kings, as the side to move sees them
PARENT = 4  # row of the position before the capture; -1 for a root
SLICE = 5  # number of the slice in the layout, or one of the codes below
INDEX = 6  # index in the slice; for a capture position, its material (`counts_of`)
COLUMNS = 7

OVER = -1  # the side to move has no legal move and has lost
ONE_MOVE = -2  # the opponent has no pieces: any move wins
CAPTURE = -3  # capture position: the rows below it decide
NO_SLICE = -4  # the layout does not have the slice
LARGE = -5  # capture position with more than MOST_PIECES pieces

MOST_PIECES = 8
"""Captures of positions with more pieces are not followed (`movegen.MAX_SUCCESSORS`)."""

UNDECIDED = -100  # outcome of a capture position before any capture has been seen


def new_tree(rows: int) -> NDArray[np.int64]:
    """Return an array for `expand` with space for `rows` positions before it must be enlarged."""
    return np.empty((rows + BUFFER_ROWS, COLUMNS), np.int64)


def counts_of(material: int) -> tuple[int, int, int, int]:
    """Return own kings, own men, other kings and other men of a material that `expand` has written."""
    return material >> 24, material >> 16 & 255, material >> 8 & 255, material & 255


@kernel
def add_positions(sets: NDArray[np.uint32], black: NDArray[np.bool_], tree: NDArray[np.int64]) -> None:
    """Write positions to the first rows of a tree as its roots.

    Args:
        sets: shape (n, 4), uint32: White's men and kings, Black's men and kings.
        black: shape (n,), bool: whether Black is to move.
        tree: array from `new_tree` with at least n rows.
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
    """Find slice and index of each row from `done` on, and add rows for the positions after captures.

    Args:
        layout: the slices that have tables.
        tree: array from `new_tree`, with sets and parents in the rows `done` to `count - 1`.
        done: the number of finished rows; 0 at first.
        count: the number of rows; at first the number of roots.

    Returns:
        The new `done` and `count`. If they differ, the caller must enlarge the tree and call again.
    """
    most = layout.number.shape[0]
    capacity = tree.shape[0] - BUFFER_ROWS
    while done < count:
        if count > capacity:
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
            slice_id = NO_SLICE
            if a < most and b < most and c < most and d < most and layout.number[a, b, c, d] >= 0:
                slice_id = layout.number[a, b, c, d]
                row[INDEX] = (
                    slot_of(layout, own_men, own_kings, other_men, other_kings) - layout.start[slice_id]
                )
            row[SLICE] = slice_id
        done += 1
    return done, count


def expand_all(
    layout: Layout, tree: NDArray[np.int64], done: int, count: int
) -> tuple[NDArray[np.int64], int]:
    """Expand a tree completely, enlarging its array as needed.

    Args:
        layout: the slices that have tables.
        tree: array from `new_tree`, with sets and parents in the rows `done` to `count - 1`.
        done: the number of finished rows.
        count: the number of rows.

    Returns:
        The tree, which may be a new array, and its number of rows.
    """
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
    """Write one position as the root of a tree, and expand it.

    Args:
        layout: the slices that have tables.
        tree: array from `new_tree`.
        own_men: the men of the side to move, a set seen by that side.
        own_kings: its kings.
        other_men: the men of the opponent.
        other_kings: its kings.

    Returns:
        `done` and `count` of `expand`, and the root's SLICE and INDEX.
    """
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
    """Group the rows that have a slice by their slice.

    Args:
        tree: an expanded tree.
        count: its number of rows.
        starts: shape (slices + 1,), int64, written: first entry of each slice in `rows` and `indices`.
        rows: shape (count,), int64, written: numbers of the rows, slice by slice.
        indices: shape (count,), int64, written: indices of these rows in their slices.
    """
    starts[:] = 0
    for row in range(count):
        if tree[row, SLICE] >= 0:
            starts[tree[row, SLICE] + 1] += 1
    for slice_id in range(1, len(starts)):
        starts[slice_id] += starts[slice_id - 1]
    for row in range(count):
        slice_id = tree[row, SLICE]
        if slice_id >= 0:
            rows[starts[slice_id]] = row
            indices[starts[slice_id]] = tree[row, INDEX]
            starts[slice_id] += 1
    for slice_id in range(len(starts) - 1, 0, -1):
        starts[slice_id] = starts[slice_id - 1]
    starts[0] = 0


@kernel
def settle_outcomes(tree: NDArray[np.int64], count: int, unknown: int, wdl: NDArray[np.int8]) -> None:
    """Fill in the outcomes of rows without a slice, and of capture positions from their captures.

    Args:
        tree: an expanded tree.
        count: its number of rows.
        unknown: the number for an unknown outcome. A capture of unknown outcome makes its parent unknown.
        wdl: shape (count,), int8, -2..2: outcomes of the rows that have a slice; the others are written.
    """
    for row in range(count):
        slice_id = tree[row, SLICE]
        if slice_id == OVER:
            wdl[row] = -2
        elif slice_id == ONE_MOVE:
            wdl[row] = 2
        elif slice_id == CAPTURE:
            wdl[row] = UNDECIDED
        elif slice_id < 0:
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
    """Fill in the DTW of rows without a slice, and of capture positions from their captures.

    Args:
        tree: an expanded tree.
        count: its number of rows.
        unknown: the number for an unknown distance.
        none: the number for no distance, of a draw without draw rules.
        wdl: shape (count,), int8: outcomes of all rows, from `settle_outcomes`.
        dtw: shape (count,), int16, plies: DTW of the rows that have a slice; the others are written.
    """
    for row in range(count):
        slice_id = tree[row, SLICE]
        if slice_id == OVER:
            dtw[row] = 0
        elif slice_id == ONE_MOVE:
            dtw[row] = 1
        elif wdl[row] == unknown:
            dtw[row] = unknown
        elif slice_id == CAPTURE:
            dtw[row] = none
    for row in range(count - 1, -1, -1):
        parent = tree[row, PARENT]
        # Only moves that keep the outcome without draw rules count for the distance.
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
