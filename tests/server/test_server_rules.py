"""The API under rulesets and with counters: `/v1/position` and `/v1/draw-cases` of a game in progress."""

import json
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from strategies import random_positions

from server.app import DATA_DIRECTORY, create_app, tablebase_of
from tablebase import RULESETS, Clock, Counters
from tablebase.board.counters import CounterName
from tablebase.board.position import Position
from tablebase.games.analysis import SEARCH_EFFORT
from tablebase.games.lone_kings import draw_cases
from tablebase.games.search import RuleSearch, win_oracle
from tablebase.report.positions import draw_case_report
from tablebase.report.rules import rules_report

QUESTIONS = ["/v1/position", "/v1/draw-cases"]
THREE_KINGS = "W:WKc1,Kf4,Kg7:BKb8"  # 18 plies to the first capture, by one move alone; 20 by three others


def ask(client: FlaskClient, path: str, **parameters: object) -> Any:
    response = client.get(path, query_string=parameters)
    assert response.status_code == 200, response.text
    return json.loads(response.text)


def counted(answer: Any) -> dict[str, tuple[int, int, int]]:
    return {
        rule["rule"]: (rule["count"], rule["limit"], rule["remaining"])
        for rule in answer["rules"]
        if rule["applies"]
    }


@pytest.mark.parametrize(("made", "outcome"), [(0, "win"), (12, "win"), (13, "draw")])
def test_counters_as_parameters(client: FlaskClient, made: int, outcome: str) -> None:
    answer = ask(client, "/v1/position", fen=THREE_KINGS, king_plies=made, balance_plies=made)
    assert (answer["outcome"], answer["rules_outcome"]) == ("win", outcome)
    assert (answer["dtc"], answer["verdict"], answer["winner"]) == (18, "open", None)
    assert counted(answer) == {
        "king-moves": (made, 30, 30 - made),
        "three-kings": (0, 15, 15),
        "balance": (made, 60, 60 - made),
        "repetition": (1, 3, 2),
    }
    assert answer["moves"][0]["move"] == "f4-h2"
    by_rules = {move["move"]: move["rules_outcome"] for move in answer["moves"]}
    assert (by_rules["f4-h2"], by_rules["f4-e3"]) == (outcome, "win" if made == 0 else "draw")
    # A promotion, a capture or a man's move apart, every counter goes on.
    assert answer["moves"][0]["after"]["counters"] == {
        "king_plies": made + 1,
        "balance_plies": made + 1,
        "three_kings_moves": 1,
        "road_moves": 0,
        "repetitions": 1,
    }


@pytest.mark.parametrize("path", QUESTIONS)
def test_counters_in_the_fen_are_the_same_as_parameters(client: FlaskClient, path: str) -> None:
    names = [counter.value for counter in CounterName]
    values = (12, 11, 5, 0, 2)
    in_fen = ask(client, path, fen=f"{THREE_KINGS}:C{','.join(map(str, values))}")
    assert in_fen == ask(client, path, fen=THREE_KINGS, **dict(zip(names, values, strict=True)))
    assert list(in_fen["counters"].values()) == list(values)
    assert in_fen["fen"] == THREE_KINGS


@pytest.mark.parametrize("path", QUESTIONS)
def test_the_clock_of_lidraughts(client: FlaskClient, path: str) -> None:
    clock = {"fen": f"{THREE_KINGS}:H7:F20"}
    assert ask(client, path, **clock, ruleset="lidraughts")["counters"]["balance_plies"] == 7
    assert ask(client, path, **clock)["counters"]["balance_plies"] == 0
    given = ask(client, path, **clock, ruleset="lidraughts", road_moves=2)
    assert (given["ruleset"], given["counters"]["balance_plies"], given["counters"]["road_moves"]) == (
        "lidraughts",
        7,
        2,
    )


def test_what_counts_nothing_in_a_position_is_0(client: FlaskClient) -> None:
    answer = ask(client, "/v1/position", fen="W:WKa1,c3:Bh8", balance_plies=9, three_kings_moves=3)
    assert (answer["counters"]["balance_plies"], answer["counters"]["three_kings_moves"]) == (0, 0)


def test_a_game_that_a_rule_has_drawn(client: FlaskClient) -> None:
    answer = ask(client, "/v1/position", fen="W:WKa1,Ke1,c3:BKb8", king_plies=30)
    assert (answer["verdict"], answer["winner"], answer["rules_outcome"]) == ("drawn", None, "draw")
    assert answer["game_over"] is True
    assert [rule["rule"] for rule in answer["rules"] if rule["fired"]] == ["king-moves"]
    # As if it went on: a man's move begins the count anew, and that of the balance goes on.
    assert answer["outcome"] == "win"
    assert {move["move"]: move["rules_outcome"] for move in answer["moves"]} == {
        "c3-d4": "win",
        "c3-b4": "win",
        "e1-f2": "draw",
        "e1-d2": "draw",
        "e1-h4": "draw",
        "a1-b2": "draw",
        "e1-g3": "draw",
    }


def test_a_draw_that_can_be_claimed(client: FlaskClient) -> None:
    answer = ask(client, "/v1/position", fen="B:WKa1,Ke1,c3:BKb8", repetitions=3)
    assert (answer["outcome"], answer["verdict"], answer["rules_outcome"]) == ("loss", "claimable", "draw")
    assert answer["game_over"] is False


def test_every_ruleset_reports_its_own_rules(client: FlaskClient) -> None:
    for name, ruleset in RULESETS.items():
        answer = ask(client, "/v1/position", fen=THREE_KINGS, ruleset=name)
        assert answer["ruleset"] == name
        assert [rule["rule"] for rule in answer["rules"]] == [rule.name for rule in ruleset.rules]
        cases = ask(client, "/v1/draw-cases", fen=THREE_KINGS, ruleset=name)["cases"]
        has = {rule.name.value for rule in ruleset.rules}
        for case in cases:
            assert (case["article"] is not None) == (case["rule"] in has)
            assert case["applies"] <= (case["rule"] in has)


@pytest.mark.parametrize(
    ("fen", "outcome"),
    [
        ("W:WKc5,g1,h4,g7:Bc7", "win"),  # by c5-b6; others are not known
        ("B:WKf8,g5,b6,a7:Bh8", "loss"),
        ("W:WKc3,Kf8,b6:BKa1,Kf2", "draw"),
        ("W:WKa1,e1,c3:BKh8,Kb8", "unknown"),
    ],
)
def test_moves_tell_the_outcome_of_a_position_without_a_table(
    client: FlaskClient, fen: str, outcome: str
) -> None:
    answer = ask(client, "/v1/position", fen=fen)
    assert (answer["outcome"], answer["rules_outcome"], answer["cause"]) == ("unknown", "unknown", None)
    assert (answer["outcome_from_moves"], answer["rules_outcome_from_moves"]) == (outcome, outcome)


@pytest.mark.parametrize(
    ("fen", "rule", "needs"),
    [
        ("W:WKc1,Kd2,Ka3:BKe1:C2,2,2,0,1", "three-kings", (13, True)),
        ("W:WKc1,Kd2,Ka3:BKe1:C3,3,3,0,1", "three-kings", (13, False)),
        ("W:WKd6,a1,a3:BKd4", "main-road", (7, False)),
        ("W:WKb8,Kd8,Kh4:BKh8", "main-road", (None, None)),  # a draw
        ("W:WKc1,Kd2,Ka3:BKe1", "king-moves", (None, None)),
    ],
)
def test_rules_tell_the_moves_that_a_win_needs(
    client: FlaskClient, fen: str, rule: str, needs: tuple[int | None, bool | None]
) -> None:
    states = {state["rule"]: state for state in ask(client, "/v1/position", fen=fen)["rules"]}
    assert (states[rule]["moves_needed"], states[rule]["within_limit"]) == needs


@pytest.mark.parametrize("ruleset", ["official", "lidraughts", "fmjd64"])
def test_answers_equal_what_the_library_says(client: FlaskClient, app: Flask, ruleset: str) -> None:
    tablebase = tablebase_of(app)
    for number, position in enumerate(random_positions(25, seed=5, max_pieces=4)):
        clock = Clock.start(position, RULESETS[ruleset], Counters(number, number, number // 2, number // 9))
        fen = clock.to_fen()
        answer = ask(client, "/v1/position", fen=fen, ruleset=ruleset)
        search = RuleSearch(tablebase, SEARCH_EFFORT)
        ruling = clock.ruling(win_oracle(tablebase))
        found = {case.rule.value: case for case in draw_cases(tablebase, clock)}
        for rule, state in zip(answer["rules"], rules_report(ruling.states), strict=True):
            case = found.get(rule["rule"])
            needs = (None, None) if case is None else (case.moves_needed, case.within_limit)
            assert rule == {**state, "moves_needed": needs[0], "within_limit": needs[1]}
        prospect, moves = search.evaluate(clock, ruling.verdict, tablebase.get_probe(position))
        assert (answer["verdict"], answer["rules_outcome"]) == (ruling.verdict, prospect)
        assert [(move["move"], move["rules_outcome"]) for move in answer["moves"]] == [
            (str(move.move), move.prospect) for move in moves
        ]
        cases = ask(client, "/v1/draw-cases", fen=fen, ruleset=ruleset)["cases"]
        assert cases == [draw_case_report(case) for case in draw_cases(tablebase, clock)]


def test_without_tables_the_counts_are_told(tmp_path: Path) -> None:
    app = create_app({DATA_DIRECTORY: tmp_path})
    with tablebase_of(app):
        answer = ask(app.test_client(), "/v1/position", fen=THREE_KINGS, king_plies=30)
        assert (answer["outcome"], answer["verdict"], answer["rules_outcome"]) == ("unknown", "drawn", "draw")
        answer = ask(app.test_client(), "/v1/position", fen=Position.start().to_fen())
        assert {move["rules_outcome"] for move in answer["moves"]} == {"unknown"}


@pytest.mark.parametrize("path", QUESTIONS)
@pytest.mark.parametrize(
    ("parameters", "kind", "says"),
    [
        ({"king_plies": "x"}, "bad-counter", "the parameter king_plies is 'x'"),
        ({"road_moves": "-1"}, "bad-counter", "the parameter road_moves is '-1'"),
        ({"repetitions": ""}, "bad-counter", "the parameter repetitions is ''"),
        ({"balance_plies": "1000000"}, "bad-counter", "a whole number from 0 to 999999"),
        ({"balance_plies": "1\u0662"}, "bad-counter", "the parameter balance_plies is"),
        ({"ruleset": "house"}, "bad-ruleset", "'house' is not a ruleset; the rulesets are official"),
        ({"ruleset": ""}, "bad-ruleset", "'' is not a ruleset"),
        (
            {"fen": f"{THREE_KINGS}:C1,1,0,0,1", "road_moves": "0"},
            "bad-counter",
            "road_moves is given twice, as 0 and by the field 'C1,1,0,0,1' of the FEN",
        ),
        (
            {"fen": f"{THREE_KINGS}:H3", "balance_plies": "3", "ruleset": "lidraughts"},
            "bad-counter",
            "balance_plies is given twice, as 3 and by the field 'H3' of the FEN",
        ),
        ({"fen": f"{THREE_KINGS}:C1,1,0,0,1:C1,1,0,0,1"}, "bad-notation", "2 fields of counters"),
    ],
)
def test_what_is_asked_wrongly(
    client: FlaskClient, path: str, parameters: dict[str, str], kind: str, says: str
) -> None:
    response = client.get(path, query_string={"fen": THREE_KINGS, **parameters})
    assert response.status_code == 400
    body = json.loads(response.text)
    assert body["type"].endswith(":" + kind)
    assert says in body["detail"]


@pytest.mark.parametrize("path", [*QUESTIONS, "/v1/game"])
def test_a_parameter_of_another_name_is_refused(client: FlaskClient, path: str) -> None:
    asked = {"ruleset": "club", "kingplies": "29", "data": "x"}
    if path == "/v1/game":
        response = client.post(path, query_string=asked, data=b"1. c3-d4")
        known = "it takes ruleset, numbering"
    else:
        response = client.get(path, query_string={"fen": THREE_KINGS, **asked})
        known = (
            "it takes fen, ruleset, numbering, king_plies, balance_plies, three_kings_moves, road_moves, rep"
        )
    assert response.status_code == 400
    body = json.loads(response.text)
    assert body["type"].endswith(":bad-parameter")
    assert f"'kingplies', 'data' are not parameters of {path}; {known}" in body["detail"]


def test_a_parameter_is_given_once(client: FlaskClient) -> None:
    for name, value in (("king_plies", "1"), ("ruleset", "club")):
        response = client.get("/v1/position", query_string=[("fen", THREE_KINGS), *2 * [(name, value)]])
        assert response.status_code == 400
        assert f"the parameter {name} is given 2 times" in json.loads(response.text)["detail"]
