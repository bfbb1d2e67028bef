"""The generator's tables, held to a naive solver and to facts from outside (tests/golden/README.md)."""

import csv
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import naive
import pytest
from paths import GOLDEN

from generator.run import generate
from generator.verify.verify import verify
from tablebase.board.material import Material, materials
from tablebase.board.position import Position
from tablebase.cli.main import main
from tablebase.games.search import RuleSearch
from tablebase.probe.line import LineEnd
from tablebase.probe.tablebase import Tablebase, open_tablebase
from tablebase.rules.clock import Clock
from tablebase.rules.outcome import Outcome
from tablebase.rules.rulesets import OFFICIAL, RULESETS, Ruleset
from tablebase.tables.format import Metric, table_name
from tablebase.tables.manifest import Manifest, Statistics
from tablebase.tables.table import Table

POSITIONS = {2: 3_488, 3: 196_032, 4: 6_209_316, 5: 139_450_808}


def rows(name: str) -> list[dict[str, str]]:
    with (GOLDEN / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def statistics(directory: Path) -> dict[Material, Statistics]:
    found = {}
    for material, record in Manifest.load(directory).slices.items():
        assert record.statistics is not None
        found[material] = record.statistics
    return found


# A naive solver


@pytest.mark.parametrize("name", ["official", "king-moves-only", "test-3"])
def test_every_position_of_2_and_3_pieces_is_the_naive_solvers(
    name: str, naive3: dict[int, dict[Position, naive.Solved]], request: pytest.FixtureRequest
) -> None:
    """Through probing, captures and all; under the rules, and a tighter one that curses wins. With so few
    pieces the count of the balance changes nothing."""
    limit = 3 if name == "test-3" else 30
    solved = naive3[limit]
    fixture = {"official": "tables4", "king-moves-only": "kings4", "test-3": "limit3"}[name]
    directory: Path = request.getfixturevalue(fixture)
    rules = RULESETS[name]
    counts = dict.fromkeys((2, 1, 0, -1, -2), 0)
    compared = 0
    with Tablebase(ruleset=rules) as tables:
        tables.add_directory(directory)
        for position, expected in solved.items():
            if not position.wm | position.wk:
                continue  # a side without pieces: no table holds it
            value = tables.probe(position)
            assert (value.wdl, value.dtc, value.dtw) == expected, position.to_fen()
            counts[expected.wdl] += 1
            compared += 1
    assert compared == POSITIONS[2] + POSITIONS[3]
    assert (counts[1] > 0, counts[-1] > 0) == (limit < 30, limit < 30)
    # The statistics were counted while solving, positions with a capture included.
    every = [s for material, s in statistics(directory).items() if material.pieces <= 3]
    assert list(counts.values()) == [
        sum(asdict(s)[name] for s in every) for name in ("win", "cursed_win", "draw", "blessed_loss", "loss")
    ]


@pytest.fixture(scope="session")
def naive3() -> dict[int, dict[Position, naive.Solved]]:
    limits = [30, 3]
    return dict(zip(limits, naive.solve_under(3, limits), strict=True))


@pytest.fixture
def limit3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tables of 2-3 pieces made under a rule of 3 plies, known for the time of the test."""
    rules = Ruleset("test-3", 3)
    monkeypatch.setitem(RULESETS, rules.name, rules)
    generate(tmp_path, 3, jobs=2, ruleset=rules)
    return tmp_path


# Counts


UNDER_BOTH = ("W:WKg3,Kb8,b2:BKh4,c5", "W:WKc7,Kb8,b2:BKd8,c5")
"""The counts from outside are those of the king-moves rule alone. Of 2-5 pieces the official rules, with the
count of the balance as well, differ from them in these two positions of KKMvKM, wins under that rule, and
in no other."""


def check_counts(directory: Path, pieces: int, positions_drawn_by_both_counters: int = 0) -> None:
    found = statistics(directory)
    expected = [row for row in rows("endgame_counts.csv") if int(row["pieces"]) == pieces]
    assert len(expected) == (18 if pieces == 5 else len(list(materials(pieces))))
    for row in expected:
        s = found[Material.parse(row["material"])]
        if row["material"] == "KKMvKM":
            s = replace(
                s,
                win=s.win + positions_drawn_by_both_counters,
                cursed_win=s.cursed_win - positions_drawn_by_both_counters,
            )
        values = {
            "positions": s.positions,
            "win": s.win + s.cursed_win,
            "draw": s.draw,
            "loss": s.loss + s.blessed_loss,
            "strict15_win": s.win,
            "strict15_draw": s.cursed_win + s.draw + s.blessed_loss,
            "strict15_loss": s.loss,
            "longest_win_plies": s.longest_win_plies,
            "longest_loss_plies": s.longest_loss_plies,
        }
        if not s.cursed_win:  # that column knows no limit
            values["longest_zeroing_win_plies"] = s.longest_dtc_win_plies
        if s.longest_dtb_win_plies is not None and (pieces < 5 or s.longest_dtb_win_plies <= 30):
            # Nor does that one: up to 30 plies it cannot matter, and up to 4 pieces it does not.
            values["longest_balance_win_plies"] = s.longest_dtb_win_plies
        for name, value in values.items():
            assert ("" if value is None else str(value)) == row[name], (row["material"], name)
    assert sum(m.positions for m in found if m.pieces == pieces) == POSITIONS[pieces]
    for material, s in found.items():
        assert s.positions == material.positions
        assert s.positions == s.win + s.cursed_win + s.draw + s.blessed_loss + s.loss


@pytest.mark.parametrize("pieces", [2, 3, 4])
@pytest.mark.parametrize("fixture", ["tables4", "kings4"])
def test_counts_of_every_material_up_to_4_pieces(
    fixture: str, pieces: int, request: pytest.FixtureRequest
) -> None:
    check_counts(request.getfixturevalue(fixture), pieces)


@pytest.mark.whole
def test_counts_of_5_pieces_under_the_king_moves_rule_alone(kings5: Path) -> None:
    check_counts(kings5, 5)


def test_counts_of_5_pieces(tables5: Path) -> None:
    check_counts(tables5, 5, len(UNDER_BOTH))
    with open_tablebase(tables5) as tables:
        for fen in UNDER_BOTH:
            assert tables.probe(Position.from_fen(fen)).outcome is Outcome.CURSED_WIN
    found = statistics(tables5)
    assert set(found) == {material for pieces in POSITIONS for material in materials(pieces)}
    cursed = {str(material) for material, s in found.items() if s.cursed_win or s.blessed_loss}
    assert "KKMvKM" in cursed  # the first cursed wins under this rule, as its books have it
    assert not [name for name in cursed if Material.parse(name).pieces < 5]


def test_lines_of_cursed_wins_stop_where_the_rule_stops_the_game(tables5: Path) -> None:
    cursed = [row["fen"] for row in rows("positions.csv") if row["outcome"] in ("cursed-win", "blessed-loss")]
    assert cursed
    with open_tablebase(tables5) as tables:
        search = RuleSearch(tables)
        for fen in cursed:
            line = search.line(Clock.from_fen(fen, tables.ruleset))
            assert (line.end, line.winner) == (LineEnd.DRAW, None)
            assert "king-moves" in [str(state.rule) for state in line.fired]
            assert not any(move.move.zeroing for move in line.moves[-30:])
        # Lost in the last ply that the rule allows.
        position = Position.from_fen("W:WKc1,h6:BKa1,Kg1,f6")
        assert tables.probe_dtc(position) == 30
        line = search.line(Clock.start(position, tables.ruleset))
        assert [move.move.zeroing for move in line.moves[:30]] == [False] * 29 + [True]
        assert (line.end, line.winner) == (LineEnd.GAME_OVER, position.turn.other)


def test_the_longest_distances_are_at_the_positions_named(tables5: Path) -> None:
    with open_tablebase(tables5) as tables:
        for s in statistics(tables5).values():
            for fen, plies, outcomes, metric in (
                (s.longest_win_fen, s.longest_win_plies, (2, 1), "dtw"),
                (s.longest_loss_fen, s.longest_loss_plies, (-2, -1), "dtw"),
                (s.longest_dtc_win_fen, s.longest_dtc_win_plies, (2,), "dtc"),
                (s.longest_dtb_win_fen, s.longest_dtb_win_plies, (2,), "dtb"),
            ):
                assert (fen is None) == (plies is None)
                if fen is not None:
                    position = Position.from_fen(fen)
                    value = tables.probe(position)
                    assert str(Material.of(position)) == s.material
                    assert value.wdl in outcomes, fen
                    assert getattr(value, metric) == plies, fen


def test_counts_by_plies_add_up_and_end_at_the_longest(tables5: Path) -> None:
    for s in statistics(tables5).values():
        for counts, positions, longest in (
            (s.dtw_wins, s.win + s.cursed_win, s.longest_win_plies),
            (s.dtw_losses, s.loss + s.blessed_loss, s.longest_loss_plies),
            (s.dtc_wins, s.win, s.longest_dtc_win_plies),
            (s.dtc_losses, s.loss, None),
        ):
            assert counts is not None
            assert sum(counts) == positions
            assert longest is None or len(counts) - 1 == longest
        assert s.dtw_wins is not None
        assert not any(s.dtw_wins[::2])  # who wins makes the last move


def test_stats_prints_what_the_manifest_holds(tables5: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", "--data", str(tables5), "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {entry["material"] for entry in listed} == {str(m) for m in statistics(tables5)}
    held = [asdict(statistics(tables5)[Material.parse(entry["material"])]) for entry in listed]
    assert listed == json.loads(json.dumps(held))
    for entry in listed:
        assert list(entry) == [
            "material", "positions", "win", "cursed_win", "draw", "blessed_loss", "loss",
            "longest_win_plies", "longest_win_fen", "longest_loss_plies", "longest_loss_fen",
            "longest_dtc_win_plies", "longest_dtc_win_fen",
            "longest_dtb_win_plies", "longest_dtb_win_fen",
            "dtw_wins", "dtw_losses", "dtc_wins", "dtc_losses",
        ]  # fmt: skip
    assert main(["stats", "--data", str(tables5)]) == 0
    table = capsys.readouterr().out.splitlines()
    assert len(table) == 1 + len(listed)
    assert [line.split()[0] for line in table[1:]] == [entry["material"] for entry in listed]
    first = listed[0]
    assert table[1].split()[1:4] == [f"{first[name]:,}" for name in ("positions", "win", "cursed_win")]


# Single positions


def test_single_positions(tables5: Path) -> None:
    cursed = 0
    expected = rows("positions.csv")
    assert len(expected) == 492
    with open_tablebase(tables5) as tables:
        for row in expected:
            position = Position.from_fen(row["fen"])
            assert str(Material.of(position)) == row["material"]
            value = tables.probe(position)
            assert str(value.outcome) == row["outcome"], row
            assert ("" if value.dtc is None else str(value.dtc)) == row["dtc_plies"], row
            if value.outcome in (Outcome.CURSED_WIN, Outcome.BLESSED_LOSS):
                cursed += 1
                assert value.dtw is not None
                assert row["dtw_plies"] in ("", str(value.dtw)), row
            else:
                assert ("" if value.dtw is None else str(value.dtw)) == row["dtw_plies"], row
    assert cursed > 10


def endgames() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((GOLDEN / "endgames.json").read_text(encoding="utf-8"))
    return found


def test_verdicts_of_books_and_pages(tables5: Path) -> None:
    """They know no draw counters, so a cursed win is a win."""
    compared = distances = 0
    with open_tablebase(tables5) as tables:
        for case in endgames():
            position = Position.from_fen(case["position"])
            value = tables.probe(position)
            assert value.wdl is not None
            verdict = "win" if value.wdl > 0 else "loss" if value.wdl < 0 else "draw"
            assert verdict == case["verdict"], case
            compared += 1
            if case["dtw_plies_recomputed"] is not None:
                assert value.dtw == case["dtw_plies_recomputed"], case
                distances += 1
    assert (compared, distances) == (264, 118)


# Size


def test_size_in_bits_a_position(tables5: Path) -> None:
    positions = sum(POSITIONS.values())
    assert positions == 145_859_644
    for metric, most in ((Metric.WDL, 0.22), (Metric.DTW, 1.25)):
        files = list(tables5.glob(f"*.{metric}"))
        assert len(files) == sum(len(list(materials(pieces))) for pieces in POSITIONS)
        assert 8 * sum(file.stat().st_size for file in files) / positions <= most


def test_frames_decode_to_16_kb_at_most(tables5: Path) -> None:
    for pieces in POSITIONS:
        for material in materials(pieces):
            for metric in (metric for metric in Metric if metric.fits(material, OFFICIAL)):
                with Table(tables5 / table_name(material, metric)) as table:
                    assert table.header.frame_size <= 16384
                    assert all(
                        table.header.decoded_size(frame) <= 16384 for frame in range(table.header.frames)
                    )


# Verification


def test_a_sample_of_5_pieces_verifies(tables5: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--data", str(tables5), "--sample", "0.005", "--seed", "7"]) == 0
    answer = capsys.readouterr()
    assert "all is well" in answer.out
    assert f"{len(list(materials(5))) + 41} materials, 145,859,644 positions" in answer.out
    assert answer.err == ""


def test_all_of_2_to_4_pieces_verifies(tables4: Path) -> None:
    report = verify(tables4)
    assert report.ok, list(map(str, report.findings))
    assert report.counted
    assert report.metrics == tuple(Metric)
    assert report.positions == sum(POSITIONS[pieces] for pieces in (2, 3, 4))


@pytest.mark.whole
def test_all_of_2_to_5_pieces_verifies(tables5: Path) -> None:
    report = verify(tables5)
    assert report.ok, list(map(str, report.findings))
    assert report.counted
    assert report.positions == sum(POSITIONS.values())
    assert len(report.notes) == 0
