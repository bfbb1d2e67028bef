"""Solve whole slices by sweeps until nothing changes, and write tables from them, to test the verifier."""

from pathlib import Path
from typing import Any

import numpy as np

from generator.verify.derive import ValueArrays, differences, fill_captures
from tablebase.board.material import Material
from tablebase.board.position import Position
from tablebase.kernels.index import layout_of, sets_at
from tablebase.rules.rulesets import OFFICIAL
from tablebase.tables.format import Metric, stored_dtw, table_name, write_table
from tablebase.tables.manifest import Manifest, SliceRecord, Statistics

VERSION = "test"
CHUNK = 4096
SOLVED = (Metric.WDL, Metric.DTC, Metric.DTW)
"""What is solved here; test_twocounts.py has DTB."""


def solve(slices: list[Material], limit: int) -> ValueArrays:
    """Return all values: compare them with their successors and correct them until nothing differs."""
    layout = layout_of(slices)
    slots = int(layout.start[-1])
    arena = ValueArrays(
        layout, np.zeros(slots, np.int8), np.zeros(slots, np.uint8), np.zeros(slots, np.uint16)
    )
    for pieces in sorted({material.pieces for material in slices}):
        numbers = [number for number, material in enumerate(slices) if material.pieces == pieces]
        for number in numbers:
            fill_captures(arena, number, 0, slices[number].positions, True)
        for pair in pairs([slices[number] for number in numbers]):
            while sum(improve(arena, slices.index(material), material.positions, limit) for material in pair):
                pass
    return arena


def pairs(slices: list[Material]) -> list[set[Material]]:
    return list({material: {material, material.mirror} for material in slices}.values())


def improve(arena: ValueArrays, number: int, positions: int, limit: int) -> int:
    improved = 0
    # Chunk by chunk from the end, where men have the fewest steps left: values spread faster this way.
    for first in reversed(range(0, positions, CHUNK)):
        out = np.empty((CHUNK, 5), np.int64)
        indices = np.arange(first, min(first + CHUNK, positions))
        _, found = differences(arena, number, indices, True, limit, out)
        slots = arena.layout.start[number] + out[:found, 0]
        arena.wdl[slots], arena.dtc[slots], arena.dtw[slots] = out[:found, 2:].T
        improved += found
    return improved


def values(arena: ValueArrays, number: int) -> tuple[Any, Any, Any]:
    span = slice(int(arena.layout.start[number]), int(arena.layout.start[number + 1]))
    return arena.wdl[span], arena.dtc[span], arena.dtw[span]


def position_at(arena: ValueArrays, number: int, index: int) -> Position:
    own_men, own_kings, other_men, other_kings = sets_at(arena.layout, number, index)
    return Position(own_men, own_kings, other_men, other_kings)


def statistics(arena: ValueArrays, number: int, material: Material) -> Statistics:
    wdl, dtc, dtw = values(arena, number)

    def longest(distances: Any, having: Any) -> tuple[int | None, str | None]:
        if not having.any():
            return None, None
        index = int(np.argmax(np.where(having, distances.astype(int), -1)))
        return int(distances[index]), position_at(arena, number, index).to_fen()

    counts = [int((wdl == outcome).sum()) for outcome in (2, 1, 0, -1, -2)]
    examples = (*longest(dtw, wdl > 0), *longest(dtw, wdl < 0), *longest(dtc, wdl == 2))
    of = {
        "dtw_wins": dtw[wdl > 0],
        "dtw_losses": dtw[wdl < 0],
        "dtc_wins": dtc[wdl == 2],
        "dtc_losses": dtc[wdl == -2],
    }
    by_plies = {
        name: tuple(int((plies == each).sum()) for each in range(1 + max(plies.tolist(), default=-1)))
        for name, plies in of.items()
    }
    return Statistics(str(material), material.positions, *counts, *examples, **by_plies)


def write(directory: Path, slices: list[Material], arena: ValueArrays, metrics: tuple[Metric, ...]) -> None:
    manifest = Manifest(VERSION, OFFICIAL)
    for number, material in enumerate(slices):
        wdl, dtc, dtw = values(arena, number)
        stored = {Metric.WDL: wdl, Metric.DTC: dtc, Metric.DTW: np.array(stored_dtw(dtw))}
        record = SliceRecord(statistics=statistics(arena, number, material))
        for metric in metrics:
            path = directory / table_name(material, metric)
            record.files[metric] = write_table(
                path, material, metric, OFFICIAL, stored[metric], generator_version=VERSION
            )
        manifest.slices[material] = record
    manifest.save(directory)
