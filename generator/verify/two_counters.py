"""The counts of king moves and of the balance of forces at once: the verifier's own derivation.

A position has so many plies of king moves left, which captures and moves of men give back, and so many plies
to the next change of balance, which captures and promotions alone give back. A win takes a strategy that lets
neither run out: the next zeroing move, or the end of the game, comes no later than the last ply of the first,
the next change of balance, or the end, no later than the last of the second.

Changes of balance leave a slice and its mirror for slices with values of their own, so the second count runs
inside the two, and the first inside a block. Block by block, fewer steps of men left first, and with more and
more plies left to the change of balance, this finds

    need(p, b) = the fewest plies of king moves left with which p is decided when b plies of balance are left,

from need(., b - 1) of the positions after p's moves: 1 more after a king move; 1 after a man's step if the
position after it is decided with a fresh count of king moves; 1 after a capture or a promotion, whose outcome
is the stored one. The winner takes the least of it, the loser the greatest. What it says without end is the
outcome under the count of king moves alone, with its DTC.

It knows moves from `tablebase.kernels.movegen`, as the rest of the verifier, and takes from the values of the
slice itself only who wins on the board: nothing is shared with the solver, which goes backwards.
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
"""No number of plies is enough."""

_TASK_POSITIONS = 50_000

_SETTLED, _WINS, _LOSES = range(3)
"""What there is to find of a position: nothing, its best move, or whether all its moves lose."""

Map = Callable[[Callable[[NDArray[np.int64]], None], Iterable[NDArray[np.int64]]], Iterator[None]]
"""Does a piece of work for each of many arguments, in threads perhaps: `Executor.map`."""


def balance_plies(material: Material, ruleset: Ruleset) -> int | None:
    """The plies from one change of balance to the next that the rules allow in a slice; None where they do
    not count them."""
    return ruleset.balance_plies(material.pieces) if material.own_kings and material.other_kings else None


def king_plies(material: Material, ruleset: Ruleset) -> int | None:
    """The plies that kings may move in a row in a slice, from a fresh position; None where there is no limit.

    Without men, each king move counts for the balance as well.
    """
    limits = [ruleset.king_moves_plies, None if material.men else balance_plies(material, ruleset)]
    return min((plies for plies in limits if plies is not None), default=None)


class TwoCounts(NamedTuple):
    """What is known of each position of a slice and its mirror, in the order of the arena.

    Attributes:
        first: the slot of the first position.
        balance_needed: uint16: the fewest plies left to the next change of balance with which it is won or
            lost, its king moves freshly counted; NEVER where none are enough.
        stored: int8: the outcomes as they are stored.
    """

    first: int
    balance_needed: NDArray[np.uint16]
    stored: NDArray[np.int8]

    def wrong(self, limit: int) -> NDArray[np.int64]:
        """The slots of the positions stored as won or lost under the rules that are not so with `limit` plies
        between changes of balance, or the other way round."""
        differs = (np.abs(self.stored) == 2) != (self.balance_needed <= limit)
        return np.flatnonzero(differs) + self.first

    def changed(self, limit: int) -> NDArray[np.int64]:
        """The slots of the positions that the count of king moves alone leaves won or lost, and both do not,
        with `limit` plies between changes of balance."""
        needed = self.balance_needed
        return np.flatnonzero((needed != NEVER) & (needed > limit)) + self.first

    def restore(self, arena: ValueArrays) -> None:
        """Put the stored outcomes back into the arena."""
        arena.wdl[self.first : self.first + len(self.stored)] = self.stored


def count_together(arena: ValueArrays, which: int, mirror: int, limit: int, run: Map) -> TwoCounts:
    """Work both counts out for a slice and its mirror.

    Leaves in the arena what holds under the count of king moves alone: a cursed win or a blessed loss of the
    two slices that this count lets stand becomes a win or a loss, with its DTC. (The outcomes that a capture
    or a promotion leads to are those of fresh positions, under all rules, in either case.)

    Args:
        arena: the values, positions with a capture filled in. Those of the smaller slices, and of those with
            fewer men, are taken to be right; of the two slices' own, who wins on the board.
        which: the number of the slice.
        mirror: that of its mirror, the same or the next one.
        limit: plies that kings may move in a row, from a fresh count.
        run: how to do many things: `map`, or that of a pool of threads.
    """
    layout = arena.layout
    first, end = int(layout.start[which]), int(layout.start[mirror + 1])
    stored = arena.wdl[first:end].copy()
    needed = np.full(end - first, NEVER, np.uint16)
    blocks = joined_blocks(layout, which, mirror)
    pair = np.array([which, mirror])
    limit = min(limit, NEVER - 1)

    def count(some: NDArray[np.int64]) -> None:
        count_blocks(arena, pair, some, limit, needed)

    a_task = max(1, _TASK_POSITIONS // int(layout.block_size[pair].sum()))
    # A man's step leads to a block with fewer steps left: those with as many left do not lead to each other.
    for steps in np.unique(blocks[:, 2]):
        alike = blocks[blocks[:, 2] == steps]
        for _ in run(count, [alike[start : start + a_task] for start in range(0, len(alike), a_task)]):
            pass
    return TwoCounts(first, needed, stored)


@kernel
def joined_blocks(layout: Layout, which: int, mirror: int) -> NDArray[np.int64]:
    """The blocks of a slice with those of its mirror that king moves join them to, each two once: the number
    in the one, the number in the other, and the steps that their men have yet to go."""
    count = (layout.start[which + 1] - layout.start[which]) // layout.block_size[which]
    out = np.empty((count, 3), np.int64)
    rows = 0
    for block in range(count):
        own_men, other_men = men_at(layout, which, block)
        turned = block_of(layout, mirror, reverse(other_men), reverse(own_men))
        if which == mirror and turned < block:
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


class _Block(NamedTuple):
    """The positions of a block, those of the block of the mirror that king moves join it to behind them, and
    these king moves.

    Attributes:
        slots: int64 (2): where each of the two begins in the arena.
        begin: int64 (3): and among these positions; then how many there are.
        role: uint8: what there is to find.
        ready: uint16: with how many plies left to the change of balance a move that is no king's wins, NEVER
            if there is none; or, for the loser, all such moves lose, 0 if there is none.
        links: int64: where its king moves begin in `after`; at the end, how many there are.
        after: int32: the position after each king move.
    """

    slots: NDArray[np.int64]
    begin: NDArray[np.int64]
    role: NDArray[np.uint8]
    ready: NDArray[np.uint16]
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
    """`count_together` for some blocks; all that men's steps lead to from there must be done."""
    first = arena.layout.start[pair[0]]
    buffer = np.empty((BUFFER_ROWS, 4), np.int64)
    for row in range(len(blocks)):
        block = _block(arena, pair, blocks[row], needed, buffer)
        need, least = _spread(block, limit)
        for side in range(2):
            for place in range(block.begin[side], block.begin[side + 1]):
                slot = block.slots[side] + place - block.begin[side]
                needed[slot - first] = least[place]
                if abs(arena.wdl[slot]) == 1 and need[place] != NEVER:
                    arena.wdl[slot] *= 2
                    if arena.dtc.size > 1:
                        arena.dtc[slot] = need[place]


@kernel
def _block(
    arena: ValueArrays,
    pair: NDArray[np.int64],
    numbers: NDArray[np.int64],
    needed: NDArray[np.uint16],
    buffer: NDArray[np.int64],
) -> _Block:
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
    role = np.zeros(begin[2], np.uint8)
    room = 0
    for side in range(2):
        room += _cast(arena, sides[side], slots[side], role[begin[side] : begin[side + 1]])
    ready = np.zeros(begin[2], np.uint16)
    links = np.zeros(begin[2] + 1, np.int64)
    block = _Block(slots, begin, role, ready, links, np.empty(room, np.int32))
    for side in range(2):
        _link(arena, pair, sides[side], side, needed, block, buffer)
    return block


@inlined
def _positions_of(layout: Layout, which: int, number: int) -> NDArray[np.int64]:
    size = layout.block_size[which]
    return positions_at(layout, which, np.arange(number * size, (number + 1) * size))


@inlined
def _cast(arena: ValueArrays, positions: NDArray[np.int64], slot: int, role: NDArray[np.uint8]) -> int:
    """Set what there is to find of each position of a block, from `slot` on. Returns room for their moves."""
    room = 0
    for place in range(len(positions)):
        wdl = signed(arena.wdl[slot + place])
        if wdl == 0:
            continue
        sets = positions[place]
        if has_capture(sets[0], sets[1], sets[2], sets[3]):
            role[place] = _WINS if abs(wdl) == 2 else _SETTLED
        else:
            role[place] = _WINS if wdl > 0 else _LOSES
            room += count_quiet_moves(sets[0], sets[1], sets[2], sets[3])
    return room


@inlined
def _link(
    arena: ValueArrays,
    pair: NDArray[np.int64],
    positions: NDArray[np.int64],
    side: int,
    needed: NDArray[np.uint16],
    block: _Block,
    buffer: NDArray[np.int64],
) -> None:
    """Find the moves of the positions of one side of a block, and what those that are no king's are worth."""
    layout = arena.layout
    owns = layout.owns[pair[1 - side]]
    free = ALL_SQUARES & ~reverse(positions[0, 0] | positions[0, 2])
    filled = block.links[block.begin[side]]
    for number in range(len(positions)):
        place = block.begin[side] + number
        sets = positions[number]
        role = block.role[place]
        if role == _SETTLED:
            pass
        elif has_capture(sets[0], sets[1], sets[2], sets[3]):
            block.ready[place] = 1  # a capture with the right outcome: `_cast` has seen to that
        else:
            wins = role == _WINS
            ready = NEVER if wins else 0
            own_men_turned = reverse(sets[0])
            for row in range(quiet_moves(sets[0], sets[1], sets[2], sets[3], buffer)):
                child = buffer[row]
                if child[2] != own_men_turned:
                    plies = _ready(arena, pair[1 - side], child, wins, needed, arena.layout.start[pair[0]])
                    ready = min(ready, plies) if wins else max(ready, plies)
                    continue
                inside = inside_block(owns, child[1], child[3], free)
                if _decided(arena.wdl[block.slots[1 - side] + inside], wins):
                    block.after[filled] = block.begin[1 - side] + inside
                    filled += 1
                elif not wins:
                    ready = NEVER
            block.ready[place] = ready
        block.links[place + 1] = filled


@inlined
def _decided(wdl: int, wins: bool) -> bool:
    """Whether an outcome after a move is lost or won on the board, as the player who wins or loses by this
    move has it."""
    return wdl < 0 if wins else wdl > 0


@inlined
def _ready(
    arena: ValueArrays,
    opposite: int,
    child: NDArray[np.int64],
    wins: bool,
    needed: NDArray[np.uint16],
    first: int,
) -> int:
    """With how many plies left to the change of balance a man's move wins, or loses."""
    slot = slot_of(arena.layout, child[0], child[1], child[2], child[3])
    wdl = signed(arena.wdl[slot])
    inside = arena.layout.start[opposite] <= slot < arena.layout.start[opposite + 1]
    if not _decided(wdl, wins):
        return NEVER
    if inside:
        return min(signed(needed[slot - first]) + 1, NEVER)
    return 1 if abs(wdl) == 2 else NEVER


@kernel
def _spread(block: _Block, limit: int) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """What each position needs: plies of king moves where the balance may stand for ever; and, with `limit`
    of these, plies to the next change of balance. NEVER where none are enough."""
    count = len(block.role)
    need = np.full(count, NEVER, np.uint16)
    least = np.full(count, NEVER, np.uint16)
    last = 1  # after so many plies moves that are no king's bring nothing new
    waiting = np.empty(count, np.int32)
    size = 0
    for place in range(count):
        ready = signed(block.ready[place])
        if block.role[place] == _SETTLED:
            continue
        if ready == 0 and block.links[place] == block.links[place + 1]:
            need[place] = least[place] = 0  # no move: the game has ended
        elif not (block.role[place] == _LOSES and ready == NEVER):
            waiting[size] = place
            size += 1
        if ready != NEVER:
            last = max(last, ready)
    before = need.copy()
    for plies in range(1, NEVER):
        changed = False
        kept = 0
        for number in range(size):
            place = waiting[number]
            if block.role[place] == _WINS:
                found = _least(block, place, plies, before)
            else:
                found = _greatest(block, place, plies, before)
            if found > limit:
                found = NEVER
            if found != before[place]:
                need[place] = found
                changed = True
                if least[place] == NEVER:
                    least[place] = plies
            if found > 1:
                waiting[kept] = place
                kept += 1
        size = kept
        if not changed and plies >= last:
            break
        before[:] = need
    return need, least


@inlined
def _least(block: _Block, place: int, plies: int, before: NDArray[np.uint16]) -> int:
    if block.ready[place] <= plies:
        return 1
    least = NEVER
    for link in range(block.links[place], block.links[place + 1]):
        least = min(least, signed(before[block.after[link]]) + 1)
    return least


@inlined
def _greatest(block: _Block, place: int, plies: int, before: NDArray[np.uint16]) -> int:
    ready = signed(block.ready[place])
    if ready > plies:
        return NEVER
    greatest = min(ready, 1)
    start = block.links[place]
    for link in range(start, block.links[place + 1]):
        after = block.after[link]
        here = signed(before[after])
        if here == NEVER:
            # What stands in the way this time mostly does so the next time: looked at first then.
            block.after[link] = block.after[start]
            block.after[start] = after
            return NEVER
        greatest = max(greatest, here + 1)
    return greatest
