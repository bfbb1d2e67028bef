"""Where the tables live."""

import os
import shlex
import tomllib
from pathlib import Path

import platformdirs

from tablebase.errors import DataDirectoryError

ENVIRONMENT_VARIABLE = "SHASHKI_DATA"
_PROJECT = "shashki-tablebase"


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


def generate_command(directory: Path, pieces: int | None = None) -> str:
    """The command that makes tables in a directory, in the quotes in which messages have commands."""
    number = "" if pieces is None else f" --pieces {pieces}"
    return f"`shashki generate{number} --data {shlex.quote(str(directory))}`"


def _is_checkout(folder: Path) -> bool:
    """Whether a folder is a checkout of this very project."""
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # no such file, not readable, or no TOML: not ours in any case
        return False
    section = project.get("project")
    return isinstance(section, dict) and section.get("name") == _PROJECT
