"""What tasks take: from what has been measured (docs/performance.md, "On a cluster")."""

from dataclasses import dataclass

from generator.afters import size_in_bytes
from generator.cluster.graph import Kind, Task
from generator.cluster.settings import Settings
from generator.materialgraph import both
from tablebase.material import Material


@dataclass(frozen=True)
class Rates:
    """What was measured on one core, in nanoseconds a position, or bytes.

    Attributes:
        solving: solving a position, all exits and passes.
        restoring: filling in after tables from values that are known.
        loading: reading a byte of after tables (as they are in memory).
        storing: compressing and writing one.
        values: writing the values of a position for `TABLES`, or reading them.
        tables: making tables of a position's values.
        packed: bytes in the store, of a byte of after tables in memory.
        fixed: seconds a task takes for being one.
    """

    solving: float
    restoring: float
    loading: float
    storing: float
    values: float
    tables: float
    packed: float
    fixed: float


def rates(with_scores: bool) -> Rates:
    """The rates of runs with DTW or without."""
    return WITH_SCORES if with_scores else OUTCOMES


WITH_SCORES = Rates(200.0, 60.0, 1.0, 2.0, 2.0, 40.0, 0.2, 0.3)
OUTCOMES = Rates(120.0, 60.0, 1.0, 2.0, 2.0, 25.0, 0.2, 0.3)


def after_bytes(pair: Material, with_scores: bool) -> int:
    """Bytes of the after tables of a pair in memory."""
    return sum(size_in_bytes(material, with_scores) for material in both(pair))


@dataclass(frozen=True)
class Cost:
    """What one task takes on one core: seconds of work, and bytes that it reads from and writes to the store,
    where a worker has none of them yet."""

    seconds: float
    read: float
    written: float


def cost_of(settings: Settings, task: Task, children_bytes: int) -> Cost:
    """What a task takes, by the rates measured; its children's after tables take so many bytes in memory."""
    rate = rates(settings.with_scores)
    pair = task.pair
    every = sum(material.positions for material in both(pair))
    own = after_bytes(pair, settings.with_scores)
    value_bytes = 2 + settings.with_scores
    share = task.positions / every
    if task.kind is Kind.JOIN:
        return Cost(rate.fixed, 0, 0)
    if task.kind is Kind.TABLES:
        seconds = every * (rate.values * value_bytes + rate.tables) * 1e-9
        return Cost(rate.fixed + seconds, every * value_bytes * rate.packed, every * value_bytes * 0.1)
    read = children_bytes * rate.loading
    if task.kind is Kind.RESTORE:
        seconds = (every * rate.restoring + read + own * rate.storing) * 1e-9
        return Cost(rate.fixed + seconds, children_bytes * rate.packed, own * rate.packed)
    if task.kind is Kind.PAIR:
        left = own if task.leaves_afters else 0
        seconds = (every * (rate.solving + rate.tables) + read + left * rate.storing) * 1e-9
        return Cost(rate.fixed + seconds, children_bytes * rate.packed, left * rate.packed)
    left = int(own * share)
    seconds = (
        task.positions * (rate.solving + rate.values * value_bytes) + left * (rate.loading + rate.storing)
    ) * 1e-9
    return Cost(
        rate.fixed + seconds,
        left * rate.packed,
        left * rate.packed + task.positions * value_bytes * rate.packed,
    )
