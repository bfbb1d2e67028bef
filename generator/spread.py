"""Retrograde analysis inside blocks: values spread backwards over king moves, one ply at a time.

All positions of a distance are found before those of the next: at ply d the new wins have a king move to a
position lost in d - 1 (or an exit that wins in d), the new losses have none to a position not yet won. Each
new result is scattered once into the words of the other side, where the positions that lead to it find it.

Two passes use it. On the board (DTW) exits come in when their distance is reached, wins at odd and losses at
even plies. Under the rules (DTC) all exits are one ply long, and the pass ends at the limit of the rule.

A *batch* of blocks of the same shape, which do not lead to each other, goes through together: a block without
kings is a single position, and would drown in what a pass costs.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.afters import LONGEST_PLIES, WIN_AT_ONCE
from generator.bits import lowest
from generator.jit import inlined, kernel
from generator.lanes import ALL_LANES, king_moves
from generator.subsets import BINOMIAL, Subsets

# Columns are looked at in strips of this many words: two AVX-512 registers, and a fine enough grain to skip
# by.
STRIP = 32
NOT_DECIDED = 255
TOO_LONG = -1


class Side(NamedTuple):
    """One side to move in a batch of blocks: the shape of its words, and room for its state.

    Words stand at [block][row][column]: row = rank of the mover's other kings, column = rank of the
    opponent's kings. A position is decided in one word only, the one whose lane king is its highest king.

    Arrays by block: `men`, `opponent_men` (the mover plays up), `word_start`, `score_start` (in the after
    table). Arrays by word: `quiet` lanes without a capture; `open` quiet and undecided; `held` cannot be lost
    now (an exit that is not lost, or one whose distance is not reached); `new_wins`, `new_losses`; `lost`,
    `won`: what its king moves lead to, opponent to move (the opponent's results, scattered here); `rule_win`,
    `rule_safe`, `rule_any`: exits under the rules. `dtw`, `dtc` uint8 [word * 32 + lane]: the results, in
    plies. By strip: `lost_changed`, `won_changed` since they were looked at; `touched` holds new results.
    Events, a linked list for each ply: `event_first` [ply], `event_next`, `event_word`, `event_lanes`;
    `event_count` [1].
    """

    kings: int
    opponent_kings: int
    blocks: int
    rows: int
    columns: int
    men: NDArray[np.int64]
    opponent_men: NDArray[np.int64]
    word_start: NDArray[np.int64]
    score_start: NDArray[np.int64]
    quiet: NDArray[np.uint32]
    open: NDArray[np.uint32]
    held: NDArray[np.uint32]
    new_wins: NDArray[np.uint32]
    new_losses: NDArray[np.uint32]
    lost: NDArray[np.uint32]
    won: NDArray[np.uint32]
    rule_win: NDArray[np.uint32]
    rule_safe: NDArray[np.uint32]
    rule_any: NDArray[np.uint32]
    dtw: NDArray[np.uint8]
    dtc: NDArray[np.uint8]
    lost_changed: NDArray[np.uint8]
    won_changed: NDArray[np.uint8]
    touched: NDArray[np.uint8]
    event_first: NDArray[np.int32]
    event_next: NDArray[np.int32]
    event_word: NDArray[np.int32]
    event_lanes: NDArray[np.uint32]
    event_count: NDArray[np.int64]


@inlined
def add_event(side: Side, ply: int, word: int, lanes: int) -> None:
    """At `ply`, these lanes are decided by an exit, or (quiet, at an even ply) no longer held by one."""
    event = side.event_count[0]
    side.event_word[event] = word
    side.event_lanes[event] = lanes
    side.event_next[event] = side.event_first[ply]
    side.event_first[ply] = event
    side.event_count[0] = event + 1


@inlined
def _strips(side: Side) -> int:
    """Strips of a block; strips are numbered through all blocks of the batch."""
    return (side.columns + STRIP - 1) // STRIP


@inlined
def _words(side: Side) -> int:
    """Words of a block."""
    return side.rows * side.columns


@kernel
def _find(
    side: Side,
    tables: Subsets,
    strip: int,
    wins: bool,
    reach: NDArray[np.uint32],
    empty: NDArray[np.uint32],
    path: NDArray[np.uint32],
) -> None:
    """New wins (a king move to a lost position) or losses (none to a position not yet won) of a strip."""
    block, strip_of_block = divmod(strip, _strips(side))
    first = strip_of_block * STRIP
    count = min(STRIP, side.columns - first)
    others = tables.squares[tables.start[side.opponent_kings] : tables.start[side.opponent_kings + 1]]
    own = tables.start[side.kings - 1]
    blockers = side.men[block] | side.opponent_men[block]
    everywhere = np.uint32(0) if wins else ALL_LANES
    for row in range(side.rows):
        at = block * _words(side) + row * side.columns + first
        still_open = side.open[at : at + count]
        held = side.held[at : at + count]
        any_open = np.uint32(0)
        for c in range(count):
            any_open = np.uint32(
                any_open | np.uint32(still_open[c] & np.uint32(~np.uint32(held[c] & everywhere)))
            )
        if any_open == 0:
            continue
        occupied = int(tables.squares[own + row]) | blockers
        king_moves(
            reach,
            side.lost if wins else side.won,
            not wins,
            block * _words(side),
            row,
            first,
            count,
            side.columns,
            others,
            occupied,
            blockers,
            tables.king_steps,
            tables.king_steps_start[own + row],
            empty,
            path,
        )
        found = side.new_wins[at : at + count] if wins else side.new_losses[at : at + count]
        touched = np.uint32(0)
        for c in range(count):
            lanes = np.uint32(still_open[c] & np.uint32(~np.uint32(held[c] & everywhere)))
            new = np.uint32(found[c] | np.uint32(lanes & np.uint32(reach[c] ^ everywhere)))
            found[c] = new
            touched = np.uint32(touched | new)
        if touched:
            side.touched[strip] = 1


@inlined
def scatter(
    side: Side,
    other: Side,
    tables: Subsets,
    block: int,
    row: int,
    column: int,
    lane: int,
    goals: NDArray[np.uint32],
    scores: NDArray[np.uint8],
    score: int,
) -> int:
    """Write a result of `side` into every word of `other` that holds the position: into `goals`, and into
    `other`'s scores (score 0: those are left alone). Returns the column of those words."""
    own = row + BINOMIAL[lane, side.kings] if side.kings else 0
    turned = int(tables.reversed_rank[tables.start[side.kings] + own])
    kings = side.opponent_kings
    base = block * _words(other)
    if kings == 0:
        goals[base + turned] = np.uint32(1)
        if score:
            scores[other.score_start[block] + turned] = np.uint8(score)
        return turned
    left = int(tables.squares[tables.start[kings] + column])
    less_one = tables.less_one_start[kings] + column * kings
    for i in range(kings):
        square = 31 - lowest(left)
        left &= left - 1
        word = int(tables.less_one[less_one + i]) * other.columns + turned
        goals[base + word] = np.uint32(goals[base + word] | np.uint32(np.uint32(1) << np.uint32(square)))
        if score:
            scores[other.score_start[block] + word * 32 + square] = np.uint8(score)
    return turned


@kernel
def _apply(
    side: Side,
    other: Side,
    tables: Subsets,
    wins: bool,
    plies: NDArray[np.uint8],
    ply: int,
    scores: NDArray[np.uint8],
    score: int,
) -> int:
    """Decide the new results of one kind and hand them to the other side; how many."""
    results = side.new_wins if wins else side.new_losses
    goals = other.won if wins else other.lost
    changed = other.won_changed if wins else other.lost_changed
    decided = 0
    for strip in range(side.blocks * _strips(side)):
        if not side.touched[strip]:
            continue
        block, strip_of_block = divmod(strip, _strips(side))
        first = strip_of_block * STRIP
        count = min(STRIP, side.columns - first)
        for row in range(side.rows):
            at = block * _words(side) + row * side.columns + first
            for c in range(count):
                if results[at + c] == 0:
                    continue
                lanes = int(results[at + c])
                results[at + c] = 0
                side.open[at + c] = np.uint32(side.open[at + c] & np.uint32(~np.uint32(lanes)))
                while lanes:
                    lane = lowest(lanes)
                    lanes &= lanes - 1
                    decided += 1
                    plies[(at + c) * 32 + lane] = np.uint8(ply)
                    turned = scatter(side, other, tables, block, row, first + c, lane, goals, scores, score)
                    changed[block * _strips(other) + turned // STRIP] = 1
    return decided


@kernel
def _take_events(side: Side, ply: int) -> None:
    """The exits whose distance is reached: wins at odd plies, at even ones losses, and lanes no longer
    held."""
    event = side.event_first[ply]
    while event >= 0:
        word = side.event_word[event]
        lanes = side.event_lanes[event]
        strip = word // _words(side) * _strips(side) + word % side.columns // STRIP
        side.touched[strip] = 1
        inside = np.uint32(lanes & side.quiet[word]) if side.kings else np.uint32(0)
        outside = np.uint32(lanes & np.uint32(~inside))
        if ply % 2:
            side.new_wins[word] = np.uint32(
                side.new_wins[word] | np.uint32(outside | np.uint32(inside & side.open[word]))
            )
        else:
            side.new_losses[word] = np.uint32(side.new_losses[word] | outside)
            side.held[word] = np.uint32(side.held[word] & np.uint32(~inside))
            if inside:
                side.won_changed[strip] = 1
        event = side.event_next[event]
    side.event_first[ply] = -1


@inlined
def _begin(side: Side) -> None:
    words = side.blocks * _words(side)
    side.lost[:words] = 0
    side.won[:words] = 0
    for strip in range(side.blocks * _strips(side)):
        side.lost_changed[strip] = 0
        side.won_changed[strip] = 1  # at ply 0: positions without any move
        side.touched[strip] = 0
    for word in range(words):
        side.open[word] = side.quiet[word] if side.kings else np.uint32(0)


@inlined
def _find_all(side: Side, tables: Subsets, wins: bool, strip_room: NDArray[np.uint32]) -> None:
    if side.kings == 0:
        return
    changed = side.lost_changed if wins else side.won_changed
    for strip in range(side.blocks * _strips(side)):
        if changed[strip]:
            changed[strip] = 0
            _find(
                side,
                tables,
                strip,
                wins,
                strip_room[:STRIP],
                strip_room[STRIP : 2 * STRIP],
                strip_room[2 * STRIP :],
            )


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
            _take_events(sides[s], ply)
            _find_all(sides[s], tables, wins, strip_room)
        decided = 0
        score = (ply + 1) // 2 if wins else WIN_AT_ONCE - ply // 2
        for s in range(count):
            decided += _apply(sides[s], sides[count - 1 - s], tables, wins, sides[s].dtw, ply, scores, score)
        for s in range(count):
            for strip in range(sides[s].blocks * _strips(sides[s])):
                sides[s].touched[strip] = 0
        idle = 0 if decided else idle + 1
        ply += 1
    return 0


@inlined
def _take_rule_exits(side: Side) -> None:
    """At ply 1 of the rule pass all exits count: every one is a zeroing move."""
    for word in range(side.blocks * _words(side)):
        win, safe = side.rule_win[word], side.rule_safe[word]
        inside = side.quiet[word] if side.kings else np.uint32(0)
        side.new_wins[word] = win
        side.new_losses[word] = np.uint32(
            side.rule_any[word] & np.uint32(~np.uint32(np.uint32(win | safe) | inside))
        )
        side.held[word] = np.uint32(win | safe)
    for strip in range(side.blocks * _strips(side)):
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
        for word in range(side.blocks * _words(side)):
            side.held[word] = side.rule_any[word]
            if side.kings == 0:
                # Quiet and without an exit, a side without kings has no move.
                side.new_losses[word] = np.uint32(side.quiet[word] & np.uint32(~side.rule_any[word]))
        if side.kings == 0:
            for strip in range(side.blocks * _strips(side)):
                side.touched[strip] = 1
    for ply in range(limit + 1):
        for s in range(count):
            if ply == 1:
                _take_rule_exits(sides[s])
            _find_all(sides[s], tables, True, strip_room)
            _find_all(sides[s], tables, False, strip_room)
        decided = 0
        for s in range(count):
            decided += _apply(sides[s], sides[count - 1 - s], tables, True, sides[s].dtc, ply, no_scores, 0)
            decided += _apply(sides[s], sides[count - 1 - s], tables, False, sides[s].dtc, ply, no_scores, 0)
        for s in range(count):
            for strip in range(sides[s].blocks * _strips(sides[s])):
                sides[s].touched[strip] = 0
        if ply >= 2 and not decided:
            break
