"""Sentences on values and draw rules."""

from __future__ import annotations

from collections.abc import Iterable

from tablebase.board.position import Color, Position
from tablebase.games.analysis import Cause, PositionAnalysis
from tablebase.report.positions import in_moves
from tablebase.rules.clock import GameStatus, RuleState, Ruling, Unit
from tablebase.rules.outcome import Outcome, Probe, RulesOutcome
from tablebase.rules.ruleset import cite

_FRESH = {
    Outcome.WIN: RulesOutcome.WIN,
    Outcome.CURSED_WIN: RulesOutcome.DRAW,
    Outcome.DRAW: RulesOutcome.DRAW,
    Outcome.BLESSED_LOSS: RulesOutcome.DRAW,
    Outcome.LOSS: RulesOutcome.LOSS,
    Outcome.UNKNOWN: RulesOutcome.UNKNOWN,
}


RULES_OF_CAUSE = {
    Cause.KING_MOVES: "the 15-king-moves rule",
    Cause.TOGETHER: "the 15-king-moves rule and the rule on the balance of forces together",
    Cause.NOT_TOLD: "the rules on king moves and on the balance of forces",
}
"""The rules of a cause in words."""


def rule_list(states: Iterable[RuleState]) -> str:
    """Return rules by their names and counts, like `king-moves (article 7.2.5, 30 plies)`."""
    return " and ".join(
        f"{state.rule} ({cite(state.article)}, {state.count} {_unit(state)}{_beyond(state)})"
        for state in states
    )


def count_in_words(state: RuleState) -> str:
    """Return a count, like `5 of 15 moves of White`, or `20 moves of White, the limit is 15`."""
    limit = "" if _beyond(state) else f" of {state.limit}"
    return f"{state.count}{limit} {_unit(state)}{_beyond(state)}"


def _unit(state: RuleState) -> str:
    if state.unit is not Unit.OWN_MOVES:
        return state.unit
    return "own moves" if state.stronger is None else f"moves of {state.stronger.capitalize()}"


def _beyond(state: RuleState) -> str:
    """Return the limit if the count is beyond it; `5 of 15` tells it up to there."""
    return f", the limit is {state.limit}" if state.count > state.limit else ""


def adds_to(prospect: RulesOutcome, outcome: Outcome) -> bool:
    """Whether an outcome under the rules differs from the outcome from fresh counters."""
    return prospect is not _FRESH[outcome]


def summary_sentences(analysis: PositionAnalysis) -> list[str]:
    """Return sentences on the value of a position from fresh counters and under the rules of its game.

    The rules come first if they have ended the game.
    """
    position, ruling, prospect = analysis.position, analysis.ruling, analysis.rules_outcome
    value = value_sentence(position, analysis.probe, analysis.outcome_from_moves, analysis.cause)
    status = status_sentence(ruling)
    if ruling.verdict in (GameStatus.DRAWN, GameStatus.UNDETERMINED):
        sentences = [status, f"From fresh counts: {value}"]
    else:
        sentences = [value, status] if status else [value]
    differs = adds_to(prospect, analysis.known_outcome) and prospect is not RulesOutcome.UNKNOWN
    if differs and ruling.verdict is not GameStatus.DRAWN:
        sentences.append(outcome_sentence(position.turn, prospect, analysis.clock.ruleset.name))
    return sentences


def status_sentence(ruling: Ruling) -> str:
    """Return what the rules have made of a game so far; an empty text if it goes on or is won."""
    rules = rule_list(ruling.fired)
    match ruling.verdict:
        case GameStatus.DRAWN:
            return f"The game is drawn, by {rules}."
        case GameStatus.UNDETERMINED:
            return f"The game is drawn by {rules}, unless it is won on the board, which no table tells."
        case GameStatus.CLAIMABLE:
            return f"A draw can be claimed, by {rules}."
        case _:
            return ""


def outcome_sentence(turn: Color, prospect: RulesOutcome, ruleset: str) -> str:
    """Return a sentence on the outcome of a position under the rules, with the counters of its game.

    Args:
        turn: the side to move.
        prospect: the outcome for that side.
        ruleset: the name of the rules.
    """
    mover, other = turn.capitalize(), turn.other.capitalize()
    by_rules = f"Under the rules ({ruleset}), with the counts as they are,"
    match prospect:
        case RulesOutcome.WIN:
            return f"{by_rules} {mover} wins."
        case RulesOutcome.LOSS:
            return f"{by_rules} {other} wins."
        case RulesOutcome.DRAW:
            return f"{by_rules} it is a draw."
        case RulesOutcome.MAYBE_WIN | RulesOutcome.MAYBE_LOSS:
            winner = mover if prospect is RulesOutcome.MAYBE_WIN else other
            return f"{by_rules} {winner} wins or it is a draw: it is not proved that they leave time to win."
        case RulesOutcome.UNKNOWN:
            return f"{by_rules} it is not known."


def value_sentence(
    position: Position,
    probe: Probe,
    from_moves: Outcome = Outcome.UNKNOWN,
    cause: Cause | None = None,
) -> str:
    """Return the value of a position as a sentence, e.g. "White wins in 13 moves.".

    Args:
        position: the position.
        probe: its value for the side to move. The sentence gives its DTW in moves.
        from_moves: the outcome that its moves tell, used if the position has no table.
        cause: the rules that make a cursed win or a blessed loss; None: the 15-king-moves rule.
    """
    if probe.outcome is Outcome.UNKNOWN and from_moves is not Outcome.UNKNOWN:
        known = value_sentence(position, Probe(from_moves), cause=cause)
        return f"{known} This is known from its moves: there is no table for the position itself."
    mover, opponent = position.turn.capitalize(), position.turn.other.capitalize()
    match probe.outcome:
        case Outcome.LOSS if probe.dtw == 0:
            what = "move" if position.own_men | position.own_kings else "pieces"
            return f"{mover} has no {what} and has lost."
        case Outcome.WIN:
            return f"{mover} wins{_within(probe)}."
        case Outcome.LOSS:
            return f"{opponent} wins{_within(probe)}."
        case Outcome.CURSED_WIN | Outcome.BLESSED_LOSS:
            winner = mover if probe.outcome is Outcome.CURSED_WIN else opponent
            rules = RULES_OF_CAUSE[cause or Cause.KING_MOVES]
            return (
                f"A draw under {rules}, though {winner} wins on the board{_within(probe)}: "
                "a win that takes too long."
            )
        case Outcome.DRAW:
            return "A draw."
        case Outcome.UNKNOWN:
            return "Not known: there is no table for this position."


def _within(probe: Probe) -> str:
    moves = in_moves(probe.dtw)
    if moves is None:
        return ""
    return f" in {moves} move" if moves == 1 else f" in {moves} moves"
