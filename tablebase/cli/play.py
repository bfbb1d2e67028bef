"""The commands `shashki play` and `shashki hub`."""

from __future__ import annotations

import argparse
import sys
from io import TextIOWrapper
from typing import TextIO

from tablebase.board.position import Color
from tablebase.cli.main import OK, add_data_option
from tablebase.cli.options import add_position, add_ruleset
from tablebase.engine.hub import HubInput, HubSession
from tablebase.engine.play import PlaySession
from tablebase.probe.tablebase import open_tablebase
from tablebase.report.text import terminal_width
from tablebase.rules.clock import Clock
from tablebase.rules.rulesets import find_ruleset


def add_game_commands(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands to the command line."""
    play = subparsers.add_parser(
        "play",
        help="play a position against the tables",
        description="Play a position against the tables, in the terminal or with lines from a file. Moves "
        "are in PDN notation. The draw rules apply.",
        epilog="exit status: 0 for any end of the game; 1 for a damaged table; 2 for a bad FEN or option",
        allow_abbrev=False,
    )
    add_position(play)
    play.add_argument("--side", choices=("white", "black"), help="your side (default: the side to move)")
    add_data_option(play)
    play.set_defaults(run=run_play)

    hub = subparsers.add_parser(
        "hub",
        help="an engine in the Hub protocol, for other programs",
        description="An engine for other programs, which talk to its standard input and output in the Hub "
        "protocol of draughts engines (version 2). It plays the best move under the draw rules by the "
        "tables, or by a shallow search if the tables do not decide.",
        epilog="exit status: 0 after `quit` or the end of the input; 2 for a bad option",
        allow_abbrev=False,
    )
    add_ruleset(hub)
    add_data_option(hub)
    hub.set_defaults(run=run_hub)


def run_play(args: argparse.Namespace) -> int:
    """Play a game against a person.

    Raises:
        NotationError: the FEN cannot be read.
        IllegalPositionError: the position of the FEN is illegal.
        CounterError: a counter of the FEN is bad.
        RulesetError: there is no such ruleset.
        DataDirectoryError: there is no such directory.
        TableError: a table is there but cannot be read.
    """
    typed = _standard_input()

    def read(prompt: str) -> str | None:
        try:
            line = input(prompt)
        except EOFError:
            print()  # the cursor is still behind the prompt
            return None
        except KeyboardInterrupt:
            print()
            raise
        if not typed.isatty():
            print(line)  # a terminal shows what is typed
        return line

    clock = Clock.from_fen(args.fen, find_ruleset(args.ruleset), args.numbering)
    side = clock.position.turn if args.side is None else Color(args.side)
    with open_tablebase(args.data) as tablebase:
        session = PlaySession(
            tablebase, clock, side, read, print, numbering=args.numbering, width=terminal_width()
        )
        session.run()
    return OK


def run_hub(args: argparse.Namespace) -> int:
    """Answer commands of the Hub protocol until `quit`.

    Raises:
        RulesetError: there is no such ruleset.
        DataDirectoryError: there is no such directory.
    """

    def write(line: str) -> None:
        print(line, flush=True)  # the other program waits for this line

    ruleset = find_ruleset(args.ruleset)
    with open_tablebase(args.data) as tablebase:
        HubSession(tablebase, ruleset, write).run(HubInput(_commands()))
    return OK


def _commands() -> TextIO:
    """Return the standard input as a file of its own, for a thread that may still read it at exit.

    Python closes `sys.stdin` at exit, and aborts if a thread is reading it.
    """
    typed = _standard_input()
    if not isinstance(typed, TextIOWrapper):
        return typed
    return open(typed.fileno(), encoding=typed.encoding, errors="replace", closefd=False)


def _standard_input() -> TextIO:
    """Return the standard input; bytes that are not text become replacement characters."""
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    return sys.stdin
