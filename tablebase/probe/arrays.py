"""Arrays of positions, and of their values: what goes into a probe of many positions and what comes out."""

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
"""In an array of distances: there is none, as of a draw."""

UNKNOWN_VALUE = -128
"""In an array of outcomes or distances: no table tells it."""


@dataclass(frozen=True, eq=False)
class PositionArray:
    """Positions as arrays. Checked when they are made.

    Attributes:
        sets: shape (n, 4), uint32: men and kings of White, men and kings of Black, as sets of squares.
        black: shape (n,), bool: whether it is Black's turn.

    Raises:
        IllegalPositionError: a position that `Position` would refuse; the message has the place of the first.
        ArgumentError: arrays of another shape, or not of whole numbers.
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
                f"positions are an array of whole numbers of shape (n, 4), not {given.dtype} {given.shape}: "
                "men and kings of White, men and kings of Black, as sets of squares"
            )
        if turns.shape != given.shape[:1] or turns.dtype != np.bool_:
            raise ArgumentError(
                f"turns are an array of bool of shape ({len(given)},), True for Black, "
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

    def _refuse(self, given: NDArray[np.unsignedinteger | np.signedinteger], place: int) -> None:
        try:
            wm, wk, bm, bk = given[place].tolist()
            Position(wm, wk, bm, bk)
        except IllegalPositionError as error:
            raise IllegalPositionError(f"position {place} of the array: {error}") from None
        raise AssertionError(f"position {place} is refused as an array and taken by itself")

    @classmethod
    def of(cls, positions: Sequence[Position]) -> PositionArray:
        """The arrays of a list of positions."""
        sets = np.array([(p.wm, p.wk, p.bm, p.bk) for p in positions], np.uint32).reshape(-1, 4)
        return cls(sets, np.array([p.turn is Color.BLACK for p in positions], np.bool_))

    def __len__(self) -> int:
        return len(self.sets)

    def position(self, place: int) -> Position:
        """One of the positions."""
        turn = Color.BLACK if self.black[place] else Color.WHITE
        wm, wk, bm, bk = self.sets[place].tolist()
        return Position(wm, wk, bm, bk, turn)


@dataclass(frozen=True, eq=False)
class ProbeArray:
    """What many positions are worth, each to its side to move; all arrays are of shape (n,).

    Attributes:
        wdl: int8, outcomes from 2 (win) to -2 (loss); `UNKNOWN_VALUE` where a table is missing.
        dtc: int16, plies as in `Probe`; `NONE` where it has none, `UNKNOWN_VALUE` where a table is missing.
            None unless it was asked for, and so are the others.
        dtw: the same.
        dtb: the same.
    """

    wdl: NDArray[np.int8]
    dtc: NDArray[np.int16] | None = None
    dtw: NDArray[np.int16] | None = None
    dtb: NDArray[np.int16] | None = None

    @classmethod
    def unfilled(cls, count: int, distances: Sequence[Metric]) -> ProbeArray:
        """Room for the values of so many positions, with these distances."""

        def room(metric: Metric) -> NDArray[np.int16] | None:
            return np.empty(count, np.int16) if metric in distances else None

        return cls(np.empty(count, np.int8), room(Metric.DTC), room(Metric.DTW), room(Metric.DTB))
