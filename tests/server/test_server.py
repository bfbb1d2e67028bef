"""The HTTP application: its answers field by field, its one shape of errors, and the command to serve it."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st
from strategies import random_positions

from server.app import DATA_DIRECTORY, create_app, tablebase_of
from server.service import get_service
from tablebase import Clock, DataDirectoryError, Outcome, Position, Tablebase
from tablebase.games.lone_kings import DrawRule
from tablebase.games.search import RuleSearch

VALUE_FIELDS = ["outcome", "wdl", "dtc", "dtw", "dtb"]
MOVES_FIELDS = ["dtc_moves", "dtw_moves", "dtb_moves"]
FROM_MOVES = ["outcome_from_moves", "rules_outcome_from_moves"]
GAME_FIELDS = [
    *("ruleset", "counters", "verdict", "game_over", "winner", "rules", "rules_outcome"),
    *FROM_MOVES,
    "cause",
]
POSITION_FIELDS = ["fen", "turn", "material", "pieces", *VALUE_FIELDS, *MOVES_FIELDS, *GAME_FIELDS, "moves"]
MOVE_FACTS = ["move", "path", "captured", "promotes", "zeroing", "outcome", "dtc", "dtw", "dtb"]
MOVE_FIELDS = [*MOVE_FACTS, "rules_outcome", "after"]
AFTER_FIELDS = ["fen", *VALUE_FIELDS, "counters"]
CASE_COUNTS = ["count", "limit", "unit", "remaining", "fired"]
CASE_VALUES = ["board_outcome", "moves_needed", "within_limit"]
CASE_HEAD = ["rule", "article", "applies", "stronger", "limit_moves"]
CASE_FIELDS = [*CASE_HEAD, *CASE_COUNTS, *CASE_VALUES, "explanation"]
FRESH = {"king_plies": 0, "balance_plies": 0, "three_kings_moves": 0, "road_moves": 0, "repetitions": 1}


def ask(client: FlaskClient, path: str, **parameters: str) -> Any:
    response = client.get(path, query_string=parameters)
    assert response.status_code == 200, response.text
    assert response.mimetype == "application/json"
    return json.loads(response.text)


def problem(response: Any, status: int) -> dict[str, Any]:
    """Checks the one shape of errors."""
    assert response.status_code == status
    assert response.mimetype == "application/problem+json"
    body = json.loads(response.text)
    assert list(body) == ["type", "title", "status", "detail"]
    assert body["status"] == status
    assert all(isinstance(body[key], str) and body[key] for key in ("type", "title", "detail"))
    assert "Traceback" not in response.text
    return dict(body)


# /v1/position


def test_position(client: FlaskClient) -> None:
    answer = ask(client, "/v1/position", fen="W:WKa1,Ke1,c3:BKb8")
    assert list(answer) == POSITION_FIELDS
    moves, rules = answer.pop("moves"), answer.pop("rules")
    assert [(rule["rule"], rule["applies"], rule["count"], rule["limit"]) for rule in rules] == [
        ("king-moves", True, 0, 30),
        ("three-kings", False, 0, 15),
        ("main-road", False, 0, 5),
        ("balance", True, 0, 60),
        ("repetition", True, 1, 3),
    ]
    assert answer == {
        "fen": "W:WKa1,Ke1,c3:BKb8",
        "turn": "white",
        "material": "KKMvK",
        "pieces": 4,
        "outcome": "win",
        "wdl": 2,
        "dtc": 1,
        "dtw": 31,
        "dtb": 14,
        "dtc_moves": 1,
        "dtw_moves": 16,
        "dtb_moves": 7,
        "ruleset": "official",
        "counters": FRESH,
        "verdict": "open",
        "game_over": False,
        "winner": None,
        "rules_outcome": "win",
        "outcome_from_moves": "win",
        "rules_outcome_from_moves": "win",
        "cause": None,
    }
    assert " ".join(move["move"] for move in moves) == "c3-d4 c3-b4 e1-f2 e1-d2 e1-h4 a1-b2 e1-g3"
    for move in moves:
        assert list(move) == MOVE_FIELDS
        assert list(move["after"]) == AFTER_FIELDS
    assert moves[2] == {
        "move": "e1-f2",
        "path": ["e1", "f2"],
        "captured": [],
        "promotes": False,
        "zeroing": False,
        "outcome": "win",
        "dtc": 4,
        "dtw": 33,
        "dtb": 15,
        "rules_outcome": "win",
        "after": {
            "fen": "B:WKa1,Kf2,c3:BKb8",
            "outcome": "loss",
            "wdl": -2,
            "dtc": 3,
            "dtw": 32,
            "dtb": 14,
            "counters": {**FRESH, "king_plies": 1, "balance_plies": 1},
        },
    }


def test_position_seen_by_black(client: FlaskClient) -> None:
    answer = ask(client, "/v1/position", fen="B:WKa1,Ke1,c3:BKh8")
    assert (answer["turn"], answer["material"], answer["outcome"]) == ("black", "KvKKM", "loss")
    assert (answer["dtc"], answer["dtw"], answer["dtw_moves"]) == (1, 2, 1)
    assert answer["moves"][0]["outcome"] == "loss"


def test_positions_equal_what_the_library_says(client: FlaskClient, app: Flask) -> None:
    tablebase = tablebase_of(app)
    for position in random_positions(60, seed=11, max_pieces=4):
        answer = ask(client, "/v1/position", fen=position.to_fen())
        probe = tablebase.probe(position)
        assert (answer["outcome"], answer["wdl"]) == (str(probe.outcome), probe.wdl)
        assert (answer["dtc"], answer["dtw"], answer["dtb"]) == (probe.dtc, probe.dtw, probe.dtb)
        assert {
            (move["move"], move["outcome"], move["dtc"], move["dtw"], move["dtb"], move["after"]["wdl"])
            for move in answer["moves"]
        } == {
            (str(move.move), str(move.outcome), move.dtc, move.dtw, move.dtb, move.probe_after.wdl)
            for move in tablebase.moves(position)
        }
        search = RuleSearch(tablebase)
        clock = Clock.start(position)
        assert answer["rules_outcome"] == search.prospect(clock)
        assert [(move["move"], move["rules_outcome"]) for move in answer["moves"]] == [
            (str(move.move), move.prospect) for move in search.moves(clock)
        ]


def test_a_position_without_a_table_is_unknown_and_shows_what_is_known(client: FlaskClient) -> None:
    answer = ask(client, "/v1/position", fen="W:WKa1,e1,c3:BKh8,Kb8")
    assert list(answer) == POSITION_FIELDS
    for key in ("wdl", "dtc", "dtw", "dtb", *MOVES_FIELDS):
        assert answer[key] is None
    assert (answer["outcome"], answer["rules_outcome"]) == ("unknown", "unknown")
    outcomes = [move["outcome"] for move in answer["moves"]]
    assert outcomes == ["draw", "draw", "draw", "unknown", "unknown"]
    assert answer["moves"][-1]["after"]["outcome"] == "unknown"


def test_the_start_is_unknown_too(client: FlaskClient) -> None:
    answer = ask(client, "/v1/position", fen=Position.start().to_fen())
    assert (answer["outcome"], answer["pieces"], len(answer["moves"])) == ("unknown", 24, 7)


@pytest.mark.parametrize("fen", ["B:WKa1:B", "B:WKg7,Kf6,Kh2:BKh8", "W:W:B"])
def test_a_game_that_is_over_is_lost(client: FlaskClient, fen: str) -> None:
    answer = ask(client, "/v1/position", fen=fen)
    assert (answer["outcome"], answer["wdl"], answer["dtc"], answer["dtw"]) == ("loss", -2, 0, 0)
    winner = "white" if fen[0] == "B" else "black"
    assert (answer["verdict"], answer["game_over"], answer["winner"]) == (f"{winner}-won", True, winner)
    assert (answer["rules_outcome"], answer["moves"]) == ("loss", [])


def test_a_fen_is_read_generously_and_answered_in_its_canonical_form(client: FlaskClient) -> None:
    for fen in ("W:BKb8:W c3, Ke1, Ka1.", " W:WKa1,Ke1,c3:BKb8:H0:F1 "):
        assert ask(client, "/v1/position", fen=fen)["fen"] == "W:WKa1,Ke1,c3:BKb8"
    fen = "W:WK29,K31,22:BK1"
    assert ask(client, "/v1/position", fen=fen, numbering="b8")["fen"] == "W:WKa1,Ke1,c3:BKb8"


# /v1/draw-cases


def test_draw_cases(client: FlaskClient) -> None:
    answer = ask(client, "/v1/draw-cases", fen="B:WKf6:BKc7,Ka7,h8")
    assert list(answer) == ["fen", "ruleset", "counters", "cases"]
    assert answer["fen"] == "B:WKf6:BKa7,Kc7,h8"
    assert (answer["ruleset"], answer["counters"]) == ("official", FRESH)
    three_kings, main_road = answer["cases"]
    assert list(three_kings) == list(main_road) == CASE_FIELDS
    explanation = three_kings.pop("explanation")
    assert explanation.endswith(".")
    assert three_kings == {
        "rule": "three-kings",
        "article": "7.2.4",
        "applies": False,
        "stronger": None,
        "limit_moves": 15,
        "count": 0,
        "limit": 15,
        "unit": "own-moves",
        "remaining": 15,
        "fired": False,
        "board_outcome": None,
        "moves_needed": None,
        "within_limit": None,
    }
    explanation = main_road.pop("explanation")
    assert explanation.startswith("Black has two kings and a man against a lone king on the main road")
    assert main_road == {
        "rule": "main-road",
        "article": "7.2.7",
        "applies": True,
        "stronger": "black",
        "limit_moves": 5,
        "count": 0,
        "limit": 5,
        "unit": "own-moves",
        "remaining": 5,
        "fired": False,
        "board_outcome": "win",
        "moves_needed": 2,
        "within_limit": True,
    }


def test_draw_cases_of_a_draw_and_without_a_table(client: FlaskClient) -> None:
    for case in ask(client, "/v1/draw-cases", fen="W:WKb8,Kd8,Kh4:BKh8")["cases"]:
        assert (case["applies"], case["board_outcome"], case["moves_needed"]) == (True, "draw", None)
    case = ask(client, "/v1/draw-cases", fen="W:WKb8,Kd8,Kh4,Kg1:BKh8")["cases"][0]
    assert (case["applies"], case["stronger"], case["board_outcome"]) == (True, "white", "unknown")
    assert [case["rule"] for case in ask(client, "/v1/draw-cases", fen="W:Wa1:Bh8")["cases"]] == list(
        DrawRule
    )


# Errors

QUESTIONS = ["/v1/position", "/v1/draw-cases"]


@pytest.mark.parametrize("path", QUESTIONS)
@pytest.mark.parametrize(
    ("fen", "kind", "says"),
    [
        ("", "bad-notation", "must begin with the side to move"),
        ("hello", "bad-notation", "'hello'"),
        ("W:WKa1", "bad-notation", "no field for black"),
        ("W:WKa1:BKa2", "bad-notation", "black piece 'Ka2': 'a2' is a light square"),
        ("W:WK1:BK32", "bad-notation", "name the numbering"),
        ("W:WKa1:BKh8:Z9", "bad-notation", "'Z9'"),
        ("W:WKa1:BKa1", "illegal-position", "more than one piece on a1"),
        ("W:Wd8:BKa1", "illegal-position", "white man on d8"),
        ("W:W" + "Ka1," * 5000 + "Kc1:B", "illegal-position", "a1"),
    ],
)
def test_invalid_position_answers_400(client: FlaskClient, path: str, fen: str, kind: str, says: str) -> None:
    body = problem(client.get(path, query_string={"fen": fen}), 400)
    assert body["type"].endswith(":" + kind)
    assert says in body["detail"]
    assert len(body["detail"]) < 500


@pytest.mark.parametrize("path", QUESTIONS)
def test_missing_or_unknown_parameter(client: FlaskClient, path: str) -> None:
    body = problem(client.get(path), 400)
    assert "parameter fen is missing" in body["detail"]
    assert f"{path}?fen=" in body["detail"]
    body = problem(client.get(path, query_string={"fen": "W:WKa1:BKh8", "numbering": "h1"}), 400)
    assert body["type"].endswith(":bad-parameter")
    assert "parameter numbering: 'h1' is not a numbering" in body["detail"]
    assert (
        "numbering"
        in problem(client.get(path, query_string={"fen": "W:W:B", "numbering": ""}), 400)["detail"]
    )


def test_repeated_parameter(client: FlaskClient) -> None:
    fen, other = "W:WKa1:BKh8", "W:WKa1:BKb8"
    for path in QUESTIONS:
        for query in ([("fen", fen), ("fen", other)], [("fen", fen), ("fen", fen)]):
            body = problem(client.get(path, query_string=query), 400)
            assert body["type"].endswith(":bad-parameter")
            assert body["detail"] == "the parameter fen is given 2 times; give it once"
        body = problem(client.get(path, query_string=[("fen", fen), *3 * [("numbering", "a1")]]), 400)
        assert body["detail"] == "the parameter numbering is given 3 times; give it once"
    for query in ("ruleset=club&ruleset=official", "numbering=a1&numbering=b8"):
        body = problem(client.post(f"/v1/game?{query}", data="1. c3-d4"), 400)
        assert "is given 2 times" in body["detail"]
    assert client.get(QUESTIONS[0], query_string={"fen": fen, "numbering": "a1"}).status_code == 200


def test_unknown_url(client: FlaskClient) -> None:
    for path in ("/v1", "/v1/positions/", "/static/page.html", "/static/../app.py", "/v1/<script>"):
        assert "there is nothing at" in problem(client.get(path), 404)["detail"]


@pytest.mark.parametrize("path", ["/", *QUESTIONS])
def test_method_not_allowed(client: FlaskClient, path: str) -> None:
    for method in ("POST", "PUT", "DELETE"):
        response = client.open(path, method=method)
        body = problem(response, 405)
        assert f"does not take {method}" in body["detail"]
        assert set(response.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}


class Failing(Tablebase):
    """Fails in a way nobody has thought of."""

    def moves(self, position: Position) -> Any:
        raise ZeroDivisionError("secret")


def test_server_error_is_logged_and_not_shown(
    tables4: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for file in tables4.iterdir():
        data = bytearray(file.read_bytes())
        data[-1] ^= 1
        (tmp_path / file.name).write_bytes(data)
    app = create_app({DATA_DIRECTORY: tmp_path})
    with tablebase_of(app):
        body = problem(app.test_client().get("/v1/position?fen=W:WKa1,Kc1:BKb8"), 500)
    assert body["type"].endswith(":bad-table")
    assert str(tmp_path) not in body["detail"]
    assert str(tmp_path) in caplog.text
    replace(get_service(app), tablebase=Failing()).register(app)
    body = problem(app.test_client().get("/v1/position?fen=W:WKa1,Kc1:BKb8"), 500)
    assert body["type"] == "about:blank"
    assert "secret" not in body["detail"]
    assert "ZeroDivisionError: secret" in caplog.text


@given(st.text(max_size=60), st.sampled_from(QUESTIONS))
def test_any_text_is_answered(app: Flask, text: str, path: str) -> None:
    response = app.test_client().get(path, query_string={"fen": text})
    if response.status_code != 200:
        problem(response, 400)


# The application


def test_settings(tables4: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHASHKI_DATA", str(tables4))
    with tablebase_of(create_app()) as tablebase:
        assert tablebase.pieces == 4
    with tablebase_of(create_app({DATA_DIRECTORY: str(tmp_path), "CACHE_BYTES": 1000})) as tablebase:
        assert tablebase.pieces == 0
        assert tablebase._tables._cache.max_bytes == 1000
    with pytest.raises(DataDirectoryError, match="nowhere"):
        create_app({DATA_DIRECTORY: tmp_path / "nowhere"})


def test_misspelt_setting_is_logged(
    tables4: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SHASHKI_MAX_POSITONS", "5")
    monkeypatch.setenv("SHASHKI_PORT", "tcp://192.0.2.1:8000")  # as Kubernetes sets it
    with tablebase_of(create_app({DATA_DIRECTORY: tables4})):
        pass
    (said,) = caplog.messages
    assert (
        said
        == "SHASHKI_MAX_POSITONS in the environment is not a setting; did you mean SHASHKI_MAX_POSITIONS?"
    )


def test_threads_share_the_tables(app: Flask) -> None:
    positions = random_positions(150, seed=2, max_pieces=4)
    Random(1).shuffle(positions)

    def outcome(position: Position) -> str:
        return str(ask(app.test_client(), "/v1/position", fen=position.to_fen())["outcome"])

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(outcome, positions))
    assert found == [str(tablebase_of(app).probe(position).outcome) for position in positions]
    assert Outcome.UNKNOWN.value not in found
