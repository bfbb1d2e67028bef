"""Rulesets: found by name, sound, and their limits."""

import pytest
from clocks import TWO_EACH, play

from tablebase.board.counters import CounterName
from tablebase.board.notation import parse_move
from tablebase.errors import RulesetError
from tablebase.rules.clock import GameStatus
from tablebase.rules.ruleset import RuleName, Ruleset
from tablebase.rules.rulesets import FMJD64, KING_MOVES_ONLY, OFFICIAL, RULESETS, find_ruleset


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
    with pytest.raises(RulesetError, match="'blitz' is not a ruleset; the rulesets are official, "):
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
    assert asked - {CounterName.REPETITIONS} == counted
    rule = ruleset.rule(RuleName.KING_MOVES)
    anywhere = rule is not None and rule.limits[0].scope.pieces[0] == 0
    assert ruleset.king_moves_plies == (30 if anywhere else None)


def test_a_ruleset_made_from_the_limit_of_king_moves() -> None:
    made = Ruleset("three", 3)
    clock = play(TWO_EACH, "c1-d2 f8-e7", made)
    assert clock.ruling().verdict is GameStatus.OPEN
    assert clock.play(parse_move(clock.position, "d2-c1")).ruling().verdict is GameStatus.DRAWN
    assert play(TWO_EACH, "c1-d2", Ruleset("none", None)).states() == ()


def test_balance_plies() -> None:
    assert [OFFICIAL.balance_plies(pieces) for pieces in range(1, 9)] == [
        None,
        *(10, 10, 60, 60, 120, 120),
        None,
    ]
    assert KING_MOVES_ONLY.balance_plies(4) is None
    assert [FMJD64.balance_plies(pieces) for pieces in (3, 4)] == [None, 60]
