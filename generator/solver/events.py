"""Conversions as events: lanes grouped by their best score, in a list for each distance.

A pass admits the events of a distance when it reaches that distance (generator/solver/passes.py).

Arrays are taken out of their tuples before the loops over words: numba counts references at each such access.
"""

import numpy as np
from numpy.typing import NDArray

from generator.solver.captures import LAST_ROW, SCRATCH
from generator.solver.dtb_scores import ScoreTiers
from generator.solver.results import NOT_DECIDED
from generator.solver.side import WINS_SLOT, Side
from generator.solver.subsets import STEP, Subsets
from generator.solver.successors import DRAWN, WIN_AT_ONCE, block_number
from tablebase.kernels.bits import lowest, signed
from tablebase.kernels.jit import inner

# Error code: the buffers have no space for another word of events.
EVENTS_FULL = -2


@inner
def list_events(side: Side, best: NDArray[np.uint8]) -> int:
    """List the conversions of a batch as events; `held` is set anew, and `best` is set to NOT_DECIDED.

    Losses of score s are in slot s, wins in slot WINS_SLOT + WIN_AT_ONCE - s.

    Args:
        side: the side to move; its conversions are the lanes in `rule_any`.
        best: uint8 [word * 32 + lane], the best scores.

    Returns:
        The last slot that is used, counted from WINS_SLOT for wins; or EVENTS_FULL.
    """
    quiet_lanes, held_lanes, any_conversion = side.quiet, side.held, side.rule_any
    first, following, words, lanes_of = side.event_first, side.event_next, side.event_word, side.event_lanes
    first[:] = -1
    event = 0
    last = 0
    for word in range(side.blocks * side.rows * side.columns):
        left = signed(any_conversion[word])
        if left:
            if event + 33 > len(following):
                return EVENTS_FULL
            here = best[word * 32 : word * 32 + 32]
            held = 0
            quiet = signed(quiet_lanes[word])
            while left:
                score = here[lowest(left)]
                same = np.uint32(0)
                for lane in range(32):
                    same = np.uint32(same | np.uint32(np.uint32(here[lane] == score) << np.uint32(lane)))
                lanes = left & signed(same)
                left &= ~lanes
                held |= lanes & quiet
                value = signed(score)
                if value == DRAWN:
                    continue
                slot = WINS_SLOT + WIN_AT_ONCE - value if value > DRAWN else value
                last = max(last, slot % WINS_SLOT)
                words[event], lanes_of[event], following[event] = word, lanes, first[slot]
                first[slot] = event
                event += 1
            held_lanes[word] = held
        else:
            held_lanes[word] = 0
    best[: side.blocks * side.rows * side.columns * 32] = NOT_DECIDED
    return last


@inner
def score_dtb_conversions(side: Side, tables: Subsets, tiers: ScoreTiers, work: NDArray[np.int64]) -> None:
    """Score the conversions of a batch by plies to the next change of material, into `dtb`.

    A capture or a promotion takes 1 ply, another step of a man one more than the position that it leads to.

    Args:
        side: the side to move; both sides have kings.
        tables: tables over the sets of kings.
        tiers: the scores of the mover's side (generator/solver/dtb_scores.py).
        work: int64, from `capture_work()`, of which only `SCRATCH` is used.
    """
    scores, slots = tiers.before, tiers.slots
    columns, kings, rows, opponent_kings = side.columns, side.kings, side.rows, side.opponent_kings
    men_of, opponent_men_of, best, quiet_lanes = side.men, side.opponent_men, side.dtb, side.quiet
    material_win, material_safe, material_any = side.material_win, side.material_safe, side.material_any
    own_sets = tables.squares[tables.start[kings - 1] :]
    opponent_sets = tables.squares[tables.start[opponent_kings] :]
    step_to, step_start = work[SCRATCH : SCRATCH + 24], work[SCRATCH + 24 : SCRATCH + 48]
    for block in range(side.blocks):
        men, opponent_men = signed(men_of[block]), signed(opponent_men_of[block])
        all_men = men | opponent_men
        steps = 0
        left = men
        while left:
            square = lowest(left)
            left &= left - 1
            for direction in range(2):
                target = STEP[square, direction]
                if 0 <= target < LAST_ROW and not (all_men >> target) & 1:
                    men_after = men & ~(1 << square) | (1 << target)
                    step_to[steps] = target
                    step_start[steps] = slots[block_number(men_after, opponent_men)] * rows * columns * 32
                    steps += 1
        for row in range(rows):
            others = signed(own_sets[row])
            for column in range(columns):
                word = (block * rows + row) * columns + column
                quiet = signed(quiet_lanes[word])
                any_conversion = signed(material_any[word])
                if not quiet | any_conversion:
                    continue
                win, safe = signed(material_win[word]), signed(material_safe[word])
                here = best[word * 32 : word * 32 + 32]
                for lane in range(32):
                    bit = 1 << lane
                    score = DRAWN if safe & bit else 1
                    here[lane] = (254 if win & bit else score) if any_conversion & bit else 0
                opponents = signed(opponent_sets[column])
                for step in range(steps if quiet else 0):
                    if ((others | opponents) >> step_to[step]) & 1:
                        continue
                    mask = np.uint32(quiet & ~(1 << step_to[step]))
                    at = step_start[step] + (row * columns + column) * 32
                    there = scores[at : at + 32]
                    for lane in range(32):
                        offered = there[lane] if (mask >> np.uint32(lane)) & np.uint32(1) else np.uint8(0)
                        here[lane] = max(here[lane], offered)
