"""Classes of positions that a draw rule is about: how many pieces, whose, and where a lone king stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tablebase.board.position import Color, Position
from tablebase.board.squares import MAIN_ROAD

MOST = 24
"""More pieces than a game ever has on one side: the upper bound where a rule names none."""


class Road(StrEnum):
    """What a rule asks of the main road a1-h8."""

    ANYTHING = "anything"
    LONE_KING = "lone-king"
    """The lone king stands on it; other pieces there do not matter."""
    LONE_KING_ONLY = "lone-king-only"
    """The lone king stands on it, and nothing else does."""


@dataclass(frozen=True, slots=True)
class Force:
    """What one side may have: the least and the greatest number of its kings and of its men."""

    kings: tuple[int, int]
    men: tuple[int, int]

    def fits(self, kings: int, men: int) -> bool:
        """Whether so many kings and men are within the bounds."""
        return self.kings[0] <= kings <= self.kings[1] and self.men[0] <= men <= self.men[1]


@dataclass(frozen=True, slots=True)
class Scope:
    """A class of positions. Each attribute narrows it; the default is every position.

    Attributes:
        pieces: the least and the greatest number of pieces on the board.
        both_kings: whether each side must have a king.
        against_lone_king: what the one side may have where the other has a king and nothing else; such a side
            is the *stronger* one. None asks for no lone king.
        road: what is asked of the main road; only together with `against_lone_king`.
    """

    pieces: tuple[int, int] = (0, MOST)
    both_kings: bool = False
    against_lone_king: tuple[Force, ...] | None = None
    road: Road = Road.ANYTHING

    def fits(self, position: Position, ignore_squares: bool = False) -> bool:
        """Whether the position is in this class; `ignore_squares` pieces stand, it does not matter what is asked of
        the road."""
        if not self.pieces[0] <= position.pieces <= self.pieces[1]:
            return False
        if self.both_kings and not (position.wk and position.bk):
            return False
        return self.against_lone_king is None or bool(self.stronger(position, ignore_squares))

    def stronger(self, position: Position, ignore_squares: bool = False) -> tuple[Color, ...]:
        """The sides that stand against a lone king as the class asks it: both only in king against king.
        `ignore_squares` as for `fits`."""
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
        """Whether these pieces are what the class asks for against that king."""
        if self.road is not Road.ANYTHING and not ignore_squares:
            alone = self.road is Road.LONE_KING_ONLY
            if not lone_king & MAIN_ROAD or (alone and (men | kings) & MAIN_ROAD):
                return False
        counts = kings.bit_count(), men.bit_count()
        return any(force.fits(*counts) for force in self.against_lone_king or ())


def _is_a_lone_king(men: int, kings: int) -> bool:
    """Whether a side has one king and nothing else."""
    return not men and kings.bit_count() == 1
