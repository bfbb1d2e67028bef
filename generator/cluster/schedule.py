"""Simulation of a run on a cluster: the real tasks of a plan, and their estimated times."""

import heapq
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator.cluster.estimate import (
    STORE_SPEED,
    Cost,
    critical_path,
    memory_estimate,
    priorities,
    rates_of,
    time_estimate,
)
from generator.cluster.settings import Options, RunSettings
from generator.cluster.tasks import Kind, Task, task_graph, users_of
from generator.machine import format_bytes
from generator.materials import RunScope
from generator.plan import Plan, plan
from generator.run import wanted_metrics
from tablebase.board.material import Material
from tablebase.rules.ruleset import Ruleset
from tablebase.tables.format import Metric

MOST_JOBS = 16
"""Default largest number of cores of a worker."""


@dataclass(frozen=True)
class Schedule:
    """Result of a simulated run.

    Attributes:
        workers: number of workers.
        jobs: cores of each worker.
        seconds: time until the last task is done.
        busy: seconds that workers had a task, all workers together.
        work: core seconds of all tasks, without waiting for the store.
        critical: seconds of the longest chain of tasks, if each has a worker at once.
        chain: the tasks of this chain.
        read: bytes read from the store.
        written: bytes written to the store.
        tasks: number of tasks, by kind.
        positions: number of positions solved.
        memory: bytes of memory that each task needs, rising.
        largest: the task that needs most memory.
    """

    workers: int
    jobs: int
    seconds: float
    busy: float
    work: float
    critical: float
    chain: Sequence[Task]
    read: float
    written: float
    tasks: Counter[Kind]
    positions: int
    memory: Sequence[int]
    largest: Task

    @property
    def idle(self) -> float:
        """The part of the workers' time without a task, 0 to 1."""
        return 1 - self.busy / (self.seconds * self.workers)


@dataclass
class _Worker:
    """A worker, and what it has loaded: the children of a pair, and blocks of the advance before."""

    number: int
    pair: Material | None = None
    blocks: tuple[str, ...] = ()


def simulate(tasks: Sequence[Task], settings: RunSettings, workers: int, jobs: int) -> Schedule:
    """Simulate a run in which free workers take the tasks of highest priority first.

    A worker loads the successor tables that a pair needs. It keeps them for its next task if that is a group
    of blocks of the same pair. As in Dask, any free worker may get a task.
    """
    positions = {task.key: task.positions for task in tasks}
    costs = {
        task.key: time_estimate(settings, task, sum(positions[key] for key in task.blocks)) for task in tasks
    }
    by_key = {task.key: task for task in tasks}
    users = users_of(tasks)
    rest = critical_path(tasks, settings, jobs)
    priority = priorities(tasks, rest)
    index = {task.key: number for number, task in enumerate(tasks)}
    waiting = {task.key: len(task.needs) for task in tasks}
    ready = [(-priority[key], index[key]) for key, count in waiting.items() if not count]
    heapq.heapify(ready)
    running: list[tuple[float, str, int]] = []
    idle = deque(_Worker(number) for number in range(workers))
    at_work: dict[int, _Worker] = {}
    now = busy = read = written = 0.0
    while ready or running:
        while ready and idle:
            task = tasks[heapq.heappop(ready)[1]]
            worker = idle.popleft()
            seconds, fetched = _time(costs[task.key], settings, jobs, worker, task)
            worker.pair = task.pair if task.kind is Kind.BLOCKS else None
            worker.blocks = task.blocks
            busy += seconds
            read += fetched
            written += costs[task.key].written
            at_work[worker.number] = worker
            heapq.heappush(running, (now + seconds, task.key, worker.number))
        now, key, number = heapq.heappop(running)
        idle.append(at_work.pop(number))
        for user in users[key]:
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, (-priority[user], index[user]))
    first = max(rest, key=rest.__getitem__)
    chain: list[Task] = []
    step: str | None = first
    while step is not None:
        chain.append(by_key[step])
        step = max(users[step], key=rest.__getitem__, default=None)
    needs = [memory_estimate(settings, task) for task in tasks]
    return Schedule(
        workers,
        jobs,
        now,
        busy,
        sum(cost.shared + cost.alone for cost in costs.values()),
        rest[first],
        chain,
        read,
        written,
        Counter(task.kind for task in tasks),
        sum(task.positions for task in tasks),
        sorted(needs),
        tasks[needs.index(max(needs))],
    )


def _time(cost: Cost, settings: RunSettings, jobs: int, worker: _Worker, task: Task) -> tuple[float, float]:
    """Return the seconds that a worker takes for a task, and the bytes that it reads."""
    rate = rates_of(settings)
    loaded = 0.0
    if worker.pair != task.pair:
        loaded += cost.children + cost.before
    elif worker.blocks != task.blocks:
        loaded += cost.before
    return cost.seconds(rate, jobs, loaded), cost.read + loaded * rate.packed


def plan_of(
    scope: RunScope, metrics: Sequence[Metric], ruleset: Ruleset, jobs: int
) -> tuple[Plan, RunSettings]:
    """Return the plan and the settings of a run without existing tables."""
    wanted = wanted_metrics(scope, metrics, ruleset)
    settings = RunSettings("", "", ruleset.name, tuple(wanted), scope.pieces, jobs, 0, 0, 0)
    return plan(scope, wanted, jobs, set(), ruleset), settings


def simulation_text(
    scope: RunScope, metrics: Sequence[Metric], ruleset: Ruleset, options: Options, cores: int
) -> Iterator[str]:
    """Yield the lines that describe a run without existing tables on a cluster of `cores` cores."""
    jobs = options.jobs or min(MOST_JOBS, cores)
    work, settings = plan_of(scope, metrics, ruleset, jobs)
    tasks = task_graph(work, options.task_positions)
    found = simulate(tasks, settings, max(1, cores // jobs), jobs)
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in found.tasks.most_common())
    metric_list = ",".join(work.metrics)
    yield f"run        {scope}, without existing tables; {metric_list}; {found.positions:,} positions"
    yield f"tasks      {len(tasks):,} ({kinds}), split to {options.task_positions:,} positions if possible"
    yield f"work       {_hours(found.work)} of one core"
    yield (
        f"store      {format_bytes(found.read)} read, {format_bytes(found.written)} written, each worker at "
        f"{format_bytes(STORE_SPEED)} a second"
    )
    half = found.memory[len(found.memory) // 2]
    yield (
        f"memory     at most {format_bytes(found.memory[-1])} ({found.largest.key}), half of the tasks "
        f"{format_bytes(half)} or less; with less, arrays are mapped from disk"
    )
    chain = [str(task.pair) for task in found.chain]
    names = [name for number, name in enumerate(chain) if number == 0 or name != chain[number - 1]]
    yield f"chain      at least {_hours(found.critical)}: {' > '.join(names[-6:])}"
    yield (
        f"schedule   {_counted(found.workers, 'worker')} of {_counted(jobs, 'core')}: "
        f"{_hours(found.seconds)}, {found.idle:.0%} of it without a task"
    )


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _hours(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 3600:,.3g} hours" if seconds >= 7200 else f"{seconds / 60:.0f} minutes"
