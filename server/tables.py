"""The routes about what the tables hold, and the rules that there are."""

from __future__ import annotations

from http import HTTPStatus
from secrets import randbelow

from flask import Response, jsonify

from server.documents import answers, routes
from server.effort import heavy
from server.metrics import POSITIONS
from server.parameters import MAX_SEED, MaterialPath, NoParameters, RandomParameters
from server.problems import NoSuchMaterialError
from server.service import this_service
from tablebase.drawrules import RULESETS
from tablebase.material import Material
from tablebase.materialreport import (
    MaterialDetailsReport,
    MaterialsReport,
    material_details_report,
    materials_report,
)
from tablebase.randomreport import RandomReport, random_report
from tablebase.rulesetreport import RulesetsReport, rulesets_report

api = routes("tables", "what the tables hold, and the rules")

_PLAIN_SHARE = 50  # how many times as long a probe takes without compiled kernels


@api.get("/v1/materials", responses=answers(MaterialsReport))
def materials(query: NoParameters) -> Response:
    """Which materials there are tables of, and how many positions have which outcome."""
    return jsonify(materials_report(this_service().catalog))


@api.get(
    "/v1/materials/<name>",
    responses=answers(MaterialDetailsReport, HTTPStatus.NOT_FOUND),
)
def material(path: MaterialPath, query: NoParameters) -> Response:
    """One material, with all that is known of it."""
    return jsonify(material_details_report(this_service().catalog, _with_table(path.name)))


@api.get(
    "/v1/random",
    responses=answers(RandomReport, HTTPStatus.NOT_FOUND, HTTPStatus.SERVICE_UNAVAILABLE),
)
def random(query: RandomParameters) -> Response:
    """A random position of a material with a wanted outcome."""
    asked = None if query.material is None else _with_table(query.material)
    seed = randbelow(MAX_SEED) if query.seed is None else query.seed
    service = this_service()
    effort = service.settings.random_effort
    if not service.compiled:
        effort = max(1, effort // _PLAIN_SHARE)
    with heavy():
        told = random_report(service.catalog, asked, query.outcome, seed, effort)
    POSITIONS.inc()
    response = jsonify(told)
    if query.seed is None:
        response.headers["Cache-Control"] = "no-store"
    return response


@api.get("/v1/rulesets", responses=answers(RulesetsReport))
def rulesets(query: NoParameters) -> Response:
    """The draw rules of every ruleset."""
    return jsonify(rulesets_report(RULESETS.values()))


def _with_table(name: str) -> Material:
    asked = Material.parse(name)
    if asked not in this_service().catalog.materials:
        raise NoSuchMaterialError(f"there is no table of {asked} here; /v1/materials lists those there are")
    return asked
