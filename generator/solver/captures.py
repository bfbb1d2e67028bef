"""Captures of 32 positions at once: the capture sequences of a word, and the positions after them.

Captures are compulsory, so the positions after them decide a position with a capture. Each end of a capture
sequence is a *leaf* of the capture tree, written to `work` for the caller to look up. This module knows the
rules of captures, and no values.

Functions here take one array, `work`, and integers: numba counts references to every array that is passed,
and that would cost more than the captures.
"""

import numpy as np
from numpy.typing import NDArray

from generator.solver.subsets import STEP
from tablebase.kernels.bits import highest, lowest
from tablebase.kernels.jit import inlined, inner

LAST_ROW = 28
_ALL = 0xFFFFFFFF


def _rays() -> NDArray[np.int64]:
    """Return the table `RAY`."""
    table = np.zeros((32, 4), dtype=np.int64)
    for square in range(32):
        for direction in range(4):
            target = STEP[square, direction]
            while target >= 0:
                table[square, direction] |= 1 << int(target)
                target = STEP[target, direction]
    return table


# RAY[square, direction]: bit set, all squares in that direction to the edge.
RAY = _rays()

# `work` holds a stack of captures in progress, then the leaves found, then their number.
# A capture in progress: square, 1 if the piece is a king by now, captured pieces so far, lanes.
_NODE = 4
# A node is removed and expanded into at most 4 directions * 6 landing squares, and a capture takes no more
# pieces than the other side has (at most 8 here).
_STACK_NODES = 8 * 24
# A leaf: own men, own kings but the lane king, landing squares (see `captures`), captured pieces, lanes.
LEAF_FIELDS = 5
FIRST_LEAF = _STACK_NODES * _NODE
_MAX_LEAVES = 4096
LEAF_COUNT = FIRST_LEAF + _MAX_LEAVES * LEAF_FIELDS
# After the leaves, for each victim (8 at most): the squares from which a king captures it by direction,
# all of them, and its own square.
_VICTIM_FIELDS = 6
_VICTIMS = LEAF_COUNT + 1
# After the victims, the small arrays of other kernels: an `inner` kernel cannot allocate arrays.
SCRATCH = _VICTIMS + 8 * _VICTIM_FIELDS
_SCRATCH_LENGTH = 2 * 32 * 9  # two lists of man_conversions.py, the largest arrays


def capture_work() -> NDArray[np.int64]:
    """Allocate the work array of captures for one thread, int64."""
    return np.zeros(SCRATCH + _SCRATCH_LENGTH, dtype=np.int64)


@inlined
def _first_piece(square: int, direction: int, occupied: int) -> int:
    """Return the square of the first piece in a direction, or -1."""
    pieces = RAY[square, direction] & occupied
    if pieces == 0:
        return -1
    return lowest(pieces) if direction < 2 else highest(pieces)


@inlined
def _free_squares(square: int, direction: int, occupied: int) -> int:
    """Return the empty squares in a direction before the first piece or the edge."""
    stop = _first_piece(square, direction, occupied)
    run = RAY[square, direction]
    return int(run if stop < 0 else run & ~RAY[stop, direction] & ~(1 << stop))


@inlined
def _victim(square: int, king: int, direction: int, occupied: int, targets: int) -> int:
    """Return the square of the piece that can be captured in a direction, or -1.

    The square behind it is free of fixed pieces; the lane king may still be on it.
    """
    victim = _first_piece(square, direction, occupied) if king else STEP[square, direction]
    if victim < 0 or not (targets >> victim) & 1:
        return -1
    landing = STEP[victim, direction]
    if landing < 0 or (occupied >> landing) & 1:
        return -1
    return int(victim)


@inlined
def _open_lanes(square: int, victim: int, direction: int, lanes: int, blocking_lanes: int) -> int:
    """Return the lanes whose king blocks neither the way from `square` to the victim nor the landing square.

    `blocking_lanes` is all lanes, or 0 if the capturing piece is the lane king itself.
    """
    path = RAY[square, direction] & ~RAY[victim, direction] & ~(1 << victim)
    return int(lanes & ~((path | (1 << STEP[victim, direction])) & blocking_lanes))


@inlined
def captures_from(
    square: int, king: int, occupied: int, targets: int, lanes: int, blocking_lanes: int
) -> int:
    """Return the lanes in which a piece on `square` can capture.

    Args:
        square: the square of the capturing piece.
        king: 1 for a king, 0 for a man.
        occupied: bit set, all pieces but the lane king and the capturing piece.
        targets: bit set, the pieces that may be captured.
        lanes: the lanes to look at.
        blocking_lanes: all lanes if another piece than the lane king captures; else 0.
    """
    able = 0
    for direction in range(4):
        victim = _victim(square, king, direction, occupied, targets)
        if victim >= 0:
            able |= _open_lanes(square, victim, direction, lanes, blocking_lanes)
    return able


@inlined
def _add_leaf(
    work: NDArray[np.int64], men: int, others: int, landings: int, captured: int, lanes: int
) -> None:
    """Append a leaf to `work`."""
    at = work[LEAF_COUNT]
    if at == _MAX_LEAVES:
        raise OverflowError("one word has more capture leaves than the work array holds")
    work[LEAF_COUNT] = at + 1
    at = FIRST_LEAF + at * LEAF_FIELDS
    work[at] = men
    work[at + 1] = others
    work[at + 2] = landings
    work[at + 3] = captured
    work[at + 4] = lanes


@inlined
def push_capture(
    work: NDArray[np.int64], node: int, square: int, king: int, captured: int, lanes: int
) -> None:
    """Write a capture in progress to the stack in `work`, as its node number `node`."""
    work[node * _NODE] = square
    work[node * _NODE + 1] = king
    work[node * _NODE + 2] = captured
    work[node * _NODE + 3] = lanes


@inner
def expand_captures(
    work: NDArray[np.int64], nodes: int, men: int, others: int, targets: int, has_lane_king: bool
) -> int:
    """Follow the captures on the stack to their leaves.

    Captured pieces stay on the board until the capture is over, and cannot be captured twice.

    Args:
        work: int64, the stack and the leaves.
        nodes: nodes on the stack.
        men: bit set, the mover's men without the capturing piece.
        others: bit set, the mover's kings without the capturing piece and the lane king.
        targets: bit set, the opponent's pieces.
        has_lane_king: whether the mover has a lane king that does not capture.

    Returns:
        The lanes that had a capture to begin with.

    Raises:
        OverflowError: there are more leaves than `work` has space for.
    """
    occupied = men | others | targets
    blocking_lanes = _ALL if has_lane_king else 0
    first = True
    started = 0
    while nodes:
        nodes -= 1
        square = work[nodes * _NODE]
        king = work[nodes * _NODE + 1]
        captured_before = work[nodes * _NODE + 2]
        lanes_here = work[nodes * _NODE + 3]
        for direction in range(4):
            victim = _victim(square, king, direction, occupied, targets & ~captured_before)
            if victim < 0:
                continue
            lanes = _open_lanes(square, victim, direction, lanes_here, blocking_lanes)
            if not lanes:
                continue
            if first:
                started |= lanes
            captured = captured_before | (1 << victim)
            left = targets & ~captured
            landing = STEP[victim, direction]
            crowned = 1 if king or landing >= LAST_ROW else 0
            # A king must land on a square from which the capture goes on, if it can reach one.
            landings = _free_squares(victim, direction, occupied) if king else 1 << landing
            leaf_lanes = lanes
            if left:
                reaching = lanes
                target = landing
                while target >= 0 and (landings >> target) & 1 and reaching:
                    reaching &= ~((1 << target) & blocking_lanes)
                    going_on = captures_from(target, crowned, occupied, left, reaching, blocking_lanes)
                    if going_on:
                        push_capture(work, nodes, target, crowned, captured, going_on)
                        nodes += 1
                        leaf_lanes &= ~going_on
                    target = STEP[target, direction]
            if not leaf_lanes:
                continue
            if not crowned:
                _add_leaf(work, men | landings, others, 0, captured, leaf_lanes)
            elif not has_lane_king:
                _add_leaf(work, men, others, landings, captured, leaf_lanes)
            else:
                target = landing
                while target >= 0 and (landings >> target) & 1:
                    leaf_lanes &= ~(1 << target)
                    if not leaf_lanes:
                        break
                    _add_leaf(work, men, others | (1 << target), 0, captured, leaf_lanes)
                    target = STEP[target, direction]
        first = False
    return started


@inner
def _all_captures(work: NDArray[np.int64], men: int, others: int, targets: int, valid: int) -> int:
    """Find all captures of a word whose mover has a lane king; return the lanes that have one.

    For each piece that may be captured, list its attackers: the empty squares from which a king captures it.
    A capture goes on from a landing square if a king on that square can capture another piece.
    """
    occupied = men | others | targets
    once = twice = 0  # squares from which a king can capture one piece or more, two or more
    reaching_kings = reaching_men = 0  # squares on which a king, a man can capture
    victims = targets
    at = _VICTIMS
    while victims:
        victim = lowest(victims)
        victims &= victims - 1
        of_victim = 0
        for direction in range(4):
            landing = STEP[victim, direction]
            run = 0
            behind = STEP[victim, 3 - direction]
            if landing >= 0 and behind >= 0 and not (occupied >> landing) & 1:
                reaching_men |= 1 << behind
                stop = _first_piece(victim, 3 - direction, occupied)
                run = RAY[victim, 3 - direction]
                if stop >= 0:
                    reaching_kings |= 1 << stop
                    run &= ~RAY[stop, 3 - direction] & ~(1 << stop)
                of_victim |= run
            work[at + direction] = run
        work[at + 4] = of_victim
        work[at + 5] = victim
        at += _VICTIM_FIELDS
        twice |= once & of_victim
        once |= of_victim
    started = 0
    end = at
    at = _VICTIMS
    while at < end:
        if work[at + 4] & valid:
            victim = work[at + 5]
            going_on = twice | once & ~work[at + 4]
            for direction in range(4):
                lanes = work[at + direction] & valid
                if not lanes:
                    continue
                started |= lanes
                landings = _free_squares(victim, direction, occupied)
                squares = landings & going_on
                if squares:
                    nodes = 0
                    while squares:
                        push_capture(work, nodes, lowest(squares), 1, 1 << victim, lanes)
                        squares &= squares - 1
                        nodes += 1
                    expand_captures(work, nodes, men, others, targets, False)
                else:
                    _add_leaf(work, men, others, landings, 1 << victim, lanes)
        at += _VICTIM_FIELDS
    pieces = others & reaching_kings | men & reaching_men
    while pieces:
        square = lowest(pieces)
        pieces &= pieces - 1
        king = (others >> square) & 1
        if captures_from(square, king, occupied, targets, valid, _ALL):
            push_capture(work, 0, square, king, 0, valid)
            rest = ~(1 << square)
            started |= expand_captures(work, 1, men & rest, others & rest, targets, True)
    return started


@inner
def captures(work: NDArray[np.int64], lane: bool, men: int, others: int, targets: int, valid: int) -> int:
    """Find all captures of a word; return the lanes that have one.

    Args:
        work: int64, takes the leaves: `work[LEAF_COUNT]` of them, with LEAF_FIELDS each, from
            `work[FIRST_LEAF]`. If the lane king captures, the leaf has its landing squares: it may choose any
            of them. If a man of a side without kings is promoted, the leaf has those of the new king.
            Otherwise the leaf has 0: the lane king, if there is one, has not moved.
        lane: whether the mover has a lane king.
        men: bit set, the mover's men.
        others: bit set, the mover's kings but the lane king.
        targets: bit set, the opponent's pieces.
        valid: the lanes that are positions; lane 0 only for a side without kings.

    Raises:
        OverflowError: there are more leaves than `work` has space for.
    """
    work[LEAF_COUNT] = 0
    if lane:
        return int(_all_captures(work, men, others, targets, valid))
    started = 0
    occupied = men | others | targets
    pieces = men | others
    while pieces:
        square = lowest(pieces)
        pieces &= pieces - 1
        if captures_from(square, (others >> square) & 1, occupied, targets, valid, 0):
            push_capture(work, 0, square, (others >> square) & 1, 0, valid)
            rest = ~(1 << square)
            started |= expand_captures(work, 1, men & rest, others & rest, targets, False)
    return started
