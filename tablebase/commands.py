"""The commands that ask the tables: `shashki probe` and `shashki line`."""

from __future__ import annotations

import argparse
import json

from tablebase.cli import OK, add_data_option


def add_commands(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `probe` and `line` to the command line."""
    probe = subparsers.add_parser(
        "probe",
        help="what a position is worth, and its moves",
        description="What a position is worth, how far it is from the end, and its moves, best first.",
        epilog="exit status: 0; 1 where no table knows the position; 2 for a bad FEN or option",
        allow_abbrev=False,
    )
    _add_position(probe)
    probe.set_defaults(run=run_probe)

    line = subparsers.add_parser(
        "line",
        help="best play of both sides from a position on",
        description="Best play of both sides, to the end of the game or as far as it goes, and why it stops. "
        "Both sides count to the next capture or man's move (DTC) before they count to the end of the game "
        "(DTW), so that a line may be longer or shorter than the DTW.",
        epilog="exit status: 0; 1 where a missing table stops the line; 2 for a bad FEN or option",
        allow_abbrev=False,
    )
    _add_position(line)
    line.add_argument(
        "--limit", metavar="N", type=_plies, default=500, help="the most plies to play (default: 500)"
    )
    line.set_defaults(run=run_line)


def _add_position(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("fen", metavar="FEN", help="the position, e.g. W:WKa1,c3:BKh8")
    parser.add_argument(
        "--numbering",
        choices=("a1", "b8", "g1"),
        help="read squares given as numbers 1-32, by the square that has number 1: a1 (PDN, pydraughts), "
        "b8 (lidraughts, py-draughts), g1 (CheckerBoard)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, as the HTTP API has it")
    add_data_option(parser)


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
    """
    from tablebase.board import Position
    from tablebase.report import position_report
    from tablebase.tablebase import open_tablebase
    from tablebase.textview import position_text, terminal_width

    position = Position.from_fen(args.fen, args.numbering)
    with open_tablebase(args.data) as tablebase:
        report = position_report(tablebase, position)
        if args.json:
            print(json.dumps(report, indent=2))
        else:
            print(position_text(position, report, terminal_width()))
        if report["wdl"] is None:
            tablebase.probe(position)  # names the table that is missing
    return OK


def run_line(args: argparse.Namespace) -> int:
    """Print best play of both sides.

    Raises:
        MissingTableError: when that is printed: no table tells how the line goes on.
    """
    from tablebase.board import Position
    from tablebase.line import LineEnd
    from tablebase.report import line_report
    from tablebase.tablebase import open_tablebase
    from tablebase.textview import line_text, terminal_width

    position = Position.from_fen(args.fen, args.numbering)
    with open_tablebase(args.data) as tablebase:
        line = tablebase.line(position, args.limit)
        probe = tablebase.get_probe(position)
        if args.json:
            print(json.dumps(line_report(line, probe), indent=2))
        else:
            print(line_text(line, probe, terminal_width()))
        if line.end is LineEnd.UNKNOWN:
            tablebase.best_move(line.positions[-1])  # names the table that is missing
    return OK
