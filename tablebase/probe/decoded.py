"""A cache of whole decoded tables, for probes of many positions at once."""

from __future__ import annotations

from collections import Counter, OrderedDict
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from tablebase.tables.table import Table

DEFAULT_BYTES = 512 << 20
"""Default memory of the cache, in bytes: enough for every table of 2-5 pieces."""

_DECODE_SPEEDUP = 1000
"""Reading a value by itself takes as long as decoding so many values of a whole table. So a table is decoded
once a thousandth of its values have been read: a few values of a large table never wait for all."""

Stored = NDArray[np.int8] | NDArray[np.int16]


class DecodedTables:
    """A cache of decoded tables, least recently used first out. Any number of threads may use it.

    Args:
        max_bytes: memory for arrays, in bytes. Values of a larger table are read one by one.
    """

    def __init__(self, max_bytes: int = DEFAULT_BYTES) -> None:
        self.max_bytes = max_bytes
        self._bytes = 0
        self._arrays: OrderedDict[Table, Stored] = OrderedDict()
        self._requested: Counter[Table] = Counter()
        self._lock = Lock()

    @property
    def used_bytes(self) -> int:
        """Memory that the arrays take now, in bytes."""
        return self._bytes

    def values(self, table: Table, indices: NDArray[np.int64]) -> Stored:
        """Return the values that a table stores at some indices.

        Args:
            table: the table.
            indices: shape (n,), indices of positions.

        Returns:
            Shape (n,), int8 or int16.

        Raises:
            DamagedFrameError: a frame of the table is damaged.
            ClosedError: the table is closed.
        """
        with self._lock:
            array = self._arrays.get(table)
            if array is not None:
                self._arrays.move_to_end(table)
            else:
                self._requested[table] += len(indices)
                worth = self._requested[table] * _DECODE_SPEEDUP >= table.header.positions
        if array is None and worth and _width(table) * table.header.positions <= self.max_bytes:
            array = self._decoded(table)
        if array is not None:
            return array[indices]
        return table.values(indices)

    def _decoded(self, table: Table) -> Stored:
        # Decode outside the lock: other threads need other tables. At worst two threads decode the same one.
        array: Stored = table.read_all()
        if _width(table) == 1:
            array = array.astype(np.int8)
        with self._lock:
            if table not in self._arrays:
                self._arrays[table] = array
                self._bytes += array.nbytes
                while self._bytes > self.max_bytes:
                    gone, dropped = self._arrays.popitem(last=False)
                    self._requested[gone] = 0
                    self._bytes -= dropped.nbytes
        return array

    def clear(self) -> None:
        """Drop all arrays."""
        with self._lock:
            self._arrays.clear()
            self._requested.clear()
            self._bytes = 0


def _width(table: Table) -> int:
    """Return the bytes that a value takes in an array."""
    alphabet = table.header.alphabet
    return 1 if not alphabet or (alphabet[0] >= -128 and alphabet[-1] <= 127) else 2
