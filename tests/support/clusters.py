"""A Dask cluster for tests: processes of a scheduler and of workers, each with its own folder."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

DASK = str(Path(sys.executable).with_name("dask"))
_SECONDS = 60


class Cluster:
    """A scheduler and workers in separate processes.

    Args:
        folder: the parent of their folders and logs.
        environment: additional environment variables of the processes.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self._environment = {**os.environ, **(environment or {})}
        self.workers: list[subprocess.Popen[bytes]] = []
        self._started = 0
        self.address = ""
        self.scheduler = self._start_scheduler("0")

    def _run(
        self, name: str, *arguments: str, environment: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[bytes]":
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                [DASK, *arguments],
                stdout=log,
                stderr=log,
                env={**self._environment, **(environment or {})},
                cwd=self.folder,
            )

    def _start_scheduler(self, port: str) -> "subprocess.Popen[bytes]":
        file = self.folder / "scheduler.json"
        file.unlink(missing_ok=True)
        process = self._run(
            "scheduler", "scheduler", "--host", "127.0.0.1", "--port", port, "--scheduler-file", str(file),
            "--no-dashboard", "--dashboard-address", "127.0.0.1:0",
        )  # fmt: skip
        until = time.monotonic() + _SECONDS
        while not file.exists() or not file.read_text("utf-8").endswith("}"):
            assert process.poll() is None, (self.folder / "scheduler.log").read_text("utf-8")
            assert time.monotonic() < until
            time.sleep(0.05)
        self.address = json.loads(file.read_text("utf-8"))["address"]
        return process

    def start_worker(
        self, *options: str, resources: str = "memory=4e9", environment: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[bytes]":
        """Start another worker."""
        self._started += 1
        name = f"worker{self._started}"
        offers = ("--resources", resources) if resources else ()
        process = self._run(
            name, "worker", self.address, "--name", name, "--nthreads", "1", "--no-nanny",
            "--memory-limit", "0", "--no-dashboard", "--local-directory", str(self.folder / name),
            *offers, *options, environment=environment,
        )  # fmt: skip
        self.workers.append(process)
        return process

    def kill_worker(self) -> None:
        """Kill the oldest running worker."""
        process = self.workers.pop(0)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def kill_scheduler(self) -> None:
        """Kill the scheduler, and wait for the workers to end."""
        self.scheduler.send_signal(signal.SIGKILL)
        self.scheduler.wait()
        for process in self.workers:
            process.wait(_SECONDS)
        self.workers.clear()

    def restart_scheduler(self) -> None:
        """Start the scheduler again at the same address."""
        self.scheduler = self._start_scheduler(self.address.rpartition(":")[2])

    def stop(self) -> None:
        """Kill the workers and the scheduler."""
        for process in (*self.workers, self.scheduler):
            process.kill()
        for process in (*self.workers, self.scheduler):
            process.wait()

    def logs(self) -> str:
        """Return the logs of all processes."""
        files = sorted(self.folder.glob("*.log"))
        return "\n".join(f"== {path.name}\n{path.read_text('utf-8', 'replace')}" for path in files)
