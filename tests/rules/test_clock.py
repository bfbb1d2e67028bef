"""What a clock says of a game in progress, and how it goes on."""

from pathlib import Path

import pytest
from clocks import TWO_EACH, play

from tablebase.board.counters import Counters
from tablebase.board.notation import parse_move
from tablebase.board.position import Color, Position
from tablebase.errors import IllegalMoveError
from tablebase.games.search import win_oracle
from tablebase.probe.tablebase import open_tablebase
from tablebase.rules.clock import Clock, GameStatus, RuleState, Ruling, Unit
from tablebase.rules.ruleset import Claim, RuleName
from tablebase.rules.rulesets import FMJD64, LIDRAUGHTS, NO_THREE_KINGS_COUNT, OFFICIAL, find_ruleset

ON_THE_ROAD = "W:WKa5,Kc1,Kg1:BKe5"


def state(clock: Clock, rule: RuleName, won: bool | None = None) -> RuleState:
    states = {state.rule: state for state in clock.states(lambda position, color: won)}
    return states[rule]


# What a clock says


def test_rule_states() -> None:
    clock = play(TWO_EACH, "g1-h2", counters=Counters(king_plies=27, balance_plies=40))
    assert state(clock, RuleName.KING_MOVES) == RuleState(
        rule=RuleName.KING_MOVES,
        article="7.2.5",
        applies=True,
        count=28,
        limit=30,
        unit=Unit.PLIES,
        remaining=2,
        fired=False,
        claim=Claim.AUTOMATIC,
        stronger=None,
    )
    balance = state(clock, RuleName.BALANCE)
    assert (balance.article, balance.count, balance.limit, balance.remaining) == ("7.2.6", 41, 60, 19)
    assert not state(clock, RuleName.THREE_KINGS).applies
    repetition = state(clock, RuleName.REPETITION)
    assert (repetition.count, repetition.remaining, repetition.unit) == (1, 2, Unit.TIMES)
    assert [state.rule for state in clock.states()] == [rule.name for rule in OFFICIAL.rules]


@pytest.mark.parametrize("flipped", [False, True])
def test_own_moves_are_those_of_the_stronger_side(flipped: bool) -> None:
    position = Position.from_fen(ON_THE_ROAD)
    clock = Clock.start(position.flip() if flipped else position, counters=Counters(road_moves=2))
    road = state(clock, RuleName.MAIN_ROAD)
    assert (road.count, road.remaining, road.unit) == (2, 3, Unit.OWN_MOVES)
    assert road.stronger is (Color.BLACK if flipped else Color.WHITE)
    kings = state(clock, RuleName.THREE_KINGS)
    assert (kings.limit, kings.unit, kings.stronger) == (15, Unit.OWN_MOVES, road.stronger)


def test_king_against_king_has_no_stronger_side() -> None:
    clock = Clock.start(Position.from_fen("W:WKc1:BKb8"), FMJD64, Counters(balance_plies=7))
    balance = state(clock, RuleName.BALANCE)
    assert balance.applies
    assert (balance.count, balance.unit, balance.stronger) == (4, Unit.OWN_MOVES, None)


def test_rules_that_exempt_won_positions_use_board_won() -> None:
    clock = play(ON_THE_ROAD, "c1-a3", counters=Counters(road_moves=4))
    assert state(clock, RuleName.MAIN_ROAD, won=False).fired is True
    assert state(clock, RuleName.MAIN_ROAD, won=True).fired is False
    assert state(clock, RuleName.MAIN_ROAD, won=None).fired is None
    unknown = clock.ruling()
    assert unknown.verdict is GameStatus.UNDETERMINED
    assert [state.rule for state in unknown.fired] == [RuleName.MAIN_ROAD]
    assert clock.ruling(lambda position, color: True).verdict is GameStatus.OPEN
    asked: list[tuple[Position, Color]] = []
    assert clock.ruling(lambda *of: bool(asked.append(of))).verdict is GameStatus.DRAWN
    assert asked == [(clock.position, Color.WHITE)]


def test_a_claimable_draw_does_not_end_the_game() -> None:
    shuttle = "c1-d2 f8-e7 d2-c1 e7-f8 " * 2
    claim = play(TWO_EACH, shuttle).ruling()
    assert claim.verdict is GameStatus.CLAIMABLE
    assert [(state.rule, state.claim, state.claimable) for state in claim.fired] == [
        (RuleName.REPETITION, Claim.ANNOUNCED, True)
    ]
    end = play(TWO_EACH, shuttle, NO_THREE_KINGS_COUNT).ruling()
    assert (end.verdict, end.fired[0].claimable) == (GameStatus.DRAWN, False)


def test_a_side_without_a_move_has_lost() -> None:
    clock = play("W:WKc1:BKe3", "c1:g5")
    assert clock.winner is Color.WHITE
    assert clock.ruling() == Ruling(GameStatus.WHITE_WON, clock.states())
    assert not any(state.fired for state in clock.states())
    assert play(TWO_EACH, "").winner is None


def test_win_oracle_answers_from_tables(tables4: Path) -> None:
    with open_tablebase(tables4) as tablebase:
        board_won = win_oracle(tablebase)
        spared = play("W:WKf2,Kh2,a1:BKf6", "f2-e1", counters=Counters(road_moves=4))
        assert spared.ruling(board_won).verdict is GameStatus.OPEN
        drawn = play(ON_THE_ROAD, "c1-a3", counters=Counters(road_moves=4))
        assert drawn.ruling(board_won).verdict is GameStatus.DRAWN
        position = Position.from_fen("W:WKc7,a7:BKg1")
        assert board_won(position, Color.WHITE) is True
        assert board_won(position, Color.BLACK) is False
        assert board_won(position.flip(), Color.BLACK) is True
        assert board_won(Position.start(), Color.WHITE) is None


# Going on


def test_clocks_are_immutable() -> None:
    clock = play(TWO_EACH, "")
    moves = clock.position.legal_moves()
    first = [clock.play(move) for move in moves]
    assert clock == play(TWO_EACH, "")
    assert [clock.play(move) for move in moves] == first == [clock.play_unchecked(move) for move in moves]
    assert {after.counters for after in first} == {Counters(king_plies=1, balance_plies=1)}
    with pytest.raises(AttributeError):
        clock.counters = Counters()  # type: ignore[misc]


def test_a_move_that_is_not_legal_is_refused() -> None:
    clock = play(TWO_EACH, "")
    foreign = Position.from_fen("W:Wc3:Bh8").legal_moves()[0]
    with pytest.raises(IllegalMoveError, match="c3-b4 is not legal"):
        clock.play(foreign)


def test_one_history_may_branch() -> None:
    shuttle = "c1-d2 f8-e7 d2-c1 e7-f8 c1-d2 f8-e7 d2-c1"
    clock = play(TWO_EACH, shuttle)
    back, on = (clock.play(parse_move(clock.position, text)) for text in ("e7-f8", "e7-d8"))
    assert (back.counters.repetitions, on.counters.repetitions) == (3, 1)
    again = on.play(parse_move(on.position, "c1-d2"))
    assert again.counters.repetitions == 1


def test_start_sets_unused_counters_to_0() -> None:
    given_all = Counters(5, 5, 5, 5, 0)
    clock = Clock.start(Position.from_fen("W:WKc1,Kg1:BKb8"), OFFICIAL, given_all)
    assert clock.counters == Counters(5, 5, 0, 0, 1)
    assert Clock.start(Position.start(), OFFICIAL, given_all).counters == Counters(0, 0, 0, 0, 1)
    assert Clock.start(Position.start(), LIDRAUGHTS, given_all).counters == Counters(0, 0, 0, 5, 1)


def test_long_games() -> None:
    clock = play(TWO_EACH, "c1-d2 f8-e7 d2-c1 e7-f8 " * 500, find_ruleset("club"))
    assert clock.counters == Counters(king_plies=2000, repetitions=501)
    del clock
