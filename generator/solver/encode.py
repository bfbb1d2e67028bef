"""Convert the values of a solved slice to and from file values, and count its statistics."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from generator.solver.results import (
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
from tablebase.board.material import Material
from tablebase.board.position import Position
from tablebase.kernels.bits import signed
from tablebase.kernels.jit import kernel
from tablebase.tables.format import Metric, Packing
from tablebase.tables.index import sets_at
from tablebase.tables.manifest import Statistics

_LOSS, _WIN = -2, 2
# Statistics of the metrics that a slice can be solved without.
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
_GREATEST_WITH_DTC = 2 * LONGEST_DTC + 1


@kernel
def _read_wdl(stored: NDArray[np.int16], values: NDArray[np.uint8]) -> None:
    """Write values from stored WDL, int16 [position]; wins and losses get a DTC of 0."""
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
    """Add stored DTC, int16 [position], to the values of wins and losses."""
    for index in range(len(stored)):
        value = signed(values[index])
        if value & VALUE <= 1:
            values[index] = value | 2 * signed(stored[index])


@kernel
def _read_dtw(stored: NDArray[np.int16], values: NDArray[np.uint8], dtw: NDArray[np.uint8]) -> None:
    """Write DTW from stored halves of DTW, int16 [position]; the values tell a win from a loss."""
    for index in range(len(stored)):
        value = signed(values[index]) & VALUE
        dtw[index] = NOT_DECIDED if value == DRAW else 2 * signed(stored[index]) + (value & 1)


def read_stored(metric: Metric, stored: NDArray[np.int16], out: Results) -> None:
    """Read the values of a table back into `out`. Call for WDL first, then DTC, then DTW.

    Values of positions with a capture, which tables do not store, come out wrong.
    """
    if metric is Metric.WDL:
        _read_wdl(stored, out.value)
    elif metric is Metric.DTC:
        _read_dtc(stored, out.value)
    else:
        _read_dtw(stored, out.value, out.dtw)


@kernel
def _count(
    results: Results,
    by_value: NDArray[np.int64],
    by_dtw: NDArray[np.int64],
    by_dtb: NDArray[np.int64],
) -> None:
    """Count how often each value occurs, in one pass over a slice.

    Args:
        results: the slice.
        by_value: int64 [256], counts by the byte in `results.value`.
        by_dtw: int64 [4 * 256], counts by DTW + 256 * (stored and decided) + 512 * (won).
        by_dtb: int64 [4 * 256], counts by DTB in the same way.
    """
    values, dtw, dtb = results.value, results.dtw, results.dtb
    with_scores, with_dtb = len(dtw) > 0, len(dtb) > 0
    for index in range(len(values)):
        found = signed(values[index])
        value = found & VALUE
        by_value[found] += 1
        won = (value & 1) << 9
        if with_scores:
            counted = found >= STORED and value <= CURSED_WIN
            by_dtw[won + (256 if counted else 0) + signed(dtw[index])] += 1
        if with_dtb:
            # A position without a DTC is drawn under the rules, whatever DTB the pass found for it.
            decided = value <= _GREATEST_WITH_DTC
            counted = found >= STORED and decided
            by_dtb[(won if decided else 0) + (256 if counted else 0) + signed(dtb[index])] += 1


@kernel
def _first_won(values: NDArray[np.uint8], mask: int, wanted: int, most: int, of: NDArray[np.uint8]) -> int:
    """Return the first index of a win with `values & mask == wanted`, or -1.

    Args:
        values: uint8 [position].
        mask: the bits of `values` to compare.
        wanted: the value to look for.
        most: the greatest value in `of` that counts.
        of: uint8 [position], the bytes of `Results.value`.
    """
    for index in range(len(values)):
        if signed(values[index]) & mask == wanted:
            value = signed(of[index]) & VALUE
            if value <= most and value & 1:
                return index
    return -1


@kernel
def _first_equal(values: NDArray[np.uint8], wanted: int) -> int:
    """Return the first index with this value, or -1."""
    for index in range(len(values)):
        if signed(values[index]) == wanted:
            return index
    return -1


@kernel
def _pack(
    values: NDArray[np.uint8],
    source: NDArray[np.uint8],
    taken: NDArray[np.bool_],
    symbol_of: NDArray[np.uint8],
    first: int,
    last: int,
    symbols: int,
    per_byte: int,
    out: NDArray[np.uint8],
) -> None:
    """Pack the symbols of the positions `first` to `last` - 1 into `out`, `per_byte` symbols a byte.

    A slot that no reader looks at (a position with a capture, or without a distance) repeats the symbol
    before it, or the first symbol of all if there is none before. In this way runs and repetitions grow
    longer, and the alphabet gets no more values.

    Args:
        values: uint8 [position], the bytes of `Results.value`.
        source: uint8 [position], the bytes that the stored values come from.
        taken: bool [256], by the byte in `values`, whether the position has a slot that is read.
        symbol_of: uint8 [256], symbols by the byte in `source`.
        first: the first position to pack.
        last: the position after the last one.
        symbols: symbols of the alphabet.
        per_byte: symbols in a byte.
        out: uint8 [byte], written.
    """
    at = first
    while at >= 0 and not taken[values[at]]:
        at -= 1
    if at < 0:
        at = first
        while at < len(values) and not taken[values[at]]:
            at += 1
    symbol = signed(symbol_of[source[at]]) if at < len(values) else 0
    number = 0
    index = first
    while index < last:
        packed = 0
        power = 1
        for _ in range(min(per_byte, last - index)):
            here = signed(symbol_of[source[index]])
            symbol = here if taken[values[index]] else symbol
            packed += symbol * power
            power *= symbols
            index += 1
        out[number] = packed
        number += 1


class SliceCounts:
    """Counts of each value of a solved slice, for its statistics and for the alphabets of its files."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._by_value = np.zeros(256, np.int64)
        self._by_dtw, self._by_dtb = np.zeros(4 * 256, np.int64), np.zeros(4 * 256, np.int64)
        _count(results, self._by_value, self._by_dtw, self._by_dtb)

    def packed(self, metric: Metric) -> tuple[tuple[int, ...], Callable[[int, int], bytes]]:
        """Return the alphabet of a metric's file, and a function that packs positions `first` to `last` - 1.

        The slice must have been solved with the metric. docs/format.md describes the packing.
        """
        results, value = self._results, np.arange(256) & VALUE
        source, most, stored = {
            Metric.WDL: (results.value, VALUE, WDL_OF[value].astype(np.int64)),
            Metric.DTC: (results.value, _GREATEST_WITH_DTC, value >> 1),
            Metric.DTB: (results.dtb, _GREATEST_WITH_DTC, np.arange(256)),
            Metric.DTW: (results.dtw, CURSED_WIN, np.arange(256) >> 1),
        }[metric]
        taken: NDArray[np.bool_] = (np.arange(256) >= STORED) & (value <= most)
        counts = {Metric.DTW: self._by_dtw, Metric.DTB: self._by_dtb}.get(metric)
        counted = self._by_value * taken if counts is None else counts.reshape(2, 2, 256)[:, 1].sum(axis=0)
        alphabet = np.unique(stored[counted > 0])
        if not len(alphabet):
            alphabet = np.zeros(1, np.int64)
        packing = Packing.of(len(alphabet))
        symbol_of = np.searchsorted(alphabet, stored).astype(np.uint8)

        def pack(first: int, last: int) -> bytes:
            out = np.empty(packing.packed_size(last - first), np.uint8)
            arrays = results.value, source, taken, symbol_of
            _pack(*arrays, first, last, packing.symbols, packing.per_byte, out)
            return out.tobytes()

        return tuple(alphabet.tolist()), pack

    def statistics(self, material: Material) -> Statistics:
        """Return the statistics of the slice, which count positions with a capture too.

        The longest DTW and DTB are None if the slice was solved without them.
        """
        results = self._results
        by_value = self._by_value[:STORED] + self._by_value[STORED:]
        loss, blessed_loss, draw, cursed_win, win = (
            int(by_value[np.equal(WDL_OF, wdl)].sum()) for wdl in range(_LOSS, _WIN + 1)
        )
        dtc_losses, dtc_wins = by_value[: _GREATEST_WITH_DTC + 1].reshape(-1, 2).T
        dtw_losses, dtw_wins = self._by_dtw.reshape(2, 2, 256).sum(axis=1)[:, :NOT_DECIDED]
        dtb_wins = self._by_dtb.reshape(2, 2, 256)[1].sum(axis=0)

        def longest(counts: NDArray[np.int64], first: Callable[[int], int]) -> tuple[int | None, str | None]:
            if not counts.any():
                return None, None
            plies = int(np.flatnonzero(counts)[-1])
            return plies, Position(*sets_at(material, first(plies))).to_fen()

        def first_dtc_win(plies: int) -> int:
            return _first_won(results.value, VALUE, 2 * plies + 1, VALUE, results.value)

        def first_dtb_win(plies: int) -> int:
            return _first_won(results.dtb, NOT_DECIDED, plies, _GREATEST_WITH_DTC, results.value)

        win_plies, win_fen = longest(dtw_wins, lambda plies: _first_equal(results.dtw, plies))
        loss_plies, loss_fen = longest(dtw_losses, lambda plies: _first_equal(results.dtw, plies))
        dtc_plies, dtc_fen = longest(dtc_wins, first_dtc_win)
        dtb_plies, dtb_fen = longest(dtb_wins, first_dtb_win)
        with_scores = len(results.dtw) > 0
        return Statistics(
            material=str(material),
            positions=material.positions,
            win=win,
            cursed_win=cursed_win,
            draw=draw,
            blessed_loss=blessed_loss,
            loss=loss,
            longest_win_plies=win_plies,
            longest_win_fen=win_fen,
            longest_loss_plies=loss_plies,
            longest_loss_fen=loss_fen,
            longest_dtc_win_plies=dtc_plies,
            longest_dtc_win_fen=dtc_fen,
            longest_dtb_win_plies=dtb_plies,
            longest_dtb_win_fen=dtb_fen,
            dtw_wins=_trimmed(dtw_wins) if with_scores else None,
            dtw_losses=_trimmed(dtw_losses) if with_scores else None,
            dtc_wins=_trimmed(dtc_wins),
            dtc_losses=_trimmed(dtc_losses),
        )


def _trimmed(counts: NDArray[np.int64]) -> tuple[int, ...]:
    """Return counts as a tuple without zeros at the end."""
    return tuple(np.trim_zeros(counts, "b").tolist())


def keep_longest(counted: Statistics, before: Statistics, kept: Iterable[Metric]) -> Statistics:
    """Return statistics completed by the longest distances of tables that are kept.

    Args:
        counted: statistics of a slice that was solved without some metrics.
        before: statistics of the slice from before.
        kept: the metrics of the tables that are kept.
    """
    names = [name for metric in kept for name in _OF_METRIC.get(metric, ())]
    return replace(counted, **{name: getattr(before, name) for name in names})
