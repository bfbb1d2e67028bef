"""The balance count: plies to the next capture or promotion (DTB), and wins that only two counts draw."""

import csv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import naive_two_counters as naive_twocounts
import numpy as np
import pytest
from paths import GOLDEN
from tight_rules import tight

from generator.materials import pairs, with_mirror
from generator.run import generate
from generator.solver import successors
from generator.solver.results import NOT_DECIDED, Results, distances, outcomes
from generator.solver.solver import SliceSolver, counts_balance
from generator.verify.verify import verify
from tablebase import Outcome, Position, open_tablebase
from tablebase.board.material import Material, materials
from tablebase.rules.rulesets import OFFICIAL, RULESETS
from tablebase.tables.format import Metric, table_name
from tablebase.tables.index import index_of
from tablebase.tables.table import Table

UNDER_BOTH = ("W:WKg3,Kb8,b2:BKh4,c5", "W:WKc7,Kb8,b2:BKd8,c5")


@pytest.fixture(scope="module")
def solved() -> dict[Material, Results]:
    """Return all slices of 2-4 pieces with a DTB pass."""
    every = [m for n in (2, 3, 4) for m in materials(n)]
    found = {}
    with ThreadPoolExecutor(2) as threads:
        successor_tables = successors.allocate(every, 4)
        limit = OFFICIAL.king_moves_plies
        solver = SliceSolver(
            successor_tables, limit, threads, 2, lambda positions: None, OFFICIAL.balance_plies
        )
        for pair in pairs(4):
            results = solver.solve(pair)
            if counts_balance(pair):
                found.update(zip(with_mirror(pair), results, strict=False))
    return found


def longest(results: Results, won: bool) -> int:
    decided = outcomes(results) == (2 if won else -2)
    return int(results.dtb.max(where=decided, initial=0))


def test_longest_dtb_matches_the_naive_solver(solved: dict[Material, Results]) -> None:
    with (GOLDEN / "endgame_counts.csv").open(encoding="utf-8", newline="") as file:
        rows = {Material.parse(row["material"]): row for row in csv.DictReader(file)}
    assert len(solved) == 9
    for material, results in solved.items():
        row = rows[material]
        assert longest(results, True) == int(row["longest_balance_win_plies"] or 0), str(material)
        assert longest(results, False) == int(row["longest_balance_loss_plies"] or 0), str(material)


def test_decided_positions_have_a_dtb_of_at_least_their_dtc(
    solved: dict[Material, Results],
) -> None:
    """Up to 4 pieces every decided position has a DTB. A balance change is a zeroing move."""
    for material, results in solved.items():
        dtc = distances(results)
        decided = dtc != NOT_DECIDED
        assert np.all(results.dtb[decided] >= dtc[decided]), str(material)
        assert np.all(results.dtb[decided] != NOT_DECIDED), str(material)


@pytest.mark.parametrize("balance", [3, 10, 25])
def test_positions_beyond_a_smaller_balance_limit_are_drawn(
    solved: dict[Material, Results], balance: int
) -> None:
    material = Material.parse("KKMvK")
    every = [m for n in (2, 3, 4) for m in materials(n)]
    allowed = dict.fromkeys(pairs(4), OFFICIAL.balance_plies) | {material: lambda pieces: balance}
    with ThreadPoolExecutor(2) as threads:
        successor_tables = successors.allocate(every, 4)
        for pair in pairs(4):
            solver = SliceSolver(
                successor_tables, OFFICIAL.king_moves_plies, threads, 2, lambda positions: None, allowed[pair]
            )
            tight = solver.solve(pair)
            if pair == material:
                break
    for slice_, results in zip(with_mirror(material), tight, strict=True):
        # No more king moves in a row than plies in all: the king-moves rule cannot bind.
        expected = solved[slice_].dtb <= balance
        decided = distances(solved[slice_]) != NOT_DECIDED
        assert np.array_equal(distances(results) != NOT_DECIDED, expected & decided)
        assert not expected[decided].all()


@pytest.mark.parametrize("kings", [2, 3])
@pytest.mark.parametrize("balance", [2, 4, naive_twocounts.DEEPEST])
def test_dtb_under_tight_limits_matches_the_naive_solver(kings: int, balance: int) -> None:
    """Both counts are near their limits: compare with plain sweeps over the readable rules."""
    material = Material.parse("KMvK")
    slices = [Material.parse(text) for text in ("KvK", "KvM", "KKvK", "KMvK")]
    every = [each for pair in slices for each in with_mirror(pair)]
    with ThreadPoolExecutor(2) as threads:
        successor_tables = successors.allocate(every, 3)
        solver = SliceSolver(
            successor_tables, kings, threads, 2, lambda positions: None, lambda pieces: balance
        )
        for pair in slices:
            solved = solver.solve(pair)
    graph = naive_twocounts.graph_of(every)
    expected = naive_twocounts.solve(graph, kings, balance)
    alone = naive_twocounts.solve(graph, kings, None)
    found = dict.fromkeys(("decided", "longer than the king-moves rule", "drawn by both"), 0)
    for number in graph.group(3, 1):
        position = graph.positions[number]
        results = solved[0 if Material.of(position) == material else 1]
        index = index_of(position.wm, position.wk, position.bm, position.bk)
        outcome = expected.fresh[number]
        assert (abs(int(outcomes(results)[index])) == 2) == bool(outcome), position.to_fen()
        if outcome:
            assert results.dtb[index] == expected.needed[number], position.to_fen()
            found["decided"] += 1
            found["longer than the king-moves rule"] += expected.needed[number] > kings
        found["drawn by both"] += bool(alone.fresh[number] and not outcome)
    assert found["decided"] > 1000
    assert (found["longer than the king-moves rule"] > 0) == (balance > kings)
    assert found["drawn by both"] > 0 or balance > kings


@pytest.mark.parametrize(("kings", "balance"), [(3, 9), (5, 12), (4, 5)])
def test_tables_under_tight_limits_pass_the_verifier(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kings: int, balance: int
) -> None:
    """Much slack, and four pieces: steps of men lead from one slack to another."""
    ruleset = tight("test-slack", kings, balance)
    monkeypatch.setitem(RULESETS, ruleset.name, ruleset)
    generate(tmp_path, 4, jobs=2, ruleset=ruleset)
    report = verify(tmp_path, jobs=2)
    assert report.findings == []
    needed = {
        int(dtb)
        for material in (Material.parse("KKMvK"), Material.parse("KMvKM"))
        for dtb in np.unique(Table(tmp_path / table_name(material, Metric.DTB)).read_all(map))
    }
    assert needed >= set(range(1, min(balance, kings + 4) + 1))


@pytest.mark.whole
def test_both_counts_draw_two_positions_of_five_pieces(kings5: Path, tables5: Path) -> None:
    with open_tablebase(kings5) as tables:
        assert {str(tables.probe(Position.from_fen(fen)).outcome) for fen in UNDER_BOTH} == {"win"}
    with open_tablebase(tables5) as tables:
        assert tables.ruleset == OFFICIAL
        for fen in UNDER_BOTH:
            position = Position.from_fen(fen)
            assert tables.probe(position).outcome is Outcome.CURSED_WIN
            assert tables.probe(position).dtw == 87
            # The best move leads to a loss for Black from fresh counters, but the counters go on.
            best = tables.moves(position)[0]
            assert best.probe_after.outcome is Outcome.LOSS
            assert (best.outcome, best.dtc, best.dtw) == (Outcome.CURSED_WIN, None, 87)
