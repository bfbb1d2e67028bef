"""After tables of slices that were solved before, from what their files hold.

Files do not store positions with a capture; those are worked out again from the smaller slices, by the exits
of each block, and all values of the block are then laid out as the solver leaves them.
"""

import numpy as np
from numpy.typing import NDArray

from generator.afters import WIN_AT_ONCE, Afters
from generator.bits import highest
from generator.blocks import Results, SideRoom, find_exits, finish_afters, make_side
from generator.exits import ExitRoom
from generator.jit import kernel
from generator.spread import NOT_DECIDED, Side, scatter
from generator.subsets import BINOMIAL, Subsets


@kernel
def _decide_captures(side: Side, last_event: int) -> None:
    """Write the distances of exits into `dtw` and `dtc`: final for positions with a capture."""
    for ply in range(last_event + 1):
        event = side.event_first[ply]
        while event >= 0:
            word = int(side.event_word[event])
            for lane in range(32):
                if (side.event_lanes[event] >> np.uint32(lane)) & np.uint32(1):
                    side.dtw[word * 32 + lane] = np.uint8(ply)
            event = side.event_next[event]
    for word in range(side.blocks * side.rows * side.columns):
        won = side.rule_win[word]
        lost = side.rule_any[word] & ~np.uint32(won | side.rule_safe[word])
        for lane in range(32):
            if ((won | lost) >> np.uint32(lane)) & np.uint32(1):
                side.dtc[word * 32 + lane] = np.uint8(1)


@kernel
def _lay_out(
    side: Side,
    other: Side,
    block: int,
    tables: Subsets,
    scores: NDArray[np.uint8],
    results: Results,
    index: int,
) -> None:
    """Scatter every value of a block, in the order of the index: stored ones from `results`, others from the
    side."""
    men = side.men[block] | side.opponent_men[block]
    own_start = tables.start[side.kings]
    opponent_start = tables.start[side.opponent_kings]
    for own_rank in range(BINOMIAL[32, side.kings]):
        own = int(tables.squares[own_start + own_rank])
        if own & men:
            continue
        lane = highest(own) if own else 0
        row = own_rank - BINOMIAL[lane, side.kings] if own else 0
        for column in range(side.columns):
            if int(tables.squares[opponent_start + column]) & (men | own):
                continue
            word = (block * side.rows + row) * side.columns + column
            dtw, dtc = int(results.dtw[index]), results.dtc[index]
            if not (side.quiet[word] >> np.uint32(lane)) & np.uint32(1):
                dtw, dtc = int(side.dtw[word * 32 + lane]), side.dtc[word * 32 + lane]
            if dtw != NOT_DECIDED:
                won = dtw % 2 == 1
                score = (dtw + 1) // 2 if won else WIN_AT_ONCE - dtw // 2
                # Drawn under the rules: only the score counts, and `held` (not in use here) takes the bits.
                goals = other.held if dtc == NOT_DECIDED else other.won if won else other.lost
                scatter(side, other, tables, block, row, column, lane, goals, scores, score)
            index += 1


@kernel
def restore_batch(
    men: NDArray[np.int64],
    turned_men: NDArray[np.int64],
    bases: NDArray[np.int64],
    kings: int,
    opponent_kings: int,
    limit: int,
    tables: Subsets,
    afters: Afters,
    exit_room: ExitRoom,
    rooms: tuple[SideRoom, SideRoom],
    strip_room: NDArray[np.uint32],
    results: tuple[Results, Results],
) -> int:
    """Fill the after tables of a batch from `results`, whose stored positions are known; the arguments and
    what is returned are those of `solve_batch` (`limit` and `strip_room` are not needed)."""
    sides = (
        make_side(kings, opponent_kings, men, bases, 0, afters, rooms[0]),
        make_side(opponent_kings, kings, turned_men, bases, 1, afters, rooms[1]),
    )
    count = 1 if sides[1].blocks == 0 else 2
    last_event = find_exits(sides, count, tables, afters, exit_room)
    if last_event < 0:
        return last_event
    for s in range(count):
        side = sides[s]
        words = side.blocks * side.rows * side.columns
        side.lost[:words] = 0
        side.won[:words] = 0
        _decide_captures(side, last_event)
    for s in range(count):
        for block in range(sides[s].blocks):
            _lay_out(sides[s], sides[count - 1 - s], block, tables, afters.score, results[s], bases[block, s])
    for s in range(count):
        finish_afters(sides[s], tables, afters)
    return 0
