"""Helpers of tests that run the generator and compare the files that it writes."""

import hashlib
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tablebase.tables.format import table_name
from tablebase.tables.manifest import Manifest

PROGRAM = "import sys; from tablebase.cli.main import main; sys.exit(main())"


def contents(directory: Path) -> dict[str, bytes]:
    """Return the content of every file by name, without the lock file, which names a process."""
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.name != ".lock"}


def same(directory: Path, other: Path) -> bool:
    """Whether two directories hold the same files, byte for byte; an assertion names the difference."""
    one, two = contents(directory), contents(other)
    assert sorted(one) == sorted(two)
    assert [name for name in one if one[name] != two[name]] == []
    return True


def check_whole(directory: Path) -> int:
    """Check that each file of the manifest exists with its checksum; return the number of files."""
    if not (directory / "manifest.json").exists():
        return 0
    checked = 0
    for material, record in Manifest.load(directory).slices.items():
        assert record.statistics is not None
        for metric, file in record.files.items():
            content = (directory / table_name(material, metric)).read_bytes()
            assert (len(content), hashlib.sha256(content).hexdigest()) == (file.size, file.sha256), material
            checked += 1
    return checked


def start(directory: Path, pieces: int, *options: str, before: str = "") -> subprocess.Popen[str]:
    """Start `shashki generate` in another process, which first runs the Python code `before`."""
    arguments = ["generate", "--data", str(directory), "--pieces", str(pieces), "--jobs", "2", *options]
    return subprocess.Popen(
        [sys.executable, "-c", before + "\n" + PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait for a process, and return its exit status, stdout and stderr."""
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> bool:
    """Wait for a condition; return False if the process ends first."""
    while not condition():
        if process.poll() is not None:
            return False
        time.sleep(0.001)
    return True


def files(directory: Path, patterns: Sequence[str] = ("*.wdl", "*.dtc", "*.dtw", "*.dtb", "*.tmp")) -> int:
    return sum(1 for pattern in patterns for _ in directory.glob(pattern))
