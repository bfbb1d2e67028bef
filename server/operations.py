"""The routes for those who run the service, and the page's files."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from typing import Annotated, TypedDict

from flask import Flask, Response, jsonify, send_from_directory

from server.documents import answers, routes
from server.metrics import metrics_text
from server.problems import NoTablesError
from server.service import program_version, this_service

_STATIC = Path(__file__).parent / "static"

api = routes("operations", "for those who run the service")


class HealthReport(TypedDict):
    """A service that answers."""

    status: Annotated[str, "always ok"]
    version: Annotated[str, "the version of the program"]
    tables: Annotated[str, "the version of the tables, as in /v1/materials"]
    pieces: Annotated[int, "up to how many pieces all materials have tables"]


@api.get("/health", responses=answers(HealthReport, HTTPStatus.SERVICE_UNAVAILABLE, limited=False))
def health() -> Response:
    """Whether there are tables to answer from."""
    service = this_service()
    if not service.catalog.materials:
        raise NoTablesError("there are no tables where this server looks for them")
    told: HealthReport = {
        "status": "ok",
        "version": program_version(),
        "tables": service.catalog.version,
        "pieces": service.tablebase.pieces,
    }
    return jsonify(told)


@api.get(
    "/metrics",
    responses=answers(
        {"description": "what was counted, as Prometheus reads it", "content": {"text/plain": {}}},
        limited=False,
    ),
)
def metrics() -> Response:
    """Requests by route and status, their durations, positions, and how full the cache is."""
    return metrics_text()


def register_page(app: Flask) -> None:
    """The page for people, at `/`, and what it is made of, under `/static/`."""

    def file(name: str = "index.html") -> Response:
        return send_from_directory(_STATIC, name)

    app.add_url_rule("/", "index", file)
    app.add_url_rule("/static/<path:name>", "static", file)
