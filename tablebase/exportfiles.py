"""The files of exported rows: NumPy's own, and Parquet, which takes pyarrow, the extra `export`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
