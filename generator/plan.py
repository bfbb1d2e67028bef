"""The plan of a run: what to solve, and the memory, disk and time it takes."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from generator.materials import Scope, both, depends_on, successor_pairs
from generator.solver import successors as afters
from generator.solver.dtb_scores import dtb_score_bytes
from generator.solver.workspace import Workspace
from tablebase.board.material import Material
from tablebase.rules.ruleset import Ruleset
from tablebase.rules.rulesets import OFFICIAL
from tablebase.tables.format import Metric


def available_cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not every system says which cores a process may use
        return os.cpu_count() or 1


def format_bytes(size: float) -> str:
    """A size for people."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} TB"


# Bytes a position: for the frames of a table while it is written, and for a table that is read back.
_ENCODED_BYTES = 0.2
READ_BYTES = 2
# What lists the blocks of a slice in their order, a block.
LISTED_BYTES = 5
# Disk, bits a position of a material that has a table of it, rounded up from what 5 and 6 pieces take
# (docs/performance.md). Fewer pieces take more, which the room for what a file is beside its frames covers.
_DISK_BITS = {Metric.WDL: 0.2, Metric.DTC: 0.28, Metric.DTW: 1.0, Metric.DTB: 0.65}
# The program itself: 450 MiB where it has compiled all kernels, as the compiler keeps that memory; else 170.
PROGRAM_BYTES = 460 << 20

MOST_PIECES = 8
"""The most pieces that tables are made of."""
MOST_PIECES_TO_PLAN = 12
"""The most pieces that are worth a plan."""


class _PairMemory(NamedTuple):
    """Bytes of memory while a pair is solved: for that, with all after tables; and for writing the one before
    it at the same time."""

    solving: int
    writing_before: int


@dataclass(frozen=True)
class Plan:
    """The solving of `todo`, with `known` (solved before) read back from their files.

    Attributes:
        scope: what is wanted.
        metrics: what is to be written.
        jobs: threads.
        todo: pairs to solve, in order.
        known: pairs that those lead to and that are solved already, in order.
        ruleset: the rules that outcomes hold under.
    """

    scope: Scope
    metrics: tuple[Metric, ...]
    jobs: int
    todo: Sequence[Material]
    known: Sequence[Material] = ()
    ruleset: Ruleset = OFFICIAL

    @cached_property
    def materials(self) -> list[Material]:
        """Every material to solve."""
        return [material for pair in self.todo for material in both(pair)]

    @cached_property
    def positions(self) -> int:
        """How many positions there are to solve."""
        return sum(material.positions for material in self.materials)

    @cached_property
    def order(self) -> list[Material]:
        """The pairs to solve or to restore, each after all that it leads to."""
        wanted = {*self.known, *self.todo}
        return [pair for pair in self.scope.pairs if pair in wanted]

    @cached_property
    def last_needed_by(self) -> dict[Material, list[Material]]:
        """By pair, those that no later pair of the order leads to: they can be let go of after it."""
        last = {pair: pair for pair in self.order}
        for pair in self.order:
            last |= dict.fromkeys(successor_pairs(pair), pair)
        found: dict[Material, list[Material]] = {pair: [] for pair in self.order}
        for child, pair in last.items():
            found[pair].append(child)
        return found

    @property
    def with_scores(self) -> bool:
        """Whether the solver works out DTW: else, outcomes without scores."""
        return Metric.DTW in self.metrics

    @cached_property
    def memory(self) -> int:
        """Bytes of memory it takes, about, where all is kept in memory, and each pair is written while the
        next one is solved."""
        return max((of.solving + of.writing_before for of in self._memory_by_pair.values()), default=0)

    @cached_property
    def memory_in_turn(self) -> int:
        """Bytes of memory it takes, about, where all is kept in memory and no pair is begun before the last
        one is written."""
        # What is written stands in memory with the after tables of that time, less than while it was solved.
        return max((of.solving for of in self._memory_by_pair.values()), default=0)

    def overlaps(self, pair: Material, limit: int) -> bool:
        """Whether a pair can be solved within so many bytes of memory while the one before it is written."""
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
                work = balance + results + self.rooms(pair)
            work += LISTED_BYTES * pair.blocks
            found[pair] = _PairMemory(PROGRAM_BYTES + tables + work, before)
            tables -= sum(map(self.table_bytes, self.last_needed_by[pair]))
            before = 0 if pair in known else results + int(_largest(pair) * _ENCODED_BYTES)
        return found

    @cached_property
    def least_memory(self) -> int:
        """Bytes of memory it takes, about, where after tables and results are mapped from a scratch file."""
        most = before = 0
        for pair in self.order:
            most = max(most, self.rooms(pair) + LISTED_BYTES * pair.blocks + before)
            before = int(_largest(pair) * _ENCODED_BYTES)
        return PROGRAM_BYTES + int(most / 0.8)

    def rooms(self, pair: Material) -> int:
        """Memory of the threads that solve a pair: no more of them than there are blocks."""
        one = Workspace.size_in_bytes(pair, self.ruleset.counts_material_separately(pair), self.with_scores)
        return one * min(self.jobs, pair.blocks)

    def table_bytes(self, pair: Material) -> int:
        """Memory of the after tables of a pair."""
        return sum(afters.size_in_bytes(material, self.with_scores) for material in both(pair))

    def result_bytes(self, pair: Material) -> int:
        """A pair in work: outcome and DTC, DTW, DTB, a byte each."""
        with_dtb = Metric.DTB in self.metrics and self.ruleset.counts_material_separately(pair)
        metrics = 1 + self.with_scores + with_dtb
        return metrics * sum(material.positions for material in both(pair))

    @cached_property
    def disk(self) -> int:
        """Bytes of disk it takes, about."""
        return sum(
            int(material.positions * _DISK_BITS[metric] / 8) + 4096
            for material in self.materials
            for metric in self.metrics
            if metric.fits(material, self.ruleset)
        )


def _largest(pair: Material) -> int:
    return max(material.positions for material in both(pair))


def plan(
    scope: Scope,
    metrics: Sequence[Metric],
    jobs: int,
    solved: set[Material],
    ruleset: Ruleset = OFFICIAL,
) -> Plan:
    """The plan for all that is wanted, where the pairs `solved` are there already."""
    todo = [pair for pair in scope.pairs if pair not in solved]
    needed = depends_on(todo)
    known = [pair for pair in scope.pairs if pair in solved and pair in needed]
    return Plan(scope, tuple(metrics), jobs, todo, known, ruleset)


def available_memory() -> int:
    """Bytes of memory that can be had: the system's, or less where a control group sets a limit."""
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found += [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")]
        group = Path("/sys/fs/cgroup")
        limit = (group / "memory.max").read_text(encoding="ascii").strip()
        if limit != "max":
            found.append(int(limit) - int((group / "memory.current").read_text(encoding="ascii")))
    except (OSError, ValueError, IndexError):
        pass  # no Linux, or no control groups: what was found before stands
    return min(found)


def available_disk(directory: Path) -> int:
    """Bytes of disk free where `directory` is, or is to be."""
    while not directory.exists():
        directory = directory.parent
    return shutil.disk_usage(directory).free
