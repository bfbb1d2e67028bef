"""Random positions of a material with a wanted outcome, rare ones too."""

from pathlib import Path
from random import Random

import numpy as np
import pytest

from tablebase import Material, MissingTableError, Outcome, open_tablebase
from tablebase.board.material import materials
from tablebase.board.position import Color, has_capture
from tablebase.probe.catalog import Catalog
from tablebase.probe.random import random_position
from tablebase.tables.index import sets_at, sets_at_each


@pytest.mark.parametrize(("compiled", "pieces"), [(True, 3), (False, 2)])
def test_every_outcome_of_every_small_material(tables3: Path, compiled: bool, pieces: int) -> None:
    with open_tablebase(tables3, compiled=compiled) as tablebase:
        catalog = Catalog(tablebase, tables3)
        for material in catalog.materials:
            counted = catalog.statistics(material)
            assert counted is not None
            if material.pieces > pieces:
                continue
            for outcome in set(Outcome) - {Outcome.UNKNOWN}:
                count = getattr(counted, outcome.value.replace("-", "_"))
                found = random_position(tablebase, material, outcome, Random(5))
                assert (found is not None) == (count > 0), (material, outcome)
                if found is not None:
                    assert (Material.of(found), found.turn) == (material, Color.WHITE)
                    assert tablebase.probe(found).outcome is outcome


@pytest.mark.parametrize(
    ("name", "outcome"),
    [("KKKvK", Outcome.DRAW), ("KKvMM", Outcome.LOSS), ("MvKKK", Outcome.WIN), ("KKvKK", Outcome.WIN)],
)
def test_rare_outcomes_are_found(tables4: Path, name: str, outcome: Outcome) -> None:
    material = Material.parse(name)
    with open_tablebase(tables4) as tablebase:
        counted = Catalog(tablebase, tables4).statistics(material)
        assert counted is not None
        found = {random_position(tablebase, material, outcome, Random(seed)) for seed in range(3)}
        assert None not in found
        assert {tablebase.probe(position).outcome for position in found if position} == {outcome}
        if name == "KKvMM":  # one position has it, and in that one there is a capture
            assert (counted.loss, len(found)) == (1, 1)
            assert all(position and has_capture(position) for position in found)
            assert random_position(tablebase, material, outcome, Random(0), max_probed=10) is None


def test_same_seed_gives_the_same_position(tables3: Path) -> None:
    material = Material.parse("KKvM")
    with open_tablebase(tables3) as tablebase:
        for outcome in (None, Outcome.WIN):
            first, again, other = (
                random_position(tablebase, material, outcome, Random(seed)) for seed in (1, 1, 2)
            )
            assert first == again != other
        with pytest.raises(MissingTableError, match="KKKKvK"):
            random_position(tablebase, Material.parse("KKKKvK"), Outcome.DRAW, Random(1), max_probed=0)


def test_sets_of_many_indices_equal_sets_of_each() -> None:
    for pieces in (2, 3, 4):
        for material in materials(pieces):
            places = np.unique(np.linspace(0, material.positions - 1, 300).astype(np.int64))
            found = sets_at_each(material, places)
            assert found.tolist() == [list(sets_at(material, place)) for place in places.tolist()], material
    big = Material.parse("KKKMMvKKMM")
    for place in (0, big.positions - 1, big.positions // 3):
        assert sets_at_each(big, np.array([place])).tolist() == [list(sets_at(big, place))]
    with pytest.raises(IndexError, match="KvK has the positions 0 to 991"):
        sets_at_each(Material.parse("KvK"), np.array([992]))
