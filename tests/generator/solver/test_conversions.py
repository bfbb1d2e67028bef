"""Conversions of a word (captures and men's moves of 32 lanes at once) against the readable rules.

The successor tables have made-up values, so that only the right moves give the right best value.
"""

import json
from collections.abc import Iterator
from math import comb
from random import Random

import naive
import numpy as np
import pytest
from paths import GOLDEN
from square_sets import ALL_LANES, coordinates, rank, set_of, squares_of

from generator.solver import successors
from generator.solver.conversions import score_conversions
from generator.solver.events import list_events
from generator.solver.man_conversions import score_man_conversions
from generator.solver.side import WINS_SLOT, Side, make_side
from generator.solver.solver import empty_results
from generator.solver.subsets import subsets
from generator.solver.successors import DRAWN, SuccessorTables
from generator.solver.workspace import Workspace
from tablebase.board.material import Material
from tablebase.board.position import Position, legal_moves, position_after
from tablebase.board.squares import ALL_SQUARES
from tablebase.kernels.jit import for_python

find_conversions, find_man_conversions = for_python(score_conversions), for_python(score_man_conversions)
list_all_events = for_python(list_events)


class MadeUp:
    """Successor tables with random values where a test expects a look-up.

    All other values win at once, so that an extra move is found as well as a missing one.
    """

    LARGEST = 60_000_000  # words and scores, bytes

    def __init__(self, material: Material, random: Random) -> None:
        self._random = random
        self._values: dict[Position, tuple[int, bool, bool]] = {}
        # Without scores the kernels would not score DTW.
        needed = self.needed(material) or [Material(1, 0, 1, 0)]
        self.successor_tables: SuccessorTables = successors.allocate(needed, material.pieces + 1)
        self._poison(slice(None), slice(None))

    @staticmethod
    def needed(material: Material) -> list[Material]:
        found = []
        for crowned in range(min(material.own_men, 1) + 1):
            for other_kings in range(material.other_kings + 1):
                for other_men in range(material.other_men + 1):
                    after = Material(
                        material.own_kings + crowned, material.own_men - crowned, other_kings, other_men
                    )
                    quiet = other_kings + other_men == material.other_kings + material.other_men
                    if other_kings + other_men and (material.own_men or not quiet):
                        found.append(after)
        return found

    def _poison(self, words: slice, scores: slice) -> None:
        self.successor_tables.score[scores] = 255
        self.successor_tables.lost[words] = ALL_LANES
        self.successor_tables.won[words] = 0

    def value(self, after: Position) -> tuple[int, bool, bool]:
        """Return the score of a position, and whether the side to move has lost, has won."""
        if not after.bm | after.bk:
            return 255, True, False
        if after not in self._values:
            score = self._random.choice([DRAWN, *range(1, 256, 5)])
            outcome = self._random.randrange(3)
            value = self._values[after] = score, outcome == 1, outcome == 2
            self._write(after, *value)
        return self._values[after]

    def _write(self, after: Position, score: int, lost: bool, won: bool) -> None:
        for lane in squares_of(after.wk) or [0]:
            bit, at = self._find_lane(after.wm, after.wk & ~(1 << lane), bool(after.wk), after.bm, after.bk)
            self.successor_tables.score[at + lane] = score
            word, shift = divmod(bit + lane, 32)
            for words, here in ((self.successor_tables.lost, lost), (self.successor_tables.won, won)):
                words[word] = int(words[word]) & ~(1 << shift) | int(here) << shift

    def empty_lane(self, position: Position, lane: int) -> None:
        """Clear this lane in words after steps of men behind the lane king, which blocks them."""
        row, column = coordinates(lane)
        for man in squares_of(position.wm):
            if coordinates(man) in ((row - 1, column - 1), (row - 1, column + 1)):
                men, others = position.wm & ~(1 << man), position.wk & ~(1 << lane)
                if lane >= 28:
                    others |= 1 << lane
                else:
                    men |= 1 << lane
                _, at = self._find_lane(men, others, True, position.bm, position.bk)
                self.successor_tables.score[at + lane] = 0

    def _find_lane(
        self, men: int, others: int, lane: bool, other_men: int, other_kings: int
    ) -> tuple[int, int]:
        """Return the bit and the score index of lane 0 (see generator/solver/successors.py)."""
        counts = others.bit_count() + lane, men.bit_count(), other_kings.bit_count(), other_men.bit_count()
        assert self.successor_tables.start[counts] >= 0, counts
        block = rank(men) * comb(28, counts[3]) + rank(other_men >> 4)
        word = (block * comb(32, others.bit_count()) + rank(others)) * comb(32, counts[2]) + rank(other_kings)
        offset = word * (32 if lane else 1)
        bit = 32 * self.successor_tables.packed_start[counts] + offset
        return bit, self.successor_tables.score_start[counts] + offset


def expected_conversions(made_up: MadeUp, position: Position) -> tuple[bool, int, bool, bool, bool]:
    """Return whether it is quiet, the best score (0: none), and whether any, a winning, a safe one exists."""
    moves = [move for move in legal_moves(position) if move.zeroing]
    values = [made_up.value(position_after(position, move)) for move in moves]
    quiet = not any(move.is_capture for move in moves)
    best = max((score for score, _, _ in values), default=0)
    return quiet, best, bool(values), any(lost for _, lost, _ in values), any(not won for *_, won in values)


def words_of(side: Side, random: Random, count: int) -> Iterator[tuple[int, int, int]]:
    """Yield some words of a block that are positions: row, column, the lanes that are decided in it."""
    men = int(side.men[0] | side.opponent_men[0])
    for _ in range(200 * count):
        row, column = random.randrange(side.rows), random.randrange(side.columns)
        own, opponents = kings_at(side, row, column)
        lanes = lanes_of(men, own, opponents) if side.kings else 1
        if not (own & (men | opponents) or opponents & men) and lanes:
            yield row, column, lanes
            count -= 1
            if not count:
                return


def lanes_of(men: int, own: int, opponents: int) -> int:
    """Return the free squares above the mover's other kings."""
    return ALL_SQUARES & ~(men | own | opponents) & ~((1 << own.bit_length()) - 1)


def kings_at(side: Side, row: int, column: int) -> tuple[int, int]:
    tables = subsets(max(side.kings, side.opponent_kings), max(side.kings - 1, 0))
    own = int(tables.squares[tables.start[max(side.kings - 1, 0)] + row])
    return own, int(tables.squares[tables.start[side.opponent_kings] + column])


def side_of(
    material: Material, men: int, opponent_men: int, workspace: Workspace, successor_tables: SuccessorTables
) -> Side:
    men_of_block = np.array([[men, opponent_men]], np.int64)
    first_index = np.zeros(1, np.int64)
    return make_side(
        material.own_kings,
        material.other_kings,
        men_of_block,
        first_index,
        successor_tables,
        workspace.buffers[0],
    )


def found_conversions(
    side: Side, successor_tables: SuccessorTables, workspace: Workspace
) -> dict[int, list[int]]:
    """Run the kernel; return the best score of each lane (0: none) for each word with conversions.

    If both sides have kings, check that the events say the same.
    """
    tables = subsets(max(side.kings, side.opponent_kings), max(side.kings - 1, 0))
    nothing_known = empty_results(Material(1, 0, 1, 0))
    first_index = np.zeros(1, np.int64)
    take = find_conversions if side.kings else find_man_conversions
    take(side, tables, successor_tables, workspace.capture_work, False, nothing_known, first_index)
    words = side.rows * side.columns
    scores = side.dtw[: words * side.lanes].reshape(words, side.lanes).copy()
    found = {word: scores[word].tolist() for word in range(words) if side.rule_any[word]}
    if side.kings and side.opponent_kings:
        last = list_all_events(side, side.dtw)
        assert last >= 0
        listed: dict[int, list[int]] = {word: [DRAWN] * 32 for word in found}
        for slot in [*range(last + 1), *range(WINS_SLOT, WINS_SLOT + last + 1)]:
            event = side.event_first[slot]
            while event >= 0:
                for lane in squares_of(int(side.event_lanes[event])):
                    score = slot if slot < WINS_SLOT else 255 - (slot - WINS_SLOT)
                    assert listed[int(side.event_word[event])][lane] == DRAWN
                    listed[int(side.event_word[event])][lane] = score
                event = side.event_next[event]
        for word, lanes in listed.items():
            for lane in squares_of(int(side.rule_any[word])):
                assert lanes[lane] == found[word][lane]
            assert int(side.held[word]) == int(side.quiet[word] & side.rule_any[word])
    return found


def check_conversions(
    material: Material, men: int, opponent_men: int, made_up: MadeUp, chosen: list[tuple[int, int]] | int
) -> tuple[int, int]:
    """Compare words of a block (a number of random ones, or these) with the readable rules.

    Returns:
        How many positions were compared, and how many of them had a capture.
    """
    workspace = Workspace(material)
    for _ in range(3):  # space for one event a lane
        workspace.grow_events()
    side = side_of(material, men, opponent_men, workspace, made_up.successor_tables)
    if isinstance(chosen, int):
        words = list(words_of(side, Random(men), chosen))
    else:
        words = []
        for row, column in chosen:
            own, opponents = kings_at(side, row, column)
            words.append((row, column, lanes_of(men | opponent_men, own, opponents) if side.kings else 1))
    expected = {}
    for row, column, lanes in words:
        own, opponents = kings_at(side, row, column)
        for lane in squares_of(lanes):
            kings = own | 1 << lane if side.kings else 0
            position = Position(men, kings, opponent_men, opponents)
            expected[row * side.columns + column, lane] = position, expected_conversions(made_up, position)
            if side.kings:
                made_up.empty_lane(position, lane)
    scores = found_conversions(side, made_up.successor_tables, workspace)
    captures = 0
    for (word, lane), (position, (quiet, best, any_conversion, win, safe)) in expected.items():
        bits = [side.quiet, side.rule_any, side.rule_win, side.rule_safe]
        found = [bool(int(words[word]) >> lane & 1) for words in bits]
        assert found == [quiet, any_conversion, win, safe], position.to_fen()
        assert scores.get(word, [0] * 32)[lane] == best, position.to_fen()
        captures += not quiet
    for row, column, lanes in words:
        word = row * side.columns + column
        assert int(side.quiet[word] | side.rule_any[word]) & ~lanes == 0
    return len(expected), captures


@pytest.mark.parametrize(
    "name",
    [
        "KvK", "KvMMM", "KvKKK", "KvKKMM", "KvMMMMM", "KvMMMMMM", "KvKMMMM", "KKvMM", "KKvKK", "KKvKMM",
        "KKvMMMM", "KKKvKM", "KKKKvM", "MvM", "MvKK", "MvMMMMM", "MvKMMM", "MMvKM", "MMMvK", "MMMvMM",
        "MMMMvMM", "KMvK", "KMvMM", "KMvKK", "KMvKMM", "KMMvMM", "KKMvKM", "KMMMvM",
    ],
)  # fmt: skip
def test_conversions_have_the_best_values(name: str) -> None:
    material = Material.parse(name)
    random = Random(name)
    made_up = MadeUp(material, random)
    positions = captures = 0
    men_squares = ALL_SQUARES & ~0xF0000000
    for _ in range(40 if not material.kings else 10 if material.men else 1):
        men = set_of(random, material.own_men, men_squares)
        opponent_men = set_of(random, material.other_men, ALL_SQUARES & ~0xF & ~men)
        words = 4 if material.men else 40
        words *= 1 if material.own_kings else 10
        compared, capturing = check_conversions(material, men, opponent_men, made_up, words)
        positions += compared
        captures += capturing
    assert positions >= 40
    assert captures < positions
    assert captures or name == "MvM"


def golden_captures() -> list[Position]:
    cases = json.loads((GOLDEN / "moves.json").read_text(encoding="utf-8"))
    found = []
    for case in cases:
        position = naive.white_to_move(Position.from_fen(case["position"]))
        others = (position.bm | position.bk).bit_count()
        material = Material.of(position)
        size = sum(map(successors.size_in_bytes, MadeUp.needed(material)))
        if position.wm | position.wk and 0 < others <= 7 and size < MadeUp.LARGEST:
            found.append(position)
    return found


def test_conversions_of_golden_captures() -> None:
    """Turkish strokes, crossed squares, choice of landings: each with every king as the lane king."""
    positions = golden_captures()
    assert len(positions) > 30
    for position in positions:
        material = Material.of(position)
        made_up = MadeUp(material, Random(position.to_fen()))
        rows = {rank(position.wk & ~(1 << lane)) for lane in squares_of(position.wk)} or {0}
        column = rank(position.bk)
        check_conversions(material, position.wm, position.bm, made_up, [(row, column) for row in rows])
