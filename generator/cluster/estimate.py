"""Estimates for a cluster: the memory of a task, and the time and transfer of a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from generator.cluster.settings import Settings
from generator.cluster.tasks import Kind, Task, users_of
from generator.materials import Scope, both, successor_pairs
from generator.plan import LISTED_BYTES, PROGRAM_BYTES, READ_BYTES, Plan
from generator.solver.dtb_scores import dtb_score_bytes
from generator.solver.successors import size_in_bytes, words
from tablebase.board.material import Material
from tablebase.tables.format import Metric

# What of a file is being read or written at a time.
_STREAM_BYTES = 256 << 20
# A block that is placed: six numbers.
_PLACED_BYTES = 48
# What a file holds while it is written, a position (see generator/plan.py).
_ENCODED_BYTES = 1.25


class _MemorySizes(NamedTuple):
    """Of a pair, in bytes: of its blocks' order, of after tables of what it leads to and of its own, of its
    values, of the scores to the balance change, of the threads' rooms; and its positions."""

    listed: int
    children: int
    own: int
    values: int
    balance: int
    rooms: int
    positions: int
    largest: int


@cache
def _memory_sizes(settings: Settings, pair: Material) -> _MemorySizes:
    work = Plan(Scope(settings.most_pieces), settings.wanted, settings.jobs or 1, [pair], (), settings.rules)
    positions = [material.positions for material in both(pair)]
    return _MemorySizes(
        LISTED_BYTES * pair.blocks,
        sum(work.table_bytes(child) for child in successor_pairs(pair)),
        work.table_bytes(pair),
        work.result_bytes(pair),
        dtb_score_bytes(pair) if settings.rules.counts_material_separately(pair) else 0,
        work.rooms(pair),
        sum(positions),
        max(positions),
    )


def memory_of(settings: Settings, task: Task) -> int:
    """Bytes of memory that a task needs, about, where all is kept in memory."""
    of = _memory_sizes(settings, task.pair)
    fixed = PROGRAM_BYTES + _STREAM_BYTES + of.listed
    if task.kind is Kind.TABLES:
        return fixed + of.values + int(_ENCODED_BYTES * of.largest)
    if task.kind is Kind.JOIN:
        return fixed + of.own + of.values
    solving = fixed + of.children + of.own + of.rooms
    if task.kind is Kind.RESTORE:
        return solving + of.values + READ_BYTES * of.largest
    if task.kind is Kind.PAIR:
        return solving + of.balance + of.values + int(_ENCODED_BYTES * of.largest)
    # Where the balance is counted, a whole run of blocks is placed at once.
    placed = task.pair.blocks // 8 if of.balance else task.last - task.first
    return solving + of.balance + 2 * of.values * task.positions // of.positions + _PLACED_BYTES * placed


STORE_SPEED = 1e9
"""Bytes a second that each worker is taken to read from the store, or to write to it."""


@dataclass(frozen=True)
class Rates:
    """What was measured on one core: nanoseconds a position, or a byte of after tables in memory.

    Attributes:
        solving: of a position, all exits and passes.
        restoring: of a position whose value is known.
        tables: making the tables of a position.
        loading: of a byte that is read.
        storing: of a byte that is written, compressing included.
        packed: bytes in the store, for a byte of after tables in memory.
        packed_values: for a byte of values.
        table_bits: of a position, in all tables.
        fixed: seconds that a task takes for being one.
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


# Of 6 pieces, a core of 2 GHz or so, with other work beside it (docs/cluster.md).
WITH_SCORES = Rates(191.0, 97.0, 133.0, 1.9, 6.0, 0.134, 0.27, 2.1, 0.1)
OUTCOMES = Rates(156.0, 53.0, 44.0, 1.5, 5.4, 0.062, 0.16, 0.43, 0.1)


@dataclass(frozen=True)
class Cost:
    """What one task takes.

    Attributes:
        shared: seconds of one core, which a task's threads share; so they do loading.
        alone: seconds of one core besides.
        children: bytes in memory of what its pair leads to, which a worker loads that has not done so.
        before: bytes in memory of the blocks of the advance before, likewise.
        read: bytes that it reads from the store besides.
        written: bytes that it writes there.
    """

    shared: float
    alone: float
    children: float = 0
    before: float = 0
    read: float = 0
    written: float = 0

    def seconds(self, rates: Rates, jobs: int, loaded: float) -> float:
        """Seconds on so many cores, so many bytes loaded."""
        shared = self.shared + loaded * rates.loading * 1e-9
        moved = self.read + self.written + loaded * rates.packed
        return self.alone + shared / jobs + moved / STORE_SPEED


def rates_of(settings: Settings) -> Rates:
    """The rates of runs with DTW or without."""
    return WITH_SCORES if settings.with_scores else OUTCOMES


class _Sizes(NamedTuple):
    """Of a pair: positions; bytes in memory of its after tables, of those that it leads to, of the scores of
    all its blocks to the balance change, of its values."""

    positions: int
    own: int
    children: int
    balance: int
    values: int


@cache
def _sizes(settings: Settings, pair: Material) -> _Sizes:
    scores = settings.with_scores
    positions = sum(material.positions for material in both(pair))
    balance = settings.rules.counts_material_separately(pair)
    return _Sizes(
        positions,
        after_bytes(pair, scores),
        sum(after_bytes(child, scores) for child in successor_pairs(pair)),
        32 * sum(words(material) for material in both(pair)) if balance else 0,
        positions * (1 + scores + (balance and Metric.DTB in settings.wanted)),
    )


def after_bytes(pair: Material, with_scores: bool) -> int:
    """Bytes of the after tables of a pair in memory."""
    return sum(size_in_bytes(material, with_scores) for material in both(pair))


def cost_of(settings: Settings, task: Task, before: int = 0) -> Cost:
    """What a task takes, by the rates measured. Of a group of blocks, those of the advance `before` have so
    many positions."""
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
    kept = of.own if task.leaves_afters else 0
    if task.kind is Kind.RESTORE:
        restoring = (of.positions * rate.restoring + kept * rate.storing) * 1e-9
        return Cost(restoring, rate.fixed, of.children, read=tables, written=kept * rate.packed)
    solving = (of.positions * (rate.solving + rate.tables) + kept * rate.storing) * 1e-9
    return Cost(solving, rate.fixed, of.children, written=tables + kept * rate.packed)


def longest_ways(tasks: Sequence[Task], settings: Settings, jobs: int) -> dict[str, float]:
    """By key, the seconds on so many cores of the longest chain of tasks that begins with one."""
    users = users_of(tasks)
    positions = {task.key: task.positions for task in tasks}
    found: dict[str, float] = {}
    for task in reversed(tasks):
        after = max((found[key] for key in users[task.key]), default=0.0)
        before = sum(positions[key] for key in task.blocks)
        cost = cost_of(settings, task, before)
        # Who begins a pair loads what that leads to; the blocks of an advance were solved by many.
        loaded = cost.before + (0 if task.blocks else cost.children)
        found[task.key] = cost.seconds(rates_of(settings), jobs, loaded) + after
    return found


def urgencies(tasks: Sequence[Task], ways: dict[str, float]) -> dict[str, float]:
    """By key, how early a task is to be begun, of those that can be: that of its pair, which is the longest
    way from there to the end.

    By the ways of single tasks workers would go to and fro between pairs that are about as long, and load
    anew each time what a pair leads to; and tables would be made last of all, their values waiting in the
    store.
    """
    of_pair: dict[Material, float] = {}
    for task in tasks:
        of_pair[task.pair] = max(of_pair.get(task.pair, 0.0), ways[task.key])
    return {task.key: of_pair[task.pair] for task in tasks}
