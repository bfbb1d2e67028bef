"""`shashki records`: each record holds, each line is what `shashki line` plays, and nothing is left out."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

import naive
import pytest
from paths import ROOT

from generator.reports.records import AbsentOutcomes, absent_outcomes, find_records, line_on_the_board
from generator.reports.records_page import records_text
from generator.run import generate
from tablebase import ArgumentError, Position, open_tablebase
from tablebase.board.material import Material, materials
from tablebase.board.position import Color
from tablebase.cli.main import main
from tablebase.errors import TooManyPiecesError
from tablebase.probe.line import LineEnd
from tablebase.tables.format import Metric
from tablebase.tables.manifest import FILE_NAME as MANIFEST
from tablebase.tables.manifest import Manifest, Statistics

Capture = pytest.CaptureFixture[str]


def page_of(directory: Path, pieces: int | None = None) -> list[str]:
    return list(records_text(find_records(directory, pieces)))


def rows(page: Iterable[str], heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without its head."""
    body = "\n".join(page).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in body.splitlines()
        if line.startswith("| ")
    ][2:]


def test_each_record_holds(tables3: Path) -> None:
    by_material = rows(page_of(tables3), "The longest wins of each material")
    assert [row[0] for row in by_material] == [str(m) for pieces in (2, 3) for m in materials(pieces)]
    told = 0
    with open_tablebase(tables3) as tablebase:
        for name, *cells in by_material:
            for metric, distance, fen in zip(("dtw", "dtc", "dtb"), cells[::2], cells[1::2], strict=True):
                if not distance:
                    assert metric == "dtb"
                    continue
                found = re.fullmatch(r"(\d+) (?:ply|plies) \((\d+)\)", distance)
                assert found is not None
                position = Position.from_fen(fen.strip("`"))
                assert (str(Material.of(position)), position.turn) == (name, Color.WHITE)
                probe = tablebase.probe(position)
                assert probe.wdl == 2
                assert getattr(probe, metric) == int(found[1])
                assert int(found[2]) == -(-int(found[1]) // 2)
                told += 1
    assert told == 2 * 16 + 2  # KMvK and KvKM alone have a DTB of their own


def test_each_number_of_pieces_has_its_longest(tables3: Path) -> None:
    page = page_of(tables3)
    by_pieces = rows(page, "The longest wins of each number of pieces")
    assert [row[:2] for row in by_pieces] == [
        ["2", "DTW"], ["2", "DTC"], ["3", "DTW"], ["3", "DTC"], ["3", "DTB"]
    ]  # fmt: skip
    counted = {str(m): entry.statistics for m, entry in Manifest.load(tables3).slices.items()}
    for pieces, metric, distance, material, fen in by_pieces:
        fields = [
            "longest_win_plies" if metric == "DTW" else f"longest_{metric.lower()}_win_plies",
            "longest_win_fen" if metric == "DTW" else f"longest_{metric.lower()}_win_fen",
        ]
        same_pieces = [s for s in counted.values() if s and Material.parse(s.material).pieces == int(pieces)]
        most = max(getattr(s, fields[0]) or 0 for s in same_pieces)
        own = counted[material.partition(",")[0]]
        assert distance == f"{most} ({(most + 1) // 2})"
        assert (getattr(own, fields[0]), f"`{getattr(own, fields[1])}`") == (most, fen)
    assert "KKvK" in "".join(by_pieces[3]), "7 plies, the one material that has them"


def told_lines(page: list[str]) -> dict[str, list[str]]:
    """By FEN and how it is played, the moves with their numbers."""
    text = "\n".join(page)
    found = re.findall(r"\*\*(.*?)\*\*,\s`(\S+)`:\s(.*?)\n\n```text\n(.*?)\n```", text, re.DOTALL)
    assert len(found) == text.count("```text")
    return {
        f"{fen} {'alone' if what.endswith('alone') else 'best'}": moves.split()
        for what, fen, _, moves in found
    }


def test_lines_are_those_of_the_line_command(tables3: Path, capsys: Capture) -> None:
    told = told_lines(page_of(tables3))
    every = [s for entry in Manifest.load(tables3).slices.values() if (s := entry.statistics)]
    assert {f"{s.longest_win_fen} best" for s in every} <= set(told)
    for key, words in told.items():
        fen, how = key.split()
        if how == "best":
            assert main(["line", fen, "--data", str(tables3)]) == 0
            assert " ".join(words) in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("turned", [False, True])
def test_a_line_on_the_board_is_as_long_as_its_dtw(tables3: Path, turned: bool) -> None:
    with open_tablebase(tables3) as tablebase:
        for entry in Manifest.load(tables3).slices.values():
            assert entry.statistics is not None
            for fen in (entry.statistics.longest_win_fen, entry.statistics.longest_loss_fen):
                if fen is None:
                    continue
                position = Position.from_fen(fen)
                position = position.flip() if turned else position
                line = line_on_the_board(tablebase, position)
                dtw = tablebase.probe_dtw(position)
                assert dtw is not None
                assert [move.dtw for move in line.moves] == list(range(dtw, 0, -1))
                assert line.end is LineEnd.GAME_OVER
                assert line.winner is (position.turn if dtw % 2 else position.turn.other)
        with pytest.raises(ArgumentError, match="or it is a draw"):
            line_on_the_board(tablebase, Position.from_fen("W:WKa1:BKb8"))


def test_the_same_tables_make_the_same_page(tables3: Path, tmp_path: Path, capsys: Capture) -> None:
    assert main(["records", "--data", str(tables3)]) == 0
    printed = capsys.readouterr().out
    page = tmp_path / "records.md"
    assert main(["records", "--data", str(tables3), "--pieces", "3", "--output", str(page)]) == 0
    assert capsys.readouterr().out == ""
    assert page.read_text("utf-8") == printed
    assert str(tables3) not in printed
    assert "16 materials, 199,520 positions" in " ".join(printed.split())
    assert max(len(line) for line in printed.splitlines() if not line.startswith("|")) <= 110
    assert not [line for line in printed.splitlines() if line.endswith(" ")]


def test_fewer_pieces_than_there_are(tables2: Path, tables3: Path) -> None:
    assert page_of(tables3, 2) == page_of(tables2)


# Outcomes


def test_absent_outcomes_agree_with_a_naive_solver(
    tables2: Path, solved2: dict[Position, naive.Solved]
) -> None:
    own: dict[str, set[int]] = {}
    by_turns: dict[str, set[int]] = {}
    for position, value in solved2.items():
        if not (position.own_men | position.own_kings and position.other_men | position.other_kings):
            continue
        name, mirror = str(Material.of(position)), str(Material.of(position).mirror)
        own.setdefault(name, set()).add(value.wdl)
        by_turns.setdefault(name, set()).add(value.wdl)
        by_turns.setdefault(mirror, set()).add(-value.wdl)

    def without(outcome: int, values: dict[str, set[int]]) -> set[str]:
        return {name for name, found in values.items() if outcome not in found}

    for on_the_board in (False, True):
        found = absent_outcomes(find_records(tables2).materials, on_the_board)
        assert [set(names) for names in (found.won, found.drawn, found.lost)] == [
            without(outcome, own) for outcome in (2, 0, -2)
        ]
        assert [set(n) for n in (found.won_by_turns, found.drawn_by_turns, found.lost_by_turns)] == [
            without(outcome, by_turns) for outcome in (2, 0, -2)
        ]


# A material of which all is decided on the board, and half of it drawn under the rules.
CURSED = [
    Statistics("KKvM", 10, win=0, cursed_win=10, draw=0, blessed_loss=0, loss=0),
    Statistics("MvKK", 10, win=0, cursed_win=0, draw=0, blessed_loss=4, loss=6),
]


def test_cursed_wins_are_draws_under_the_rules_and_wins_on_the_board() -> None:
    both = ("KKvM", "MvKK")
    assert absent_outcomes(CURSED, on_the_board=False) == AbsentOutcomes(
        both, (), ("KKvM",), ("MvKK",), (), ("KKvM",)
    )
    assert absent_outcomes(CURSED, on_the_board=True) == AbsentOutcomes(
        ("MvKK",), both, ("KKvM",), ("MvKK",), both, ("KKvM",)
    )


def test_cursed_wins_have_a_table_of_their_own(copy3: Path) -> None:
    assert "All 16 materials have none." in page_of(copy3)
    change_statistics(copy3, "KKvM", {"win": 12_600, "cursed_win": 26})
    page = page_of(copy3)
    assert rows(page, "Cursed wins and blessed losses") == [["KKvM", "13,020", "26", "0"]]
    assert "The other 15 materials have none." in page


def change_statistics(directory: Path, material: str, changes: dict[str, object]) -> None:
    data = json.loads((directory / MANIFEST).read_bytes())
    data["materials"][material]["stats"] |= changes
    (directory / MANIFEST).write_text(json.dumps(data))


# What a set of tables does not tell


def test_records_without_dtw(copy3: Path) -> None:
    whole = page_of(copy3)
    for material in Manifest.load(copy3).slices:
        (copy3 / f"{material}.{Metric.DTW}").unlink()
        change_statistics(copy3, str(material), {f"longest_{what}": None for what in (
            "win_plies", "win_fen", "loss_plies", "loss_fen"
        )})  # fmt: skip
    page = page_of(copy3)
    assert not [row for row in rows(page, "The longest wins of each number of pieces") if row[1] == "DTW"]
    heading = "The longest wins of each material"
    assert [row[1:] for row in rows(page, heading)] == [row[3:] for row in rows(whole, heading)]
    assert "KKvK, longest by DTC, best play" in "\n".join(page)


def test_wins_of_unknown_length_are_shown(copy3: Path) -> None:
    change_statistics(copy3, "KKvM", {"longest_win_plies": None, "longest_win_fen": None})
    page = page_of(copy3)
    (row,) = (row for row in rows(page, "The longest wins of each material") if row[0] == "KKvM")
    assert row[1:3] == ["?", ""]
    assert "`?`: there are wins" in "\n".join(page)


def test_without_distances_there_are_no_lines(tmp_path: Path, tables2: Path) -> None:
    generate(tmp_path, 2, [Metric.WDL])
    page = page_of(tmp_path)
    assert not told_lines(page)
    assert "These tables do not tell it" in "\n".join(page)
    heading = "Never won, never drawn, never lost"
    assert rows(page, heading) == rows(page_of(tables2), heading)


def test_more_pieces_than_there_are_is_refused(tables3: Path, tmp_path: Path, capsys: Capture) -> None:
    assert main(["records", "--data", str(tables3), "--pieces", "4"]) == 1
    assert capsys.readouterr().err == (
        f"shashki: records need all materials of 2 to 4 pieces, but {tables3} has only those of 2 to 3: "
        f"make the others with `shashki generate --pieces 4 --data {tables3}`\n"
    )
    assert main(["records", "--data", str(tmp_path / "nowhere")]) == 2
    assert "make tables there with" in capsys.readouterr().err
    with pytest.raises(ArgumentError, match="at least 2, got 1"):
        find_records(tables3, 1)


def test_a_material_without_statistics_counts_as_not_there(copy3: Path) -> None:
    data = json.loads((copy3 / MANIFEST).read_bytes())
    data["materials"]["KKvM"]["stats"] = None
    (copy3 / MANIFEST).write_text(json.dumps(data))
    assert find_records(copy3).pieces == 2
    data["materials"]["KvM"]["stats"] = None
    (copy3 / MANIFEST).write_text(json.dumps(data))
    with pytest.raises(TooManyPiecesError, match="lacks some of 2 pieces"):
        find_records(copy3)


# The page of the documentation


def rows_by_material(page: Iterable[str]) -> set[str]:
    return {line for line in page if re.match(r"\| [KM]+v[KM]+ \|", line)}


def test_the_page_in_docs_has_these_records(tables3: Path) -> None:
    told = rows_by_material((ROOT / "docs" / "records.md").read_text("utf-8").splitlines())
    found = rows_by_material(page_of(tables3))
    assert len(found) == 16
    assert found <= told


@pytest.mark.whole
def test_the_page_in_docs_has_the_records_of_5_pieces(tables5: Path) -> None:
    told = (ROOT / "docs" / "records.md").read_text("utf-8").splitlines()
    found = page_of(tables5)
    assert rows_by_material(found) <= rows_by_material(told)
    heading = "The longest wins of each number of pieces"
    assert rows(found, heading) == [row for row in rows(told, heading) if int(row[0]) <= 5]
