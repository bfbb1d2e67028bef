"""The kernels' index is held to the library's: two workings of the same definition."""

import numpy as np
import pytest

from tablebase.board.material import Material, materials
from tablebase.kernels.index import layout_of, sets_at, slot_of
from tablebase.tables import index as indexing

SLICES = [material for pieces in (2, 3, 4, 5) for material in materials(pieces)]
LAYOUT = layout_of(SLICES)


def test_slices_are_contiguous() -> None:
    sizes = [material.positions for material in SLICES]
    assert LAYOUT.start.tolist() == [0, *np.cumsum(sizes).tolist()]
    assert LAYOUT.start[-1] == 145_859_644


@pytest.mark.parametrize("number", range(len(SLICES)), ids=map(str, SLICES))
def test_index_matches_tables_index(number: int) -> None:
    material = SLICES[number]
    chosen = np.random.default_rng(number).integers(0, material.positions, 100).tolist()
    for index in [0, material.positions - 1, *chosen]:
        sets = sets_at(LAYOUT, number, index)
        assert sets == indexing.sets_at(material, index)
        assert slot_of(LAYOUT, *sets) == LAYOUT.start[number] + index


def test_every_position_of_two_pieces_has_its_slot() -> None:
    slots = [
        slot_of(LAYOUT, *indexing.sets_at(material, index))
        for material in materials(2)
        for index in range(material.positions)
    ]
    assert slots == list(range(3488))


def test_a_slice_of_seven_pieces() -> None:
    material = Material(1, 3, 1, 2)
    layout = layout_of([material])
    for index in (0, 12_345_678, material.positions - 1):
        sets = sets_at(layout, 0, index)
        assert sets == indexing.sets_at(material, index)
        assert slot_of(layout, *sets) == index


def test_a_missing_slice_has_no_slot() -> None:
    layout = layout_of([Material(1, 0, 1, 0)])
    assert slot_of(layout, 0, 2, 0, 1) == 0
    assert slot_of(layout, 0, 3, 0, 4) == -1
    assert slot_of(layout, 1, 0, 0, 4) == -1
