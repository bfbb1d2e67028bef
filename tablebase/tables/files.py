"""The data directory, and files that are written completely or not at all."""

import json
import os
import secrets
import shlex
import tomllib
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import platformdirs

from tablebase.errors import DataDirectoryError

ENVIRONMENT_VARIABLE = "SHASHKI_DATA"
_PROJECT = "shashki-tablebase"
# Read directly here: tablebase/tables/manifest.py imports this module for its messages.
_MANIFEST = "manifest.json"


def data_directory(option: Path | str | None = None) -> Path:
    """Return the data directory, which need not exist.

    It is the first of these: `option`; the environment variable `SHASHKI_DATA`; `data/` in the checkout of
    this project that contains the current directory; the user's data directory of the system.

    Args:
        option: the value of `--data`; None if it is not given.

    Raises:
        DataDirectoryError: the option is an empty text.
    """
    if option == "":
        raise DataDirectoryError(
            "the name of the data directory is empty; name a directory, or omit --data to use the default"
        )
    if option is not None:
        return Path(option)
    if from_environment := os.environ.get(ENVIRONMENT_VARIABLE):
        return Path(from_environment)
    here = Path.cwd()
    for folder in (here, *here.parents):
        if _is_checkout(folder):
            return folder / "data"
    return Path(platformdirs.user_data_dir("shashki"))


def generate_command(directory: Path, pieces: int | None = None, material: str | None = None) -> str:
    """Return the command that makes tables in a directory, in backquotes for messages.

    If the directory has a manifest, the command has the options for the same ruleset and metrics.

    Args:
        directory: the directory.
        pieces: the value of `--pieces`; None for its default.
        material: the value of `--materials`, which replaces `--pieces`; None for all materials.
    """
    wanted = "" if pieces is None else f" --pieces {pieces}"
    if material is not None:
        wanted = f" --materials {material}"
    return f"`shashki generate{wanted}{_kind(directory)} --data {shlex.quote(str(directory))}`"


def _kind(directory: Path) -> str:
    """Return the options for the ruleset and metrics in a directory's manifest; empty for the defaults."""
    path = directory / _MANIFEST
    try:
        status = path.stat()
    except OSError:
        return ""
    return _kind_in(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def _kind_in(path: Path, mtime_ns: int, size: int) -> str:
    """Return the options for the ruleset and metrics of a manifest.

    They are cached while the file does not change, because a search may make the message for a missing table
    many times.
    """
    try:
        manifest = json.loads(path.read_bytes())
        ruleset = manifest["ruleset"]["name"]
        metrics = {metric for entry in manifest["materials"].values() for metric in entry["files"]}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return ""  # a damaged manifest
    options = "" if ruleset == "official" else f" --ruleset {shlex.quote(str(ruleset))}"
    if metrics and "dtw" not in metrics:
        options += f" --metrics {','.join(metric for metric in ('wdl', 'dtc', 'dtb') if metric in metrics)}"
    return options


def _is_checkout(folder: Path) -> bool:
    """Whether a folder is a checkout of this project."""
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # the file is missing, not readable or not TOML
        return False
    section = project.get("project")
    return isinstance(section, dict) and section.get("name") == _PROJECT


TEMPORARY_SUFFIX = ".tmp"
"""Ending of the name of an unfinished file. A file that a killed process has left may be deleted."""


class FileRecord(NamedTuple):
    """Size of a file in bytes and its SHA-256 in hexadecimal, as a manifest has them."""

    size: int
    sha256: str


def write_atomically(path: Path, parts: Iterable[bytes]) -> FileRecord:
    """Write a file completely or not at all, and return its size and SHA-256.

    The parts are written one after another to a temporary file beside `path`, which is synced and renamed.

    Raises:
        OSError: the file cannot be written, e.g. on a full disk. The temporary file is removed, and a file
            that was at `path` before is still there.
    """
    # Two writers, perhaps on different machines, must not share a temporary file.
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
        # ENOSPC has no filename, and the caller does not know the temporary one: report the target.
        if isinstance(error, OSError) and error.filename in (None, str(temporary)):
            raise OSError(error.errno, error.strerror or str(error), str(path)) from error
        raise
    _sync_folder(path.parent)
    return FileRecord(size, digest.hexdigest())


def _sync_folder(folder: Path) -> None:
    """Sync a folder, so that a rename in it survives a power cut; possible on POSIX systems only."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
