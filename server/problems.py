"""Errors as HTTP responses: the one place where exceptions become statuses.

Every error has the form of RFC 9457, `application/problem+json`: `type`, `title`, `status`, `detail`. A
`type` other than `about:blank` identifies the kind of problem and does not change; the texts may change.
"""

from __future__ import annotations

from enum import Enum, auto
from http import HTTPStatus
from typing import Annotated, NamedTuple, NoReturn, TypedDict

from flask import Flask, Response, current_app, json, request
from pydantic import ValidationError
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound, RequestEntityTooLarge

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
RETRY_AFTER = 1
"""Seconds after which to send a request again that the service is too busy for."""

_TYPES = "tag:shashki-tablebase,2026:"  # RFC 4151: permanent names that are not addresses


class ProblemReport(TypedDict):
    """Why there is no answer."""

    type: Annotated[
        str, "the kind of problem, a name that does not change; about:blank if the status says it all"
    ]
    title: Annotated[str, "the kind of problem, for people"]
    status: Annotated[int, "the status of the answer"]
    detail: Annotated[str, "what is wrong, and what to do about it"]


class Fault(Enum):
    """Whose fault an error is: the user's or this server's."""

    USER = auto()
    OURS = auto()


class BadParameterError(TablebaseError, ValueError):
    """A missing or invalid parameter of a request; the message names it."""


class BadBodyError(TablebaseError, ValueError):
    """A body that the request does not take; the message says what is wrong with it."""


class UnsupportedMediaTypeError(TablebaseError, ValueError):
    """A body of a type that the request does not take; the message names the types that it takes."""


class NoSuchMaterialError(TablebaseError, LookupError):
    """A material that has no table here."""


class RetryLaterError(TablebaseError, RuntimeError):
    """A request that may be answered later.

    Attributes:
        seconds: after how many seconds to send it again.
    """

    def __init__(self, message: str, seconds: int = RETRY_AFTER) -> None:
        super().__init__(message)
        self.seconds = seconds


class BusyError(RetryLaterError):
    """More work than this server does at a time."""


class TooManyRequestsError(RetryLaterError):
    """More requests from one address than this server answers; the message says when to send the next one."""


class NoTablesError(TablebaseError, RuntimeError):
    """A server without tables."""


class _Kind(NamedTuple):
    error: type[Exception]
    fault: Fault
    status: HTTPStatus
    type: str
    title: str


def _users(error: type[Exception], status: HTTPStatus, name: str, title: str) -> _Kind:
    return _Kind(error, Fault.USER, status, _TYPES + name, title)


# The first match counts, so subclasses come before their base classes.
_KINDS = (
    _users(BadParameterError, HTTPStatus.BAD_REQUEST, "bad-parameter", "Bad parameter"),
    _users(BadBodyError, HTTPStatus.BAD_REQUEST, "bad-body", "Bad body"),
    _users(
        UnsupportedMediaTypeError,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        "unsupported-media-type",
        "Unsupported media type",
    ),
    _users(NoSuchMaterialError, HTTPStatus.NOT_FOUND, "no-such-material", "No table of this material"),
    _users(NoSuchPositionError, HTTPStatus.NOT_FOUND, "no-such-position", "No such position"),
    _users(TooRareError, HTTPStatus.SERVICE_UNAVAILABLE, "too-rare", "Too rare to be found"),
    _users(BusyError, HTTPStatus.SERVICE_UNAVAILABLE, "busy", "Too much to do"),
    _users(TooManyRequestsError, HTTPStatus.TOO_MANY_REQUESTS, "too-many-requests", "Too many requests"),
    _users(NoTablesError, HTTPStatus.SERVICE_UNAVAILABLE, "no-tables", "No tables"),
    _users(MaterialError, HTTPStatus.BAD_REQUEST, "bad-material", "Not a material"),
    _users(RulesetError, HTTPStatus.BAD_REQUEST, "bad-ruleset", "No such ruleset"),
    _users(CounterError, HTTPStatus.BAD_REQUEST, "bad-counter", "Not a counter"),
    _users(NotationError, HTTPStatus.BAD_REQUEST, "bad-notation", "Not a position"),
    _users(IllegalPositionError, HTTPStatus.BAD_REQUEST, "illegal-position", "Illegal position"),
    _Kind(
        TableError,
        Fault.OURS,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        _TYPES + "bad-table",
        "A table cannot be used",
    ),
    _Kind(Exception, Fault.OURS, HTTPStatus.INTERNAL_SERVER_ERROR, "about:blank", "Internal Server Error"),
)
_OURS_DETAIL = "this is an error of the server, not of the request; it was logged, and a retry may not help"


def register_problems(app: Flask) -> None:
    """Make an application answer every error with a problem, never with an HTML page or a traceback."""
    app.register_error_handler(Exception, _answer)

    @app.after_request
    def empty(response: Response) -> Response:
        # For a redirect or OPTIONS the headers say everything: drop the framework's HTML page.
        if response.status_code == HTTPStatus.PERMANENT_REDIRECT or request.method == "OPTIONS":
            response.set_data(b"")
            response.headers.pop("Content-Type", None)
        return response


def refuse_invalid(error: ValidationError) -> NoReturn:
    """Raise our own error for a request that flask-openapi3 finds invalid.

    Raises:
        TablebaseError: the error that a validator raised.
        BadBodyError: the body is invalid in another way; the message names the field.
        BadParameterError: a parameter is invalid in another way; the message names it.
    """
    first = error.errors(include_url=False)[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, TablebaseError):
        raise cause
    where = ".".join(map(str, first["loc"])) or "it"
    message = first["msg"].lower()
    if error.title.endswith("Body"):
        raise BadBodyError(f"the body is invalid: {where}: {message}")
    raise BadParameterError(f"the parameter {where} is invalid: {message}")


def problem_of(error: TablebaseError) -> ProblemReport:
    """Return the problem for an error that one of many positions of a request has.

    Raises:
        TablebaseError: the error itself, if it is this server's fault.
    """
    kind = _kind_of(error)
    if kind.fault is Fault.OURS:
        raise error
    return _problem(kind.status, kind.type, kind.title, str(error))


def plain_problem(status: HTTPStatus, detail: str) -> str:
    """Return the body of a problem without a type of its own. It needs no application."""
    return json.dumps(_problem(status, "about:blank", status.phrase, detail))


def _kind_of(error: Exception) -> _Kind:
    return next(kind for kind in _KINDS if isinstance(error, kind.error))


def _answer(error: Exception) -> Response:
    if isinstance(error, HTTPException):
        return _answer_http(error)
    kind = _kind_of(error)
    detail = str(error)
    if kind.fault is Fault.OURS:
        current_app.logger.error("%s %s failed", request.method, request.full_path, exc_info=error)
        detail = _OURS_DETAIL
    body = json.dumps(_problem(kind.status, kind.type, kind.title, detail))
    response = Response(body, kind.status, mimetype=MEDIA_TYPE)
    if isinstance(error, RetryLaterError):
        response.headers["Retry-After"] = str(error.seconds)
    return response


def _answer_http(error: HTTPException) -> Response:
    """Return the response to a request that Flask or werkzeug refuses."""
    status = HTTPStatus(error.code or HTTPStatus.INTERNAL_SERVER_ERROR)
    path = quote(request.path)
    if isinstance(error, NotFound):
        detail = f"there is nothing at {path}; /openapi/ lists the routes, and / is the web page"
    elif isinstance(error, MethodNotAllowed):
        allowed = ", ".join(sorted(error.valid_methods or ()))
        detail = f"{path} does not take {request.method}; it takes {allowed}"
    elif isinstance(error, RequestEntityTooLarge):
        detail = f"the body is longer than {request.max_content_length} bytes; split it into several requests"
    else:
        detail = error.description or status.phrase
    response = Response(plain_problem(status, detail), status, mimetype=MEDIA_TYPE)
    for name, value in error.get_headers(request.environ):
        if name.lower() != "content-type":
            response.headers[name] = value
    return response


def _problem(status: HTTPStatus, type_: str, title: str, detail: str) -> ProblemReport:
    return {"type": type_, "title": title, "status": int(status), "detail": detail}
