"""Limits of the service: requests at a time, requests of an address, bodies being received.

A server has many threads for a process, as most of them only wait. Python works on one core, so few requests
are worked on at a time; and a body is read before that, so that someone who never sends the rest of one keeps
nobody from being answered.
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
    """A WSGI application in front of another.

    Args:
        application: the other.
        most_bytes: the longest body that it takes.
        working: how many requests it is given at a time; others wait.
        reading: how many bodies are read at a time; others are told to come again.
    """

    def __init__(self, application: WSGIApplication, most_bytes: int, working: int, reading: int) -> None:
        self._application = application
        self._most_bytes = most_bytes
        # In threads of their own, as what a thread has worked with it keeps: memory, room to decode in.
        self._working = ThreadPoolExecutor(working, "working")
        self._reading = BoundedSemaphore(reading)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request, as WSGI has it."""
        if self._has_body(environ):
            if not self._reading.acquire(blocking=False):
                return _refuse(start_response)
            try:
                environ["wsgi.input"] = BytesIO(self._read(environ["wsgi.input"]))
            finally:
                self._reading.release()
        return self._working.submit(self._application, environ, start_response).result()

    def _read(self, body: InputStream) -> bytes:
        """All of a body, or a byte more than may be, which shows that it is too long."""
        parts: list[bytes] = []
        left = self._most_bytes + 1
        while left and (part := body.read(left)):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def _has_body(self, environ: WSGIEnvironment) -> bool:
        """Whether there is one to be read; one that is too long by what it says is refused unread."""
        length = environ.get("CONTENT_LENGTH") or ""
        if length.isdecimal():
            return 0 < int(length) <= self._most_bytes
        return "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower()


def _refuse(start_response: StartResponse) -> Iterable[bytes]:
    status = HTTPStatus.SERVICE_UNAVAILABLE
    body = plain_problem(status, "too many requests are being received at once; send this one again").encode()
    headers = [
        ("Content-Type", MEDIA_TYPE),
        ("Content-Length", str(len(body))),
        ("Retry-After", str(RETRY_AFTER)),
    ]
    start_response(f"{status.value} {status.phrase}", headers)
    return [body]


def register_rate(app: Flask, settings: Settings) -> None:
    """Make an application answer only so many questions of one address a minute; its page is not counted.

    Every process counts for itself.
    """
    if not settings.max_per_minute:
        return
    item = RateLimitItemPerMinute(settings.max_per_minute)
    limiter = SlidingWindowCounterRateLimiter(MemoryStorage())

    @app.before_request
    def count() -> None:
        asker = request.remote_addr or "unknown"
        if not request.path.startswith("/v1/") or limiter.hit(item, asker):
            return
        seconds = max(1, ceil(limiter.get_window_stats(item, asker).reset_time - time.time()))
        raise TooManyRequestsError(
            f"this server answers {settings.max_per_minute} requests a minute of one address; "
            f"ask again in {seconds} s",
            seconds,
        )


@contextmanager
def limit_concurrency() -> Iterator[None]:
    """Around the work of such a request.

    Raises:
        BusyError: as many as there may be are worked on already.
    """
    service = current_service()
    if not service.heavy.acquire(blocking=False):
        raise BusyError(
            f"this server works on {service.settings.max_heavy} long requests at a time; ask again later"
        )
    try:
        yield
    finally:
        service.heavy.release()
