"""Rules, tables and probing of the Russian draughts tablebase."""

from tablebase.board import Color, Piece, Position
from tablebase.datadir import data_directory
from tablebase.drawcases import DrawCase, DrawRule, draw_cases
from tablebase.drawrules import KING_MOVES_ONLY, Ruleset
from tablebase.errors import (
    ClosedError,
    DamagedFrameError,
    DamagedHeaderError,
    DamagedTableError,
    DataDirectoryError,
    IllegalMoveError,
    IllegalPositionError,
    ManifestError,
    MaterialError,
    MissingTableError,
    NotATableError,
    NotationError,
    TablebaseError,
    TableError,
    TooManyPiecesError,
    TruncatedTableError,
    WrongVersionError,
)
from tablebase.format import Metric
from tablebase.line import Line, LineEnd, MoveValue
from tablebase.material import Material, materials
from tablebase.notation import Numbering, parse_move
from tablebase.outcome import Outcome, Probe
from tablebase.rules import Move
from tablebase.tablebase import Tablebase, open_tablebase

__all__ = [
    "KING_MOVES_ONLY",
    "ClosedError",
    "Color",
    "DamagedFrameError",
    "DamagedHeaderError",
    "DamagedTableError",
    "DataDirectoryError",
    "DrawCase",
    "DrawRule",
    "IllegalMoveError",
    "IllegalPositionError",
    "Line",
    "LineEnd",
    "ManifestError",
    "Material",
    "MaterialError",
    "Metric",
    "MissingTableError",
    "Move",
    "MoveValue",
    "NotATableError",
    "NotationError",
    "Numbering",
    "Outcome",
    "Piece",
    "Position",
    "Probe",
    "Ruleset",
    "TableError",
    "Tablebase",
    "TablebaseError",
    "TooManyPiecesError",
    "TruncatedTableError",
    "WrongVersionError",
    "data_directory",
    "draw_cases",
    "materials",
    "open_tablebase",
    "parse_move",
]
