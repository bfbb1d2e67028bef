"""Whose run a store is in the hands of: a small file in its folder for what tasks leave.

A worker looks for it before it begins a task, and before each file that it leaves. So one that sees another
folder of the same path, or that is still at work for a run of other settings, puts nothing where it does not
belong.
"""

import socket
import time
import uuid
from contextlib import suppress

from generator.cluster.errors import OtherStoreError
from generator.cluster.record import FOLDER
from generator.cluster.store import Store

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
        OtherStoreError: it has not, or the run has come to its end.
    """
    until = time.monotonic() + patience
    while (found := _found(store)) != claim:
        if found is None and time.monotonic() < until:
            time.sleep(0.5)
            continue
        raise OtherStoreError(
            f"the worker on {socket.gethostname()} does not find in {store.address} what this command has "
            "written there: name a store that all machines have at the same address, with --store"
        )


def _found(store: Store) -> str | None:
    with suppress(FileNotFoundError):
        return store.read(CLAIM).decode("ascii", "replace")
    return None
