"""The service behind an application: its tables, their catalog, its settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import BoundedSemaphore

from flask import Flask, current_app

from server.settings import Settings
from tablebase import __version__
from tablebase.games.search import RuleSearch
from tablebase.probe.catalog import Catalog
from tablebase.probe.tablebase import Tablebase

_EXTENSION = "shashki"


@dataclass(frozen=True)
class Service:
    """The tables of an application, and what belongs to them.

    Attributes:
        settings: the settings.
        tablebase: the open tables.
        catalog: the catalog of the tables.
        etag: the version of everything besides the request that responses depend on.
        compiled: whether compiled kernels probe the tables.
        heavy: a semaphore that limits long requests.
    """

    settings: Settings
    tablebase: Tablebase
    catalog: Catalog
    etag: str
    compiled: bool
    heavy: BoundedSemaphore = field(repr=False)

    @classmethod
    def of(cls, settings: Settings, tablebase: Tablebase, catalog: Catalog, compiled: bool) -> Service:
        """Return the service over these tables."""
        etag = f"{catalog.version}-{__version__}"
        return cls(settings, tablebase, catalog, etag, compiled, BoundedSemaphore(settings.max_heavy))

    def search(self) -> RuleSearch:
        """Return a rule search for one request, with the limits of the settings."""
        return RuleSearch(self.tablebase, self.settings.position_effort, self.settings.request_effort)

    def register(self, app: Flask) -> None:
        """Make an application answer from this service."""
        app.extensions[_EXTENSION] = self


def get_service(app: Flask) -> Service:
    """Return the service of an application."""
    service = app.extensions[_EXTENSION]
    assert isinstance(service, Service)
    return service


def current_service() -> Service:
    """Return the service of the current request's application."""
    return get_service(current_app)
