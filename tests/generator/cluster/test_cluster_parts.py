"""What generation on a cluster is made of, without one."""

import errno
import hashlib
import json
import os
import threading
import time
from pathlib import Path
from random import Random

import numpy as np
import pytest

from generator.cluster import lease as leases
from generator.cluster.contents import StoreIndex, remove_all
from generator.cluster.estimate import critical_path, memory_estimate, priorities
from generator.cluster.lease import RUN_MARKER, Lease, check_run_marker, held, mark_run
from generator.cluster.schedule import plan_of, simulate
from generator.cluster.settings import RunSettings
from generator.cluster.store import FileCache, Store
from generator.cluster.tasks import Kind, Task, TaskRecord, block_counts, task_graph, users_of
from generator.cluster.transfer import read_arrays, write_arrays
from generator.errors import DamagedFileError, StoreBusyError, StoreError, StoreMismatchError
from generator.materials import RunScope, pairs, successor_pairs, with_mirror
from generator.plan import plan
from generator.solver.blocks import Blocks
from tablebase.board.material import Material
from tablebase.cli.main import main
from tablebase.rules.rulesets import OFFICIAL
from tablebase.tables.files import FileRecord
from tablebase.tables.format import Metric

METRICS = tuple(Metric)
SETTINGS = RunSettings("program", "store", OFFICIAL.name, METRICS, 5, 1, 10**9, 10**9, 0)


@pytest.mark.parametrize("pair", pairs(6), ids=str)
def test_block_counts_match_listed_blocks(pair: Material) -> None:
    blocks = Blocks(pair)
    listed = [
        (steps, last - first) for steps, (first, last) in zip(blocks.steps_to_go, blocks.runs, strict=True)
    ]
    counted = block_counts(pair)
    assert [(run.steps_to_go, run.blocks) for run in counted] == listed
    for run, (first, _) in zip(counted, blocks.runs, strict=True):
        assert run.self_mirrored == (
            pair == pair.mirror and blocks.place(first, first + 1).first_index[0, 1] < 0
        )


@pytest.mark.parametrize("most", [10**4, 10**6, 10**12])
@pytest.mark.parametrize("known", [0, 3, 5])
def test_every_position_is_solved_once_and_after_all_that_it_leads_to(most: int, known: int) -> None:
    solved = {pair for pair in pairs(5) if pair.pieces <= known}
    work = plan(RunScope(5), METRICS, 1, solved)
    tasks = task_graph(work, most)
    assert sum(task.positions for task in tasks) == work.positions
    assert len({task.key for task in tasks}) == len(tasks)
    at = {task.key: place for place, task in enumerate(tasks)}
    ends = {task.pair: task.key for task in tasks if task.kind in (Kind.PAIR, Kind.RESTORE, Kind.JOIN)}
    for task in tasks:
        assert all(at[key] < at[task.key] for key in task.needs)
        if task.kind in (Kind.PAIR, Kind.RESTORE, Kind.BLOCKS):
            assert {ends[child] for child in successor_pairs(task.pair)} == set(task.children)
    written = [task.pair for task in tasks if task.kind in (Kind.PAIR, Kind.TABLES)]
    assert sorted(map(str, written)) == sorted(map(str, work.todo))


def test_groups_of_a_pair_are_all_of_its_blocks() -> None:
    pair = Material.parse("KMvKM")
    groups = [t for t in task_graph(plan(RunScope(4), METRICS, 1, set()), 20_000) if t.kind is Kind.BLOCKS]
    mine = [task for task in groups if task.pair == pair]
    blocks = Blocks(pair)
    assert [task.first for task in mine] == [0, *(task.last for task in mine[:-1])]
    assert mine[-1].last == len(blocks)
    steps = blocks.steps_to_go
    for task in mine:
        first, last = blocks.runs[task.run]
        assert first <= task.first < task.last <= last
        before = {each.key for each in mine if steps[each.run] == steps[task.run] - 1}
        assert set(task.blocks) == before


def test_joined_pair_is_not_restored() -> None:
    pair = Material.parse("KMvKM")
    everything = plan(RunScope(5), METRICS, 1, {each for each in pairs(5) if each.pieces < 5})
    plain = [task for task in task_graph(everything, 20_000) if task.pair == pair]
    assert [task.kind for task in plain] == [Kind.RESTORE]
    groups = {t.key for t in task_graph(plan(RunScope(4), METRICS, 1, set()), 20_000) if t.pair == pair}
    blocks = {key for key in groups if key.startswith("blocks")}
    left = [task for task in task_graph(everything, 20_000, blocks) if task.pair == pair]
    assert left[-1].kind is Kind.JOIN
    assert set(left[-1].blocks) == blocks
    joined = [task for task in task_graph(everything, 20_000, groups) if task.pair == pair]
    assert [task.kind for task in joined] == [Kind.JOIN]


def test_array_file_round_trip(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    arrays = {
        "a": random.integers(0, 255, 100_000).astype(np.uint8),
        "empty": np.zeros(0, np.int64),
        "b": random.integers(0, 2**31, 1000).astype(np.int64),
    }
    write_arrays(tmp_path / "file", arrays, threads=2)
    found = read_arrays(tmp_path / "file")
    assert list(found) == list(arrays)
    assert all(
        (found[name] == arrays[name]).all() and found[name].dtype == arrays[name].dtype for name in arrays
    )


def test_damaged_array_file_is_detected(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_arrays(path, {"a": np.arange(20_000, dtype=np.uint32)})
    whole = path.read_bytes()
    random = Random(2)
    for _ in range(300):
        content = bytearray(whole)
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
        path.write_bytes(content)
        try:
            found = read_arrays(path)["a"]
        except (DamagedFileError, KeyError, MemoryError):
            continue
        assert (found == np.arange(20_000)).all()  # what the name says does not matter, nor bits of no use
    for length in range(0, len(whole), 997):
        path.write_bytes(whole[:length])
        with pytest.raises(DamagedFileError, match="file is damaged"):
            read_arrays(path)


def put(store: Store, name: str, content: bytes) -> FileRecord:
    store.write(name, content)
    return FileRecord(len(content), hashlib.sha256(content).hexdigest())


@pytest.fixture
def store(tmp_path: Path) -> Store:
    found = Store(str(tmp_path / "store"), 0)
    found.make()
    return found


def test_cached_file_is_fetched_once_and_checked_each_time(store: Store, tmp_path: Path) -> None:
    record = put(store, "work/a.after", b"content")
    cache = FileCache(tmp_path / "cache", 1000)
    path = cache.fetch(store, "work/a.after", record)
    assert path.read_bytes() == b"content"
    assert cache.fetch(store, "work/a.after", record) == path
    assert cache.fetched == 7
    path.write_bytes(b"damaged")  # on the worker's disk: it is fetched once more
    assert cache.fetch(store, "work/a.after", record).read_bytes() == b"content"
    assert cache.fetched == 14


@pytest.mark.parametrize(
    ("content", "detail"),
    [
        (b"Content", "its SHA-256 is not that of the written file"),
        (b"conten", "it has 6 bytes, and 7 were written"),
        (None, "it is missing from the store"),
    ],
)
def test_damaged_file_in_the_store_is_reported(
    store: Store, tmp_path: Path, content: bytes | None, detail: str
) -> None:
    record = put(store, "a.after", b"content")
    if content is None:
        store.remove(["a.after"])
    else:
        store.write("a.after", content)
    with pytest.raises(DamagedFileError) as caught:
        FileCache(tmp_path / "cache", 1000).fetch(store, "a.after", record)
    assert str(caught.value) == f"a.after is damaged ({detail})"
    assert list((tmp_path / "cache").iterdir()) == []


def test_cache_evicts_least_recently_used_files(store: Store, tmp_path: Path) -> None:
    cache = FileCache(tmp_path / "cache", 250)
    records = {name: put(store, name, name.encode() * 100) for name in "abcd"}
    with cache.task():
        paths = {name: cache.fetch(store, name, records[name]) for name in "ab"}
    for age, name in enumerate("ab"):
        os.utime(paths[name], (1000 + age, 1000 + age))
    with cache.task():
        cache.fetch(store, "a", records["a"])  # used again: b is the older one now
        paths["c"] = cache.fetch(store, "c", records["c"])
        assert sorted(path.exists() for path in paths.values()) == [False, True, True]
        assert not paths["b"].exists()
        cache.fetch(store, "d", records["d"])  # more than the limit: a task has what it needs
        assert paths["a"].exists()
        assert paths["c"].exists()


def test_failing_store_is_retried(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.write_bytes(b"in the way")

    def mend() -> None:
        time.sleep(0.8)
        folder.unlink()

    thread = threading.Thread(target=mend)
    thread.start()
    Store(str(folder), 20).write("name", b"content")
    thread.join()
    assert (folder / "name").read_bytes() == b"content"


def test_retries_end_after_patience(tmp_path: Path) -> None:
    (tmp_path / "store").write_bytes(b"in the way")
    with pytest.raises(StoreError, match=r"store cannot be written to: .*\(tried for 1 s\)"):
        Store(str(tmp_path / "store"), 1).write("name", b"content")


def test_relative_address_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Store("tables").address == str(tmp_path / "tables")


def test_error_without_retries_names_no_time(tmp_path: Path) -> None:
    (tmp_path / "store").write_bytes(b"in the way")
    with pytest.raises(StoreError, match=r"cannot be made: FileExistsError: [^()]*$"):
        Store(str(tmp_path / "store"), 0).make()


def test_other_files_in_the_folder_of_tasks_stay(store: Store) -> None:
    ours = [
        "work/blocks-KMvK-00-0-4.after", "work/pair-KvK.json", "work/join-KMvKM.forget",
        "work/tables-KKMvK.json.31-0af.tmp",
    ]  # fmt: skip
    others = [
        "work/notes.txt",
        "work/run.py",
        "work/mine/pair-KvK.json",
        "work/pair-KvK.json.orig",
        "KvK.pdf",
    ]
    for name in ours + others:
        store.write(name, b"")
    there = StoreIndex(store, OFFICIAL, SETTINGS.digest)
    there.clear()
    assert sorted(store.sizes()) == sorted(others)
    store.write(ours[0], b"")
    remove_all(store)
    assert sorted(store.sizes()) == sorted(others)


def test_a_task_whose_files_are_gone_is_not_done(store: Store) -> None:
    """A worker takes a task for done that has a record in the store."""
    files = {"work/pair-KvK.after": put(store, "work/pair-KvK.after", b"content")}
    record = TaskRecord("pair-KvK", "KvK", SETTINGS.digest, files)
    store.write(record.name, record.to_json())
    there = StoreIndex(store, OFFICIAL, SETTINGS.digest)
    there.refresh()
    assert list(there.usable()) == ["pair-KvK"]
    store.remove(files)
    there.refresh()
    assert store.sizes() == {}


def test_run_marker(store: Store) -> None:
    marker = mark_run(store, "one")
    check_run_marker(store, marker, 0)
    assert mark_run(store, "one") == marker  # a killed run's tasks may end what they are at
    other = mark_run(store, "other")
    check_run_marker(store, other, 0)
    with pytest.raises(
        StoreMismatchError, match=r"the worker on .* does not find the file work/run of this command in "
    ):
        check_run_marker(store, marker, 60)  # there is no waiting where another run has it
    store.remove([RUN_MARKER])
    with pytest.raises(StoreMismatchError):
        check_run_marker(store, other, 0)


def test_an_address_without_a_bucket() -> None:
    with pytest.raises(StoreError, match="s3:// is not the address of a store: it names no bucket or folder"):
        Store("s3://")


def test_incomplete_listing_is_an_error(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write("work/a.json", b"{}")
    scan = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("work"):
            raise OSError(errno.EIO, "the network is gone")
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(StoreError, match="cannot be listed"):
        store.sizes()


def test_missing_folder_is_an_error(store: Store) -> None:
    store.directory.rmdir()
    with pytest.raises(StoreError, match="cannot be listed"):
        store.sizes()


def test_full_local_disk_is_not_an_error_of_the_store(bucket: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*paths: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(bucket._fs, "get_file", full)
    with pytest.raises(OSError, match="No space left"):
        bucket.get("a", Path("b"))


def test_create_works_without_a_named_condition(bucket: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """As S3 servers that do not name the condition that was not met."""
    bucket.write("there", b"")

    def refuse(*arguments: object, **options: object) -> None:
        raise OSError(errno.EINVAL, "At least one of the pre-conditions you specified did not hold")

    monkeypatch.setattr(bucket._fs, "pipe_file", refuse)
    assert not bucket.create("there", b"")
    with pytest.raises(StoreError, match="pre-conditions"):
        bucket.create("elsewhere", b"")


def test_lease_does_not_hide_the_error_that_ends_a_run(
    bucket: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise OSError(errno.EIO, "gone")

    def interrupted() -> None:
        with held(Store(bucket.address, 100)):
            for name in ("cat_file", "rm_file", "pipe_file"):
                monkeypatch.setattr(type(bucket._fs), name, refuse)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()


def test_files_of_arrays_are_the_same_from_any_number_of_threads(tmp_path: Path) -> None:
    arrays = {"a": np.random.default_rng(3).integers(0, 9, 30_000_000).astype(np.uint8)}
    contents = set()
    for threads in (1, 2, 3):
        write_arrays(tmp_path / "file", arrays, threads)
        contents.add(hashlib.sha256((tmp_path / "file").read_bytes()).hexdigest())
    assert len(contents) == 1


@pytest.mark.parametrize("address", ["nothing://there", "s3x://a/b"])
def test_unknown_protocol_is_refused(address: str) -> None:
    with pytest.raises(StoreError, match=f"{address} is not the address of a store: Protocol not known"):
        Store(address)


@pytest.fixture
def bucket(request: pytest.FixtureRequest) -> Store:
    """A store that is no folder."""
    found = Store(f"memory://{request.node.name}", 0)
    found.make()
    return found


def test_store_in_memory(bucket: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"some content")
    assert bucket.put(tmp_path / "file", "work/a") == FileRecord(
        12, hashlib.sha256(b"some content").hexdigest()
    )
    bucket.write("b", b"more")
    assert bucket.sizes() == {"work/a": 12, "b": 4}
    assert bucket.read("work/a", 4) == b"some"
    bucket.get("work/a", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"some content"
    bucket.remove(["b", "c"])
    assert bucket.sizes() == {"work/a": 12}
    with pytest.raises(FileNotFoundError):
        bucket.read("b")


@pytest.mark.parametrize("kind", ["store", "bucket"])
def test_one_command_per_store(kind: str, request: pytest.FixtureRequest) -> None:
    store: Store = request.getfixturevalue(kind)
    with (
        held(store, renewed=0.05),
        pytest.raises(StoreBusyError, match=rf"\(process {os.getpid()}"),
        held(store, stale=2),
    ):
        raise AssertionError("two hold it")
    with held(store):
        pass


def test_stale_lease_is_taken_over(bucket: Store) -> None:
    left = Lease(bucket)
    assert bucket.create(leases.FILE_NAME, left.content())
    notes: list[str] = []
    with held(bucket, stale=0.3, note=notes.append) as lease:
        assert lease is not None
        assert [f"lock of another run (process {os.getpid()} on " in note for note in notes] == [True]
        assert json.loads(bucket.read(leases.FILE_NAME))["mark"] != json.loads(left.content())["mark"]
    assert bucket.sizes() == {}


def test_lease_taken_by_another_command_is_lost(bucket: Store) -> None:
    with held(bucket, renewed=0.02) as lease:
        assert lease is not None
        bucket.write(leases.FILE_NAME, Lease(bucket).content())
        lease.thread.join(5)
        assert lease.lost
    assert list(bucket.sizes()) == [leases.FILE_NAME]  # it is not ours to remove


def test_record_round_trip() -> None:
    record = TaskRecord(
        "pair-KvK", "KvK", "digest", {"work/a": FileRecord(3, "00")}, seconds={"working": 1.5}
    )
    assert TaskRecord.from_json(record.to_json()) == record
    for content in (b"", b"[]", b"{}", record.to_json()[:-5], b'{"key": 1, "files": {"a": 1}}'):
        assert TaskRecord.from_json(content) is None


def test_settings_that_make_other_tables_have_another_digest() -> None:
    assert len({SETTINGS.digest, RunSettings(**{**vars_of(SETTINGS), "metrics": ("wdl",)}).digest}) == 2
    assert RunSettings(**{**vars_of(SETTINGS), "jobs": 7, "cache": 1, "memory": 5}).digest == SETTINGS.digest


def vars_of(settings: RunSettings) -> dict[str, object]:
    return {name: value for name, value in vars(settings).items() if name != "digest"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--cluster", "http://10.0.0.1:8786"), "'http://10.0.0.1:8786' is not the address of a scheduler"),
        (("--cluster", "10.0.0.1:8786"), "'10.0.0.1:8786' is not the address of a scheduler"),
        (("--cluster", "local:0"), "'local:0' is not a local cluster"),
        (
            ("--cluster", "tcp://10.0.0.1:8786", "--store", ""),
            "--store is empty; name a folder or an address",
        ),
        (("--store", ""), "--store requires --cluster or --cluster-size"),
        (("--cluster-size", "4"), "--cluster-size requires --dry-run"),
    ],
)
def test_options_that_make_no_sense(
    options: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = main(["generate", "--data", str(tmp_path), *options])
    except SystemExit as error:
        status = int(error.code or 0)
    assert status == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_group_of_blocks_needs_less_than_its_pair() -> None:
    pair = Material.parse("KMMvKM")
    positions = sum(material.positions for material in with_mirror(pair))
    whole = memory_estimate(SETTINGS, Task(Kind.PAIR, pair, positions))
    group = memory_estimate(SETTINGS, Task(Kind.BLOCKS, pair, positions // 50, first=0, last=100))
    assert group < whole


def test_priority_of_a_pair_is_that_of_its_first_blocks() -> None:
    work, settings = plan_of(RunScope(5), METRICS, OFFICIAL, 1)
    tasks = task_graph(work, 1_000_000)
    ways = critical_path(tasks, settings, 1)
    priority = priorities(tasks, ways)
    for task in tasks:
        assert priority[task.key] == max(ways[each.key] for each in tasks if each.pair == task.pair)
        assert all(ways[key] > ways[task.key] for key in task.needs)


def test_a_schedule_is_no_shorter_than_its_chain_and_its_work() -> None:
    work, settings = plan_of(RunScope(6), METRICS, OFFICIAL, 1)
    tasks = task_graph(work, 20_000_000)
    times = []
    for workers in (1, 4, 64):
        found = simulate(tasks, settings, workers, 1)
        assert found.seconds >= found.critical
        assert found.busy >= found.work
        assert found.seconds * workers >= found.busy
        assert found.positions == work.positions
        assert [task.key for task in found.chain] == [
            key for key in (task.key for task in tasks) if key in {task.key for task in found.chain}
        ]
        times.append(found.seconds)
    assert times[1] < times[0]
    assert times[2] < times[0]  # not always less than of fewer: each that helps has to load what it works on
    one = simulate(tasks, settings, 1, 1)
    assert one.busy == pytest.approx(one.seconds)
    users = users_of(tasks)
    assert all(
        later.key in users[earlier.key] for earlier, later in zip(one.chain, one.chain[1:], strict=False)
    )
