"""Connection to a Dask scheduler, or to a local cluster that this module starts."""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

from distributed import Client, LocalCluster

from generator.cluster.settings import program_digest
from generator.errors import ClusterError, ProgramMismatchError
from generator.machine import available_cores, available_memory

LOCAL = "local:"
RESOURCE = "memory"
"""The name of the Dask resource that says how much memory a worker offers, in bytes."""
_CONNECT_SECONDS = 10
_WAIT_SECONDS = 60.0  # for the first worker


class NoSchedulerError(ClusterError):
    """No scheduler answers at the address."""


class Connection:
    """Connection to a cluster; a context manager.

    Args:
        cluster: address of a scheduler, `tcp://host:port`; or `local:K` to start K workers.
        memory: bytes of memory that a task may take; None for what the workers offer.
        patience: seconds to go on trying to reach a lost scheduler.

    Attributes:
        client: the Dask client.
        memory: bytes of memory that the largest worker offers.
        jobs: threads of a task on a local cluster; None on another cluster.

    Raises:
        ClusterError: there is no scheduler or no worker, or the workers cannot run the tasks.
        ProgramMismatchError: a worker runs another version of the program.
    """

    client: Client
    memory: int
    jobs: int | None = None

    def __init__(self, cluster: str, memory: int | None, patience: float) -> None:
        self._address = cluster
        self._patience = patience
        self._cluster: LocalCluster | None = None
        self._memory = memory
        self._lacking_since: float | None = None  # when a worker with enough memory was last seen

    def __enter__(self) -> "Connection":
        try:
            if self._address.startswith(LOCAL):
                self._start(int(self._address.removeprefix(LOCAL)))
            else:
                self.client = self._connect(_CONNECT_SECONDS)
            self._wait_for_workers(_WAIT_SECONDS)
        except OSError as error:
            self._close()
            raise ClusterError(
                f"the connection to the scheduler at {self._address} was lost ({error}) before any work "
                "began: run the same command again"
            ) from None
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        with suppress(Exception):
            self.client.close(_CONNECT_SECONDS)
        if self._cluster is not None:
            with suppress(Exception):
                self._cluster.close(_CONNECT_SECONDS)

    def _start(self, workers: int) -> None:
        total = self._memory * workers if self._memory else available_memory()
        self.jobs = max(1, available_cores() // workers)
        self._cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,  # the resource limits tasks; Dask takes mapped files for leaks
            resources={RESOURCE: total // workers},
            dashboard_address="127.0.0.1:0",  # None would try a port that another cluster may use, and warn
            silence_logs=logging.CRITICAL,
        )
        self.client = Client(self._cluster, set_as_default=False)

    def _connect(self, seconds: float) -> Client:
        try:
            return Client(self._address, timeout=seconds, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise NoSchedulerError(
                f"there is no Dask scheduler at {self._address} ({error or type(error).__name__}): start one "
                "with `dask scheduler`, or name another with --cluster"
            ) from None

    def reconnect(self) -> None:
        """Connect to the scheduler again, and wait for a worker.

        Raises:
            ClusterError: the scheduler does not answer for `patience` seconds.
        """
        with suppress(Exception):
            self.client.close(_CONNECT_SECONDS)
        until = time.monotonic() + self._patience
        while True:
            try:
                self.client = self._connect(_CONNECT_SECONDS)
                return self._wait_for_workers(max(self._patience, _WAIT_SECONDS))
            except (NoSchedulerError, OSError) as error:  # the scheduler may stop again meanwhile
                if time.monotonic() > until:
                    raise ClusterError(
                        f"{error}; finished tasks are kept: run the same command to continue"
                    ) from None
                time.sleep(1)

    def _wait_for_workers(self, patience: float) -> None:
        until = time.monotonic() + patience
        while not (offers := self._offers()):
            if time.monotonic() > until:
                raise ClusterError(
                    f"the scheduler at {self._address} has no workers: start some with "
                    f"`dask worker {self._address} --nthreads 1 --memory-limit 0 --resources {RESOURCE}=16e9`"
                )
            time.sleep(0.5)
        for address, offered in offers.items():
            if not offered:
                raise ClusterError(
                    f"the worker {address} does not say how much memory it offers: start it with "
                    f"`--resources {RESOURCE}=16e9` (bytes)"
                )
        self.memory = max(offers.values())
        found = self.client.run(_program_digest, on_error="return")
        for address, program in found.items():
            if isinstance(program, ImportError | AttributeError):
                raise ClusterError(
                    f"the worker {address} cannot run this program ({program}): install it there with the "
                    "extra `cluster`"
                )
            if not isinstance(program, Exception) and program != program_digest():
                raise ProgramMismatchError(
                    f"the worker {address} runs version {program}, and this command is version "
                    f"{program_digest()}: install the same version on both; no work was begun"
                )

    def check_workers(self, memory: int, note: Callable[[str], None]) -> None:
        """Report that no worker offers enough memory, if that is so for some time. Call it while waiting.

        Args:
            memory: bytes of memory that a task needs.
            note: called with the report.
        """
        with suppress(OSError, TimeoutError):
            if self.client.status != "running":
                return  # the futures of the tasks report the loss
            offers = self._offers().values()
            now = time.monotonic()
            if max(offers, default=0) >= memory or self._lacking_since is None:
                self._lacking_since = now
            elif now - self._lacking_since > _CONNECT_SECONDS:
                lack = f"no worker at {self._address} offers {memory:,} bytes of memory"
                note(f"{lack if offers else f'no workers at {self._address}'}: waiting for workers")
                self._lacking_since = now + 10 * _CONNECT_SECONDS

    def _offers(self) -> dict[str, int]:
        """Return the bytes of memory that each worker offers, by address."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        return {address: int(worker["resources"].get(RESOURCE, 0)) for address, worker in workers.items()}


def _program_digest() -> str:
    return program_digest()
