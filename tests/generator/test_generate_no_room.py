"""The generator without room, or without leave to write: nothing lost, and a word on what to do."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from generating import check_whole, files, finish, same, start

from tablebase.cli.main import main

Capture = pytest.CaptureFixture[str]


def check_full(directory: Path, status: int, out: str, err: str) -> None:
    assert (status, out) == (1, "")
    assert f"cannot write to {directory}: " in err
    no_room = "No space left" in err or "File too large" in err
    advice = "free disk space" if no_room else "remove the cause"
    assert f"finished work is kept: {advice}, then run the same command to continue" in err
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
        assert "remove the cause" in answer.err
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
