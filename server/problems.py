"""Errors as HTTP answers: the one place where exceptions become statuses, and the one shape they all have.

The shape is that of RFC 9457, `application/problem+json`: `type`, `title`, `status`, `detail`. A `type` other
than `about:blank` names the kind of problem and does not change; the texts may.
"""

from __future__ import annotations

from enum import Enum, auto
from http import HTTPStatus
from typing import NamedTuple

from flask import Flask, Response, current_app, json, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from tablebase.errors import (
    CounterError,
    IllegalPositionError,
    MaterialError,
    NoSuchPositionError,
    NotationError,
    RulesetError,
    TablebaseError,
    TableError,
    TooRareError,
    quote,
)

MEDIA_TYPE = "application/problem+json"

_TYPES = "tag:shashki-tablebase,2026:"  # RFC 4151: names that stay as they are and lead nowhere


class Fault(Enum):
    """Whose fault an error is: that of whoever asked, or of this server."""

    USER = auto()
    OURS = auto()


class BadParameterError(TablebaseError, ValueError):
    """A parameter of a request that is missing or makes no sense: the message names it."""


class NoSuchMaterialError(TablebaseError, LookupError):
    """A material that has no table here."""


class _Kind(NamedTuple):
    error: type[Exception]
    fault: Fault
    status: HTTPStatus
    type: str
    title: str


# The first that fits is taken, so the particular ones stand before the general ones.
_KINDS = (
    _Kind(BadParameterError, Fault.USER, HTTPStatus.BAD_REQUEST, _TYPES + "bad-parameter", "Bad parameter"),
    _Kind(NoSuchMaterialError, Fault.USER, HTTPStatus.NOT_FOUND, _TYPES + "no-such-material", "No table"),
    _Kind(
        NoSuchPositionError, Fault.USER, HTTPStatus.NOT_FOUND, _TYPES + "no-such-position", "No such position"
    ),
    _Kind(
        TooRareError, Fault.USER, HTTPStatus.SERVICE_UNAVAILABLE, _TYPES + "too-rare", "Too rare to be found"
    ),
    _Kind(MaterialError, Fault.USER, HTTPStatus.BAD_REQUEST, _TYPES + "bad-material", "Not a material"),
    _Kind(RulesetError, Fault.USER, HTTPStatus.BAD_REQUEST, _TYPES + "bad-ruleset", "No such ruleset"),
    _Kind(CounterError, Fault.USER, HTTPStatus.BAD_REQUEST, _TYPES + "bad-counter", "Not a counter"),
    _Kind(NotationError, Fault.USER, HTTPStatus.BAD_REQUEST, _TYPES + "bad-notation", "Not a position"),
    _Kind(
        IllegalPositionError,
        Fault.USER,
        HTTPStatus.BAD_REQUEST,
        _TYPES + "illegal-position",
        "Illegal position",
    ),
    _Kind(
        TableError,
        Fault.OURS,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        _TYPES + "bad-table",
        "A table cannot be used",
    ),
    _Kind(Exception, Fault.OURS, HTTPStatus.INTERNAL_SERVER_ERROR, "about:blank", "Internal Server Error"),
)
_OURS_DETAIL = "the fault is this server's, not the request's, and has been logged; asking again may not help"


def register_problems(app: Flask) -> None:
    """Make an application answer every error with a problem, never with a page or a trace."""
    app.register_error_handler(Exception, _answer)


def _answer(error: Exception) -> Response:
    if isinstance(error, HTTPException):
        return _answer_http(error)
    kind = next(kind for kind in _KINDS if isinstance(error, kind.error))
    detail = str(error)
    if kind.fault is Fault.OURS:
        current_app.logger.error("%s %s failed", request.method, request.full_path, exc_info=error)
        detail = _OURS_DETAIL
    return _problem(kind.status, kind.type, kind.title, detail)


def _answer_http(error: HTTPException) -> Response:
    """The answer to what the framework itself refuses."""
    status = HTTPStatus(error.code or HTTPStatus.INTERNAL_SERVER_ERROR)
    path = quote(request.path)
    if isinstance(error, NotFound):
        detail = f"there is nothing at {path}; docs/api.md lists what there is, and / is the page for people"
    elif isinstance(error, MethodNotAllowed):
        allowed = ", ".join(sorted(error.valid_methods or ()))
        detail = f"{path} does not take {request.method}; it takes {allowed}"
    else:
        detail = error.description or status.phrase
    response = Response(plain_problem(status, detail), status, mimetype=MEDIA_TYPE)
    for name, value in error.get_headers(request.environ):
        if name.lower() != "content-type":
            response.headers[name] = value
    return response


def _problem(status: HTTPStatus, type_: str, title: str, detail: str) -> Response:
    return Response(_body(status, type_, title, detail), status, mimetype=MEDIA_TYPE)


def plain_problem(status: HTTPStatus, detail: str) -> str:
    """The body of a problem that its status alone names, for what never reaches the application."""
    return _body(status, "about:blank", status.phrase, detail)


def _body(status: HTTPStatus, type_: str, title: str, detail: str) -> str:
    return json.dumps({"type": type_, "title": title, "status": int(status), "detail": detail})
