"""The HTTP application: questions in the URL, answers in JSON."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from flask import Flask, Response, request
from flask_openapi3 import Info, OpenAPI

from server.limits import register_rate
from server.metrics import register_metrics
from server.openapi import Problem
from server.problems import refuse_invalid, register_problems
from server.requests import register_bodies
from server.routes import BLUEPRINTS, register_page
from server.service import Service, get_service
from server.settings import Settings, load_settings, misspelt
from tablebase import __version__
from tablebase.board.position import Position
from tablebase.errors import MissingPackageError, TableError
from tablebase.probe.catalog import Catalog
from tablebase.probe.tablebase import Tablebase, open_tablebase
from tablebase.tables.files import data_directory

_READABLE = ("/v1/", "/openapi/", "/health")


def register_headers(app: Flask) -> None:
    """Add caching and CORS headers to responses, and answer 304 if the client's copy is current."""

    @app.after_request
    def add(response: Response) -> Response:
        if request.path.startswith(_READABLE):
            _allow_others(response)
        cacheable = request.method in ("GET", "HEAD") and response.status_code == 200
        if cacheable and request.path.startswith("/v1/") and "Cache-Control" not in response.headers:
            # Clients may keep the response but must revalidate it: other tables give other answers.
            response.headers["Cache-Control"] = "no-cache"
            response.set_etag(get_service(app).etag)
            response.make_conditional(request)
        return response


def _allow_others(response: Response) -> None:
    """Allow scripts of any page to read the response. There are no secrets here."""
    headers = response.headers
    headers["Access-Control-Allow-Origin"] = "*"
    headers["Access-Control-Expose-Headers"] = "ETag, Retry-After"
    if request.method == "OPTIONS":
        headers["Access-Control-Allow-Methods"] = headers.get("Allow", "")
        headers["Access-Control-Allow-Headers"] = "Content-Type, If-None-Match"
        headers["Access-Control-Max-Age"] = "86400"


DATA_DIRECTORY = "DATA_DIRECTORY"
"""Configuration key of the tables' directory. The default is that of the command line."""

_BARE = Position(0, 1, 0, 1 << 31)  # king against king
_TITLE = "Endgame tablebase of Russian draughts"
_ABOUT = (
    "Values of positions of Russian draughts with few pieces, from exact tables. Every error is a problem "
    "document of RFC 9457."
)
_BROWSE = '<!doctype html><title>API</title><meta http-equiv="refresh" content="0; url=swagger">'
_BROWSE += '<p><a href="swagger">The API</a>'


def create_app(config: Mapping[str, Any] | None = None) -> Flask:
    """Create the application and open its tables. Every thread may serve with it.

    Args:
        config: `DATA_DIRECTORY`, settings by their names in capitals, and other Flask configuration.

    Raises:
        DataDirectoryError: the directory does not exist.
        WrongVersionError: its tables have another format or were made under other rules.
        SettingsError: a setting is out of range.
        MissingPackageError: numba is not installed, and the setting `compiled` is `yes`.
    """
    settings = load_settings(config)
    app = OpenAPI(
        "server",
        static_folder=None,
        info=Info(title="Endgame tablebase of Russian draughts", version=__version__, description=_ABOUT),
        validation_error_status=400,
        validation_error_model=Problem,
        validation_error_callback=refuse_invalid,
    )
    app.config.from_mapping(config or {})
    app.config["OPENAPI_HTML_STRING"] = _BROWSE
    app.config["SWAGGER_CONFIG"] = {"validatorUrl": None}  # the default sends the document to another server
    app.json.sort_keys = False  # type: ignore[attr-defined]  # keys keep the order of the report
    directory = data_directory((config or {}).get(DATA_DIRECTORY))
    tablebase, compiled = _open(directory, settings)
    catalog = Catalog(tablebase, directory)
    log = logging.getLogger(__name__)
    for name, like in misspelt().items():
        log.warning("%s in the environment is not a setting; did you mean %s?", name, like)
    if catalog.problem is not None and catalog.materials:
        log.warning("no counts of materials: %s", catalog.problem)
    Service.of(settings, tablebase, catalog, compiled).register(app)
    register_metrics(app)
    register_rate(app, settings)
    register_bodies(app, settings)
    register_problems(app)
    register_headers(app)
    for group in BLUEPRINTS:
        app.register_api(group)
    register_page(app)
    app.generate_spec_json()  # type: ignore[no-untyped-call]
    # flask-openapi3 writes null here if no route needs a key, and null is not a valid value.
    del app.spec_json["components"]["securitySchemes"]
    return app


def tablebase_of(app: Flask) -> Tablebase:
    """Return the tables that an application answers from. Close them when it is no longer needed."""
    return get_service(app).tablebase


def _open(directory: Any, settings: Settings) -> tuple[Tablebase, bool]:
    """Open the tables; return them and whether compiled kernels probe them."""
    sizes = {"cache_bytes": settings.cache_bytes, "array_bytes": settings.array_bytes}
    if settings.compiled != "no":
        try:
            tablebase = open_tablebase(directory, **sizes, compiled=True)
        except MissingPackageError:
            if settings.compiled == "yes":
                raise
        else:
            # Load the kernels now: before the first request, and before processes are forked. A damaged
            # table is reported to the request that needs it.
            with suppress(TableError):
                tablebase.get_probe(_BARE)
                tablebase.probe_many([[0, 1, 0, 1 << 31]], [False])
            return tablebase, True
    return open_tablebase(directory, **sizes, compiled=False), False
