"""From a solved slice to what its files store, and to its statistics."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from generator.results import (
    BLESSED_LOSS,
    CURSED_WIN,
    DRAW,
    LONGEST_DTC,
    NOT_DECIDED,
    STORED,
    VALUE,
    WDL_OF,
    Results,
)
from tablebase.board import Position
from tablebase.format import Metric
from tablebase.indexing import sets_at
from tablebase.kernels.bits import signed
from tablebase.kernels.jit import kernel
from tablebase.manifest import Statistics
from tablebase.material import Material

_LOSS, _WIN = -2, 2
# The statistics that tell of the distances of a metric that a slice can be solved without.
_OF_METRIC = {
    Metric.DTW: (
        "longest_win_plies",
        "longest_win_fen",
        "longest_loss_plies",
        "longest_loss_fen",
        "dtw_wins",
        "dtw_losses",
    ),
    Metric.DTB: ("longest_dtb_win_plies", "longest_dtb_win_fen"),
}
_MOST_PLIES = 256  # a distance is a byte
_GREATEST_WITH_DTC = 2 * LONGEST_DTC + 1

# A slot that nobody reads (a position with a capture; a distance where there is none) repeats the value
# before it: runs and repetitions grow longer, and no value is brought in that would not be there otherwise.


@kernel
def _fill_wdl(values: NDArray[np.uint8], out: NDArray[np.int8]) -> None:
    first = -1
    value = np.int8(0)
    for index in range(len(out)):
        found = signed(values[index])
        if found & STORED:
            value = WDL_OF[found & VALUE]
            if first < 0:
                first = index
        out[index] = value
    if first > 0:
        out[:first] = out[first]


@kernel
def _fill_distance(
    values: NDArray[np.uint8],
    most: int,
    distances: NDArray[np.uint8],
    shift: int,
    mask: int,
    out: NDArray[np.uint8],
) -> None:
    """The distances (`mask` after a `shift`) of stored positions whose value is `most` or less."""
    first = -1
    distance = np.uint8(0)
    for index in range(len(out)):
        value = signed(values[index])
        if value & STORED and value & VALUE <= most:
            distance = np.uint8((signed(distances[index]) >> shift) & mask)
            if first < 0:
                first = index
        out[index] = distance
    if first > 0:
        out[:first] = out[first]


def stored_values(results: Results, metric: Metric) -> NDArray[np.int8] | NDArray[np.uint8]:
    """What the file of a metric holds, in the order of the index (see docs/format.md).

    DTW and DTB: of a slice that was solved with them.
    """
    if metric is Metric.WDL:
        outcomes = np.empty(len(results.value), dtype=np.int8)
        _fill_wdl(results.value, outcomes)
        return outcomes
    # Without a DTC a position is drawn under the rules, whatever the pass to the balance change has found.
    source, most, shift, mask = {
        Metric.DTC: (results.value, _GREATEST_WITH_DTC, 1, VALUE >> 1),
        Metric.DTB: (results.dtb, _GREATEST_WITH_DTC, 0, 255),
        Metric.DTW: (results.dtw, CURSED_WIN, 1, 255),
    }[metric]
    distances = np.empty(len(results.value), dtype=np.uint8)
    _fill_distance(results.value, most, source, shift, mask, distances)
    return distances


@kernel
def _read_wdl(stored: NDArray[np.int16], values: NDArray[np.uint8]) -> None:
    for index in range(len(stored)):
        outcome = signed(stored[index])
        won = 1 if outcome > 0 else 0
        value = DRAW
        if outcome in (_WIN, _LOSS):
            value = won  # with a DTC of 0, for now
        elif outcome:
            value = CURSED_WIN if won else BLESSED_LOSS
        values[index] = value | STORED


@kernel
def _read_dtc(stored: NDArray[np.int16], values: NDArray[np.uint8]) -> None:
    for index in range(len(stored)):
        value = signed(values[index])
        if value & VALUE <= 1:
            values[index] = value | 2 * signed(stored[index])


@kernel
def _read_dtw(stored: NDArray[np.int16], values: NDArray[np.uint8], dtw: NDArray[np.uint8]) -> None:
    for index in range(len(stored)):
        value = signed(values[index]) & VALUE
        dtw[index] = NOT_DECIDED if value == DRAW else 2 * signed(stored[index]) + (value & 1)


def read_stored(metric: Metric, stored: NDArray[np.int16], out: Results) -> None:
    """The inverse of `stored_values`: into `out`, WDL, DTC and DTW one by one, in this order. Positions with
    a capture do not come out right."""
    if metric is Metric.WDL:
        _read_wdl(stored, out.value)
    elif metric is Metric.DTC:
        _read_dtc(stored, out.value)
    else:
        _read_dtw(stored, out.value, out.dtw)


@kernel
def _count(
    results: Results,
    counts: NDArray[np.int64],
    longest: NDArray[np.int64],
    by_plies: NDArray[np.int64],
) -> None:
    """`counts` [5] by wdl + 2; `longest` [4, 2]: most plies and the first index that has them, of DTW over
    wins, DTW over losses, DTC over wins, DTB over wins; -1 where there is none; `by_plies` [4, 256]: how many
    have so many plies, of DTW over wins and over losses, DTC over wins and over losses."""
    values, dtw_of, dtb_of = results.value, results.dtw, results.dtb
    with_scores, with_balance = len(dtw_of) > 0, len(dtb_of) > 0
    longest[:] = -1
    for index in range(len(values)):
        value = signed(values[index]) & VALUE
        wdl = WDL_OF[value]
        counts[wdl + 2] += 1
        if wdl == 0:
            continue
        row = 0 if wdl > 0 else 1
        if with_scores:
            dtw = signed(dtw_of[index])
            by_plies[row, dtw] += 1
            if dtw > longest[row, 0]:
                longest[row, 0], longest[row, 1] = dtw, index
        if wdl in (_WIN, _LOSS):
            by_plies[2 + row, value >> 1] += 1
        if wdl == _WIN and value >> 1 > longest[2, 0]:
            longest[2, 0], longest[2, 1] = value >> 1, index
        if wdl == _WIN and with_balance and signed(dtb_of[index]) > longest[3, 0]:
            longest[3, 0], longest[3, 1] = signed(dtb_of[index]), index


def statistics(material: Material, results: Results) -> Statistics:
    """The statistics of a solved slice, positions with a capture included. There is no longest DTW or DTB
    where it was solved without."""
    counts = np.zeros(5, dtype=np.int64)
    longest = np.zeros((4, 2), dtype=np.int64)
    by_plies = np.zeros((4, _MOST_PLIES), dtype=np.int64)
    _count(results, counts, longest, by_plies)

    def of(row: int) -> tuple[int | None, str | None]:
        plies, index = (int(value) for value in longest[row])
        if plies < 0:
            return None, None
        own_men, own_kings, other_men, other_kings = sets_at(material, index)
        return plies, Position(own_men, own_kings, other_men, other_kings).to_fen()

    def counted(row: int) -> tuple[int, ...]:
        return tuple(np.trim_zeros(by_plies[row], "b").tolist())

    loss, blessed_loss, draw, cursed_win, win = (int(count) for count in counts)
    outcomes = win, cursed_win, draw, blessed_loss, loss
    with_scores = len(results.dtw) > 0
    return Statistics(
        str(material),
        material.positions,
        *outcomes,
        *of(0),
        *of(1),
        *of(2),
        *of(3),
        dtw_wins=counted(0) if with_scores else None,
        dtw_losses=counted(1) if with_scores else None,
        dtc_wins=counted(2),
        dtc_losses=counted(3),
    )


def with_longest(counted: Statistics, before: Statistics, kept: Iterable[Metric]) -> Statistics:
    """What is `counted` of a slice that was solved without some metrics whose tables are `kept`, with the
    longest distances of these tables from `before`."""
    names = [name for metric in kept for name in _OF_METRIC.get(metric, ())]
    return replace(counted, **{name: getattr(before, name) for name in names})
