"""The solver's pieces, held to the readable rules: king moves and exits in lanes, blocks, slices, plan."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from math import comb
from random import Random
from typing import Any

import naive
import numpy as np
import pytest
from numpy.typing import NDArray
from squaresets import between, rank, set_of, squares_of

from generator.compilation import SolverParts, compile_solver
from generator.errors import DistanceOverflowError, StoppedError
from generator.materials import RunScope, canonical, pairs, successor_pairs, with_mirror
from generator.plan import plan
from generator.solver import (
    king_moves as lanes,
)
from generator.solver import (
    solver as slices,
)
from generator.solver import (
    successors as afters,
)
from generator.solver import (
    workspace as workshop,
)
from generator.solver.blocks import Blocks
from generator.solver.parallel import Team
from generator.solver.results import is_stored
from generator.solver.side import STRIP
from generator.solver.solver import Pair, SliceSolver
from generator.solver.subsets import subsets
from generator.solver.successors import DRAWN, LONGEST_PLIES, SuccessorTables
from generator.solver.workspace import Workspace
from tablebase.board.material import Material
from tablebase.board.position import ALL_SQUARES, Color, Position, legal_moves, position_after
from tablebase.kernels.jit import for_python, reported
from tablebase.rules.rulesets import KING_MOVES_ONLY, OFFICIAL
from tablebase.tables.format import Metric
from tablebase.tables.index import index_of, sets_at

# King moves

king_moves, slides = for_python(lanes.king_moves), for_python(lanes.slides)


def king_targets(kings: int, occupied: int) -> Iterator[tuple[int, int]]:
    """Every quiet move of these kings: from, to. The rules' own, less those past pieces."""
    for square in squares_of(kings):
        alone = Position(0, 1 << square, 0, 0)
        for move in legal_moves(alone):
            target = squares_of(position_after(alone, move).wk)[0]
            if not (between(square, target) | 1 << target) & occupied:
                yield square, target


def test_slides_are_king_moves() -> None:
    random = Random(1)
    for _ in range(1000):
        empty = random.getrandbits(32) | random.getrandbits(32)
        goal = random.getrandbits(32) & random.getrandbits(32) & empty
        expected = 0
        for lane in squares_of(empty):
            occupied = ALL_SQUARES & ~empty | 1 << lane
            if any(goal >> target & 1 for _, target in king_targets(1 << lane, occupied)):
                expected |= 1 << lane
        if empty != ALL_SQUARES:
            assert int(slides(np.uint32(goal), np.uint32(empty))) == expected, (goal, empty)


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize(("kings", "opponents", "men"), [(1, 1, 2), (2, 1, 3), (3, 2, 0), (2, 2, 2)])
def test_king_moves_of_a_strip(kings: int, opponents: int, men: int, inverted: bool) -> None:
    random = Random(kings + 10 * opponents)
    tables = subsets(max(kings, opponents), max(kings - 1, 0))
    columns = comb(32, opponents)
    others = tables.squares[tables.start[opponents] : tables.start[opponents + 1]]
    words = comb(32, kings - 1) * columns
    generator = np.random.default_rng(kings)
    base = 7
    goals = generator.integers(0, 1 << 32, base + words, dtype=np.uint32)
    goals &= generator.integers(0, 1 << 32, base + words, dtype=np.uint32)
    goals = ~goals if inverted else goals  # a few goals: most lanes hang on one or two moves
    reach, empty, path = np.zeros((3, STRIP), np.uint32)
    checked = 0
    while checked < 8:
        blockers = set_of(random, men, ALL_SQUARES)
        row = random.randrange(comb(32, kings - 1))
        own = int(tables.squares[tables.start[kings - 1] + row])
        if own & blockers:
            continue
        first = random.randrange(columns) // STRIP * STRIP
        count = min(STRIP, columns - first)
        begin = tables.king_steps_start[tables.start[kings - 1] + row]
        king_moves(
            reach, goals, inverted, base, row, first, count, columns, others,
            own | blockers, blockers, tables.king_steps, begin, empty, path,
        )  # fmt: skip
        for column in range(count):
            opponent = int(others[first + column])
            if opponent & (own | blockers):
                continue  # no such position; what is found there is not looked at
            expected = 0
            for lane in squares_of(ALL_SQUARES & ~(own | blockers | opponent)):
                occupied = own | blockers | opponent | 1 << lane
                for square, target in king_targets(own | 1 << lane, occupied):
                    lane_after = target if square == lane else lane
                    own_after = own if square == lane else own & ~(1 << square) | 1 << target
                    word = goals[base + rank(own_after) * columns + first + column]
                    if bool(int(word) >> lane_after & 1) != inverted:
                        expected |= 1 << lane
            assert int(reach[column]) == expected
        checked += 1


# Blocks


@pytest.mark.parametrize("name", ["KvK", "KvM", "MvM", "MMvM", "MvMM", "KMvKM", "MMvMM", "MMMvM", "KMvMM"])
def test_blocks_come_once_and_after_those_they_lead_to(name: str) -> None:
    material = Material.parse(name)
    blocks = Blocks(material)
    placed = blocks.place(0, len(blocks))
    random = Random(name)
    assert [bound for bound, _ in blocks.runs[1:]] == [bound for _, bound in blocks.runs[:-1]]
    assert (blocks.runs[0][0], blocks.runs[-1][1]) == (0, len(blocks))
    solved: set[tuple[int, int, int]] = set()  # whose move it is, own men, other men
    seen: dict[Material, list[int]] = {m: [] for m in with_mirror(material)}
    for first, last in blocks.runs:
        fresh = set()
        for block in range(first, last):
            for s, men in enumerate((placed.men[block].tolist(), placed.turned_men[block].tolist())):
                base = int(placed.bases[block, s])
                if base < 0:
                    assert placed.men[block].tolist() == placed.turned_men[block].tolist()
                    continue
                mover = material if s == 0 else material.mirror
                own, _, other, _ = sets_at(mover, base)
                assert [own, other] == men
                seen[mover].append(base)
                fresh.add((0 if mover == material else 1, own, other))
                if random.random() > 4000 / material.blocks:
                    continue
                for move in legal_moves(Position(own, 0, other, 0)):
                    after = naive.white_to_move(position_after(Position(own, 0, other, 0), move))
                    if (after.wm.bit_count(), after.bm.bit_count()) == (mover.other_men, mover.own_men):
                        turn = 0 if mover.mirror == material else 1
                        assert (turn, after.wm, after.bm) in solved
        solved |= fresh
    for mover, bases in seen.items():
        assert sorted(bases) == list(range(0, mover.positions, mover.block_size))


# Slices


def solve_all(pieces: int, arena: SuccessorTables, limit: int | None = 30) -> dict[Material, Pair]:
    with ThreadPoolExecutor(2) as threads:
        crew = SliceSolver(arena, limit, threads, 2, lambda positions: None)
        return {pair: crew.solve(pair) for pair in pairs(pieces)}


def arena_of(pieces: int) -> SuccessorTables:
    return afters.allocate([m for pair in pairs(pieces) for m in with_mirror(pair)], pieces)


def test_what_is_read_back_is_what_was_solved() -> None:
    """The after tables restored from the stored positions are those of the solver, to the last bit."""
    solved, restored = arena_of(4), arena_of(4)
    results = solve_all(4, solved)
    with ThreadPoolExecutor(2) as threads:
        crew = SliceSolver(restored, 30, threads, 2, lambda positions: None)
        for pair, values in results.items():
            for one in values[: len(with_mirror(pair))]:
                one.dtw[~is_stored(one)] = 99  # nobody may read these
                one.value[~is_stored(one)] = 9
            crew.restore(pair, values)
    assert np.array_equal(solved.score, restored.score)
    assert np.array_equal(solved.lost, restored.lost)
    assert np.array_equal(solved.won, restored.won)


def test_room_for_events_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    plenty = solve_all(4, arena_of(4))
    grown = []
    grow = Workspace.grow

    def counted(workshop: Workspace) -> None:
        grown.append(workshop)
        grow(workshop)

    monkeypatch.setattr(Workspace, "grow", counted)
    monkeypatch.setattr(Workspace, "_EVENTS_A_WORD", 1)
    scarce = solve_all(4, arena_of(4))
    assert grown
    for pair in plenty:
        for one, other in zip(plenty[pair], scarce[pair], strict=True):
            assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_small_batches_and_tasks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = solve_all(3, arena_of(3))
    monkeypatch.setattr(workshop, "_BATCH_WORDS", 1)
    monkeypatch.setattr(slices, "_TASK_POSITIONS", 1)
    single = solve_all(3, arena_of(3))
    for pair in usual:
        for one, other in zip(usual[pair], single[pair], strict=True):
            assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_a_block_shared_by_threads_is_solved_as_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values and after tables, with room for events that has to grow, and restored from what is stored."""
    alone, shared, restored = arena_of(4), arena_of(4), arena_of(4)
    usual = solve_all(4, alone)
    monkeypatch.setattr(slices, "_SHARED_POSITIONS", 1)
    monkeypatch.setattr(Workspace, "_EVENTS_A_WORD", 1)
    teams = []

    class Counted(Team):
        def __init__(self, *arguments: Any) -> None:
            teams.append(self)
            super().__init__(*arguments)

    monkeypatch.setattr(slices, "Team", Counted)
    together = solve_all(4, shared)
    assert len(teams) == sum(not pair.men for pair in usual)
    with ThreadPoolExecutor(3) as threads:
        crew = SliceSolver(restored, 30, threads, 3, lambda positions: None)
        for pair, values in usual.items():
            crew.restore(pair, values)
            for one, other in zip(values, together[pair], strict=True):
                assert np.array_equal(one.value, other.value)
                assert np.array_equal(one.dtw[is_stored(one)], other.dtw[is_stored(one)])
    for arena in (shared, restored):
        for expected, found in zip(alone[3:], arena[3:], strict=True):
            assert np.array_equal(expected, found)


@pytest.mark.parametrize(("plies", "fits"), [(201, True), (251, False)])
def test_a_distance_that_does_not_fit_is_an_error(plies: int, fits: bool) -> None:
    """A made-up world in which a man that is crowned (or stepped on) wins, but after so many plies."""
    material = Material.parse("KMvK")
    arena = afters.allocate([Material.parse(name) for name in ("KKvK", "KvKK", "KvK", "KMvK", "KvKM")], 3)
    arena.score[:] = DRAWN
    place = (2, 0, 1, 0)
    size = afters.words(Material.parse("KKvK")) * 32
    arena.score[arena.score_start[place] : arena.score_start[place] + size] = 255 - (plies - 1) // 2
    with ThreadPoolExecutor(1) as threads:
        crew = SliceSolver(arena, 30, threads, 1, lambda positions: None)
        if fits:
            own, _ = crew.solve(material)
            assert plies in own.dtw
        else:
            with pytest.raises(DistanceOverflowError, match=f"KMvK .* more than {LONGEST_PLIES} plies"):
                crew.solve(material)


def test_a_crew_that_is_stopped_ends_early() -> None:
    done: list[int] = []
    with ThreadPoolExecutor(2) as threads:
        crew = SliceSolver(arena_of(2), 30, threads, 2, done.append)
        crew.stop()
        with pytest.raises(StoppedError):
            crew.solve(Material.parse("KvK"))
    assert done == []


# The plan's graph


def test_every_move_stays_in_the_pair_or_leads_to_a_planned_one() -> None:
    random = Random(5)
    order = pairs(5)
    place = {pair: number for number, pair in enumerate(order)}
    every = {
        Material(*counts)
        for counts in product(range(6), repeat=4)
        if sum(counts) <= 5 and sum(counts[:2]) and sum(counts[2:])
    }
    assert {m for pair in order for m in with_mirror(pair)} == every
    for pair in order:
        for mover in with_mirror(pair):
            led_to = set()
            for _ in range(60):
                index = random.randrange(mover.positions)
                own_men, own_kings, other_men, other_kings = sets_at(mover, index)
                position = Position(own_men, own_kings, other_men, other_kings)
                assert index_of(own_men, own_kings, other_men, other_kings) == index
                for move in legal_moves(position):
                    after = position_after(position, move)
                    assert after.turn is Color.BLACK
                    if after.bm | after.bk:
                        led_to.add(canonical(Material.of(after)))
            led_to.discard(pair)
            assert led_to <= successor_pairs(pair), (mover, led_to)
            assert all(place[earlier] < place[pair] for earlier in led_to)


@pytest.mark.parametrize("size", [1, 5, 32, 100, 496])
def test_bits_of_blocks_that_share_words(size: int) -> None:
    """Threads put the bits of blocks side by side, which end within words."""
    blocks = 999
    bits = np.random.default_rng(size).integers(0, 2, blocks * size, dtype=np.uint8)
    expected = np.packbits(bits, bitorder="little")
    put_bits = for_python(afters.put_bits)

    def packed_by(put: Callable[[int, NDArray[np.uint32]], None]) -> NDArray[np.uint8]:
        packed = np.zeros(-(-blocks * size // 32), np.uint32)
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda block: put(block, packed), Random(size).sample(range(blocks), blocks)))
        numbers = np.arange(blocks)
        assert np.array_equal(
            afters.take_block_bits(packed, numbers[::-1], size).reshape(-1, size)[::-1].ravel(), bits
        )
        return packed.astype("<u4").view(np.uint8)[: len(expected)]

    def one_a_word(block: int, packed: NDArray[np.uint32]) -> None:
        put_bits(bits.astype(np.uint32), block * size, size, packed, block * size)

    def by_number(block: int, packed: NDArray[np.uint32]) -> None:
        here = bits[block * size : (block + 1) * size]
        afters.put_block_bits(packed, np.array([block]), size, here)

    assert np.array_equal(packed_by(one_a_word), expected)
    assert np.array_equal(packed_by(by_number), expected)


def test_compiling_leaves_nothing_to_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever parts a run takes, its kernels are compiled before it, not in its midst."""
    monkeypatch.setattr(slices, "_SHARED_POSITIONS", 1)
    compiled: list[str] = []
    for dtw, balance, shared in product((True, False), repeat=3):
        ruleset = OFFICIAL if balance else KING_MOVES_ONLY
        metrics = (Metric.WDL, Metric.DTC, Metric.DTW) if dtw else (Metric.WDL, Metric.DTC)
        parts = SolverParts.of(plan(RunScope(3), metrics, 2 if shared else 1, set(), ruleset))
        assert parts == (dtw, balance, shared)
        compile_solver(parts)
        arena = afters.allocate([m for pair in pairs(3) for m in with_mirror(pair)], 3, with_scores=dtw)
        with ThreadPoolExecutor(2) as threads, reported(compiled.append):
            crew = SliceSolver(arena, 30, threads, 1 + shared, lambda positions: None, ruleset.balance_plies)
            for pair in pairs(3):
                crew.solve(pair)
    assert compiled == []
