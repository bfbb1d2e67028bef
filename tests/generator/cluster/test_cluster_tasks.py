"""Tasks of generation on a cluster, done one after another in this process."""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from generator.cluster import connection, worker
from generator.cluster.connection import Connection, NoSchedulerError
from generator.cluster.lease import mark_run
from generator.cluster.settings import RunSettings, program_digest
from generator.cluster.store import Store
from generator.cluster.tasks import Kind, Task, TaskRecord, task_graph
from generator.errors import ClusterError
from generator.materials import RunScope
from generator.plan import plan
from tablebase.board.material import Material
from tablebase.rules.rulesets import OFFICIAL
from tablebase.tables.format import Metric

METRICS = (Metric.WDL, Metric.DTC)


class Run:
    """A run of 3 pieces, in small groups."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(str(folder / "store"), 0)
        settings = RunSettings(
            program_digest(),
            self.store.address,
            OFFICIAL.name,
            METRICS,
            3,
            1,
            10**10,
            10**9,
            0,
            round="first",
        )
        self.settings = replace(settings, run_marker=mark_run(self.store, settings.digest))
        self.tasks = task_graph(plan(RunScope(3), METRICS, 1, set()), 2000)
        self.by_key = {task.key: task for task in self.tasks}
        self.records: dict[str, TaskRecord] = {}

    def do(self, task: Task) -> TaskRecord:
        """Do one, whose records are there of all that it needs."""
        blocks = {key: self.by_key[key] for key in task.blocks}
        before = [self.records[key] for key in task.needs]
        self.records[task.key] = worker.run_task(self.settings, task, {}, blocks, *before)
        return self.records[task.key]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield Run(tmp_path)
    worker.drop_workspace()


def test_repeated_group_writes_the_same_files(run: Run) -> None:
    """As where its file was damaged, by a worker that has gone on to groups of later advances since."""
    pair = Material.parse("KMvK")
    groups = [task for task in run.tasks if task.pair == pair and task.kind is Kind.BLOCKS]
    for task in run.tasks[: run.tasks.index(groups[-1]) + 1]:
        run.do(task)
    for task in (*groups[::-8], *groups[::8]):  # two advances apart
        found = run.records[task.key]
        run.store.remove([found.name])
        assert run.do(task).files == found.files


def test_workspace_of_another_round_is_not_reused(run: Run) -> None:
    group = next(task for task in run.tasks if task.kind is Kind.BLOCKS)
    for task in run.tasks[: run.tasks.index(group) + 1]:
        run.do(task)
    (kept,) = worker._kept
    for name, same in (("first", True), ("second", False)):
        run.store.remove([run.records[group.key].name])
        run.settings = replace(run.settings, round=name)
        run.do(group)
        assert (worker._kept[0] is kept) == same


def test_a_worker_without_room_on_its_disk(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.write_bytes(b"in the way")
    monkeypatch.setattr(worker, "_home", lambda: str(home))
    with pytest.raises(
        ClusterError, match=rf"cannot write to its disk, {home} \(.*\): free disk space there"
    ):
        run.do(run.tasks[0])


def test_a_worker_without_memory(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise MemoryError("Unable to allocate 60 GiB")

    monkeypatch.setattr(worker, "PairWorkspace", refuse)
    with pytest.raises(ClusterError, match=r"memory for pair-KvK .*60 GiB.*: use a smaller --memory"):
        run.do(run.tasks[0])


def test_reconnect_retries_when_the_scheduler_stops_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may answer, and be gone before its workers are looked at."""
    ends = iter([NoSchedulerError("nobody"), OSError("in <TCP (closed)>: Stream is closed"), None])
    seen: list[str] = []

    def connect(self: Connection, seconds: float) -> object:
        seen.append("connect")
        return None

    def check(self: Connection, patience: float) -> None:
        seen.append("check")
        if error := next(ends):
            raise error

    monkeypatch.setattr(Connection, "_connect", connect)
    monkeypatch.setattr(Connection, "_wait_for_workers", check)
    monkeypatch.setattr(connection.time, "sleep", lambda seconds: None)
    Connection("tcp://somewhere:8786", None, 60).reconnect()
    assert seen == ["connect", "check"] * 3


def test_scheduler_lost_at_the_start_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(self: Connection, patience: float) -> None:
        raise OSError("in <TCP (closed)>: Stream is closed")

    monkeypatch.setattr(Connection, "_connect", lambda self, seconds: None)
    monkeypatch.setattr(Connection, "_wait_for_workers", check)
    with pytest.raises(ClusterError, match=r"8786 was lost .* run the same command again"):
        Connection("tcp://somewhere:8786", None, 60).__enter__()
