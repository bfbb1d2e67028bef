"""A set of tables as the verifier goes through it: its slices in order, their limits, parts of them."""

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
"""Called with the number of positions that are done since the last call."""

StageProgress = Callable[[str, int, int], None]
"""Called with the name of a stage, the number of files or positions done, and the number of all."""


def stage_counter(progress: StageProgress | None, stage: str, total: int) -> Done:
    """Return a function that adds its argument to the positions done of a stage, and reports their number."""
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(stage, done, total)

    return count


class SliceSet:
    """Slices by number, smaller ones first, and what there is to know of each.

    Args:
        directory: where the tables are.
        slices: the slices; whatever their moves lead to is among them.
        metrics: those that are there for every slice; DTB for those that it fits. WDL must be.
        ruleset: the rules that the values assume.
        pool: threads to work with.
        jobs: how many.
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
        self._numbers = {material: number for number, material in enumerate(self.slices)}
        self.layout: Layout = layout_of(self.slices)
        self._pool = pool
        self._jobs = jobs

    def number(self, material: Material) -> int:
        """The number of a slice. Raises KeyError where it is not there."""
        return self._numbers[material]

    def metrics_of(self, material: Material) -> list[Metric]:
        """The metrics of a slice."""
        return [metric for metric in self.metrics if metric.fits(material, self.ruleset)]

    def open_table(self, material: Material, metric: Metric, cache: FrameCache | None = None) -> Table:
        """A table, to be closed; `cache`: where its frames are kept, if with those of others."""
        return Table(self.directory / table_name(material, metric), cache)

    def king_limit(self, material: Material) -> int:
        """The plies that kings may move in a row in a slice, or NO_LIMIT."""
        plies = king_plies(material, self.ruleset)
        return NO_LIMIT if plies is None else plies

    @property
    def two_counts(self) -> bool:
        """Whether there is a slice in which a man's step gives back one count and not the other."""
        return any(self.ruleset.counts_material_separately(material) for material in self.slices)

    def may_come_of_two_counts(self, number: int, metric: int, stored: int, derived: int) -> bool:
        """Whether a stored value that differs from what its successors make it may be right all the same,
        where both counts together make a draw of it, or of a position after it: on the board all is right.

        Args:
            number: of the slice.
            metric: that differs.
            stored: the outcome that is stored.
            derived: the one that follows.
        """
        same_on_board = np.sign(stored) == np.sign(derived)
        return bool(
            self.ruleset.counts_material_separately(self.slices[number]) and metric != DTW and same_on_board
        )

    def sample_size(self, part: float) -> int:
        """How many positions a sample of all slices has, those with a capture counted."""
        return sum(_sample_of(material, part) for material in self.slices)

    def sampled(self, number: int, part: float, seed: int) -> NDArray[np.int64]:
        """The indices of a part of a slice's positions, chosen at random: int64, rising."""
        material = self.slices[number]
        # One from each of as many equal spans as positions are wanted: rising, and none twice.
        size = _sample_of(material, part)
        edges = np.arange(size + 1) * material.positions // size
        random = np.random.default_rng((seed, number))
        return random.integers(edges[:-1], edges[1:])

    def run(self, work: Callable[[Any], _Result], tasks: Iterable[Any]) -> Iterator[tuple[Any, _Result]]:
        """Each task with its result, in order. Only a few are under way, so that one can stop early."""
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
