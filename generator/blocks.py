"""Solving a batch of blocks: exits of both sides, then the passes over their king moves (where a side has no
kings, none), then the results in the order of the files' index."""

import numpy as np
from numpy.typing import NDArray

from generator.afters import DRAWN, Afters
from generator.balancescores import Tiers, begin_balance_scores
from generator.boardpass import exits_differ, pass_on_board
from generator.boardwords import BoardWords
from generator.events import list_events, score_balance
from generator.exits import take_exits
from generator.menexits import take_exits_of_men
from generator.results import BLESSED_LOSS, CURSED_WIN, LONGEST_DTC, NOT_DECIDED, STORED, VALUE, Results
from generator.settle import LONGEST_SETTLED, settle
from generator.sides import FIRST_PART, ONE_PART, Side, SideRoom, make_side, word_count
from generator.spread import DTC_TOO_LONG, spread_at_once, spread_balance, spread_on_board
from generator.staircase import climb
from generator.subsets import BINOMIAL, Subsets
from tablebase.kernels.bits import highest, popcount, signed
from tablebase.kernels.jit import kernel

# The pass under the rules was cut short by their limit.
CUT = 1


@kernel
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


@kernel
def gather(
    side: Side,
    tables: Subsets,
    results: Results,
    bases: NDArray[np.int64],
    with_balance: bool,
    part: int,
    parts: int,
) -> None:
    """The results of a batch in the order of the index: the opponent's kings, then own, each in order of
    rank. (Ranks among the free squares run in the same order as ranks among all squares.) Threads can share
    the sets of the opponent's kings."""
    kings, columns, rows, lanes = side.kings, side.columns, side.rows, side.lanes
    men_of, opponent_men_of = side.men, side.opponent_men
    quiet, values, dtw, dtb = side.quiet, side.value, side.dtw, side.dtb
    out_value, out_dtw, out_dtb = results.value, results.dtw, results.dtb
    with_scores, with_dtb = len(out_dtw) > 0, len(out_dtb) > 0
    own_sets, opponent_sets = (
        tables.squares[tables.start[kings] :],
        tables.squares[tables.start[side.opponent_kings] :],
    )
    for block in range(side.blocks):
        men = signed(men_of[block] | opponent_men_of[block])
        index = bases[block]
        number = 0
        for column in range(columns):
            opponents = signed(opponent_sets[column])
            if opponents & men:
                continue
            number += 1
            if parts > 1 and number % parts != part:
                index += BINOMIAL[32 - popcount(men) - side.opponent_kings, kings]
                continue
            for own_rank in range(BINOMIAL[32, kings]):
                own = signed(own_sets[own_rank])
                if own & (men | opponents):
                    continue
                lane = highest(own) if own else 0
                row = own_rank - BINOMIAL[lane, kings] if own else 0
                word = (block * rows + row) * columns + column
                at = word * lanes + lane
                value = signed(values[at])
                if with_scores:
                    plies = signed(dtw[at])
                    out_dtw[index] = plies
                    if value == NOT_DECIDED and plies != NOT_DECIDED:
                        value = CURSED_WIN if plies & 1 else BLESSED_LOSS
                if with_dtb:
                    out_dtb[index] = dtb[at]
                if with_balance and dtb[at] == NOT_DECIDED and value < BLESSED_LOSS:
                    value = CURSED_WIN if value & 1 else BLESSED_LOSS  # drawn under both counts
                stored = STORED if (signed(quiet[word]) >> lane) & 1 else 0
                out_value[index] = value & VALUE | stored
                index += 1


@kernel
def finish_afters(side: Side, afters: Afters) -> None:
    """Complete a batch's after tables, in which all scores, if any, stand already."""
    words, starts, lost, won = word_count(side), side.word_start, side.lost, side.won
    lost_after, won_after = afters.lost, afters.won
    for block in range(side.blocks):
        start = starts[block]
        for word in range(words):
            lost_after[start + word] = lost[block * words + word]
            won_after[start + word] = won[block * words + word]


@kernel
def prepare(side: Side, scores: NDArray[np.uint8]) -> int:
    """Before the passes: nothing is decided, and exits are events, if there are `scores`. Returns the last
    slot of events, or EVENTS_FULL."""
    lanes = side.blocks * word_count(side) * 32
    side.value[:lanes] = NOT_DECIDED
    if len(scores):
        return list_events(side, side.dtw)
    return 0


@kernel
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
    capture_work: NDArray[np.int64],
    rooms: tuple[SideRoom, SideRoom],
    strip_room: NDArray[np.uint32],
    board_words: BoardWords,
    results: tuple[Results, Results],
    tiers: tuple[Tiers, Tiers],
    balance_limit: int,
    known: bool,
) -> int:
    """Solve a batch of blocks that do not lead to each other: into `results` and the after tables. Or, where
    the stored positions of `results` are `known` already, into the after tables alone.

    `men` [block, 2]: the men of the first side and of its opponent, as the first side sees them; `turned_men`
    the same for the other side to move. `bases` [block, 2]: the index of the block's first position in either
    slice; -1 for the second in all or none of the batch, where the blocks are their own twins. `board_words`:
    takes the words that are otherwise on the board, where there are no scores. `tiers` are used where there
    is a `balance_limit`; 0 stands for no pass to the balance change. Returns how many words were to be taken
    (more than there is room for: call again with more), or EVENTS_FULL (likewise), TOO_LONG or DTC_TOO_LONG.
    """
    sides = (
        make_side(kings, opponent_kings, men, bases, signed(0), afters, rooms[0]),
        make_side(opponent_kings, kings, turned_men, bases, signed(1), afters, rooms[1]),
    )
    count = 1 if sides[1].blocks == 0 else 2
    for s in range(count):
        own_bases = np.ascontiguousarray(bases[:, s])
        if sides[s].kings:
            take_exits(sides[s], tables, afters, capture_work, known, results[s], own_bases)
        else:
            take_exits_of_men(sides[s], tables, afters, capture_work, known, results[s], own_bases)
    if kings and opponent_kings:
        ended = spread(sides, count, tables, afters.score, limit, strip_room)
    else:
        ended = settle(sides, count, tables, limit, afters.score, count == 0)
        if ended == 0 and limit < LONGEST_SETTLED:
            ended = CUT
    if ended < 0:
        return ended
    for s in range(count):
        finish_afters(sides[s], afters)
    if balance_limit > 0:
        last_slot = 0
        for s in range(count):
            begin_balance_scores(sides[s], tiers[s])
            score_balance(sides[s], tables, tiers[s])
            found = list_events(sides[s], sides[s].dtb)
            if found < 0:
                return found
            last_slot = max(last_slot, found)
        balance_scores = tiers[0].scores, tiers[1].scores
        within = min(limit, balance_limit)
        spread_balance(sides, count, tables, balance_scores, within, last_slot, strip_room)
        if not climb(sides, count, tables, balance_scores, within, balance_limit, last_slot):
            tiers[0].lacking[0] = 1
        for s in range(count):
            fill_draws(sides[s], tables, balance_scores[s], sides[s].balance_start, FIRST_PART, ONE_PART)
    found = 0
    if len(afters.score) == 0 and (ended == CUT or exits_differ(sides, count)):
        found = pass_on_board(sides, count, tables, afters, strip_room, board_words)
        if found < 0 or found > len(board_words.words):
            return found
    for s in range(count):
        if not known:
            own_bases = np.ascontiguousarray(bases[:, s])
            gather(sides[s], tables, results[s], own_bases, balance_limit > 0, FIRST_PART, ONE_PART)
    return found
