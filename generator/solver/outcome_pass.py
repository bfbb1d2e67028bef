"""Outcomes without draw rules, for runs without DTW: one more pass, for the few batches that need it.

The outcomes of a batch are the same with and without draw rules, unless one of its conversions has a
different outcome without them, or the limit of the rules has ended the DTC pass early. Only then the king
moves are visited once more, with conversions as they are without draw rules and without a limit. Distances do
not matter, so all conversions count from the first ply on. A position that is decided here only is a cursed
win or a blessed loss, and its words become exceptions (generator/solver/successors.py).
"""

import numpy as np
from numpy.typing import NDArray

from generator.solver.kingless import solve_kingless_blocks
from generator.solver.passes import TOO_LONG, dtc_pass
from generator.solver.side import Side, word_count
from generator.solver.subsets import Subsets
from generator.solver.successors import LONGEST_PLIES, OutcomeExceptions, SuccessorTables
from tablebase.kernels.bits import signed
from tablebase.kernels.jit import inner


@inner
def needs_outcome_pass(sides: tuple[Side, Side], count: int) -> bool:
    """Whether any conversion of a batch has a different outcome without draw rules."""
    for s in range(count):
        rule_win, rule_safe = sides[s].rule_win, sides[s].rule_safe
        unruled_win, unruled_safe = sides[s].unruled_win, sides[s].unruled_safe
        differ = np.uint32(0)
        for word in range(sides[s].blocks * word_count(sides[s])):
            wins = np.uint32(rule_win[word] ^ unruled_win[word])
            differ = np.uint32(differ | np.uint32(wins | np.uint32(rule_safe[word] ^ unruled_safe[word])))
        if differ:
            return True
    return False


@inner
def list_exceptions(side: Side, successors: SuccessorTables, out: OutcomeExceptions, found: int) -> int:
    """List the words of one side that are different from its successor table, after the outcome pass.

    Args:
        side: the side to move.
        successors: the successor tables with the outcomes under the rules.
        out: takes the words from index `found` on, as far as they fit.
        found: how many words are listed already.

    Returns:
        How many words are listed, with those that do not fit.
    """
    words, starts, lost, won = word_count(side), side.word_start, side.lost, side.won
    lost_after, won_after = successors.lost, successors.won
    packed, first_bits = side.lanes == 1, side.first_bit
    out_words, out_lost, out_won = out.words, out.lost, out.won
    for block in range(side.blocks):
        start = starts[block]
        for word in range(words):
            at = block * words + word
            if packed:
                bit = first_bits[block] + word
                lane, kept = bit & 31, bit >> 5
                lost_before, won_before = (
                    signed(lost_after[kept]) >> lane & 1,
                    signed(won_after[kept]) >> lane & 1,
                )
            else:
                lost_before, won_before = signed(lost_after[start + word]), signed(won_after[start + word])
            if lost[at] == lost_before and won[at] == won_before:
                continue
            if found < len(out_words):
                out_words[found] = start + word
                out_lost[found], out_won[found] = lost[at], won[at]
            found += 1
    return found


@inner
def run_outcome_pass(
    sides: tuple[Side, Side],
    count: int,
    tables: Subsets,
    successors: SuccessorTables,
    strip_buffer: NDArray[np.uint32],
    out: OutcomeExceptions,
) -> int:
    """Run the outcome pass of a batch that is solved under the rules, and list its exceptions.

    Args:
        sides: both sides to move.
        count: 1 if each block is its own mirror, else 2.
        tables: tables over the sets of kings.
        successors: the successor tables with the outcomes under the rules.
        strip_buffer: uint32 [3 * STRIP], overwritten.
        out: takes the exceptions.

    Returns:
        How many exceptions there are (if they do not fit, call again with a larger list), or TOO_LONG.
    """
    no_scores = sides[0].value[:0]
    no_limit, unruled = signed(LONGEST_PLIES), count > 0
    if sides[0].kings and sides[0].opponent_kings:
        if not dtc_pass(sides, count, tables, no_limit, unruled, strip_buffer):
            return TOO_LONG
    else:
        solve_kingless_blocks(sides, count, tables, no_limit, no_scores, unruled, strip_buffer)
    found = signed(0)
    for s in range(count):
        found = list_exceptions(sides[s], successors, out, found)
    return found
