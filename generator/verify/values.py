"""The verifier's check of values in memory: each stored value against its successors."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.verify.derive import DTC, NO_LIMIT, ValueArrays, differences, fill_captures
from generator.verify.dtb import DtbCheck, WrongDtb
from generator.verify.findings import (
    Difference,
    Finding,
    dtb_finding,
    finding_of,
    outcome_finding,
    root_cause,
    stored_after,
)
from generator.verify.slices import Done, SliceSet
from generator.verify.two_counters import TwoCounts, balance_plies, count_together
from tablebase.board.material import Material
from tablebase.kernels.jit import interruptible
from tablebase.rules.rulesets import Ruleset
from tablebase.tables.format import Metric

_CHUNK = 1 << 15  # positions a task
_DIFFERENCES_A_CHUNK = 256
_READ_BYTES = 4  # per position of a slice while it is read
_COUNT_BYTES = 7  # per position of a slice and its mirror while both counts are derived


class Longest(NamedTuple):
    """The greatest distance in plies, None without one, and the indices of the positions that have it."""

    plies: int | None
    indices: NDArray[np.int64]


class InMemoryValues(SliceSet):
    """All values of a set of tables in memory, except DTB. `memory_of` tells how many bytes that takes.

    The arguments are those of `SliceSet`.

    Raises:
        TableError: a table cannot be read.
    """

    def __init__(
        self,
        directory: Path,
        slices: Iterable[Material],
        metrics: Sequence[Metric],
        ruleset: Ruleset,
        pool: Executor,
        jobs: int,
    ) -> None:
        super().__init__(directory, slices, metrics, ruleset, pool, jobs)
        self._filled = False
        self._longest_dtb: dict[Material, Longest] = {}
        slots = int(self.layout.start[-1])
        self._arena = ValueArrays(
            self.layout,
            np.empty(slots, np.int8),
            np.empty(slots if Metric.DTC in metrics else 1, _dtc_type(ruleset)),
            np.empty(slots if Metric.DTW in metrics else 1, np.uint16),
        )
        for material in self.slices:
            self._load(material)

    def _load(self, material: Material) -> None:
        def read(metric: Metric) -> NDArray[np.int16]:
            return self._read(material, metric)

        # Clip, so that a value out of range cannot wrap to a right one.
        wdl, dtc, dtw = self.values_of(material)
        wdl[:] = np.clip(read(Metric.WDL), -100, 100)
        if dtc is not None:
            dtc[:] = np.clip(read(Metric.DTC), 0, np.iinfo(dtc.dtype).max)
        if dtw is not None:
            # The file stores half the plies: a win takes an odd number of plies, a loss an even one.
            dtw[:] = np.clip(read(Metric.DTW), 0, None)
            dtw *= 2
            dtw += wdl > 0

    def _read(self, material: Material, metric: Metric) -> NDArray[np.int16]:
        with self.open_table(material, metric) as table:
            return table.read_all(self._pool.map)

    def values_of(
        self, material: Material
    ) -> tuple[NDArray[np.int8], NDArray[Any] | None, NDArray[np.uint16] | None]:
        """Return views of outcomes, DTC and DTW of a slice; None for a metric that is not loaded."""
        slice_id = self._slice_ids[material]
        span = slice(int(self.layout.start[slice_id]), int(self.layout.start[slice_id + 1]))
        return (
            self._arena.wdl[span],
            self._arena.dtc[span] if Metric.DTC in self.metrics else None,
            self._arena.dtw[span] if Metric.DTW in self.metrics else None,
        )

    def longest_dtb(self, material: Material) -> Longest | None:
        """Return the greatest DTB of a win of a slice, or None if `compare` has not derived it."""
        return self._longest_dtb.get(material)

    @property
    def arena(self) -> ValueArrays:
        """The arrays of values. Those of capture positions are valid after `fill` only."""
        return self._arena

    def compile(self) -> None:
        """Compile or load the kernels in the calling thread, so that Ctrl-C can stop it."""
        with interruptible():
            self._fill_chunk((0, 0, 0))
            self._differences(0, np.empty(0, np.int64))

    # Every value

    def fill(self, done: Done) -> int:
        """Derive the values of capture positions, which tables do not store, and return their number."""
        found = 0
        for tier in self.tiers:
            slice_ids = [self._slice_ids[material] for pair in tier for material in pair]
            chunks = [
                (slice_id, first, min(first + _CHUNK, self.slices[slice_id].positions))
                for slice_id in slice_ids
                for first in range(0, self.slices[slice_id].positions, _CHUNK)
            ]
            # Captures lead to smaller tiers only, so a whole tier can be filled at once.
            for (_, first, last), count in self.run(self._fill_chunk, chunks):
                found += count
                done(last - first)
        self._filled = True
        return found

    def _fill_chunk(self, chunk: tuple[int, int, int]) -> int:
        return int(fill_captures(self._arena, *chunk, True))

    def compare(self, done: Done) -> tuple[int, Finding | None]:
        """Compare every value with its successors; return their number and the first finding."""
        return self._compare(
            lambda slice_id: (
                np.arange(first, min(first + _CHUNK, self.slices[slice_id].positions))
                for first in range(0, self.slices[slice_id].positions, _CHUNK)
            ),
            done,
        )

    def compare_sample(self, part: float, seed: int, done: Done) -> tuple[int, Finding | None]:
        """Compare a random sample of each slice; return its size and the first finding.

        Args:
            part: the part of the positions of each slice.
            seed: the random seed.
            done: called with each number of positions that are done.
        """

        def chosen(slice_id: int) -> Iterator[NDArray[np.int64]]:
            indices = self.sampled(slice_id, part, seed)
            for first in range(0, len(indices), _CHUNK):
                yield indices[first : first + _CHUNK]

        return self._compare(chosen, done, (part, seed))

    def _compare(
        self,
        indices: Callable[[int], Iterator[NDArray[np.int64]]],
        done: Done,
        sample: tuple[float, int] | None = None,
    ) -> tuple[int, Finding | None]:
        compared = 0
        for pair in (pair for tier in self.tiers for pair in tier):
            counts = self.count_together(pair) if self._filled else None
            found: list[Difference] = []
            chunks = (
                (self._slice_ids[material], chunk)
                for material in pair
                for chunk in indices(self._slice_ids[material])
            )
            for (_, chunk), (count, more) in self.run(self._compare_chunk, chunks):
                compared += count
                found += more
                done(len(chunk))
            wrong = root_cause(self, found, self._filled) if found else None
            if counts is not None:
                counts.restore(self._arena)
                if finding := self._wrong_together(pair, counts, wrong):
                    return compared, finding
            if wrong is not None:
                return compared, finding_of(self, wrong)
            if finding := self._wrong_dtb(pair, counts, sample):
                return compared, finding
        return compared, None

    def count_together(self, pair: tuple[Material, ...]) -> TwoCounts | None:
        """Derive both counts of a slice and its mirror, or return None if the slice has no second count.

        Call it after `fill`. The arena has the outcomes under the count of king moves alone until `restore`
        is called.
        """
        if not self.ruleset.counts_material_separately(pair[0]):
            return None
        slice_ids = self._slice_ids[pair[0]], self._slice_ids[pair[-1]]
        return count_together(self._arena, *slice_ids, self.king_limit(pair[0]), self._pool.map)

    def _compare_chunk(self, chunk: tuple[int, NDArray[np.int64]]) -> tuple[int, list[Difference]]:
        return self._differences(*chunk)

    def _differences(self, slice_id: int, indices: NDArray[np.int64]) -> tuple[int, list[Difference]]:
        out = np.empty((_DIFFERENCES_A_CHUNK, 5), np.int64)
        limit = self.king_limit(self.slices[slice_id])
        compared, found = differences(self._arena, slice_id, indices, self._filled, limit, out)
        rows = [Difference(slice_id, *row) for row in out[: min(found, len(out))].tolist()]
        return compared, rows if self._filled else [row for row in rows if not self._is_open(row)]

    def _is_open(self, found: Difference) -> bool:
        """Whether a difference may be caused by both counts together, which a sample does not derive here."""
        material = self.slices[found.slice_id]
        start = self.layout.start
        stored = int(self._arena.wdl[int(start[found.slice_id]) + found.index])
        if not self.may_come_of_two_counts(found.slice_id, found.metric, stored, found.wdl):
            return False
        return abs(stored) == 1 or any(
            self.slices[slice_id] in (material, material.mirror)
            and abs(self._arena.wdl[int(start[slice_id]) + index]) == 1
            for slice_id, index in stored_after(self.layout, found.slice_id, found.index)
        )

    def differing(self, slice_id: int, indices: NDArray[np.int64]) -> list[Difference]:
        """Return the differences at rising indices of a slice."""
        return self._differences(slice_id, indices)[1]

    @contextmanager
    def assume_derived(self, suspect: Difference) -> Iterator[None]:
        """Use the derived values of `suspect` in place of its stored ones, inside a `with` block."""
        slot = int(self.layout.start[suspect.slice_id]) + suspect.index
        right = {Metric.WDL: suspect.wdl, Metric.DTC: suspect.dtc, Metric.DTW: suspect.dtw}
        stored = {Metric.WDL: self._arena.wdl, Metric.DTC: self._arena.dtc, Metric.DTW: self._arena.dtw}
        metrics = stored.keys() & set(self.metrics)
        before = {metric: stored[metric][slot] for metric in metrics}
        for metric in metrics:
            stored[metric][slot] = right[metric]
        try:
            yield
        finally:
            for metric in metrics:
                stored[metric][slot] = before[metric]

    def _wrong_together(
        self, pair: tuple[Material, ...], counts: TwoCounts, found: Difference | None
    ) -> Finding | None:
        """Return what is wrong with the outcomes of a slice and its mirror under both counts, or None.

        If a wrong DTC was `found`, only its position is checked: a wrong outcome would explain the DTC. If
        another metric was `found`, nothing is checked.
        """
        if found is not None and found.metric != DTC:
            return None
        plies = balance_plies(pair[0], self.ruleset)
        assert plies is not None
        wrong = counts.wrong(plies)
        start = self.layout.start
        slots = wrong if found is None else wrong[wrong == start[found.slice_id] + found.index]
        if not len(slots):
            return None
        slice_id = int(np.searchsorted(start, slots[0], side="right")) - 1
        wdl = int(self._arena.wdl[slots[0]])
        return outcome_finding(self, slice_id, int(slots[0] - start[slice_id]), wdl, plies, len(wrong))

    def _wrong_dtb(
        self, pair: tuple[Material, ...], counts: TwoCounts | None, sample: tuple[float, int] | None
    ) -> Finding | None:
        """Return what is wrong with the DTB of a slice and its mirror, or None.

        All positions are checked if there are `counts`. Else whole blocks are sampled, and their outcomes
        under both counts are checked too.
        """
        if Metric.DTB not in self.metrics or not self.ruleset.counts_material_separately(pair[0]):
            return None
        plies = balance_plies(pair[0], self.ruleset)
        assert plies is not None
        # Read as unsigned, so that a negative value exceeds every valid DTB and is reported.
        stored = np.concatenate([self._read(m, Metric.DTB) for m in pair]).view(np.uint16)
        slice_ids = self._slice_ids[pair[0]], self._slice_ids[pair[-1]]
        check = DtbCheck(self._arena, *slice_ids, self.king_limit(pair[0]), plies, stored, self._pool.map)
        wrong = None
        if counts is not None:
            wrong = check.first_wrong(counts)
            for material in pair:
                self._longest_dtb[material] = self._longest_of(material, counts)
        elif sample is not None:
            wrong = check.first_wrong_of_sample(*sample)
        return None if wrong is None else self._finding_of_dtb(wrong, plies)

    def _longest_of(self, material: Material, counts: TwoCounts) -> Longest:
        wdl, _, _ = self.values_of(material)
        start = int(self.layout.start[self._slice_ids[material]]) - counts.first
        needed = counts.balance_needed[start : start + len(wdl)]
        won = wdl == 2
        if not won.any():
            return Longest(None, np.zeros(0, np.int64))
        plies = int(needed.max(where=won, initial=0))
        return Longest(plies, np.flatnonzero(won & (needed == plies)))

    def _finding_of_dtb(self, wrong: WrongDtb, plies: int) -> Finding:
        wdl = int(self._arena.wdl[int(self.layout.start[wrong.slice_id]) + wrong.index])
        if abs(wdl) != 2 or wrong.needed > plies:
            return outcome_finding(self, wrong.slice_id, wrong.index, wdl, plies, None)
        return dtb_finding(self, wrong.slice_id, wrong.index, wdl, wrong.needed)


def memory_of(slices: Iterable[Material], metrics: Sequence[Metric], ruleset: Ruleset) -> int:
    """Return about how many bytes of memory `InMemoryValues` needs.

    That is 4 bytes a position with all metrics, or 5 if king moves have no limit. Reading a slice, and
    deriving both counts of a pair, need more for a while.
    """
    slices = list(slices)
    a_position = 1 + 2 * (Metric.DTW in metrics)
    if Metric.DTC in metrics:
        a_position += np.dtype(_dtc_type(ruleset)).itemsize
    apart = (
        m.positions + (0 if m == m.mirror else m.mirror.positions)
        for m in slices
        if ruleset.counts_material_separately(m)
    )
    work = max(_READ_BYTES * max(m.positions for m in slices), _COUNT_BYTES * max(apart, default=0))
    return a_position * sum(m.positions for m in slices) + work


def _dtc_type(ruleset: Ruleset) -> type[np.unsignedinteger]:
    narrow = (ruleset.king_moves_plies or NO_LIMIT) < np.iinfo(np.uint8).max
    return np.uint8 if narrow else np.uint16
