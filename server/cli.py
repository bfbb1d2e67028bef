"""The command `shashki serve`, which answers over HTTP."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from tablebase.cli.main import OK, add_data_option


def add_commands(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `serve` to the command line."""
    serve = subparsers.add_parser(
        "serve",
        help="serve the HTTP API and the web page",
        description="Serve the HTTP API, and the web page at /. Ctrl-C stops the server.",
        epilog="exit status: 0 when stopped by Ctrl-C or SIGTERM, after the requests in flight; 1 if the "
        "address cannot be served on; 2 for a bad option, setting or data directory",
        allow_abbrev=False,
    )
    serve.add_argument("--host", default="127.0.0.1", help="address to serve on (default: 127.0.0.1)")
    serve.add_argument(
        "--port", type=_port, default=8000, help="port to serve on (default: 8000); 0 chooses a free one"
    )
    serve.add_argument(
        "--workers",
        metavar="N",
        type=_workers,
        default=1,
        help="number of processes (default: 1); for many clients, use the number of cores",
    )
    serve.add_argument("--access-log", action="store_true", help="log every request to stderr")
    add_data_option(serve)
    serve.set_defaults(run=run_serve, extra="serve")


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) <= 65535:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a port; ports are 0 to 65535")


def _workers(text: str) -> int:
    if text.isascii() and text.isdigit() and 1 <= int(text) <= 256:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes; give 1 to 256")


def run_serve(args: argparse.Namespace) -> int:
    """Serve until stopped.

    Raises:
        AddressError: the address cannot be served on.
        DataDirectoryError: the data directory does not exist.
        WrongVersionError: its tables have another format or were made under other rules.
        SettingsError: a setting is out of range.
        MissingPackageError: numba is not installed, and the setting `compiled` is `yes`.
    """
    with _multiprocess_metrics(args.workers):
        from server.app import DATA_DIRECTORY, create_app, tablebase_of
        from server.serving import reserve_address, serve, url_of
        from tablebase.tables.files import generate_command

        config = {DATA_DIRECTORY: args.data}
        app = create_app(config)
        with tablebase_of(app) as tablebase, reserve_address(args.host, args.port) as (host, port):
            if tablebase.pieces:
                print(f"{args.data} holds all positions of up to {tablebase.pieces} pieces.", flush=True)
            else:
                command = generate_command(args.data, 4)
                print(f"{args.data} holds no complete set of tables; make one with {command}.", flush=True)
            ready = f"Serving at {url_of(host, port)} (Ctrl-C stops it)"
            serve(app, config, host, port, args.workers, args.access_log, lambda: print(ready, flush=True))
    return OK


@contextmanager
def _multiprocess_metrics(workers: int) -> Iterator[None]:
    """Make prometheus-client count all processes together. Enter this before it is imported."""
    name = "PROMETHEUS_MULTIPROC_DIR"
    if workers == 1 or name in os.environ:
        yield
        return
    with TemporaryDirectory(prefix="shashki-metrics-") as folder:
        os.environ[name] = folder
        try:
            yield
        finally:
            del os.environ[name]
