"""One writer a data directory."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from generator.errors import BusyError

FILE_NAME = ".lock"


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the directory's lock. The system lets go of it when the process ends, however it ends; the file
    stays.

    Raises:
        BusyError: another process holds it.
    """
    with (directory / FILE_NAME).open("a+", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read(32).strip()
            raise BusyError(
                f"another run{f' (process {holder})' if holder else ''} is generating in {directory}; "
                "wait for it, stop it, or name another directory with --data"
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield
