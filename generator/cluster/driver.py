"""The command's side of a run on a cluster: it gives Dask the tasks, and keeps the store's manifest true."""

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
from generator.cluster.contents import Contents, remove_all
from generator.cluster.estimate import longest_ways, memory_of, urgencies
from generator.cluster.lease import CLAIM, Lease, claim_again, claimed, held, is_claimed
from generator.cluster.settings import Options, Settings, identity
from generator.cluster.store import Store
from generator.cluster.tasks import AFTER, Kind, Record, Task, task_graph, users_of
from generator.cluster.worker import run_task
from generator.errors import BusyError, ClusterError, DamagedFileError, StoreMismatchError
from generator.materials import Scope, both
from generator.plan import Plan, plan
from generator.run import Progress, Silent, Summary, wanted_metrics
from tablebase.board.material import Material
from tablebase.rules.ruleset import Ruleset
from tablebase.rules.rulesets import OFFICIAL
from tablebase.tables.format import Metric

_MOST_LOST = 2
_MOST_REPAIRS = 20  # of things that were there before, until a run gives up on its store
_LOOKS = 2.0  # seconds between two looks at whether anybody is at work


class WorkersLostError(ClusterError):
    """Several workers have ended while they had a task in hand, or waiting for them."""

    def __init__(self, key: str, worker: str) -> None:
        super().__init__(f"workers have ended that had {key} to do, the last of them {worker}")
        self.key = key


class SchedulerLostError(ClusterError):
    """The scheduler does not know of our tasks any more."""


def generate_on_cluster(
    cluster: str,
    address: str,
    wanted: int | Scope,
    metrics: Sequence[Metric] = tuple(Metric),
    ruleset: Ruleset = OFFICIAL,
    progress: Progress | None = None,
    options: Options | None = None,
    seen: Callable[[Record], object] = lambda record: None,
) -> Summary:
    """Solve every wanted material that a store does not hold yet, by the workers of a Dask cluster.

    The tables are those that `generate` makes, byte for byte. Stopped at any moment it leaves the store
    whole; run again, it goes on from the tasks that were done.

    Args:
        cluster: the address of a Dask scheduler, like `tcp://host:8786`; or `local:3` for so many worker
            processes on this machine, as long as it runs.
        address: of the store: a folder that all machines have, or whatever fsspec knows, like `s3://...`.
        wanted: the most pieces, or materials and all that they lead to.
        metrics: what to store.
        ruleset: what outcomes hold under.
        progress: is told how far it has come.
        options: how to go about it.
        seen: is called with what is known of each task that is done.

    Raises:
        IncompatibleTablesError: the store holds tables of another kind; nothing was changed.
        BusyError: another run writes to the store.
        StoreError: the store refuses.
        ProgramMismatchError: a worker is of another version.
        ClusterError: there is no such cluster, or its workers cannot do it.
        DistanceOverflowError: a distance does not fit the solver.
    """
    options = options or Options()
    scope = wanted if isinstance(wanted, Scope) else Scope(wanted)
    started = time.perf_counter()
    Store(address, 0).make()  # what is wrong with it from the beginning is told at once
    store = Store(address, options.patience)
    progress = progress or Silent()
    with (
        held(store, note=progress.note) as lease,
        Connection(cluster, options.memory, options.patience) as connection,
    ):
        settings = Settings(
            identity(),
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
            claimed(store, settings.digest)  # before, so that nobody else puts back what is removed
            remove_all(store)
        run = _Run(store, connection, settings, scope, options, progress, lease, seen)
        work = run.run()
        sizes = run.contents.manifest.sizes()
    return Summary(work, time.perf_counter() - started, 0.0, sizes)


class _Run:
    def __init__(
        self,
        store: Store,
        connection: Connection,
        settings: Settings,
        scope: Scope,
        options: Options,
        progress: Progress,
        lease: Lease | None,
        seen: Callable[[Record], object],
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
        self.contents = self._read()

    def _read(self) -> Contents:
        return Contents(self._store, self._settings.rules, self._settings.digest)

    def run(self) -> Plan:
        """Do all there is to do; the plan of it."""
        if self._plan().todo:  # here the store's tables are known to be of our kind
            claim = claimed(self._store, self._settings.digest)
            self._settings = replace(self._settings, claim=claim)
        self.contents.clear(keep=self.contents.usable())
        first = work = self._plan()
        self._progress.begin(work)
        while work.todo:
            is_through = False
            try:
                self._round(work)
                is_through = True
            except DamagedFileError as error:
                self._repair(f"{error}: it is made again")
                self.contents.remove_damaged(error)
            except StoreMismatchError:
                if is_claimed(self._store, self._settings.claim):
                    raise
                self._repair(f"{CLAIM} has gone from the store: it is written again")
                claim_again(self._store, self._settings.claim)
            except WorkersLostError as error:
                self._lose_workers(error)
            except SchedulerLostError as error:
                self._progress.note(f"{error}; trying to find it again")
                self._connection.again()
                self.contents = self._read()  # workers may have finished tasks since
            self.contents.look_again()
            work = self._plan()
            if is_through and work.todo:
                names = ", ".join(map(str, work.materials))
                self._repair(f"tables of {names} have gone from the store: they are made again")
        if first.todo:
            self.contents.save()
        self.contents.clear()
        self._store.remove([CLAIM])
        return first

    def _lose_workers(self, error: WorkersLostError) -> None:
        """Dask gives up a task that four workers in a row had before they ended, though they may not have
        begun it. So it is given again, a few times.

        Raises:
            ClusterError: it seems to be the task.
        """
        self._lost[error.key] += 1
        if self._lost[error.key] > _MOST_LOST:
            raise ClusterError(
                f"{error}: again and again, most likely as it takes more memory than they have (see the "
                "worker's log); what is finished is kept, and the same command goes on, with --memory to "
                "take less"
            )
        self._progress.note(f"{error}: it is given to others")

    def _repair(self, note: str) -> None:
        """Something has to be made again.

        Raises:
            ClusterError: that happens again and again.
        """
        self._repairs += 1
        if self._repairs > _MOST_REPAIRS:
            raise ClusterError(
                f"{note}, for the {self._repairs}th time: something is wrong with {self._store.address}; "
                "mend it, then run the same command to go on"
            )
        self._progress.note(note)

    def _plan(self) -> Plan:
        metrics = self._settings.wanted
        solved = {
            pair
            for pair in self._scope.pairs
            if all(self.contents.is_whole(material, metrics) for material in both(pair))
        }
        return plan(self._scope, metrics, self._settings.jobs or 1, solved, self._settings.rules)

    def _round(self, work: Plan) -> None:
        """Give the cluster all tasks that are left, and see them done.

        Raises:
            SchedulerLostError: it has forgotten them.
            DamagedFileError: a file of the store has to be made again.
        """
        usable = self.contents.usable()
        with_afters = {key for key, record in usable.items() if _leaves_afters(record)}
        tasks = task_graph(work, self._options.task_positions, with_afters)
        by_key = {task.key: task for task in tasks}
        todo = set(work.todo)
        done = {
            key: record
            for key, record in usable.items()
            if key in by_key and not (by_key[key].kind in _WRITES and by_key[key].pair in todo)
        }
        left = _needed(tasks, done)
        users = _Users(tasks, left)
        for key, record in done.items():
            users.add(key, record)
        if not left:
            return
        settings = replace(self._settings, round=uuid.uuid4().hex)
        with _Submitted(self._connection.client, settings, self.contents) as submitted:
            ways = longest_ways(tasks, self._settings, self._settings.jobs or 1)
            urgency = urgencies(tasks, ways)
            try:
                for task in tasks:
                    if task.key in left:
                        submitted.submit(task, by_key, done, urgency[task.key])
            except (OSError, RuntimeError, CancelledError, ClosedClientError) as error:
                raise SchedulerLostError(f"the scheduler is gone ({error})") from None
            for record in self._finished(submitted, len(left)):
                task = by_key[record.key]
                done[record.key] = record
                self.contents.add(record)
                self._tell(task)
                self._seen(record)
                users.add(record.key, record)
                self.contents.remove(users.done(record.key))

    def _finished(self, submitted: "_Submitted", count: int) -> Iterable[Record]:
        for _ in range(count):
            while (future := submitted.next(_LOOKS)) is None:
                self._look_around()
            self._look_at_lease()
            yield self._result(future)

    def _result(self, future: "Future[Any]") -> Record:
        if future.status == "cancelled":
            raise SchedulerLostError("the scheduler has lost our tasks")
        try:
            record: Record = future.result()
        except OSError as error:
            if future.status == "error":
                raise  # it is the task's
            raise SchedulerLostError(f"the scheduler is gone ({error})") from None
        except CancelledError:
            raise SchedulerLostError("the scheduler has lost our tasks") from None
        except KilledWorker as error:
            raise WorkersLostError(str(error.task).rpartition("-")[0], error.last_worker.address) from None
        except ModuleNotFoundError as error:
            raise ClusterError(
                f"a worker lacks a part of this program ({error}): install it there with the extra `cluster`"
            ) from None
        return record

    def _look_around(self) -> None:
        self._look_at_lease()
        self._connection.look_around(self._settings.memory, self._progress.note)

    def _look_at_lease(self) -> None:
        if self._lease is not None and self._lease.lost:
            raise BusyError(f"another run has taken over {self._store.address}; this one stops")

    def _tell(self, task: Task) -> None:
        self._progress.material(task.pair, task.kind is Kind.RESTORE)
        self._progress.solved(task.positions)
        if task.kind in _WRITES:
            self._progress.written(task.pair)


_WRITES = (Kind.PAIR, Kind.TABLES)


def _leaves_afters(record: Record) -> bool:
    return any(name.endswith(AFTER) for name in record.files)


def _needed(tasks: Sequence[Task], done: Iterable[str]) -> set[str]:
    """The tasks that are left to do: those that write tables, and all that these need."""
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


class _Users:
    """Who needs which file of the store yet."""

    def __init__(self, tasks: Sequence[Task], left: Iterable[str]) -> None:
        left = set(left)
        self._of_task = {key: users & left for key, users in users_of(tasks).items()}
        self._of_file: dict[str, set[str]] = {}
        self._files_for: dict[str, set[str]] = {}
        self._idle: set[str] = set()  # files that nobody needed when they came

    def add(self, key: str, record: Record) -> None:
        """A task is done, and has left files."""
        for name in record.files:
            users = self._of_file.setdefault(name, set())
            users.update(self._of_task.get(key, ()))
            if not users:
                self._idle.add(name)
            for user in self._of_task.get(key, ()):
                self._files_for.setdefault(user, set()).add(name)

    def done(self, key: str) -> list[str]:
        """Files that nobody needs any more, as this task is done."""
        mine = self._files_for.pop(key, set())
        for name in mine:
            self._of_file[name].discard(key)
        gone = [name for name in mine | self._idle if not self._of_file[name]]
        self._idle.clear()  # what has found users meanwhile is among theirs
        for name in gone:
            del self._of_file[name]
        return gone


class _Submitted:
    """The tasks of a round, in Dask's hands; those that are not done at the end of it are called back."""

    def __init__(self, client: Client, settings: Settings, contents: Contents) -> None:
        self._client = client
        self._settings = settings
        self._contents = contents
        self._mark = uuid.uuid4().hex[:8]
        self._futures: dict[str, Future[Any]] = {}
        self._ended: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()

    def __enter__(self) -> "_Submitted":
        return self

    def __exit__(self, *exception: object) -> None:
        with suppress(Exception):  # there may be nobody to tell
            self._client.cancel(list(self._futures.values()), force=True)

    def submit(self, task: Task, by_key: dict[str, Task], done: dict[str, Record], urgency: float) -> None:
        """Give a task to the cluster; what it needs is `done` or has been given before. Of those that can be
        begun, Dask begins the most urgent first."""
        pair: Material = task.pair
        slices = self._contents.manifest.slices
        tables = {material: slices[material] for material in both(pair) if material in slices}
        future: Future[Any] = self._client.submit(
            run_task,
            self._settings,
            task,
            tables,
            {key: by_key[key] for key in task.blocks},
            *(done.get(key) or self._futures[key] for key in task.needs),
            key=f"{task.key}-{self._mark}",
            resources={RESOURCE: min(memory_of(self._settings, task), self._settings.memory)},
            priority=urgency,
            pure=False,
        )
        self._futures[task.key] = future
        future.add_done_callback(self._ended.put)

    def next(self, seconds: float) -> "Future[Any] | None":
        """The next one that is done, if one is within so many seconds."""
        try:
            return self._ended.get(timeout=seconds)
        except queue.Empty:
            return None
