"""A random position, as plain data for JSON."""

from __future__ import annotations

from random import Random
from typing import Annotated, TypedDict

from tablebase.catalog import Catalog
from tablebase.errors import NoSuchPositionError, TooRareError
from tablebase.material import Material
from tablebase.outcome import Outcome
from tablebase.randomposition import random_position


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
    most_probed: int | None = None,
) -> RandomReport:
    """A random position, White to move, of a material that has a table.

    Args:
        catalog: the materials.
        material: one of these; None for any: each that has the outcome is as likely as any other.
        outcome: the wanted outcome; None for any.
        seed: where chance comes from.
        most_probed: as of `random_position`.

    Raises:
        NoSuchPositionError: there is no such position.
        TooRareError: none was found among `most_probed`.
        TableError: a table is there but cannot be read.
    """
    random = Random(seed)
    candidates = catalog.materials if material is None else (material,)
    possible = [each for each in candidates if outcome is None or catalog.may_have(each, outcome)]
    if possible:
        chosen = random.choice(possible)
        position = random_position(catalog.tablebase, chosen, outcome, random, most_probed)
        if position is not None:
            return {
                "fen": position.to_fen(),
                "material": str(chosen),
                "outcome": str(catalog.tablebase.get_probe(position).outcome),
                "seed": seed,
            }
        if most_probed is not None and most_probed < chosen.positions:
            raise TooRareError(
                f"the outcome {outcome} is so rare in {chosen} that none of {most_probed} positions has it; "
                "another seed may find one"
            )
    if not candidates:
        raise NoSuchPositionError("there are no tables here, and so no positions of them")
    raise NoSuchPositionError(
        f"{material or 'what has tables here'} has no position of the outcome {outcome}; ask for another"
    )
