"""The verifier if the values do not fit in memory: it reads a sample from the files."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from two_counter_tables import change, position_at

from generator.errors import PlanError
from generator.verify.sample import SampledValues
from generator.verify.verify import Report, verify
from tablebase.board.material import Material
from tablebase.board.position import Position, legal_moves
from tablebase.rules.outcome import Outcome
from tablebase.rules.rulesets import OFFICIAL
from tablebase.tables.format import Metric, table_name
from tablebase.tables.manifest import Manifest
from tablebase.tables.table import Table

LITTLE = 1000  # bytes of memory


def probed(directory: Path, sample: float = 1.0, seed: int = 1, jobs: int = 2) -> Report:
    report = verify(directory, sample, jobs, seed=seed, memory=LITTLE)
    assert report.probed
    assert not report.counted
    return report


def the_problem(report: Report) -> Any:
    assert len(report.findings) == 1, list(map(str, report.findings))
    return report.findings[0]


def has_capture(position: Position) -> bool:
    moves = legal_moves(position)
    return bool(moves) and moves[0].is_capture


def stored(directory: Path, material: Material, metric: Metric) -> Any:
    with Table(directory / table_name(material, metric)) as table:
        return table.read_all()


def places(directory: Path, material: Material, wdl: int, count: int) -> list[int]:
    """So many indices of stored positions of this outcome, spread over a slice."""
    having = np.flatnonzero(stored(directory, material, Metric.WDL) == wdl)
    some = having[:: max(1, len(having) // 500)].tolist()
    quiet = [index for index in some if not has_capture(position_at(material, index))]
    return quiet[:: max(1, len(quiet) // count)]


def keep_metrics(directory: Path, metrics: tuple[Metric, ...]) -> None:
    manifest = Manifest.load(directory)
    for material, record in manifest.slices.items():
        for metric in set(record.files) - set(metrics):
            del record.files[metric]
            (directory / table_name(material, metric)).unlink()
    manifest.save(directory)


# What it takes


def test_too_little_memory_without_sample_is_refused(tables3: Path) -> None:
    with pytest.raises(
        PlanError, match=r"199,520 positions takes about .*, but the limit is 1 KB; .*--sample"
    ):
        verify(tables3, memory=LITTLE)


def test_available_memory_is_the_default_limit(tables3: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not verify(tables3, 0.01).probed
    monkeypatch.setattr("generator.verify.verify.available_memory", lambda: 1 << 19)
    assert verify(tables3, 0.01).probed
    with pytest.raises(PlanError, match="524 KB is available"):
        verify(tables3)
    assert verify(tables3, memory=1 << 30).counted


# A sound set


def test_a_whole_sample_compares_as_much_as_all(tables3: Path) -> None:
    report = probed(tables3)
    assert report.ok, list(map(str, report.findings))
    assert report.compared == verify(tables3).compared
    assert report.left_out == 0
    (note,) = report.notes
    assert "statistics were not counted" in note


def test_a_sample_can_be_repeated(tables3: Path) -> None:
    told: list[tuple[str, int, int]] = []
    report = verify(tables3, 0.05, 1, lambda *what: told.append(what), 7, LITTLE)
    assert report.ok
    assert probed(tables3, 0.05, 7).compared == report.compared
    assert 4_000 < report.compared < 0.2 * 199_520
    name, done, total = told[-1]
    assert name == "values"
    assert done == total


@pytest.mark.parametrize(
    "metrics", [(Metric.WDL,), (Metric.WDL, Metric.DTC), (Metric.WDL, Metric.DTW)], ids=str
)
def test_fewer_metrics_are_compared_as_far_as_they_go(copy3: Path, metrics: tuple[Metric, ...]) -> None:
    keep_metrics(copy3, metrics)
    report = probed(copy3)
    assert report.ok, list(map(str, report.findings))
    assert report.metrics == metrics
    assert any(".dtb" in note for note in report.notes)
    material = Material.parse("KKvM")
    index = places(copy3, material, 2, 3)[1]
    change(copy3, material, {index: 0})
    assert the_problem(probed(copy3)).derived is Outcome.WIN


# One wrong value


@pytest.mark.parametrize(
    ("slice_name", "outcome", "metric", "value", "derived"),
    [
        ("KKvM", 2, Metric.WDL, 0, Outcome.WIN),
        ("KKvM", 2, Metric.WDL, 1, Outcome.WIN),
        ("KKvK", 0, Metric.WDL, -2, Outcome.DRAW),
        ("MMvM", 0, Metric.WDL, -1, Outcome.DRAW),
        ("KMvK", 2, Metric.WDL, 1, Outcome.WIN),
        ("KvKM", 0, Metric.WDL, 1, Outcome.DRAW),
        ("KvM", 2, Metric.WDL, 7, Outcome.WIN),
        ("MvKM", -2, Metric.DTC, 29, None),
        ("KMvM", 2, Metric.DTC, 300, None),
        ("KvKK", -2, Metric.DTW, 40, None),
        ("MMvM", 2, Metric.DTW, 40, None),
        ("KMvK", 2, Metric.DTB, 9, None),
    ],
)
def test_one_changed_value_is_named(
    copy3: Path, slice_name: str, outcome: int, metric: Metric, value: int, derived: Outcome | None
) -> None:
    material = Material.parse(slice_name)
    for index in places(copy3, material, outcome, 3)[:3]:
        right = int(stored(copy3, material, metric)[index])
        change(copy3, material, {index: value}, metric)
        problem = the_problem(probed(copy3))
        assert (problem.material, problem.metric, problem.index) == (material, metric, index)
        assert problem.fen == position_at(material, index).to_fen()
        plies = 2 * right + (outcome > 0) if metric is Metric.DTW else right
        assert problem.derived == (derived or plies)
        change(copy3, material, {index: right}, metric)


def test_root_cause_is_found_from_a_predecessor(copy3: Path) -> None:
    """A loss made a win shows at every position from which a move leads to it, and is named itself."""
    material = Material.parse("KvKK")
    index = places(copy3, material, -2, 3)[1]
    change(copy3, material, {index: 2})
    failed = [report for seed in range(8) if not (report := probed(copy3, 0.1, seed)).ok]
    assert failed
    assert {(p.material, p.index) for report in failed for p in report.findings} == {(material, index)}


def test_slots_of_capture_positions_are_ignored(copy3: Path) -> None:
    material = Material.parse("KMvK")
    taking = [i for i in range(0, material.positions, 97) if has_capture(position_at(material, i))][:20]
    for metric in (Metric.WDL, Metric.DTC, Metric.DTW, Metric.DTB):
        now = stored(copy3, material, metric)
        change(copy3, material, {i: 2 if now[i] != 2 else -2 for i in taking}, metric)
    assert probed(copy3).ok


# Longest distances


def test_longest_positions_are_always_compared(copy3: Path) -> None:
    material = Material.parse("KMvM")
    statistics = Manifest.load(copy3).slices[material].statistics
    assert statistics is not None
    assert statistics.longest_win_fen is not None
    longest = Position.from_fen(statistics.longest_win_fen)
    assert not has_capture(longest)
    index = next(i for i in range(material.positions) if position_at(material, i) == longest)
    change(copy3, material, {index: 99}, Metric.DTW)
    for seed in range(3):
        problem = the_problem(probed(copy3, 1e-9, seed))
        assert (problem.material, problem.index) == (material, index)


@pytest.mark.parametrize("name", ["longest_win", "longest_loss", "longest_dtc_win", "longest_dtb_win"])
@pytest.mark.parametrize("wrong", ["plies", "no plies", "no position", "position", "fen"])
def test_wrong_longest_distances_are_found(copy3: Path, name: str, wrong: str) -> None:
    changes: dict[str, Any] = {
        "plies": {f"{name}_plies": 99},
        "no plies": {f"{name}_plies": None},
        "no position": {f"{name}_fen": None},
        "position": {f"{name}_fen": "W:WKa1:BKh8"},
        "fen": {f"{name}_fen": "nonsense"},
    }[wrong]
    manifest = Manifest.load(copy3)
    record = manifest.slices[Material.parse("KMvK")]
    assert record.statistics is not None
    record.statistics = replace(record.statistics, **changes)
    manifest.save(copy3)
    message = str(the_problem(probed(copy3, 0.001)))
    assert "the statistics of KMvK are wrong" in message
    assert f"{name}_fen is " in message


# Two counts, beyond what king moves may be played in a row


def test_dtb_beyond_king_limit_is_a_lower_bound(tables4: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(tables4, copy)
    material = Material.parse("KMMvK")
    slices = tuple(Manifest.load(copy).slices)
    wdl, dtb = stored(copy, material, Metric.WDL), stored(copy, material, Metric.DTB)
    won = np.flatnonzero((wdl == 2) & (dtb > 35))
    index = next(int(i) for i in won if not has_capture(position_at(material, i)))
    right = int(dtb[index])

    def found() -> tuple[Any, int]:
        with (
            ThreadPoolExecutor(2) as pool,
            SampledValues(copy, slices, tuple(Metric), OFFICIAL, pool, 2) as values,
        ):
            _, problem = values.compare_sample(1e-9, 1, {material: [index]}, lambda positions: None)
            return problem, values.left_out

    assert found() == (None, 0)
    change(copy, material, {index: right + 1}, Metric.DTB)
    assert found() == (None, 1)  # it might be: what its moves lead to is told from fresh counts
    change(copy, material, {index: right - 1}, Metric.DTB)
    problem, left_out = found()
    assert (problem.metric, problem.index, problem.derived) == (Metric.DTB, index, right)
    assert left_out == 0
