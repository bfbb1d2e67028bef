"""The index of a position in its slice: dense, without holes, invertible (docs/architecture.md, "Index").

Sets are 32-bit masks as seen by the side to move, which plays up the board: own men on squares 0..27, other
men on squares 4..31. Sets of equal size are ranked in colexicographic order:
`rank(set) = sum of C(square_i, i + 1)`, squares rising, i from 0.
"""

from bisect import bisect_right
from functools import cache
from itertools import combinations
from math import comb

from tablebase.board import ALL_SQUARES, FIRST_ROW, LAST_ROW, SQUARES
from tablebase.errors import IllegalPositionError
from tablebase.material import Material

_COMB = tuple(tuple(comb(n, k) for k in range(SQUARES + 1)) for n in range(SQUARES + 1))
_CHOOSE = tuple(zip(*_COMB, strict=True))  # _CHOOSE[k][n] = C(n, k): a row for each size of set
_MEN_SQUARES = ALL_SQUARES & ~LAST_ROW
_OTHER_MEN_SQUARES = ALL_SQUARES & ~FIRST_ROW

Sets = tuple[int, int, int, int]
"""own men, own kings, other men, other kings."""


def rank(squares: int, among: int) -> int:
    """The colexicographic rank of a set within `among`, whose squares are renumbered 0, 1, 2, ... rising."""
    total = 0
    size = 0
    while squares:
        lowest = squares & -squares
        squares ^= lowest
        size += 1
        total += _CHOOSE[size][(among & (lowest - 1)).bit_count()]
    return total


def unrank(number: int, size: int, among: int) -> int:
    """The set of `size` squares of `among` whose rank is `number`: the inverse of `rank`."""
    places = _squares(among)
    squares = 0
    for k in range(size, 0, -1):
        place = bisect_right(_CHOOSE[k], number, k - 1, len(places)) - 1
        number -= _CHOOSE[k][place]
        squares |= places[place]
    return squares


def _squares(among: int) -> list[int]:
    """Each square of a set as a set of its own, rising."""
    places = []
    while among:
        lowest = among & -among
        places.append(lowest)
        among ^= lowest
    return places


@cache
def first_blocks(own_men: int, other_men: int) -> tuple[int, ...]:
    """For each placement of own men, by rank, the number of its first block; last, the number of blocks."""
    firsts = [0]
    # Combinations of falling squares, reversed, come in colexicographic order.
    for men in reversed(list(combinations(range(27, -1, -1), own_men))):
        in_the_way = sum(square >= 4 for square in men)
        firsts.append(firsts[-1] + _COMB[28 - in_the_way][other_men])
    return tuple(firsts)


@cache
def _king_factors(men: int, own_kings: int, other_kings: int) -> tuple[int, int]:
    """The block size, and the number of placements of the other kings for each one of the own."""
    others = _COMB[SQUARES - men - own_kings][other_kings]
    return _COMB[SQUARES - men][own_kings] * others, others


def index_of(own_men: int, own_kings: int, other_men: int, other_kings: int) -> int:
    """The place of a position in the slice of its material, 0 to `Material.positions - 1`.

    Raises:
        IllegalPositionError: a man on its own last row.
    """
    if own_men & ~_MEN_SQUARES or other_men & ~_OTHER_MEN_SQUARES:
        raise IllegalPositionError("a man stands on its own last row; no index has such a position")
    own = own_men.bit_count()
    other = other_men.bit_count()
    if own:
        block = first_blocks(own, other)[rank(own_men, _MEN_SQUARES)]
        if other:
            block += rank(other_men, _OTHER_MEN_SQUARES & ~own_men)
    else:
        block = rank(other_men, _OTHER_MEN_SQUARES)
    free = ALL_SQUARES & ~(own_men | other_men)
    size, others = _king_factors(own + other, own_kings.bit_count(), other_kings.bit_count())
    return block * size + rank(own_kings, free) * others + rank(other_kings, free & ~own_kings)


def sets_at(material: Material, index: int) -> Sets:
    """The position at a place of a slice, as the sets (own men, own kings, other men, other kings).

    Raises:
        IndexError: the slice has no such place.
    """
    if not 0 <= index < material.positions:
        raise IndexError(f"{material} has the positions 0 to {material.positions - 1}, not {index}")
    firsts = first_blocks(material.own_men, material.other_men)
    size, others = _king_factors(material.men, material.own_kings, material.other_kings)
    block, inside = divmod(index, size)
    own_rank = bisect_right(firsts, block) - 1
    own_men = unrank(own_rank, material.own_men, _MEN_SQUARES)
    other_men = unrank(block - firsts[own_rank], material.other_men, _OTHER_MEN_SQUARES & ~own_men)
    free = ALL_SQUARES & ~(own_men | other_men)
    own_king_rank, other_king_rank = divmod(inside, others)
    own_kings = unrank(own_king_rank, material.own_kings, free)
    other_kings = unrank(other_king_rank, material.other_kings, free & ~own_kings)
    return own_men, own_kings, other_men, other_kings
