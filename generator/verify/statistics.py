"""The verifier's check of statistics: those of the manifest, counted again."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.verify.findings import Finding
from generator.verify.sample import SampledValues
from generator.verify.slices import SliceSet
from generator.verify.values import InMemoryValues, Longest
from tablebase.board.material import Material
from tablebase.board.position import Position
from tablebase.errors import TablebaseError
from tablebase.kernels.index import slot_of
from tablebase.tables.files import generate_command
from tablebase.tables.format import Metric, table_name
from tablebase.tables.manifest import COUNTS_BY_PLIES, Statistics

_AT_ONCE = 1 << 22  # distances counted at a time: numpy needs eight bytes for each


class _Longest(NamedTuple):
    """A longest distance of the manifest: its name, metric, plies and position."""

    name: str
    metric: Metric
    plies: int | None
    fen: str | None


def _longest_recorded(recorded: Statistics) -> tuple[_Longest, ...]:
    r = recorded
    return (
        _Longest("longest_win", Metric.DTW, r.longest_win_plies, r.longest_win_fen),
        _Longest("longest_loss", Metric.DTW, r.longest_loss_plies, r.longest_loss_fen),
        _Longest("longest_dtc_win", Metric.DTC, r.longest_dtc_win_plies, r.longest_dtc_win_fen),
        _Longest("longest_dtb_win", Metric.DTB, r.longest_dtb_win_plies, r.longest_dtb_win_fen),
    )


def check_statistics(values: InMemoryValues, recorded: Statistics, directory: Path) -> Finding | None:
    """Return what is wrong with the statistics of a slice, or None.

    Call it after `InMemoryValues.fill` and `InMemoryValues.compare`. Longest distances of a metric without
    tables are skipped.
    """
    material = Material.parse(recorded.material)
    wdl, dtc, dtw = values.values_of(material)
    counts = {outcome: int(np.count_nonzero(wdl == outcome)) for outcome in (2, 1, 0, -1, -2)}
    checks: list[tuple[str, object, object]] = [
        ("win", recorded.win, counts[2]),
        ("cursed_win", recorded.cursed_win, counts[1]),
        ("draw", recorded.draw, counts[0]),
        ("blessed_loss", recorded.blessed_loss, counts[-1]),
        ("loss", recorded.loss, counts[-2]),
    ]
    longest = (
        _longest(dtw, wdl > 0),
        _longest(dtw, wdl < 0),
        _longest(dtc, wdl == 2),
        values.longest_dtb(material),
    )
    examples = [
        (example, counted)
        for example, counted in zip(_longest_recorded(recorded), longest, strict=True)
        if counted is not None
    ]
    checks += [(f"{example.name}_plies", example.plies, counted.plies) for example, counted in examples]
    checks += _counts_by_plies(recorded, wdl, dtc, dtw)
    for name, said, found in checks:
        if said != found:
            return Finding(
                f"the statistics of {material} are wrong: {name} is {said} in the manifest, "
                f"but {found} counted again; {_made_again(values, material, directory)}",
                material,
            )
    for example, counted in examples:
        fen = example.fen
        index = None if fen is None else _index(values, material, fen)
        fits = (counted.plies is None) if fen is None else index is not None and index in counted.indices
        if not fits:
            return _wrong_longest(values, material, example, directory)
    return None


def _counts_by_plies(
    recorded: Statistics, wdl: NDArray[Any], dtc: NDArray[Any] | None, dtw: NDArray[Any] | None
) -> Iterator[tuple[str, object, object]]:
    """Yield each count by plies that can be compared: its name, the recorded count, the count found now."""
    of = ((dtw, wdl > 0), (dtw, wdl < 0), (dtc, wdl == 2), (dtc, wdl == -2))
    for name, (distances, having) in zip(COUNTS_BY_PLIES, of, strict=True):
        said = getattr(recorded, name)
        if said is not None and distances is not None:
            counted = _by_plies(distances, having)
            for plies, counts in enumerate(zip_longest(said, counted, fillvalue=0)):
                yield f"{name} of {plies} plies", *counts
            yield f"the length of {name}", len(said), len(counted)


def _by_plies(distances: NDArray[Any], having: NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the number of positions with each distance, from 0 to the greatest."""
    counts = np.zeros(np.iinfo(distances.dtype).max + 1, dtype=np.int64)
    for first in range(0, len(distances), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        counts += np.bincount(distances[part][having[part]], minlength=len(counts))
    return tuple(np.trim_zeros(counts, "b").tolist())


def longest_indices(values: SliceSet, recorded: Statistics) -> list[int]:
    """Return the indices of the positions that the manifest names as the longest of a slice.

    Positions that are not in the slice are left out.
    """
    material = Material.parse(recorded.material)
    fens = {example.fen for example in _longest_recorded(recorded) if example.fen is not None}
    indices = (_index(values, material, fen) for fen in sorted(fens))
    return [index for index in indices if index is not None]


def check_longest(values: SampledValues, recorded: Statistics, directory: Path) -> Finding | None:
    """Return what is wrong with the longest distances of a slice, or None.

    Only the positions that the manifest names are compared. A longer distance elsewhere is not found.
    """
    material = Material.parse(recorded.material)
    for example in _longest_recorded(recorded):
        unknown = example.plies is None and example.fen is None
        if unknown or example.metric not in values.metrics_of(material):
            continue
        index = None if example.fen is None else _index(values, material, example.fen)
        if index is None or not _fits(example, values.values_at(material, [index])[0].tolist()):
            return _wrong_longest(values, material, example, directory)
    return None


def _fits(example: _Longest, values: list[int]) -> bool:
    """Whether a position with this outcome, DTC, DTW and DTB has the longest distance."""
    wdl, dtc, dtw, dtb = values
    if example.metric is Metric.DTW:
        return (wdl < 0 if example.name == "longest_loss" else wdl > 0) and dtw == example.plies
    return wdl == 2 and (dtc if example.metric is Metric.DTC else dtb) == example.plies


def _wrong_longest(values: SliceSet, material: Material, example: _Longest, directory: Path) -> Finding:
    return Finding(
        f"the statistics of {material} are wrong: {example.name}_fen is {example.fen}, which is no position "
        f"of the slice with {example.plies} plies; {_made_again(values, material, directory)}",
        material,
        fen=example.fen,
    )


def _longest(distances: NDArray[Any] | None, having: NDArray[np.bool_]) -> Longest | None:
    if distances is None:
        return None
    if not having.any():
        return Longest(None, np.zeros(0, np.int64))
    plies = int(distances.max(where=having, initial=0))
    return Longest(plies, np.flatnonzero(having & (distances == plies)))


def _made_again(values: SliceSet, material: Material, directory: Path) -> str:
    """Return the advice to solve and count a slice again. A run keeps files that are whole."""
    names = ", ".join(table_name(material, metric) for metric in values.metrics_of(material))
    return f"delete {names}, and run {generate_command(directory, material=str(material))}"


def _index(values: SliceSet, material: Material, fen: str) -> int | None:
    """Return the index of a position in a slice, or None if it is not in it."""
    try:
        position = Position.from_fen(fen)
    except TablebaseError:
        return None
    if Material.of(position) != material:
        return None
    sets = position.own_men, position.own_kings, position.other_men, position.other_kings
    return int(slot_of(values.layout, *sets) - values.layout.start[values.slice_id(material)])
