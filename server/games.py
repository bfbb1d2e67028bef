"""The route about games."""

from __future__ import annotations

from http import HTTPStatus
from itertools import islice

from flask import Response, jsonify
from flask_openapi3 import RawModel

from server.bodies import PDN
from server.documents import answers, routes
from server.effort import heavy
from server.metrics import POSITIONS
from server.parameters import GamesParameters
from server.problems import BadBodyError
from server.service import this_service
from tablebase.adjudication import Adjudicator
from tablebase.gamereport import GamesReport, game_report
from tablebase.pdn import decode_pdn, read_games

api = routes("games", "games judged under the draw rules")


class Games(RawModel):
    """A text in PDN."""

    mimetypes: list[str] = list(PDN)  # noqa: RUF012  # as the base class has it


@api.post(
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
    service = this_service()
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
    with heavy():
        judged = [game_report(adjudicator.game(game)) for game in read]
    POSITIONS.inc(sum(1 + len(game["plies"]) for game in judged))
    told: GamesReport = {"ruleset": query.ruleset.name, "games": judged}
    return jsonify(told)
