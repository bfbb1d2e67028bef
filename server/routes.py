"""The routes of the service."""

from __future__ import annotations

from http import HTTPStatus
from itertools import islice
from pathlib import Path
from secrets import randbelow
from typing import Annotated, TypedDict

from flask import Flask, Response, jsonify, send_from_directory
from flask_openapi3 import RawModel

from server.limits import limit_concurrency
from server.metrics import POSITIONS, metrics_text
from server.openapi import answers, blueprint
from server.problems import BadBodyError, NoSuchMaterialError, NoTablesError, ProblemReport, problem_of
from server.requests import (
    MAX_SEED,
    PDN,
    GamesParameters,
    LineParameters,
    MaterialPath,
    NoParameters,
    PositionParameters,
    PositionsBody,
    RandomParameters,
)
from server.service import current_service
from tablebase import __version__
from tablebase.board.material import Material
from tablebase.errors import TablebaseError
from tablebase.games.adjudication import Adjudicator
from tablebase.games.analysis import analyse
from tablebase.games.lone_kings import draw_cases as find_draw_cases
from tablebase.games.pdn import decode_pdn, read_games
from tablebase.games.search import RuleSearch
from tablebase.report.games import GamesReport, game_report
from tablebase.report.materials import (
    MaterialDetailsReport,
    MaterialsReport,
    RandomReport,
    material_details_report,
    materials_report,
    random_report,
)
from tablebase.report.positions import (
    DrawCasesReport,
    LineReport,
    PositionReport,
    draw_cases_report,
    line_report,
    position_report,
)
from tablebase.report.rules import RulesetsReport, rulesets_report
from tablebase.rules.clock import Clock
from tablebase.rules.rulesets import RULESETS

positions_api = blueprint("positions", "what positions are worth")


class PositionResult(TypedDict):
    """The result for a valid FEN."""

    position: Annotated[PositionReport, "as of /v1/position"]


class PositionError(TypedDict):
    """The problem of an invalid FEN."""

    problem: Annotated[ProblemReport, "why it is not a position"]


class PositionsReport(TypedDict):
    """Many positions."""

    ruleset: Annotated[str, "the rules that they are judged by"]
    results: Annotated[list[PositionResult | PositionError], "one for each position, in their order"]


@positions_api.get("/v1/position", responses=answers(PositionReport))
def position(query: PositionParameters) -> Response:
    """The value of a position and its game, and its moves, best first."""
    return jsonify(_analysed(query.clock(), current_service().search()))


@positions_api.get("/v1/line", responses=answers(LineReport, HTTPStatus.SERVICE_UNAVAILABLE))
def line(query: LineParameters) -> Response:
    """Best play of both sides from a position on."""
    clock, plies, service = query.clock(), query.plies(), current_service()
    search = service.search()
    with limit_concurrency():
        report = line_report(service.tablebase, search.line(clock, plies), clock, search)
    POSITIONS.inc(1 + len(report["moves"]))
    return jsonify(report)


@positions_api.get("/v1/draw-cases", responses=answers(DrawCasesReport))
def draw_cases(query: PositionParameters) -> Response:
    """What the three-kings and main-road rules say about a position."""
    POSITIONS.inc()
    clock = query.clock()
    return jsonify(draw_cases_report(clock, find_draw_cases(current_service().tablebase, clock)))


@positions_api.post(
    "/v1/positions",
    responses=answers(
        PositionsReport,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.SERVICE_UNAVAILABLE,
    ),
)
def positions(body: PositionsBody, query: NoParameters) -> Response:
    """The values of many positions: an answer or a problem for each."""
    body.check_size()
    ruleset, numbering = body.rules(), body.squares()
    search = current_service().search()

    def result(fen: str) -> PositionResult | PositionError:
        try:
            return {"position": _analysed(Clock.from_fen(fen, ruleset, numbering), search)}
        except TablebaseError as error:
            return {"problem": problem_of(error)}

    with limit_concurrency():
        results = [result(fen) for fen in body.positions]
    report: PositionsReport = {"ruleset": ruleset.name, "results": results}
    return jsonify(report)


def _analysed(clock: Clock, search: RuleSearch) -> PositionReport:
    POSITIONS.inc()
    return position_report(analyse(current_service().tablebase, clock, search))


games_api = blueprint("games", "games judged under the draw rules")


class Games(RawModel):
    """A text in PDN."""

    mimetypes: list[str] = list(PDN)  # noqa: RUF012  # as the base class has it


@games_api.post(
    "/v1/game",
    responses=answers(
        GamesReport,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.SERVICE_UNAVAILABLE,
    ),
)
def games(query: GamesParameters, raw: Games) -> Response:
    """Judge games: their results, the rules that fired, their mistakes."""
    service = current_service()
    settings = service.settings
    read = list(islice(read_games(decode_pdn(raw.get_data())), settings.max_games + 1))
    if not read:
        raise BadBodyError("the body has no game; send a text in PDN, like 1. c3-d4 d6-c5 1-1")
    if len(read) > settings.max_games:
        raise BadBodyError(
            f"the body has more than {settings.max_games} games; send them in several requests"
        )
    adjudicator = Adjudicator(
        service.tablebase,
        query.ruleset,
        query.numbering,
        settings.request_effort // len(read),
        settings.max_game_plies,
    )
    with limit_concurrency():
        judged = [game_report(adjudicator.game(game)) for game in read]
    POSITIONS.inc(sum(1 + len(game["plies"]) for game in judged))
    report: GamesReport = {"ruleset": query.ruleset.name, "games": judged}
    return jsonify(report)


tables_api = blueprint("tables", "what the tables hold, and the rules")

_PLAIN_SHARE = 50  # a probe takes about so many times as long without compiled kernels


@tables_api.get("/v1/materials", responses=answers(MaterialsReport))
def materials(query: NoParameters) -> Response:
    """The materials with tables, and how many positions of each have which outcome."""
    return jsonify(materials_report(current_service().catalog))


@tables_api.get(
    "/v1/materials/<name>",
    responses=answers(MaterialDetailsReport, HTTPStatus.NOT_FOUND),
)
def material(path: MaterialPath, query: NoParameters) -> Response:
    """One material, with all that its tables and the manifest tell."""
    return jsonify(material_details_report(current_service().catalog, _with_table(path.name)))


@tables_api.get(
    "/v1/random",
    responses=answers(RandomReport, HTTPStatus.NOT_FOUND, HTTPStatus.SERVICE_UNAVAILABLE),
)
def random(query: RandomParameters) -> Response:
    """A random position of a material with a wanted outcome."""
    asked = None if query.material is None else _with_table(query.material)
    seed = randbelow(MAX_SEED) if query.seed is None else query.seed
    service = current_service()
    effort = service.settings.random_effort
    if not service.compiled:
        effort = max(1, effort // _PLAIN_SHARE)
    with limit_concurrency():
        report = random_report(service.catalog, asked, query.outcome, seed, effort)
    POSITIONS.inc()
    response = jsonify(report)
    if query.seed is None:
        response.headers["Cache-Control"] = "no-store"
    return response


@tables_api.get("/v1/rulesets", responses=answers(RulesetsReport))
def rulesets(query: NoParameters) -> Response:
    """The draw rules of every ruleset."""
    return jsonify(rulesets_report(RULESETS.values()))


def _with_table(name: str) -> Material:
    asked = Material.parse(name)
    if asked not in current_service().catalog.materials:
        raise NoSuchMaterialError(f"there is no table of {asked} here; /v1/materials lists those there are")
    return asked


_STATIC = Path(__file__).parent / "static"

operations_api = blueprint("operations", "for those who run the service")


class HealthReport(TypedDict):
    """The health of the service."""

    status: Annotated[str, "always ok"]
    version: Annotated[str, "the version of the program"]
    tables: Annotated[str, "the version of the tables, as in /v1/materials"]
    pieces: Annotated[int, "up to how many pieces all materials have tables"]


@operations_api.get("/health", responses=answers(HealthReport, HTTPStatus.SERVICE_UNAVAILABLE, limited=False))
def health() -> Response:
    """The health of the service: whether it has tables."""
    service = current_service()
    if not service.catalog.materials:
        raise NoTablesError("there are no tables where this server looks for them")
    report: HealthReport = {
        "status": "ok",
        "version": __version__,
        "tables": service.catalog.version,
        "pieces": service.tablebase.pieces,
    }
    return jsonify(report)


@operations_api.get(
    "/metrics",
    responses=answers(
        {"description": "what was counted, as Prometheus reads it", "content": {"text/plain": {}}},
        limited=False,
    ),
)
def metrics() -> Response:
    """Counts of requests by route and status, their durations, positions, and the bytes in the cache."""
    return metrics_text()


def register_page(app: Flask) -> None:
    """Add the page at `/` and its files under `/static/` to an application."""

    def file(name: str = "index.html") -> Response:
        return send_from_directory(_STATIC, name)

    app.add_url_rule("/", "index", file)
    app.add_url_rule("/static/<path:name>", "static", file)


BLUEPRINTS = (positions_api, games_api, tables_api, operations_api)
