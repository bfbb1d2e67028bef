"""The part of verification that looks at values: each one against its successors."""

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from generator.derivation import DTC, DTW, NO_LIMIT, WDL, Arena, differences, fill_captures
from generator.dtbcheck import DtbCheck, WrongDtb
from generator.problem import Problem
from generator.twocounts import TwoCounts, balance_plies, count_together, king_plies
from tablebase.board import Position
from tablebase.drawrules import Ruleset
from tablebase.format import Metric, dtw_plies, table_name
from tablebase.kernels.jit import interruptible
from tablebase.kernels.movegen import has_capture, new_buffer, successors
from tablebase.kernels.scalarindex import layout_of, sets_at, slot_of
from tablebase.material import Material, materials
from tablebase.outcome import Outcome
from tablebase.table import Table

_CHUNK = 1 << 15  # positions a task
_DIFFERENCES_A_CHUNK = 256
_SUSPECTS = 256  # how many wrong values are looked into for the one that makes the others wrong
_EXPANDED = 16  # of how many, in a sample, the successors are looked into as well
_LEAST_SAMPLE = 256  # positions of a slice

_METRICS = {WDL: Metric.WDL, DTC: Metric.DTC, DTW: Metric.DTW}

_Result = TypeVar("_Result")

Done = Callable[[int], None]
"""Told of each number of positions that are done with."""


class _Difference(NamedTuple):
    """A stored value that does not follow from its successors, and all that does."""

    which: int
    place: int  # its index in the slice
    metric: int
    wdl: int
    dtc: int
    dtw: int


class Longest(NamedTuple):
    """The greatest distance in plies that occurs, None where there is none, and the indices that have it."""

    plies: int | None
    places: NDArray[np.int64]


class Values:
    """All values of a set of tables but DTB, in memory: 4 bytes a position, or 5 where king moves have no
    limit. A slice in which two counts run takes 7 more while its values are compared.

    Args:
        directory: where the tables are.
        slices: the slices; whatever their moves lead to is among them.
        metrics: those that are there for every slice; DTB for those that it fits. WDL must be.
        ruleset: the rules that the values assume.
        pool: threads to work with.
        jobs: how many.

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
        self._directory = directory
        self._pool = pool
        self._jobs = jobs
        self._metrics = metrics
        self._ruleset = ruleset
        self._tiers = _tiers(slices)
        self._slices = [material for tier in self._tiers for pair in tier for material in pair]
        self._numbers = {material: number for number, material in enumerate(self._slices)}
        self._filled = False
        self._longest_dtb: dict[Material, Longest] = {}
        layout = layout_of(self._slices)
        slots = int(layout.start[-1])
        narrow = (ruleset.king_moves_plies or NO_LIMIT) < np.iinfo(np.uint8).max
        self._arena = Arena(
            layout,
            np.empty(slots, np.int8),
            np.empty(slots if Metric.DTC in metrics else 1, np.uint8 if narrow else np.uint16),
            np.empty(slots if Metric.DTW in metrics else 1, np.uint16),
        )
        for material in self._slices:
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
        with self._table(material, metric) as table:
            return table.read_all(self._pool.map)

    def _table(self, material: Material, metric: Metric) -> Table:
        return Table(self._directory / table_name(material, metric))

    def values_of(
        self, material: Material
    ) -> tuple[NDArray[np.int8], NDArray[Any] | None, NDArray[np.uint16] | None]:
        """Views of the outcomes, DTC and DTW of a slice; None for what is not there."""
        number = self._numbers[material]
        span = slice(int(self._arena.layout.start[number]), int(self._arena.layout.start[number + 1]))
        return (
            self._arena.wdl[span],
            self._arena.dtc[span] if Metric.DTC in self._metrics else None,
            self._arena.dtw[span] if Metric.DTW in self._metrics else None,
        )

    def longest_dtb(self, material: Material) -> Longest | None:
        """The greatest DTB of a win of a slice, and all positions that have it, as `compare` has worked them
        out; None where it has not."""
        return self._longest_dtb.get(material)

    def metrics_of(self, material: Material) -> list[Metric]:
        """The metrics of a slice."""
        return [metric for metric in self._metrics if metric.fits(material, self._ruleset)]

    @property
    def arena(self) -> Arena:
        """The values themselves; those of positions with a capture mean something after `fill` only."""
        return self._arena

    def number(self, material: Material) -> int:
        """The number of a slice in the layout of the arena. Raises KeyError where it is not there."""
        return self._numbers[material]

    @property
    def two_counts(self) -> bool:
        """Whether there is a slice in which a man's step gives back one count and not the other."""
        return any(self._ruleset.counts_apart(material) for material in self._slices)

    def compile(self) -> None:
        """Have the kernels compiled (or loaded) in the calling thread, where Ctrl-C can stop that."""
        with interruptible():
            self._fill_chunk((0, 0, 0))
            self._differences(0, np.empty(0, np.int64))

    def sample_size(self, part: float) -> int:
        """How many positions `compare_sample` looks at."""
        return sum(_sample_of(material, part) for material in self._slices)

    # Every value

    def fill(self, done: Done) -> int:
        """Work out the positions with a capture, which tables do not store; how many there are."""
        found = 0
        for tier in self._tiers:
            numbers = [self._numbers[material] for pair in tier for material in pair]
            chunks = [
                (number, first, min(first + _CHUNK, self._slices[number].positions))
                for number in numbers
                for first in range(0, self._slices[number].positions, _CHUNK)
            ]
            # A capture leads to a smaller tier, so all of a tier may be filled at once.
            for (_, first, last), count in self._run(self._fill_chunk, chunks):
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
                np.arange(first, min(first + _CHUNK, self._slices[number].positions))
                for first in range(0, self._slices[number].positions, _CHUNK)
            ),
            done,
        )

    def compare_sample(self, part: float, seed: int, done: Done) -> tuple[int, Problem | None]:
        """The same for a part of the positions of each slice, chosen at random."""

        def chosen(number: int) -> Iterator[NDArray[np.int64]]:
            material = self._slices[number]
            # One from each of as many equal spans as positions are wanted: rising, and none twice.
            size = _sample_of(material, part)
            edges = np.arange(size + 1) * material.positions // size
            random = np.random.default_rng((seed, number))
            indices = random.integers(edges[:-1], edges[1:])
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
        for pair in (pair for tier in self._tiers for pair in tier):
            counts = self.count_together(pair) if self._filled else None
            found: list[_Difference] = []
            chunks = (
                (self._numbers[material], chunk)
                for material in pair
                for chunk in indices(self._numbers[material])
            )
            for (_, chunk), (count, more) in self._run(self._compare_chunk, chunks):
                compared += count
                found += more
                done(len(chunk))
            culprit = self._culprit(found) if found else None
            if counts is not None:
                counts.restore(self._arena)
                if problem := self._wrong_together(pair, counts, culprit):
                    return compared, problem
            if culprit is not None:
                return compared, self._describe(culprit)
            if problem := self._wrong_dtb(pair, counts, sample):
                return compared, problem
        return compared, None

    def count_together(self, pair: tuple[Material, ...]) -> TwoCounts | None:
        """Both counts of a slice and its mirror, after `fill`; None where they do not run apart.

        The arena holds what the count of king moves alone makes of the two slices until `restore` is called.
        """
        if not self._ruleset.counts_apart(pair[0]):
            return None
        numbers = self._numbers[pair[0]], self._numbers[pair[-1]]
        return count_together(self._arena, *numbers, self._king_plies(pair[0]), self._pool.map)

    def _king_plies(self, material: Material) -> int:
        plies = king_plies(material, self._ruleset)
        return NO_LIMIT if plies is None else plies

    def _compare_chunk(self, chunk: tuple[int, NDArray[np.int64]]) -> tuple[int, list[_Difference]]:
        return self._differences(*chunk)

    def _differences(self, number: int, indices: NDArray[np.int64]) -> tuple[int, list[_Difference]]:
        out = np.empty((_DIFFERENCES_A_CHUNK, 5), np.int64)
        limit = self._king_plies(self._slices[number])
        compared, found = differences(self._arena, number, indices, self._filled, limit, out)
        rows = [_Difference(number, *row) for row in out[: min(found, len(out))].tolist()]
        return compared, rows if self._filled else [row for row in rows if not self._is_open(row)]

    def _is_open(self, found: _Difference) -> bool:
        """Whether a difference may come from two counts that a sample does not work out: on the board all is
        right, and the position or one after it is drawn under the rules, though a count alone may let it
        stand."""
        material = self._slices[found.which]
        slot = int(self._arena.layout.start[found.which]) + found.place
        stored = int(self._arena.wdl[slot])
        same_on_board = np.sign(stored) == np.sign(found.wdl)
        if not self._ruleset.counts_apart(material) or found.metric == DTW or not same_on_board:
            return False
        return abs(stored) == 1 or any(
            self._slices[number] in (material, material.mirror)
            and abs(self._arena.wdl[int(self._arena.layout.start[number]) + index]) == 1
            for number, index in self._stored_after(found)
        )

    def _run(self, work: Callable[[Any], _Result], tasks: Iterable[Any]) -> Iterator[tuple[Any, _Result]]:
        """Each task with its result, in order. Only a few are under way, so that one can stop early."""
        waiting: deque[Any] = deque()
        for task in tasks:
            waiting.append((task, self._pool.submit(work, task)))
            if len(waiting) > 4 * self._jobs:
                first, future = waiting.popleft()
                yield first, future.result()
        for first, future in waiting:
            yield first, future.result()

    # The place of a fault

    def _culprit(self, found: list[_Difference]) -> _Difference:
        """The one wrong value that makes all the others wrong, if there is one; else the first.

        A wrong value is found at its own place, and again at each position from which a move leads to it. Of
        several suspects, the one is guilty without which all is right.
        """
        suspects = found[:_SUSPECTS]
        known = {(suspect.which, suspect.place) for suspect in suspects}
        if not self._filled:  # of a sample only: the fault may stand a move further on
            for suspect in found[:_EXPANDED]:
                for place in self._stored_after(suspect):
                    if place not in known:
                        known.add(place)
                        suspects += self._differences(place[0], np.array(place[1:], np.int64))[1]
        if len(suspects) == 1:
            return suspects[0]
        return next((suspect for suspect in suspects if self._explains(suspect, suspects)), suspects[0])

    def _explains(self, suspect: _Difference, suspects: list[_Difference]) -> bool:
        """Whether nothing is wrong with any of the suspects when this one's values are put right."""
        slot = int(self._arena.layout.start[suspect.which]) + suspect.place
        right = {Metric.WDL: suspect.wdl, Metric.DTC: suspect.dtc, Metric.DTW: suspect.dtw}
        stored = {Metric.WDL: self._arena.wdl, Metric.DTC: self._arena.dtc, Metric.DTW: self._arena.dtw}
        metrics = stored.keys() & set(self._metrics)
        before = {metric: stored[metric][slot] for metric in metrics}
        places: dict[int, list[int]] = {}
        for other in suspects:
            places.setdefault(other.which, []).append(other.place)
        for metric in metrics:
            stored[metric][slot] = right[metric]
        try:
            return not any(
                self._differences(number, np.array(sorted(indices), np.int64))[1]
                for number, indices in places.items()
            )
        finally:
            for metric in metrics:
                stored[metric][slot] = before[metric]

    def _stored_after(self, suspect: _Difference) -> Iterator[tuple[int, int]]:
        """The stored positions whose values decide a position's: a move on, and any captures behind it."""
        layout = self._arena.layout
        buffer = new_buffer()
        waiting = [sets_at(layout, suspect.which, suspect.place)]
        while waiting:
            own_men, own_kings, other_men, other_kings = waiting.pop()
            count = successors(own_men, own_kings, other_men, other_kings, buffer)
            for own_men, own_kings, other_men, other_kings in buffer[:count].tolist():
                if not own_men | own_kings:
                    continue
                if has_capture(own_men, own_kings, other_men, other_kings):
                    waiting.append((own_men, own_kings, other_men, other_kings))
                    continue
                slot = slot_of(layout, own_men, own_kings, other_men, other_kings)
                number = int(np.searchsorted(layout.start, slot, side="right")) - 1
                yield number, slot - int(layout.start[number])

    def _describe(self, wrong: _Difference) -> Problem:
        material = self._slices[wrong.which]
        metric = _METRICS[wrong.metric]
        fen = self._fen(wrong.which, wrong.place)
        with self._table(material, metric) as table:
            in_file = table.value(wrong.place)
        stored: Outcome | int | None
        derived: Outcome | int
        if metric is Metric.WDL:
            stored = Outcome.from_wdl(in_file) if -2 <= in_file <= 2 else None
            derived = Outcome.from_wdl(wrong.wdl)
            what = f"the stored outcome is {stored or in_file}, but its moves make it {derived}"
        else:
            stored = in_file if metric is Metric.DTC else dtw_plies(in_file, wrong.wdl > 0)
            derived = wrong.dtc if metric is Metric.DTC else wrong.dtw
            what = (
                f"the stored {metric.upper()} of this {Outcome.from_wdl(wrong.wdl)} is {stored} plies, "
                f"but its moves make it {derived}"
            )
        message = (
            f"{table_name(material, metric)} is wrong at index {wrong.place}, {fen}: {what}; "
            "the file is whole, so the fault was in making it: please report it"
        )
        return Problem(message, material, metric, wrong.place, fen, stored, derived)

    def _wrong_together(
        self, pair: tuple[Material, ...], counts: TwoCounts, culprit: _Difference | None
    ) -> Problem | None:
        """What is wrong with the outcomes of a slice and its mirror under both counts, if anything. Of a
        position whose DTC is wrong, too, the outcome, which makes it so; nothing where the fault is another.
        """
        if culprit is not None and culprit.metric != DTC:
            return None
        plies = balance_plies(pair[0], self._ruleset)
        assert plies is not None
        wrong = counts.wrong(plies)
        start = self._arena.layout.start
        slots = wrong if culprit is None else wrong[wrong == start[culprit.which] + culprit.place]
        if not len(slots):
            return None
        number = int(np.searchsorted(start, slots[0], side="right")) - 1
        return self._wrong_outcome(number, int(slots[0] - start[number]), plies, len(wrong))

    def _wrong_outcome(self, number: int, index: int, plies: int, count: int | None) -> Problem:
        """Of a position whose outcome does not keep both counts. `count`: how many there are, if that is
        known."""
        material = self._slices[number]
        wdl = int(self._arena.wdl[int(self._arena.layout.start[number]) + index])
        many = "" if count is None else f" (so many such positions: {count})"
        stored = Outcome.from_wdl(wdl)
        derived = Outcome.from_wdl(wdl // 2 if abs(wdl) == 2 else 2 * wdl)
        fen = self._fen(number, index)
        message = (
            f"{table_name(material, Metric.WDL)} is wrong at index {index}, {fen}: the stored outcome is "
            f"{stored}, but the rules {self._ruleset.name} make it {derived}, as at most "
            f"{self._ruleset.king_moves_plies} plies of king moves and {plies} plies without a capture or "
            f"promotion may be played in a row{many}; "
            "the file is whole, so the fault was in making it: please report it"
        )
        return Problem(message, material, Metric.WDL, index, fen, stored, derived)

    def _wrong_dtb(
        self, pair: tuple[Material, ...], counts: TwoCounts | None, sample: tuple[float, int] | None
    ) -> Problem | None:
        """What is wrong with the DTB of a slice and its mirror, if anything: of all positions by their
        `counts`, or of a `sample`, with outcomes under both counts in it."""
        if Metric.DTB not in self._metrics or not self._ruleset.counts_apart(pair[0]):
            return None
        plies = balance_plies(pair[0], self._ruleset)
        assert plies is not None
        # Below nought is far beyond what is ever right, read without a sign.
        stored = np.concatenate([self._read(m, Metric.DTB) for m in pair]).view(np.uint16)
        numbers = self._numbers[pair[0]], self._numbers[pair[-1]]
        check = DtbCheck(self._arena, *numbers, self._king_plies(pair[0]), plies, stored, self._pool.map)
        wrong = None
        if counts is not None:
            wrong = check.first_wrong(counts)
            for material in pair:
                self._longest_dtb[material] = self._longest_of(material, counts)
        elif sample is not None:
            wrong = check.first_wrong_of_sample(*sample)
        return None if wrong is None else self._describe_dtb(wrong, plies)

    def _longest_of(self, material: Material, counts: TwoCounts) -> Longest:
        wdl, _, _ = self.values_of(material)
        start = int(self._arena.layout.start[self._numbers[material]]) - counts.first
        needed = counts.balance_needed[start : start + len(wdl)]
        won = wdl == 2
        if not won.any():
            return Longest(None, np.zeros(0, np.int64))
        plies = int(needed.max(where=won, initial=0))
        return Longest(plies, np.flatnonzero(won & (needed == plies)))

    def _describe_dtb(self, wrong: WrongDtb, plies: int) -> Problem:
        slot = int(self._arena.layout.start[wrong.number]) + wrong.place
        wdl = int(self._arena.wdl[slot])
        if abs(wdl) != 2 or wrong.needed > plies:
            return self._wrong_outcome(wrong.number, wrong.place, plies, None)
        material = self._slices[wrong.number]
        fen = self._fen(wrong.number, wrong.place)
        with self._table(material, Metric.DTB) as table:
            stored = table.value(wrong.place)
        message = (
            f"{table_name(material, Metric.DTB)} is wrong at index {wrong.place}, {fen}: the stored DTB of "
            f"this {Outcome.from_wdl(wdl)} is {stored} plies, but the rules {self._ruleset.name} make it "
            f"{wrong.needed}; the file is whole, so the fault was in making it: please report it"
        )
        return Problem(message, material, Metric.DTB, wrong.place, fen, stored, wrong.needed)

    def _fen(self, number: int, index: int) -> str:
        own_men, own_kings, other_men, other_kings = sets_at(self._arena.layout, number, index)
        return Position(int(own_men), int(own_kings), int(other_men), int(other_kings)).to_fen()


def _sample_of(material: Material, part: float) -> int:
    return min(material.positions, max(_LEAST_SAMPLE, math.ceil(part * material.positions)))


def _tiers(slices: Iterable[Material]) -> list[list[tuple[Material, ...]]]:
    """The slices as pairs that a move of a king may join, by number of pieces; fewer men first."""
    present = set(slices)
    tiers: list[list[tuple[Material, ...]]] = []
    for pieces in sorted({material.pieces for material in present}):
        tier: list[tuple[Material, ...]] = []
        seen: set[Material] = set()
        for material in materials(pieces):
            pair = tuple(dict.fromkeys((material, material.mirror)))
            if material in present and material not in seen:
                tier.append(pair)
                seen.update(pair)
        tiers.append(tier)
    return tiers
