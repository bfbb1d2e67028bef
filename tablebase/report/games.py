"""Judged games as plain data for JSON, the same in the API and the command line.

Every function returns data for `json.dumps`, with a fixed order of keys.
"""

from __future__ import annotations

from typing import Annotated, TypedDict

from tablebase.board.position import Color
from tablebase.games.adjudication import (
    Adjudication,
    Ending,
    GameState,
    Mistake,
    PlayedMove,
    ProblemKind,
    ResultCheck,
)
from tablebase.games.pdn import FaultKind, GameResult
from tablebase.report.rules import RuleStateReport, copy_fields, rules_report
from tablebase.report.text import sentence
from tablebase.rules.clock import DrawClaim, GameStatus
from tablebase.rules.outcome import Outcome, RulesOutcome


class StandReport(TypedDict):
    """The state of a game between two moves."""

    fen: Annotated[str, "the position, as this program writes it"]
    turn: Annotated[str, Color, "whose turn it is"]
    counters: Annotated[dict[str, int], "the counters of the game there, by name"]
    verdict: Annotated[str, GameStatus, "what the position and its game come to"]
    rules: Annotated[list[RuleStateReport], "what the rules say that apply here"]
    board_outcome: Annotated[str, Outcome, "for the side to move, on the board, without draw rules"]
    rules_outcome: Annotated[str, RulesOutcome, "for the side to move, under the rules, counters as they are"]
    dtw: Annotated[int | None, "plies to the end of the game, without draw rules"]


class PlyReport(TypedDict):
    """One turn of one player."""

    ply: Annotated[int, "which turn of the game it is, from 1 on"]
    player: Annotated[str, Color, "who made it"]
    text: Annotated[str, "the move as the game has it"]
    move: Annotated[str, "the move as this program writes it"]
    after: Annotated[StandReport, "how the game stands then"]


class ClaimReport(RuleStateReport):
    """A draw that could be claimed, with the rule."""

    player: Annotated[str, Color, "who could claim it"]
    move: Annotated[str | None, "the move to announce; null where none is needed"]


class MistakeReport(TypedDict):
    """A move that changed the outcome for the player who made it."""

    ply: Annotated[int, "which turn of the game it is"]
    player: Annotated[str, Color, "who made it"]
    move: Annotated[str, "the move"]
    board_before: Annotated[str, Outcome, "for that player before the move, on the board"]
    board_after: Annotated[str, Outcome, "for that player after the move, on the board"]
    rules_before: Annotated[str, RulesOutcome, "for that player before the move, under the rules"]
    rules_after: Annotated[str, RulesOutcome, "for that player after the move, under the rules"]
    keeping: Annotated[list[str], "the moves that would have kept the outcome"]
    claim: Annotated[ClaimReport | None, "the draw that the player could have claimed instead"]


class GameProblemReport(TypedDict):
    """Something wrong with a game."""

    kind: Annotated[str, ProblemKind, FaultKind, "what is wrong"]
    line: Annotated[int, "the line of the text"]
    ply: Annotated[int | None, "the turn of the game; null where it is about no turn"]
    move: Annotated[str | None, "the move as the game has it"]
    message: Annotated[str, "what is wrong, as a sentence"]


class GameReport(TypedDict):
    """A game judged."""

    number: Annotated[int, "which game of the text it is, from 1 on"]
    line: Annotated[int, "the line of the text in which it begins"]
    tags: Annotated[dict[str, str], "its tags, by name"]
    ruleset: Annotated[str, "the rules that it is judged by"]
    ending: Annotated[str, Ending, "how it ended"]
    result: Annotated[
        str | None, GameResult, "what the rules make of its moves; null where they have not ended it"
    ]
    written: Annotated[str | None, "the result as the text has it; null where it has none"]
    written_result: Annotated[str | None, GameResult, "what that says"]
    agreement: Annotated[str, ResultCheck, "whether both agree"]
    explanation: Annotated[str, "how the game ended, as a sentence"]
    problems: Annotated[list[GameProblemReport], "what is wrong with it"]
    mistakes: Annotated[list[MistakeReport], "the moves that changed its outcome"]
    claims: Annotated[list[ClaimReport], "the draws that could be claimed as it stands"]
    start: Annotated[
        StandReport | None, "how it stands before the first move; null where that cannot be read"
    ]
    plies: Annotated[list[PlyReport], "its turns"]


class GamesReport(TypedDict):
    """Games judged under a ruleset."""

    ruleset: Annotated[str, "the rules that they are judged by"]
    games: Annotated[list[GameReport], "the games, in the order of the text"]


def stand_report(stand: GameState) -> StandReport:
    """Return the state of a game between two moves."""
    return {
        "fen": stand.position.to_fen(),
        "turn": str(stand.position.turn),
        "counters": stand.clock.counters.by_name(),
        "verdict": str(stand.ruling.verdict),
        "rules": rules_report(state for state in stand.ruling.states if state.applies),
        "board_outcome": str(stand.unruled),
        "rules_outcome": str(stand.rules),
        "dtw": stand.dtw,
    }


def game_report(judged: Adjudication) -> GameReport:
    """Return a judged game."""
    game = judged.game
    return {
        "number": game.number,
        "line": game.line,
        "tags": dict(game.tags),
        "ruleset": judged.ruleset.name,
        "ending": str(judged.ending),
        "result": None if judged.result is None else str(judged.result),
        "written": game.result if game.result is not None else game.tag("Result"),
        "written_result": None if game.written_result is None else str(game.written_result),
        "agreement": str(judged.agreement),
        "explanation": sentence(judged),
        "problems": [copy_fields(GameProblemReport, problem) for problem in judged.problems],
        "mistakes": [_mistake_report(mistake) for mistake in judged.mistakes],
        "claims": [_claim_report(claim) for claim in judged.claims],
        "start": None if judged.start is None else stand_report(judged.start),
        "plies": [_ply_report(ply) for ply in judged.plies],
    }


def _ply_report(played: PlayedMove) -> PlyReport:
    return {
        "ply": played.ply,
        "player": str(played.player),
        "text": played.text,
        "move": str(played.move),
        "after": stand_report(played.after),
    }


def _mistake_report(mistake: Mistake) -> MistakeReport:
    return {
        "ply": mistake.ply,
        "player": str(mistake.player),
        "move": str(mistake.move),
        "board_before": str(mistake.unruled_before),
        "board_after": str(mistake.unruled_after),
        "rules_before": str(mistake.rules_before),
        "rules_after": str(mistake.rules_after),
        "keeping": [str(move) for move in mistake.saving_moves],
        "claim": None if mistake.claim is None else _claim_report(mistake.claim),
    }


def _claim_report(claim: DrawClaim) -> ClaimReport:
    return {
        **copy_fields(RuleStateReport, claim.state),
        "player": str(claim.player),
        "move": None if claim.move is None else str(claim.move),
    }
