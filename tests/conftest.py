import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import naive
import pytest
from hypothesis import settings
from table_files import write_solved

from tablebase.board.position import Position
from tablebase.rules.ruleset import Ruleset
from tablebase.rules.rulesets import KING_MOVES_ONLY, OFFICIAL

if TYPE_CHECKING:
    from flask import Flask
    from flask.testing import FlaskClient

# A shared machine stalls now and then; how long one example takes says nothing about the code.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


def cores() -> int:
    return len(os.sched_getaffinity(0))


@pytest.fixture(scope="session")
def solved2() -> dict[Position, naive.Solved]:
    """Two pieces, by the naive solver; not to be changed."""
    return naive.solve(2)


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A directory for the whole session, made by the first process of it (pytest-xdist has several) that
    wants it."""
    root = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    directory, unfinished = root / name, root / f"{name}.unfinished"
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not directory.exists():
            make(unfinished)
            unfinished.rename(directory)
    return directory


def made_by_generator(
    factory: pytest.TempPathFactory,
    name: str,
    pieces: int,
    ruleset: Ruleset = OFFICIAL,
    smaller: Path | None = None,
) -> Path:
    """All tables of 2 to so many pieces; a run that goes on from `smaller`, if they are there."""
    from generator.run import generate

    def make(directory: Path) -> None:
        if smaller:
            shutil.copytree(smaller, directory)
        generate(directory, pieces, jobs=cores(), ruleset=ruleset)

    return made_once(factory, name, make)


@pytest.fixture(scope="session")
def plain2(solved2: dict[Position, naive.Solved], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its tables; not to be changed."""
    directory = tmp_path_factory.mktemp("plain2")
    write_solved(directory, solved2, 2)
    return directory


@pytest.fixture(scope="session")
def tables2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tables of 2 pieces; not to be changed."""
    return made_by_generator(tmp_path_factory, "tables2", 2)


@pytest.fixture(scope="session")
def tables3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tables of 2-3 pieces; not to be changed."""
    return made_by_generator(tmp_path_factory, "tables3", 3)


@pytest.fixture
def copy3(tables3: Path, tmp_path: Path) -> Path:
    """A copy of these, to be changed."""
    shutil.copytree(tables3, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture(scope="session")
def tables4(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tables of 2-4 pieces under the official rules, made by the generator; not to be changed."""
    return made_by_generator(tmp_path_factory, "tables4", 4)


@pytest.fixture(scope="session")
def tables5(tables4: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tables of 2-5 pieces: a run that goes on from those of 2-4; not to be changed."""
    return made_by_generator(tmp_path_factory, "tables5", 5, smaller=tables4)


@pytest.fixture(scope="session")
def kings4(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tables of 2-4 pieces under the 15-king-moves rule alone; not to be changed."""
    return made_by_generator(tmp_path_factory, "kings4", 4, KING_MOVES_ONLY)


@pytest.fixture(scope="session")
def kings5(kings4: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Those of 2-5 pieces, for tests that are marked whole; not to be changed."""
    return made_by_generator(tmp_path_factory, "kings5", 5, KING_MOVES_ONLY, kings4)


@pytest.fixture(scope="module")
def app(tables4: Path) -> "Iterator[Flask]":
    """The HTTP application over tables of 2-4 pieces."""
    from server.app import DATA_DIRECTORY, create_app, tablebase_of

    app = create_app({DATA_DIRECTORY: tables4})
    with tablebase_of(app):
        yield app


@pytest.fixture(scope="module")
def client(app: "Flask") -> "FlaskClient":
    """One that asks it."""
    return app.test_client()


OF_FOLDER = {"page": "browser", "c_probe": "compiler", "cluster": "cluster"}
"""The marks of all tests in a folder of that name."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for folder in OF_FOLDER.keys() & set(item.path.parts):
            item.add_marker(OF_FOLDER[folder])
