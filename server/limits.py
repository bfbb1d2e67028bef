"""Limits of the service: requests worked on at a time, requests of an address, bodies received at a time.

A server process has many threads, as most of them only wait. Python uses one core, so few requests are worked
on at a time. A body is received before that, so that a client that never completes its body blocks no other
request.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http import HTTPStatus
from io import BytesIO
from math import ceil
from threading import BoundedSemaphore
from wsgiref.types import InputStream, StartResponse, WSGIApplication, WSGIEnvironment

from flask import Flask, request
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from server.problems import MEDIA_TYPE, RETRY_AFTER, BusyError, TooManyRequestsError, plain_problem
from server.service import current_service
from server.settings import Settings


class RequestGate:
    """A WSGI application that limits the requests passed on to another.

    Args:
        application: the other application.
        most_bytes: the longest body to pass on, in bytes.
        working: the number of requests passed on at a time; others wait.
        reading: the number of bodies received at a time; others are refused with 503.
    """

    def __init__(self, application: WSGIApplication, most_bytes: int, working: int, reading: int) -> None:
        self._application = application
        self._most_bytes = most_bytes
        # Work in few threads of their own, as each thread keeps its memory and decoding buffers.
        self._working = ThreadPoolExecutor(working, "working")
        self._reading = BoundedSemaphore(reading)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request by the WSGI protocol."""
        if self._has_body(environ):
            if not self._reading.acquire(blocking=False):
                return _refuse(start_response)
            try:
                environ["wsgi.input"] = BytesIO(self._read(environ["wsgi.input"]))
            finally:
                self._reading.release()
        return self._working.submit(self._application, environ, start_response).result()

    def _read(self, body: InputStream) -> bytes:
        """Read a body, but at most one byte more than the limit, which shows that it is too long."""
        parts: list[bytes] = []
        left = self._most_bytes + 1
        while left and (part := body.read(left)):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def _has_body(self, environ: WSGIEnvironment) -> bool:
        """Whether there is a body to receive. A body with too long a Content-Length is not received."""
        length = environ.get("CONTENT_LENGTH") or ""
        if length.isdecimal():
            return 0 < int(length) <= self._most_bytes
        return "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower()


def _refuse(start_response: StartResponse) -> Iterable[bytes]:
    status = HTTPStatus.SERVICE_UNAVAILABLE
    detail = "the server is receiving too many request bodies; send the request again later"
    body = plain_problem(status, detail).encode()
    headers = [
        ("Content-Type", MEDIA_TYPE),
        ("Content-Length", str(len(body))),
        ("Retry-After", str(RETRY_AFTER)),
    ]
    start_response(f"{status.value} {status.phrase}", headers)
    return [body]


def register_rate(app: Flask, settings: Settings) -> None:
    """Limit the API requests that an application answers per minute and address.

    Every process counts for itself. Requests for the page are not counted.
    """
    if not settings.max_per_minute:
        return
    item = RateLimitItemPerMinute(settings.max_per_minute)
    limiter = SlidingWindowCounterRateLimiter(MemoryStorage())

    @app.before_request
    def count() -> None:
        address = request.remote_addr or "unknown"
        if not request.path.startswith("/v1/") or limiter.hit(item, address):
            return
        seconds = max(1, ceil(limiter.get_window_stats(item, address).reset_time - time.time()))
        raise TooManyRequestsError(
            f"this server answers at most {settings.max_per_minute} requests per minute and address; "
            f"send the request again in {seconds} s",
            seconds,
        )


@contextmanager
def limit_concurrency() -> Iterator[None]:
    """Do the work of a long request inside this context.

    Raises:
        BusyError: the service works on the greatest number of long requests already.
    """
    service = current_service()
    if not service.heavy.acquire(blocking=False):
        raise BusyError(
            f"this server works on at most {service.settings.max_heavy} long requests at a time; "
            "send the request again later"
        )
    try:
        yield
    finally:
        service.heavy.release()
