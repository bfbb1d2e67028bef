"""King moves of 32 positions at once.

One king of the mover is the *lane king*. With all other pieces fixed, the squares it may be on are the bits
of a uint32 *word*. Moves of the lane king are a fill of the word after them through the empty squares. A move
of another king is the word after it, without the lanes whose king blocks the way. All arithmetic must stay
uint32, or the loops over words are not vectorised: numba widens every operation to 64 bits unless its result
is converted again.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tablebase.kernels.jit import inlined

# A row has four dark squares. In even rows (the first is row 0) they are half a step to the left of those in
# odd rows.
_EVEN_ROWS = np.uint32(0x0F0F0F0F)
_ODD_ROWS = np.uint32(0xF0F0F0F0)
_NOT_FIRST_OF_EVEN = np.uint32(0x0E0E0E0E)
_NOT_LAST_OF_ODD = np.uint32(0x70707070)
_NOT_FIRST = np.uint32(0xEEEEEEEE)
_NOT_LAST = np.uint32(0x77777777)
_3, _4, _5, _7, _9 = np.uint32(3), np.uint32(4), np.uint32(5), np.uint32(7), np.uint32(9)
_ONE = np.uint32(1)
ALL_LANES = np.uint32(0xFFFFFFFF)


@inlined
def _up_right(x: Any) -> Any:
    return np.uint32(
        np.uint32(np.uint32(x & _EVEN_ROWS) << _4) | np.uint32(np.uint32(x & _NOT_LAST_OF_ODD) << _5)
    )


@inlined
def _up_left(x: Any) -> Any:
    return np.uint32(
        np.uint32(np.uint32(x & _NOT_FIRST_OF_EVEN) << _3) | np.uint32(np.uint32(x & _ODD_ROWS) << _4)
    )


@inlined
def _down_right(x: Any) -> Any:
    return np.uint32(
        np.uint32(np.uint32(x & _EVEN_ROWS) >> _4) | np.uint32(np.uint32(x & _NOT_LAST_OF_ODD) >> _3)
    )


@inlined
def _down_left(x: Any) -> Any:
    return np.uint32(
        np.uint32(np.uint32(x & _NOT_FIRST_OF_EVEN) >> _5) | np.uint32(np.uint32(x & _ODD_ROWS) >> _4)
    )


@inlined
def _two_up_right(x: Any) -> Any:
    return np.uint32(np.uint32(x & _NOT_LAST) << _9)


@inlined
def _two_up_left(x: Any) -> Any:
    return np.uint32(np.uint32(x & _NOT_FIRST) << _7)


@inlined
def _two_down_right(x: Any) -> Any:
    return np.uint32(np.uint32(x & _NOT_LAST) >> _7)


@inlined
def _two_down_left(x: Any) -> Any:
    return np.uint32(np.uint32(x & _NOT_FIRST) >> _9)


@inlined
def _slide_sources_along(goal: Any, empty: Any, step: Any, two_steps: Any) -> Any:
    """Return the squares from which a king slides in one direction onto a square of `goal`.

    Doubling covers the seven steps of a diagonal: one, two and four steps.

    Args:
        goal: uint32 set, within `empty`.
        empty: uint32 set of empty squares.
        step: moves a set one step against the direction of the slide.
        two_steps: moves a set two steps.
    """
    goal = np.uint32(goal | np.uint32(empty & step(goal)))
    empty = np.uint32(empty & step(empty))
    goal = np.uint32(goal | np.uint32(empty & two_steps(goal)))
    empty = np.uint32(empty & two_steps(empty))
    goal = np.uint32(goal | np.uint32(empty & two_steps(two_steps(goal))))
    return step(goal)


@inlined
def slide_sources(goal: Any, empty: Any) -> Any:
    """Return the empty squares from which a king slides onto a square of `goal`, a subset of `empty`."""
    up = np.uint32(
        _slide_sources_along(goal, empty, _up_right, _two_up_right)
        | _slide_sources_along(goal, empty, _up_left, _two_up_left)
    )
    down = np.uint32(
        _slide_sources_along(goal, empty, _down_right, _two_down_right)
        | _slide_sources_along(goal, empty, _down_left, _two_down_left)
    )
    return np.uint32(np.uint32(up | down) & empty)


@inlined
def king_moves(
    reach: NDArray[np.uint32],
    goals: NDArray[np.uint32],
    inverted: bool,
    base: int,
    row: int,
    first: int,
    count: int,
    columns: int,
    opponent_sets: NDArray[np.uint32],
    occupied: int,
    blockers: int,
    steps: NDArray[np.int32],
    at: int,
    empty: NDArray[np.uint32],
    path: NDArray[np.uint32],
) -> None:
    """Find the lanes with a king move to a position of `goals`, for a strip of words.

    Args:
        reach: uint32 [count], written: the lanes.
        goals: uint32 [word], from `base` on the words of one block.
        inverted: whether moves to positions outside `goals` count instead.
        base: the first word of the block.
        row: the row of the strip: the rank of the mover's other kings.
        first: the first column of the strip: the rank of the opponent's kings.
        count: how many columns there are.
        columns: columns of a block.
        opponent_sets: uint32 [column], the sets of the opponent's kings.
        occupied: bit set, the mover's other kings and all men.
        blockers: bit set, all men.
        steps: int32, the moves of the mover's other kings (see `Subsets.king_steps`).
        at: where these moves begin in `steps`.
        empty: uint32 [count], overwritten.
        path: uint32 [count], overwritten.
    """
    fixed = np.uint32(occupied)
    flip = ALL_LANES if inverted else np.uint32(0)
    base += first
    here = goals[base + row * columns : base + row * columns + count]
    kings = opponent_sets[first : first + count]
    for c in range(count):
        e = np.uint32(~np.uint32(fixed | kings[c]))
        empty[c] = e
        reach[c] = slide_sources(np.uint32(np.uint32(here[c] ^ flip) & e), e)
    while steps[at] != -2:
        # One king, one direction, square by square. A lane king blocks its square and all after it.
        blocked = False
        for c in range(count):
            path[c] = ALL_LANES
        while steps[at] != -1:
            target = int(steps[at])
            to_row = int(steps[at + 1])
            at += 2
            if blocked or (blockers >> target) & 1:
                blocked = True
                continue
            there = goals[base + to_row * columns : base + to_row * columns + count]
            not_lane = np.uint32(~np.uint32(_ONE << np.uint32(target)))
            shift = np.uint32(target)
            for c in range(count):
                free = np.uint32(np.uint32(np.uint32(kings[c] >> shift) & _ONE) - _ONE)
                p = np.uint32(np.uint32(path[c] & not_lane) & free)
                path[c] = p
                reach[c] = np.uint32(
                    reach[c] | np.uint32(np.uint32(p & np.uint32(there[c] ^ flip)) & empty[c])
                )
        at += 2
