"""Judged games as JSON, and the two ways to have them: `shashki adjudicate` and `POST /v1/game`."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from paths import GOLDEN

from server.app import DATA_DIRECTORY, create_app, tablebase_of
from server.settings import Settings
from tablebase import open_tablebase
from tablebase.cli.main import main
from tablebase.games.adjudication import Adjudicator
from tablebase.report.games import game_report
from tablebase.report.text import sentence

GAMES = GOLDEN / "games.pdn"


def test_the_report_of_a_game(tables4: Path) -> None:
    text = '[FEN "W:WKc1,Kd2,Ka3:BKe1:C3,3,0,0,1"]\n1. a3-e7 e1:a5 2. c1-b2 1-1'
    with open_tablebase(tables4) as tablebase:
        (judged,) = Adjudicator(tablebase).games(text)
    report = game_report(judged)
    start, plies = report.pop("start"), report.pop("plies")  # type: ignore[misc]
    assert report == {
        "number": 1,
        "line": 1,
        "tags": {"FEN": "W:WKc1,Kd2,Ka3:BKe1:C3,3,0,0,1"},
        "ruleset": "official",
        "ending": "stopped",
        "result": None,
        "written": "1-1",
        "written_result": "draw",
        "agreement": "not-decided",
        "explanation": sentence(judged),
        "problems": [
            {
                "kind": "illegal-move",
                "line": 2,
                "ply": 2,
                "move": "e1:a5",
                "message": judged.problems[0].message,
            }
        ],
        "mistakes": [
            {
                "ply": 1,
                "player": "white",
                "move": "a3-e7",
                "board_before": "win",
                "board_after": "draw",
                "rules_before": "win",
                "rules_after": "draw",
                "keeping": ["d2-a5"],
                "claim": None,
            }
        ],
        "claims": [],
    }
    assert start["fen"] == "W:WKc1,Kd2,Ka3:BKe1"
    assert start["counters"]["king_plies"] == 3
    assert (start["board_outcome"], start["rules_outcome"], start["dtw"]) == ("win", "win", 25)
    (ply,) = plies
    assert (ply["ply"], ply["player"], ply["text"], ply["move"]) == (1, "white", "a3-e7", "a3-e7")
    after = ply["after"]
    assert after["fen"] == "B:WKc1,Kd2,Ke7:BKe1"
    assert after["counters"] == {
        "king_plies": 4,
        "balance_plies": 4,
        "three_kings_moves": 1,
        "road_moves": 0,
        "repetitions": 1,
    }
    assert after["verdict"] == "open"
    assert [(rule["rule"], rule["article"], rule["count"], rule["limit"]) for rule in after["rules"]] == [
        ("king-moves", "7.2.5", 4, 30),
        ("three-kings", "7.2.4", 1, 15),
        ("balance", "7.2.6", 4, 60),
        ("repetition", "7.2.3", 1, 3),
    ]


def test_the_report_of_a_claim_missed_and_of_one_left_open(tables4: Path) -> None:
    to_and_fro = "1... b8-a7 2. c3-d2 a7-b8 3. d2-c3 b8-a7 4. c3-d2 a7-b8 5. d2-c3"
    text = "\n".join(f'[FEN "B:WKc3,Ka1,Kc1:BKb8"] {to_and_fro}{end}' for end in ("", " b8-h2"))
    with open_tablebase(tables4) as tablebase:
        left_open, missed = map(game_report, Adjudicator(tablebase).games(text))
    claim = {
        "rule": "repetition",
        "article": "7.2.3",
        "applies": True,
        "count": 3,
        "limit": 3,
        "unit": "times",
        "remaining": 0,
        "fired": True,
        "claim": "announced",
        "stronger": None,
        "player": "black",
        "move": None,
    }
    assert left_open["claims"] == [claim]
    assert (missed["claims"], missed["mistakes"][-1]["claim"]) == ([], claim)


@pytest.fixture
def run(
    tables4: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    monkeypatch.setenv("SHASHKI_DATA", str(tables4))

    def run(*argv: str) -> tuple[int, str, str]:
        return main(argv), *capsys.readouterr()

    return run


def test_the_command(run: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    file = tmp_path / "game.pdn"
    file.write_text('[Event "Sound"]\n1. c3-d4 d6-c5 1-1\n')
    status, out, err = run("adjudicate", str(file))
    assert (status, err) == (0, "")
    assert out.startswith("Game 1: Sound\n  The moves stop after 2 plies;")
    assert out.endswith("1 game under the ruleset official: problems in none.\n")

    status, out, err = run("adjudicate", str(GAMES), "--ruleset", "lidraughts")
    assert (status, err) == (1, "")
    assert out.count("\nGame ") == 21
    assert out.endswith("22 games under the ruleset lidraughts: problems in 7.\n")


def test_the_command_in_json_says_what_the_api_says(
    run: Callable[..., tuple[int, str, str]], client: FlaskClient
) -> None:
    status, out, _ = run("adjudicate", str(GAMES), "--json", "--ruleset", "club")
    assert status == 1
    response = client.post("/v1/game?ruleset=club", data=GAMES.read_bytes())
    assert response.status_code == 200
    assert json.loads(out) == response.get_json()
    assert [game["number"] for game in response.get_json()["games"]] == list(range(1, 23))


def test_the_command_reads_numbers_in_the_numbering_named(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    file = tmp_path / "game.pdn"
    file.write_text("1. 22-18 9-13 *")
    assert run("adjudicate", str(file))[0] == 1
    assert run("adjudicate", str(file), "--numbering", "b8")[0] == 0


def test_the_command_refuses(run: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    file = tmp_path / "empty.pdn"
    file.write_text("{nothing}")
    status, out, err = run("adjudicate", str(file))
    assert (status, out) == (2, "")
    assert f"{file} has no game" in err
    status, _, err = run("adjudicate", str(file), "--ruleset", "house")
    assert status == 2
    assert "'house' is not a ruleset; the rulesets are official" in err
    status, _, err = run("adjudicate", str(tmp_path / "nowhere.pdn"))
    assert status == 2
    assert "nowhere.pdn cannot be read: No such file" in err


LIMITS = Settings()


@pytest.fixture(scope="module")
def client(tables4: Path) -> Iterator[FlaskClient]:
    app = create_app({DATA_DIRECTORY: tables4})
    with tablebase_of(app):
        yield app.test_client()


@pytest.mark.parametrize(
    ("address", "body", "status", "type_", "says"),
    [
        ("/v1/game", "", 400, "bad-body", "the body has no game"),
        ("/v1/game", "{x", 200, "", ""),
        ("/v1/game?ruleset=house", "1. c3-d4", 400, "bad-ruleset", "'house' is not a ruleset"),
        ("/v1/game?numbering=h8", "1. c3-d4", 400, "bad-parameter", "'h8' is not a numbering"),
        ("/v1/game", "1. c3-d4 *\n" * LIMITS.max_games, 200, "", ""),
        ("/v1/game", "1. c3-d4 *\n" * (LIMITS.max_games + 1), 400, "bad-body", "more than 50 games"),
        ("/v1/game", " " * (LIMITS.max_pdn_bytes + 1), 413, "about:blank", ""),
    ],
)
def test_the_api_refuses(
    client: FlaskClient, address: str, body: str, status: int, type_: str, says: str
) -> None:
    response = client.post(address, data=body.encode(), content_type="text/plain")
    assert response.status_code == status
    if status != 200:
        problem = json.loads(response.text)
        assert problem["type"].endswith(type_)
        assert says in problem["detail"]


def test_the_api_asks_for_post(client: FlaskClient) -> None:
    response = client.get("/v1/game")
    assert response.status_code == 405
    assert "POST" in json.loads(response.text)["detail"]
