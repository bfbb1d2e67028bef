"""Errors as HTTP answers: the one place where exceptions become statuses, and the one shape they all have.

The shape is that of RFC 9457, `application/problem+json`: `type`, `title`, `status`, `detail`. A `type` other
than `about:blank` names the kind of problem and does not change; the texts may.
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
"""After how many seconds to come again, where the service has too much to do."""

_TYPES = "tag:shashki-tablebase,2026:"  # RFC 4151: names that stay as they are and lead nowhere


class ProblemReport(TypedDict):
    """Why there is no answer."""

    type: Annotated[
        str, "the kind of problem, a name that does not change; about:blank: the status says it all"
    ]
    title: Annotated[str, "the kind of problem, for people"]
    status: Annotated[int, "the status of the answer"]
    detail: Annotated[str, "what is wrong, and what to do about it"]


class Fault(Enum):
    """Whose fault an error is: that of whoever asked, or of this server."""

    USER = auto()
    OURS = auto()


class BadParameterError(TablebaseError, ValueError):
    """A parameter of a request that is missing or makes no sense: the message names it."""


class BadBodyError(TablebaseError, ValueError):
    """A body that is not what a request takes: the message says what is wrong with it."""


class UnsupportedMediaTypeError(TablebaseError, ValueError):
    """A body of a type that a request does not take: the message says which it takes."""


class NoSuchMaterialError(TablebaseError, LookupError):
    """A material that has no table here."""


class RetryLaterError(TablebaseError, RuntimeError):
    """A request that would be answered later.

    Attributes:
        seconds: after how many seconds to come again.
    """

    def __init__(self, message: str, seconds: int = RETRY_AFTER) -> None:
        super().__init__(message)
        self.seconds = seconds


class BusyError(RetryLaterError):
    """More to do than this server does at a time."""


class TooManyRequestsError(RetryLaterError):
    """More requests from one address than this server answers: the message says when to come again."""


class NoTablesError(TablebaseError, RuntimeError):
    """A server without any tables."""


class _Kind(NamedTuple):
    error: type[Exception]
    fault: Fault
    status: HTTPStatus
    type: str
    title: str


def _users(error: type[Exception], status: HTTPStatus, name: str, title: str) -> _Kind:
    return _Kind(error, Fault.USER, status, _TYPES + name, title)


# The first that fits is taken, so the particular ones stand before the general ones.
_KINDS = (
    _users(BadParameterError, HTTPStatus.BAD_REQUEST, "bad-parameter", "Bad parameter"),
    _users(BadBodyError, HTTPStatus.BAD_REQUEST, "bad-body", "Bad body"),
    _users(
        UnsupportedMediaTypeError,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        "unsupported-media-type",
        "Not a type of body that is taken",
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
_OURS_DETAIL = "the fault is this server's, not the request's, and has been logged; asking again may not help"


def register_problems(app: Flask) -> None:
    """Make an application answer every error with a problem, never with a page or a trace."""
    app.register_error_handler(Exception, _answer)

    @app.after_request
    def empty(response: Response) -> Response:
        # To another address, and of what may be asked there, the headers say everything; the page that the
        # framework would send with them is for nobody.
        if response.status_code == HTTPStatus.PERMANENT_REDIRECT or request.method == "OPTIONS":
            response.set_data(b"")
            response.headers.pop("Content-Type", None)
        return response


def refuse_invalid(error: ValidationError) -> NoReturn:
    """What flask-openapi3 is to do with what is not valid: raise our own error.

    Raises:
        TablebaseError: the one that a check has raised, or one that says where what is wrong.
    """
    first = error.errors(include_url=False)[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, TablebaseError):
        raise cause
    where = ".".join(map(str, first["loc"])) or "it"
    message = first["msg"].lower()
    if error.title.endswith("Body"):
        raise BadBodyError(f"the body cannot be taken: {where}: {message}")
    raise BadParameterError(f"the parameter {where}: {message}")


def problem_of(error: TablebaseError) -> ProblemReport:
    """The problem that an error of the user's is, where one of many questions has it.

    Raises:
        TablebaseError: that error, where the fault is ours.
    """
    kind = _kind_of(error)
    if kind.fault is Fault.OURS:
        raise error
    return _problem(kind.status, kind.type, kind.title, str(error))


def plain_problem(status: HTTPStatus, detail: str) -> str:
    """The body of a problem that its status alone names, for what never reaches the application."""
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
    """The answer to what the framework itself refuses."""
    status = HTTPStatus(error.code or HTTPStatus.INTERNAL_SERVER_ERROR)
    path = quote(request.path)
    if isinstance(error, NotFound):
        detail = f"there is nothing at {path}; /openapi/ shows what there is, and / is the page for people"
    elif isinstance(error, MethodNotAllowed):
        allowed = ", ".join(sorted(error.valid_methods or ()))
        detail = f"{path} does not take {request.method}; it takes {allowed}"
    elif isinstance(error, RequestEntityTooLarge):
        detail = f"the body is longer than {request.max_content_length} bytes; send it in parts"
    else:
        detail = error.description or status.phrase
    response = Response(plain_problem(status, detail), status, mimetype=MEDIA_TYPE)
    for name, value in error.get_headers(request.environ):
        if name.lower() != "content-type":
            response.headers[name] = value
    return response


def _problem(status: HTTPStatus, type_: str, title: str, detail: str) -> ProblemReport:
    return {"type": type_, "title": title, "status": int(status), "detail": detail}
