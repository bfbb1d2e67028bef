"""Sockets to serve on, and the server that answers there."""

from __future__ import annotations

import errno
import socket
from typing import TYPE_CHECKING

from werkzeug.serving import BaseWSGIServer, make_server

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


def make_threaded_server(app: Flask, listener: socket.socket) -> BaseWSGIServer:
    """A server, not yet running, that answers each connection in a thread of its own."""
    host, port = listener.getsockname()[:2]
    return make_server(host, port, app, threaded=True, fd=listener.fileno())
