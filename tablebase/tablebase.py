"""A set of tables, and the questions it answers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import overload

from tablebase.board import Position
from tablebase.cache import DEFAULT_BYTES, FrameCache
from tablebase.clock import Clock
from tablebase.datadir import generate_command
from tablebase.drawrules import OFFICIAL, Ruleset
from tablebase.errors import (
    ClosedError,
    DamagedHeaderError,
    DataDirectoryError,
    MissingTableError,
    TooManyPiecesError,
    WrongVersionError,
)
from tablebase.format import HEADER_SIZE, Metric, check_version, dtw_plies, table_name
from tablebase.indexing import index_of
from tablebase.line import Line, LineEnd, MoveValue
from tablebase.material import Material, materials
from tablebase.outcome import LOST, UNKNOWN, Outcome, Probe, move_order, move_value
from tablebase.prospect import Prospect
from tablebase.rules import Move, legal_moves, position_after
from tablebase.rulesearch import RuleSearch, unknown_that_matters
from tablebase.table import Table
from tablebase.tablefiles import TableKey, check_is_file, no_directory, table_of

_MOST_MAKEABLE = 8  # pieces; beyond, the memory of no present machine is enough


def open_tablebase(path: Path | str, *, cache_bytes: int = DEFAULT_BYTES) -> Tablebase:
    """Open the tables of a directory; use it in a `with` statement, or close it.

    Args:
        path: the directory. Others can be added with `Tablebase.add_directory`.
        cache_bytes: how much memory decoded frames may take, of all tables together.

    Raises:
        DataDirectoryError: there is no such directory.
        WrongVersionError: its tables have another format or were made under other rules.
        NotATableError: something in it has the name of a table but is no file.
    """
    tablebase = Tablebase(cache_bytes=cache_bytes)
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
        cache_bytes: how much memory decoded frames may take.
    """

    def __init__(self, *, ruleset: Ruleset | None = None, cache_bytes: int = DEFAULT_BYTES) -> None:
        self._ruleset = ruleset
        self._cache = FrameCache(cache_bytes)
        self._directories: list[Path] = []
        self._paths: dict[TableKey, Path] = {}
        self._tables: dict[TableKey, Table] = {}
        self._balance_metrics: dict[Material, Metric | None] = {}
        self._lock = Lock()
        self._closed = False
        self._pieces = 0

    @property
    def ruleset(self) -> Ruleset:
        """The rules that the tables assume; the official ones while there are no tables."""
        return self._ruleset or OFFICIAL

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
        directory = Path(path)
        if not directory.is_dir():
            raise DataDirectoryError(no_directory(directory))
        found = {}
        rules = self._ruleset
        for file in sorted(directory.iterdir()):
            key = table_of(file)
            if key is not None and key not in self._paths:
                check_is_file(file)
                with file.open("rb") as opened:
                    head = opened.read(HEADER_SIZE)
                if len(head) == HEADER_SIZE:
                    rules = self._one_ruleset(rules, check_version(head, file), file)
                found[key] = file
        self._ruleset = rules
        self._balance_metrics.clear()
        self._directories.append(directory)
        self._paths |= found
        self._pieces = self._complete_to()
        return len(found)

    @staticmethod
    def _one_ruleset(known: Ruleset | None, found: Ruleset | None, file: Path) -> Ruleset | None:
        """The rules of a set, when one more table of it has been looked at."""
        if known is not None and found is not None and found != known:
            raise WrongVersionError(
                f"{file} was made under other draw rules, {found.name}, than the rest, {known.name}: "
                "generate the tables again"
            )
        return known or found

    def _complete_to(self) -> int:
        pieces = 1
        while all((material, Metric.WDL) in self._paths for material in materials(pieces + 1)):
            pieces += 1
        return pieces if pieces > 1 else 0

    @property
    def pieces(self) -> int:
        """The greatest number of pieces up to which all outcomes are there; 0 for an empty set."""
        return self._pieces

    def has_table(self, material: Material, metric: Metric = Metric.WDL) -> bool:
        """Whether a slice's table is in the set."""
        return (material, metric) in self._paths

    def close(self) -> None:
        """Close all tables. Closing twice is no error."""
        with self._lock:
            self._closed = True
            for table in self._tables.values():
                table.close()
            self._tables.clear()

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
        wdl = self._value(position, ()).wdl
        assert wdl is not None
        return wdl

    def probe_dtc(self, position: Position) -> int | None:
        """The plies to the next zeroing move or the end of the game; None unless it is a win or a loss.

        Whoever makes that move counts, so a win may have an even DTC. Raises as `probe_wdl` does.
        """
        return self._value(position, (Metric.DTC,)).dtc

    def probe_dtw(self, position: Position) -> int | None:
        """The plies to the end of the game, without draw rules; None for a draw on the board.

        Odd for a win or cursed win, even for a loss or blessed loss. Raises as `probe_wdl` does.
        """
        return self._value(position, (Metric.DTW,)).dtw

    def probe_dtb(self, position: Position) -> int | None:
        """The plies to the next balance change (a capture or a promotion) or the end of the game.

        None unless it is a win or a loss, and where the tables' rules do not count the balance: a side has no
        king, or there is no limit for so many pieces. Raises as `probe_wdl` does.
        """
        return self._value(position, (Metric.DTB,)).dtb

    @overload
    def probe(self, position: Position) -> Probe: ...

    @overload
    def probe(self, position: Position, clock: Clock) -> Prospect: ...

    def probe(self, position: Position, clock: Clock | None = None) -> Probe | Prospect:
        """Everything known of a position; or, with the clock of a game, how that game ends with best play.

        Without a clock: a distance whose table is missing is None; the outcome's table must be there. Raises
        as `probe_wdl`.

        With one: the prospect of its side to move under the clock's ruleset, counters as they are; `UNKNOWN`
        where a table is missing. `tablebase.rulesearch` tells how it is found.

        Raises:
            ValueError: the clock is one of another position.
        """
        if clock is not None:
            return RuleSearch(self).prospect(_clock_of(position, clock))
        return self._value(position, (Metric.DTC, Metric.DTW, Metric.DTB), lenient=True)

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

    def _value(self, position: Position, distances: Collection[Metric], lenient: bool = False) -> Probe:
        moves = legal_moves(position)
        if not moves:
            return LOST
        if not position.other_men | position.other_kings:
            return Probe(Outcome.WIN, dtc=1, dtw=1, dtb=1)
        if moves[0].is_capture:
            after = [self._value(position_after(position, move), distances, lenient) for move in moves]
            return self._best_capture(after, self._balance_metric(Material.of(position)) is not None)
        return self._stored(position, distances, lenient)

    def _best_capture(self, after: list[Probe], counts_balance: bool) -> Probe:
        """The value of a position from those of the positions that its captures lead to."""
        values = [move_value(probe, zeroing=True, balance_change=True, rules=self.ruleset) for probe in after]
        wdls = [value.outcome.wdl or 0 for value in values]
        best = max(wdls)
        # On the board a cursed win is a win like any other, so the shortest may be one.
        lengths = [value.dtw for value, wdl in zip(values, wdls, strict=True) if wdl * best > 0]
        known = [length for length in lengths if length is not None]
        dtw = None
        if known and len(known) == len(lengths):
            dtw = min(known) if best > 0 else max(known)
        outcome = Outcome.from_wdl(best)
        at_once = 1 if outcome.is_decided else None
        return Probe(outcome, at_once, dtw, at_once if counts_balance else None)

    def _stored(self, position: Position, distances: Collection[Metric], lenient: bool) -> Probe:
        """The value of a position without a capture, from the tables of its slice."""
        sets = position.own_men, position.own_kings, position.other_men, position.other_kings
        material = Material.of(position)
        # The table first: it fails at once for many pieces, for which the index would build large lists.
        table = self._table(material, Metric.WDL)
        index = index_of(*sets)
        wdl = table.value(index)
        if not -2 <= wdl <= 2:
            raise DamagedHeaderError(f"{table.path} is damaged: its alphabet has {wdl}; generate it again")
        outcome = Outcome.from_wdl(wdl)
        dtc = dtw = dtb = None
        if outcome.is_decided and Metric.DTC in distances:
            dtc = self._distance(material, Metric.DTC, index, lenient)
        if wdl and Metric.DTW in distances:
            stored = self._distance(material, Metric.DTW, index, lenient)
            dtw = None if stored is None else dtw_plies(stored, won=wdl > 0)
        if outcome.is_decided and Metric.DTB in distances:
            metric = self._balance_metric(material)
            if metric is not None:
                known = metric is Metric.DTC and dtc is not None
                dtb = dtc if known else self._distance(material, metric, index, lenient)
        return Probe(outcome, dtc, dtw, dtb)

    def _balance_metric(self, material: Material) -> Metric | None:
        """The metric that tells the DTB of a slice; None where its balance is not counted."""
        if material not in self._balance_metrics:
            metric = None
            if self.ruleset.counts_balance(material):
                # Without men every move but a capture is counted in both.
                metric = Metric.DTB if self.ruleset.counts_apart(material) else Metric.DTC
            self._balance_metrics[material] = metric
        return self._balance_metrics[material]

    def _distance(self, material: Material, metric: Metric, index: int, lenient: bool) -> int | None:
        if lenient and not self.has_table(material, metric):
            return None
        return self._table(material, metric).value(index)

    def _table(self, material: Material, metric: Metric) -> Table:
        key = material, metric
        table = self._tables.get(key)
        if table is not None:
            return table
        with self._lock:
            if self._closed:
                raise ClosedError("the tablebase has been closed; open it again to ask it anything")
            if key not in self._tables:
                if key not in self._paths:
                    raise self._missing(material, metric)
                self._tables[key] = self._open(key)
            return self._tables[key]

    def _open(self, key: TableKey) -> Table:
        path = self._paths[key]
        try:
            table = Table(path, self._cache)
        except FileNotFoundError:
            raise MissingTableError(
                f"the table {path} is gone since the tablebase was opened; generate it again"
            ) from None
        header = table.header
        if (header.material, header.metric) != key:
            table.close()
            raise DamagedHeaderError(
                f"{path} is the table {table_name(header.material, header.metric)} under another name; "
                "give it its own name again"
            )
        return table

    def _missing(self, material: Material, metric: Metric) -> MissingTableError:
        most = max((key[0].pieces for key in self._paths), default=0)
        if not self._directories:
            return MissingTableError(
                f"there is no table {table_name(material, metric)}, as the tablebase has no directory; "
                "add one with add_directory"
            )
        where = " or ".join(map(str, self._directories))
        advice = f"make it with {generate_command(self._directories[0], material.pieces)}"
        if material.pieces > _MOST_MAKEABLE:
            advice = f"tables of more than {_MOST_MAKEABLE} pieces are out of reach today"
        if 0 < most < material.pieces:
            complete = "" if self.pieces == most else f", complete up to {self.pieces}"
            return TooManyPiecesError(
                f"{material} has {material.pieces} pieces, and the tables in {where} hold up to "
                f"{most}{complete}: there is no {table_name(material, metric)}; {advice}"
            )
        return MissingTableError(f"there is no table {table_name(material, metric)} in {where}; {advice}")

    # Moves of a position

    def moves(self, position: Position) -> list[MoveValue]:
        """Every legal move with its value, best first; `tablebase.outcome.move_order` says which is better.

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
        if not self.ruleset.counts_apart(Material.of(position)):
            return False
        return self.get_wdl(position) == Outcome.CURSED_WIN.wdl

    def best_move(self, position: Position, clock: Clock | None = None) -> Move | None:
        """The first of `moves(position)`; None where the side to move has lost.

        With the clock of a game: the best move under its ruleset, counters as they are. Who plays these moves
        from a position that is won under the rules wins before any of them makes a draw.

        Raises:
            MissingTableError: it cannot be told, since no table has the position after some move, and that
                may be better than all that are known.
            ValueError: the clock is one of another position.
        """
        if clock is not None:
            ruled = RuleSearch(self).moves_to_play(_clock_of(position, clock))
            if (open_move := unknown_that_matters(ruled)) is not None:
                self.probe(open_move.clock.position)
            return ruled[0].move if ruled else None
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
            ValueError: the limit is negative.
            TableError: a table is there but cannot be read.
        """
        if limit < 0:
            raise ValueError(f"a line has a limit of 0 plies or more, not {limit}")
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


def _clock_of(position: Position, clock: Clock) -> Clock:
    if clock.position != position:
        raise ValueError(f"the clock stands at {clock.position.to_fen()}, not at {position.to_fen()}")
    return clock
