"""The balance count: plies to the next capture or promotion (DTB), and wins that two counts draw together."""

import csv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from generator import afters
from generator.plan import both, pairs
from generator.sides import NOT_DECIDED, Results
from generator.slices import Crew, counts_balance
from generator.staircase import count_both
from tablebase import Outcome, Position, open_tablebase
from tablebase.drawrules import OFFICIAL
from tablebase.material import Material, materials

GOLDEN = Path(__file__).parent / "golden"
UNDER_BOTH = ("W:WKg3,Kb8,b2:BKh4,c5", "W:WKc7,Kb8,b2:BKd8,c5")


@pytest.fixture(scope="module")
def solved() -> dict[Material, Results]:
    """All slices of 2-4 pieces in which the balance is counted."""
    every = [m for n in (2, 3, 4) for m in materials(n)]
    found = {}
    with ThreadPoolExecutor(2) as threads:
        arena = afters.allocate(every, 4)
        limit = OFFICIAL.king_moves_plies
        crew = Crew(arena, limit, threads, 2, lambda positions: None, OFFICIAL.balance_plies)
        for pair in pairs(4):
            results = crew.solve(pair)
            if counts_balance(pair):
                found.update(zip(both(pair), results, strict=False))
    return found


def longest(results: Results, won: bool) -> int:
    decided = (results.dtc != NOT_DECIDED) & (results.dtw % 2 == won)
    return int(results.dtb.max(where=decided, initial=0))


def test_the_longest_ways_to_a_balance_change_are_the_oracles(solved: dict[Material, Results]) -> None:
    with (GOLDEN / "endgame_counts.csv").open(encoding="utf-8", newline="") as file:
        rows = {Material.parse(row["material"]): row for row in csv.DictReader(file)}
    assert len(solved) == 9
    for material, results in solved.items():
        row = rows[material]
        assert longest(results, True) == int(row["longest_balance_win_plies"] or 0), str(material)
        assert longest(results, False) == int(row["longest_balance_loss_plies"] or 0), str(material)


def test_dtb_is_found_wherever_a_position_is_decided_and_never_below_dtc(
    solved: dict[Material, Results],
) -> None:
    """Up to 4 pieces every decided position has one. A balance change is a zeroing move."""
    for material, results in solved.items():
        decided = results.dtc != NOT_DECIDED
        assert np.all(results.dtb[decided] >= results.dtc[decided]), str(material)
        assert np.all(results.dtb[decided] != NOT_DECIDED), str(material)


def test_up_to_four_pieces_the_two_counts_change_nothing(solved: dict[Material, Results]) -> None:
    for material, results in solved.items():
        if material.mirror in solved and material.own_kings + material.own_men >= material.other_kings:
            pair = (results, solved[material.mirror])
            balance = OFFICIAL.balance_plies(material.pieces)
            assert balance is not None
            assert not any(len(found) for found in count_both(material, pair, 30, balance))


def test_a_smaller_limit_of_the_balance_count_draws_what_needs_more(solved: dict[Material, Results]) -> None:
    material = Material.parse("KKMvK")
    pair = (solved[material], solved[material.mirror])
    for balance in (3, 10, 25):
        for results, found in zip(pair, count_both(material, pair, 30, balance), strict=True):
            # No more king moves in a row than plies in all: the king-moves rule cannot bind.
            expected = np.flatnonzero((results.dtc != NOT_DECIDED) & (results.dtb > balance))
            assert np.array_equal(found, expected)
            assert len(found)


@pytest.mark.whole
def test_two_positions_of_five_pieces_are_drawn_by_both_counts(official5: Path, tables5: Path) -> None:
    with open_tablebase(tables5) as tables:
        assert {str(tables.probe(Position.from_fen(fen)).outcome) for fen in UNDER_BOTH} == {"win"}
    with open_tablebase(official5) as tables:
        assert tables.ruleset == OFFICIAL
        for fen in UNDER_BOTH:
            position = Position.from_fen(fen)
            assert tables.probe(position).outcome is Outcome.CURSED_WIN
            assert tables.probe(position).dtw == 87
            # The best move leads to a loss for Black from fresh counts; here the counts run on.
            best = tables.moves(position)[0]
            assert best.probe_after.outcome is Outcome.LOSS
            assert (best.outcome, best.dtc, best.dtw) == (Outcome.CURSED_WIN, None, 87)
