"""Values derived in a tree of positions, as `tablebase.kernels.capturetree` grows it: chosen positions of a
slice first, behind them what their moves lead to, behind these what captures lead to from there.

The rule by which a value follows from its successors' is that of `generator.derivation`; here it takes them
from a tree, where there is no room for whole slices.
"""

import numpy as np
from numpy.typing import NDArray

from generator.derivation import SUMMARY, add, begin, finish, positions_at, wrong_metric
from tablebase.kernels.bits import popcount, reverse, signed
from tablebase.kernels.capturetree import CAPTURE, INDEX, PARENT, PLACE
from tablebase.kernels.jit import kernel
from tablebase.kernels.movegen import count_quiet_moves, has_capture, quiet_moves
from tablebase.kernels.scalarindex import Layout


@kernel
def stored_among(layout: Layout, which: int, indices: NDArray[np.int64]) -> tuple[NDArray[np.bool_], int]:
    """Which positions of a slice, at rising indices, have no capture, so that tables store them; and how many
    moves those have, all together."""
    positions = positions_at(layout, which, indices)
    stored = np.zeros(len(positions), np.bool_)
    moves = 0
    for row in range(len(positions)):
        sets = positions[row]
        if not has_capture(sets[0], sets[1], sets[2], sets[3]):
            stored[row] = True
            moves += count_quiet_moves(sets[0], sets[1], sets[2], sets[3])
    return stored, moves


@kernel
def plant_slice(
    layout: Layout, which: int, indices: NDArray[np.int64], moves: bool, tree: NDArray[np.int64]
) -> int:
    """Write positions of a slice to the first rows of a tree.

    Args:
        layout, which, indices: the positions, at rising indices.
        moves: whether what their quiet moves lead to is written behind them; none of them has a capture then.
        tree: by `new_tree`, with room for all.

    Returns:
        How many rows were written.
    """
    positions = positions_at(layout, which, indices)
    count = len(positions)
    for row in range(len(positions)):
        sets = positions[row]
        tree[row, :4] = sets
        tree[row, PARENT] = -1
        tree[row, PLACE] = which
        tree[row, INDEX] = indices[row]
        if moves:
            found = quiet_moves(sets[0], sets[1], sets[2], sets[3], tree[count:])
            for child in range(count, count + found):
                tree[child, PARENT] = row
            count += found
    return count


@kernel
def derive(
    tree: NDArray[np.int64],
    roots: int,
    count: int,
    limit: int,
    to_balance: bool,
    wdl: NDArray[np.int8],
    distance: NDArray[np.int32],
    dtw: NDArray[np.int32],
    derived: NDArray[np.int64],
) -> None:
    """Derive the values of the first rows of a tree from those that stand behind them.

    Args:
        tree: grown.
        roots: how many rows come first.
        count: how many rows there are.
        limit: plies to the next move that sets the count to nought, or NO_LIMIT.
        to_balance: which moves those are: captures and promotions; else captures and moves of men.
        wdl: int8 (count): the outcome of each row that stands in a table or has no move; of rows with a
            capture it is written, as the following two are.
        distance: int32 (count): DTC, or DTB where it is asked for.
        dtw: int32 (count).
        derived: int64 (roots, 3): outcome, distance and DTW, written; of rows without anything behind them
            those of a position without a move.
    """
    summary = np.empty(SUMMARY, np.int64)
    derived[:, 0] = -2
    derived[:, 1:] = 0
    row = count - 1
    while row >= roots:
        # What one row leads to stands together.
        parent = tree[row, PARENT]
        at_once = tree[parent, PLACE] == CAPTURE
        own_men, own_kings = reverse(tree[parent, 0]), popcount(tree[parent, 1])
        begin(summary)
        while row >= roots and tree[row, PARENT] == parent:
            if to_balance:
                zeroing = at_once or popcount(tree[row, 3]) != own_kings
            else:
                zeroing = at_once or tree[row, 2] != own_men
            add(summary, signed(wdl[row]), signed(distance[row]), signed(dtw[row]), zeroing, limit)
            row -= 1
        outcome, plies, length = finish(summary)
        if parent < roots:
            derived[parent, 0], derived[parent, 1], derived[parent, 2] = outcome, plies, length
        else:
            wdl[parent], distance[parent], dtw[parent] = outcome, plies, length


@kernel
def wrong_metrics(
    derived: NDArray[np.int64],
    wdl: NDArray[np.int8],
    dtc: NDArray[np.int32],
    dtw: NDArray[np.int32],
    has_dtc: bool,
    has_dtw: bool,
) -> NDArray[np.int64]:
    """The first metric of each row of `derived` whose stored value is another: int64, NOTHING if none is."""
    metrics = np.empty(len(derived), np.int64)
    for row in range(len(derived)):
        metrics[row] = wrong_metric(
            signed(wdl[row]),
            signed(dtc[row]),
            signed(dtw[row]),
            derived[row, 0],
            derived[row, 1],
            derived[row, 2],
            has_dtc,
            has_dtw,
        )
    return metrics
