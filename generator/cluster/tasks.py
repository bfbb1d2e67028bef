"""The tasks of a run on a cluster: their graph, their block counts, and records of those done.

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

import json
import re
from collections.abc import Container, Iterable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.materials import both, successor_pairs
from generator.plan import Plan
from tablebase.board.material import Material
from tablebase.tables.files import FileRecord
from tablebase.tables.manifest import SliceRecord, slice_from_json, slice_to_json

_SQUARES = 32
_LAST_ROW = 7


class RunSize(NamedTuple):
    """A run of blocks: the steps that their men have yet to go, whether they are their own twins, how many
    they are."""

    steps_to_go: int
    twins: bool
    blocks: int


def run_sizes(pair: Material) -> list[RunSize]:
    """The runs of `Blocks(pair)`, in their order.

    Squares are gone through one by one: each has a man of either side, with so many steps to go, or none. For
    blocks that are their own twins, two squares at a time that a turn of the board swaps: both empty, or a
    man of each side.
    """
    every = _placements(pair.own_men, pair.other_men)
    if pair != pair.mirror:
        return [RunSize(steps, False, count) for steps, count in enumerate(every.tolist()) if count]
    own_twins = _twin_placements(pair.own_men, len(every))
    found = []
    for steps, (count, twins) in enumerate(zip(every.tolist(), own_twins.tolist(), strict=True)):
        if count > twins:
            found.append(RunSize(steps, False, (count - twins) // 2))
        if twins:
            found.append(RunSize(steps, True, twins))
    return found


def _placements(own: int, other: int) -> NDArray[np.int64]:
    """How many placements of so many men of each side there are, by steps to go."""
    counts = np.zeros((own + 1, other + 1, _LAST_ROW * (own + other) + 1), np.int64)
    counts[0, 0, 0] = 1
    for square in range(_SQUARES):
        row = square // 4
        before = counts.copy()
        if row < _LAST_ROW:
            steps = _LAST_ROW - row
            counts[1:, :, steps:] += before[:-1, :, : counts.shape[2] - steps]
        if row > 0:
            counts[:, 1:, row:] += before[:, :-1, : counts.shape[2] - row]
    found: NDArray[np.int64] = counts[own, other]
    return found


def _twin_placements(men: int, length: int) -> NDArray[np.int64]:
    """Those of so many men a side that are their own twins."""
    counts = np.zeros((men + 1, length), np.int64)
    counts[0, 0] = 1
    for square in range(_SQUARES // 2):
        before = counts.copy()
        # A man on this square and the other side's on its opposite, or the other way round.
        for row in (square // 4, _LAST_ROW - square // 4):
            steps = 2 * (_LAST_ROW - row)
            if row < _LAST_ROW and steps < length:
                counts[1:, steps:] += before[:-1, : length - steps]
    found: NDArray[np.int64] = counts[men]
    return found


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
    led_to = {child for pair in work.order for child in successor_pairs(pair)}
    for pair in work.order:
        children = tuple(
            last_of[child] for child in sorted(successor_pairs(pair) & wanted, key=Material.sort_key)
        )
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


FOLDER = "work"
"""The folder of the store for what tasks leave to one another."""
RECORD = ".json"
AFTER, VALUES, BALANCE, FORGET = ".after", ".values", ".balance", ".forget"
_OURS = re.compile(
    rf"{FOLDER}/(pair|restore|blocks|join|tables)-K*M*vK*M*(-\d+-\d+-\d+)?"
    rf"({AFTER}|{VALUES}|{BALANCE}|{FORGET}|{RECORD})(\.[0-9a-f-]+\.tmp)?"
)


def record_name(key: str) -> str:
    """The name in the store of what is known of a task."""
    return f"{FOLDER}/{key}{RECORD}"


def is_of_tasks(name: str) -> bool:
    """Whether this is the name of what a task has left, or was leaving when it was cut short: a folder of
    this name may have been there before, with files that are none of our business."""
    return _OURS.fullmatch(name) is not None


@dataclass(frozen=True)
class Record:
    """A task that is done.

    Attributes:
        key: of the task.
        pair: its pair of materials.
        settings: the digest of the settings that it was done under.
        files: what it left for other tasks, by name in the store.
        slices: what the manifest is to say of the materials whose tables it wrote.
        lacking: whether some position that is decided under the king-moves rule has no DTB within the limit.
        positions: how many it solved.
        seconds: what it took, by what was done: "loading", "working", "storing".
        cores: seconds of processors for it, by the same.
        fetched: bytes that it fetched from the store.
        memory: bytes of memory at the most, of its process until then.
        worker: who did it.
    """

    key: str
    pair: str
    settings: str
    files: dict[str, FileRecord] = field(default_factory=dict)
    slices: dict[str, Any] = field(default_factory=dict)
    lacking: bool = False
    positions: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    cores: dict[str, float] = field(default_factory=dict)
    fetched: int = 0
    memory: int = 0
    worker: str = ""

    @property
    def name(self) -> str:
        """Its own name in the store."""
        return record_name(self.key)

    def to_json(self) -> bytes:
        """As it stands in the store."""
        return json.dumps(asdict(self), indent=1).encode()

    @classmethod
    def from_json(cls, content: bytes) -> "Record | None":
        """Read it back; None where it is no such thing."""
        try:
            data = json.loads(content)
            data["files"] = {name: FileRecord(*record) for name, record in data["files"].items()}
            return cls(**data)
        except (ValueError, TypeError, KeyError, AttributeError):
            return None

    def slice_records(self) -> dict[Material, SliceRecord]:
        """Its entries of the manifest."""
        return {Material.parse(text): slice_from_json(text, entry) for text, entry in self.slices.items()}


def slices_to_json(slices: dict[Material, SliceRecord]) -> dict[str, Any]:
    """Entries of the manifest, as a record has them."""
    # As JSON has it, so that a record is the same whether it has been in the store or not.
    found: dict[str, Any] = json.loads(json.dumps({str(m): slice_to_json(of) for m, of in slices.items()}))
    return found
