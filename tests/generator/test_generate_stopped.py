"""The generator stopped and started again, twice at once even: nothing lost, nothing wrong."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from generating import check_whole, files, finish, same, start, wait_until

from generator.errors import StoreBusyError
from generator.lock import FILE_NAME as LOCK
from generator.lock import locked
from generator.progress import Progress
from generator.run import generate
from tablebase.board.material import Material
from tablebase.cli.main import main
from tablebase.kernels.jit import interruptible

Capture = pytest.CaptureFixture[str]


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
    assert "stopped; finished work is kept: run the same command to continue" in err
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
    assert "stopped; finished work is kept" in err
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


def test_error_caused_by_an_interrupt_becomes_an_interrupt(capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C in the midst of making an object: what is half made fails, and so may those who wait for it."""

    class HalfMade:
        def __del__(self) -> None:
            raise AttributeError("not there")

    def compile_in_vain() -> None:
        with interruptible():
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                HalfMade()
                raise ValueError("it came to nothing") from None

    usual, handler = sys.unraisablehook, signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        compile_in_vain()
    assert capsys.readouterr().err == ""
    assert sys.unraisablehook is usual
    assert signal.getsignal(signal.SIGINT) is handler
    with pytest.raises(ValueError, match="a fault of its own"), interruptible():
        raise ValueError("a fault of its own")


class Stopping(Progress):
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
    with pytest.raises(StoreBusyError, match=rf"process {process.pid}\) .* {tmp_path}"):
        generate(tmp_path, 2)
    process.kill()
    process.communicate()
    assert (tmp_path / LOCK).read_text() == f"{process.pid}\n"
    generate(tmp_path, 2)
    assert (tmp_path / LOCK).read_text() == f"{os.getpid()}\n"
    assert same(tmp_path, tables2)


def test_lock_is_released_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        generate(tmp_path, 2, progress=Stopping(1))
    with locked(tmp_path), pytest.raises(StoreBusyError), locked(tmp_path):
        pass
