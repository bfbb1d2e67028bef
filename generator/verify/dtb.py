"""The part of verification that looks at DTB: every stored one against the counts worked out anew.

All values: a slice's DTB is what `generator.verify.two_counters` needs of the balance, which takes nothing
    from the
files but who wins on the board. A part of them: whole blocks, chosen at random. Men's steps leave a block,
and their DTB is taken from the files, so that each block can be worked out alone; the outcomes under both
counts at once come with it.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.verify.derive import ValueArrays, fill_captures, positions_at
from generator.verify.two_counters import NEVER, Map, TwoCounts, count_blocks, joined_blocks
from tablebase.board.squares import ALL_SQUARES, LAST_ROW
from tablebase.kernels.bits import popcount, reverse
from tablebase.kernels.index import Layout, block_of, men_at
from tablebase.kernels.jit import kernel
from tablebase.kernels.movegen import DIRECTIONS, UP_LEFT, UP_RIGHT, has_capture, step

_CHUNK = 1 << 15  # positions a task


class WrongDtb(NamedTuple):
    """A position whose stored values do not keep both counts.

    Attributes:
        number: of its slice.
        place: its index in the slice.
        needed: plies of the balance that it needs; NEVER where none are enough.
        row: of `joined_blocks`, the block it stands in.
    """

    number: int
    place: int
    needed: int
    row: int


class DtbCheck:
    """The stored DTB of a slice and its mirror.

    Args:
        arena: the values of all slices.
        which: the number of the slice.
        mirror: that of its mirror, the same or the next one.
        king_limit: plies that kings may move in a row, from a fresh count.
        balance_limit: plies from one change of balance to the next.
        stored: uint16: what the files hold, in the order of the arena.
        run: how to do many things: `map`, or that of a pool of threads.
    """

    def __init__(
        self,
        arena: ValueArrays,
        which: int,
        mirror: int,
        king_limit: int,
        balance_limit: int,
        stored: NDArray[np.uint16],
        run: Map,
    ) -> None:
        self._arena = arena
        self._pair = np.array([which, mirror])
        self._king_limit = min(king_limit, NEVER - 1)
        self._balance_limit = balance_limit
        self._stored = stored
        self._run = run
        self._first = int(arena.layout.start[which])

    def first_wrong(self, counts: TwoCounts) -> WrongDtb | None:
        """The first stored value that is not what the counts of the two slices make it."""
        layout = self._arena.layout
        tasks = []
        for number in dict.fromkeys(self._pair.tolist()):
            positions = int(layout.start[number + 1] - layout.start[number])
            tasks += [
                np.array([number, first, min(first + _CHUNK, positions), 0])
                for first in range(0, positions, _CHUNK)
            ]
        return self._compare(tasks, counts.balance_needed)

    def first_wrong_of_sample(self, part: float, seed: int) -> WrongDtb | None:
        """The same for a part of the blocks, one at least, chosen at random. Of several values that one wrong
        one makes wrong, this one."""
        rows = joined_blocks(self._arena.layout, *self._pair.tolist())
        size = max(1, math.ceil(part * len(rows)))
        random = np.random.default_rng((seed, int(self._pair[0])))
        chosen = np.sort(random.choice(len(rows), size, replace=False))
        # What is not decided now is by no number of plies within the limit, or by none at all.
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
        """The first wrong value of some blocks, fewer steps of their men left first. `known`: the stored DTB,
        in which positions with a capture are filled in where they are looked at."""
        arena, pair, first, run = self._arena, self._pair, self._first, self._run
        marked = _blocks_behind(arena.layout, pair, rows[chosen])

        def fill(task: NDArray[np.int64]) -> None:
            _fill_block(arena, int(task[0]), int(task[1]), first, known)

        def fill_promotions(task: NDArray[np.int64]) -> None:
            number, block = task.tolist()
            size = int(arena.layout.block_size[number])
            fill_captures(arena, number, block * size, (block + 1) * size, False)

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
            # Blocks with as many steps left do not lead to each other.
            for _ in run(count, list(rows[order[rows[order, 2] == steps]])):
                pass
        tasks = []
        for row in order.tolist():
            for side, number in enumerate(pair.tolist()):
                size = int(arena.layout.block_size[number])
                block = int(rows[row, side])
                tasks.append(np.array([number, block * size, (block + 1) * size, row]))
        return self._compare(tasks, needed)

    def _span(self, side: int, block: int) -> slice:
        """The slots of a block of either slice."""
        number = self._pair[side]
        size = int(self._arena.layout.block_size[number])
        start = int(self._arena.layout.start[number]) + block * size
        return slice(start, start + size)

    def _compare(self, tasks: list[NDArray[np.int64]], needed: NDArray[np.uint16]) -> WrongDtb | None:
        """The first wrong value among the positions of `tasks`: number of the slice, first index, the one
        after the last, row."""
        found = np.full(len(tasks), -1, np.int64)

        def look(task: NDArray[np.int64]) -> None:
            number, first, last, _ = tasks[int(task[0])].tolist()
            found[task[0]] = _first_wrong(
                self._arena, number, first, last, self._first, self._stored, needed, self._balance_limit
            )

        for _ in self._run(look, [np.array([task]) for task in range(len(tasks))]):
            pass
        places = np.flatnonzero(found >= 0)
        if not len(places):
            return None
        number, _, _, row = tasks[places[0]].tolist()
        index = int(found[places[0]])
        slot = int(self._arena.layout.start[number]) + index
        return WrongDtb(number, index, int(needed[slot - self._first]), row)


@kernel
def _first_wrong(
    arena: ValueArrays,
    which: int,
    first: int,
    last: int,
    pair_start: int,
    stored: NDArray[np.uint16],
    needed: NDArray[np.uint16],
    limit: int,
) -> int:
    """The first index of `first` to `last` (without it) of a slice whose outcome or DTB is not what it needs;
    -1 if there is none. Positions with a capture are not stored."""
    wdl = arena.wdl
    start = arena.layout.start[which]
    positions = positions_at(arena.layout, which, np.arange(first, last))
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
    """The blocks of a slice and of its mirror that some of `joined_blocks` and one step of a man from them
    reach: bool (2, blocks)."""
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
    """Where promotions from some of `joined_blocks` lead: int64 (n, 2), slices and their blocks."""
    found = np.empty((len(rows) * 16, 2), np.int64)  # eight ways to the last row for either side
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
                    which = layout.number[
                        opponent_kings, popcount(opponent), mover_kings + 1, popcount(after)
                    ]
                    found[count, 0] = which
                    found[count, 1] = block_of(layout, which, reverse(opponent), reverse(after))
                    count += 1
    return found[:count]


@kernel
def _fill_block(
    arena: ValueArrays, which: int, block: int, pair_start: int, known: NDArray[np.uint16]
) -> None:
    """Fill in the positions with a capture of a block: their values, and in `known` the plies of the balance
    that they need."""
    size = arena.layout.block_size[which]
    first = block * size
    fill_captures(arena, which, first, first + size, False)
    positions = positions_at(arena.layout, which, np.arange(first, first + size))
    slot = arena.layout.start[which] + first
    for row in range(size):
        sets = positions[row]
        if has_capture(sets[0], sets[1], sets[2], sets[3]):
            known[slot + row - pair_start] = 1 if abs(arena.wdl[slot + row]) == 2 else NEVER
