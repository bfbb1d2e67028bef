"""Rules, tables and probing of the Russian draughts tablebase."""

from importlib.metadata import version

from tablebase.board.counters import CounterName, Counters
from tablebase.board.material import Material, materials
from tablebase.board.notation import Numbering, parse_move
from tablebase.board.position import Color, Move, Piece, Position
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
from tablebase.games.adjudication import Adjudication, Adjudicator
from tablebase.games.lone_kings import DrawCase, DrawRule, draw_cases
from tablebase.games.pdn import PdnGame, read_games
from tablebase.games.search import RuledMove, RuleSearch, win_oracle
from tablebase.probe.arrays import NONE, UNKNOWN_VALUE, PositionArray, ProbeArray
from tablebase.probe.line import Line, LineEnd, MoveValue
from tablebase.probe.tablebase import Tablebase, open_tablebase
from tablebase.rules.clock import Clock, GameStatus, RuleState, Ruling
from tablebase.rules.outcome import Outcome, Probe, RulesOutcome
from tablebase.rules.rulesets import KING_MOVES_ONLY, OFFICIAL, RULESETS, Ruleset, find_ruleset
from tablebase.tables.files import data_directory
from tablebase.tables.format import Metric

__version__ = version("shashki-tablebase")

__all__ = [
    "KING_MOVES_ONLY",
    "NONE",
    "OFFICIAL",
    "RULESETS",
    "UNKNOWN_VALUE",
    "Adjudication",
    "Adjudicator",
    "ArgumentError",
    "Clock",
    "ClosedError",
    "Color",
    "CounterError",
    "CounterName",
    "Counters",
    "DamagedFrameError",
    "DamagedHeaderError",
    "DamagedTableError",
    "DataDirectoryError",
    "DrawCase",
    "DrawRule",
    "GameStatus",
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
    "PositionArray",
    "Probe",
    "ProbeArray",
    "RuleSearch",
    "RuleState",
    "RuledMove",
    "RulesOutcome",
    "Ruleset",
    "RulesetError",
    "Ruling",
    "TableError",
    "Tablebase",
    "TablebaseError",
    "TooManyPiecesError",
    "TruncatedTableError",
    "WrongVersionError",
    "data_directory",
    "draw_cases",
    "find_ruleset",
    "materials",
    "open_tablebase",
    "parse_move",
    "read_games",
    "win_oracle",
]
