"""How much memory a task needs."""

from functools import cache
from typing import NamedTuple

from generator.balancescores import balance_bytes
from generator.cluster.graph import Kind, Task
from generator.cluster.settings import Settings
from generator.materialgraph import Scope, both, leads_to
from generator.plan import LISTED_BYTES, PROGRAM_BYTES, READ_BYTES, Plan
from tablebase.material import Material

# What of a file is being read or written at a time.
_STREAM_BYTES = 256 << 20
# A block that is placed: six numbers.
_PLACED_BYTES = 48
# What a file holds while it is written, a position (see plan.py).
_ENCODED_BYTES = 1.25


class _Sizes(NamedTuple):
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
def _sizes(settings: Settings, pair: Material) -> _Sizes:
    work = Plan(Scope(settings.most_pieces), settings.wanted, settings.jobs or 1, [pair], (), settings.rules)
    positions = [material.positions for material in both(pair)]
    return _Sizes(
        LISTED_BYTES * pair.blocks,
        sum(work.table_bytes(child) for child in leads_to(pair)),
        work.table_bytes(pair),
        work.result_bytes(pair),
        balance_bytes(pair) if settings.rules.counts_apart(pair) else 0,
        work.rooms(pair),
        sum(positions),
        max(positions),
    )


def memory_of(settings: Settings, task: Task) -> int:
    """Bytes of memory that a task needs, about, where all is kept in memory."""
    of = _sizes(settings, task.pair)
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
