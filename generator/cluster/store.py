"""The store, where all machines of a cluster read and write files, and a worker's cache of its files."""

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
_THREADS = 16  # for small files
_TRIAL = ".trial"
# Errors that a retry cannot fix.
_NO_USE: tuple[type[Exception], ...] = (ImportError, NotImplementedError, TypeError, ValueError)


class Store:
    """A folder of files at an fsspec address.

    Args:
        address: an address like `s3://bucket/folder`, or the path of a folder that all machines share.
        patience: seconds to retry a failed operation.

    Attributes:
        address: the address; the absolute path of a local folder.
        is_local: whether the store is a local folder.

    Raises:
        StoreError: the address is invalid, or no installed package handles it.
    """

    def __init__(self, address: str, patience: float = PATIENCE) -> None:
        self.address = address
        self._patience = patience
        try:
            self._fs, self._root = fsspec.url_to_fs(address)
        except (ImportError, ValueError) as error:
            raise StoreError(f"{address} is not the address of a store: {error}") from None
        self.is_local = isinstance(self._fs, LocalFileSystem)
        if self.is_local:
            self.address = self._root  # absolute: workers run in other folders
        elif not self._root.strip("/"):
            raise StoreError(f"{address} is not the address of a store: it names no bucket or folder")

    @property
    def directory(self) -> Path:
        """The path of a local store."""
        return Path(self._root)

    def make(self) -> None:
        """Make the folder of a local store; check that another store can be written to.

        Raises:
            StoreError: the folder cannot be made, or the store cannot be written to.
        """
        if self.is_local:
            self._patiently("be made", lambda: self._fs.makedirs(self._root, exist_ok=True))
        else:
            self.write(_TRIAL, b"")
            self.remove([_TRIAL])

    def sizes(self) -> dict[str, int]:
        """Return the sizes of all files in bytes, by name; names of files in folders include the folders.

        Raises:
            StoreError: the store cannot be listed completely.
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
            return {}  # object stores have no empty folders

    def read_all(self, names: Iterable[str]) -> list[bytes | None]:
        """Read several small files at once; None stands for a missing file.

        Raises:
            StoreError: the store cannot be read.
        """

        def read(name: str) -> bytes | None:
            try:
                return self.read(name)
            except FileNotFoundError:
                return None

        with ThreadPoolExecutor(_THREADS) as threads:
            return list(threads.map(read, names))

    def read(self, name: str, end: int | None = None) -> bytes:
        """Read a file, or its first `end` bytes.

        Raises:
            FileNotFoundError: the file is missing.
            StoreError: the store cannot be read.
        """
        found: bytes = self._patiently(
            _BE_READ, lambda: self._fs.cat_file(self._at(name), end=end), FileNotFoundError
        )
        return found

    def write(self, name: str, content: bytes) -> None:
        """Write a small file atomically.

        Raises:
            StoreError: the store cannot be written to.
        """
        if self.is_local:
            path = Path(self._at(name))
            self._patiently("be written to", lambda: self._write_here(path, [content]))
        else:
            self._patiently("be written to", lambda: self._fs.pipe_file(self._at(name), content))

    def create(self, name: str, content: bytes) -> bool:
        """Create a small file; return False if it exists.

        Raises:
            StoreError: the store cannot be written to.
        """

        def create() -> bool:
            try:
                self._fs.pipe_file(self._at(name), content, mode="create")
            except FileExistsError:
                return False
            except OSError:  # some S3 servers do not say that the file exists
                self._fs.invalidate_cache()
                if self._fs.exists(self._at(name)):
                    return False
                raise
            return True

        return self._patiently("be written to", create)

    def put(self, path: Path, name: str) -> FileRecord:
        """Copy a local file to the store; return its size and SHA-256.

        Raises:
            StoreError: the store cannot be written to.
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
        """Copy a file from the store to a local path.

        Raises:
            FileNotFoundError: the file is missing from the store.
            StoreError: the store cannot be read.
            OSError: the local disk is full.
        """
        self._patiently(_BE_READ, lambda: self._fs.get_file(self._at(name), str(path)), FileNotFoundError)

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; missing files are ignored.

        Raises:
            StoreError: the store cannot be written to.
        """

        def remove(name: str) -> None:
            with suppress(FileNotFoundError):
                self._fs.rm_file(self._at(name))

        with ThreadPoolExecutor(_THREADS) as threads:
            list(threads.map(lambda name: self._patiently("be written to", partial(remove, name)), names))

    def _at(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"

    @staticmethod
    def _write_here(path: Path, parts: Iterable[bytes]) -> FileRecord:
        path.parent.mkdir(parents=True, exist_ok=True)
        return write_atomically(path, parts)

    def _patiently(self, what: str, action: Callable[[], T], *answers: type[Exception]) -> T:
        """Call `action` and return its result; retry it while the store fails.

        Args:
            what: what the store is to do, for the error message, like "be read".
            action: the operation.
            answers: exceptions that are answers of the store, not failures; they are passed on.

        Raises:
            StoreError: the operation failed for `patience` seconds, or a retry cannot help.
        """
        until = time.monotonic() + self._patience
        wait = 0.5
        while True:
            try:
                return action()
            except answers:
                raise
            except Exception as error:  # each kind of store has its own exceptions
                if what == _BE_READ and isinstance(error, OSError) and error.errno in NO_ROOM:
                    raise  # this machine's disk is full, not the store
                if isinstance(error, _NO_USE) or time.monotonic() + wait > until:
                    tried = (
                        f" (tried for {self._patience:.0f} s); finished work is kept: repair the store, "
                        "then run the same command to continue"
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
    """Return the SHA-256 of a local file, in hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sizes_in(folder: Path) -> dict[str, int]:
    """Return what `Store.sizes` returns, for a local folder; fsspec would skip what it cannot read."""

    def refuse(error: OSError) -> None:
        raise error

    found = {}
    for parent, _, names in os.walk(folder, onerror=refuse):
        for name in names:
            path = Path(parent, name)
            with suppress(FileNotFoundError):  # renamed or removed meanwhile
                found[path.relative_to(folder).as_posix()] = path.stat().st_size
    return found


_TRIES = 2  # a file that arrives damaged is fetched once more


class FileCache:
    """Copies of files of a store on this machine's disk.

    Args:
        directory: the folder of the copies; no other process may use it.
        limit: bytes of disk for all copies. The files of one task are kept even beyond the limit.

    Attributes:
        fetched: bytes fetched from the store.
    """

    def __init__(self, directory: Path, limit: int) -> None:
        self._directory = directory
        self._limit = limit
        self._wanted: set[Path] = set()
        self._lock = threading.Lock()
        self.fetched = 0
        directory.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def task(self) -> Iterator[None]:
        """Keep all files that are fetched during the block until its end."""
        self._wanted.clear()
        try:
            yield
        finally:
            self._wanted.clear()

    def fetch(self, store: Store, name: str, record: FileRecord) -> Path:
        """Return the path of a copy of a file of the store: a checked one, fetched if necessary.

        Several threads may call this at once, for different files.

        Args:
            store: the store.
            name: the name of the file in the store.
            record: the size and SHA-256 of the file.

        Raises:
            DamagedFileError: the file in the store is missing, or is not what was written.
            StoreError: the store cannot be read.
            OSError: the local disk is full.
        """
        # The name has the checksum, so that a file that was made again in the store is another copy.
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
                raise DamagedFileError(name, "it is missing from the store") from None
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
            raise DamagedFileError(name, f"it has {size} bytes, and {record.size} were written")
        raise DamagedFileError(name, "its SHA-256 is not that of the written file")

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
