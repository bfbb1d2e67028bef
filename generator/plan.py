"""The plan of a run: the pairs to solve, and the memory and disk that this needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from generator.materials import RunScope, depends_on, successor_pairs, with_mirror
from generator.solver.dtb_scores import dtb_score_bytes
from generator.solver.successors import size_in_bytes
from generator.solver.workspace import Workspace
from tablebase.board.material import Material
from tablebase.rules.ruleset import Ruleset
from tablebase.rules.rulesets import OFFICIAL
from tablebase.tables.format import Metric

# Bytes per position of a table being written, and of a table being read back.
_ENCODED_BYTES = 0.2
READ_BYTES = 2
# Bytes per block of the block order.
LISTED_BYTES = 5
# Bits of disk per position of a material that has such a table, rounded up from tables of 5 and 6 pieces
# (docs/performance.md). Tables of fewer pieces take more; the 4096 bytes per table in `Plan.disk` cover that.
_DISK_BITS = {Metric.WDL: 0.2, Metric.DTC: 0.28, Metric.DTW: 1.0, Metric.DTB: 0.65}
# The program: 450 MiB after it has compiled all kernels, as the compiler keeps that memory; else 170 MiB.
PROGRAM_BYTES = 460 << 20

MOST_PIECES = 8
"""Largest number of pieces that this version makes tables of."""
MOST_PIECES_TO_PLAN = 12
"""Largest number of pieces that this version plans for."""


class _PairMemory(NamedTuple):
    """Memory while a pair is solved, in bytes.

    Attributes:
        solving: memory to solve the pair, with all successor tables.
        writing_before: memory to write the previous pair meanwhile.
    """

    solving: int
    writing_before: int


@dataclass(frozen=True)
class Plan:
    """Plan of a run: solve the pairs `todo`, and read the pairs `known` back from their tables.

    Attributes:
        scope: the materials of the run.
        metrics: the metrics to write.
        jobs: number of threads.
        todo: the pairs to solve, in order.
        known: the solved pairs that those lead to, in order.
        ruleset: the draw rules that outcomes hold under.
    """

    scope: RunScope
    metrics: tuple[Metric, ...]
    jobs: int
    todo: Sequence[Material]
    known: Sequence[Material] = ()
    ruleset: Ruleset = OFFICIAL

    @cached_property
    def materials(self) -> list[Material]:
        """Every material to solve."""
        return [material for pair in self.todo for material in with_mirror(pair)]

    @cached_property
    def positions(self) -> int:
        """The number of positions to solve."""
        return sum(material.positions for material in self.materials)

    @cached_property
    def order(self) -> list[Material]:
        """The pairs to solve or to restore, each after all pairs that it leads to."""
        wanted = {*self.known, *self.todo}
        return [pair for pair in self.scope.pairs if pair in wanted]

    @cached_property
    def last_needed_by(self) -> dict[Material, list[Material]]:
        """By pair of `order`: the pairs whose successor tables no later pair needs."""
        last = {pair: pair for pair in self.order}
        for pair in self.order:
            last |= dict.fromkeys(successor_pairs(pair), pair)
        found: dict[Material, list[Material]] = {pair: [] for pair in self.order}
        for child, pair in last.items():
            found[pair].append(child)
        return found

    @property
    def with_scores(self) -> bool:
        """Whether the solver computes DTW; without DTW, successor tables have no scores."""
        return Metric.DTW in self.metrics

    @cached_property
    def memory(self) -> int:
        """Estimated bytes of memory if each pair is written while the next one is solved.

        All arrays are in memory, none is mapped.
        """
        return max((of.solving + of.writing_before for of in self._memory_by_pair.values()), default=0)

    @cached_property
    def memory_in_turn(self) -> int:
        """Estimated bytes of memory if each pair is written before the next one is solved.

        All arrays are in memory, none is mapped.
        """
        # Writing a pair needs less memory than solving it did, so it does not count.
        return max((of.solving for of in self._memory_by_pair.values()), default=0)

    def overlaps(self, pair: Material, limit: int) -> bool:
        """Whether a pair can be solved in `limit` bytes of memory while the previous pair is written."""
        of = self._memory_by_pair[pair]
        return of.solving + of.writing_before <= limit

    @cached_property
    def _memory_by_pair(self) -> dict[Material, _PairMemory]:
        tables = before = 0
        known = set(self.known)
        found = {}
        for pair in self.order:
            tables += self.table_bytes(pair)
            balance = dtb_score_bytes(pair) if self.ruleset.counts_material_separately(pair) else 0
            results = self.result_bytes(pair)
            if pair in known:
                work = results + _largest(pair) * READ_BYTES
            else:
                work = balance + results + self.workspace_bytes(pair)
            work += LISTED_BYTES * pair.blocks
            found[pair] = _PairMemory(PROGRAM_BYTES + tables + work, before)
            tables -= sum(map(self.table_bytes, self.last_needed_by[pair]))
            before = 0 if pair in known else results + int(_largest(pair) * _ENCODED_BYTES)
        return found

    @cached_property
    def least_memory(self) -> int:
        """Estimated bytes of memory if successor tables and results are mapped from scratch files."""
        most = before = 0
        for pair in self.order:
            most = max(most, self.workspace_bytes(pair) + LISTED_BYTES * pair.blocks + before)
            before = int(_largest(pair) * _ENCODED_BYTES)
        return PROGRAM_BYTES + int(most / 0.8)

    def workspace_bytes(self, pair: Material) -> int:
        """Return the bytes of the workspaces of the threads that solve a pair, at most one per block."""
        one = Workspace.size_in_bytes(pair, self.ruleset.counts_material_separately(pair), self.with_scores)
        return one * min(self.jobs, pair.blocks)

    def table_bytes(self, pair: Material) -> int:
        """Return the bytes of the successor tables of a pair."""
        return sum(size_in_bytes(material, self.with_scores) for material in with_mirror(pair))

    def result_bytes(self, pair: Material) -> int:
        """Return the bytes of the results of a pair: a byte a position for outcome with DTC, DTW, DTB."""
        with_dtb = Metric.DTB in self.metrics and self.ruleset.counts_material_separately(pair)
        metrics = 1 + self.with_scores + with_dtb
        return metrics * sum(material.positions for material in with_mirror(pair))

    @cached_property
    def disk(self) -> int:
        """Estimated bytes of disk of the tables to write."""
        return sum(
            int(material.positions * _DISK_BITS[metric] / 8) + 4096
            for material in self.materials
            for metric in self.metrics
            if metric.fits(material, self.ruleset)
        )


def _largest(pair: Material) -> int:
    return max(material.positions for material in with_mirror(pair))


def plan(
    scope: RunScope,
    metrics: Sequence[Metric],
    jobs: int,
    solved: set[Material],
    ruleset: Ruleset = OFFICIAL,
) -> Plan:
    """Return the plan of a run.

    Args:
        scope: the materials of the run.
        metrics: the metrics to write.
        jobs: number of threads.
        solved: the pairs that have all these tables.
        ruleset: the draw rules that outcomes hold under.
    """
    todo = [pair for pair in scope.pairs if pair not in solved]
    needed = depends_on(todo)
    known = [pair for pair in scope.pairs if pair in solved and pair in needed]
    return Plan(scope, tuple(metrics), jobs, todo, known, ruleset)
