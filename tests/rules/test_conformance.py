"""The published cases for the draw rules, as `tests/conformance/README.md` describes them."""

import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from paths import GOLDEN, TESTS

from tablebase.board.counters import Counters
from tablebase.board.notation import parse_move
from tablebase.board.position import Color, Position
from tablebase.board.squares import SQUARE_NAMES
from tablebase.games.search import win_oracle
from tablebase.probe.tablebase import open_tablebase
from tablebase.rules.clock import BoardWon, Clock, GameStatus, RuleState, Ruling
from tablebase.rules.ruleset import Limit, Rule, Ruleset
from tablebase.rules.rulesets import RULESETS, find_ruleset

DIRECTORY = TESTS / "conformance"

Case = dict[str, Any]

FIELDS = {"name", "start", "counters", "moves", "board_won", "hypothetical", "expect", "after"}


def read(path: Path) -> list[Case]:
    cases: list[Case] = json.loads(path.read_text("utf-8"))
    return cases


CASES = {f"{path.stem}: {case['name']}": case for path in DIRECTORY.glob("*.json") for case in read(path)}

every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def asked(case: Case, ply: int) -> BoardWon:
    """What the case says of the board at a ply; it fails where a rule asks and the case has no answer."""

    def board_won(position: Position, color: Color) -> bool | None:
        assert position.turn is color.other
        match case["board_won"]:
            case "unknown":
                return None
            case "always" | "never" as answer:
                return bool(answer == "always")
            case plies:
                return ply in plies

    return board_won


def clocks(case: Case, ruleset: str) -> Iterator[Clock]:
    """The clock at every ply of a case."""
    counters = Counters(**case.get("counters", {}))
    clock = Clock.start(Position.from_fen(case["start"]), find_ruleset(ruleset), counters)
    yield clock
    for text in case["moves"].split():
        clock = clock.play(parse_move(clock.position, text))
        yield clock


def told(ruling: Ruling) -> dict[str, Any]:
    return {
        "verdict": str(ruling.verdict),
        "rules": [{"rule": str(state.rule), "article": state.article} for state in ruling.fired],
    }


def check(case: Case) -> None:
    for ruleset, expected in case["expect"].items():
        line = list(clocks(case, ruleset))
        found = {
            str(ply): told(ruling)
            for ply, ruling in enumerate(clock.ruling(asked(case, ply)) for ply, clock in enumerate(line))
            if ruling.verdict is not GameStatus.OPEN
        }
        assert found == expected, f"{ruleset}: {case['name']}"
        for counter, count in case.get("after", {}).get(ruleset, {}).items():
            assert getattr(line[-1].counters, counter) == count, f"{ruleset}: {counter} of {case['name']}"


@every_case
def test_case(case: Case) -> None:
    check(case)


@every_case
def test_case_with_the_colours_swapped(case: Case) -> None:
    check(swapped(case))


def swapped(case: Case) -> Case:
    """The case with the board turned by 180 degrees, and Black for White."""
    opposite = dict(zip(SQUARE_NAMES, reversed(SQUARE_NAMES), strict=True))
    winner = {"white-won": "black-won", "black-won": "white-won"}
    expected = {
        ruleset: {
            ply: {**verdict, "verdict": winner.get(verdict["verdict"], verdict["verdict"])}
            for ply, verdict in plies.items()
        }
        for ruleset, plies in case["expect"].items()
    }
    return {
        **case,
        "start": Position.from_fen(case["start"]).flip().to_fen(),
        "moves": re.sub("[a-h][1-8]", lambda found: opposite[found[0]], case["moves"]),
        "expect": expected,
    }


def test_board_won_of_cases_matches_the_tables(tables4: Path) -> None:
    answered = hypothetical = 0
    with open_tablebase(tables4) as tablebase:
        by_tables = win_oracle(tablebase)
        for case in CASES.values():
            true = True
            for ruleset in case["expect"]:
                for ply, clock in enumerate(clocks(case, ruleset)):

                    def both(position: Position, color: Color, case: Case = case, ply: int = ply) -> bool:
                        nonlocal true, answered
                        won = by_tables(position, color)
                        assert won is not None
                        answered += 1
                        true &= asked(case, ply)(position, color) is won
                        return won

                    clock.ruling(both)
            assert case.get("hypothetical", False) is not true, case["name"]
            hypothetical += not true
    assert answered > 40
    assert hypothetical < 15


# The suite itself


def test_the_suite_is_well_formed() -> None:
    assert len(CASES) >= 120
    names = [(path.name, case["name"]) for path in DIRECTORY.glob("*.json") for case in read(path)]
    assert len(set(names)) == len(names)
    for case in CASES.values():
        assert set(case) <= FIELDS
        assert {"name", "start", "moves", "expect"} <= set(case)
        assert Position.from_fen(case["start"]).to_fen() == case["start"]
        assert set(case.get("after", {})) <= set(case["expect"]) <= set(RULESETS)


def test_the_suite_has_the_initial_cases() -> None:
    known = {(case["start"], case["moves"], *case.get("counters", {}).items()) for case in CASES.values()}
    for case in read(GOLDEN / "draw_cases.json"):
        start = Position.from_fen(case["start"]).to_fen()
        assert (start, case["moves"], *case["counters"].items()) in known


LIMITS = [
    (ruleset, rule, limit) for ruleset in RULESETS.values() for rule in ruleset.rules for limit in rule.limits
]


@cache
def lines(ruleset: Ruleset) -> list[list[tuple[Clock, tuple[RuleState, ...]]]]:
    """Each case of a ruleset: the clock at every ply, with what the rules say there."""
    return [
        [(clock, clock.states(asked(case, ply))) for ply, clock in enumerate(clocks(case, ruleset.name))]
        for case in CASES.values()
        if ruleset.name in case["expect"]
    ]


def is_about(state: RuleState, limit: Limit, clock: Clock) -> bool:
    shown = (limit.article, limit.thresholds[0][1])
    return limit.fits(clock.position) and (state.article, state.limit) == shown


@pytest.mark.parametrize(
    ("ruleset", "rule", "limit"),
    LIMITS,
    ids=[f"{ruleset.name}-{rule.name}-{limit.article}" for ruleset, rule, limit in LIMITS],
)
def test_every_rule_fires_misses_by_one_and_is_reset(ruleset: Ruleset, rule: Rule, limit: Limit) -> None:
    fires = misses = spares = resets = False
    index = ruleset.rules.index(rule)
    for line in lines(ruleset):
        for clock, states in line:
            if is_about(states[index], limit, clock):
                fires |= states[index].fired is True
                spares |= states[index].fired is False and not states[index].remaining
        clock, states = line[-1]
        misses |= is_about(states[index], limit, clock) and states[index].remaining == 1
        resets |= is_reset(limit, [clock for clock, _ in line])
    assert fires
    assert misses
    assert resets or was_given_in_vain(ruleset, limit)
    assert spares or not limit.unless_won


def is_reset(limit: Limit, line: list[Clock]) -> bool:
    """Whether a count of a limit falls, on the way into, within or out of its scope."""
    return any(
        after.counters[counter] < before.counters[counter]
        and (limit.fits(before.position) or limit.fits(after.position))
        for before, after in pairwise(line)
        for counter, _ in limit.thresholds
    )


def was_given_in_vain(ruleset: Ruleset, limit: Limit) -> bool:
    """Whether a count that was given with a position outside the scope is 0 on the way into it."""
    counter = limit.thresholds[0][0]
    for case in CASES.values():
        if ruleset.name in case["expect"] and case.get("counters", {}).get(counter, 0):
            first, *rest = clocks(case, ruleset.name)
            if not limit.fits(first.position) and rest and limit.fits(rest[0].position):
                return rest[0].counters[counter] == 0
    return False
