"""The server of `shashki serve`: granian, its processes forked from one that has opened the tables.

What was measured of it beside others is told in docs/service.md.
"""

from __future__ import annotations

import errno
import gc
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from threading import Thread
from types import FrameType
from typing import TYPE_CHECKING, Any

from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.log import LogLevels

from server.limits import RequestGate
from tablebase.errors import TablebaseError

if TYPE_CHECKING:
    from flask import Flask

MAX_ACTIVE = 2
"""Requests that a process works on at a time. Python code of one process runs on one core, so a second one
only keeps short requests from waiting behind a long one; more of them make all answers late."""
MAX_RECEIVING = 32
"""Bodies that a process receives at a time, however slowly."""
THREADS = 64
"""Requests that a process has at a time: worked on, being received, or waiting."""
STOP_SECONDS = 30
"""How long requests in flight may take to end once the server is to stop."""


class _ThreadWarningFilter(logging.Filter):
    """Keeps out the server's warning of many threads: most of ours only wait (`server.limits`)."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is to be written."""
        return "Python threads" not in record.getMessage()


_LOGGED_TO_STDERR = {
    "filters": {"thread-warning": {"()": _ThreadWarningFilter}},
    "handlers": {
        name: {
            "formatter": name,
            "class": "logging.StreamHandler",
            "stream": "ext://sys.stderr",
            "filters": ["thread-warning"],
        }
        for name in ("generic", "access")
    },
    "loggers": {
        name: {"handlers": [handler], "level": "INFO", "propagate": False}
        for name, handler in (("_granian", "generic"), ("granian.access", "access"))
    },
}
_ACCESS = '%(addr)s [%(time)s] "%(method)s %(path)s %(protocol)s" %(status)d %(dt_ms).1f ms'


class AddressError(TablebaseError, OSError):
    """An address that cannot be served on: the message says why, and what to do."""


@contextmanager
def reserve_address(host: str, port: int) -> Iterator[tuple[str, int]]:
    """An address to serve on, kept from others until its server is there; port 0 takes a free one.

    Yields:
        Its numeric host, and its port.

    Raises:
        AddressError: the address is in use, or not of this machine, or not allowed.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # Who listens alone can tell that nobody else does.
        with socket.create_server((host, port), family=family) as alone:
            address = alone.getsockname()
        keeper = socket.socket(family)
        with closing(keeper):
            keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if hasattr(socket, "SO_REUSEPORT"):
                # Every process of the server listens for itself, beside the others.
                keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                keeper.bind(address)
            yield address[:2]
    except OSError as error:
        if isinstance(error, TablebaseError):
            raise
        raise AddressError(f"cannot serve on {_joined(host, port)}: {_why(error)}") from None


def _why(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "another program serves there already; name another port with --port"
    if error.errno == errno.EACCES:
        return "the system does not allow it (ports below 1024 need rights); name another port with --port"
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return "this is no address of this machine; name one with --host, like 127.0.0.1 or 0.0.0.0"
    return error.strerror or str(error)


def url_of(host: str, port: int) -> str:
    """Where a browser finds what listens, e.g. `http://127.0.0.1:8000/`."""
    return f"http://{_joined(host, port)}/"


def _joined(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


_prepared: Flask | None = None

# A terminal sends SIGINT and SIGHUP to all processes of a group. Only the main one takes them, and it ends
# the workers with SIGTERM: a worker of granian that takes two signals within moments loses both, and is
# killed after STOP_SECONDS.
_FROM_A_TERMINAL = {signal.SIGINT, signal.SIGHUP} if hasattr(signal, "SIGHUP") else {signal.SIGINT}


def _hold_signals() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, *_FROM_A_TERMINAL})


def _release_signals() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, *_FROM_A_TERMINAL})


def _leave_signals_to_the_main_process() -> None:
    # A new worker inherits the main process's handlers, which would swallow a SIGTERM that comes before
    # granian installs the worker's own.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


def _application(config: dict[str, Any]) -> RequestGate:
    """The application of a process: the one that it was forked with, or else one of its own."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, _FROM_A_TERMINAL)  # for systems without fork
    if _prepared is not None:
        gc.freeze()  # what was there before stays: looking through it would only copy shared pages
        app = _prepared
    else:
        from server.app import create_app

        app = create_app(config)
    return RequestGate(app, app.config["MAX_CONTENT_LENGTH"], MAX_ACTIVE, MAX_RECEIVING)


def serve(
    app: Flask,
    config: dict[str, Any],
    host: str,
    port: int,
    workers: int,
    log_requests: bool,
    when_ready: Callable[[], None],
) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP; answer the requests in flight first.

    Under `nohup`, SIGHUP is ignored.

    Args:
        app: the application.
        config: what it was made of, for systems on which processes cannot be forked.
        host, port: where; see `reserved`.
        workers: processes.
        log_requests: whether to write a line to stderr for every request.
        when_ready: called once, when the first process listens.
    """
    global _prepared
    _prepared = app
    server = Granian(
        "server.app:create_app",
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        workers=workers,
        blocking_threads=THREADS,
        http=HTTPModes.http1,
        websockets=False,
        log_level=LogLevels.warning,
        log_dictconfig=_LOGGED_TO_STDERR,
        log_access=log_requests,
        log_access_format=_ACCESS,
        respawn_failed_workers=True,
        workers_kill_timeout=STOP_SECONDS,
    )
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=_hold_signals,
            after_in_parent=_release_signals,
            after_in_child=_leave_signals_to_the_main_process,
        )
    # On SIGHUP, granian would start new workers and go on without the terminal.
    ignored = hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    vars(server)["signal_handler_reload"] = _ignore if ignored else server.signal_handler_interrupt
    Thread(target=_announce_when_ready, args=(host, port, when_ready), daemon=True).start()
    try:
        server.serve(target_loader=partial(_application, config), wrap_loader=False)
    finally:
        _prepared = None


def _ignore(number: int, frame: FrameType | None) -> None:
    pass


def _announce_when_ready(host: str, port: int, when_ready: Callable[[], None]) -> None:
    while True:
        with suppress(OSError), socket.create_connection((host, port), timeout=1):
            break
        time.sleep(0.02)
    when_ready()
    sys.stdout.flush()
