"""Kernels of the verifier that derive a position's value from the values of its successors.

They share nothing with the solver: moves come from `tablebase.kernels.movegen`, indices from
`tablebase.kernels.index`. They restate the definitions of the metrics:

- Without draw rules, a position is won if some move leads to a lost position. It is lost if every move leads
  to a won position, or if there is no move. Else it is drawn. DTW is 1 + the least DTW after such a move for
  the winner, 1 + the greatest for the loser.
- Under the rule on king moves the same holds, with one exception: a king move keeps an outcome only while its
  distance is within the limit. DTC is 1 after a zeroing move, and 1 + the DTC after a king move.
- A position that is won without draw rules but not under the rule is a cursed win. For the other side it is a
  blessed loss.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tablebase.board.squares import ALL_SQUARES
from tablebase.kernels.bits import reverse
from tablebase.kernels.index import Layout, men_at, slot_of, unrank
from tablebase.kernels.jit import inlined, kernel
from tablebase.kernels.movegen import BUFFER_ROWS, captures, has_capture, quiet_moves

NO_LIMIT = 1 << 40  # plies
_NEVER = 1 << 50  # plies, more than any distance

WDL, DTC, DTW, DTB = range(4)
"""Metrics by number, in the order in which values are compared."""

NOTHING = -1
"""In place of a metric: no value is wrong."""


class ValueArrays(NamedTuple):
    """The values of all slices of a layout, one slice after another.

    Attributes:
        layout: where each slice begins.
        wdl: shape (slots,), int8: the outcome, -2 to 2.
        dtc: shape (slots,), uint8 or uint16, plies; arbitrary unless the outcome is a win or a loss. Shape
            (1,) without DTC.
        dtw: shape (slots,), uint16, plies; arbitrary for a draw. Shape (1,) without DTW.
    """

    layout: Layout
    wdl: NDArray[np.int8]
    dtc: NDArray[np.unsignedinteger]
    dtw: NDArray[np.uint16]


# Columns of a summary, the int64 array that gathers the moves of one position.
_MOVES = 0  # number of moves added
_BOARD_WIN = 1  # least DTW through a move to a position lost without draw rules
_BOARD_LOSS = 2  # greatest DTW through a move to a position won without draw rules
_BOARD_LOSSES = 3  # number of moves to such positions
_RULE_WIN = 4  # the same three under the rule, with DTC
_RULE_LOSS = 5
_RULE_LOSSES = 6
SUMMARY = 7


@inlined
def begin(summary: NDArray[np.int64]) -> None:
    """Clear a summary before the first move of a position."""
    summary[:] = 0
    summary[_BOARD_WIN] = summary[_RULE_WIN] = _NEVER


@inlined
def add(summary: NDArray[np.int64], wdl: int, dtc: int, dtw: int, zeroing: bool, limit: int) -> None:
    """Add a move to the summary.

    Args:
        summary: shape (SUMMARY,), int64.
        wdl: the outcome of the position after the move, for its side to move.
        dtc: DTC of that position, plies.
        dtw: DTW of that position, plies.
        zeroing: whether the move zeroes the count of king moves.
        limit: plies that kings may move in a row, or NO_LIMIT.
    """
    summary[_MOVES] += 1
    if wdl < 0:
        summary[_BOARD_WIN] = min(summary[_BOARD_WIN], dtw + 1)
    elif wdl > 0:
        summary[_BOARD_LOSS] = max(summary[_BOARD_LOSS], dtw + 1)
        summary[_BOARD_LOSSES] += 1
    distance = 1 if zeroing else dtc + 1
    if not zeroing and distance > limit:
        return
    if wdl == -2:
        summary[_RULE_WIN] = min(summary[_RULE_WIN], distance)
    elif wdl == 2:
        summary[_RULE_LOSS] = max(summary[_RULE_LOSS], distance)
        summary[_RULE_LOSSES] += 1


@inlined
def finish(summary: NDArray[np.int64]) -> tuple[int, int, int]:
    """Return outcome, DTC and DTW of a position from the summary of all its moves."""
    if summary[_BOARD_WIN] < _NEVER:
        dtw = summary[_BOARD_WIN]
        return (2, summary[_RULE_WIN], dtw) if summary[_RULE_WIN] < _NEVER else (1, 0, dtw)
    if summary[_BOARD_LOSSES] == summary[_MOVES]:
        dtw = summary[_BOARD_LOSS]
        if summary[_RULE_LOSSES] == summary[_MOVES]:
            return -2, summary[_RULE_LOSS], dtw
        return -1, 0, dtw
    return 0, 0, 0


@inlined
def wrong_metric(
    stored_wdl: int,
    stored_dtc: int,
    stored_dtw: int,
    wdl: int,
    dtc: int,
    dtw: int,
    has_dtc: bool,
    has_dtw: bool,
) -> int:
    """Return the first metric whose stored value differs from the derived one, or NOTHING."""
    if wdl != stored_wdl:
        return WDL
    if has_dtc and abs(wdl) == 2 and dtc != stored_dtc:
        return DTC
    if has_dtw and wdl != 0 and dtw != stored_dtw:
        return DTW
    return NOTHING


@inlined
def _slot(layout: Layout, sets: NDArray[np.int64]) -> int:
    slot = slot_of(layout, sets[0], sets[1], sets[2], sets[3])
    if slot < 0:
        raise KeyError("a move leads to a slice that is not loaded")
    return slot


@inlined
def _stored(arena: ValueArrays, slot: int) -> tuple[int, int, int]:
    dtc = np.int64(arena.dtc[slot if arena.dtc.size > 1 else 0])
    dtw = np.int64(arena.dtw[slot if arena.dtw.size > 1 else 0])
    return int(np.int64(arena.wdl[slot])), int(dtc), int(dtw)


@inlined
def _resolve(
    sets: NDArray[np.int64],
    arena: ValueArrays,
    filled: bool,
    buffers: NDArray[np.int64],
    summaries: NDArray[np.int64],
) -> tuple[int, int, int]:
    """Return outcome, DTC and DTW of a capture position. The best capture decides, whatever the limit.

    Unless values of capture positions are `filled`, captures that answer a capture are followed in turn. Each
    capture takes a piece, so there are at most as many levels as pieces. Level k uses row k of `buffers` and
    of `summaries`.
    """
    waiting = np.zeros(len(summaries), np.int64)
    level = 0
    waiting[0] = captures(sets[0], sets[1], sets[2], sets[3], buffers[0])
    begin(summaries[0])
    while True:
        if waiting[level] == 0:
            wdl, dtc, dtw = finish(summaries[level])
            if level == 0:
                return wdl, dtc, dtw
            level -= 1
        else:
            waiting[level] -= 1
            child = buffers[level, waiting[level]]
            if child[0] | child[1] == 0:
                wdl, dtc, dtw = -2, 0, 0
            elif not filled and has_capture(child[0], child[1], child[2], child[3]):
                level += 1
                waiting[level] = captures(child[0], child[1], child[2], child[3], buffers[level])
                begin(summaries[level])
                continue
            else:
                wdl, dtc, dtw = _stored(arena, _slot(arena.layout, child))
        add(summaries[level], wdl, dtc, dtw, True, NO_LIMIT)


@inlined
def _derive(
    sets: NDArray[np.int64],
    arena: ValueArrays,
    filled: bool,
    limit: int,
    buffers: NDArray[np.int64],
    summaries: NDArray[np.int64],
) -> tuple[int, int, int]:
    """Return outcome, DTC and DTW of a position without a capture."""
    own_men_turned = reverse(sets[0])
    count = quiet_moves(sets[0], sets[1], sets[2], sets[3], buffers[0])
    begin(summaries[0])
    for row in range(count):
        child = buffers[0, row]
        if not filled and has_capture(child[0], child[1], child[2], child[3]):
            wdl, dtc, dtw = _resolve(child, arena, filled, buffers[1:], summaries[1:])
        else:
            wdl, dtc, dtw = _stored(arena, _slot(arena.layout, child))
        add(summaries[0], wdl, dtc, dtw, child[2] != own_men_turned, limit)
    return finish(summaries[0])


@kernel
def fill_captures(arena: ValueArrays, slice_id: int, first: int, last: int, filled: bool) -> int:
    """Write the values of capture positions at indices `first` to `last - 1` of a slice.

    Tables do not store these values.

    Args:
        arena: the values; those of the capture positions are written.
        slice_id: the slice.
        first: the first index.
        last: one more than the last index.
        filled: whether the slices of fewer pieces, where captures lead, have the values of their capture
            positions. If not, those are derived on the way.

    Returns:
        The number of capture positions.
    """
    levels = 1 if filled else 1 + arena.layout.counts[slice_id].sum()
    buffers = np.empty((levels, BUFFER_ROWS, 4), np.int64)
    summaries = np.empty((levels, SUMMARY), np.int64)
    positions = positions_at(arena.layout, slice_id, np.arange(first, last))
    count = 0
    for row in range(len(positions)):
        sets = positions[row]
        if has_capture(sets[0], sets[1], sets[2], sets[3]):
            wdl, dtc, dtw = _resolve(sets, arena, filled, buffers, summaries)
            slot = arena.layout.start[slice_id] + first + row
            arena.wdl[slot] = wdl
            if arena.dtc.size > 1:
                arena.dtc[slot] = dtc
            if arena.dtw.size > 1:
                arena.dtw[slot] = dtw
            count += 1
    return count


@kernel
def differences(
    arena: ValueArrays,
    slice_id: int,
    indices: NDArray[np.int64],
    filled: bool,
    limit: int,
    out: NDArray[np.int64],
) -> tuple[int, int]:
    """Compare stored values with those derived from the successors.

    Capture positions are skipped, as tables do not store them.

    Args:
        arena: the values; DTC or DTW may be missing. Without DTC the limit cannot be applied to king moves.
            An outcome that could be right with or without the limit then counts as right.
        slice_id: the slice.
        indices: shape (n,), int64, rising.
        filled: whether capture positions have their values. If not, those are derived on the way.
        limit: plies that kings may move in a row, or NO_LIMIT.
        out: shape (rows, 5), int64, written: a row for each difference, as long as there are rows. The
            columns are index, metric, and derived outcome, DTC and DTW.

    Returns:
        The number of positions compared, and the number of differences.
    """
    levels = 2 if filled else 2 + arena.layout.counts[slice_id].sum()
    buffers = np.empty((levels, BUFFER_ROWS, 4), np.int64)
    summaries = np.empty((levels, SUMMARY), np.int64)
    has_dtc = arena.dtc.size > 1
    has_dtw = arena.dtw.size > 1
    positions = positions_at(arena.layout, slice_id, indices)
    compared = found = 0
    for row in range(len(positions)):
        sets = positions[row]
        if has_capture(sets[0], sets[1], sets[2], sets[3]):
            continue
        compared += 1
        stored_wdl, stored_dtc, stored_dtw = _stored(arena, arena.layout.start[slice_id] + indices[row])
        wdl, dtc, dtw = _derive(sets, arena, filled, limit if has_dtc else NO_LIMIT, buffers, summaries)
        if not has_dtc and wdl != stored_wdl:
            cursed, _, _ = _derive(sets, arena, filled, 0, buffers, summaries)
            if cursed == stored_wdl:
                wdl = cursed
        metric = wrong_metric(stored_wdl, stored_dtc, stored_dtw, wdl, dtc, dtw, has_dtc, has_dtw)
        if metric == NOTHING:
            continue
        if found < len(out):
            out[found, 0] = indices[row]
            out[found, 1] = metric
            out[found, 2] = wdl
            out[found, 3] = dtc
            out[found, 4] = dtw
        found += 1
    return compared, found


@kernel
def positions_at(layout: Layout, slice_id: int, indices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the positions at rising indices of a slice.

    Returns:
        shape (len(indices), 4), int64: own men, own kings, other men, other kings.
    """
    positions = np.empty((len(indices), 4), np.int64)
    block_size, owns = int(layout.block_size[slice_id]), int(layout.owns[slice_id])
    block = other_rank = -1
    own_men = other_kings = other_men = free = 0
    for row in range(len(indices)):
        index = int(indices[row])
        # Neighbours share their men, and mostly the other kings: unrank only what changes.
        if index // block_size != block:
            block = index // block_size
            own_men, other_men = men_at(layout, slice_id, block)
            free = ALL_SQUARES & ~(own_men | other_men)
            other_rank = -1
        inside = index - block * block_size
        if inside // owns != other_rank:
            other_rank = inside // owns
            other_kings = unrank(other_rank, layout.counts[slice_id, 2], free)
        positions[row, 0] = own_men
        positions[row, 1] = unrank(
            inside - other_rank * owns, layout.counts[slice_id, 0], free & ~other_kings
        )
        positions[row, 2] = other_men
        positions[row, 3] = other_kings
    return positions
