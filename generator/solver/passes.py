"""Passes of retrograde analysis over the king moves inside blocks, one ply at a time.

All positions of a distance are found before those of the next. At ply d, the new wins have a king move to a
position lost in d - 1, or a conversion that wins in d; the new losses have no king move to a position that is
not yet won. Each new result is written once into the words of the other side, from which the positions that
lead to it read it.

The DTW pass solves without draw rules: conversions are admitted when their distance is reached, wins at odd
and losses at even plies. The DTC pass solves under the rules: every conversion is one ply long, and the pass
ends at the limit of the king-moves rule. The DTB pass counts plies to the next change of material. Without
DTW, a pass like that of DTC finds the outcomes without draw rules (generator/solver/outcome_pass.py).

A *batch* of blocks of one shape, which do not lead to each other, is solved together: for a small block
alone, a pass would cost more than the block itself. Both sides have kings; blocks in which a side has none
need no pass (generator/solver/kingless.py).

A ply has three steps: admit conversions, find results, apply results. Threads can share the last two, each a
`part` of `parts`, and wait for each other after each step (generator/solver/parallel.py). A thread finds the
results of some rows of words, and applies the results of some lanes. Different lanes of the mover are
different sets of its kings, and so different words of the other side: no two threads write to one word.
"""

import numpy as np
from numpy.typing import NDArray

from generator.solver.king_moves import ALL_LANES, king_moves
from generator.solver.results import BLESSED_LOSS, CURSED_WIN, NOT_DECIDED
from generator.solver.side import FIRST_PART, ONE_PART, STRIP, WINS_SLOT, Side, strip_count, word_count
from generator.solver.subsets import BINOMIAL, Subsets
from generator.solver.successors import LONGEST_PLIES, WIN_AT_ONCE
from tablebase.kernels.bits import lowest, signed
from tablebase.kernels.jit import inlined, inner

# Error codes: a distance does not fit a score; a DTC does not fit a value.
TOO_LONG = -1
DTC_TOO_LONG = -3
# No ply: the strip or row has not changed.
NEVER = 255


# Arrays are taken out of their tuples before the loops: numba counts references at each such access. `wins`
# is always a calculated value, not a literal: numba would compile a kernel once for each literal.


@inner
def _find(
    side: Side, tables: Subsets, wins: bool, ply: int, strip_buffer: NDArray[np.uint32], part: int, parts: int
) -> None:
    """Find new wins (king moves to a lost position) or new losses (none to a position that is not yet won).

    Only strips are visited whose successors have changed at this ply.

    Args:
        side: the side to move.
        tables: tables over the sets of kings.
        wins: whether to find wins; else losses.
        ply: the ply of the pass.
        strip_buffer: uint32 [3 * STRIP], overwritten.
        part: which part of the rows to do.
        parts: how many parts there are.
    """
    columns, rows, strips = side.columns, side.rows, strip_count(side)
    changed = side.lost_changed if wins else side.won_changed
    goals = side.lost if wins else side.won
    results = side.new_wins if wins else side.new_losses
    touched_rows, open_lanes, held_lanes = side.touched, side.open, side.held
    men, opponent_men = side.men, side.opponent_men
    reach, empty, path = strip_buffer[:STRIP], strip_buffer[STRIP : 2 * STRIP], strip_buffer[2 * STRIP :]
    own = tables.start[side.kings - 1]
    own_sets, king_steps, steps_start = tables.squares[own:], tables.king_steps, tables.king_steps_start[own:]
    others = tables.squares[tables.start[side.opponent_kings] : tables.start[side.opponent_kings + 1]]
    everywhere = np.uint32(0) if wins else ALL_LANES
    for strip in range(side.blocks * strips):
        if changed[strip] != ply:
            continue
        block = strip // strips
        first = (strip - block * strips) * STRIP
        count = min(STRIP, columns - first)
        blockers = signed(men[block] | opponent_men[block])
        base = block * rows * columns
        # Threads take rows in turn, as rows of high sets have few lanes.
        for row in range((part + strip) % parts, rows, parts):
            at = base + row * columns + first
            still_open = open_lanes[at : at + count]
            held = held_lanes[at : at + count]
            any_open = np.uint32(0)
            for c in range(count):
                lanes = np.uint32(still_open[c] & np.uint32(~np.uint32(held[c] & everywhere)))
                any_open = np.uint32(any_open | lanes)
            if any_open == 0:
                continue
            occupied = signed(own_sets[row]) | blockers
            king_moves(
                reach,
                goals,
                not wins,
                base,
                row,
                first,
                count,
                columns,
                others,
                occupied,
                blockers,
                king_steps,
                steps_start[row],
                empty,
                path,
            )
            found = results[at : at + count]
            any_new = np.uint32(0)
            for c in range(count):
                lanes = np.uint32(still_open[c] & np.uint32(~np.uint32(held[c] & everywhere)))
                new = np.uint32(found[c] | np.uint32(lanes & np.uint32(reach[c] ^ everywhere)))
                found[c] = new
                any_new = np.uint32(any_new | new)
            if any_new:
                touched_rows[strip * rows + row] = ply


@inner
def _apply(
    side: Side,
    other: Side,
    tables: Subsets,
    wins: bool,
    values: NDArray[np.uint8],
    value: int,
    ply: int,
    scores: NDArray[np.uint8],
    score_starts: NDArray[np.int64],
    score: int,
    part: int,
    parts: int,
) -> int:
    """Apply the new results of one kind: write their values and scores, and add them to the other words.

    Args:
        side: the side to move, with its new wins and losses.
        other: the other side, whose `lost` or `won` words get the results.
        tables: tables over the sets of kings.
        wins: whether to apply wins; else losses.
        values: uint8 [word * 32 + lane], written where it is NOT_DECIDED.
        value: the value to write.
        ply: the ply of the pass.
        scores: uint8 [score], of the other side; written for each new value.
        score_starts: int64 [block], where the scores of a block begin.
        score: the score to write; 0 for none.
        part: which part of the lanes to do.
        parts: how many parts there are.

    Returns:
        How many results there were.
    """
    results = side.new_wins if wins else side.new_losses
    goals = other.won if wins else other.lost
    changed = other.won_changed if wins else other.lost_changed
    touched = side.touched
    columns, rows, strips = side.columns, side.rows, strip_count(side)
    goal_columns, goal_words, goal_strips = other.columns, word_count(other), strip_count(other)
    kings, opponent_kings = side.kings, side.opponent_kings
    turned_ranks = tables.reversed_rank[tables.start[kings] :]
    opponent_sets = tables.squares[tables.start[opponent_kings] :]
    less_one = tables.less_one[tables.less_one_start[opponent_kings] :]
    decided = 0
    lanes_of_part = 0
    for lane in range(part, 32, parts):
        lanes_of_part |= 1 << lane
    for strip in range(side.blocks * strips):
        block = strip // strips
        first = (strip - block * strips) * STRIP
        count = min(STRIP, columns - first)
        base = block * goal_words
        score_start = score_starts[block]
        for row in range(rows):
            if touched[strip * rows + row] != ply:
                continue
            at = (block * rows + row) * columns + first
            for c in range(count):
                if results[at + c] == 0:
                    continue
                lanes = signed(results[at + c]) & lanes_of_part
                opponents = signed(opponent_sets[first + c])
                while lanes:
                    lane = lowest(lanes)
                    lanes &= lanes - 1
                    decided += 1
                    at_lane = (at + c) * 32 + lane
                    known = values[at_lane] != NOT_DECIDED
                    if not known:
                        values[at_lane] = np.uint8(value)
                    turned = signed(turned_ranks[row + BINOMIAL[lane, kings]])
                    changed[block * goal_strips + turned // STRIP] = ply + 1
                    left = opponents
                    for i in range(opponent_kings):
                        square = 31 - lowest(left)
                        left &= left - 1
                        word = signed(less_one[(first + c) * opponent_kings + i]) * goal_columns + turned
                        bit = np.uint32(np.uint32(1) << np.uint32(square))
                        goals[base + word] = np.uint32(goals[base + word] | bit)
                        if score and not known:
                            scores[score_start + word * 32 + square] = np.uint8(score)
    return decided


@inner
def _admit_events(side: Side, slot: int, wins: bool, ply: int) -> None:
    """Admit the conversions of a slot of events: wins, or losses and lanes that are no longer held."""
    event = signed(side.event_first[slot])
    if event < 0:
        return
    following, words, lanes_of = side.event_next, side.event_word, side.event_lanes
    quiet, open_lanes, held = side.quiet, side.open, side.held
    new_wins, new_losses, touched, won_changed = (
        side.new_wins,
        side.new_losses,
        side.touched,
        side.won_changed,
    )
    columns, rows, words_of_block, strips = side.columns, side.rows, word_count(side), strip_count(side)
    one_strip_a_block = strips == 1
    while event >= 0:
        word = signed(words[event])
        lanes = lanes_of[event]
        block = word // words_of_block
        strip = block if one_strip_a_block else block * strips + word % columns // STRIP
        touched[strip * rows + word // columns % rows] = ply
        inside = np.uint32(lanes & quiet[word])
        outside = np.uint32(lanes & np.uint32(~inside))
        if wins:
            new = np.uint32(outside | np.uint32(inside & open_lanes[word]))
            new_wins[word] = np.uint32(new_wins[word] | new)
        else:
            new_losses[word] = np.uint32(new_losses[word] | outside)
            held[word] = np.uint32(held[word] & np.uint32(~inside))
            if inside:
                won_changed[strip] = ply
        event = signed(following[event])


@inner
def _init_side(side: Side) -> None:
    """Clear the state of a side before a pass: all quiet lanes are open."""
    words = side.blocks * word_count(side)
    side.lost[:words] = 0
    side.won[:words] = 0
    open_lanes, quiet = side.open, side.quiet
    for strip in range(side.blocks * strip_count(side)):
        side.lost_changed[strip] = NEVER
        side.won_changed[strip] = 0  # to find positions without any move
    side.touched[: side.blocks * strip_count(side) * side.rows] = NEVER
    side.new_wins[:words] = 0
    side.new_losses[:words] = 0
    for word in range(words):
        open_lanes[word] = quiet[word]


@inlined
def _hold_conversions(side: Side, words: int) -> None:
    """Hold all lanes that have a conversion."""
    held, rule_any = side.held, side.rule_any
    for word in range(words):
        held[word] = rule_any[word]


@inner
def _retire_results(side: Side, ply: int) -> None:
    """Remove the results of the ply before from the open lanes and from the new results."""
    touched, open_lanes, new_wins, new_losses = side.touched, side.open, side.new_wins, side.new_losses
    rows, columns, strips = side.rows, side.columns, strip_count(side)
    for strip in range(side.blocks * strips):
        block = strip // strips
        first = (strip - block * strips) * STRIP
        count = min(STRIP, columns - first)
        for row in range(rows):
            if touched[strip * rows + row] != ply - 1:
                continue
            at = (block * rows + row) * columns + first
            still_open, wins, losses = (
                open_lanes[at : at + count],
                new_wins[at : at + count],
                new_losses[at : at + count],
            )
            for c in range(count):
                still_open[c] = np.uint32(still_open[c] & np.uint32(~np.uint32(wins[c] | losses[c])))
                wins[c] = 0
                losses[c] = 0


@inner
def begin_dtw_ply(sides: tuple[Side, Side], count: int, ply: int) -> None:
    """Begin a ply of the DTW pass: the first step."""
    for s in range(count):
        if ply == 0:
            _init_side(sides[s])
        _retire_results(sides[s], ply)
        wins = ply % 2 == 1
        _admit_events(sides[s], WINS_SLOT + ply // 2 if wins else ply // 2, wins, ply)


@inner
def find_dtw(
    sides: tuple[Side, Side],
    count: int,
    tables: Subsets,
    ply: int,
    strip_buffer: NDArray[np.uint32],
    part: int,
    parts: int,
) -> None:
    """Find the results of a ply of the DTW pass, wins at odd and losses at even plies: the second step."""
    for s in range(count):
        _find(sides[s], tables, ply % 2 == 1, ply, strip_buffer, part, parts)


@inner
def apply_dtw(
    sides: tuple[Side, Side],
    count: int,
    tables: Subsets,
    scores: NDArray[np.uint8],
    ply: int,
    part: int,
    parts: int,
) -> int:
    """Apply the results of a ply of the DTW pass: the third step; return how many there are."""
    wins = ply % 2 == 1
    score = (ply + 1) // 2 if wins else WIN_AT_ONCE - ply // 2
    decided = 0
    for s in range(count):
        t = count - 1 - s
        starts = sides[t].score_start
        plies = sides[s].dtw
        decided += _apply(
            sides[s], sides[t], tables, wins, plies, ply, ply, scores, starts, score, part, parts
        )
    return decided


@inner
def dtw_pass(
    sides: tuple[Side, Side],
    count: int,
    tables: Subsets,
    scores: NDArray[np.uint8],
    last_slot: int,
    strip_buffer: NDArray[np.uint32],
) -> int:
    """Run the DTW pass of a batch from `held`, `quiet` and the events of its conversions.

    Args:
        sides: both sides to move.
        count: 1 if each block is its own mirror, so that both sides are the same positions; else 2.
        tables: tables over the sets of kings.
        scores: uint8 [score], the scores of the successor tables.
        last_slot: the last slot of events (see `list_events`).
        strip_buffer: uint32 [3 * STRIP], overwritten.

    Returns:
        0, or TOO_LONG if a distance does not fit a score.
    """
    ply = 0
    idle = 0
    while ply // 2 <= last_slot or idle < 2:
        if ply > LONGEST_PLIES:
            return TOO_LONG
        begin_dtw_ply(sides, count, ply)
        find_dtw(sides, count, tables, ply, strip_buffer, FIRST_PART, ONE_PART)
        decided = apply_dtw(sides, count, tables, scores, ply, FIRST_PART, ONE_PART)
        idle = 0 if decided else idle + 1
        ply += 1
    return 0


@inlined
def _admit_conversions(side: Side, unruled: bool) -> None:
    """Admit all conversions, at ply 1 of the DTC and outcome passes: each is a zeroing move."""
    win_conversions = side.unruled_win if unruled else side.rule_win
    safe_conversions = side.unruled_safe if unruled else side.rule_safe
    for word in range(side.blocks * word_count(side)):
        win, safe = win_conversions[word], safe_conversions[word]
        side.new_wins[word] = win
        side.new_losses[word] = np.uint32(
            side.rule_any[word] & np.uint32(~np.uint32(np.uint32(win | safe) | side.quiet[word]))
        )
        side.held[word] = np.uint32(win | safe)
    side.touched[: side.blocks * strip_count(side) * side.rows] = 1
    for strip in range(side.blocks * strip_count(side)):
        side.won_changed[strip] = 1


@inner
def begin_dtc_ply(sides: tuple[Side, Side], count: int, ply: int, unruled: bool) -> None:
    """Begin a ply of the DTC pass, or of the outcome pass (`unruled`): the first step."""
    for s in range(count):
        side = sides[s]
        if ply == 0:
            _init_side(side)
            words = side.blocks * word_count(side)
            _hold_conversions(side, words)
        _retire_results(side, ply)
        if ply == 1:
            _admit_conversions(side, unruled)


@inner
def find_wins_and_losses(
    sides: tuple[Side, Side],
    count: int,
    tables: Subsets,
    ply: int,
    strip_buffer: NDArray[np.uint32],
    part: int,
    parts: int,
) -> None:
    """Find the results of a ply of the DTC, outcome and DTB passes: the second step."""
    for s in range(count):
        for kind in range(2):
            _find(sides[s], tables, kind == 0, ply, strip_buffer, part, parts)


@inner
def apply_dtc(
    sides: tuple[Side, Side], count: int, tables: Subsets, ply: int, unruled: bool, part: int, parts: int
) -> int:
    """Apply the results of a ply of the DTC or outcome pass: the third step; return how many there are."""
    decided = 0
    for s in range(count):
        t = count - 1 - s
        starts, values = sides[t].score_start, sides[s].value
        no_scores = values[:0]
        for kind in range(2):
            wins = kind == 0
            value = 2 * ply + (1 if wins else 0)
            if unruled:
                value = CURSED_WIN if wins else BLESSED_LOSS
            decided += _apply(
                sides[s],
                sides[t],
                tables,
                wins,
                values,
                value,
                ply,
                no_scores,
                starts,
                signed(0),
                part,
                parts,
            )
    return decided


@inner
def dtc_pass(
    sides: tuple[Side, Side],
    count: int,
    tables: Subsets,
    limit: int,
    unruled: bool,
    strip_buffer: NDArray[np.uint32],
) -> bool:
    """Run the DTC pass of a batch, or the outcome pass (`unruled`).

    The DTC pass decides positions that are won or lost under the rules, up to `limit` plies before their next
    zeroing move or the end of the game. The outcome pass decides positions without a value that are won or
    lost without draw rules.

    Args:
        sides: both sides to move.
        count: 1 if each block is its own mirror, else 2.
        tables: tables over the sets of kings.
        limit: the last ply.
        unruled: whether this is the outcome pass.
        strip_buffer: uint32 [3 * STRIP], overwritten.

    Returns:
        Whether all positions are decided that more plies would decide.
    """
    for ply in range(limit + 1):
        begin_dtc_ply(sides, count, ply, unruled)
        find_wins_and_losses(sides, count, tables, ply, strip_buffer, FIRST_PART, ONE_PART)
        decided = apply_dtc(sides, count, tables, ply, unruled, FIRST_PART, ONE_PART)
        if ply >= 2 and not decided:
            return True
    return False


@inner
def dtb_pass(
    sides: tuple[Side, Side],
    count: int,
    tables: Subsets,
    scores: tuple[NDArray[np.uint8], NDArray[np.uint8]],
    limit: int,
    last_slot: int,
    strip_buffer: NDArray[np.uint32],
) -> None:
    """Run the DTB pass of a batch up to `limit` plies, from the events of its conversions.

    The king-moves rule is ignored, as it cannot end a game within so few plies. (`dtb_beyond_limit` of
    generator/solver/dtb.py finds DTB beyond its limit.)

    Args:
        sides: both sides to move, with `quiet`, `rule_any` and events.
        count: 1 if each block is its own mirror, else 2.
        tables: tables over the sets of kings.
        scores: uint8 [score] for both sides, the DTB scores of their tiers.
        limit: the last ply.
        last_slot: the last slot of events.
        strip_buffer: uint32 [3 * STRIP], overwritten.
    """
    for s in range(count):
        _init_side(sides[s])
        words = sides[s].blocks * word_count(sides[s])
        _hold_conversions(sides[s], words)
    for ply in range(limit + 1):
        for s in range(count):
            _retire_results(sides[s], ply)
            for kind in range(2):
                _admit_events(sides[s], WINS_SLOT + ply if kind == 0 else ply, kind == 0, ply)
        find_wins_and_losses(sides, count, tables, ply, strip_buffer, FIRST_PART, ONE_PART)
        decided = 0
        for s in range(count):
            t = count - 1 - s
            starts, plies = sides[t].dtb_score_start, sides[s].dtb
            for kind in range(2):
                wins = kind == 0
                score = ply + 1 if wins else WIN_AT_ONCE - (ply + 1)
                decided += _apply(
                    sides[s],
                    sides[t],
                    tables,
                    wins,
                    plies,
                    ply,
                    ply,
                    scores[t],
                    starts,
                    score,
                    FIRST_PART,
                    ONE_PART,
                )
        if not decided and ply >= 2 and ply >= last_slot:
            break
