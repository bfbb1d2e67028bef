"""The player: by the tables where they tell the best move, and by a shallow search elsewhere."""

from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
from playing import at_random
from strategies import random_positions

from tablebase import OFFICIAL, Clock, Position, RulesOutcome, Tablebase, open_tablebase
from tablebase.engine.engine import DEPTH, WON, Engine, Limits, ShallowSearch
from tablebase.games.search import RuleSearch


@pytest.fixture(scope="module")
def tablebase(tables4: Path) -> Iterator[Tablebase]:
    with open_tablebase(tables4) as opened:
        yield opened


@pytest.fixture(scope="module")
def engine(tablebase: Tablebase) -> Engine:
    return Engine(tablebase)


def test_engine_plays_the_best_move_of_the_tables(tablebase: Tablebase, engine: Engine) -> None:
    for position in random_positions(150, 41, 4):
        clock = Clock.start(position, OFFICIAL)
        choice = engine.choose(clock)
        best = RuleSearch(tablebase).best_move(clock)
        assert (choice and choice.move) == (best and best.move)
        assert choice is None or choice.found is None


def test_no_choice_without_a_legal_move(engine: Engine) -> None:
    assert engine.choose(Clock.from_fen("W:W:Ba7")) is None


def test_engine_heeds_counters(engine: Engine) -> None:
    """Three kings whose moves run out before they can win have a draw, and with fresh counts a win."""
    choice = engine.choose(Clock.from_fen("W:WKc1,Kf4,Kg7:BKb8:C13,13,7,0,1"))
    assert choice
    assert choice.ruled.prospect is RulesOutcome.DRAW
    fresh = engine.choose(Clock.from_fen("W:WKc1,Kf4,Kg7:BKb8"))
    assert fresh
    assert fresh.ruled.prospect is RulesOutcome.WIN


def test_engine_finds_a_legal_move_outside_the_tables(engine: Engine) -> None:
    for position in random_positions(60, 42, 24):
        choice = engine.choose(Clock.start(position), Limits(depth=2))
        assert (choice is None) == (not position.legal_moves())
        assert choice is None or choice.move in position.legal_moves()


def test_known_and_searched_moves_are_compared(tablebase: Tablebase, engine: Engine) -> None:
    """Five and six pieces, with tables of four: some moves lead into these."""
    seen = {"known": 0, "searched": 0, "won by search": 0}
    for position in random_positions(400, 43, 6):
        clock = Clock.start(position)
        choice = engine.choose(clock, Limits(depth=4))
        if choice is None:
            continue
        best = RuleSearch(tablebase).moves(clock)[0]
        if best.prospect is RulesOutcome.WIN:
            assert choice.found is None
            assert choice.ruled.prospect is RulesOutcome.WIN
        if choice.found is None:
            seen["known"] += 1
            assert choice.ruled.prospect is best.prospect
        else:
            seen["searched"] += 1
            assert choice.ruled.prospect is RulesOutcome.UNKNOWN
            assert best.prospect is not RulesOutcome.DRAW or choice.found.value > 0
            seen["won by search"] += choice.found.value > WON // 2
    assert min(seen.values()) >= 5, seen


def test_same_depth_finds_the_same_move(tablebase: Tablebase) -> None:
    start = Position.start()
    moves = start.legal_moves()
    found = [ShallowSearch(tablebase).best(start, moves, 4) for _ in range(2)]
    assert found[0] == found[1]
    assert found[0].depth == 4


def test_time_limit_ends_a_search(tablebase: Tablebase) -> None:
    start = Position.start()
    found = ShallowSearch(tablebase).best(start, start.legal_moves(), 64, 0.05)
    assert 1 <= found.depth < 20
    assert ShallowSearch(tablebase).best(start, start.legal_moves(), 64, 0.0).depth == 1


def test_deep_search_ends_by_default_time_limit(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablebase.engine.engine.MAX_SECONDS", 0.05)
    choice = engine.choose(Clock.start(Position.start()), Limits(depth=64))
    assert choice
    assert choice.found
    assert choice.found.depth < 20


def test_node_limit_ends_a_search(tablebase: Tablebase) -> None:
    start = Position.start()
    moves = start.legal_moves()
    for nodes in (len(moves), 100, 1000):
        found = ShallowSearch(tablebase).best(start, moves, 64, nodes=nodes)
        deeper = ShallowSearch(tablebase).best(start, moves, found.depth + 1)
        assert found.nodes <= nodes < deeper.nodes
    assert ShallowSearch(tablebase).best(start, moves, 64, nodes=1).depth == 1


def test_stopped_search_has_a_move(tablebase: Tablebase) -> None:
    start = Position.start()
    moves = start.legal_moves()
    assert ShallowSearch(tablebase).best(start, moves, 64, stop=lambda: True).depth == 1
    asked = iter(range(8))
    found = ShallowSearch(tablebase).best(start, moves, 64, stop=lambda: next(asked) == 7)
    assert 1 < found.depth < 64
    assert found.move in moves


@pytest.mark.parametrize(
    ("seconds", "nodes", "stopped"), [(0.05, None, False), (None, 10, False), (None, None, True)]
)
def test_search_of_many_captures_ends(
    tablebase: Tablebase, seconds: float | None, nodes: int | None, stopped: bool
) -> None:
    """Here the first ply alone takes hundreds of thousands of positions."""
    position = Position.from_fen(
        "W:WKa1,Kc1,Ke3,Ka5,Kc5,Kg5,Kb6,Kd6,Kf6,Kh8:BKb2,Kd2,Kf2,Kh2,Kc3,Kg3,Kb4,Kd4,Kh6,Kc7,Kf8"
    )
    moves = position.legal_moves()
    began = monotonic()
    found = ShallowSearch(tablebase).best(position, moves, 64, seconds, nodes, lambda: stopped)
    assert (found.depth, found.move) == (0, moves[0])
    assert monotonic() - began < 10


def test_limits() -> None:
    assert Limits().plies == DEPTH
    assert Limits(depth=3, seconds=1.0).plies == 3
    assert Limits(seconds=1.0).plies == Limits(nodes=1).plies == Limits(depth=10**9).plies > DEPTH


def test_search_follows_captures_to_their_end(tablebase: Tablebase) -> None:
    """No depth of the search wins or loses a man in a quiet position."""
    position = Position.from_fen("W:Wc3,e3,g3,a1,c1,e1:Bb6,d6,f6,h8,f8,d8")
    for depth in (2, 4):
        found = ShallowSearch(tablebase).best(position, position.legal_moves(), depth)
        assert -60 < found.value < 60


def test_engine_beats_a_random_player_from_outside_the_tables(tablebase: Tablebase, engine: Engine) -> None:
    """Six pieces against two, then tables."""
    clock = Clock.from_fen("W:WKa1,Kc1,Ke1,b2,d2,f2:Bh6,h8")
    opponent = at_random(3)
    for ply in range(120):
        if not clock.verdict().ends_the_game and clock.position.legal_moves():
            choice = engine.choose(clock, Limits(depth=3)) if ply % 2 == 0 else None
            clock = clock.play(choice.move if choice else opponent(clock))
    assert clock.winner == "white"
