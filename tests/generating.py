"""Running the generator in tests, in this process and in others, and comparing what it leaves."""

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
    """Every file but the lock, which names the process that held it last."""
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.name != ".lock"}


def same(directory: Path, other: Path) -> bool:
    """Whether two directories hold the same, byte for byte; says where not."""
    one, two = contents(directory), contents(other)
    assert sorted(one) == sorted(two)
    assert [name for name in one if one[name] != two[name]] == []
    return True


def check_whole(directory: Path) -> int:
    """What must hold at every moment: each file that the manifest names is there, as it says. How many."""
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
    """`shashki generate` in a process of its own; `before` is Python that runs in it first."""
    arguments = ["generate", "--data", str(directory), "--pieces", str(pieces), "--jobs", "2", *options]
    return subprocess.Popen(
        [sys.executable, "-c", before + "\n" + PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Exit status, stdout, stderr."""
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> bool:
    """Wait for it; False where the process has ended before."""
    while not condition():
        if process.poll() is not None:
            return False
        time.sleep(0.001)
    return True


def files(directory: Path, patterns: Sequence[str] = ("*.wdl", "*.dtc", "*.dtw", "*.dtb", "*.tmp")) -> int:
    return sum(1 for pattern in patterns for _ in directory.glob(pattern))
