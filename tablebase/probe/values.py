"""Values of positions from the tables, captures resolved."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tablebase.board.material import Material
from tablebase.board.position import Position, legal_moves, position_after
from tablebase.errors import MissingTableError
from tablebase.probe.arrays import NONE, UNKNOWN_VALUE, PositionArray, ProbeArray
from tablebase.probe.tableset import TableSet
from tablebase.rules.outcome import LOST, UNKNOWN, Outcome, Probe, move_value
from tablebase.tables.format import Metric, dtw_plies
from tablebase.tables.index import index_of

ONE_MOVE_WIN = Probe(Outcome.WIN, dtc=1, dtw=1, dtb=1)
"""The value of a position whose opponent has no pieces: every move ends the game."""


class PositionValues:
    """Values of positions from a set of tables, in plain Python.

    Args:
        tables: the tables.
    """

    def __init__(self, tables: TableSet) -> None:
        self._tables = tables

    def wdl(self, position: Position) -> int:
        """Return the outcome of a position, 2 to -2.

        Raises:
            MissingTableError: a WDL table that it needs is missing; the message names it.
            TableError: a table is there but cannot be read.
            ClosedError: the set of tables is closed.
        """
        wdl = self.value(position, ()).wdl
        assert wdl is not None
        return wdl

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
        moves = legal_moves(position)
        if not moves:
            return LOST
        if not position.other_men | position.other_kings:
            return ONE_MOVE_WIN
        if moves[0].is_capture:
            further = (Metric.DTW,) if Metric.DTW in distances else ()
            after = [self.value(position_after(position, move), further, lenient) for move in moves]
            return self._best_capture(after, self._tables.dtb_metric(Material.of(position)) is not None)
        material = Material.of(position)
        # Open the table first: for many pieces that fails at once, and the index would build large lists.
        table = self._tables.table(material, Metric.WDL)
        index = index_of(position.own_men, position.own_kings, position.other_men, position.other_kings)
        return self._from_tables(material, index, table.value(index), distances, lenient)

    def values(self, boards: PositionArray, distances: Sequence[Metric]) -> ProbeArray:
        """Return the outcomes of n positions and the wanted distances, arrays of shape (n,).

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the set of tables is closed.
        """
        found = ProbeArray.unfilled(len(boards), distances)
        for row in range(len(boards)):
            self._fill(found, row, boards.position(row), distances)
        return found

    def _fill(self, found: ProbeArray, row: int, position: Position, distances: Sequence[Metric]) -> None:
        """Write the value of a position into row `row` of the arrays."""
        try:
            probe = self.value(position, distances, lenient=True)
        except MissingTableError:
            probe = UNKNOWN
        wdl = probe.wdl
        found.wdl[row] = UNKNOWN_VALUE if wdl is None else wdl
        if found.dtw is not None:
            missing = UNKNOWN_VALUE if wdl != 0 else NONE
            found.dtw[row] = missing if probe.dtw is None else probe.dtw
        missing = UNKNOWN_VALUE if wdl is None or probe.outcome.is_decided else NONE
        if found.dtc is not None:
            found.dtc[row] = missing if probe.dtc is None else probe.dtc
        if found.dtb is not None:
            if wdl is not None and self._tables.dtb_metric(Material.of(position)) is None:
                missing = NONE
            found.dtb[row] = missing if probe.dtb is None else probe.dtb

    def _best_capture(self, after: list[Probe], counts_balance: bool) -> Probe:
        """Return the value of a position from the values `after` of the positions after its captures."""
        rules = self._tables.ruleset
        values = [move_value(probe, zeroing=True, balance_change=True, rules=rules) for probe in after]
        wdls = [value.outcome.wdl or 0 for value in values]
        best = max(wdls)
        # DTW ignores draw rules, so the shortest win may be a cursed one.
        lengths = [value.dtw for value, wdl in zip(values, wdls, strict=True) if wdl * best > 0]
        known = [length for length in lengths if length is not None]
        dtw = None
        if known and len(known) == len(lengths):
            dtw = min(known) if best > 0 else max(known)
        outcome = Outcome.from_wdl(best)
        at_once = 1 if outcome.is_decided else None
        return Probe(outcome, at_once, dtw, at_once if counts_balance else None)

    def _from_tables(
        self, material: Material, index: int, wdl: int, distances: Collection[Metric], lenient: bool
    ) -> Probe:
        """Return the value of a position without a capture, from its outcome and its distance tables."""
        outcome = Outcome.from_wdl(wdl)
        dtc = dtw = dtb = None
        if outcome.is_decided and Metric.DTC in distances:
            dtc = self._distance(material, Metric.DTC, index, lenient)
        if wdl and Metric.DTW in distances:
            stored = self._distance(material, Metric.DTW, index, lenient)
            dtw = None if stored is None else dtw_plies(stored, won=wdl > 0)
        if outcome.is_decided and Metric.DTB in distances:
            metric = self._tables.dtb_metric(material)
            if metric is not None:
                known = metric is Metric.DTC and dtc is not None
                dtb = dtc if known else self._distance(material, metric, index, lenient)
        return Probe(outcome, dtc, dtw, dtb)

    def _distance(self, material: Material, metric: Metric, index: int, lenient: bool) -> int | None:
        if lenient and not self._tables.has(material, metric):
            return None
        return self._tables.table(material, metric).value(index)
