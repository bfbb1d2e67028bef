"""A material and its mirror: from their files to a solver that goes on from them, from a solver to files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from generator.materials import with_mirror
from generator.solver.encode import SliceCounts, keep_longest, read_stored
from generator.solver.results import Results
from generator.solver.solver import Pair, SliceSolver
from tablebase import __version__
from tablebase.board.material import Material
from tablebase.rules.rulesets import Ruleset
from tablebase.tables.format import Mapping as Map
from tablebase.tables.format import Metric, table_name, write_packed
from tablebase.tables.manifest import SliceRecord
from tablebase.tables.table import Table


def restores_from(with_scores: bool) -> list[Metric]:
    """The metrics whose files hold what a solver needs to know of a solved slice. (DTB is no other slice's
    business.)"""
    return [Metric.WDL, Metric.DTC] + ([Metric.DTW] if with_scores else [])


def can_restore(pair: Material, slices: Mapping[Material, SliceRecord], with_scores: bool) -> bool:
    """Whether the files of a pair hold all that a solver needs to know of it."""
    wanted = set(restores_from(with_scores))
    return all(m in slices and slices[m].files.keys() >= wanted for m in with_mirror(pair))


def restore_pair(
    crew: SliceSolver, pair: Material, directory: Path, slices: Mapping[Material, SliceRecord], run: Map
) -> Pair:
    """Fill in the after tables of a pair from its files in a directory; or, where these do not hold enough,
    by solving it again. Returns its values, of positions without a capture.

    Raises:
        TableError: a file is damaged.
        OSError: a file cannot be read.
    """
    if not can_restore(pair, slices, crew.with_scores):
        return crew.solve(pair)
    own = _read(crew, pair, directory, run)
    results = own, own if pair == pair.mirror else _read(crew, pair.mirror, directory, run)
    crew.restore(pair, results)
    return results


def _read(crew: SliceSolver, material: Material, directory: Path, run: Map) -> Results:
    results = crew.empty_results(material)
    for metric in restores_from(crew.with_scores):
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
    run: Map,
) -> dict[Material, SliceRecord]:
    """Write the tables of a solved pair.

    Args:
        directory: where to.
        pair: the pair.
        solved: its values.
        metrics: what to store of it.
        ruleset: what outcomes hold under.
        before: records of what is there already, with files of other metrics that stay.
        run: does the work, e.g. the `map` of a ThreadPoolExecutor.

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
