"""The command's side of a run on a cluster: it submits tasks to Dask, and keeps the manifest up to date."""

import queue
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import replace
from typing import Any

from distributed import Client, Future
from distributed.client import ClosedClientError
from distributed.scheduler import KilledWorker

from generator.cluster.connection import RESOURCE, Connection
from generator.cluster.contents import StoreIndex, remove_all
from generator.cluster.estimate import critical_path, memory_estimate, priorities
from generator.cluster.lease import RUN_MARKER, Lease, has_run_marker, held, mark_run, write_run_marker
from generator.cluster.settings import Options, RunSettings, program_digest
from generator.cluster.store import Store
from generator.cluster.tasks import AFTER, Kind, Task, TaskRecord, task_graph, users_of
from generator.cluster.worker import run_task
from generator.errors import ClusterError, DamagedFileError, StoreBusyError, StoreMismatchError
from generator.materials import RunScope, with_mirror
from generator.plan import Plan, plan
from generator.progress import Progress
from generator.run import Summary, wanted_metrics
from tablebase.board.material import Material
from tablebase.rules.ruleset import Ruleset
from tablebase.rules.rulesets import OFFICIAL
from tablebase.tables.format import Metric

_MOST_LOST = 2  # times that a task may lose its workers, until a run gives up
_MOST_REPAIRS = 20  # files that are lost or damaged, until a run gives up on its store
_CHECK_SECONDS = 2.0  # between two checks of the cluster while no task ends


class WorkersLostError(ClusterError):
    """Several workers in a row have ended while they had the same task."""

    def __init__(self, key: str, worker: str) -> None:
        super().__init__(f"several workers have ended while they had the task {key}, the last one {worker}")
        self.key = key


class SchedulerLostError(ClusterError):
    """The scheduler is gone, or has lost the tasks of this run."""


def generate_on_cluster(
    cluster: str,
    address: str,
    wanted: int | RunScope,
    metrics: Sequence[Metric] = tuple(Metric),
    ruleset: Ruleset = OFFICIAL,
    progress: Progress | None = None,
    options: Options | None = None,
    seen: Callable[[TaskRecord], object] = lambda record: None,
) -> Summary:
    """Solve every wanted material that a store does not hold yet, with the workers of a Dask cluster.

    The tables are the same as those of `generate`, byte for byte. The run may be stopped at any moment. The
    store then still holds a valid set of tables, and the next run continues from the finished tasks.

    Args:
        cluster: the address of a Dask scheduler, like `tcp://host:8786`; or `local:3` to start 3 workers on
            this machine for the run.
        address: the address of the store: a folder that all machines share, or any fsspec address, like
            `s3://bucket/folder`.
        wanted: the largest number of pieces (all materials of 2 to `wanted` pieces), or a scope.
        metrics: the metrics to store.
        ruleset: the draw rules that outcomes hold under.
        progress: receives the events of the run.
        options: options of the run; None for the defaults.
        seen: called with the record of each finished task.

    Raises:
        IncompatibleTablesError: the store holds tables of another kind; nothing was changed.
        StoreBusyError: another run writes to the store.
        StoreError: the store cannot be read or written.
        ProgramMismatchError: a worker runs another version of the program.
        ClusterError: there is no such cluster, or its workers cannot do the tasks.
        DistanceOverflowError: a distance does not fit the solver.
    """
    options = options or Options()
    scope = wanted if isinstance(wanted, RunScope) else RunScope(wanted)
    started = time.perf_counter()
    Store(address, 0).make()  # without retries: a wrong address fails at once
    store = Store(address, options.patience)
    progress = progress or Progress()
    with (
        held(store, note=progress.note) as lease,
        Connection(cluster, options.memory, options.patience) as connection,
    ):
        settings = RunSettings(
            program_digest(),
            store.address,
            ruleset.name,
            tuple(wanted_metrics(scope, metrics, ruleset)),
            scope.pieces,
            options.jobs or connection.jobs,
            min(options.memory or connection.memory, connection.memory),
            options.cache,
            options.patience,
        )
        if options.replace:
            mark_run(store, settings.digest)  # first, so that no worker of an old run writes files again
            remove_all(store)
        run = _Run(store, connection, settings, scope, options, progress, lease, seen)
        work = run.run()
        sizes = run.index.manifest.sizes()
    return Summary(work, time.perf_counter() - started, 0.0, sizes, address)


class _Run:
    def __init__(
        self,
        store: Store,
        connection: Connection,
        settings: RunSettings,
        scope: RunScope,
        options: Options,
        progress: Progress,
        lease: Lease | None,
        seen: Callable[[TaskRecord], object],
    ) -> None:
        self._store = store
        self._connection = connection
        self._settings = settings
        self._scope = scope
        self._options = options
        self._progress = progress
        self._lease = lease
        self._seen = seen
        self._repairs = 0
        self._lost: Counter[str] = Counter()
        self.index = self._read()

    def _read(self) -> StoreIndex:
        return StoreIndex(self._store, self._settings.rules, self._settings.digest)

    def run(self) -> Plan:
        """Carry out the run, and return its plan."""
        if self._plan().todo:  # by now the tables of the store are known to be compatible
            marker = mark_run(self._store, self._settings.digest)
            self._settings = replace(self._settings, run_marker=marker)
        self.index.clear(keep=self.index.usable())
        first = work = self._plan()
        self._progress.begin(work)
        while work.todo:
            is_through = False
            try:
                self._round(work)
                is_through = True
            except DamagedFileError as error:
                self._repair(f"{error}: the file is made again")
                self.index.remove_damaged(error)
            except StoreMismatchError:
                if has_run_marker(self._store, self._settings.run_marker):
                    raise
                self._repair(f"the file {RUN_MARKER} is missing from the store: it is written again")
                write_run_marker(self._store, self._settings.run_marker)
            except WorkersLostError as error:
                self._lose_workers(error)
            except SchedulerLostError as error:
                self._progress.note(f"{error}; trying to reconnect")
                self._connection.reconnect()
                self.index = self._read()  # workers may have finished tasks meanwhile
            self.index.refresh()
            work = self._plan()
            if is_through and work.todo:
                names = ", ".join(map(str, work.materials))
                self._repair(f"tables of {names} are missing from the store: they are made again")
        if first.todo:
            self.index.save()
        self.index.clear()
        self._store.remove([RUN_MARKER])
        return first

    def _lose_workers(self, error: WorkersLostError) -> None:
        """Count a task that has lost its workers, and report that it is submitted again.

        Dask gives up a task after four workers in a row ended while they had it, even if none has begun it.

        Raises:
            ClusterError: the same task has lost its workers too often.
        """
        self._lost[error.key] += 1
        if self._lost[error.key] > _MOST_LOST:
            raise ClusterError(
                f"{error}; this happened {self._lost[error.key]} times, most likely because the task takes "
                "more memory than the workers have (see the worker's log): run the same command with a "
                "smaller --memory to continue; finished work is kept"
            )
        self._progress.note(f"{error}: the task is submitted again")

    def _repair(self, note: str) -> None:
        """Count a repair of the store, and report it.

        Raises:
            ClusterError: there were too many repairs.
        """
        self._repairs += 1
        if self._repairs > _MOST_REPAIRS:
            raise ClusterError(
                f"{note}; {self._repairs} files were lost or damaged in this run: repair the store "
                f"{self._store.address}, then run the same command to continue"
            )
        self._progress.note(note)

    def _plan(self) -> Plan:
        metrics = self._settings.wanted
        solved = {
            pair
            for pair in self._scope.pairs
            if all(self.index.is_whole(material, metrics) for material in with_mirror(pair))
        }
        return plan(self._scope, metrics, self._settings.jobs or 1, solved, self._settings.rules)

    def _round(self, work: Plan) -> None:
        """Submit all remaining tasks to the cluster, and wait until they are finished.

        Raises:
            SchedulerLostError: the scheduler is gone, or has lost the tasks.
            WorkersLostError: several workers in a row have ended while they had the same task.
            DamagedFileError: a file of the store is not what was written.
            StoreMismatchError: a worker does not find the run marker in the store.
            StoreBusyError: another run has taken over the store.
            ClusterError: a worker cannot do a task.
            DistanceOverflowError: a distance does not fit the solver.
        """
        usable = self.index.usable()
        with_successors = {key for key, record in usable.items() if _leaves_successors(record)}
        tasks = task_graph(work, self._options.task_positions, with_successors)
        by_key = {task.key: task for task in tasks}
        todo = set(work.todo)
        done = {
            key: record
            for key, record in usable.items()
            if key in by_key and not (by_key[key].kind in _WRITES and by_key[key].pair in todo)
        }
        left = _needed(tasks, done)
        users = _FileUsers(tasks, left)
        for key, record in done.items():
            users.add(key, record)
        if not left:
            return
        settings = replace(self._settings, round=uuid.uuid4().hex)
        with _Submitted(self._connection.client, settings, self.index) as submitted:
            paths = critical_path(tasks, self._settings, self._settings.jobs or 1)
            priority = priorities(tasks, paths)
            try:
                for task in tasks:
                    if task.key in left:
                        submitted.submit(task, by_key, done, priority[task.key])
            except (OSError, RuntimeError, CancelledError, ClosedClientError) as error:
                raise SchedulerLostError(f"the scheduler is gone ({error})") from None
            for record in self._finished(submitted, len(left)):
                task = by_key[record.key]
                done[record.key] = record
                self.index.add(record)
                self._report_progress(task)
                self._seen(record)
                users.add(record.key, record)
                self.index.remove(users.done(record.key))

    def _finished(self, submitted: "_Submitted", count: int) -> Iterable[TaskRecord]:
        for _ in range(count):
            while (future := submitted.next(_CHECK_SECONDS)) is None:
                self._check_cluster()
            self._check_lease()
            yield self._result(future)

    def _result(self, future: "Future[Any]") -> TaskRecord:
        if future.status == "cancelled":
            raise SchedulerLostError("the scheduler has lost the tasks of this run")
        try:
            record: TaskRecord = future.result()
        except OSError as error:
            if future.status == "error":
                raise  # the error of the task
            raise SchedulerLostError(f"the scheduler is gone ({error})") from None
        except CancelledError:
            raise SchedulerLostError("the scheduler has lost the tasks of this run") from None
        except KilledWorker as error:
            raise WorkersLostError(str(error.task).rpartition("-")[0], error.last_worker.address) from None
        except ModuleNotFoundError as error:
            raise ClusterError(
                f"a worker lacks a package ({error}): install this program there with the extra `cluster`"
            ) from None
        return record

    def _check_cluster(self) -> None:
        self._check_lease()
        self._connection.check_workers(self._settings.memory, self._progress.note)

    def _check_lease(self) -> None:
        if self._lease is not None and self._lease.lost:
            raise StoreBusyError(f"another run has taken over {self._store.address}, so this run has stopped")

    def _report_progress(self, task: Task) -> None:
        self._progress.material(task.pair, task.kind is Kind.RESTORE)
        self._progress.solved(task.positions)
        if task.kind in _WRITES:
            self._progress.written(task.pair)


_WRITES = (Kind.PAIR, Kind.TABLES)


def _leaves_successors(record: TaskRecord) -> bool:
    return any(name.endswith(AFTER) for name in record.files)


def _needed(tasks: Sequence[Task], done: Iterable[str]) -> set[str]:
    """Return the keys of the remaining tasks: those that write tables, and all tasks that these need."""
    by_key = {task.key: task for task in tasks}
    done = set(done)
    found: set[str] = set()
    new = [task.key for task in tasks if task.kind in _WRITES and task.key not in done]
    while new:
        key = new.pop()
        if key not in found and key not in done:
            found.add(key)
            new.extend(by_key[key].needs)
    return found


class _FileUsers:
    """The remaining tasks that need each file of tasks in the store."""

    def __init__(self, tasks: Sequence[Task], left: Iterable[str]) -> None:
        left = set(left)
        self._of_task = {key: users & left for key, users in users_of(tasks).items()}
        self._of_file: dict[str, set[str]] = {}
        self._files_for: dict[str, set[str]] = {}
        self._idle: set[str] = set()  # files that no task needed when they were added

    def add(self, key: str, record: TaskRecord) -> None:
        """Add the files of a finished task."""
        for name in record.files:
            users = self._of_file.setdefault(name, set())
            users.update(self._of_task.get(key, ()))
            if not users:
                self._idle.add(name)
            for user in self._of_task.get(key, ()):
                self._files_for.setdefault(user, set()).add(name)

    def done(self, key: str) -> list[str]:
        """Return the files that no task needs after a task is finished."""
        mine = self._files_for.pop(key, set())
        for name in mine:
            self._of_file[name].discard(key)
        gone = [name for name in mine | self._idle if not self._of_file[name]]
        self._idle.clear()  # files that have users by now are in `_files_for`
        for name in gone:
            del self._of_file[name]
        return gone


class _Submitted:
    """The submitted tasks of a round; a context manager that cancels unfinished tasks at its end."""

    def __init__(self, client: Client, settings: RunSettings, index: StoreIndex) -> None:
        self._client = client
        self._settings = settings
        self._index = index
        self._mark = uuid.uuid4().hex[:8]
        self._futures: dict[str, Future[Any]] = {}
        self._ended: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()

    def __enter__(self) -> "_Submitted":
        return self

    def __exit__(self, *exception: object) -> None:
        with suppress(Exception):  # the scheduler may be gone
            self._client.cancel(list(self._futures.values()), force=True)

    def submit(
        self, task: Task, by_key: dict[str, Task], done: dict[str, TaskRecord], priority: float
    ) -> None:
        """Submit a task to the cluster. The tasks that it needs must be in `done` or already submitted.

        Args:
            task: the task.
            by_key: all tasks of the round.
            done: records of finished tasks, by key.
            priority: Dask starts tasks of higher priority first.
        """
        pair: Material = task.pair
        slices = self._index.manifest.slices
        tables = {material: slices[material] for material in with_mirror(pair) if material in slices}
        future: Future[Any] = self._client.submit(
            run_task,
            self._settings,
            task,
            tables,
            {key: by_key[key] for key in task.blocks},
            *(done.get(key) or self._futures[key] for key in task.needs),
            key=f"{task.key}-{self._mark}",
            resources={RESOURCE: min(memory_estimate(self._settings, task), self._settings.memory)},
            priority=priority,
            pure=False,
        )
        self._futures[task.key] = future
        future.add_done_callback(self._ended.put)

    def next(self, seconds: float) -> "Future[Any] | None":
        """Return the next finished task, or None if no task finishes within `seconds`."""
        try:
            return self._ended.get(timeout=seconds)
        except queue.Empty:
            return None
