"""The tasks of a run on a cluster: their graph, their block counts, and records of those done.

A large pair is split: each of its runs of blocks (of equal advance) is split into groups of blocks. The
groups of a run do not lead to each other, only to groups of the advance before. So many workers solve such a
pair, one advance after another, while others solve other pairs.

    PAIR        solve a whole pair, and write its tables
    RESTORE     make the successor tables of a solved pair from its tables
    BLOCKS      solve a group of blocks
    JOIN        collect the groups of blocks of a pair, for the pairs that lead to it
    TABLES      write the tables of a pair from the values of its blocks

A task leaves successor tables in the store. Other tasks load them.
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

from generator.materials import successor_pairs, with_mirror
from generator.plan import Plan
from tablebase.board.material import Material
from tablebase.tables.files import FileRecord
from tablebase.tables.manifest import SliceRecord, slice_from_json, slice_to_json

_SQUARES = 32
_LAST_ROW = 7


class BlockCount(NamedTuple):
    """Number of blocks of a run.

    Attributes:
        steps_to_go: advance of the run: steps that the men have yet to make to their last rows.
        self_mirrored: whether the blocks are their own mirrors.
        blocks: number of blocks.
    """

    steps_to_go: int
    self_mirrored: bool
    blocks: int


def block_counts(pair: Material) -> list[BlockCount]:
    """Return the number of blocks of each run of `Blocks(pair)`, in the order of the runs.

    The blocks are counted, not listed: square by square, with no man or a man of either side, whose steps are
    added. Self-mirrored blocks are counted by pairs of opposite squares: both empty, or a man of each side.
    """
    every = _placements(pair.own_men, pair.other_men)
    if pair != pair.mirror:
        return [BlockCount(steps, False, count) for steps, count in enumerate(every.tolist()) if count]
    self_mirrored = _self_mirrored_placements(pair.own_men, len(every))
    found = []
    for steps, (count, mirrored) in enumerate(zip(every.tolist(), self_mirrored.tolist(), strict=True)):
        if count > mirrored:
            found.append(BlockCount(steps, False, (count - mirrored) // 2))
        if mirrored:
            found.append(BlockCount(steps, True, mirrored))
    return found


def _placements(own: int, other: int) -> NDArray[np.int64]:
    """Return the number of placements of men of both sides, shape (steps,), int64, by steps to go."""
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


def _self_mirrored_placements(men: int, length: int) -> NDArray[np.int64]:
    """Return the number of self-mirrored placements of `men` men a side, shape (length,), by steps to go."""
    counts = np.zeros((men + 1, length), np.int64)
    counts[0, 0] = 1
    for square in range(_SQUARES // 2):
        before = counts.copy()
        # An own man on this square and another man on the opposite square, or the reverse.
        for row in (square // 4, _LAST_ROW - square // 4):
            steps = 2 * (_LAST_ROW - row)
            if row < _LAST_ROW and steps < length:
                counts[1:, steps:] += before[:-1, : length - steps]
    found: NDArray[np.int64] = counts[men]
    return found


TASK_POSITIONS = 1_000_000_000
"""Default largest number of positions of a task: some minutes of work of one core."""


class Kind(StrEnum):
    """Kinds of tasks."""

    PAIR = "pair"
    RESTORE = "restore"
    BLOCKS = "blocks"
    JOIN = "join"
    TABLES = "tables"


@dataclass(frozen=True)
class Task:
    """Unit of work of one worker.

    Attributes:
        kind: the kind of task.
        pair: the pair of materials.
        positions: number of positions that the task solves.
        children: keys of the tasks that leave the successor tables of all pairs that this pair leads to.
        blocks: keys of the tasks whose blocks this task needs: those of the advance before for BLOCKS, all of
            the pair for JOIN and TABLES.
        leaves_successors: whether the task leaves successor tables.
        run: number of the run of the blocks; BLOCKS only.
        first: number of the first block; BLOCKS only.
        last: number after that of the last block; BLOCKS only.
    """

    kind: Kind
    pair: Material
    positions: int = 0
    children: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    leaves_successors: bool = True
    run: int = 0
    first: int = 0
    last: int = 0

    @cached_property
    def key(self) -> str:
        """The name of the task, unique in a run."""
        name = f"{self.kind}-{self.pair}"
        return f"{name}-{self.run:02}-{self.first}-{self.last}" if self.kind is Kind.BLOCKS else name

    @property
    def needs(self) -> tuple[str, ...]:
        """The keys of all tasks that must be done before this one."""
        return self.children + self.blocks


def task_graph(work: Plan, most_positions: int = TASK_POSITIONS, there: Container[str] = ()) -> list[Task]:
    """Return all tasks of a plan, each after the tasks that it needs.

    Args:
        work: the plan.
        most_positions: largest number of positions of a task; larger pairs are split into groups of blocks.
        there: keys of finished tasks whose successor tables are in the store.
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
                if all(group.key in there for group in groups):  # its tables were written before its JOIN
                    tasks += groups
                    last = Task(Kind.JOIN, pair, blocks=tuple(group.key for group in groups))
            tasks.append(last)
        elif (positions := _positions(pair)) <= most_positions or not pair.men:
            last = Task(Kind.PAIR, pair, positions, children, leaves_successors=leaves)
            tasks.append(last)
        else:
            groups = _groups(pair, children, most_positions)
            tasks += groups
            every = tuple(group.key for group in groups)
            tasks.append(Task(Kind.TABLES, pair, blocks=every, leaves_successors=False))
            last = Task(Kind.JOIN, pair, blocks=every)
            if leaves:
                tasks.append(last)
        last_of[pair] = last.key
    return tasks


def _done_before(pair: Material, there: Container[str]) -> Task | None:
    """Return the finished task that left the successor tables of a solved pair, or None."""
    for kind in (Kind.PAIR, Kind.JOIN, Kind.RESTORE):
        task = Task(kind, pair)
        if task.key in there:
            return task
    return None


def _positions(pair: Material) -> int:
    return sum(material.positions for material in with_mirror(pair))


def _groups(pair: Material, children: tuple[str, ...], most_positions: int) -> list[Task]:
    found: list[Task] = []
    before: tuple[str, ...] = ()
    this: list[str] = []
    steps = first = 0
    for number, run in enumerate(block_counts(pair)):
        if run.steps_to_go != steps:
            before, this, steps = tuple(this), [], run.steps_to_go
        sides = 1 if run.self_mirrored else 2
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
    """Return the keys of the tasks that need each task, by key."""
    found: dict[str, set[str]] = {}
    for task in tasks:
        found.setdefault(task.key, set())
        for key in task.needs:
            found.setdefault(key, set()).add(task.key)
    return found


FOLDER = "work"
"""The folder of the store for the files that tasks leave for other tasks."""
RECORD = ".json"
AFTER, VALUES, BALANCE, FORGET = ".after", ".values", ".balance", ".forget"
_OURS = re.compile(
    rf"{FOLDER}/(pair|restore|blocks|join|tables)-K*M*vK*M*(-\d+-\d+-\d+)?"
    rf"({AFTER}|{VALUES}|{BALANCE}|{FORGET}|{RECORD})(\.[0-9a-f-]+\.tmp)?"
)


def record_name(key: str) -> str:
    """Return the name of a task's record in the store."""
    return f"{FOLDER}/{key}{RECORD}"


def is_of_tasks(name: str) -> bool:
    """Whether a name in the store is that of a file of a task, complete or temporary.

    Other files in the folder belong to the user.
    """
    return _OURS.fullmatch(name) is not None


@dataclass(frozen=True)
class TaskRecord:
    """Record of a finished task.

    Attributes:
        key: key of the task.
        pair: its pair of materials.
        settings: digest of the settings of its run.
        files: files that the task left for other tasks, by name in the store.
        slices: manifest entries of the materials whose tables the task wrote, as JSON, by material.
        lacking: whether some position that is decided under the king-moves rule has no DTB within the limit.
        positions: number of positions that the task solved.
        seconds: duration by activity: "loading", "working", "storing".
        cores: processor seconds by activity.
        fetched: bytes that the task fetched from the store.
        memory: peak memory of its process until its end, in bytes.
        worker: host and process of the worker.
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
        """The name of the record in the store."""
        return record_name(self.key)

    def to_json(self) -> bytes:
        """Return the record as JSON, its content in the store."""
        return json.dumps(asdict(self), indent=1).encode()

    @classmethod
    def from_json(cls, content: bytes) -> "TaskRecord | None":
        """Return the record of a JSON text; None if the text is not a record."""
        try:
            data = json.loads(content)
            data["files"] = {name: FileRecord(*record) for name, record in data["files"].items()}
            return cls(**data)
        except (ValueError, TypeError, KeyError, AttributeError):
            return None

    def slice_records(self) -> dict[Material, SliceRecord]:
        """Return the manifest entries of the tables that the task wrote."""
        return {Material.parse(text): slice_from_json(text, entry) for text, entry in self.slices.items()}


def slices_to_json(slices: dict[Material, SliceRecord]) -> dict[str, Any]:
    """Return manifest entries as JSON data, for a record."""
    # Through JSON text, so that a record is the same before and after it was in the store.
    found: dict[str, Any] = json.loads(json.dumps({str(m): slice_to_json(of) for m, of in slices.items()}))
    return found
