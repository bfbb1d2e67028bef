"""Rules, tables and probing of the Russian draughts tablebase."""

from tablebase.adjudication import Adjudication, Adjudicator
from tablebase.board import Color, Piece, Position
from tablebase.boardarrays import NONE, UNKNOWN_VALUE, Boards, BoardValues
from tablebase.boardwin import board_won_by
from tablebase.clock import Clock, RuleState, Ruling, Verdict
from tablebase.counters import Counter, Counters
from tablebase.datadir import data_directory
from tablebase.drawcases import DrawCase, DrawRule, draw_cases
from tablebase.drawrules import KING_MOVES_ONLY, OFFICIAL, RULESETS, Ruleset, find_ruleset
from tablebase.errors import (
    ArgumentError,
    ClosedError,
    CounterError,
    DamagedFrameError,
    DamagedHeaderError,
    DamagedTableError,
    DataDirectoryError,
    IllegalMoveError,
    IllegalPositionError,
    ManifestError,
    MaterialError,
    MissingPackageError,
    MissingTableError,
    NotATableError,
    NotationError,
    RulesetError,
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
from tablebase.pdn import PdnGame, read_games
from tablebase.prospect import Prospect
from tablebase.rules import Move
from tablebase.tablebase import Tablebase, open_tablebase

__all__ = [
    "KING_MOVES_ONLY",
    "NONE",
    "OFFICIAL",
    "RULESETS",
    "UNKNOWN_VALUE",
    "Adjudication",
    "Adjudicator",
    "ArgumentError",
    "BoardValues",
    "Boards",
    "Clock",
    "ClosedError",
    "Color",
    "Counter",
    "CounterError",
    "Counters",
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
    "MissingPackageError",
    "MissingTableError",
    "Move",
    "MoveValue",
    "NotATableError",
    "NotationError",
    "Numbering",
    "Outcome",
    "PdnGame",
    "Piece",
    "Position",
    "Probe",
    "Prospect",
    "RuleState",
    "Ruleset",
    "RulesetError",
    "Ruling",
    "TableError",
    "Tablebase",
    "TablebaseError",
    "TooManyPiecesError",
    "TruncatedTableError",
    "Verdict",
    "WrongVersionError",
    "board_won_by",
    "data_directory",
    "draw_cases",
    "find_ruleset",
    "materials",
    "open_tablebase",
    "parse_move",
    "read_games",
]
