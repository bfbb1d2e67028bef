"""Positions and lines as text for a terminal."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence

from tablebase.board import Color, Position
from tablebase.drawrules import Ruleset
from tablebase.line import Line, LineEnd
from tablebase.outcome import Outcome, Probe
from tablebase.report import MoveReport, PositionReport, in_moves
from tablebase.verdict import Cause, cause_of_draw, outcome_from_moves, verdict

_GAP = "  "
_UNLIMITED = 10_000
_PROSE = 100  # columns beyond which a sentence is hard to read


def terminal_width() -> int:
    """The columns of the terminal that stdout is; no limit where it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _UNLIMITED


def position_text(position: Position, report: PositionReport, ruleset: Ruleset, width: int) -> str:
    """The board, the verdict, the distances, and a table of the moves.

    Args:
        position: the position.
        report: what `position_report` says of it.
        ruleset: the rules that the tables assume.
        width: the columns there are. The positions after the moves are left out where they do not fit.
    """
    probe = Probe(Outcome(report["outcome"]), report["dtc"], report["dtw"])
    from_moves = outcome_from_moves([Outcome(move["outcome"]) for move in report["moves"]])
    after = [Probe(Outcome(move["after"]["outcome"]), move["after"]["dtc"]) for move in report["moves"]]
    cause = cause_of_draw(probe.outcome, after, ruleset)
    facts = [
        ("fen", report["fen"]),
        ("material", f"{report['material']} (side to move first), {_pieces(report['pieces'])}"),
        ("outcome", f"{report['outcome']}, for {report['turn']}"),
        ("DTC", _dtc(probe)),
        ("DTW", _dtw(probe)),
    ]
    parts = [
        str(position),
        _wrapped(verdict(position, probe, from_moves, cause), width),
        "\n".join(_wrapped(f"{name:<8}  {text}", width, " " * 10) for name, text in facts),
    ]
    if report["moves"]:
        parts.append(_moves_table(report["moves"], width))
    return "\n\n".join(parts)


def line_text(line: Line, probe: Probe, cause: Cause, width: int) -> str:
    """The board, the verdict, the moves with their numbers as PDN has them, and why the line stops.

    Args:
        line: the line.
        probe: the value of the position it begins at.
        cause: which rules make a draw of that position, if it is won on the board.
        width: the columns there are.
    """
    first = line.positions[0]
    parts = [str(first), _wrapped(verdict(first, probe, _first_outcome(line), cause), width)]
    if line.moves:
        parts.append(_wrapped(_movetext(line), width))
        parts.append(str(line.positions[-1]))
    parts.append(_wrapped(" ".join([line.reason, *_why_not_as_long(line, probe)]), width))
    return "\n\n".join(parts)


def _first_outcome(line: Line) -> Outcome:
    """What a line tells of the outcome of its first position."""
    if line.moves:
        return line.moves[0].outcome
    return Outcome.DRAW if line.end is LineEnd.DRAW else Outcome.UNKNOWN


def _why_not_as_long(line: Line, probe: Probe) -> Iterator[str]:
    """A sentence, where the verdict gives another number of moves than have been played to the end."""
    played, told = in_moves(len(line.moves)), in_moves(probe.dtw)
    if line.end is LineEnd.GAME_OVER and told is not None and played != told:
        yield (
            f"It has taken {_moves(played)}, where the verdict has {told}: both sides play for the next "
            "capture or man's move (DTC) before they play for the end of the game (DTW)."
        )


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
    return f"{plies} {'ply' if plies == 1 else 'plies'} = {_moves(in_moves(plies))} {what}"


def _moves(count: int | None) -> str:
    return "1 move" if count == 1 else f"{count} moves"


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
