"""The exits of a batch whose mover has no kings: a single position a word, and no other moves than these.

Most captures of men take one piece and are over; only those that go on are worked out in full
(generator/solver/captures.py). Where a man can go, and what can be captured from where, is listed once a
block; the kings of the opponent, which differ from word to word, only say which of it is open.

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

# Fields of a step of a man, and of a capture of one piece; at most 8 men with 4 directions each. They say
# where to look up the position that a move leads to, whose opponent's kings have rank n: its bit is
# BIT + n * STRIDE, its score SCORE + n * STRIDE, and its number among the board words NUMBER + n, lane LANE.
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
    """Where a man that goes to `target` leads: `men_after` is without the man."""
    crowned = 1 if target >= LAST_ROW else 0
    men_after |= 0 if crowned else 1 << target
    place = (crowned, popcount(men_after), left_kings, popcount(left_men))
    offset = block_offset(crowned, men_after, left_kings, left_men)
    move[at + _TARGET] = target
    move[at + _NUMBER] = starts[place] + offset
    move[at + _LANE] = target if crowned else 0
    move[at + _BIT] = packed_starts[place] * 32 + (offset * 32 + target if crowned else offset)
    move[at + _SCORE] = score_starts[place] + (offset * 32 + target if crowned else offset)
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
    """The steps of men that no man bars; how many."""
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
    """What men can capture first as far as men go: a man, or a king where no man stands; how many."""
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
    """Captures, and men's steps where there are none (but if the quiet positions are `known`)."""
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
            place = jumps[at + _NUMBER] + number
            further = number * jumps[at + _STRIDE]
            bit = jumps[at + _BIT] + further
            lane = bit & 31
            lost, won = signed(lost_after[bit >> 5]), signed(won_after[bit >> 5])
            win |= (lost >> lane) & 1
            safe |= (~won >> lane) & 1
            if exception_filter[place >> FILTER_SHIFT]:
                listed_at = find_word(listed, place)
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
            place = starts[counts] + offset
            if crowned:
                lost, won = signed(lost_after[place]), signed(won_after[place])
            else:
                kept, lane = packed_starts[counts] + (offset >> 5), offset & 31
                lost, won = signed(lost_after[kept]) >> lane, signed(won_after[kept]) >> lane
                landings = 1
            win |= 1 if landings & lost else 0
            safe |= 1 if landings & ~won else 0
            if exception_filter[place >> FILTER_SHIFT]:
                listed_at = find_word(listed, place)
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
                place = steps[at + _NUMBER] + column
                further = column * steps[at + _STRIDE]
                bit = steps[at + _BIT] + further
                lane = bit & 31
                lost, won = signed(lost_after[bit >> 5]), signed(won_after[bit >> 5])
                win |= (lost >> lane) & 1
                safe |= (~won >> lane) & 1
                if exception_filter[place >> FILTER_SHIFT]:
                    listed_at = find_word(listed, place)
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
    """The exits of a batch whose mover has no kings, each word's one lane: `quiet`, `rule_any`, `rule_win`,
    `rule_safe`, and the best scores in `dtw` or `board_win` and `board_safe`, as `take_exits` has them for a
    side with kings."""
    _score_moves(side, tables, successors, work, known)
    if known:
        restore_known_values(side, tables, results, first_index)
