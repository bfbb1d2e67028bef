"""The move generator for kernels: the positions after all legal moves of one position.

`tablebase.board.position` has the same rules in readable form; tests compare the two. Perft, the capture
trees and the verifier use this generator. The solver does not, so that the verifier shares no code with it.

A position is four int64 scalars, sets of squares seen by the side to move: own men, own kings, other men,
other kings. Own men move up. All scalars are int64, because numba makes floats of int64 mixed with uint64.
"""

import numpy as np
from numpy.typing import NDArray

from tablebase.board.squares import ALL_SQUARES, LAST_ROW
from tablebase.kernels.bits import popcount, reverse
from tablebase.kernels.jit import inlined, kernel

EVEN_ROWS = 0x0F0F_0F0F  # rows 1, 3, 5, 7, whose first square is on the a file
ODD_ROWS = 0xF0F0_F0F0
EVEN_ROWS_WITHOUT_A = 0x0E0E_0E0E
ODD_ROWS_WITHOUT_H = 0x7070_7070

DIRECTIONS = 4
UP_LEFT, UP_RIGHT, DOWN_LEFT, DOWN_RIGHT = range(DIRECTIONS)

MAX_SUCCESSORS = 4096
"""Number of successors that a buffer holds.

A quiet move is a pair of an own square and an empty square: at most 16 * 16 = 256. The result of a capture
follows from its start square, the captured pieces and its end square. With a own and b other pieces there
are at most a * (2^b - 1) * (33 - a - b) results. Up to 8 pieces that is at most 3,175 (a = 1, b = 7), so no
position of a tablebase can overflow a buffer. For 24 pieces no such proof is known; an overflow raises.
"""

_STACK_ROWS = 512
"""Rows for unfinished captures, in a buffer behind the successors.

Each step of a capture takes one more piece, at most 31 in all. It leaves at most 13 squares to go on from,
because the two diagonals through a square have at most 13 other squares: 31 * 13 = 403.
"""

BUFFER_ROWS = MAX_SUCCESSORS + _STACK_ROWS


def new_buffer() -> NDArray[np.int64]:
    """Return a buffer for `successors`: shape (BUFFER_ROWS, 4), int64."""
    return np.empty((BUFFER_ROWS, 4), np.int64)


@inlined
def step(squares: int, direction: int) -> int:
    """Return a set moved by one step in a direction; squares that leave the board are dropped."""
    if direction == UP_LEFT:
        return (squares & EVEN_ROWS_WITHOUT_A) << 3 | ((squares & ODD_ROWS) << 4 & ALL_SQUARES)
    if direction == UP_RIGHT:
        return (squares & EVEN_ROWS) << 4 | ((squares & ODD_ROWS_WITHOUT_H) << 5 & ALL_SQUARES)
    if direction == DOWN_LEFT:
        return (squares & EVEN_ROWS_WITHOUT_A) >> 5 | (squares & ODD_ROWS) >> 4
    return (squares & EVEN_ROWS) >> 4 | (squares & ODD_ROWS_WITHOUT_H) >> 3


@inlined
def slide(squares: int, direction: int, empty: int) -> int:
    """Return `squares` and all empty squares that kings on them reach in one direction."""
    reached = squares
    front = step(squares, direction) & empty
    while front != 0:
        reached |= front
        front = step(front, direction) & empty
    return reached


@inlined
def can_capture(men: int, kings: int, victims: int, empty: int) -> bool:
    """Whether one of these men and kings can capture one of `victims` and land on one of `empty`."""
    for direction in range(DIRECTIONS):
        reached = men | slide(kings, direction, empty)
        if step(step(reached, direction) & victims, direction) & empty != 0:
            return True
    return False


@kernel
def has_capture(own_men: int, own_kings: int, other_men: int, other_kings: int) -> bool:
    """Whether the side to move can capture, and therefore must."""
    others = other_men | other_kings
    return can_capture(own_men, own_kings, others, ALL_SQUARES & ~(own_men | own_kings | others))


@inlined
def _write(
    own_men: int, own_kings: int, other_men: int, other_kings: int, out: NDArray[np.int64], count: int
) -> int:
    """Write a position, seen by the next side to move, unless `out` has it already; return the new count."""
    next_own_men, next_own_kings = reverse(other_men), reverse(other_kings)
    next_other_men, next_other_kings = reverse(own_men), reverse(own_kings)
    for row in range(count):
        if (
            out[row, 0] == next_own_men
            and out[row, 1] == next_own_kings
            and out[row, 2] == next_other_men
            and out[row, 3] == next_other_kings
        ):
            return count
    if count >= MAX_SUCCESSORS:
        raise OverflowError("a position has more captures than a buffer holds; raise movegen.MAX_SUCCESSORS")
    out[count, 0] = next_own_men
    out[count, 1] = next_own_kings
    out[count, 2] = next_other_men
    out[count, 3] = next_other_kings
    return count + 1


@inlined
def _captures_of(
    start: int,
    is_king: bool,
    own_men: int,
    own_kings: int,
    other_men: int,
    other_kings: int,
    out: NDArray[np.int64],
    count: int,
) -> int:
    """Add the results of all captures by the piece on `start` (a set) to `out`; return the new count."""
    men_left, kings_left = own_men & ~start, own_kings & ~start
    others = other_men | other_kings
    # During the capture the start square is empty, and captured pieces stay on the board.
    empty = ALL_SQUARES & ~(men_left | kings_left | others)

    # A row of the stack is an unfinished capture: square, captured pieces, whether the piece is a king now.
    stack = out[MAX_SUCCESSORS:]
    stack[0, 0], stack[0, 1], stack[0, 2] = start, 0, int(is_king)
    depth = 1
    while depth > 0:
        depth -= 1
        square, taken, king = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        for direction in range(DIRECTIONS):
            before = slide(square, direction, empty) if king else square
            victim = step(before, direction) & others & ~taken
            first_landing = step(victim, direction) & empty
            if first_landing == 0:
                continue
            taken_now = taken | victim
            king_now = king | int(first_landing & LAST_ROW != 0)
            landings = slide(first_landing, direction, empty) if king else first_landing

            # If the piece can go on from one of the landing squares, it must not stop on another.
            goes_on = False
            remaining = landings
            while remaining != 0:
                landing = remaining & -remaining
                remaining ^= landing
                if can_capture(
                    0 if king_now else landing, landing if king_now else 0, others & ~taken_now, empty
                ):
                    goes_on = True
                    stack[depth, 0], stack[depth, 1], stack[depth, 2] = landing, taken_now, king_now
                    depth += 1
            if goes_on:
                continue
            while landings != 0:
                landing = landings & -landings
                landings ^= landing
                count = _write(
                    men_left | (0 if king_now else landing),
                    kings_left | (landing if king_now else 0),
                    other_men & ~taken_now,
                    other_kings & ~taken_now,
                    out,
                    count,
                )
    return count


@kernel
def captures(own_men: int, own_kings: int, other_men: int, other_kings: int, out: NDArray[np.int64]) -> int:
    """Write each distinct position after a capture to `out`, and return their number.

    Args:
        own_men: the men of the side to move, a set without squares of the last row.
        own_kings: its kings, a set.
        other_men: the men of the opponent, a set.
        other_kings: its kings, a set.
        out: buffer from `new_buffer`. Row i receives own men, own kings, other men and other kings of
            successor i, seen by the next side to move. The rows after the successors are scratch.

    Raises:
        OverflowError: there are more than MAX_SUCCESSORS positions; impossible up to 8 pieces.
    """
    count = 0
    if not has_capture(own_men, own_kings, other_men, other_kings):
        return count
    movers = own_men | own_kings
    while movers != 0:
        start = movers & -movers
        movers ^= start
        count = _captures_of(
            start, start & own_kings != 0, own_men, own_kings, other_men, other_kings, out, count
        )
    return count


@kernel
def quiet_moves(
    own_men: int, own_kings: int, other_men: int, other_kings: int, out: NDArray[np.int64]
) -> int:
    """Write each position after a quiet move to `out`, and return their number.

    Quiet moves are written even if the side to move must capture. Two quiet moves never lead to the same
    position, so nothing is compared.

    Args:
        own_men: the men of the side to move, a set without squares of the last row.
        own_kings: its kings, a set.
        other_men: the men of the opponent, a set.
        other_kings: its kings, a set.
        out: buffer from `new_buffer`, written as by `captures`.
    """
    next_own_men, next_own_kings = reverse(other_men), reverse(other_kings)
    next_other_men = reverse(own_men)
    empty = ALL_SQUARES & ~(own_men | own_kings | other_men | other_kings)
    count = 0
    for direction in (UP_LEFT, UP_RIGHT):
        targets = step(own_men, direction) & empty
        while targets != 0:
            target = targets & -targets
            targets ^= target
            start = step(target, DIRECTIONS - 1 - direction)
            promoted = target & LAST_ROW
            out[count, 0] = next_own_men
            out[count, 1] = next_own_kings
            out[count, 2] = reverse(own_men & ~start | target & ~promoted)
            out[count, 3] = reverse(own_kings | promoted)
            count += 1
    kings = own_kings
    while kings != 0:
        start = kings & -kings
        kings ^= start
        for direction in range(DIRECTIONS):
            target = step(start, direction) & empty
            while target != 0:
                out[count, 0] = next_own_men
                out[count, 1] = next_own_kings
                out[count, 2] = next_other_men
                out[count, 3] = reverse(own_kings & ~start | target)
                count += 1
                target = step(target, direction) & empty
    return count


@kernel
def count_quiet_moves(own_men: int, own_kings: int, other_men: int, other_kings: int) -> int:
    """Return the number of positions that `quiet_moves` would write."""
    empty = ALL_SQUARES & ~(own_men | own_kings | other_men | other_kings)
    count = popcount(step(own_men, UP_LEFT) & empty) + popcount(step(own_men, UP_RIGHT) & empty)
    kings = own_kings
    while kings != 0:
        start = kings & -kings
        kings ^= start
        for direction in range(DIRECTIONS):
            count += popcount(slide(start, direction, empty)) - 1
    return count


@kernel
def successors(own_men: int, own_kings: int, other_men: int, other_kings: int, out: NDArray[np.int64]) -> int:
    """Write each distinct position after a legal move to `out`, and return their number.

    If the number is 0, the side to move has lost.

    Args:
        own_men: the men of the side to move, a set without squares of the last row.
        own_kings: its kings, a set.
        other_men: the men of the opponent, a set.
        other_kings: its kings, a set.
        out: buffer from `new_buffer`, written as by `captures`.

    Raises:
        OverflowError: there are more than MAX_SUCCESSORS positions; impossible up to 8 pieces.
    """
    count = captures(own_men, own_kings, other_men, other_kings, out)
    if count > 0:
        return count
    return quiet_moves(own_men, own_kings, other_men, other_kings, out)
