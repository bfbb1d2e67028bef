"""Records of a set of tables: the longest wins, and outcomes that never occur."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tablebase.board.material import Material, materials
from tablebase.board.position import Position
from tablebase.errors import ArgumentError, DataDirectoryError, TooManyPiecesError
from tablebase.games.analysis import SEARCH_EFFORT
from tablebase.games.search import RuleSearch
from tablebase.probe.line import Line, LineEnd, MoveValue
from tablebase.probe.tablebase import Tablebase, open_tablebase
from tablebase.rules.clock import Clock
from tablebase.tables.files import generate_command
from tablebase.tables.format import Metric
from tablebase.tables.manifest import Manifest, Statistics


@dataclass(frozen=True, slots=True)
class AbsentOutcomes:
    """Materials in which the side named first never wins, draws or loses, each as text.

    Attributes:
        won, drawn, lost: with that side to move.
        won_by_turns, drawn_by_turns, lost_by_turns: whoever is to move.
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
    """Which outcomes never come up.

    Args:
        counted: what was counted, of each material and of its mirror.
        on_the_board: whether a cursed win is a win and a blessed loss a loss, or both are draws.
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
    """The outcomes of the side named first, with it and with the other side to move."""
    own, other = moving[name], moving[str(Material.parse(name).mirror)]
    return _Counts(own.won + other.lost, own.drawn + other.drawn, own.lost + other.won)


DISTANCES = (Metric.DTW, Metric.DTC, Metric.DTB)
"""The metrics that a win can be longest by, in the order in which they are told."""


@dataclass(frozen=True, slots=True)
class Longest:
    """The longest win of a material by a metric: its plies, and the first position that has them, with the
    stronger side, White, to move. By DTW a cursed win is a win."""

    material: str
    plies: int
    fen: str


@dataclass(frozen=True, slots=True)
class Records:
    """What `find_records` found.

    Attributes:
        pieces: the most pieces.
        ruleset: the ruleset of the tables.
        generator_version: what made them.
        materials: what was counted of each material, fewer pieces first, then fewer men.
        lines: best play of both sides under the ruleset, as `shashki line` has it, from the longest win by
            DTW of each material and from the longest wins of each number of pieces, by FEN. Empty where the
            tables do not tell it.
        board_lines: play of both sides for length alone, without draw rules, from the longest wins by DTW of
            each number of pieces, by FEN: so many plies as the DTW. Empty where the tables do not tell it.
    """

    pieces: int
    ruleset: str
    generator_version: str
    materials: Sequence[Statistics]
    lines: dict[str, Line]
    board_lines: dict[str, Line]


def find_records(directory: Path, pieces: int | None = None) -> Records:
    """The records of a set of tables.

    Args:
        directory: the data directory.
        pieces: look at materials of up to so many pieces; None: at all those of which all were counted.

    Raises:
        ArgumentError: fewer than 2 pieces.
        DataDirectoryError: there is no such directory.
        ManifestError, WrongVersionError: the directory has no manifest that can be read.
        TooManyPiecesError: not all materials of so many pieces, or of 2, were counted.
        MissingTableError, TableError: a table that the manifest tells of is not there, or cannot be read.
    """
    if not directory.is_dir():
        raise DataDirectoryError(
            f"{directory} is no directory; make tables there with {generate_command(directory)}, or name "
            "another one"
        )
    if pieces is not None and pieces < 2:
        raise ArgumentError(f"there are materials of 2 pieces or more, not of {pieces}")
    manifest = Manifest.load(directory)
    most = _counted_to(manifest)
    if most < (pieces or 2):
        there = f"of 2 to {most} pieces" if most > 1 else "not even of 2 pieces"
        raise TooManyPiecesError(
            f"all materials of 2 to {pieces or 2} pieces are wanted, and those in {directory} are {there}: "
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
    """The longest win of a material by a metric; None where it has no win, or its length was not counted."""
    plies, fen = {
        Metric.DTW: (counted.longest_win_plies, counted.longest_win_fen),
        Metric.DTC: (counted.longest_dtc_win_plies, counted.longest_dtc_win_fen),
        Metric.DTB: (counted.longest_dtb_win_plies, counted.longest_dtb_win_fen),
    }[metric]
    return None if plies is None or fen is None else Longest(counted.material, plies, fen)


def longest_by_pieces(counted: Iterable[Statistics], metric: Metric) -> dict[int, Longest]:
    """The longest win by a metric of each number of pieces: of several, that of the first material."""
    found: dict[int, Longest] = {}
    for each in counted:
        pieces = Material.parse(each.material).pieces
        record = longest(each, metric)
        if record is not None and (pieces not in found or record.plies > found[pieces].plies):
            found[pieces] = record
    return found


def line_on_the_board(tablebase: Tablebase, position: Position) -> Line:
    """Play without draw rules from a position that is won or lost on the board: the winner wins as soon as
    the other side lets it, which puts it off as long as it can.

    Raises:
        ArgumentError: the position is a draw on the board, or its value is in no table.
        TableError: a table is there but cannot be read.
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
    """The most pieces up to which all materials were counted; 1 where not even those of 2 were."""

    def is_counted(material: Material) -> bool:
        entry = manifest.slices.get(material)
        return entry is not None and entry.statistics is not None

    pieces = 1
    while all(map(is_counted, materials(pieces + 1))):
        pieces += 1
    return pieces


def _has(tablebase: Tablebase, wanted: Iterable[Material], *metrics: Metric) -> bool:
    return all(tablebase.has_table(material, metric) for material in wanted for metric in metrics)


def _fens_of_lines(counted: Sequence[Statistics]) -> Iterable[str]:
    records = [record for each in counted if (record := longest(each, Metric.DTW))]
    for metric in DISTANCES:
        records += longest_by_pieces(counted, metric).values()
    return dict.fromkeys(record.fen for record in records)
