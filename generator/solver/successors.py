"""Successor tables: values of the positions after a move, seen by the side that has moved.

The solver looks up a value far more often by the move that leads to it than by the position itself. (Sutton
and Barto call a position after one's own move, before the reply, an *afterstate*.) So each material `AvB` has
one *successor table*: positions in which A has just moved and B is to move, seen by A, who plays up. It has
words of 32 lanes: the bits (and bytes) of a word are the squares of one of A's kings, the *lane*. A side
without kings has no lanes; a number below is then the number of a single position.

    number = start[A, B] + ((rank(men of A) * C(28, men of B) + rank(men of B, moved down a row))
             * C(32, kings of A - 1) + rank(A's other kings)) * C(32, kings of B) + rank(B's kings)

All successor tables share their arrays, so that a kernel can reach any of them:

    lost[number], won[number]                            lanes in which B has lost or won under the rules
    score[score_start + (number - start) * lanes + lane] score of the move without draw rules (see below)

If A has no kings, 32 positions share a word of `lost` and `won`: position `n = number - start` is bit n % 32
of the word `packed_start + n // 32`. A block may begin and end within a word, so two threads may write to one
word: they set its bits by atomic instructions.

Each position is in as many words as A has kings. The lanes of occupied squares are empty (score 0).

A score orders the moves, larger is better for A: with 1..126 A loses in 2 * score plies from before the move,
127 is a draw, with 128..255 A wins in 2 * (255 - score) + 1 plies. 0 is no move. The game ends only when the
side to move has no move and loses, so wins take an odd and losses an even number of plies.

Without DTW there are no scores, only outcomes under the rules. Outcomes without draw rules are the same but
for cursed wins and blessed losses, which are few. So only the words with such a position are listed, the
*exceptions*. The exception filter, a byte for 256 words, tells whether a look at the list is needed.
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
    """Words whose outcomes are different without draw rules, in order of their numbers.

    Attributes:
        words: int64 [word], numbers in the successor tables; of positions, for sides without kings.
        lost: uint32 [word], the lanes that are lost without draw rules.
        won: uint32 [word], the lanes that are won without draw rules.
    """

    words: NDArray[np.int64]
    lost: NDArray[np.uint32]
    won: NDArray[np.uint32]


def empty_exceptions(count: int) -> OutcomeExceptions:
    """Allocate arrays for `count` words."""
    return OutcomeExceptions(
        np.zeros(count, np.int64), np.zeros(count, np.uint32), np.zeros(count, np.uint32)
    )


def empty_filter(words: int) -> NDArray[np.uint8]:
    """Return the exception filter for `words` words, none of which is listed."""
    return np.zeros((words >> FILTER_SHIFT) + 1, np.uint8)


@inner
def find_word(numbers: NDArray[np.int64], word: int) -> int:
    """Return the index of a word in a sorted list, or -1 if it is not listed."""
    at, end = 0, len(numbers)
    while at < end:
        middle = (at + end) // 2
        if numbers[middle] < word:
            at = middle + 1
        else:
            end = middle
    return at if at < len(numbers) and numbers[at] == word else -1


def copy_exceptions(listed: OutcomeExceptions, count: int) -> OutcomeExceptions:
    """Return a copy of the first `count` words of a list."""
    return OutcomeExceptions(
        listed.words[:count].copy(), listed.lost[:count].copy(), listed.won[:count].copy()
    )


def merge_exceptions(
    listed: OutcomeExceptions, exception_filter: NDArray[np.uint8], more: list[OutcomeExceptions]
) -> OutcomeExceptions:
    """Return the sorted list with more words, and update the exception filter.

    If a word comes twice, its last entry counts.
    """
    # The list may be long and the additions few: insert them, do not sort again.
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
    """Return the sorted list without the words `first` to `last` - 1, and update the exception filter."""
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
    """Return the outcomes of `words` without draw rules.

    Args:
        listed: the exceptions.
        words: int64 [word], sorted numbers of words.
        rules: the outcomes of the same words under the rules.
    """
    lost, won = rules.lost.copy(), rules.won.copy()
    begin, end = (np.searchsorted(listed.words, words, side) for side in ("left", "right"))
    there = begin < end
    lost[there], won[there] = listed.lost[begin[there]], listed.won[begin[there]]
    return OutcomeExceptions(words, lost, won)


DRAWN = 127
WIN_AT_ONCE = 255
# The longest distance that a score holds; the solver raises DistanceOverflowError for a longer one.
LONGEST_PLIES = 250
LANES = 32


class SuccessorTables(NamedTuple):
    """The successor tables of some materials, in shared arrays.

    Attributes:
        start: int64 [kings, men, other kings, other men], the first number of a material; -1 if it has no
            table.
        packed_start: int64, of the same shape: its first word in `lost` and `won`.
        score_start: int64, of the same shape: its first score.
        score: uint8 [score], scores of moves; empty without DTW.
        lost: uint32 [word], lanes that are lost under the rules for the side to move.
        won: uint32 [word], lanes that are won under the rules for the side to move.
        exception_filter: uint8 [number / 256], not 0 if some of the 256 words are listed in `exceptions`.
        exceptions: without scores, the words that are different without draw rules.
    """

    start: NDArray[np.int64]
    packed_start: NDArray[np.int64]
    score_start: NDArray[np.int64]
    score: NDArray[np.uint8]
    lost: NDArray[np.uint32]
    won: NDArray[np.uint32]
    exception_filter: NDArray[np.uint8]
    exceptions: OutcomeExceptions


def lanes(material: Material) -> int:
    """Return how many lanes a word of a material's successor table has."""
    return 32 if material.own_kings else 1


def words_in_block(material: Material) -> int:
    """Return how many words a block has: one for each placement of all kings but the lane king."""
    return comb(32, max(material.own_kings - 1, 0)) * comb(32, material.other_kings)


def words(material: Material) -> int:
    """Return how many numbers a successor table has: of words, or of positions if the side has no kings."""
    return comb(28, material.own_men) * comb(28, material.other_men) * words_in_block(material)


def kept_words(material: Material) -> int:
    """Return how many words of `lost`, and of `won`, a material's successor table takes."""
    return words(material) if material.own_kings else -(-words(material) // LANES)


def size_in_bytes(material: Material, with_scores: bool = True) -> int:
    """Return the memory of a material's successor table in bytes."""
    return 8 * kept_words(material) + (words(material) * lanes(material) if with_scores else 0)


def allocate(
    materials: Iterable[Material], most_pieces: int, memory: Memory | None = None, with_scores: bool = True
) -> SuccessorTables:
    """Allocate empty successor tables; pages take memory when they are first written.

    Args:
        materials: the materials.
        most_pieces: the most pieces of any of them.
        memory: allocates the arrays.
        with_scores: whether there are scores, as DTW needs them.
    """
    memory = memory or Memory()
    start = np.full((most_pieces + 1,) * 4, -1, dtype=np.int64)
    packed_start, score_start = start.copy(), start.copy()
    number_count = word_count = score_count = 0
    # Sides with kings come first, so that the numbers of their words are indices in `lost` and `won`.
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
    """Return the parts of the arrays that a material's successor table takes: scores, lost and won."""
    start, score_start = (
        int(successors.packed_start[_counts(material)]),
        int(successors.score_start[_counts(material)]),
    )
    count = kept_words(material)
    scores = successors.score[score_start : score_start + words(material) * lanes(material)]
    return [scores, successors.lost[start : start + count], successors.won[start : start + count]]


def first_word(successors: SuccessorTables, material: Material) -> int:
    """Return the number of the first word of a material's successor table."""
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
    """Write the locations of a position, int64 [king, 2], as `find_locations` returns them."""
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
    """Return the locations of a position in the successor tables.

    Args:
        successors: the successor tables.
        own_men: bit set, men of the side to move, which sees them as playing up.
        own_kings: bit set, its kings.
        other_men: bit set, men of the other side.
        other_kings: bit set, its kings; at least one.

    Returns:
        int64 [king of the other side, 2]: word and lane.
    """
    out = np.empty((other_kings.bit_count(), 2), np.int64)
    _write_locations(successors.start, own_men, own_kings, other_men, other_kings, out)
    return out


def mark_drawn(successors: SuccessorTables, locations: NDArray[np.int64]) -> SuccessorTables:
    """Mark positions as drawn under the rules; without draw rules they keep their outcome.

    Args:
        successors: the successor tables, changed in place but for `exceptions`.
        locations: int64 [location, 2], word and lane.

    Returns:
        The successor tables with the new exceptions.
    """
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
    """Return the successor tables without the exceptions of a material whose memory is freed."""
    start = first_word(successors, material)
    return successors._replace(
        exceptions=drop_exceptions(
            successors.exceptions, successors.exception_filter, start, start + words(material)
        )
    )


@inlined
def block_offset(kings: int, men: int, other_kings: int, other_men: int) -> int:
    """Return the number of the first word of a block, counted from the start of its material."""
    return int(block_number(men, other_men) * BINOMIAL[32, max(kings - 1, 0)] * BINOMIAL[32, other_kings])


@inlined
def block_number(men: int, other_men: int) -> int:
    """Return the number of a block in its successor table."""
    return int(rank(men) * BINOMIAL[28, popcount(other_men)] + rank(other_men >> 4))


@inlined
def write_bits(
    one_a_word: NDArray[np.uint32], first: int, count: int, packed: NDArray[np.uint32], first_bit: int
) -> None:
    """Pack `count` words of one bit each into bits of `packed`, which are 0 so far.

    Other threads may write to the neighbouring bits at the same time.

    Args:
        one_a_word: uint32 [word], 0 or 1.
        first: the first word to read.
        count: how many words to read.
        packed: uint32 [word], written.
        first_bit: the bit of `packed` to begin with.
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
    """Return the bits of some blocks of a side without kings, uint8 [block * position].

    Args:
        packed: uint32 [word], the material's part of `lost` or `won`.
        numbers: int64 [block], the numbers of the blocks.
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
    """Set bits in `packed`, which are 0 so far: the inverse of `read_block_bits`.

    Other threads may write other blocks at the same time.

    Args:
        packed: uint32 [word], the material's part of `lost` or `won`.
        numbers: int64 [block], the numbers of the blocks.
        size: positions in a block.
        bits: uint8 [block * position], 0 or 1.
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
    """Return the numbers of blocks in their successor table.

    Args:
        men: int64 [block, 2], bit sets: men of the side that has just moved, and of the other side.
    """
    found = np.empty(len(men), np.int64)
    _write_block_numbers(men, found)
    return found
