"""The draws that a player could claim in a game: as it stands, or with a move announced and not yet made."""

from __future__ import annotations

from dataclasses import dataclass

from tablebase.board import Color
from tablebase.clock import BoardWon, Clock, RuleState, Ruling
from tablebase.rules import Move, legal_moves
from tablebase.ruleset import Claim


@dataclass(frozen=True, slots=True)
class DrawClaim:
    """A draw that could be claimed.

    Attributes:
        state: what the rule says, with the announced move made where there is one.
        player: who could claim it: the side to move.
        move: the move to announce; None where the position is enough as it is.
    """

    state: RuleState
    player: Color
    move: Move | None = None


def draw_claims(clock: Clock, ruling: Ruling, board_won: BoardWon | None = None) -> tuple[DrawClaim, ...]:
    """The draws that the side to move could claim, one a rule, those that take no move first.

    Args:
        clock: the game.
        ruling: what the rules say of it.
        board_won: as for `Clock.ruling`.
    """
    player = clock.position.turn
    found = {state.rule: DrawClaim(state, player) for state in ruling.states if state.claimable}
    if any(rule.claim is Claim.ANNOUNCED for rule in clock.ruleset.rules):
        for move in legal_moves(clock.position):
            for state in clock.after(move).ruling(board_won).states:
                if state.claimable and state.claim is Claim.ANNOUNCED:
                    found.setdefault(state.rule, DrawClaim(state, player, move))
    return tuple(found.values())
