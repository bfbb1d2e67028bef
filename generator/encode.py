"""From a solved slice to what its files store, and to its statistics."""

from collections.abc import Callable, Iterable
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
from tablebase.packing import Packing

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
def _tally(
    results: Results,
    values_of: NDArray[np.int64],
    dtw_of: NDArray[np.int64],
    dtb_of: NDArray[np.int64],
) -> None:
    """How often each value comes up, in one look at all: `values_of` [256] by byte; `dtw_of` [4 * 256] and
    `dtb_of` [4 * 256] by distance, and 256 * (1 if stored and decided) + 512 * (1 if won, or drawn)."""
    values, dtw, dtb = results.value, results.dtw, results.dtb
    with_scores, with_balance = len(dtw) > 0, len(dtb) > 0
    for index in range(len(values)):
        found = signed(values[index])
        value = found & VALUE
        values_of[found] += 1
        won = (value & 1) << 9
        if with_scores:
            counted = found >= STORED and value <= CURSED_WIN
            dtw_of[won + (256 if counted else 0) + signed(dtw[index])] += 1
        if with_balance:
            # Without a DTC a position is drawn under the rules, whatever the pass to the balance change found.
            if value > _GREATEST_WITH_DTC:
                won = 0
            counted = found >= STORED and value <= _GREATEST_WITH_DTC
            dtb_of[won + (256 if counted else 0) + signed(dtb[index])] += 1


@kernel
def _first_of(values: NDArray[np.uint8], mask: int, wanted: int, most: int, of: NDArray[np.uint8]) -> int:
    """The first index whose value, masked, is the wanted one, and is won with a value of `most` or less in
    `of`."""
    for index in range(len(values)):
        if signed(values[index]) & mask == wanted:
            value = signed(of[index]) & VALUE
            if value <= most and value & 1:
                return index
    return -1


@kernel
def _first_lost(values: NDArray[np.uint8], wanted: int) -> int:
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
    """The symbols of the positions `first` to `last` - 1, several a byte; a slot that nobody reads takes the
    symbol before it, or, where there is none, the first there is."""
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


class Tally:
    """How often each value of a solved slice comes up: what its statistics and the alphabets of its files are
    made of."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._values = np.zeros(256, np.int64)
        self._dtw, self._dtb = np.zeros(4 * 256, np.int64), np.zeros(4 * 256, np.int64)
        _tally(results, self._values, self._dtw, self._dtb)

    def packed(self, metric: Metric) -> tuple[tuple[int, ...], Callable[[int, int], bytes]]:
        """For the file of a metric: its alphabet, and what packs a run of its symbols."""
        results, value = self._results, np.arange(256) & VALUE
        source, most, stored = {
            Metric.WDL: (results.value, VALUE, WDL_OF[value].astype(np.int64)),
            Metric.DTC: (results.value, _GREATEST_WITH_DTC, value >> 1),
            Metric.DTB: (results.dtb, _GREATEST_WITH_DTC, np.arange(256)),
            Metric.DTW: (results.dtw, CURSED_WIN, np.arange(256) >> 1),
        }[metric]
        taken = (np.arange(256) >= STORED) & (value <= most)
        counts = {Metric.DTW: self._dtw, Metric.DTB: self._dtb}.get(metric)
        occurs = self._values > 0 if counts is None else counts.reshape(2, 2, 256)[:, 1].any(axis=0)
        alphabet = np.unique(stored[occurs & taken] if counts is None else stored[occurs])
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
        """The statistics, positions with a capture included. There is no longest DTW or DTB where the slice was
        solved without."""
        results = self._results
        by_value = self._values[:STORED] + self._values[STORED:]
        loss, blessed_loss, draw, cursed_win, win = (
            int(by_value[WDL_OF == wdl].sum()) for wdl in range(-2, 3)
        )
        by_dtc = by_value[: _GREATEST_WITH_DTC + 1].reshape(-1, 2)
        lost, won = (part.sum(axis=0)[:NOT_DECIDED] for part in self._dtw.reshape(2, 2, 256))
        with_scores = len(results.dtw) > 0
        longest = [
            self._longest(material, won, lambda plies: _first_lost(results.dtw, plies)),
            self._longest(material, lost, lambda plies: _first_lost(results.dtw, plies)),
            self._longest(
                material,
                by_dtc[:, 1],
                lambda plies: _first_of(results.value, VALUE, 2 * plies + 1, VALUE, results.value),
            ),
            self._longest(
                material,
                self._dtb.reshape(2, 2, 256)[1].sum(axis=0),
                lambda plies: _first_of(results.dtb, 255, plies, _GREATEST_WITH_DTC, results.value),
            ),
        ]

        def counted(counts: NDArray[np.int64]) -> tuple[int, ...]:
            return tuple(np.trim_zeros(counts, "b").tolist())

        return Statistics(
            str(material),
            material.positions,
            win,
            cursed_win,
            draw,
            blessed_loss,
            loss,
            *(field for pair in longest for field in pair),
            dtw_wins=counted(won) if with_scores else None,
            dtw_losses=counted(lost) if with_scores else None,
            dtc_wins=counted(by_dtc[:, 1]),
            dtc_losses=counted(by_dtc[:, 0]),
        )

    @staticmethod
    def _longest(
        material: Material, counts: NDArray[np.int64], first: Callable[[int], int]
    ) -> tuple[int | None, str | None]:
        if not counts.any():
            return None, None
        plies = int(np.flatnonzero(counts)[-1])
        own_men, own_kings, other_men, other_kings = sets_at(material, first(plies))
        return plies, Position(own_men, own_kings, other_men, other_kings).to_fen()


def statistics(material: Material, results: Results) -> Statistics:
    """The statistics of a solved slice."""
    return Tally(results).statistics(material)


def with_longest(counted: Statistics, before: Statistics, kept: Iterable[Metric]) -> Statistics:
    """What is `counted` of a slice that was solved without some metrics whose tables are `kept`, with the
    longest distances of these tables from `before`."""
    names = [name for metric in kept for name in _OF_METRIC.get(metric, ())]
    return replace(counted, **{name: getattr(before, name) for name in names})
