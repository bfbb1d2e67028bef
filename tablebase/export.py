"""All positions of a material with their values, chunk by chunk, for those who train evaluation functions.

Positions stand as in the index, the side to move playing up the board; captures are resolved, so that every
value holds, from fresh counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tablebase.boardarrays import UNKNOWN_VALUE
from tablebase.format import Metric
from tablebase.indexarrays import sets_at_each
from tablebase.material import Material
from tablebase.tablebase import Tablebase

SETS = ("own_men", "own_kings", "other_men", "other_kings")
"""The columns of a position, uint32 each: sets of squares, bit 0 = a1 ... bit 31 = h8, as the side to move,
`own`, sees the board. With White to move these are White's and Black's pieces as they stand."""

CHUNK = 1 << 16
"""How many positions are held at a time."""


def row_type(distances: Sequence[Metric]) -> np.dtype[np.void]:
    """The type of a row: the sets, `wdl` (int8) and the distances (int16), little-endian and without gaps.

    `wdl` is 2 to -2. A distance is in plies, `NONE` (-1) where there is none. Either is `UNKNOWN_VALUE`
    (-128) where a table is missing.
    """
    sets = [(name, "<u4") for name in SETS]
    return np.dtype([*sets, (Metric.WDL.value, "i1"), *((metric.value, "<i2") for metric in distances)])


@dataclass
class Export:
    """The rows of a material.

    Attributes:
        tablebase: the tables.
        material: the pieces, those of the side to move first.
        distances: which are wanted besides the outcomes.
        unknown: how many values of those rows that have been made so far no table tells.
    """

    tablebase: Tablebase
    material: Material
    distances: tuple[Metric, ...]
    unknown: int = 0

    def chunks(self, size: int = CHUNK) -> Iterator[NDArray[np.void]]:
        """All rows, arrays of shape (n,) of `row_type`, n = `size` but for the last.

        Raises:
            MissingTableError: there is no table of the material.
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase has been closed.
        """
        self.tablebase.stored_outcomes(self.material, np.empty(0, np.int64))  # refuses a missing table
        self.unknown = 0
        for first in range(0, self.material.positions, size):
            indices = np.arange(first, min(first + size, self.material.positions))
            yield self._rows(sets_at_each(self.material, indices))

    def _rows(self, sets: NDArray[np.uint32]) -> NDArray[np.void]:
        values = self.tablebase.probe_many(sets, np.zeros(len(sets), np.bool_), self.distances)
        rows = np.empty(len(sets), row_type(self.distances))
        for column, name in enumerate(SETS):
            rows[name] = sets[:, column]
        for metric in (Metric.WDL, *self.distances):
            rows[metric.value] = found = getattr(values, metric)
            self.unknown += int(np.count_nonzero(found == UNKNOWN_VALUE))
        return rows
