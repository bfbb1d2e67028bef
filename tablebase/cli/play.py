"""The commands that play games: `shashki play` and `hub`."""

from __future__ import annotations

import argparse
import sys
from io import TextIOWrapper
from typing import TextIO

from tablebase.cli.main import OK, add_data_option
from tablebase.cli.options import add_position, add_ruleset


def add_game_commands(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add these to the command line."""
    play = subparsers.add_parser(
        "play",
        help="play a position against the tables",
        description="Play a position against the tables, in the terminal or by lines from a file: moves are "
        "typed in PDN notation, the draw rules count, and the game ends as they say.",
        epilog="exit status: 0, however the game ends; 1 for a damaged table; 2 for a bad FEN or option",
        allow_abbrev=False,
    )
    add_position(play)
    play.add_argument(
        "--side", choices=("white", "black"), help="the side that you play (default: the side to move)"
    )
    add_data_option(play)
    play.set_defaults(run=run_play)

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


def run_play(args: argparse.Namespace) -> int:
    """Play a game against a person.

    Raises:
        NotationError, IllegalPositionError, CounterError: the FEN is none.
        RulesetError: there is no such ruleset.
        DataDirectoryError: there is no such directory.
        TableError: a table is there but cannot be read.
    """
    from tablebase.board.position import Color
    from tablebase.engine.play import PlaySession
    from tablebase.probe.tablebase import open_tablebase
    from tablebase.report.text import terminal_width
    from tablebase.rules.clock import Clock
    from tablebase.rules.rulesets import find_ruleset

    typed = _standard_input()

    def read(prompt: str) -> str | None:
        try:
            line = input(prompt)
        except EOFError:
            print()  # the prompt has left the cursor where it was
            return None
        except KeyboardInterrupt:
            print()
            raise
        if not typed.isatty():
            print(line)  # as a terminal would show it
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
    from tablebase.engine.hub import HubInput, HubSession
    from tablebase.probe.tablebase import open_tablebase
    from tablebase.rules.rulesets import find_ruleset

    def write(line: str) -> None:
        print(line, flush=True)  # who drives an engine waits for its answers

    ruleset = find_ruleset(args.ruleset)
    with open_tablebase(args.data) as tablebase:
        HubSession(tablebase, ruleset, write).run(HubInput(_commands()))
    return OK


def _commands() -> TextIO:
    """The standard input for a thread that reads it, and may still wait for it when the process ends.

    Python closes `sys.stdin` then, and aborts where a thread is reading that; so this is a file of its own.
    """
    typed = _standard_input()
    if not isinstance(typed, TextIOWrapper):
        return typed
    return open(typed.fileno(), encoding=typed.encoding, errors="replace", closefd=False)


def _standard_input() -> TextIO:
    """The standard input, in which bytes that are no text are no error but a strange letter."""
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    return sys.stdin
