"""Generation on a Dask cluster of real processes: a scheduler, workers with folders of their own, a store.

The same bytes as on one machine, whatever happens meanwhile.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from clusters import Cluster
from generating import PROGRAM, check_whole, contents, finish
from paths import ROOT

from generator.cluster.driver import generate_on_cluster
from generator.cluster.settings import Options
from generator.cluster.tasks import TaskRecord
from generator.errors import StoreMismatchError

# So small that every material with men is cut into groups of blocks.
_SMALL = "100000"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler and three workers, to be left as they are."""
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    for _ in range(3):
        found.start_worker()
    yield found
    found.stop()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler and two workers, to be broken."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    found = Cluster(folder)
    for _ in range(2):
        found.start_worker()
    yield found
    found.stop()


def start(address: str, store: object, pieces: int, *options: str) -> "subprocess.Popen[str]":
    """`shashki generate --cluster`."""
    given = ("--cluster", address, "--store", str(store), "--pieces", str(pieces), "--jobs", "1")
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "generate", *given, "--task-positions", _SMALL, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def tasks_done(store: Path) -> int:
    return sum(1 for _ in store.glob("work/*.json"))


def wait_for(condition: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    until = time.monotonic() + 120
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.005)


def same_tables(store: Path, tables: Path) -> bool:
    """Whether a store holds these tables, and nothing else."""
    check_whole(store)
    work = store / "work"
    assert not work.exists() or not list(work.iterdir())
    found = {name: content for name, content in files(store).items() if name != "manifest.json"}
    wanted = {name: content for name, content in contents(tables).items() if name != "manifest.json"}
    assert sorted(found) == sorted(wanted)
    assert [name for name in found if found[name] != wanted[name]] == []
    return (store / "manifest.json").read_bytes() == (tables / "manifest.json").read_bytes()


def files(store: Path) -> dict[str, bytes]:
    found = (path for path in store.iterdir() if path.is_file() and path.name != ".lock")
    return {path.name: path.read_bytes() for path in found}


def test_the_same_bytes_as_on_one_machine(cluster: Cluster, tables4: Path, tmp_path: Path) -> None:
    status, out, err = finish(start(cluster.address, tmp_path / "store", 4))
    assert (status, err) == (0, ""), cluster.logs()
    assert "solved 41 materials" in out
    assert same_tables(tmp_path / "store", tables4)
    status, out, _ = finish(start(cluster.address, tmp_path / "store", 4))
    assert (status, out.partition(":")[0]) == (0, "nothing to do")


def test_relative_store_is_relative_to_the_command(cluster: Cluster, tables3: Path, tmp_path: Path) -> None:
    """Workers are in other folders."""
    status, _, err = finish(start(cluster.address, os.path.relpath(tmp_path / "store"), 3))
    assert (status, err) == (0, ""), cluster.logs()
    assert same_tables(tmp_path / "store", tables3)


def test_unshared_store_is_refused(cluster: Cluster) -> None:
    """`memory://` is one of each process."""
    with pytest.raises(StoreMismatchError, match="name a store that all machines reach at the same address"):
        generate_on_cluster(cluster.address, "memory://unshared", 2, options=Options(patience=6))


def test_files_lost_during_a_run_are_made_again(cluster: Cluster, tables3: Path, tmp_path: Path) -> None:
    """A table; what tasks have left, more than a run would mend one by one; and what says whose run it is."""
    store = tmp_path / "store"
    seen = []

    def damage(record: TaskRecord) -> None:
        seen.append(record.key)
        if record.key == "tables-KMvK" and seen.count(record.key) == 1:
            for path in (store / "KMvK.wdl", *store.glob("work/*.after")):
                path.unlink(missing_ok=True)
        if len(seen) == 3:
            (store / "work" / "run").unlink()

    options = Options(task_positions=2000, patience=6)
    generate_on_cluster(cluster.address, str(store), 3, options=options, seen=damage)
    assert seen.count("tables-KMvK") > 1
    assert same_tables(store, tables3)


def test_local_cluster_prints_no_warnings(tables3: Path, tmp_path: Path) -> None:
    """Though somebody else has the port of Dask's dashboard."""
    with suppress(OSError), socket.create_server(("", 8787)):
        status, _, err = finish(start("local:1", tmp_path / "store", 2))
        assert (status, err) == (0, "")
        check_whole(tmp_path / "store")


def test_run_continues_from_tables_of_fewer_pieces(
    cluster: Cluster, tables3: Path, tables4: Path, tmp_path: Path
) -> None:
    shutil.copytree(tables3, tmp_path / "store")
    status, out, err = finish(start(cluster.address, tmp_path / "store", 4, "--task-positions", "10M"))
    assert (status, err) == (0, ""), cluster.logs()
    assert "solved 25 materials" in out
    assert same_tables(tmp_path / "store", tables4)


def test_a_damaged_table_is_made_again(
    cluster: Cluster, tables3: Path, tables4: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    shutil.copytree(tables3, store)
    table = store / "KKvM.dtw"
    content = bytearray(table.read_bytes())
    content[-1] ^= 1
    table.write_bytes(content)
    for path in cluster.folder.glob("worker*/**/shashki-cache/*-KKvM.dtw"):
        path.unlink()  # a worker that has it from another run would not ask the store
    status, _, err = finish(start(cluster.address, store, 4, "--task-positions", "10M"))
    assert status == 0, cluster.logs()
    assert "KKvM.dtw is damaged (its SHA-256 is not that of the written file): the file is made again" in err
    assert same_tables(store, tables4)


def test_run_continues_after_a_killed_command_and_damage(
    cluster: Cluster, tables4: Path, tmp_path: Path
) -> None:
    """Killed in mid-run; what it has left is damaged: a flipped byte, a file cut off, one missing."""
    store = tmp_path / "store"
    process = start(cluster.address, store, 4)
    wait_for(lambda: tasks_done(store) >= 60, process)
    other = start(cluster.address, store, 4)
    status, _, err = finish(other)
    assert status == 1
    assert f"another run (process {process.pid}) is generating in {store}" in err
    process.send_signal(signal.SIGKILL)
    finish(process)
    check_whole(store)
    time.sleep(1)  # workers end what they are at
    left = sorted(store.glob("work/*.after"), key=lambda path: path.stat().st_mtime)
    flipped, cut_off, missing = left[-3:]
    content = bytearray(flipped.read_bytes())
    content[len(content) // 2] ^= 1
    flipped.write_bytes(content)
    cut_off.write_bytes(cut_off.read_bytes()[:-5])
    missing.unlink()
    status, _, err = finish(start(cluster.address, store, 4))
    assert status == 0, cluster.logs()
    assert same_tables(store, tables4)


def kill_workers(cluster: Cluster, store: Path, process: "subprocess.Popen[str]") -> None:
    """Kill six, in mid-run, each of which another one follows: more than Dask lets a task outlive."""
    for count in (10, 20, 30, 40, 60, 90):
        wait_for(lambda count=count: tasks_done(store) >= count, process)  # type: ignore[misc]
        cluster.kill_worker()
        cluster.start_worker()


def test_run_survives_killed_workers(own: Cluster, tables4: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    process = start(own.address, store, 4)
    kill_workers(own, store, process)
    status, _, err = finish(process)
    assert status == 0, err + own.logs()
    assert same_tables(store, tables4)


def test_run_survives_a_killed_scheduler(own: Cluster, tables4: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    process = start(own.address, store, 4)
    wait_for(lambda: tasks_done(store) >= 40, process)
    own.kill_scheduler()
    own.restart_scheduler()
    own.start_worker()
    own.start_worker()
    status, _, err = finish(process)
    assert status == 0, err + own.logs()
    assert "note: the scheduler " in err
    assert "trying to reconnect" in err
    assert "Traceback" not in err
    assert "distributed" not in err
    assert same_tables(store, tables4)


def test_run_survives_a_store_that_fails_for_a_while(cluster: Cluster, tables4: Path, tmp_path: Path) -> None:
    store, elsewhere = tmp_path / "store", tmp_path / "elsewhere"
    process = start(cluster.address, store, 4)
    wait_for(lambda: tasks_done(store) >= 40, process)
    store.rename(elsewhere)
    store.write_bytes(b"")  # a file: nothing can be read or written below it
    time.sleep(5)
    store.unlink()
    elsewhere.rename(store)
    status, _, err = finish(process)
    assert status == 0, err + cluster.logs()
    assert same_tables(store, tables4)


def test_ctrl_c(cluster: Cluster, tables3: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    process = start(cluster.address, store, 4)
    wait_for(lambda: tasks_done(store) >= 20, process)
    process.send_signal(signal.SIGINT)
    status, _, err = finish(process)
    assert status == 130
    assert "stopped; finished work is kept: run the same command to continue" in err
    assert "Traceback" not in err
    check_whole(store)


def test_a_worker_of_another_version_is_refused(own: Cluster, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    for package in ("generator", "tablebase"):
        shutil.copytree(ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__"))
    changed = copy / "generator" / "plan.py"
    changed.write_text(changed.read_text("utf-8") + "# another version\n", "utf-8")
    path = os.pathsep.join([str(copy), os.environ.get("PYTHONPATH", "")])
    while own.workers:
        own.kill_worker()
    own.start_worker(environment={"PYTHONPATH": path})
    status, _, err = finish(start(own.address, tmp_path / "store", 3))
    assert status == 1
    assert "install the same version on both; no work was begun" in err
    assert not list((tmp_path / "store").glob("*v*"))


def test_worker_without_memory_resource_is_refused(own: Cluster, tmp_path: Path) -> None:
    own.start_worker(resources="")
    while len(own.workers) > 1:
        own.kill_worker()
    status, _, err = finish(start(own.address, tmp_path / "store", 3))
    assert status == 1
    assert "does not say how much memory it offers: start it with `--resources memory=16e9`" in err


def test_tables_of_other_rules_are_refused(cluster: Cluster, tables3: Path, tmp_path: Path) -> None:
    shutil.copytree(tables3, tmp_path / "store")
    before = contents(tmp_path / "store")
    status, _, err = finish(start(cluster.address, tmp_path / "store", 3, "--ruleset", "king-moves-only"))
    assert status == 1
    assert f"{tmp_path / 'store'} holds tables made under other draw rules (official)" in err
    assert contents(tmp_path / "store") == before


def test_outcomes_alone_and_replacing(cluster: Cluster, tables3: Path, tmp_path: Path) -> None:
    shutil.copytree(tables3, tmp_path / "store")
    (tmp_path / "store" / "KvK.wdl").write_bytes(b"no table")
    status, _, err = finish(
        start(cluster.address, tmp_path / "store", 3, "--metrics", "wdl,dtc", "--replace")
    )
    assert (status, err) == (0, "")
    found, wanted = files(tmp_path / "store"), contents(tables3)
    assert {name for name in wanted if name.endswith(("wdl", "dtc"))} == found.keys() - {"manifest.json"}
    assert all(found[name] == wanted[name] for name in found if name != "manifest.json")


@pytest.mark.whole
def test_five_pieces_with_workers_that_are_killed(own: Cluster, tables5: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    own.start_worker()
    process = start(own.address, store, 5, "--task-positions", "1M")
    kill_workers(own, store, process)
    status, _, err = finish(process)
    assert status == 0, err + own.logs()
    assert same_tables(store, tables5)
