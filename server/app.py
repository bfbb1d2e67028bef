"""The HTTP application: questions in the address, answers in JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from secrets import randbelow
from typing import Any

from flask import Flask, Response, current_app, jsonify, request, send_from_directory

from server.problems import BadParameterError, NoSuchMaterialError, register_problems
from tablebase.adjudication import Adjudicator
from tablebase.cache import DEFAULT_BYTES
from tablebase.catalog import Catalog
from tablebase.clock import Clock
from tablebase.counters import Counter
from tablebase.datadir import data_directory
from tablebase.drawcases import draw_cases
from tablebase.drawrules import OFFICIAL, RULESETS, Ruleset, find_ruleset
from tablebase.errors import CounterError, NotationError, quote
from tablebase.gamereport import game_report
from tablebase.material import Material
from tablebase.materialreport import material_details_report, materials_report
from tablebase.notation import Numbering, find_numbering
from tablebase.outcome import Outcome
from tablebase.pdn import decode_pdn, read_games
from tablebase.randomreport import random_report
from tablebase.report import best_line_report, draw_case_report, position_report
from tablebase.rulesetreport import rulesets_report
from tablebase.tablebase import Tablebase, open_tablebase

DATA_DIRECTORY = "DATA_DIRECTORY"
"""Setting: the directory of the tables; by default the one that the command line would use."""
CACHE_BYTES = "CACHE_BYTES"
"""Setting: how much memory decoded frames may take, in bytes."""

MAX_GAMES = 50
"""The most games of one request."""
MAX_BODY_BYTES = 64 * 1024
"""The longest body of a request, in bytes: some fifty games of a hundred plies, judged in a few seconds."""

MAX_EFFORT = 1000
"""How many positions may be looked at for one request to judge games, shared out among them, where the tables
alone do not tell what a position with its counters is worth: some seconds, where they are all needed."""

_GAME_PARAMETERS = ("ruleset", "numbering")
_POSITION_PARAMETERS = ("fen", *_GAME_PARAMETERS, *(str(counter) for counter in Counter))
_COUNT = re.compile(r"[0-9]{1,6}")
_EXTENSION = "shashki-tablebase"
_CATALOG = "shashki-catalog"
STATIC = Path(__file__).parent / "static"

DEFAULT_LINE_PLIES = 100
MAX_LINE_PLIES = 500
"""The longest line of a request, in plies."""
RANDOM_EFFORT = 1_000_000
"""How many positions may be probed to find a random one whose outcome is rarest: a second or two."""
MAX_SEED = 2**53 - 1
"""The greatest seed: what every reader of JSON takes for a whole number."""


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
    app.extensions[_CATALOG] = Catalog(tablebase_of(app), data_directory(app.config[DATA_DIRECTORY]))
    app.add_url_rule("/", view_func=index)
    app.add_url_rule("/static/<path:name>", view_func=static)
    app.add_url_rule("/v1/position", view_func=position)
    app.add_url_rule("/v1/line", view_func=line)
    app.add_url_rule("/v1/draw-cases", view_func=position_draw_cases)
    app.add_url_rule("/v1/game", view_func=games, methods=["POST"])
    app.add_url_rule("/v1/materials", view_func=materials)
    app.add_url_rule("/v1/materials/<name>", view_func=material)
    app.add_url_rule("/v1/random", view_func=random)
    app.add_url_rule("/v1/rulesets", view_func=rulesets)
    register_problems(app)
    return app


def tablebase_of(app: Flask) -> Tablebase:
    """The tables that an application answers from; close them when it is not needed any more."""
    tablebase = app.extensions[_EXTENSION]
    assert isinstance(tablebase, Tablebase)
    return tablebase


def catalog_of(app: Flask) -> Catalog:
    """What an application knows of its materials."""
    catalog = app.extensions[_CATALOG]
    assert isinstance(catalog, Catalog)
    return catalog


def index() -> Response:
    """`GET /`: the page."""
    return static("index.html")


def static(name: str) -> Response:
    """`GET /static/...`: what the page is made of."""
    return send_from_directory(STATIC, name)


def position() -> Response:
    """`GET /v1/position?fen=`: what a position and its game are worth, and its moves, best first."""
    return jsonify(position_report(tablebase_of(current_app), _clock_asked()))


def line() -> Response:
    """`GET /v1/line?fen=`: best play of both sides from a position on."""
    clock = _clock_asked("limit")
    limit = _number("limit", MAX_LINE_PLIES)
    return jsonify(
        best_line_report(tablebase_of(current_app), clock, DEFAULT_LINE_PLIES if limit is None else limit)
    )


def position_draw_cases() -> Response:
    """`GET /v1/draw-cases?fen=`: what the three-kings and main-road rules say about a position."""
    clock = _clock_asked()
    cases = draw_cases(tablebase_of(current_app), clock)
    return jsonify(
        {
            "fen": clock.position.to_fen(),
            "ruleset": clock.ruleset.name,
            "counters": asdict(clock.counters),
            "cases": [draw_case_report(case) for case in cases],
        }
    )


def games() -> Response:
    """`POST /v1/game`, a PDN text as the body: its games judged, under the parameter `ruleset`."""
    _refuse_others(_GAME_PARAMETERS)
    ruleset, numbering = _ruleset_asked(), _numbering_asked()
    read = list(islice(read_games(decode_pdn(request.get_data())), MAX_GAMES + 1))
    if not read:
        raise BadParameterError("the body has no game; send a text in PDN, like 1. c3-d4 d6-c5 1-1")
    if len(read) > MAX_GAMES:
        raise BadParameterError(f"the body has more than {MAX_GAMES} games; send them in several requests")
    adjudicator = Adjudicator(tablebase_of(current_app), ruleset, numbering, MAX_EFFORT // len(read))
    return jsonify({"ruleset": ruleset.name, "games": [game_report(adjudicator.game(game)) for game in read]})


def materials() -> Response:
    """`GET /v1/materials`: every material that has a table, and what was counted of it."""
    _refuse_others(())
    return jsonify(materials_report(catalog_of(current_app)))


def material(name: str) -> Response:
    """`GET /v1/materials/KKvK`: one material, with all that is known of it."""
    _refuse_others(())
    return jsonify(material_details_report(catalog_of(current_app), _material(name)))


def random() -> Response:
    """`GET /v1/random?material=&outcome=`: a random position."""
    _refuse_others(("material", "outcome", "seed"))
    name, outcome_name, seed = _parameter("material"), _parameter("outcome"), _number("seed", MAX_SEED)
    asked = None if name is None else _material(name)
    outcome = None if outcome_name is None else _outcome(outcome_name)
    if seed is None:
        seed = randbelow(MAX_SEED)
    return jsonify(random_report(catalog_of(current_app), asked, outcome, seed, RANDOM_EFFORT))


def rulesets() -> Response:
    """`GET /v1/rulesets`: the draw rules of every ruleset."""
    _refuse_others(())
    return jsonify(rulesets_report(RULESETS.values()))


def _material(name: str) -> Material:
    """The material of that name, which has a table."""
    asked = Material.parse(name)
    if asked not in catalog_of(current_app).materials:
        raise NoSuchMaterialError(f"there is no table of {asked} here; /v1/materials lists those there are")
    return asked


def _outcome(name: str) -> Outcome:
    outcomes = [str(outcome) for outcome in Outcome if outcome is not Outcome.UNKNOWN]
    if name not in outcomes:
        raise BadParameterError(f"the parameter outcome is {quote(name)}; there are {', '.join(outcomes)}")
    return Outcome(name)


def _number(name: str, most: int) -> int | None:
    """A parameter that is a whole number; None if it is not given."""
    text = _parameter(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 16 and int(text) <= most):
        raise BadParameterError(
            f"the parameter {name} is {quote(text)}; it is a whole number from 0 to {most}"
        )
    return int(text)


def _clock_asked(*others: str) -> Clock:
    """The position of the parameter `fen`, with the counters of its game and the rules to judge it by.

    `numbering` says what numeric squares mean in it; a counter is a parameter of its name, unless the FEN has
    it; `ruleset` names the rules. `others` are parameters that there are besides.
    """
    _refuse_others((*_POSITION_PARAMETERS, *others))
    fen = _parameter("fen")
    if fen is None:
        raise BadParameterError(f"the parameter fen is missing; ask like {request.path}?fen=W:WKa1,c3:BKh8")
    return Clock.from_fen(fen, _ruleset_asked(), _numbering_asked(), _counters_asked())


def _refuse_others(known: Sequence[str]) -> None:
    """Refuse parameters that mean nothing here: one that is misspelt must not be taken for one that is not
    given."""
    unknown = [name for name in request.args if name not in known]
    if unknown:
        names = ", ".join(map(quote, unknown))
        are = "is no parameter" if len(unknown) == 1 else "are no parameters"
        raise BadParameterError(f"{names} {are} of {request.path}; there are {', '.join(known)}")


def _parameter(name: str) -> str | None:
    """The text of a parameter; None if it is not given."""
    values = request.args.getlist(name)
    if len(values) > 1:
        raise BadParameterError(f"the parameter {name} is there {len(values)} times; give it once")
    return values[0] if values else None


def _counters_asked() -> dict[Counter, int]:
    """The counters that are parameters."""
    asked = {}
    for counter in Counter:
        text = _parameter(counter)
        if text is None:
            continue
        if not _COUNT.fullmatch(text):
            raise CounterError(
                f"the parameter {counter} is {quote(text)}; a counter is a whole number from 0 to 999999"
            )
        asked[counter] = int(text)
    return asked


def _ruleset_asked() -> Ruleset:
    """The draw rules to judge by, by the parameter `ruleset`; the official ones if it is not given."""
    name = _parameter("ruleset")
    return OFFICIAL if name is None else find_ruleset(name)


def _numbering_asked() -> Numbering | None:
    """What numeric squares mean, by the parameter `numbering`; None if it is not given."""
    try:
        return find_numbering(_parameter("numbering"))
    except NotationError as error:
        raise BadParameterError(f"the parameter numbering: {error}") from None
