"""`POST /v1/positions`: many positions at once, an answer or a problem for each."""

import json
from typing import Any

import pytest
from flask.testing import FlaskClient
from strategies import random_positions

PATH = "/v1/positions"


def ask(client: FlaskClient, body: object) -> Any:
    response = client.post(PATH, json=body)
    assert response.status_code == 200, response.text
    return json.loads(response.text)


def refused(client: FlaskClient, status: int, **sent: Any) -> dict[str, Any]:
    response = client.post(PATH, **sent)
    assert response.status_code == status, response.text
    assert response.mimetype == "application/problem+json"
    return dict(json.loads(response.text))


def test_parameters_of_a_batch_stand_in_its_body(client: FlaskClient) -> None:
    answer = client.post("/v1/positions?ruleset=club", json={"positions": ["W:WKa1:BKh8"]})
    assert answer.status_code == 400
    assert (
        "'ruleset' is not a parameter of /v1/positions; it takes no parameters" in answer.get_json()["detail"]
    )


@pytest.mark.parametrize("ruleset", [None, "lidraughts"])
def test_each_is_what_it_is_alone(client: FlaskClient, ruleset: str | None) -> None:
    fens = [position.to_fen() for position in random_positions(15, seed=4, max_pieces=4)]
    fens += ["W:WKc1,Kd2,Ka3:BKe1:C5,5,2,0,1", "B:WKa1:B"]
    asked = {} if ruleset is None else {"ruleset": ruleset}
    answer = ask(client, {"positions": fens, **asked})
    assert list(answer) == ["ruleset", "results"]
    assert answer["ruleset"] == (ruleset or "official")
    for fen, result in zip(fens, answer["results"], strict=True):
        alone = client.get("/v1/position", query_string={"fen": fen, **asked}).text
        assert result == {"position": json.loads(alone)}


def test_one_that_is_none_keeps_no_other_from_its_answer(client: FlaskClient) -> None:
    fens = ["hello", "W:WKa1:BKa1", "W:WKa1:BKh8", "W:WK1:BK32", "W:WKa1:BKh8:C1"]
    results = ask(client, {"positions": fens})["results"]
    kinds = [
        result["problem"]["type"].rpartition(":")[2] if "problem" in result else "" for result in results
    ]
    assert kinds == ["bad-notation", "illegal-position", "", "bad-notation", "bad-notation"]
    for fen, result in zip(fens, results, strict=True):
        if "problem" in result:
            assert result["problem"] == json.loads(client.get("/v1/position", query_string={"fen": fen}).text)
    (result,) = ask(client, {"positions": ["W:WK1:BK32"], "numbering": "a1"})["results"]
    assert result["position"]["fen"] == "W:WKa1:BKh8"


def test_a_thousand_and_no_more(client: FlaskClient) -> None:
    fens = ["W:W:B"] * 1000
    assert len(ask(client, {"positions": fens})["results"]) == 1000
    body = refused(client, 400, json={"positions": [*fens, fens[0]]})
    assert (body["type"].rpartition(":")[2], "1001 FENs; send at most 1000" in body["detail"]) == (
        "bad-body",
        True,
    )


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"data": b"{"}, "not JSON"),
        ({"data": b""}, "not JSON"),
        ({"data": b"\xff\xfe"}, "not JSON"),
        ({"data": b"[" * 100_000}, "too many levels"),
        ({"data": b'{"positions":' * 10_000}, "too many levels"),
        ({"json": ["W:WKa1:BKh8"]}, "not an object"),
        ({"json": '{"positions": ["W:WKa1:BKh8"]}'}, "not an object"),
        ({"json": {}}, "positions: field required"),
        ({"json": {"positions": []}}, "positions is empty; send at least one FEN"),
        ({"json": {"positions": "W:WKa1:BKh8"}}, "positions: input should be a valid list"),
        ({"json": {"positions": [1]}}, "positions.0: input should be a valid string"),
        ({"json": {"positions": ["W:W:B"], "fen": "x"}}, "fen: extra inputs are not permitted"),
        ({"json": {"positions": ["W:W:B"], "numbering": "h1"}}, "'h1' is not a numbering"),
    ],
)
def test_what_is_no_such_body(client: FlaskClient, sent: dict[str, Any], says: str) -> None:
    if "data" in sent:
        sent = {**sent, "content_type": "application/json"}
    body = refused(client, 400, **sent)
    assert body["type"].endswith(":bad-body")
    assert says in body["detail"]
    assert len(body["detail"]) < 300


def test_bodies_of_other_types_and_lengths(client: FlaskClient) -> None:
    for sent in ({"data": b"{}"}, {"data": b"{}", "content_type": "text/plain"}):
        body = refused(client, 415, **sent)
        assert body["type"].endswith(":unsupported-media-type")
        assert "/v1/positions takes application/json" in body["detail"]
    body = refused(client, 413, data=b"x" * 300_000, content_type="application/json")
    assert "longer than 262144 bytes" in body["detail"]
    response = client.post("/v1/game", data=b"1. c3-d4", content_type="application/json")
    assert response.status_code == 415
    assert "takes text/plain or application/x-chess-pdn" in json.loads(response.text)["detail"]
    response = client.post("/v1/game", data=b" " * 66_000, content_type="text/plain")
    assert response.status_code == 413
    assert "longer than 65536 bytes" in json.loads(response.text)["detail"]
    body = refused(client, 400, json={"positions": ["W:W:B"], "ruleset": "house"})
    assert body["type"].endswith(":bad-ruleset")
