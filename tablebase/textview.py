"""Positions and lines as text for a terminal."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence

from tablebase.board import Color, Position
from tablebase.clock import Clock, Verdict
from tablebase.drawrules import Ruleset
from tablebase.line import Line, LineEnd
from tablebase.outcome import Outcome, Probe
from tablebase.prospect import Prospect
from tablebase.report import PositionReport, RuledMoveReport, in_moves
from tablebase.rulereport import RuleStateReport, rules_report
from tablebase.rules import Move
from tablebase.ruletext import adds_to, count_in_words, headline, worth
from tablebase.verdict import Cause, cause_of_draw, outcome_from_moves, verdict

_GAP = "  "
_UNLIMITED = 10_000
_PROSE = 100  # columns beyond which a sentence is hard to read
_DISTANCES = ("DTC", "DTB", "DTW")
_RIGHT = (*_DISTANCES, "remaining")
_TO_BALANCE_CHANGE = "to the next capture, promotion or end of the game"


def terminal_width() -> int:
    """The columns of the terminal that stdout is; no limit where it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _UNLIMITED


def position_text(position: Position, report: PositionReport, ruleset: Ruleset, width: int) -> str:
    """The board, the verdict, the distances, the draw rules that apply, and a table of the moves.

    Args:
        position: the position.
        report: what `position_report` says of it.
        ruleset: the rules that the tables assume.
        width: the columns there are. The positions after the moves are left out where they do not fit.
    """
    probe = Probe(Outcome(report["outcome"]), report["dtc"], report["dtw"], report["dtb"])
    from_moves = outcome_from_moves([Outcome(move["outcome"]) for move in report["moves"]])
    after = [Probe(Outcome(move["after"]["outcome"]), move["after"]["dtc"]) for move in report["moves"]]
    cause = cause_of_draw(probe.outcome, after, ruleset)
    facts = [
        ("fen", report["fen"]),
        ("material", f"{report['material']} (side to move first), {_pieces(report['pieces'])}"),
        ("outcome", f"{report['outcome']}, for {report['turn']}"),
        ("DTC", _dtc(probe)),
        *([("DTB", _distance(probe.dtb, _TO_BALANCE_CHANGE))] if probe.dtb else []),
        ("DTW", _dtw(probe)),
        ("ruleset", report["ruleset"]),
    ]
    ruled = Verdict(report["verdict"])
    told = headline(ruled, report["rules"], verdict(position, probe, from_moves, cause))
    if ruled is not Verdict.DRAWN:
        known = from_moves if probe.outcome is Outcome.UNKNOWN else probe.outcome
        told += _under_the_rules(position, known, Prospect(report["rules_outcome"]), report["ruleset"])
    parts = [
        str(position),
        wrapped(" ".join(told), width),
        "\n".join(wrapped(f"{name:<8}  {text}", width, " " * 10) for name, text in facts),
    ]
    applying = [rule for rule in report["rules"] if rule["applies"]]
    if applying:
        parts.append(rules_table(applying))
    if report["moves"]:
        parts.append(_moves_table(report["moves"], width))
    return "\n\n".join(parts)


def line_text(line: Line, clock: Clock, probe: Probe, cause: Cause, prospect: Prospect, width: int) -> str:
    """The board, the verdict, the moves with their numbers as PDN has them, and why the line stops.

    Args:
        line: the line.
        clock: the game where it begins.
        probe: the value of that position from fresh counters.
        cause: which rules make a draw of that value, if the position is won on the board.
        prospect: what that position is worth under the rules.
        width: the columns there are.
    """
    first = line.positions[0]
    from_moves = _first_outcome(line)
    known = from_moves if probe.outcome is Outcome.UNKNOWN else probe.outcome
    is_drawn = bool(line.fired) and not line.moves
    ruled = Verdict.DRAWN if is_drawn else Verdict.OPEN
    told = headline(ruled, rules_report(line.fired), verdict(first, probe, from_moves, cause))
    if not is_drawn:
        told += _under_the_rules(first, known, prospect, clock.ruleset.name)
    parts = [str(first), wrapped(" ".join(told), width)]
    if line.moves:
        parts.append(wrapped(movetext(line), width))
        parts.append(str(line.positions[-1]))
    parts.append(wrapped(" ".join([line.reason, *_why_not_as_long(line, probe)]), width))
    return "\n\n".join(parts)


def _first_outcome(line: Line) -> Outcome:
    """What a line tells of the outcome of its first position."""
    if line.moves:
        return line.moves[0].outcome
    return Outcome.DRAW if line.end is LineEnd.DRAW and not line.fired else Outcome.UNKNOWN


def _under_the_rules(position: Position, known: Outcome, prospect: Prospect, ruleset: str) -> list[str]:
    """A sentence, where the rules with their counts as they are make something else of a position than it is
    worth from fresh counters."""
    is_more = adds_to(prospect, known) and prospect is not Prospect.UNKNOWN
    return [worth(position.turn, prospect, ruleset)] if is_more else []


def _why_not_as_long(line: Line, probe: Probe) -> Iterator[str]:
    """A sentence, where the verdict gives another number of moves than have been played to the end."""
    played, told = in_moves(len(line.moves)), in_moves(probe.dtw)
    if line.end is LineEnd.GAME_OVER and told is not None and played != told:
        yield (
            f"It has taken {_moves(played)}, where the verdict has {told}: both sides play for the next "
            "capture or promotion (DTB) and for the next capture or man's move (DTC) before they play for "
            "the end of the game (DTW)."
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


def wrapped(text: str, width: int, indent: str = "") -> str:
    """A text in lines of so many columns, or of fewer where those would be hard to read; all but the first
    begin with the indent."""
    return textwrap.fill(
        text, min(width, _PROSE), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def rules_table(rules: Sequence[RuleStateReport]) -> str:
    """What draw rules say of a game, a line each: how far each has come, and what remains."""
    head = ["rule", "article", "count", "remaining"]
    rows = [[rule["rule"], rule["article"], count_in_words(rule), str(rule["remaining"])] for rule in rules]
    return "\n".join(_aligned([head, *rows]))


def _moves_table(moves: Sequence[RuledMoveReport], width: int) -> str:
    columns = {
        "move": [move["move"] for move in moves],
        "outcome": [move["outcome"] for move in moves],
        "by rules": [move["rules_outcome"] for move in moves],
        "DTC": [_cell(move["dtc"]) for move in moves],
        "DTB": [_cell(move["dtb"]) for move in moves],
        "DTW": [_cell(move["dtw"]) for move in moves],
        "position after it": [move["after"]["fen"] for move in moves],
    }
    if not any(adds_to(Prospect(move["rules_outcome"]), Outcome(move["outcome"])) for move in moves):
        del columns["by rules"]
    if all(move["dtb"] is None for move in moves):
        del columns["DTB"]
    rows = [list(columns), *map(list, zip(*columns.values(), strict=True))]
    if _width(rows) > width:
        rows = [row[:-1] for row in rows]
    distances = ", ".join(name for name in columns if name in _DISTANCES)
    legend = f"{distances}: plies (moves), counted from before the move. Best move first."
    return "\n".join([*_aligned(rows), "", wrapped(legend, width)])


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
            cell.rjust(width) if name in _RIGHT else cell.ljust(width)
            for cell, width, name in zip(row, widths, rows[0], strict=True)
        ).rstrip()
        for row in rows
    ]


def movetext(line: Line) -> str:
    """The moves of a line, as `numbered` has them."""
    return numbered([value.move for value in line.moves], line.positions[0].turn)


def numbered(moves: Sequence[Move], first: Color) -> str:
    """Moves with numbers: `1. c3-d4 h8-a1 2. ...`, or `1... h8-a1 2. ...` where Black begins.

    Args:
        moves: the moves.
        first: who makes the first of them.
    """
    words = []
    for ply, move in enumerate(moves, start=first is Color.BLACK):
        number, is_black = ply // 2 + 1, ply % 2
        if not is_black:
            words.append(f"{number}. {move}")
        elif not words:
            words.append(f"{number}... {move}")
        else:
            words.append(str(move))
    return " ".join(words)
