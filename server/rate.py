"""How often one address may ask: as often as it likes, unless the service is set otherwise."""

from __future__ import annotations

import time
from math import ceil

from flask import Flask, request
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from server.problems import TooManyRequestsError
from server.settings import Settings


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
