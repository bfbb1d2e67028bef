"""Values of positions by compiled kernels: those of `tablebase.probe.values`, but faster. Needs numba.

Kernels expand the captures of a position into a tree and find the slice and the index of each leaf. The
values are read here: frame by frame for one position, from whole decoded tables for many.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import local

import numpy as np
from numpy.typing import NDArray

from tablebase.board.material import Material
from tablebase.board.position import Position
from tablebase.errors import MissingTableError
from tablebase.kernels.capture_tree import (
    CAPTURE,
    INDEX,
    LARGE,
    NO_SLICE,
    ONE_MOVE,
    OVER,
    PARENT,
    SLICE,
    add_positions,
    by_slice,
    counts_of,
    expand_all,
    expand_one,
    new_tree,
    settle_lengths,
    settle_outcomes,
)
from tablebase.kernels.index import Layout, layout_of
from tablebase.probe.arrays import NONE, UNKNOWN_VALUE, PositionArray, ProbeArray
from tablebase.probe.decoded import DecodedTables, Stored
from tablebase.probe.tableset import TableSet
from tablebase.probe.values import ONE_MOVE_WIN, PositionValues
from tablebase.rules.outcome import LOST, Outcome, Probe
from tablebase.tables.format import Metric, dtw_plies

_ROWS = 1024  # initial rows of the tree of one position; few need more
_BATCH = 1 << 15  # positions in one tree
_ROWS_PER_POSITION = 4  # initially; random positions of 5 pieces need 2.6

Tree = NDArray[np.int64]


@dataclass(frozen=True)
class _Slices:
    """The materials with a WDL table; their positions in the tuple are the slice numbers of kernels."""

    materials: tuple[Material, ...]

    @cached_property
    def layout(self) -> Layout:
        return layout_of(self.materials)


class CompiledValues(PositionValues):
    """Values of positions from a set of tables, by compiled kernels.

    Args:
        tables: the tables.
        decoded: the cache of decoded tables, for many positions at once.
    """

    def __init__(self, tables: TableSet, decoded: DecodedTables) -> None:
        super().__init__(tables)
        self._decoded = decoded
        self._known = _Slices(())
        self._threads = local()  # a tree for each thread

    def _slices(self) -> _Slices:
        known = self._known
        if known.materials is not self._tables.materials:
            known = self._known = _Slices(self._tables.materials)
        return known

    # One position

    def _grown(self, layout: Layout, position: Position) -> tuple[Tree, int, int, int]:
        """Return the capture tree of a position, its number of rows, and the position's slice and index."""
        tree: Tree | None = getattr(self._threads, "tree", None)
        if tree is None:
            tree = self._threads.tree = new_tree(_ROWS)
        done, count, place, index = expand_one(
            layout, tree, position.own_men, position.own_kings, position.other_men, position.other_kings
        )
        if done < count:
            tree, count = expand_all(layout, tree, done, count)
            place, index = tree[0, SLICE:].tolist()
        return tree, count, place, index

    def wdl(self, position: Position) -> int:
        """Return the outcome of a position, 2 to -2.

        Raises:
            MissingTableError: a WDL table that it needs is missing; the message names it.
            TableError: a table is there but cannot be read.
            ClosedError: the set of tables is closed.
        """
        slices = self._slices()
        tree, count, place, index = self._grown(slices.layout, position)
        table = self._tables.table
        if count == 1:
            if place >= 0:
                return table(slices.materials[place], Metric.WDL).value(index)
            return -2 if place == OVER else 2 if place == ONE_MOVE else super().wdl(position)
        rows = tree[:count, PARENT:].tolist()
        best = [-3] * count
        for row in range(count - 1, 0, -1):
            parent, place, index = rows[row]
            if place == NO_SLICE:
                return super().wdl(position)  # raises the error that names the table
            if best[parent] == 2:
                continue
            if place >= 0:
                wdl = table(slices.materials[place], Metric.WDL).value(index)
            else:
                wdl = -2 if place == OVER else best[row]
            best[parent] = max(best[parent], -wdl)
        return best[0]

    def value(self, position: Position, distances: Collection[Metric], lenient: bool = False) -> Probe:
        """Return the outcome of a position and the wanted distances; the others are None.

        Args:
            position: the position.
            distances: the metrics wanted besides WDL.
            lenient: whether a distance without its table is None instead of an error.

        Raises:
            MissingTableError: a table that it needs is missing; the message names it.
            TableError: a table is there but cannot be read.
            ClosedError: the set of tables is closed.
        """
        slices = self._slices()
        tree, count, place, index = self._grown(slices.layout, position)
        table = self._tables.table
        if count == 1:
            if place >= 0:
                material = slices.materials[place]
                wdl = table(material, Metric.WDL).value(index)
                return self._from_tables(material, index, wdl, distances, lenient)
            return (
                LOST
                if place == OVER
                else ONE_MOVE_WIN
                if place == ONE_MOVE
                else super().value(position, distances, lenient)
            )
        to_the_end = Metric.DTW in distances
        rows = tree[:count, PARENT:].tolist()
        best, shortest, longest = [-3] * count, [1 << 15] * count, [0] * count
        for row in range(count - 1, 0, -1):
            parent, place, index = rows[row]
            plies = 0
            if place >= 0:
                material = slices.materials[place]
                wdl = table(material, Metric.WDL).value(index)
                if to_the_end and wdl:
                    stored = self._distance(material, Metric.DTW, index, lenient)
                    if stored is None:
                        return super().value(position, distances, lenient)  # finds what is known
                    plies = dtw_plies(stored, won=wdl > 0)
            elif place == CAPTURE:
                wdl = best[row]
                plies = shortest[row] if wdl > 0 else longest[row]
            elif place == OVER:
                wdl = -2
            else:
                return super().value(position, distances, lenient)  # raises the error that names the table
            best[parent] = max(best[parent], -wdl)
            if wdl < 0:
                shortest[parent] = min(shortest[parent], plies + 1)
            elif wdl > 0:
                longest[parent] = max(longest[parent], plies + 1)
        outcome = Outcome.from_wdl(best[0])
        at_once = 1 if outcome.is_decided else None
        dtw = None
        if to_the_end and best[0]:
            dtw = shortest[0] if best[0] > 0 else longest[0]
        counted = self._tables.dtb_metric(Material.of(position)) is not None
        return Probe(outcome, at_once, dtw, at_once if counted else None)

    # Many positions

    def values(self, boards: PositionArray, distances: Sequence[Metric]) -> ProbeArray:
        """Return the outcomes of n positions and the wanted distances, arrays of shape (n,).

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the set of tables is closed.
        """
        found = ProbeArray.unfilled(len(boards), distances)
        tree = new_tree(_ROWS_PER_POSITION * min(len(boards), _BATCH))
        for first in range(0, len(boards), _BATCH):
            asked = slice(first, min(first + _BATCH, len(boards)))
            add_positions(boards.sets[asked], boards.black[asked], tree)
            tree, large = self._fill_batch(tree, asked, found)
            for place in large:
                self._fill(found, place, boards.position(place), distances)
        return found

    def _fill_batch(self, tree: Tree, asked: slice, found: ProbeArray) -> tuple[Tree, list[int]]:
        """Write the values of the positions in the tree's first rows into the rows `asked` of `found`.

        Returns:
            The tree, replaced by a larger one if necessary; the rows of positions with too many pieces for
            it.
        """
        slices = self._slices()
        number = asked.stop - asked.start
        tree, count = expand_all(slices.layout, tree, 0, number)
        stored = _Rows(slices, tree, count)
        wdl = np.empty(count, np.int8)
        for material, rows, indices in stored.groups():
            outcomes = self._look_up(material, Metric.WDL, indices)
            wdl[rows] = UNKNOWN_VALUE if outcomes is None else outcomes
        settle_outcomes(tree, count, UNKNOWN_VALUE, wdl)
        found.wdl[asked] = wdl[:number]
        if found.dtw is not None:
            dtw = np.full(count, NONE, np.int16)
            for material, rows, indices in stored.groups():
                decided = wdl[rows] != 0
                rows, indices = rows[decided], indices[decided]
                halves = self._look_up(material, Metric.DTW, indices)
                dtw[rows] = UNKNOWN_VALUE if halves is None else 2 * halves.astype(np.int16) + (wdl[rows] > 0)
            settle_lengths(tree, count, UNKNOWN_VALUE, NONE, wdl, dtw)
            found.dtw[asked] = dtw[:number]
        places = tree[:number, SLICE]
        if found.dtc is not None:
            found.dtc[asked] = self._probe_distance(Metric.DTC, stored, wdl, number)
        if found.dtb is not None:
            found.dtb[asked] = self._probe_distance(Metric.DTB, stored, wdl, number)
        return tree, (asked.start + np.flatnonzero(places == LARGE)).tolist()

    def _probe_distance(self, metric: Metric, stored: _Rows, wdl: NDArray[np.int8], number: int) -> Stored:
        """Return DTC or DTB of the first `number` rows of the tree, shape (number,)."""
        places = stored.tree[:number, SLICE]
        wdl = wdl[:number]
        decided = abs(wdl) == 2
        plies = np.where(wdl == UNKNOWN_VALUE, np.int16(UNKNOWN_VALUE), np.int16(NONE))
        at_once = decided & (places == CAPTURE)
        if metric is Metric.DTB:
            at_once &= self._counts_balance(stored.tree[:number, INDEX], places == CAPTURE)
        plies[at_once | (places == ONE_MOVE)] = 1
        plies[places == OVER] = 0
        for material, rows, indices in stored.groups():
            known = self._tables.dtb_metric(material) if metric is Metric.DTB else metric
            if known is None:
                continue
            asked = np.searchsorted(rows, number)  # rows are sorted
            kept = decided[rows[:asked]]
            rows, indices = rows[:asked][kept], indices[:asked][kept]
            found = self._look_up(material, known, indices)
            plies[rows] = UNKNOWN_VALUE if found is None else found
        return plies

    def _counts_balance(self, materials: NDArray[np.int64], capture: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return whether the rules count the balance in each position, bool; False without a capture.

        Args:
            materials: shape (n,), int64, the material of each position with a capture, as a number.
            capture: shape (n,), bool, whether the position has a capture.
        """
        counted = np.zeros(len(materials), np.bool_)
        kinds, kind_of = np.unique(materials[capture], return_inverse=True)
        metrics = [self._tables.dtb_metric(Material(*counts_of(kind))) for kind in kinds.tolist()]
        counted[capture] = np.array([metric is not None for metric in metrics], np.bool_)[kind_of]
        return counted

    def _look_up(self, material: Material, metric: Metric, indices: NDArray[np.int64]) -> Stored | None:
        """Return the stored values of positions of a material; None if its table is missing."""
        try:
            table = self._tables.table(material, metric)
        except MissingTableError:
            return None
        return self._decoded.values(table, indices)


class _Rows:
    """The rows of a tree whose positions are in tables, grouped by material."""

    def __init__(self, slices: _Slices, tree: Tree, count: int) -> None:
        self.tree = tree
        self._slices = slices
        self._starts = np.empty(len(slices.materials) + 1, np.int64)
        self._rows, self._indices = np.empty(count, np.int64), np.empty(count, np.int64)
        by_slice(tree, count, self._starts, self._rows, self._indices)

    def groups(self) -> Iterator[tuple[Material, NDArray[np.int64], NDArray[np.int64]]]:
        """Yield each material with its rows, sorted, and the indices of their positions."""
        starts = self._starts.tolist()
        for material, start, end in zip(self._slices.materials, starts, starts[1:], strict=False):
            if start < end:
                yield material, self._rows[start:end], self._indices[start:end]
