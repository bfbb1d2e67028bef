"""Whether a position is won on the board, as draw rules that spare such positions ask it of the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tablebase.board import Color, Position
from tablebase.clock import BoardWon
from tablebase.outcome import Outcome

if TYPE_CHECKING:
    from tablebase.tablebase import Tablebase


def board_won_by(tablebase: Tablebase) -> BoardWon:
    """A `board_won` for `Clock.states` and `Clock.ruling`: what the tables say, None where there is no table.

    A cursed win counts as won: it is won on the board, and only a rule makes a draw of it. The function
    raises what `Tablebase.get_probe` does.
    """

    def board_won(position: Position, color: Color) -> bool | None:
        outcome = tablebase.get_probe(position).outcome
        if outcome is Outcome.UNKNOWN:
            return None
        own = outcome if position.turn is color else -outcome
        return own in (Outcome.WIN, Outcome.CURSED_WIN)

    return board_won
