"""The slices of a set of tables, as the verifier takes them: order, limits, samples."""

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from generator.verify.derive import DTW, NO_LIMIT
from generator.verify.two_counters import king_plies
from tablebase.board.material import Material, materials
from tablebase.kernels.index import Layout, layout_of
from tablebase.rules.rulesets import Ruleset
from tablebase.tables.format import Metric, table_name
from tablebase.tables.table import FrameCache, Table

_LEAST_SAMPLE = 256  # positions of a slice

_Result = TypeVar("_Result")

Done = Callable[[int], None]
"""Called with each number of positions that are done."""

StageProgress = Callable[[str, int, int], None]
"""Called now and then with the name of a stage, the amount done and the total."""


def stage_counter(progress: StageProgress | None, stage: str, total: int) -> Done:
    """Return a function that adds up what is done and reports it as one stage."""
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(stage, done, total)

    return count


class SliceSet:
    """Slices by number, fewer pieces first, and facts about each.

    Args:
        directory: the directory of the tables.
        slices: the slices, with all that their moves lead to.
        metrics: the metrics to use. WDL is one of them. DTB is there for the slices that have it, all others
            for every slice.
        ruleset: the rules that the values assume.
        pool: threads that do the work.
        jobs: the number of threads.
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
        self.directory = directory
        self.ruleset = ruleset
        self.metrics = metrics
        self.tiers = _tiers(slices)
        self.slices = [material for tier in self.tiers for pair in tier for material in pair]
        self._slice_ids = {material: slice_id for slice_id, material in enumerate(self.slices)}
        self.layout: Layout = layout_of(self.slices)
        self._pool = pool
        self._jobs = jobs

    def slice_id(self, material: Material) -> int:
        """Return the number of a slice.

        Raises:
            KeyError: the set does not have the slice.
        """
        return self._slice_ids[material]

    def metrics_of(self, material: Material) -> list[Metric]:
        """Return the metrics of a slice."""
        return [metric for metric in self.metrics if metric.fits(material, self.ruleset)]

    def open_table(self, material: Material, metric: Metric, cache: FrameCache | None = None) -> Table:
        """Open a table, which the caller closes; frames are kept in `cache`, or in a cache of its own."""
        return Table(self.directory / table_name(material, metric), cache)

    def king_limit(self, material: Material) -> int:
        """Return the plies that kings may move in a row in a slice, or NO_LIMIT."""
        plies = king_plies(material, self.ruleset)
        return NO_LIMIT if plies is None else plies

    @property
    def two_counts(self) -> bool:
        """Whether some slice has a man's step that resets one count and not the other."""
        return any(self.ruleset.counts_material_separately(material) for material in self.slices)

    def may_come_of_two_counts(self, slice_id: int, metric: int, stored: int, derived: int) -> bool:
        """Whether a difference may be caused by both counts together, so that the stored value can be right.

        Both counts together can draw the position, or one after it. They never change the outcome without
        draw rules.

        Args:
            slice_id: the slice.
            metric: the metric that differs.
            stored: the stored outcome.
            derived: the derived outcome.
        """
        same_on_board = np.sign(stored) == np.sign(derived)
        return bool(
            self.ruleset.counts_material_separately(self.slices[slice_id]) and metric != DTW and same_on_board
        )

    def sample_size(self, part: float) -> int:
        """Return the number of positions in a sample of all slices, capture positions included."""
        return sum(_sample_of(material, part) for material in self.slices)

    def sampled(self, slice_id: int, part: float, seed: int) -> NDArray[np.int64]:
        """Return a random sample of a slice's indices: shape (n,), int64, rising."""
        material = self.slices[slice_id]
        # Choose one index from each of `size` equal spans: they rise, and none comes twice.
        size = _sample_of(material, part)
        edges = np.arange(size + 1) * material.positions // size
        random = np.random.default_rng((seed, slice_id))
        return random.integers(edges[:-1], edges[1:])

    def run(self, work: Callable[[Any], _Result], tasks: Iterable[Any]) -> Iterator[tuple[Any, _Result]]:
        """Yield each task with its result, in order.

        Only a few tasks are started ahead, so that the caller can stop early.
        """
        waiting: deque[Any] = deque()
        for task in tasks:
            waiting.append((task, self._pool.submit(work, task)))
            if len(waiting) > 4 * self._jobs:
                first, future = waiting.popleft()
                yield first, future.result()
        for first, future in waiting:
            yield first, future.result()


def _sample_of(material: Material, part: float) -> int:
    return min(material.positions, max(_LEAST_SAMPLE, math.ceil(part * material.positions)))


def _tiers(slices: Iterable[Material]) -> list[list[tuple[Material, ...]]]:
    """Return the pairs of slices by number of pieces, fewer men first.

    The slices of a pair are mirrors, joined by king moves.
    """
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
