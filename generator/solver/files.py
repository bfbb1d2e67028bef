"""Restore a pair of slices from its files, and write a solved pair to files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from generator.materials import with_mirror
from generator.solver.encode import SliceCounts, keep_longest, read_stored
from generator.solver.results import Results
from generator.solver.solver import Pair, SliceSolver
from tablebase import __version__
from tablebase.board.material import Material
from tablebase.rules.rulesets import Ruleset
from tablebase.tables.format import MapFunction, Metric, table_name, write_packed
from tablebase.tables.manifest import SliceRecord
from tablebase.tables.table import Table


def restores_from(with_scores: bool) -> list[Metric]:
    """Return the metrics whose files the solver needs to restore a slice; no other slice depends on DTB."""
    return [Metric.WDL, Metric.DTC] + ([Metric.DTW] if with_scores else [])


def can_restore(pair: Material, slices: Mapping[Material, SliceRecord], with_scores: bool) -> bool:
    """Whether the files of a pair hold all that the solver needs to restore it."""
    wanted = set(restores_from(with_scores))
    return all(m in slices and slices[m].files.keys() >= wanted for m in with_mirror(pair))


def restore_pair(
    solver: SliceSolver,
    pair: Material,
    directory: Path,
    slices: Mapping[Material, SliceRecord],
    run: MapFunction,
) -> Pair:
    """Fill in the successor tables of a pair from its files, or solve it again if files are missing.

    Args:
        solver: the solver with the successor tables.
        pair: the pair.
        directory: the directory of the files.
        slices: the records of the manifest.
        run: does the work, such as the `map` of a ThreadPoolExecutor.

    Returns:
        The values of the pair; those of positions with a capture may be wrong.

    Raises:
        TableError: a file is damaged.
        OSError: a file cannot be read.
        DistanceOverflowError: a distance does not fit the solver.
        StoppedError: the solver was stopped.
    """
    if not can_restore(pair, slices, solver.with_scores):
        return solver.solve(pair)
    own = _read(solver, pair, directory, run)
    results = own, own if pair == pair.mirror else _read(solver, pair.mirror, directory, run)
    solver.restore(pair, results)
    return results


def _read(solver: SliceSolver, material: Material, directory: Path, run: MapFunction) -> Results:
    """Read the values of a material from its files."""
    results = solver.empty_results(material)
    for metric in restores_from(solver.with_scores):
        with Table(directory / table_name(material, metric)) as table:
            read_stored(metric, table.read_all(run), results)
    return results


def write_pair(
    directory: Path,
    pair: Material,
    solved: Pair,
    metrics: Sequence[Metric],
    ruleset: Ruleset,
    before: Mapping[Material, SliceRecord],
    run: MapFunction,
) -> dict[Material, SliceRecord]:
    """Write the tables of a solved pair.

    Args:
        directory: the directory to write to.
        pair: the pair.
        solved: its values.
        metrics: the metrics to store.
        ruleset: the draw rules that the outcomes obey.
        before: records of the files that exist already; files of other metrics stay.
        run: does the work, such as the `map` of a ThreadPoolExecutor.

    Returns:
        The records of the pair's materials for the manifest.

    Raises:
        OSError: a file cannot be written.
    """
    entries = {}
    for material, results in zip(with_mirror(pair), solved, strict=False):
        was = before.get(material)
        files = dict(was.files) if was else {}
        counts = SliceCounts(results)
        for metric in metrics:
            if not metric.fits(material, ruleset):
                continue
            alphabet, pack = counts.packed(metric)
            files[metric] = write_packed(
                directory / table_name(material, metric),
                material,
                metric,
                ruleset,
                alphabet,
                pack,
                generator_version=__version__,
                run=run,
            )
        in_order = {metric: files[metric] for metric in Metric if metric in files}
        counted = counts.statistics(material)
        if was and was.statistics:
            counted = keep_longest(counted, was.statistics, files.keys() - set(metrics))
        entries[material] = SliceRecord(in_order, counted)
    return entries
