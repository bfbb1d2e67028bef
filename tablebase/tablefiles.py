"""Which files of a directory are tables, by their names."""

from __future__ import annotations

from pathlib import Path

from tablebase.datadir import generate_command
from tablebase.errors import MaterialError, NotATableError
from tablebase.format import Metric
from tablebase.material import Material

TableKey = tuple[Material, Metric]
"""What one table is about."""


def no_directory(path: Path) -> str:
    """What to say of a path that is no directory."""
    if path.exists():
        return f"{path} is no directory; name one that holds tables"
    return f"{path} is no directory; make tables there with {generate_command(path)}, or name another one"


def check_is_file(path: Path) -> None:
    """Raises NotATableError for what has the name of a table but is no file."""
    if path.is_file():
        return
    if path.is_dir():
        what = "a directory"
    elif path.is_symlink() and not path.exists():
        what = "a link that leads nowhere"
    else:
        what = "no ordinary file"
    raise NotATableError(
        f"{path} has the name of a table but is {what}; "
        f"remove it, and make the table with {generate_command(path.parent)}"
    )


def table_of(file: Path) -> TableKey | None:
    """Which table a file is, by its name; None for other files."""
    try:
        return Material.parse(file.stem), Metric(file.suffix.removeprefix("."))
    except (MaterialError, ValueError):
        return None
