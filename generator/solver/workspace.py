"""The workspace of a thread: its buffers while it solves the blocks of one material."""

from math import comb

import numpy as np
from numpy.typing import NDArray

from generator.errors import DistanceOverflowError
from generator.solver.captures import capture_work
from generator.solver.events import EVENTS_FULL
from generator.solver.passes import DTC_TOO_LONG, TOO_LONG
from generator.solver.results import LONGEST_DTC, NOT_DECIDED
from generator.solver.side import STRIP, SideBuffers, strip_buffer
from generator.solver.successors import LONGEST_PLIES, empty_exceptions
from tablebase.board.material import Material

# A batch has about this many words, which fit the second-level cache, or one block if it has more.
_BATCH_WORDS = 2048
_WORD_ARRAYS = 13


def _shape(kings: int, opponent_kings: int) -> tuple[int, int]:
    """Return the words and columns of a side to move in a block."""
    columns = comb(32, opponent_kings)
    return comb(32, max(kings - 1, 0)) * columns, columns


def _is_self_mirrored(material: Material) -> bool:
    """Whether the only block of a material is its own mirror, so that one side is all there is to solve."""
    return material == material.mirror and not material.men


def batch_size(material: Material) -> int:
    """Return how many blocks a batch has."""
    words = (
        _shape(material.own_kings, material.other_kings)[0]
        + _shape(material.other_kings, material.own_kings)[0]
    )
    return max(1, min(_BATCH_WORDS // words, material.blocks))


def _side_buffers(
    kings: int, opponent_kings: int, blocks: int, events_a_word: int, with_scores: bool, with_dtb: bool
) -> SideBuffers:
    """Allocate the buffers of one side for a batch of `blocks` blocks."""
    words, columns = _shape(kings, opponent_kings)
    words *= blocks
    lanes = 32 if kings else 1
    strips = blocks * -(-columns // STRIP)
    # No pass admits events if a side has no kings.
    events = 0
    if kings and opponent_kings and (with_scores or with_dtb):
        events = words * events_a_word + 32
    return SideBuffers(
        starts=np.zeros((6, blocks), dtype=np.int64),
        words=np.zeros((_WORD_ARRAYS, words), dtype=np.uint32),
        unruled=np.zeros((2, 0 if with_scores else words), dtype=np.uint32),
        value=np.full(words * lanes, NOT_DECIDED, dtype=np.uint8),
        dtw=np.full(words * lanes if with_scores else 0, NOT_DECIDED, dtype=np.uint8),
        dtb=np.full(words * lanes if with_dtb else 0, NOT_DECIDED, dtype=np.uint8),
        strips=np.zeros((2, strips), dtype=np.uint8),
        touched=np.zeros(strips * (words // (blocks * columns)), dtype=np.uint8),
        event_first=np.full(256, -1, dtype=np.int32),
        event_next=np.zeros(events, dtype=np.int32),
        event_word=np.zeros(events, dtype=np.int32),
        event_lanes=np.zeros(events, dtype=np.uint32),
    )


class Workspace:
    """One thread's buffers for the blocks of one material.

    Args:
        material: the material.
        with_dtb: whether there is a DTB pass.
        with_scores: whether DTW is solved.
    """

    # A word of 32 lanes can have 32 different distances, but rarely has: begin with less, grow when full.
    _EVENTS_A_WORD = 6

    def __init__(self, material: Material, with_dtb: bool = False, with_scores: bool = True) -> None:
        self._material = material
        self._with_dtb = with_dtb
        self._with_scores = with_scores
        self.exceptions = empty_exceptions(0)
        self._events_a_word = self._EVENTS_A_WORD
        self.capture_work: NDArray[np.int64] = capture_work()
        self.strip_buffer: NDArray[np.uint32] = strip_buffer()
        self.buffers = self._allocate_buffers()

    def _allocate_buffers(self) -> tuple[SideBuffers, SideBuffers]:
        own, other = self._material.own_kings, self._material.other_kings
        blocks = batch_size(self._material)
        wanted = self._events_a_word, self._with_scores, self._with_dtb
        buffers = _side_buffers(own, other, blocks, *wanted)
        return buffers, buffers if _is_self_mirrored(self._material) else _side_buffers(
            other, own, blocks, *wanted
        )

    def grow_events(self) -> None:
        """Double the space for events."""
        self._events_a_word *= 2
        self.buffers = self._allocate_buffers()

    def grow_exceptions(self, count: int) -> None:
        """Make space for at least `count` words that are different without draw rules."""
        self.exceptions = empty_exceptions(max(count, 2 * len(self.exceptions.words)))

    @staticmethod
    def size_in_bytes(material: Material, with_dtb: bool = True, with_scores: bool = True) -> int:
        """Return the memory of a new workspace in bytes."""
        shapes: tuple[tuple[int, int], ...] = (
            _shape(material.own_kings, material.other_kings),
            _shape(material.other_kings, material.own_kings),
        )
        shapes = shapes[:1] if _is_self_mirrored(material) else shapes
        a_word = 4 * _WORD_ARRAYS + 1 + 32 + (32 if with_scores else 8) + (96 if with_dtb else 0)
        if with_scores or with_dtb:
            a_word += 12 * Workspace._EVENTS_A_WORD
        return batch_size(material) * sum(words * a_word for words, _ in shapes)


def retry_with_more_space(workspace: Workspace, found: int, material: Material) -> bool:
    """Whether a batch must be solved again. If so, the workspace is larger now.

    Args:
        workspace: the workspace that the batch was solved in.
        found: what `solve_batch` has returned.
        material: the material of the batch.

    Raises:
        DistanceOverflowError: a distance does not fit the solver.
    """
    if found == TOO_LONG:
        raise DistanceOverflowError(material, "win", LONGEST_PLIES)
    if found == DTC_TOO_LONG:
        raise DistanceOverflowError(material, "DTC", LONGEST_DTC)
    if found == EVENTS_FULL:
        workspace.grow_events()
    elif found > len(workspace.exceptions.words):
        workspace.grow_exceptions(found)
    else:
        return False
    return True
