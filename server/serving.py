"""Sockets to serve on, and the server that answers there."""

from __future__ import annotations

import errno
import re
import socket
import sys
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from server.problems import MEDIA_TYPE, plain_problem
from tablebase.errors import TablebaseError

if TYPE_CHECKING:
    from flask import Flask


class AddressError(TablebaseError, OSError):
    """An address that cannot be served on: the message says why, and what to do."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that is bound to an address and listens; port 0 takes a free one.

    Raises:
        AddressError: the address is in use, or not of this machine, or not allowed.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise AddressError(f"cannot serve on {_joined(host, port)}: {_why(error)}") from None


def _why(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "another program serves there already; name another port with --port"
    if error.errno == errno.EACCES:
        return "the system does not allow it (ports below 1024 need rights); name another port with --port"
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return "this is no address of this machine; name one with --host, like 127.0.0.1 or 0.0.0.0"
    return error.strerror or str(error)


def address_of(listener: socket.socket) -> str:
    """Where a browser finds what listens, e.g. `http://127.0.0.1:8000/`."""
    host, port = listener.getsockname()[:2]
    return f"http://{_joined(host, port)}/"


def _joined(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


_COLOR = re.compile(r"\x1b\[[0-9;]*m")


class RequestHandler(WSGIRequestHandler):
    """A connection: what cannot be read as a request is answered with a problem, like all other errors."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer in place of the application."""
        status = HTTPStatus(code)
        detail = explain or message or status.description or status.phrase
        if status is HTTPStatus.REQUEST_URI_TOO_LONG:
            detail = "the address is too long: it may have 65536 bytes, and a position takes far fewer"
        self.log_error("code %d, message %s", code, message or status.phrase)
        body = plain_problem(status, detail).encode()
        # Whoever sent no version that is known would get no status and no headers.
        self.request_version = self.protocol_version
        self.send_response(status)
        self.send_header("Connection", "close")
        self.send_header("Content-Type", MEDIA_TYPE)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log(self, type: str, message: str, *args: Any) -> None:
        """Write a line to the log; in colours only where it is a terminal."""
        if not sys.stderr.isatty():
            args = tuple(_COLOR.sub("", arg) if isinstance(arg, str) else arg for arg in args)
        super().log(type, message, *args)


def make_threaded_server(app: Flask, listener: socket.socket) -> BaseWSGIServer:
    """A server, not yet running, that answers each connection in a thread of its own."""
    host, port = listener.getsockname()[:2]
    return make_server(host, port, app, threaded=True, request_handler=RequestHandler, fd=listener.fileno())
