"""Export of a material's positions and values to NumPy or Parquet files.

Positions stand as in the index, the side to move playing up the board; captures are resolved, so that every
value holds, from fresh counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tablebase.board.material import Material
from tablebase.probe.arrays import UNKNOWN_VALUE
from tablebase.probe.tablebase import Tablebase
from tablebase.tables.format import Metric
from tablebase.tables.index import sets_at_each

Rows = Iterable[NDArray[np.void]]
"""Structured arrays of one type, chunk by chunk."""

Parts = Iterator[bytes]
"""A file, part by part."""


def npy_parts(rows: Rows, count: int, kind: np.dtype[np.void], about: dict[str, str]) -> Parts:
    """A `.npy` file: one structured array of shape (count,), which `numpy.load` can map into memory.

    Args:
        rows: the rows.
        count: how many there are in all.
        kind: their type.
        about: what the rows are; this kind of file has no place for it.
    """
    header = BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": (count,)}
    )
    yield header.getvalue()
    for chunk in rows:
        yield chunk.tobytes()


def parquet_parts(rows: Rows, count: int, kind: np.dtype[np.void], about: dict[str, str]) -> Parts:
    """A Parquet file, compressed by Zstandard: a column a field, a row group a chunk.

    Args:
        rows: the rows.
        count: how many there are in all.
        kind: their type.
        about: what the rows are, as the file's metadata.

    Raises:
        ModuleNotFoundError: pyarrow is not installed; before anything is written.
    """
    import pyarrow
    import pyarrow.parquet

    names: tuple[str, ...] = kind.names or ()
    schema = pyarrow.schema(
        [pyarrow.field(name, pyarrow.from_numpy_dtype(kind[name]), nullable=False) for name in names], about
    )
    buffer = BytesIO()

    def taken() -> bytes:
        """What has been written since the last time; the writer counts bytes by itself."""
        written = buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
        return written

    writer: Any = pyarrow.parquet.ParquetWriter(buffer, schema, compression="zstd")
    with writer:
        for chunk in rows:
            columns = [np.ascontiguousarray(chunk[name]) for name in names]
            writer.write_table(pyarrow.Table.from_arrays(list(map(pyarrow.array, columns)), schema=schema))
            yield taken()
    yield taken()


FORMATS: dict[str, Callable[[Rows, int, np.dtype[np.void], dict[str, str]], Parts]] = {
    "npy": npy_parts,
    "parquet": parquet_parts,
}
"""Each format by its name."""


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
