"""What is told about a game as plain data for JSON: the same in the API and the command line.

Every function returns what `json.dumps` takes as it is, in a fixed order of keys.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TypedDict

from tablebase.adjudication import Adjudication, Mistake, PlayedPly, Problem, Stand
from tablebase.drawclaims import DrawClaim
from tablebase.gametext import sentence
from tablebase.rulereport import RuleStateReport, rules_report


class StandReport(TypedDict):
    """How a game stands between two moves, outcomes for the side to move; the attributes of a `Stand`.

    `counters` has the counters by name, `rules` the rules that apply here; `dtw` is plies.
    """

    fen: str
    turn: str
    counters: dict[str, int]
    verdict: str
    rules: list[RuleStateReport]
    board_outcome: str
    rules_outcome: str
    dtw: int | None


class PlyReport(TypedDict):
    """One turn of one player: the attributes of a `PlayedPly`, `after` being how the game stands then."""

    ply: int
    player: str
    text: str
    move: str
    after: StandReport


class ClaimReport(RuleStateReport):
    """A draw that could be claimed: the attributes of a `DrawClaim` and of its state. `move` is the one to
    announce, None where none is needed."""

    player: str
    move: str | None


class MistakeReport(TypedDict):
    """A move that changed the outcome for the player who made it: the attributes of a `Mistake`."""

    ply: int
    player: str
    move: str
    board_before: str
    board_after: str
    rules_before: str
    rules_after: str
    keeping: list[str]
    claim: ClaimReport | None


class ProblemReport(TypedDict):
    """Something wrong with a game: the attributes of a `Problem`."""

    kind: str
    line: int
    ply: int | None
    move: str | None
    message: str


class GameReport(TypedDict):
    """A game judged: the attributes of an `Adjudication` and of its game.

    `result` is what the rules make of the moves, None where they have not ended the game; `written_result`
    what the text says, None where it says nothing; `written` the same as it is written. `explanation` says
    how the game ended in a sentence.
    """

    number: int
    line: int
    tags: dict[str, str]
    ruleset: str
    ending: str
    result: str | None
    written: str | None
    written_result: str | None
    agreement: str
    explanation: str
    problems: list[ProblemReport]
    mistakes: list[MistakeReport]
    claims: list[ClaimReport]
    start: StandReport | None
    plies: list[PlyReport]


def stand_report(stand: Stand) -> StandReport:
    """How a game stands between two moves."""
    return {
        "fen": stand.position.to_fen(),
        "turn": str(stand.position.turn),
        "counters": asdict(stand.clock.counters),
        "verdict": str(stand.ruling.verdict),
        "rules": rules_report(state for state in stand.ruling.states if state.applies),
        "board_outcome": str(stand.board),
        "rules_outcome": str(stand.rules),
        "dtw": stand.dtw,
    }


def game_report(judged: Adjudication) -> GameReport:
    """A game judged."""
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
        "problems": [_problem_report(problem) for problem in judged.problems],
        "mistakes": [_mistake_report(mistake) for mistake in judged.mistakes],
        "claims": [_claim_report(claim) for claim in judged.claims],
        "start": None if judged.start is None else stand_report(judged.start),
        "plies": [_ply_report(ply) for ply in judged.plies],
    }


def _ply_report(played: PlayedPly) -> PlyReport:
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
        "board_before": str(mistake.board_before),
        "board_after": str(mistake.board_after),
        "rules_before": str(mistake.rules_before),
        "rules_after": str(mistake.rules_after),
        "keeping": [str(move) for move in mistake.keeping],
        "claim": None if mistake.claim is None else _claim_report(mistake.claim),
    }


def _claim_report(claim: DrawClaim) -> ClaimReport:
    (state,) = rules_report([claim.state])
    return {
        **state,
        "player": str(claim.player),
        "move": None if claim.move is None else str(claim.move),
    }


def _problem_report(problem: Problem) -> ProblemReport:
    return {
        "kind": str(problem.kind),
        "line": problem.line,
        "ply": problem.ply,
        "move": problem.move,
        "message": problem.message,
    }
