"""Solving a batch of blocks: exits of both sides, then the two passes over their king moves, then the results
in the order of the files' index."""

import numpy as np
from numpy.typing import NDArray

from generator.afters import DRAWN, Afters
from generator.exits import EVENTS_FULL, find_balance_events, find_exits
from generator.sides import Results, Side, SideRoom, make_side
from generator.spread import spread_balance, spread_on_board, spread_under_rules
from generator.subsets import BINOMIAL, Subsets
from tablebase.kernels.bits import highest, signed
from tablebase.kernels.jit import kernel


@kernel
def _fill_draws(side: Side, block: int, tables: Subsets, scores: NDArray[np.uint8], score_start: int) -> None:
    """What the spread has left without a score is drawn on the board."""
    men = signed(side.men[block] | side.opponent_men[block])
    kings, columns = side.kings, side.columns
    own_sets = tables.squares[tables.start[max(kings - 1, 0)] :]
    opponent_sets = tables.squares[tables.start[side.opponent_kings] :]
    for row in range(side.rows):
        others = signed(own_sets[row])
        if others & men:
            continue
        for column in range(columns):
            opponents = signed(opponent_sets[column])
            if opponents & (men | others):
                continue
            at = score_start + (row * columns + column) * (32 if kings else 1)
            if kings == 0:
                if scores[at] == 0:
                    scores[at] = DRAWN
                continue
            valid = np.uint32(~np.uint32(men | others | opponents))
            here = scores[at : at + 32]
            for lane in range(32):
                drawn = np.uint8(DRAWN) if (valid >> np.uint32(lane)) & np.uint32(1) else np.uint8(0)
                here[lane] = drawn if here[lane] == 0 else here[lane]


@kernel
def _fill_balance_draws(side: Side, tables: Subsets, scores: NDArray[np.uint8]) -> None:
    for block in range(side.blocks):
        _fill_draws(side, block, tables, scores, side.balance_start[block])


@kernel
def _gather(side: Side, block: int, tables: Subsets, results: Results, index: int) -> None:
    """The block's results in the order of the index: the opponent's kings, then own, each in order of rank.
    (Ranks among the free squares run in the same order as ranks among all squares.)"""
    men = signed(side.men[block] | side.opponent_men[block])
    kings, columns = side.kings, side.columns
    quiet, dtw, dtc, dtb = side.quiet, side.dtw, side.dtc, side.dtb
    out_dtw, out_dtc, out_dtb, out_stored = results.dtw, results.dtc, results.dtb, results.stored
    with_balance = len(out_dtb) > 0
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
            out_dtw[index] = dtw[word * 32 + lane]
            out_dtc[index] = dtc[word * 32 + lane]
            if with_balance:
                out_dtb[index] = dtb[word * 32 + lane]
            out_stored[index] = (quiet[word] >> np.uint32(lane)) & np.uint32(1)
            index += 1


@kernel
def _gather_all(side: Side, tables: Subsets, results: Results, bases: NDArray[np.int64]) -> None:
    for block in range(side.blocks):
        _gather(side, block, tables, results, bases[block])


@kernel
def _finish_afters(side: Side, tables: Subsets, afters: Afters) -> None:
    """Complete a batch's after tables, in which the scores of won and lost positions stand already."""
    words = side.rows * side.columns
    for block in range(side.blocks):
        _fill_draws(side, block, tables, afters.score, side.score_start[block])
        start = side.word_start[block]
        afters.lost[start : start + words] = side.lost[block * words : (block + 1) * words]
        afters.won[start : start + words] = side.won[block * words : (block + 1) * words]


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
    results: tuple[Results, Results],
    balance_scores: tuple[NDArray[np.uint8], NDArray[np.uint8]],
    balance_limit: int,
    known: bool,
) -> int:
    """Solve a batch of blocks that do not lead to each other: into `results` and the after tables. Or, where
    the stored positions of `results` are `known` already, into the after tables alone.

    `men` [block, 2]: the men of the first side and of its opponent, as the first side sees them; `turned_men`
    the same for the other side to move. `bases` [block, 2]: the index of the block's first position in either
    slice; -1 for the second in all or none of the batch, where the blocks are their own twins. Returns 0,
    EVENTS_FULL (nothing done: call again with more room) or TOO_LONG.
    """
    sides = (
        make_side(kings, opponent_kings, men, bases, 0, afters, rooms[0]),
        make_side(opponent_kings, kings, turned_men, bases, 1, afters, rooms[1]),
    )
    count = 1 if sides[1].blocks == 0 else 2
    last_event = 0
    for s in range(count):
        found = find_exits(sides[s], tables, afters, capture_work, known, results[s], bases[:, s])
        if found < 0:
            return found
        last_event = max(last_event, found)
    error = spread_on_board(sides, count, tables, afters.score, last_event, strip_room)
    if error:
        return error
    spread_under_rules(sides, count, tables, limit, strip_room)
    for s in range(count):
        _finish_afters(sides[s], tables, afters)
    if balance_limit > 0:
        for s in range(count):
            if find_balance_events(sides[s], tables, balance_scores[s]) < 0:
                return EVENTS_FULL
        spread_balance(sides, count, tables, balance_scores, balance_limit, strip_room)
        for s in range(count):
            _fill_balance_draws(sides[s], tables, balance_scores[s])
    for s in range(count):
        if not known:
            _gather_all(sides[s], tables, results[s], bases[:, s])
    return 0
