"""Sentences on values and draw rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

from tablebase.board.position import Color, Position
from tablebase.report.positions import in_moves
from tablebase.report.rules import RuleStateReport
from tablebase.rules.clock import GameStatus, Unit
from tablebase.rules.outcome import Outcome, Probe, RulesOutcome
from tablebase.rules.ruleset import Claim, RuleName, cite
from tablebase.rules.rulesets import Ruleset

_FRESH = {
    Outcome.WIN: RulesOutcome.WIN,
    Outcome.CURSED_WIN: RulesOutcome.DRAW,
    Outcome.DRAW: RulesOutcome.DRAW,
    Outcome.BLESSED_LOSS: RulesOutcome.DRAW,
    Outcome.LOSS: RulesOutcome.LOSS,
    Outcome.UNKNOWN: RulesOutcome.UNKNOWN,
}


def named(rules: Iterable[RuleStateReport]) -> str:
    """Rules by their names and counts, like `king-moves (article 7.2.5, 30 plies)`."""
    return " and ".join(
        f"{rule['rule']} ({cite(rule['article'])}, {rule['count']} {_unit(rule)}{_beyond(rule)})"
        for rule in rules
    )


def count_in_words(rule: RuleStateReport) -> str:
    """How far a count has come, like `5 of 15 moves of White`, or `20 moves of White, the limit is 15`."""
    limit = "" if _beyond(rule) else f" of {rule['limit']}"
    return f"{rule['count']}{limit} {_unit(rule)}{_beyond(rule)}"


def _unit(rule: RuleStateReport) -> str:
    if rule["unit"] != Unit.OWN_MOVES:
        return rule["unit"]
    return "own moves" if rule["stronger"] is None else f"moves of {rule['stronger'].capitalize()}"


def _beyond(rule: RuleStateReport) -> str:
    """The limit, where the count has gone beyond it: `5 of 15` says it only up to there."""
    return f", the limit is {rule['limit']}" if rule["count"] > rule["limit"] else ""


def adds_to(prospect: RulesOutcome, outcome: Outcome) -> bool:
    """Whether a prospect is something else than the outcome from fresh counters."""
    return prospect is not _FRESH[outcome]


def headline(verdict: GameStatus, rules: Iterable[RuleStateReport], on_the_board: str) -> list[str]:
    """What the rules have made of the game and what its position is worth from fresh counts, as sentences;
    the rules go first where they have ended the game.

    Args:
        verdict: what the rules say.
        rules: what each of them says.
        on_the_board: what the position is worth from fresh counts, as a sentence.
    """
    stands = standing(verdict, rules)
    if verdict in (GameStatus.DRAWN, GameStatus.UNDETERMINED):
        return [stands, f"From fresh counts: {on_the_board}"]
    return [on_the_board, stands] if stands else [on_the_board]


def standing(verdict: GameStatus, rules: Iterable[RuleStateReport]) -> str:
    """What the rules have made of the game so far, as a sentence; empty where it goes on or is won."""
    applying = [rule for rule in rules if rule["applies"]]
    match verdict:
        case GameStatus.DRAWN:
            fired = [rule for rule in applying if rule["fired"] and rule["claim"] == Claim.AUTOMATIC]
            return f"The game is drawn, by {named(fired)}."
        case GameStatus.UNDETERMINED:
            fired = [rule for rule in applying if rule["fired"] is None]
            return (
                f"The game is drawn by {named(fired)}, unless it is won on the board, which no table tells."
            )
        case GameStatus.CLAIMABLE:
            fired = [rule for rule in applying if rule["fired"]]
            return f"A draw can be claimed, by {named(fired)}."
        case _:
            return ""


def worth(turn: Color, prospect: RulesOutcome, ruleset: str) -> str:
    """What a position is worth under the rules with its counters as they are, as a sentence.

    Args:
        turn: the side to move, whose prospect it is.
        prospect: the prospect.
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


class Cause(Enum):
    """Which rules make a draw of what is won on the board; the value of one names them in a sentence."""

    KING_MOVES = "the 15-king-moves rule"
    """The one rule that the tables assume."""
    TOGETHER = "the 15-king-moves rule and the rule on the balance of forces together"
    """The first alone would leave time for the win."""
    NOT_TOLD = "the rules on king moves and on the balance of forces"
    """One of the two, or both: an outcome does not tell."""


def cause_of_draw(outcome: Outcome, after: Iterable[Probe], ruleset: Ruleset) -> Cause:
    """Which rules make a cursed win or a blessed loss, as far as its moves tell.

    Args:
        outcome: the outcome of the position.
        after: the values of the positions after its moves, all of them, for the opponent.
        ruleset: the rules that these assume.
    """
    limit = ruleset.king_moves_plies
    if limit is None or ruleset.rule(RuleName.BALANCE) is None:
        return Cause.KING_MOVES
    # From a fresh count such a position leaves room for one king move more.
    in_time = [probe.outcome for probe in after if probe.dtc is not None and probe.dtc < limit]
    if outcome is Outcome.CURSED_WIN and Outcome.LOSS in in_time:
        return Cause.TOGETHER
    return Cause.NOT_TOLD


def verdict(
    position: Position,
    probe: Probe,
    from_moves: Outcome = Outcome.UNKNOWN,
    cause: Cause = Cause.KING_MOVES,
) -> str:
    """The value of a position as a sentence, like `White wins in 13 moves.`

    Args:
        position: the position.
        probe: its value for the side to move. The moves are its DTW halved and rounded up.
        from_moves: what its moves tell of its outcome, where it has no table itself.
        cause: which rules make a cursed win or a blessed loss, as `cause_of_draw` tells.
    """
    if probe.outcome is Outcome.UNKNOWN and from_moves is not Outcome.UNKNOWN:
        known = verdict(position, Probe(from_moves), cause=cause)
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
            return (
                f"A draw under {cause.value}, though {winner} wins on the board{_within(probe)}: "
                "a win that takes too long."
            )
        case Outcome.DRAW:
            return "A draw."
        case Outcome.UNKNOWN:
            return "Not known: there is no table for this position."


def outcome_from_moves(outcomes: Sequence[Outcome]) -> Outcome:
    """What a position's moves, in any order, tell of its outcome.

    That of the best, if it wins or if all are known; else `UNKNOWN`.
    """
    if Outcome.WIN in outcomes:
        return Outcome.WIN
    if not outcomes or Outcome.UNKNOWN in outcomes:
        return Outcome.UNKNOWN
    return max(outcomes, key=lambda outcome: outcome.wdl or 0)


def _within(probe: Probe) -> str:
    moves = in_moves(probe.dtw)
    if moves is None:
        return ""
    return f" in {moves} move" if moves == 1 else f" in {moves} moves"
