"""Play under the draw rules: search and tables against a plain search, and against claims of repetition."""

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from plain_search import plainly

from tablebase import (
    RULESETS,
    ArgumentError,
    Clock,
    Color,
    Counters,
    LineEnd,
    Outcome,
    Position,
    Tablebase,
    open_tablebase,
)
from tablebase.board.material import Material
from tablebase.board.position import Move, legal_moves
from tablebase.games.search import RuleSearch
from tablebase.rules.outcome import RulesOutcome
from tablebase.tables.index import sets_at

LONG_WIN = "W:Wc1,e1,Kc7:BKb8"
"""Shortest ways to zeroing moves, one after the other, lead it past the 30 moves of the balance rule."""


@pytest.fixture(scope="module")
def tablebase(tables4: Path) -> Iterator[Tablebase]:
    with open_tablebase(tables4) as tablebase:
        yield tablebase


def decided(tablebase: Tablebase, material: str, random: Random, most: int) -> Position:
    """A random position of a material that is won or lost under the rules, has no capture, and is no more
    than so many plies from a zeroing move."""
    slice_ = Material.parse(material)
    while True:
        position = Position(*sets_at(slice_, random.randrange(slice_.positions)))
        moves = legal_moves(position)
        if moves and not moves[0].is_capture and (tablebase.probe(position).dtc or most + 1) <= most:
            return position if random.random() < 0.5 else position.flip()


@pytest.mark.parametrize(
    ("material", "name", "most_left"),
    [
        ("KMvK", "official", 6),
        ("KvKM", "official", 6),
        ("KKvK", "official", 6),
        ("KMMvK", "official", 4),
        ("KKMvK", "official", 3),
        ("KvKMM", "official", 4),
        ("KMvKM", "official", 4),
        ("KKKvK", "official", 3),
        ("KKKvK", "no-three-kings-count", 3),
        ("KKvK", "fmjd64", 4),
        ("KMMvK", "road-with-three-men", 4),
    ],
)
def test_search_equals_plain_search(tablebase: Tablebase, material: str, name: str, most_left: int) -> None:
    random = Random(f"{material} {name}")
    ruleset = RULESETS[name]
    search, plain = RuleSearch(tablebase, 10_000), plainly(tablebase, ruleset, horizon=60)
    by_search = set()
    for _ in range(25):
        position = decided(tablebase, material, random, most_left + 1)
        limit = 10 if position.pieces <= 3 else 60
        # Either count may be the tighter one.
        counters = Counters(
            30 - random.randint(1, most_left),
            limit - random.randint(1, most_left),
            random.randint(15 - most_left, 14),
            random.randint(0, 4),
        )
        clock = Clock.start(position, ruleset, counters)
        found = search.prospect(clock)
        assert found.rank is not None, clock.to_fen()
        assert found.rank == plain(clock), clock.to_fen()
        by_search.add(found)
    assert len(by_search) > 1


@pytest.mark.parametrize("name", ["lidraughts", "classic", "club", "king-moves-only", "road-with-three-men"])
def test_no_certainty_is_wrong_under_other_rulesets(tablebase: Tablebase, name: str) -> None:
    random = Random(name)
    search, plain = RuleSearch(tablebase, 200), plainly(tablebase, RULESETS[name], horizon=70)
    certain = 0
    for material in ("KKvK", "KKKvK"):
        for _ in range(10):
            position = decided(tablebase, material, random, 5)
            limit = {"lidraughts": 10 if position.pieces <= 3 else 30}.get(name, 60)
            counters = Counters(random.randint(27, 29), limit - random.randint(1, 3), random.randint(12, 14))
            clock = Clock.start(position, RULESETS[name], counters)
            found = search.prospect(clock)
            if found.rank is not None:
                certain += 1
                assert found.rank == plain(clock), clock.to_fen()
    assert certain


def test_fresh_counters_give_the_outcome_of_the_tables(tablebase: Tablebase) -> None:
    random = Random(7)
    search = RuleSearch(tablebase, 0)
    rank = {2: 1, 1: 0, 0: 0, -1: 0, -2: -1}
    alike = [ruleset for ruleset in RULESETS.values() if ruleset.tables is not None]
    for material in ("KvKM", "KMMvK", "KMvKM", "MMvKK", "KKKvK", "KvK", "MMvMM", "KvKMM"):
        slice_ = Material.parse(material)
        for _ in range(20):
            position = Position(*sets_at(slice_, random.randrange(slice_.positions)))
            for ruleset in alike:
                found = search.prospect(Clock.start(position, ruleset))
                assert found.rank == rank[tablebase.probe_wdl(position)], (position.to_fen(), ruleset.name)


def longest_balance(tablebase: Tablebase, position: Position, first: Callable[[Clock], Move]) -> int:
    """The plies that the balance stands when one side plays so, and the other the best defence."""
    search, clock, longest = RuleSearch(tablebase), Clock.start(position), 0
    while clock.winner is None and longest < 60:
        best = search.best_move(clock)
        assert best is not None
        clock = clock.play_unchecked(first(clock) if clock.position.turn is position.turn else best.move)
        longest = max(longest, clock.counters.balance_plies)
    return longest


def test_shortest_zeroing_moves_can_exceed_the_balance_limit(tablebase: Tablebase) -> None:
    position = Position.from_fen(LONG_WIN)
    search = RuleSearch(tablebase)

    def by_dtc(clock: Clock) -> Move:
        """One of the moves that win and come soonest to a zeroing move, the least helpful one."""
        won = [value for value in tablebase.moves(clock.position) if value.outcome is Outcome.WIN]
        least = min(value.dtc or 0 for value in won)
        return max((v for v in won if v.dtc == least), key=lambda v: v.dtb or 0).move

    def by_rules(clock: Clock) -> Move:
        best = search.best_move(clock)
        assert best is not None
        return best.move

    assert longest_balance(tablebase, position, by_dtc) == 60
    assert longest_balance(tablebase, position, by_rules) < 60


def test_counters_of_a_game_decide_its_outcome(tablebase: Tablebase) -> None:
    position, search = Position.from_fen(LONG_WIN), RuleSearch(tablebase)
    fresh, late = Clock.start(position), Clock.start(position, counters=Counters(0, 40))
    assert search.prospect(fresh) is RulesOutcome.WIN
    assert search.prospect(late) is RulesOutcome.DRAW
    best = search.best_move(fresh)
    assert best is not None
    assert best.move == search.moves(fresh)[0].move
    assert search.best_move(Clock.start(Position.from_fen("B:WKa1:B"))) is None


def undone(position: Position, move: Move) -> Move | None:
    """The move that takes a king back, if it is a legal one."""
    back = [other for other in legal_moves(position) if (other.start, other.end) == (move.end, move.start)]
    return back[0] if back and not back[0].is_capture else None


def shuffle(start: Position, plies: int, random: Random) -> Clock | None:
    """A game in which both sides move a king to and fro; None where they cannot."""
    clock = Clock.start(start)
    moves: list[Move] = []
    for ply in range(plies):
        if ply < 2:
            quiet = [move for move in legal_moves(clock.position) if not move.zeroing]
            move = random.choice(quiet) if quiet else None
        else:
            move = undone(clock.position, moves[-2])
        if move is None or clock.play_unchecked(move).winner is not None:
            return None
        moves.append(move)
        clock = clock.play_unchecked(move)
    return clock


def test_third_repetition_saves_the_loser(tablebase: Tablebase) -> None:
    random = Random(3)
    search = RuleSearch(tablebase)
    held = avoided = 0
    while held < 5 or avoided < 5:
        start = decided(tablebase, "KKKvK", random, 20)
        if tablebase.probe_wdl(start) < 0 or len(legal_moves(start)) < 3:
            continue
        after_seven = shuffle(start, 7, random)
        if after_seven is not None and search.prospect(after_seven.without_history()) is RulesOutcome.LOSS:
            # The loser takes its king back, and the first position is there for the third time.
            assert search.prospect(after_seven) is RulesOutcome.DRAW
            held += 1
        after_six = shuffle(start, 6, random)
        if after_six is not None and search.prospect(after_six) is RulesOutcome.WIN:
            best = search.best_move(after_six)
            assert best is not None
            assert search.prospect(best.clock) is RulesOutcome.LOSS
            assert after_six.seen_twice
            avoided += 1


def test_line_stops_when_a_rule_draws(tablebase: Tablebase) -> None:
    position = Position.from_fen(LONG_WIN)
    search = RuleSearch(tablebase)
    won = search.line(Clock.start(position))
    assert won.end is LineEnd.GAME_OVER
    assert won.winner is Color.WHITE
    late = search.line(Clock.start(position, counters=Counters(0, 40)))
    assert late.end is LineEnd.DRAW
    assert [str(state.rule) for state in late.fired] == ["balance"]
    assert len(late.moves) <= 20
    assert "balance, article 7.2.6" in late.reason
    assert search.line(Clock.start(position), 3).end is LineEnd.LIMIT
    with pytest.raises(ArgumentError, match="limit"):
        search.line(Clock.start(position), -1)
