"""Verification of a set of tables: its files, every stored value, and its statistics.

Every value is derived again from those of its successors (`generator.verify.derive`), by code that shares
only the rules with the solver. The distances prove the outcomes too. Each distance is one more than a
successor's, down to a capture or the end of the game, so no circle of wrong values can support itself. If the
ruleset counts the material balance as well, outcomes under both counts are derived anew for every position
(`generator.verify.two_counters`).
"""

import secrets
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from generator.errors import PlanError
from generator.machine import available_cores, available_memory, format_bytes
from generator.verify.files import check_file, check_manifest, listed_files, unlisted_files
from generator.verify.findings import Finding
from generator.verify.sample import SampledValues
from generator.verify.slices import StageProgress, stage_counter
from generator.verify.statistics import check_longest, check_statistics, longest_indices
from generator.verify.values import InMemoryValues, memory_of
from tablebase.board.material import Material
from tablebase.errors import ArgumentError
from tablebase.tables.files import generate_command
from tablebase.tables.format import Metric
from tablebase.tables.manifest import Manifest

__all__ = ["Finding", "Report", "StageProgress", "verify"]

_WITHOUT_DTB = (
    "without .dtb tables a sample does not check which wins become cursed by the counts of king moves and of "
    "the material balance together"
)


@dataclass
class Report:
    """What `verify` did and found.

    Attributes:
        directory: the data directory.
        sample: the part of the positions that was compared; None for all of them.
        seed: the random seed of the sample; None without a sample.
        slices: the number of slices in the manifest.
        positions: the number of their positions.
        files: the number of files checked.
        metrics: the metrics whose values were compared.
        compared: the number of stored positions compared with their successors. Capture positions are not
            stored.
        counted: whether the statistics were counted again.
        probed: whether values were read from the files one by one, because they do not all fit in memory.
        left_out: the number of compared positions that stay undecided, only if values were `probed`. Their
            values do not follow from their successors, but may be right: both counts together make draws.
        findings: what is wrong; empty if nothing is.
        notes: what was not checked, and why.
        seconds: the time taken.
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
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings


def verify(
    directory: Path | str,
    sample: float | None = None,
    jobs: int | None = None,
    progress: StageProgress | None = None,
    seed: int | None = None,
    memory: int | None = None,
) -> Report:
    """Check a data directory: its files against the manifest, its values, its statistics.

    Files come first; if one is wrong, values are not checked. Values are compared slice by slice, fewer
    pieces first, then fewer men, up to the first wrong one. All of them are held in memory, 4 bytes a
    position: 0.6 GB up to 5 pieces, 10 GB up to 6. Where two counts run, a pair of slices takes 7 bytes a
    position more in its turn. If they do not fit, a sample is read from the files, with its successors.

    Args:
        directory: the data directory.
        sample: the part of the positions of each slice to compare, 0 < sample <= 1; at least 256 positions,
            chosen at random. Statistics are not counted then. None compares all positions.
        jobs: the number of threads; None for one per core.
        progress: called with each stage, which is `files`, `compiling`, `captures` or `values`.
        seed: the random seed of the sample; None for a new one each time.
        memory: bytes of memory for the values; None for what the machine has available.

    Raises:
        PlanError: the values do not fit in memory, and there is no sample.
        ManifestError: the directory has no manifest, or it cannot be read.
        WrongVersionError: the manifest has another version.
        ArgumentError: the sample or the number of jobs is out of range.
        OSError: a file cannot be read.
    """
    if sample is not None and not 0 < sample <= 1:
        raise ArgumentError(f"the sample must be more than 0 and at most 1, got {sample}")
    jobs = available_cores() if jobs is None else jobs
    if jobs < 1:
        raise ArgumentError(f"the number of jobs must be at least 1, got {jobs}")
    began = time.monotonic()
    manifest = Manifest.load(directory)
    report = Report(
        Path(directory),
        sample,
        seed=None if sample is None else secrets.randbits(32) if seed is None else seed,
        slices=len(manifest.slices),
        positions=sum(material.positions for material in manifest.slices),
    )
    report.findings += check_manifest(manifest, report.directory)
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
    findings = pool.map(lambda file: check_file(manifest, report.directory, *file), files)
    for done, finding in enumerate(findings, 1):
        if finding is not None:
            report.findings.append(finding)
        if progress is not None:
            progress("files", done, len(files))
    report.files = len(files)
    report.notes += [
        f"{name} is not in the manifest and was not checked"
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
                f"only {having} of {len(wanted)} slices have a .{metric} table, so these were not compared; "
                f"{_to_complete(report, manifest)} makes the others"
            )
    if Metric.DTW not in report.metrics:
        if Metric.DTC not in report.metrics:
            report.notes.append(
                "without .dtc and .dtw tables outcomes were only compared with each other: "
                "wrong wins that lead to each other in a circle would not be found"
            )
        elif manifest.ruleset.king_moves_plies is not None:
            report.notes.append(
                "without .dtw tables cursed wins were only compared with each other: "
                "wrong ones that lead to each other in a circle would not be found"
            )
    if Metric.DTC not in report.metrics and manifest.ruleset.king_moves_plies is not None:
        report.notes.append(
            "without .dtc tables the limit of king moves was not checked: "
            "wins that it makes cursed may be wrong"
        )


def _choose_memory(report: Report, manifest: Manifest, memory: int | None) -> None:
    """Decide whether all values are held in memory, or a sample is read from the files."""
    needed = memory_of(manifest.slices, report.metrics, manifest.ruleset)
    limit = available_memory() if memory is None else memory
    if needed <= limit:
        return
    there = f"{format_bytes(limit)} is available" if memory is None else f"the limit is {format_bytes(limit)}"
    if report.sample is None:
        raise PlanError(
            f"comparing all values of {report.positions:,} positions takes about {format_bytes(needed)} of "
            f"memory, but {there}; allow more with --memory, or compare a part of the positions "
            "with --sample, which needs little memory"
        )
    report.probed = True
    report.notes.append(
        f"all values take about {format_bytes(needed)} of memory, but {there}: "
        "the sample was read from the files; statistics were not counted, "
        "and longest distances were only checked at the positions that the manifest names"
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
        examples = {Material.parse(s.material): longest_indices(values, s) for s in statistics}
        counter = stage_counter(progress, "values", values.sample_size(report.sample))
        report.compared, finding = values.compare_sample(report.sample, report.seed, examples, counter)
        report.findings += [finding] if finding else []
        if report.ok:
            found = (check_longest(values, recorded, report.directory) for recorded in statistics)
            report.findings += [finding for finding in found if finding is not None]
    report.left_out = values.left_out
    if values.two_counts and Metric.DTB not in report.metrics:
        report.notes.append(f"{_WITHOUT_DTB}; a run over all values checks it, if they fit in memory")
    if report.left_out:
        report.notes.append(
            f"{report.left_out:,} of the compared positions were left out: their values do not follow from "
            "their successors, but may be right, as the counts of king moves and of the material balance "
            "together make draws"
        )


def _compile(values: InMemoryValues | SampledValues, progress: StageProgress | None) -> None:
    if progress is not None:
        progress("compiling", 0, 1)
    values.compile()
    if progress is not None:
        progress("compiling", 1, 1)


def _check_values(
    report: Report, manifest: Manifest, pool: ThreadPoolExecutor, jobs: int, progress: StageProgress | None
) -> None:
    values = InMemoryValues(report.directory, manifest.slices, report.metrics, manifest.ruleset, pool, jobs)
    _compile(values, progress)
    if report.sample is not None and report.seed is not None:
        if values.two_counts and Metric.DTB not in report.metrics:
            report.notes.append(f"{_WITHOUT_DTB}; a run without --sample checks it")
        total = values.sample_size(report.sample)
        counter = stage_counter(progress, "values", total)
        report.compared, finding = values.compare_sample(report.sample, report.seed, counter)
        report.findings += [finding] if finding else []
        return
    values.fill(stage_counter(progress, "captures", report.positions))
    report.compared, finding = values.compare(stage_counter(progress, "values", report.positions))
    if finding is not None:
        report.findings.append(finding)
        return
    for record in manifest.slices.values():
        if record.statistics is not None:
            finding = check_statistics(values, record.statistics, report.directory)
            report.findings += [finding] if finding else []
    report.counted = True


@contextmanager
def _threads(jobs: int) -> Iterator[ThreadPoolExecutor]:
    pool = ThreadPoolExecutor(jobs)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
