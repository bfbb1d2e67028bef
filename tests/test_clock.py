from collections import Counter as Counting
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from random import Random

import naive_draws
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import random_positions

from tablebase.board import LAST_ROW, Color, Position
from tablebase.boardwin import board_won_by
from tablebase.clock import Clock, RuleState, Ruling, Unit, Verdict
from tablebase.counters import Counter, Counters
from tablebase.drawrules import (
    FMJD64,
    KING_MOVES_ONLY,
    LIDRAUGHTS,
    NO_THREE_KINGS_COUNT,
    OFFICIAL,
    RULESETS,
    find_ruleset,
)
from tablebase.errors import CounterError, IllegalMoveError, IllegalPositionError, NotationError, RulesetError
from tablebase.notation import parse_fen, parse_move
from tablebase.rules import Move, has_capture
from tablebase.ruleset import Claim, RuleName, Ruleset
from tablebase.tablebase import open_tablebase

TWO_EACH = "W:WKc1,Kg1:BKb8,Kf8"
ON_THE_ROAD = "W:WKa5,Kc1,Kg1:BKe5"


def play(fen: str, moves: str, ruleset: Ruleset = OFFICIAL, counters: Counters | None = None) -> Clock:
    clock = Clock.start(Position.from_fen(fen), ruleset, counters)
    for text in moves.split():
        clock = clock.advance(parse_move(clock.position, text))
    return clock


def state(clock: Clock, rule: RuleName, won: bool | None = None) -> RuleState:
    states = {state.rule: state for state in clock.states(lambda position, color: won)}
    return states[rule]


# What a clock says


def test_what_a_rule_says() -> None:
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


def test_a_rule_that_spares_won_positions_is_decided_by_the_board() -> None:
    clock = play(ON_THE_ROAD, "c1-a3", counters=Counters(road_moves=4))
    assert state(clock, RuleName.MAIN_ROAD, won=False).fired is True
    assert state(clock, RuleName.MAIN_ROAD, won=True).fired is False
    assert state(clock, RuleName.MAIN_ROAD, won=None).fired is None
    unknown = clock.ruling()
    assert unknown.verdict is Verdict.UNDETERMINED
    assert [state.rule for state in unknown.fired] == [RuleName.MAIN_ROAD]
    assert clock.ruling(lambda position, color: True).verdict is Verdict.OPEN
    asked: list[tuple[Position, Color]] = []
    assert clock.ruling(lambda *of: bool(asked.append(of))).verdict is Verdict.DRAWN
    assert asked == [(clock.position, Color.WHITE)]


def test_a_claim_is_open_to_players_and_no_end() -> None:
    shuttle = "c1-d2 f8-e7 d2-c1 e7-f8 " * 2
    claim = play(TWO_EACH, shuttle).ruling()
    assert claim.verdict is Verdict.CLAIMABLE
    assert [(state.rule, state.claim, state.claimable) for state in claim.fired] == [
        (RuleName.REPETITION, Claim.ANNOUNCED, True)
    ]
    end = play(TWO_EACH, shuttle, NO_THREE_KINGS_COUNT).ruling()
    assert (end.verdict, end.fired[0].claimable) == (Verdict.DRAWN, False)


def test_the_winner_is_who_leaves_no_move() -> None:
    clock = play("W:WKc1:BKe3", "c1:g5")
    assert clock.winner is Color.WHITE
    assert clock.ruling() == Ruling(Verdict.WHITE_WON, clock.states())
    assert not any(state.fired for state in clock.states())
    assert play(TWO_EACH, "").winner is None


def test_tables_tell_what_is_won_on_the_board(tables4: Path) -> None:
    with open_tablebase(tables4) as tablebase:
        board_won = board_won_by(tablebase)
        spared = play("W:WKf2,Kh2,a1:BKf6", "f2-e1", counters=Counters(road_moves=4))
        assert spared.ruling(board_won).verdict is Verdict.OPEN
        drawn = play(ON_THE_ROAD, "c1-a3", counters=Counters(road_moves=4))
        assert drawn.ruling(board_won).verdict is Verdict.DRAWN
        position = Position.from_fen("W:WKc7,a7:BKg1")
        assert board_won(position, Color.WHITE) is True
        assert board_won(position, Color.BLACK) is False
        assert board_won(position.flip(), Color.BLACK) is True
        assert board_won(Position.start(), Color.WHITE) is None


# Going on


def test_a_clock_is_a_value_that_moves_do_not_change() -> None:
    clock = play(TWO_EACH, "")
    moves = clock.position.legal_moves()
    first = [clock.advance(move) for move in moves]
    assert clock == play(TWO_EACH, "")
    assert [clock.advance(move) for move in moves] == first == [clock.after(move) for move in moves]
    assert {after.counters for after in first} == {Counters(king_plies=1, balance_plies=1)}
    with pytest.raises(AttributeError):
        clock.counters = Counters()  # type: ignore[misc]


def test_a_move_that_is_not_legal_is_refused() -> None:
    clock = play(TWO_EACH, "")
    foreign = Position.from_fen("W:Wc3:Bh8").legal_moves()[0]
    with pytest.raises(IllegalMoveError, match="c3-b4 is not legal"):
        clock.advance(foreign)


def test_one_history_may_branch() -> None:
    shuttle = "c1-d2 f8-e7 d2-c1 e7-f8 c1-d2 f8-e7 d2-c1"
    clock = play(TWO_EACH, shuttle)
    back, on = (clock.advance(parse_move(clock.position, text)) for text in ("e7-f8", "e7-d8"))
    assert (back.counters.repetitions, on.counters.repetitions) == (3, 1)
    again = on.advance(parse_move(on.position, "c1-d2"))
    assert again.counters.repetitions == 1


def test_counters_that_count_nothing_here_begin_at_0() -> None:
    given_all = Counters(5, 5, 5, 5, 0)
    clock = Clock.start(Position.from_fen("W:WKc1,Kg1:BKb8"), OFFICIAL, given_all)
    assert clock.counters == Counters(5, 5, 0, 0, 1)
    assert Clock.start(Position.start(), OFFICIAL, given_all).counters == Counters(0, 0, 0, 0, 1)
    assert Clock.start(Position.start(), LIDRAUGHTS, given_all).counters == Counters(0, 0, 0, 5, 1)


def test_a_long_game_is_no_trouble() -> None:
    clock = play(TWO_EACH, "c1-d2 f8-e7 d2-c1 e7-f8 " * 500, find_ruleset("club"))
    assert clock.counters == Counters(king_plies=2000, repetitions=501)
    del clock


# Counters and FEN


@given(st.builds(Counters, *[st.integers(0, 999_999)] * 5))
def test_counters_survive_their_field(counters: Counters) -> None:
    assert Counters.from_field(counters.to_field()) == counters


def test_counters_are_named_as_everywhere() -> None:
    assert [field.name for field in fields(Counters)] == list(Counter)
    assert Counters(1, 2, 3, 4, 5)[Counter.ROAD_MOVES] == 4
    assert Counters(29, 12, 0, 3, 1).to_field() == "C29,12,0,3,1"


@pytest.mark.parametrize(
    ("counters", "said"),
    [
        ({"king_plies": -1}, "king_plies is '-1'"),
        ({"balance_plies": 1_000_000}, "balance_plies is '1000000'"),
        ({"road_moves": 1.5}, "road_moves is '1.5'"),
        ({"repetitions": "2"}, "repetitions is '2'"),
        ({"three_kings_moves": True}, "three_kings_moves is 'True'"),
    ],
)
def test_what_is_no_count_is_refused_by_name(counters: dict[str, int], said: str) -> None:
    with pytest.raises(CounterError, match=said):
        Counters(**counters)


@pytest.mark.parametrize(
    "text", ["", "C", "C1,2,3,4", "C1,2,3,4,5,6", "C1,2,3,4,-5", "c1,2,3,4,5", "C٣,2,3,4,5"]
)
def test_what_is_no_field_of_counters_is_refused(text: str) -> None:
    with pytest.raises(CounterError, match="C and five numbers"):
        Counters.from_field(text)


def test_a_fen_may_carry_counters() -> None:
    fen = f"{TWO_EACH}:C29,12,0,0,2"
    assert parse_fen(fen) == Position.from_fen(TWO_EACH)
    clock = Clock.from_fen(fen)
    assert clock.counters == Counters(29, 12, 0, 0, 2)
    assert clock.to_fen() == fen
    assert Clock.from_fen(TWO_EACH).to_fen() == f"{TWO_EACH}:C0,0,0,0,1"
    assert Clock.from_fen(f" {TWO_EACH} : C29,12,0,0,2 .").to_fen() == fen
    assert Clock.from_fen(f"{TWO_EACH}:\u042129,12,0,0,2").to_fen() == fen  # a Cyrillic letter
    assert Clock.from_fen("W:WK1,K3:BK32:C7,7,0,0,1", numbering="a1").counters.king_plies == 7


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("C29", "C and five numbers"),
        ("C3,3,0", "'C3,3,0' is no field of counters"),
        ("C9999999,0,0,0,1", "five numbers from 0 to 999999"),
        ("C-1,0,0,0,1", "'C-1,0,0,0,1' is no field of counters"),
        ("C1,2,3,4,", "C and five"),
        ("C1,2,3,4,5:C1,2,3,4,5", "2 fields of counters"),
    ],
)
def test_a_fen_with_other_counters_is_refused(field: str, said: str) -> None:
    with pytest.raises(NotationError, match=said):
        Clock.from_fen(f"{TWO_EACH}:{field}")


def test_the_fields_of_lidraughts_are_its_clock() -> None:
    fen = f"{TWO_EACH}:H58:F71"
    assert Clock.from_fen(fen, LIDRAUGHTS).counters == Counters(balance_plies=58)
    assert Clock.from_fen(fen).counters == Counters()
    assert Clock.from_fen(f"{TWO_EACH}:C1,59,0,0,1:H58:F71", LIDRAUGHTS).counters.balance_plies == 59
    clock = Clock.from_fen(fen, LIDRAUGHTS)
    for text in ("g1-h2", "f8-a3"):
        assert clock.ruling().verdict is Verdict.OPEN
        clock = clock.advance(parse_move(clock.position, text))
    assert clock.ruling().verdict is Verdict.DRAWN


@given(
    st.text()
    | st.lists(st.sampled_from(["W:WKa1:BKh8", ":", "C", "1", ",", "0,0,0,0,1", "H", "F", "-", "."])).map(
        "".join
    )
)
def test_any_text_is_a_clock_or_an_error_of_ours(text: str) -> None:
    for ruleset in (OFFICIAL, LIDRAUGHTS):
        try:
            clock = Clock.from_fen(text, ruleset)
        except (NotationError, IllegalPositionError):
            continue
        assert Clock.from_fen(clock.to_fen(), ruleset) == clock


# Rulesets


def test_rulesets_are_found_by_name() -> None:
    assert find_ruleset("official") is OFFICIAL
    assert set(RULESETS) == {
        "official",
        "no-three-kings-count",
        "road-with-three-men",
        "fmjd64",
        "classic",
        "club",
        "lidraughts",
        "king-moves-only",
    }
    with pytest.raises(RulesetError, match="'blitz' is no ruleset; there are official, "):
        find_ruleset("blitz")


@pytest.mark.parametrize("ruleset", RULESETS.values(), ids=str)
def test_rulesets_are_sound(ruleset: Ruleset) -> None:
    assert RULESETS[ruleset.name] is ruleset
    assert ruleset.name.isascii()
    assert len(ruleset.name) <= 32
    assert ruleset.source
    assert len({rule.name for rule in ruleset.rules}) == len(ruleset.rules)
    counted = {count.counter for count in ruleset.counts}
    assert len(counted) == len(ruleset.counts)
    asked = {counter for rule in ruleset.rules for limit in rule.limits for counter, _ in limit.thresholds}
    assert asked - {Counter.REPETITIONS} == counted
    rule = ruleset.rule(RuleName.KING_MOVES)
    anywhere = rule is not None and rule.limits[0].scope.pieces[0] == 0
    assert ruleset.king_moves_plies == (30 if anywhere else None)


def test_a_ruleset_of_king_moves_alone_is_made_of_its_limit() -> None:
    made = Ruleset("three", 3)
    clock = play(TWO_EACH, "c1-d2 f8-e7", made)
    assert clock.ruling().verdict is Verdict.OPEN
    assert clock.advance(parse_move(clock.position, "d2-c1")).ruling().verdict is Verdict.DRAWN
    assert play(TWO_EACH, "c1-d2", Ruleset("none", None)).states() == ()


def test_the_plies_that_a_balance_may_last() -> None:
    assert [OFFICIAL.balance_plies(pieces) for pieces in range(1, 9)] == [
        None,
        *(10, 10, 60, 60, 120, 120),
        None,
    ]
    assert KING_MOVES_ONLY.balance_plies(4) is None
    assert [FMJD64.balance_plies(pieces) for pieces in (3, 4)] == [None, 60]


# Any game


def random_game(random: Random, clock: Clock, plies: int) -> Iterator[tuple[Move, Clock]]:
    """A game by chance between players who like to move kings and seldom give pieces away, so that counts
    come far.
    """
    for _ in range(plies):
        moves = clock.position.legal_moves()
        if not moves:
            return
        random.shuffle(moves)
        if random.random() < 0.95:
            moves.sort(key=lambda move: (has_capture(clock.position.play(move)), move.zeroing))
        clock = clock.advance(moves[0])
        yield moves[0], clock


def kings_mostly(position: Position) -> Position:
    """The position with every man that is free to be one a king, but for two on each side."""
    white, black = position.wm, position.bm
    kept_white, kept_black = white & -white, black & -black
    return Position(
        kept_white,
        position.wk | white ^ kept_white,
        kept_black,
        position.bk | black ^ kept_black,
        position.turn,
    )


@st.composite
def beginnings(draw: st.DrawFn) -> tuple[Position, Random]:
    """A position of few pieces, most of them kings, and the chance that a game from it is played by."""
    seed = draw(st.integers(0, 1 << 32))
    position, *_ = random_positions(1, seed, max_pieces=draw(st.integers(2, 9)))
    return kings_mostly(position), Random(seed)


games = given(beginnings(), st.sampled_from(sorted(RULESETS)))


def won_by_chance(position: Position, color: Color) -> bool | None:
    """An answer that is always the same for a position, and as often one as another."""
    return (True, False, None)[(position.occupied * 31 + position.wk) % 3]


@pytest.mark.parametrize("name", RULESETS)
def test_no_counter_passes_its_limit_unfired(name: str) -> None:
    fired = 0
    for seed in range(40):
        random = Random(seed)
        position, *_ = random_positions(1, seed, max_pieces=3 + seed % 6)
        clock = Clock.start(kings_mostly(position), RULESETS[name])
        for _, after in random_game(random, clock, 140):
            ruling = after.ruling(lambda *_: False)
            for said in ruling.states:
                assert said.remaining or not said.applies or said.fired or after.winner or waits(after, said)
            if ruling.verdict is Verdict.DRAWN:
                assert all(reached_just_now(clock, after, said) for said in ruling.fired)
                fired += 1
                break
            clock = after
    assert fired > 5


@given(
    beginnings(),
    st.sampled_from(sorted(set(RULESETS) - {"lidraughts"})),  # whose one clock stands still for some rules
    st.builds(Counters, *[st.integers(0, 200)] * 5),
)
def test_no_counter_that_is_given_stands_at_its_limit_unfired(
    beginning: tuple[Position, Random], name: str, given_all: Counters
) -> None:
    position, random = beginning
    if random.random() < 0.5:
        position = without_white_kings(position)
    clock = Clock.start(position, RULESETS[name], given_all)
    for said in clock.states(lambda *_: False):
        no_limit = said.rule is RuleName.BALANCE and position.pieces > 7
        assert said.remaining or said.fired or clock.winner or waits(clock, said) or no_limit, clock.to_fen()


def without_white_kings(position: Position) -> Position:
    """The position with White's kings, but for those on its last row, turned to men."""
    return Position(
        position.wm | position.wk & ~LAST_ROW, position.wk & LAST_ROW, position.bm, position.bk, position.turn
    )


def waits(clock: Clock, said: RuleState) -> bool:
    """Whether the rule is judged after the stronger side's move only, and the other has just moved."""
    return said.unit is Unit.OWN_MOVES and clock.position.turn is said.stronger


def reached_just_now(before: Clock, after: Clock, said: RuleState) -> bool:
    """Whether a limit that has fired had not been reached a ply earlier, or another one was in force then."""
    earlier = next(state for state in before.states() if state.rule is said.rule)
    return (
        earlier.remaining > 0
        or (earlier.article, earlier.limit) != (said.article, said.limit)
        or (not earlier.applies)
    )


@games
def test_a_game_goes_on_from_any_ply_by_its_fen_and_counters(
    beginning: tuple[Position, Random], name: str
) -> None:
    ruleset = RULESETS[name]
    position, random = beginning
    line = [Clock.start(position, ruleset)]
    moves = []
    for move, clock in random_game(random, line[0], 60):
        moves.append(move)
        line.append(clock)
    cut = random.randrange(len(line))
    again = Clock.from_fen(line[cut].to_fen(), ruleset)
    assert again.ruling(won_by_chance) == line[cut].ruling(won_by_chance)
    for move, clock in zip(moves[cut:], line[cut + 1 :], strict=True):
        again = again.advance(move)
        assert replace(again.counters, repetitions=1) == replace(clock.counters, repetitions=1)
        assert without_repetition(again) == without_repetition(clock)
        if ruleset.name != "classic" and not came_up(line[:cut], clock.position):
            assert again.ruling(won_by_chance) == clock.ruling(won_by_chance)


def without_repetition(clock: Clock) -> list[RuleState]:
    return [state for state in clock.states(won_by_chance) if state.rule is not RuleName.REPETITION]


def came_up(line: list[Clock], position: Position) -> bool:
    return any(clock.position == position for clock in line)


@games
def test_a_game_with_the_colours_swapped_has_the_same_counters(
    beginning: tuple[Position, Random], name: str
) -> None:
    position, random = beginning
    clock = Clock.start(position, RULESETS[name])
    turned = Clock.start(position.flip(), RULESETS[name])
    for _, after in random_game(random, clock, 40):
        target = after.position.flip()
        turned = next(
            turned.after(move)
            for move in turned.position.legal_moves()
            if turned.position.play(move) == target
        )
        assert turned.counters == after.counters


@games
def test_repetitions_are_those_of_a_plain_list(beginning: tuple[Position, Random], name: str) -> None:
    position, random = beginning
    clock = Clock.start(position, RULESETS[name])
    seen = [position]
    for _, after in random_game(random, clock, 60):
        seen.append(after.position)
        if name != "classic":
            assert after.counters.repetitions == seen.count(after.position)


def test_the_official_rules_fire_as_a_plain_telling_of_them_says() -> None:
    fired: Counting[str] = Counting()
    for seed in range(160):
        random = Random(seed)
        clock = Clock.start(lone_king(random) if seed % 2 else kings_mostly(random_positions(1, seed, 7)[0]))
        positions, moves = [clock.position], list[Move]()
        for move, after in random_game(random, clock, 125):
            positions.append(after.position)
            moves.append(move)
            if after.winner is None:
                won = random.random() < 0.5
                said = [s.rule.value for s in after.states(lambda *_, won=won: won) if s.fired]
                assert said == naive_draws.fired((positions, moves), won), after.to_fen()
                fired.update(said)
    assert set(fired) == set(RuleName) - {RuleName.LONE_KING}
    assert min(fired.values()) >= 5


def lone_king(random: Random) -> Position:
    """Three or four pieces, at least one of them a king, against a lone king; colours by chance."""
    squares = random.sample(range(4, 28), random.randint(4, 5))
    lone, king, *others = (1 << square for square in squares)
    men = sum(square for square in others if random.random() < 0.3)
    position = Position(men, king | sum(others) ^ men, 0, lone)
    return position.flip() if random.random() < 0.5 else position
