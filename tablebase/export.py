"""Export of a material's positions and values to NumPy or Parquet files.

Rows have the order of the index; the side to move plays up the board. Values are from fresh counters,
captures resolved.
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
"""Chunks of rows: structured arrays of one dtype."""

Parts = Iterator[bytes]
"""The bytes of a file in parts."""


def npy_parts(rows: Rows, count: int, kind: np.dtype[np.void], about: dict[str, str]) -> Parts:
    """Yield the bytes of a `.npy` file: a structured array of shape (count,), which `numpy.load` can map.

    Args:
        rows: the rows in chunks.
        count: the number of rows.
        kind: the dtype of the rows.
        about: metadata; unused, because `.npy` files have none.
    """
    header = BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": (count,)}
    )
    yield header.getvalue()
    for chunk in rows:
        yield chunk.tobytes()


def parquet_parts(rows: Rows, count: int, kind: np.dtype[np.void], about: dict[str, str]) -> Parts:
    """Yield the bytes of a Parquet file, compressed by Zstandard: a column per field, a row group per chunk.

    Args:
        rows: the rows in chunks.
        count: the number of rows; unused, because the row groups have it.
        kind: the dtype of the rows.
        about: the metadata of the file.

    Raises:
        ModuleNotFoundError: pyarrow is not installed. Nothing has been written then.
    """
    import pyarrow
    import pyarrow.parquet

    names: tuple[str, ...] = kind.names or ()
    schema = pyarrow.schema(
        [pyarrow.field(name, pyarrow.from_numpy_dtype(kind[name]), nullable=False) for name in names], about
    )
    buffer = BytesIO()

    def taken() -> bytes:
        """Return the bytes written since the last call; the writer keeps its own offsets."""
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
"""The writer of each format, by name."""


SETS = ("own_men", "own_kings", "other_men", "other_kings")
"""The columns of a position: uint32 sets of squares, bit 0 is a1, bit 31 is h8. `own` is the side to move,
which plays up the board. With White to move these are the pieces of White and Black, not turned."""

CHUNK = 1 << 16
"""Default number of rows in a chunk."""


def row_type(distances: Sequence[Metric]) -> np.dtype[np.void]:
    """Return the dtype of a row: four sets, `wdl` (int8) and the distances (int16), little-endian, packed.

    `wdl` is 2 to -2. A distance is in plies, or `NONE` (-1). Both are `UNKNOWN_VALUE` (-128) if a table is
    missing.
    """
    sets = [(name, "<u4") for name in SETS]
    return np.dtype([*sets, (Metric.WDL.value, "i1"), *((metric.value, "<i2") for metric in distances)])


@dataclass
class Export:
    """An export of one material.

    Attributes:
        tablebase: the tables.
        material: the pieces, those of the side to move first.
        distances: the metrics wanted besides WDL.
        unknown: number of unknown values in the rows made so far.
    """

    tablebase: Tablebase
    material: Material
    distances: tuple[Metric, ...]
    unknown: int = 0

    def chunks(self, size: int = CHUNK) -> Iterator[NDArray[np.void]]:
        """Yield all rows: arrays of shape (size,) of `row_type`; the last one may be shorter.

        Raises:
            MissingTableError: the material has no WDL table.
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        self.tablebase.stored_outcomes(self.material, np.empty(0, np.int64))  # raises if the table is missing
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
