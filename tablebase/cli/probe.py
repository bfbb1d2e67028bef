"""The commands of this package; here those that ask the tables: `shashki probe`, `line` and `adjudicate`."""

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
    """Add these to the command line, those of `tablebase.cli.play`, and `export`."""
    probe = subparsers.add_parser(
        "probe",
        help="what a position is worth, and its moves",
        description="What a position is worth, how far it is from the end, the draw rules that apply, and "
        "its moves, best first under the rules.",
        epilog="exit status: 0; 1 where no table knows the position; 2 for a bad FEN or option",
        allow_abbrev=False,
    )
    add_position(probe)
    add_json(probe)
    add_data_option(probe)
    probe.set_defaults(run=run_probe)

    line = subparsers.add_parser(
        "line",
        help="best play of both sides from a position on",
        description="Best play of both sides under the draw rules, to the end of the game or as far as it "
        "goes, and why it stops. Both sides count to the next capture or promotion (DTB) and to the next "
        "capture or man's move (DTC) before they count to the end of the game (DTW), so that a line may be "
        "longer or shorter than the DTW.",
        epilog="exit status: 0; 1 where a missing table stops the line; 2 for a bad FEN or option",
        allow_abbrev=False,
    )
    add_position(line)
    add_json(line)
    add_data_option(line)
    line.add_argument(
        "--limit", metavar="N", type=_plies, default=500, help="the most plies to play (default: 500)"
    )
    line.set_defaults(run=run_line)

    adjudicate = subparsers.add_parser(
        "adjudicate",
        help="judge games: results, rules that fired, mistakes",
        description="Judge the games of a PDN file under the draw rules: how each of them ended, which rule "
        "fired where, the moves that changed its outcome, and whether its written result agrees.",
        epilog="exit status: 0; 1 where something is wrong with a game, or its result contradicts the rules; "
        "2 for a file that cannot be read or has no games, or a bad option",
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
        raise argparse.ArgumentTypeError(f"{text!r} is no number of plies; give 0 or more")
    return plies


def run_probe(args: argparse.Namespace) -> int:
    """Print what a position is worth.

    Raises:
        MissingTableError: when that is printed: no table knows the position.
        NotationError, IllegalPositionError, CounterError: the FEN is none.
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
        if analysis.probe.wdl is None:
            tablebase.probe(clock.position)  # names the table that is missing
    return OK


def run_line(args: argparse.Namespace) -> int:
    """Print best play of both sides.

    Raises:
        MissingTableError: when that is printed: no table tells how the line goes on.
        NotationError, IllegalPositionError, CounterError: the FEN is none.
        RulesetError: there is no such ruleset.
    """
    from tablebase.games.analysis import SEARCH_EFFORT, analyse
    from tablebase.games.search import RuleSearch
    from tablebase.probe.line import LineEnd
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
        if line.end is LineEnd.UNKNOWN:
            for played in line.moves:
                clock = clock.play_unchecked(played.move)
            search.best_move(clock)  # raises the error that names the missing table
            tablebase.probe(clock.position)  # it may also be missing for a rule that spares won positions
    return OK


def run_adjudicate(args: argparse.Namespace) -> int:
    """Print what the rules and the tables say of the games of a file.

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
        # Game by game, as a file may have more of them than are good to hold at once.
        for judged in Adjudicator(tablebase, ruleset, args.numbering).games(text):
            games += 1
            unsound += not judged.is_sound
            if args.json:
                opening = f'{{"ruleset": {json.dumps(ruleset.name)}, "games": [' if games == 1 else ","
                print(opening, json.dumps(game_report(judged), indent=2), sep="\n")
            else:
                print(game_text(judged, terminal_width()), end="\n\n")
    if not games:
        raise NotationError(f"{args.file} has no game; games are written in PDN, like 1. c3-d4 d6-c5 1-1")
    if args.json:
        print("]}")
    else:
        counted = "1 game" if games == 1 else f"{games} games"
        print(f"{counted} under the ruleset {ruleset.name}: something is wrong with {unsound or 'none'}.")
    return BAD_ANSWER if unsound else OK
