"""Positions, lines and games as text for a terminal."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence

from tablebase.board.material import Material
from tablebase.board.position import Color, Move
from tablebase.games.adjudication import Adjudication, Ending, GameProblem, Mistake, ResultCheck
from tablebase.games.analysis import PositionAnalysis
from tablebase.games.pdn import GameResult
from tablebase.games.search import RuledMove
from tablebase.probe.line import Line, LineEnd
from tablebase.report.positions import in_moves
from tablebase.report.sentences import adds_to, count_in_words, rule_list, summary_sentences
from tablebase.rules.clock import DrawClaim, GameStatus, RuleState
from tablebase.rules.outcome import Outcome, Probe, RulesOutcome

_GAP = "  "
_UNLIMITED = 10_000
_PROSE = 100  # columns beyond which a sentence is hard to read
_DISTANCES = ("DTC", "DTB", "DTW")
_RIGHT = (*_DISTANCES, "remaining")
_TO_BALANCE_CHANGE = "to the next capture, promotion or end of the game"


def terminal_width() -> int:
    """Return the columns of the terminal; no limit if stdout is not a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _UNLIMITED


def position_text(analysis: PositionAnalysis, width: int) -> str:
    """Return the board, the value, the distances, the draw rules that apply, and a table of the moves.

    Args:
        analysis: the position in its game.
        width: the width in columns. The positions after the moves are left out if they do not fit.
    """
    position, probe = analysis.position, analysis.probe
    facts = [
        ("fen", position.to_fen()),
        ("material", f"{Material.of(position)} (side to move first), {_pieces(position.pieces)}"),
        ("outcome", f"{probe.outcome}, for {position.turn}"),
        ("DTC", _dtc(probe)),
        *([("DTB", _distance(probe.dtb, _TO_BALANCE_CHANGE))] if probe.dtb else []),
        ("DTW", _dtw(probe)),
        ("ruleset", analysis.clock.ruleset.name),
    ]
    parts = [
        str(position),
        wrapped(" ".join(summary_sentences(analysis)), width),
        "\n".join(wrapped(f"{name:<8}  {text}", width, " " * 10) for name, text in facts),
    ]
    applying = [state for state in analysis.ruling.states if state.applies]
    if applying:
        parts.append(rules_table(applying))
    if analysis.moves:
        parts.append(_moves_table(analysis.moves, width))
    return "\n\n".join(parts)


def line_text(line: Line, analysis: PositionAnalysis, width: int) -> str:
    """Return the board, the value, the moves with their numbers as in PDN, and why the line stops.

    Args:
        line: the line.
        analysis: its first position in its game.
        width: the width in columns.
    """
    parts = [str(analysis.position), wrapped(" ".join(summary_sentences(analysis)), width)]
    if line.moves:
        parts.append(wrapped(movetext(line), width))
        parts.append(str(line.positions[-1]))
    parts.append(wrapped(" ".join([line.reason, *_why_not_as_long(line, analysis.probe)]), width))
    return "\n\n".join(parts)


def _why_not_as_long(line: Line, probe: Probe) -> Iterator[str]:
    """Yield a sentence if the line to the end of the game is longer or shorter than the DTW."""
    played, expected = in_moves(len(line.moves)), in_moves(probe.dtw)
    if line.end is LineEnd.GAME_OVER and expected is not None and played != expected:
        yield (
            f"It has taken {_moves(played)}, where the verdict has {expected}: both sides play for the next "
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
    """Return a text in lines of at most `width` columns, and at most 100, which is still easy to read.

    Every line but the first begins with the indent.
    """
    return textwrap.fill(
        text, min(width, _PROSE), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def rules_table(states: Sequence[RuleState]) -> str:
    """Return a table of draw rules, a line each: the count of each rule, and what remains of its limit."""
    head = ["rule", "article", "count", "remaining"]
    rows = [[state.rule, state.article, count_in_words(state), str(state.remaining)] for state in states]
    return "\n".join(_aligned([head, *rows]))


def _moves_table(moves: Sequence[RuledMove], width: int) -> str:
    values = [move.value for move in moves]
    columns = {
        "move": [str(move.move) for move in moves],
        "outcome": [str(value.outcome) for value in values],
        "by rules": [str(move.prospect) for move in moves],
        "DTC": [_cell(value.dtc) for value in values],
        "DTB": [_cell(value.dtb) for value in values],
        "DTW": [_cell(value.dtw) for value in values],
        "position after it": [value.after.to_fen() for value in values],
    }
    if not any(adds_to(move.prospect, move.value.outcome) for move in moves):
        del columns["by rules"]
    if all(value.dtb is None for value in values):
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
    """Return the moves of a line with their numbers, as `numbered` writes them."""
    return numbered([value.move for value in line.moves], line.positions[0].turn)


def numbered(moves: Sequence[Move], first: Color) -> str:
    """Return moves with numbers: `1. c3-d4 h8-a1 2. ...`, or `1... h8-a1 2. ...` if Black begins.

    Args:
        moves: the moves.
        first: the side that makes the first move.
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
    """Return how a game ended by the rules, and whether its written result agrees."""
    return f"{_ending(judged)} {_agreement(judged)}".strip()


def game_text(judged: Adjudication, width: int) -> str:
    """Return a paragraph on a game: its name, how it ended, the rules that fired, mistakes and problems.

    Args:
        judged: the game.
        width: the width in columns.
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
    # A text from a file may hold control characters, which must not reach the terminal.
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
    """Return the number of a move as on a score sheet: `12.` for White, `12...` for Black."""
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
            return f"A draw after {_plies(count)}, by {rule_list(last.ruling.fired)}."
        case Ending.STOPPED:
            return f"The game was followed for {_plies(count)}, and no further."
        case Ending.CUT_SHORT:
            assert last is not None
            stopped = f"The moves stop after {_plies(count)}; no rule has ended the game there."
            return f"{stopped}{_claims(judged)}{_worth(judged)}"


def _claims(judged: Adjudication) -> str:
    """Return the draws that could be claimed in the last position."""
    return "".join(
        f" {claim.player.capitalize()} could claim a draw, {_how(claim)}." for claim in judged.claims
    )


def _how(claim: DrawClaim) -> str:
    """Return the rule of a claim, and the move to announce."""
    announced = "" if claim.move is None else f", announcing {claim.move}"
    return f"by {rule_list([claim.state])}{announced}"


def _worth(judged: Adjudication) -> str:
    """Return the outcome of the last position; an empty text if no table tells it."""
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
    """Yield rules that fired but did not end the game: a claim that nobody made, or a doubt."""
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
                yield f"{where} {player} could claim a draw, by {rule_list([state])}"
            else:
                yield (
                    f"{where} the game is drawn by {rule_list([state])}, unless it is won on the "
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
