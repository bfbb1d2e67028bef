from pathlib import Path

import platformdirs
import pytest

from tablebase import DataDirectoryError
from tablebase.board.material import Material
from tablebase.rules.rulesets import KING_MOVES_ONLY, OFFICIAL
from tablebase.tables.files import FileRecord, data_directory, generate_command
from tablebase.tables.format import Metric
from tablebase.tables.manifest import Manifest, SliceRecord


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of no checkout, with no environment set."""
    monkeypatch.delenv("SHASHKI_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checkout(folder: Path, text: str = '[project]\nname = "shashki-tablebase"\n') -> Path:
    deep = folder / "some" / "where"
    deep.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(text)
    return deep


def test_data_directory_is_first_the_option(outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHASHKI_DATA", "/from/environment")
    assert data_directory("mine") == data_directory(Path("mine")) == Path("mine")


def test_an_empty_option_is_rejected(outside: Path) -> None:
    with pytest.raises(DataDirectoryError, match="directory is empty; name a directory"):
        data_directory("")


def test_generate_command_quotes_the_directory() -> None:
    assert generate_command(Path("data"), 4) == "`shashki generate --pieces 4 --data data`"
    assert generate_command(Path("my data")) == "`shashki generate --data 'my data'`"


def test_generate_command_keeps_ruleset_and_metrics(tmp_path: Path) -> None:
    manifest = Manifest("1", KING_MOVES_ONLY, {Material.parse("KvK"): SliceRecord()})
    manifest.save(tmp_path)
    assert generate_command(tmp_path) == f"`shashki generate --ruleset king-moves-only --data {tmp_path}`"
    files = {metric: FileRecord(1, "00" * 32) for metric in (Metric.WDL, Metric.DTC)}
    manifest.slices[Material.parse("KvK")] = SliceRecord(files)
    manifest.save(tmp_path)
    assert generate_command(tmp_path, material="KMvK") == (
        f"`shashki generate --materials KMvK --ruleset king-moves-only --metrics wdl,dtc --data {tmp_path}`"
    )
    files[Metric.DTW] = files[Metric.WDL]
    Manifest("1", OFFICIAL, {Material.parse("KvK"): SliceRecord(files)}).save(tmp_path)
    assert generate_command(tmp_path, 3) == f"`shashki generate --pieces 3 --data {tmp_path}`"
    for damaged in ("", "[]", '{"ruleset": 3}', '{"ruleset": {"name": "x"}, "materials": {"KvK": 1}}'):
        (tmp_path / "manifest.json").write_text(damaged)
        assert generate_command(tmp_path) == f"`shashki generate --data {tmp_path}`"


def test_data_directory_is_second_the_environment(outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(checkout(outside / "project"))
    monkeypatch.setenv("SHASHKI_DATA", "/from/environment")
    assert data_directory() == Path("/from/environment")
    monkeypatch.setenv("SHASHKI_DATA", "")
    assert data_directory() == outside / "project" / "data"


def test_data_directory_is_third_the_checkout(outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = checkout(outside / "project")
    for folder in (deep, deep.parent, outside / "project"):
        monkeypatch.chdir(folder)
        assert data_directory() == outside / "project" / "data"


@pytest.mark.parametrize(
    "text", ['[project]\nname = "another"\n', "[project\n", "project = 3\n", "[tool.ruff]\n", "\0"]
)
def test_data_directory_is_last_the_users_own(
    outside: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.chdir(checkout(outside / "another", text))
    assert data_directory() == Path(platformdirs.user_data_dir("shashki"))
    assert not data_directory().exists()
