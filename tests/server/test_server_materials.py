"""The API about materials and rulesets, and random positions."""

import json
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from server.app import DATA_DIRECTORY, create_app, tablebase_of
from tablebase import RULESETS, Material, Outcome, Position
from tablebase.board.material import materials
from tablebase.tables.manifest import FILE_NAME, Manifest

OUTCOMES = [str(outcome) for outcome in Outcome if outcome is not Outcome.UNKNOWN]


def ask(client: FlaskClient, path: str, **parameters: object) -> Any:
    response = client.get(path, query_string=parameters)
    assert response.status_code == 200, response.text
    return json.loads(response.text)


def refused(client: FlaskClient, path: str, status: int, **parameters: object) -> dict[str, Any]:
    response = client.get(path, query_string=parameters)
    assert response.status_code == status, response.text
    assert response.mimetype == "application/problem+json"
    return dict(json.loads(response.text))


def test_materials(client: FlaskClient, tables4: Path) -> None:
    answer = ask(client, "/v1/materials")
    assert list(answer) == ["ruleset", "pieces", "version", "materials"]
    assert (answer["ruleset"], answer["pieces"]) == ("official", 4)
    names = [str(material) for pieces in (2, 3, 4) for material in materials(pieces)]
    assert [told["material"] for told in answer["materials"]] == names
    slices = Manifest.load(tables4).slices
    for told in answer["materials"]:
        counted = slices[Material.parse(told["material"])].statistics
        assert counted is not None
        counts = [told[outcome.replace("-", "_")] for outcome in OUTCOMES]
        assert counts == [counted.count(Outcome(outcome)) for outcome in OUTCOMES]
        assert sum(counts) == told["positions"]
        assert told["longest_win_plies"] == counted.longest_win_plies
    by_name = {told["material"]: told for told in answer["materials"]}
    assert by_name["KKMvK"]["metrics"] == ["wdl", "dtc", "dtw", "dtb"]
    assert by_name["KKvKK"]["metrics"] == ["wdl", "dtc", "dtw"]
    assert (by_name["KKMvK"]["mirror"], by_name["KKMvK"]["men"]) == ("KvKKM", 1)


def test_one_material(client: FlaskClient, app: Flask, tables4: Path) -> None:
    answer = ask(client, "/v1/materials/KKMvK")
    listed = next(told for told in ask(client, "/v1/materials")["materials"] if told["material"] == "KKMvK")
    assert {name: answer[name] for name in listed} == listed
    assert list(answer)[len(listed) :] == ["longest", "depends_on", "histograms", "files"]
    assert answer["depends_on"] == ["KvKKK"]  # by a promotion; whoever takes the king has won
    assert ask(client, "/v1/materials/KMvKM")["depends_on"] == ["KvKK", "KvKM", "MvKK", "MvKM", "KMvKK"]
    assert answer["longest"].pop("dtw_loss") is None  # who has three pieces never loses to a king
    assert list(answer["longest"]) == ["dtw_win", "dtc_win", "dtb_win"]
    for kind, longest in answer["longest"].items():
        probe = tablebase_of(app).probe(Position.from_fen(longest["fen"]))
        metric, outcome = kind.split("_")
        assert (str(probe.outcome), getattr(probe, metric)) == (outcome, longest["plies"])
        assert longest["moves"] == -(-longest["plies"] // 2)
    histograms = answer["histograms"]
    assert sum(histograms["dtw_win"]) == listed["win"] + listed["cursed_win"]
    assert sum(histograms["dtc_win"]) == listed["win"]
    assert len(histograms["dtw_win"]) - 1 == answer["longest"]["dtw_win"]["plies"]
    assert histograms["dtw_loss"] == histograms["dtc_loss"] == []
    for metric, file in answer["files"].items():
        assert file["size"] == (tables4 / f"KKMvK.{metric}").stat().st_size
    assert ask(client, "/v1/materials/KKvKK")["longest"]["dtb_win"] is None


def test_no_material(client: FlaskClient) -> None:
    body = refused(client, "/v1/materials/KKKKvK", 404)
    assert body["type"].endswith(":no-such-material")
    assert "no table of KKKKvK" in body["detail"]
    for name in ("KKMvk", "v", "K" * 5000 + "vK"):
        body = refused(client, f"/v1/materials/{name}", 400)
        assert body["type"].endswith(":bad-material")
        assert len(body["detail"]) < 300
    assert "'fen' is not a parameter" in refused(client, "/v1/materials", 400, fen="W:WKa1:BKh8")["detail"]


def test_without_a_manifest_nothing_is_counted(tables3: Path, tmp_path: Path) -> None:
    for file in tables3.iterdir():
        if file.name != FILE_NAME:
            (tmp_path / file.name).symlink_to(file)
    app = create_app({DATA_DIRECTORY: tmp_path})
    with tablebase_of(app):
        client = app.test_client()
        answer = ask(client, "/v1/materials/KKvM")
        assert (answer["positions"], answer["win"], answer["files"]) == (13020, None, {})
        assert set(answer["longest"].values()) == {None}
        assert ask(client, "/v1/random", material="KKvM", outcome="win")["outcome"] == "win"
        refused(client, "/v1/random", 404, material="KKvM", outcome="cursed-win")


def test_the_version_is_that_of_the_tables(tables3: Path, tables4: Path, tmp_path: Path) -> None:
    def version(directory: Path) -> str:
        app = create_app({DATA_DIRECTORY: directory})
        with tablebase_of(app):
            return str(ask(app.test_client(), "/v1/materials")["version"])

    (tmp_path / "same").symlink_to(tables3)
    assert version(tables3) == version(tmp_path / "same") != version(tables4)
    corrected = tmp_path / "corrected"
    corrected.mkdir()
    for file in tables3.iterdir():
        (corrected / file.name).write_bytes(file.read_bytes())
    manifest = Manifest.load(corrected)
    assert version(corrected) == version(tables3)
    record = manifest.slices[Material.parse("KKvM")]
    record.files = {metric: file._replace(sha256="0" * 64) for metric, file in record.files.items()}
    manifest.save(corrected)
    assert version(corrected) != version(tables3)


def test_random_positions(client: FlaskClient, app: Flask) -> None:
    seen = set()
    for seed in range(40):
        outcome = ("win", "draw", "loss")[seed % 3]
        answer = ask(client, "/v1/random", outcome=outcome, seed=seed)
        assert list(answer) == ["fen", "material", "outcome", "seed"]
        position = Position.from_fen(answer["fen"])
        assert (str(Material.of(position)), answer["outcome"]) == (answer["material"], outcome)
        assert str(tablebase_of(app).probe(position).outcome) == outcome
        assert ask(client, "/v1/random", outcome=outcome, seed=seed) == answer
        seen.add(answer["material"])
    assert len(seen) > 10
    assert ask(client, "/v1/random", material="KKKvK")["material"] == "KKKvK"
    assert len({ask(client, "/v1/random")["fen"] for _ in range(5)}) > 1


def test_no_random_position(client: FlaskClient) -> None:
    body = refused(client, "/v1/random", 404, material="KKvK", outcome="loss")
    assert body["type"].endswith(":no-such-position")
    assert body["detail"] == "KKvK has no position of the outcome loss; ask for another"
    # Four pieces are too few for either.
    assert refused(client, "/v1/random", 404, outcome="cursed-win")["type"] == body["type"]
    assert refused(client, "/v1/random", 404, material="KKKKvK")["type"].endswith(":no-such-material")
    for name, value in (("material", "KK"), ("outcome", "unknown"), ("seed", "-1"), ("seed", "9" * 17)):
        assert refused(client, "/v1/random", 400, **{name: value})


def test_without_tables_there_is_no_random_position(tmp_path: Path) -> None:
    app = create_app({DATA_DIRECTORY: tmp_path})
    with tablebase_of(app):
        assert "no tables" in refused(app.test_client(), "/v1/random", 404)["detail"]
        assert ask(app.test_client(), "/v1/materials")["materials"] == []


def test_rulesets(client: FlaskClient) -> None:
    answer = ask(client, "/v1/rulesets")["rulesets"]
    assert [told["name"] for told in answer] == list(RULESETS)
    for told, ruleset in zip(answer, RULESETS.values(), strict=True):
        limits = [(str(rule.name), limit.article) for rule in ruleset.rules for limit in rule.limits]
        assert [(limit["rule"], limit["article"]) for limit in told["rules"]] == limits
    official = {limit["rule"]: limit for limit in answer[0]["rules"]}
    assert (official["king-moves"]["limit"], official["king-moves"]["unit"]) == (30, "plies")
    assert (official["three-kings"]["limit"], official["three-kings"]["unit"]) == (15, "own-moves")
    assert official["main-road"]["road"] == "lone-king"
    assert official["repetition"] == {
        "rule": "repetition",
        "article": "7.2.3",
        "claim": "announced",
        "counter": "repetitions",
        "limit": 3,
        "unit": "times",
        "pieces": [0, None],
        "both_kings": False,
        "against_lone_king": None,
        "road": "anything",
        "unless_won": False,
    }


@pytest.mark.parametrize("limit", [None, 0, 3, 500])
def test_a_line(client: FlaskClient, limit: int | None) -> None:
    asked = {} if limit is None else {"limit": limit}
    answer = ask(client, "/v1/line", fen="W:WKc1,Kd2,Ka3:BKe1", **asked)
    plies = {None: 25, 500: 25}.get(limit, limit)
    assert len(answer["moves"]) == plies
    assert answer["end"] == ("game-over" if plies == 25 else "limit")
    if plies == 25:
        assert (answer["winner"], answer["moves"][-1]["captured"] != []) == ("white", True)
    body = refused(client, "/v1/line", 400, fen="W:WKc1,Kd2,Ka3:BKe1", limit=501)
    assert "the parameter limit is 501; a line has at most 500 plies" in body["detail"]


def test_a_capture_tells_its_path(client: FlaskClient) -> None:
    (move,) = ask(client, "/v1/position", fen="W:Wc3,a1:Bd4,f6,b8")["moves"]
    assert (move["move"], move["path"]) == ("c3:g7", ["c3", "e5", "g7"])
    assert (move["captured"], move["promotes"], move["zeroing"]) == (["d4", "f6"], False, True)
    moves = ask(client, "/v1/position", fen="W:Wa7,Kc1:BKh8")["moves"]
    assert {move["move"]: (move["promotes"], move["zeroing"]) for move in moves} == {
        "a7-b8": (True, True),
        **{move["move"]: (False, False) for move in moves if move["move"] != "a7-b8"},
    }
