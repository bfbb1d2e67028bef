"""What is told about a position or a line, as plain data for JSON: the same in the API and the command line.

Every function returns what `json.dumps` takes as it is, in a fixed order of keys.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TypedDict

from tablebase.board import SQUARE_NAMES, Position
from tablebase.boardwin import board_won_by
from tablebase.clock import Clock
from tablebase.drawcases import DrawCase
from tablebase.line import Line, MoveValue
from tablebase.material import Material
from tablebase.outcome import Probe
from tablebase.prospect import Prospect
from tablebase.rulereport import RuleStateReport, rules_report
from tablebase.rulesearch import RuledMove, RuleSearch
from tablebase.tablebase import Tablebase

SEARCH_EFFORT = 100
"""How many positions are looked at, at the most, where the tables alone do not tell how a game ends: once for
the position, and once for its moves. Whoever asks is waiting; more than this settles hardly any more."""


class ValueReport(TypedDict):
    """A position and what it is worth to its side to move, from fresh counters; distances in plies, None
    where there is none."""

    fen: str
    outcome: str
    wdl: int | None
    dtc: int | None
    dtw: int | None
    dtb: int | None


class AfterReport(ValueReport):
    """The position after a move of a game, with the counters of the game there, by name."""

    counters: dict[str, int]


class MoveFactsReport(TypedDict):
    """A move, and what it is worth to the player who makes it.

    `path` has every square that the piece stands on, the start first; `captured` those of the captured
    pieces, in order. `zeroing` is whether it is a capture or a man's move, to which DTC counts. `dtc`, `dtw`
    and `dtb` are the move's own: plies counted from before it.
    """

    move: str
    path: list[str]
    captured: list[str]
    promotes: bool
    zeroing: bool
    outcome: str
    dtc: int | None
    dtw: int | None
    dtb: int | None


class MoveReport(MoveFactsReport):
    """A move, its value, and the position after it."""

    after: ValueReport


class RuledMoveReport(MoveFactsReport):
    """As `MoveReport`, of a game in progress: `rules_outcome` is what the move is worth to the player who
    makes it under the rules, counters as they are, the text of a `Prospect`."""

    rules_outcome: str
    after: AfterReport


class PositionReport(TypedDict):
    """A position and its game, what it is worth to its side to move, and its moves, best first.

    `outcome`, `wdl` and the distances are from fresh counters: `dtc`, `dtw` and `dtb` are plies, `dtc_moves`
    and so on the same in moves; None where there is none. `outcome` is `unknown` and `wdl` None where there
    is no table for it. The rest is about the game, its counters as they are: `counters` by name, `verdict`
    the text of a `Verdict`, `game_over` whether it has ended for certain, `winner` where it has been won,
    `rules` what each rule of the ruleset says, `rules_outcome` the text of a `Prospect`.
    """

    fen: str
    turn: str
    material: str
    pieces: int
    outcome: str
    wdl: int | None
    dtc: int | None
    dtw: int | None
    dtb: int | None
    dtc_moves: int | None
    dtw_moves: int | None
    dtb_moves: int | None
    ruleset: str
    counters: dict[str, int]
    verdict: str
    game_over: bool
    winner: str | None
    rules: list[RuleStateReport]
    rules_outcome: str
    moves: list[RuledMoveReport]


class LineReport(TypedDict):
    """A line of best play under a ruleset: where it begins, its moves, where and why it stops.

    `counters` and `rules_outcome` are those of its beginning, as in `PositionReport`. `end` is the text of a
    `LineEnd`, `reason` the same as a sentence; `winner` is `white` or `black` where the game is over; `fired`
    has the rules that have made a draw at the end.
    """

    fen: str
    outcome: str
    wdl: int | None
    dtc: int | None
    dtw: int | None
    dtb: int | None
    ruleset: str
    counters: dict[str, int]
    rules_outcome: str
    moves: list[MoveReport]
    last_fen: str
    end: str
    reason: str
    winner: str | None
    fired: list[RuleStateReport]


class DrawCaseReport(TypedDict):
    """What a draw rule says about a position: the attributes of a `DrawCase` and of its state, enumerations
    as their texts; None for those of a rule that the ruleset does not have."""

    rule: str
    article: str | None
    applies: bool
    stronger: str | None
    limit_moves: int | None
    count: int | None
    limit: int | None
    unit: str | None
    remaining: int | None
    fired: bool | None
    board_outcome: str | None
    moves_needed: int | None
    within_limit: bool | None
    explanation: str


def in_moves(plies: int | None) -> int | None:
    """A distance in moves: half the plies, rounded up."""
    return None if plies is None else (plies + 1) // 2


def position_report(tablebase: Tablebase, clock: Clock) -> PositionReport:
    """What is known of a position, its game and its moves. A missing table is no error: the outcome is
    `unknown` then. In a game that a rule has drawn the moves are told as if it went on.

    Raises:
        TableError: a table is there but cannot be read.
        ClosedError: the tablebase has been closed.
    """
    position = clock.position
    probe = tablebase.get_probe(position)
    ruling = clock.ruling(board_won_by(tablebase))
    search = RuleSearch(tablebase, SEARCH_EFFORT)
    return {
        "fen": position.to_fen(),
        "turn": str(position.turn),
        "material": str(Material.of(position)),
        "pieces": position.pieces,
        "outcome": str(probe.outcome),
        "wdl": probe.wdl,
        "dtc": probe.dtc,
        "dtw": probe.dtw,
        "dtb": probe.dtb,
        "dtc_moves": in_moves(probe.dtc),
        "dtw_moves": in_moves(probe.dtw),
        "dtb_moves": in_moves(probe.dtb),
        "ruleset": clock.ruleset.name,
        "counters": asdict(clock.counters),
        "verdict": str(ruling.verdict),
        "game_over": ruling.verdict.ends_the_game,
        "winner": None if clock.winner is None else str(clock.winner),
        "rules": rules_report(ruling.states),
        "rules_outcome": str(search.prospect(clock, ruling, probe)),
        "moves": [_ruled_move_report(move) for move in search.moves(clock)],
    }


def value_report(position: Position, probe: Probe) -> ValueReport:
    """A position and its value, which has been probed already."""
    return {
        "fen": position.to_fen(),
        "outcome": str(probe.outcome),
        "wdl": probe.wdl,
        "dtc": probe.dtc,
        "dtw": probe.dtw,
        "dtb": probe.dtb,
    }


def _move_facts(move: MoveValue) -> MoveFactsReport:
    return {
        "move": str(move.move),
        "path": [SQUARE_NAMES[square] for square in move.move.path],
        "captured": [SQUARE_NAMES[square] for square in move.move.captured],
        "promotes": move.move.promotes,
        "zeroing": move.move.zeroing,
        "outcome": str(move.outcome),
        "dtc": move.dtc,
        "dtw": move.dtw,
        "dtb": move.dtb,
    }


def move_report(move: MoveValue) -> MoveReport:
    """A move with its value, as `Tablebase.moves` gives it."""
    return {**_move_facts(move), "after": value_report(move.after, move.probe_after)}


def _ruled_move_report(move: RuledMove) -> RuledMoveReport:
    after = value_report(move.value.after, move.value.probe_after)
    return {
        **_move_facts(move.value),
        "rules_outcome": str(move.prospect),
        "after": {**after, "counters": asdict(move.clock.counters)},
    }


def line_report(line: Line, clock: Clock, probe: Probe, prospect: Prospect) -> LineReport:
    """A line under a ruleset.

    Args:
        line: the line.
        clock: the game where it begins.
        probe: the value of that position from fresh counters.
        prospect: what that position is worth under the rules.
    """
    return {
        **value_report(line.positions[0], probe),
        "ruleset": clock.ruleset.name,
        "counters": asdict(clock.counters),
        "rules_outcome": str(prospect),
        "moves": [move_report(move) for move in line.moves],
        "last_fen": line.positions[-1].to_fen(),
        "end": str(line.end),
        "reason": line.reason,
        "winner": None if line.winner is None else str(line.winner),
        "fired": rules_report(line.fired),
    }


def best_line_report(tablebase: Tablebase, clock: Clock, limit: int) -> LineReport:
    """The line from a position on, of `limit` plies at the most, under the rules of its clock.

    Raises:
        ArgumentError: the limit is negative.
        TableError: a table is there but cannot be read.
    """
    search = RuleSearch(tablebase, SEARCH_EFFORT)
    probe = tablebase.get_probe(clock.position)
    line = search.line(clock, limit)
    return line_report(line, clock, probe, search.prospect(clock, probe=probe))


def draw_case_report(case: DrawCase) -> DrawCaseReport:
    """A draw-rule case."""
    state = case.state
    return {
        "rule": str(case.rule),
        "article": None if state is None else state.article,
        "applies": case.applies,
        "stronger": None if case.stronger is None else str(case.stronger),
        "limit_moves": case.limit_moves,
        "count": None if state is None else state.count,
        "limit": None if state is None else state.limit,
        "unit": None if state is None else str(state.unit),
        "remaining": None if state is None else state.remaining,
        "fired": None if state is None else state.fired,
        "board_outcome": None if case.board_outcome is None else str(case.board_outcome),
        "moves_needed": case.moves_needed,
        "within_limit": case.within_limit,
        "explanation": case.explanation,
    }
