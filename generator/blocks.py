"""Solving a batch of blocks: exits of both sides, then the two passes over their king moves, then the results
in the order of the files' index."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.afters import DRAWN, WIN_AT_ONCE, Afters, block_offset
from generator.bits import highest, lowest, popcount
from generator.exits import LAST_ROW, ExitRoom, captures
from generator.jit import inlined, kernel
from generator.spread import NOT_DECIDED, Side, add_event, spread_on_board, spread_under_rules
from generator.subsets import BINOMIAL, STEP, Subsets, rank

EVENTS_FULL = -2


class SideRoom(NamedTuple):
    """One side's arrays (see `Side`), for a batch of blocks; one a thread."""

    starts: NDArray[np.int64]  # [4, blocks]
    words: NDArray[np.uint32]  # [10, most words]
    dtw: NDArray[np.uint8]
    dtc: NDArray[np.uint8]
    strips: NDArray[np.uint8]  # [3, most strips]
    event_first: NDArray[np.int32]  # [256]
    event_next: NDArray[np.int32]
    event_word: NDArray[np.int32]
    event_lanes: NDArray[np.uint32]
    event_count: NDArray[np.int64]  # [1]


class Results(NamedTuple):
    """A slice in the order of its index: distances in plies (NOT_DECIDED: none), and whether the position is
    stored (has no capture)."""

    dtw: NDArray[np.uint8]
    dtc: NDArray[np.uint8]
    stored: NDArray[np.uint8]


@inlined
def make_side(
    kings: int,
    opponent_kings: int,
    men: NDArray[np.int64],
    bases: NDArray[np.int64],
    s: int,
    afters: Afters,
    room: SideRoom,
) -> Side:
    """A side of the blocks `men` [block, 2]; without those that are their own twins on the second side."""
    blocks = len(men) if bases[0, s] >= 0 else 0
    for block in range(blocks):
        own, opponent = men[block, 0], men[block, 1]
        offset = block_offset(kings, own, opponent_kings, opponent)
        place = (kings, popcount(own), opponent_kings, popcount(opponent))
        room.starts[0, block] = own
        room.starts[1, block] = opponent
        room.starts[2, block] = afters.start[place] + offset
        room.starts[3, block] = afters.score_start[place] + offset * (32 if kings else 1)
    w = room.words
    return Side(
        kings, opponent_kings, blocks, BINOMIAL[32, max(kings - 1, 0)], BINOMIAL[32, opponent_kings],
        room.starts[0], room.starts[1], room.starts[2], room.starts[3],
        w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], room.dtw, room.dtc,
        room.strips[0], room.strips[1], room.strips[2],
        room.event_first, room.event_next, room.event_word, room.event_lanes, room.event_count,
    )  # fmt: skip


@kernel
def _find_exits(side: Side, block: int, tables: Subsets, afters: Afters, room: ExitRoom) -> int:
    """Captures and men's moves of every position of a side to move in a block. Returns the ply of the last
    event, or EVENTS_FULL."""
    men, opponent_men = side.men[block], side.opponent_men[block]
    base = block * side.rows * side.columns
    all_men = men | opponent_men
    man_count, opponent_man_count = popcount(men), popcount(opponent_men)
    has_lane = side.kings > 0
    last_event = 0
    # Men's quiet moves: target square, first word and score of the block they lead to, whether they promote.
    steps = np.zeros((2 * 12, 6), dtype=np.int64)
    step_count = 0
    left = men
    while left:
        square = lowest(left)
        left &= left - 1
        for direction in range(2):
            target = STEP[square, direction]
            if target < 0 or (all_men >> target) & 1:
                continue
            promotes = target >= LAST_ROW
            rest = men & ~(1 << square)
            men_after = rest if promotes else rest | (1 << target)
            kings_after = side.kings + (1 if promotes else 0)
            place = (kings_after, man_count - (1 if promotes else 0), side.opponent_kings, opponent_man_count)
            offset = block_offset(kings_after, men_after, side.opponent_kings, opponent_men)
            steps[step_count, 0] = target
            steps[step_count, 1] = afters.start[place] + offset
            steps[step_count, 2] = afters.score_start[place] + offset * (32 if kings_after else 1)
            steps[step_count, 3] = 1 if promotes else 0
            step_count += 1
    for row in range(side.rows):
        others = int(tables.squares[tables.start[max(side.kings - 1, 0)] + row])
        if others & all_men:
            for column in range(side.columns):
                word = base + row * side.columns + column
                side.quiet[word] = side.held[word] = 0
                side.rule_win[word] = side.rule_safe[word] = side.rule_any[word] = 0
            continue
        # A position is decided where its highest king is the lane.
        above = 0xFFFFFFFF & ~((2 << highest(others)) - 1) if others else 0xFFFFFFFF
        for step in range(step_count):
            row_after = row
            if steps[step, 3] and has_lane:
                row_after = rank(others | (1 << steps[step, 0]))
            steps[step, 4] = row_after * side.columns
        for column in range(side.columns):
            word = base + row * side.columns + column
            opponents = int(tables.squares[tables.start[side.opponent_kings] + column])
            occupied = all_men | others | opponents
            valid = (above & ~occupied) if has_lane else 1
            if opponents & (all_men | others) or not valid:
                side.quiet[word] = side.held[word] = 0
                side.rule_win[word] = side.rule_safe[word] = side.rule_any[word] = 0
                continue
            able = captures(room, afters, has_lane, men, others, opponent_men, opponents, valid)
            quiet = valid & ~able
            rule_any, rule_win, rule_safe = able, room.lanes[0], room.lanes[1]
            best = room.quiet
            for lane in range(32):
                best[lane] = 0
            if quiet:
                for step in range(step_count):
                    target = steps[step, 0]
                    if (occupied >> target) & 1:
                        continue
                    offset = steps[step, 4] + column
                    lost = int(afters.lost[steps[step, 1] + offset])
                    won = int(afters.won[steps[step, 1] + offset])
                    if has_lane:
                        lanes = quiet & ~(1 << target)
                        rule_any |= lanes
                        rule_win |= lanes & lost
                        rule_safe |= lanes & ~won
                        at = steps[step, 2] + offset * 32
                        scores = afters.score[at : at + 32]
                        for lane in range(32):
                            best[lane] = max(best[lane], scores[lane])
                    else:
                        lane = target if steps[step, 3] else 0
                        rule_any |= 1
                        rule_win |= (lost >> lane) & 1
                        rule_safe |= ~(won >> lane) & 1
                        at = steps[step, 2] + (offset * 32 + lane if steps[step, 3] else offset)
                        best[0] = max(best[0], afters.score[at])
            mask = np.uint32(able)
            for lane in range(32):
                captured = (mask >> np.uint32(lane)) & np.uint32(1)
                best[lane] = room.capture[lane] if captured else best[lane]
            side.quiet[word] = quiet
            side.rule_win[word] = rule_win
            side.rule_safe[word] = rule_safe
            side.rule_any[word] = rule_any
            last = _add_events(side, best, word, valid, quiet)
            if last < 0:
                return EVENTS_FULL
            last_event = max(last_event, last)
    return last_event


@inlined
def _add_events(side: Side, best: NDArray[np.uint8], word: int, valid: int, quiet: int) -> int:
    """Group the lanes of a word by their best exit; the ply of the last event, or EVENTS_FULL."""
    if side.event_count[0] + 32 > len(side.event_next):
        return EVENTS_FULL
    last = 0
    held = 0
    left = valid
    while left:
        score = best[lowest(left)]
        same = np.uint32(0)
        for lane in range(32):
            same = np.uint32(same | np.uint32(np.uint32(best[lane] == score) << np.uint32(lane)))
        lanes = left & int(same)
        left &= ~lanes
        value = int(score)
        if value == 0:
            # No exit. Without kings that is no move at all: lost. With kings it is up to them.
            if side.kings == 0:
                add_event(side, 0, word, lanes)
        elif value == DRAWN:
            held |= lanes & quiet
        else:
            held |= lanes & quiet
            ply = 2 * (WIN_AT_ONCE - value) + 1 if value > DRAWN else 2 * value
            last = max(last, ply)
            add_event(side, ply, word, lanes)
    side.held[word] = held
    return last


@kernel
def _fill_draws(side: Side, block: int, tables: Subsets, scores: NDArray[np.uint8]) -> None:
    """What the spread has left without a score is drawn on the board."""
    men = side.men[block] | side.opponent_men[block]
    for row in range(side.rows):
        others = int(tables.squares[tables.start[max(side.kings - 1, 0)] + row])
        if others & men:
            continue
        for column in range(side.columns):
            opponents = int(tables.squares[tables.start[side.opponent_kings] + column])
            if opponents & (men | others):
                continue
            at = side.score_start[block] + (row * side.columns + column) * (32 if side.kings else 1)
            if side.kings == 0:
                if scores[at] == 0:
                    scores[at] = DRAWN
                continue
            valid = np.uint32(~np.uint32(men | others | opponents))
            here = scores[at : at + 32]
            for lane in range(32):
                drawn = np.uint8(DRAWN) if (valid >> np.uint32(lane)) & np.uint32(1) else np.uint8(0)
                here[lane] = drawn if here[lane] == 0 else here[lane]


@kernel
def _gather(side: Side, block: int, tables: Subsets, results: Results, index: int) -> None:
    """The block's results in the order of the index: own kings, then the opponent's, each in order of rank.
    (Ranks among the free squares run in the same order as ranks among all squares.)"""
    men = side.men[block] | side.opponent_men[block]
    own_start = tables.start[side.kings]
    opponent_start = tables.start[side.opponent_kings]
    for own_rank in range(BINOMIAL[32, side.kings]):
        own = int(tables.squares[own_start + own_rank])
        if own & men:
            continue
        lane = highest(own) if own else 0
        row = own_rank - BINOMIAL[lane, side.kings] if own else 0
        for column in range(side.columns):
            if int(tables.squares[opponent_start + column]) & (men | own):
                continue
            word = block * side.rows * side.columns + row * side.columns + column
            results.dtw[index] = side.dtw[word * 32 + lane]
            results.dtc[index] = side.dtc[word * 32 + lane]
            results.stored[index] = (side.quiet[word] >> np.uint32(lane)) & np.uint32(1)
            index += 1


@kernel
def find_exits(sides: tuple[Side, Side], count: int, tables: Subsets, afters: Afters, room: ExitRoom) -> int:
    """The exits of a batch. Returns the ply of the last event, or EVENTS_FULL."""
    last_event = 0
    for s in range(count):
        side = sides[s]
        side.event_count[0] = 0
        side.event_first[:] = -1
        lanes = side.blocks * side.rows * side.columns * 32
        side.dtw[:lanes] = NOT_DECIDED
        side.dtc[:lanes] = NOT_DECIDED
        for block in range(side.blocks):
            found = _find_exits(side, block, tables, afters, room)
            if found < 0:
                return found
            last_event = max(last_event, found)
    return last_event


@kernel
def finish_afters(side: Side, tables: Subsets, afters: Afters) -> None:
    """Complete a batch's after tables, in which the scores of won and lost positions stand already."""
    words = side.rows * side.columns
    for block in range(side.blocks):
        _fill_draws(side, block, tables, afters.score)
        start = side.word_start[block]
        afters.lost[start : start + words] = side.lost[block * words : (block + 1) * words]
        afters.won[start : start + words] = side.won[block * words : (block + 1) * words]


@kernel
def solve_batch(
    men: NDArray[np.int64],
    turned_men: NDArray[np.int64],
    bases: NDArray[np.int64],
    kings: int,
    opponent_kings: int,
    limit: int,
    tables: Subsets,
    afters: Afters,
    exit_room: ExitRoom,
    rooms: tuple[SideRoom, SideRoom],
    strip_room: NDArray[np.uint32],
    results: tuple[Results, Results],
) -> int:
    """Solve a batch of blocks that do not lead to each other.

    `men` [block, 2]: the men of the first side and of its opponent, as the first side sees them; `turned_men`
    the same for the other side to move. `bases` [block, 2]: the index of the block's first position in either
    slice; -1 for the second in all or none of the batch, where the blocks are their own twins. Returns 0,
    EVENTS_FULL (nothing done: call again with more room) or TOO_LONG.
    """
    sides = (
        make_side(kings, opponent_kings, men, bases, 0, afters, rooms[0]),
        make_side(opponent_kings, kings, turned_men, bases, 1, afters, rooms[1]),
    )
    count = 1 if sides[1].blocks == 0 else 2
    last_event = find_exits(sides, count, tables, afters, exit_room)
    if last_event < 0:
        return last_event
    error = spread_on_board(sides, count, tables, afters.score, last_event, strip_room)
    if error:
        return error
    spread_under_rules(sides, count, tables, limit, strip_room)
    for s in range(count):
        finish_afters(sides[s], tables, afters)
        for block in range(sides[s].blocks):
            _gather(sides[s], block, tables, results[s], bases[block, s])
    return 0
