"""A game judged, in words: a sentence, and a paragraph for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from tablebase.adjudication import Adjudication, Agreement, Ending, Mistake, Problem
from tablebase.board import Color
from tablebase.clock import Verdict
from tablebase.drawclaims import DrawClaim
from tablebase.gameresult import GameResult
from tablebase.prospect import Prospect
from tablebase.rulereport import rules_report
from tablebase.ruletext import named

_PROSE = 100  # columns beyond which a sentence is hard to read
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
        max(20, min(width, _PROSE)),
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
        case Prospect.WIN:
            return f" Played on, {mover} wins it."
        case Prospect.LOSS:
            return f" Played on, {other} wins it."
        case Prospect.DRAW:
            return " Played on, it is a draw."
        case Prospect.MAYBE_WIN:
            return f" {mover} wins it on the board, if the rules leave time for that."
        case Prospect.MAYBE_LOSS:
            return f" {other} wins it on the board, if the rules leave time for that."
        case Prospect.UNKNOWN:
            return ""


def _agreement(judged: Adjudication) -> str:
    result, written = judged.result, judged.game.written_result
    match judged.agreement:
        case Agreement.NOTHING_WRITTEN:
            return "No result is written."
        case Agreement.CONTRADICTS:
            assert result is not None
            assert written is not None
            return f"The written result, {_RESULTS[written]}, contradicts that."
        case Agreement.AGREES if result is None:
            return "The written result, a draw, is one that can be claimed."
        case Agreement.AGREES:
            return "The written result agrees."
        case Agreement.NOT_DECIDED:
            assert written is not None
            return f"The written result, {_RESULTS[written]}, is not decided by the rules."


def _rulings(judged: Adjudication) -> Iterator[str]:
    """What rules said on the way, where they did not end the game: a claim that was open, or a doubt."""
    said: set[tuple[Verdict, str]] = set()
    for played in judged.plies:
        ruling = played.after.ruling
        for state in ruling.fired:
            key = ruling.verdict, state.rule.value
            if ruling.verdict is Verdict.DRAWN or key in said:
                continue
            said.add(key)
            where = f"after {_number(judged, played.ply)} {played.move} (ply {played.ply})"
            if ruling.verdict is Verdict.CLAIMABLE:
                player = played.after.position.turn.capitalize()
                yield f"{where} {player} could claim a draw, by {named(rules_report([state]))}"
            else:
                yield (
                    f"{where} the game is drawn by {named(rules_report([state]))}, unless it is won on the "
                    "board, which no table tells; it is followed further"
                )


def _mistake(judged: Adjudication, mistake: Mistake) -> str:
    player = mistake.player.capitalize()
    on_board = f"{mistake.board_before} to {mistake.board_after}"
    by_rules = f"{mistake.rules_before} to {mistake.rules_after}"
    if on_board == by_rules:
        change = on_board
    elif mistake.board_before is mistake.board_after:
        change = f"{by_rules} under the rules, a {mistake.board_before} as before on the board"
    else:
        change = f"{on_board} on the board, {by_rules} under the rules"
    kept = ", ".join(map(str, mistake.keeping))
    instead = f"; {kept} would have kept it" if kept else ""
    if mistake.claim is not None:
        instead += f"; a claim of the draw would have kept it, {_how(mistake.claim)}"
    return (
        f"{_number(judged, mistake.ply)} {mistake.move} (ply {mistake.ply}) is a mistake of {player}: "
        f"{change}{instead}"
    )


def _problem(problem: Problem) -> str:
    at = f"line {problem.line}" + ("" if problem.ply is None else f", ply {problem.ply}")
    return f"{problem.kind} ({at}): {problem.message}"
