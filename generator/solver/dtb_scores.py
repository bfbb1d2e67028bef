"""DTB scores: plies to the next change of material after a man's step, for blocks of two advances.

A step of a man makes exactly one of the steps that a block's men have yet to make, and keeps the material. So
the DTB pass reads only scores of blocks with one step less to go. All earlier scores can be overwritten.
There are two *tiers* of blocks, the current one and the one before it, whatever the size of the material.

A score is p for a loss in p plies from before the move, 255 - p for a win in p plies, DRAWN for neither, and
0 for no position. The words are those of a successor table (generator/solver/successors.py), seen by the side
that has just moved. They are in order of `Blocks`; if a material is its own mirror, the two sides of a block
follow each other.
"""

from collections import Counter
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.memory import Memory
from generator.solver.blocks import Blocks
from generator.solver.side import Side
from generator.solver.successors import block_number, words_in_block
from tablebase.board.material import Material
from tablebase.kernels.bits import signed
from tablebase.kernels.jit import inner, kernel


class ScoreTiers(NamedTuple):
    """DTB scores of a material or of its mirror.

    Attributes:
        scores: uint8 [score], of the current tier.
        before: uint8 [score], of the tier before it.
        slots: int32 [block number], the slot of each block in its tier, in blocks.
        has_unresolved: uint8 [1], not 0 if a position that is decided under the king-moves rule has no DTB
            within the limit.
    """

    scores: NDArray[np.uint8]
    before: NDArray[np.uint8]
    slots: NDArray[np.int32]
    has_unresolved: NDArray[np.uint8]


NO_TIERS = ScoreTiers(
    np.zeros(0, np.uint8), np.zeros(0, np.uint8), np.zeros(0, np.int32), np.zeros(1, np.uint8)
)
"""The tiers of a material without a DTB pass."""


@kernel
def _write_slots(men: NDArray[np.int64], first: int, stride: int, slots: NDArray[np.int32]) -> None:
    """Write the slots of blocks with these men, from `first` on."""
    for block in range(len(men)):
        slots[block_number(men[block, 0], men[block, 1])] = first + block * stride


@inner
def init_dtb_scores(side: Side, tiers: ScoreTiers) -> None:
    """Find the slots of a batch's blocks, and clear the scores of an earlier tier there."""
    words, starts = side.rows * side.columns, side.dtb_score_start
    men, opponent_men = side.men, side.opponent_men
    scores, slots = tiers.scores, tiers.slots
    for block in range(side.blocks):
        start = signed(slots[block_number(men[block], opponent_men[block])]) * words * 32
        starts[block] = start
        scores[start : start + words * 32] = 0


class DtbScores:
    """DTB scores of a material and its mirror, tier by tier.

    Args:
        pair: the material; both sides have kings, and there are men.
        blocks: its blocks.
        memory: allocates large arrays.
    """

    def __init__(self, pair: Material, blocks: Blocks, memory: Memory) -> None:
        self._memory = memory
        self._blocks = blocks
        self._sides = [pair] if pair == pair.mirror else [pair, pair.mirror]
        self._tier_of = blocks.steps_to_go
        self._sizes: Counter[int] = Counter()
        for (first, end), tier in zip(blocks.runs, self._tier_of, strict=True):
            self._sizes[tier] += end - first
        self._stride = 3 - len(self._sides)  # both sides of a block, if the material is its own mirror
        slots = comb(28, pair.own_men) * comb(28, pair.other_men)
        self._slots = [np.zeros(slots, np.int32) for _ in self._sides]
        self._buffers = [[self._allocate(side) for side in self._sides] for _ in range(2)]
        self._has_unresolved = np.zeros(1, np.uint8)

    def _allocate(self, side: Material) -> NDArray[np.uint8]:
        """Allocate the scores of one tier of a side."""
        most = max(self._sizes.values()) * self._stride
        array: NDArray[np.uint8] = self._memory.zeros(most * words_in_block(side) * 32, np.uint8)
        self._memory.reserve_disk(array)
        return array

    def tiers_of_run(self, number: int) -> tuple[ScoreTiers, ScoreTiers]:
        """Return the score arrays that the blocks of run `number` read and write, one `ScoreTiers` per side.

        Call this in order of the runs.
        """
        first, end = self._blocks.runs[number]
        tier = self._tier_of[number]
        first_of_tier = self._blocks.runs[self._tier_of.index(tier)][0]
        placed = self._blocks.place(first, end)
        for s, men in enumerate((placed.men, placed.turned_men)):
            start = (first - first_of_tier) * self._stride + s * (self._stride - 1)
            _write_slots(men, start, self._stride, self._slots[s % len(self._sides)])
        arrays, last = self._buffers[tier % 2], self._buffers[(tier - 1) % 2]
        tiers = [
            ScoreTiers(*each, self._has_unresolved) for each in zip(arrays, last, self._slots, strict=True)
        ]
        return tiers[0], tiers[-1]

    def parts(self, number: int, first: int, end: int) -> list[NDArray[np.uint8]]:
        """Return the scores of the blocks `first` to `end` - 1 of a run; valid for this tier and the next.

        There are two arrays, of the material and of its mirror; or one, if the material is its own mirror.
        """
        tier = self._tier_of[number]
        first_of_tier = self._blocks.runs[self._tier_of.index(tier)][0]
        begin, last = ((block - first_of_tier) * self._stride for block in (first, end))
        words = [words_in_block(side) * 32 for side in self._sides]
        arrays = self._buffers[tier % 2]
        return [array[begin * size : last * size] for array, size in zip(arrays, words, strict=True)]

    @property
    def has_unresolved(self) -> bool:
        """Whether a position that is decided under the king-moves rule has no DTB within the limit."""
        return bool(self._has_unresolved[0])

    def free(self) -> None:
        """Free the memory of the scores."""
        self._memory.free(array for arrays in self._buffers for array in arrays)


def dtb_score_bytes(pair: Material) -> int:
    """Return about how many bytes the DTB scores of a material and its mirror take while they are solved."""
    sides = [pair] if pair == pair.mirror else [pair, pair.mirror]
    return sum(2 * _largest_tier(pair) * words_in_block(side) * 32 for side in sides)


def _largest_tier(pair: Material) -> int:
    """Return an upper bound of the blocks of one advance, as if men of both sides could share squares."""
    tiers = np.convolve(_sets_by_steps(pair.own_men), _sets_by_steps(pair.other_men))
    return int(tiers.max())


def _sets_by_steps(men: int) -> NDArray[np.int64]:
    """Return how many sets of `men` men there are, int64 by the steps that they have yet to make."""
    found: NDArray[np.int64] = np.zeros((men + 1, 7 * men + 1), np.int64)  # [men, steps]
    found[0, 0] = 1
    for steps in (to_go for to_go in range(1, 8) for _ in range(4)):
        for size in range(men, 0, -1):
            found[size, steps:] += found[size - 1, : found.shape[1] - steps]
    of_all: NDArray[np.int64] = found[men]
    return of_all
