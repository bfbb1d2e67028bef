"""Whole tables in memory: when they are decoded, and how many are kept."""

from pathlib import Path

import numpy as np
import pytest

from tablebase.board.material import Material
from tablebase.probe.decoded import DecodedTables
from tablebase.rules.rulesets import OFFICIAL
from tablebase.tables.format import Metric, table_name, write_table
from tablebase.tables.table import Table

KINGS, MEN = Material.parse("KvK"), Material.parse("KvM")


def made(folder: Path, material: Material, highest: int) -> Table:
    values = np.random.default_rng(1).integers(0, highest, material.positions, np.int16)
    path = folder / table_name(material, Metric.DTC)
    write_table(path, material, Metric.DTC, OFFICIAL, values, generator_version="test")
    return Table(path)


@pytest.mark.parametrize(("highest", "width"), [(1, 1), (100, 1), (128, 1), (300, 2)])
def test_decoded_values_equal_the_table_in_the_narrowest_type(
    tmp_path: Path, highest: int, width: int
) -> None:
    tables = DecodedTables()
    with made(tmp_path, KINGS, highest) as table:
        indices = np.random.default_rng(2).permutation(KINGS.positions)
        for _ in range(2):
            assert tables.values(table, indices).tolist() == table.read_all()[indices].tolist()
        assert tables.used_bytes == width * KINGS.positions


def test_few_values_do_not_decode_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablebase.probe.decoded._DECODE_SPEEDUP", 100)
    tables = DecodedTables()
    few = np.array([3, 1, 2, 3])
    with made(tmp_path, KINGS, 50) as table:  # 992 positions
        expected = table.read_all()[few].tolist()
        for _ in range(2):
            assert tables.values(table, few).tolist() == expected
            assert tables.used_bytes == 0
        assert tables.values(table, few).tolist() == expected
        assert tables.used_bytes == KINGS.positions
        tables.clear()
        assert tables.used_bytes == 0
        assert tables.values(table, few).tolist() == expected
        assert tables.used_bytes == 0


def test_budget_keeps_the_table_used_last(tmp_path: Path) -> None:
    every = np.arange(KINGS.positions)
    small = np.arange(MEN.positions)
    with made(tmp_path, KINGS, 50) as kings, made(tmp_path, MEN, 50) as men:
        tables = DecodedTables(KINGS.positions + 1)
        for _ in range(2):
            for table, indices in ((kings, every), (men, small)):
                assert (tables.values(table, indices) == table.read_all()[indices]).all()
                assert tables.used_bytes == table.header.positions
        none = DecodedTables(MEN.positions - 1)
        assert (none.values(men, small) == men.read_all()).all()
        assert none.used_bytes == 0
