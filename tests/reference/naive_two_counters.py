"""The naive solver under two counts: every position, every number of plies left of either, in plain sweeps.

It has the readable rules from the library, and nothing else.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import naive

from tablebase.board.material import Material
from tablebase.board.position import Position, legal_moves, position_after

DEEPEST = 6
"""Plies of the balance that are looked at."""

KING, STEP, CHANGE = range(3)
"""Moves by the counts that they give back: none; that of king moves; both."""


@dataclass
class Graph:
    """The positions of some slices, White to move, and those without a white piece that follow; moves."""

    positions: list[Position]
    moves: list[list[tuple[int, int]]]

    def group(self, pieces: int, men: int) -> list[int]:
        return [
            number
            for number, position in enumerate(self.positions)
            if position.wm | position.wk
            and (position.pieces, (position.wm | position.bm).bit_count()) == (pieces, men)
        ]


def kind_of(before: Position, after: Position, zeroing: bool) -> int:
    def men(position: Position) -> int:
        return (position.wm | position.bm).bit_count()

    if (before.pieces, men(before)) != (after.pieces, men(after)):
        return CHANGE
    return STEP if zeroing else KING


def graph_of(slices: Iterable[Material]) -> Graph:
    numbers: dict[Position, int] = {}
    for material in slices:
        for position in naive.placements(
            material.own_men, material.own_kings, material.other_men, material.other_kings
        ):
            numbers[position] = len(numbers)
    moves: list[list[tuple[int, int]]] = []
    for position in list(numbers):
        moves.append([])
        for move in legal_moves(position):
            after = naive.white_to_move(position_after(position, move))
            number = numbers.setdefault(after, len(numbers))
            moves[-1].append((kind_of(position, after, move.zeroing), number))
    moves += [[] for _ in range(len(numbers) - len(moves))]
    return Graph(list(numbers), moves)


def decide(moves: list[tuple[int, int]], value: Callable[[int, int], int]) -> int:
    every = True
    for kind, after in moves:
        found = value(kind, after)
        if found == -2:
            return 2
        every &= found == 2
    return -2 if every else 0


@dataclass
class Solution:
    """Outcomes of all positions from fresh counts, 0 for all draws under the rules; DTC under the count of
    king moves alone; the least balance plies with which a position is decided, DEEPEST + 1 for more."""

    fresh: list[int]
    alone: list[int]
    dtc: list[int]
    needed: list[int]


def solve(graph: Graph, kings: int, balance: int | None) -> Solution:
    """Solve king and man against king, and what becomes of them, with so many plies of king moves and of the
    balance; None: the balance is not counted."""
    size = len(graph.positions)
    ended = [-2 if not moves else 0 for moves in graph.moves]
    found = Solution(list(ended), list(ended), [0] * size, [DEEPEST + 1] * size)
    for pieces, men in ((2, 0), (2, 1), (3, 0), (3, 1)):
        group = graph.group(pieces, men)
        by_kings = sweep_king_moves(graph, group, found.fresh, kings)
        for number in group:
            found.alone[number] = by_kings[kings][number]
            found.dtc[number] = next((k for k in range(kings + 1) if by_kings[k][number]), 0)
        first = graph.positions[group[0]]
        if balance is None or not (first.wk and first.bk):
            outcomes = by_kings[kings]
        else:
            both = sweep_both(graph, group, found.fresh, kings)
            for number in group:
                enough = (b for b in range(DEEPEST + 1) if both[b, kings][number])
                found.needed[number] = next(enough, DEEPEST + 1)
            outcomes = both[balance, kings]
        for number in group:
            found.fresh[number] = outcomes[number]
    return found


def sweep_king_moves(graph: Graph, group: list[int], fresh: list[int], most: int) -> list[list[int]]:
    """Outcomes with so many plies of king moves left, and no other count."""
    levels = [[-2 if not moves else 0 for moves in graph.moves] for _ in range(most + 1)]
    changed = True
    while changed:
        changed = False
        for kings in range(1, most + 1):
            after_kind = (levels[kings - 1], levels[most], fresh)
            for number in group:
                value = decide(graph.moves[number], lambda kind, after, by=after_kind: by[kind][after])
                changed |= value != levels[kings][number]
                levels[kings][number] = value
    return levels


def sweep_both(
    graph: Graph, group: list[int], fresh: list[int], most: int
) -> dict[tuple[int, int], list[int]]:
    """Outcomes with (plies of the balance, plies of king moves) left."""
    ended = [-2 if not moves else 0 for moves in graph.moves]
    levels = {(b, k): list(ended) for b in range(DEEPEST + 1) for k in range(most + 1)}
    for b in range(1, DEEPEST + 1):
        for k in range(1, most + 1):
            after_kind = (levels[b - 1, k - 1], levels[b - 1, most], fresh)
            for number in group:
                levels[b, k][number] = decide(
                    graph.moves[number], lambda kind, after, by=after_kind: by[kind][after]
                )
    return levels
