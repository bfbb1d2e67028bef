"""5 pieces made by a generator that is killed twenty times: the same tables, byte for byte."""

import signal
import subprocess
import time
from pathlib import Path
from random import Random

import pytest
from generating import check_whole, files, finish, same, start, wait_until

from tablebase.board.material import Material, materials
from tablebase.tables.format import Metric

KILLS = 20
_PIECES = 5
_EVERY = sum(material.positions for pieces in range(2, _PIECES + 1) for material in materials(pieces))
_SHARE = 0.08  # of all positions: the most that a run may write before it is to be killed
_DELAY = (
    1.5  # seconds: the longest wait after that, so that kills do not all meet a file that was just written
)


def done(directory: Path) -> float:
    """The share of all positions whose outcomes are written."""
    return sum(Material.parse(path.stem).positions for path in directory.glob(f"*.{Metric.WDL}")) / _EVERY


def kill(process: subprocess.Popen[str], directory: Path, share: float, delay: float, writing: bool) -> None:
    """Kill a run some time after it has written such a share; while it is `writing` a file, if so wanted.
    One that is through before is left in peace."""
    if not wait_until(lambda: done(directory) >= share, process):
        return
    time.sleep(delay)
    if not writing or wait_until(lambda: files(directory, ["*.tmp"]) > 0, process):
        process.send_signal(signal.SIGKILL)


@pytest.mark.whole
def test_killed_twenty_times(tables5: Path, tmp_path: Path) -> None:
    """Where a run is killed depends on the seed and on the machine: `pytest -s` shows where it was.

    A run that is through before its time comes leaves the rest of the kills to another directory.
    """
    random = Random(20)
    kills = halves = attempt = 0
    while kills < KILLS:
        attempt += 1
        directory = tmp_path / str(attempt)
        directory.mkdir()
        status: int | None = None
        while status != 0:
            share = done(directory) + random.uniform(0, _SHARE)
            delay = random.uniform(0, _DELAY)
            began = time.monotonic()
            process = start(directory, _PIECES)
            if kills < KILLS:
                kill(process, directory, share, delay, writing=kills % 2 == 1)
            status, _, err = finish(process)
            listed = check_whole(directory)
            assert err == ""
            assert status in (0, -signal.SIGKILL)
            if status:
                kills += 1
                half = files(directory, ["*.tmp"])
                halves += half > 0
                print(
                    f"kill {kills}, after {time.monotonic() - began:.1f} s: {done(directory):.1%} written, "
                    f"{files(directory) - half - listed} files not in the manifest yet, {half} half written"
                )
        print(f"all there after {kills} kills")
        assert same(directory, tables5)
    assert halves >= 1
