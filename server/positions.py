"""The routes about positions."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, TypedDict

from flask import Response, jsonify

from server.documents import answers, routes
from server.effort import heavy
from server.metrics import POSITIONS
from server.parameters import LineParameters, NoParameters, PositionParameters, PositionsBody
from server.problems import ProblemReport, problem_of
from server.service import this_service
from tablebase.clock import Clock
from tablebase.errors import TablebaseError
from tablebase.report import (
    DrawCasesReport,
    LineReport,
    PositionReport,
    best_line_report,
    draw_cases_report,
    position_report,
)
from tablebase.rulesearch import RuleSearch

api = routes("positions", "what positions are worth")


class FoundReport(TypedDict):
    """A position that is one."""

    position: Annotated[PositionReport, "as of /v1/position"]


class RefusedReport(TypedDict):
    """A position that is none."""

    problem: Annotated[ProblemReport, "why it is none"]


class PositionsReport(TypedDict):
    """Many positions."""

    ruleset: Annotated[str, "the rules that they are judged by"]
    results: Annotated[list[FoundReport | RefusedReport], "one for each position, in their order"]


@api.get("/v1/position", responses=answers(PositionReport))
def position(query: PositionParameters) -> Response:
    """What a position and its game are worth, and its moves, best first."""
    return jsonify(_told(query.clock(), this_service().search()))


@api.get("/v1/line", responses=answers(LineReport, HTTPStatus.SERVICE_UNAVAILABLE))
def line(query: LineParameters) -> Response:
    """Best play of both sides from a position on."""
    clock, plies, service = query.clock(), query.plies(), this_service()
    with heavy():
        told = best_line_report(service.tablebase, clock, plies, service.search())
    POSITIONS.inc(1 + len(told["moves"]))
    return jsonify(told)


@api.get("/v1/draw-cases", responses=answers(DrawCasesReport))
def draw_cases(query: PositionParameters) -> Response:
    """What the three-kings and main-road rules say about a position."""
    POSITIONS.inc()
    return jsonify(draw_cases_report(this_service().tablebase, query.clock()))


@api.post(
    "/v1/positions",
    responses=answers(
        PositionsReport,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.SERVICE_UNAVAILABLE,
    ),
)
def positions(body: PositionsBody, query: NoParameters) -> Response:
    """Many positions at once: an answer or a problem for each."""
    body.check_size()
    ruleset, numbering = body.rules(), body.squares()
    search = this_service().search()

    def result(fen: str) -> FoundReport | RefusedReport:
        try:
            return {"position": _told(Clock.from_fen(fen, ruleset, numbering), search)}
        except TablebaseError as error:
            return {"problem": problem_of(error)}

    with heavy():
        told: PositionsReport = {"ruleset": ruleset.name, "results": [result(fen) for fen in body.positions]}
    return jsonify(told)


def _told(clock: Clock, search: RuleSearch) -> PositionReport:
    POSITIONS.inc()
    return position_report(this_service().tablebase, clock, search)
