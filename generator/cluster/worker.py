"""The worker: it does one task at a time with all its cores, and shares only the store with other workers."""

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

from generator.cluster.estimate import memory_estimate
from generator.cluster.lease import check_run_marker
from generator.cluster.settings import RunSettings, program_digest
from generator.cluster.store import FileCache, Store
from generator.cluster.tasks import (
    AFTER,
    BALANCE,
    FOLDER,
    FORGET,
    VALUES,
    Kind,
    Task,
    TaskRecord,
    record_name,
    slices_to_json,
)
from generator.cluster.transfer import (
    Arrays,
    block_arrays,
    drawn_arrays,
    pair_arrays,
    read_arrays,
    score_arrays,
    write_arrays,
)
from generator.cluster.workspace import PairWorkspace
from generator.errors import ClusterError, ProgramMismatchError
from generator.machine import available_cores
from generator.materials import with_mirror
from generator.solver.blocks import Blocks
from generator.solver.files import restore_pair, restores_from, write_pair
from generator.solver.results import Results
from generator.solver.solver import Pair, separate_results
from tablebase.board.material import Material
from tablebase.tables.files import FileRecord
from tablebase.tables.format import Metric, table_name
from tablebase.tables.manifest import SliceRecord

Known = Mapping[Material, SliceRecord]

# Groups of a pair share the workspace that the first of them makes. Later ones may need a little more memory.
_USABLE_MEMORY = 0.9
_one_at_a_time = threading.Lock()
_kept: list[PairWorkspace] = []  # the workspace of the last pair, or none


def run_task(
    settings: RunSettings, task: Task, tables: Known, earlier: Mapping[str, Task], *before: TaskRecord
) -> TaskRecord:
    """Do a task, write its files to the store and then its record, and return the record.

    Args:
        settings: the settings of the run.
        task: the task.
        tables: the manifest entries of the existing tables of its pair, by material.
        earlier: the tasks whose blocks the task needs, by key.
        before: the records of the tasks that the task needs, in the order of `task.needs`.

    Raises:
        ProgramMismatchError: this worker runs another version of the program than the command.
        DamagedFileError: a file of the store is not what was written.
        ClusterError: this worker has too little disk or memory for the task.
        StoreMismatchError: this worker does not see the run marker of the command in the store.
        StoreError: the store cannot be read or written.
        DistanceOverflowError: a distance does not fit the solver.
    """
    if program_digest() != settings.program:
        raise ProgramMismatchError(
            f"the worker on {socket.gethostname()} runs version {program_digest()}, and the command is "
            f"version {settings.program}: install the same version on both; finished work is kept, and the "
            "same command continues"
        )
    store = Store(settings.store, settings.patience)
    _check(store, settings)
    if (record := _record_of(store, settings, task)) is not None:
        return record  # a worker has finished it and was lost before it could report
    home = Path(_home())
    try:
        with _one_at_a_time:
            cache = FileCache(home / "shashki-cache", settings.cache)
            with cache.task(), tempfile.TemporaryDirectory(dir=home, prefix="shashki-task-") as folder:
                return _Worker(settings, task, tables, earlier, before, store, cache, Path(folder)).run()
    except OSError as error:  # of the local disk; the store raises StoreError
        fault = f"cannot write to its disk, {home} ({error.strerror or error})"
        raise _worker_error(
            fault, "free disk space there, or start it with another --local-directory"
        ) from None
    except MemoryError as error:
        fault = f"has too little memory for {task.key} ({error})"
        raise _worker_error(fault, "use a smaller --memory, or let the worker offer less") from None


def _worker_error(fault: str, remedy: str) -> ClusterError:
    return ClusterError(
        f"the worker on {socket.gethostname()} {fault}: {remedy}; finished work is kept, and the same "
        "command continues"
    )


def _record_of(store: Store, settings: RunSettings, task: Task) -> TaskRecord | None:
    """Return the record of a task that a run with the same settings has finished; None if there is none."""
    with suppress(FileNotFoundError):
        record = TaskRecord.from_json(store.read(record_name(task.key)))
        if record is not None and record.settings == settings.digest:
            return record
    return None


def _check(store: Store, settings: RunSettings) -> None:
    check_run_marker(store, settings.run_marker, settings.patience / 6)


def _home() -> str:
    """Return the folder of this Dask worker on the local disk."""
    try:
        return str(get_worker().local_directory)
    except ValueError:  # not in a Dask worker, as in tests
        return tempfile.gettempdir()


def drop_workspace() -> None:
    """Free the workspace that is kept from one task to the next."""
    while _kept:
        _kept.pop().free()


class _Worker:
    def __init__(
        self,
        settings: RunSettings,
        task: Task,
        tables: Known,
        earlier: Mapping[str, Task],
        before: Sequence[TaskRecord],
        store: Store,
        cache: FileCache,
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

    def run(self) -> TaskRecord:
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
            drop_workspace()  # its arrays may be incomplete
            raise
        self._lap("storing")
        record = TaskRecord(
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

    # One method for each kind of task.

    def _solve_pair(self) -> None:
        with self._own_workspace() as workspace:
            workspace.load_children(self._children, self._fetch)
            self._lap("loading")
            solved = workspace.solver.solve(self._pair)
            self._lap("working")
            self._leave_successors(workspace)
            self._write(solved, workspace)

    def _restore_pair(self) -> None:
        with self._own_workspace() as workspace:
            workspace.load_children(self._children, self._fetch)
            self._fetch_tables()
            self._lap("loading")
            restore_pair(workspace.solver, self._pair, self._folder, self._tables, workspace.run)
            self._lap("working")
            self._leave_successors(workspace)

    def _solve_blocks(self) -> None:
        task, workspace = self._task, self._workspace()
        with workspace.watched():
            workspace.load_children(self._children, self._fetch)
            workspace.load_blocks(self._blocks, self._fetch)
            before = {self._earlier[key]: record for key, record in self._blocks.items()}
            workspace.load_balance(task, before, self._fetch)
            work = workspace.work
            self._lap("loading")
            placed = work.blocks.place(task.first, task.last)
            twins = bool(placed.first_index[0, 1] < 0)
            with_dtb = Metric.DTB in self._settings.wanted and work.scores is not None
            results = separate_results(
                task.pair, task.last - task.first, twins, with_dtb, self._settings.with_scores
            )
            board = workspace.solver.solve_blocks(
                work, task.run, task.first, task.last, results, separate=True
            )
            self._lap("working")
            self._leave(AFTER, block_arrays(workspace.solver.successors, task.pair, placed, board))
            self._leave(VALUES, _values(task.pair, results))
            if work.scores:
                scores = work.scores.parts(task.run, task.first, task.last)
                self._leave(BALANCE, score_arrays(scores))
                self._lacking = work.scores.has_unresolved

    def _join(self) -> None:
        # The record names the files of all blocks, and a file of positions to mark as drawn.
        for record in self._blocks.values():
            self._files |= {name: file for name, file in record.files.items() if name.endswith(AFTER)}
        if not any(record.lacking for record in self._blocks.values()):
            return
        with self._own_workspace() as workspace:
            workspace.load_blocks(self._blocks, self._fetch)
            results = self._all_values(workspace)
            self._lap("loading")
            places = workspace.solver.positions_drawn_by_both_counters(self._pair, results)
            self._lap("working")
            if len(places):
                self._leave(FORGET, drawn_arrays(workspace.solver.successors, self._pair, places))
            workspace.solver.free_results(results)

    def _write_tables(self) -> None:
        with self._own_workspace() as workspace:
            results = self._all_values(workspace)
            self._lap("loading")
            self._write(results, workspace)
            workspace.solver.free_results(results)

    # Parts of tasks.

    def _lap(self, what: str) -> None:
        now = time.perf_counter(), time.process_time()
        self._seconds[what] = round(self._seconds[what] + now[0] - self._clock[0], 3)
        self._cores[what] = round(self._cores[what] + now[1] - self._clock[1], 3)
        self._clock = now

    def _new_workspace(self) -> PairWorkspace:
        drop_workspace()
        need = memory_estimate(self._settings, self._task)
        scratch = self._folder.parent if need > _USABLE_MEMORY * self._settings.memory else None
        return PairWorkspace(self._settings, self._pair, self._children, self._jobs, scratch)

    @contextmanager
    def _own_workspace(self) -> Iterator[PairWorkspace]:
        """Make a workspace for this task alone, and free it at the end of the block."""
        workspace = self._new_workspace()
        try:
            with workspace.watched():
                yield workspace
        finally:
            workspace.free()

    def _workspace(self) -> PairWorkspace:
        """Return the workspace of the task before, if it was for the same pair, or a new one."""
        files = frozenset(name for record in self._children for name in record.files)
        for workspace in _kept:
            if (workspace.settings, workspace.pair, workspace.child_files) == (
                self._settings,
                self._pair,
                files,
            ):
                return workspace
        _kept.append(workspace := self._new_workspace())
        return workspace

    def _fetch(self, name: str, record: TaskRecord) -> Path:
        return self._cache.fetch(self._store, name, record.files[name])

    def _fetch_tables(self) -> None:
        """Fetch the tables of the pair into the folder of the task, under their own names."""
        for material in with_mirror(self._pair):
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

    def _leave_successors(self, workspace: PairWorkspace) -> None:
        if self._task.leaves_successors:
            self._leave(AFTER, pair_arrays(workspace.solver.successors, self._pair))

    def _write(self, solved: Pair, workspace: PairWorkspace) -> None:
        settings = self._settings
        folder = self._folder / "tables"
        folder.mkdir()
        entries = write_pair(
            folder, self._pair, solved, settings.wanted, settings.rules, self._tables, workspace.run
        )
        for path in sorted(folder.iterdir()):
            _check(self._store, settings)
            self._store.put(path, path.name)
        shutil.rmtree(folder)
        self._slices |= entries

    def _all_values(self, workspace: PairWorkspace) -> Pair:
        """Return the values of the pair, read from the files of all its blocks."""
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
                results = [
                    workspace.solver.empty_results(material, with_dtb) for material in with_mirror(pair)
                ]
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
    sides = list(zip(with_mirror(pair), results, strict=False))
    return {
        f"{side}.{kind}": array
        for side, (_, values) in enumerate(sides)
        for kind, array in zip(Results._fields, values, strict=True)
    }
