"""What a worker does: one task at a time with all its cores, sharing nothing with others but the store."""

import os
import resource
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from distributed import get_worker

from generator.cluster.estimate import memory_of
from generator.cluster.lease import check_claim
from generator.cluster.settings import Settings, identity
from generator.cluster.store import Cache, Store
from generator.cluster.tasks import (
    AFTER,
    BALANCE,
    FOLDER,
    FORGET,
    VALUES,
    Kind,
    Record,
    Task,
    record_name,
    slices_to_json,
)
from generator.cluster.transfer import (
    Arrays,
    forgotten,
    of_blocks,
    read_arrays,
    score_arrays,
    whole,
    write_arrays,
)
from generator.cluster.workspace import Bench
from generator.errors import ClusterError, ProgramMismatchError
from generator.materials import both
from generator.plan import available_cores
from generator.solver.blocks import Blocks
from generator.solver.files import restore_pair, restores_from, write_pair
from generator.solver.results import Results
from generator.solver.solver import Pair, separate_results
from tablebase.board.material import Material
from tablebase.tables.files import FileRecord
from tablebase.tables.format import Metric, table_name
from tablebase.tables.manifest import SliceRecord

Known = Mapping[Material, SliceRecord]

# Groups of one pair share a bench, which the first of them makes; others may need a little more.
_LEFT_FREE = 0.9
_one_at_a_time = threading.Lock()
_kept: list[Bench] = []  # of the pair that was worked on last: one at most


def run_task(
    settings: Settings, task: Task, tables: Known, earlier: Mapping[str, Task], *before: Record
) -> Record:
    """Do a task, leave in the store what follows from it, and its record last of all.

    Args:
        settings: of the run.
        task: the task.
        tables: what is there of the tables of its pair, by material.
        earlier: the tasks whose blocks it needs, by key.
        before: the records of the tasks that it needs, in the order of `task.needs`.

    Raises:
        ProgramMismatchError: this worker is of another version than the command.
        DamagedFileError: a file of the store is not what was written there.
        ClusterError: this worker has not got the disk or the memory for it.
        StoreError: the store refuses, or is not the command's.
        GenerationError: see `generate`.
    """
    if identity() != settings.program:
        raise ProgramMismatchError(
            f"the worker on {socket.gethostname()} is {identity()}, and the command {settings.program}: "
            "install the same version on both; what is finished is kept, and the same command goes on"
        )
    store = Store(settings.store, settings.patience)
    _check(store, settings)
    if (record := _record_of(store, settings, task)) is not None:
        return record  # somebody has done it, and his worker is gone with what he knew
    home = Path(_home())
    try:
        with _one_at_a_time:
            cache = Cache(home / "shashki-cache", settings.cache)
            with cache.task(), tempfile.TemporaryDirectory(dir=home, prefix="shashki-task-") as folder:
                return _Worker(settings, task, tables, earlier, before, store, cache, Path(folder)).run()
    except OSError as error:  # of the store they are StoreErrors
        lacks = f"cannot write to its disk, {home} ({error.strerror or error})"
        raise ClusterError(
            _lacking(lacks, "make room there, or start it with another --local-directory")
        ) from None
    except MemoryError as error:
        lacks = f"has not got the memory for {task.key} ({error})"
        raise ClusterError(_lacking(lacks, "give a smaller --memory, or let it offer less")) from None


def _lacking(lacks: str, remedy: str) -> str:
    return (
        f"the worker on {socket.gethostname()} {lacks}: {remedy}; what is finished is kept, and the same "
        "command goes on"
    )


def _record_of(store: Store, settings: Settings, task: Task) -> Record | None:
    """What the store has of a task that is done."""
    with suppress(FileNotFoundError):
        record = Record.from_json(store.read(record_name(task.key)))
        if record is not None and record.settings == settings.digest:
            return record
    return None


def _check(store: Store, settings: Settings) -> None:
    check_claim(store, settings.claim, settings.patience / 6)


def _home() -> str:
    """The folder of this Dask worker on its machine's disk."""
    try:
        return str(get_worker().local_directory)
    except ValueError:  # no worker of Dask, as in a test
        return tempfile.gettempdir()


def drop_bench() -> None:
    """Give back what is kept from one task to the next."""
    while _kept:
        _kept.pop().let_go()


class _Worker:
    def __init__(
        self,
        settings: Settings,
        task: Task,
        tables: Known,
        earlier: Mapping[str, Task],
        before: Sequence[Record],
        store: Store,
        cache: Cache,
        folder: Path,
    ) -> None:
        self._settings = settings
        self._task = task
        self._pair = task.pair
        self._tables = tables
        self._earlier = earlier
        self._children = list(before[: len(task.children)])
        self._blocks = dict(zip(task.blocks, before[len(task.children) :], strict=True))
        self._cache = cache
        self._folder = folder
        self._store = store
        self._jobs = settings.jobs or available_cores()
        self._files: dict[str, FileRecord] = {}
        self._slices: dict[Material, SliceRecord] = {}
        self._lacking = False
        self._seconds = {"loading": 0.0, "working": 0.0, "storing": 0.0}
        self._cores = dict(self._seconds)
        self._clock = time.perf_counter(), time.process_time()

    def run(self) -> Record:
        task = self._task
        does = {
            Kind.PAIR: self._solve_pair,
            Kind.RESTORE: self._restore_pair,
            Kind.BLOCKS: self._solve_blocks,
            Kind.JOIN: self._join,
            Kind.TABLES: self._write_tables,
        }
        try:
            does[task.kind]()
        except BaseException:
            drop_bench()  # it may be in disorder
            raise
        self._lap("storing")
        record = Record(
            task.key,
            str(task.pair),
            self._settings.digest,
            self._files,
            slices_to_json(self._slices),
            self._lacking,
            task.positions,
            self._seconds,
            self._cores,
            self._cache.fetched,
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            f"{socket.gethostname()}:{os.getpid()}",
        )
        _check(self._store, self._settings)
        self._store.write(record.name, record.to_json())
        return record

    # What each kind of task is

    def _solve_pair(self) -> None:
        with self._bench_of_its_own() as bench:
            bench.load_children(self._children, self._fetch)
            self._lap("loading")
            solved = bench.crew.solve(self._pair)
            self._lap("working")
            self._leave_afters(bench)
            self._write(solved, bench)

    def _restore_pair(self) -> None:
        with self._bench_of_its_own() as bench:
            bench.load_children(self._children, self._fetch)
            self._fetch_tables()
            self._lap("loading")
            restore_pair(bench.crew, self._pair, self._folder, self._tables, bench.run)
            self._lap("working")
            self._leave_afters(bench)

    def _solve_blocks(self) -> None:
        task, bench = self._task, self._bench()
        with bench.watched():
            bench.load_children(self._children, self._fetch)
            bench.load_blocks(self._blocks, self._fetch)
            before = {self._earlier[key]: record for key, record in self._blocks.items()}
            bench.load_balance(task, before, self._fetch)
            work = bench.work
            self._lap("loading")
            placed = work.blocks.place(task.first, task.last)
            twins = bool(placed.first_index[0, 1] < 0)
            with_dtb = Metric.DTB in self._settings.wanted and work.scores is not None
            results = separate_results(
                task.pair, task.last - task.first, twins, with_dtb, self._settings.with_scores
            )
            board = bench.crew.solve_blocks(work, task.run, task.first, task.last, results, separate=True)
            self._lap("working")
            self._leave(AFTER, of_blocks(bench.crew.successors, task.pair, placed, board))
            self._leave(VALUES, _values(task.pair, results))
            if work.scores:
                scores = work.scores.parts(task.run, task.first, task.last)
                self._leave(BALANCE, score_arrays(scores))
                self._lacking = work.scores.has_unresolved

    def _join(self) -> None:
        # The record names the files of all blocks, and what their after tables are to forget.
        for record in self._blocks.values():
            self._files |= {name: file for name, file in record.files.items() if name.endswith(AFTER)}
        if not any(record.lacking for record in self._blocks.values()):
            return
        with self._bench_of_its_own() as bench:
            bench.load_blocks(self._blocks, self._fetch)
            results = self._all_values(bench)
            self._lap("loading")
            places = bench.crew.positions_drawn_by_both_counters(self._pair, results)
            self._lap("working")
            if len(places):
                self._leave(FORGET, forgotten(bench.crew.successors, self._pair, places))
            bench.crew.free_results(results)

    def _write_tables(self) -> None:
        with self._bench_of_its_own() as bench:
            results = self._all_values(bench)
            self._lap("loading")
            self._write(results, bench)
            bench.crew.free_results(results)

    # Parts of them

    def _lap(self, what: str) -> None:
        now = time.perf_counter(), time.process_time()
        self._seconds[what] = round(self._seconds[what] + now[0] - self._clock[0], 3)
        self._cores[what] = round(self._cores[what] + now[1] - self._clock[1], 3)
        self._clock = now

    def _new_bench(self) -> Bench:
        drop_bench()
        need = memory_of(self._settings, self._task)
        scratch = self._folder.parent if need > _LEFT_FREE * self._settings.memory else None
        return Bench(self._settings, self._pair, self._children, self._jobs, scratch)

    @contextmanager
    def _bench_of_its_own(self) -> Iterator[Bench]:
        """A bench for this task alone, within its memory."""
        bench = self._new_bench()
        try:
            with bench.watched():
                yield bench
        finally:
            bench.let_go()

    def _bench(self) -> Bench:
        """The one of the task before, where it was about the same pair, or a new one."""
        files = frozenset(name for record in self._children for name in record.files)
        for bench in _kept:
            if (bench.settings, bench.pair, bench.child_files) == (self._settings, self._pair, files):
                return bench
        _kept.append(bench := self._new_bench())
        return bench

    def _fetch(self, name: str, record: Record) -> Path:
        return self._cache.fetch(self._store, name, record.files[name])

    def _fetch_tables(self) -> None:
        """The tables of the pair, in the folder of the task under their own names."""
        for material in both(self._pair):
            files = self._tables[material].files
            for metric in restores_from(self._settings.with_scores):
                if metric in files:
                    name = table_name(material, metric)
                    path = self._cache.fetch(self._store, name, files[metric])
                    with suppress(FileExistsError):
                        os.link(path, self._folder / name)

    def _leave(self, kind: str, arrays: Arrays) -> None:
        name = f"{FOLDER}/{self._task.key}{kind}"
        path = self._folder / f"left{kind}"
        write_arrays(path, arrays, self._jobs)
        _check(self._store, self._settings)
        self._files[name] = self._store.put(path, name)
        path.unlink()

    def _leave_afters(self, bench: Bench) -> None:
        if self._task.leaves_afters:
            self._leave(AFTER, whole(bench.crew.successors, self._pair))

    def _write(self, solved: Pair, bench: Bench) -> None:
        settings = self._settings
        folder = self._folder / "tables"
        folder.mkdir()
        entries = write_pair(
            folder, self._pair, solved, settings.wanted, settings.rules, self._tables, bench.run
        )
        for path in sorted(folder.iterdir()):
            _check(self._store, settings)
            self._store.put(path, path.name)
        shutil.rmtree(folder)
        self._slices |= entries

    def _all_values(self, bench: Bench) -> Pair:
        """The values of a pair, put together from those of its blocks."""
        pair = self._pair
        own: Results | None = None
        blocks = Blocks(pair)
        results: list[Results] = []
        for key, record in self._blocks.items():
            task = self._earlier[key]
            placed = blocks.place(task.first, task.last)
            (name,) = (name for name in record.files if name.endswith(VALUES))
            found = read_arrays(self._fetch(name, record))
            if own is None:
                with_dtb = len(found["0.dtb"]) > 0
                results = [bench.crew.empty_results(material, with_dtb) for material in both(pair)]
                own = results[0]
            for side, whole_slice in enumerate(results):
                first_index = placed.first_index if len(results) == 1 else placed.first_index[:, side]
                numbers = first_index.reshape(-1)
                numbers = numbers[numbers >= 0] // pair.block_size
                for kind, array in zip(Results._fields, whole_slice, strict=True):
                    if len(array):
                        array.reshape(-1, pair.block_size)[numbers] = found[f"{side}.{kind}"].reshape(
                            len(numbers), -1
                        )
        return results[0], results[-1]


def _values(pair: Material, results: Pair) -> Arrays:
    sides = list(zip(both(pair), results, strict=False))
    return {
        f"{side}.{kind}": array
        for side, (_, values) in enumerate(sides)
        for kind, array in zip(Results._fields, values, strict=True)
    }
