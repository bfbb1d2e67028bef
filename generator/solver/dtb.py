"""Find DTB beyond the limit of king moves, where both counts are near their limits at once.

The king-moves rule and the balance rule each have a count of plies that are left. A king move takes a ply of
both. So the *slack*, plies of the balance count left less king plies left, stays the same within a block.
With a given slack, a position needs a least number of king plies left to be won or lost: `king_plies_needed`.

The DTB pass finds these numbers for slack 0: the counts are equal, so no position can run out of king moves
only, and the numbers up to the limit are the DTB. A position that needs the whole limit with a slack of s,
and more with s - 1, has the DTB limit + s.

From one slack to the next, a needed number stays or falls by one: with a king ply more and the same balance,
the position was won with the slack before. Each change has a reason: a conversion that the balance allows a
ply earlier now, or a neighbouring position that needs one king ply less. For each slack, the numbers are
visited in rising order, and only these reasons are followed. Most positions need no more than their DTC from
slack 0 on, and are never visited.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.solver.results import NOT_DECIDED
from generator.solver.side import WINS_SLOT, Side, word_count
from generator.solver.subsets import BINOMIAL, STEP, Subsets, rank
from generator.solver.successors import DRAWN, WIN_AT_ONCE
from tablebase.kernels.bits import lowest, signed
from tablebase.kernels.jit import inner

_NEVER = 127  # not decided under the king-moves rule
_LOSS_FLAG = 128


class SlackBuffers(NamedTuple):
    """Buffers of `dtb_beyond_limit` for a batch; a position is word * 32 + lane.

    Attributes:
        king_plies_needed: uint8 [side, position], plies; losses have _LOSS_FLAG added.
        conversions: uint8 [side, position], the best conversions as scores.
        queues: int32 [4, position], queues of positions; a position is in a queue at most once. Most of this
            memory is never touched.
    """

    king_plies_needed: NDArray[np.uint8]
    conversions: NDArray[np.uint8]
    queues: NDArray[np.int32]


def slack_buffers(words: int) -> SlackBuffers:
    """Allocate the buffers for sides of up to `words` words."""
    positions = words * 32
    return SlackBuffers(
        king_plies_needed=np.empty((2, positions), np.uint8),
        conversions=np.empty((2, positions), np.uint8),
        queues=np.empty((4, positions), np.int32),
    )


# The lane of a position is that of the mover's highest king. Arrays are taken out of their tuples before the
# loops: numba counts references at each such access. _LOSS_FLAG is added to the king plies needed of a loss,
# so that one byte tells the outcome too.


@inner
def _init_king_plies_needed(side: Side, king_limit: int, king_plies_needed: NDArray[np.uint8]) -> None:
    """Write the king plies needed with slack 0, and empty the queue.

    They are the DTB where it is known. Other positions that are decided under the king-moves rule need one
    more than the limit; the rest gets _NEVER.
    """
    words = side.blocks * word_count(side)
    values, dtb = side.value, side.dtb
    for position in range(words * 32):
        value = signed(values[position])
        king_plies = king_limit + 1 if dtb[position] == NOT_DECIDED else signed(dtb[position])
        king_plies_needed[position] = (
            _NEVER if value == NOT_DECIDED else king_plies if value & 1 else king_plies + _LOSS_FLAG
        )
    side.new_wins[:words] = 0


@inner
def _find_best_conversions(side: Side, conversions: NDArray[np.uint8]) -> None:
    """Write the best conversion of each position as a score (see `score_dtb_conversions`), 0 for none."""
    words, any_conversion = side.blocks * word_count(side), side.rule_any
    first, following, words_of, lanes_of = (
        side.event_first,
        side.event_next,
        side.event_word,
        side.event_lanes,
    )
    for word in range(words):
        for lane in range(32):
            conversions[word * 32 + lane] = DRAWN if (signed(any_conversion[word]) >> lane) & 1 else 0
    for slot in range(len(first)):
        score = WIN_AT_ONCE - (slot - WINS_SLOT) if slot >= WINS_SLOT else slot
        event = signed(first[slot])
        while event >= 0:
            lanes = signed(lanes_of[event])
            while lanes:
                conversions[signed(words_of[event]) * 32 + lowest(lanes)] = score
                lanes &= lanes - 1
            event = signed(following[event])


@inner
def _queue_from_events(
    side: Side,
    slot: int,
    king_plies: int,
    king_plies_needed: NDArray[np.uint8],
    queue: NDArray[np.int32],
    count: int,
) -> int:
    """Add to a queue the positions that have a conversion in a slot of events and need `king_plies`.

    Args:
        side: the side to move.
        slot: plies of the conversion.
        king_plies: king plies needed so far.
        king_plies_needed: uint8 [position].
        queue: int32 [position], the queue.
        count: positions in the queue.

    Returns:
        How many positions are in the queue now.
    """
    first, following, words_of, lanes_of = (
        side.event_first,
        side.event_next,
        side.event_word,
        side.event_lanes,
    )
    queued = side.new_wins
    for kind in range(2):
        event = signed(first[slot + kind * WINS_SLOT])
        while event >= 0:
            word = signed(words_of[event])
            lanes = signed(lanes_of[event]) & ~signed(queued[word])
            while lanes:
                lane = lowest(lanes)
                lanes &= lanes - 1
                if king_plies_needed[word * 32 + lane] != (king_plies if kind else king_plies + _LOSS_FLAG):
                    continue
                queue[count] = word * 32 + lane
                count += 1
                queued[word] |= np.uint32(np.uint32(1) << np.uint32(lane))
            event = signed(following[event])
    return count


@inner
def _filter_queue(
    side: Side,
    other: Side,
    tables: Subsets,
    slack: int,
    king_plies: int,
    king_plies_needed: NDArray[np.uint8],
    conversions: NDArray[np.uint8],
    needed_after: NDArray[np.uint8],
    queue: NDArray[np.int32],
    count: int,
) -> int:
    """Keep the positions of a queue that need only `king_plies` with this slack, and lower their numbers.

    Args:
        side: the side to move.
        other: the other side.
        tables: tables over the sets of kings.
        slack: plies.
        king_plies: one less than all positions of the queue need so far.
        king_plies_needed: uint8 [position], of the side to move; changed.
        conversions: uint8 [position], the best conversions as scores.
        needed_after: uint8 [position], king plies needed of the other side.
        queue: int32 [position], the queue; the positions that are kept move to its front.
        count: positions in the queue.

    Returns:
        How many positions are kept.
    """
    kings_count, opponent_count, columns, rows = side.kings, side.opponent_kings, side.columns, side.rows
    other_columns, other_rows = other.columns, other.rows
    men_of, opponent_men_of, queued = side.men, side.opponent_men, side.new_wins
    own_sets = tables.squares[tables.start[kings_count - 1] :]
    opponent_sets = tables.squares[tables.start[opponent_count] :]
    less_one = tables.less_one[tables.less_one_start[opponent_count] :]
    turned_ranks = tables.reversed_rank[tables.start[kings_count] :]
    kept = 0
    for number in range(count):
        position = signed(queue[number])
        word, lane = position // 32, position % 32
        queued[word] &= np.uint32(~np.uint32(np.uint32(1) << np.uint32(lane)))
        # A queued winner has its winning move already. A loser must lose by every move, so check them all.
        if signed(king_plies_needed[position]) >= _LOSS_FLAG:
            if signed(conversions[position]) > min(slack + king_plies, DRAWN - 1):
                continue
            block = word // (rows * columns)
            row = word // columns - block * rows
            column = word % columns
            kings, opponents = signed(own_sets[row]) | 1 << lane, signed(opponent_sets[column])
            occupied = signed(men_of[block] | opponent_men_of[block]) | kings | opponents
            row_after = block * other_rows + signed(less_one[column * opponent_count])
            lane_after = 31 - lowest(opponents)
            left = kings
            lost = True
            while left and lost:
                from_square = lowest(left)
                left &= left - 1
                others = kings & ~(1 << from_square)
                for direction in range(4):
                    square = STEP[from_square, direction]
                    while square >= 0 and not (occupied >> square) & 1:
                        column_after = signed(turned_ranks[rank(others | 1 << square)])
                        after = (row_after * other_columns + column_after) * 32 + lane_after
                        if signed(needed_after[after]) >= king_plies:
                            lost = False
                            break
                        square = STEP[square, direction]
                    if not lost:
                        break
            if not lost:
                continue
        king_plies_needed[position] -= 1
        queue[kept] = position
        kept += 1
    return kept


@inner
def _queue_predecessors(
    side: Side,
    other: Side,
    tables: Subsets,
    positions: NDArray[np.int32],
    king_plies: int,
    king_plies_needed: NDArray[np.uint8],
    needed_before: NDArray[np.uint8],
    queue: NDArray[np.int32],
) -> int:
    """Fill a queue of the other side with positions that lead to some positions by a king move.

    A predecessor is added if it needs `king_plies` and the move counts for it: a win by a move to a loss, or
    a loss by a move to a win.

    Args:
        side: the side to move in `positions`.
        other: the side to move before them.
        tables: tables over the sets of kings.
        positions: int32 [position], the positions.
        king_plies: king plies that predecessors need so far.
        king_plies_needed: uint8 [position], of `side`.
        needed_before: uint8 [position], of `other`.
        queue: int32 [position], the empty queue.

    Returns:
        How many positions are in the queue.
    """
    kings_count, opponent_count, columns, rows = side.kings, side.opponent_kings, side.columns, side.rows
    other_columns, other_rows = other.columns, other.rows
    men_of, opponent_men_of = side.men, side.opponent_men
    queued = other.new_wins
    own_sets = tables.squares[tables.start[kings_count - 1] :]
    opponent_sets = tables.squares[tables.start[opponent_count] :]
    less_one = tables.less_one[tables.less_one_start[opponent_count] :]
    turned_ranks = tables.reversed_rank[tables.start[kings_count] :]
    count = 0
    for number in range(len(positions)):
        position = signed(positions[number])
        word, lane = position // 32, position % 32
        block = word // (rows * columns)
        row = word // columns - block * rows
        kings, opponents = signed(own_sets[row]) | 1 << lane, signed(opponent_sets[word % columns])
        occupied = signed(men_of[block] | opponent_men_of[block]) | kings | opponents
        column_before = signed(turned_ranks[row + BINOMIAL[lane, kings_count]])
        king_plies_before = (
            king_plies if signed(king_plies_needed[position]) >= _LOSS_FLAG else king_plies + _LOSS_FLAG
        )
        left = opponents
        while left:
            to_square = lowest(left)
            left &= left - 1
            others = opponents & ~(1 << to_square)
            for direction in range(4):
                square = STEP[to_square, direction]
                while square >= 0 and not (occupied >> square) & 1:
                    before = others | 1 << square
                    row_before = block * other_rows + signed(less_one[rank(before) * opponent_count])
                    word_before = row_before * other_columns + column_before
                    lane_before = 31 - lowest(before)
                    square = STEP[square, direction]
                    if signed(needed_before[word_before * 32 + lane_before]) != king_plies_before:
                        continue
                    bit = np.uint32(np.uint32(1) << np.uint32(lane_before))
                    if queued[word_before] & bit:
                        continue
                    queued[word_before] |= bit
                    queue[count] = word_before * 32 + lane_before
                    count += 1
    return count


@inner
def _write_dtb(
    side: Side,
    other: Side,
    tables: Subsets,
    positions: NDArray[np.int32],
    plies: int,
    scores: NDArray[np.uint8],
) -> None:
    """Write the DTB of positions to the results, and to the scores of the side that leads to them."""
    kings_count, opponent_count, columns, rows = side.kings, side.opponent_kings, side.columns, side.rows
    values, dtb, starts, other_columns = side.value, side.dtb, other.dtb_score_start, other.columns
    opponent_sets = tables.squares[tables.start[opponent_count] :]
    less_one = tables.less_one[tables.less_one_start[opponent_count] :]
    turned_ranks = tables.reversed_rank[tables.start[kings_count] :]
    for number in range(len(positions)):
        position = signed(positions[number])
        word, lane = position // 32, position % 32
        dtb[position] = plies
        score = plies + 1 if signed(values[position]) & 1 else WIN_AT_ONCE - (plies + 1)
        block = word // (rows * columns)
        row = word // columns - block * rows
        column = word % columns
        turned = signed(turned_ranks[row + BINOMIAL[lane, kings_count]])
        left = signed(opponent_sets[column])
        for i in range(opponent_count):
            square = 31 - lowest(left)
            left &= left - 1
            at = signed(less_one[column * opponent_count + i]) * other_columns + turned
            scores[starts[block] + at * 32 + square] = score


@inner
def count_unresolved(side: Side) -> int:
    """Return how many positions that are decided under the king-moves rule have no DTB."""
    values, dtb_of = side.value, side.dtb
    unresolved = 0
    for word in range(side.blocks * word_count(side)):
        value, dtb = values[word * 32 : word * 32 + 32], dtb_of[word * 32 : word * 32 + 32]
        here = np.uint8(0)
        for lane in range(32):
            is_unresolved = np.uint8(value[lane] != NOT_DECIDED) & np.uint8(dtb[lane] == NOT_DECIDED)
            here = np.uint8(here + is_unresolved)
        unresolved += signed(here)
    return unresolved


@inner
def dtb_beyond_limit(
    sides: tuple[Side, Side],
    count: int,
    tables: Subsets,
    scores: tuple[NDArray[np.uint8], NDArray[np.uint8]],
    king_limit: int,
    limit: int,
    last_slot: int,
    buffers: SlackBuffers,
) -> bool:
    """Find DTB beyond `king_limit`, up to `limit` plies, after `dtb_pass` and from the same events.

    Args:
        sides: both sides to move.
        count: 1 if each block is its own mirror, else 2.
        tables: tables over the sets of kings.
        scores: uint8 [score] for both sides, the DTB scores of their tiers.
        king_limit: plies that the king-moves rule allows.
        limit: plies that the balance rule allows.
        last_slot: the last slot of events.
        buffers: buffers of this function.

    Returns:
        Whether every position that is decided under the king-moves rule has a DTB now.
    """
    unresolved = 0
    for s in range(count):
        unresolved += count_unresolved(sides[s])
    # More slack than this admits no conversion earlier: all are admitted from the first king move on.
    max_slack = min(limit - king_limit, last_slot - 1)
    if unresolved == 0 or max_slack < 1:
        return unresolved == 0
    one, two, self_mirrored = sides[0], sides[count - 1], count == 1
    needed_one, conversions_one = buffers.king_plies_needed[0], buffers.conversions[0]
    needed_two, conversions_two = buffers.king_plies_needed[count - 1], buffers.conversions[count - 1]
    for s in range(count):
        _init_king_plies_needed(sides[s], king_limit, buffers.king_plies_needed[s])
        _find_best_conversions(sides[s], buffers.conversions[s])
    # The queues of both sides, now and for one king ply more.
    ones, twos, next_ones, next_twos = (
        buffers.queues[0],
        buffers.queues[1],
        buffers.queues[2],
        buffers.queues[3],
    )
    for slack in range(1, max_slack + 1):
        of_one = of_two = 0
        for king_plies in range(1, king_limit + 1):
            slot = slack + king_plies
            of_one = _queue_from_events(one, slot, king_plies + 1, needed_one, ones, of_one)
            of_one = _filter_queue(
                one, two, tables, slack, king_plies, needed_one, conversions_one, needed_two, ones, of_one
            )
            if not self_mirrored:
                of_two = _queue_from_events(two, slot, king_plies + 1, needed_two, twos, of_two)
                of_two = _filter_queue(
                    two, one, tables, slack, king_plies, needed_two, conversions_two, needed_one, twos, of_two
                )
            confirmed_one, confirmed_two = ones[:of_one], twos[:of_two]
            if king_plies == king_limit:
                _write_dtb(one, two, tables, confirmed_one, slot, scores[count - 1])
                _write_dtb(two, one, tables, confirmed_two, slot, scores[0])
                unresolved -= of_one + of_two
                break
            before = king_plies + 2
            if self_mirrored:
                of_one = _queue_predecessors(
                    one, one, tables, confirmed_one, before, needed_one, needed_one, next_ones
                )
            else:
                of_two = _queue_predecessors(
                    one, two, tables, confirmed_one, before, needed_one, needed_two, next_twos
                )
                of_one = _queue_predecessors(
                    two, one, tables, confirmed_two, before, needed_two, needed_one, next_ones
                )
            ones, next_ones = next_ones, ones
            twos, next_twos = next_twos, twos
        if unresolved == 0:
            return True
    return False
