"""The rooms of each package are on floors: a room imports only rooms below it, without a circle."""

import ast
import shutil
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from floors import FLOORS
from paths import ROOT

# `Position.from_fen` and `to_fen` import the notation when they are called; the notation makes positions.
LATE = {("tablebase.board.position", "tablebase.board.notation")}


def modules(root: Path, package: str) -> dict[str, Path]:
    """The modules of a package by name, without its sub-packages' empty `__init__` files."""
    found = {}
    for path in (root / package).rglob("*.py"):
        parts = path.relative_to(root).with_suffix("").parts
        if parts[-1] != "__init__":
            found[".".join(parts)] = path
    return found


def imported(path: Path, known: set[str]) -> Iterator[str]:
    """The known modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ({alias.name for alias in node.names} & known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ({f"{node.module}.{alias.name}" for alias in node.names} | {node.module}) & known


def faults(root: Path, package: str, floors: list[str]) -> list[str]:
    """The imports that run up or in a circle, and the rooms that are on no floor."""
    paths = modules(root, package)
    arrows = {name: set(imported(path, set(paths))) for name, path in paths.items()}
    found = []
    for name, targets in arrows.items():
        room = name.split(".")[1]
        if room not in floors:
            found.append(f"{name} is on no floor")
            continue
        for target in targets:
            below = target.split(".")[1]
            if below != room and below not in floors[: floors.index(room)]:
                found.append(f"{name} imports {target}, which is above it")
    try:
        graph = {a: {b for b in bs if (a, b) not in LATE} for a, bs in arrows.items()}
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found.append("a circle: " + " -> ".join(error.args[1]))
    return found


@pytest.mark.parametrize("package", FLOORS)
def test_rooms_import_only_rooms_below_them(package: str) -> None:
    assert faults(ROOT, package, FLOORS[package]) == []


@pytest.mark.parametrize("package", FLOORS)
def test_sub_packages_are_empty(package: str) -> None:
    """An import of a module loads no other module by way of its package."""
    for path in (ROOT / package).rglob("__init__.py"):
        if path.parent.parent != ROOT:
            body = ast.parse(path.read_text("utf-8")).body
            assert len(body) == 1, path
            assert isinstance(body[0], ast.Expr), path


@pytest.mark.parametrize(
    ("room", "line", "fault"),
    [
        ("board/material.py", "from tablebase.probe import line", "imports tablebase.probe.line,"),
        ("board/counters.py", "def f():\n    import tablebase.cli.main", "imports tablebase.cli.main,"),
        ("tables/files.py", "from tablebase.tables.table import Table", "a circle: "),
        ("attic/old.py", "", "tablebase.attic.old is on no floor"),
    ],
)  # fmt: skip
def test_a_forbidden_import_is_found(tmp_path: Path, room: str, line: str, fault: str) -> None:
    shutil.copytree(ROOT / "tablebase", tmp_path / "tablebase", ignore=shutil.ignore_patterns("__pycache__"))
    path = tmp_path / "tablebase" / room
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file:
        file.write(f"\n{line}\n")
    found = faults(tmp_path, "tablebase", FLOORS["tablebase"])
    assert any(fault in each for each in found), found
