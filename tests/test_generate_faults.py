"""The generator stopped, starved and disturbed: nothing lost, nothing wrong, and a word on what to do."""

import ctypes
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from generating import check_whole, contents, files, finish, same, start, wait_until

from generator.errors import BusyError, OtherTablesError
from generator.jit import interruptible
from generator.lock import FILE_NAME as LOCK
from generator.lock import locked
from generator.plan import Plan
from generator.run import Silent, generate
from tablebase.board import Position
from tablebase.cli import main
from tablebase.drawrules import RULESETS, Ruleset
from tablebase.format import Metric, table_name, write_table
from tablebase.indexing import sets_at
from tablebase.manifest import Manifest
from tablebase.material import Material
from tablebase.rules import legal_moves
from tablebase.table import Table

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def tables2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("tables2")
    generate(directory, 2)
    return directory


@pytest.fixture(scope="module")
def tables3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("tables3")
    generate(directory, 3)
    return directory


@pytest.fixture
def copy(tables3: Path, tmp_path: Path) -> Path:
    shutil.copytree(tables3, tmp_path / "copy")
    return tmp_path / "copy"


# Stopped


def test_killed_again_and_again(tables4: Path, tmp_path: Path) -> None:
    random = Random(4)
    killed = 0
    while True:
        process = start(tmp_path, 4)
        before = files(tmp_path)
        more = random.randint(5, 50)
        if wait_until(lambda: files(tmp_path) >= before + more, process):  # noqa: B023
            process.send_signal(signal.SIGKILL)
        status, _, err = finish(process)
        check_whole(tmp_path)
        if status == 0:
            break
        assert (status, err) == (-signal.SIGKILL, "")
        killed += 1
    assert killed >= 3
    assert same(tmp_path, tables4)


class Outage(BaseException):
    """No handler of errors may catch it."""


@pytest.mark.parametrize("operation", ["replace", "fsync"])
def test_stopped_at_every_step(
    operation: str, tables2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each renaming and each syncing of a run, the plug is pulled: at that very step all writing ends."""
    real: dict[str, Callable[..., None]] = {name: getattr(os, name) for name in ("replace", "fsync")}
    steps = stopped = 0
    while stopped == steps:
        directory = tmp_path / str(steps)
        left = steps

        def pull(*arguments: object) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Outage
            real[operation](*arguments)

        monkeypatch.setattr(os, operation, pull)
        try:
            generate(directory, 2)
        except Outage:
            stopped += 1
        monkeypatch.setattr(os, operation, real[operation])
        check_whole(directory)
        generate(directory, 2)
        assert same(directory, tables2)
        steps += 1
    assert stopped >= 12 + 3  # a file a metric of each material, a manifest for each pair


def test_what_a_killed_run_was_writing_is_removed(tables2: Path, tmp_path: Path) -> None:
    for name in ("KvK.wdl.123.tmp", "KKvMM.dtw.9.tmp", "manifest.json.123.tmp"):
        (tmp_path / name).write_bytes(b"half a ta")
    (tmp_path / "thesis.tmp").write_bytes(b"not ours")
    generate(tmp_path, 2)
    assert (tmp_path / "thesis.tmp").read_bytes() == b"not ours"
    (tmp_path / "thesis.tmp").unlink()
    assert same(tmp_path, tables2)


def test_interrupted_from_the_keyboard(tables4: Path, tmp_path: Path) -> None:
    process = start(tmp_path, 4)
    assert wait_until(lambda: files(tmp_path) >= 20, process)
    process.send_signal(signal.SIGINT)
    status, out, err = finish(process)
    assert (status, out) == (130, "")
    assert "stopped; what is finished is kept, run the same command to go on" in err
    assert "Traceback" not in err
    assert files(tmp_path, ["*.tmp"]) == 0
    assert check_whole(tmp_path) >= 18
    status, out, err = finish(start(tmp_path, 4))
    assert (status, err) == (0, "")
    assert "solved" in out
    assert same(tmp_path, tables4)


def test_interrupted_while_compiling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no compiled kernels at hand, half a minute of compiling comes first; Ctrl-C is heard in it."""
    monkeypatch.setenv("SHASHKI_KERNEL_CACHE", str(tmp_path / "kernels"))
    process = start(tmp_path / "data", 2)
    assert wait_until((tmp_path / "data" / LOCK).exists, process)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    status, out, err = finish(process)
    assert time.monotonic() - began < 10
    assert (status, out) == (130, "")
    assert "stopped; what is finished is kept" in err
    assert files(tmp_path / "data") == 0


def test_an_interrupt_that_a_callback_drops_is_sent_again() -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    def compile_for_ten_seconds() -> None:
        with interruptible():
            ctypes.CFUNCTYPE(None)(interrupted)()
            for _ in range(1000):
                time.sleep(0.01)

    usual = sys.unraisablehook
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        compile_for_ten_seconds()
    assert time.monotonic() - began < 5
    assert sys.unraisablehook is usual


class Stopping(Silent):
    """Stops a run when the nth pair is begun, as Ctrl-C does."""

    def __init__(self, after: int) -> None:
        self._left = after
        self.done: list[Material] = []

    def material(self, pair: Material, restoring: bool) -> None:
        self._left -= 1
        if self._left < 0:
            raise KeyboardInterrupt

    def written(self, pair: Material) -> None:
        self.done.append(pair)


@pytest.mark.parametrize("after", range(9))
def test_an_interrupted_run_finishes_what_it_writes(after: int, tables3: Path, tmp_path: Path) -> None:
    stopping = Stopping(after)
    with pytest.raises(KeyboardInterrupt):
        generate(tmp_path, 3, progress=stopping)
    assert len(stopping.done) == after
    assert check_whole(tmp_path) == files(tmp_path)
    generate(tmp_path, 3)
    assert same(tmp_path, tables3)


# One writer


def test_a_second_run_is_refused_and_the_first_unharmed(
    tables4: Path, tmp_path: Path, capsys: Capture
) -> None:
    first = start(tmp_path, 4)
    assert wait_until(lambda: files(tmp_path) >= 6, first)
    before = (tmp_path / LOCK).read_text()
    assert main(["generate", "--data", str(tmp_path), "--pieces", "3"]) == 1
    answer = capsys.readouterr()
    assert answer.out == ""
    assert f"another run (process {first.pid}) is generating in {tmp_path}; " in answer.err
    assert "name another directory with --data" in answer.err
    assert (tmp_path / LOCK).read_text() == before
    status, _, err = finish(first)
    assert (status, err) == (0, "")
    assert same(tmp_path, tables4)


def test_the_lock_of_a_killed_run_does_not_block(tables2: Path, tmp_path: Path) -> None:
    holding = (
        "import sys, time; from pathlib import Path; from generator.lock import locked\n"
        "with locked(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", holding, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    with pytest.raises(BusyError, match=rf"process {process.pid}\) .* {tmp_path}"):
        generate(tmp_path, 2)
    process.kill()
    process.communicate()
    assert (tmp_path / LOCK).read_text() == f"{process.pid}\n"
    generate(tmp_path, 2)
    assert (tmp_path / LOCK).read_text() == f"{os.getpid()}\n"
    assert same(tmp_path, tables2)


def test_a_lock_is_let_go_of_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        generate(tmp_path, 2, progress=Stopping(1))
    with locked(tmp_path), pytest.raises(BusyError), locked(tmp_path):
        pass


# No room


def check_full(directory: Path, status: int, out: str, err: str) -> None:
    assert (status, out) == (1, "")
    assert f"cannot write to {directory}: " in err
    no_room = "No space left" in err or "File too large" in err
    advice = "make room" if no_room else "mend it"
    assert f"what is finished is kept: {advice}, then run the same command to go on" in err
    assert "Traceback" not in err
    assert files(directory, ["*.tmp"]) == 0
    assert check_whole(directory) > 0


def test_a_file_that_finds_no_room(tables4: Path, tmp_path: Path) -> None:
    """Files of more than 20 KB cannot be written: what a full disk does, without filling one."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))"
    answer = finish(start(tmp_path, 4, before=limit))
    check_full(tmp_path, *answer)
    assert "File too large" in answer[2]
    finish(start(tmp_path, 4))
    assert same(tmp_path, tables4)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=150k", "none", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk is not permitted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk(
    tables3: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    # The plan would refuse it; another program may take the room while a run is under way.
    monkeypatch.setattr("generator.run.available_disk", lambda directory: 1 << 40)
    status = main(["generate", "--data", str(small_disk), "--pieces", "3"])
    answer = capsys.readouterr()
    check_full(small_disk, status, answer.out, answer.err)
    assert "No space left on device" in answer.err
    subprocess.run(["mount", "-o", "remount,size=10m", str(small_disk)], check=True)
    assert main(["generate", "--data", str(small_disk), "--pieces", "3"]) == 0
    assert same(small_disk, tables3)


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), PermissionError(13, "Permission denied")]
)
def test_an_error_of_any_write(
    error: OSError, tables3: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    real = os.fsync
    left = 40

    def fail(file: int) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise error
        real(file)

    monkeypatch.setattr(os, "fsync", fail)
    status = main(["generate", "--data", str(tmp_path), "--pieces", "3"])
    answer = capsys.readouterr()
    check_full(tmp_path, status, answer.out, answer.err)
    assert str(error.strerror) in answer.err
    monkeypatch.setattr(os, "fsync", real)
    assert main(["generate", "--data", str(tmp_path), "--pieces", "3"]) == 0
    assert same(tmp_path, tables3)


def test_a_directory_that_cannot_be_made(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "file").write_text("in the way")
    for directory in (tmp_path / "file", tmp_path / "file" / "data"):
        assert main(["generate", "--data", str(directory), "--pieces", "2"]) == 1
        answer = capsys.readouterr()
        assert answer.out == ""
        assert f"cannot write to {directory}: " in answer.err
        assert "mend it" in answer.err
        assert (
            str(tmp_path / "file") + ("/data: Not a directory" if directory.name == "data" else "")
            in answer.err
        )
    assert (tmp_path / "file").read_text() == "in the way"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_directory_that_may_not_be_written_to(tmp_path: Path, capsys: Capture) -> None:
    tmp_path.chmod(0o555)
    try:
        assert main(["generate", "--data", str(tmp_path), "--pieces", "2"]) == 1
        assert f"cannot write to {tmp_path}: Permission denied" in capsys.readouterr().err
    finally:
        tmp_path.chmod(0o755)


# What is there already, and is not right


class Watching(Silent):
    """Notes what a run solves and reads back."""

    def __init__(self) -> None:
        self.solved_pairs: list[str] = []
        self.notes: list[str] = []

    def replacing(self, note: str) -> None:
        self.notes.append(note)

    def material(self, pair: Material, restoring: bool) -> None:
        if not restoring:
            self.solved_pairs.append(str(pair))

    def begin(self, plan: Plan) -> None:
        self.plan = plan


@pytest.mark.parametrize("damage", ["lost", "short", "empty", "long"])
@pytest.mark.parametrize("name", ["KKvM.dtw", "MvKM.wdl", "KvK.dtc"])
def test_a_file_that_is_not_as_it_was_is_made_again(
    name: str, damage: str, copy: Path, tables3: Path
) -> None:
    path = copy / name
    content = path.read_bytes()
    if damage == "lost":
        path.unlink()
    else:
        path.write_bytes({"short": content[:-1], "empty": b"", "long": content + b"\0"}[damage])
    times = {path.name: path.stat().st_mtime_ns for path in copy.iterdir()}
    watching = Watching()
    generate(copy, 3, progress=watching)
    assert watching.notes == []
    assert watching.solved_pairs == [{"KKvM.dtw": "KKvM", "MvKM.wdl": "KMvM", "KvK.dtc": "KvK"}[name]]
    assert same(copy, tables3)
    pair = {watching.solved_pairs[0], str(Material.parse(watching.solved_pairs[0]).mirror)}
    for path in copy.iterdir():
        rewritten = path.name in (LOCK, "manifest.json") or path.stem in pair
        assert (path.stat().st_mtime_ns == times.get(path.name)) != rewritten, path


def test_a_damaged_table_that_is_needed_is_named(copy: Path, capsys: Capture) -> None:
    path = copy / "KKvM.dtw"
    content = bytearray(path.read_bytes())
    content[-20] ^= 0x55
    path.write_bytes(content)
    assert main(["generate", "--data", str(copy), "--pieces", "4"]) == 1
    err = capsys.readouterr().err
    assert f"{path} is damaged: frame" in err
    assert "delete the file and generate it again" in err
    check = contents(copy)
    assert set(check) == {path.name for path in copy.iterdir()} - {LOCK}


def spoil(manifest: Path, **changes: object) -> None:
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | changes))


OTHER_KINDS = pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"format_version": 0}, "tables of an older format (version 0, where this program writes "),
        ({"format_version": 99}, "tables of a newer format (version 99, where this program writes "),
        ({"format_version": "x"}, "tables of another format (version x, where this program writes "),
        ({"ruleset": {"name": "unheard-of", "king_moves_plies": 10}}, "tables made under other draw rules ("),
        (
            {"ruleset": {"name": "king-moves-only", "king_moves_plies": 32}},
            "tables made under other draw rules (",
        ),
        ({"materials": 5}, "a set of tables with a damaged manifest ("),
    ],
)


@OTHER_KINDS
def test_tables_of_another_kind_are_refused_untouched(
    changes: dict[str, object], says: str, copy: Path, capsys: Capture
) -> None:
    spoil(copy / "manifest.json", **changes)
    (copy / "KvK.wdl.1.tmp").write_bytes(b"what a killed run of the other program was writing")
    (copy / LOCK).unlink()
    before = contents(copy)
    for options in ([], ["--dry-run"]):
        assert main(["generate", "--data", str(copy), "--pieces", "3", *options]) == 1
        answer = capsys.readouterr()
        assert answer.out == ""
        assert answer.err.startswith(f"shashki: {copy} holds {says}")
        assert "empty it, or name another directory with --data, or add --replace" in answer.err
        assert contents(copy) == before
        assert not (copy / LOCK).exists()


@OTHER_KINDS
def test_replace_makes_tables_of_another_kind_again(
    changes: dict[str, object], says: str, copy: Path, tables3: Path, capsys: Capture
) -> None:
    spoil(copy / "manifest.json", **changes)
    (copy / "KKKvK.wdl").write_bytes(b"of the old kind, and of no use any more")
    (copy / "notes.wdl").write_bytes(b"no table")
    before = contents(copy)
    command = ["generate", "--data", str(copy), "--pieces", "3", "--replace"]
    note = f"note: the 49 tables in {copy} are removed and made again\n"
    assert main([*command, "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(note)
    assert "materials  16 to solve" in out
    assert contents(copy) == before
    assert main(command) == 0
    out = capsys.readouterr().out
    assert out.startswith(note)
    assert "solved 16 materials" in out
    assert (copy / "notes.wdl").read_bytes() == b"no table"
    (copy / "notes.wdl").unlink()
    assert same(copy, tables3)


def test_replace_makes_a_whole_set_again(copy: Path, tables3: Path) -> None:
    watching = Watching()
    generate(copy, 3, progress=watching, replace=True)
    assert watching.notes == [f"the 48 tables in {copy} are removed and made again"]
    assert len(watching.solved_pairs) == 9
    assert same(copy, tables3)


def test_replace_has_nothing_to_say_of_an_empty_directory(tmp_path: Path, capsys: Capture) -> None:
    assert main(["generate", "--data", str(tmp_path), "--pieces", "2", "--replace"]) == 0
    assert capsys.readouterr().out.startswith("solved 4 materials")


def test_the_note_comes_before_anything_is_removed(copy: Path) -> None:
    before = contents(copy)

    class Stopped(Silent):
        def replacing(self, note: str) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate(copy, 3, progress=Stopped(), replace=True)
    assert contents(copy) == before


def test_tables_of_other_rules_that_are_known_are_refused(
    tables3: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = Ruleset("test-4", 4)
    monkeypatch.setitem(RULESETS, rules.name, rules)
    generate(tmp_path, 3, ruleset=rules)
    before = contents(tmp_path)
    with pytest.raises(OtherTablesError, match=r"made under other draw rules \(test-4\)"):
        generate(tmp_path, 3)
    assert contents(tmp_path) == before
    generate(tmp_path, 3, replace=True)
    assert same(tmp_path, tables3)


def test_a_plan_that_does_not_fit_leaves_old_tables_alone(
    copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    spoil(copy / "manifest.json", format_version=0)
    before = contents(copy)
    monkeypatch.setattr("generator.run.available_memory", lambda: 1 << 20)
    assert main(["generate", "--data", str(copy), "--pieces", "3", "--replace"]) == 1
    answer = capsys.readouterr()
    assert "3 pieces need about" in answer.err
    assert answer.out == ""
    assert contents(copy) == before


# Verified from the command line


def verify_fails(directory: Path, capsys: Capture) -> str:
    assert main(["verify", "--data", str(directory)]) == 1
    answer = capsys.readouterr()
    assert "NOT in order" in answer.out
    assert answer.err.startswith("shashki: ")
    assert answer.err.count("\n") == 1
    return answer.err


def position_at(material: Material, index: int) -> Position:
    own_men, own_kings, other_men, other_kings = sets_at(material, index)
    return Position(own_men, own_kings, other_men, other_kings)


def test_what_is_said_of_statistics_mends_them(copy: Path, tables3: Path, capsys: Capture) -> None:
    material = Material.parse("KKvM")
    manifest = Manifest.load(copy)
    record = manifest.slices[material]
    assert record.statistics is not None
    manifest.slices[material] = replace(record, statistics=replace(record.statistics, win=7))
    manifest.save(copy)
    message = verify_fails(copy, capsys)
    assert "the statistics of KKvM are wrong: win is 7 in the manifest" in message
    advice = re.search(r"; delete (.*), and run `(.*)`$", message.strip())
    assert advice is not None
    for name in advice[1].split(", "):
        (copy / name).unlink()
    program, *command = shlex.split(advice[2])
    assert program == "shashki"
    assert main(command) == 0
    assert same(copy, tables3)


@pytest.mark.parametrize("command", ["verify", "stats"])
def test_a_directory_that_is_not_there_is_bad_use(command: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "file").write_text("no directory")
    for name in ("nowhere", "file"):
        assert main([command, "--data", str(tmp_path / name)]) == 2
        assert f"{tmp_path / name} is no directory" in capsys.readouterr().err


def test_a_seed_is_a_number_and_of_a_sample(copy: Path, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as left:
        main(["verify", "--data", str(copy), "--sample", "--seed", "-1"])
    assert left.value.code == 2
    assert "'-1' is no seed" in capsys.readouterr().err
    assert main(["verify", "--data", str(copy), "--seed", "1"]) == 2
    assert "--seed is of a sample" in capsys.readouterr().err


def test_verify_does_not_praise_what_it_did_not_check(tmp_path: Path, capsys: Capture) -> None:
    generate(tmp_path, 2, [Metric.WDL])
    assert main(["verify", "--data", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "note: without .dtc and .dtw tables outcomes were only checked for agreement" in out
    assert out.endswith(": all that was checked is well\n")


def test_verify_passes(copy: Path, capsys: Capture) -> None:
    assert main(["verify", "--data", str(copy)]) == 0
    answer = capsys.readouterr()
    assert "16 materials, 199,520 positions, 48 files" in answer.out
    assert "all is well" in answer.out
    assert answer.err == ""


@pytest.mark.parametrize(("metric", "value"), [(Metric.WDL, 0), (Metric.DTC, 17), (Metric.DTW, 40)])
def test_verify_names_a_changed_value(metric: Metric, value: int, copy: Path, capsys: Capture) -> None:
    """One quiet value, with every checksum made right again."""
    material = Material.parse("KKvM")
    path = copy / table_name(material, metric)
    with Table(path) as table, Table(copy / "KKvM.wdl") as outcomes:
        stored = table.read_all()
        won = (outcomes.read_all() == 2).nonzero()[0].tolist()
    quiet = ((index, position_at(material, index)) for index in won[len(won) // 3 :])
    index, position = next(found for found in quiet if not legal_moves(found[1])[0].is_capture)
    stored[index] = value
    manifest = Manifest.load(copy)
    manifest.slices[material].files[metric] = write_table(
        path, material, metric, manifest.ruleset, stored, generator_version="test"
    )
    manifest.save(copy)
    message = verify_fails(copy, capsys)
    for part in (f"KKvM.{metric}", str(index), position.to_fen()):
        assert part in message


def test_verify_names_a_file_with_a_changed_byte(copy: Path, capsys: Capture) -> None:
    path = copy / "MMvK.dtw"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert str(path) in verify_fails(copy, capsys)


def test_verify_names_a_file_of_another_length(copy: Path, capsys: Capture) -> None:
    path = copy / "MMvK.dtw"
    size = path.stat().st_size
    os.truncate(path, size - 3)
    assert f"{path} has {size - 3} bytes, where the manifest says {size}" in verify_fails(copy, capsys)
