"""A run on a cluster that is not there: the real tasks, the costs that were measured, so many cores."""

import heapq
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generator.cluster.estimate import (
    STORE_SPEED,
    Cost,
    cost_of,
    longest_ways,
    memory_of,
    rates_of,
    urgencies,
)
from generator.cluster.settings import Options, Settings
from generator.cluster.tasks import Kind, Task, task_graph, users_of
from generator.materials import Scope
from generator.plan import Plan, format_bytes, plan
from generator.run import wanted_metrics
from tablebase.board.material import Material
from tablebase.rules.ruleset import Ruleset
from tablebase.tables.format import Metric

MOST_JOBS = 16
"""The most cores of a worker, if nothing else is said."""


@dataclass(frozen=True)
class Schedule:
    """What a run takes.

    Attributes:
        workers: how many there are.
        jobs: cores of each.
        seconds: until the last task is done.
        busy: seconds that workers were at work, together.
        work: seconds of one core that the tasks take, without what they wait for the store.
        critical: seconds of the longest chain of tasks, with a worker for each at once.
        chain: the tasks of this chain.
        read: bytes read from the store.
        written: bytes written to it.
        tasks: how many there are, by kind.
        positions: solved.
        memory: bytes that each task needs, in order.
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
        """The part of the workers' time that they wait for something to do."""
        return 1 - self.busy / (self.seconds * self.workers)


@dataclass
class _Worker:
    """What a worker has in memory: what a pair leads to, and its blocks of the advance before."""

    number: int
    pair: Material | None = None
    blocks: tuple[str, ...] = ()


def simulate(tasks: Sequence[Task], settings: Settings, workers: int, jobs: int) -> Schedule:
    """Give tasks to workers as they come free, the most urgent first.

    A worker that takes up a pair loads the after tables of what that leads to; for the next group of blocks
    of the same pair, if that comes to it, it has them. Like Dask, this takes whichever worker is free.
    """
    positions = {task.key: task.positions for task in tasks}
    costs = {task.key: cost_of(settings, task, sum(positions[key] for key in task.blocks)) for task in tasks}
    by_key = {task.key: task for task in tasks}
    users = users_of(tasks)
    rest = longest_ways(tasks, settings, jobs)
    urgency = urgencies(tasks, rest)
    place = {task.key: number for number, task in enumerate(tasks)}
    waiting = {task.key: len(task.needs) for task in tasks}
    ready = [(-urgency[key], place[key]) for key, count in waiting.items() if not count]
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
                heapq.heappush(ready, (-urgency[user], place[user]))
    first = max(rest, key=rest.__getitem__)
    chain: list[Task] = []
    step: str | None = first
    while step is not None:
        chain.append(by_key[step])
        step = max(users[step], key=rest.__getitem__, default=None)
    needs = [memory_of(settings, task) for task in tasks]
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


def _time(cost: Cost, settings: Settings, jobs: int, worker: _Worker, task: Task) -> tuple[float, float]:
    """Seconds that a worker takes for a task, and bytes that it reads."""
    rate = rates_of(settings)
    loaded = 0.0
    if worker.pair != task.pair:
        loaded += cost.children + cost.before
    elif worker.blocks != task.blocks:
        loaded += cost.before
    return cost.seconds(rate, jobs, loaded), cost.read + loaded * rate.packed


def plan_of(scope: Scope, metrics: Sequence[Metric], ruleset: Ruleset, jobs: int) -> tuple[Plan, Settings]:
    """The plan of a run from nothing, and its settings."""
    wanted = wanted_metrics(scope, metrics, ruleset)
    settings = Settings("", "", ruleset.name, tuple(wanted), scope.pieces, jobs, 0, 0, 0)
    return plan(scope, wanted, jobs, set(), ruleset), settings


def simulation_text(
    scope: Scope, metrics: Sequence[Metric], ruleset: Ruleset, options: Options, cores: int
) -> Iterator[str]:
    """What a run from nothing would take on so many cores, in lines for a person."""
    jobs = options.jobs or min(MOST_JOBS, cores)
    work, settings = plan_of(scope, metrics, ruleset, jobs)
    tasks = task_graph(work, options.task_positions)
    found = simulate(tasks, settings, max(1, cores // jobs), jobs)
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in found.tasks.most_common())
    yield f"run        {scope}, from nothing; {','.join(work.metrics)}; {found.positions:,} positions"
    most = f"{options.task_positions:,} positions"
    yield f"tasks      {len(tasks):,} ({kinds}), where blocks can be told apart of {most} at the most"
    yield f"work       {_hours(found.work)} of one core"
    yield (
        f"store      {format_bytes(found.read)} read, {format_bytes(found.written)} written, each worker at "
        f"{format_bytes(STORE_SPEED)} a second"
    )
    half = found.memory[len(found.memory) // 2]
    yield (
        f"memory     {format_bytes(found.memory[-1])} at the most ({found.largest.key}), half of the tasks "
        f"{format_bytes(half)} or less; less is mapped from disk"
    )
    chain = [str(task.pair) for task in found.chain]
    names = [name for number, name in enumerate(chain) if number == 0 or name != chain[number - 1]]
    yield f"chain      {_hours(found.critical)} at the least: {' > '.join(names[-6:])}"
    yield (
        f"schedule   {_counted(found.workers, 'worker')} of {_counted(jobs, 'core')}: "
        f"{_hours(found.seconds)}, waiting {found.idle:.0%} of it"
    )


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _hours(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 3600:,.3g} hours" if seconds >= 7200 else f"{seconds / 60:.0f} minutes"
