"""Headers: answers are good as long as the tables are the same, and pages of other sites may read them."""

from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from server.app import DATA_DIRECTORY, create_app, tablebase_of
from server.service import get_service

READABLE = [
    "/v1/position?fen=W:WKa1:BKh8",
    "/v1/draw-cases?fen=W:WKa1:BKh8",
    "/v1/line?fen=W:WKa1:BKh8",
    "/v1/materials",
    "/v1/materials/KKvK",
    "/v1/random?seed=1",
    "/v1/rulesets",
]


@pytest.mark.parametrize("path", READABLE)
def test_unchanged_response_is_304(client: FlaskClient, path: str) -> None:
    first = client.get(path)
    etag = first.headers["ETag"]
    assert first.headers["Cache-Control"] == "no-cache"
    for known in (etag, f'"other", {etag}', f"W/{etag}", "*"):
        again = client.get(path, headers={"If-None-Match": known})
        assert (again.status_code, again.data) == (304, b"")
        assert again.headers["ETag"] == etag
    assert client.get(path, headers={"If-None-Match": '"other"'}).data == first.data


def test_other_tables_have_another_etag(client: FlaskClient, tables3: Path) -> None:
    app = create_app({DATA_DIRECTORY: tables3})
    with tablebase_of(app):
        there, here = (asked.get(READABLE[0]).headers["ETag"] for asked in (app.test_client(), client))
    assert there != here


def test_changing_responses_have_no_etag(client: FlaskClient) -> None:
    chance = client.get("/v1/random")
    assert chance.headers["Cache-Control"] == "no-store"
    for response in (chance, client.get("/v1/position"), client.get("/health"), client.get("/metrics")):
        assert "ETag" not in response.headers
    assert client.get("/v1/position?fen=x", headers={"If-None-Match": "*"}).status_code == 400


def test_cors_headers(client: FlaskClient) -> None:
    for response in (
        client.get(READABLE[0]),
        client.get("/v1/position"),
        client.get("/v1/nothing"),
        client.post("/v1/positions", json={"positions": ["W:WKa1:BKh8"]}),
        client.get("/openapi/openapi.json"),
    ):
        assert response.headers["Access-Control-Allow-Origin"] == "*"
    for path, method in ((READABLE[0], "GET"), ("/v1/positions", "POST"), ("/v1/game", "POST")):
        preflight = client.options(
            path, headers={"Origin": "https://example.org", "Access-Control-Request-Method": method}
        )
        assert preflight.status_code == 200
        assert method in preflight.headers["Access-Control-Allow-Methods"].split(", ")
        assert "Content-Type" in preflight.headers["Access-Control-Allow-Headers"]
    assert "Access-Control-Allow-Origin" not in client.get("/", buffered=True).headers


def test_busy_service_answers_503(client: FlaskClient, app: Flask) -> None:
    service = get_service(app)
    taken = 0
    while service.heavy.acquire(blocking=False):
        taken += 1
    try:
        assert taken == service.settings.max_heavy
        for response in (
            client.get("/v1/line?fen=W:WKa1:BKh8"),
            client.get("/v1/random"),
            client.post("/v1/positions", json={"positions": ["W:WKa1:BKh8"]}),
            client.post("/v1/game", data="1. c3-d4"),
        ):
            assert (response.status_code, response.mimetype) == (503, "application/problem+json")
            assert response.headers["Retry-After"] == "1"
        assert client.get(READABLE[0]).status_code == 200
    finally:
        for _ in range(taken):
            service.heavy.release()
    assert client.get("/v1/line?fen=W:WKa1:BKh8").status_code == 200


def test_rate_limit_answers_429(tables3: Path) -> None:
    app = create_app({DATA_DIRECTORY: tables3, "MAX_PER_MINUTE": 3})
    with tablebase_of(app):
        client = app.test_client()
        for _ in range(3):
            assert client.get(READABLE[0]).status_code == 200
        refused = client.get(READABLE[0])
        assert (refused.status_code, refused.mimetype) == (429, "application/problem+json")
        told = refused.get_json()
        assert told["type"] == "tag:shashki-tablebase,2026:too-many-requests"
        assert 1 <= int(refused.headers["Retry-After"]) <= 120
        assert f"again in {refused.headers['Retry-After']} s" in told["detail"]
        elsewhere = {"REMOTE_ADDR": "192.0.2.1"}
        assert client.get(READABLE[0], environ_overrides=elsewhere).status_code == 200
        assert client.get("/health").status_code == 200


def test_responses_without_body_have_no_content_type(client: FlaskClient) -> None:
    moved = client.get("/openapi")
    assert (moved.status_code, moved.data) == (308, b"")
    assert moved.headers["Location"].endswith("/openapi/")
    for response in (moved, client.options(READABLE[0])):
        assert "Content-Type" not in response.headers
        assert response.data == b""


def test_health(client: FlaskClient, app: Flask, tmp_path: Path) -> None:
    told = client.get("/health").get_json()
    assert list(told) == ["status", "version", "tables", "pieces"]
    assert (told["status"], told["pieces"]) == ("ok", 4)
    assert told["tables"] == client.get("/v1/materials").get_json()["version"]
    empty = create_app({DATA_DIRECTORY: tmp_path})
    with tablebase_of(empty):
        response = empty.test_client().get("/health")
    assert (response.status_code, response.mimetype) == (503, "application/problem+json")


def test_metrics(client: FlaskClient) -> None:
    def counted(name: str) -> float:
        values = [
            float(line.rpartition(" ")[2])
            for line in client.get("/metrics").text.splitlines()
            if line.startswith(name + " ")
        ]
        return values[0] if values else 0.0

    ok = 'shashki_requests_total{method="GET",route="/v1/position",status="200"}'
    bad = 'shashki_requests_total{method="GET",route="/v1/position",status="400"}'
    nowhere = 'shashki_requests_total{method="GET",route="none",status="404"}'
    names = (
        ok,
        bad,
        nowhere,
        "shashki_positions_total",
        'shashki_request_seconds_count{route="/v1/position"}',
    )
    before = [counted(name) for name in names]
    client.get(READABLE[0])
    client.get("/v1/position?fen=")
    client.get("/v1/nothing/at/all")
    client.post("/v1/positions", json={"positions": ["W:WKa1:BKh8", "x"]})
    assert [counted(name) for name in names] == [
        count + more for count, more in zip(before, (1, 1, 1, 2, 2), strict=True)
    ]
    assert counted("shashki_cache_bytes") > 0


def test_settings_are_obeyed(tables3: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHASHKI_MAX_LINE_PLIES", "5")
    monkeypatch.setenv("SHASHKI_MAX_POSITIONS", "3")
    app = create_app({DATA_DIRECTORY: tables3, "MAX_POSITIONS": 2, "MAX_GAMES": 1, "MAX_GAME_PLIES": 2})
    with tablebase_of(app):
        client = app.test_client()
        assert len(client.get("/v1/line?fen=W:WKa1,Kc1:BKh2").get_json()["moves"]) <= 5
        assert client.get("/v1/line?fen=W:WKa1:BKh8&limit=6").status_code == 400
        assert client.post("/v1/positions", json={"positions": ["x"] * 3}).status_code == 400
        assert client.post("/v1/positions", json={"positions": ["x"] * 2}).status_code == 200
        assert client.post("/v1/game", data="1. c3-d4 1-1\n\n1. c3-d4 1-1").status_code == 400
        (game,) = client.post("/v1/game", data="1. c3-d4 d6-c5 2. b2-c3 1-1").get_json()["games"]
        assert [problem["kind"] for problem in game["problems"]] == ["too-long"]
