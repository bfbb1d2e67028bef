"""The solver's parts against the readable rules: king moves, blocks, slices, order of the plan."""

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
from square_sets import between, rank, set_of, squares_of

from generator.compilation import SolverParts, compile_solver
from generator.errors import DistanceOverflowError, StoppedError
from generator.materials import RunScope, canonical, pairs, successor_pairs, with_mirror
from generator.plan import plan
from generator.solver import king_moves as lanes
from generator.solver import solver as solver_module
from generator.solver import successors
from generator.solver import workspace as workspace_module
from generator.solver.blocks import Blocks
from generator.solver.parallel import KernelPool
from generator.solver.results import is_stored
from generator.solver.side import STRIP
from generator.solver.solver import Pair, SliceSolver
from generator.solver.subsets import subsets
from generator.solver.successors import DRAWN, LONGEST_PLIES, SuccessorTables
from generator.solver.workspace import Workspace
from tablebase.board.material import Material
from tablebase.board.position import Color, Position, legal_moves, position_after
from tablebase.board.squares import ALL_SQUARES
from tablebase.kernels.jit import for_python, reported
from tablebase.rules.rulesets import KING_MOVES_ONLY, OFFICIAL
from tablebase.tables.format import Metric
from tablebase.tables.index import index_of, sets_at

# King moves

king_moves, slide_sources = for_python(lanes.king_moves), for_python(lanes.slide_sources)


def king_targets(kings: int, occupied: int) -> Iterator[tuple[int, int]]:
    """Yield every quiet move of these kings (from, to): moves of the rules that no piece blocks."""
    for square in squares_of(kings):
        alone = Position(0, 1 << square, 0, 0)
        for move in legal_moves(alone):
            target = squares_of(position_after(alone, move).wk)[0]
            if not (between(square, target) | 1 << target) & occupied:
                yield square, target


def test_slide_sources_match_king_moves() -> None:
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
            assert int(slide_sources(np.uint32(goal), np.uint32(empty))) == expected, (goal, empty)


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
    goals = ~goals if inverted else goals  # few goals, so that one or two moves decide most lanes
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
                continue  # not a position: its lanes are not read
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
def test_blocks_are_listed_once_and_after_their_successors(name: str) -> None:
    material = Material.parse(name)
    blocks = Blocks(material)
    placed = blocks.place(0, len(blocks))
    random = Random(name)
    assert [bound for bound, _ in blocks.runs[1:]] == [bound for _, bound in blocks.runs[:-1]]
    assert (blocks.runs[0][0], blocks.runs[-1][1]) == (0, len(blocks))
    solved: set[tuple[int, int, int]] = set()  # side to move, own men, other men
    seen: dict[Material, list[int]] = {m: [] for m in with_mirror(material)}
    for first, last in blocks.runs:
        fresh = set()
        for block in range(first, last):
            for s, men in enumerate((placed.men[block].tolist(), placed.turned_men[block].tolist())):
                base = int(placed.first_index[block, s])
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
    for mover, first_index in seen.items():
        assert sorted(first_index) == list(range(0, mover.positions, mover.block_size))


# Slices


def solve_all(pieces: int, successor_tables: SuccessorTables, limit: int | None = 30) -> dict[Material, Pair]:
    with ThreadPoolExecutor(2) as threads:
        solver = SliceSolver(successor_tables, limit, threads, 2, lambda positions: None)
        return {pair: solver.solve(pair) for pair in pairs(pieces)}


def successor_tables_of(pieces: int) -> SuccessorTables:
    return successors.allocate([m for pair in pairs(pieces) for m in with_mirror(pair)], pieces)


def test_restored_successor_tables_are_those_of_the_solver() -> None:
    """Restoring from the stored positions gives the same bytes."""
    solved, restored = successor_tables_of(4), successor_tables_of(4)
    results = solve_all(4, solved)
    with ThreadPoolExecutor(2) as threads:
        solver = SliceSolver(restored, 30, threads, 2, lambda positions: None)
        for pair, values in results.items():
            for one in values[: len(with_mirror(pair))]:
                one.dtw[~is_stored(one)] = 99  # must not be read
                one.value[~is_stored(one)] = 9
            solver.restore(pair, values)
    assert np.array_equal(solved.score, restored.score)
    assert np.array_equal(solved.lost, restored.lost)
    assert np.array_equal(solved.won, restored.won)


def test_space_for_events_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    plenty = solve_all(4, successor_tables_of(4))
    grown = []
    grow_events = Workspace.grow_events

    def counted(workspace: Workspace) -> None:
        grown.append(workspace)
        grow_events(workspace)

    monkeypatch.setattr(Workspace, "grow_events", counted)
    monkeypatch.setattr(Workspace, "_EVENTS_A_WORD", 1)
    scarce = solve_all(4, successor_tables_of(4))
    assert grown
    for pair in plenty:
        for one, other in zip(plenty[pair], scarce[pair], strict=True):
            assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_sizes_of_batches_and_tasks_do_not_change_results(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = solve_all(3, successor_tables_of(3))
    monkeypatch.setattr(workspace_module, "_BATCH_WORDS", 1)
    monkeypatch.setattr(solver_module, "_TASK_POSITIONS", 1)
    single = solve_all(3, successor_tables_of(3))
    for pair in usual:
        for one, other in zip(usual[pair], single[pair], strict=True):
            assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_threads_that_share_a_block_do_not_change_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values and successor tables, with space for events that must grow, and after restoring."""
    alone, shared, restored = successor_tables_of(4), successor_tables_of(4), successor_tables_of(4)
    usual = solve_all(4, alone)
    monkeypatch.setattr(solver_module, "_SHARED_POSITIONS", 1)
    monkeypatch.setattr(Workspace, "_EVENTS_A_WORD", 1)
    teams = []

    class Counted(KernelPool):
        def __init__(self, *arguments: Any) -> None:
            teams.append(self)
            super().__init__(*arguments)

    monkeypatch.setattr(solver_module, "KernelPool", Counted)
    together = solve_all(4, shared)
    assert len(teams) == sum(not pair.men for pair in usual)
    with ThreadPoolExecutor(3) as threads:
        solver = SliceSolver(restored, 30, threads, 3, lambda positions: None)
        for pair, values in usual.items():
            solver.restore(pair, values)
            for one, other in zip(values, together[pair], strict=True):
                assert np.array_equal(one.value, other.value)
                assert np.array_equal(one.dtw[is_stored(one)], other.dtw[is_stored(one)])
    for successor_tables in (shared, restored):
        for expected, found in zip(alone[3:], successor_tables[3:], strict=True):
            assert np.array_equal(expected, found)


@pytest.mark.parametrize(("plies", "fits"), [(201, True), (251, False)])
def test_distance_overflow_raises(plies: int, fits: bool) -> None:
    """Successor tables are made up: a promotion wins after `plies` plies."""
    material = Material.parse("KMvK")
    successor_tables = successors.allocate(
        [Material.parse(name) for name in ("KKvK", "KvKK", "KvK", "KMvK", "KvKM")], 3
    )
    successor_tables.score[:] = DRAWN
    counts = (2, 0, 1, 0)
    size = successors.words(Material.parse("KKvK")) * 32
    successor_tables.score[
        successor_tables.score_start[counts] : successor_tables.score_start[counts] + size
    ] = 255 - (plies - 1) // 2
    with ThreadPoolExecutor(1) as threads:
        solver = SliceSolver(successor_tables, 30, threads, 1, lambda positions: None)
        if fits:
            own, _ = solver.solve(material)
            assert plies in own.dtw
        else:
            with pytest.raises(DistanceOverflowError, match=f"KMvK .* more than {LONGEST_PLIES} plies"):
                solver.solve(material)


def test_stopped_solver_raises() -> None:
    done: list[int] = []
    with ThreadPoolExecutor(2) as threads:
        solver = SliceSolver(successor_tables_of(2), 30, threads, 2, done.append)
        solver.stop()
        with pytest.raises(StoppedError):
            solver.solve(Material.parse("KvK"))
    assert done == []


# Order of the plan


def test_moves_stay_in_the_pair_or_lead_to_an_earlier_one() -> None:
    random = Random(5)
    order = pairs(5)
    number_of = {pair: number for number, pair in enumerate(order)}
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
            assert all(number_of[earlier] < number_of[pair] for earlier in led_to)


@pytest.mark.parametrize("size", [1, 5, 32, 100, 496])
def test_blocks_that_share_words_keep_their_bits(size: int) -> None:
    """Threads write bits of neighbouring blocks, which end within words."""
    blocks = 999
    bits = np.random.default_rng(size).integers(0, 2, blocks * size, dtype=np.uint8)
    expected = np.packbits(bits, bitorder="little")
    write_bits = for_python(successors.write_bits)

    def packed_by(put: Callable[[int, NDArray[np.uint32]], None]) -> NDArray[np.uint8]:
        packed = np.zeros(-(-blocks * size // 32), np.uint32)
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda block: put(block, packed), Random(size).sample(range(blocks), blocks)))
        numbers = np.arange(blocks)
        assert np.array_equal(
            successors.read_block_bits(packed, numbers[::-1], size).reshape(-1, size)[::-1].ravel(), bits
        )
        return packed.astype("<u4").view(np.uint8)[: len(expected)]

    def one_a_word(block: int, packed: NDArray[np.uint32]) -> None:
        write_bits(bits.astype(np.uint32), block * size, size, packed, block * size)

    def by_number(block: int, packed: NDArray[np.uint32]) -> None:
        here = bits[block * size : (block + 1) * size]
        successors.write_block_bits(packed, np.array([block]), size, here)

    assert np.array_equal(packed_by(one_a_word), expected)
    assert np.array_equal(packed_by(by_number), expected)


def test_solving_compiles_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """`compile_solver` compiles every kernel that a run needs, whatever its parts."""
    monkeypatch.setattr(solver_module, "_SHARED_POSITIONS", 1)
    compiled: list[str] = []
    for dtw, balance, shared in product((True, False), repeat=3):
        ruleset = OFFICIAL if balance else KING_MOVES_ONLY
        metrics = (Metric.WDL, Metric.DTC, Metric.DTW) if dtw else (Metric.WDL, Metric.DTC)
        parts = SolverParts.of(plan(RunScope(3), metrics, 2 if shared else 1, set(), ruleset))
        assert parts == (dtw, balance, shared)
        compile_solver(parts)
        successor_tables = successors.allocate(
            [m for pair in pairs(3) for m in with_mirror(pair)], 3, with_scores=dtw
        )
        with ThreadPoolExecutor(2) as threads, reported(compiled.append):
            solver = SliceSolver(
                successor_tables, 30, threads, 1 + shared, lambda positions: None, ruleset.balance_plies
            )
            for pair in pairs(3):
                solver.solve(pair)
    assert compiled == []
