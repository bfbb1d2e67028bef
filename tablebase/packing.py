"""How the values of a table become bytes: the alphabet, symbols, and several symbols in a byte."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.int8] | NDArray[np.uint8] | NDArray[np.int16] | NDArray[np.uint16]
"""Values as a table's writer takes them: integers of one or two bytes."""

Symbols = NDArray[np.uint8] | NDArray[np.uint16]
"""Places in the alphabet."""


@dataclass(frozen=True, slots=True)
class Packing:
    """How symbols are put into bytes: `per_byte` of them in one byte, or one in two bytes."""

    symbols: int
    per_byte: int
    value_bytes: int

    @classmethod
    def of(cls, symbols: int) -> Packing:
        """As many symbols in a byte as fit; two bytes for each where there are more than 256."""
        if symbols > 256:
            return cls(symbols, 1, 2)
        per_byte = 8
        while max(symbols, 2) ** per_byte > 256:
            per_byte -= 1
        return cls(symbols, per_byte, 1)

    def packed_size(self, count: int) -> int:
        """How many bytes `count` symbols take."""
        return -(-count // self.per_byte) * self.value_bytes

    def pack(self, symbols: Symbols) -> bytes:
        """The bytes of a run of symbols; the first one in a byte is its least significant digit.

        Places of the last byte that no symbol fills are digit 0.
        """
        if self.value_bytes == 2:
            return symbols.astype("<u2", copy=False).tobytes()
        if self.per_byte == 1:
            return symbols.tobytes()
        if rest := len(symbols) % self.per_byte:
            symbols = np.concatenate([symbols, np.zeros(self.per_byte - rest, np.uint8)])
        digits = symbols.reshape(-1, self.per_byte)
        packed = digits[:, -1].astype(np.uint8)
        for place in range(self.per_byte - 2, -1, -1):
            packed *= np.uint8(self.symbols)
            packed += digits[:, place]
        return packed.tobytes()

    def unpacked(self) -> NDArray[np.uint8]:
        """For each byte, its symbols: shape (256, per_byte)."""
        powers = self.symbols ** np.arange(self.per_byte)
        return (np.arange(256)[:, None] // powers % self.symbols).astype(np.uint8)
