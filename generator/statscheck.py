"""The part of verification that looks at statistics: those of the manifest, counted again."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.problem import Problem
from generator.valuecheck import Longest, Values
from tablebase.board import Position
from tablebase.datadir import generate_command
from tablebase.errors import TablebaseError
from tablebase.format import table_name
from tablebase.kernels.scalarindex import slot_of
from tablebase.manifest import Statistics
from tablebase.material import Material


class _Example(NamedTuple):
    """A longest distance of the manifest: its name, plies and position; and what is counted again, None where
    it was not."""

    name: str
    plies: int | None
    fen: str | None
    counted: Longest | None


def statistics_problem(values: Values, recorded: Statistics, directory: Path) -> Problem | None:
    """What is wrong with the statistics of a slice, if anything. After `Values.fill` and `Values.compare`.

    Longest distances that no table is there for are passed over.
    """
    material = Material.parse(recorded.material)
    wdl, dtc, dtw = values.values_of(material)
    counts = {outcome: int(np.count_nonzero(wdl == outcome)) for outcome in (2, 1, 0, -1, -2)}
    checks: list[tuple[str, int | None, int | None]] = [
        ("win", recorded.win, counts[2]),
        ("cursed_win", recorded.cursed_win, counts[1]),
        ("draw", recorded.draw, counts[0]),
        ("blessed_loss", recorded.blessed_loss, counts[-1]),
        ("loss", recorded.loss, counts[-2]),
    ]
    r = recorded
    examples = [
        _Example("longest_win", r.longest_win_plies, r.longest_win_fen, _longest(dtw, wdl > 0)),
        _Example("longest_loss", r.longest_loss_plies, r.longest_loss_fen, _longest(dtw, wdl < 0)),
        _Example("longest_dtc_win", r.longest_dtc_win_plies, r.longest_dtc_win_fen, _longest(dtc, wdl == 2)),
        _Example(
            "longest_dtb_win", r.longest_dtb_win_plies, r.longest_dtb_win_fen, values.longest_dtb(material)
        ),
    ]
    for name, plies, _, counted in examples:
        if counted is not None:
            checks.append((f"{name}_plies", plies, counted.plies))
    for name, said, found in checks:
        if said != found:
            return Problem(
                f"the statistics of {material} are wrong: {name} is {said} in the manifest, "
                f"but {found} counted again; {_made_again(values, material, directory)}",
                material,
            )
    for name, _, fen, counted in examples:
        if counted is None:
            continue
        index = None if fen is None else _index(values, material, fen)
        fits = (counted.plies is None) if fen is None else index is not None and index in counted.places
        if not fits:
            return Problem(
                f"the statistics of {material} are wrong: {name}_fen is {fen}, which is no position of the "
                f"slice with {counted.plies} plies; {_made_again(values, material, directory)}",
                material,
                fen=fen,
            )
    return None


def _longest(distances: NDArray[Any] | None, having: NDArray[np.bool_]) -> Longest | None:
    if distances is None:
        return None
    if not having.any():
        return Longest(None, np.zeros(0, np.int64))
    plies = int(distances.max(where=having, initial=0))
    return Longest(plies, np.flatnonzero(having & (distances == plies)))


def _made_again(values: Values, material: Material, directory: Path) -> str:
    """What to do for a slice to be solved and counted again: a run keeps what is whole."""
    names = ", ".join(table_name(material, metric) for metric in values.metrics_of(material))
    return f"delete {names}, and run {generate_command(directory, material.pieces)}"


def _index(values: Values, material: Material, fen: str) -> int | None:
    """The index of a position in a slice; None if it is not in it."""
    try:
        position = Position.from_fen(fen)
    except TablebaseError:
        return None
    if Material.of(position) != material:
        return None
    sets = position.own_men, position.own_kings, position.other_men, position.other_kings
    layout = values.arena.layout
    return int(slot_of(layout, *sets) - layout.start[values.number(material)])
