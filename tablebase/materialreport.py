"""What is told about materials, as plain data for JSON: tables, counts, the longest wins.

Every function returns what `json.dumps` takes as it is, in a fixed order of keys.
"""

from __future__ import annotations

from typing import TypedDict

from tablebase.catalog import Catalog
from tablebase.manifest import Statistics
from tablebase.material import Material
from tablebase.report import in_moves


class MaterialReport(TypedDict):
    """A material: how many positions it has, and how many of each outcome for the side to move; None where
    nothing has been counted."""

    material: str
    pieces: int
    men: int
    positions: int
    win: int | None
    cursed_win: int | None
    draw: int | None
    blessed_loss: int | None
    loss: int | None
    longest_win_plies: int | None
    longest_dtc_win_plies: int | None
    metrics: list[str]
    mirror: str


class MaterialsReport(TypedDict):
    """Every material that has a table of outcomes."""

    ruleset: str
    pieces: int
    version: str
    materials: list[MaterialReport]


class LongestReport(TypedDict):
    """A position with the greatest distance of its kind."""

    plies: int
    moves: int
    fen: str


class LongestReports(TypedDict):
    """The greatest distances of a material; None where there is no such position, or nothing is known."""

    dtw_win: LongestReport | None
    dtw_loss: LongestReport | None
    dtc_win: LongestReport | None
    dtb_win: LongestReport | None


class HistogramsReport(TypedDict):
    """How many positions have a distance of 0, 1, 2, ... plies; None where that has not been counted."""

    dtw_win: list[int] | None
    dtw_loss: list[int] | None
    dtc_win: list[int] | None
    dtc_loss: list[int] | None


class FileReport(TypedDict):
    """A table file, as the manifest has it."""

    size: int
    sha256: str


class MaterialDetailsReport(MaterialReport):
    """A material, with all that is known of it."""

    longest: LongestReports
    depends_on: list[str]
    histograms: HistogramsReport
    files: dict[str, FileReport]


def materials_report(catalog: Catalog) -> MaterialsReport:
    """Every material of a set of tables."""
    tablebase = catalog.tablebase
    return {
        "ruleset": tablebase.ruleset.name,
        "pieces": tablebase.pieces,
        "version": catalog.version,
        "materials": [material_report(catalog, material) for material in catalog.materials],
    }


def material_report(catalog: Catalog, material: Material) -> MaterialReport:
    """A material that has a table."""
    counted = catalog.statistics(material)
    return {
        "material": str(material),
        "pieces": material.pieces,
        "men": material.men,
        "positions": material.positions,
        "win": None if counted is None else counted.win,
        "cursed_win": None if counted is None else counted.cursed_win,
        "draw": None if counted is None else counted.draw,
        "blessed_loss": None if counted is None else counted.blessed_loss,
        "loss": None if counted is None else counted.loss,
        "longest_win_plies": None if counted is None else counted.longest_win_plies,
        "longest_dtc_win_plies": None if counted is None else counted.longest_dtc_win_plies,
        "metrics": [str(metric) for metric in catalog.metrics(material)],
        "mirror": str(material.mirror),
    }


def material_details_report(catalog: Catalog, material: Material) -> MaterialDetailsReport:
    """A material that has a table, with all that is known of it."""
    leads_to = material.after_a_move() - {material.mirror}
    return {
        **material_report(catalog, material),
        "longest": _longest(catalog.statistics(material)),
        "depends_on": [str(other) for other in sorted(leads_to, key=lambda m: (m.pieces, m.men, str(m)))],
        "histograms": {"dtw_win": None, "dtw_loss": None, "dtc_win": None, "dtc_loss": None},
        "files": {
            str(metric): {"size": record.size, "sha256": record.sha256}
            for metric, record in catalog.files(material).items()
        },
    }


def _longest(counted: Statistics | None) -> LongestReports:
    if counted is None:
        return {"dtw_win": None, "dtw_loss": None, "dtc_win": None, "dtb_win": None}
    return {
        "dtw_win": _distance(counted.longest_win_plies, counted.longest_win_fen),
        "dtw_loss": _distance(counted.longest_loss_plies, counted.longest_loss_fen),
        "dtc_win": _distance(counted.longest_dtc_win_plies, counted.longest_dtc_win_fen),
        "dtb_win": _distance(counted.longest_dtb_win_plies, counted.longest_dtb_win_fen),
    }


def _distance(plies: int | None, fen: str | None) -> LongestReport | None:
    if plies is None or fen is None:
        return None
    return {"plies": plies, "moves": in_moves(plies) or 0, "fen": fen}
