"""What tasks take, by what has been measured of them (docs/cluster.md says how)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from generator.afters import size_in_bytes
from generator.cluster.graph import Kind, Task, users_of
from generator.cluster.settings import Settings
from generator.materialgraph import both, leads_to
from tablebase.material import Material


@dataclass(frozen=True)
class Rates:
    """What was measured on one core: nanoseconds a position, or a byte of after tables in memory.

    Attributes:
        solving: of a position, all exits and passes.
        restoring: of a position whose value is known.
        tables: making the tables of a position.
        loading: of a byte that is read.
        storing: of a byte that is written, compressing included.
        packed: bytes in the store, for a byte in memory.
        table_bits: of a position, in all tables.
        fixed: seconds that a task takes for being one.
    """

    solving: float
    restoring: float
    tables: float
    loading: float
    storing: float
    packed: float
    table_bits: float
    fixed: float


WITH_SCORES = Rates(200.0, 60.0, 40.0, 1.0, 2.0, 0.2, 2.0, 0.3)
OUTCOMES = Rates(120.0, 60.0, 25.0, 1.0, 2.0, 0.2, 0.43, 0.3)


@dataclass(frozen=True)
class Cost:
    """What one task takes.

    Attributes:
        shared: seconds of one core, which a task's threads share.
        alone: seconds of one core besides.
        child_seconds: those of loading what its pair leads to, for a worker that has not done so.
        child_bytes: what it reads of that, in the store.
        read: what it reads besides.
        written: what it writes.
    """

    shared: float
    alone: float
    child_seconds: float
    child_bytes: float
    read: float
    written: float

    def seconds(self, jobs: int) -> float:
        """Seconds on so many cores, where what its pair leads to is there."""
        return self.shared / jobs + self.alone


@cache
def _sizes(pair: Material, with_scores: bool) -> tuple[int, int, int]:
    """Of a pair: positions, bytes of its after tables in memory, and of those that it leads to."""
    children = sum(after_bytes(child, with_scores) for child in leads_to(pair))
    positions = sum(material.positions for material in both(pair))
    return positions, after_bytes(pair, with_scores), children


def after_bytes(pair: Material, with_scores: bool) -> int:
    """Bytes of the after tables of a pair in memory."""
    return sum(size_in_bytes(material, with_scores) for material in both(pair))


def cost_of(settings: Settings, task: Task) -> Cost:
    """What a task takes, by the rates measured."""
    rate = WITH_SCORES if settings.with_scores else OUTCOMES
    positions, own, children = _sizes(task.pair, settings.with_scores)
    values = positions * (1 + settings.with_scores)
    tables = positions * rate.table_bits / 8
    if task.kind is Kind.JOIN:
        return Cost(0, rate.fixed, 0, 0, 0, 0)
    if task.kind is Kind.TABLES:
        alone = rate.fixed + values * rate.loading * 1e-9
        return Cost(positions * rate.tables * 1e-9, alone, 0, 0, values * rate.packed, tables)
    alone = rate.fixed
    loading = children * rate.loading * 1e-9
    read = children * rate.packed
    if task.kind is Kind.BLOCKS:
        share = task.positions / positions
        solving = (task.positions * rate.solving + (own + values) * share * rate.storing) * 1e-9
        before, left = own * share, (own + values) * share
        alone += before * rate.loading * 1e-9
        return Cost(solving, alone, loading, read, before * rate.packed, left * rate.packed)
    kept = own if task.leaves_afters else 0
    stored = kept * rate.storing
    if task.kind is Kind.RESTORE:
        return Cost(
            (positions * rate.restoring + stored) * 1e-9, alone, loading, read, tables, kept * rate.packed
        )
    shared = (positions * (rate.solving + rate.tables) + stored) * 1e-9
    return Cost(shared, alone, loading, read, 0, tables + kept * rate.packed)


def longest_ways(tasks: Sequence[Task], settings: Settings, jobs: int) -> dict[str, float]:
    """By key, the seconds on so many cores of the longest chain of tasks that begins with one: what waits for
    it longest is to be begun first."""
    users = users_of(tasks)
    found: dict[str, float] = {}
    for task in reversed(tasks):
        after = max((found[key] for key in users[task.key]), default=0.0)
        found[task.key] = cost_of(settings, task).seconds(jobs) + after
    return found
