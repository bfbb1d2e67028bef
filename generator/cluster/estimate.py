"""Estimates of the memory, time and transfer of tasks, and the priorities of tasks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from generator.cluster.settings import RunSettings
from generator.cluster.tasks import Kind, Task, users_of
from generator.materials import RunScope, successor_pairs, with_mirror
from generator.plan import LISTED_BYTES, PROGRAM_BYTES, READ_BYTES, Plan
from generator.solver.dtb_scores import dtb_score_bytes
from generator.solver.successors import size_in_bytes, words
from tablebase.board.material import Material
from tablebase.tables.format import Metric

# Buffers of a file that is read or written.
_STREAM_BYTES = 256 << 20
# Bytes per placed block: six numbers.
_PLACED_BYTES = 48
# Bytes per position of a table being written (see generator/plan.py).
_ENCODED_BYTES = 1.25


class _MemorySizes(NamedTuple):
    """Sizes of the arrays of a pair in bytes, and its positions.

    Attributes:
        listed: the order of its blocks.
        children: successor tables of the pairs that it leads to.
        own: its own successor tables.
        values: its values.
        balance: its DTB scores.
        workspaces: workspaces of the threads.
        positions: number of positions of both slices.
        largest: number of positions of the larger slice.
    """

    listed: int
    children: int
    own: int
    values: int
    balance: int
    workspaces: int
    positions: int
    largest: int


@cache
def _memory_sizes(settings: RunSettings, pair: Material) -> _MemorySizes:
    work = Plan(
        RunScope(settings.most_pieces), settings.wanted, settings.jobs or 1, [pair], (), settings.rules
    )
    positions = [material.positions for material in with_mirror(pair)]
    return _MemorySizes(
        LISTED_BYTES * pair.blocks,
        sum(work.table_bytes(child) for child in successor_pairs(pair)),
        work.table_bytes(pair),
        work.result_bytes(pair),
        dtb_score_bytes(pair) if settings.rules.counts_material_separately(pair) else 0,
        work.workspace_bytes(pair),
        sum(positions),
        max(positions),
    )


def memory_estimate(settings: RunSettings, task: Task) -> int:
    """Return the estimated bytes of memory that a task needs without mapped arrays."""
    of = _memory_sizes(settings, task.pair)
    fixed = PROGRAM_BYTES + _STREAM_BYTES + of.listed
    if task.kind is Kind.TABLES:
        return fixed + of.values + int(_ENCODED_BYTES * of.largest)
    if task.kind is Kind.JOIN:
        return fixed + of.own + of.values
    solving = fixed + of.children + of.own + of.workspaces
    if task.kind is Kind.RESTORE:
        return solving + of.values + READ_BYTES * of.largest
    if task.kind is Kind.PAIR:
        return solving + of.balance + of.values + int(_ENCODED_BYTES * of.largest)
    # With DTB scores, all blocks of a run are placed at once.
    placed = task.pair.blocks // 8 if of.balance else task.last - task.first
    return solving + of.balance + 2 * of.values * task.positions // of.positions + _PLACED_BYTES * placed


STORE_SPEED = 1e9
"""Assumed rate at which each worker reads from the store or writes to it, in bytes a second."""


@dataclass(frozen=True)
class Rates:
    """Rates measured on one core.

    Attributes:
        solving: nanoseconds to solve a position, conversions and passes together.
        restoring: nanoseconds to restore a position from its tables.
        tables: nanoseconds to encode a position into its tables.
        loading: nanoseconds to load a byte of arrays (size in memory).
        storing: nanoseconds to compress and write a byte of arrays (size in memory).
        packed: bytes in the store per byte of successor tables in memory.
        packed_values: bytes in the store per byte of values in memory.
        table_bits: bits of a position in all tables together.
        fixed: fixed seconds of each task.
    """

    solving: float
    restoring: float
    tables: float
    loading: float
    storing: float
    packed: float
    packed_values: float
    table_bits: float
    fixed: float


# From 6 pieces on a core of about 2 GHz that had other work too (docs/cluster.md).
WITH_SCORES = Rates(191.0, 97.0, 133.0, 1.9, 6.0, 0.134, 0.27, 2.1, 0.1)
OUTCOMES = Rates(156.0, 53.0, 44.0, 1.5, 5.4, 0.062, 0.16, 0.43, 0.1)


@dataclass(frozen=True)
class Cost:
    """Time and transfer of a task.

    Attributes:
        shared: core seconds of work that the threads of the task share.
        alone: core seconds of work in one thread.
        children: bytes in memory of the successor tables of the pairs that its pair leads to. A worker that
            does not have them loads them.
        before: bytes in memory of the blocks of the advance before, loaded in the same way.
        read: other bytes that the task reads from the store.
        written: bytes that the task writes to the store.
    """

    shared: float
    alone: float
    children: float = 0
    before: float = 0
    read: float = 0
    written: float = 0

    def seconds(self, rates: Rates, jobs: int, loaded: float) -> float:
        """Return the seconds of the task on `jobs` cores if it loads `loaded` bytes (size in memory)."""
        shared = self.shared + loaded * rates.loading * 1e-9
        moved = self.read + self.written + loaded * rates.packed
        return self.alone + shared / jobs + moved / STORE_SPEED


def rates_of(settings: RunSettings) -> Rates:
    """Return the rates for runs with or without DTW."""
    return WITH_SCORES if settings.with_scores else OUTCOMES


class _Sizes(NamedTuple):
    """Positions of a pair, and sizes of its arrays in bytes.

    Attributes:
        positions: number of positions of both slices.
        own: its successor tables.
        children: successor tables of the pairs that it leads to.
        balance: DTB scores of all its blocks.
        values: its values.
    """

    positions: int
    own: int
    children: int
    balance: int
    values: int


@cache
def _sizes(settings: RunSettings, pair: Material) -> _Sizes:
    scores = settings.with_scores
    positions = sum(material.positions for material in with_mirror(pair))
    balance = settings.rules.counts_material_separately(pair)
    return _Sizes(
        positions,
        after_bytes(pair, scores),
        sum(after_bytes(child, scores) for child in successor_pairs(pair)),
        32 * sum(words(material) for material in with_mirror(pair)) if balance else 0,
        positions * (1 + scores + (balance and Metric.DTB in settings.wanted)),
    )


def after_bytes(pair: Material, with_scores: bool) -> int:
    """Return the bytes of the successor tables of a pair in memory."""
    return sum(size_in_bytes(material, with_scores) for material in with_mirror(pair))


def time_estimate(settings: RunSettings, task: Task, before: int = 0) -> Cost:
    """Return the estimated time and transfer of a task.

    Args:
        settings: the settings of the run.
        task: the task.
        before: positions of the blocks of the advance before, for a group of blocks.
    """
    rate = rates_of(settings)
    of = _sizes(settings, task.pair)
    tables = of.positions * rate.table_bits / 8
    if task.kind is Kind.JOIN:
        return Cost(0, rate.fixed)
    if task.kind is Kind.TABLES:
        alone = rate.fixed + of.values * rate.loading * 1e-9
        making = of.positions * rate.tables * 1e-9
        return Cost(making, alone, read=of.values * rate.packed_values, written=tables)
    if task.kind is Kind.BLOCKS:
        of_blocks, share = of.own + of.balance, task.positions / of.positions
        left = (of_blocks + of.values) * share
        solving = (task.positions * rate.solving + left * rate.storing) * 1e-9
        written = (of_blocks * rate.packed + of.values * rate.packed_values) * share
        return Cost(solving, rate.fixed, of.children, of_blocks * before / of.positions, written=written)
    kept = of.own if task.leaves_successors else 0
    if task.kind is Kind.RESTORE:
        restoring = (of.positions * rate.restoring + kept * rate.storing) * 1e-9
        return Cost(restoring, rate.fixed, of.children, read=tables, written=kept * rate.packed)
    solving = (of.positions * (rate.solving + rate.tables) + kept * rate.storing) * 1e-9
    return Cost(solving, rate.fixed, of.children, written=tables + kept * rate.packed)


def critical_path(tasks: Sequence[Task], settings: RunSettings, jobs: int) -> dict[str, float]:
    """Return the seconds of the longest chain of tasks that begins with each task, by key.

    Each task of the chain has a worker of `jobs` cores at once.
    """
    users = users_of(tasks)
    positions = {task.key: task.positions for task in tasks}
    found: dict[str, float] = {}
    for task in reversed(tasks):
        after = max((found[key] for key in users[task.key]), default=0.0)
        before = sum(positions[key] for key in task.blocks)
        cost = time_estimate(settings, task, before)
        # The first task of a pair loads its children. Other workers solved most blocks of the advance before.
        loaded = cost.before + (0 if task.blocks else cost.children)
        found[task.key] = cost.seconds(rates_of(settings), jobs, loaded) + after
    return found


def priorities(tasks: Sequence[Task], paths: dict[str, float]) -> dict[str, float]:
    """Return the priority of each task, by key: the longest `critical_path` of all tasks of its pair.

    With the paths of single tasks as priorities, workers would alternate between pairs of similar length, and
    load the children of a pair again each time. Tables would be written last, and their values would stay in
    the store until then.
    """
    of_pair: dict[Material, float] = {}
    for task in tasks:
        of_pair[task.pair] = max(of_pair.get(task.pair, 0.0), paths[task.key])
    return {task.key: of_pair[task.pair] for task in tasks}
