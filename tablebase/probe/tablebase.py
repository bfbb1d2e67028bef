"""A set of tables, and the questions it answers."""

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
from tablebase.probe.line import Line, LineEnd, MoveValue
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
    """Open the tables of a directory; use it in a `with` statement, or close it.

    Args:
        path: the directory. Others can be added with `Tablebase.add_directory`.
        cache_bytes, array_bytes, compiled: as of `Tablebase`.

    Raises:
        DataDirectoryError: there is no such directory.
        WrongVersionError: its tables have another format or were made under other rules.
        NotATableError: something in it has the name of a table but is no file.
        MissingPackageError: numba is not installed, and `compiled` is True.
    """
    tablebase = Tablebase(cache_bytes=cache_bytes, array_bytes=array_bytes, compiled=compiled)
    tablebase.add_directory(path)
    return tablebase


class Tablebase:
    """A set of tables that can be asked about positions. A context manager; any number of threads may ask.

    Every answer is for the side to move and from fresh counts of the draw rules. Captures are
    resolved inside: a position with a capture is answered from what its captures lead to, so that it may have
    more pieces than the tables. A side without a move or without pieces has lost, and no table is needed to
    say so. Files are opened when they are first needed.

    Args:
        ruleset: the rules that the tables must assume; None for those of the first table that is added.
        cache_bytes: how much memory decoded frames may take, of all tables together.
        array_bytes: how much more memory whole decoded tables may take, for `probe_many`.
        compiled: whether to probe by compiled kernels, which takes numba, the extra `fast`; the answers are
            the same. None: only in `probe_many`, where numba is installed, as loading kernels takes a second
            in each process.

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
        """The rules that the tables assume; the official ones while there are no tables."""
        return self._tables.ruleset

    # The set

    def add_directory(self, path: Path | str) -> int:
        """Add the tables of a directory; those of a slice and metric that is there already are passed over.

        Returns:
            How many tables were added.

        Raises:
            DataDirectoryError: there is no such directory.
            WrongVersionError: a table has another format or was made under other rules; none is added then.
            NotATableError: something has the name of a table but is no file; none is added then.
        """
        return self._tables.add_directory(path)

    @property
    def pieces(self) -> int:
        """The greatest number of pieces up to which all outcomes are there; 0 for an empty set."""
        return self._tables.pieces

    @property
    def materials(self) -> list[Material]:
        """Every material whose outcomes are there: fewer pieces first, then fewer men, then by name."""
        return sorted(self._tables.slices, key=Material.sort_key)

    @property
    def cache_used_bytes(self) -> int:
        """How many bytes of decoded frames and tables are kept now."""
        return self._tables.cache_used_bytes + self._decoded.used_bytes

    def has_table(self, material: Material, metric: Metric = Metric.WDL) -> bool:
        """Whether a slice's table is in the set."""
        return self._tables.has(material, metric)

    def close(self) -> None:
        """Close all tables. Closing twice is no error."""
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
        """The outcome for the side to move: 2 win, 1 cursed win, 0 draw, -1 blessed loss, -2 loss.

        Raises:
            MissingTableError: the table it takes is not there; the message names it.
            TooManyPiecesError: (a MissingTableError) the set holds no tables of so many pieces.
            TableError: the table is there but cannot be read.
            ClosedError: the tablebase has been closed.
        """
        return self._values.wdl(position)

    def probe_dtc(self, position: Position) -> int | None:
        """The plies to the next zeroing move or the end of the game; None unless it is a win or a loss.

        Whoever makes that move counts, so a win may have an even DTC. Raises as `probe_wdl` does.
        """
        return self._values.value(position, (Metric.DTC,)).dtc

    def probe_dtw(self, position: Position) -> int | None:
        """The plies to the end of the game, without draw rules; None for a draw on the board.

        Odd for a win or cursed win, even for a loss or blessed loss. Raises as `probe_wdl` does.
        """
        return self._values.value(position, (Metric.DTW,)).dtw

    def probe_dtb(self, position: Position) -> int | None:
        """The plies to the next balance change (a capture or a promotion) or the end of the game.

        None unless it is a win or a loss, and where the tables' rules do not count the balance: a side has no
        king, or there is no limit for so many pieces. Raises as `probe_wdl` does.
        """
        return self._values.value(position, (Metric.DTB,)).dtb

    def probe(self, position: Position) -> Probe:
        """The outcome of a position from fresh counters, and its distances in plies.

        A distance is None if its table is missing. For the game with its counters, ask
        `tablebase.games.search.RuleSearch`.

        Raises:
            MissingTableError: the table of its outcome is missing; the message names it.
            TooManyPiecesError: (a MissingTableError) no table of the set has so many pieces.
            TableError: a table cannot be read.
            ClosedError: the tablebase has been closed.
        """
        return self._values.value(position, (Metric.DTC, Metric.DTW, Metric.DTB), lenient=True)

    def get_wdl(self, position: Position, default: int | None = None) -> int | None:
        """`probe_wdl`, or `default` where a table is missing."""
        try:
            return self.probe_wdl(position)
        except MissingTableError:
            return default

    def get_dtc(self, position: Position, default: int | None = None) -> int | None:
        """`probe_dtc`, or `default` where a table is missing."""
        try:
            return self.probe_dtc(position)
        except MissingTableError:
            return default

    def get_dtw(self, position: Position, default: int | None = None) -> int | None:
        """`probe_dtw`, or `default` where a table is missing."""
        try:
            return self.probe_dtw(position)
        except MissingTableError:
            return default

    def get_dtb(self, position: Position, default: int | None = None) -> int | None:
        """`probe_dtb`, or `default` where a table is missing."""
        try:
            return self.probe_dtb(position)
        except MissingTableError:
            return default

    def get_probe(self, position: Position, default: Probe = UNKNOWN) -> Probe:
        """`probe`, or `default` where a table is missing."""
        try:
            return self.probe(position)
        except MissingTableError:
            return default

    # Values of many positions

    def probe_many(self, sets: ArrayLike, black: ArrayLike, distances: Collection[Metric] = ()) -> ProbeArray:
        """What many positions are worth, as arrays: the same as `get_wdl` and the others tell of each.

        Tables of which many values are asked are kept in memory as a whole, within `array_bytes`.

        Args:
            sets: shape (n, 4), integers: men and kings of White, men and kings of Black, as sets of squares.
            black: shape (n,), bool: whether it is Black's turn. `PositionArray.of(positions)` makes both.
            distances: which are wanted besides the outcomes.

        Returns:
            Arrays of n outcomes and distances, -128 where a table is missing.

        Raises:
            IllegalPositionError: a position is none; the message has the place of the first.
            ArgumentError: an array has another shape or type, or no collection of metrics is given.
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase has been closed.
        """
        if self._array_values is None:
            try:
                self._array_values = compiled_values(self._tables, self._decoded)
            except MissingPackageError:
                self._array_values = self._values
        if isinstance(distances, str):  # a Metric is one: each letter would be taken for a distance
            raise ArgumentError(f"distances are several, like [Metric.DTW], not {str(distances)!r} alone")
        return self._array_values.values(PositionArray(sets, black), [Metric(metric) for metric in distances])

    def stored_outcomes(self, material: Material, indices: NDArray[np.int64]) -> NDArray[np.int16]:
        """What the table of a material stores as the outcomes at some places of its index, 2 to -2.

        Of a position with a capture for the side to move this means nothing.

        Raises:
            MissingTableError: there is no table of the material.
            IndexError: the material has no such place.
            TableError: the table cannot be read.
        """
        return self._tables.table(material, Metric.WDL).values(indices)

    # Moves of a position

    def moves(self, position: Position) -> list[MoveValue]:
        """Every legal move with its value, best first, in the order of `tablebase.rules.outcome.move_order`.

        Moves to positions without a table are there too, their outcome `UNKNOWN`. None where the side to move
        has lost.

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase has been closed.
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
        valued.sort(key=lambda v: move_order(Probe(v.outcome, v.dtc, v.dtw), str(v.move)))
        return valued

    def _may_run_out(self, position: Position) -> bool:
        """Whether moves that win from fresh counts do not win here: no single count ages them beyond its
        limit, but the position's own table knows that two together do."""
        if not self.ruleset.counts_material_separately(Material.of(position)):
            return False
        return self.get_wdl(position) == Outcome.CURSED_WIN.wdl

    def best_move(self, position: Position) -> Move | None:
        """The first of `moves(position)`; None if the side to move has lost.

        For a game with its counters, ask `tablebase.games.search.RuleSearch.best_move`.

        Raises:
            MissingTableError: no table has the position after some move, which may be better than all moves
                with a known value.
        """
        moves = self.moves(position)
        if not moves:
            return None
        if (unknown := _unknown_that_matters(moves)) is not None:
            self.probe(unknown.after)
        return moves[0].move

    def line(self, position: Position, limit: int = 500) -> Line:
        """Best play of both sides, up to the end of the game, or as far as it goes.

        The count of the 15-king-moves rule begins with the line, so that a cursed win is played as far as the
        rule allows.

        Args:
            position: where to begin.
            limit: the most plies to play.

        Raises:
            ArgumentError: the limit is negative.
            TableError: a table is there but cannot be read.
        """
        if limit < 0:
            raise ArgumentError(f"a line has a limit of 0 plies or more, not {limit}")
        played: list[MoveValue] = []
        positions = [position]
        king_plies = 0
        while True:
            moves = self.moves(positions[-1])
            if not moves:
                winner = positions[-1].turn.other
                return Line(tuple(played), tuple(positions), LineEnd.GAME_OVER, winner)
            end = None
            # Whatever comes next, a capture even, comes too late for the rule.
            counted_out = self.ruleset.exceeds(king_plies + 1)
            if counted_out:
                end = LineEnd.DRAW
            elif _unknown_that_matters(moves) is not None:
                end = LineEnd.UNKNOWN
            elif moves[0].outcome is Outcome.DRAW:
                end = LineEnd.DRAW
            elif len(played) >= limit:
                end = LineEnd.LIMIT
            if end is not None:
                return Line(tuple(played), tuple(positions), end, counted_out=counted_out)
            king_plies = 0 if moves[0].move.zeroing else king_plies + 1
            played.append(moves[0])
            positions.append(moves[0].after)


def _unknown_that_matters(moves: list[MoveValue]) -> MoveValue | None:
    """A move of unknown value that may be better than the first one, if there is any."""
    if moves[0].outcome is not Outcome.WIN and moves[-1].outcome is Outcome.UNKNOWN:
        return moves[-1]
    return None


def compiled_values(tables: TableSet, decoded: DecodedTables) -> PositionValues:
    """Values by compiled kernels, which are loaded now.

    Args:
        tables: where they are looked up.
        decoded: where those of many positions are looked up.

    Raises:
        MissingPackageError: numba is not installed.
    """
    try:
        from tablebase.probe.compiled import CompiledValues
    except ModuleNotFoundError as error:
        if error.name not in ("numba", "llvmlite"):
            raise
        raise MissingPackageError(
            "compiled probing needs the package numba, which is not installed; "
            "pip install 'shashki-tablebase[fast]', or do without: compiled=False"
        ) from None
    return CompiledValues(tables, decoded)
