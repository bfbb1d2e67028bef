"""Solving without DTW: the same outcomes, DTC and DTB as with it, from successor tables without scores.

Under tight limits many wins are cursed, so that outcomes without draw rules matter everywhere.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from generating import same
from numpy.typing import NDArray
from tight_rules import tight

from generator import run
from generator.errors import DistanceOverflowError
from generator.materials import RunScope, pairs, with_mirror
from generator.plan import plan
from generator.run import generate, make_plan
from generator.solver import solver as solver_module
from generator.solver import successors
from generator.solver import workspace as workspace_module
from generator.solver.encode import SliceCounts, read_stored
from generator.solver.passes import DTC_TOO_LONG
from generator.solver.results import LONGEST_DTC, Results, is_stored, outcomes
from generator.solver.solver import Pair, SliceSolver
from generator.solver.successors import (
    DRAWN,
    OutcomeExceptions,
    SuccessorTables,
    drop_exceptions,
    empty_exceptions,
    empty_filter,
    merge_exceptions,
    unruled_words,
)
from generator.solver.workspace import Workspace, retry_with_more_space
from tablebase.board.material import Material
from tablebase.rules.ruleset import Ruleset
from tablebase.rules.rulesets import KING_MOVES_ONLY, OFFICIAL
from tablebase.tables.format import Metric, Packing
from tablebase.tables.manifest import Manifest

LIMITS = [(1, None), (2, None), (3, 5), (4, 7), (6, None), (10, None)]
TIGHT = [tight(f"tight-{kings}-{balance}", kings, balance) for kings, balance in LIMITS]
OUTCOMES = (Metric.WDL, Metric.DTC)


def successor_tables_of(pieces: int, with_scores: bool) -> SuccessorTables:
    every = [m for pair in pairs(pieces) for m in with_mirror(pair)]
    return successors.allocate(every, pieces, with_scores=with_scores)


def solve(
    pieces: int, ruleset: Ruleset, with_scores: bool, jobs: int = 2
) -> tuple[dict[Material, Pair], SuccessorTables]:
    """Return the values of all pairs, and the successor tables."""
    successor_tables = successor_tables_of(pieces, with_scores)
    with ThreadPoolExecutor(jobs) as threads:
        solver = solver_for(successor_tables, ruleset, threads, jobs)
        return {pair: solver.solve(pair) for pair in pairs(pieces)}, solver.successors


def solver_for(
    successor_tables: SuccessorTables, ruleset: Ruleset, threads: ThreadPoolExecutor, jobs: int
) -> SliceSolver:
    limit, balance = ruleset.king_moves_plies, ruleset.balance_plies
    return SliceSolver(successor_tables, limit, threads, jobs, lambda positions: None, balance)


def stored_values(results: Results, metric: Metric) -> NDArray[np.int16]:
    """Return what the table of a metric stores for each position."""
    alphabet, pack = SliceCounts(results).packed(metric)
    packed = np.frombuffer(pack(0, len(results.value)), np.uint8)
    symbols = Packing.of(len(alphabet)).unpacked()[packed].ravel()[: len(results.value)]
    return np.array(alphabet, np.int16)[symbols]


def assert_same_values(one: dict[Material, Pair], other: dict[Material, Pair]) -> int:
    """Compare the values; return how many cursed wins and blessed losses there are."""
    cursed = 0
    for pair, results in one.items():
        for a, b in zip(results, other[pair], strict=True):
            assert np.array_equal(a.value, b.value), str(pair)
            assert np.array_equal(a.dtb, b.dtb), str(pair)
            cursed += int(np.count_nonzero(abs(outcomes(a)) == 1))
    return cursed


def by_number(tables: SuccessorTables, words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the words of all successor tables by number; one a position for a side without kings."""
    found = [np.zeros(0, np.uint32)]
    for counts in sorted(
        np.argwhere(tables.start >= 0).tolist(), key=lambda counts: tables.start[tuple(counts)]
    ):
        material = Material(counts[0], counts[1], counts[2], counts[3])
        first, count = int(tables.packed_start[tuple(counts)]), successors.words(material)
        kept = words[first : first + successors.kept_words(material)]
        if not material.own_kings:
            bits = np.unpackbits(kept.astype("<u4").view(np.uint8), bitorder="little", count=count)
            kept = bits.astype(np.uint32)
        found.append(kept)
    return np.concatenate(found)


def assert_same_successors(scored: SuccessorTables, other: SuccessorTables) -> None:
    """Compare outcomes under the rules, and outcomes without draw rules with the scores."""
    assert np.array_equal(scored.lost, other.lost)
    assert np.array_equal(scored.won, other.won)
    lost, won = by_number(other, other.lost), by_number(other, other.won)
    words = np.arange(len(lost), dtype=np.int64)
    found = unruled_words(other.exceptions, words, OutcomeExceptions(words, lost, won))
    for counts in np.argwhere(scored.start >= 0).tolist():
        material = Material(counts[0], counts[1], counts[2], counts[3])
        lanes, count = successors.lanes(material), successors.words(material)
        first, at = int(scored.start[tuple(counts)]), int(scored.score_start[tuple(counts)])
        scores = scored.score[at : at + count * lanes].reshape(count, lanes)
        bits = np.uint32(1) << np.arange(lanes, dtype=np.uint32)
        lost_here = np.sum((scores > DRAWN) * bits, axis=1, dtype=np.uint32)
        won_here = np.sum(((scores > 0) & (scores < DRAWN)) * bits, axis=1, dtype=np.uint32)
        assert np.array_equal(lost_here, found.lost[first : first + count]), str(material)
        assert np.array_equal(won_here, found.won[first : first + count]), str(material)
    assert np.all(np.diff(other.exceptions.words) > 0)
    ruled = OutcomeExceptions(
        other.exceptions.words, lost[other.exceptions.words], won[other.exceptions.words]
    )
    assert np.all((ruled.lost != other.exceptions.lost) | (ruled.won != other.exceptions.won))
    assert set(np.flatnonzero(other.exception_filter)) == set((other.exceptions.words >> 8).tolist())


@pytest.mark.parametrize("ruleset", [KING_MOVES_ONLY, OFFICIAL], ids=lambda ruleset: ruleset.name)
def test_values_match_the_solver_with_dtw(ruleset: Ruleset) -> None:
    scored, tables_scored = solve(4, ruleset, True)
    plain, tables = solve(4, ruleset, False)
    assert assert_same_values(scored, plain) == 0
    assert len(tables.score) == len(tables.exceptions.words) == 0
    assert np.array_equal(tables_scored.lost, tables.lost)
    assert np.array_equal(tables_scored.won, tables.won)


@pytest.mark.parametrize("ruleset", TIGHT[:3], ids=lambda ruleset: ruleset.name)
def test_cursed_wins_match_the_solver_with_dtw(ruleset: Ruleset) -> None:
    scored, tables_scored = solve(3, ruleset, True)
    plain, tables = solve(3, ruleset, False)
    assert assert_same_values(scored, plain) > 100
    assert_same_successors(tables_scored, tables)


@pytest.mark.whole
@pytest.mark.parametrize("ruleset", TIGHT, ids=lambda ruleset: ruleset.name)
def test_cursed_wins_of_four_pieces_match_the_solver_with_dtw(ruleset: Ruleset) -> None:
    scored, tables_scored = solve(4, ruleset, True)
    plain, tables = solve(4, ruleset, False)
    assert assert_same_values(scored, plain) > 100_000
    assert_same_successors(tables_scored, tables)


@pytest.mark.parametrize("ruleset", TIGHT[:3], ids=lambda ruleset: ruleset.name)
@pytest.mark.parametrize("shared", [False, True], ids=["alone", "shared"])
def test_threads_and_batches_do_not_change_results(
    ruleset: Ruleset, shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, tables_usual = solve(3, ruleset, False, 1)
    monkeypatch.setattr(workspace_module, "_BATCH_WORDS", 1)
    monkeypatch.setattr(solver_module, "_TASK_POSITIONS", 1)
    if shared:
        monkeypatch.setattr(solver_module, "_SHARED_POSITIONS", 1)
    other, tables = solve(3, ruleset, False, 3)
    assert_same_values(usual, other)
    for a, b in zip(tables_usual.exceptions, tables.exceptions, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("ruleset", TIGHT[:3], ids=lambda ruleset: ruleset.name)
@pytest.mark.parametrize("shared", [False, True], ids=["alone", "shared"])
def test_restored_values_are_those_of_the_solver(
    ruleset: Ruleset, shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """WDL and DTC restore outcomes with and without draw rules, of positions with a capture too."""
    if shared:
        monkeypatch.setattr(solver_module, "_SHARED_POSITIONS", 1)
    solved, tables = solve(3, ruleset, False)
    with ThreadPoolExecutor(2) as threads:
        solver = solver_for(successor_tables_of(3, False), ruleset, threads, 2)
        for pair, values in solved.items():
            read = tuple(solver.empty_results(material) for material in (pair, pair.mirror))
            for one, other in zip(values, read, strict=True):
                for metric in OUTCOMES:
                    read_stored(metric, stored_values(one, metric), other)
                stored = is_stored(one)
                assert np.array_equal(one.value[stored], other.value[stored])
                other.value[~stored] = 9  # must not be read
            solver.restore(pair, (read[0], read[1]))
    restored = solver.successors
    assert np.array_equal(tables.lost, restored.lost)
    assert np.array_equal(tables.won, restored.won)
    for a, b in zip(tables.exceptions, restored.exceptions, strict=True):
        assert np.array_equal(a, b)
    assert len(tables.exceptions.words) > 100


def test_dropping_a_material_drops_its_exceptions() -> None:
    _, tables = solve(3, TIGHT[1], False)
    material = Material.parse("KKvK")
    first = int(tables.start[2, 0, 1, 0])
    inside = (tables.exceptions.words >= first) & (
        tables.exceptions.words < first + successors.words(material)
    )
    assert inside.any()
    left = successors.drop_material(tables, material).exceptions
    for before, after in zip(tables.exceptions, left, strict=True):
        assert np.array_equal(before[~inside], after)
    assert set(np.flatnonzero(tables.exception_filter)) == set((left.words >> 8).tolist())


def words(*numbers: int, lost: int = 0) -> OutcomeExceptions:
    listed = empty_exceptions(len(numbers))
    listed.words[:], listed.lost[:] = numbers, lost
    return listed


def test_merging_keeps_the_last_entry_of_a_word() -> None:
    exception_filter = empty_filter(1000)
    listed = merge_exceptions(words(), exception_filter, [words(700, 20, lost=1), words(300, lost=2)])
    listed = merge_exceptions(listed, exception_filter, [words(20, 999, lost=3), words(999, lost=4)])
    assert listed.words.tolist() == [20, 300, 700, 999]
    assert listed.lost.tolist() == [3, 2, 1, 4]
    assert exception_filter.tolist() == [1, 1, 1, 1]
    listed = drop_exceptions(listed, exception_filter, 100, 700)
    assert listed.words.tolist() == [20, 700, 999]
    assert exception_filter.tolist() == [1, 0, 1, 1]


def test_dtc_overflow_raises() -> None:
    material = Material.parse("KvK")
    with pytest.raises(DistanceOverflowError, match=f"KvK has a DTC of more than {LONGEST_DTC} plies"):
        retry_with_more_space(Workspace(material), DTC_TOO_LONG, material)


# Whole runs


def files_of(directory: Path, *metrics: Metric) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for m in metrics for path in sorted(directory.glob(f"*.{m}"))}


@pytest.mark.parametrize("rules", ["official", "king-moves-only"])
def test_files_match_those_of_a_run_with_dtw(rules: str, tables4: Path, kings4: Path, tmp_path: Path) -> None:
    """In one run, and in two runs, where the second restores slices of the first."""
    usual, ruleset = (tables4, OFFICIAL) if rules == "official" else (kings4, KING_MOVES_ONLY)
    generate(tmp_path / "one", 4, OUTCOMES, 2, ruleset)
    assert files_of(tmp_path / "one", *OUTCOMES) == files_of(usual, *OUTCOMES)
    assert not files_of(tmp_path / "one", Metric.DTW)
    generate(tmp_path / "two", 3, OUTCOMES, 2, ruleset)
    generate(tmp_path / "two", 4, OUTCOMES, 1, ruleset)
    assert same(tmp_path / "one", tmp_path / "two")
    with_dtw, found = Manifest.load(usual), Manifest.load(tmp_path / "one")
    for material, record in found.slices.items():
        expected = with_dtw.slices[material].statistics
        assert expected is not None
        assert record.statistics is not None
        assert record.statistics.longest_win_plies is None
        assert record.statistics.longest_loss_fen is None
        assert record.statistics.longest_dtc_win_fen == expected.longest_dtc_win_fen
        assert record.statistics.cursed_win == expected.cursed_win


def test_mapped_arrays_give_the_same_tables(
    tables3: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "is_mapped", lambda work, memory: True)
    generate(tmp_path, 3, OUTCOMES, 2)
    assert files_of(tmp_path, *OUTCOMES) == files_of(tables3, *OUTCOMES)


def test_a_larger_set_continues_without_dtw(tables3: Path, tables4: Path, tmp_path: Path) -> None:
    """All metrics of 2-3 pieces, outcomes of 4; no run repeats work of the other."""
    generate(tmp_path, 3)
    before = files_of(tmp_path, *Metric)
    summary = generate(tmp_path, 4, OUTCOMES, 2)
    assert {pair.pieces for pair in summary.plan.todo} == {4}
    found = files_of(tmp_path, *Metric)
    assert {name: found[name] for name in before} == before
    assert files_of(tmp_path, *OUTCOMES) == files_of(tables4, *OUTCOMES)
    assert not make_plan(tmp_path, RunScope(3), tuple(Metric), 1).todo
    assert not make_plan(tmp_path, RunScope(4), OUTCOMES, 1).todo
    assert {pair.pieces for pair in make_plan(tmp_path, RunScope(4), tuple(Metric), 1).todo} == {4}


def test_slices_without_dtw_are_solved_again(tables3: Path, tmp_path: Path) -> None:
    generate(tmp_path, 2, (Metric.WDL,))
    generate(tmp_path, 3, OUTCOMES)
    generate(tmp_path, 3)
    assert same(tmp_path, tables3)


def test_statistics_keep_the_longest_dtw(copy3: Path, tables3: Path) -> None:
    """A run without DTW writes a missing file again."""
    (copy3 / "KKvK.wdl").unlink()
    assert generate(copy3, 3, OUTCOMES).plan.todo == [Material.parse("KKvK")]
    assert same(copy3, tables3)


def test_runs_without_scores_need_less_memory() -> None:
    def needed(*metrics: Metric) -> int:
        return plan(RunScope(6), metrics, 2, set(), KING_MOVES_ONLY).memory

    assert needed(*OUTCOMES) < 0.6 * needed(*Metric)
