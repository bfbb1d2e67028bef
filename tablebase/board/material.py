"""Materials: kinds and numbers of pieces. All positions of one material are a *slice*."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import comb

from tablebase.board.position import Position
from tablebase.board.squares import FIRST_ROW, OWN_MEN_SQUARES, SQUARES
from tablebase.errors import MaterialError, quote

_TEXT = re.compile(r"(K*)(M*)v(K*)(M*)")
_MEN_SQUARES = OWN_MEN_SQUARES.bit_count()
_ROW_SQUARES = FIRST_ROW.bit_count()


@dataclass(frozen=True, slots=True)
class Material:
    """Numbers of kings and men of both sides, the side to move ("own") first.

    >>> material = Material.parse("KKMvK")
    >>> material
    Material(own_kings=2, own_men=1, other_kings=1, other_men=0)
    >>> str(material.mirror), material.pieces, material.positions
    ('KvKKM', 4, 377580)

    Raises:
        MaterialError: a count is negative, a side has more than 28 men, or the pieces are more than 32.
    """

    own_kings: int
    own_men: int
    other_kings: int
    other_men: int

    def __post_init__(self) -> None:
        counts = (self.own_kings, self.own_men, self.other_kings, self.other_men)
        if min(counts) < 0 or max(self.own_men, self.other_men) > _MEN_SQUARES or sum(counts) > SQUARES:
            raise MaterialError(
                f"no board holds the material {counts}: counts are 0 or more, "
                "at most 28 men a side and 32 pieces in all"
            )

    @classmethod
    def parse(cls, text: str) -> "Material":
        """Return the material of a text like `KKMvK`: side to move first, kings before men.

        Raises:
            MaterialError: the text is not a material, or a side has no pieces.
        """
        match = _TEXT.fullmatch(text)
        if match is None or text[0] == "v" or text[-1] == "v":
            raise MaterialError(
                f"{quote(text)} is not a material; write the side to move first, kings before men, "
                "at least one piece on each side, like KKMvK"
            )
        return cls(*map(len, match.groups()))

    @classmethod
    def of(cls, position: Position) -> "Material":
        """Return the material of a position, seen by the side to move."""
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
        """The material with the sides exchanged."""
        return Material(self.other_kings, self.other_men, self.own_kings, self.own_men)

    def successors(self) -> set["Material"]:
        """Return the materials that one move may lead to, seen by the opponent.

        These are the mirror, for moves that change no material, and the results of captures and promotions. A
        material with no pieces of the opponent is left out, because the game is over.
        """
        found = set()
        for crowned in range(min(self.own_men, 1) + 1):
            kings, men = self.own_kings + crowned, self.own_men - crowned
            for other_kings, other_men in product(range(self.other_kings + 1), range(self.other_men + 1)):
                if other_kings + other_men:
                    found.add(Material(other_kings, other_men, kings, men))
        return found

    @property
    def pieces(self) -> int:
        """Number of pieces of both sides together."""
        return self.kings + self.men

    @property
    def men(self) -> int:
        """Number of men of both sides together."""
        return self.own_men + self.other_men

    @property
    def kings(self) -> int:
        """Number of kings of both sides together."""
        return self.own_kings + self.other_kings

    @property
    def free(self) -> int:
        """Number of squares that the men leave free for the kings."""
        return SQUARES - self.men

    def sort_key(self) -> tuple[int, int, str]:
        """Return the key that sorts materials by number of pieces, then number of men, then name."""
        return self.pieces, self.men, str(self)

    @property
    def own_men_outer(self) -> bool:
        """Whether the index numbers blocks by own men first, then by the other side's men.

        The weaker side's men come first: the side with fewer pieces, or with as many pieces and fewer kings.
        If both are equal, the other side's men come first. With this order, neighbouring positions agree
        most, so that tables compress best.
        """
        own = self.own_kings + self.own_men, self.own_kings
        return own < (self.other_kings + self.other_men, self.other_kings)

    @property
    def blocks(self) -> int:
        """Number of blocks in the slice: placements of all men."""
        return men_placements(self.own_men, self.other_men)

    @property
    def block_size(self) -> int:
        """Number of positions in a block: placements of the kings for one placement of the men."""
        return comb(self.free, self.own_kings) * comb(self.free - self.own_kings, self.other_kings)

    @property
    def positions(self) -> int:
        """Number of positions in the slice."""
        return self.blocks * self.block_size


@cache
def men_placements(own_men: int, other_men: int) -> int:
    """Return the number of placements of men of both sides: own men on rows 1-7, other men on rows 2-8.

    The sum runs over the number `j` of own men on row 1. No other man can be there, so the other men have
    28 - (own_men - j) squares left.
    """
    return sum(
        comb(_ROW_SQUARES, j)
        * comb(_MEN_SQUARES - _ROW_SQUARES, own_men - j)
        * comb(_MEN_SQUARES - (own_men - j), other_men)
        for j in range(min(_ROW_SQUARES, own_men) + 1)
        if own_men - j <= _MEN_SQUARES - _ROW_SQUARES
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
    """Yield every material of exactly `pieces` pieces, at least one a side, by number of men, then name.

    If materials of fewer pieces come first, each slice comes after all slices that its moves lead to. The
    exception is its mirror, which is solved together with it.
    """
    found = [
        Material(own - own_men, own_men, pieces - own - other_men, other_men)
        for own in range(1, pieces)
        for own_men in range(own + 1)
        for other_men in range(pieces - own + 1)
    ]
    yield from sorted(found, key=Material.sort_key)
