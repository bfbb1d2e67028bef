"""Writing a file so that a reader sees all of it or none of it."""

import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

TEMPORARY_SUFFIX = ".tmp"
"""What a file in the making ends with; one left behind by a killed process may be deleted."""


class FileRecord(NamedTuple):
    """What a manifest keeps of a file: its size in bytes and its SHA-256, in hexadecimal."""

    size: int
    sha256: str


def write_atomically(path: Path, parts: Iterable[bytes]) -> FileRecord:
    """Write `parts` one after another to a temporary name beside `path`, sync it, and rename it to `path`.

    Raises:
        OSError: the file cannot be written, e.g. on a full disk; nothing is left behind then, and what was at
            `path` before still is.
    """
    # Two writers that have not heard of each other, on other machines even, do not share a name.
    mark = f"{os.getpid()}-{secrets.token_hex(4)}"
    temporary = path.with_name(f"{path.name}.{mark}{TEMPORARY_SUFFIX}")
    digest = sha256()
    size = 0
    try:
        with temporary.open("wb") as file:
            for part in parts:
                file.write(part)
                digest.update(part)
                size += len(part)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        # Of a full disk the system says no name; and nobody has asked for a file of the temporary one.
        if isinstance(error, OSError) and error.filename in (None, str(temporary)):
            raise OSError(error.errno, error.strerror or str(error), str(path)) from error
        raise
    _sync_folder(path.parent)
    return FileRecord(size, digest.hexdigest())


def _sync_folder(folder: Path) -> None:
    """Make a rename in `folder` last through a power cut; only POSIX systems can be asked to."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
