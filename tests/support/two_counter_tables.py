"""Write tables from a naive solution under two counts, to test the verifier."""

from pathlib import Path

import numpy as np
from naive_two_counters import DEEPEST, Graph, Solution

from tablebase.board.material import Material
from tablebase.board.position import Position
from tablebase.rules.ruleset import Ruleset
from tablebase.tables.format import Metric, stored_dtw, table_name, write_table
from tablebase.tables.index import index_of, sets_at
from tablebase.tables.manifest import Manifest, SliceRecord, Statistics
from tablebase.tables.table import Table

MAN_AND_KING = Material.parse("KMvK")
SLICES = tuple(map(Material.parse, ("KvK", "KvM", "MvK", "KKvK", "KvKK", "KMvK", "KvKM")))
"""What king and man against king can become, and their mirrors."""


def write(directory: Path, graph: Graph, solution: Solution, dtw: dict[int, int], ruleset: Ruleset) -> None:
    manifest = Manifest("test", ruleset)
    for material in SLICES:
        wdl, dtc, plies, dtb = (np.zeros(material.positions, np.int16) for _ in range(4))
        for number, position in enumerate(graph.positions):
            if not position.wm | position.wk or Material.of(position) != material:
                continue
            index = index_of(position.wm, position.wk, position.bm, position.bk)
            plies[index] = dtw.get(number, 0)
            on_board = 0 if number not in dtw else 1 if dtw[number] % 2 else -1
            wdl[index] = solution.fresh[number] or on_board
            # A draw has no DTC: store an arbitrary value, which may be right for a win at this index or not.
            dtc[index] = solution.dtc[number] if solution.fresh[number] or index % 2 else 0
            # A draw has no DTB either.
            dtb[index] = solution.needed[number] if solution.fresh[number] else index % DEEPEST
        record = SliceRecord(statistics=statistics(material, wdl, dtc, plies, dtb, ruleset))
        stored = {Metric.WDL: wdl, Metric.DTC: dtc, Metric.DTW: np.array(stored_dtw(plies)), Metric.DTB: dtb}
        for metric, values in stored.items():
            if not metric.fits(material, ruleset):
                continue
            record.files[metric] = write_table(
                directory / table_name(material, metric),
                material,
                metric,
                ruleset,
                values,
                generator_version="test",
            )
        manifest.slices[material] = record
    manifest.save(directory)


def statistics(
    material: Material,
    wdl: np.ndarray,
    dtc: np.ndarray,
    plies: np.ndarray,
    dtb: np.ndarray,
    ruleset: Ruleset,
) -> Statistics:
    longest: list[int | str | None] = []
    balance = (wdl == 2) & ruleset.counts_material_separately(material)
    for distances, having in ((plies, wdl > 0), (plies, wdl < 0), (dtc, wdl == 2), (dtb, balance)):
        if not having.any():
            longest += [None, None]
            continue
        index = int(np.argmax(np.where(having, distances, -1)))
        longest += [int(distances[index]), position_at(material, index).to_fen()]
    counts = [int((wdl == outcome).sum()) for outcome in (2, 1, 0, -1, -2)]
    return Statistics(str(material), material.positions, *counts, *longest)  # type: ignore[arg-type]


def position_at(material: Material, index: int) -> Position:
    return Position(*sets_at(material, index))


def change(directory: Path, material: Material, changes: dict[int, int], metric: Metric = Metric.WDL) -> None:
    """Store other outcomes or distances, with right checksums."""
    path = directory / table_name(material, metric)
    with Table(path) as table:
        stored = table.read_all()
    for index, value in changes.items():
        assert stored[index] != value
        stored[index] = value
    manifest = Manifest.load(directory)
    manifest.slices[material].files[metric] = write_table(
        path, material, metric, manifest.ruleset, stored, generator_version="test"
    )
    manifest.save(directory)
