from collections.abc import Iterator
from itertools import combinations

import pytest
from hypothesis import given
from strategies import positions

from tablebase.board.material import Material, materials
from tablebase.board.position import Position
from tablebase.errors import IllegalPositionError
from tablebase.tables.index import index_of, rank, sets_at, unrank

SMALL = [material for pieces in (2, 3) for material in materials(pieces)]


def subsets(squares: list[int], size: int) -> list[int]:
    """Sets in colexicographic order: as numbers, they rise."""
    return sorted(sum(1 << square for square in subset) for subset in combinations(squares, size))


def without(squares: list[int], taken: int) -> list[int]:
    return [square for square in squares if not taken >> square & 1]


def in_order(material: Material) -> Iterator[tuple[int, int, int, int]]:
    """All positions of a slice in the order that docs/architecture.md gives, written as plain loops."""
    for own_men, other_men in blocks_in_order(material):
        free = without(list(range(32)), own_men | other_men)
        for other_kings in subsets(free, material.other_kings):
            for own_kings in subsets(without(free, other_kings), material.own_kings):
                yield own_men, own_kings, other_men, other_kings


def blocks_in_order(material: Material) -> Iterator[tuple[int, int]]:
    own_squares, other_squares = list(range(28)), list(range(4, 32))
    own = material.own_kings + material.own_men
    other = material.other_kings + material.other_men
    if own < other or (own == other and material.own_kings < material.other_kings):
        for own_men in subsets(own_squares, material.own_men):
            for other_men in subsets(without(other_squares, own_men), material.other_men):
                yield own_men, other_men
    else:
        for other_men in subsets(other_squares, material.other_men):
            for own_men in subsets(without(own_squares, other_men), material.own_men):
                yield own_men, other_men


@pytest.mark.parametrize("material", SMALL, ids=str)
def test_index_is_the_documented_order(material: Material) -> None:
    count = 0
    for index, sets in enumerate(in_order(material)):
        assert index_of(*sets) == index
        assert sets_at(material, index) == sets
        count += 1
    assert count == material.positions


@given(positions(max_pieces=6))
def test_index_and_sets_are_inverse(position: Position) -> None:
    sets = (position.own_men, position.own_kings, position.other_men, position.other_kings)
    material = Material.of(position)
    index = index_of(*sets)
    assert 0 <= index < material.positions
    assert sets_at(material, index) == sets


@pytest.mark.parametrize("text", ["KKMMvKKMM", "MMMMvMMMM", "KKKKvKKKK", "KMMMvM"])
def test_first_and_last_index(text: str) -> None:
    material = Material.parse(text)
    assert index_of(*sets_at(material, 0)) == 0
    last = material.positions - 1
    assert index_of(*sets_at(material, last)) == last
    for outside in (-1, last + 1):
        with pytest.raises(IndexError, match=f"0 to {last}, not {outside}"):
            sets_at(material, outside)


def test_man_on_its_last_row_has_no_index() -> None:
    for own_men, other_men in ((1 << 28, 1 << 20), (1 << 3, 1 << 3 | 1 << 20)):
        with pytest.raises(IllegalPositionError, match="last row"):
            index_of(own_men, 0, other_men, 0)


def test_rank_among_some_squares() -> None:
    among = 0b1011_0110
    assert rank(0b10, among) == 0
    # Of the squares 1, 2, 4, 5, 7 those at the places 2 and 4: C(2, 1) + C(4, 2).
    assert rank(0b1001_0000, among) == 8
    for number in range(10):
        assert rank(unrank(number, 2, among), among) == number
