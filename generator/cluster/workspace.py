"""The workspace of a worker for a pair: the solver, with all successor tables that the pair needs.

A worker keeps it from one group of blocks to the next of the same pair, and loads shared files once.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from generator.cluster.settings import RunSettings
from generator.cluster.tasks import AFTER, BALANCE, FORGET, Task, TaskRecord
from generator.cluster.transfer import load_drawn, load_successors, read_scores
from generator.materials import with_mirror
from generator.memory import Memory
from generator.solver import successors
from generator.solver.solver import SliceSolver, SliceState
from generator.solver.successors import OutcomeExceptions
from tablebase.board.material import Material
from tablebase.tables.format import Metric

Fetch = Callable[[str, TaskRecord], Path]
"""Returns the local path of a file of the store, by its name and the record of the task that left it."""


class PairWorkspace:
    """Solver of a pair, with the successor tables of the pair and of all pairs that it leads to.

    Args:
        settings: the settings of the run.
        pair: the pair.
        children: the records of the tasks that left the successor tables of the other pairs.
        jobs: number of threads.
        scratch: a folder for the files that large arrays are mapped from; None keeps them in memory.

    Attributes:
        child_files: the names of the files of `children`.
        run: a function like `map` that uses the threads of the workspace.
        watched: context manager that keeps the process within its memory limit.
        solver: the solver.
    """

    def __init__(
        self,
        settings: RunSettings,
        pair: Material,
        children: list[TaskRecord],
        jobs: int,
        scratch: Path | None,
    ) -> None:
        self.settings = settings
        self.pair = pair
        self.child_files = frozenset(name for record in children for name in record.files)
        self._memory = Memory(scratch, settings.memory if scratch else None)
        self._children = [Material.parse(record.pair) for record in children]
        everything = [material for each in (*self._children, pair) for material in with_mirror(each)]
        tables = successors.allocate(everything, settings.most_pieces, self._memory, settings.with_scores)
        self._threads = ThreadPoolExecutor(jobs)
        self.run = self._threads.map
        self.watched = self._memory.watched
        self.solver = SliceSolver(
            tables,
            settings.rules.king_moves_plies,
            self._threads,
            jobs,
            lambda positions: None,
            settings.rules.balance_plies,
            self._memory,
            Metric.DTB in settings.wanted,
        )
        self._tables = tables
        self._loaded: set[str] = set()
        self._balance: dict[int, set[str]] = {
            0: set(),
            1: set(),
        }  # names of loaded files, by the parity of the advance
        self._work: SliceState | None = None

    @property
    def work(self) -> SliceState:
        """Solver state of the pair, created on first use."""
        if self._work is None:
            self._work = self.solver.open_slice(self.pair)
        return self._work

    def load_children(self, children: list[TaskRecord], fetch: Fetch) -> None:
        """Load the successor tables of all pairs that the pair leads to."""
        self._load(list(zip(self._children, children, strict=True)), fetch)

    def load_blocks(self, records: Mapping[str, TaskRecord], fetch: Fetch) -> None:
        """Load the successor tables of blocks of the pair."""
        self._load([(self.pair, record) for record in records.values()], fetch)

    def _load(self, records: list[tuple[Material, TaskRecord]], fetch: Fetch) -> None:
        wanted = [
            (pair, name, record)
            for pair, record in records
            for name in record.files
            if name not in self._loaded
        ]
        tables = self.solver.successors

        def load_one(of: tuple[Material, str, TaskRecord]) -> list[OutcomeExceptions]:
            pair, name, record = of
            return load_successors(tables, pair, fetch(name, record), self._memory)

        of_tables = [each for each in wanted if each[1].endswith(AFTER)]
        board = [part for parts in self.run(load_one, of_tables) for part in parts if len(part.words)]
        self.solver.add_exceptions(board)
        for pair, name, record in wanted:  # once all successor tables are loaded
            if name.endswith(FORGET):
                load_drawn(self.solver, pair, fetch(name, record))
        self._loaded.update(name for _, name, _ in wanted)

    def load_balance(self, task: Task, before: Mapping[Task, TaskRecord], fetch: Fetch) -> None:
        """Load the DTB scores of the advance before a task's, and prepare the arrays for its own."""
        scores = self.work.scores
        if scores is None:
            return
        steps = self.work.blocks.steps_to_go
        self._balance[steps[task.run] % 2].clear()  # scores of another advance, or overwritten by this task
        for number in sorted({each.run for each in before}):
            scores.tiers_of_run(number)  # sets the places of its blocks
        wanted = {name for record in before.values() for name in record.files}
        for loaded in self._balance.values():
            if not loaded <= wanted:  # scores of another advance, which this call overwrites
                loaded.clear()
        for each, record in before.items():
            loaded = self._balance[steps[each.run] % 2]
            for name in record.files:
                if name.endswith(BALANCE) and name not in loaded:
                    read_scores(fetch(name, record), scores.parts(each.run, each.first, each.last))
                    loaded.add(name)

    def free(self) -> None:
        """Give back all memory and end the threads."""
        self.solver.stop()
        if self._work is not None:
            self.solver.close_slice(self._work)
        self._threads.shutdown()  # first: a thread that writes to an array takes memory again
        self._memory.free((self._tables.score, self._tables.lost, self._tables.won))
