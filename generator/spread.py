"""Retrograde analysis inside blocks: values spread backwards over king moves, one ply at a time.

All positions of a distance are found before those of the next: at ply d the new wins have a king move to a
position lost in d - 1 (or an exit that wins in d), the new losses have none to a position not yet won. Each
new result is scattered once into the words of the other side, where the positions that lead to it find it.

Two passes use it. On the board (DTW) exits come in when their distance is reached, wins at odd and losses at
even plies. Under the rules (DTC) all exits are one ply long, and the pass ends at the limit of the rule.

A *batch* of blocks of the same shape, which do not lead to each other, goes through together: a block without
kings is a single position, and would drown in what a pass costs.
"""

import numpy as np
from numpy.typing import NDArray

from generator.afters import LONGEST_PLIES, WIN_AT_ONCE
from generator.lanes import ALL_LANES, king_moves
from generator.sides import STRIP, WINS_SLOT, Side, strip_count, word_count
from generator.subsets import BINOMIAL, Subsets
from tablebase.kernels.bits import lowest, signed
from tablebase.kernels.jit import inlined, kernel

TOO_LONG = -1


# Arrays are taken out of their tuples before the loops: numba counts references at each such access.


@kernel
def _find(side: Side, tables: Subsets, wins: bool, strip_room: NDArray[np.uint32]) -> None:
    """New wins (a king move to a lost position) or losses (none to a position not yet won) of the strips
    whose successors have changed."""
    if side.kings == 0:
        return
    columns, rows, strips = side.columns, side.rows, strip_count(side)
    changed = side.lost_changed if wins else side.won_changed
    goals = side.lost if wins else side.won
    results = side.new_wins if wins else side.new_losses
    touched_strips, open_lanes, held_lanes = side.touched, side.open, side.held
    men, opponent_men = side.men, side.opponent_men
    reach, empty, path = strip_room[:STRIP], strip_room[STRIP : 2 * STRIP], strip_room[2 * STRIP :]
    own = tables.start[side.kings - 1]
    own_sets, king_steps, steps_start = tables.squares[own:], tables.king_steps, tables.king_steps_start[own:]
    others = tables.squares[tables.start[side.opponent_kings] : tables.start[side.opponent_kings + 1]]
    everywhere = np.uint32(0) if wins else ALL_LANES
    for strip in range(side.blocks * strips):
        if not changed[strip]:
            continue
        changed[strip] = 0
        block = strip // strips
        first = (strip - block * strips) * STRIP
        count = min(STRIP, columns - first)
        blockers = signed(men[block] | opponent_men[block])
        base = block * rows * columns
        touched_strip = np.uint32(0)
        for row in range(rows):
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
            for c in range(count):
                lanes = np.uint32(still_open[c] & np.uint32(~np.uint32(held[c] & everywhere)))
                new = np.uint32(found[c] | np.uint32(lanes & np.uint32(reach[c] ^ everywhere)))
                found[c] = new
                touched_strip = np.uint32(touched_strip | new)
        if touched_strip:
            touched_strips[strip] = 1


@kernel
def _apply(
    side: Side,
    other: Side,
    tables: Subsets,
    wins: bool,
    plies: NDArray[np.uint8],
    ply: int,
    scores: NDArray[np.uint8],
    score_starts: NDArray[np.int64],
    score: int,
) -> int:
    """Decide the new results of one kind, and write each into every word of the other side that holds the
    position: into what its moves lead to, and into its scores (score 0: those are left alone). Returns how
    many there were."""
    results = side.new_wins if wins else side.new_losses
    goals = other.won if wins else other.lost
    changed = other.won_changed if wins else other.lost_changed
    touched, open_lanes = side.touched, side.open
    columns, rows, strips = side.columns, side.rows, strip_count(side)
    goal_columns, goal_words, goal_strips = other.columns, word_count(other), strip_count(other)
    kings, opponent_kings = side.kings, side.opponent_kings
    turned_ranks = tables.reversed_rank[tables.start[kings] :]
    opponent_sets = tables.squares[tables.start[opponent_kings] :]
    less_one = tables.less_one[tables.less_one_start[opponent_kings] :]
    decided = 0
    for strip in range(side.blocks * strips):
        if not touched[strip]:
            continue
        block = strip // strips
        first = (strip - block * strips) * STRIP
        count = min(STRIP, columns - first)
        base = block * goal_words
        score_start = score_starts[block]
        for row in range(rows):
            at = (block * rows + row) * columns + first
            for c in range(count):
                if results[at + c] == 0:
                    continue
                lanes = signed(results[at + c])
                results[at + c] = 0
                open_lanes[at + c] = np.uint32(open_lanes[at + c] & np.uint32(~np.uint32(lanes)))
                opponents = signed(opponent_sets[first + c])
                while lanes:
                    lane = lowest(lanes)
                    lanes &= lanes - 1
                    decided += 1
                    plies[(at + c) * 32 + lane] = np.uint8(ply)
                    turned = signed(turned_ranks[row + BINOMIAL[lane, kings] if kings else 0])
                    changed[block * goal_strips + turned // STRIP] = 1
                    if opponent_kings == 0:
                        goals[base + turned] = np.uint32(1)
                        if score:
                            scores[score_start + turned] = np.uint8(score)
                        continue
                    left = opponents
                    for i in range(opponent_kings):
                        square = 31 - lowest(left)
                        left &= left - 1
                        word = signed(less_one[(first + c) * opponent_kings + i]) * goal_columns + turned
                        bit = np.uint32(np.uint32(1) << np.uint32(square))
                        goals[base + word] = np.uint32(goals[base + word] | bit)
                        if score:
                            scores[score_start + word * 32 + square] = np.uint8(score)
    return decided


@kernel
def _take_events(side: Side, slot: int, wins: bool) -> None:
    """The exits whose distance is reached: wins, or losses and lanes no longer held."""
    event = signed(side.event_first[slot])
    if event < 0:
        return
    side.event_first[slot] = -1
    following, words, lanes_of = side.event_next, side.event_word, side.event_lanes
    quiet, open_lanes, held = side.quiet, side.open, side.held
    new_wins, new_losses, touched, won_changed = (
        side.new_wins,
        side.new_losses,
        side.touched,
        side.won_changed,
    )
    inside_lanes = ALL_LANES if side.kings else np.uint32(0)
    columns, words_of_block, strips = side.columns, word_count(side), strip_count(side)
    one_strip_a_block = strips == 1
    while event >= 0:
        word = signed(words[event])
        lanes = lanes_of[event]
        block = word // words_of_block
        strip = block if one_strip_a_block else block * strips + word % columns // STRIP
        touched[strip] = 1
        inside = np.uint32(np.uint32(lanes & quiet[word]) & inside_lanes)
        outside = np.uint32(lanes & np.uint32(~inside))
        if wins:
            new = np.uint32(outside | np.uint32(inside & open_lanes[word]))
            new_wins[word] = np.uint32(new_wins[word] | new)
        else:
            new_losses[word] = np.uint32(new_losses[word] | outside)
            held[word] = np.uint32(held[word] & np.uint32(~inside))
            if inside:
                won_changed[strip] = 1
        event = signed(following[event])


@kernel
def _begin(side: Side) -> None:
    words = side.blocks * word_count(side)
    side.lost[:words] = 0
    side.won[:words] = 0
    open_lanes, quiet = side.open, side.quiet
    for strip in range(side.blocks * strip_count(side)):
        side.lost_changed[strip] = 0
        side.won_changed[strip] = 1  # at ply 0: positions without any move
        side.touched[strip] = 0
    for word in range(words):
        open_lanes[word] = quiet[word] if side.kings else np.uint32(0)


@kernel
def spread_on_board(
    sides: tuple[Side, Side],
    count: int,
    tables: Subsets,
    scores: NDArray[np.uint8],
    last_event: int,
    strip_room: NDArray[np.uint32],
) -> int:
    """DTW of a batch, from `held`, `quiet` and the events of its exits. `count` is 1 where the blocks are
    their own twins (both sides are the same positions). Returns 0, or TOO_LONG where a distance does not fit
    a score."""
    for s in range(count):
        _begin(sides[s])
    ply = 0
    idle = 0
    while ply <= last_event or idle < 2:
        if ply > LONGEST_PLIES:
            return TOO_LONG
        wins = ply % 2 == 1
        for s in range(count):
            _take_events(sides[s], ply, wins)
            _find(sides[s], tables, wins, strip_room)
        decided = 0
        score = (ply + 1) // 2 if wins else WIN_AT_ONCE - ply // 2
        for s in range(count):
            decided += _apply(
                sides[s],
                sides[count - 1 - s],
                tables,
                wins,
                sides[s].dtw,
                ply,
                scores,
                sides[count - 1 - s].score_start,
                score,
            )
        for s in range(count):
            for strip in range(sides[s].blocks * strip_count(sides[s])):
                sides[s].touched[strip] = 0
        idle = 0 if decided else idle + 1
        ply += 1
    return 0


@inlined
def _take_rule_exits(side: Side) -> None:
    """At ply 1 of the rule pass all exits count: every one is a zeroing move."""
    for word in range(side.blocks * word_count(side)):
        win, safe = side.rule_win[word], side.rule_safe[word]
        inside = side.quiet[word] if side.kings else np.uint32(0)
        side.new_wins[word] = win
        side.new_losses[word] = np.uint32(
            side.rule_any[word] & np.uint32(~np.uint32(np.uint32(win | safe) | inside))
        )
        side.held[word] = np.uint32(win | safe)
    for strip in range(side.blocks * strip_count(side)):
        side.touched[strip] = 1
        side.won_changed[strip] = 1


@kernel
def spread_under_rules(
    sides: tuple[Side, Side], count: int, tables: Subsets, limit: int, strip_room: NDArray[np.uint32]
) -> None:
    """DTC of a batch: the positions won or lost under the rules, no more than `limit` plies from their next
    zeroing move or the end of the game."""
    no_scores = np.zeros(0, dtype=np.uint8)
    for s in range(count):
        side = sides[s]
        _begin(side)
        for word in range(side.blocks * word_count(side)):
            side.held[word] = side.rule_any[word]
            if side.kings == 0:
                # Quiet and without an exit, a side without kings has no move.
                side.new_losses[word] = np.uint32(side.quiet[word] & np.uint32(~side.rule_any[word]))
        if side.kings == 0:
            for strip in range(side.blocks * strip_count(side)):
                side.touched[strip] = 1
    for ply in range(limit + 1):
        for s in range(count):
            if ply == 1:
                _take_rule_exits(sides[s])
            _find(sides[s], tables, True, strip_room)
            _find(sides[s], tables, False, strip_room)
        decided = 0
        for s in range(count):
            decided += _apply(
                sides[s],
                sides[count - 1 - s],
                tables,
                True,
                sides[s].dtc,
                ply,
                no_scores,
                sides[s].score_start,
                0,
            )
            decided += _apply(
                sides[s],
                sides[count - 1 - s],
                tables,
                False,
                sides[s].dtc,
                ply,
                no_scores,
                sides[s].score_start,
                0,
            )
        for s in range(count):
            for strip in range(sides[s].blocks * strip_count(sides[s])):
                sides[s].touched[strip] = 0
        if ply >= 2 and not decided:
            break


@kernel
def spread_balance(
    sides: tuple[Side, Side],
    count: int,
    tables: Subsets,
    scores: tuple[NDArray[np.uint8], NDArray[np.uint8]],
    limit: int,
    strip_room: NDArray[np.uint32],
) -> None:
    """DTB of a batch whose sides all have kings: plies to the next balance change, where that comes within
    `limit` plies, from `held`, `quiet` and the events of `find_balance_events`. The 15-king-moves rule is not
    looked at."""
    for s in range(count):
        _begin(sides[s])
    for ply in range(limit + 1):
        for s in range(count):
            _take_events(sides[s], ply, False)
            _take_events(sides[s], WINS_SLOT + ply, True)
            _find(sides[s], tables, True, strip_room)
            _find(sides[s], tables, False, strip_room)
        for s in range(count):
            t = count - 1 - s
            starts = sides[t].balance_start
            _apply(sides[s], sides[t], tables, True, sides[s].dtb, ply, scores[t], starts, ply + 1)
            _apply(
                sides[s], sides[t], tables, False, sides[s].dtb, ply, scores[t], starts, WIN_AT_ONCE - ply - 1
            )
        for s in range(count):
            for strip in range(sides[s].blocks * strip_count(sides[s])):
                sides[s].touched[strip] = 0
