"""After tables: the values of positions after a move, seen by the side that moved.

Without DTW the after tables hold outcomes under the rules alone, and those on the board are the same but for
cursed wins and blessed losses, which are few. So only the words that hold one are listed, with what is lost
and won in them on the board. A guard, a byte for 256 words, says where it is worth looking.

While solving, a value is looked up far more often by the move that leads to it than by itself. So for each
material `AvB` there is one *after table*: positions in which A has just moved and B is to move, seen by A
(who plays up), in words of 32 lanes: the bits (and bytes) of a word are the squares of one of A's kings, the
*lane*. A side without kings has no lanes: a number below is then that of a single position.

    number = start[A, B] + ((rank(men of A) * C(28, men of B) + rank(men of B, moved down a row))
             * C(32, kings of A - 1) + rank(A's other kings)) * C(32, kings of B) + rank(B's kings)

All after tables share their arrays, so that a kernel can reach any of them:

    lost[number], won[number]                            lanes in which B has lost or won under the rules
    score[score_start + (number - start) * lanes + lane] the move's value in plies on the board (see below)

For a side without kings, 32 positions share a word of `lost` and `won`: position `n = number - start` is bit
n % 32 of the word `packed_start + n // 32`. A block may begin and end within a word, so two threads may write
to one word: they set its bits by atomic instructions.

Where nobody asks for DTW there are no scores, and of the outcomes on the board only those are kept that are
not those under the rules (generator/solver/successors.py).

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
from generator.solver.subsets import BINOMIAL, rank
from tablebase.board.material import Material
from tablebase.kernels.bits import lowest, or_at, popcount, reverse
from tablebase.kernels.jit import inlined, inner, kernel

FILTER_SHIFT = 8


class OutcomeExceptions(NamedTuple):
    """Words of the after tables, by number, each with its lanes lost and won on the board."""

    words: NDArray[np.int64]
    lost: NDArray[np.uint32]
    won: NDArray[np.uint32]


def empty_exceptions(count: int) -> OutcomeExceptions:
    """Room for so many."""
    return OutcomeExceptions(
        np.zeros(count, np.int64), np.zeros(count, np.uint32), np.zeros(count, np.uint32)
    )


def empty_filter(words: int) -> NDArray[np.uint8]:
    """A guard for so many words, none of which is listed."""
    return np.zeros((words >> FILTER_SHIFT) + 1, np.uint8)


@inner
def find_word(numbers: NDArray[np.int64], word: int) -> int:
    """Where a word stands in a sorted list; -1 if it does not."""
    at, end = 0, len(numbers)
    while at < end:
        middle = (at + end) // 2
        if numbers[middle] < word:
            at = middle + 1
        else:
            end = middle
    return at if at < len(numbers) and numbers[at] == word else -1


def copy_exceptions(listed: OutcomeExceptions, count: int) -> OutcomeExceptions:
    """Copy the first `count` words of a list."""
    return OutcomeExceptions(
        listed.words[:count].copy(), listed.lost[:count].copy(), listed.won[:count].copy()
    )


def merge_exceptions(
    listed: OutcomeExceptions, exception_filter: NDArray[np.uint8], more: list[OutcomeExceptions]
) -> OutcomeExceptions:
    """The sorted list with these besides, of which the last one of a word counts; `guard` is kept true."""
    # The list may be long, and what comes to it is little: it is not sorted again.
    words = np.concatenate([part.words for part in more])[::-1]
    words, last = np.unique(words, return_index=True)
    lost = np.concatenate([part.lost for part in more])[::-1][last]
    won = np.concatenate([part.won for part in more])[::-1][last]
    exception_filter[words >> FILTER_SHIFT] = 1
    begin, end = (np.searchsorted(listed.words, words, side) for side in ("left", "right"))
    gone = begin[begin < end]
    left = np.delete(listed.words, gone), np.delete(listed.lost, gone), np.delete(listed.won, gone)
    at = np.searchsorted(left[0], words)
    return OutcomeExceptions(
        np.insert(left[0], at, words), np.insert(left[1], at, lost), np.insert(left[2], at, won)
    )


def drop_exceptions(
    listed: OutcomeExceptions, exception_filter: NDArray[np.uint8], first: int, last: int
) -> OutcomeExceptions:
    """The sorted list without the words `first` to `last` - 1; `guard` is kept true."""
    begin, end = np.searchsorted(listed.words, (first, last))
    if begin == end:
        return listed
    left = OutcomeExceptions(
        np.concatenate((listed.words[:begin], listed.words[end:])),
        np.concatenate((listed.lost[:begin], listed.lost[end:])),
        np.concatenate((listed.won[:begin], listed.won[end:])),
    )
    exception_filter[first >> FILTER_SHIFT : (last >> FILTER_SHIFT) + 1] = 0
    exception_filter[left.words >> FILTER_SHIFT] = 1
    return left


def unruled_words(
    listed: OutcomeExceptions, words: NDArray[np.int64], rules: OutcomeExceptions
) -> OutcomeExceptions:
    """What `words` are on the board, where `rules` says what they are under the rules."""
    lost, won = rules.lost.copy(), rules.won.copy()
    begin, end = (np.searchsorted(listed.words, words, side) for side in ("left", "right"))
    there = begin < end
    lost[there], won[there] = listed.lost[begin[there]], listed.won[begin[there]]
    return OutcomeExceptions(words, lost, won)


DRAWN = 127
WIN_AT_ONCE = 255
# The longest distance that a byte of score holds; the solver stops with an error where a longer one appears.
LONGEST_PLIES = 250
LANES = 32


class SuccessorTables(NamedTuple):
    """The after tables of some materials. All starts are indexed [kings, men, other kings, other men] and
    are -1 where a material is not there. `score` is empty where DTW is not worked out; then `board` lists, in
    order, the words (for sides without kings, the positions) that are otherwise on the board, guarded by
    `guard`."""

    start: NDArray[np.int64]
    packed_start: NDArray[np.int64]
    score_start: NDArray[np.int64]
    score: NDArray[np.uint8]
    lost: NDArray[np.uint32]
    won: NDArray[np.uint32]
    exception_filter: NDArray[np.uint8]
    exceptions: OutcomeExceptions


def lanes(material: Material) -> int:
    """Lanes in a word of this material's after table."""
    return 32 if material.own_kings else 1


def words_in_block(material: Material) -> int:
    """Words of one block: one for each placement of all kings but the lane king."""
    return comb(32, max(material.own_kings - 1, 0)) * comb(32, material.other_kings)


def words(material: Material) -> int:
    """How many numbers a material's after table has: of words, or of positions for a side without kings."""
    return comb(28, material.own_men) * comb(28, material.other_men) * words_in_block(material)


def kept_words(material: Material) -> int:
    """How many words of `lost`, and of `won`, a material's after table takes."""
    return words(material) if material.own_kings else -(-words(material) // LANES)


def size_in_bytes(material: Material, with_scores: bool = True) -> int:
    """Memory of a material's after table."""
    return 8 * kept_words(material) + (words(material) * lanes(material) if with_scores else 0)


def allocate(
    materials: Iterable[Material], most_pieces: int, memory: Memory | None = None, with_scores: bool = True
) -> SuccessorTables:
    """Empty after tables for these materials, with scores or without. Memory is taken only when it is written
    to."""
    memory = memory or Memory()
    start = np.full((most_pieces + 1,) * 4, -1, dtype=np.int64)
    packed_start, score_start = start.copy(), start.copy()
    number_count = word_count = score_count = 0
    # Sides with kings first: their words' numbers are the words' places.
    for material in sorted(materials, key=lambda material: material.own_kings == 0):
        counts = _counts(material)
        start[counts], packed_start[counts], score_start[counts] = number_count, word_count, score_count
        number_count += words(material)
        word_count += kept_words(material)
        score_count += words(material) * lanes(material)
    return SuccessorTables(
        start,
        packed_start,
        score_start,
        memory.zeros(score_count if with_scores else 0, np.uint8),
        memory.zeros(word_count, np.uint32),
        memory.zeros(word_count, np.uint32),
        empty_filter(number_count),
        empty_exceptions(0),
    )


def parts_of(successors: SuccessorTables, material: Material) -> list[NDArray[Any]]:
    """Where the after table of a material lies: its parts of scores, lost and won."""
    start, score_start = (
        int(successors.packed_start[_counts(material)]),
        int(successors.score_start[_counts(material)]),
    )
    count = kept_words(material)
    scores = successors.score[score_start : score_start + words(material) * lanes(material)]
    return [scores, successors.lost[start : start + count], successors.won[start : start + count]]


def first_word(successors: SuccessorTables, material: Material) -> int:
    """The number of the first word of a material's after table."""
    return int(successors.start[_counts(material)])


def _counts(material: Material) -> tuple[int, int, int, int]:
    return material.own_kings, material.own_men, material.other_kings, material.other_men


@kernel
def _write_locations(
    start: NDArray[np.int64],
    own_men: int,
    own_kings: int,
    other_men: int,
    other_kings: int,
    out: NDArray[np.int64],
) -> None:
    men, kings = reverse(other_men), reverse(other_kings)
    opponent_men, opponent_kings = reverse(own_men), reverse(own_kings)
    counts = (popcount(kings), popcount(men), popcount(opponent_kings), popcount(opponent_men))
    first = start[counts] + block_offset(counts[0], men, counts[2], opponent_men)
    left = kings
    for number in range(len(out)):
        lane = lowest(left)
        left &= left - 1
        out[number, 0] = first + rank(kings & ~(1 << lane)) * BINOMIAL[32, counts[2]] + rank(opponent_kings)
        out[number, 1] = lane


def find_locations(
    successors: SuccessorTables, own_men: int, own_kings: int, other_men: int, other_kings: int
) -> NDArray[np.int64]:
    """Where a position stands (sets as its side to move sees them; the other side has kings): shape [kings of
    the other side, 2], word and lane."""
    out = np.empty((other_kings.bit_count(), 2), np.int64)
    _write_locations(successors.start, own_men, own_kings, other_men, other_kings, out)
    return out


def mark_drawn(successors: SuccessorTables, locations: NDArray[np.int64]) -> SuccessorTables:
    """Make positions, at `places` [place, 2], neither lost nor won under the rules. On the board they stay
    what they are. Returns the after tables to go on with."""
    words, lanes = locations[:, 0], locations[:, 1].astype(np.uint32)
    if not len(successors.score):
        changed = np.unique(words)
        as_ruled = OutcomeExceptions(changed, successors.lost[changed], successors.won[changed])
        before = unruled_words(successors.exceptions, changed, as_ruled)
        successors = successors._replace(
            exceptions=merge_exceptions(successors.exceptions, successors.exception_filter, [before])
        )
    others = ~(np.uint32(1) << lanes)
    np.bitwise_and.at(successors.lost, words, others)
    np.bitwise_and.at(successors.won, words, others)
    return successors


def drop_material(successors: SuccessorTables, material: Material) -> SuccessorTables:
    """After tables without the board words of a material whose part is given back."""
    start = first_word(successors, material)
    return successors._replace(
        exceptions=drop_exceptions(
            successors.exceptions, successors.exception_filter, start, start + words(material)
        )
    )


@inlined
def block_offset(kings: int, men: int, other_kings: int, other_men: int) -> int:
    """The first word of a block, counted from the start of its material."""
    return int(block_number(men, other_men) * BINOMIAL[32, max(kings - 1, 0)] * BINOMIAL[32, other_kings])


@inlined
def block_number(men: int, other_men: int) -> int:
    """The number of a block in its after table."""
    return int(rank(men) * BINOMIAL[28, popcount(other_men)] + rank(other_men >> 4))


@inlined
def write_bits(
    one_a_word: NDArray[np.uint32], first: int, count: int, packed: NDArray[np.uint32], first_bit: int
) -> None:
    """Pack `count` words of one bit each into bits of `packed`, which are 0 so far.

    Other threads may do so with the neighbouring bits at the same time.
    """
    bit, end = first_bit, first_bit + count
    while bit < end:
        word, lane = bit >> 5, bit & 31
        here = min(32 - lane, end - bit)
        gathered = np.uint32(0)
        for i in range(here):
            gathered = np.uint32(gathered | np.uint32(one_a_word[first + i] << np.uint32(lane + i)))
        if here == 32:
            packed[word] = gathered
        elif gathered:
            or_at(packed, word, gathered)
        bit += here
        first += here


@kernel
def read_block_bits(packed: NDArray[np.uint32], numbers: NDArray[np.int64], size: int) -> NDArray[np.uint8]:
    """The bits of some blocks of a side without kings, one a byte: [block, position], flat.

    Args:
        packed: the material's part of `lost` or `won`.
        numbers: [block], the numbers of the blocks.
        size: positions in a block.
    """
    found = np.empty(len(numbers) * size, np.uint8)
    for block in range(len(numbers)):
        for i in range(size):
            bit = numbers[block] * size + i
            found[block * size + i] = np.uint8(packed[bit >> 5] >> np.uint32(bit & 31)) & np.uint8(1)
    return found


@kernel
def write_block_bits(
    packed: NDArray[np.uint32], numbers: NDArray[np.int64], size: int, bits: NDArray[np.uint8]
) -> None:
    """Set bits in `packed`, which are 0 so far: the inverse of `take_block_bits`.

    Other threads may do so for other blocks at the same time.
    """
    for block in range(len(numbers)):
        for i in range(size):
            if bits[block * size + i]:
                bit = numbers[block] * size + i
                or_at(packed, bit >> 5, np.uint32(np.uint32(1) << np.uint32(bit & 31)))


@kernel
def _write_block_numbers(men: NDArray[np.int64], out: NDArray[np.int64]) -> None:
    for block in range(len(men)):
        out[block] = block_number(men[block, 0], men[block, 1])


def block_numbers(men: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers in their after table of blocks whose men are `men` [block, 2]: those of the side that has
    just moved, and the other side's."""
    found = np.empty(len(men), np.int64)
    _write_block_numbers(men, found)
    return found
