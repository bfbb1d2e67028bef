"""Solving a slice together with its mirror, its blocks spread over threads."""

import threading
from collections.abc import Callable
from concurrent.futures import Executor, wait
from math import comb

import numpy as np
from numpy.typing import NDArray

from generator.afters import LONGEST_PLIES, Afters
from generator.blocks import EVENTS_FULL, Results, SideRoom, solve_blocks
from generator.errors import DistanceOverflowError
from generator.exits import ExitRoom, exit_room
from generator.menplacements import Blocks, blocks_of
from generator.spread import NOT_DECIDED, STRIP, TOO_LONG
from generator.subsets import Subsets, subsets
from tablebase.material import Material

# The work of one task: enough positions to hide what starting it costs.
_TASK_POSITIONS = 100_000
_WORD_ARRAYS = 10
_NO_LIMIT = LONGEST_PLIES


def _shape(kings: int, opponent_kings: int) -> tuple[int, int]:
    """Words and columns of a side to move in a block."""
    columns = comb(32, opponent_kings)
    return comb(32, max(kings - 1, 0)) * columns, columns


def _side_room(kings: int, opponent_kings: int, events_a_word: int) -> SideRoom:
    words, columns = _shape(kings, opponent_kings)
    events = words * events_a_word + 32
    return SideRoom(
        words=np.zeros((_WORD_ARRAYS, words), dtype=np.uint32),
        dtw=np.full(words * 32, NOT_DECIDED, dtype=np.uint8),
        dtc=np.full(words * 32, NOT_DECIDED, dtype=np.uint8),
        strips=np.zeros((3, -(-columns // STRIP)), dtype=np.uint8),
        event_first=np.full(256, -1, dtype=np.int32),
        event_next=np.zeros(events, dtype=np.int32),
        event_word=np.zeros(events, dtype=np.int32),
        event_lanes=np.zeros(events, dtype=np.uint32),
        event_count=np.zeros(1, dtype=np.int64),
    )


class Workshop:
    """One thread's room for the blocks of one material."""

    # A word of 32 lanes can hold 32 different distances, but hardly ever does: begin with less, grow where it fills.
    _EVENTS_A_WORD = 6

    def __init__(self, material: Material) -> None:
        self._material = material
        self._events_a_word = self._EVENTS_A_WORD
        self.exit_room: ExitRoom = exit_room()
        self.strip_room: NDArray[np.uint32] = np.zeros(3 * STRIP, dtype=np.uint32)
        self.rooms = self._make_rooms()

    def _make_rooms(self) -> tuple[SideRoom, SideRoom]:
        own, other = self._material.own_kings, self._material.other_kings
        return _side_room(own, other, self._events_a_word), _side_room(other, own, self._events_a_word)

    def grow(self) -> None:
        """Make more room for events."""
        self._events_a_word *= 2
        self.rooms = self._make_rooms()

    @staticmethod
    def size_in_bytes(material: Material) -> int:
        """Memory of one workshop as it begins."""
        shapes = (
            _shape(material.own_kings, material.other_kings),
            _shape(material.other_kings, material.own_kings),
        )
        a_word = 4 * _WORD_ARRAYS + 2 * 32 + 12 * Workshop._EVENTS_A_WORD
        return sum(words * a_word for words, _ in shapes)


def empty_results(material: Material) -> Results:
    """Room for the values of a slice."""
    count = material.positions
    return Results(np.empty(count, np.uint8), np.empty(count, np.uint8), np.empty(count, np.uint8))


def _tasks(blocks: Blocks, level: tuple[int, int], block_positions: int, jobs: int) -> list[tuple[int, int]]:
    """A level cut into runs of blocks."""
    first, last = level
    size = max(1, min(_TASK_POSITIONS // block_positions, -(-(last - first) // jobs)))
    return [(start, min(start + size, last)) for start in range(first, last, size)]


def solve(
    material: Material,
    afters: Afters,
    limit: int | None,
    executor: Executor,
    jobs: int,
    done: Callable[[int], None],
) -> tuple[Results, Results]:
    """Solve a material and its mirror; the values of both, the same object twice where the material is its own mirror.

    Args:
        material: what to solve; the after tables of all it leads to must be there.
        afters: the after tables; those of the material and its mirror are filled in.
        limit: plies of the 15-king-moves rule, None for no such rule.
        executor: threads to work in, `jobs` of them.
        jobs: how many tasks to make at the least where there is enough to do.
        done: called with a number of positions whenever that many more are solved.

    Raises:
        DistanceOverflowError: a distance does not fit the solver's scores.
    """
    kings, opponent_kings = material.own_kings, material.other_kings
    tables: Subsets = subsets(max(kings, opponent_kings), max(kings, opponent_kings, 1) - 1)
    own = empty_results(material)
    results = (own, own if material == material.mirror else empty_results(material.mirror))
    blocks = blocks_of(material)
    local = threading.local()

    def run(first: int, last: int) -> None:
        workshop: Workshop | None = getattr(local, "workshop", None)
        if workshop is None:
            workshop = local.workshop = Workshop(material)
        start = first
        while first < last:
            first, error = solve_blocks(
                first, last, blocks.men, blocks.turned_men, blocks.bases, kings, opponent_kings,
                _NO_LIMIT if limit is None else limit, tables, afters, workshop.exit_room, workshop.rooms,
                workshop.strip_room, results,
            )  # fmt: skip
            if error == EVENTS_FULL:
                workshop.grow()
            elif error == TOO_LONG:
                raise DistanceOverflowError(material, LONGEST_PLIES)
        solved = blocks.bases[start:last]
        done(material.block_size * int(np.count_nonzero(solved >= 0)))

    for level in blocks.levels:
        futures = [executor.submit(run, *task) for task in _tasks(blocks, level, 2 * material.block_size, jobs)]
        wait(futures)
        for future in futures:
            future.result()
    return results
