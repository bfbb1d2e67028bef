"""The value of a position worked out from the values of its successors: the verifier's kernels.

They share nothing with the solver: the moves are those of `tablebase.kernels.movegen`, the places those of
`tablebase.kernels.index`, and the definitions those of DESIGN, told here once more:

- on the board a position is won if some move leads to a lost one, lost if every move leads to a won one (or
  there is no move), else drawn. DTW is 1 + the least DTW after such a move, or 1 + the greatest.
- under the rule the same holds, except that a king move keeps a result only while its distance is within the
  limit of plies that kings may move in a row. DTC is 1 after a zeroing move, 1 + the DTC after a king move.
- a position won on the board but not under the rule is a cursed win, the loser's side of it a blessed loss.
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
"""The metrics, as they are numbered where values are compared."""

NOTHING = -1
"""In place of a metric: nothing is wrong."""


class ValueArrays(NamedTuple):
    """The values of all slices of a layout, one behind the other.

    Attributes:
        layout: where each slice lies.
        wdl: int8: the outcome, -2 to 2.
        dtc: uint8 or uint16, plies; any value unless the outcome is a win or a loss. One slot if not at hand.
        dtw: uint16, plies; any value for a draw. One slot if not at hand.
    """

    layout: Layout
    wdl: NDArray[np.int8]
    dtc: NDArray[np.unsignedinteger]
    dtw: NDArray[np.uint16]


# What is known of a position while its successors are gone through: a row of int64.
_MOVES = 0  # how many moves were looked at
_BOARD_WIN = 1  # least DTW of a move to a position lost on the board
_BOARD_LOSS = 2  # greatest DTW of a move to a position won on the board
_BOARD_LOSSES = 3  # how many such moves
_RULE_WIN = 4  # the same under the rule, with DTC
_RULE_LOSS = 5
_RULE_LOSSES = 6
SUMMARY = 7


@inlined
def begin(summary: NDArray[np.int64]) -> None:
    """Before the first move of a position."""
    summary[:] = 0
    summary[_BOARD_WIN] = summary[_RULE_WIN] = _NEVER


@inlined
def add(summary: NDArray[np.int64], wdl: int, dtc: int, dtw: int, zeroing: bool, limit: int) -> None:
    """Take a move into account that leads to a position of these values."""
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
    """The outcome, DTC and DTW of a position whose moves have all been added."""
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
    """The first metric whose stored value is not the derived one; NOTHING if there is none."""
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
        raise KeyError("a move leads to a slice that the arena does not hold")
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
    """The outcome, DTC and DTW of a position with a capture: the best capture decides, whatever the limit.

    Where positions with a capture are not `filled` in yet, the captures that answer a capture are looked at
    in turn: one level each, so never more levels than there are pieces. Level k uses row k of `buffers` and
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
    """The outcome, DTC and DTW of a position without a capture."""
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
def fill_captures(arena: ValueArrays, which: int, first: int, last: int, filled: bool) -> int:
    """Write the values of the positions with a capture at indices first <= i < last of slice `which`.

    Tables do not store them. `filled`: whether those of the slices of fewer pieces, which captures lead to,
    have been filled in; they are worked out anew otherwise. Returns how many there are.
    """
    levels = 1 if filled else 1 + arena.layout.counts[which].sum()
    buffers = np.empty((levels, BUFFER_ROWS, 4), np.int64)
    summaries = np.empty((levels, SUMMARY), np.int64)
    positions = positions_at(arena.layout, which, np.arange(first, last))
    count = 0
    for row in range(len(positions)):
        sets = positions[row]
        if has_capture(sets[0], sets[1], sets[2], sets[3]):
            wdl, dtc, dtw = _resolve(sets, arena, filled, buffers, summaries)
            slot = arena.layout.start[which] + first + row
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
    which: int,
    indices: NDArray[np.int64],
    filled: bool,
    limit: int,
    out: NDArray[np.int64],
) -> tuple[int, int]:
    """Compare stored values with those that follow from the successors, at rising indices of slice `which`.

    Positions with a capture are passed over: they are not stored.

    Args:
        arena: the values; DTC or DTW may be missing. Without DTC nothing tells whether a king move keeps a
            result within the limit, and an outcome that would be right either way is let pass.
        which: the slice.
        indices: int64, rising.
        filled: whether positions with a capture have been filled in; they are worked out anew otherwise.
        limit: plies that kings may move in a row, or NO_LIMIT.
        out: int64 (rows, 5): takes a row for each difference while there is room: index, metric, and the
            outcome, DTC and DTW derived.

    Returns:
        How many positions were compared, and how many of them differ.
    """
    levels = 2 if filled else 2 + arena.layout.counts[which].sum()
    buffers = np.empty((levels, BUFFER_ROWS, 4), np.int64)
    summaries = np.empty((levels, SUMMARY), np.int64)
    has_dtc = arena.dtc.size > 1
    has_dtw = arena.dtw.size > 1
    positions = positions_at(arena.layout, which, indices)
    compared = found = 0
    for row in range(len(positions)):
        sets = positions[row]
        if has_capture(sets[0], sets[1], sets[2], sets[3]):
            continue
        compared += 1
        stored_wdl, stored_dtc, stored_dtw = _stored(arena, arena.layout.start[which] + indices[row])
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
def positions_at(layout: Layout, which: int, indices: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sets of the positions at rising indices of a slice, shape (len(indices), 4)."""
    positions = np.empty((len(indices), 4), np.int64)
    block_size, owns = int(layout.block_size[which]), int(layout.owns[which])
    block = other_rank = -1
    own_men = other_kings = other_men = free = 0
    for row in range(len(indices)):
        index = int(indices[row])
        # Neighbours share their men, and mostly the other kings: worked out when they change only.
        if index // block_size != block:
            block = index // block_size
            own_men, other_men = men_at(layout, which, block)
            free = ALL_SQUARES & ~(own_men | other_men)
            other_rank = -1
        inside = index - block * block_size
        if inside // owns != other_rank:
            other_rank = inside // owns
            other_kings = unrank(other_rank, layout.counts[which, 2], free)
        positions[row, 0] = own_men
        positions[row, 1] = unrank(inside - other_rank * owns, layout.counts[which, 0], free & ~other_kings)
        positions[row, 2] = other_men
        positions[row, 3] = other_kings
    return positions
