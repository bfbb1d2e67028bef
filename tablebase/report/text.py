"""Positions, lines and games as text for a terminal."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence

from tablebase.board.position import Color, Move, Position
from tablebase.games.adjudication import Adjudication, Ending, GameProblem, Mistake, ResultCheck
from tablebase.games.pdn import GameResult
from tablebase.probe.line import Line, LineEnd
from tablebase.report.positions import PositionReport, RuledMoveReport, in_moves
from tablebase.report.rules import RuleStateReport, rules_report
from tablebase.report.sentences import (
    Cause,
    adds_to,
    cause_of_draw,
    count_in_words,
    headline,
    named,
    outcome_from_moves,
    verdict,
    worth,
)
from tablebase.rules.clock import Clock, DrawClaim, GameStatus
from tablebase.rules.outcome import Outcome, Probe, RulesOutcome
from tablebase.rules.rulesets import Ruleset

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
    ruled = GameStatus(report["verdict"])
    told = headline(ruled, report["rules"], verdict(position, probe, from_moves, cause))
    if ruled is not GameStatus.DRAWN:
        known = from_moves if probe.outcome is Outcome.UNKNOWN else probe.outcome
        told += _under_the_rules(position, known, RulesOutcome(report["rules_outcome"]), report["ruleset"])
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


def line_text(
    line: Line, clock: Clock, probe: Probe, cause: Cause, prospect: RulesOutcome, width: int
) -> str:
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
    ruled = GameStatus.DRAWN if is_drawn else GameStatus.OPEN
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


def _under_the_rules(position: Position, known: Outcome, prospect: RulesOutcome, ruleset: str) -> list[str]:
    """A sentence, where the rules with their counts as they are make something else of a position than it is
    worth from fresh counters."""
    is_more = adds_to(prospect, known) and prospect is not RulesOutcome.UNKNOWN
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
    if not any(adds_to(RulesOutcome(move["rules_outcome"]), Outcome(move["outcome"])) for move in moves):
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


_GAME_PROSE = 100  # columns beyond which a sentence is hard to read
_RESULTS = {
    GameResult.WHITE_WINS: "a win of White",
    GameResult.BLACK_WINS: "a win of Black",
    GameResult.DRAW: "a draw",
    GameResult.BOTH_LOSE: "a loss of both",
    GameResult.OPEN: "no result",
}


def sentence(judged: Adjudication) -> str:
    """How the game ended by the rules, and what its written result is beside that."""
    return f"{_ending(judged)} {_agreement(judged)}".strip()


def game_text(judged: Adjudication, width: int) -> str:
    """A paragraph on a game: its name, how it ended, the rules that fired, mistakes and problems.

    Args:
        judged: the game.
        width: the columns there are.
    """
    name = judged.game.tag("Event")
    head = f"Game {judged.game.number}{f': {name}' if name else ''}"
    items = [
        *(_problem(problem) for problem in judged.problems),
        *_rulings(judged),
        *(_mistake(judged, mistake) for mistake in judged.mistakes),
    ]
    lines = [_wrapped(head, width, ""), _wrapped("  " + sentence(judged), width, "  ")]
    return "\n".join([*lines, *(_wrapped(f"  - {item}", width, "    ") for item in items)])


def _wrapped(text: str, width: int, indent: str) -> str:
    # A text from a file may hold anything; only its printable part belongs on a terminal.
    printable = "".join(char if char.isprintable() else " " for char in text)
    return textwrap.fill(
        printable,
        max(20, min(width, _GAME_PROSE)),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _plies(count: int) -> str:
    return "1 ply" if count == 1 else f"{count} plies"


def _number(judged: Adjudication, ply: int) -> str:
    """The number of a move as a score sheet has it: `12.` for White, `12...` for Black."""
    black_began = judged.start is not None and judged.start.position.turn is Color.BLACK
    index = ply - 1 + black_began
    return f"{index // 2 + 1}{'...' if index % 2 else '.'}"


def _ending(judged: Adjudication) -> str:
    last, count = judged.last, len(judged.plies)
    match judged.ending:
        case Ending.EMPTY:
            return "The game has no moves."
        case Ending.WON:
            assert last is not None
            position = last.position
            why = "has no move" if position.own_men | position.own_kings else "has no pieces left"
            winner = position.turn.other.capitalize()
            return f"{winner} has won after {_plies(count)}: {position.turn.capitalize()} {why}."
        case Ending.DRAWN:
            assert last is not None
            return f"A draw after {_plies(count)}, by {named(rules_report(last.ruling.fired))}."
        case Ending.STOPPED:
            return f"The game was followed for {_plies(count)}, and no further."
        case Ending.CUT_SHORT:
            assert last is not None
            stopped = f"The moves stop after {_plies(count)}; no rule has ended the game there."
            return f"{stopped}{_claims(judged)}{_worth(judged)}"


def _claims(judged: Adjudication) -> str:
    """The draws that could be claimed in the position in which the moves stop."""
    return "".join(
        f" {claim.player.capitalize()} could claim a draw, {_how(claim)}." for claim in judged.claims
    )


def _how(claim: DrawClaim) -> str:
    """By which rule a draw is claimed, and with which move."""
    announced = "" if claim.move is None else f", announcing {claim.move}"
    return f"by {named(rules_report([claim.state]))}{announced}"


def _worth(judged: Adjudication) -> str:
    """What the position in which the moves stop is worth, where tables tell."""
    last = judged.last
    assert last is not None
    mover, other = last.position.turn.capitalize(), last.position.turn.other.capitalize()
    match last.rules:
        case RulesOutcome.WIN:
            return f" Played on, {mover} wins it."
        case RulesOutcome.LOSS:
            return f" Played on, {other} wins it."
        case RulesOutcome.DRAW:
            return " Played on, it is a draw."
        case RulesOutcome.MAYBE_WIN:
            return f" {mover} wins it on the board, if the rules leave time for that."
        case RulesOutcome.MAYBE_LOSS:
            return f" {other} wins it on the board, if the rules leave time for that."
        case RulesOutcome.UNKNOWN:
            return ""


def _agreement(judged: Adjudication) -> str:
    result, written = judged.result, judged.game.written_result
    match judged.agreement:
        case ResultCheck.NOTHING_WRITTEN:
            return "No result is written."
        case ResultCheck.CONTRADICTS:
            assert result is not None
            assert written is not None
            return f"The written result, {_RESULTS[written]}, contradicts that."
        case ResultCheck.AGREES if result is None:
            return "The written result, a draw, is one that can be claimed."
        case ResultCheck.AGREES:
            return "The written result agrees."
        case ResultCheck.NOT_DECIDED:
            assert written is not None
            return f"The written result, {_RESULTS[written]}, is not decided by the rules."


def _rulings(judged: Adjudication) -> Iterator[str]:
    """What rules said on the way, where they did not end the game: a claim that was open, or a doubt."""
    said: set[tuple[GameStatus, str]] = set()
    for played in judged.plies:
        ruling = played.after.ruling
        for state in ruling.fired:
            key = ruling.verdict, state.rule.value
            if ruling.verdict is GameStatus.DRAWN or key in said:
                continue
            said.add(key)
            where = f"after {_number(judged, played.ply)} {played.move} (ply {played.ply})"
            if ruling.verdict is GameStatus.CLAIMABLE:
                player = played.after.position.turn.capitalize()
                yield f"{where} {player} could claim a draw, by {named(rules_report([state]))}"
            else:
                yield (
                    f"{where} the game is drawn by {named(rules_report([state]))}, unless it is won on the "
                    "board, which no table tells; it is followed further"
                )


def _mistake(judged: Adjudication, mistake: Mistake) -> str:
    player = mistake.player.capitalize()
    on_board = f"{mistake.unruled_before} to {mistake.unruled_after}"
    by_rules = f"{mistake.rules_before} to {mistake.rules_after}"
    if on_board == by_rules:
        change = on_board
    elif mistake.unruled_before is mistake.unruled_after:
        change = f"{by_rules} under the rules, a {mistake.unruled_before} as before on the board"
    else:
        change = f"{on_board} on the board, {by_rules} under the rules"
    kept = ", ".join(map(str, mistake.saving_moves))
    instead = f"; {kept} would have kept it" if kept else ""
    if mistake.claim is not None:
        instead += f"; a claim of the draw would have kept it, {_how(mistake.claim)}"
    return (
        f"{_number(judged, mistake.ply)} {mistake.move} (ply {mistake.ply}) is a mistake of {player}: "
        f"{change}{instead}"
    )


def _problem(problem: GameProblem) -> str:
    at = f"line {problem.line}" + ("" if problem.ply is None else f", ply {problem.ply}")
    return f"{problem.kind} ({at}): {problem.message}"
