from pathlib import Path

import pytest
from hypothesis import settings

# A shared machine stalls now and then; how long one example takes says nothing about the code.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


@pytest.fixture(scope="session")
def tables4(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with all tables of up to 4 pieces. Shared by all tests: not to be changed."""
    from generator.run import generate

    directory = tmp_path_factory.mktemp("tables4")
    generate(directory, 4, jobs=2)
    return directory
