"""Clocks over games by chance: what holds of any game, under any ruleset."""

from collections import Counter as Counting
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import naive_draws
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import random_positions

from tablebase.board.counters import Counters
from tablebase.board.position import Color, Move, Position, has_capture
from tablebase.board.squares import LAST_ROW
from tablebase.rules.clock import Clock, GameStatus, RuleState, Unit
from tablebase.rules.ruleset import RuleName
from tablebase.rules.rulesets import RULESETS


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
        clock = clock.play(moves[0])
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
            assert after.verdict(lambda *_: False) is ruling.verdict
            assert after.verdict(won_by_chance) is after.ruling(won_by_chance).verdict
            assert after.verdict() is after.ruling().verdict
            for said in ruling.states:
                assert said.remaining or not said.applies or said.fired or after.winner or waits(after, said)
            if ruling.verdict is GameStatus.DRAWN:
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
def test_no_given_counter_is_at_its_limit_unfired(
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
def test_games_continue_from_the_fen_of_any_ply(beginning: tuple[Position, Random], name: str) -> None:
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
        again = again.play(move)
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
            turned.play_unchecked(move)
            for move in turned.position.legal_moves()
            if turned.position.play(move) == target
        )
        assert turned.counters == after.counters


@games
def test_repetitions_match_a_plain_list(beginning: tuple[Position, Random], name: str) -> None:
    position, random = beginning
    clock = Clock.start(position, RULESETS[name])
    seen = [position]
    for _, after in random_game(random, clock, 60):
        seen.append(after.position)
        if name != "classic":
            assert after.counters.repetitions == seen.count(after.position)


def test_official_rules_match_a_naive_implementation() -> None:
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
