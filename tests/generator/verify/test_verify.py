"""The verifier, on tables made by sweeping until nothing changes, which are held to counts from outside."""

import csv
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pytest
from paths import GOLDEN
from sweep import SOLVED, VERSION, position_at, solve, values, write

from generator.verify.derive import NO_LIMIT, ValueArrays, differences
from generator.verify.verify import Report, verify
from tablebase.board.material import Material, materials
from tablebase.board.position import Position
from tablebase.errors import ArgumentError, ManifestError
from tablebase.kernels.index import sets_at
from tablebase.kernels.movegen import has_capture
from tablebase.rules.outcome import Outcome
from tablebase.rules.rulesets import OFFICIAL
from tablebase.tables.format import Metric, table_name, write_table
from tablebase.tables.manifest import Manifest
from tablebase.tables.table import Table

Change = Callable[[Any], None]


SLICES = [material for pieces in (2, 3) for material in materials(pieces)]


@pytest.fixture(scope="module")
def arena() -> ValueArrays:
    return solve(SLICES, 30)


@pytest.fixture(scope="module")
def tables(arena: ValueArrays, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("tables")
    write(directory, SLICES, arena, SOLVED)
    return directory


@pytest.fixture
def copy(tables: Path, tmp_path: Path) -> Path:
    shutil.copytree(tables, tmp_path / "copy")
    return tmp_path / "copy"


def change_value(directory: Path, material: Material, metric: Metric, index: int, value: int) -> None:
    """Store another value, with every checksum right."""
    path = directory / table_name(material, metric)
    with Table(path) as table:
        stored = table.read_all()
    assert stored[index] != value
    stored[index] = value
    manifest = Manifest.load(directory)
    manifest.slices[material].files[metric] = write_table(
        path, material, metric, OFFICIAL, stored, generator_version=VERSION
    )
    manifest.save(directory)


def change_statistics(directory: Path, material: Material, **changes: Any) -> None:
    manifest = Manifest.load(directory)
    record = manifest.slices[material]
    assert record.statistics is not None
    record.statistics = replace(record.statistics, **changes)
    manifest.save(directory)


def places(arena: ValueArrays, material: Material, wdl: int, capture: bool = False) -> list[int]:
    """The indices of a slice with this outcome, with a capture or without."""
    number = SLICES.index(material)
    return [
        int(index)
        for index in np.flatnonzero(values(arena, number)[0] == wdl)
        if has_capture(*sets_at(arena.layout, number, index)) == capture
    ]


def the_problem(report: Report) -> Any:
    assert not report.ok
    assert len(report.findings) == 1, list(map(str, report.findings))
    return report.findings[0]


# What it derives


def test_swept_values_equal_counts_from_outside(arena: ValueArrays) -> None:
    with (GOLDEN / "endgame_counts.csv").open(encoding="utf-8", newline="") as file:
        counts = {row["material"]: row for row in csv.DictReader(file)}
    for number, material in enumerate(SLICES):
        wdl, _, dtw = values(arena, number)
        found = [(wdl > 0).sum(), (wdl == 0).sum(), (wdl < 0).sum(), (wdl == 2).sum(), (wdl == -2).sum()]
        row = counts[str(material)]
        keys = ("win", "draw", "loss", "strict15_win", "strict15_loss")
        assert found == [int(row[key]) for key in keys], material
        for key, having in (("longest_win_plies", wdl > 0), ("longest_loss_plies", wdl < 0)):
            longest = str(dtw[having].max()) if having.any() else ""
            assert longest == row[key], (material, key)


def test_swept_values_equal_single_positions_from_outside(arena: ValueArrays) -> None:
    from tablebase.kernels.index import slot_of

    seen = 0
    with (GOLDEN / "positions.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            position = Position.from_fen(row["fen"])
            if position.pieces > 3:
                continue
            sets = position.own_men, position.own_kings, position.other_men, position.other_kings
            slot = slot_of(arena.layout, *sets)
            outcome = Outcome.from_wdl(int(arena.wdl[slot]))
            assert str(outcome) == row["outcome"], row
            if outcome is not Outcome.DRAW:
                assert str(arena.dtw[slot]) == row["dtw_plies"], row
                assert str(arena.dtc[slot]) == row["dtc_plies"], row
            seen += 1
    assert seen >= 50


@pytest.mark.parametrize("limit", [1, 2, 3, 5])
def test_a_tight_limit_agrees_with_a_naive_solver(limit: int) -> None:
    two = list(materials(2))
    swept = solve(two, limit)
    solved = naive.solve(2, limit)
    cursed = 0
    for number, material in enumerate(two):
        wdl, dtc, dtw = values(swept, number)
        for index in range(material.positions):
            position = position_at(swept, number, index)
            outcome = int(wdl[index])
            found = naive.Solved(
                outcome,
                int(dtc[index]) if abs(outcome) == 2 else None,
                int(dtw[index]) if outcome else None,
            )
            assert found == solved[position], position.to_fen()
            cursed += outcome == 1
    assert (cursed > 0) == (limit < 3)


def test_unfilled_captures_give_the_same_differences(arena: ValueArrays) -> None:
    out = np.empty((8, 5), np.int64)
    for number, material in enumerate(SLICES):
        indices = np.arange(0, material.positions, 7)
        assert differences(arena, number, indices, False, 30, out) == differences(
            arena, number, indices, True, 30, out
        )
        assert differences(arena, number, indices, False, 30, out)[1] == 0


def test_without_a_limit_no_outcome_is_cursed() -> None:
    unlimited = solve(list(materials(2)), NO_LIMIT)
    assert not np.isin(unlimited.wdl, (1, -1)).any()


# A sound set


def test_a_sound_set_passes(tables: Path, arena: ValueArrays) -> None:
    told: list[tuple[str, int, int]] = []
    report = verify(tables, jobs=2, progress=lambda *what: told.append(what))
    assert report.ok, list(map(str, report.findings))
    assert report.counted
    assert (report.slices, report.files, report.positions) == (len(SLICES), 3 * len(SLICES), 199_520)
    quiet = sum(
        not has_capture(*sets_at(arena.layout, number, index))
        for number, material in enumerate(SLICES)
        for index in range(material.positions)
    )
    assert report.compared == quiet
    assert report.metrics == SOLVED
    assert report.notes == []
    assert list(dict.fromkeys(name for name, _, _ in told)) == ["files", "compiling", "captures", "values"]
    for name in ("captures", "values"):
        assert [step for step in told if step[0] == name][-1] == (name, 199_520, 199_520)


def test_a_sample_passes_and_can_be_repeated(tables: Path) -> None:
    report = verify(tables, sample=0.05)
    assert report.ok
    assert not report.counted
    assert 4_000 < report.compared < 0.2 * 199_520
    again = verify(tables, sample=0.05, seed=report.seed, jobs=1)
    assert (again.seed, again.compared) == (report.seed, report.compared)
    assert verify(tables, sample=0.05, seed=1).compared != verify(tables, sample=0.05, seed=2).compared


def test_a_whole_sample_compares_as_much_as_all(tables: Path) -> None:
    assert verify(tables, sample=1.0).compared == verify(tables).compared


@pytest.mark.parametrize(
    "metrics", [(Metric.WDL,), (Metric.WDL, Metric.DTC), (Metric.WDL, Metric.DTW)], ids=str
)
def test_fewer_metrics_are_verified_as_far_as_they_go(
    metrics: tuple[Metric, ...], arena: ValueArrays, tmp_path: Path
) -> None:
    write(tmp_path, SLICES, arena, metrics)
    report = verify(tmp_path)
    assert report.ok, list(map(str, report.findings))
    assert report.metrics == metrics
    assert any(".dtc" in note for note in report.notes) == (Metric.DTC not in metrics)
    material = Material.parse("KKvM")
    change_value(tmp_path, material, Metric.WDL, places(arena, material, 2)[70], 0)
    assert the_problem(verify(tmp_path)).derived is Outcome.WIN


# One wrong value, resealed


@pytest.mark.parametrize(
    ("slice_name", "outcome", "metric", "value", "stored", "derived"),
    [
        ("KKvM", 2, Metric.WDL, 0, Outcome.DRAW, Outcome.WIN),
        ("KKvM", 2, Metric.WDL, 1, Outcome.CURSED_WIN, Outcome.WIN),
        ("KKvK", 0, Metric.WDL, -2, Outcome.LOSS, Outcome.DRAW),
        ("KvMM", -2, Metric.WDL, 2, Outcome.WIN, Outcome.LOSS),
        ("MMvM", 0, Metric.WDL, -1, Outcome.BLESSED_LOSS, Outcome.DRAW),
        ("KvM", 2, Metric.WDL, 7, None, Outcome.WIN),
        ("MvKM", -2, Metric.DTC, 29, 29, None),
        ("KMvM", 2, Metric.DTC, 30, 30, None),
        ("KMvM", 2, Metric.DTC, 300, 300, None),
        ("KvKK", -2, Metric.DTW, 40, 80, None),
        ("MMvM", 2, Metric.DTW, 40, 81, None),
    ],
)
@pytest.mark.parametrize("part", [0.2, 0.7])
def test_one_changed_value_is_named(
    copy: Path,
    arena: ValueArrays,
    slice_name: str,
    outcome: int,
    metric: Metric,
    value: int,
    stored: Outcome | int | None,
    derived: Outcome | None,
    part: float,
) -> None:
    material = Material.parse(slice_name)
    number = SLICES.index(material)
    found = places(arena, material, outcome)
    index = found[int(part * len(found))]
    change_value(copy, material, metric, index, value)
    problem = the_problem(verify(copy))
    assert (problem.material, problem.metric, problem.index) == (material, metric, index)
    assert problem.fen == position_at(arena, number, index).to_fen()
    _, dtc, dtw = values(arena, number)
    assert problem.derived == (derived or int((dtc if metric is Metric.DTC else dtw)[index]))
    if stored is not None:
        assert problem.stored == stored
    for part_of_message in (table_name(material, metric), str(index), problem.fen, str(problem.derived)):
        assert part_of_message in str(problem)


def test_sample_names_a_changed_value(copy: Path, arena: ValueArrays) -> None:
    material = Material.parse("KKvM")
    index = places(arena, material, 2)[1000]
    change_value(copy, material, Metric.WDL, index, 0)
    problem = the_problem(verify(copy, sample=1.0, seed=1))
    assert (problem.material, problem.metric, problem.index) == (material, Metric.WDL, index)


def test_sample_finds_the_root_cause_from_a_predecessor(copy: Path, arena: ValueArrays) -> None:
    """A loss made a draw shows at every position from which a move leads to it, and is named itself."""
    material = Material.parse("KvKK")
    index = places(arena, material, -2)[3]
    change_value(copy, material, Metric.WDL, index, 2)
    reports = [verify(copy, sample=0.1, seed=seed) for seed in range(8)]
    failed = [report for report in reports if not report.ok]
    assert failed
    assert {(p.material, p.index) for report in failed for p in report.findings} == {(material, index)}


def test_slots_of_capture_positions_are_ignored(copy: Path, arena: ValueArrays) -> None:
    material = Material.parse("KMvK")
    for wdl in (2, -2):
        for index in places(arena, material, wdl, capture=True)[:3]:
            change_value(copy, material, Metric.WDL, index, 0)
            change_value(copy, material, Metric.DTW, index, 77)
    for sample in (None, 0.3):
        assert verify(copy, sample=sample).ok


# Files


@pytest.mark.parametrize("metric", SOLVED)
@pytest.mark.parametrize("place", [0.0, 0.3, 0.9999])
def test_one_changed_byte_is_found(copy: Path, metric: Metric, place: float) -> None:
    path = copy / table_name(Material.parse("KKvM"), metric)
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 1
    path.write_bytes(content)
    problem = the_problem(verify(copy))
    assert (problem.material, problem.metric) == (Material.parse("KKvM"), metric)
    assert str(path) in str(problem)
    assert "SHA-256" in str(problem)


@pytest.mark.parametrize("more", [-1, 1])
def test_another_length_is_found(copy: Path, more: int) -> None:
    path = copy / "KvKM.dtw"
    content = path.read_bytes()
    path.write_bytes(content[:more] if more < 0 else content + b"\0" * more)
    message = str(the_problem(verify(copy)))
    assert f"{len(content) + more} bytes" in message
    assert str(len(content)) in message


def test_a_missing_file_is_found(copy: Path) -> None:
    (copy / "MvM.dtc").unlink()
    assert "MvM.dtc is in the manifest, but there is no such file" in str(the_problem(verify(copy)))
    (copy / "MvM.dtc").mkdir()
    assert "MvM.dtc is in the manifest, but it is a directory" in str(the_problem(verify(copy)))


def test_a_file_under_another_name_is_found(copy: Path) -> None:
    shutil.copy(copy / "KvM.wdl", copy / "MvK.wdl")
    manifest = Manifest.load(copy)
    manifest.slices[Material.parse("MvK")].files[Metric.WDL] = manifest.slices[Material.parse("KvM")].files[
        Metric.WDL
    ]
    manifest.save(copy)
    assert "says that it is KvM.wdl" in str(the_problem(verify(copy)))


def test_a_file_that_is_no_table_is_found(copy: Path) -> None:
    import hashlib

    from tablebase.tables.files import FileRecord

    (copy / "KvK.dtc").write_bytes(b"no table at all")
    manifest = Manifest.load(copy)
    manifest.slices[Material.parse("KvK")].files[Metric.DTC] = FileRecord(
        15, hashlib.sha256(b"no table at all").hexdigest()
    )
    manifest.save(copy)
    assert "KvK.dtc is not a table" in str(the_problem(verify(copy)))


def test_a_table_beside_the_manifest_is_noted(copy: Path) -> None:
    shutil.copy(copy / "KvM.wdl", copy / "KKKKvM.wdl")
    report = verify(copy)
    assert report.ok
    assert report.notes == ["KKKKvM.wdl is not in the manifest and was not checked"]


def test_a_metric_that_only_some_slices_have_is_noted(copy: Path) -> None:
    manifest = Manifest.load(copy)
    del manifest.slices[Material.parse("MMvM")].files[Metric.DTW]
    manifest.save(copy)
    (copy / "MMvM.dtw").unlink()
    report = verify(copy)
    assert report.ok
    assert report.metrics == (Metric.WDL, Metric.DTC)
    assert any(".dtw" in note for note in report.notes)


# The manifest


@pytest.mark.parametrize("name", ["win", "cursed_win", "draw", "blessed_loss", "loss"])
def test_wrong_counts_are_found(copy: Path, name: str) -> None:
    change_statistics(copy, Material.parse("KMvM"), **{name: 12_345})
    message = str(the_problem(verify(copy)))
    assert "KMvM" in message
    assert f"{name} is 12345 in the manifest" in message
    assert verify(copy, sample=0.01).ok  # a sample does not count


@pytest.mark.parametrize("name", ["dtw_wins", "dtw_losses", "dtc_wins", "dtc_losses"])
@pytest.mark.parametrize("more", [(1,), (0, 0, 0, 1), (0,) * 250 + (1,)])
def test_wrong_counts_by_plies_are_found(copy: Path, name: str, more: tuple[int, ...]) -> None:
    recorded = Manifest.load(copy).slices[Material.parse("KMvM")].statistics
    counts = [a + b for a, b in zip_longest(getattr(recorded, name), more, fillvalue=0)]
    change_statistics(copy, Material.parse("KMvM"), **{name: tuple(counts)})
    message = str(the_problem(verify(copy)))
    changed = next(plies for plies, count in enumerate(more) if count)
    assert f"the statistics of KMvM are wrong: {name} of {changed} plies is {counts[changed]} in" in message


def test_trailing_zero_counts_by_plies_are_found(copy: Path) -> None:
    recorded = Manifest.load(copy).slices[Material.parse("KMvM")].statistics
    assert recorded is not None
    assert recorded.dtw_wins is not None
    change_statistics(copy, Material.parse("KMvM"), dtw_wins=(*recorded.dtw_wins, 0))
    assert "the length of dtw_wins is" in str(the_problem(verify(copy)))


def test_missing_counts_by_plies_are_skipped(copy: Path) -> None:
    change_statistics(copy, Material.parse("KMvM"), dtw_wins=None, dtw_losses=None, dtc_wins=None)
    assert verify(copy).ok


@pytest.mark.parametrize("name", ["longest_win", "longest_loss", "longest_dtc_win"])
@pytest.mark.parametrize("wrong", ["plies", "none", "position", "fen"])
def test_wrong_longest_distances_are_found(copy: Path, name: str, wrong: str) -> None:
    changes: dict[str, Any] = {
        "plies": {f"{name}_plies": 99},
        "none": {f"{name}_plies": None, f"{name}_fen": None},
        "position": {f"{name}_fen": "W:WKa1:BKh8"},
        "fen": {f"{name}_fen": "nonsense"},
    }[wrong]
    change_statistics(copy, Material.parse("KMvM"), **changes)
    message = str(the_problem(verify(copy)))
    assert "KMvM" in message
    assert name in message


def test_another_position_as_long_is_as_good(copy: Path, arena: ValueArrays) -> None:
    material = Material.parse("KKvM")
    wdl, _, dtw = values(arena, SLICES.index(material))
    longest = np.flatnonzero((wdl > 0) & (dtw == dtw.max(where=wdl > 0, initial=0)))
    assert len(longest) > 1
    other = position_at(arena, SLICES.index(material), int(longest[-1]))
    change_statistics(copy, material, longest_win_fen=other.flip().to_fen())
    assert verify(copy).ok


def test_a_manifest_with_gaps_is_refused(copy: Path) -> None:
    manifest = Manifest.load(copy)
    del manifest.slices[Material.parse("KvK")]
    del manifest.slices[Material.parse("MvM")].files[Metric.WDL]
    manifest.slices[Material.parse("KKvM")].statistics = None
    change = manifest.slices[Material.parse("KvM")]
    assert change.statistics is not None
    change.statistics = replace(change.statistics, positions=5)
    manifest.save(copy)
    report = verify(copy)
    messages = "\n".join(map(str, report.findings))
    assert "MvK, but not KvK" in messages
    assert "KvKK, but not KvK" in messages
    assert "does not name MvM.wdl" in messages
    assert "no statistics of KKvM" in messages
    assert "KvM count 5 positions" in messages
    assert report.compared == 0


def test_a_directory_without_tables(tmp_path: Path) -> None:
    with pytest.raises(ManifestError):
        verify(tmp_path)
    Manifest(VERSION).save(tmp_path)
    assert "names no tables" in str(the_problem(verify(tmp_path)))


@pytest.mark.parametrize("sample", [0, -0.1, 1.01, float("nan")])
def test_sample_out_of_range_is_refused(tables: Path, sample: float) -> None:
    with pytest.raises(ArgumentError, match="sample"):
        verify(tables, sample=sample)


def test_no_jobs_are_refused(tables: Path) -> None:
    with pytest.raises(ArgumentError, match="got 0"):
        verify(tables, jobs=0)
