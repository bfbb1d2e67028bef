"""The commands that play games: `shashki hub`."""

from __future__ import annotations

import argparse
import sys
from io import TextIOWrapper
from typing import TextIO

from tablebase.cli import OK, add_data_option
from tablebase.options import add_ruleset


def add_game_commands(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `hub` to the command line."""
    hub = subparsers.add_parser(
        "hub",
        help="an engine in the Hub protocol, for other programs",
        description="An engine that other programs drive over its standard input and output, in the Hub "
        "protocol of draughts engines (version 2): it plays the best move by the tables under the draw "
        "rules, and by a shallow search where they do not tell it.",
        epilog="exit status: 0 after `quit` or the end of the input; 2 for a bad option",
        allow_abbrev=False,
    )
    add_ruleset(hub)
    add_data_option(hub)
    hub.set_defaults(run=run_hub)


def run_hub(args: argparse.Namespace) -> int:
    """Answer commands of the Hub protocol until `quit`.

    Raises:
        RulesetError: there is no such ruleset.
        DataDirectoryError: there is no such directory.
    """
    from tablebase.drawrules import find_ruleset
    from tablebase.hub import HubSession
    from tablebase.tablebase import open_tablebase

    def write(line: str) -> None:
        print(line, flush=True)  # who drives an engine waits for its answers

    ruleset = find_ruleset(args.ruleset)
    with open_tablebase(args.data) as tablebase:
        HubSession(tablebase, ruleset, write).run(_standard_input())
    return OK


def _standard_input() -> TextIO:
    """The standard input, in which bytes that are no text are no error but a strange letter."""
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    return sys.stdin
