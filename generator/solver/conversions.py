"""Conversions of a side with kings: what its captures and men's moves lead to, for 32 positions at once.

(generator/solver/man_conversions.py has those of a side without kings.)

Captures are compulsory, so conversions decide a position with a capture. A quiet position leaves its block by
men's moves only; its other moves are king moves inside the block (generator/solver/passes.py).

Three sets of lanes hold the outcome under the rules: `rule_any` has a conversion, `rule_win` has one to a
position that the opponent has lost, `rule_safe` has one to a position that the opponent has not won. `dtw`
holds the best score of each lane without draw rules: first of captures, then of men's moves too.

If the successor tables have no scores (in runs without DTW), two more sets hold the outcome without draw
rules: `unruled_win` and `unruled_safe`.

Arrays are taken out of their tuples before the loops over blocks: numba counts references at each such
access, with atomic instructions.
"""

import numpy as np
from numpy.typing import NDArray

from generator.solver.captures import FIRST_LEAF, LAST_ROW, LEAF_COUNT, LEAF_FIELDS, SCRATCH, captures
from generator.solver.results import BLESSED_LOSS, DRAW, NOT_DECIDED, VALUE, Results
from generator.solver.side import FIRST_PART, ONE_PART, STRIP, Side
from generator.solver.subsets import BINOMIAL, STEP, Subsets, rank
from generator.solver.successors import (
    DRAWN,
    FILTER_SHIFT,
    WIN_AT_ONCE,
    SuccessorTables,
    block_offset,
    find_word,
)
from tablebase.kernels.bits import highest, lowest, popcount, signed
from tablebase.kernels.jit import inner


@inner
def score_captures(
    side: Side, tables: Subsets, successors: SuccessorTables, work: NDArray[np.int64], part: int, parts: int
) -> None:
    """Score the captures of a batch: which lanes have one, and their best scores.

    `quiet` becomes the other valid lanes, and all other scores become 0. Threads can share the words.

    Args:
        side: the side to move, with kings.
        tables: tables over the sets of its kings.
        successors: the successor tables.
        work: int64, from `capture_work()`, overwritten.
        part: which part of the words to do.
        parts: how many parts there are.
    """
    score = work[SCRATCH : SCRATCH + 4].view(np.uint8)
    columns, rows = side.columns, side.rows
    men_of, opponent_men_of = side.men, side.opponent_men
    quiet, held = side.quiet, side.held
    rule_win, rule_safe, rule_any, best = side.rule_win, side.rule_safe, side.rule_any, side.dtw
    unruled_win, unruled_safe = side.unruled_win, side.unruled_safe
    lost_after, won_after, scores = successors.lost, successors.won, successors.score
    exception_filter, listed, unruled_lost, unruled_won = (
        successors.exception_filter,
        successors.exceptions.words,
        successors.exceptions.lost,
        successors.exceptions.won,
    )
    starts, score_starts = successors.start, successors.score_start
    own_sets = tables.squares[tables.start[side.kings - 1] :]
    opponent_sets = tables.squares[tables.start[side.opponent_kings] :]
    with_scores = len(scores) > 0
    for row_of_batch in range(side.blocks * rows):
        block = row_of_batch // rows
        men, opponent_men = signed(men_of[block]), signed(opponent_men_of[block])
        all_men = men | opponent_men
        others = signed(own_sets[row_of_batch - block * rows])
        # A position is decided in the word whose lane king is its highest king.
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
                unruled_win[word] = unruled_safe[word] = 0
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
            win = safe = win_unruled = safe_unruled = 0
            if with_scores:
                score[:] = 0
            for leaf in range(work[LEAF_COUNT]):
                at = FIRST_LEAF + leaf * LEAF_FIELDS
                own_men, own_others, landings = work[at], work[at + 1], work[at + 2]
                left_men, left_kings = opponent_men & ~work[at + 3], opponents & ~work[at + 3]
                lanes = work[at + 4]
                value = np.uint8(WIN_AT_ONCE)
                if left_men | left_kings:
                    own_kings = popcount(own_others) + 1
                    counts = (own_kings, popcount(own_men), popcount(left_kings), popcount(left_men))
                    offset = block_offset(own_kings, own_men, counts[2], left_men)
                    offset += rank(own_others) * BINOMIAL[32, counts[2]] + rank(left_kings)
                    after = starts[counts] + offset
                    lost, won = signed(lost_after[after]), signed(won_after[after])
                    lost_unruled, won_unruled = lost, won
                    if exception_filter[after >> FILTER_SHIFT]:
                        number = find_word(listed, after)
                        if number >= 0:
                            lost_unruled, won_unruled = (
                                signed(unruled_lost[number]),
                                signed(unruled_won[number]),
                            )
                    at = score_starts[counts] + offset * 32
                    if not landings:
                        # The lane king has not moved: each lane has a value of its own.
                        win |= lanes & lost
                        safe |= lanes & ~won
                        win_unruled |= lanes & lost_unruled
                        safe_unruled |= lanes & ~won_unruled
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
                    win_unruled |= lanes if landings & lost_unruled else 0
                    safe_unruled |= lanes if landings & ~won_unruled else 0
                    value = np.uint8(0)
                    while landings and with_scores:
                        value = max(value, scores[at + lowest(landings)])
                        landings &= landings - 1
                else:
                    win |= lanes
                    safe |= lanes
                    win_unruled |= lanes
                    safe_unruled |= lanes
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
                unruled_win[word] = win_unruled
                unruled_safe[word] = safe_unruled


@inner
def _score_man_moves(side: Side, tables: Subsets, successors: SuccessorTables, promotions: bool) -> None:
    """Score the men's moves of the quiet positions of a batch: promotions, or all others."""
    kings, columns, rows, opponent_kings = side.kings, side.columns, side.rows, side.opponent_kings
    men_of, opponent_men_of = side.men, side.opponent_men
    quiet_lanes, best = side.quiet, side.dtw
    rule_win, rule_safe, rule_any = side.rule_win, side.rule_safe, side.rule_any
    unruled_win, unruled_safe = side.unruled_win, side.unruled_safe
    lost_after, won_after, scores = successors.lost, successors.won, successors.score
    exception_filter, listed, unruled_lost, unruled_won = (
        successors.exception_filter,
        successors.exceptions.words,
        successors.exceptions.lost,
        successors.exceptions.won,
    )
    starts, score_starts = successors.start, successors.score_start
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
                counts = (kings_after, popcount(men_after), opponent_kings, popcount(opponent_men))
                offset = block_offset(kings_after, men_after, opponent_kings, opponent_men)
                start = starts[counts] + offset
                score_start = score_starts[counts] + offset * 32
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
                            if exception_filter[(start + offset) >> FILTER_SHIFT]:
                                number = find_word(listed, start + offset)
                                if number >= 0:
                                    lost, won = signed(unruled_lost[number]), signed(unruled_won[number])
                            unruled_win[word] |= np.uint32(lanes & lost)
                            unruled_safe[word] |= np.uint32(lanes & ~won)
                            continue
                        mask = np.uint32(lanes)
                        here = best[word * 32 : word * 32 + 32]
                        there = scores[score_start + offset * 32 : score_start + offset * 32 + 32]
                        for lane in range(32):
                            offered = there[lane] if (mask >> np.uint32(lane)) & np.uint32(1) else np.uint8(0)
                            here[lane] = max(here[lane], offered)


@inner
def _copy_material_conversions(side: Side) -> None:
    """Copy the conversions found so far, captures and promotions, as those that change the material."""
    words = side.blocks * side.rows * side.columns
    rule_win, rule_safe, rule_any = side.rule_win, side.rule_safe, side.rule_any
    material_win, material_safe, material_any = side.material_win, side.material_safe, side.material_any
    for word in range(words):
        material_win[word], material_safe[word], material_any[word] = (
            rule_win[word],
            rule_safe[word],
            rule_any[word],
        )


@inner
def restore_known_values(
    side: Side, tables: Subsets, results: Results, first_index: NDArray[np.int64]
) -> None:
    """Write the values of all quiet positions of a batch as conversions with these values.

    A slice is restored by solving it with nothing left to find: this replaces the men's moves.

    Args:
        side: the side to move.
        tables: tables over the sets of kings.
        results: the slice with the values of its stored positions.
        first_index: int64 [block], the index of the first position of each block.
    """
    kings, columns, rows, lanes = side.kings, side.columns, side.rows, side.lanes
    men_of, opponent_men_of = side.men, side.opponent_men
    quiet, best = side.quiet, side.dtw
    rule_win, rule_safe, rule_any = side.rule_win, side.rule_safe, side.rule_any
    unruled_win, unruled_safe = side.unruled_win, side.unruled_safe
    known_dtw, known_values = results.dtw, results.value
    with_scores = len(known_dtw) > 0
    own_sets, opponent_sets = (
        tables.squares[tables.start[kings] :],
        tables.squares[tables.start[side.opponent_kings] :],
    )
    for block in range(side.blocks):
        men = signed(men_of[block] | opponent_men_of[block])
        index = first_index[block]
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
                        unruled_safe[word] |= bit
                        if value != DRAW:
                            unruled_win[word] |= bit
                    decided = value < BLESSED_LOSS
                    if not decided or value & 1:
                        rule_safe[word] |= bit
                        if decided:
                            rule_win[word] |= bit
                index += 1


@inner
def score_conversions(
    side: Side,
    tables: Subsets,
    successors: SuccessorTables,
    work: NDArray[np.int64],
    known: bool,
    results: Results,
    first_index: NDArray[np.int64],
) -> None:
    """Score the conversions of a batch whose mover has kings: sets of lanes, and the best scores in `dtw`.

    Args:
        side: the side to move.
        tables: tables over the sets of kings.
        successors: the successor tables.
        work: int64, from `capture_work()`, overwritten.
        known: whether `results` have the values of stored positions.
        results: the slice, read if `known`.
        first_index: int64 [block], the index of the first position of each block.
    """
    score_captures(side, tables, successors, work, FIRST_PART, ONE_PART)
    if known:
        restore_known_values(side, tables, results, first_index)
        return
    _score_man_moves(side, tables, successors, True)
    if len(side.dtb):
        _copy_material_conversions(side)
    _score_man_moves(side, tables, successors, False)
