"""The command that answers over HTTP: `shashki serve`."""

from __future__ import annotations

import argparse

from tablebase.cli import OK, add_data_option


def add_commands(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `serve` to the command line."""
    serve = subparsers.add_parser(
        "serve",
        help="answer questions over HTTP, with a page for people",
        description="Answer questions over HTTP, with a page for people at /. Ctrl-C stops it.",
        epilog="exit status: 0 when stopped by Ctrl-C; 1 where the address cannot be served on; "
        "2 for a bad option or data directory",
        allow_abbrev=False,
    )
    serve.add_argument("--host", default="127.0.0.1", help="the address to serve on (default: 127.0.0.1)")
    serve.add_argument(
        "--port", type=_port, default=8000, help="the port (default: 8000); 0 takes a free one"
    )
    add_data_option(serve)
    serve.set_defaults(run=run_serve, extra="serve")


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) <= 65535:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no port; ports are 0 to 65535")


def run_serve(args: argparse.Namespace) -> int:
    """Serve until stopped.

    Raises:
        AddressError: the address cannot be served on.
        DataDirectoryError, WrongVersionError: as `create_app` does.
    """
    from server.app import DATA_DIRECTORY, create_app, tablebase_of
    from server.serving import address_of, listen, make_threaded_server
    from tablebase.datadir import generate_command

    app = create_app({DATA_DIRECTORY: args.data})
    with tablebase_of(app) as tablebase, listen(args.host, args.port) as listener:
        server = make_threaded_server(app, listener)
        if tablebase.pieces:
            print(f"{args.data} holds all positions of up to {tablebase.pieces} pieces.")
        else:
            command = generate_command(args.data, 4)
            print(f"{args.data} holds no complete set of tables; make one with {command}.")
        print(f"Serving at {address_of(listener)} (Ctrl-C stops it)", flush=True)
        server.serve_forever()
    return OK
