"""Where a worker solves a pair: its after tables and those of all that it leads to, in memory.

One is kept from one group of blocks to the next of the same pair, so that what they share is loaded once.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from generator.cluster.settings import Settings
from generator.cluster.tasks import AFTER, BALANCE, FORGET, Record, Task
from generator.cluster.transfer import load, load_forgotten, read_scores
from generator.materials import both
from generator.memory import Memory
from generator.solver import successors as afters
from generator.solver.solver import SliceSolver, SliceState
from generator.solver.successors import OutcomeExceptions
from tablebase.board.material import Material
from tablebase.tables.format import Metric

Fetch = Callable[[str, Record], Path]
"""A file of the store, by its name and the record that it stands in: where it is on this machine."""


class Bench:
    """The after tables of a pair and of all that it leads to.

    Args:
        settings: of the run.
        pair: the pair.
        children: the records of the tasks that left the after tables of the others.
        jobs: threads.
        scratch: a folder to map large arrays from; None keeps them in memory.
    """

    def __init__(
        self, settings: Settings, pair: Material, children: list[Record], jobs: int, scratch: Path | None
    ) -> None:
        self.settings = settings
        self.pair = pair
        self.child_files = frozenset(name for record in children for name in record.files)
        self._memory = Memory(scratch, settings.memory if scratch else None)
        self._children = [Material.parse(record.pair) for record in children]
        everything = [material for each in (*self._children, pair) for material in both(each)]
        tables = afters.allocate(everything, settings.most_pieces, self._memory, settings.with_scores)
        self._threads = ThreadPoolExecutor(jobs)
        self.run = self._threads.map
        self.watched = self._memory.watched
        self.crew = SliceSolver(
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
        self._balance: dict[int, set[str]] = {0: set(), 1: set()}  # by the parity of the advance
        self._work: SliceState | None = None

    @property
    def work(self) -> SliceState:
        """The pair, taken up."""
        if self._work is None:
            self._work = self.crew.open_slice(self.pair)
        return self._work

    def load_children(self, children: list[Record], fetch: Fetch) -> None:
        """Load the after tables of all that the pair leads to."""
        self._load(list(zip(self._children, children, strict=True)), fetch)

    def load_blocks(self, records: Mapping[str, Record], fetch: Fetch) -> None:
        """Load the after tables of blocks of the pair."""
        self._load([(self.pair, record) for record in records.values()], fetch)

    def _load(self, records: list[tuple[Material, Record]], fetch: Fetch) -> None:
        wanted = [
            (pair, name, record)
            for pair, record in records
            for name in record.files
            if name not in self._loaded
        ]
        tables = self.crew.successors

        def load_one(of: tuple[Material, str, Record]) -> list[OutcomeExceptions]:
            pair, name, record = of
            return load(tables, pair, fetch(name, record), self._memory)

        of_afters = [each for each in wanted if each[1].endswith(AFTER)]
        board = [part for parts in self.run(load_one, of_afters) for part in parts if len(part.words)]
        self.crew.add_exceptions(board)
        for pair, name, record in wanted:  # when all the rest is there
            if name.endswith(FORGET):
                load_forgotten(self.crew, pair, fetch(name, record))
        self._loaded.update(name for _, name, _ in wanted)

    def load_balance(self, task: Task, before: Mapping[Task, Record], fetch: Fetch) -> None:
        """Load the scores of the blocks of the advance before a task's; make room for those of its own."""
        scores = self.work.scores
        if scores is None:
            return
        steps = self.work.blocks.steps_to_go
        self._balance[steps[task.run] % 2].clear()  # they are of another advance, or will be written over
        for number in sorted({each.run for each in before}):
            scores.tiers_of_run(number)  # says where its blocks stand
        wanted = {name for record in before.values() for name in record.files}
        for there in self._balance.values():
            if not there <= wanted:  # of another advance: what is loaded now is written over them
                there.clear()
        for each, record in before.items():
            there = self._balance[steps[each.run] % 2]
            for name in record.files:
                if name.endswith(BALANCE) and name not in there:
                    read_scores(fetch(name, record), scores.parts(each.run, each.first, each.last))
                    there.add(name)

    def let_go(self) -> None:
        """Give back all memory."""
        self.crew.stop()
        if self._work is not None:
            self.crew.close_slice(self._work)
        self._threads.shutdown()  # before: what a thread writes takes memory again
        self._memory.forget((self._tables.score, self._tables.lost, self._tables.won))
