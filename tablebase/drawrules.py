"""The rules that make a draw by counting moves, as data."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ruleset:
    """The move-count rules that outcomes are judged by.

    Attributes:
        name: what tables and manifests call it; ASCII, 32 characters at most.
        king_moves_plies: after so many plies in a row of king moves without a capture, by either side, the
            game is drawn; None where no such rule is in force. A win stands if its next zeroing move, or the
            end of the game, comes no later than this ply.
        articles: where the rules stand in the official text.
    """

    name: str
    king_moves_plies: int | None
    articles: tuple[str, ...] = ()

    def exceeds(self, dtc: int) -> bool:
        """Whether a game that needs `dtc` plies from a fresh count to a zeroing move is drawn first."""
        return self.king_moves_plies is not None and dtc > self.king_moves_plies


KING_MOVES_ONLY = Ruleset(
    name="king-moves-only",
    king_moves_plies=30,
    articles=(
        "Draws of the official rules of Russian draughts: 15 moves in a row by kings only, "
        "no man moved and nothing captured (15 of each player: 30 plies)",
    ),
)

RULESETS: dict[str, Ruleset] = {KING_MOVES_ONLY.name: KING_MOVES_ONLY}
"""Every ruleset this version knows, by name."""
