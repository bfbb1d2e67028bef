"""What moves lead to: the values of solved positions, laid out for the side that has just moved.

While solving, a value is looked up far more often by the move that leads to it than by itself. So for each
material `AvB` there is one *after table*: positions in which A has just moved and B is to move, seen by A
(who plays up), in words of 32 lanes: the bits (and bytes) of a word are the squares of one of A's kings, the
*lane*. A side without kings has words of one lane.

    word = start[A, B] + ((rank(men of A) * C(28, men of B) + rank(men of B, moved down a row))
           * C(32, kings of A - 1) + rank(A's other kings)) * C(32, kings of B) + rank(B's kings)

All after tables share three arrays, so that a kernel can reach any of them:

    score[score_start + (word - start) * lanes + lane]   the move's value in plies on the board (see below)
    lost[word], won[word]                                lanes in which B has lost or won under the rules

Each position stands in as many words as A has kings; the lanes of squares that are taken are empty (score 0).

Scores order what a move can lead to, larger is better for A: 1..126 A loses in 2 * score plies from before
the move, 127 a draw, 128..255 A wins in 2 * (255 - score) + 1 plies. 0 is no move at all. The side to move
loses when it has no move, and that is the only end of a game, so wins take an odd and losses an even number
of plies.
"""

from collections.abc import Iterable
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.memory import Memory
from generator.subsets import BINOMIAL, rank
from tablebase.kernels.bits import lowest, popcount, reverse
from tablebase.kernels.jit import inlined, kernel
from tablebase.material import Material

DRAWN = 127
WIN_AT_ONCE = 255
# The longest distance that a byte of score holds; the solver stops with an error where a longer one appears.
LONGEST_PLIES = 250


class Afters(NamedTuple):
    """The after tables of some materials. Both starts are indexed [kings, men, other kings, other men] and
    are -1 where a material is not there."""

    start: NDArray[np.int64]
    score_start: NDArray[np.int64]
    score: NDArray[np.uint8]
    lost: NDArray[np.uint32]
    won: NDArray[np.uint32]


def lanes(material: Material) -> int:
    """Lanes in a word of this material's after table."""
    return 32 if material.own_kings else 1


def words_in_block(material: Material) -> int:
    """Words of one block: one for each placement of all kings but the lane king."""
    return comb(32, max(material.own_kings - 1, 0)) * comb(32, material.other_kings)


def words(material: Material) -> int:
    """Words of a material's after table."""
    return comb(28, material.own_men) * comb(28, material.other_men) * words_in_block(material)


def size_in_bytes(material: Material) -> int:
    """Memory of a material's after table."""
    return words(material) * (8 + lanes(material))


def allocate(materials: Iterable[Material], most_pieces: int, memory: Memory | None = None) -> Afters:
    """Empty after tables for these materials. Memory is taken only when it is written to."""
    memory = memory or Memory()
    start = np.full((most_pieces + 1,) * 4, -1, dtype=np.int64)
    score_start = start.copy()
    word_count = score_count = 0
    for material in materials:
        place = _place(material)
        start[place], score_start[place] = word_count, score_count
        word_count += words(material)
        score_count += words(material) * lanes(material)
    return Afters(
        start,
        score_start,
        memory.zeros(score_count, np.uint8),
        memory.zeros(word_count, np.uint32),
        memory.zeros(word_count, np.uint32),
    )


def parts_of(afters: Afters, material: Material) -> list[NDArray[Any]]:
    """Where the after table of a material lies: its parts of the three arrays."""
    start, score_start = int(afters.start[_place(material)]), int(afters.score_start[_place(material)])
    count = words(material)
    scores = afters.score[score_start : score_start + count * lanes(material)]
    return [scores, afters.lost[start : start + count], afters.won[start : start + count]]


def _place(material: Material) -> tuple[int, int, int, int]:
    return material.own_kings, material.own_men, material.other_kings, material.other_men


@kernel
def forget_outcome(afters: Afters, own_men: int, own_kings: int, other_men: int, other_kings: int) -> None:
    """Make a position (sets as its side to move sees them) neither lost nor won under the rules; its score
    stays."""
    men, kings = reverse(other_men), reverse(other_kings)
    opponent_men, opponent_kings = reverse(own_men), reverse(own_kings)
    place = (popcount(kings), popcount(men), popcount(opponent_kings), popcount(opponent_men))
    start = afters.start[place] + block_offset(place[0], men, place[2], opponent_men)
    left = kings
    while left:
        lane = lowest(left)
        left &= left - 1
        word = start + rank(kings & ~(1 << lane)) * BINOMIAL[32, place[2]] + rank(opponent_kings)
        bit = np.uint32(np.uint32(1) << np.uint32(lane))
        afters.lost[word] = np.uint32(afters.lost[word] & ~bit)
        afters.won[word] = np.uint32(afters.won[word] & ~bit)


@inlined
def block_offset(kings: int, men: int, other_kings: int, other_men: int) -> int:
    """The first word of a block, counted from the start of its material."""
    block = rank(men) * BINOMIAL[28, popcount(other_men)] + rank(other_men >> 4)
    return int(block * BINOMIAL[32, max(kings - 1, 0)] * BINOMIAL[32, other_kings])
