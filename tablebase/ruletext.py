"""What the draw rules say of a game in progress, in words."""

from __future__ import annotations

from collections.abc import Iterable

from tablebase.board import Color
from tablebase.clock import Unit, Verdict
from tablebase.outcome import Outcome
from tablebase.prospect import Prospect
from tablebase.rulereport import RuleStateReport
from tablebase.ruleset import Claim, cited

_FRESH = {
    Outcome.WIN: Prospect.WIN,
    Outcome.CURSED_WIN: Prospect.DRAW,
    Outcome.DRAW: Prospect.DRAW,
    Outcome.BLESSED_LOSS: Prospect.DRAW,
    Outcome.LOSS: Prospect.LOSS,
    Outcome.UNKNOWN: Prospect.UNKNOWN,
}


def named(rules: Iterable[RuleStateReport]) -> str:
    """Rules by their names and counts, like `king-moves (article 7.2.5, 30 plies)`."""
    return " and ".join(
        f"{rule['rule']} ({cited(rule['article'])}, {rule['count']} {_unit(rule)}{_beyond(rule)})"
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


def adds_to(prospect: Prospect, outcome: Outcome) -> bool:
    """Whether a prospect is something else than the outcome from fresh counters."""
    return prospect is not _FRESH[outcome]


def headline(verdict: Verdict, rules: Iterable[RuleStateReport], on_the_board: str) -> list[str]:
    """What the rules have made of the game and what its position is worth from fresh counts, as sentences;
    the rules go first where they have ended the game.

    Args:
        verdict: what the rules say.
        rules: what each of them says.
        on_the_board: what the position is worth from fresh counts, as a sentence.
    """
    stands = standing(verdict, rules)
    if verdict in (Verdict.DRAWN, Verdict.UNDETERMINED):
        return [stands, f"From fresh counts: {on_the_board}"]
    return [on_the_board, stands] if stands else [on_the_board]


def standing(verdict: Verdict, rules: Iterable[RuleStateReport]) -> str:
    """What the rules have made of the game so far, as a sentence; empty where it goes on or is won."""
    applying = [rule for rule in rules if rule["applies"]]
    match verdict:
        case Verdict.DRAWN:
            fired = [rule for rule in applying if rule["fired"] and rule["claim"] == Claim.AUTOMATIC]
            return f"The game is drawn, by {named(fired)}."
        case Verdict.UNDETERMINED:
            fired = [rule for rule in applying if rule["fired"] is None]
            return (
                f"The game is drawn by {named(fired)}, unless it is won on the board, which no table tells."
            )
        case Verdict.CLAIMABLE:
            fired = [rule for rule in applying if rule["fired"]]
            return f"A draw can be claimed, by {named(fired)}."
        case _:
            return ""


def worth(turn: Color, prospect: Prospect, ruleset: str) -> str:
    """What a position is worth under the rules with its counters as they are, as a sentence.

    Args:
        turn: the side to move, whose prospect it is.
        prospect: the prospect.
        ruleset: the name of the rules.
    """
    mover, other = turn.capitalize(), turn.other.capitalize()
    by_rules = f"Under the rules ({ruleset}), with the counts as they are,"
    match prospect:
        case Prospect.WIN:
            return f"{by_rules} {mover} wins."
        case Prospect.LOSS:
            return f"{by_rules} {other} wins."
        case Prospect.DRAW:
            return f"{by_rules} it is a draw."
        case Prospect.MAYBE_WIN | Prospect.MAYBE_LOSS:
            winner = mover if prospect is Prospect.MAYBE_WIN else other
            return f"{by_rules} {winner} wins or it is a draw: it is not proved that they leave time to win."
        case Prospect.UNKNOWN:
            return f"{by_rules} it is not known."
