"""Parameters and bodies of requests: parsed, validated, and described for the OpenAPI document."""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, Any, ClassVar, NamedTuple

from flask import Flask, request
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, WithJsonSchema
from pydantic import model_validator as validator
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge

from server.problems import BadBodyError, BadParameterError, UnsupportedMediaTypeError
from server.service import current_service
from server.settings import Settings
from tablebase.board.counters import CounterName
from tablebase.board.notation import Numbering, find_numbering
from tablebase.errors import CounterError, NotationError, quote
from tablebase.rules.clock import Clock
from tablebase.rules.outcome import Outcome
from tablebase.rules.rulesets import OFFICIAL, RULESETS, Ruleset, find_ruleset

JSON = "application/json"
PDN = ("text/plain", "application/x-chess-pdn")


class _Taken(NamedTuple):
    """The media types of a route's body, others that are tolerated, and its greatest length in bytes."""

    types: tuple[str, ...]
    tolerated: tuple[str, ...]
    most_bytes: int


def register_bodies(app: Flask, settings: Settings) -> None:
    """Make an application refuse bodies that its routes do not take, before it does anything else."""
    # curl sends any text as a form unless told otherwise, and many programs send no type at all.
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
                f"the type of the body is {request.mimetype or 'missing'}; "
                f"{rule.rule} takes {' or '.join(types)}: set the header Content-Type"
            )
        # Werkzeug truncates chunked bodies at the limit without an error: check the length here.
        if request.content_length is None and len(request.get_data()) >= most:
            raise RequestEntityTooLarge
        if JSON in types:
            _check_json()


def _check_json() -> None:
    try:
        body = request.get_json()
    except BadRequest:
        raise BadBodyError(
            'the body is not JSON; send an object like {"positions": ["W:WKa1:BKh8"]}'
        ) from None
    except RecursionError:
        raise BadBodyError(
            'the body is JSON with too many levels; send an object like {"positions": ["W:WKa1:BKh8"]}'
        ) from None
    if not isinstance(body, dict):
        raise BadBodyError('the body is JSON but not an object; send one like {"positions": ["W:WKa1:BKh8"]}')


_WHOLE = re.compile(r"[0-9]{1,16}")
_COUNT = re.compile(r"[0-9]{1,6}")

MAX_SEED = 2**53 - 1
"""The greatest seed: every reader of JSON can hold it as a whole number."""

_OUTCOMES = [str(outcome) for outcome in Outcome if outcome is not Outcome.UNKNOWN]


def _without_nulls(schema: dict[str, Any]) -> None:
    """Remove defaults of null from a schema. They only say that a parameter is optional."""
    for described in schema.get("properties", {}).values():
        if described.get("default", ...) is None:
            del described["default"]


class Parameters(BaseModel):
    """The parameters of a route. Unknown ones are refused, as they may be misspelt."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_without_nulls)

    @classmethod
    def model_json_schema(cls, *args: Any, **options: Any) -> dict[str, Any]:
        """Return the schema. It is cached, as flask-openapi3 asks for it with every request."""
        return _schema_of(cls, args, tuple(options.items()))

    @validator(mode="before")
    @classmethod
    def _refuse_others(cls, given: dict[str, Any]) -> dict[str, Any]:
        unknown = [name for name in given if name not in cls.model_fields]
        if unknown:
            names = ", ".join(map(quote, unknown))
            are = "is not a parameter" if len(unknown) == 1 else "are not parameters"
            known = ", ".join(cls.model_fields) or "no parameters"
            raise BadParameterError(f"{names} {are} of {request.path}; it takes {known}")
        for name in given:
            if (times := len(request.args.getlist(name))) > 1:
                raise BadParameterError(f"the parameter {name} is given {times} times; give it once")
        return given


@cache
def _schema_of(
    model: type[Parameters], args: tuple[Any, ...], options: tuple[tuple[str, Any], ...]
) -> dict[str, Any]:
    return super(Parameters, model).model_json_schema(*args, **dict(options))


def _count(text: str, info: ValidationInfo) -> int:
    if not _COUNT.fullmatch(text):
        raise CounterError(
            f"the parameter {info.field_name} is {quote(text)}; a counter is a whole number from 0 to 999999"
        )
    return int(text)


def _whole_number(most: int) -> BeforeValidator:
    def read(text: str, info: ValidationInfo) -> int:
        if not _WHOLE.fullmatch(text) or int(text) > most:
            raise BadParameterError(
                f"the parameter {info.field_name} is {quote(text)}; it is a whole number from 0 to {most}"
            )
        return int(text)

    return BeforeValidator(read)


def _numbering(text: str | None) -> Numbering | None:
    try:
        return find_numbering(text)
    except NotationError as error:
        raise BadParameterError(f"the parameter numbering: {error}") from None


def _outcome(text: str) -> Outcome:
    if text not in _OUTCOMES:
        raise BadParameterError(
            f"the parameter outcome is {quote(text)}; it is one of {', '.join(_OUTCOMES)}"
        )
    return Outcome(text)


_Ruleset = Annotated[
    Ruleset,
    BeforeValidator(lambda name: name if isinstance(name, Ruleset) else find_ruleset(str(name))),
    WithJsonSchema({"type": "string", "enum": list(RULESETS), "default": OFFICIAL.name}),
]
_Numbering = Annotated[
    Numbering | None,
    BeforeValidator(_numbering),
    WithJsonSchema({"type": "string", "enum": [str(numbering) for numbering in Numbering]}),
]
_Counted = Annotated[
    int | None,
    BeforeValidator(_count),
    WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 999_999}),
]


class NoParameters(Parameters):
    """A route without parameters."""


class GamesParameters(Parameters):
    """The rules to judge games by."""

    ruleset: _Ruleset = Field(OFFICIAL, description="the draw rules to judge by")
    numbering: _Numbering = Field(
        None, description="which square has number 1, if squares are written as numbers"
    )


class PositionParameters(Parameters):
    """A position with the counters of its game."""

    fen: str = Field(
        description="the FEN of the position, like W:WKa1,c3:BKh8; it may have the counters of its game"
    )
    ruleset: _Ruleset = Field(OFFICIAL, description="the draw rules to judge by")
    numbering: _Numbering = Field(
        None, description="which square has number 1, if squares are written as numbers"
    )
    king_plies: _Counted = Field(None, description="plies in a row by kings only, without a capture")
    balance_plies: _Counted = Field(None, description="plies since the last capture or promotion")
    three_kings_moves: _Counted = Field(
        None, description="the stronger side's own moves since it has had three kings or more against one"
    )
    road_moves: _Counted = Field(
        None, description="the stronger side's own moves since the lone king has been on the main road"
    )
    repetitions: _Counted = Field(None, description="how many times the position has occurred")

    @validator(mode="before")
    @classmethod
    def _ask_for_a_position(cls, given: dict[str, Any]) -> dict[str, Any]:
        if "fen" not in given:
            raise BadParameterError(
                f"the parameter fen is missing; give it as in {request.path}?fen=W:WKa1,c3:BKh8"
            )
        return given

    def clock(self) -> Clock:
        """Return the position with its counters and the rules to judge it by.

        Raises:
            NotationError: the FEN cannot be read.
            IllegalPositionError: the position is illegal.
            CounterError: a counter is unknown, or has an impossible value.
        """
        counters = {counter: getattr(self, counter) for counter in CounterName}
        given = {counter: count for counter, count in counters.items() if count is not None}
        return Clock.from_fen(self.fen, self.ruleset, self.numbering, given)


class LineParameters(PositionParameters):
    """The start of a line, and its greatest length."""

    DEFAULT: ClassVar[int] = 100

    limit: Annotated[
        int | None,
        _whole_number(10**9),
        WithJsonSchema({"type": "integer", "minimum": 0, "default": DEFAULT}),
    ] = Field(None, description="the most plies of the line, up to 500 unless the service has another limit")

    def plies(self) -> int:
        """Return the greatest length of the line, in plies.

        Raises:
            BadParameterError: it is more than the service allows.
        """
        most = current_service().settings.max_line_plies
        if self.limit is None:
            return min(self.DEFAULT, most)
        if self.limit > most:
            raise BadParameterError(f"the parameter limit is {self.limit}; a line has at most {most} plies")
        return self.limit


class RandomParameters(Parameters):
    """The kind of position to choose."""

    material: str | None = Field(
        None, description="the pieces, side to move first, like KKMvK; any material if not given"
    )
    outcome: Annotated[
        Outcome | None, BeforeValidator(_outcome), WithJsonSchema({"type": "string", "enum": _OUTCOMES})
    ] = Field(None, description="for the side to move, from fresh counters; any outcome if not given")
    seed: Annotated[
        int | None,
        _whole_number(MAX_SEED),
        WithJsonSchema({"type": "integer", "minimum": 0, "maximum": MAX_SEED}),
    ] = Field(None, description="the same seed gives the same position; random if not given")


class MaterialPath(BaseModel):
    """A material in a URL."""

    name: str = Field(description="the pieces, side to move first, kings before men, like KKMvK")


class PositionsBody(BaseModel):
    """Many positions."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra=_without_nulls)

    positions: list[str] = Field(
        description="FENs, up to 1000 unless the service has another limit", json_schema_extra={"minItems": 1}
    )
    ruleset: Annotated[
        str | None,
        WithJsonSchema({"type": "string", "enum": list(RULESETS), "default": OFFICIAL.name}),
    ] = Field(None, description="the draw rules to judge by")
    numbering: Annotated[
        str | None,
        WithJsonSchema({"anyOf": [{"type": "string", "enum": [*map(str, Numbering)]}, {"type": "null"}]}),
    ] = Field(None, description="which square has number 1, if squares are written as numbers")

    def check_size(self) -> None:
        """Check the number of positions.

        Raises:
            BadBodyError: there are none, or more than the service allows.
        """
        if not self.positions:
            raise BadBodyError("positions is empty; send at least one FEN, like W:WKa1:BKh8")
        most = current_service().settings.max_positions
        if len(self.positions) > most:
            raise BadBodyError(
                f"positions has {len(self.positions)} FENs; send at most {most} in one request"
            )

    def rules(self) -> Ruleset:
        """Return the draw rules.

        Raises:
            RulesetError: there is no ruleset of this name.
        """
        return OFFICIAL if self.ruleset is None else find_ruleset(self.ruleset)

    def squares(self) -> Numbering | None:
        """Return the numbering.

        Raises:
            BadBodyError: there is no such numbering.
        """
        try:
            return find_numbering(self.numbering)
        except NotationError as error:
            raise BadBodyError(f"numbering: {error}") from None
