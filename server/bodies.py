"""What bodies requests take: of which types, how long, and JSON that is an object."""

from __future__ import annotations

from typing import NamedTuple

from flask import Flask, request
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge

from server.problems import BadBodyError, UnsupportedMediaTypeError
from server.settings import Settings

JSON = "application/json"
PDN = ("text/plain", "application/x-chess-pdn")


class _Taken(NamedTuple):
    types: tuple[str, ...]
    tolerated: tuple[str, ...]
    most_bytes: int


def register_bodies(app: Flask, settings: Settings) -> None:
    """Make an application refuse bodies that its routes do not take, before anything else is done."""
    # A form is what curl says of any text unless it is told otherwise, and many programs say nothing at all.
    unsaid = ("", "application/x-www-form-urlencoded", "application/octet-stream")
    taken = {
        "/v1/positions": _Taken((JSON,), (), settings.max_body_bytes),
        "/v1/game": _Taken(PDN, unsaid, settings.max_pdn_bytes),
    }
    app.config["MAX_CONTENT_LENGTH"] = max(kind.most_bytes for kind in taken.values())

    @app.before_request
    def check_body() -> None:
        rule = request.url_rule
        if request.method != "POST" or rule is None or rule.rule not in taken:
            return
        types, tolerated, most = taken[rule.rule]
        request.max_content_length = most
        if request.mimetype not in types + tolerated:
            raise UnsupportedMediaTypeError(
                f"the body is of the type {request.mimetype or 'nothing says what'}; "
                f"{rule.rule} takes {' or '.join(types)}: name it in the header Content-Type"
            )
        # Of a body in chunks, no more is read than there may be, and that in silence.
        if request.content_length is None and len(request.get_data()) >= most:
            raise RequestEntityTooLarge
        if JSON in types:
            _check_json()


def _check_json() -> None:
    try:
        body = request.get_json()
    except BadRequest:
        raise BadBodyError(
            'the body is no JSON; send an object like {"positions": ["W:WKa1:BKh8"]}'
        ) from None
    except RecursionError:
        raise BadBodyError("the body is JSON of more depth than anything here needs") from None
    if not isinstance(body, dict):
        raise BadBodyError('the body is JSON, but no object; send one like {"positions": ["W:WKa1:BKh8"]}')
