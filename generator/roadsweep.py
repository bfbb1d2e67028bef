"""How soon a lone king can be forced off the main road: for every position of a set of slices at once.

The question is that of `tablebase.mainroad`, which searches from one position on: the stronger side plays
only moves after which it still wins on the board, the lone king any legal move; the case has ended when the
lone king is captured, has no move, or stands off the road, or when it has captured something. Here the answer
spreads backwards from where the case ends, a move of the stronger side at a time. Moves and places are those
of the verifier; nothing is shared with that search.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from generator.derivation import Arena
from tablebase.board import MAIN_ROAD
from tablebase.errors import DamagedTableError
from tablebase.kernels.jit import inlined, kernel
from tablebase.kernels.movegen import has_capture, new_buffer, successors
from tablebase.kernels.scalarindex import Layout, sets_at, slot_of

_OUTSIDE = 255  # no main-road case
_NOT_WON = 254  # a case, but the stronger side does not win it on the board
_OPEN = 253  # a case that is won, and not decided yet
MOST_MOVES = 252
"""More moves than this are no answer of the sweep."""

ON_ROAD, QUIET = 1, 2
"""Bits of `features`: the lone king stands on the main road; neither side could capture if it were to
move."""


@kernel
def features(layout: Layout, which: int, lone_to_move: bool) -> NDArray[np.uint8]:
    """What is asked of each position of a slice with a lone king, in the order of the index."""
    found = np.zeros(layout.start[which + 1] - layout.start[which], np.uint8)
    for index in range(len(found)):
        own_men, own_kings, other_men, other_kings = sets_at(layout, which, index)
        if (own_kings if lone_to_move else other_kings) & MAIN_ROAD:
            found[index] |= ON_ROAD
        # Captures go in all four directions, so the other side's need no turned board.
        if not has_capture(own_men, own_kings, other_men, other_kings) and not has_capture(
            other_men, other_kings, own_men, own_kings
        ):
            found[index] |= QUIET
    return found


@inlined
def _slot_after(layout: Layout, after: NDArray[np.int64]) -> int:
    return slot_of(layout, after[0], after[1], after[2], after[3])


@kernel
def _decide_stronger(
    layout: Layout, needed: NDArray[np.uint8], which: int, moves: int, buffer: NDArray[np.int64]
) -> int:
    """Decide the positions of a slice, stronger side to move, in which so many moves are enough; how many."""
    decided = 0
    start = layout.start[which]
    for slot in range(start, layout.start[which + 1]):
        if needed[slot] != _OPEN:
            continue
        own_men, own_kings, other_men, other_kings = sets_at(layout, which, slot - start)
        count = successors(own_men, own_kings, other_men, other_kings, buffer)
        for row in range(count):
            captured = buffer[row, 0] | buffer[row, 1] == 0
            # A move that gives the win away leads to a greater number too: _NOT_WON.
            if captured or needed[_slot_after(layout, buffer[row])] < moves:
                needed[slot] = moves
                decided += 1
                break
    return decided


@kernel
def _decide_lone(
    layout: Layout, needed: NDArray[np.uint8], which: int, moves: int, buffer: NDArray[np.int64]
) -> None:
    """Decide the positions of a slice, lone king to move, in which so many moves are enough."""
    start = layout.start[which]
    for slot in range(start, layout.start[which + 1]):
        if needed[slot] != _OPEN:
            continue
        own_men, own_kings, other_men, other_kings = sets_at(layout, which, slot - start)
        count = successors(own_men, own_kings, other_men, other_kings, buffer)
        stays = False
        for row in range(count):
            after = _slot_after(layout, buffer[row])
            # A lost king cannot have taken the last piece: then the tables are wrong, and it stays open.
            if after < 0 or (needed[after] > moves and needed[after] != _OUTSIDE):
                stays = True
                break
        if not stays:
            needed[slot] = moves


def moves_off_the_road(
    arena: Arena, stronger: Sequence[int], lone: Sequence[int], on_road: Sequence[NDArray[np.bool_]]
) -> NDArray[np.uint8]:
    """The least number of the stronger side's own moves that force the end of the case, for every slot.

    Args:
        arena: the outcomes, positions with a capture filled in.
        stronger: the slices of the rule's materials with the stronger side to move; with each of them, those
            that promotions lead to.
        lone: their mirrors, with the lone king to move.
        on_road: for each slice of `stronger`, then of `lone`, in which positions that king is on the road.

    Returns:
        uint8, a number a slot; above MOST_MOVES where there is no case or the stronger side does not win it.

    Raises:
        DamagedTableError: no move leads on from a position that is won: the tables contradict each other.
    """
    layout = arena.layout
    needed = np.full(int(layout.start[-1]), _OUTSIDE, np.uint8)
    for number, on in zip((*stronger, *lone), on_road, strict=True):
        span = slice(int(layout.start[number]), int(layout.start[number + 1]))
        won = arena.wdl[span] > 0 if number in stronger else arena.wdl[span] < 0
        needed[span][on] = np.where(won[on], _OPEN, _NOT_WON)
    buffer = new_buffer()
    moves = 0
    for number in lone:
        _decide_lone(layout, needed, number, moves, buffer)
    while (needed == _OPEN).any():
        moves += 1
        decided = sum(_decide_stronger(layout, needed, number, moves, buffer) for number in stronger)
        for number in lone:
            _decide_lone(layout, needed, number, moves, buffer)
        if not decided or moves == MOST_MOVES:
            left = int(np.count_nonzero(needed == _OPEN))
            raise DamagedTableError(
                f"the tables contradict each other: in {left:,} positions with a lone king on the main road, "
                "won on the board, no way leads to the end; check them with `shashki verify`"
            )
    return needed
