"""The exits of a batch in which the mover has kings: what captures and men's moves lead to, for 32 positions
at once. (Those of a side without kings are in generator/solver/man_conversions.py.)

Captures are compulsory, so a position with a capture is decided here. A quiet one leaves its block by men's
moves alone; what remains are its king moves, inside the block (see generator/solver/passes.py).

Three sets of lanes tell the outcome under the rules: `rule_any` has an exit, `rule_win` has one to a position
lost for the opponent, `rule_safe` one to a position not won for the opponent. On the board, the rounds over
the words of a batch hand on the best score of each lane in `dtw`: captures, then men's moves, then events.

Where the after tables have no scores (nobody asks for DTW), two more sets of lanes tell the outcome on the
board: `board_win` and `board_safe`.

Arrays are taken out of their tuples before the loops over blocks: numba counts references at each such
access, with atomic instructions.
"""

import numpy as np
from numpy.typing import NDArray

from generator.solver.captures import COUNT, ENDING, FIRST_ENDING, LAST_ROW, SCRATCH, captures
from generator.solver.results import BLESSED_LOSS, DRAW, NOT_DECIDED, VALUE, Results
from generator.solver.side import FIRST_PART, ONE_PART, STRIP, Side
from generator.solver.subsets import BINOMIAL, STEP, Subsets, rank
from generator.solver.successors import DRAWN, GUARD_SHIFT, WIN_AT_ONCE, SuccessorTables, block_offset, find
from tablebase.kernels.bits import highest, lowest, popcount, signed
from tablebase.kernels.jit import inner


@inner
def take_captures(
    side: Side, tables: Subsets, afters: SuccessorTables, work: NDArray[np.int64], part: int, parts: int
) -> None:
    """The captures of a batch: which lanes have one (the rest of the valid ones are `quiet`), and their
    best; all other scores are set to 0. Threads can share the words, each a `part` of `parts`."""
    score = work[SCRATCH : SCRATCH + 4].view(np.uint8)
    columns, rows = side.columns, side.rows
    men_of, opponent_men_of = side.men, side.opponent_men
    quiet, held = side.quiet, side.held
    rule_win, rule_safe, rule_any, best = side.rule_win, side.rule_safe, side.rule_any, side.dtw
    board_win, board_safe = side.board_win, side.board_safe
    lost_after, won_after, scores = afters.lost, afters.won, afters.score
    guard, listed, board_lost, board_won = (
        afters.guard,
        afters.board.words,
        afters.board.lost,
        afters.board.won,
    )
    starts, score_starts = afters.start, afters.score_start
    own_sets = tables.squares[tables.start[side.kings - 1] :]
    opponent_sets = tables.squares[tables.start[side.opponent_kings] :]
    with_scores = len(scores) > 0
    for row_of_batch in range(side.blocks * rows):
        block = row_of_batch // rows
        men, opponent_men = signed(men_of[block]), signed(opponent_men_of[block])
        all_men = men | opponent_men
        others = signed(own_sets[row_of_batch - block * rows])
        # A position is decided where its highest king is the lane.
        lanes_of_row = 0xFFFFFFFF & ~((2 << highest(others)) - 1) if others else 0xFFFFFFFF
        if others & all_men:
            lanes_of_row = 0
        for column in range(columns):
            if parts > 1 and (row_of_batch + column // STRIP) % parts != part:
                continue
            word = row_of_batch * columns + column
            if with_scores:
                best[word * 32 : word * 32 + 32] = 0
            else:
                board_win[word] = board_safe[word] = 0
            opponents = signed(opponent_sets[column])
            valid = lanes_of_row & ~(all_men | others | opponents)
            if opponents & (all_men | others):
                valid = 0
            quiet[word] = held[word] = rule_win[word] = rule_safe[word] = rule_any[word] = 0
            if not valid:
                continue
            able = captures(work, True, men, others, opponent_men | opponents, valid)
            quiet[word] = valid & ~able
            rule_any[word] = able
            if not able:
                continue
            win = safe = wins_there = safe_there = 0
            if with_scores:
                score[:] = 0
            for ending in range(work[COUNT]):
                at = FIRST_ENDING + ending * ENDING
                own_men, own_others, landings = work[at], work[at + 1], work[at + 2]
                left_men, left_kings = opponent_men & ~work[at + 3], opponents & ~work[at + 3]
                lanes = work[at + 4]
                value = np.uint8(WIN_AT_ONCE)
                if left_men | left_kings:
                    own_kings = popcount(own_others) + 1
                    place = (own_kings, popcount(own_men), popcount(left_kings), popcount(left_men))
                    offset = block_offset(own_kings, own_men, place[2], left_men)
                    offset += rank(own_others) * BINOMIAL[32, place[2]] + rank(left_kings)
                    after = starts[place] + offset
                    lost, won = signed(lost_after[after]), signed(won_after[after])
                    lost_there, won_there = lost, won
                    if guard[after >> GUARD_SHIFT]:
                        number = find(listed, after)
                        if number >= 0:
                            lost_there, won_there = signed(board_lost[number]), signed(board_won[number])
                    at = score_starts[place] + offset * 32
                    if not landings:
                        # The lane king stands by: each lane has a value of its own.
                        win |= lanes & lost
                        safe |= lanes & ~won
                        wins_there |= lanes & lost_there
                        safe_there |= lanes & ~won_there
                        if with_scores:
                            here = scores[at : at + 32]
                            mask = np.uint32(lanes)
                            for lane in range(32):
                                offered = (
                                    here[lane] if (mask >> np.uint32(lane)) & np.uint32(1) else np.uint8(0)
                                )
                                score[lane] = max(score[lane], offered)
                        continue
                    win |= lanes if landings & lost else 0
                    safe |= lanes if landings & ~won else 0
                    wins_there |= lanes if landings & lost_there else 0
                    safe_there |= lanes if landings & ~won_there else 0
                    value = np.uint8(0)
                    while landings and with_scores:
                        value = max(value, scores[at + lowest(landings)])
                        landings &= landings - 1
                else:
                    win |= lanes
                    safe |= lanes
                    wins_there |= lanes
                    safe_there |= lanes
                if with_scores:
                    mask = np.uint32(lanes)
                    for lane in range(32):
                        offered = value if (mask >> np.uint32(lane)) & np.uint32(1) else np.uint8(0)
                        score[lane] = max(score[lane], offered)
            rule_win[word] = win
            rule_safe[word] = safe
            if with_scores:
                here = best[word * 32 : word * 32 + 32]
                for lane in range(32):
                    here[lane] = score[lane]
            else:
                board_win[word] = wins_there
                board_safe[word] = safe_there


@inner
def _take_mens_moves(side: Side, tables: Subsets, afters: SuccessorTables, promotions: bool) -> None:
    """The men's moves of a batch, for its quiet positions: promotions, or all others."""
    kings, columns, rows, opponent_kings = side.kings, side.columns, side.rows, side.opponent_kings
    men_of, opponent_men_of = side.men, side.opponent_men
    quiet_lanes, best = side.quiet, side.dtw
    rule_win, rule_safe, rule_any = side.rule_win, side.rule_safe, side.rule_any
    board_win, board_safe = side.board_win, side.board_safe
    lost_after, won_after, scores = afters.lost, afters.won, afters.score
    guard, listed, board_lost, board_won = (
        afters.guard,
        afters.board.words,
        afters.board.lost,
        afters.board.won,
    )
    starts, score_starts = afters.start, afters.score_start
    own_sets = tables.squares[tables.start[kings - 1] :]
    opponent_sets = tables.squares[tables.start[opponent_kings] :]
    with_scores = len(scores) > 0
    for block in range(side.blocks):
        men, opponent_men = signed(men_of[block]), signed(opponent_men_of[block])
        all_men = men | opponent_men
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
                place = (kings_after, popcount(men_after), opponent_kings, popcount(opponent_men))
                offset = block_offset(kings_after, men_after, opponent_kings, opponent_men)
                start = starts[place] + offset
                score_start = score_starts[place] + offset * 32
                for row in range(rows):
                    others = signed(own_sets[row])
                    if others & (all_men | (1 << target)):
                        continue
                    row_after = rank(others | (1 << target)) if crowned else row
                    for column in range(columns):
                        word = (block * rows + row) * columns + column
                        quiet = signed(quiet_lanes[word])
                        if not quiet or (signed(opponent_sets[column]) >> target) & 1:
                            continue
                        offset = row_after * columns + column
                        lost, won = signed(lost_after[start + offset]), signed(won_after[start + offset])
                        lanes = quiet & ~(1 << target)
                        rule_any[word] |= np.uint32(lanes)
                        rule_win[word] |= np.uint32(lanes & lost)
                        rule_safe[word] |= np.uint32(lanes & ~won)
                        if not with_scores:
                            if guard[(start + offset) >> GUARD_SHIFT]:
                                number = find(listed, start + offset)
                                if number >= 0:
                                    lost, won = signed(board_lost[number]), signed(board_won[number])
                            board_win[word] |= np.uint32(lanes & lost)
                            board_safe[word] |= np.uint32(lanes & ~won)
                            continue
                        mask = np.uint32(lanes)
                        here = best[word * 32 : word * 32 + 32]
                        there = scores[score_start + offset * 32 : score_start + offset * 32 + 32]
                        for lane in range(32):
                            offered = there[lane] if (mask >> np.uint32(lane)) & np.uint32(1) else np.uint8(0)
                            here[lane] = max(here[lane], offered)


@inner
def _keep_changes(side: Side) -> None:
    """The exits so far, captures and promotions, are those that change the balance of forces."""
    words = side.blocks * side.rows * side.columns
    rule_win, rule_safe, rule_any = side.rule_win, side.rule_safe, side.rule_any
    change_win, change_safe, change_any = side.change_win, side.change_safe, side.change_any
    for word in range(words):
        change_win[word], change_safe[word], change_any[word] = (
            rule_win[word],
            rule_safe[word],
            rule_any[word],
        )


@inner
def take_known(side: Side, tables: Subsets, results: Results, bases: NDArray[np.int64]) -> None:
    """Instead of men's moves: every quiet position of a batch is decided, as `results` know it. Restoring a
    slice is solving it with nothing left to find."""
    kings, columns, rows, lanes = side.kings, side.columns, side.rows, side.lanes
    men_of, opponent_men_of = side.men, side.opponent_men
    quiet, best = side.quiet, side.dtw
    rule_win, rule_safe, rule_any = side.rule_win, side.rule_safe, side.rule_any
    board_win, board_safe = side.board_win, side.board_safe
    known_dtw, known_values = results.dtw, results.value
    with_scores = len(known_dtw) > 0
    own_sets, opponent_sets = (
        tables.squares[tables.start[kings] :],
        tables.squares[tables.start[side.opponent_kings] :],
    )
    for block in range(side.blocks):
        men = signed(men_of[block] | opponent_men_of[block])
        index = bases[block]
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
                word = (block * rows + row) * columns + column
                if (signed(quiet[word]) >> lane) & 1:
                    value = signed(known_values[index]) & VALUE
                    bit = np.uint32(1 << lane)
                    quiet[word] &= ~bit
                    rule_any[word] |= bit
                    if with_scores:
                        dtw = signed(known_dtw[index])
                        score = DRAWN
                        if dtw != NOT_DECIDED:
                            score = WIN_AT_ONCE - dtw // 2 if dtw % 2 else dtw // 2
                        best[word * lanes + lane] = score
                    elif value == DRAW or value & 1:
                        board_safe[word] |= bit
                        if value != DRAW:
                            board_win[word] |= bit
                    decided = value < BLESSED_LOSS
                    if not decided or value & 1:
                        rule_safe[word] |= bit
                        if decided:
                            rule_win[word] |= bit
                index += 1


@inner
def take_exits(
    side: Side,
    tables: Subsets,
    afters: SuccessorTables,
    work: NDArray[np.int64],
    known: bool,
    results: Results,
    bases: NDArray[np.int64],
) -> None:
    """The exits of a batch whose mover has kings: the sets of lanes, and the best scores in `dtw`, if any."""
    take_captures(side, tables, afters, work, FIRST_PART, ONE_PART)
    if known:
        take_known(side, tables, results, bases)
        return
    _take_mens_moves(side, tables, afters, True)
    if len(side.dtb):
        _keep_changes(side)
    _take_mens_moves(side, tables, afters, False)
