"""What a position is worth, in a sentence for people."""

from collections.abc import Iterable, Sequence
from enum import Enum

from tablebase.board import Position
from tablebase.drawrules import Ruleset
from tablebase.outcome import Outcome, Probe
from tablebase.report import in_moves
from tablebase.ruleset import RuleName


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
