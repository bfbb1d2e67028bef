"""Requests that nobody means well: each gets a problem, at once, and the next good one its answer."""

import json
from collections.abc import Iterator
from random import Random
from time import process_time
from typing import Any

import pytest
from flask import Flask

from server.problems import MEDIA_TYPE

QUESTIONS = ["/v1/position", "/v1/line", "/v1/draw-cases"]
GOOD = "W:WKa1,Ke1,c3:BKb8"
ALPHABET = "WB:KMkm,.;()[]{}<>'\"/\\%&?=#+-*0123456789abcdefghABCDEFGH \t\n\x00\x7fКВсае♔\U0001f3b2"


def text(random: Random, longest: int) -> str:
    return "".join(random.choices(ALPHABET, k=random.randrange(longest)))


def spoilt(random: Random, sound: str) -> str:
    """Sound text with some characters gone, doubled or replaced."""
    letters = list(sound)
    for _ in range(random.randint(1, 4)):
        place = random.randrange(len(letters))
        letters[place] = random.choice(["", letters[place] * random.choice([2, 50]), random.choice(ALPHABET)])
    return "".join(letters)


def nested(random: Random) -> bytes:
    depth = random.choice([10, 1000, 100_000])
    opening, closing = random.choice([(b"[", b"]"), (b'{"positions":', b"}"), (b'{"a":[', b"]}")])
    return (opening * depth + random.choice([b"", b"1"]) + closing * depth)[:250_000]


def requests(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Requests to be refused, but for a FEN that is sound yet, and texts that are taken for games."""
    random = Random(seed)
    for _ in range(count):
        match random.randrange(8):
            case 0:
                yield {"path": random.choice(QUESTIONS), "query_string": {"fen": "x" + text(random, 200)}}
            case 1:
                yield {
                    "path": random.choice(QUESTIONS),
                    "query_string": {"fen": spoilt(random, GOOD)},
                    "as": "fen",
                }
            case 2:
                name = random.choice(["king_plies", "ruleset", "numbering", text(random, 20) or "x"])
                query = {"fen": GOOD, name: "-" + text(random, 30)}
                yield {"path": random.choice(QUESTIONS), "query_string": query}
            case 3:
                yield {"path": "/v1/positions", "method": "POST", "data": nested(random), "as": "json"}
            case 4:
                data = random.randbytes(random.choice([0, 1, 100, 300_000]))
                yield {"path": "/v1/positions", "method": "POST", "data": data, "as": "json"}
            case 5:
                body = {
                    random.choice(["positions", "fens"]): random.choice([None, 1, "x", [], [1], {}, [[]]])
                }
                yield {"path": "/v1/positions", "method": "POST", "data": json.dumps(body), "as": "json"}
            case 6:
                data = random.choice([text(random, 3000).encode(), random.randbytes(3000), b"(" * 60_000])
                yield {"path": "/v1/game", "method": "POST", "data": data, "as": "text"}
            case 7:
                path = random.choice(
                    ["/v1/materials/", "/v1/random?material=", "/v1/nothing?", "/static/../"]
                )
                yield {"path": path + "x" + "".join(random.choices("KMv/.%", k=random.randrange(50)))}


def answered(app: Flask, count: int, seed: int) -> float:
    """Asks all of them; the most time of the processor that one took, in seconds."""
    client = app.test_client()
    types = {"json": "application/json", "text": "text/plain"}
    longest = 0.0
    statuses = set()
    for number, asked in enumerate(requests(count, seed)):
        kind = asked.pop("as", None)
        began = process_time()
        response = client.open(**asked, content_type=types.get(kind))
        longest = max(longest, process_time() - began)
        statuses.add(response.status_code)
        if response.status_code == 200:
            assert kind in ("text", "fen"), asked
            continue
        assert 400 <= response.status_code < 500, (asked, response.text)
        body = json.loads(response.text)
        assert list(body) == ["type", "title", "status", "detail"], asked
        assert (response.mimetype, body["status"]) == (MEDIA_TYPE, response.status_code)
        assert len(body["detail"]) < 1000, body
        if number % 100 == 0:
            good = client.get("/v1/position", query_string={"fen": GOOD})
            assert json.loads(good.text)["dtw"] == 31
    assert {400, 404, 413} <= statuses
    return longest


def test_malformed_requests(app: Flask) -> None:
    answered(app, 300, seed=1)


@pytest.mark.whole
def test_ten_thousand_malformed_requests_none_of_them_over_a_second(app: Flask) -> None:
    assert answered(app, 10_000, seed=2) < 1


def test_all_errors_are_problem_json(app: Flask) -> None:
    client = app.test_client()
    rules = [rule for rule in app.url_map.iter_rules() if rule.rule.startswith(("/v1/", "/health"))]
    assert len(rules) >= 10
    seen = set()
    for rule in rules:
        path = rule.rule.replace("<name>", "KKvK")
        refused = [client.delete(path), client.patch(path), client.get(f"{path}/nothing/at/all")]
        if "POST" in (rule.methods or ()):
            refused.append(client.post(path, data=b"x" * 300_000, content_type="application/json"))
            refused.append(client.post(path, data=b"x" * 300_000, content_type="text/plain"))
        if path.startswith("/v1/"):
            method = "POST" if "POST" in (rule.methods or ()) else "GET"
            refused.append(client.open(f"{path}?nonsense=1", method=method))
        for response in refused:
            body = json.loads(response.text)
            assert list(body) == ["type", "title", "status", "detail"]
            assert (response.mimetype, body["status"]) == (MEDIA_TYPE, response.status_code)
            seen.add(response.status_code)
    assert seen == {400, 404, 405, 413, 415}
