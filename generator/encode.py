"""From a solved slice to what its files store, and to its statistics."""

import numpy as np
from numpy.typing import NDArray

from generator.sides import NOT_DECIDED, Results
from tablebase.board import Position
from tablebase.format import Metric
from tablebase.indexing import sets_at
from tablebase.kernels.bits import signed
from tablebase.kernels.jit import kernel
from tablebase.manifest import Statistics
from tablebase.material import Material

_LOSS, _BLESSED_LOSS, _DRAW, _CURSED_WIN, _WIN = -2, -1, 0, 1, 2


@kernel
def _wdl(dtw: int, dtc: int) -> int:
    if dtw == NOT_DECIDED:
        return _DRAW
    if dtw % 2:
        return _CURSED_WIN if dtc == NOT_DECIDED else _WIN
    return _BLESSED_LOSS if dtc == NOT_DECIDED else _LOSS


# A slot that nobody reads (a position with a capture; a distance where there is none) repeats the value
# before it: runs and repetitions grow longer, and no value is brought in that would not be there otherwise.


@kernel
def _fill_wdl(results: Results, out: NDArray[np.int8]) -> None:
    first = -1
    value = np.int8(0)
    for index in range(len(out)):
        if results.stored[index]:
            value = np.int8(_wdl(signed(results.dtw[index]), signed(results.dtc[index])))
            if first < 0:
                first = index
        out[index] = value
    if first > 0:
        out[:first] = out[first]


@kernel
def _fill_distance(
    stored: NDArray[np.uint8],
    decided: NDArray[np.uint8],
    distance: NDArray[np.uint8],
    shift: int,
    out: NDArray[np.uint8],
) -> None:
    first = -1
    value = np.uint8(0)
    for index in range(len(out)):
        if stored[index] and decided[index] != NOT_DECIDED:
            value = np.uint8(distance[index] >> shift)
            if first < 0:
                first = index
        out[index] = value
    if first > 0:
        out[:first] = out[first]


def stored_values(results: Results, metric: Metric) -> NDArray[np.int8] | NDArray[np.uint8]:
    """What the file of a metric holds, in the order of the index (see docs/format.md).

    DTB: of a slice solved with its balance counted.
    """
    if metric is Metric.WDL:
        values = np.empty(len(results.dtw), dtype=np.int8)
        _fill_wdl(results, values)
        return values
    distances = np.empty(len(results.dtw), dtype=np.uint8)
    stored, dtw, dtc, dtb = results.stored, results.dtw, results.dtc, results.dtb
    if metric is Metric.DTC:
        _fill_distance(stored, dtc, dtc, 0, distances)
    elif metric is Metric.DTB:
        # Without a DTC it is drawn under the rules, whatever the pass to the balance change has found.
        _fill_distance(stored, dtc, dtb, 0, distances)
    else:
        _fill_distance(stored, dtw, dtw, 1, distances)
    return distances


@kernel
def read_stored(wdl: NDArray[np.int16], dtc: NDArray[np.int16], dtw: NDArray[np.int16], out: Results) -> None:
    """The inverse of `stored_values` for WDL, DTC and DTW. Positions with a capture do not come out right."""
    for index in range(len(wdl)):
        value = wdl[index]
        if value == _DRAW:
            out.dtw[index] = NOT_DECIDED
        else:
            out.dtw[index] = np.uint8(2 * dtw[index] + (1 if value > 0 else 0))
        out.dtc[index] = np.uint8(dtc[index]) if value in (_WIN, _LOSS) else np.uint8(NOT_DECIDED)


@kernel
def _count(results: Results, counts: NDArray[np.int64], longest: NDArray[np.int64]) -> None:
    """`counts` [5] by wdl + 2; `longest` [4, 2]: most plies and the first index that has them, of DTW over
    wins, DTW over losses, DTC over wins, DTB over wins; -1 where there is none."""
    longest[:] = -1
    with_balance = len(results.dtb) > 0
    for index in range(len(results.dtw)):
        dtw, dtc = signed(results.dtw[index]), signed(results.dtc[index])
        wdl = _wdl(dtw, dtc)
        counts[wdl + 2] += 1
        if wdl == _DRAW:
            continue
        row = 0 if wdl > 0 else 1
        if dtw > longest[row, 0]:
            longest[row, 0], longest[row, 1] = dtw, index
        if wdl == _WIN and dtc > longest[2, 0]:
            longest[2, 0], longest[2, 1] = dtc, index
        if wdl == _WIN and with_balance and signed(results.dtb[index]) > longest[3, 0]:
            longest[3, 0], longest[3, 1] = signed(results.dtb[index]), index


def statistics(material: Material, results: Results) -> Statistics:
    """The statistics of a solved slice, positions with a capture included."""
    counts = np.zeros(5, dtype=np.int64)
    longest = np.zeros((4, 2), dtype=np.int64)
    _count(results, counts, longest)

    def of(row: int) -> tuple[int | None, str | None]:
        plies, index = (int(value) for value in longest[row])
        if plies < 0:
            return None, None
        own_men, own_kings, other_men, other_kings = sets_at(material, index)
        return plies, Position(own_men, own_kings, other_men, other_kings).to_fen()

    loss, blessed_loss, draw, cursed_win, win = (int(count) for count in counts)
    outcomes = win, cursed_win, draw, blessed_loss, loss
    return Statistics(str(material), material.positions, *outcomes, *of(0), *of(1), *of(2), *of(3))
