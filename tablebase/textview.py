"""Positions and lines as text for a terminal."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence

from tablebase.board import Color, Position
from tablebase.line import Line
from tablebase.outcome import Outcome, Probe
from tablebase.report import MoveReport, PositionReport, in_moves
from tablebase.verdict import verdict

_GAP = "  "
_UNLIMITED = 10_000
_PROSE = 100  # columns beyond which a sentence is hard to read


def terminal_width() -> int:
    """The columns of the terminal that stdout is; no limit where it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _UNLIMITED


def position_text(position: Position, probe: Probe, report: PositionReport, width: int) -> str:
    """The board, the verdict, the distances, and a table of the moves.

    Args:
        position: the position.
        probe: its value.
        report: what `position_report` says of it.
        width: the columns there are. The positions after the moves are left out where they do not fit.
    """
    facts = [
        ("fen", report["fen"]),
        ("material", f"{report['material']} (side to move first), {_pieces(report['pieces'])}"),
        ("outcome", f"{report['outcome']}, for {report['turn']}"),
        ("DTC", _dtc(probe)),
        ("DTW", _dtw(probe)),
    ]
    parts = [
        str(position),
        _wrapped(verdict(position, probe), width),
        "\n".join(_wrapped(f"{name:<8}  {text}", width, " " * 10) for name, text in facts),
    ]
    if report["moves"]:
        parts.append(_moves_table(report["moves"], width))
    return "\n\n".join(parts)


def line_text(line: Line, probe: Probe, width: int) -> str:
    """The board, the verdict, the moves with their numbers as PDN has them, and why the line stops."""
    first = line.positions[0]
    parts = [str(first), _wrapped(verdict(first, probe), width)]
    if line.moves:
        parts.append(_wrapped(_movetext(line), width))
        parts.append(str(line.positions[-1]))
    parts.append(_wrapped(line.reason, width))
    return "\n\n".join(parts)


def _pieces(count: int) -> str:
    return "1 piece" if count == 1 else f"{count} pieces"


def _dtc(probe: Probe) -> str:
    if probe.dtc is None and not probe.outcome.is_decided and probe.outcome is not Outcome.UNKNOWN:
        return "none, as the rules make it a draw"
    return _distance(probe.dtc, "to the next capture, man's move or end of the game")


def _dtw(probe: Probe) -> str:
    if probe.outcome is Outcome.DRAW:
        return "none, as it is a draw on the board"
    return _distance(probe.dtw, "to the end of the game, without draw rules")


def _distance(plies: int | None, what: str) -> str:
    if plies is None:
        return "not known"
    moves = in_moves(plies)
    return f"{plies} {'ply' if plies == 1 else 'plies'} = {moves} {'move' if moves == 1 else 'moves'} {what}"


def _wrapped(text: str, width: int, indent: str = "") -> str:
    return textwrap.fill(
        text, min(width, _PROSE), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _moves_table(moves: Sequence[MoveReport], width: int) -> str:
    rows = [
        ["move", "outcome", "DTC", "DTW", "position after it"],
        *(
            [move["move"], move["outcome"], _cell(move["dtc"]), _cell(move["dtw"]), move["after"]["fen"]]
            for move in moves
        ),
    ]
    if _width(rows) > width:
        rows = [row[:-1] for row in rows]
    legend = "DTC, DTW: plies (moves), counted from before the move. Best move first."
    return "\n".join([*_aligned(rows), "", _wrapped(legend, width)])


def _cell(plies: int | None) -> str:
    return "-" if plies is None else f"{plies} ({in_moves(plies)})"


def _column_widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def _width(rows: Sequence[Sequence[str]]) -> int:
    widths = _column_widths(rows)
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = _column_widths(rows)
    return [
        _GAP.join(
            cell.rjust(width) if name in ("DTC", "DTW") else cell.ljust(width)
            for cell, width, name in zip(row, widths, rows[0], strict=True)
        ).rstrip()
        for row in rows
    ]


def _movetext(line: Line) -> str:
    """The moves with numbers: `1. c3-d4 h8-a1 2. ...`, or `1... h8-a1 2. ...` where Black begins."""
    black_begins = line.positions[0].turn is Color.BLACK
    words = []
    for ply, move in enumerate(line.moves, start=black_begins):
        number, is_black = ply // 2 + 1, ply % 2
        if not is_black:
            words.append(f"{number}. {move.move}")
        elif not words:
            words.append(f"{number}... {move.move}")
        else:
            words.append(str(move.move))
    return " ".join(words)
