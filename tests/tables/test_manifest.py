import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablebase.board.material import Material
from tablebase.errors import ManifestError, TableError, WrongVersionError
from tablebase.tables.files import FileRecord
from tablebase.tables.format import Metric
from tablebase.tables.manifest import Manifest, SliceRecord, Statistics

KVM = Material.parse("KvM")
# The keys that `shashki stats` shows, in their order.
STATS_KEYS = [
    "material",
    "positions",
    "win",
    "cursed_win",
    "draw",
    "blessed_loss",
    "loss",
    "longest_win_plies",
    "longest_win_fen",
    "longest_loss_plies",
    "longest_loss_fen",
    "longest_dtc_win_plies",
    "longest_dtc_win_fen",
    "longest_dtb_win_plies",
    "longest_dtb_win_fen",
    "dtw_wins",
    "dtw_losses",
    "dtc_wins",
    "dtc_losses",
]


def example() -> Manifest:
    statistics = Statistics("KvM", 868, 746, 0, 122, 0, 0, 7, "W:WKa1:Bh4", None, None, 2, "W:WKa1:Bh4")
    statistics = replace(statistics, dtw_wins=(0, 300, 440, 0, 0, 0, 0, 6), dtw_losses=())
    files = {Metric.WDL: FileRecord(136, "0a" * 32), Metric.DTW: FileRecord(999, "ff" * 32)}
    return Manifest("1.2.3", slices={KVM: SliceRecord(files, statistics), KVM.mirror: SliceRecord()})


def test_manifest_round_trips(tmp_path: Path) -> None:
    manifest = example()
    manifest.save(tmp_path)
    assert Manifest.load(tmp_path) == manifest
    assert [file.name for file in tmp_path.iterdir()] == ["manifest.json"]
    data = json.loads((tmp_path / "manifest.json").read_text())
    assert list(data["materials"]["KvM"]["stats"]) == STATS_KEYS
    assert data["materials"]["KvM"]["files"]["wdl"] == {"size": 136, "sha256": "0a" * 32}
    assert data["materials"]["MvK"] == {"files": {}, "stats": None}


def test_manifests_without_dtb_are_loaded(tmp_path: Path) -> None:
    manifest = example()
    manifest.save(tmp_path)
    path = tmp_path / "manifest.json"
    data = json.loads(path.read_text())
    del data["materials"]["KvM"]["stats"]["longest_dtb_win_plies"]
    del data["materials"]["KvM"]["stats"]["longest_dtb_win_fen"]
    for key in STATS_KEYS[-4:]:
        del data["materials"]["KvM"]["stats"][key]
    path.write_text(json.dumps(data))
    recorded = manifest.slices[KVM]
    assert recorded.statistics is not None
    recorded.statistics = replace(recorded.statistics, dtw_wins=None, dtw_losses=None)
    assert Manifest.load(tmp_path) == manifest
    del data["materials"]["KvM"]["stats"]["longest_dtc_win_fen"]
    path.write_text(json.dumps(data))
    with pytest.raises(ManifestError, match="longest_dtc_win_fen"):
        Manifest.load(tmp_path)


def test_missing_manifest(tmp_path: Path) -> None:
    with pytest.raises(
        ManifestError, match=rf"no .*manifest\.json: .*run `shashki generate --data {tmp_path}`"
    ):
        Manifest.load(tmp_path)


def change(*keys: str, to: Any) -> Callable[[dict[str, Any]], None]:
    def apply(data: dict[str, Any]) -> None:
        *path, last = keys
        for key in path:
            data = data[key]
        data[last] = to

    return apply


@pytest.mark.parametrize(
    ("damage", "error", "message"),
    [
        (change("format_version", to=0), WrongVersionError, "version 0.*generate the tables again"),
        (change("ruleset", "name", to="another"), WrongVersionError, "other draw rules, another"),
        (change("ruleset", "king_moves_plies", to=60), WrongVersionError, "king moves: 60 plies"),
        (change("generator_version", to=1), ManifestError, "generator_version is 1"),
        (change("materials", to=[]), ManifestError, "AttributeError"),
        (change("materials", "KvX", to={}), ManifestError, "'KvX' is not a material"),
        (change("materials", "KvM", "files", "mtc", to={}), ManifestError, "mtc"),
        (change("materials", "KvM", "files", "wdl", "size", to="9"), ManifestError, "size is '9'"),
        (change("materials", "KvM", "files", "wdl", "sha256", to="xyz"), ManifestError, "not a SHA-256"),
        (change("materials", "KvM", "stats", to={}), ManifestError, "material"),
        (change("materials", "KvM", "stats", "win", to=None), ManifestError, "win is None"),
        (
            change("materials", "KvM", "stats", "dtc_wins", to=[1, -1]),
            ManifestError,
            "dtc_wins is not a list",
        ),
        (
            change("materials", "KvM", "stats", "dtc_losses", to="1"),
            ManifestError,
            "dtc_losses is not a list",
        ),
        (change("materials", "KvM", "stats", "material", to="MvK"), ManifestError, "another material, MvK"),
    ],
)
def test_damaged_manifest(
    tmp_path: Path, damage: Callable[[dict[str, Any]], None], error: type[TableError], message: str
) -> None:
    example().save(tmp_path)
    path = tmp_path / "manifest.json"
    data = json.loads(path.read_text())
    damage(data)
    path.write_text(json.dumps(data))
    with pytest.raises(error, match=message) as caught:
        Manifest.load(tmp_path)
    assert str(path) in str(caught.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
KEYS = ["format_version", "generator_version", "ruleset", "materials"]


@given(st.binary() | JSON.map(lambda data: json.dumps(data).encode()))
def test_other_json_is_an_error(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / "manifest.json").write_bytes(data)
    with pytest.raises(TableError):
        Manifest.load(folder)


@given(st.sampled_from(KEYS), JSON)
def test_changed_fields_are_an_error_or_loaded(
    tmp_path_factory: pytest.TempPathFactory, key: str, value: Any
) -> None:
    folder = tmp_path_factory.getbasetemp()
    example().save(folder)
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    try:
        Manifest.load(folder)
    except TableError:
        return
    assert key in ("generator_version", "materials", "format_version")
