"""Arrays of positions and arrays of their values, for probes of many positions at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tablebase.board.position import Color, Position
from tablebase.board.squares import ALL_SQUARES, FIRST_ROW, LAST_ROW
from tablebase.errors import ArgumentError, IllegalPositionError
from tablebase.tables.format import Metric

NONE = -1
"""The distance of a position that has none, such as a draw."""

UNKNOWN_VALUE = -128
"""The outcome or distance of a position whose table is missing."""


@dataclass(frozen=True, eq=False)
class PositionArray:
    """Legal positions as arrays.

    >>> from tablebase import Position, PositionArray
    >>> positions = PositionArray.of([Position.from_fen("W:Wa1:BKh8"), Position.from_fen("B:Wa1:BKh8")])
    >>> positions.sets.shape, positions.black.tolist()
    ((2, 4), [False, True])

    Attributes:
        sets: shape (n, 4), uint32. The columns are men and kings of White, men and kings of Black, each a set
            of squares: bit 0 is a1, bit 31 is h8.
        black: shape (n,), bool: whether Black is to move.

    Raises:
        IllegalPositionError: a row is a position that `Position` refuses; the message has the index of the
            first.
        ArgumentError: an array has another shape, or `sets` is not of integers, or `black` is not of bool.
    """

    sets: NDArray[np.uint32]
    black: NDArray[np.bool_]

    def __init__(self, sets: ArrayLike, black: ArrayLike) -> None:
        given, turns = np.asarray(sets), np.asarray(black)
        if given.size == 0:
            given = given.reshape(-1, 4).astype(np.uint32)
            turns = turns.astype(np.bool_)
        if given.ndim != 2 or given.shape[1] != 4 or given.dtype.kind not in "iu":
            raise ArgumentError(
                f"positions must be an array of integers of shape (n, 4), not {given.dtype} {given.shape}: "
                "men and kings of White, men and kings of Black, as sets of squares"
            )
        if turns.shape != given.shape[:1] or turns.dtype != np.bool_:
            raise ArgumentError(
                f"turns must be an array of bool of shape ({len(given)},), True for Black, "
                f"not {turns.dtype} {turns.shape}"
            )
        small = given.dtype == np.uint32
        beyond = None if small else ((given < 0) | (given > ALL_SQUARES)).any(axis=1)
        boards = np.ascontiguousarray(given, np.uint32) if small else given.astype(np.uint32)
        object.__setattr__(self, "sets", boards)
        object.__setattr__(self, "black", turns)
        wm, wk, bm, bk = boards.T
        white, men = wm | wk, wm & np.uint32(LAST_ROW) | bm & np.uint32(FIRST_ROW)
        wrong = (wm & wk | bm & bk | white & (bm | bk) | men) != 0
        if beyond is not None:
            wrong |= beyond
        if wrong.any():
            self._refuse(given, int(np.argmax(wrong)))

    def _refuse(self, given: NDArray[np.unsignedinteger | np.signedinteger], index: int) -> None:
        try:
            wm, wk, bm, bk = given[index].tolist()
            Position(wm, wk, bm, bk)
        except IllegalPositionError as error:
            raise IllegalPositionError(f"position {index} of the array: {error}") from None
        raise AssertionError(f"position {index} is refused in an array and accepted by itself")

    @classmethod
    def of(cls, positions: Sequence[Position]) -> PositionArray:
        """Return the arrays of a list of positions."""
        sets = np.array([(p.wm, p.wk, p.bm, p.bk) for p in positions], np.uint32).reshape(-1, 4)
        return cls(sets, np.array([p.turn is Color.BLACK for p in positions], np.bool_))

    def __len__(self) -> int:
        return len(self.sets)

    def position(self, index: int) -> Position:
        """Return the position with an index."""
        turn = Color.BLACK if self.black[index] else Color.WHITE
        wm, wk, bm, bk = self.sets[index].tolist()
        return Position(wm, wk, bm, bk, turn)


@dataclass(frozen=True, eq=False)
class ProbeArray:
    """Values of n positions, each for its side to move. All arrays have the shape (n,).

    A distance that was not wanted is None instead of an array.

    Attributes:
        wdl: int8, outcomes from 2 (win) to -2 (loss); `UNKNOWN_VALUE` (-128) if a table is missing.
        dtc: int16, DTC in plies; `NONE` (-1) if there is none, `UNKNOWN_VALUE` if a table is missing.
        dtw: int16, DTW in plies, with the same two codes.
        dtb: int16, DTB in plies, with the same two codes.
    """

    wdl: NDArray[np.int8]
    dtc: NDArray[np.int16] | None = None
    dtw: NDArray[np.int16] | None = None
    dtb: NDArray[np.int16] | None = None

    @classmethod
    def unfilled(cls, count: int, distances: Sequence[Metric]) -> ProbeArray:
        """Allocate arrays for `count` positions and the wanted distances; their contents are undefined."""

        def array(metric: Metric) -> NDArray[np.int16] | None:
            return np.empty(count, np.int16) if metric in distances else None

        return cls(np.empty(count, np.int8), array(Metric.DTC), array(Metric.DTW), array(Metric.DTB))
