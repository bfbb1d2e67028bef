import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import naive
import pytest
from hypothesis import settings
from tablefiles import write_solved

from tablebase.board import Position
from tablebase.drawrules import KING_MOVES_ONLY

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


@pytest.fixture(scope="session")
def plain2(solved2: dict[Position, naive.Solved], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its tables; not to be changed."""
    directory = tmp_path_factory.mktemp("plain2")
    write_solved(directory, solved2, 2)
    return directory


@pytest.fixture(scope="session")
def tables2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tables of 2 pieces; not to be changed."""
    from generator.run import generate

    directory = tmp_path_factory.mktemp("tables2")
    generate(directory, 2)
    return directory


@pytest.fixture(scope="session")
def tables3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tables of 2-3 pieces; not to be changed."""
    from generator.run import generate

    directory = tmp_path_factory.mktemp("tables3")
    generate(directory, 3)
    return directory


@pytest.fixture
def copy3(tables3: Path, tmp_path: Path) -> Path:
    """A copy of these, to be changed."""
    shutil.copytree(tables3, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture(scope="session")
def tables4(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tables of 2-4 pieces under the official rules, made by the generator; not to be changed."""
    from generator.run import generate

    directory = tmp_path_factory.mktemp("tables4")
    generate(directory, 4, jobs=cores())
    return directory


@pytest.fixture(scope="session")
def tables5(tables4: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tables of 2-5 pieces: a run that goes on from those of 2-4; not to be changed."""
    from generator.run import generate

    directory = tmp_path_factory.mktemp("tables5") / "data"
    shutil.copytree(tables4, directory)
    generate(directory, 5, jobs=cores())
    return directory


@pytest.fixture(scope="session")
def kings4(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tables of 2-4 pieces under the 15-king-moves rule alone; not to be changed."""
    from generator.run import generate

    directory = tmp_path_factory.mktemp("kings4")
    generate(directory, 4, jobs=cores(), ruleset=KING_MOVES_ONLY)
    return directory


@pytest.fixture(scope="session")
def kings5(kings4: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Those of 2-5 pieces, for tests that are marked whole; not to be changed."""
    from generator.run import generate

    directory = tmp_path_factory.mktemp("kings5") / "data"
    shutil.copytree(kings4, directory)
    generate(directory, 5, jobs=cores(), ruleset=KING_MOVES_ONLY)
    return directory


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
