"""The OpenAPI document: routes, responses, and models made from the types of reports."""

from __future__ import annotations

import inspect
from enum import Enum
from functools import cache
from http import HTTPStatus
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints, is_typeddict

from flask_openapi3 import APIBlueprint, Tag
from pydantic import BaseModel, ConfigDict, Field, create_model

from server.problems import MEDIA_TYPE, ProblemReport

_NAMED: dict[str, type] = {}


@cache
def model_of(report: type) -> type[BaseModel]:
    """Return the pydantic model of a `TypedDict` with the same fields. Nested reports become models too."""
    name = report.__name__.removesuffix("Report")
    # The document identifies a model by its name alone.
    assert _NAMED.setdefault(name, report) is report, f"two models have the name {name}"
    hints = get_type_hints(report, include_extras=True)
    fields: dict[str, Any] = {name: _field(hint) for name, hint in hints.items()}
    return create_model(
        name,
        __config__=ConfigDict(extra="forbid"),
        __doc__=inspect.getdoc(report),
        **fields,
    )


def _field(hint: Any) -> Any:
    if get_origin(hint) is not Annotated:
        return _type(hint, ()), ...
    bare, *notes = get_args(hint)
    texts = tuple(
        str(text) for note in notes if isinstance(note, type) and issubclass(note, Enum) for text in note
    )
    meaning = " ".join(note for note in notes if isinstance(note, str))
    return Annotated[_type(bare, texts), Field(description=meaning)], ...


def _type(hint: Any, texts: tuple[str, ...]) -> Any:
    """Return a type with models in place of reports, and a literal of `texts` in place of `str`."""
    if hint is str and texts:
        return cast(Any, Literal)[texts]
    if is_typeddict(hint):
        return model_of(hint)
    origin, parts = get_origin(hint), [_type(part, texts) for part in get_args(hint)]
    if origin in (Union, UnionType):
        return Union[tuple(parts)]  # noqa: UP007  # the number of parts varies
    if origin in (list, dict):
        return origin[tuple(parts)]
    return None if hint is NoneType else hint


Problem = model_of(ProblemReport)

_EVERYWHERE = (HTTPStatus.BAD_REQUEST, HTTPStatus.INTERNAL_SERVER_ERROR)


def answers(
    report: type | dict[str, Any], *problems: HTTPStatus, limited: bool = True
) -> dict[str | int, Any]:
    """Return the possible responses of a route.

    Args:
        report: the type of a report, or the description of another response.
        problems: statuses of problems, besides those of every route.
        limited: whether the route can answer 429, because `SHASHKI_MAX_PER_MINUTE` limits it.
    """
    schema = {"$ref": f"#/components/schemas/{Problem.__name__}"}
    responses: dict[str | int, Any] = {200: report if isinstance(report, dict) else model_of(report)}
    limits = (HTTPStatus.TOO_MANY_REQUESTS,) if limited else ()
    for status in (*_EVERYWHERE, *limits, *problems):
        responses[status.value] = {"description": status.phrase, "content": {MEDIA_TYPE: {"schema": schema}}}
    return responses


def blueprint(name: str, about: str) -> APIBlueprint:
    """Return an empty group of routes."""
    return APIBlueprint(name, __name__, abp_tags=[Tag(name=name, description=about)])
