"""Requests that may take seconds: only so many at a time, so that there is room for the others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from server.problems import BusyError
from server.service import this_service


@contextmanager
def heavy() -> Iterator[None]:
    """Around the work of such a request.

    Raises:
        BusyError: as many as there may be are worked on already.
    """
    service = this_service()
    if not service.heavy.acquire(blocking=False):
        raise BusyError(
            f"this server works on {service.settings.max_heavy} long requests at a time; ask again later"
        )
    try:
        yield
    finally:
        service.heavy.release()
