"""Conversions of a side without kings: one position a word, and no other moves.

Most captures by men take one piece. Only captures that go on are followed by generator/solver/captures.py.
For each block, the steps of men and the captures of one piece are listed once; the kings of the opponent,
which differ from word to word, only tell which of them are possible.

Arrays are taken out of their tuples before the loops: numba counts references at each such access.
"""

import numpy as np
from numpy.typing import NDArray

from generator.solver.captures import (
    FIRST_LEAF,
    LAST_ROW,
    LEAF_COUNT,
    LEAF_FIELDS,
    SCRATCH,
    captures_from,
    expand_captures,
    push_capture,
)
from generator.solver.conversions import restore_known_values
from generator.solver.results import Results
from generator.solver.side import Side
from generator.solver.subsets import STEP, Subsets, rank
from generator.solver.successors import FILTER_SHIFT, WIN_AT_ONCE, SuccessorTables, block_offset, find_word
from tablebase.kernels.bits import lowest, popcount, signed
from tablebase.kernels.jit import inlined, inner

# Fields of a move: a step of a man, or a capture of one piece; at most 8 men with 4 directions each. If the
# opponent's kings have rank n after the move, its outcome is in bit BIT + n * STRIDE, its score in
# SCORE + n * STRIDE, and its exception has the number NUMBER + n and the lane LANE.
_TARGET, _NUMBER, _LANE, _BIT, _SCORE, _STRIDE, _FROM, _VICTIM, _FIELDS = range(9)
_MOST = 32


@inlined
def _write_target(
    move: NDArray[np.int64],
    at: int,
    target: int,
    men_after: int,
    left_kings: int,
    left_men: int,
    starts: NDArray[np.int64],
    packed_starts: NDArray[np.int64],
    score_starts: NDArray[np.int64],
) -> None:
    """Write to a move the index of the position that it leads to.

    Args:
        move: int64, the list of moves.
        at: where the move begins in the list.
        target: the square that the man moves to.
        men_after: bit set, the mover's other men.
        left_kings: kings of the opponent after the move.
        left_men: bit set, men of the opponent after the move.
        starts: int64 [kings, men, other kings, other men], of the successor tables.
        packed_starts: int64, of the same shape.
        score_starts: int64, of the same shape.
    """
    crowned = 1 if target >= LAST_ROW else 0
    men_after |= 0 if crowned else 1 << target
    counts = (crowned, popcount(men_after), left_kings, popcount(left_men))
    offset = block_offset(crowned, men_after, left_kings, left_men)
    move[at + _TARGET] = target
    move[at + _NUMBER] = starts[counts] + offset
    move[at + _LANE] = target if crowned else 0
    move[at + _BIT] = packed_starts[counts] * 32 + (offset * 32 + target if crowned else offset)
    move[at + _SCORE] = score_starts[counts] + (offset * 32 + target if crowned else offset)
    move[at + _STRIDE] = 32 if crowned else 1


@inner
def _list_steps(
    move: NDArray[np.int64],
    men: int,
    opponent_kings: int,
    opponent_men: int,
    starts: NDArray[np.int64],
    packed_starts: NDArray[np.int64],
    score_starts: NDArray[np.int64],
) -> int:
    """List the steps of men that no man blocks; return how many there are."""
    count = 0
    left = men
    while left:
        square = lowest(left)
        left &= left - 1
        for direction in range(2):
            target = STEP[square, direction]
            if target >= 0 and not ((men | opponent_men) >> target) & 1:
                rest = men & ~(1 << square)
                at = count * _FIELDS
                _write_target(
                    move, at, target, rest, opponent_kings, opponent_men, starts, packed_starts, score_starts
                )
                count += 1
    return count


@inner
def _list_captures(
    move: NDArray[np.int64],
    men: int,
    opponent_kings: int,
    opponent_men: int,
    starts: NDArray[np.int64],
    packed_starts: NDArray[np.int64],
    score_starts: NDArray[np.int64],
) -> int:
    """List the first captures of men as far as men decide them; return how many there are.

    The captured piece is a man, or a king on a square without a man.
    """
    count = 0
    left = men
    while left:
        square = lowest(left)
        left &= left - 1
        for direction in range(4):
            victim = STEP[square, direction]
            if victim < 0 or (men >> victim) & 1:
                continue
            landing = STEP[victim, direction]
            if landing < 0 or ((men | opponent_men) >> landing) & 1:
                continue
            left_men = opponent_men & ~(1 << victim)
            left_kings = opponent_kings if left_men != opponent_men else opponent_kings - 1
            if left_kings < 0:
                continue
            at = count * _FIELDS
            move[at + _TARGET] = landing
            if left_kings or left_men:
                rest = men & ~(1 << square)
                _write_target(
                    move, at, landing, rest, left_kings, left_men, starts, packed_starts, score_starts
                )
            move[at + _FROM] = square
            move[at + _VICTIM] = victim
            count += 1
    return count


@inner
def _score_moves(
    side: Side, tables: Subsets, successors: SuccessorTables, work: NDArray[np.int64], known: bool
) -> None:
    """Score captures, and men's steps in positions without one (unless the quiet positions are `known`)."""
    columns, opponent_kings = side.columns, side.opponent_kings
    men_of, opponent_men_of, quiet, best = side.men, side.opponent_men, side.quiet, side.dtw
    rule_win, rule_safe, rule_any = side.rule_win, side.rule_safe, side.rule_any
    unruled_win, unruled_safe = side.unruled_win, side.unruled_safe
    lost_after, won_after, scores = successors.lost, successors.won, successors.score
    exception_filter, listed, unruled_lost, unruled_won = (
        successors.exception_filter,
        successors.exceptions.words,
        successors.exceptions.lost,
        successors.exceptions.won,
    )
    starts, packed_starts, score_starts = successors.start, successors.packed_start, successors.score_start
    opponent_sets = tables.squares[tables.start[opponent_kings] :]
    with_scores = len(scores) > 0
    steps = work[SCRATCH : SCRATCH + _MOST * _FIELDS]
    jumps = work[SCRATCH + _MOST * _FIELDS : SCRATCH + 2 * _MOST * _FIELDS]
    step_count = jump_count = 0
    men = opponent_men = 0
    for word in range(side.blocks * columns):
        block = word // columns
        column = word - block * columns
        if column == 0:
            men, opponent_men = signed(men_of[block]), signed(opponent_men_of[block])
            jump_count = _list_captures(
                jumps, men, opponent_kings, opponent_men, starts, packed_starts, score_starts
            )
            step_count = -1
        kings = signed(opponent_sets[column])
        win = safe = win_unruled = safe_unruled = score = 0
        quiet[word] = rule_any[word] = 0
        if kings & (men | opponent_men):
            rule_win[word] = rule_safe[word] = 0
            if not with_scores:
                unruled_win[word] = unruled_safe[word] = 0
            continue
        targets = opponent_men | kings
        able = False
        work[LEAF_COUNT] = 0
        for jump in range(jump_count):
            at = jump * _FIELDS
            landing, victim = jumps[at + _TARGET], jumps[at + _VICTIM]
            if not (targets >> victim) & ~(kings >> landing) & 1:
                continue
            able = True
            captured = 1 << victim
            left = targets & ~captured
            if not left:
                win = safe = win_unruled = safe_unruled = 1
                score = WIN_AT_ONCE
                continue
            rest = men & ~(1 << jumps[at + _FROM])
            crowned = 1 if landing >= LAST_ROW else 0
            if captures_from(landing, crowned, rest | targets, left, 1, 0):
                push_capture(work, 0, landing, crowned, captured, 1)
                expand_captures(work, 1, rest, 0, targets, False)
                continue
            number = rank(kings & ~captured) if kings & captured else column
            number_after = jumps[at + _NUMBER] + number
            further = number * jumps[at + _STRIDE]
            bit = jumps[at + _BIT] + further
            lane = bit & 31
            lost, won = signed(lost_after[bit >> 5]), signed(won_after[bit >> 5])
            win |= (lost >> lane) & 1
            safe |= (~won >> lane) & 1
            if exception_filter[number_after >> FILTER_SHIFT]:
                listed_at = find_word(listed, number_after)
                if listed_at >= 0:
                    lost, won = signed(unruled_lost[listed_at]), signed(unruled_won[listed_at])
                    lane = jumps[at + _LANE]
            win_unruled |= (lost >> lane) & 1
            safe_unruled |= (~won >> lane) & 1
            if with_scores:
                score = max(score, signed(scores[jumps[at + _SCORE] + further]))
        for leaf in range(work[LEAF_COUNT]):
            at = FIRST_LEAF + leaf * LEAF_FIELDS
            own_men, landings = work[at], work[at + 2]
            left_men, left_kings = opponent_men & ~work[at + 3], kings & ~work[at + 3]
            if not left_men | left_kings:
                win = safe = win_unruled = safe_unruled = 1
                score = WIN_AT_ONCE
                continue
            crowned = 1 if landings else 0
            counts = (crowned, popcount(own_men), popcount(left_kings), popcount(left_men))
            offset = block_offset(crowned, own_men, counts[2], left_men) + rank(left_kings)
            number_after = starts[counts] + offset
            if crowned:
                lost, won = signed(lost_after[number_after]), signed(won_after[number_after])
            else:
                kept, lane = packed_starts[counts] + (offset >> 5), offset & 31
                lost, won = signed(lost_after[kept]) >> lane, signed(won_after[kept]) >> lane
                landings = 1
            win |= 1 if landings & lost else 0
            safe |= 1 if landings & ~won else 0
            if exception_filter[number_after >> FILTER_SHIFT]:
                listed_at = find_word(listed, number_after)
                if listed_at >= 0:
                    lost, won = signed(unruled_lost[listed_at]), signed(unruled_won[listed_at])
            win_unruled |= 1 if landings & lost else 0
            safe_unruled |= 1 if landings & ~won else 0
            at = score_starts[counts] + offset * (32 if crowned else 1)
            while landings and with_scores:
                score = max(score, signed(scores[at + lowest(landings)]))
                landings &= landings - 1
        if able:
            rule_any[word] = 1
        else:
            quiet[word] = 1
            if step_count < 0 and not known:
                step_count = _list_steps(
                    steps, men, opponent_kings, opponent_men, starts, packed_starts, score_starts
                )
            for step in range(0 if known else step_count):
                at = step * _FIELDS
                if (kings >> steps[at + _TARGET]) & 1:
                    continue
                rule_any[word] = 1
                number_after = steps[at + _NUMBER] + column
                further = column * steps[at + _STRIDE]
                bit = steps[at + _BIT] + further
                lane = bit & 31
                lost, won = signed(lost_after[bit >> 5]), signed(won_after[bit >> 5])
                win |= (lost >> lane) & 1
                safe |= (~won >> lane) & 1
                if exception_filter[number_after >> FILTER_SHIFT]:
                    listed_at = find_word(listed, number_after)
                    if listed_at >= 0:
                        lost, won = signed(unruled_lost[listed_at]), signed(unruled_won[listed_at])
                        lane = steps[at + _LANE]
                win_unruled |= (lost >> lane) & 1
                safe_unruled |= (~won >> lane) & 1
                if with_scores:
                    score = max(score, signed(scores[steps[at + _SCORE] + further]))
        rule_win[word], rule_safe[word] = win, safe
        if with_scores:
            best[word] = score
        else:
            unruled_win[word], unruled_safe[word] = win_unruled, safe_unruled


@inner
def score_man_conversions(
    side: Side,
    tables: Subsets,
    successors: SuccessorTables,
    work: NDArray[np.int64],
    known: bool,
    results: Results,
    first_index: NDArray[np.int64],
) -> None:
    """Score the conversions of a batch whose mover has no kings.

    Each word has one lane. Written are `quiet`, `rule_any`, `rule_win`, `rule_safe`, and the best scores in
    `dtw` or, without scores, `unruled_win` and `unruled_safe`: the same arrays as for a side with kings.

    Args:
        side: the side to move.
        tables: tables over the sets of kings.
        successors: the successor tables.
        work: int64, from `capture_work()`, overwritten.
        known: whether `results` have the values of stored positions.
        results: the slice, read if `known`.
        first_index: int64 [block], the index of the first position of each block.
    """
    _score_moves(side, tables, successors, work, known)
    if known:
        restore_known_values(side, tables, results, first_index)
