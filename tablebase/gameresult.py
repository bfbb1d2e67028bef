"""The result of a game as its players wrote it down, in whatever notation."""

from __future__ import annotations

import re
from enum import StrEnum

from tablebase.board import Color

_HALF = r"(?:1\s*/\s*2|½|0[.,]5)"
_POINTS = re.compile(rf"({_HALF}|[0-9]{{1,3}})\s*[-–:]\s*({_HALF}|[0-9]{{1,3}})")


class GameResult(StrEnum):
    """How a game ended, or is said to have ended; the text of one is the same everywhere."""

    WHITE_WINS = "white-wins"
    BLACK_WINS = "black-wins"
    DRAW = "draw"
    BOTH_LOSE = "both-lose"
    """0-0: a double forfeit in PDN 3.0. No position is one."""
    OPEN = "open"
    """`*` or `?`: not ended, or not known."""

    @classmethod
    def won_by(cls, color: Color) -> GameResult:
        """The result of a game that a side has won."""
        return cls.WHITE_WINS if color is Color.WHITE else cls.BLACK_WINS

    @property
    def is_final(self) -> bool:
        """Whether it says how the game between the players ended: a win or a draw."""
        return self in (GameResult.WHITE_WINS, GameResult.BLACK_WINS, GameResult.DRAW)


def parse_result(text: str) -> GameResult | None:
    """Read a result: White's points, a hyphen, Black's, as in 2-0, 1-1, 1/2-1/2, 0-1 or 12-0; or `*`, `?`.

    Who has more points has won. Returns None for a text that is no result.
    """
    stripped = text.strip()
    if stripped in ("*", "?", ""):
        return GameResult.OPEN
    points = _POINTS.fullmatch(stripped)
    if points is None:
        return None
    white, black = (int(side) if side.isdecimal() else 0.5 for side in points.groups())
    if white == black:
        return GameResult.BOTH_LOSE if white == 0 else GameResult.DRAW
    return GameResult.WHITE_WINS if white > black else GameResult.BLACK_WINS
