"""The data directory, and files that are written whole or not at all."""

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
_MANIFEST = (
    "manifest.json"  # read by hand here: tablebase/tables/manifest.py takes its messages from this file
)


def data_directory(option: Path | str | None = None) -> Path:
    """The data directory: the first of `option` (`--data`), `$SHASHKI_DATA`, `data/` of the checkout of this
    project that the current directory stands in, and the user's own data directory.

    Nothing is created, and it need not be there.

    Raises:
        DataDirectoryError: the option is an empty text.
    """
    if option == "":
        raise DataDirectoryError(
            "the name of the data directory is empty; name one, or leave --data away for the usual one"
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
    """The command that makes tables in a directory, in the quotes in which messages have commands: of the
    kind that is there already, if its manifest tells.

    Args:
        directory: the directory.
        pieces: the most pieces; None for the usual number.
        material: one material, with all that it leads to, instead of all of so many pieces.
    """
    wanted = "" if pieces is None else f" --pieces {pieces}"
    if material is not None:
        wanted = f" --materials {material}"
    return f"`shashki generate{wanted}{_kind(directory)} --data {shlex.quote(str(directory))}`"


def _kind(directory: Path) -> str:
    """The options that make tables of the kind that is there, where those are not the usual ones."""
    path = directory / _MANIFEST
    try:
        status = path.stat()
    except OSError:
        return ""
    return _kind_told(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def _kind_told(path: Path, mtime_ns: int, size: int) -> str:
    """As a manifest tells it. Read once while it stays as it is: a search that looks up what no table has
    makes this message again and again."""
    try:
        manifest = json.loads(path.read_bytes())
        ruleset = manifest["ruleset"]["name"]
        there = {metric for entry in manifest["materials"].values() for metric in entry["files"]}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return ""  # it is damaged
    options = "" if ruleset == "official" else f" --ruleset {shlex.quote(str(ruleset))}"
    if there and "dtw" not in there:
        options += f" --metrics {','.join(metric for metric in ('wdl', 'dtc', 'dtb') if metric in there)}"
    return options


def _is_checkout(folder: Path) -> bool:
    """Whether a folder is a checkout of this very project."""
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # no such file, not readable, or no TOML: not ours in any case
        return False
    section = project.get("project")
    return isinstance(section, dict) and section.get("name") == _PROJECT


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
