"""Whole-table checks of the draw rules: held to counts from outside, to plain counting, and to searches."""

import csv
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray
from paths import GOLDEN
from tight_rules import tight

from generator.materials import after_captures, capture_closure
from generator.reports.draws import ChangedOutcomes, DrawCheck, check_draws
from generator.reports.lone_kings import (
    MOST_MOVES,
    ON_ROAD,
    LoneKing,
    features,
    find_rule,
    lone_king_materials,
    main_road_retrograde,
)
from generator.run import generate
from generator.verify.values import InMemoryValues
from tablebase import MissingTableError, Position, Tablebase, open_tablebase
from tablebase.board.material import Material, materials
from tablebase.board.position import Color, legal_moves, position_after
from tablebase.board.squares import MAIN_ROAD
from tablebase.cli.main import main
from tablebase.errors import DamagedTableError
from tablebase.games.lone_kings import OFFICIAL_CASE, MainRoadSearch, draw_cases
from tablebase.rules.ruleset import RuleName
from tablebase.rules.rulesets import OFFICIAL, ROAD_WITH_THREE_MEN, RULESETS, Ruleset
from tablebase.tables.format import Metric
from tablebase.tables.index import sets_at
from tablebase.tables.manifest import Manifest

COUNTS = GOLDEN / "endgame_counts.csv"
AGAINST_ONE = ("KKKvK", "KKMvK", "KMMvK", "MMMvK")
SAMPLE = 40  # positions of each material and each number of moves


@pytest.fixture(scope="module")
def check(tables4: Path) -> DrawCheck:
    return check_draws(tables4, 2)


@pytest.fixture(scope="module")
def tablebase(tables4: Path) -> Iterator[Tablebase]:
    with open_tablebase(tables4) as opened:
        yield opened


@pytest.fixture
def values(tables4: Path) -> Iterator[InMemoryValues]:
    """Outcomes against a lone king; a test may change them."""
    slices = capture_closure(map(Material.parse, AGAINST_ONE))
    with ThreadPoolExecutor(2) as pool:
        found = InMemoryValues(tables4, slices, (Metric.WDL,), OFFICIAL, pool, 2)
        found.fill(lambda done: None)
        yield found


def counts() -> dict[str, dict[str, str]]:
    with COUNTS.open(newline="") as file:
        return {row["material"]: row for row in csv.DictReader(file)}


def position_at(material: Material, index: int) -> Position:
    return Position(*sets_at(material, index))


def found_of(check: DrawCheck, material: str) -> LoneKing:
    return next(found for found in check.lone_kings if found.material == material)


# What is looked at


def test_the_materials_are_those_of_the_rules() -> None:
    assert [str(material) for material in lone_king_materials(4)] == list(AGAINST_ONE)
    assert [str(material) for material in lone_king_materials(6)] == [*AGAINST_ONE, "KKKKvK", "KKKKKvK"]
    for text in AGAINST_ONE:
        three_kings = find_rule(Material.parse(text), RuleName.THREE_KINGS)
        main_road = find_rule(Material.parse(text), RuleName.MAIN_ROAD)
        assert (three_kings is not None) == (text == "KKKvK")
        assert main_road is not None
        assert main_road[0] is (ROAD_WITH_THREE_MEN if text == "MMMvK" else OFFICIAL)


def test_capture_closure_of_lone_king_materials() -> None:
    """Every material that a capture leads to is named, over all positions of two slices."""
    for text in ("KMvMM", "MvKM"):
        material = Material.parse(text)
        led_to = {
            Material.of(after)
            for index in range(0, material.positions, 1 if material.pieces < 4 else 23)
            for position in (position_at(material, index),)
            for move in legal_moves(position)
            if move.is_capture
            for after in (position_after(position, move),)
            if after.own_men | after.own_kings
        }
        assert led_to == set(after_captures(material)), text
    assert Material.parse("MvK") in capture_closure([Material.parse("KMMvK")])  # a king took two of three


# Against a lone king


@pytest.mark.parametrize("text", AGAINST_ONE)
def test_counts_are_those_of_another_solver(check: DrawCheck, text: str) -> None:
    found = found_of(check, text)
    row = counts()[text]
    for name, counted in (("positions", "positions"), ("won", "win"), ("drawn", "draw"), ("lost", "loss")):
        assert getattr(found.on_road, name) + getattr(found.off_road, name) == int(row[counted]), name
    longest = max(found.on_road.longest_win_moves or 0, found.off_road.longest_win_moves or 0)
    assert 2 * longest - 1 == int(row["longest_win_plies"])


@pytest.mark.parametrize("on", [True, False])
def test_the_road_divides_as_plain_counting_does(check: DrawCheck, tablebase: Tablebase, on: bool) -> None:
    material = Material.parse("MMMvK")
    found = found_of(check, "MMMvK")
    standing = found.on_road if on else found.off_road
    outcomes: list[int] = []
    lengths = []
    for index in range(material.positions):
        position = position_at(material, index)
        if bool(position.bk & MAIN_ROAD) == on:
            value = tablebase.probe(position)
            outcomes.append(int(np.sign(value.wdl or 0)))
            if outcomes[-1] > 0:
                lengths.append(((value.dtw or 0) + 1) // 2)
    assert standing.positions == len(outcomes)
    assert [standing.won, standing.drawn, standing.lost] == [outcomes.count(sign) for sign in (1, 0, -1)]
    assert standing.longest_win_moves == max(lengths)
    assert standing.wins_beyond_road_limit == sum(moves > 5 for moves in lengths) > 0


def test_wins_that_take_more_moves_than_the_road_rule_gives(check: DrawCheck) -> None:
    for text in AGAINST_ONE:
        found = found_of(check, text)
        for standing in (found.on_road, found.off_road):
            beyond = standing.wins_beyond_road_limit
            assert beyond is not None
            assert (beyond > 0) == ((standing.longest_win_moves or 0) > 5), text
            assert beyond <= standing.won


def test_example_positions_have_the_reported_values(check: DrawCheck, tablebase: Tablebase) -> None:
    seen = 0
    for found in check.lone_kings:
        for standing, on in ((found.on_road, True), (found.off_road, False)):
            for fen, outcome in ((standing.longest_win_fen, 2), (standing.drawn_fen, 0)):
                assert fen is not None
                position = Position.from_fen(fen)
                assert str(Material.of(position)) == found.material
                assert bool(position.bk & MAIN_ROAD) == on
                assert tablebase.probe_wdl(position) == outcome
                seen += 1
            longest = tablebase.probe_dtw(Position.from_fen(standing.longest_win_fen or ""))
            assert longest == 2 * (standing.longest_win_moves or 0) - 1
    assert seen == 16


def test_three_kings_win_off_the_road_unless_a_capture(check: DrawCheck) -> None:
    # Petrov's triangle; the rule's 15 moves are enough for each of these wins, which take 13 at most.
    found = found_of(check, "KKKvK")
    assert (found.off_road.drawn > 0, found.off_road.drawn_quiet) == (True, 0)
    assert found.three_kings is not None
    assert (found.three_kings.limit_moves, found.three_kings.longest_moves) == (15, 13)
    assert (found.three_kings.article, found.three_kings.beyond_limit) == ("7.2.4", 0)
    assert found.three_kings.wins == found.on_road.won + found.off_road.won


# Off the main road


def test_how_many_wins_need_more_than_five_moves(check: DrawCheck, tablebase: Tablebase) -> None:
    for text in AGAINST_ONE:
        found = found_of(check, text)
        rule = found.main_road
        assert rule is not None
        assert (rule.limit_moves, rule.article) == (5, "7.2.7")
        assert rule.wins == sum(rule.wins_by_moves) == found.on_road.won
        assert rule.beyond_limit == sum(rule.wins_by_moves[5:])
        assert len(rule.wins_by_moves) == rule.longest_moves
        assert (rule.beyond_limit > 0) == (text in ("KMMvK", "MMMvK"))
        if text != "MMMvK":
            longest = draw_cases(tablebase, Position.from_fen(rule.longest_fen or ""))[1]
            assert longest.moves_needed == rule.longest_moves
            assert longest.within_limit == (text != "KMMvK")


class Road:
    """The sweep's answer for every position with the lone king on the main road."""

    def __init__(self, values: InMemoryValues) -> None:
        self.values = values
        stronger = [Material.parse(text) for text in AGAINST_ONE]
        every = [*stronger, *(material.mirror for material in stronger)]
        numbers = [values.slice_id(material) for material in every]
        layout = values.arena.layout
        on_road = [
            features(layout, number, place >= len(stronger)) & ON_ROAD != 0
            for place, number in enumerate(numbers)
        ]
        needed = main_road_retrograde(
            values.arena, numbers[: len(stronger)], numbers[len(stronger) :], on_road
        )
        self.needed: dict[Material, NDArray[np.uint8]] = {
            material: needed[layout.start[number] : layout.start[number + 1]]
            for material, number in zip(every, numbers, strict=True)
        }

    def sample(self, material: Material, moves: int) -> list[Position]:
        """Some of the positions that need so many moves."""
        places = np.flatnonzero(self.needed[material] == moves).tolist()
        chosen = Random(f"{material} {moves}").sample(places, min(SAMPLE, len(places)))
        return [position_at(material, place) for place in chosen]


@pytest.mark.parametrize("text", [*AGAINST_ONE[:3], "KvKKK", "KvKKM", "KvKMM"])
def test_retrograde_and_search_agree(values: InMemoryValues, tablebase: Tablebase, text: str) -> None:
    material = Material.parse(text)
    road = Road(values)
    stronger = Color.WHITE if text in AGAINST_ONE else Color.BLACK
    search = MainRoadSearch(tablebase, stronger)
    needed = road.needed[material]
    compared = 0
    for moves in range(MOST_MOVES + 1):
        for position in road.sample(material, moves):
            assert stronger in OFFICIAL_CASE.stronger(position)
            assert search.moves_needed(position) == moves, position.to_fen()
            compared += 1
    assert compared >= min(2 * SAMPLE, int((needed <= MOST_MOVES).sum()))


def test_three_men_by_a_plain_search(values: InMemoryValues, tablebase: Tablebase) -> None:
    rule = ROAD_WITH_THREE_MEN.rule(RuleName.MAIN_ROAD)
    assert rule is not None
    scope = rule.limits[0].scope

    @cache
    def enough(position: Position, moves: int) -> bool:
        after = (position_after(position, move) for move in legal_moves(position))
        if position.turn is Color.BLACK:
            return all(not scope.fits(each) or enough(each, moves) for each in after)
        return moves > 0 and any(tablebase.probe_wdl(each) < 0 and enough(each, moves - 1) for each in after)

    road = Road(values)
    material = Material.parse("MMMvK")
    for moves in (1, 2, 3):
        positions = road.sample(material, moves)
        assert len(positions) == SAMPLE
        for position in positions:
            assert [enough(position, moves - 1), enough(position, moves)] == [False, True], position.to_fen()


def test_tables_that_contradict_each_other_are_an_error(values: InMemoryValues) -> None:
    for text in AGAINST_ONE:
        number = values.slice_id(Material.parse(text).mirror)
        start = values.arena.layout.start
        values.arena.wdl[start[number] : start[number + 1]] = 0
    with pytest.raises(DamagedTableError, match=r"contradict each other: from [0-9,]+ won positions"):
        Road(values)


# Outcomes that the rules change


def test_nothing_is_changed_up_to_four_pieces(check: DrawCheck, tables4: Path) -> None:
    every = [str(material) for pieces in (2, 3, 4) for material in materials(pieces)]
    assert check.outcomes[-1].rules == ["king-moves"]
    for outcomes in check.outcomes:
        assert outcomes.ruleset == Manifest.load(tables4).ruleset.name
        assert [each.material for each in outcomes.materials] == every
        for each in outcomes.materials:
            assert each == ChangedOutcomes(each.material, Material.parse(each.material).positions)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> Ruleset:
    """A rule of 3 plies, known for the time of the test."""
    rules = Ruleset("test-3", 3)
    monkeypatch.setitem(RULESETS, rules.name, rules)
    return rules


def test_what_a_tighter_rule_changes_is_what_the_solver_counted(hasty: Ruleset, tmp_path: Path) -> None:
    generate(tmp_path, 4, jobs=2, ruleset=hasty)
    (outcomes,) = check_draws(tmp_path, 2).outcomes
    assert outcomes.ruleset == "test-3"
    changed = 0
    statistics = {
        str(material): record.statistics for material, record in Manifest.load(tmp_path).slices.items()
    }
    with Tablebase(ruleset=hasty) as tables:
        tables.add_directory(tmp_path)
        for each in outcomes.materials:
            counted = statistics[each.material]
            assert counted is not None
            assert (each.cursed_wins, each.blessed_losses) == (counted.cursed_win, counted.blessed_loss), each
            for fen, wdl in ((each.cursed_win_fen, 1), (each.blessed_loss_fen, -1)):
                if fen is not None:
                    assert tables.probe_wdl(Position.from_fen(fen)) == wdl
                    changed += 1
    assert changed > 20


def test_what_one_of_two_rules_changes_is_what_tables_made_under_it_say(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Limits so tight that the second rule changes outcomes of three pieces and of four: what captures
    and promotions lead to is not what it was under both rules then."""
    both, alone = tight("test-both", 4, 3), tight("test-alone", 4, None)
    for ruleset in (both, alone):
        monkeypatch.setitem(RULESETS, ruleset.name, ruleset)
        generate(tmp_path / ruleset.name, 4, jobs=2, ruleset=ruleset)
    together, first = check_draws(tmp_path / both.name, 2).outcomes
    (expected,) = check_draws(tmp_path / alone.name, 2).outcomes
    assert (together.ruleset, together.rules) == ("test-both", ["king-moves", "balance"])
    assert (first.ruleset, first.rules) == ("test-both", ["king-moves"])
    assert first.materials == expected.materials
    differing = {
        Material.parse(one.material)
        for one, other in zip(together.materials, first.materials, strict=True)
        if one != other
    }
    assert {material.pieces for material in differing} == {3, 4}
    # Where a side has no king the balance is not counted, but what moves lead to has changed.
    assert any(not (material.own_kings and material.other_kings) for material in differing)


@pytest.mark.whole
def test_under_both_rules_two_outcomes_more_are_changed(tables5: Path, kings5: Path) -> None:
    together, first = check_draws(tables5, 2).outcomes
    expected = check_draws(kings5, 2).outcomes[-1]
    assert first.materials == expected.materials
    more = {
        one.material: (
            one.cursed_wins - other.cursed_wins,
            one.blessed_losses - other.blessed_losses,
        )
        for one, other in zip(together.materials, first.materials, strict=True)
        if one != other
    }
    assert more == {"KKMvKM": (2, 0)}


@pytest.mark.whole
def test_five_pieces(tables5: Path) -> None:
    check = check_draws(tables5, 2)
    outcomes = check.outcomes[-1]  # of the king-moves rule alone, as the counts from outside
    found = {each.material: each for each in outcomes.materials}
    changed = 0
    for row in counts().values():
        if row["strict15_win"]:
            each = found[row["material"]]
            assert each.cursed_wins == int(row["win"]) - int(row["strict15_win"])
            assert each.blessed_losses == int(row["loss"]) - int(row["strict15_loss"])
            changed += each.cursed_wins + each.blessed_losses
    assert changed > 500
    four = found_of(check, "KKKKvK")
    assert four.three_kings is not None
    assert (four.on_road.wins_beyond_road_limit, four.off_road.wins_beyond_road_limit) == (None, None)


# The command


def test_the_command_prints_what_was_found(
    check: DrawCheck, tables4: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check-draws", "--json", "--data", str(tables4)]) == 0
    assert json.loads(capsys.readouterr().out) == asdict(check)
    assert main(["check-draws", "--data", str(tables4)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert max(map(len, out.splitlines())) <= 140
    for found in check.lone_kings:
        for standing in (found.on_road, found.off_road):
            assert f"{standing.won:,}" in out
            assert str(standing.longest_win_fen) in out
            assert f"{standing.wins_beyond_road_limit:,}" in out
        assert str(found.off_road.drawn_fen) in out
        assert found.main_road is not None
        assert str(found.main_road.longest_fen) in out
    assert "none in 41 materials" in out


def test_missing_tables_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generate(tmp_path, 3, jobs=2)
    assert main(["check-draws", "--data", str(tmp_path)]) == 1
    assert "needs the table KKKvK.wdl, which is missing" in capsys.readouterr().err
    generate(tmp_path / "outcomes", 4, (Metric.WDL,), jobs=2)
    with pytest.raises(
        MissingTableError, match=r"needs the table .*\.dtw, which is missing; make it with `shashki"
    ):
        check_draws(tmp_path / "outcomes")
    assert main(["check-draws", "--data", str(tmp_path / "nowhere")]) == 2
    (tmp_path / "empty").mkdir()
    assert main(["check-draws", "--data", str(tmp_path / "empty")]) == 1
    assert "shashki generate" in capsys.readouterr().err
