"""The HTTP application: questions in the address, answers in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from itertools import islice
from typing import Any

from flask import Flask, Response, current_app, jsonify, request

from server.problems import BadParameterError, register_problems
from tablebase.adjudication import Adjudicator
from tablebase.board import Position
from tablebase.cache import DEFAULT_BYTES
from tablebase.datadir import data_directory
from tablebase.drawcases import draw_cases
from tablebase.drawrules import OFFICIAL, find_ruleset
from tablebase.errors import NotationError
from tablebase.gamereport import game_report
from tablebase.notation import Numbering, find_numbering
from tablebase.pdn import decode_pdn, read_games
from tablebase.report import draw_case_report, position_report
from tablebase.tablebase import Tablebase, open_tablebase

DATA_DIRECTORY = "DATA_DIRECTORY"
"""Setting: the directory of the tables; by default the one that the command line would use."""
CACHE_BYTES = "CACHE_BYTES"
"""Setting: how much memory decoded frames may take, in bytes."""

MAX_GAMES = 50
"""The most games of one request."""
MAX_BODY_BYTES = 64 * 1024
"""The longest body of a request, in bytes: some fifty games of a hundred plies, judged in a few seconds."""

_EXTENSION = "shashki-tablebase"


def create_app(config: Mapping[str, Any] | None = None) -> Flask:
    """The application, its tables open; every thread may serve with it.

    Args:
        config: settings: `DATA_DIRECTORY`, `CACHE_BYTES`, and those of Flask.

    Raises:
        DataDirectoryError: there is no such directory.
        WrongVersionError: its tables have another format or were made under other rules.
    """
    app = Flask("server", static_folder=None)
    app.config.from_mapping(
        {DATA_DIRECTORY: None, CACHE_BYTES: DEFAULT_BYTES, "MAX_CONTENT_LENGTH": MAX_BODY_BYTES}
    )
    app.config.from_mapping(config or {})
    app.json.sort_keys = False  # type: ignore[attr-defined]  # the order of the keys is part of the answer
    app.extensions[_EXTENSION] = open_tablebase(
        data_directory(app.config[DATA_DIRECTORY]), cache_bytes=app.config[CACHE_BYTES]
    )
    app.add_url_rule("/", view_func=index)
    app.add_url_rule("/v1/position", view_func=position)
    app.add_url_rule("/v1/draw-cases", view_func=position_draw_cases)
    app.add_url_rule("/v1/game", view_func=games, methods=["POST"])
    register_problems(app)
    return app


def tablebase_of(app: Flask) -> Tablebase:
    """The tables that an application answers from; close them when it is not needed any more."""
    tablebase = app.extensions[_EXTENSION]
    assert isinstance(tablebase, Tablebase)
    return tablebase


def index() -> Response:
    """`GET /`: the page."""
    return Response(files("server").joinpath("page.html").read_bytes(), mimetype="text/html")


def position() -> Response:
    """`GET /v1/position?fen=`: what a position is worth, and its moves, best first."""
    return jsonify(position_report(tablebase_of(current_app), _position_asked()))


def position_draw_cases() -> Response:
    """`GET /v1/draw-cases?fen=`: what the three-kings and main-road rules say about a position."""
    asked = _position_asked()
    cases = draw_cases(tablebase_of(current_app), asked)
    return jsonify({"fen": asked.to_fen(), "cases": [draw_case_report(case) for case in cases]})


def games() -> Response:
    """`POST /v1/game`, a PDN text as the body: its games judged, under the parameter `ruleset`."""
    name = _parameter("ruleset")
    ruleset = OFFICIAL if name is None else find_ruleset(name)
    adjudicator = Adjudicator(tablebase_of(current_app), ruleset, _numbering_asked())
    read = list(islice(read_games(decode_pdn(request.get_data())), MAX_GAMES + 1))
    if not read:
        raise BadParameterError("the body has no game; send a text in PDN, like 1. c3-d4 d6-c5 1-1")
    if len(read) > MAX_GAMES:
        raise BadParameterError(f"the body has more than {MAX_GAMES} games; send them in several requests")
    return jsonify({"ruleset": ruleset.name, "games": [game_report(adjudicator.game(game)) for game in read]})


def _position_asked() -> Position:
    """The position of the parameter `fen`; `numbering` says what numeric squares mean in it."""
    fen = _parameter("fen")
    if fen is None:
        raise BadParameterError(f"the parameter fen is missing; ask like {request.path}?fen=W:WKa1,c3:BKh8")
    return Position.from_fen(fen, _numbering_asked())


def _parameter(name: str) -> str | None:
    """The text of a parameter; None if it is not given."""
    values = request.args.getlist(name)
    if len(values) > 1:
        raise BadParameterError(f"the parameter {name} is there {len(values)} times; give it once")
    return values[0] if values else None


def _numbering_asked() -> Numbering | None:
    """What numeric squares mean, by the parameter `numbering`; None if it is not given."""
    try:
        return find_numbering(_parameter("numbering"))
    except NotationError as error:
        raise BadParameterError(f"the parameter numbering: {error}") from None
