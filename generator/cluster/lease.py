"""The lease of a store, for one command at a time, and the run marker, which names whose run writes.

In a local folder the system's lock says so. Elsewhere a file does, whose holder writes it anew every so
often: one that stands unchanged for long enough was left by a command that is no more.

A worker looks for it before it begins a task, and before each file that it leaves. So one that sees another
folder of the same path, or that is still at work for a run of other settings, puts nothing where it does not
belong.
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
from generator.errors import BusyError, StoreError, StoreMismatchError
from generator.lock import FILE_NAME, locked

RENEWED = 10.0
"""Seconds between two signs of life."""
STALE = 45.0
"""Seconds without one after which the holder is taken to be gone."""


class Lease:
    """A store's lock file, held.

    Attributes:
        lost: whether somebody else has taken it.
    """

    def __init__(self, store: Store, renewed: float = RENEWED) -> None:
        self._store = Store(store.address, 0)  # it comes back to it; and nobody is to wait for its end
        self._renewed = renewed
        self._holder = f"process {os.getpid()} on {socket.gethostname()}"
        self._mark = uuid.uuid4().hex
        self._count = 0
        self._done = threading.Event()
        self.lost = False
        self.thread = threading.Thread(target=self._renew, daemon=True)

    def content(self) -> bytes:
        """The next sign of life."""
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
                pass  # it refuses everybody

    def end(self) -> None:
        """Let go of it."""
        self._done.set()
        if self.thread.is_alive():
            self.thread.join()
        with suppress(StoreError):  # what has happened before is the news
            if not self.lost and self._is_mine():
                self._store.remove([FILE_NAME])


@contextmanager
def held(
    store: Store,
    renewed: float = RENEWED,
    stale: float = STALE,
    note: Callable[[str], object] = lambda text: None,
) -> Iterator[Lease | None]:
    """Hold the lock of a store.

    Args:
        store: the store.
        renewed: see RENEWED.
        stale: see STALE.
        note: is told why it takes a while.

    Raises:
        BusyError: another command holds it.
        StoreError: the store refuses.
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
            raise BusyError(
                f"another run ({_holder(found)}) is generating in {store.address}; wait for it, stop it, or "
                "name another store"
            )
        if seen is None:
            note(
                f"{store.address} has the lock of another run ({_holder(found)}): waiting for up to "
                f"{stale:.0f} s to see whether that is at work"
            )
        seen = found
        if time.monotonic() > until:
            store.remove([FILE_NAME])  # its holder is gone
            continue
        time.sleep(min(1.0, stale / 10))


def _holder(content: bytes) -> str:
    try:
        return str(json.loads(content)["holder"])
    except (ValueError, KeyError, TypeError):
        return "unknown"


CLAIM = f"{FOLDER}/run"


def claimed(store: Store, digest: str) -> str:
    """Claim a store for runs of these settings; what is to be found there from now on.

    What a run of the same settings had there, which was killed, stays: its tasks may end what they are at.
    """
    found = _found(store)
    if found is None or not found.startswith(f"{digest}-"):
        found = f"{digest}-{uuid.uuid4().hex}"
        claim_again(store, found)
    return found


def claim_again(store: Store, claim: str) -> None:
    """Put it there."""
    store.write(CLAIM, claim.encode())


def is_claimed(store: Store, claim: str) -> bool:
    """Whether a store is in these hands."""
    return _found(store) == claim


def check_claim(store: Store, claim: str, patience: float) -> None:
    """See that this machine has the store of a run before it. What is new in a network's folder may be some
    seconds late.

    Raises:
        StoreMismatchError: it has not, or the run has come to its end.
    """
    until = time.monotonic() + patience
    while (found := _found(store)) != claim:
        if found is None and time.monotonic() < until:
            time.sleep(0.5)
            continue
        raise StoreMismatchError(
            f"the worker on {socket.gethostname()} does not find in {store.address} what this command has "
            "written there: name a store that all machines have at the same address, with --store"
        )


def _found(store: Store) -> str | None:
    with suppress(FileNotFoundError):
        return store.read(CLAIM).decode("ascii", "replace")
    return None
