"""What there is to do, as tasks that lead to one another: a pair of materials each, or a group of its blocks.

A pair of many positions is cut: each of its runs of blocks (of equal advance of the men) into groups, which
do not lead to each other, only to those of the advance before. So such a pair is worked on by many workers,
one advance after another, while others work on other pairs.

    PAIR        solve a whole pair, and write its tables
    RESTORE     fill in the after tables of a pair that is solved already, from its tables
    BLOCKS      solve a group of blocks
    JOIN        all blocks of a pair are there: what leads to it can be begun
    TABLES      write the tables of a pair from the values of its blocks

The after tables that a task leaves in the store are what other tasks go on from.
"""

from collections.abc import Container, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

from generator.cluster.runsizes import run_sizes
from generator.materialgraph import both, leads_to
from generator.plan import Plan
from tablebase.material import Material

TASK_POSITIONS = 1_000_000_000
"""The most positions of a task, if its pair has blocks to tell apart: some minutes' work of one core."""


class Kind(StrEnum):
    """What a task does."""

    PAIR = "pair"
    RESTORE = "restore"
    BLOCKS = "blocks"
    JOIN = "join"
    TABLES = "tables"


@dataclass(frozen=True)
class Task:
    """One thing to do.

    Attributes:
        kind: what.
        pair: of which pair of materials.
        positions: how many it solves.
        children: keys of the tasks that leave the after tables of all pairs that this one leads to.
        blocks: keys of the tasks whose blocks it needs: those of the advance before; all of the pair.
        leaves_afters: whether it is to leave after tables.
        run: of blocks: the number of their run.
        first: the first of them, as `Blocks` counts.
        last: the end of them.
    """

    kind: Kind
    pair: Material
    positions: int = 0
    children: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    leaves_afters: bool = True
    run: int = 0
    first: int = 0
    last: int = 0

    @cached_property
    def key(self) -> str:
        """Its name."""
        name = f"{self.kind}-{self.pair}"
        return f"{name}-{self.run:02}-{self.first}-{self.last}" if self.kind is Kind.BLOCKS else name

    @property
    def needs(self) -> tuple[str, ...]:
        """The keys of all tasks that must be done before."""
        return self.children + self.blocks


def task_graph(work: Plan, most_positions: int = TASK_POSITIONS, there: Container[str] = ()) -> list[Task]:
    """All tasks of a plan, each after all that it needs.

    Args:
        work: the plan.
        most_positions: cut pairs of more into groups of blocks of so many at most.
        there: keys of tasks that have been done and that are gone on from, where a pair is solved already.
    """
    tasks: list[Task] = []
    last_of: dict[Material, str] = {}
    known, wanted = set(work.known), set(work.order)
    led_to = {child for pair in work.order for child in leads_to(pair)}
    for pair in work.order:
        children = tuple(last_of[child] for child in sorted(leads_to(pair) & wanted, key=Material.place))
        leaves = pair in led_to
        if pair in known:
            last = _done_before(pair, there) or Task(Kind.RESTORE, pair, children=children)
            if last.kind is Kind.RESTORE and pair.men:
                groups = _groups(pair, children, most_positions)
                if all(group.key in there for group in groups):  # its tables came before it was joined
                    tasks += groups
                    last = Task(Kind.JOIN, pair, blocks=tuple(group.key for group in groups))
            tasks.append(last)
        elif (positions := _positions(pair)) <= most_positions or not pair.men:
            last = Task(Kind.PAIR, pair, positions, children, leaves_afters=leaves)
            tasks.append(last)
        else:
            groups = _groups(pair, children, most_positions)
            tasks += groups
            every = tuple(group.key for group in groups)
            tasks.append(Task(Kind.TABLES, pair, blocks=every, leaves_afters=False))
            last = Task(Kind.JOIN, pair, blocks=every)
            if leaves:
                tasks.append(last)
        last_of[pair] = last.key
    return tasks


def _done_before(pair: Material, there: Container[str]) -> Task | None:
    """The task that has left the after tables of a solved pair, if one has."""
    for kind in (Kind.PAIR, Kind.JOIN, Kind.RESTORE):
        task = Task(kind, pair)
        if task.key in there:
            return task
    return None


def _positions(pair: Material) -> int:
    return sum(material.positions for material in both(pair))


def _groups(pair: Material, children: tuple[str, ...], most_positions: int) -> list[Task]:
    found: list[Task] = []
    before: tuple[str, ...] = ()
    this: list[str] = []
    steps = first = 0
    for number, run in enumerate(run_sizes(pair)):
        if run.steps_to_go != steps:
            before, this, steps = tuple(this), [], run.steps_to_go
        sides = 1 if run.twins else 2
        size = max(1, most_positions // (sides * pair.block_size))
        parts = -(-run.blocks // size)
        bounds = [first + run.blocks * part // parts for part in range(parts + 1)]
        for begin, end in pairwise(bounds):
            positions = sides * pair.block_size * (end - begin)
            task = Task(Kind.BLOCKS, pair, positions, children, before, True, number, begin, end)
            found.append(task)
            this.append(task.key)
        first += run.blocks
    return found


def users_of(tasks: Iterable[Task]) -> dict[str, set[str]]:
    """By key, the keys of the tasks that need it."""
    found: dict[str, set[str]] = {}
    for task in tasks:
        found.setdefault(task.key, set())
        for key in task.needs:
            found.setdefault(key, set()).add(task.key)
    return found
