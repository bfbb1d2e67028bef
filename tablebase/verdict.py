"""What a position is worth, in a sentence for people."""

from collections.abc import Sequence

from tablebase.board import Position
from tablebase.outcome import LOST, Outcome, Probe
from tablebase.report import in_moves


def verdict(position: Position, probe: Probe, from_moves: Outcome = Outcome.UNKNOWN) -> str:
    """The value of a position as a sentence, like `White wins in 13 moves.`

    Args:
        position: the position.
        probe: its value for the side to move. The moves are its DTW halved and rounded up.
        from_moves: what its moves tell of its outcome, where it has no table itself.
    """
    if probe.outcome is Outcome.UNKNOWN and from_moves is not Outcome.UNKNOWN:
        known = verdict(position, Probe(from_moves))
        return f"{known} This is known from its moves: there is no table for the position itself."
    mover, opponent = position.turn.capitalize(), position.turn.other.capitalize()
    match probe.outcome:
        case Outcome.LOSS if probe == LOST:
            what = "move" if position.own_men | position.own_kings else "pieces"
            return f"{mover} has no {what} and has lost."
        case Outcome.WIN:
            return f"{mover} wins{_within(probe)}."
        case Outcome.LOSS:
            return f"{opponent} wins{_within(probe)}."
        case Outcome.CURSED_WIN | Outcome.BLESSED_LOSS:
            winner = mover if probe.outcome is Outcome.CURSED_WIN else opponent
            return (
                f"A draw under the 15-king-moves rule, though {winner} wins on the board{_within(probe)}: "
                "a win that takes too long."
            )
        case Outcome.DRAW:
            return "A draw."
        case Outcome.UNKNOWN:
            return "Not known: there is no table for this position."


def outcome_from_moves(outcomes: Sequence[Outcome]) -> Outcome:
    """What a position's moves, best first, tell of its outcome.

    That of the best, if it wins or if all are known; else `UNKNOWN`.
    """
    if outcomes and (outcomes[0] is Outcome.WIN or Outcome.UNKNOWN not in outcomes):
        return outcomes[0]
    return Outcome.UNKNOWN


def _within(probe: Probe) -> str:
    moves = in_moves(probe.dtw)
    if moves is None:
        return ""
    return f" in {moves} move" if moves == 1 else f" in {moves} moves"
