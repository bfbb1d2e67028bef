"""Whole tables, decoded for those who look up many values at once, within one budget of bytes."""

from __future__ import annotations

from collections import Counter, OrderedDict
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from tablebase.tables.table import Table

DEFAULT_BYTES = 512 << 20
"""Enough for every table of 2-5 pieces."""

_WORTH = 1000
"""A table is decoded as a whole once a thousandth of its values has been asked for, as one of them is decoded
in that fraction of the time that `Table.value` takes. So a few values of a large table never wait for all."""

Stored = NDArray[np.int8] | NDArray[np.int16]


class DecodedTables:
    """Keeps the tables used last as arrays. May be used by any number of threads.

    Args:
        max_bytes: the budget; values of a table that is larger are read one by one.
    """

    def __init__(self, max_bytes: int = DEFAULT_BYTES) -> None:
        self.max_bytes = max_bytes
        self._bytes = 0
        self._arrays: OrderedDict[Table, Stored] = OrderedDict()
        self._asked: Counter[Table] = Counter()
        self._lock = Lock()

    @property
    def used_bytes(self) -> int:
        """How many bytes of arrays are kept now."""
        return self._bytes

    def values(self, table: Table, indices: NDArray[np.int64]) -> Stored:
        """What a table stores of the positions with these indices, in their order.

        Raises:
            DamagedFrameError, ClosedError: as `Table.values` does.
        """
        with self._lock:
            array = self._arrays.get(table)
            if array is not None:
                self._arrays.move_to_end(table)
            else:
                self._asked[table] += len(indices)
                worth = self._asked[table] * _WORTH >= table.header.positions
        if array is None and worth and _width(table) * table.header.positions <= self.max_bytes:
            array = self._decoded(table)
        if array is not None:
            return array[indices]
        return table.values(indices)

    def _decoded(self, table: Table) -> Stored:
        # Outside the lock, as others need other tables; two threads may decode the same one, at worst.
        array: Stored = table.read_all()
        if _width(table) == 1:
            array = array.astype(np.int8)
        with self._lock:
            if table not in self._arrays:
                self._arrays[table] = array
                self._bytes += array.nbytes
                while self._bytes > self.max_bytes:
                    gone, dropped = self._arrays.popitem(last=False)
                    self._asked[gone] = 0
                    self._bytes -= dropped.nbytes
        return array

    def clear(self) -> None:
        """Forget all tables."""
        with self._lock:
            self._arrays.clear()
            self._asked.clear()
            self._bytes = 0


def _width(table: Table) -> int:
    """Bytes a value."""
    alphabet = table.header.alphabet
    return 1 if not alphabet or (alphabet[0] >= -128 and alphabet[-1] <= 127) else 2
