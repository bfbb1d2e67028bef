"""How much memory a task needs."""

from generator.balancescores import balance_bytes
from generator.cluster.graph import Kind, Task
from generator.cluster.settings import Settings
from generator.materialgraph import Scope, leads_to
from generator.plan import LISTED_BYTES, PROGRAM_BYTES, READ_BYTES, Plan
from tablebase.material import Material

# What of a file is being read or written at a time.
_STREAM_BYTES = 256 << 20
# A block that is placed: six numbers; with its values on their way, a byte or so a metric.
_PLACED_BYTES = 48


def memory_of(settings: Settings, task: Task) -> int:
    """Bytes of memory that a task needs, about, where all is kept in memory."""
    pair = task.pair
    work = Plan(Scope(settings.most_pieces), settings.wanted, settings.jobs or 1, [pair], (), settings.rules)
    balance = balance_bytes(pair) if settings.rules.counts_apart(pair) else 0
    listed = LISTED_BYTES * pair.blocks
    fixed = PROGRAM_BYTES + _STREAM_BYTES + listed
    children = sum(work.table_bytes(child) for child in leads_to(pair))
    own = work.table_bytes(pair)
    every_value = work.result_bytes(pair)
    if task.kind is Kind.TABLES:
        return fixed + every_value + int(1.25 * max(pair.positions, pair.mirror.positions))
    if task.kind is Kind.JOIN:
        return fixed + own + every_value
    solving = fixed + children + own + work.rooms(pair)
    if task.kind is Kind.RESTORE:
        return solving + every_value + READ_BYTES * max(pair.positions, pair.mirror.positions)
    if task.kind is Kind.PAIR:
        return solving + balance + every_value + int(1.25 * max(pair.positions, pair.mirror.positions))
    values = every_value * task.positions // max(1, _positions(pair))
    # A run's blocks are placed at once where the balance is counted.
    placed = _PLACED_BYTES * (pair.blocks // 8 if balance else task.last - task.first)
    return solving + balance + 2 * values + placed


def _positions(pair: Material) -> int:
    return pair.positions + (0 if pair == pair.mirror else pair.mirror.positions)
