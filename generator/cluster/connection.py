"""To a Dask cluster: that of an address, or one of this machine's own."""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

from distributed import Client, LocalCluster

from generator.cluster.settings import identity
from generator.errors import ClusterError, ProgramMismatchError
from generator.plan import available_cores, available_memory

LOCAL = "local:"
RESOURCE = "memory"
"""What Dask calls the memory that a worker offers, in bytes."""
_CONNECT_SECONDS = 10
_WAIT_SECONDS = 60.0  # for the first worker


class NoSchedulerError(ClusterError):
    """Nobody answers at the address."""


class Connection:
    """A cluster to work with; a context manager.

    Args:
        cluster: `tcp://host:port` of a scheduler, or `local:K`.
        memory: bytes that a task may take; None for what the workers offer.
        patience: seconds to look for a scheduler that is gone.

    Attributes:
        client: Dask's.
        memory: bytes that the largest worker offers.
        jobs: threads of a task, where that is for us to say.

    Raises:
        ClusterError: nobody is there, or the workers cannot do this.
        ProgramMismatchError: a worker is of another version.
    """

    client: Client
    memory: int
    jobs: int | None = None

    def __init__(self, cluster: str, memory: int | None, patience: float) -> None:
        self._address = cluster
        self._patience = patience
        self._cluster: LocalCluster | None = None
        self._memory = memory
        self._missed: float | None = None  # since when there is nobody to do it

    def __enter__(self) -> "Connection":
        try:
            if self._address.startswith(LOCAL):
                self._start(int(self._address.removeprefix(LOCAL)))
            else:
                self.client = self._connect(_CONNECT_SECONDS)
            self._check_workers(_WAIT_SECONDS)
        except OSError as error:
            self._close()
            raise ClusterError(
                f"the scheduler at {self._address} has gone ({error}); nothing was begun: run the same "
                "command again"
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
            memory_limit=0,  # we say ourselves what a task may take
            resources={RESOURCE: total // workers},
            dashboard_address="127.0.0.1:0",  # None would take the port of another cluster, and warn
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

    def again(self) -> None:
        """Find the scheduler again, and some worker.

        Raises:
            ClusterError: it has been gone for too long.
        """
        with suppress(Exception):
            self.client.close(_CONNECT_SECONDS)
        until = time.monotonic() + self._patience
        while True:
            try:
                self.client = self._connect(_CONNECT_SECONDS)
                return self._check_workers(max(self._patience, _WAIT_SECONDS))
            except (NoSchedulerError, OSError) as error:  # it may go once more meanwhile
                if time.monotonic() > until:
                    raise ClusterError(
                        f"{error}; what is finished is kept: run the same command to go on"
                    ) from None
                time.sleep(1)

    def _check_workers(self, patience: float) -> None:
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
                    f"the worker {address} does not say how much memory it has: start it with "
                    f"`--resources {RESOURCE}=16e9` (bytes)"
                )
        self.memory = max(offers.values())
        found = self.client.run(_identity, on_error="return")
        for address, program in found.items():
            if isinstance(program, ImportError | AttributeError):
                raise ClusterError(
                    f"the worker {address} cannot run this program ({program}): install it there with the "
                    "extra `cluster`"
                )
            if not isinstance(program, Exception) and program != identity():
                raise ProgramMismatchError(
                    f"the worker {address} is {program}, and this command {identity()}: install the same "
                    "version on both; nothing was begun"
                )

    def look_around(self, memory: int, note: Callable[[str], None]) -> None:
        """While nothing is done: see whether a worker has so much memory, and say so if none has."""
        with suppress(OSError, TimeoutError):
            if self.client.status != "running":
                return  # who gave it tasks is told that they are lost
            offers = self._offers().values()
            now = time.monotonic()
            if max(offers, default=0) >= memory or self._missed is None:
                self._missed = now
            elif now - self._missed > _CONNECT_SECONDS:
                lack = f"no worker at {self._address} offers {memory:,} bytes of memory"
                note(f"{lack if offers else f'no workers at {self._address}'}: waiting for some")
                self._missed = now + 10 * _CONNECT_SECONDS

    def _offers(self) -> dict[str, int]:
        """By address, the bytes of memory that workers offer."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        return {address: int(worker["resources"].get(RESOURCE, 0)) for address, worker in workers.items()}


def _identity() -> str:
    return identity()
