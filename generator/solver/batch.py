"""Solve a batch of blocks: conversions of both sides, passes over king moves, results in index order.

If a side has no kings, one calculation replaces the passes (generator/solver/kingless.py).

Each step of `solve_batch` is a compiled function of its own, so that a run compiles only the steps it takes.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.solver.captures import SCRATCH
from generator.solver.conversions import score_conversions
from generator.solver.dtb import SlackBuffers, count_unresolved, dtb_beyond_limit, slack_buffers
from generator.solver.dtb_scores import ScoreTiers, init_dtb_scores
from generator.solver.events import list_events, score_dtb_conversions
from generator.solver.kingless import LONGEST_KINGLESS_DTC, solve_kingless_blocks
from generator.solver.man_conversions import score_man_conversions
from generator.solver.outcome_pass import needs_outcome_pass, run_outcome_pass
from generator.solver.passes import DTC_TOO_LONG, dtb_pass, dtc_pass, dtw_pass
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
from generator.solver.successors import DRAWN, OutcomeExceptions, SuccessorTables, write_bits
from tablebase.kernels.bits import highest, lowest, popcount, signed
from tablebase.kernels.jit import inlined, inner, step

# The limit of the rules has ended the DTC pass early.
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
    """Score positions that the DTW or DTB pass has left without a score as drawn.

    Threads can share the rows.

    Args:
        side: the side to move, with kings on both sides.
        tables: tables over the sets of its kings.
        scores: uint8 [score], the scores of the pass; written where they are 0.
        score_starts: int64 [block], where the scores of a block begin.
        part: which part of the rows to do.
        parts: how many parts there are.
    """
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
def write_results(
    side: Side,
    tables: Subsets,
    results: Results,
    first_index: NDArray[np.int64],
    with_balance: bool,
    work: NDArray[np.int64],
    part: int,
    parts: int,
) -> None:
    """Write the results of one side in index order: by the opponent's kings, then by own kings.

    Both are in order of rank. Ranks among the free squares have the same order as ranks among all squares.

    Each word is read once. Its lanes go to indices far apart: the positions of a lane follow each other in
    the order of the other kings, after all sets whose highest king is lower. Threads can share the sets of
    the opponent's kings.

    Args:
        side: the side to move, with its values.
        tables: tables over the sets of its kings.
        results: the slice; written from `first_index` on.
        first_index: int64 [block], the index of the first position of each block.
        with_balance: whether a position without a DTB is drawn, as both rules together draw it.
        work: int64, the work array of captures, of which only `SCRATCH` is used.
        part: which part of the sets to do.
        parts: how many parts there are.
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
        index = first_index[block]
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
                        value = CURSED_WIN if value & 1 else BLESSED_LOSS  # drawn by both rules
                    stored = STORED if (quiet_here >> lane) & 1 else 0
                    out_value[to] = value & VALUE | stored
            index += size


@inner
def write_successors(side: Side, successors: SuccessorTables) -> None:
    """Write the outcomes of one side to the successor tables, which have its scores already."""
    words, starts, lost, won = word_count(side), side.word_start, side.lost, side.won
    first_bits, lost_after, won_after = side.first_bit, successors.lost, successors.won
    if side.lanes == 1:
        for block in range(side.blocks):
            write_bits(lost, block * words, words, lost_after, first_bits[block])
            write_bits(won, block * words, words, won_after, first_bits[block])
        return
    for block in range(side.blocks):
        start = starts[block]
        for word in range(words):
            lost_after[start + word] = lost[block * words + word]
            won_after[start + word] = won[block * words + word]


@inner
def init_pass(side: Side, scores: NDArray[np.uint8]) -> int:
    """Mark all positions of a side as undecided before the passes.

    Args:
        side: the side to move.
        scores: uint8 [score], the scores of the successor tables; empty without DTW. With scores, the
            conversions become events.

    Returns:
        The last slot of events, or EVENTS_FULL.
    """
    lanes = side.blocks * word_count(side) * 32
    side.value[:lanes] = NOT_DECIDED
    if len(scores):
        return list_events(side, side.dtw)
    return 0


@inner
def run_passes(
    sides: tuple[Side, Side],
    count: int,
    tables: Subsets,
    scores: NDArray[np.uint8],
    limit: int,
    strip_buffer: NDArray[np.uint32],
) -> int:
    """Run the DTW and DTC passes of a batch in which both sides have kings, and score the draws.

    Args:
        sides: both sides to move; the same blocks, each as its mover sees them.
        count: 1 if each block is its own mirror, so that the first side is all there is; else 2.
        tables: tables over the sets of their kings.
        scores: uint8 [score], the scores of the successor tables; empty without DTW.
        limit: plies that the king-moves rule allows.
        strip_buffer: uint32 [3 * STRIP], overwritten.

    Returns:
        0, CUT, EVENTS_FULL, TOO_LONG or DTC_TOO_LONG.
    """
    last_slot = 0
    for s in range(count):
        found = init_pass(sides[s], scores)
        if found < 0:
            return found
        last_slot = max(last_slot, found)
    if len(scores):
        error = dtw_pass(sides, count, tables, scores, last_slot, strip_buffer)
        if error:
            return error
        for s in range(count):
            fill_draws(sides[s], tables, scores, sides[s].score_start, FIRST_PART, ONE_PART)
    if dtc_pass(sides, count, tables, min(limit, LONGEST_DTC), count == 0, strip_buffer):
        return 0
    return CUT if limit <= LONGEST_DTC else DTC_TOO_LONG


class Batch(NamedTuple):
    """Blocks of one material that are solved together.

    Attributes:
        kings: kings of the first side.
        opponent_kings: kings of its opponent.
        men: int64 [block, 2], bit sets: the men of the first side and of its opponent, as the first side sees
            them.
        turned_men: int64 [block, 2], bit sets: the men as the other side sees them when it moves.
        first_index: int64 [2, block], the index of each block's first position in the slice of either side;
            the second row is -1 if each block is its own mirror.
    """

    kings: int
    opponent_kings: int
    men: NDArray[np.int64]
    turned_men: NDArray[np.int64]
    first_index: NDArray[np.int64]


@inlined
def _sides(batch: Batch, successors: SuccessorTables, buffers: tuple[SideBuffers, SideBuffers]) -> Any:
    """Return both sides of a batch; the second has no blocks if each block is its own mirror."""
    kings, opponent_kings = batch.kings, batch.opponent_kings
    return (
        side_within(kings, opponent_kings, batch.men, batch.first_index[0], successors, buffers[0]),
        side_within(opponent_kings, kings, batch.turned_men, batch.first_index[1], successors, buffers[1]),
    )


@step
def conversions_with_kings(
    batch: Batch,
    tables: Subsets,
    successors: SuccessorTables,
    work: NDArray[np.int64],
    buffers: tuple[SideBuffers, SideBuffers],
    results: tuple[Results, Results],
    known: bool,
) -> None:
    """Score the conversions of each side that has kings: the first step."""
    sides = _sides(batch, successors, buffers)
    for s in range(1 if sides[1].blocks == 0 else 2):
        if sides[s].kings:
            score_conversions(sides[s], tables, successors, work, known, results[s], batch.first_index[s])


@step
def conversions_without_kings(
    batch: Batch,
    tables: Subsets,
    successors: SuccessorTables,
    work: NDArray[np.int64],
    buffers: tuple[SideBuffers, SideBuffers],
    results: tuple[Results, Results],
    known: bool,
) -> None:
    """Score the conversions of each side that has no kings: the first step."""
    sides = _sides(batch, successors, buffers)
    for s in range(1 if sides[1].blocks == 0 else 2):
        if not sides[s].kings:
            score_man_conversions(sides[s], tables, successors, work, known, results[s], batch.first_index[s])


@step
def passes_with_kings(
    batch: Batch,
    limit: int,
    tables: Subsets,
    successors: SuccessorTables,
    buffers: tuple[SideBuffers, SideBuffers],
    strip_buffer: NDArray[np.uint32],
) -> int:
    """Run the passes if both sides have kings: the second step.

    Returns:
        0, CUT, EVENTS_FULL, TOO_LONG or DTC_TOO_LONG.
    """
    sides = _sides(batch, successors, buffers)
    count = 1 if sides[1].blocks == 0 else 2
    ended = run_passes(sides, count, tables, successors.score, limit, strip_buffer)
    for s in range(count if ended >= 0 else 0):
        write_successors(sides[s], successors)
    return ended


@step
def passes_without_kings(
    batch: Batch,
    limit: int,
    tables: Subsets,
    successors: SuccessorTables,
    buffers: tuple[SideBuffers, SideBuffers],
    strip_buffer: NDArray[np.uint32],
) -> int:
    """Solve the blocks if a side has no kings: the second step.

    Returns:
        0, CUT or TOO_LONG.
    """
    sides = _sides(batch, successors, buffers)
    count = 1 if sides[1].blocks == 0 else 2
    ended = solve_kingless_blocks(sides, count, tables, limit, successors.score, count == 0, strip_buffer)
    if ended == 0 and limit < LONGEST_KINGLESS_DTC:
        ended = CUT
    for s in range(count if ended >= 0 else 0):
        write_successors(sides[s], successors)
    return ended


@step
def dtb_step(
    batch: Batch,
    limit: int,
    tables: Subsets,
    successors: SuccessorTables,
    work: NDArray[np.int64],
    buffers: tuple[SideBuffers, SideBuffers],
    strip_buffer: NDArray[np.uint32],
    tiers: tuple[ScoreTiers, ScoreTiers],
) -> tuple[int, int]:
    """Find DTB up to `limit` plies: the third step.

    Returns:
        The last slot of events, or EVENTS_FULL; and how many decided positions still lack a DTB.
    """
    sides = _sides(batch, successors, buffers)
    count = 1 if sides[1].blocks == 0 else 2
    last_slot = 0
    for s in range(count):
        init_dtb_scores(sides[s], tiers[s])
        score_dtb_conversions(sides[s], tables, tiers[s], work)
        found = list_events(sides[s], sides[s].dtb)
        if found < 0:
            return found, 0
        last_slot = max(last_slot, found)
    scores = tiers[0].scores, tiers[1].scores
    dtb_pass(sides, count, tables, scores, limit, last_slot, strip_buffer)
    unresolved = 0
    for s in range(count):
        unresolved += count_unresolved(sides[s])
    return last_slot, unresolved


@step
def dtb_beyond_limit_step(
    batch: Batch,
    within: int,
    limit: int,
    last_slot: int,
    tables: Subsets,
    successors: SuccessorTables,
    buffers: tuple[SideBuffers, SideBuffers],
    tiers: tuple[ScoreTiers, ScoreTiers],
    slack_work: SlackBuffers,
) -> bool:
    """Find DTB beyond the limit of king moves if positions lack a DTB: part of the third step.

    Args:
        batch: the batch.
        within: plies up to which `dtb_step` has found DTB.
        limit: plies that the balance rule allows.
        last_slot: the last slot of events.
        tables: tables over the sets of kings.
        successors: the successor tables.
        buffers: the buffers of both sides.
        tiers: the scores of both sides.
        slack_work: buffers of this step.

    Returns:
        Whether every position that is decided under the king-moves rule has a DTB now.
    """
    sides = _sides(batch, successors, buffers)
    count = 1 if sides[1].blocks == 0 else 2
    return dtb_beyond_limit(
        sides, count, tables, (tiers[0].scores, tiers[1].scores), within, limit, last_slot, slack_work
    )


@step
def dtb_draws_step(
    batch: Batch,
    tables: Subsets,
    successors: SuccessorTables,
    buffers: tuple[SideBuffers, SideBuffers],
    tiers: tuple[ScoreTiers, ScoreTiers],
) -> None:
    """Score positions without a DTB score as drawn: the end of the third step."""
    sides = _sides(batch, successors, buffers)
    for s in range(1 if sides[1].blocks == 0 else 2):
        fill_draws(sides[s], tables, tiers[s].scores, sides[s].dtb_score_start, FIRST_PART, ONE_PART)


@step
def outcome_step(
    batch: Batch,
    tables: Subsets,
    successors: SuccessorTables,
    buffers: tuple[SideBuffers, SideBuffers],
    strip_buffer: NDArray[np.uint32],
    exceptions: OutcomeExceptions,
    cut: bool,
) -> int:
    """Find the outcomes without draw rules: the fourth step, for tables without scores only.

    Args:
        batch: the batch.
        tables: tables over the sets of kings.
        successors: the successor tables.
        buffers: the buffers of both sides.
        strip_buffer: uint32 [3 * STRIP], overwritten.
        exceptions: takes the words that are different without draw rules.
        cut: whether the limit of the rules has ended the DTC pass early.

    Returns:
        How many words are different, or TOO_LONG. `exceptions` has them all if they fit.
    """
    sides = _sides(batch, successors, buffers)
    count = 1 if sides[1].blocks == 0 else 2
    if cut or needs_outcome_pass(sides, count):
        return run_outcome_pass(sides, count, tables, successors, strip_buffer, exceptions)
    return 0


@step
def results_step(
    batch: Batch,
    tables: Subsets,
    successors: SuccessorTables,
    buffers: tuple[SideBuffers, SideBuffers],
    work: NDArray[np.int64],
    results: tuple[Results, Results],
    with_balance: bool,
) -> None:
    """Write the results in index order: the last step."""
    sides = _sides(batch, successors, buffers)
    for s in range(1 if sides[1].blocks == 0 else 2):
        write_results(
            sides[s], tables, results[s], batch.first_index[s], with_balance, work, FIRST_PART, ONE_PART
        )


def solve_batch(
    batch: Batch,
    limit: int,
    tables: Subsets,
    successors: SuccessorTables,
    capture_work: NDArray[np.int64],
    buffers: tuple[SideBuffers, SideBuffers],
    strip_buffer: NDArray[np.uint32],
    exceptions: OutcomeExceptions,
    results: tuple[Results, Results],
    tiers: tuple[ScoreTiers, ScoreTiers],
    balance_limit: int,
    known: bool,
) -> int:
    """Solve a batch of blocks that do not lead to each other, into `results` and the successor tables.

    Args:
        batch: the blocks.
        limit: plies that the king-moves rule allows.
        tables: tables over the sets of kings.
        successors: the successor tables; those of all positions that conversions lead to are filled in.
        capture_work: int64, from `capture_work()`.
        buffers: the buffers of both sides.
        strip_buffer: uint32 [3 * STRIP], overwritten.
        exceptions: takes the words that are different without draw rules, if there are no scores.
        results: the values of both slices.
        tiers: DTB scores of both sides, used if there is a `balance_limit`.
        balance_limit: plies that the balance rule allows; 0 for no DTB pass.
        known: whether `results` have the values of stored positions, so that only the successor tables are
            written.

    Returns:
        How many words belong into `exceptions`: if they do not fit, call again with a larger list. Or an
            error:
        EVENTS_FULL (call again with more events), TOO_LONG or DTC_TOO_LONG.
    """
    kings, opponent_kings = batch.kings, batch.opponent_kings
    if kings or opponent_kings:
        conversions_with_kings(batch, tables, successors, capture_work, buffers, results, known)
    if not (kings and opponent_kings):
        conversions_without_kings(batch, tables, successors, capture_work, buffers, results, known)
    passes = passes_with_kings if kings and opponent_kings else passes_without_kings
    ended = passes(batch, limit, tables, successors, buffers, strip_buffer)
    if ended < 0:
        return ended
    if balance_limit > 0:
        within = min(limit, balance_limit)
        last_slot, unresolved = dtb_step(
            batch, within, tables, successors, capture_work, buffers, strip_buffer, tiers
        )
        if last_slot < 0:
            return last_slot
        if unresolved:
            slack_work = slack_buffers(max(side.words.shape[1] for side in buffers))
            if not dtb_beyond_limit_step(
                batch, within, balance_limit, last_slot, tables, successors, buffers, tiers, slack_work
            ):
                tiers[0].has_unresolved[0] = 1
        dtb_draws_step(batch, tables, successors, buffers, tiers)
    found = 0
    if len(successors.score) == 0:
        found = outcome_step(batch, tables, successors, buffers, strip_buffer, exceptions, ended == CUT)
        if found < 0 or found > len(exceptions.words):
            return found
    if not known:
        results_step(batch, tables, successors, buffers, capture_work, results, balance_limit > 0)
    return found
