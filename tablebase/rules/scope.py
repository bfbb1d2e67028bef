"""Scopes of draw rules: classes of positions by material, lone king and main road."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tablebase.board.position import Color, Position
from tablebase.board.squares import MAIN_ROAD

MOST = 24
"""Upper bound on pieces for a rule that names none; no side and no board ever has more."""


class Road(StrEnum):
    """A condition on the main road a1-h8."""

    ANYTHING = "anything"
    LONE_KING = "lone-king"
    """The lone king is on the main road; other pieces may be there too."""
    LONE_KING_ONLY = "lone-king-only"
    """The lone king is the only piece on the main road."""


@dataclass(frozen=True, slots=True)
class Force:
    """Bounds on the pieces of one side.

    Attributes:
        kings: the least and the greatest number of kings.
        men: the least and the greatest number of men.
    """

    kings: tuple[int, int]
    men: tuple[int, int]

    def fits(self, kings: int, men: int) -> bool:
        """Whether these numbers of kings and men are within the bounds."""
        return self.kings[0] <= kings <= self.kings[1] and self.men[0] <= men <= self.men[1]


@dataclass(frozen=True, slots=True)
class Scope:
    """A class of positions. Each attribute narrows the class; the default has every position.

    Attributes:
        pieces: the least and the greatest number of pieces on the board.
        both_kings: whether each side must have a king.
        against_lone_king: the forces that one side, the *stronger* one, may have while the other side has a
            lone king; None for any material.
        road: a condition on the main road; used only together with `against_lone_king`.
    """

    pieces: tuple[int, int] = (0, MOST)
    both_kings: bool = False
    against_lone_king: tuple[Force, ...] | None = None
    road: Road = Road.ANYTHING

    def fits(self, position: Position, ignore_squares: bool = False) -> bool:
        """Whether the position is in this class.

        Args:
            position: the position.
            ignore_squares: test the material alone, and ignore the condition on the main road.
        """
        if not self.pieces[0] <= position.pieces <= self.pieces[1]:
            return False
        if self.both_kings and not (position.wk and position.bk):
            return False
        return self.against_lone_king is None or bool(self.stronger(position, ignore_squares))

    def stronger(self, position: Position, ignore_squares: bool = False) -> tuple[Color, ...]:
        """Return the sides that play against a lone king in this class; both in king against king.

        Args:
            position: the position.
            ignore_squares: test the material alone, and ignore the condition on the main road.
        """
        if self.against_lone_king is None:
            return ()
        white, black = (position.wm, position.wk), (position.bm, position.bk)
        found = []
        if _is_a_lone_king(*black) and self._is_stronger(*white, position.bk, ignore_squares):
            found.append(Color.WHITE)
        if _is_a_lone_king(*white) and self._is_stronger(*black, position.wk, ignore_squares):
            found.append(Color.BLACK)
        return tuple(found)

    def _is_stronger(self, men: int, kings: int, lone_king: int, ignore_squares: bool) -> bool:
        """Whether these pieces and that king meet the conditions of the class."""
        if self.road is not Road.ANYTHING and not ignore_squares:
            alone = self.road is Road.LONE_KING_ONLY
            if not lone_king & MAIN_ROAD or (alone and (men | kings) & MAIN_ROAD):
                return False
        counts = kings.bit_count(), men.bit_count()
        return any(force.fits(*counts) for force in self.against_lone_king or ())


def _is_a_lone_king(men: int, kings: int) -> bool:
    """Whether a side has one king and nothing else."""
    return not men and kings.bit_count() == 1
