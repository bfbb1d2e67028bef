"""Request metrics for Prometheus, summed over all processes.

prometheus-client sums over processes if an environment variable names an empty directory before it is
imported. `shashki serve --workers` sets the variable. Another server with several processes must set it
itself.
"""

from __future__ import annotations

import os
from time import perf_counter

from flask import Flask, Response, g, request
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector

from server.service import get_service

MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"

REQUESTS = Counter("shashki_requests", "Requests answered", ["method", "route", "status"])
SECONDS = Histogram(
    "shashki_request_seconds",
    "How long requests took",
    ["route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
POSITIONS = Counter("shashki_positions", "Positions that answers were about")
CACHE = Gauge("shashki_cache_bytes", "Decoded parts of tables that are kept", multiprocess_mode="livesum")

_NOWHERE = "none"
"""The route label of requests for unknown URLs."""
_METHODS = frozenset({"GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH"})


def register_metrics(app: Flask) -> None:
    """Make an application count its requests."""

    @app.before_request
    def begin() -> None:
        g.began = perf_counter()

    @app.after_request
    def count(response: Response) -> Response:
        route = _NOWHERE if request.url_rule is None else request.url_rule.rule
        # Clients must not be able to create new time series.
        method = request.method if request.method in _METHODS else "other"
        REQUESTS.labels(method, route, response.status_code).inc()
        SECONDS.labels(route).observe(perf_counter() - g.began)
        CACHE.set(get_service(app).tablebase.cache_used_bytes)
        return response


def metrics_text() -> Response:
    """Return all metrics in Prometheus' text format."""
    registry = REGISTRY
    if MULTIPROCESS in os.environ:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
