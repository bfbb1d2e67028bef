"""The command line `shashki`: the frame for the commands of all packages.

A package adds commands with an entry point of the group `shashki.commands`: a function
`add_commands(subparsers)` that calls `subparsers.add_parser` for each command and
`set_defaults(run=function)`. `function(args)` does the work and returns the exit status.
`set_defaults(extra="serve")` names the extra of the distribution that installs the command's imports. A
command imports slow modules inside `function`, so that the command line starts quickly.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import NoReturn

from tablebase import __version__
from tablebase.errors import (
    CounterError,
    DataDirectoryError,
    GameFileError,
    IllegalMoveError,
    IllegalPositionError,
    MaterialError,
    NotationError,
    RulesetError,
    TablebaseError,
)
from tablebase.tables.files import ENVIRONMENT_VARIABLE, data_directory

OK = 0
"""Exit status: the command ran, and the answer is good."""
BAD_ANSWER = 1
"""Exit status: the command ran, and the answer is bad or could not be found."""
BAD_USE = 2
"""Exit status: the command did not run because of a bad option, file or directory."""
INTERRUPTED = 130
"""Exit status: stopped by Ctrl-C, 128 + SIGINT as in shells."""
PIPE_CLOSED = 141
"""Exit status: the reader of the output closed the pipe, 128 + SIGPIPE as in shells."""

_PACKAGES = ("tablebase", "generator", "server")
_GROUP = "shashki.commands"
_DESCRIPTION = "The endgame tablebase of Russian draughts: values of positions, and how to play them."
_EXIT_STATUS = (
    "exit status: 0 the answer is good; 1 the answer is bad or could not be found (no table, a damaged "
    "table, a check that failed); 2 bad use (a bad option or FEN, a missing file or directory); 130 stopped "
    "by Ctrl-C"
)
_USAGE_ERRORS = (
    NotationError,
    IllegalPositionError,
    IllegalMoveError,
    CounterError,
    RulesetError,
    MaterialError,
    DataDirectoryError,
    GameFileError,
)


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """Add `--data DIR` to a command; its `run` gets the data directory as a Path in `args.data`."""
    parser.add_argument(
        "--data",
        metavar="DIR",
        help=f"the directory of the tables (default: ${ENVIRONMENT_VARIABLE}, else data/ of the current "
        "checkout, else the user's data directory)",
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: the arguments after the program name; None takes those of the process.

    Returns:
        The exit status.

    Raises:
        SystemExit: from argparse: status 0 after `--help` and `--version`, 2 after bad arguments.
    """
    _open_standard_streams()
    try:
        status = _run(argv)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Python flushes stdout at exit: replace the closed pipe, or that flush fails.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except TablebaseError as error:
        print(f"shashki: {error}", file=sys.stderr)
        return BAD_USE if isinstance(error, _USAGE_ERRORS) else BAD_ANSWER
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        print(f"shashki: {where}{error.strerror or error}", file=sys.stderr)
        return BAD_ANSWER


def _open_standard_streams() -> None:
    """Replace closed standard streams (None, as after `<&-` in a shell) by os.devnull."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115  # stays open until the process ends


def _run(argv: Sequence[str] | None) -> int:
    args = make_parser().parse_args(argv)
    if hasattr(args, "data"):
        args.data = data_directory(args.data)
    try:
        return int(args.run(args))
    except ModuleNotFoundError as error:
        extra = getattr(args, "extra", None)
        if extra is None or (error.name or "").partition(".")[0] in _PACKAGES:
            raise
        print(
            f"shashki: `{args.command}` needs the package {error.name}, which is not installed; "
            f"pip install 'shashki-tablebase[{extra}]', or in a checkout: pip install '.[{extra}]'",
            file=sys.stderr,
        )
        return BAD_USE


class _Parser(argparse.ArgumentParser):
    """The parser of the whole command line; its errors name the commands that could not be loaded."""

    not_loaded: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        super().error("\n".join([message, *self.not_loaded]))


def make_parser() -> argparse.ArgumentParser:
    """Return the parser with the commands of all installed packages."""
    parser = _Parser(prog="shashki", description=_DESCRIPTION, epilog=_EXIT_STATUS, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"shashki {__version__}")
    subparsers = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=argparse.ArgumentParser
    )
    not_loaded = []
    for point in sorted(entry_points(group=_GROUP), key=_sort_key):
        try:
            add_commands = point.load()
        except ImportError as error:
            # A package without its dependencies must not disable the commands of the others.
            not_loaded.append(f"(the commands of {point.value} are not available: {error})")
        else:
            add_commands(subparsers)
    parser.not_loaded = not_loaded
    return parser


def _sort_key(point: EntryPoint) -> tuple[bool, str]:
    """Return the sort key of a package: the commands of `tablebase` come first in `--help`."""
    return point.name != "tablebase", point.name
