"""Where the tables live."""

import os
import tomllib
from pathlib import Path

import platformdirs

ENVIRONMENT_VARIABLE = "SHASHKI_DATA"
_PROJECT = "shashki-tablebase"


def data_directory(option: Path | str | None = None) -> Path:
    """The data directory: the first of `option` (`--data`), `$SHASHKI_DATA`, `data/` of the checkout of this
    project that the current directory stands in, and the user's own data directory.

    Nothing is created, and it need not be there.
    """
    if option is not None:
        return Path(option)
    if from_environment := os.environ.get(ENVIRONMENT_VARIABLE):
        return Path(from_environment)
    here = Path.cwd()
    for folder in (here, *here.parents):
        if _is_checkout(folder):
            return folder / "data"
    return Path(platformdirs.user_data_dir("shashki"))


def _is_checkout(folder: Path) -> bool:
    """Whether a folder is a checkout of this very project."""
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # no such file, not readable, or no TOML: not ours in any case
        return False
    section = project.get("project")
    return isinstance(section, dict) and section.get("name") == _PROJECT
