"""What is told about a position or a line, as plain data for JSON: the same in the API and the command line.

Every function returns what `json.dumps` takes as it is, in a fixed order of keys.
"""

from __future__ import annotations

from typing import TypedDict

from tablebase.board import Position
from tablebase.drawcases import DrawCase
from tablebase.line import Line, MoveValue
from tablebase.material import Material
from tablebase.outcome import Probe
from tablebase.tablebase import Tablebase


class ValueReport(TypedDict):
    """A position and what it is worth to its side to move; distances in plies, None where there is none."""

    fen: str
    outcome: str
    wdl: int | None
    dtc: int | None
    dtw: int | None


class MoveReport(TypedDict):
    """A move, what it is worth to the player who makes it, and the position after it.

    `dtc` and `dtw` are the move's own: plies counted from before it.
    """

    move: str
    outcome: str
    dtc: int | None
    dtw: int | None
    after: ValueReport


class PositionReport(TypedDict):
    """A position, what it is worth to its side to move, and its moves, best first.

    `dtc` and `dtw` are plies, `dtc_moves` and `dtw_moves` the same in moves; None where there is none.
    `outcome` is `unknown` and `wdl` None where there is no table for it.
    """

    fen: str
    turn: str
    material: str
    pieces: int
    outcome: str
    wdl: int | None
    dtc: int | None
    dtw: int | None
    dtc_moves: int | None
    dtw_moves: int | None
    moves: list[MoveReport]


class LineReport(TypedDict):
    """A line of best play: where it begins, its moves, where and why it stops.

    `end` is the text of a `LineEnd`, `reason` the same as a sentence; `winner` is `white` or `black` where
    the game is over.
    """

    fen: str
    outcome: str
    wdl: int | None
    dtc: int | None
    dtw: int | None
    moves: list[MoveReport]
    last_fen: str
    end: str
    reason: str
    winner: str | None


class DrawCaseReport(TypedDict):
    """What a draw rule says about a position: the attributes of a `DrawCase`, enumerations as their texts."""

    rule: str
    applies: bool
    stronger: str | None
    limit_moves: int
    board_outcome: str | None
    moves_needed: int | None
    within_limit: bool | None
    explanation: str


def in_moves(plies: int | None) -> int | None:
    """A distance in moves: half the plies, rounded up."""
    return None if plies is None else (plies + 1) // 2


def position_report(tablebase: Tablebase, position: Position) -> PositionReport:
    """What is known of a position and its moves. A missing table is no error: the outcome is `unknown` then.

    Raises:
        TableError: a table is there but cannot be read.
        ClosedError: the tablebase has been closed.
    """
    value = value_report(position, tablebase.get_probe(position))
    return {
        "fen": value["fen"],
        "turn": str(position.turn),
        "material": str(Material.of(position)),
        "pieces": position.pieces,
        "outcome": value["outcome"],
        "wdl": value["wdl"],
        "dtc": value["dtc"],
        "dtw": value["dtw"],
        "dtc_moves": in_moves(value["dtc"]),
        "dtw_moves": in_moves(value["dtw"]),
        "moves": [move_report(move) for move in tablebase.moves(position)],
    }


def value_report(position: Position, probe: Probe) -> ValueReport:
    """A position and its value, which has been probed already."""
    return {
        "fen": position.to_fen(),
        "outcome": str(probe.outcome),
        "wdl": probe.wdl,
        "dtc": probe.dtc,
        "dtw": probe.dtw,
    }


def move_report(move: MoveValue) -> MoveReport:
    """A move with its value, as `Tablebase.moves` gives it."""
    return {
        "move": str(move.move),
        "outcome": str(move.outcome),
        "dtc": move.dtc,
        "dtw": move.dtw,
        "after": value_report(move.after, move.probe_after),
    }


def line_report(line: Line, probe: Probe) -> LineReport:
    """A line, and `probe`, the value of the position it begins at."""
    return {
        **value_report(line.positions[0], probe),
        "moves": [move_report(move) for move in line.moves],
        "last_fen": line.positions[-1].to_fen(),
        "end": str(line.end),
        "reason": line.reason,
        "winner": None if line.winner is None else str(line.winner),
    }


def draw_case_report(case: DrawCase) -> DrawCaseReport:
    """A draw-rule case."""
    return {
        "rule": str(case.rule),
        "applies": case.applies,
        "stronger": None if case.stronger is None else str(case.stronger),
        "limit_moves": case.limit_moves,
        "board_outcome": None if case.board_outcome is None else str(case.board_outcome),
        "moves_needed": case.moves_needed,
        "within_limit": case.within_limit,
        "explanation": case.explanation,
    }
