"""The server of `shashki serve`: granian, with processes forked from one that has opened the tables.

docs/service.md has the measurements of it and of other servers.
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
"""Requests that a process works on at a time. Python code of a process runs on one core. A second request
keeps short ones from waiting behind a long one; more would delay all responses.
"""
MAX_RECEIVING = 32
"""Bodies that a process receives at a time. Further ones are refused with 503."""
THREADS = 64
"""Requests that a process has at a time: worked on, being received, or waiting."""
STOP_SECONDS = 30
"""Seconds for requests in flight to end after the server is told to stop."""


class _ThreadWarningFilter(logging.Filter):
    """Drops granian's warning about many threads: most of ours only wait (`server.limits`)."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write the record."""
        return "Python threads" not in record.getMessage()


_LOG_CONFIG = {
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
    """An address that cannot be served on; the message says why, and what to do."""


@contextmanager
def reserve_address(host: str, port: int) -> Iterator[tuple[str, int]]:
    """Reserve an address until the server listens on it. Port 0 chooses a free port.

    Yields:
        The numeric host and the port.

    Raises:
        AddressError: the address is in use, is not one of this machine, or is not allowed.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # Bind without SO_REUSEPORT first: this fails if another process listens here.
        with socket.create_server((host, port), family=family) as probe:
            address = probe.getsockname()
        keeper = socket.socket(family)
        with closing(keeper):
            keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if hasattr(socket, "SO_REUSEPORT"):
                # Each process of the server binds the address itself.
                keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                keeper.bind(address)
            yield address[:2]
    except OSError as error:
        if isinstance(error, TablebaseError):
            raise
        raise AddressError(f"cannot serve on {_host_and_port(host, port)}: {_reason(error)}") from None


def _reason(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "another program already serves there; choose another port with --port"
    if error.errno == errno.EACCES:
        return "the system does not allow it (ports below 1024 need root); choose another port with --port"
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return "this is not an address of this machine; set one with --host, like 127.0.0.1 or 0.0.0.0"
    return error.strerror or str(error)


def url_of(host: str, port: int) -> str:
    """Return the URL of the server, for example `http://127.0.0.1:8000/`."""
    return f"http://{_host_and_port(host, port)}/"


def _host_and_port(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


_prepared: Flask | None = None

# A terminal sends SIGINT and SIGHUP to all processes of a group. Only the main process handles them, and ends
# the workers with SIGTERM. A worker of granian that gets two signals within moments ignores both, and is
# killed after STOP_SECONDS.
_TERMINAL_SIGNALS = {signal.SIGINT, signal.SIGHUP} if hasattr(signal, "SIGHUP") else {signal.SIGINT}


def _hold_signals() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, *_TERMINAL_SIGNALS})


def _release_signals() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, *_TERMINAL_SIGNALS})


def _reset_worker_signals() -> None:
    # A new worker inherits the main process's handlers. They would swallow a SIGTERM that arrives before
    # granian installs the worker's own handlers.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


def _application(config: dict[str, Any]) -> RequestGate:
    """Return the application of a process: the one it was forked with, or a new one."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, _TERMINAL_SIGNALS)  # for systems without fork
    if _prepared is not None:
        gc.freeze()  # objects from before the fork stay: collecting them would only copy shared pages
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
        config: the configuration of the application, for systems without fork.
        host: the host from `reserve_address`.
        port: the port from `reserve_address`.
        workers: the number of processes.
        log_requests: whether to log every request to stderr.
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
        log_dictconfig=_LOG_CONFIG,
        log_access=log_requests,
        log_access_format=_ACCESS,
        respawn_failed_workers=True,
        workers_kill_timeout=STOP_SECONDS,
    )
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=_hold_signals,
            after_in_parent=_release_signals,
            after_in_child=_reset_worker_signals,
        )
    # On SIGHUP, granian would restart its workers and keep running without the terminal.
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
