"""DTB beyond the limit of king moves: what is left of two counts at once.

A king move takes a ply of both counts, so what is left of the balance, less what is left of king moves, stays
the same within a block. Each such difference is a *stair*. On a stair a position has a *need*: the fewest
king moves left with which it is won (or lost). The pass to the balance change finds the needs of the lowest
stair, on which both counts are equal: no position can run out of king moves alone there, and the needs up to
the limit are the DTB. A position that needs the whole limit on a higher stair, and more on the one below, has
this DTB: the limit, and the height of the stair.

From one stair to the next a need stays, or is one less: with a king move more, and as much of the balance,
the position was won on the stair below. So whatever changes, changes for a reason: an exit that the balance
now allows a ply earlier, or a position next to it that needs one less. Needs are gone through in their order
on each stair, and only such reasons are followed. Most positions need no more than their DTC from the first
stair on, and are never looked at.
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

_NEVER = 127
_LOSES = 128


class StairRoom(NamedTuple):
    """Buffers of `climb` for a batch.

    Attributes:
        needs: [side, place].
        exits: [side, place], the best exits as scores.
        queues: [4, place], queues of places; a place is in a queue once at most. Most of it is never touched.
    """

    needs: NDArray[np.uint8]
    exits: NDArray[np.uint8]
    queues: NDArray[np.int32]


def stair_room(words: int) -> StairRoom:
    """Allocate the buffers for `words` words of a side."""
    places = words * 32
    return StairRoom(
        needs=np.empty((2, places), np.uint8),
        exits=np.empty((2, places), np.uint8),
        queues=np.empty((4, places), np.int32),
    )


# Positions are told by their place: word * 32 + lane, the lane that of the mover's highest king. Arrays are
# taken out of their tuples before the loops: numba counts references at each such access. The need of a loser
# stands with _LOSES on top, so that one look at it says both.


@inner
def _find_needs(side: Side, king_limit: int, needs: NDArray[np.uint8]) -> None:
    """The needs on the lowest stair, where DTB stands as far as it is found there; one more than the limit
    for what else is decided under the king-moves rule, _NEVER for the rest. Nothing waits then."""
    words = side.blocks * word_count(side)
    values, dtb = side.value, side.dtb
    for place in range(words * 32):
        value = signed(values[place])
        need = king_limit + 1 if dtb[place] == NOT_DECIDED else signed(dtb[place])
        needs[place] = _NEVER if value == NOT_DECIDED else need if value & 1 else need + _LOSES
    side.new_wins[:words] = 0


@inner
def _find_exits(side: Side, exits: NDArray[np.uint8]) -> None:
    """The best exit of each position, as a score (see `score_balance`), from the events; 0 where there is
    none."""
    words, any_exit = side.blocks * word_count(side), side.rule_any
    first, following, words_of, lanes_of = (
        side.event_first,
        side.event_next,
        side.event_word,
        side.event_lanes,
    )
    for word in range(words):
        for lane in range(32):
            exits[word * 32 + lane] = DRAWN if (signed(any_exit[word]) >> lane) & 1 else 0
    for slot in range(len(first)):
        score = WIN_AT_ONCE - (slot - WINS_SLOT) if slot >= WINS_SLOT else slot
        event = signed(first[slot])
        while event >= 0:
            lanes = signed(lanes_of[event])
            while lanes:
                exits[signed(words_of[event]) * 32 + lowest(lanes)] = score
                lanes &= lanes - 1
            event = signed(following[event])


@inner
def _add_from_exits(
    side: Side, slot: int, need: int, needs: NDArray[np.uint8], queue: NDArray[np.int32], count: int
) -> int:
    """Add to a queue the positions of this need that have an exit of so many plies. Returns how many there
    are in it."""
    first, following, words_of, lanes_of = (
        side.event_first,
        side.event_next,
        side.event_word,
        side.event_lanes,
    )
    waits = side.new_wins
    for kind in range(2):
        event = signed(first[slot + kind * WINS_SLOT])
        while event >= 0:
            word = signed(words_of[event])
            lanes = signed(lanes_of[event]) & ~signed(waits[word])
            while lanes:
                lane = lowest(lanes)
                lanes &= lanes - 1
                if needs[word * 32 + lane] != (need if kind else need + _LOSES):
                    continue
                queue[count] = word * 32 + lane
                count += 1
                waits[word] |= np.uint32(np.uint32(1) << np.uint32(lane))
            event = signed(following[event])
    return count


@inner
def _settle(
    side: Side,
    other: Side,
    tables: Subsets,
    height: int,
    need: int,
    needs: NDArray[np.uint8],
    exits: NDArray[np.uint8],
    needs_after: NDArray[np.uint8],
    queue: NDArray[np.int32],
    count: int,
) -> int:
    """Look at the positions of a queue, all of one more than this `need` so far: which need no more than that
    on the stair of this height? They are left in the queue; returns how many they are."""
    kings_count, opponent_count, columns, rows = side.kings, side.opponent_kings, side.columns, side.rows
    other_columns, other_rows = other.columns, other.rows
    men_of, opponent_men_of, waits = side.men, side.opponent_men, side.new_wins
    own_sets = tables.squares[tables.start[kings_count - 1] :]
    opponent_sets = tables.squares[tables.start[opponent_count] :]
    less_one = tables.less_one[tables.less_one_start[opponent_count] :]
    turned_ranks = tables.reversed_rank[tables.start[kings_count] :]
    kept = 0
    for number in range(count):
        place = signed(queue[number])
        word, lane = place // 32, place % 32
        waits[word] &= np.uint32(~np.uint32(np.uint32(1) << np.uint32(lane)))
        # A winner waits here for one of its moves alone, that is enough; a loser loses by none but all.
        if signed(needs[place]) >= _LOSES:
            if signed(exits[place]) > min(height + need, DRAWN - 1):
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
                        if signed(needs_after[after]) >= need:
                            lost = False
                            break
                        square = STEP[square, direction]
                    if not lost:
                        break
            if not lost:
                continue
        needs[place] -= 1
        queue[kept] = place
        kept += 1
    return kept


@inner
def _add_before(
    side: Side,
    other: Side,
    tables: Subsets,
    places: NDArray[np.int32],
    need: int,
    needs: NDArray[np.uint8],
    needs_before: NDArray[np.uint8],
    queue: NDArray[np.int32],
) -> int:
    """Put into an empty queue of the other side's the positions of this need from which a king move leads to
    one of these places, as a winner wants it, or a loser must. Returns how many are in it."""
    kings_count, opponent_count, columns, rows = side.kings, side.opponent_kings, side.columns, side.rows
    other_columns, other_rows = other.columns, other.rows
    men_of, opponent_men_of = side.men, side.opponent_men
    waits = other.new_wins
    own_sets = tables.squares[tables.start[kings_count - 1] :]
    opponent_sets = tables.squares[tables.start[opponent_count] :]
    less_one = tables.less_one[tables.less_one_start[opponent_count] :]
    turned_ranks = tables.reversed_rank[tables.start[kings_count] :]
    queued = 0
    for number in range(len(places)):
        place = signed(places[number])
        word, lane = place // 32, place % 32
        block = word // (rows * columns)
        row = word // columns - block * rows
        kings, opponents = signed(own_sets[row]) | 1 << lane, signed(opponent_sets[word % columns])
        occupied = signed(men_of[block] | opponent_men_of[block]) | kings | opponents
        column_before = signed(turned_ranks[row + BINOMIAL[lane, kings_count]])
        need_before = need if signed(needs[place]) >= _LOSES else need + _LOSES
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
                    if signed(needs_before[word_before * 32 + lane_before]) != need_before:
                        continue
                    bit = np.uint32(np.uint32(1) << np.uint32(lane_before))
                    if waits[word_before] & bit:
                        continue
                    waits[word_before] |= bit
                    queue[queued] = word_before * 32 + lane_before
                    queued += 1
    return queued


@inner
def _put_down(
    side: Side,
    other: Side,
    tables: Subsets,
    places: NDArray[np.int32],
    plies: int,
    scores: NDArray[np.uint8],
) -> None:
    """Positions have this DTB: into the results, and into the scores of the side that leads to them."""
    kings_count, opponent_count, columns, rows = side.kings, side.opponent_kings, side.columns, side.rows
    values, dtb, starts, other_columns = side.value, side.dtb, other.balance_start, other.columns
    opponent_sets = tables.squares[tables.start[opponent_count] :]
    less_one = tables.less_one[tables.less_one_start[opponent_count] :]
    turned_ranks = tables.reversed_rank[tables.start[kings_count] :]
    for number in range(len(places)):
        place = signed(places[number])
        word, lane = place // 32, place % 32
        dtb[place] = plies
        score = plies + 1 if signed(values[place]) & 1 else WIN_AT_ONCE - (plies + 1)
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
def count_lacking(side: Side) -> int:
    """How many positions that are decided under the king-moves rule have no DTB."""
    values, dtb_of = side.value, side.dtb
    lacking = 0
    for word in range(side.blocks * word_count(side)):
        value, dtb = values[word * 32 : word * 32 + 32], dtb_of[word * 32 : word * 32 + 32]
        here = np.uint8(0)
        for lane in range(32):
            lacks = np.uint8(value[lane] != NOT_DECIDED) & np.uint8(dtb[lane] == NOT_DECIDED)
            here = np.uint8(here + lacks)
        lacking += signed(here)
    return lacking


@inner
def climb(
    sides: tuple[Side, Side],
    count: int,
    tables: Subsets,
    scores: tuple[NDArray[np.uint8], NDArray[np.uint8]],
    king_limit: int,
    limit: int,
    last_slot: int,
    room: StairRoom,
) -> bool:
    """DTB beyond `king_limit`, up to `limit` plies, after `spread_balance` and from the same events, of which
    the last is in `last_slot`. Returns whether all that is decided under the king-moves rule has a DTB now.
    """
    lacking = 0
    for s in range(count):
        lacking += count_lacking(sides[s])
    # Where all exits are there with the first king move, higher stairs bring nothing new.
    highest = min(limit - king_limit, last_slot - 1)
    if lacking == 0 or highest < 1:
        return lacking == 0
    one, two, twins = sides[0], sides[count - 1], count == 1
    needs_one, exits_one = room.needs[0], room.exits[0]
    needs_two, exits_two = room.needs[count - 1], room.exits[count - 1]
    for s in range(count):
        _find_needs(sides[s], king_limit, room.needs[s])
        _find_exits(sides[s], room.exits[s])
    # What waits to be looked at, on either side; and then with one king move more.
    ones, twos, next_ones, next_twos = room.queues[0], room.queues[1], room.queues[2], room.queues[3]
    for height in range(1, highest + 1):
        of_one = of_two = 0
        for need in range(1, king_limit + 1):
            slot = height + need
            of_one = _add_from_exits(one, slot, need + 1, needs_one, ones, of_one)
            of_one = _settle(one, two, tables, height, need, needs_one, exits_one, needs_two, ones, of_one)
            if not twins:
                of_two = _add_from_exits(two, slot, need + 1, needs_two, twos, of_two)
                of_two = _settle(
                    two, one, tables, height, need, needs_two, exits_two, needs_one, twos, of_two
                )
            settled_one, settled_two = ones[:of_one], twos[:of_two]
            if need == king_limit:
                _put_down(one, two, tables, settled_one, slot, scores[count - 1])
                _put_down(two, one, tables, settled_two, slot, scores[0])
                lacking -= of_one + of_two
                break
            before = need + 2
            if twins:
                of_one = _add_before(one, one, tables, settled_one, before, needs_one, needs_one, next_ones)
            else:
                of_two = _add_before(one, two, tables, settled_one, before, needs_one, needs_two, next_twos)
                of_one = _add_before(two, one, tables, settled_two, before, needs_two, needs_one, next_ones)
            ones, next_ones = next_ones, ones
            twos, next_twos = next_twos, twos
        if lacking == 0:
            return True
    return False
