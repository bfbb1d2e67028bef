"""The exits of a word: what captures and men's moves lead to, for 32 positions at once.

Captures are compulsory, so a position with a capture is decided here. A quiet one leaves its block by men's
moves alone; what remains are its king moves, inside the block (see spread.py).

Three sets of lanes tell the outcome under the rules: `any` has an exit, `win` has one to a position lost for
the opponent, `safe` one to a position not won for the opponent. A byte a lane tells the best score on the
board (see afters.py).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.afters import WIN_AT_ONCE, Afters, block_offset
from generator.bits import highest, lowest, popcount
from generator.jit import inlined, kernel
from generator.subsets import BINOMIAL, STEP, rank

LAST_ROW = 28
_ALL = 0xFFFFFFFF


def _rays() -> NDArray[np.int64]:
    table = np.zeros((32, 4), dtype=np.int64)
    for square in range(32):
        for direction in range(4):
            target = STEP[square, direction]
            while target >= 0:
                table[square, direction] |= 1 << int(target)
                target = STEP[target, direction]
    return table


# RAY[square, direction]: all squares that way, to the edge.
RAY = _rays()

# A capture in progress on the stack: square, whether the piece is a king (by now), captured so far, lanes.
_NODE = 4
# A node is expanded into at most 4 directions * 6 landing squares, one of the nodes is taken off before, and
# a capture is no longer than the other side has pieces (at most 8 here).
_STACK_NODES = 8 * 24


class ExitRoom(NamedTuple):
    """Room to work in, one a thread. `capture` and `quiet` uint8 [32]: best scores; `lanes` int64 [2]: win,
    safe of the captures; `stack` int64."""

    capture: NDArray[np.uint8]
    quiet: NDArray[np.uint8]
    lanes: NDArray[np.int64]
    stack: NDArray[np.int64]


def exit_room() -> ExitRoom:
    """Room for one thread."""
    return ExitRoom(
        np.zeros(32, dtype=np.uint8),
        np.zeros(32, dtype=np.uint8),
        np.zeros(2, dtype=np.int64),
        np.zeros(_STACK_NODES * _NODE, dtype=np.int64),
    )


@inlined
def _better_everywhere(best: NDArray[np.uint8], score: int, lanes: int) -> None:
    value = np.uint8(score)
    mask = np.uint32(lanes)
    for lane in range(32):
        offered = value if (mask >> np.uint32(lane)) & np.uint32(1) else np.uint8(0)
        best[lane] = max(best[lane], offered)


@inlined
def _better_by_lane(best: NDArray[np.uint8], scores: NDArray[np.uint8], at: int, lanes: int) -> None:
    row = scores[at : at + 32]
    mask = np.uint32(lanes)
    for lane in range(32):
        offered = row[lane] if (mask >> np.uint32(lane)) & np.uint32(1) else np.uint8(0)
        best[lane] = max(best[lane], offered)


@inlined
def _first_piece(square: int, direction: int, occupied: int) -> int:
    """The first piece that way, or -1."""
    pieces = RAY[square, direction] & occupied
    if pieces == 0:
        return -1
    return lowest(pieces) if direction < 2 else highest(pieces)


@inlined
def _free_run(square: int, direction: int, occupied: int) -> int:
    """The empty squares that way before the first piece (or the edge)."""
    stop = _first_piece(square, direction, occupied)
    run = RAY[square, direction]
    return int(run if stop < 0 else run & ~RAY[stop, direction] & ~(1 << stop))


@inlined
def _victim(square: int, king: int, direction: int, occupied: int, targets: int) -> int:
    """The piece that can be captured that way as far as the fixed pieces say (the square behind it is empty),
    or -1."""
    victim = _first_piece(square, direction, occupied) if king else STEP[square, direction]
    if victim < 0 or not (targets >> victim) & 1:
        return -1
    landing = STEP[victim, direction]
    if landing < 0 or (occupied >> landing) & 1:
        return -1
    return int(victim)


@inlined
def _open_lanes(square: int, victim: int, direction: int, lanes: int, in_the_way: int) -> int:
    """The lanes whose king stands neither between `square` and the victim nor on the square behind it.
    `in_the_way` is all lanes, or none where the capturing piece is the lane king itself."""
    path = RAY[square, direction] & ~RAY[victim, direction] & ~(1 << victim)
    return int(lanes & ~((path | (1 << STEP[victim, direction])) & in_the_way))


@inlined
def _captures_from(square: int, king: int, occupied: int, targets: int, lanes: int, in_the_way: int) -> int:
    """The lanes in which a piece on `square` can capture."""
    able = 0
    for direction in range(4):
        victim = _victim(square, king, direction, occupied, targets)
        if victim >= 0:
            able |= _open_lanes(square, victim, direction, lanes, in_the_way)
    return able


@inlined
def _end_of_capture(
    room: ExitRoom,
    afters: Afters,
    lane_on_board: bool,
    men: int,
    others: int,
    landings: int,
    other_men: int,
    other_kings: int,
    lanes: int,
) -> None:
    """A capture is done, in `lanes`. If the lane king stands by, the position is `men`, `others` and it. If
    it is the capturing king itself (or the side had no king before), it ends on any of `landings` (0: a man
    of a side without kings, which has words of one lane)."""
    if not (other_men | other_kings):
        _better_everywhere(room.capture, WIN_AT_ONCE, lanes)
        room.lanes[0] |= lanes
        room.lanes[1] |= lanes
        return
    kings = popcount(others) + (1 if lane_on_board or landings else 0)
    place = (kings, popcount(men), popcount(other_kings), popcount(other_men))
    offset = (
        block_offset(kings, men, place[2], other_men)
        + rank(others) * BINOMIAL[32, place[2]]
        + rank(other_kings)
    )
    word = afters.start[place] + offset
    lost = int(afters.lost[word])
    won = int(afters.won[word])
    if lane_on_board:
        room.lanes[0] |= lanes & lost
        room.lanes[1] |= lanes & ~won
        _better_by_lane(room.capture, afters.score, afters.score_start[place] + offset * 32, lanes)
        return
    score = 0
    if landings:
        left = landings
        while left:
            score = max(score, int(afters.score[afters.score_start[place] + offset * 32 + lowest(left)]))
            left &= left - 1
    else:
        landings = 1
        score = int(afters.score[afters.score_start[place] + offset])
    if landings & lost:
        room.lanes[0] |= lanes
    if landings & ~won:
        room.lanes[1] |= lanes
    _better_everywhere(room.capture, score, lanes)


@kernel
def _carry_on(
    room: ExitRoom,
    afters: Afters,
    nodes: int,
    lane_on_board: bool,
    lane_captures: bool,
    men: int,
    others: int,
    other_men: int,
    other_kings: int,
) -> int:
    """Carry the captures on the stack to their ends; the lanes that had one to begin with.

    `men` and `others` are the mover's pieces without the capturing one (and without the lane king). Captured
    pieces stay on the board, and may not be captured twice, until the capture is over.
    """
    occupied = men | others | other_men | other_kings
    in_the_way = _ALL if lane_on_board and not lane_captures else 0
    stands_by = lane_on_board and not lane_captures
    stack = room.stack
    first = True
    started = 0
    while nodes:
        nodes -= 1
        square = stack[nodes * _NODE]
        king = stack[nodes * _NODE + 1]
        captured_before = stack[nodes * _NODE + 2]
        lanes_here = stack[nodes * _NODE + 3]
        targets_here = (other_men | other_kings) & ~captured_before
        for direction in range(4):
            victim = _victim(square, king, direction, occupied, targets_here)
            if victim < 0:
                continue
            lanes = _open_lanes(square, victim, direction, lanes_here, in_the_way)
            if not lanes:
                continue
            if first:
                started |= lanes
            captured = captured_before | (1 << victim)
            targets = targets_here & ~captured
            landing = STEP[victim, direction]
            if not king:
                crowned = 1 if landing >= LAST_ROW else 0
                ending = lanes
                if targets:
                    going_on = _captures_from(landing, crowned, occupied, targets, lanes, in_the_way)
                    if going_on:
                        stack[nodes * _NODE] = landing
                        stack[nodes * _NODE + 1] = crowned
                        stack[nodes * _NODE + 2] = captured
                        stack[nodes * _NODE + 3] = going_on
                        nodes += 1
                        ending &= ~going_on
                if ending:
                    new_man = 0 if crowned else 1 << landing
                    new_king = 1 << landing if crowned else 0
                    _end_of_capture(
                        room,
                        afters,
                        stands_by,
                        men | new_man,
                        others | new_king if stands_by else others,
                        0 if stands_by else new_king,
                        other_men & ~captured,
                        other_kings & ~captured,
                        ending,
                    )
                continue
            # A king must land where the capture goes on, if there is such a square in reach.
            landings = _free_run(victim, direction, occupied)
            ending = lanes
            if targets:
                reaching = lanes
                target = landing
                while target >= 0 and (landings >> target) & 1 and reaching:
                    reaching &= ~((1 << target) & in_the_way)
                    going_on = _captures_from(target, 1, occupied, targets, reaching, in_the_way)
                    if going_on:
                        stack[nodes * _NODE] = target
                        stack[nodes * _NODE + 1] = 1
                        stack[nodes * _NODE + 2] = captured
                        stack[nodes * _NODE + 3] = going_on
                        nodes += 1
                        ending &= ~going_on
                    target = STEP[target, direction]
            if not ending:
                continue
            if not stands_by:
                _end_of_capture(
                    room,
                    afters,
                    False,
                    men,
                    others,
                    landings,
                    other_men & ~captured,
                    other_kings & ~captured,
                    ending,
                )
                continue
            target = landing
            while target >= 0 and (landings >> target) & 1:
                ending &= ~(1 << target)
                if not ending:
                    break
                _end_of_capture(
                    room,
                    afters,
                    True,
                    men,
                    others | (1 << target),
                    0,
                    other_men & ~captured,
                    other_kings & ~captured,
                    ending,
                )
                target = STEP[target, direction]
        first = False
    return started


@kernel
def _lane_king_captures(
    room: ExitRoom, afters: Afters, men: int, others: int, other_men: int, other_kings: int, valid: int
) -> int:
    """Captures by the lane king: for each victim and direction, all squares on one side share the landing
    squares on the other. Returns the lanes that have one."""
    occupied = men | others | other_men | other_kings
    started = 0
    left = other_men | other_kings
    while left:
        victim = lowest(left)
        left &= left - 1
        targets = (other_men | other_kings) & ~(1 << victim)
        for direction in range(4):
            landing = STEP[victim, direction]
            if landing < 0 or (occupied >> landing) & 1:
                continue
            lanes = _free_run(victim, 3 - direction, occupied) & valid
            if not lanes:
                continue
            started |= lanes
            landings = _free_run(victim, direction, occupied)
            nodes = 0
            if targets:
                squares = landings
                while squares:
                    target = lowest(squares)
                    squares &= squares - 1
                    if _captures_from(target, 1, occupied, targets, 1, 0):
                        room.stack[nodes * _NODE] = target
                        room.stack[nodes * _NODE + 1] = 1
                        room.stack[nodes * _NODE + 2] = 1 << victim
                        room.stack[nodes * _NODE + 3] = lanes
                        nodes += 1
            if nodes:
                _carry_on(room, afters, nodes, True, True, men, others, other_men, other_kings)
            else:
                _end_of_capture(
                    room,
                    afters,
                    False,
                    men,
                    others,
                    landings,
                    other_men & ~(1 << victim),
                    other_kings & ~(1 << victim),
                    lanes,
                )
    return started


@kernel
def captures(
    room: ExitRoom,
    afters: Afters,
    lane_on_board: bool,
    men: int,
    others: int,
    other_men: int,
    other_kings: int,
    valid: int,
) -> int:
    """All captures of a word: the lanes that have one. `others`: the mover's kings but the lane king;
    `valid`: the lanes that are positions. Scores and outcomes are left in `room.capture` and `room.lanes`."""
    room.capture[:] = 0
    room.lanes[:] = 0
    started = 0
    if lane_on_board:
        started |= _lane_king_captures(room, afters, men, others, other_men, other_kings, valid)
    occupied = men | others | other_men | other_kings
    targets = other_men | other_kings
    left = men | others
    while left:
        square = lowest(left)
        left &= left - 1
        king = (others >> square) & 1
        in_the_way = _ALL if lane_on_board else 0
        if not _captures_from(square, king, occupied, targets, valid, in_the_way):
            continue
        room.stack[0] = square
        room.stack[1] = king
        room.stack[2] = 0
        room.stack[3] = valid
        started |= _carry_on(
            room,
            afters,
            1,
            lane_on_board,
            False,
            men & ~(1 << square),
            others & ~(1 << square),
            other_men,
            other_kings,
        )
    return started
