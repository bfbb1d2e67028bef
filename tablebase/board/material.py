"""Material: the pieces of both sides, without where they stand. All positions of one are a *slice*."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import comb

from tablebase.board.position import SQUARES, Position
from tablebase.errors import MaterialError, quote

_TEXT = re.compile(r"(K*)(M*)v(K*)(M*)")
_MEN_SQUARES = 28  # a man stands anywhere but on its own last row
_FIRST_ROW = 4  # squares of a row; those of row 1 are closed to the other side's men


@dataclass(frozen=True, slots=True)
class Material:
    """How many kings and men each side has, the side to move ("own") first: `KKMvK` is (2, 1, 1, 0).

    Raises:
        MaterialError: a negative count, or more pieces than there are squares for them.
    """

    own_kings: int
    own_men: int
    other_kings: int
    other_men: int

    def __post_init__(self) -> None:
        counts = (self.own_kings, self.own_men, self.other_kings, self.other_men)
        if min(counts) < 0 or max(self.own_men, self.other_men) > _MEN_SQUARES or sum(counts) > SQUARES:
            raise MaterialError(
                f"no board holds the material {counts}: counts are 0 or more, 32 in all at most"
            )

    @classmethod
    def parse(cls, text: str) -> "Material":
        """Read `KKMvK`: kings before men, the side to move first, at least one piece on each side.

        Raises:
            MaterialError: the text is anything else.
        """
        match = _TEXT.fullmatch(text)
        if match is None or text[0] == "v" or text[-1] == "v":
            raise MaterialError(
                f"{quote(text)} is no material; write the side to move first, kings before men, "
                "a piece or more on each side, like KKMvK"
            )
        return cls(*map(len, match.groups()))

    @classmethod
    def of(cls, position: Position) -> "Material":
        """The material on the board, seen by the side to move."""
        return cls(
            position.own_kings.bit_count(),
            position.own_men.bit_count(),
            position.other_kings.bit_count(),
            position.other_men.bit_count(),
        )

    def __str__(self) -> str:
        return "K" * self.own_kings + "M" * self.own_men + "v" + "K" * self.other_kings + "M" * self.other_men

    @property
    def mirror(self) -> "Material":
        """The same pieces with the other side to move."""
        return Material(self.other_kings, self.other_men, self.own_kings, self.own_men)

    def after_a_move(self) -> set["Material"]:
        """What one move may lead to, seen by the other side: captures and promotions, and the mirror for the
        moves that change nothing. No materials of one side alone, where the game is over."""
        found = set()
        for crowned in range(min(self.own_men, 1) + 1):
            kings, men = self.own_kings + crowned, self.own_men - crowned
            for other_kings, other_men in product(range(self.other_kings + 1), range(self.other_men + 1)):
                if other_kings + other_men:
                    found.add(Material(other_kings, other_men, kings, men))
        return found

    @property
    def pieces(self) -> int:
        """How many pieces there are, of both sides together."""
        return self.kings + self.men

    @property
    def men(self) -> int:
        """How many men there are, of both sides together."""
        return self.own_men + self.other_men

    @property
    def kings(self) -> int:
        """How many kings there are, of both sides together."""
        return self.own_kings + self.other_kings

    @property
    def free(self) -> int:
        """How many squares the men leave free for the kings."""
        return SQUARES - self.men

    def place(self) -> tuple[int, int, str]:
        """Where it stands in lists: fewer pieces first, then fewer men, then by name."""
        return self.pieces, self.men, str(self)

    @property
    def own_men_outer(self) -> bool:
        """Whether blocks are numbered by own men first, and for each placement of them by the other side's.

        The men that come first are those of the weaker side: of fewer pieces, or as many and fewer kings; the
        other side's where both are equal. Neighbouring positions agree most when the stronger side moves.
        """
        own = self.own_kings + self.own_men, self.own_kings
        return own < (self.other_kings + self.other_men, self.other_kings)

    @property
    def blocks(self) -> int:
        """How many placements of all men there are."""
        return men_placements(self.own_men, self.other_men)

    @property
    def block_size(self) -> int:
        """How many positions share one placement of the men: the ways to place the kings."""
        return comb(self.free, self.own_kings) * comb(self.free - self.own_kings, self.other_kings)

    @property
    def positions(self) -> int:
        """How many positions the slice has, exactly."""
        return self.blocks * self.block_size


@cache
def men_placements(own_men: int, other_men: int) -> int:
    """The number of ways to place men of both sides: own men on rows 1-7, other men on rows 2-8.

    `j` own men stand on row 1, where no other man may stand, and so 28 - (own_men - j) squares are left.
    """
    return sum(
        comb(_FIRST_ROW, j)
        * comb(_MEN_SQUARES - _FIRST_ROW, own_men - j)
        * comb(_MEN_SQUARES - (own_men - j), other_men)
        for j in range(min(_FIRST_ROW, own_men) + 1)
        if own_men - j <= _MEN_SQUARES - _FIRST_ROW
    )


def complete_up_to(has_material: Callable[[Material], bool]) -> int:
    """Return the largest n such that a set has every material of 2 to n pieces; 1 if a material of 2 lacks.

    Args:
        has_material: whether the set has a material.
    """
    pieces = 1
    while all(map(has_material, materials(pieces + 1))):
        pieces += 1
    return pieces


def materials(pieces: int) -> Iterator[Material]:
    """Every material of exactly `pieces` pieces with both sides present: fewer men first, then by name.

    In this order, and fewer pieces first, each slice comes after all that its moves lead to (save its
    mirror, with which it is solved).
    """
    found = [
        Material(own - own_men, own_men, pieces - own - other_men, other_men)
        for own in range(1, pieces)
        for own_men in range(own + 1)
        for other_men in range(pieces - own + 1)
    ]
    yield from sorted(found, key=Material.place)
