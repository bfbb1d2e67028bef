"""The lock of a data directory, so that one run at a time writes there."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from generator.errors import StoreBusyError

FILE_NAME = ".lock"


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the lock of a directory.

    The system releases the lock when the process ends, even if it is killed. The lock file stays.

    Raises:
        StoreBusyError: another process holds the lock.
        OSError: the lock file cannot be opened.
    """
    with (directory / FILE_NAME).open("a+", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read(32).strip()
            raise StoreBusyError(
                f"another run{f' (process {holder})' if holder else ''} is generating in {directory}; "
                "wait for it, stop it, or name another directory with --data"
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield
