"""How routes are described in the OpenAPI document: the problems that each of them may answer with."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from flask_openapi3 import APIBlueprint, Tag

from server.models import model_of
from server.problems import MEDIA_TYPE, ProblemReport

Problem = model_of(ProblemReport)

_EVERYWHERE = (HTTPStatus.BAD_REQUEST, HTTPStatus.INTERNAL_SERVER_ERROR)


def answers(
    report: type | dict[str, Any], *problems: HTTPStatus, limited: bool = True
) -> dict[str | int, Any]:
    """What a route may answer.

    Args:
        report: the type of a report, or a description of anything else.
        problems: statuses of problems, besides those that every route may answer with.
        limited: whether it is asked too often by whoever passes `SHASHKI_MAX_PER_MINUTE`.
    """
    schema = {"$ref": f"#/components/schemas/{Problem.__name__}"}
    told: dict[str | int, Any] = {200: report if isinstance(report, dict) else model_of(report)}
    limits = (HTTPStatus.TOO_MANY_REQUESTS,) if limited else ()
    for status in (*_EVERYWHERE, *limits, *problems):
        told[status.value] = {"description": status.phrase, "content": {MEDIA_TYPE: {"schema": schema}}}
    return told


def routes(name: str, about: str) -> APIBlueprint:
    """An empty group of routes."""
    return APIBlueprint(name, __name__, abp_tags=[Tag(name=name, description=about)])
