"""Blocks in which a side has no kings: they need no pass.

A side without kings leaves the block with every move, so conversions decide its positions. Then the values
after the other side's king moves are known, and decide its positions in one calculation: the best score of 32
lanes is a slide of bytes, the outcome under the rules a few slides of bits.
"""

import numpy as np
from numpy.typing import NDArray

from generator.solver.king_moves import slide_sources
from generator.solver.passes import TOO_LONG
from generator.solver.results import BLESSED_LOSS, CURSED_WIN, NOT_DECIDED
from generator.solver.side import Side, word_count
from generator.solver.subsets import BINOMIAL, STEP, Subsets
from generator.solver.successors import DRAWN, LONGEST_PLIES, WIN_AT_ONCE
from tablebase.kernels.bits import lowest, signed
from tablebase.kernels.jit import inlined, inner

# The longest DTC if a side has no kings: a king move, then a zeroing move of the other side.
LONGEST_KINGLESS_DTC = 2
# The neighbour by [direction * SQUARES + square]; OUTSIDE beyond the edge, an index whose value is always 0.
OUTSIDE = 32
_SQUARES = 33
_NEXT = np.full(4 * _SQUARES, OUTSIDE, dtype=np.int64)
for _direction in range(4):
    for _square in range(32):
        if STEP[_square, _direction] >= 0:
            _NEXT[_direction * _SQUARES + _square] = STEP[_square, _direction]


@inlined
def _plies(score: int) -> int:
    """Return the distance in plies that a score means; NOT_DECIDED for a draw."""
    if score == DRAWN:
        return NOT_DECIDED
    return 2 * (WIN_AT_ONCE - score) + 1 if score > DRAWN else 2 * score


@inlined
def _score_after(score: int) -> int:
    """Return the best score of the side to move as a score of the move that has led to it."""
    if score == DRAWN:
        return DRAWN
    return WIN_AT_ONCE + 1 - score if score > DRAWN else WIN_AT_ONCE - score


@inlined
def _complete_value(value: int, wins: int, loses: int) -> int:
    """Return a value completed by the outcome without draw rules."""
    if value != NOT_DECIDED or not wins | loses:
        return value
    return CURSED_WIN if wins else BLESSED_LOSS


@inner
def _solve_kingless_side(
    side: Side, other: Side, tables: Subsets, limit: int, scores: NDArray[np.uint8], unruled: bool
) -> int:
    """Solve the positions of a side without kings from its conversions.

    Positions that are lost without a move are also written to the other side's `new_losses`.

    Args:
        side: the side without kings.
        other: the other side, whose `lost` and `won` words get the results.
        tables: tables over the sets of kings.
        limit: plies that the king-moves rule allows.
        scores: uint8 [score], the scores of the successor tables, or empty.
        unruled: whether to complete the values by outcomes without draw rules.

    Returns:
        0 or TOO_LONG.
    """
    columns, opponent_kings, goal_words = side.columns, side.opponent_kings, word_count(other)
    quiet, best, dtw, values = side.quiet, side.dtw, side.dtw, side.value
    rule_win = side.unruled_win if unruled else side.rule_win
    rule_safe = side.unruled_safe if unruled else side.rule_safe
    rule_any = side.rule_any
    lost, won, immobile, score_starts = other.lost, other.won, other.new_losses, other.score_start
    opponent_sets = tables.squares[tables.start[opponent_kings] :]
    less_one = tables.less_one[tables.less_one_start[opponent_kings] :]
    one_ply = 1 if limit >= 1 else NOT_DECIDED
    for word in range(side.blocks * columns):
        if not quiet[word] | rule_any[word]:
            continue
        block = word // columns
        column = word - block * columns
        after = 0
        if len(scores):
            score = signed(best[word])
            plies = _plies(score)
            if plies != NOT_DECIDED and plies > LONGEST_PLIES:
                return TOO_LONG
            dtw[word] = plies
            after = _score_after(score)
        wins = loses = 0
        plies = NOT_DECIDED
        if not rule_any[word]:
            loses, plies = 1, 0
        elif rule_win[word]:
            wins, plies = 1, one_ply
        elif not rule_safe[word]:
            loses, plies = 1, one_ply
        if plies == NOT_DECIDED:
            wins = loses = 0
        if unruled:
            values[word] = _complete_value(values[word], wins, loses)
        else:
            values[word] = 2 * plies + wins if wins | loses else NOT_DECIDED
        if opponent_kings == 0:
            lost[block] = loses
            won[block] = wins
            if after:
                scores[score_starts[block]] = after
            continue
        left = signed(opponent_sets[column])
        for i in range(opponent_kings):
            lane = 31 - lowest(left)
            left &= left - 1
            goal = block * goal_words + signed(less_one[column * opponent_kings + i])
            lost[goal] |= np.uint32(loses << lane)
            won[goal] |= np.uint32(wins << lane)
            if plies == 0:
                immobile[goal] |= np.uint32(1 << lane)
            if after:
                scores[score_starts[block] + (goal - block * goal_words) * 32 + lane] = after
    return 0


@inlined
def _slide_scores(
    score: NDArray[np.uint8], buffer: NDArray[np.uint8], best: NDArray[np.uint8], empty: int
) -> None:
    """Write the best score that a king slides to from each square over empty squares, 0 if there is none.

    Args:
        score: uint8 [32], the scores by square.
        buffer: uint8 [4 * 33], overwritten; 0 at each OUTSIDE.
        best: uint8 [32], written.
        empty: bit set, the empty squares.
    """
    for i in range(32):
        best[i] = 0
    for i in range(32):
        for direction in range(4):
            square = 31 - i if direction < 2 else i
            beyond = buffer[direction * _SQUARES + _NEXT[direction * _SQUARES + square]]
            best[square] = max(best[square], beyond)
            through = max(beyond, score[square])
            buffer[direction * _SQUARES + square] = through if (empty >> square) & 1 else np.uint8(0)


@inner
def _solve_king_side(
    side: Side,
    other: Side,
    tables: Subsets,
    limit: int,
    scores: NDArray[np.uint8],
    unruled: bool,
    strip_buffer: NDArray[np.uint32],
) -> int:
    """Solve the positions of a side with kings whose opponent has none, after the opponent's positions.

    Args:
        side: the side with kings.
        other: the side without kings.
        tables: tables over the sets of kings.
        limit: plies that the king-moves rule allows.
        scores: uint8 [score], the scores of the successor tables, or empty.
        unruled: whether to complete the values by outcomes without draw rules.
        strip_buffer: uint32 [3 * STRIP], overwritten.

    Returns:
        0 or TOO_LONG.
    """
    rows, kings, goal_words = side.rows, side.kings, word_count(other)
    men_of, opponent_men_of, score_starts = side.men, side.opponent_men, side.score_start
    quiet_lanes, best, values = side.quiet, side.dtw, side.value
    rule_win = side.unruled_win if unruled else side.rule_win
    rule_safe = side.unruled_safe if unruled else side.rule_safe
    rule_any = side.rule_any
    lost, won, immobile = side.lost, side.won, side.new_losses
    other_lost, other_won, other_score_starts = other.lost, other.won, other.score_start
    own_sets = tables.squares[tables.start[kings - 1] :]
    king_steps, steps_start = tables.king_steps, tables.king_steps_start[tables.start[kings - 1] :]
    turned_ranks = tables.reversed_rank[tables.start[kings] :]
    with_scores = len(scores) > 0
    bytes_of = strip_buffer.view(np.uint8)
    path, reached, buffer = bytes_of[:32], bytes_of[32:64], bytes_of[64 : 64 + 4 * _SQUARES]
    bytes_of[: 64 + 4 * _SQUARES] = 0
    for word in range(side.blocks * rows):
        quiet, conversions = signed(quiet_lanes[word]), signed(rule_any[word])
        decided = quiet | conversions
        if not decided:
            continue
        block = word // rows
        first = block * rows
        row = word - first
        men = signed(men_of[block] | opponent_men_of[block])
        empty = 0xFFFFFFFF & ~(men | signed(own_sets[row]))
        mobile = to_not_won = to_lost = to_immobile = 0
        if quiet:
            e = np.uint32(empty)
            mobile = signed(slide_sources(e, e))
            to_not_won = signed(slide_sources(np.uint32(e & np.uint32(~won[word])), e))
            if lost[word]:
                to_lost = signed(slide_sources(lost[word], e))
                to_immobile = signed(slide_sources(immobile[word], e))
            words_start = score_starts[block]
            if with_scores:
                at = words_start + row * 32
                _slide_scores(scores[at : at + 32], buffer, reached, empty)
            at = signed(steps_start[row])
            while king_steps[at] != -2:
                # One king, one direction, square by square. A lane king on the way blocks its square and all
                # after it.
                lanes = empty
                path[:] = 255
                while king_steps[at] != -1:
                    target, to_row = signed(king_steps[at]), signed(king_steps[at + 1])
                    at += 2
                    if (men >> target) & 1:
                        lanes = 0
                    if not lanes:
                        continue
                    lanes &= ~(1 << target)
                    mobile |= lanes
                    to_not_won |= lanes & ~signed(won[first + to_row])
                    to_lost |= lanes & signed(lost[first + to_row])
                    to_immobile |= lanes & signed(immobile[first + to_row])
                    if with_scores:
                        path[target] = 0
                        there = scores[words_start + to_row * 32 : words_start + to_row * 32 + 32]
                        for lane in range(32):
                            reached[lane] = max(reached[lane], np.uint8(there[lane] & path[lane]))
                at += 2
        win, safe = signed(rule_win[word]), signed(rule_safe[word])
        win_in_one = win | quiet & to_immobile
        wins_at_all = win_in_one | quiet & to_lost
        stuck = quiet & ~(conversions | mobile)
        loss_in_one = conversions & ~(safe | quiet & mobile)
        losses_at_all = stuck | loss_in_one | quiet & ~(safe | to_not_won)
        while decided:
            lane = lowest(decided)
            bit = 1 << lane
            decided &= decided - 1
            wins = loses = plies = 0
            if wins_at_all & bit:
                wins, plies = 1, 1 if win_in_one & bit else 2
            elif losses_at_all & bit:
                loses, plies = 1, 0 if stuck & bit else 1 if loss_in_one & bit else 2
            if plies > limit:
                wins = loses = 0
            if unruled:
                values[word * 32 + lane] = _complete_value(values[word * 32 + lane], wins, loses)
            else:
                values[word * 32 + lane] = 2 * plies + wins if wins | loses else NOT_DECIDED
            turned = signed(turned_ranks[row + BINOMIAL[lane, kings]])
            goal = block * goal_words + turned
            other_won[goal] = wins
            other_lost[goal] = loses
            if with_scores:
                score = signed(best[word * 32 + lane])
                if quiet & bit:
                    score = max(score, signed(reached[lane]))
                plies = _plies(score)
                if plies != NOT_DECIDED and plies > LONGEST_PLIES:
                    return TOO_LONG
                best[word * 32 + lane] = plies
                scores[other_score_starts[block] + turned] = _score_after(score)
    return 0


@inner
def solve_kingless_blocks(
    sides: tuple[Side, Side],
    count: int,
    tables: Subsets,
    limit: int,
    scores: NDArray[np.uint8],
    unruled: bool,
    strip_buffer: NDArray[np.uint32],
) -> int:
    """Solve a batch of blocks in which a side has no kings, from conversions whose best scores are in `dtw`.

    Args:
        sides: both sides to move; their `lost` and `won` words are written.
        count: 1 if each block is its own mirror, else 2.
        tables: tables over the sets of kings.
        limit: plies that the king-moves rule allows.
        scores: uint8 [score], the scores of the successor tables, written; or empty without DTW.
        unruled: whether to complete the values by outcomes without draw rules (without scores only).
        strip_buffer: uint32 [3 * STRIP], overwritten.

    Returns:
        0, or TOO_LONG if a distance does not fit a score.
    """
    for s in range(count):
        words = sides[s].blocks * word_count(sides[s])
        sides[s].lost[:words] = 0
        sides[s].won[:words] = 0
        sides[s].new_losses[:words] = 0
    for s in range(count):
        if sides[s].kings == 0:
            error = _solve_kingless_side(sides[s], sides[count - 1 - s], tables, limit, scores, unruled)
            if error:
                return error
    for s in range(count):
        if sides[s].kings:
            error = _solve_king_side(
                sides[s], sides[count - 1 - s], tables, limit, scores, unruled, strip_buffer
            )
            if error:
                return error
    return 0
