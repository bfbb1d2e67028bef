import csv
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paths import GOLDEN
from strategies import random_positions

from tablebase.board.material import Material, materials
from tablebase.board.position import Color, Position, legal_moves, position_after
from tablebase.errors import MaterialError
from tablebase.tables.index import sets_at

COUNTS = GOLDEN / "endgame_counts.csv"
# All positions of n pieces, both sides present: published with the counts.
TOTALS = {
    2: 3_488,
    3: 196_032,
    4: 6_209_316,
    5: 139_450_808,
    6: 2_426_085_676,
    7: 34_243_113_624,
    8: 403_190_250_561,
}


@given(st.tuples(*[st.integers(0, 6)] * 4).filter(lambda n: n[0] + n[1] and n[2] + n[3]))
def test_text_round_trips(counts: tuple[int, int, int, int]) -> None:
    material = Material(*counts)
    assert Material.parse(str(material)) == material
    assert material.mirror.mirror == material
    assert str(material.mirror).split("v") == str(material).split("v")[::-1]
    assert material.pieces == sum(counts) == material.mirror.pieces


def test_parse_material() -> None:
    assert Material.parse("KKMvK") == Material(own_kings=2, own_men=1, other_kings=1, other_men=0)
    assert Material.parse("MvKMM") == Material(own_kings=0, own_men=1, other_kings=1, other_men=2)


@pytest.mark.parametrize(
    "text", ["", "v", "KvS", "KKMv", "vK", "MKvK", "KKMK", "kvk", "KvKvK", " KvK", "KvK\n"]
)
def test_invalid_texts_are_rejected(text: str) -> None:
    with pytest.raises(MaterialError, match="like KKMvK"):
        Material.parse(text)


@pytest.mark.parametrize("counts", [(-1, 1, 1, 0), (0, 29, 1, 0), (20, 0, 13, 0)])
def test_invalid_counts_are_rejected(counts: tuple[int, int, int, int]) -> None:
    with pytest.raises(MaterialError, match="no board holds"):
        Material(*counts)


def test_position_counts() -> None:
    with COUNTS.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 50
    for row in rows:
        material = Material.parse(row["material"])
        assert (material.positions, material.pieces) == (int(row["positions"]), int(row["pieces"]))


@pytest.mark.parametrize("pieces", TOTALS)
def test_materials_of_n_pieces(pieces: int) -> None:
    found = list(materials(pieces))
    assert len(found) == len(set(found)) == sum((n + 1) * (pieces - n + 1) for n in range(1, pieces))
    assert {material.pieces for material in found} == {pieces}
    assert sum(material.positions for material in found) == TOTALS[pieces]


def test_materials_come_after_their_successors() -> None:
    order = [material for pieces in (2, 3, 4) for material in materials(pieces)]
    random = Random(1)
    for place, material in enumerate(order):
        before = {*order[:place], material.mirror}
        for _ in range(40):
            position = Position(*sets_at(material, random.randrange(material.positions)), Color.WHITE)
            assert Material.of(position) == Material.of(position.flip()) == material
            for move in legal_moves(position):
                after = Material.of(position_after(position, move))
                assert after in before or not after.own_kings + after.own_men


def test_successors() -> None:
    seen: dict[Material, set[Material]] = {}
    for position in random_positions(3000, seed=3, max_pieces=5):
        material = Material.of(position)
        for move in legal_moves(position):
            after = position_after(position, move)
            if after.own_men | after.own_kings:
                seen.setdefault(material, set()).add(Material.of(after))
    for material, found in seen.items():
        assert found <= material.successors(), material
    assert seen[Material(2, 0, 1, 0)] == Material(2, 0, 1, 0).successors() == {Material(1, 0, 2, 0)}
    told = {str(material) for material in Material(1, 1, 0, 2).successors()}
    assert told == {"MMvKM", "MvKM", "MMvKK", "MvKK"}
