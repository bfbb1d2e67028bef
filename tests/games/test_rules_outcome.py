"""What a position of a game in progress is worth: equal to a plain search wherever it is certain."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from plain_search import plainly

from tablebase import Color, Position, Tablebase, open_tablebase
from tablebase.board.counters import Counters
from tablebase.games.prospect import prospect_of
from tablebase.games.search import win_oracle
from tablebase.rules.clock import Clock
from tablebase.rules.outcome import Outcome, Probe, RulesOutcome
from tablebase.rules.rulesets import KING_MOVES_ONLY, OFFICIAL, RULESETS, Ruleset


@pytest.fixture(scope="module")
def tablebase(tables4: Path) -> Iterator[Tablebase]:
    with open_tablebase(tables4) as tablebase:
        yield tablebase


def prospect(tablebase: Tablebase, clock: Clock) -> RulesOutcome:
    verdict = clock.verdict(win_oracle(tablebase))
    return prospect_of(clock, verdict, tablebase.probe(clock.position), tablebase.ruleset)


def near_the_limit(random: Random, kings: int, lone: int, left: int, limit: int) -> tuple[Position, Counters]:
    squares = random.sample(range(32), kings + lone)
    bits = [1 << square for square in squares]
    position = Position(0, sum(bits[:kings]), 0, sum(bits[kings:]), random.choice(list(Color)))
    king_plies = 30 - random.randint(0, 2) - left if limit > 30 else random.randint(0, 29)
    return position, Counters(min(29, king_plies), limit - left, random.randint(0, 14), random.randint(0, 4))


@pytest.mark.parametrize(
    ("kings", "lone", "left", "limit", "ruleset"),
    [
        (2, 1, 4, 10, OFFICIAL),
        (1, 1, 4, 10, OFFICIAL),
        (3, 1, 3, 60, OFFICIAL),
        (2, 2, 2, 60, OFFICIAL),
        (2, 1, 4, 10, RULESETS["fmjd64"]),
        (3, 1, 3, 60, RULESETS["no-three-kings-count"]),
        (2, 1, 4, 10, RULESETS["road-with-three-men"]),
    ],
)
def test_decided_outcomes_equal_a_search(
    tablebase: Tablebase, kings: int, lone: int, left: int, limit: int, ruleset: Ruleset
) -> None:
    random = Random(kings * 10 + lone)
    # A search under `fmjd64` may go on beyond the count of plies, as that spares what is won.
    search = plainly(tablebase, ruleset, horizon=60)
    seen = set()
    for _ in range(40):
        position, counters = near_the_limit(random, kings, lone, random.randint(1, left), limit)
        clock = Clock.start(position, ruleset, counters)
        found = prospect(tablebase, clock)
        seen.add(found)
        if found.rank is not None:
            assert found.rank == search(clock), clock.to_fen()
    assert len(seen) > 1


@pytest.mark.parametrize(
    ("tables", "ruleset"), [(OFFICIAL, KING_MOVES_ONLY), (KING_MOVES_ONLY, RULESETS["road-with-three-men"])]
)
def test_without_men_tables_of_one_rule_and_of_two_agree(tables: Ruleset, ruleset: Ruleset) -> None:
    """Four kings against one, five pieces: in 7 plies they force a capture, which changes the balance."""
    lost = Probe(Outcome.LOSS, dtc=7, dtw=12)

    def found(fen: str, king_plies: int, balance_plies: int) -> RulesOutcome:
        clock = Clock.start(Position.from_fen(fen), ruleset, Counters(king_plies, balance_plies))
        return prospect_of(clock, clock.verdict(), lost, tables)

    kings = "B:WKc1,Kh6,Ke1,Kc7:BKh8"
    for king_plies, expected in ((23, RulesOutcome.LOSS), (24, RulesOutcome.DRAW)):
        assert found(kings, king_plies, king_plies) is expected
    # With a man the counts go apart.
    assert found("B:WKc1,Kh6,Ke1,c3:BKh8", 24, 24) is (
        RulesOutcome.MAYBE_LOSS if tables is OFFICIAL else RulesOutcome.DRAW
    )


def test_fresh_counters_give_the_outcome_of_the_tables(tablebase: Tablebase) -> None:
    random = Random(7)
    for _ in range(200):
        squares = random.sample(range(4, 28), random.randint(2, 4))
        kinds = [random.randrange(4) for _ in squares]
        sets = [sum(1 << s for s, k in zip(squares, kinds, strict=True) if k == kind) for kind in range(4)]
        position = Position(*sets, random.choice(list(Color)))
        expected = {1: RulesOutcome.WIN, 0: RulesOutcome.DRAW, -1: RulesOutcome.LOSS}
        wdl = tablebase.probe_wdl(position)
        for ruleset in (OFFICIAL, KING_MOVES_ONLY):
            found = prospect(tablebase, Clock.start(position, ruleset))
            assert found is expected[(wdl > 0) - (wdl < 0)], position.to_fen()
