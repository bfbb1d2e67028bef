"""The lease of a store, held by one command at a time, and the run marker, which names the writing run.

The lease of a local folder is a lock of the system. The lease of another store is a file that its holder
rewrites every few seconds. A file that does not change for long enough was left by a killed command.

The run marker is a small file in the store. A worker checks it before a task and before each file that it
writes. So a worker that sees another folder at the same path, or that still works for another run, writes
nothing.
"""

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from generator.cluster.store import Store
from generator.cluster.tasks import FOLDER
from generator.errors import StoreBusyError, StoreError, StoreMismatchError
from generator.lock import FILE_NAME, locked

RENEWED = 10.0
"""Seconds between two renewals of a lease."""
STALE = 45.0
"""Seconds without a renewal after which a lease has run out."""


class Lease:
    """Lease of a store, as a file that a thread rewrites.

    Args:
        store: the store.
        renewed: seconds between two renewals.

    Attributes:
        lost: whether another command has taken over the lease.
        thread: the thread that renews the lease; not started yet.
    """

    def __init__(self, store: Store, renewed: float = RENEWED) -> None:
        self._store = Store(store.address, 0)  # no retries: the next renewal is one, and `end` must not wait
        self._renewed = renewed
        self._holder = f"process {os.getpid()} on {socket.gethostname()}"
        self._mark = uuid.uuid4().hex
        self._count = 0
        self._done = threading.Event()
        self.lost = False
        self.thread = threading.Thread(target=self._renew, daemon=True)

    def content(self) -> bytes:
        """Return the content of the file for the next renewal."""
        self._count += 1
        return json.dumps({"holder": self._holder, "mark": self._mark, "count": self._count}).encode()

    def _is_mine(self) -> bool:
        try:
            return bool(json.loads(self._store.read(FILE_NAME))["mark"] == self._mark)
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return False

    def _renew(self) -> None:
        while not self._done.wait(self._renewed):
            try:
                self.lost = not self._is_mine()
                if self.lost:
                    return
                self._store.write(FILE_NAME, self.content())
            except StoreError:
                pass  # no other command can write to the store either

    def end(self) -> None:
        """Stop renewing the lease, and remove its file."""
        self._done.set()
        if self.thread.is_alive():
            self.thread.join()
        with suppress(StoreError):  # do not hide the error that ends the run
            if not self.lost and self._is_mine():
                self._store.remove([FILE_NAME])


@contextmanager
def held(
    store: Store,
    renewed: float = RENEWED,
    stale: float = STALE,
    note: Callable[[str], object] = lambda text: None,
) -> Iterator[Lease | None]:
    """Hold the lease of a store during the block; yield None for a local folder, which has a lock.

    Args:
        store: the store.
        renewed: see RENEWED.
        stale: see STALE.
        note: called with the reason for waiting.

    Raises:
        StoreBusyError: another command holds the lease.
        StoreError: the store cannot be read or written.
    """
    if store.is_local:
        with locked(store.directory):
            yield None
        return
    lease = Lease(store, renewed)
    _take(store, lease, stale, note)
    lease.thread.start()
    try:
        yield lease
    finally:
        lease.end()


def _take(store: Store, lease: Lease, stale: float, note: Callable[[str], object]) -> None:
    until = time.monotonic() + stale
    seen: bytes | None = None
    while not store.create(FILE_NAME, lease.content()):
        try:
            found = store.read(FILE_NAME)
        except FileNotFoundError:
            continue
        if seen is not None and found != seen:
            raise StoreBusyError(
                f"another run ({_holder(found)}) is generating in {store.address}; wait for it, stop it, or "
                "name another store with --store"
            )
        if seen is None:
            note(
                f"{store.address} has the lock of another run ({_holder(found)}): waiting up to "
                f"{stale:.0f} s to see whether that run is still active"
            )
        seen = found
        if time.monotonic() > until:
            store.remove([FILE_NAME])  # the lease has run out
            continue
        time.sleep(min(1.0, stale / 10))


def _holder(content: bytes) -> str:
    try:
        return str(json.loads(content)["holder"])
    except (ValueError, KeyError, TypeError):
        return "unknown"


RUN_MARKER = f"{FOLDER}/run"
"""The name of the run marker in the store."""


def mark_run(store: Store, digest: str) -> str:
    """Write the run marker for a run, and return its content.

    A marker of a killed run with the same settings stays, so that workers may finish the tasks of that run.

    Args:
        store: the store.
        digest: digest of the settings of the run.
    """
    marker = _read_run_marker(store)
    if marker is None or not marker.startswith(f"{digest}-"):
        marker = f"{digest}-{uuid.uuid4().hex}"
        write_run_marker(store, marker)
    return marker


def write_run_marker(store: Store, marker: str) -> None:
    """Write the run marker `marker` to the store."""
    store.write(RUN_MARKER, marker.encode())


def has_run_marker(store: Store, marker: str) -> bool:
    """Whether the store has the run marker `marker`."""
    return _read_run_marker(store) == marker


def check_run_marker(store: Store, marker: str, patience: float) -> None:
    """Check that this machine sees the store of a run, which has the run marker `marker`.

    Args:
        store: the store.
        marker: the run marker.
        patience: seconds to wait for a missing marker: new files in a network folder may show up late.

    Raises:
        StoreMismatchError: the marker is missing or another one, or the run has ended.
        StoreError: the store cannot be read.
    """
    until = time.monotonic() + patience
    while (found := _read_run_marker(store)) != marker:
        if found is None and time.monotonic() < until:
            time.sleep(0.5)
            continue
        raise StoreMismatchError(
            f"the worker on {socket.gethostname()} does not find the file {RUN_MARKER} of this command in "
            f"{store.address}: name a store that all machines reach at the same address, with --store"
        )


def _read_run_marker(store: Store) -> str | None:
    with suppress(FileNotFoundError):
        return store.read(RUN_MARKER).decode("ascii", "replace")
    return None
