"""What an application answers from: its tables, what is known of them, its settings."""

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
    """The tables of an application with what belongs to them.

    Attributes:
        settings: its settings.
        tablebase: its tables, open.
        catalog: what is known of them.
        etag: a name for everything that answers depend on besides the question.
        compiled: whether compiled kernels probe the tables.
        heavy: how many requests that may take long can still be begun.
    """

    settings: Settings
    tablebase: Tablebase
    catalog: Catalog
    etag: str
    compiled: bool
    heavy: BoundedSemaphore = field(repr=False)

    @classmethod
    def of(cls, settings: Settings, tablebase: Tablebase, catalog: Catalog, compiled: bool) -> Service:
        """The service over these tables."""
        etag = f"{catalog.version}-{__version__}"
        return cls(settings, tablebase, catalog, etag, compiled, BoundedSemaphore(settings.max_heavy))

    def search(self) -> RuleSearch:
        """What looks ahead for one request, as far as the settings allow."""
        return RuleSearch(self.tablebase, self.settings.position_effort, self.settings.request_effort)

    def register(self, app: Flask) -> None:
        """Make an application answer from it."""
        app.extensions[_EXTENSION] = self


def get_service(app: Flask) -> Service:
    """What an application answers from."""
    service = app.extensions[_EXTENSION]
    assert isinstance(service, Service)
    return service


def current_service() -> Service:
    """What the application of the present request answers from."""
    return get_service(current_app)
