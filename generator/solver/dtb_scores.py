"""What men's steps lead to, by the plies to the next balance change: the scores of blocks of two advances.

A step of a man takes exactly one of the steps that a block's men have yet to go, and leads to the same
material. So the pass to the balance change asks only for the scores of blocks with one step less to go, and
those of all before can be let go. There are two *tiers* of blocks, the one in work and the one before it,
whatever the size of the material.

Score: p for a loss in p plies from before the move that leads there, 255 - p for a win in p, DRAWN for
neither, 0 for no position. The words are those of an after table (see generator/solver/successors.py), seen
by the side that has just moved. They stand block by block, in the order of `Blocks`; where a material is its
own mirror, the two sides of a block one after the other."""

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
    """The scores of a material or its mirror: those of the tier in work, those of the one before it, and the
    place of each block (by `block_number`) in its tier, in blocks. `lacking` [1] is not 0 once a position
    that is decided under the king-moves rule has turned out to have no DTB within the limit."""

    scores: NDArray[np.uint8]
    before: NDArray[np.uint8]
    places: NDArray[np.int32]
    lacking: NDArray[np.uint8]


NO_TIERS = ScoreTiers(
    np.zeros(0, np.uint8), np.zeros(0, np.uint8), np.zeros(0, np.int32), np.zeros(1, np.uint8)
)
"""Where no balance is counted."""


@kernel
def _put_places(men: NDArray[np.int64], first: int, stride: int, places: NDArray[np.int32]) -> None:
    for block in range(len(men)):
        places[block_number(men[block, 0], men[block, 1])] = first + block * stride


@inner
def begin_balance_scores(side: Side, tiers: ScoreTiers) -> None:
    """Find the places of a batch's blocks, and take away the scores of a tier long past that stand there."""
    words, starts = side.rows * side.columns, side.balance_start
    men, opponent_men = side.men, side.opponent_men
    scores, places = tiers.scores, tiers.places
    for block in range(side.blocks):
        start = signed(places[block_number(men[block], opponent_men[block])]) * words * 32
        starts[block] = start
        scores[start : start + words * 32] = 0


class DtbScores:
    """The scores of a material and its mirror, tier by tier.

    Args:
        pair: the material; both sides have kings, and there are men.
        blocks: its blocks.
        memory: where large arrays come from.
    """

    def __init__(self, pair: Material, blocks: Blocks, memory: Memory) -> None:
        self._memory = memory
        self._blocks = blocks
        self._sides = [pair] if pair == pair.mirror else [pair, pair.mirror]
        self._tier_of = blocks.steps_to_go
        self._sizes: Counter[int] = Counter()
        for (first, end), tier in zip(blocks.runs, self._tier_of, strict=True):
            self._sizes[tier] += end - first
        self._stride = 3 - len(self._sides)  # the blocks of a material that is its own mirror come in twos
        places = comb(28, pair.own_men) * comb(28, pair.other_men)
        self._places = [np.zeros(places, np.int32) for _ in self._sides]
        self._rooms = [[self._room(side) for side in self._sides] for _ in range(2)]
        self._lacking = np.zeros(1, np.uint8)

    def _room(self, side: Material) -> NDArray[np.uint8]:
        most = max(self._sizes.values()) * self._stride
        room: NDArray[np.uint8] = self._memory.zeros(most * words_in_block(side) * 32, np.uint8)
        self._memory.reserve_disk(room)
        return room

    def of_run(self, number: int) -> tuple[ScoreTiers, ScoreTiers]:
        """For both sides, what the blocks of a run ask for and put down. Runs come in their order."""
        first, end = self._blocks.runs[number]
        tier = self._tier_of[number]
        first_of_tier = self._blocks.runs[self._tier_of.index(tier)][0]
        placed = self._blocks.place(first, end)
        for s, men in enumerate((placed.men, placed.turned_men)):
            start = (first - first_of_tier) * self._stride + s * (self._stride - 1)
            _put_places(men, start, self._stride, self._places[s % len(self._sides)])
        rooms, last = self._rooms[tier % 2], self._rooms[(tier - 1) % 2]
        tiers = [ScoreTiers(*each, self._lacking) for each in zip(rooms, last, self._places, strict=True)]
        return tiers[0], tiers[-1]

    def parts(self, number: int, first: int, end: int) -> list[NDArray[np.uint8]]:
        """The scores of the blocks `first` to `end` - 1 of a run: of the material and of its mirror, or of
        both in one where they are the same. They stand until the tier after the next is begun."""
        tier = self._tier_of[number]
        first_of_tier = self._blocks.runs[self._tier_of.index(tier)][0]
        begin, last = ((block - first_of_tier) * self._stride for block in (first, end))
        words = [words_in_block(side) * 32 for side in self._sides]
        rooms = self._rooms[tier % 2]
        return [room[begin * size : last * size] for room, size in zip(rooms, words, strict=True)]

    @property
    def lacking(self) -> bool:
        """Whether some position that is decided under the king-moves rule has no DTB within the limit."""
        return bool(self._lacking[0])

    def free(self) -> None:
        """Give back the memory."""
        self._memory.free(array for rooms in self._rooms for array in rooms)


def balance_bytes(pair: Material) -> int:
    """Memory of the scores of a material and its mirror while they are solved, about."""
    sides = [pair] if pair == pair.mirror else [pair, pair.mirror]
    return sum(2 * _largest_tier(pair) * words_in_block(side) * 32 for side in sides)


def _largest_tier(pair: Material) -> int:
    """Placements of the men with equally many steps to go, at most (as if both sides' men could share
    squares)."""
    tiers = np.convolve(_sets_by_steps(pair.own_men), _sets_by_steps(pair.other_men))
    return int(tiers.max())


def _sets_by_steps(men: int) -> NDArray[np.int64]:
    """How many sets of so many men there are, by the steps that they have to go in all."""
    found: NDArray[np.int64] = np.zeros((men + 1, 7 * men + 1), np.int64)  # by men, steps
    found[0, 0] = 1
    for steps in (to_go for to_go in range(1, 8) for _ in range(4)):
        for size in range(men, 0, -1):
            found[size, steps:] += found[size - 1, : found.shape[1] - steps]
    of_all: NDArray[np.int64] = found[men]
    return of_all
