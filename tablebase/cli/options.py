"""Options of several commands."""

from __future__ import annotations

import argparse

from tablebase.rules.rulesets import OFFICIAL, RULESETS
from tablebase.tables.format import Metric


def add_position(parser: argparse.ArgumentParser) -> None:
    """Add `FEN`, `--ruleset` and `--numbering`, the arguments of a `Clock`."""
    parser.add_argument(
        "fen",
        metavar="FEN",
        help="the position, e.g. W:WKa1,c3:BKh8; counters of a game in progress may follow, e.g. "
        "W:WKa1,c3:BKh8:C3,3,0,0,1",
    )
    add_ruleset(parser)
    add_numbering(parser)


def add_ruleset(parser: argparse.ArgumentParser) -> None:
    """Add `--ruleset NAME`."""
    parser.add_argument(
        "--ruleset",
        metavar="NAME",
        default=OFFICIAL.name,
        help=f"the draw rules of the game (default: {OFFICIAL.name}): {', '.join(RULESETS)}",
    )


def add_numbering(parser: argparse.ArgumentParser) -> None:
    """Add `--numbering`."""
    parser.add_argument(
        "--numbering",
        choices=("a1", "b8", "g1"),
        help="the square with number 1, to read squares as numbers 1-32: a1 (PDN, pydraughts), "
        "b8 (lidraughts, py-draughts, CheckerBoard), g1 (PDN's N1)",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help="print JSON, as in the HTTP API")


def metrics(text: str) -> tuple[Metric, ...]:
    """Return the metrics of a list like `wdl,dtc`; a type for argparse.

    Raises:
        ArgumentTypeError: a name is not a metric, or the list is empty.
    """
    names = [name.strip() for name in text.lower().split(",") if name.strip()]
    unknown = [name for name in names if name not in list(Metric)]
    if unknown or not names:
        raise argparse.ArgumentTypeError(
            f"{', '.join(unknown) or 'nothing'} is not a metric: name one or more of {','.join(Metric)}"
        )
    return tuple(Metric(name) for name in names)
