"""The part of verification that looks at values: each one against its successors."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.verify.derive import DTC, NO_LIMIT, ValueArrays, differences, fill_captures
from generator.verify.dtb import DtbCheck, WrongDtb
from generator.verify.problems import (
    Difference,
    Problem,
    culprit,
    dtb_problem,
    outcome_problem,
    problem_of,
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
# Of a slice while it is read, and of a slice and its mirror while two counts are worked out, a position.
_READ_BYTES = 4
_COUNT_BYTES = 7


class Longest(NamedTuple):
    """The greatest distance in plies that occurs, None where there is none, and the indices that have it."""

    plies: int | None
    places: NDArray[np.int64]


class Values(SliceSet):
    """All values of a set of tables but DTB, in memory, as many bytes as `memory_of` tells.

    Args as of `SliceSet`.

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

        # Clipped, not wrapped, so that a value out of range cannot turn into a right one.
        wdl, dtc, dtw = self.values_of(material)
        wdl[:] = np.clip(read(Metric.WDL), -100, 100)
        if dtc is not None:
            dtc[:] = np.clip(read(Metric.DTC), 0, np.iinfo(dtc.dtype).max)
        if dtw is not None:
            # The file holds half the plies: a win takes an odd number of them, a loss an even one.
            dtw[:] = np.clip(read(Metric.DTW), 0, None)
            dtw *= 2
            dtw += wdl > 0

    def _read(self, material: Material, metric: Metric) -> NDArray[np.int16]:
        with self.open_table(material, metric) as table:
            return table.read_all(self._pool.map)

    def values_of(
        self, material: Material
    ) -> tuple[NDArray[np.int8], NDArray[Any] | None, NDArray[np.uint16] | None]:
        """Views of the outcomes, DTC and DTW of a slice; None for what is not there."""
        number = self._numbers[material]
        span = slice(int(self.layout.start[number]), int(self.layout.start[number + 1]))
        return (
            self._arena.wdl[span],
            self._arena.dtc[span] if Metric.DTC in self.metrics else None,
            self._arena.dtw[span] if Metric.DTW in self.metrics else None,
        )

    def longest_dtb(self, material: Material) -> Longest | None:
        """The greatest DTB of a win of a slice, and all positions that have it, as `compare` has worked them
        out; None where it has not."""
        return self._longest_dtb.get(material)

    @property
    def arena(self) -> ValueArrays:
        """The values themselves; those of positions with a capture mean something after `fill` only."""
        return self._arena

    def compile(self) -> None:
        """Have the kernels compiled (or loaded) in the calling thread, where Ctrl-C can stop that."""
        with interruptible():
            self._fill_chunk((0, 0, 0))
            self._differences(0, np.empty(0, np.int64))

    # Every value

    def fill(self, done: Done) -> int:
        """Work out the positions with a capture, which tables do not store; how many there are."""
        found = 0
        for tier in self.tiers:
            numbers = [self._numbers[material] for pair in tier for material in pair]
            chunks = [
                (number, first, min(first + _CHUNK, self.slices[number].positions))
                for number in numbers
                for first in range(0, self.slices[number].positions, _CHUNK)
            ]
            # A capture leads to a smaller tier, so all of a tier may be filled at once.
            for (_, first, last), count in self.run(self._fill_chunk, chunks):
                found += count
                done(last - first)
        self._filled = True
        return found

    def _fill_chunk(self, chunk: tuple[int, int, int]) -> int:
        return int(fill_captures(self._arena, *chunk, True))

    def compare(self, done: Done) -> tuple[int, Problem | None]:
        """Compare every value with its successors': how many, and the first that is wrong."""
        return self._compare(
            lambda number: (
                np.arange(first, min(first + _CHUNK, self.slices[number].positions))
                for first in range(0, self.slices[number].positions, _CHUNK)
            ),
            done,
        )

    def compare_sample(self, part: float, seed: int, done: Done) -> tuple[int, Problem | None]:
        """The same for a part of the positions of each slice, chosen at random."""

        def chosen(number: int) -> Iterator[NDArray[np.int64]]:
            indices = self.sampled(number, part, seed)
            for first in range(0, len(indices), _CHUNK):
                yield indices[first : first + _CHUNK]

        return self._compare(chosen, done, (part, seed))

    def _compare(
        self,
        indices: Callable[[int], Iterator[NDArray[np.int64]]],
        done: Done,
        sample: tuple[float, int] | None = None,
    ) -> tuple[int, Problem | None]:
        compared = 0
        for pair in (pair for tier in self.tiers for pair in tier):
            counts = self.count_together(pair) if self._filled else None
            found: list[Difference] = []
            chunks = (
                (self._numbers[material], chunk)
                for material in pair
                for chunk in indices(self._numbers[material])
            )
            for (_, chunk), (count, more) in self.run(self._compare_chunk, chunks):
                compared += count
                found += more
                done(len(chunk))
            wrong = culprit(self, found, self._filled) if found else None
            if counts is not None:
                counts.restore(self._arena)
                if problem := self._wrong_together(pair, counts, wrong):
                    return compared, problem
            if wrong is not None:
                return compared, problem_of(self, wrong)
            if problem := self._wrong_dtb(pair, counts, sample):
                return compared, problem
        return compared, None

    def count_together(self, pair: tuple[Material, ...]) -> TwoCounts | None:
        """Both counts of a slice and its mirror, after `fill`; None where they do not run apart.

        The arena holds what the count of king moves alone makes of the two slices until `restore` is called.
        """
        if not self.ruleset.counts_material_separately(pair[0]):
            return None
        numbers = self._numbers[pair[0]], self._numbers[pair[-1]]
        return count_together(self._arena, *numbers, self.king_limit(pair[0]), self._pool.map)

    def _compare_chunk(self, chunk: tuple[int, NDArray[np.int64]]) -> tuple[int, list[Difference]]:
        return self._differences(*chunk)

    def _differences(self, number: int, indices: NDArray[np.int64]) -> tuple[int, list[Difference]]:
        out = np.empty((_DIFFERENCES_A_CHUNK, 5), np.int64)
        limit = self.king_limit(self.slices[number])
        compared, found = differences(self._arena, number, indices, self._filled, limit, out)
        rows = [Difference(number, *row) for row in out[: min(found, len(out))].tolist()]
        return compared, rows if self._filled else [row for row in rows if not self._is_open(row)]

    def _is_open(self, found: Difference) -> bool:
        """Whether a difference may come from two counts that a sample does not work out."""
        material = self.slices[found.which]
        start = self.layout.start
        stored = int(self._arena.wdl[int(start[found.which]) + found.place])
        if not self.may_come_of_two_counts(found.which, found.metric, stored, found.wdl):
            return False
        return abs(stored) == 1 or any(
            self.slices[number] in (material, material.mirror)
            and abs(self._arena.wdl[int(start[number]) + index]) == 1
            for number, index in stored_after(self.layout, found.which, found.place)
        )

    def differing(self, number: int, indices: NDArray[np.int64]) -> list[Difference]:
        """Of some positions of a slice, at rising indices, those that do not follow from their successors."""
        return self._differences(number, indices)[1]

    @contextmanager
    def put_right(self, suspect: Difference) -> Iterator[None]:
        """For a while, take what follows from its successors for what is stored."""
        slot = int(self.layout.start[suspect.which]) + suspect.place
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
    ) -> Problem | None:
        """What is wrong with the outcomes of a slice and its mirror under both counts, if anything. Of a
        position `found` with a wrong DTC, too, the outcome, which makes it so; nothing where the fault is
        another.
        """
        if found is not None and found.metric != DTC:
            return None
        plies = balance_plies(pair[0], self.ruleset)
        assert plies is not None
        wrong = counts.wrong(plies)
        start = self.layout.start
        slots = wrong if found is None else wrong[wrong == start[found.which] + found.place]
        if not len(slots):
            return None
        number = int(np.searchsorted(start, slots[0], side="right")) - 1
        wdl = int(self._arena.wdl[slots[0]])
        return outcome_problem(self, number, int(slots[0] - start[number]), wdl, plies, len(wrong))

    def _wrong_dtb(
        self, pair: tuple[Material, ...], counts: TwoCounts | None, sample: tuple[float, int] | None
    ) -> Problem | None:
        """What is wrong with the DTB of a slice and its mirror, if anything: of all positions by their
        `counts`, or of a `sample`, with outcomes under both counts in it."""
        if Metric.DTB not in self.metrics or not self.ruleset.counts_material_separately(pair[0]):
            return None
        plies = balance_plies(pair[0], self.ruleset)
        assert plies is not None
        # Below nought is far beyond what is ever right, read without a sign.
        stored = np.concatenate([self._read(m, Metric.DTB) for m in pair]).view(np.uint16)
        numbers = self._numbers[pair[0]], self._numbers[pair[-1]]
        check = DtbCheck(self._arena, *numbers, self.king_limit(pair[0]), plies, stored, self._pool.map)
        wrong = None
        if counts is not None:
            wrong = check.first_wrong(counts)
            for material in pair:
                self._longest_dtb[material] = self._longest_of(material, counts)
        elif sample is not None:
            wrong = check.first_wrong_of_sample(*sample)
        return None if wrong is None else self._problem_of_dtb(wrong, plies)

    def _longest_of(self, material: Material, counts: TwoCounts) -> Longest:
        wdl, _, _ = self.values_of(material)
        start = int(self.layout.start[self._numbers[material]]) - counts.first
        needed = counts.balance_needed[start : start + len(wdl)]
        won = wdl == 2
        if not won.any():
            return Longest(None, np.zeros(0, np.int64))
        plies = int(needed.max(where=won, initial=0))
        return Longest(plies, np.flatnonzero(won & (needed == plies)))

    def _problem_of_dtb(self, wrong: WrongDtb, plies: int) -> Problem:
        wdl = int(self._arena.wdl[int(self.layout.start[wrong.number]) + wrong.place])
        if abs(wdl) != 2 or wrong.needed > plies:
            return outcome_problem(self, wrong.number, wrong.place, wdl, plies, None)
        return dtb_problem(self, wrong.number, wrong.place, wdl, wrong.needed)


def memory_of(slices: Iterable[Material], metrics: Sequence[Metric], ruleset: Ruleset) -> int:
    """Bytes of memory, about, that `Values` takes: 4 a position with all metrics, or 5 where king
    moves have no limit, and what it takes to read a slice, or to work out where both counts run."""
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
