"""The tablebase: a set of tables, probed for values and moves from fresh counters."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tablebase.board.material import Material
from tablebase.board.position import Move, Position, legal_moves, position_after
from tablebase.errors import ArgumentError, MissingPackageError, MissingTableError
from tablebase.probe.arrays import PositionArray, ProbeArray
from tablebase.probe.decoded import DEFAULT_BYTES as ARRAY_BYTES
from tablebase.probe.decoded import DecodedTables
from tablebase.probe.line import MoveValue
from tablebase.probe.tableset import TableSet
from tablebase.probe.values import PositionValues
from tablebase.rules.outcome import UNKNOWN, Outcome, Probe, move_order, move_value
from tablebase.rules.rulesets import Ruleset
from tablebase.tables.format import Metric
from tablebase.tables.table import DEFAULT_CACHE_BYTES


def open_tablebase(
    path: Path | str,
    *,
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    array_bytes: int = ARRAY_BYTES,
    compiled: bool | None = None,
) -> Tablebase:
    """Open the tables of a directory. Use the result in a `with` statement, or close it.

    >>> from tablebase import Position, open_tablebase
    >>> with open_tablebase("data") as tablebase:  # doctest: +SKIP
    ...     print(tablebase.probe(Position.from_fen("W:Wd4,g5:Bb6,h6")).outcome)
    win

    Args:
        path: the directory. `Tablebase.add_directory` adds others.
        cache_bytes: memory for decoded frames of all tables together, in bytes.
        array_bytes: more memory for whole decoded tables, in bytes; `probe_many` uses it.
        compiled: True probes with compiled kernels (numba, the extra `fast`), False never does. None uses
            them in `probe_many` alone, if numba is installed.

    Raises:
        DataDirectoryError: there is no such directory.
        WrongVersionError: a table has another format version or was made under other rules.
        NotATableError: something in the directory has the name of a table but is not a file.
        MissingPackageError: numba is not installed, and `compiled` is True.
    """
    tablebase = Tablebase(cache_bytes=cache_bytes, array_bytes=array_bytes, compiled=compiled)
    tablebase.add_directory(path)
    return tablebase


class Tablebase:
    """A set of tables to probe. A context manager, safe for any number of threads.

    All values are for the side to move and from fresh counters; `tablebase.games.search.RuleSearch` evaluates
    games in progress. Captures are resolved: the value of a position with a capture follows from the
    positions after its captures, so it may have more pieces than the tables. A side without a legal move has
    lost, which needs no table. Files are opened at first use.

    Args:
        ruleset: the rules that the tables must assume; None takes those of the first table added.
        cache_bytes: memory for decoded frames of all tables together, in bytes.
        array_bytes: more memory for whole decoded tables, in bytes; `probe_many` uses it.
        compiled: True probes with compiled kernels (numba, the extra `fast`), False never does. None uses
            them in `probe_many` alone, if numba is installed: loading them takes a second in each process.
            The values are the same.

    Raises:
        MissingPackageError: numba is not installed, and `compiled` is True.
    """

    def __init__(
        self,
        *,
        ruleset: Ruleset | None = None,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        array_bytes: int = ARRAY_BYTES,
        compiled: bool | None = None,
    ) -> None:
        self._tables = TableSet(ruleset, cache_bytes)
        self._decoded = DecodedTables(array_bytes)
        self._values = PositionValues(self._tables)
        self._array_values: PositionValues | None = None
        if compiled:
            self._values = self._array_values = compiled_values(self._tables, self._decoded)
        elif compiled is False:
            self._array_values = self._values

    @property
    def ruleset(self) -> Ruleset:
        """The rules that the tables assume; the official ones if there are no tables."""
        return self._tables.ruleset

    # The set

    def add_directory(self, path: Path | str) -> int:
        """Add the tables of a directory, but no second table of a material and metric.

        After an error no table is added.

        Returns:
            The number of tables added.

        Raises:
            DataDirectoryError: there is no such directory.
            WrongVersionError: a table has another format version or was made under other rules.
            NotATableError: something in the directory has the name of a table but is not a file.
        """
        return self._tables.add_directory(path)

    @property
    def pieces(self) -> int:
        """Largest n such that every material of up to n pieces has a WDL table; 0 if the set is empty."""
        return self._tables.pieces

    @property
    def materials(self) -> list[Material]:
        """Every material with a WDL table: fewer pieces first, then fewer men, then by name."""
        return sorted(self._tables.materials, key=Material.sort_key)

    @property
    def cache_used_bytes(self) -> int:
        """Memory that decoded frames and tables take now, in bytes."""
        return self._tables.cache_used_bytes + self._decoded.used_bytes

    def has_table(self, material: Material, metric: Metric = Metric.WDL) -> bool:
        """Whether the set has the table of a material and metric."""
        return self._tables.has(material, metric)

    def close(self) -> None:
        """Close all tables. A second call does nothing."""
        self._tables.close()
        self._decoded.clear()

    def __enter__(self) -> Tablebase:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # Values of a position

    def probe_wdl(self, position: Position) -> int:
        """Return the outcome: 2 win, 1 cursed win, 0 draw, -1 blessed loss, -2 loss.

        Syzygy's readers for chess, such as python-chess, use the same numbers.

        Raises:
            MissingTableError: a table that it needs is missing; the message names it.
            TooManyPiecesError: (a MissingTableError) the set has no table of so many pieces.
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        return self._values.wdl(position)

    def probe_dtc(self, position: Position) -> int | None:
        """Return the plies to the next zeroing move or the end of the game; None unless a win or a loss.

        Either side may make that move, so a win may have an even DTC. Syzygy's DTZ is its counterpart in
        chess; the checkers databases of Kingsrow call it MTC, moves to conversion.

        Raises:
            MissingTableError: a table that it needs is missing; the message names it.
            TooManyPiecesError: (a MissingTableError) the set has no table of so many pieces.
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        return self._values.value(position, (Metric.DTC,)).dtc

    def probe_dtw(self, position: Position) -> int | None:
        """Return the plies to the end of the game without draw rules; None for a draw without draw rules.

        It is odd for a win or cursed win, even for a loss or blessed loss.

        Raises:
            MissingTableError: a table that it needs is missing; the message names it.
            TooManyPiecesError: (a MissingTableError) the set has no table of so many pieces.
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        return self._values.value(position, (Metric.DTW,)).dtw

    def probe_dtb(self, position: Position) -> int | None:
        """Return the plies to the next balance change (a capture or a promotion) or the end of the game.

        The literature on chess endgames (Thompson, 1986) calls this distance DTC, depth to conversion.

        None unless it is a win or a loss. None too if the rules do not count the balance: a side has no king,
        or there is no limit for so many pieces.

        Raises:
            MissingTableError: a table that it needs is missing; the message names it.
            TooManyPiecesError: (a MissingTableError) the set has no table of so many pieces.
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        return self._values.value(position, (Metric.DTB,)).dtb

    def probe(self, position: Position) -> Probe:
        """Return the outcome of a position from fresh counters, and its distances in plies.

        A distance is None if its table is missing. `tablebase.games.search.RuleSearch` evaluates a game with
        its counters.

        >>> from tablebase import Position, Tablebase
        >>> with Tablebase() as tablebase:  # a capture ends the game, so no table is needed
        ...     print(tablebase.probe(Position.from_fen("W:Wc3:Bd4")))
        Probe(outcome=<Outcome.WIN: 'win'>, dtc=1, dtw=1, dtb=None)

        Raises:
            MissingTableError: a WDL table that it needs is missing; the message names it.
            TooManyPiecesError: (a MissingTableError) the set has no table of so many pieces.
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        return self._values.value(position, (Metric.DTC, Metric.DTW, Metric.DTB), lenient=True)

    def get_wdl(self, position: Position, default: int | None = None) -> int | None:
        """Return `probe_wdl(position)`, or `default` if a table is missing.

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        try:
            return self.probe_wdl(position)
        except MissingTableError:
            return default

    def get_dtc(self, position: Position, default: int | None = None) -> int | None:
        """Return `probe_dtc(position)`, or `default` if a table is missing.

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        try:
            return self.probe_dtc(position)
        except MissingTableError:
            return default

    def get_dtw(self, position: Position, default: int | None = None) -> int | None:
        """Return `probe_dtw(position)`, or `default` if a table is missing.

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        try:
            return self.probe_dtw(position)
        except MissingTableError:
            return default

    def get_dtb(self, position: Position, default: int | None = None) -> int | None:
        """Return `probe_dtb(position)`, or `default` if a table is missing.

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        try:
            return self.probe_dtb(position)
        except MissingTableError:
            return default

    def get_probe(self, position: Position, default: Probe = UNKNOWN) -> Probe:
        """Return `probe(position)`, or `default` if the table of its outcome is missing.

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        try:
            return self.probe(position)
        except MissingTableError:
            return default

    def missing_table(self, position: Position) -> MissingTableError | None:
        """Return the error that names the missing table of a position; None if its outcome is known.

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        try:
            self.probe_wdl(position)
        except MissingTableError as error:
            return error
        return None

    # Values of many positions

    def probe_many(self, sets: ArrayLike, black: ArrayLike, distances: Collection[Metric] = ()) -> ProbeArray:
        """Return the values of many positions as arrays.

        The values equal those of `get_wdl` and the other methods. A table is decoded into memory as a whole,
        within `array_bytes`, once many of its values are needed.

        >>> from tablebase import Position, PositionArray, Tablebase
        >>> positions = PositionArray.of([Position.from_fen("W:Wc3:Bd4"), Position.from_fen("B:Wc3:B")])
        >>> with Tablebase(compiled=False) as tablebase:  # no table is needed for these
        ...     print(tablebase.probe_many(positions.sets, positions.black).wdl)
        [ 2 -2]

        Args:
            sets: shape (n, 4), integers. The columns are men and kings of White, men and kings of Black, each
                a set of squares: bit 0 is a1, bit 31 is h8. `PositionArray.of(positions)` makes both arrays.
            black: shape (n,), bool: whether Black is to move.
            distances: the metrics wanted besides WDL.

        Returns:
            Arrays of n values: -1 if there is no distance, -128 if a table is missing.

        Raises:
            IllegalPositionError: a row is not a legal position; the message has the index of the first.
            ArgumentError: an array has the wrong shape or type, or `distances` is a string.
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        if self._array_values is None:
            try:
                self._array_values = compiled_values(self._tables, self._decoded)
            except MissingPackageError:
                self._array_values = self._values
        if isinstance(distances, str):  # a Metric is a str: each of its letters would count as a metric
            raise ArgumentError(
                f"distances must be a collection of metrics, like [Metric.DTW], not {str(distances)!r}"
            )
        return self._array_values.values(PositionArray(sets, black), [Metric(metric) for metric in distances])

    def stored_outcomes(self, material: Material, indices: NDArray[np.int64]) -> NDArray[np.int16]:
        """Return the outcomes that the WDL table of a material stores, shape (n,), 2 to -2.

        The stored outcome of a position with a capture has no meaning.

        Args:
            material: the material of the table.
            indices: shape (n,), the indices of the positions.

        Raises:
            MissingTableError: the material has no WDL table.
            IndexError: an index is out of range.
            TableError: the table cannot be read.
            ClosedError: the tablebase is closed.
        """
        return self._tables.table(material, Metric.WDL).values(indices)

    # Moves of a position

    def moves(self, position: Position) -> list[MoveValue]:
        """Return every legal move with its value from fresh counters, best first.

        The order is that of `tablebase.rules.outcome.move_order`. A move to a position without a table has
        the outcome `UNKNOWN`. The list is empty if the side to move has lost.

        >>> from tablebase import Position, Tablebase
        >>> with Tablebase() as tablebase:  # the move ends the game, so no table is needed
        ...     for move in tablebase.moves(Position.from_fen("W:Wc3:Bd4")):
        ...         print(move.move, move.outcome, move.dtc, move.dtw)
        c3:e5 win 1 1

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        valued = []
        counts_balance = self.ruleset.counts_balance(Material.of(position))
        limit = self.ruleset.balance_plies(position.pieces) if counts_balance else None
        for move in legal_moves(position):
            after = position_after(position, move)
            probe = self.get_probe(after)
            own = move_value(probe, move.zeroing, move.balance_change, self.ruleset, limit)
            dtb = own.dtb if counts_balance else None
            valued.append(MoveValue(move, own.outcome, own.dtc, own.dtw, dtb, after, probe))
        if any(value.outcome is Outcome.WIN for value in valued) and self._may_run_out(position):
            cursed = Outcome.CURSED_WIN
            valued = [replace(v, outcome=cursed, dtc=None, dtb=None) if v.wdl == 2 else v for v in valued]
        valued.sort(key=lambda v: move_order(v.probe, str(v.move)))
        return valued

    def _may_run_out(self, position: Position) -> bool:
        """Whether moves that seem to win do not, because two counts together run out before the win.

        Each count alone leaves room for these moves; only the table of the position itself knows.
        """
        if not self.ruleset.counts_material_separately(Material.of(position)):
            return False
        return self.get_wdl(position) == Outcome.CURSED_WIN.wdl

    def best_move(self, position: Position) -> Move | None:
        """Return the best move from fresh counters; None if the side to move has lost.

        `tablebase.games.search.RuleSearch.best_move` returns that of a game with its counters.

        Raises:
            MissingTableError: a move leads to a position without a table, and may be the best one.
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        moves = self.moves(position)
        if not moves:
            return None
        first, last = moves[0], moves[-1]
        if first.outcome is not Outcome.WIN and (missing := self.missing_table(last.after)) is not None:
            raise missing
        return first.move


def compiled_values(tables: TableSet, decoded: DecodedTables) -> PositionValues:
    """Load the compiled kernels and return the values that use them.

    Args:
        tables: the tables.
        decoded: the decoded tables for many positions at once.

    Raises:
        MissingPackageError: numba is not installed.
    """
    try:
        from tablebase.probe.compiled import CompiledValues
    except ModuleNotFoundError as error:
        if error.name not in ("numba", "llvmlite"):
            raise
        raise MissingPackageError(
            "compiled probing needs the package numba, which is not installed: "
            "pip install 'shashki-tablebase[fast]', or use compiled=False"
        ) from None
    return CompiledValues(tables, decoded)
