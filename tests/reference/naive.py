"""A naive solver, the oracle for solver, tables and probing: plain rules, one position at a time, no tricks.

It shares `Position` and the readable rules with the rest, and nothing else: no index, no slices, no kernels,
and its own reading of the 15-king-moves rule.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from tablebase.board.position import Color, Position, legal_moves, position_after

KING_MOVES_PLIES = 30


class Solved(NamedTuple):
    """What is known of a position: wdl -2..2, DTC and DTW in plies, None where there is none."""

    wdl: int
    dtc: int | None
    dtw: int | None


def white_to_move(position: Position) -> Position:
    return position if position.turn is Color.WHITE else position.flip()


def _set(squares: Iterable[int]) -> int:
    return sum(1 << square for square in squares)


def placements(white_men: int, white_kings: int, black_men: int, black_kings: int) -> Iterator[Position]:
    """Every position with these pieces and White to move."""
    every = set(range(32))
    for wm in combinations(range(28), white_men):
        for bm in combinations(sorted(every - set(wm) - set(range(4))), black_men):
            free = sorted(every - set(wm) - set(bm))
            for wk in combinations(free, white_kings):
                for bk in combinations(sorted(set(free) - set(wk)), black_kings):
                    yield Position(_set(wm), _set(wk), _set(bm), _set(bk))


def all_positions(max_pieces: int) -> Iterator[Position]:
    """Every position with White to move, pieces on both sides, and `max_pieces` pieces at most."""
    for pieces in range(2, max_pieces + 1):
        for white in range(1, pieces):
            for white_men in range(white + 1):
                for black_men in range(pieces - white + 1):
                    yield from placements(white_men, white - white_men, black_men, pieces - white - black_men)


def solve(max_pieces: int, limit: int = KING_MOVES_PLIES) -> dict[Position, Solved]:
    """The value of every position of `all_positions`, and of those with an empty side that follow."""
    return next(solve_under(max_pieces, [limit]))


def solve_under(max_pieces: int, limits: Iterable[int]) -> Iterator[dict[Position, Solved]]:
    """The same under several limits, one after another."""
    moves = _moves(max_pieces)
    dtw = _distances_to_win(moves)
    for limit in limits:
        under_rule = _outcomes_under_the_rule(moves, limit)
        solved = {}
        for position in moves:
            length = dtw.get(position)
            if position in under_rule:
                wdl, dtc = under_rule[position]
                solved[position] = Solved(wdl, dtc, length)
            elif length is None:
                solved[position] = Solved(0, None, None)
            else:
                solved[position] = Solved(1 if length % 2 else -1, None, length)
        yield solved


Moves = dict[Position, list[tuple[bool, Position]]]  # whether the move zeroes, and where it leads


def _moves(max_pieces: int) -> Moves:
    moves: Moves = {}
    one_of: dict[Position, Position] = {}  # equal positions are one object, which saves half the memory
    for position in all_positions(max_pieces):
        following = []
        for move in legal_moves(position):
            after = white_to_move(position_after(position, move))
            after = one_of.setdefault(after, after)
            following.append((move.zeroing, after))
            if not after.wm | after.wk:
                moves[after] = []
        moves[one_of.setdefault(position, position)] = following
    return moves


def _distances_to_win(moves: Moves) -> dict[Position, int]:
    """DTW of all positions that are not a draw on the board: odd for a win, even for a loss."""
    before = defaultdict(list)
    left = {}
    for position, following in moves.items():
        left[position] = len(following)
        for _, after in following:
            before[after].append(position)
    dtw = {position: 0 for position, following in moves.items() if not following}
    newest = list(dtw)
    plies = 0
    while newest:
        plies += 1
        found = []
        for after in newest:
            for position in before[after]:
                if position in dtw:
                    continue
                left[position] -= 1
                # After an odd number of plies a move to a lost position wins; after an even number all moves
                # lead to won ones, the last of them just now.
                if plies % 2 or left[position] == 0:
                    dtw[position] = plies
                    found.append(position)
        newest = found
    return dtw


def _outcomes_under_the_rule(moves: Moves, limit: int) -> dict[Position, tuple[int, int]]:
    """(2 or -2, DTC) of all positions that are won or lost under the 15-king-moves rule."""
    groups = defaultdict(list)
    for position in moves:
        groups[_progress(position)].append(position)
    decided: dict[Position, tuple[int, int]] = {}
    for progress in sorted(groups):
        waiting = groups[progress]
        for plies in range(limit + 1):
            found = {}
            for position in waiting:
                if (value := _decided_at(plies, moves[position], decided)) is not None:
                    found[position] = value
            decided |= found
            waiting = [position for position in waiting if position not in found]
            if plies and not found:
                break  # a longer one would follow by a king move from one as long as this
    return decided


def _decided_at(
    plies: int, following: list[tuple[bool, Position]], decided: dict[Position, tuple[int, int]]
) -> tuple[int, int] | None:
    longest = 0
    all_lost = True
    for zeroes, after in following:
        if after not in decided:
            all_lost = False
            continue
        wdl, dtc = decided[after]
        own = 1 if zeroes else dtc + 1
        if wdl == -2 and own == plies:
            return 2, plies
        if wdl == 2 and own <= plies:
            longest = max(longest, own)
        else:
            all_lost = False
    return (-2, plies) if all_lost and longest == plies else None


def _progress(position: Position) -> tuple[int, int, int]:
    """What every zeroing move makes smaller and no king move changes: pieces, men, how far men have to go."""
    white = [square // 4 for square in range(32) if position.wm >> square & 1]
    black = [square // 4 for square in range(32) if position.bm >> square & 1]
    to_go = sum(7 - row for row in white) + sum(black)
    return position.pieces, len(white) + len(black), to_go
