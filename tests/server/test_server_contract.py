"""The API keeps its own contract: requests are made from the OpenAPI document, and answers held to it."""

import json
import re
from typing import Any

import pytest
import schemathesis
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import HealthCheck, Phase, given, settings
from paths import ROOT
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from server.openapi import model_of
from server.routes import PositionsReport
from tablebase.report.games import GamesReport
from tablebase.report.materials import MaterialDetailsReport, MaterialsReport, RandomReport
from tablebase.report.positions import DrawCasesReport, LineReport, PositionReport
from tablebase.report.rules import RulesetsReport

API = (ROOT / "docs" / "api.md").read_text("utf-8")
DOCUMENT = "/openapi/openapi.json"
GAME = '[FEN "W:WKc1,Kd2,Ka3:BKe1"] 1. a3-e7 hello'
FEN = "W:WKc1,Kd2,Ka3:BKe1"
GOOD: list[tuple[type, str, dict[str, Any]]] = [
    (PositionReport, "/v1/position", {"query_string": {"fen": FEN}}),
    (PositionReport, "/v1/position", {"query_string": {"fen": "W:WKa1,e1,c3:BKh8,Kb8"}}),
    (PositionReport, "/v1/position", {"query_string": {"fen": "B:WKa1:B"}}),
    (LineReport, "/v1/line", {"query_string": {"fen": FEN}}),
    (DrawCasesReport, "/v1/draw-cases", {"query_string": {"fen": FEN, "ruleset": "club"}}),
    (PositionsReport, "/v1/positions", {"json": {"positions": [FEN, "x"]}}),
    (GamesReport, "/v1/game", {"data": GAME}),
    (GamesReport, "/v1/game", {"data": "1. c3-d4 1-1"}),
    (MaterialsReport, "/v1/materials", {}),
    (MaterialDetailsReport, "/v1/materials/KKMvK", {}),
    (RandomReport, "/v1/random", {}),
    (RulesetsReport, "/v1/rulesets", {}),
]


@pytest.fixture(scope="module")
def document(app: Flask) -> Any:
    return json.loads(app.test_client().get(DOCUMENT).text)


def test_the_document(document: Any, client: FlaskClient) -> None:
    assert document["openapi"].startswith("3.1.")
    paths = {
        f"{method.upper()} " + path.replace("{", "<").replace("}", ">")
        for path, operations in document["paths"].items()
        for method in operations
    }
    routes = set(re.findall(r"^\| `([A-Z]+ /[^`?]*)[^`]*` \|", API, re.MULTILINE))
    of_the_page = {"GET /", "GET /static/<path:name>", "GET /openapi/", f"GET {DOCUMENT}"}
    assert routes - of_the_page == paths
    for operations in document["paths"].values():
        for operation in operations.values():
            assert operation["summary"]
            for name in (parameter["name"] for parameter in operation.get("parameters", [])):
                assert f"`{name}`" in API, name
            assert "application/problem+json" in operation["responses"]["400"]["content"]


def test_the_browsable_page_asks_nobody_else(client: FlaskClient) -> None:
    assert 'href="swagger"' in client.get("/openapi/").text
    page = client.get("/openapi/swagger").text
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", page)
    assert '"validatorUrl": null' in page or '"validatorUrl":null' in page
    for address in re.findall(r'(?:src|href)="([^"]+)"', page):
        assert client.get(f"/openapi/{address}", buffered=True).status_code == 200


@pytest.mark.parametrize(("report", "path", "asked"), GOOD)
def test_answers_are_as_the_document_has_them(
    client: FlaskClient, report: type, path: str, asked: dict[str, Any]
) -> None:
    method = "GET" if "query_string" in asked or not asked else "POST"
    response = client.open(path, method=method, **asked)
    assert response.status_code == 200, response.text
    model_of(report).model_validate_json(response.text, strict=True)


def test_requests_made_from_the_document(app: Flask) -> None:
    schema = schemathesis.openapi.from_wsgi(DOCUMENT, app)
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) >= 11
    checks = (
        not_a_server_error,
        status_code_conformance,
        content_type_conformance,
        response_schema_conformance,
    )

    for operation in operations:
        can_be_wrong = operation.query or operation.body
        for mode in schemathesis.GenerationMode if can_be_wrong else [schemathesis.GenerationMode.POSITIVE]:

            @settings(
                max_examples=12,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
                derandomize=True,
                database=None,
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def ask(case: Any) -> None:
                case.call_and_validate(checks=checks)

            ask()
