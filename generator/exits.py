"""The exits of a batch: what captures and men's moves lead to, for 32 positions at once.

Captures are compulsory, so a position with a capture is decided here. A quiet one leaves its block by men's
moves alone; what remains are its king moves, inside the block (see spread.py).

Three sets of lanes tell the outcome under the rules: `rule_any` has an exit, `rule_win` has one to a position
lost for the opponent, `rule_safe` one to a position not won for the opponent. On the board, exits are worked
out in three rounds over the words of a block, which hand on the best score of each lane in `dtw`: captures,
men's moves, events.

Arrays are taken out of their tuples before the loops: numba counts references at each such access.
"""

import numpy as np
from numpy.typing import NDArray

from generator.afters import DRAWN, WIN_AT_ONCE, Afters, block_offset
from generator.captures import COUNT, ENDING, FIRST_ENDING, LAST_ROW, captures
from generator.sides import NOT_DECIDED, WINS_SLOT, Results, Side
from generator.subsets import BINOMIAL, STEP, Subsets, rank
from tablebase.kernels.bits import highest, lowest, popcount, signed
from tablebase.kernels.jit import kernel

EVENTS_FULL = -2


@kernel
def _take_captures(
    side: Side, block: int, tables: Subsets, afters: Afters, work: NDArray[np.int64], score: NDArray[np.uint8]
) -> None:
    """The captures of a block: which lanes have one (the rest of the valid ones are `quiet`), and their
    best."""
    kings, columns = side.kings, side.columns
    men, opponent_men = signed(side.men[block]), signed(side.opponent_men[block])
    all_men = men | opponent_men
    quiet, held = side.quiet, side.held
    rule_win, rule_safe, rule_any, best = side.rule_win, side.rule_safe, side.rule_any, side.dtw
    lost_after, won_after, scores = afters.lost, afters.won, afters.score
    starts, score_starts = afters.start, afters.score_start
    own_sets = tables.squares[tables.start[max(kings - 1, 0)] :]
    opponent_sets = tables.squares[tables.start[side.opponent_kings] :]
    for row in range(side.rows):
        others = signed(own_sets[row])
        # A position is decided where its highest king is the lane.
        lanes_of_row = 1
        if kings:
            lanes_of_row = 0xFFFFFFFF & ~((2 << highest(others)) - 1) if others else 0xFFFFFFFF
        if others & all_men:
            lanes_of_row = 0
        for column in range(columns):
            word = (block * side.rows + row) * columns + column
            opponents = signed(opponent_sets[column])
            valid = lanes_of_row & ~(all_men | others | opponents) if kings else lanes_of_row
            if opponents & (all_men | others):
                valid = 0
            quiet[word] = held[word] = rule_win[word] = rule_safe[word] = rule_any[word] = 0
            if not valid:
                continue
            able = captures(work, kings > 0, men, others, opponent_men | opponents, valid)
            quiet[word] = valid & ~able
            rule_any[word] = able
            if not able:
                continue
            win = safe = 0
            score[:] = 0
            for ending in range(work[COUNT]):
                at = FIRST_ENDING + ending * ENDING
                own_men, own_others, landings = work[at], work[at + 1], work[at + 2]
                left_men, left_kings = opponent_men & ~work[at + 3], opponents & ~work[at + 3]
                lanes = work[at + 4]
                value = np.uint8(WIN_AT_ONCE)
                if left_men | left_kings:
                    own_kings = popcount(own_others) + (1 if kings or landings else 0)
                    place = (own_kings, popcount(own_men), popcount(left_kings), popcount(left_men))
                    offset = block_offset(own_kings, own_men, place[2], left_men)
                    offset += rank(own_others) * BINOMIAL[32, place[2]] + rank(left_kings)
                    lost = signed(lost_after[starts[place] + offset])
                    won = signed(won_after[starts[place] + offset])
                    at = score_starts[place] + offset * (32 if own_kings else 1)
                    if kings and not landings:
                        # The lane king stands by: each lane has a value of its own.
                        win |= lanes & lost
                        safe |= lanes & ~won
                        here = scores[at : at + 32]
                        mask = np.uint32(lanes)
                        for lane in range(32):
                            offered = here[lane] if (mask >> np.uint32(lane)) & np.uint32(1) else np.uint8(0)
                            score[lane] = max(score[lane], offered)
                        continue
                    if not own_kings:
                        landings = 1
                    win |= lanes if landings & lost else 0
                    safe |= lanes if landings & ~won else 0
                    value = np.uint8(0)
                    while landings:
                        value = max(value, scores[at + lowest(landings)])
                        landings &= landings - 1
                else:
                    win |= lanes
                    safe |= lanes
                mask = np.uint32(lanes)
                for lane in range(32):
                    offered = value if (mask >> np.uint32(lane)) & np.uint32(1) else np.uint8(0)
                    score[lane] = max(score[lane], offered)
            rule_win[word] = win
            rule_safe[word] = safe
            here = best[word * 32 : word * 32 + 32]
            for lane in range(32):
                here[lane] = score[lane]


@kernel
def _take_mens_moves(side: Side, block: int, tables: Subsets, afters: Afters, promotions: bool) -> None:
    """The men's moves of a block, for its quiet positions: promotions, or all others."""
    kings, columns = side.kings, side.columns
    men, opponent_men = signed(side.men[block]), signed(side.opponent_men[block])
    all_men = men | opponent_men
    quiet_lanes, best = side.quiet, side.dtw
    rule_win, rule_safe, rule_any = side.rule_win, side.rule_safe, side.rule_any
    lost_after, won_after, scores = afters.lost, afters.won, afters.score
    own_sets = tables.squares[tables.start[max(kings - 1, 0)] :]
    opponent_sets = tables.squares[tables.start[side.opponent_kings] :]
    left = men
    while left:
        square = lowest(left)
        left &= left - 1
        for direction in range(2):
            target = STEP[square, direction]
            if target < 0 or (all_men >> target) & 1:
                continue
            crowned = 1 if target >= LAST_ROW else 0
            if promotions != (crowned == 1):
                continue
            men_after = men & ~(1 << square) | (0 if crowned else 1 << target)
            kings_after = kings + crowned
            place = (kings_after, popcount(men_after), side.opponent_kings, popcount(opponent_men))
            offset = block_offset(kings_after, men_after, side.opponent_kings, opponent_men)
            start = afters.start[place] + offset
            score_start = afters.score_start[place] + offset * (32 if kings_after else 1)
            for row in range(side.rows):
                others = signed(own_sets[row])
                if others & (all_men | (1 << target)):
                    continue
                row_after = rank(others | (1 << target)) if crowned and kings else row
                for column in range(columns):
                    word = (block * side.rows + row) * columns + column
                    quiet = signed(quiet_lanes[word])
                    if not quiet or (signed(opponent_sets[column]) >> target) & 1:
                        continue
                    offset = row_after * columns + column
                    lost, won = signed(lost_after[start + offset]), signed(won_after[start + offset])
                    if not kings:
                        # One lane before the move; after a promotion the new king is the lane.
                        lane = target if crowned else 0
                        rule_any[word] |= np.uint32(1)
                        rule_win[word] |= np.uint32((lost >> lane) & 1)
                        rule_safe[word] |= np.uint32(~(won >> lane) & 1)
                        at = score_start + (offset * 32 + lane if crowned else offset)
                        best[word * 32] = max(best[word * 32], scores[at])
                        continue
                    lanes = quiet & ~(1 << target)
                    rule_any[word] |= np.uint32(lanes)
                    rule_win[word] |= np.uint32(lanes & lost)
                    rule_safe[word] |= np.uint32(lanes & ~won)
                    mask = np.uint32(lanes)
                    here = best[word * 32 : word * 32 + 32]
                    there = scores[score_start + offset * 32 : score_start + offset * 32 + 32]
                    for lane in range(32):
                        offered = there[lane] if (mask >> np.uint32(lane)) & np.uint32(1) else np.uint8(0)
                        here[lane] = max(here[lane], offered)


@kernel
def _keep_changes(side: Side, block: int) -> None:
    """The exits so far, captures and promotions, are those that change the balance of forces."""
    first = block * side.rows * side.columns
    last = first + side.rows * side.columns
    side.change_win[first:last] = side.rule_win[first:last]
    side.change_safe[first:last] = side.rule_safe[first:last]
    side.change_any[first:last] = side.rule_any[first:last]


@kernel
def _list_balance_events(side: Side, block: int, tables: Subsets, scores: NDArray[np.uint8]) -> int:
    """The exits of a block by the plies to the next balance change, as events (see `spread_balance`): a
    capture or a promotion takes 1, another step of a man one more than the position it leads to. `held` is
    set anew.

    `scores`: of this material alone, at `balance_start`: p for a loss in p plies from before the move, 255 -
    p for a win in p, DRAWN. Both sides have kings. Returns the ply of the last event, or EVENTS_FULL.
    """
    columns, kings, opponent_kings = side.columns, side.kings, side.opponent_kings
    men, opponent_men = signed(side.men[block]), signed(side.opponent_men[block])
    all_men = men | opponent_men
    quiet_lanes, held_lanes = side.quiet, side.held
    change_win, change_safe, change_any = side.change_win, side.change_safe, side.change_any
    first, following, words, lanes_of = side.event_first, side.event_next, side.event_word, side.event_lanes
    own_sets = tables.squares[tables.start[kings - 1] :]
    opponent_sets = tables.squares[tables.start[opponent_kings] :]
    step_to = np.zeros(24, dtype=np.int64)
    step_start = np.zeros(24, dtype=np.int64)
    best = np.zeros(32, dtype=np.uint8)
    steps = 0
    left = men
    while left:
        square = lowest(left)
        left &= left - 1
        for direction in range(2):
            target = STEP[square, direction]
            if 0 <= target < LAST_ROW and not (all_men >> target) & 1:
                men_after = men & ~(1 << square) | (1 << target)
                step_to[steps] = target
                step_start[steps] = block_offset(kings, men_after, opponent_kings, opponent_men) * 32
                steps += 1
    event = side.event_count[0]
    last = 0
    for row in range(side.rows):
        others = signed(own_sets[row])
        for column in range(columns):
            word = (block * side.rows + row) * columns + column
            quiet = signed(quiet_lanes[word])
            any_exit = signed(change_any[word])
            held_lanes[word] = 0
            if not quiet | any_exit:
                continue
            if event + 33 > len(following):
                return EVENTS_FULL
            win, safe = signed(change_win[word]), signed(change_safe[word])
            for lane in range(32):
                bit = 1 << lane
                score = DRAWN if safe & bit else 1
                best[lane] = (254 if win & bit else score) if any_exit & bit else 0
            opponents = signed(opponent_sets[column])
            for step in range(steps if quiet else 0):
                if ((others | opponents) >> step_to[step]) & 1:
                    continue
                lanes = quiet & ~(1 << step_to[step])
                any_exit |= lanes
                mask = np.uint32(lanes)
                at = step_start[step] + (row * columns + column) * 32
                there = scores[at : at + 32]
                for lane in range(32):
                    offered = there[lane] if (mask >> np.uint32(lane)) & np.uint32(1) else np.uint8(0)
                    best[lane] = max(best[lane], offered)
            held = 0
            left = any_exit
            while left:
                score = best[lowest(left)]
                same = np.uint32(0)
                for lane in range(32):
                    same = np.uint32(same | np.uint32(np.uint32(best[lane] == score) << np.uint32(lane)))
                lanes = left & signed(same)
                left &= ~lanes
                held |= lanes & quiet
                value = signed(score)
                if value == DRAWN:
                    continue
                slot = WINS_SLOT + WIN_AT_ONCE - value if value > DRAWN else value
                last = max(last, slot % WINS_SLOT)
                words[event], lanes_of[event], following[event] = word, lanes, first[slot]
                first[slot] = event
                event += 1
            held_lanes[word] = held
    side.event_count[0] = event
    return last


@kernel
def find_balance_events(side: Side, tables: Subsets, scores: NDArray[np.uint8]) -> int:
    """The exits of a batch as events by the plies to the next balance change; the ply of the last, or
    EVENTS_FULL."""
    side.event_count[0] = 0
    side.event_first[:] = -1
    lanes = side.blocks * side.rows * side.columns * 32
    side.dtb[:lanes] = NOT_DECIDED
    last_event = 0
    for block in range(side.blocks):
        found = _list_balance_events(side, block, tables, scores)
        if found < 0:
            return found
        last_event = max(last_event, found)
    return last_event


@kernel
def _take_known(side: Side, block: int, tables: Subsets, results: Results, index: int) -> None:
    """Instead of men's moves: every quiet position of a block is decided, as `results` know it. Restoring a
    slice is solving it with nothing left to find."""
    men = signed(side.men[block] | side.opponent_men[block])
    kings, columns = side.kings, side.columns
    quiet, best = side.quiet, side.dtw
    rule_win, rule_safe, rule_any = side.rule_win, side.rule_safe, side.rule_any
    known_dtw, known_dtc = results.dtw, results.dtc
    own_sets, opponent_sets = (
        tables.squares[tables.start[kings] :],
        tables.squares[tables.start[side.opponent_kings] :],
    )
    for column in range(columns):
        opponents = signed(opponent_sets[column])
        if opponents & men:
            continue
        for own_rank in range(BINOMIAL[32, kings]):
            own = signed(own_sets[own_rank])
            if own & (men | opponents):
                continue
            lane = highest(own) if own else 0
            row = own_rank - BINOMIAL[lane, kings] if own else 0
            word = (block * side.rows + row) * columns + column
            if (signed(quiet[word]) >> lane) & 1:
                dtw, dtc = signed(known_dtw[index]), known_dtc[index]
                bit = np.uint32(1 << lane)
                quiet[word] &= ~bit
                rule_any[word] |= bit
                score = DRAWN
                if dtw != NOT_DECIDED:
                    score = WIN_AT_ONCE - dtw // 2 if dtw % 2 else dtw // 2
                best[word * 32 + lane] = score
                lost = dtw % 2 == 0 and dtc != NOT_DECIDED
                if not lost:
                    rule_safe[word] |= bit
                    if dtc != NOT_DECIDED:
                        rule_win[word] |= bit
            index += 1


@kernel
def _list_events(side: Side, block: int) -> int:
    """Turn the best scores of a block into events, and `dtw` into results not decided yet. Returns the ply of
    the last event, or EVENTS_FULL."""
    kings = side.kings
    quiet_lanes, held_lanes, any_exit, best = side.quiet, side.held, side.rule_any, side.dtw
    first, following, words, lanes_of = side.event_first, side.event_next, side.event_word, side.event_lanes
    event = side.event_count[0]
    last = 0
    for word in range(block * side.rows * side.columns, (block + 1) * side.rows * side.columns):
        if event + 33 > len(following):
            return EVENTS_FULL
        here = best[word * 32 : word * 32 + 32]
        quiet = signed(quiet_lanes[word])
        left = signed(any_exit[word])
        held = 0
        if kings == 0 and quiet & ~left:
            # Without kings and without an exit there is no move at all: lost.
            words[event], lanes_of[event], following[event] = word, 1, first[0]
            first[0] = event
            event += 1
        while left:
            score = here[lowest(left)]
            same = np.uint32(0)
            for lane in range(32):
                same = np.uint32(same | np.uint32(np.uint32(here[lane] == score) << np.uint32(lane)))
            lanes = left & signed(same)
            left &= ~lanes
            held |= lanes & quiet
            value = signed(score)
            if value == DRAWN:
                continue
            ply = 2 * (WIN_AT_ONCE - value) + 1 if value > DRAWN else 2 * value
            last = max(last, ply)
            words[event], lanes_of[event], following[event] = word, lanes, first[ply]
            first[ply] = event
            event += 1
        held_lanes[word] = held
        here[:] = np.uint8(NOT_DECIDED)
    side.event_count[0] = event
    return last


@kernel
def find_exits(
    side: Side,
    tables: Subsets,
    afters: Afters,
    work: NDArray[np.int64],
    known: bool,
    results: Results,
    bases: NDArray[np.int64],
) -> int:
    """The exits of a batch, as events. Returns the ply of the last event, or EVENTS_FULL."""
    last_event = 0
    score = np.zeros(32, dtype=np.uint8)
    side.event_count[0] = 0
    side.event_first[:] = -1
    lanes = side.blocks * side.rows * side.columns * 32
    side.dtw[:lanes] = 0
    side.dtc[:lanes] = NOT_DECIDED
    for block in range(side.blocks):
        _take_captures(side, block, tables, afters, work, score)
        if known:
            _take_known(side, block, tables, results, bases[block])
        else:
            _take_mens_moves(side, block, tables, afters, True)
            if len(side.dtb):
                _keep_changes(side, block)
            _take_mens_moves(side, block, tables, afters, False)
        found = _list_events(side, block)
        if found < 0:
            return found
        last_event = max(last_event, found)
    return last_event
