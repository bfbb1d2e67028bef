"""The command that answers over HTTP: `shashki serve`."""

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
        help="answer questions over HTTP, with a page for people",
        description="Answer questions over HTTP, with a page for people at /. Ctrl-C stops it.",
        epilog="exit status: 0 when stopped by Ctrl-C or SIGTERM, after what is being answered; 1 where the "
        "address cannot be served on; 2 for a bad option, setting or data directory",
        allow_abbrev=False,
    )
    serve.add_argument("--host", default="127.0.0.1", help="the address to serve on (default: 127.0.0.1)")
    serve.add_argument(
        "--port", type=_port, default=8000, help="the port (default: 8000); 0 takes a free one"
    )
    serve.add_argument(
        "--workers",
        metavar="N",
        type=_workers,
        default=1,
        help="processes that answer (default: 1); for many who ask, as many as there are cores",
    )
    serve.add_argument("--access-log", action="store_true", help="write a line for every request to stderr")
    add_data_option(serve)
    serve.set_defaults(run=run_serve, extra="serve")


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) <= 65535:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no port; ports are 0 to 65535")


def _workers(text: str) -> int:
    if text.isascii() and text.isdigit() and 1 <= int(text) <= 256:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no number of processes; give 1 to 256")


def run_serve(args: argparse.Namespace) -> int:
    """Serve until stopped.

    Raises:
        AddressError: the address cannot be served on.
        DataDirectoryError, WrongVersionError, SettingsError, MissingPackageError: as `create_app` does.
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
    """Have prometheus-client count for all processes together, which has to be known before it is loaded."""
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
