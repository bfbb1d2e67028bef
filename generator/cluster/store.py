"""The store, where all machines of a cluster read and write files, and a worker's cache of it."""

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import fsspec
from fsspec.implementations.local import LocalFileSystem

from generator.cluster.settings import PATIENCE
from generator.errors import NO_ROOM, DamagedFileError, StoreError
from tablebase.tables.files import FileRecord, write_atomically

T = TypeVar("T")

_LONGEST_WAIT = 10.0
_PART = 1 << 22
_BE_READ = "be read"
_AT_ONCE = 16  # small files
_TRIAL = ".trial"
# What trying again does not mend.
_NO_USE: tuple[type[Exception], ...] = (ImportError, NotImplementedError, TypeError, ValueError)


class Store:
    """A folder of files at an fsspec address.

    Args:
        address: like `s3://bucket/folder`, or the path of a folder that all machines have. Kept as
            `address`, an absolute path where it is one.
        patience: seconds to go on trying for when it refuses.

    Raises:
        StoreError: there is nothing for such addresses; the message says what to install.
    """

    def __init__(self, address: str, patience: float = PATIENCE) -> None:
        self.address = address
        self._patience = patience
        try:
            self._fs, self._root = fsspec.url_to_fs(address)
        except (ImportError, ValueError) as error:
            raise StoreError(f"{address} is no address of a store: {error}") from None
        self.is_local = isinstance(self._fs, LocalFileSystem)
        if self.is_local:
            self.address = self._root  # whole: workers are elsewhere, and a relative one would be another
        elif not self._root.strip("/"):
            raise StoreError(f"{address} is no address of a store: it names no bucket or folder")

    @property
    def directory(self) -> Path:
        """The folder of a local store."""
        return Path(self._root)

    def make(self) -> None:
        """Make the folder, where there are folders; elsewhere, see whether it can be written to.

        Raises:
            StoreError: it cannot.
        """
        if self.is_local:
            self._patiently("be made", lambda: self._fs.makedirs(self._root, exist_ok=True))
        else:
            self.write(_TRIAL, b"")
            self.remove([_TRIAL])

    def sizes(self) -> dict[str, int]:
        """The files there by name (of those in folders, with these), with their sizes in bytes.

        Raises:
            StoreError: the store refuses; a part of the list would be taken for all there is.
        """
        if self.is_local:
            return self._patiently("be listed", lambda: _sizes_in(self.directory))

        def find() -> dict[str, int]:
            self._fs.invalidate_cache()
            found: dict[str, Any] = self._fs.find(self._root, detail=True)
            start = len(self._root.rstrip("/")) + 1
            return {path[start:]: int(entry["size"]) for path, entry in found.items()}

        try:
            return self._patiently("be listed", find, FileNotFoundError)
        except FileNotFoundError:
            return {}  # where there are no folders, one without files is not there

    def read_all(self, names: Iterable[str]) -> list[bytes | None]:
        """Several small files at once; None for those that are not there."""

        def read(name: str) -> bytes | None:
            try:
                return self.read(name)
            except FileNotFoundError:
                return None

        with ThreadPoolExecutor(_AT_ONCE) as threads:
            return list(threads.map(read, names))

    def read(self, name: str, end: int | None = None) -> bytes:
        """A file, or what stands before `end` in it.

        Raises:
            FileNotFoundError: it is not there.
            StoreError: the store refuses.
        """
        found: bytes = self._patiently(
            _BE_READ, lambda: self._fs.cat_file(self._at(name), end=end), FileNotFoundError
        )
        return found

    def write(self, name: str, content: bytes) -> None:
        """Write a small file, whole or not at all.

        Raises:
            StoreError: the store refuses.
        """
        if self.is_local:
            path = Path(self._at(name))
            self._patiently("be written to", lambda: self._write_here(path, [content]))
        else:
            self._patiently("be written to", lambda: self._fs.pipe_file(self._at(name), content))

    def create(self, name: str, content: bytes) -> bool:
        """Write a small file that is not there yet; False where it is.

        Raises:
            StoreError: the store refuses.
        """

        def create() -> bool:
            try:
                self._fs.pipe_file(self._at(name), content, mode="create")
            except FileExistsError:
                return False
            except OSError:  # not every S3 server says what it is that stands in the way
                self._fs.invalidate_cache()
                if self._fs.exists(self._at(name)):
                    return False
                raise
            return True

        return self._patiently("be written to", create)

    def put(self, path: Path, name: str) -> FileRecord:
        """Copy a local file there; returns its size and SHA-256.

        Raises:
            StoreError: the store refuses.
        """
        if self.is_local:
            there = Path(self._at(name))
            return self._patiently("be written to", lambda: self._write_here(there, _parts(path)))
        self._patiently("be written to", lambda: self._fs.put_file(str(path), self._at(name)))
        digest = hashlib.sha256()
        for part in _parts(path):
            digest.update(part)
        return FileRecord(path.stat().st_size, digest.hexdigest())

    def get(self, name: str, path: Path) -> None:
        """Copy a file from there.

        Raises:
            FileNotFoundError: it is not there.
            StoreError: the store refuses.
        """
        self._patiently(_BE_READ, lambda: self._fs.get_file(self._at(name), str(path)), FileNotFoundError)

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that are not there are no matter.

        Raises:
            StoreError: the store refuses.
        """

        def remove(name: str) -> None:
            with suppress(FileNotFoundError):
                self._fs.rm_file(self._at(name))

        with ThreadPoolExecutor(_AT_ONCE) as threads:
            list(threads.map(lambda name: self._patiently("be written to", partial(remove, name)), names))

    def _at(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"

    @staticmethod
    def _write_here(path: Path, parts: Iterable[bytes]) -> FileRecord:
        path.parent.mkdir(parents=True, exist_ok=True)
        return write_atomically(path, parts)

    def _patiently(self, what: str, action: Callable[[], T], *answers: type[Exception]) -> T:
        """Do it, again and again while the store refuses; some exceptions are `answers`, too.

        Raises:
            StoreError: it has refused for too long.
        """
        until = time.monotonic() + self._patience
        wait = 0.5
        while True:
            try:
                return action()
            except answers:
                raise
            except Exception as error:  # every kind of store has its own
                if what == _BE_READ and isinstance(error, OSError) and error.errno in NO_ROOM:
                    raise  # it is this machine that is full
                if isinstance(error, _NO_USE) or time.monotonic() + wait > until:
                    tried = (
                        f" (tried for {self._patience:.0f} s); what is finished is kept: mend it, then run "
                        "the same command to go on"
                    )
                    raise StoreError(
                        f"{self.address} cannot {what}: {type(error).__name__}: {error}"
                        f"{tried if self._patience else ''}"
                    ) from error
            time.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)


def _parts(path: Path) -> Iterable[bytes]:
    with path.open("rb") as file:
        while part := file.read(_PART):
            yield part


def checksum(path: Path) -> str:
    """The SHA-256 of a local file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sizes_in(folder: Path) -> dict[str, int]:
    """What `Store.sizes` finds in a folder. (fsspec passes over what it cannot read.)"""

    def refuse(error: OSError) -> None:
        raise error

    found = {}
    for parent, _, names in os.walk(folder, onerror=refuse):
        for name in names:
            path = Path(parent, name)
            with suppress(FileNotFoundError):  # renamed or removed meanwhile
                found[path.relative_to(folder).as_posix()] = path.stat().st_size
    return found


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
