"""Verification of a set of tables: its files, every stored value, and its statistics.

Every value is derived once more from those of its successors (`generator.verify.derive`), by code that shares
nothing with the solver but the rules. With the distances this proves the outcomes too: each distance is one
more than a successor's, all the way down to a capture or to the end of a game, which leaves no room for a
circle of values that only hold each other up. Where the ruleset counts the balance of forces as well, what
both counts make of a position together is worked out anew for every one (`generator.verify.two_counters`).
"""

import secrets
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from generator.errors import PlanError
from generator.plan import available_cores, available_memory, format_bytes
from generator.verify.files import file_problem, listed_files, manifest_problems, unlisted_files
from generator.verify.problems import Problem
from generator.verify.sample import SampledValues
from generator.verify.slices import StageProgress, stage_counter
from generator.verify.statistics import example_places, examples_problem, statistics_problem
from generator.verify.values import Values, memory_of
from tablebase.board.material import Material
from tablebase.errors import ArgumentError
from tablebase.tables.files import generate_command
from tablebase.tables.format import Metric
from tablebase.tables.manifest import Manifest

__all__ = ["Problem", "Report", "StageProgress", "verify"]

_WITHOUT_DTB = (
    "without .dtb tables a sample does not check which wins the counts of king moves and of the balance of "
    "forces, taken together, make cursed"
)


@dataclass
class Report:
    """What `verify` did and found.

    Attributes:
        directory: the data directory.
        sample: the part of the positions that was compared; None for all of them.
        seed: of the choice, to repeat it; None without a sample.
        slices: how many slices the manifest has.
        positions: how many positions those have.
        files: how many files were checked.
        metrics: those whose values were compared.
        compared: how many stored positions were compared with what follows from their successors. A position
            with a capture is not stored.
        counted: whether the statistics were counted again.
        probed: whether values were looked up in the files, as all of them do not fit in memory.
        left_out: how many of the compared positions were left out after all, where values were looked up:
            theirs do not follow from their successors', and may be right, as two counts together make draws.
        problems: what is wrong; empty if nothing is.
        notes: what was not checked, and why.
        seconds: how long it took.
    """

    directory: Path
    sample: float | None = None
    seed: int | None = None
    slices: int = 0
    positions: int = 0
    files: int = 0
    metrics: tuple[Metric, ...] = ()
    compared: int = 0
    counted: bool = False
    probed: bool = False
    left_out: int = 0
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def verify(
    directory: Path | str,
    sample: float | None = None,
    jobs: int | None = None,
    progress: StageProgress | None = None,
    seed: int | None = None,
    memory: int | None = None,
) -> Report:
    """Check a data directory: its files against the manifest, its values against each other, its statistics.

    Files come first; where one is wrong, values are not looked at. Values are compared slice by slice, fewer
    pieces first, then fewer men, up to the first that is wrong. All of them are held in memory, 4 bytes a
    position: 0.6 GB up to 5 pieces, 10 GB up to 6. Where two counts run, a slice takes 7 more in its turn.
    Where they do not fit, those of a sample are looked up in the files, with their successors'.

    Args:
        directory: the data directory.
        sample: compare only this part of the positions of each slice, 0 < sample <= 1, chosen at random, and
            256 at least. Statistics are not counted then.
        jobs: threads; None for one a core.
        progress: told how far it has come.
        seed: of the sample; None for another one each time.
        memory: bytes that the values may take; None for what the machine has available.

    Raises:
        PlanError: the values do not fit in memory, and no sample is asked for.
        ManifestError, WrongVersionError: the directory has no manifest that can be read.
        ArgumentError: the sample or the number of jobs makes no sense.
        OSError: a file cannot be read.
    """
    if sample is not None and not 0 < sample <= 1:
        raise ArgumentError(
            f"a sample of {sample}; a sample is a part of all positions, more than 0, 1 at most"
        )
    jobs = available_cores() if jobs is None else jobs
    if jobs < 1:
        raise ArgumentError(f"{jobs} jobs; it takes one or more")
    began = time.monotonic()
    manifest = Manifest.load(directory)
    report = Report(
        Path(directory),
        sample,
        seed=None if sample is None else secrets.randbits(32) if seed is None else seed,
        slices=len(manifest.slices),
        positions=sum(material.positions for material in manifest.slices),
    )
    report.problems += manifest_problems(manifest, report.directory)
    if report.ok:
        _choose_metrics(report, manifest)
        _choose_memory(report, manifest, memory)
    with _threads(jobs) as pool:
        _check_files(report, manifest, pool, progress)
        if report.ok:
            check = _probe_values if report.probed else _check_values
            check(report, manifest, pool, jobs, progress)
    report.seconds = time.monotonic() - began
    return report


def _check_files(
    report: Report, manifest: Manifest, pool: ThreadPoolExecutor, progress: StageProgress | None
) -> None:
    files = listed_files(manifest)
    problems = pool.map(lambda file: file_problem(manifest, report.directory, *file), files)
    for done, problem in enumerate(problems, 1):
        if problem is not None:
            report.problems.append(problem)
        if progress is not None:
            progress("files", done, len(files))
    report.files = len(files)
    report.notes += [
        f"{name} is not in the manifest and was not looked at"
        for name in unlisted_files(manifest, report.directory)
    ]


def _to_complete(report: Report, manifest: Manifest) -> str:
    most = max(material.pieces for material in manifest.slices)
    return generate_command(report.directory, most)


def _choose_metrics(report: Report, manifest: Manifest) -> None:
    for metric in Metric:
        wanted = [m for m in manifest.slices if metric.fits(m, manifest.ruleset)]
        having = sum(metric in manifest.slices[material].files for material in wanted)
        if having == len(wanted) > 0:
            report.metrics += (metric,)
        elif having:
            report.notes.append(
                f"{having} of {len(wanted)} slices have a .{metric} table: their values were not compared, "
                f"which takes all; {_to_complete(report, manifest)} completes them"
            )
    if Metric.DTW not in report.metrics:
        if Metric.DTC not in report.metrics:
            report.notes.append(
                "without .dtc and .dtw tables outcomes were only checked for agreement with each other: "
                "a circle of wins that hold each other up would pass"
            )
        elif manifest.ruleset.king_moves_plies is not None:
            report.notes.append(
                "without .dtw tables cursed wins were only checked for agreement with each other: "
                "a circle of them that hold each other up would pass"
            )
    if Metric.DTC not in report.metrics and manifest.ruleset.king_moves_plies is not None:
        report.notes.append(
            "without .dtc tables nothing tells whether king moves stay within the limit of the rules: "
            "whether a win is cursed was not checked where this decides it"
        )


def _choose_memory(report: Report, manifest: Manifest, memory: int | None) -> None:
    """Decide whether values are held in memory, all of them."""
    needed = memory_of(manifest.slices, report.metrics, manifest.ruleset)
    limit = available_memory() if memory is None else memory
    if needed <= limit:
        return
    there = f"{format_bytes(limit)} {'available' if memory is None else 'given'}"
    if report.sample is None:
        raise PlanError(
            f"comparing all values of {report.positions:,} positions takes about {format_bytes(needed)} of "
            f"memory, of {there}; give more with --memory, or compare a part of them with --sample, "
            "which takes little"
        )
    report.probed = True
    report.notes.append(
        f"all values take about {format_bytes(needed)} of memory, of {there}: "
        "those of the sample were looked up in the files; statistics were not counted, "
        "and of the longest distances only the positions that the manifest names were looked at"
    )


def _probe_values(
    report: Report, manifest: Manifest, pool: ThreadPoolExecutor, jobs: int, progress: StageProgress | None
) -> None:
    assert report.sample is not None
    assert report.seed is not None
    statistics = [record.statistics for record in manifest.slices.values() if record.statistics]
    with SampledValues(
        report.directory, manifest.slices, report.metrics, manifest.ruleset, pool, jobs
    ) as values:
        _compile(values, progress)
        examples = {Material.parse(s.material): example_places(values, s) for s in statistics}
        counter = stage_counter(progress, "values", values.sample_size(report.sample))
        report.compared, problem = values.compare_sample(report.sample, report.seed, examples, counter)
        report.problems += [problem] if problem else []
        if report.ok:
            found = (examples_problem(values, recorded, report.directory) for recorded in statistics)
            report.problems += [problem for problem in found if problem is not None]
    report.left_out = values.left_out
    if values.two_counts and Metric.DTB not in report.metrics:
        report.notes.append(f"{_WITHOUT_DTB}; all values do, where they fit in memory")
    if report.left_out:
        report.notes.append(
            f"{report.left_out:,} of the compared positions were left out: their values do not follow from "
            "those after their moves, where the counts of king moves and of the balance of forces, taken "
            "together, may make draws"
        )


def _compile(values: Values | SampledValues, progress: StageProgress | None) -> None:
    if progress is not None:
        progress("compiling", 0, 1)
    values.compile()
    if progress is not None:
        progress("compiling", 1, 1)


def _check_values(
    report: Report, manifest: Manifest, pool: ThreadPoolExecutor, jobs: int, progress: StageProgress | None
) -> None:
    values = Values(report.directory, manifest.slices, report.metrics, manifest.ruleset, pool, jobs)
    _compile(values, progress)
    if report.sample is not None and report.seed is not None:
        if values.two_counts and Metric.DTB not in report.metrics:
            report.notes.append(f"{_WITHOUT_DTB}; all values do: leave --sample out")
        total = values.sample_size(report.sample)
        counter = stage_counter(progress, "values", total)
        report.compared, problem = values.compare_sample(report.sample, report.seed, counter)
        report.problems += [problem] if problem else []
        return
    values.fill(stage_counter(progress, "captures", report.positions))
    report.compared, problem = values.compare(stage_counter(progress, "values", report.positions))
    if problem is not None:
        report.problems.append(problem)
        return
    for record in manifest.slices.values():
        if record.statistics is not None:
            problem = statistics_problem(values, record.statistics, report.directory)
            report.problems += [problem] if problem else []
    report.counted = True


@contextmanager
def _threads(jobs: int) -> Iterator[ThreadPoolExecutor]:
    pool = ThreadPoolExecutor(jobs)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
