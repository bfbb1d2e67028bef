"""The commands of this package: `shashki probe`, `line` and `adjudicate` here, others in their modules."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tablebase.cli.export import add_export_command
from tablebase.cli.main import BAD_ANSWER, OK, add_data_option
from tablebase.cli.options import add_json, add_numbering, add_position, add_ruleset
from tablebase.cli.play import add_game_commands


def add_commands(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add all commands of this package to the command line."""
    probe = subparsers.add_parser(
        "probe",
        help="the value of a position, and its moves",
        description="Print the outcome and distances of a position, the draw rules that apply, and its "
        "moves, best first under the rules.",
        epilog="exit status: 0; 1 if a table is missing; 2 for a bad FEN or option",
        allow_abbrev=False,
    )
    add_position(probe)
    add_json(probe)
    add_data_option(probe)
    probe.set_defaults(run=run_probe)

    line = subparsers.add_parser(
        "line",
        help="best play of both sides from a position on",
        description="Print best play of both sides under the draw rules, and why it stops. Both sides play "
        "for the next capture or promotion (DTB) and the next capture or man's move (DTC) before the end of "
        "the game (DTW). So a line may be longer or shorter than the DTW.",
        epilog="exit status: 0; 1 if a missing table stops the line; 2 for a bad FEN or option",
        allow_abbrev=False,
    )
    add_position(line)
    add_json(line)
    add_data_option(line)
    line.add_argument(
        "--limit", metavar="N", type=_plies, default=500, help="the largest number of plies (default: 500)"
    )
    line.set_defaults(run=run_line)

    adjudicate = subparsers.add_parser(
        "adjudicate",
        help="judge games: results, rules that fired, mistakes",
        description="Judge the games of a PDN file under the draw rules: how each game ended, which rule "
        "fired at which move, which moves changed the outcome, and whether the written result agrees.",
        epilog="exit status: 0; 1 if a game has a problem, or its result contradicts the rules; 2 for a file "
        "that cannot be read or has no games, or a bad option",
        allow_abbrev=False,
    )
    adjudicate.add_argument("file", metavar="FILE", help="the games, in PDN; - for the standard input")
    add_ruleset(adjudicate)
    add_numbering(adjudicate)
    add_json(adjudicate)
    add_data_option(adjudicate)
    adjudicate.set_defaults(run=run_adjudicate)

    add_game_commands(subparsers)
    add_export_command(subparsers)


def _plies(text: str) -> int:
    try:
        plies = int(text)
    except ValueError:
        plies = -1
    if plies < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of plies; give 0 or more")
    return plies


def run_probe(args: argparse.Namespace) -> int:
    """Print the value of a position and its moves.

    Raises:
        MissingTableError: a table is missing; the rest has been printed.
        NotationError: the FEN cannot be read.
        IllegalPositionError: the position of the FEN is illegal.
        CounterError: a counter of the FEN is bad.
        RulesetError: there is no such ruleset.
    """
    from tablebase.games.analysis import analyse
    from tablebase.probe.tablebase import open_tablebase
    from tablebase.report.positions import position_report
    from tablebase.report.text import position_text, terminal_width
    from tablebase.rules.clock import Clock
    from tablebase.rules.rulesets import find_ruleset

    clock = Clock.from_fen(args.fen, find_ruleset(args.ruleset), args.numbering)
    with open_tablebase(args.data) as tablebase:
        analysis = analyse(tablebase, clock)
        if args.json:
            print(json.dumps(position_report(analysis), indent=2))
        else:
            print(position_text(analysis, terminal_width()))
        if analysis.probe.wdl is None and (missing := tablebase.missing_table(clock.position)) is not None:
            raise missing
    return OK


def run_line(args: argparse.Namespace) -> int:
    """Print a line of best play of both sides.

    Raises:
        MissingTableError: a missing table stops the line, which has been printed.
        NotationError: the FEN cannot be read.
        IllegalPositionError: the position of the FEN is illegal.
        CounterError: a counter of the FEN is bad.
        RulesetError: there is no such ruleset.
    """
    from tablebase.games.analysis import SEARCH_EFFORT, analyse
    from tablebase.games.search import RuleSearch
    from tablebase.probe.tablebase import open_tablebase
    from tablebase.report.positions import line_report
    from tablebase.report.text import line_text, terminal_width
    from tablebase.rules.clock import Clock
    from tablebase.rules.rulesets import find_ruleset

    clock = Clock.from_fen(args.fen, find_ruleset(args.ruleset), args.numbering)
    with open_tablebase(args.data) as tablebase:
        search = RuleSearch(tablebase, SEARCH_EFFORT)
        line = search.line(clock, args.limit)
        if args.json:
            print(json.dumps(line_report(tablebase, line, clock, search), indent=2))
        else:
            print(line_text(line, analyse(tablebase, clock, search), terminal_width()))
        if line.missing is not None:
            raise line.missing
    return OK


def run_adjudicate(args: argparse.Namespace) -> int:
    """Print the adjudications of the games of a file.

    Raises:
        NotationError: the file has no game.
        RulesetError: there is no such ruleset.
        GameFileError: the file cannot be read.
    """
    from tablebase.errors import GameFileError, NotationError
    from tablebase.games.adjudication import Adjudicator
    from tablebase.games.pdn import decode_pdn
    from tablebase.probe.tablebase import open_tablebase
    from tablebase.report.games import game_report
    from tablebase.report.text import game_text, terminal_width
    from tablebase.rules.rulesets import find_ruleset

    ruleset = find_ruleset(args.ruleset)
    try:
        text = decode_pdn(sys.stdin.buffer.read() if args.file == "-" else Path(args.file).read_bytes())
    except OSError as error:
        raise GameFileError(
            f"{args.file} cannot be read: {error.strerror or error}; name a file of games in PDN, or - for "
            "the standard input"
        ) from None
    games = unsound = 0
    with open_tablebase(args.data) as tablebase:
        # Game by game: a file may have too many games to hold all in memory.
        for judged in Adjudicator(tablebase, ruleset, args.numbering).games(text):
            games += 1
            unsound += not judged.is_sound
            if args.json:
                opening = f'{{"ruleset": {json.dumps(ruleset.name)}, "games": [' if games == 1 else ","
                print(opening, json.dumps(game_report(judged), indent=2), sep="\n")
            else:
                print(game_text(judged, terminal_width()), end="\n\n")
    if not games:
        raise NotationError(f"{args.file} has no game; write games in PDN, like 1. c3-d4 d6-c5 1-1")
    if args.json:
        print("]}")
    else:
        counted = "1 game" if games == 1 else f"{games} games"
        print(f"{counted} under the ruleset {ruleset.name}: problems in {unsound or 'none'}.")
    return BAD_ANSWER if unsound else OK
