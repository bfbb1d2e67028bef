"""Solving a batch of blocks: exits of both sides, then the passes over their king moves (where a side has no
kings, none), then the results in the order of the files' index."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.solver.captures import SCRATCH
from generator.solver.conversions import take_exits
from generator.solver.dtb import StairRoom, climb, count_lacking, stair_room
from generator.solver.dtb_scores import ScoreTiers, begin_balance_scores
from generator.solver.events import list_events, score_balance
from generator.solver.kingless import LONGEST_SETTLED, settle
from generator.solver.man_conversions import take_exits_of_men
from generator.solver.outcome_pass import exits_differ, pass_on_board
from generator.solver.passes import DTC_TOO_LONG, spread_at_once, spread_balance, spread_on_board
from generator.solver.results import (
    BLESSED_LOSS,
    CURSED_WIN,
    LONGEST_DTC,
    NOT_DECIDED,
    STORED,
    VALUE,
    Results,
)
from generator.solver.side import FIRST_PART, ONE_PART, Side, SideBuffers, side_within, word_count
from generator.solver.subsets import BINOMIAL, Subsets
from generator.solver.successors import DRAWN, OutcomeExceptions, SuccessorTables, put_bits
from tablebase.kernels.bits import highest, lowest, popcount, signed
from tablebase.kernels.jit import inlined, inner, step

# The pass under the rules was cut short by their limit.
CUT = 1


@inner
def fill_draws(
    side: Side,
    tables: Subsets,
    scores: NDArray[np.uint8],
    score_starts: NDArray[np.int64],
    part: int,
    parts: int,
) -> None:
    """What the spread has left without a score is drawn on the board. Threads can share the rows."""
    columns, rows, men_of, opponent_men_of = side.columns, side.rows, side.men, side.opponent_men
    own_sets = tables.squares[tables.start[side.kings - 1] :]
    opponent_sets = tables.squares[tables.start[side.opponent_kings] :]
    for block in range(side.blocks):
        men = signed(men_of[block] | opponent_men_of[block])
        for row in range(part, rows, parts):
            others = signed(own_sets[row])
            if others & men:
                continue
            for column in range(columns):
                opponents = signed(opponent_sets[column])
                if opponents & (men | others):
                    continue
                at = score_starts[block] + (row * columns + column) * 32
                valid = np.uint32(~np.uint32(men | others | opponents))
                here = scores[at : at + 32]
                for lane in range(32):
                    drawn = np.uint8(DRAWN) if (valid >> np.uint32(lane)) & np.uint32(1) else np.uint8(0)
                    here[lane] = drawn if here[lane] == 0 else here[lane]


@inner
def gather(
    side: Side,
    tables: Subsets,
    results: Results,
    bases: NDArray[np.int64],
    with_balance: bool,
    work: NDArray[np.int64],
    part: int,
    parts: int,
) -> None:
    """Write the results of a batch in the order of the index: by the opponent's kings, then by own kings.

    Both go by rank. (Ranks among the free squares run in the same order as ranks among all squares.)

    Each word is read once. Its lanes go to places far apart: those of a lane follow each other in the order
    of the other kings, behind all sets whose highest king is lower. Threads can share the sets of the
    opponent's kings.
    """
    kings, columns, rows, lanes = side.kings, side.columns, side.rows, side.lanes
    men_of, opponent_men_of = side.men, side.opponent_men
    quiet, values, dtw, dtb = side.quiet, side.value, side.dtw, side.dtb
    out_value, out_dtw, out_dtb = results.value, results.dtw, results.dtb
    with_scores, with_dtb = len(out_dtw) > 0, len(out_dtb) > 0
    own_sets, opponent_sets = (
        tables.squares[tables.start[max(kings - 1, 0)] :],
        tables.squares[tables.start[side.opponent_kings] :],
    )
    next_of_lane = work[SCRATCH : SCRATCH + 32]
    for block in range(side.blocks):
        men = signed(men_of[block] | opponent_men_of[block])
        index = bases[block]
        number = 0
        size = BINOMIAL[32 - popcount(men) - side.opponent_kings, kings]
        for column in range(columns):
            opponents = signed(opponent_sets[column])
            if opponents & men:
                continue
            number += 1
            if parts > 1 and number % parts != part:
                index += size
                continue
            blocked = men | opponents
            free = 0
            for lane in range(lanes):
                next_of_lane[lane] = index + BINOMIAL[free, kings] if kings else index
                free += 1 - ((blocked >> lane) & 1)
            for row in range(rows):
                others = signed(own_sets[row])
                if others & blocked:
                    continue
                word = (block * rows + row) * columns + column
                quiet_here = signed(quiet[word])
                left = 1
                if kings:
                    left = 0xFFFFFFFF & ~blocked
                    if others:
                        left &= ~((2 << highest(others)) - 1)
                while left:
                    lane = lowest(left)
                    left &= left - 1
                    at = word * lanes + lane
                    to = next_of_lane[lane]
                    next_of_lane[lane] = to + 1
                    value = signed(values[at])
                    if with_scores:
                        plies = signed(dtw[at])
                        out_dtw[to] = plies
                        if value == NOT_DECIDED and plies != NOT_DECIDED:
                            value = CURSED_WIN if plies & 1 else BLESSED_LOSS
                    if with_dtb:
                        out_dtb[to] = dtb[at]
                    if with_balance and dtb[at] == NOT_DECIDED and value < BLESSED_LOSS:
                        value = CURSED_WIN if value & 1 else BLESSED_LOSS  # drawn under both counts
                    stored = STORED if (quiet_here >> lane) & 1 else 0
                    out_value[to] = value & VALUE | stored
            index += size


@inner
def finish_afters(side: Side, afters: SuccessorTables) -> None:
    """Complete a batch's after tables, in which all scores, if any, stand already."""
    words, starts, lost, won = word_count(side), side.word_start, side.lost, side.won
    first_bits, lost_after, won_after = side.first_bit, afters.lost, afters.won
    if side.lanes == 1:
        for block in range(side.blocks):
            put_bits(lost, block * words, words, lost_after, first_bits[block])
            put_bits(won, block * words, words, won_after, first_bits[block])
        return
    for block in range(side.blocks):
        start = starts[block]
        for word in range(words):
            lost_after[start + word] = lost[block * words + word]
            won_after[start + word] = won[block * words + word]


@inner
def prepare(side: Side, scores: NDArray[np.uint8]) -> int:
    """Before the passes: nothing is decided, and exits are events, if there are `scores`. Returns the last
    slot of events, or EVENTS_FULL."""
    lanes = side.blocks * word_count(side) * 32
    side.value[:lanes] = NOT_DECIDED
    if len(scores):
        return list_events(side, side.dtw)
    return 0


@inner
def spread(
    sides: tuple[Side, Side],
    count: int,
    tables: Subsets,
    scores: NDArray[np.uint8],
    limit: int,
    strip_room: NDArray[np.uint32],
) -> int:
    """The two passes of a batch whose sides both have kings, and what they leave drawn. Returns 0 or CUT, or
    EVENTS_FULL, TOO_LONG or DTC_TOO_LONG."""
    last_slot = 0
    for s in range(count):
        found = prepare(sides[s], scores)
        if found < 0:
            return found
        last_slot = max(last_slot, found)
    if len(scores):
        error = spread_on_board(sides, count, tables, scores, last_slot, strip_room)
        if error:
            return error
        for s in range(count):
            fill_draws(sides[s], tables, scores, sides[s].score_start, FIRST_PART, ONE_PART)
    if spread_at_once(sides, count, tables, min(limit, LONGEST_DTC), count == 0, strip_room):
        return 0
    return CUT if limit <= LONGEST_DTC else DTC_TOO_LONG


class Batch(NamedTuple):
    """Blocks of one material that are solved together.

    Attributes:
        kings, opponent_kings: how many kings the first side and its opponent have.
        men: [block, 2] bit sets, the men of the first side and of its opponent, as the first side sees them.
        turned_men: [block, 2] bit sets, the same as the other side sees them when it moves.
        bases: [2, block], the index of the block's first position in the slice of either side; the second row
            is -1 throughout where each block is its own mirror.
    """

    kings: int
    opponent_kings: int
    men: NDArray[np.int64]
    turned_men: NDArray[np.int64]
    bases: NDArray[np.int64]


@inlined
def _sides(batch: Batch, afters: SuccessorTables, rooms: tuple[SideBuffers, SideBuffers]) -> Any:
    kings, opponent_kings = batch.kings, batch.opponent_kings
    return (
        side_within(kings, opponent_kings, batch.men, batch.bases[0], afters, rooms[0]),
        side_within(opponent_kings, kings, batch.turned_men, batch.bases[1], afters, rooms[1]),
    )


@step
def exits_of_kings(
    batch: Batch,
    tables: Subsets,
    afters: SuccessorTables,
    work: NDArray[np.int64],
    rooms: tuple[SideBuffers, SideBuffers],
    results: tuple[Results, Results],
    known: bool,
) -> None:
    """First step: find the exits of each side that has kings."""
    sides = _sides(batch, afters, rooms)
    for s in range(1 if sides[1].blocks == 0 else 2):
        if sides[s].kings:
            take_exits(sides[s], tables, afters, work, known, results[s], batch.bases[s])


@step
def exits_of_men(
    batch: Batch,
    tables: Subsets,
    afters: SuccessorTables,
    work: NDArray[np.int64],
    rooms: tuple[SideBuffers, SideBuffers],
    results: tuple[Results, Results],
    known: bool,
) -> None:
    """First step: find the exits of each side that has no kings."""
    sides = _sides(batch, afters, rooms)
    for s in range(1 if sides[1].blocks == 0 else 2):
        if not sides[s].kings:
            take_exits_of_men(sides[s], tables, afters, work, known, results[s], batch.bases[s])


@step
def passes_of_kings(
    batch: Batch,
    limit: int,
    tables: Subsets,
    afters: SuccessorTables,
    rooms: tuple[SideBuffers, SideBuffers],
    strip_room: NDArray[np.uint32],
) -> int:
    """Second step, if both sides have kings: run the passes. Returns 0, `CUT`, or an error code."""
    sides = _sides(batch, afters, rooms)
    count = 1 if sides[1].blocks == 0 else 2
    ended = spread(sides, count, tables, afters.score, limit, strip_room)
    for s in range(count if ended >= 0 else 0):
        finish_afters(sides[s], afters)
    return ended


@step
def passes_of_men(
    batch: Batch,
    limit: int,
    tables: Subsets,
    afters: SuccessorTables,
    rooms: tuple[SideBuffers, SideBuffers],
    strip_room: NDArray[np.uint32],
) -> int:
    """Second step, if a side has no kings: settle its positions. Returns 0, `CUT`, or an error code."""
    sides = _sides(batch, afters, rooms)
    count = 1 if sides[1].blocks == 0 else 2
    ended = settle(sides, count, tables, limit, afters.score, count == 0, strip_room)
    if ended == 0 and limit < LONGEST_SETTLED:
        ended = CUT
    for s in range(count if ended >= 0 else 0):
        finish_afters(sides[s], afters)
    return ended


@step
def balance_pass(
    batch: Batch,
    limit: int,
    tables: Subsets,
    afters: SuccessorTables,
    work: NDArray[np.int64],
    rooms: tuple[SideBuffers, SideBuffers],
    strip_room: NDArray[np.uint32],
    tiers: tuple[ScoreTiers, ScoreTiers],
) -> tuple[int, int]:
    """Third step: find DTB up to `limit` plies.

    Returns the last slot of events, or EVENTS_FULL, and how many positions still lack a DTB.
    """
    sides = _sides(batch, afters, rooms)
    count = 1 if sides[1].blocks == 0 else 2
    last_slot = 0
    for s in range(count):
        begin_balance_scores(sides[s], tiers[s])
        score_balance(sides[s], tables, tiers[s], work)
        found = list_events(sides[s], sides[s].dtb)
        if found < 0:
            return found, 0
        last_slot = max(last_slot, found)
    scores = tiers[0].scores, tiers[1].scores
    spread_balance(sides, count, tables, scores, limit, last_slot, strip_room)
    lacking = 0
    for s in range(count):
        lacking += count_lacking(sides[s])
    return last_slot, lacking


@step
def balance_climb(
    batch: Batch,
    within: int,
    limit: int,
    last_slot: int,
    tables: Subsets,
    afters: SuccessorTables,
    rooms: tuple[SideBuffers, SideBuffers],
    tiers: tuple[ScoreTiers, ScoreTiers],
    room: StairRoom,
) -> bool:
    """Third step, if positions lack a DTB: find DTB beyond the limit of king moves.

    Returns whether every position that is decided under the king-moves rule has a DTB now.
    """
    sides = _sides(batch, afters, rooms)
    count = 1 if sides[1].blocks == 0 else 2
    return climb(sides, count, tables, (tiers[0].scores, tiers[1].scores), within, limit, last_slot, room)


@step
def balance_draws(
    batch: Batch,
    tables: Subsets,
    afters: SuccessorTables,
    rooms: tuple[SideBuffers, SideBuffers],
    tiers: tuple[ScoreTiers, ScoreTiers],
) -> None:
    """Third step, its end: positions that are left without a score are drawn."""
    sides = _sides(batch, afters, rooms)
    for s in range(1 if sides[1].blocks == 0 else 2):
        fill_draws(sides[s], tables, tiers[s].scores, sides[s].balance_start, FIRST_PART, ONE_PART)


@step
def board_pass(
    batch: Batch,
    tables: Subsets,
    afters: SuccessorTables,
    rooms: tuple[SideBuffers, SideBuffers],
    strip_room: NDArray[np.uint32],
    board_words: OutcomeExceptions,
    cut: bool,
) -> int:
    """Fourth step, only without scores: the pass on the board. Returns what `pass_on_board` does."""
    sides = _sides(batch, afters, rooms)
    count = 1 if sides[1].blocks == 0 else 2
    if cut or exits_differ(sides, count):
        return pass_on_board(sides, count, tables, afters, strip_room, board_words)
    return 0


@step
def gather_batch(
    batch: Batch,
    tables: Subsets,
    afters: SuccessorTables,
    rooms: tuple[SideBuffers, SideBuffers],
    work: NDArray[np.int64],
    results: tuple[Results, Results],
    with_balance: bool,
) -> None:
    """Last step: write the results in the order of the index."""
    sides = _sides(batch, afters, rooms)
    for s in range(1 if sides[1].blocks == 0 else 2):
        gather(sides[s], tables, results[s], batch.bases[s], with_balance, work, FIRST_PART, ONE_PART)


def _room_to_climb(rooms: tuple[SideBuffers, SideBuffers]) -> StairRoom:
    return stair_room(max(room.words.shape[1] for room in rooms))


def solve_batch(
    batch: Batch,
    limit: int,
    tables: Subsets,
    afters: SuccessorTables,
    capture_work: NDArray[np.int64],
    rooms: tuple[SideBuffers, SideBuffers],
    strip_room: NDArray[np.uint32],
    board_words: OutcomeExceptions,
    results: tuple[Results, Results],
    tiers: tuple[ScoreTiers, ScoreTiers],
    balance_limit: int,
    known: bool,
) -> int:
    """Solve a batch of blocks that do not lead to each other: into `results` and the after tables. Or, where
    the stored positions of `results` are `known` already, into the after tables alone.

    `board_words`: takes the words that are otherwise on the board, where there are no scores. `tiers` are
    used where there is a `balance_limit`; 0 stands for no pass to the balance change. Returns how many words
    were to be taken (more than there is room for: call again with more), or EVENTS_FULL (likewise), TOO_LONG
    or DTC_TOO_LONG.
    """
    kings, opponent_kings = batch.kings, batch.opponent_kings
    if kings or opponent_kings:
        exits_of_kings(batch, tables, afters, capture_work, rooms, results, known)
    if not (kings and opponent_kings):
        exits_of_men(batch, tables, afters, capture_work, rooms, results, known)
    passes = passes_of_kings if kings and opponent_kings else passes_of_men
    ended = passes(batch, limit, tables, afters, rooms, strip_room)
    if ended < 0:
        return ended
    if balance_limit > 0:
        within = min(limit, balance_limit)
        last_slot, lacking = balance_pass(
            batch, within, tables, afters, capture_work, rooms, strip_room, tiers
        )
        if last_slot < 0:
            return last_slot
        if lacking and not balance_climb(
            batch, within, balance_limit, last_slot, tables, afters, rooms, tiers, _room_to_climb(rooms)
        ):
            tiers[0].lacking[0] = 1
        balance_draws(batch, tables, afters, rooms, tiers)
    found = 0
    if len(afters.score) == 0:
        found = board_pass(batch, tables, afters, rooms, strip_room, board_words, ended == CUT)
        if found < 0 or found > len(board_words.words):
            return found
    if not known:
        gather_batch(batch, tables, afters, rooms, capture_work, results, balance_limit > 0)
    return found
