"""The verifier's own derivation of outcomes under two counts: king moves and material balance.

A position has some plies of king moves left, which captures and men's moves reset. It has some plies left to
the next change of material, which only captures and promotions reset. The winner needs a strategy in which
neither count runs out. The next zeroing move comes no later than the last ply of the first count. The next
change of material comes no later than the last ply of the second. The end of the game stands for either.

Changes of material lead to other slices, which have values of their own. So the second count runs inside a
slice and its mirror, and the first inside a block. Blocks are taken with fewer steps of men left first, and
with more and more plies left to the change of material. This derives

    need(p, b) = the fewest plies of king moves left with which p is decided when b plies of balance are left

from need(., b - 1) of p's successors:

- 1 more after a king move;
- 1 after a man's step, if the successor is decided with a fresh count of king moves;
- 1 after a capture or a promotion that leads to the right stored outcome.

The winner takes the least of these, the loser the greatest. For unlimited b this gives the outcome under the
count of king moves alone, and its DTC.

Moves come from `tablebase.kernels.movegen`, as in the rest of the verifier. From the values of the slice
itself only the outcomes without draw rules are used. Nothing is shared with the solver, which works backwards
(Thompson's retrograde analysis).
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.verify.derive import ValueArrays, positions_at
from tablebase.board.material import Material
from tablebase.board.squares import ALL_SQUARES
from tablebase.kernels.bits import popcount, reverse, signed
from tablebase.kernels.index import Layout, block_of, inside_block, men_at, slot_of
from tablebase.kernels.jit import inlined, kernel
from tablebase.kernels.movegen import BUFFER_ROWS, count_quiet_moves, has_capture, quiet_moves
from tablebase.rules.rulesets import Ruleset

NEVER = np.iinfo(np.uint16).max
"""In place of plies: no number is enough."""

_TASK_POSITIONS = 50_000

_SETTLED, _WINS, _LOSES = range(3)
"""The task for a position: none, its best move, or whether all its moves lose."""

Map = Callable[[Callable[[NDArray[np.int64]], None], Iterable[NDArray[np.int64]]], Iterator[None]]
"""Applies a function to each of many arguments, perhaps in threads, like `Executor.map`."""


def balance_plies(material: Material, ruleset: Ruleset) -> int | None:
    """Return the plies that the rules allow between changes of material; None if not counted."""
    return ruleset.balance_plies(material.pieces) if material.own_kings and material.other_kings else None


def king_plies(material: Material, ruleset: Ruleset) -> int | None:
    """Return the plies that kings may move in a row from fresh counters, or None without a limit.

    In a slice without men, each king move also counts for the material balance.
    """
    limits = [ruleset.king_moves_plies, None if material.men else balance_plies(material, ruleset)]
    return min((plies for plies in limits if plies is not None), default=None)


class TwoCounts(NamedTuple):
    """Counts of a slice and its mirror, in the order of the arena.

    Attributes:
        first: the slot of the first position.
        balance_needed: shape (positions,), uint16: the fewest plies left to the next change of material with
            which the position is won or lost, its count of king moves fresh. NEVER if no number is enough.
        stored: shape (positions,), int8: the stored outcomes.
    """

    first: int
    balance_needed: NDArray[np.uint16]
    stored: NDArray[np.int8]

    def wrong(self, limit: int) -> NDArray[np.int64]:
        """Return the slots with a wrong outcome for `limit` plies between changes of material."""
        differs = (np.abs(self.stored) == 2) != (self.balance_needed <= limit)
        return np.flatnonzero(differs) + self.first

    def changed(self, limit: int) -> NDArray[np.int64]:
        """Return the slots of positions that the count of king moves decides, but not both counts.

        `limit` is the number of plies between changes of material.
        """
        needed = self.balance_needed
        return np.flatnonzero((needed != NEVER) & (needed > limit)) + self.first

    def restore(self, arena: ValueArrays) -> None:
        """Write the stored outcomes back to the arena."""
        arena.wdl[self.first : self.first + len(self.stored)] = self.stored


def count_together(arena: ValueArrays, slice_id: int, mirror: int, limit: int, run: Map) -> TwoCounts:
    """Derive both counts for a slice and its mirror.

    Afterwards the arena has the outcomes under the count of king moves alone. A cursed win or blessed loss of
    the two slices becomes a win or loss, with its DTC, if this count allows it. Outcomes after a capture or
    promotion are those of fresh positions under all rules.

    Args:
        arena: the values, with those of capture positions. Values of smaller slices, and of slices with fewer
            men, are assumed to be right. For the two slices, outcomes without draw rules are assumed to be
            right.
        slice_id: the slice.
        mirror: its mirror: the same slice or the next one.
        limit: plies that kings may move in a row, from a fresh count.
        run: maps a function over tasks: `map`, or `Executor.map`.

    Returns:
        The counts.
    """
    layout = arena.layout
    first, end = int(layout.start[slice_id]), int(layout.start[mirror + 1])
    stored = arena.wdl[first:end].copy()
    needed = np.full(end - first, NEVER, np.uint16)
    blocks = block_pairs(layout, slice_id, mirror)
    pair = np.array([slice_id, mirror])
    limit = min(limit, NEVER - 1)

    def count(some: NDArray[np.int64]) -> None:
        count_blocks(arena, pair, some, limit, needed)

    a_task = max(1, _TASK_POSITIONS // int(layout.block_size[pair].sum()))
    # A man's step leads to a block with fewer steps left: blocks with equally many do not lead to each other.
    for steps in np.unique(blocks[:, 2]):
        alike = blocks[blocks[:, 2] == steps]
        for _ in run(count, [alike[start : start + a_task] for start in range(0, len(alike), a_task)]):
            pass
    return TwoCounts(first, needed, stored)


@kernel
def block_pairs(layout: Layout, slice_id: int, mirror: int) -> NDArray[np.int64]:
    """Return each block of a slice with the block of the mirror that king moves join it to.

    Returns:
        shape (n, 3), int64: block of the slice, block of the mirror, steps that their men have left. In a
        slice that is its own mirror, each pair comes once.
    """
    count = (layout.start[slice_id + 1] - layout.start[slice_id]) // layout.block_size[slice_id]
    out = np.empty((count, 3), np.int64)
    rows = 0
    for block in range(count):
        own_men, other_men = men_at(layout, slice_id, block)
        turned = block_of(layout, mirror, reverse(other_men), reverse(own_men))
        if slice_id == mirror and turned < block:
            continue
        out[rows, 0] = block
        out[rows, 1] = turned
        out[rows, 2] = _steps(own_men) + _steps(reverse(other_men))
        rows += 1
    return out[:rows]


@inlined
def _steps(men: int) -> int:
    steps = 0
    for row in range(8):
        steps += (7 - row) * popcount(men >> 4 * row & 15)
    return steps


class _BlockPair(NamedTuple):
    """The positions of a block, then those of its block in the mirror, and the king moves between them.

    Attributes:
        slots: shape (2,), int64: the first slot of each block in the arena.
        begin: shape (3,), int64: the first position of each block among these positions, then their number.
        task: shape (positions,), uint8: what is to be found for each position.
        exit_plies: shape (positions,), uint16: the plies left to the change of material with which moves
            other than king moves decide. For a winner one such move wins; NEVER without one. For a loser all
            such moves lose; 0 without one.
        links: shape (positions + 1,), int64: where the king moves of each position begin in `after`, then
            their number.
        after: shape (moves,), int32: the position after each king move.
    """

    slots: NDArray[np.int64]
    begin: NDArray[np.int64]
    task: NDArray[np.uint8]
    exit_plies: NDArray[np.uint16]
    links: NDArray[np.int64]
    after: NDArray[np.int32]


@kernel
def count_blocks(
    arena: ValueArrays,
    pair: NDArray[np.int64],
    blocks: NDArray[np.int64],
    limit: int,
    needed: NDArray[np.uint16],
) -> None:
    """Derive both counts for some pairs of blocks, as `count_together` does.

    The blocks that men's steps lead to must have their counts already.

    Args:
        arena: the values; those of the blocks change as in `count_together`.
        pair: shape (2,), int64: the slice and its mirror.
        blocks: shape (n, 3), int64: rows of `block_pairs`.
        limit: plies that kings may move in a row, from a fresh count.
        needed: shape (positions of both slices,), uint16, plies: the balance counts; those of the blocks are
            written.
    """
    first = arena.layout.start[pair[0]]
    buffer = np.empty((BUFFER_ROWS, 4), np.int64)
    for row in range(len(blocks)):
        block = _block_pair(arena, pair, blocks[row], needed, buffer)
        need, least = _count_plies(block, limit)
        for side in range(2):
            for index in range(block.begin[side], block.begin[side + 1]):
                slot = block.slots[side] + index - block.begin[side]
                needed[slot - first] = least[index]
                if abs(arena.wdl[slot]) == 1 and need[index] != NEVER:
                    arena.wdl[slot] *= 2
                    if arena.dtc.size > 1:
                        arena.dtc[slot] = need[index]


@kernel
def _block_pair(
    arena: ValueArrays,
    pair: NDArray[np.int64],
    numbers: NDArray[np.int64],
    needed: NDArray[np.uint16],
    buffer: NDArray[np.int64],
) -> _BlockPair:
    layout = arena.layout
    slots = np.empty(2, np.int64)
    begin = np.zeros(3, np.int64)
    for side in range(2):
        size = layout.block_size[pair[side]]
        slots[side] = layout.start[pair[side]] + numbers[side] * size
        begin[side + 1] = begin[side] + size
    sides = (
        _positions_of(layout, pair[0], numbers[0]),
        _positions_of(layout, pair[1], numbers[1]),
    )
    task = np.zeros(begin[2], np.uint8)
    moves = 0
    for side in range(2):
        moves += _classify(arena, sides[side], slots[side], task[begin[side] : begin[side + 1]])
    exit_plies = np.zeros(begin[2], np.uint16)
    links = np.zeros(begin[2] + 1, np.int64)
    block = _BlockPair(slots, begin, task, exit_plies, links, np.empty(moves, np.int32))
    for side in range(2):
        _link_king_moves(arena, pair, sides[side], side, needed, block, buffer)
    return block


@inlined
def _positions_of(layout: Layout, slice_id: int, number: int) -> NDArray[np.int64]:
    size = layout.block_size[slice_id]
    return positions_at(layout, slice_id, np.arange(number * size, (number + 1) * size))


@inlined
def _classify(arena: ValueArrays, positions: NDArray[np.int64], slot: int, task: NDArray[np.uint8]) -> int:
    """Write the task of each position of a block, from `slot` on.

    Returns:
        The number of moves to make room for.
    """
    moves = 0
    for index in range(len(positions)):
        wdl = signed(arena.wdl[slot + index])
        if wdl == 0:
            continue
        sets = positions[index]
        if has_capture(sets[0], sets[1], sets[2], sets[3]):
            task[index] = _WINS if abs(wdl) == 2 else _SETTLED
        else:
            task[index] = _WINS if wdl > 0 else _LOSES
            moves += count_quiet_moves(sets[0], sets[1], sets[2], sets[3])
    return moves


@inlined
def _link_king_moves(
    arena: ValueArrays,
    pair: NDArray[np.int64],
    positions: NDArray[np.int64],
    side: int,
    needed: NDArray[np.uint16],
    block: _BlockPair,
    buffer: NDArray[np.int64],
) -> None:
    """Write the king moves and `exit_plies` of the positions of one block of a pair."""
    layout = arena.layout
    first = layout.start[pair[0]]
    owns = layout.owns[pair[1 - side]]
    free = ALL_SQUARES & ~reverse(positions[0, 0] | positions[0, 2])
    filled = block.links[block.begin[side]]
    for number in range(len(positions)):
        index = block.begin[side] + number
        sets = positions[number]
        task = block.task[index]
        if task == _SETTLED:
            pass
        elif has_capture(sets[0], sets[1], sets[2], sets[3]):
            block.exit_plies[index] = 1  # `_classify` keeps only captures with the right outcome
        else:
            wins = task == _WINS
            exit_plies = NEVER if wins else 0
            own_men_turned = reverse(sets[0])
            for row in range(quiet_moves(sets[0], sets[1], sets[2], sets[3], buffer)):
                child = buffer[row]
                if child[2] != own_men_turned:
                    plies = _exit_plies(arena, pair[1 - side], child, wins, needed, first)
                    exit_plies = min(exit_plies, plies) if wins else max(exit_plies, plies)
                    continue
                inside = inside_block(owns, child[1], child[3], free)
                if _decided(arena.wdl[block.slots[1 - side] + inside], wins):
                    block.after[filled] = block.begin[1 - side] + inside
                    filled += 1
                elif not wins:
                    exit_plies = NEVER
            block.exit_plies[index] = exit_plies
        block.links[index + 1] = filled


@inlined
def _decided(wdl: int, wins: bool) -> bool:
    """Whether the outcome after a move, without draw rules, is one by which the mover wins or loses."""
    return wdl < 0 if wins else wdl > 0


@inlined
def _exit_plies(
    arena: ValueArrays,
    opposite: int,
    child: NDArray[np.int64],
    wins: bool,
    needed: NDArray[np.uint16],
    first: int,
) -> int:
    """Return the plies left to the change of material with which a man's move wins or loses, or NEVER."""
    slot = slot_of(arena.layout, child[0], child[1], child[2], child[3])
    wdl = signed(arena.wdl[slot])
    inside = arena.layout.start[opposite] <= slot < arena.layout.start[opposite + 1]
    if not _decided(wdl, wins):
        return NEVER
    if inside:
        return min(signed(needed[slot - first]) + 1, NEVER)
    return 1 if abs(wdl) == 2 else NEVER


@kernel
def _count_plies(block: _BlockPair, limit: int) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """Return what each position needs, in two arrays of uint16. NEVER means that no number is enough.

    Returns:
        Plies of king moves if the balance count never runs out; and plies to the next change of material with
        `limit` plies of king moves.
    """
    count = len(block.task)
    need = np.full(count, NEVER, np.uint16)
    least = np.full(count, NEVER, np.uint16)
    last = 1  # the last count of plies at which a move other than a king's can decide
    waiting = np.empty(count, np.int32)
    size = 0
    for index in range(count):
        exit_plies = signed(block.exit_plies[index])
        if block.task[index] == _SETTLED:
            continue
        if exit_plies == 0 and block.links[index] == block.links[index + 1]:
            need[index] = least[index] = 0  # no move: the game has ended
        elif not (block.task[index] == _LOSES and exit_plies == NEVER):
            waiting[size] = index
            size += 1
        if exit_plies != NEVER:
            last = max(last, exit_plies)
    before = need.copy()
    for plies in range(1, NEVER):
        changed = False
        kept = 0
        for number in range(size):
            index = waiting[number]
            if block.task[index] == _WINS:
                found = _least(block, index, plies, before)
            else:
                found = _greatest(block, index, plies, before)
            if found > limit:
                found = NEVER
            if found != before[index]:
                need[index] = found
                changed = True
                if least[index] == NEVER:
                    least[index] = plies
            if found > 1:
                waiting[kept] = index
                kept += 1
        size = kept
        if not changed and plies >= last:
            break
        before[:] = need
    return need, least


@inlined
def _least(block: _BlockPair, index: int, plies: int, before: NDArray[np.uint16]) -> int:
    """Return the fewest plies of king moves with which a winner wins, or NEVER."""
    if block.exit_plies[index] <= plies:
        return 1
    least = NEVER
    for link in range(block.links[index], block.links[index + 1]):
        least = min(least, signed(before[block.after[link]]) + 1)
    return least


@inlined
def _greatest(block: _BlockPair, index: int, plies: int, before: NDArray[np.uint16]) -> int:
    """Return the fewest plies of king moves with which all moves of a loser lose, or NEVER."""
    exit_plies = signed(block.exit_plies[index])
    if exit_plies > plies:
        return NEVER
    greatest = min(exit_plies, 1)
    start = block.links[index]
    for link in range(start, block.links[index + 1]):
        after = block.after[link]
        here = signed(before[after])
        if here == NEVER:
            # The refuting reply usually refutes again: move it to the front.
            block.after[link] = block.after[start]
            block.after[start] = after
            return NEVER
        greatest = max(greatest, here + 1)
    return greatest
