"""Records of a set of tables: the longest wins, and outcomes that never occur."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tablebase.board.material import Material, complete_up_to, materials
from tablebase.board.position import Position
from tablebase.errors import ArgumentError, TooManyPiecesError
from tablebase.games.analysis import SEARCH_EFFORT
from tablebase.games.search import RuleSearch
from tablebase.probe.line import Line, LineEnd, MoveValue
from tablebase.probe.tablebase import Tablebase, open_tablebase
from tablebase.probe.tableset import require_directory
from tablebase.rules.clock import Clock
from tablebase.tables.files import generate_command
from tablebase.tables.format import Metric
from tablebase.tables.manifest import Manifest, Statistics


@dataclass(frozen=True, slots=True)
class AbsentOutcomes:
    """Materials in which the side named first never wins, draws or loses, as text.

    Attributes:
        won, drawn, lost: the materials, with that side to move.
        won_by_turns, drawn_by_turns, lost_by_turns: the materials, whichever side is to move.
    """

    won: tuple[str, ...]
    drawn: tuple[str, ...]
    lost: tuple[str, ...]
    won_by_turns: tuple[str, ...]
    drawn_by_turns: tuple[str, ...]
    lost_by_turns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Counts:
    won: int
    drawn: int
    lost: int


def absent_outcomes(counted: Iterable[Statistics], on_the_board: bool) -> AbsentOutcomes:
    """Return the materials with outcomes that never occur.

    Args:
        counted: the statistics of each material and of its mirror.
        on_the_board: whether to ignore draw rules. If so, a cursed win is a win and a blessed loss a loss. If
            not, both are draws.
    """
    moving = {each.material: _counts(each, on_the_board) for each in counted}
    by_turns = {name: _by_turns(moving, name) for name in moving}

    def without(outcome: str, counts: Mapping[str, _Counts]) -> tuple[str, ...]:
        return tuple(name for name, count in counts.items() if not getattr(count, outcome))

    outcomes = ("won", "drawn", "lost")
    return AbsentOutcomes(
        *(without(outcome, counts) for counts in (moving, by_turns) for outcome in outcomes)
    )


def _counts(counted: Statistics, on_the_board: bool) -> _Counts:
    won, drawn, lost = counted.win, counted.draw, counted.loss
    if on_the_board:
        return _Counts(won + counted.cursed_win, drawn, lost + counted.blessed_loss)
    return _Counts(won, drawn + counted.cursed_win + counted.blessed_loss, lost)


def _by_turns(moving: Mapping[str, _Counts], name: str) -> _Counts:
    """Return the outcomes of the side named first, whichever side is to move."""
    own, other = moving[name], moving[str(Material.parse(name).mirror)]
    return _Counts(own.won + other.lost, own.drawn + other.drawn, own.lost + other.won)


DISTANCES = (Metric.DTW, Metric.DTC, Metric.DTB)
"""The metrics by which a win can be longest, in the order of the page."""


@dataclass(frozen=True, slots=True)
class Longest:
    """The longest win of a material by a metric. By DTW, a cursed win is a win.

    Attributes:
        material: the material, as text.
        plies: the distance.
        fen: the first position with this distance. The stronger side is White and is to move.
    """

    material: str
    plies: int
    fen: str


@dataclass(frozen=True, slots=True)
class Records:
    """What `find_records` found.

    Attributes:
        pieces: the greatest number of pieces.
        ruleset: the name of the tables' ruleset.
        generator_version: the version of the program that made the tables.
        materials: the statistics of each material, fewer pieces first, then fewer men.
        lines: best play under the ruleset, by FEN, as `shashki line` gives it. The lines begin with the
            longest win by DTW of each material, and with the longest wins of each number of pieces. Empty if
            the tables are not enough.
        board_lines: lines in which both sides play for DTW, without draw rules, by FEN. They begin with the
            longest wins by DTW of each number of pieces, and have as many plies as the DTW. Empty if the
            tables are not enough.
    """

    pieces: int
    ruleset: str
    generator_version: str
    materials: Sequence[Statistics]
    lines: dict[str, Line]
    board_lines: dict[str, Line]


def find_records(directory: Path, pieces: int | None = None) -> Records:
    """Return the records of a set of tables.

    Args:
        directory: the data directory.
        pieces: the greatest number of pieces; None for all numbers of pieces whose materials all have
            statistics.

    Raises:
        ArgumentError: `pieces` is less than 2.
        DataDirectoryError: the directory does not exist.
        ManifestError: the directory has no manifest, or it cannot be read.
        WrongVersionError: the manifest has another version.
        TooManyPiecesError: some material of so many pieces, or of 2, has no statistics.
        MissingTableError: a table of the manifest is missing.
        TableError: a table cannot be read.
    """
    require_directory(directory)
    if pieces is not None and pieces < 2:
        raise ArgumentError(f"the number of pieces must be at least 2, got {pieces}")
    manifest = Manifest.load(directory)
    most = _counted_to(manifest)
    if most < (pieces or 2):
        there = f"has only those of 2 to {most}" if most > 1 else "lacks some of 2 pieces"
        raise TooManyPiecesError(
            f"records need all materials of 2 to {pieces or 2} pieces, but {directory} {there}: "
            f"make the others with {generate_command(directory, pieces or 2)}"
        )
    pieces = pieces or most
    wanted = [material for count in range(2, pieces + 1) for material in materials(count)]
    counted = [found for material in wanted if (found := manifest.slices[material].statistics)]
    lines: dict[str, Line] = {}
    board_lines: dict[str, Line] = {}
    with open_tablebase(directory) as tablebase:
        if _has(tablebase, wanted, Metric.WDL, Metric.DTC):
            search = RuleSearch(tablebase, SEARCH_EFFORT)
            for fen in _fens_of_lines(counted):
                lines[fen] = search.line(Clock.from_fen(fen, tablebase.ruleset))
        if _has(tablebase, wanted, Metric.WDL, Metric.DTW):
            for record in longest_by_pieces(counted, Metric.DTW).values():
                board_lines[record.fen] = line_on_the_board(tablebase, Position.from_fen(record.fen))
    return Records(pieces, manifest.ruleset.name, manifest.generator_version, counted, lines, board_lines)


def longest(counted: Statistics, metric: Metric) -> Longest | None:
    """Return the longest win of a material by a metric; None without a win or without its length."""
    plies, fen = {
        Metric.DTW: (counted.longest_win_plies, counted.longest_win_fen),
        Metric.DTC: (counted.longest_dtc_win_plies, counted.longest_dtc_win_fen),
        Metric.DTB: (counted.longest_dtb_win_plies, counted.longest_dtb_win_fen),
    }[metric]
    return None if plies is None or fen is None else Longest(counted.material, plies, fen)


def longest_by_pieces(counted: Iterable[Statistics], metric: Metric) -> dict[int, Longest]:
    """Return the longest win of each number of pieces by a metric. The first material wins a tie."""
    found: dict[int, Longest] = {}
    for each in counted:
        pieces = Material.parse(each.material).pieces
        record = longest(each, metric)
        if record is not None and (pieces not in found or record.plies > found[pieces].plies):
            found[pieces] = record
    return found


def line_on_the_board(tablebase: Tablebase, position: Position) -> Line:
    """Return a line in which both sides play for DTW, without draw rules.

    The winner chooses the shortest win, the loser the longest defence.

    Raises:
        ArgumentError: the position is drawn without draw rules, or has no value in the tables.
        TableError: a table exists but cannot be read.
    """
    played: list[MoveValue] = []
    positions = [position]
    while moves := tablebase.moves(positions[-1]):
        wins = [move for move in moves if (move.wdl or 0) > 0]
        if any(move.wdl is None for move in moves) or any(move.dtw is None for move in wins or moves):
            raise ArgumentError(f"the tables have no DTW of {positions[-1].to_fen()}, or it is a draw")
        best = min(wins or moves, key=lambda move: (_plies(move) if wins else -_plies(move), str(move.move)))
        played.append(best)
        positions.append(best.after)
    return Line(tuple(played), tuple(positions), LineEnd.GAME_OVER, positions[-1].turn.other)


def _plies(move: MoveValue) -> int:
    return 0 if move.dtw is None else move.dtw


def _counted_to(manifest: Manifest) -> int:
    """Return the largest n such that every material of 2 to n pieces has statistics; 1 if there is none."""

    def is_counted(material: Material) -> bool:
        entry = manifest.slices.get(material)
        return entry is not None and entry.statistics is not None

    return complete_up_to(is_counted)


def _has(tablebase: Tablebase, wanted: Iterable[Material], *metrics: Metric) -> bool:
    return all(tablebase.has_table(material, metric) for material in wanted for metric in metrics)


def _fens_of_lines(counted: Sequence[Statistics]) -> Iterable[str]:
    records = [record for each in counted if (record := longest(each, Metric.DTW))]
    for metric in DISTANCES:
        records += longest_by_pieces(counted, metric).values()
    return dict.fromkeys(record.fen for record in records)
