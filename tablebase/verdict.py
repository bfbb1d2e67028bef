"""What a position is worth, in a sentence for people."""

from tablebase.board import Position
from tablebase.outcome import LOST, Outcome, Probe
from tablebase.report import in_moves


def verdict(position: Position, probe: Probe) -> str:
    """The value of a position as a sentence, like `White wins in 13 moves.`

    `probe` is the value of the position for its side to move. The moves are its DTW halved and rounded up.
    """
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


def _within(probe: Probe) -> str:
    moves = in_moves(probe.dtw)
    if moves is None:
        return ""
    return f" in {moves} move" if moves == 1 else f" in {moves} moves"
