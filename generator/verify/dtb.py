"""The verifier's check of DTB: each stored value against counts that are derived anew.

When all values are compared, the DTB of a slice is the balance count that `generator.verify.two_counters`
derives. Those counts use nothing from the files but the outcomes without draw rules.

When a sample is compared, it is made of whole blocks, chosen at random. A man's step leads to another block,
and the DTB there is taken from the files. So each block can be derived alone. The outcomes under both counts
are checked with it.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from generator.verify.derive import ValueArrays, fill_captures, positions_at
from generator.verify.two_counters import NEVER, Map, TwoCounts, block_pairs, count_blocks
from tablebase.board.squares import ALL_SQUARES, LAST_ROW
from tablebase.kernels.bits import popcount, reverse
from tablebase.kernels.index import Layout, block_of, men_at
from tablebase.kernels.jit import kernel
from tablebase.kernels.movegen import DIRECTIONS, UP_LEFT, UP_RIGHT, has_capture, step

_CHUNK = 1 << 15  # positions a task


@dataclass(frozen=True, slots=True)
class WrongDtb:
    """A position whose stored values do not fit both counts.

    Attributes:
        slice_id: its slice.
        index: its index in the slice.
        needed: the plies of the balance count that it needs; NEVER if no number is enough.
        row: the row of `block_pairs` with its block.
    """

    slice_id: int
    index: int
    needed: int
    row: int


class DtbCheck:
    """Compares the stored DTB of a slice and of its mirror.

    Args:
        arena: the values of all slices.
        slice_id: the slice.
        mirror: its mirror: the same slice or the next one.
        king_limit: plies that kings may move in a row, from a fresh count.
        balance_limit: plies from one change of material to the next.
        stored: uint16, plies: what the files hold, in the order of the arena.
        run: maps a function over tasks: `map`, or `Executor.map`.
    """

    def __init__(
        self,
        arena: ValueArrays,
        slice_id: int,
        mirror: int,
        king_limit: int,
        balance_limit: int,
        stored: NDArray[np.uint16],
        run: Map,
    ) -> None:
        self._arena = arena
        self._pair = np.array([slice_id, mirror])
        self._king_limit = min(king_limit, NEVER - 1)
        self._balance_limit = balance_limit
        self._stored = stored
        self._run = run
        self._first = int(arena.layout.start[slice_id])

    def first_wrong(self, counts: TwoCounts) -> WrongDtb | None:
        """Return the first stored value that differs from the counts of the two slices, or None."""
        layout = self._arena.layout
        tasks = []
        for slice_id in dict.fromkeys(self._pair.tolist()):
            positions = int(layout.start[slice_id + 1] - layout.start[slice_id])
            tasks += [
                np.array([slice_id, first, min(first + _CHUNK, positions), 0])
                for first in range(0, positions, _CHUNK)
            ]
        return self._compare(tasks, counts.balance_needed)

    def first_wrong_of_sample(self, part: float, seed: int) -> WrongDtb | None:
        """Return a wrong stored value of a random part of the blocks, or None.

        At least one block is chosen. If one wrong value makes others wrong, that one is returned.
        """
        rows = block_pairs(self._arena.layout, *self._pair.tolist())
        size = max(1, math.ceil(part * len(rows)))
        random = np.random.default_rng((seed, int(self._pair[0])))
        chosen = np.sort(random.choice(len(rows), size, replace=False))
        # No number of plies within the limit decides these positions: mark them NEVER.
        decided = np.abs(self._arena.wdl[self._first : self._first + len(self._stored)]) == 2
        known = np.where(decided, self._stored, np.uint16(NEVER))
        wrong = self._wrong_of(rows, chosen, known)
        while wrong is not None:
            behind = _blocks_behind(self._arena.layout, self._pair, rows[wrong.row : wrong.row + 1])
            if self._pair[0] == self._pair[1]:
                behind |= behind[::-1].copy()
            behind[0, rows[wrong.row, 0]] = behind[1, rows[wrong.row, 1]] = False
            further = np.flatnonzero(behind[0, rows[:, 0]] | behind[1, rows[:, 1]])
            found = self._wrong_of(rows, further, known)
            if found is None:
                break
            wrong = found
        return wrong

    def _wrong_of(
        self, rows: NDArray[np.int64], chosen: NDArray[np.int64], known: NDArray[np.uint16]
    ) -> WrongDtb | None:
        """Return the first wrong value of the rows `chosen` of `block_pairs`, fewest steps of men left first.

        `known` has the stored DTB. The values of capture positions are written to it where they are needed.
        """
        arena, pair, first, run = self._arena, self._pair, self._first, self._run
        marked = _blocks_behind(arena.layout, pair, rows[chosen])

        def fill(task: NDArray[np.int64]) -> None:
            _fill_block(arena, int(task[0]), int(task[1]), first, known)

        def fill_promotions(task: NDArray[np.int64]) -> None:
            slice_id, block = task.tolist()
            size = int(arena.layout.block_size[slice_id])
            fill_captures(arena, slice_id, block * size, (block + 1) * size, False)

        for _ in run(fill_promotions, list(np.unique(_promoted(arena.layout, pair, rows[chosen]), axis=0))):
            pass
        for _ in run(fill, [np.array([pair[side], block]) for side, block in np.argwhere(marked)]):
            pass
        needed = known.copy()

        def count(row: NDArray[np.int64]) -> None:
            spans = [self._span(side, int(row[side])) for side in range(2)]
            before = [arena.wdl[span].copy() for span in spans]
            count_blocks(arena, pair, row.reshape(1, 3), self._king_limit, needed)
            for span, outcomes in zip(spans, before, strict=True):
                arena.wdl[span] = outcomes

        order = chosen[np.argsort(rows[chosen, 2], kind="stable")]
        for steps in np.unique(rows[order, 2]):
            # Blocks with equally many steps left do not lead to each other.
            for _ in run(count, list(rows[order[rows[order, 2] == steps]])):
                pass
        tasks = []
        for row in order.tolist():
            for side, slice_id in enumerate(pair.tolist()):
                size = int(arena.layout.block_size[slice_id])
                block = int(rows[row, side])
                tasks.append(np.array([slice_id, block * size, (block + 1) * size, row]))
        return self._compare(tasks, needed)

    def _span(self, side: int, block: int) -> slice:
        """Return the slots of a block of the slice (side 0) or of its mirror (side 1)."""
        slice_id = self._pair[side]
        size = int(self._arena.layout.block_size[slice_id])
        start = int(self._arena.layout.start[slice_id]) + block * size
        return slice(start, start + size)

    def _compare(self, tasks: list[NDArray[np.int64]], needed: NDArray[np.uint16]) -> WrongDtb | None:
        """Return the first wrong value of some tasks, or None.

        A task has four numbers: the slice, the first index, one more than the last index, and the row.
        """
        found = np.full(len(tasks), -1, np.int64)

        def look(task: NDArray[np.int64]) -> None:
            slice_id, first, last, _ = tasks[int(task[0])].tolist()
            found[task[0]] = _first_wrong(
                self._arena, slice_id, first, last, self._first, self._stored, needed, self._balance_limit
            )

        for _ in self._run(look, [np.array([task]) for task in range(len(tasks))]):
            pass
        indices = np.flatnonzero(found >= 0)
        if not len(indices):
            return None
        slice_id, _, _, row = tasks[indices[0]].tolist()
        index = int(found[indices[0]])
        slot = int(self._arena.layout.start[slice_id]) + index
        return WrongDtb(slice_id, index, int(needed[slot - self._first]), row)


@kernel
def _first_wrong(
    arena: ValueArrays,
    slice_id: int,
    first: int,
    last: int,
    pair_start: int,
    stored: NDArray[np.uint16],
    needed: NDArray[np.uint16],
    limit: int,
) -> int:
    """Return the first index from `first` to `last - 1` whose outcome or DTB differs from `needed`, or -1.

    Capture positions are skipped, as tables do not store them.
    """
    wdl = arena.wdl
    start = arena.layout.start[slice_id]
    positions = positions_at(arena.layout, slice_id, np.arange(first, last))
    for row in range(len(positions)):
        slot = start + first + row
        decided = abs(wdl[slot]) == 2
        here = needed[slot - pair_start]
        if decided == (here <= limit) and (not decided or stored[slot - pair_start] == here):
            continue
        sets = positions[row]
        if not has_capture(sets[0], sets[1], sets[2], sets[3]):
            return int(first + row)
    return -1


@kernel
def _blocks_behind(layout: Layout, pair: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which blocks some rows of `block_pairs` and one man's step from them reach.

    Returns:
        shape (2, blocks), bool: blocks of the slice, and of its mirror.
    """
    size = layout.block_size[pair[0]]
    found = np.zeros((2, (layout.start[pair[0] + 1] - layout.start[pair[0]]) // size), np.bool_)
    for row in range(len(rows)):
        own, other = men_at(layout, pair[0], rows[row, 0])
        found[0, rows[row, 0]] = found[1, rows[row, 1]] = True
        for side in range(2):
            mover, opponent = (own, other) if side == 0 else (reverse(other), reverse(own))
            free = ALL_SQUARES & ~(mover | opponent | LAST_ROW)
            for direction in (UP_LEFT, UP_RIGHT):
                targets = step(mover, direction) & free
                while targets != 0:
                    target = targets & -targets
                    targets ^= target
                    after = mover & ~step(target, DIRECTIONS - 1 - direction) | target
                    block = block_of(layout, pair[1 - side], reverse(opponent), reverse(after))
                    found[1 - side, block] = True
    return found


@kernel
def _promoted(layout: Layout, pair: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the blocks that promotions from some rows of `block_pairs` lead to.

    Returns:
        shape (n, 2), int64: slice and block.
    """
    found = np.empty((len(rows) * 16, 2), np.int64)  # each side has at most eight promotions
    count = 0
    for row in range(len(rows)):
        own, other = men_at(layout, pair[0], rows[row, 0])
        for side in range(2):
            mover, opponent = (own, other) if side == 0 else (reverse(other), reverse(own))
            mover_kings, opponent_kings = layout.counts[pair[side], 0], layout.counts[pair[side], 2]
            for direction in (UP_LEFT, UP_RIGHT):
                targets = step(mover, direction) & LAST_ROW & ~opponent
                while targets != 0:
                    target = targets & -targets
                    targets ^= target
                    after = mover & ~step(target, DIRECTIONS - 1 - direction)
                    slice_id = layout.number[
                        opponent_kings, popcount(opponent), mover_kings + 1, popcount(after)
                    ]
                    found[count, 0] = slice_id
                    found[count, 1] = block_of(layout, slice_id, reverse(opponent), reverse(after))
                    count += 1
    return found[:count]


@kernel
def _fill_block(
    arena: ValueArrays, slice_id: int, block: int, pair_start: int, known: NDArray[np.uint16]
) -> None:
    """Write the values of the capture positions of a block, and to `known` the balance count they need."""
    size = arena.layout.block_size[slice_id]
    first = block * size
    fill_captures(arena, slice_id, first, first + size, False)
    positions = positions_at(arena.layout, slice_id, np.arange(first, first + size))
    slot = arena.layout.start[slice_id] + first
    for row in range(size):
        sets = positions[row]
        if has_capture(sets[0], sets[1], sets[2], sets[3]):
            known[slot + row - pair_start] = 1 if abs(arena.wdl[slot + row]) == 2 else NEVER
