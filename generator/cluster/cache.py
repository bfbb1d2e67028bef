"""What a worker has fetched from the store: kept on its disk within a limit, checked whenever it is used."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from generator.cluster.errors import DamagedFileError
from generator.cluster.store import Store, checksum
from tablebase.atomicfile import FileRecord

_TRIES = 2  # what is damaged on its way is fetched once more


class Cache:
    """Files of a store on this machine.

    Args:
        directory: where they are kept; of one process alone.
        limit: bytes that they may take. What one task needs at once is kept, whatever it takes.
    """

    def __init__(self, directory: Path, limit: int) -> None:
        self._directory = directory
        self._limit = limit
        self._wanted: set[Path] = set()
        self._lock = threading.Lock()
        self.fetched = 0
        """Bytes that have been fetched from the store."""
        directory.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def task(self) -> Iterator[None]:
        """While a task runs, all that it asks for stays."""
        self._wanted.clear()
        try:
            yield
        finally:
            self._wanted.clear()

    def fetch(self, store: Store, name: str, record: FileRecord) -> Path:
        """A file of the store, by its record: fetched, if it is not here, and checked in any case. Any number
        of threads may ask, for a file each.

        Raises:
            DamagedFileError: what the store has of this name is not what was written there, or not there.
            StoreError: the store refuses.
            OSError: there is no room here.
        """
        # By what it holds: what has been made anew in the store is another file here.
        path = self._directory / f"{record.sha256[:16]}-{name.rpartition('/')[2]}"
        with self._lock:
            self._wanted.add(path)
        if path.exists() and self._is_good(path, record):
            os.utime(path)
            return path
        with self._lock:
            self._make_room(record.size)
        for _ in range(_TRIES):
            try:
                store.get(name, path)
            except FileNotFoundError:
                raise DamagedFileError(name, "it is not there any more") from None
            except BaseException:
                path.unlink(missing_ok=True)
                raise
            with self._lock:
                self.fetched += record.size
            if self._is_good(path, record):
                return path
        size = path.stat().st_size
        path.unlink()
        if size != record.size:
            raise DamagedFileError(name, f"it has {size} bytes, where {record.size} were written")
        raise DamagedFileError(name, "its SHA-256 is not that of what was written")

    @staticmethod
    def _is_good(path: Path, record: FileRecord) -> bool:
        return path.stat().st_size == record.size and checksum(path) == record.sha256

    def _make_room(self, size: int) -> None:
        files = []
        for path in self._directory.iterdir():
            with suppress(FileNotFoundError):
                status = path.stat()
                files.append((status.st_mtime, status.st_size, path))
        total = size + sum(each for _, each, _ in files)
        for _, each, path in sorted(files):
            if total <= self._limit:
                return
            if path not in self._wanted:
                path.unlink(missing_ok=True)
                total -= each
