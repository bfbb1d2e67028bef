"""Materials and random positions as plain data for JSON.

Every function returns what `json.dumps` takes as it is, in a fixed order of keys.
"""

from __future__ import annotations

from random import Random
from typing import Annotated, TypedDict

from tablebase.board.material import Material
from tablebase.errors import NoSuchPositionError, TooRareError
from tablebase.probe.catalog import Catalog
from tablebase.probe.random import random_position
from tablebase.report.positions import in_moves
from tablebase.rules.outcome import Outcome
from tablebase.tables.manifest import Statistics


class MaterialReport(TypedDict):
    """A material, and how many positions of it have which outcome."""

    material: Annotated[str, "the pieces of both sides, those of the side to move first, kings before men"]
    pieces: Annotated[int, "how many pieces there are, of both sides"]
    men: Annotated[int, "how many of them are men"]
    positions: Annotated[int, "how many positions there are"]
    win: Annotated[
        int | None, "how many positions are wins for the side to move; null where nothing was counted"
    ]
    cursed_win: Annotated[
        int | None, "how many positions are cursed wins for the side to move; null where nothing was counted"
    ]
    draw: Annotated[
        int | None, "how many positions are draws for the side to move; null where nothing was counted"
    ]
    blessed_loss: Annotated[
        int | None,
        "how many positions are blessed losses for the side to move; null where nothing was counted",
    ]
    loss: Annotated[
        int | None, "how many positions are losses for the side to move; null where nothing was counted"
    ]
    longest_win_plies: Annotated[
        int | None, "the greatest DTW of a win or cursed win; null where there is none, or not known"
    ]
    longest_dtc_win_plies: Annotated[
        int | None, "the greatest DTC of a win; null where there is none, or not known"
    ]
    metrics: Annotated[list[str], "which tables there are: wdl, dtc, dtw, dtb"]
    mirror: Annotated[str, "the same pieces with the other side to move"]


class MaterialsReport(TypedDict):
    """Every material that has a table of outcomes."""

    ruleset: Annotated[str, "the rules that the tables assume"]
    pieces: Annotated[int, "up to how many pieces all materials have tables; 0 where there are none"]
    version: Annotated[str, "a name for what all tables hold, which changes with any of them"]
    materials: Annotated[list[MaterialReport], "fewer pieces first, then fewer men, then by name"]


class LongestReport(TypedDict):
    """The greatest distance of its kind."""

    plies: Annotated[int, "the distance"]
    moves: Annotated[int, "the same in moves"]
    fen: Annotated[str, "a position that has it"]


class LongestReports(TypedDict):
    """The greatest distances of a material; null where there are none, or nothing is known."""

    dtw_win: Annotated[LongestReport | None, "DTW of a win or cursed win"]
    dtw_loss: Annotated[LongestReport | None, "DTW of a loss or blessed loss"]
    dtc_win: Annotated[LongestReport | None, "DTC of a win"]
    dtb_win: Annotated[LongestReport | None, "DTB of a win, where it is not DTC"]


class HistogramsReport(TypedDict):
    """How many positions have a distance of 0, 1, 2, ... plies; null where that was not counted."""

    dtw_win: Annotated[list[int] | None, "by DTW, of wins and cursed wins"]
    dtw_loss: Annotated[list[int] | None, "by DTW, of losses and blessed losses"]
    dtc_win: Annotated[list[int] | None, "by DTC, of wins"]
    dtc_loss: Annotated[list[int] | None, "by DTC, of losses"]


class FileReport(TypedDict):
    """A table file, as the manifest has it."""

    size: Annotated[int, "in bytes"]
    sha256: Annotated[str, "in hexadecimal"]


class MaterialDetailsReport(MaterialReport):
    """A material, with all that is known of it."""

    longest: Annotated[LongestReports, "the greatest distances"]
    depends_on: Annotated[list[str], "the materials that one move can lead to, the mirror left out"]
    histograms: Annotated[HistogramsReport, "how distances are spread"]
    files: Annotated[dict[str, FileReport], "the tables, by metric"]


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
    """Return the facts of a material that has a table."""
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
    """Return all facts of a material that has a table."""
    after = material.successors() - {material.mirror}
    return {
        **material_report(catalog, material),
        "longest": _longest(catalog.statistics(material)),
        "depends_on": [str(other) for other in sorted(after, key=Material.sort_key)],
        "histograms": _histograms(catalog.statistics(material)),
        "files": {
            str(metric): {"size": record.size, "sha256": record.sha256}
            for metric, record in catalog.files(material).items()
        },
    }


def _histograms(counted: Statistics | None) -> HistogramsReport:
    if counted is None:
        return {"dtw_win": None, "dtw_loss": None, "dtc_win": None, "dtc_loss": None}
    return {
        "dtw_win": _listed(counted.dtw_wins),
        "dtw_loss": _listed(counted.dtw_losses),
        "dtc_win": _listed(counted.dtc_wins),
        "dtc_loss": _listed(counted.dtc_losses),
    }


def _listed(counts: tuple[int, ...] | None) -> list[int] | None:
    return None if counts is None else list(counts)


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


class RandomReport(TypedDict):
    """A random position."""

    fen: Annotated[str, "the position"]
    material: Annotated[str, "its material"]
    outcome: Annotated[str, Outcome, "for the side to move, from fresh counters"]
    seed: Annotated[int, "what gives the same position again, with the same parameters"]


def random_report(
    catalog: Catalog,
    material: Material | None,
    outcome: Outcome | None,
    seed: int,
    max_probed: int | None = None,
) -> RandomReport:
    """Return a random position, White to move, of a material that has a table.

    Args:
        catalog: the materials.
        material: one of these; None for any: each that has the outcome is as likely as any other.
        outcome: the wanted outcome; None for any.
        seed: where chance comes from.
        max_probed: as of `random_position`.

    Raises:
        NoSuchPositionError: there is no such position.
        TooRareError: none was found among `max_probed`.
        TableError: a table is there but cannot be read.
    """
    random = Random(seed)
    candidates = catalog.materials if material is None else (material,)
    possible = [each for each in candidates if outcome is None or catalog.may_have(each, outcome)]
    if possible:
        chosen = random.choice(possible)
        position = random_position(catalog.tablebase, chosen, outcome, random, max_probed)
        if position is not None:
            return {
                "fen": position.to_fen(),
                "material": str(chosen),
                "outcome": str(catalog.tablebase.get_probe(position).outcome),
                "seed": seed,
            }
        if max_probed is not None and max_probed < chosen.positions:
            raise TooRareError(
                f"the outcome {outcome} is so rare in {chosen} that none of {max_probed} positions has it; "
                "another seed may find one"
            )
    if not candidates:
        raise NoSuchPositionError("there are no tables here, and so no positions of them")
    raise NoSuchPositionError(
        f"{material or 'what has tables here'} has no position of the outcome {outcome}; ask for another"
    )
