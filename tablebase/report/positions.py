"""Positions and lines as plain data for JSON, the same in the API and the command line.

Every function returns data for `json.dumps`, with a fixed order of keys. The type of a field holds its
meaning and the enumeration of its texts; the OpenAPI document is made from these types.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict

from tablebase.board.material import Material
from tablebase.board.position import Color, Position
from tablebase.board.squares import SQUARE_NAMES
from tablebase.games.analysis import Cause, PositionAnalysis
from tablebase.games.lone_kings import DrawCase, DrawRule
from tablebase.games.search import RuledMove, RuleSearch
from tablebase.probe.line import Line, LineEnd, MoveValue
from tablebase.probe.tablebase import Tablebase
from tablebase.report.rules import RuleStateReport, rules_report
from tablebase.rules.clock import Clock, GameStatus, Unit
from tablebase.rules.outcome import Outcome, Probe, RulesOutcome


class ValueReport(TypedDict):
    """A position and its value for its side to move, from fresh counters."""

    fen: Annotated[str, "the position, as this program writes it"]
    outcome: Annotated[
        str,
        Outcome,
        "for the side to move, under the draw rules of the tables, from fresh counters",
    ]
    wdl: Annotated[
        int | None, "the outcome as a number, 2 for a win to -2 for a loss; null where it is unknown"
    ]
    dtc: Annotated[
        int | None,
        "plies to the next capture, man's move or end of the game; null unless it is a win or a loss",
    ]
    dtw: Annotated[
        int | None, "plies to the end of the game, without draw rules; null for a draw on the board"
    ]
    dtb: Annotated[
        int | None,
        "plies to the next capture, promotion or end of the game; null unless it is a win or a loss, and "
        "where the rules of the tables do not count the balance",
    ]


class AfterReport(ValueReport):
    """The position after a move of a game, with its counters."""

    counters: Annotated[dict[str, int], "the counters of the game there, by name"]


class MoveFactsReport(TypedDict):
    """A move, and its value for the player who makes it."""

    move: Annotated[str, "as it is written: c3-d4, c3:e5, or the full path where start and end are ambiguous"]
    path: Annotated[list[str], "every square that the piece stands on, its start first"]
    captured: Annotated[list[str], "the squares of the captured pieces, in order"]
    promotes: Annotated[bool, "whether a man becomes a king"]
    zeroing: Annotated[bool, "whether it is a capture or a man's move, to which DTC counts"]
    outcome: Annotated[str, Outcome, "for the player who makes it, from fresh counters"]
    dtc: Annotated[int | None, "the move's own DTC in plies, counted from before it"]
    dtw: Annotated[int | None, "the move's own DTW in plies, counted from before it"]
    dtb: Annotated[int | None, "the move's own DTB in plies, counted from before it"]


class MoveReport(MoveFactsReport):
    """A move, its value, and the position after it."""

    after: Annotated[ValueReport, "the position after it, for the opponent"]


class RuledMoveReport(MoveFactsReport):
    """A move of a game in progress."""

    rules_outcome: Annotated[
        str, RulesOutcome, "for the player who makes it, under the rules, counters as they are"
    ]
    after: Annotated[AfterReport, "the position after it, for the opponent"]


class PositionRuleReport(RuleStateReport):
    """What a draw rule says about a position and its game, and the moves that a win needs under it."""

    moves_needed: Annotated[
        int | None,
        "how many moves of its own the stronger side needs, for three-kings to the end of the game, for "
        "main-road to the end of the case; null where it does not win, and for other rules",
    ]
    within_limit: Annotated[
        bool | None, "whether what remains of the limit is enough for that; null where moves_needed is"
    ]


class PositionReport(ValueReport):
    """A position and its game, its value for its side to move, and its moves."""

    turn: Annotated[str, Color, "whose turn it is"]
    material: Annotated[str, "both sides' pieces, kings before men, side to move first"]
    pieces: Annotated[int, "how many pieces there are, of both sides"]
    dtc_moves: Annotated[int | None, "dtc in moves: half the plies, rounded up"]
    dtw_moves: Annotated[int | None, "dtw in moves: half the plies, rounded up"]
    dtb_moves: Annotated[int | None, "dtb in moves: half the plies, rounded up"]
    ruleset: Annotated[str, "the rules that the game is judged by"]
    counters: Annotated[dict[str, int], "the counters of the game, by name"]
    verdict: Annotated[str, GameStatus, "what the position and its game come to"]
    game_over: Annotated[bool, "whether the game has ended for certain"]
    winner: Annotated[str | None, Color, "who has won; null where nobody has"]
    rules: Annotated[list[PositionRuleReport], "what each rule of the ruleset says"]
    rules_outcome: Annotated[
        str, RulesOutcome, "for the side to move with best play, under the rules, counters as they are"
    ]
    outcome_from_moves: Annotated[
        str, Outcome, "outcome, as far as the moves tell it: it may be known where the position has no table"
    ]
    rules_outcome_from_moves: Annotated[
        str, RulesOutcome, "rules_outcome, as far as the moves tell it, as if no rule had drawn the game"
    ]
    cause: Annotated[
        str | None,
        Cause,
        "the rules of the tables that make a cursed win or a blessed loss a draw; null for another outcome",
    ]
    moves: Annotated[list[RuledMoveReport], "every legal move, best first under the rules"]


class LineReport(ValueReport):
    """A line of best play under a ruleset, with the position in which it begins."""

    ruleset: Annotated[str, "the rules that the line is played under"]
    counters: Annotated[dict[str, int], "the counters where the line begins, by name"]
    rules_outcome: Annotated[str, RulesOutcome, "for the side to move where the line begins, under the rules"]
    moves: Annotated[list[MoveReport], "the moves of both sides, first to last"]
    last_fen: Annotated[str, "the position in which it stops"]
    end: Annotated[str, LineEnd, "why it stops"]
    reason: Annotated[str, "why it stops, as a sentence"]
    winner: Annotated[str | None, Color, "who has won where the game is over"]
    fired: Annotated[list[RuleStateReport], "the rules that have made the draw in which it ends"]


class DrawCaseReport(TypedDict):
    """What a draw rule says about a position."""

    rule: Annotated[str, DrawRule, "which rule it is"]
    article: Annotated[
        str | None,
        "where it stands in the text; null, like most of the rest, where the ruleset has no such rule",
    ]
    applies: Annotated[bool, "whether the position is one that the rule is about"]
    stronger: Annotated[
        str | None, Color, "the side that has more than a king; null where the rule does not apply"
    ]
    limit_moves: Annotated[int | None, "how many moves of its own the rule gives that side"]
    count: Annotated[int | None, "how far the count has come, in units"]
    limit: Annotated[int | None, "how far it may come, in units"]
    unit: Annotated[str | None, Unit, "what is counted"]
    remaining: Annotated[int | None, "how many units there are left, at least"]
    fired: Annotated[bool | None, "whether the rule has made a draw; null where no table tells"]
    board_outcome: Annotated[str | None, Outcome, "for the stronger side, on the board, without draw rules"]
    moves_needed: Annotated[
        int | None, "how many moves of its own that side needs; null where it does not win"
    ]
    within_limit: Annotated[bool | None, "whether what remains of the limit is enough for that"]
    explanation: Annotated[str, "all this as a sentence"]


class DrawCasesReport(TypedDict):
    """A position, and what two of the draw rules say about it."""

    fen: Annotated[str, "the position, as this program writes it"]
    ruleset: Annotated[str, "the rules that the game is judged by"]
    counters: Annotated[dict[str, int], "the counters of the game, by name"]
    cases: Annotated[list[DrawCaseReport], "one for each of the two rules"]


def in_moves(plies: int | None) -> int | None:
    """Return a distance in moves: half the plies, rounded up."""
    return None if plies is None else (plies + 1) // 2


def position_report(analysis: PositionAnalysis) -> PositionReport:
    """Return the analysis of a position in its game."""
    position, probe, clock = analysis.position, analysis.probe, analysis.clock
    status, winner = analysis.ruling.verdict, analysis.winner
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
        "counters": clock.counters.by_name(),
        "verdict": str(status),
        "game_over": status.ends_the_game,
        "winner": None if winner is None else str(winner),
        "rules": _position_rules_report(analysis),
        "rules_outcome": str(analysis.rules_outcome),
        "outcome_from_moves": str(analysis.outcome_from_moves),
        "rules_outcome_from_moves": str(analysis.rules_outcome_from_moves),
        "cause": None if analysis.cause is None else str(analysis.cause),
        "moves": [_ruled_move_report(move) for move in analysis.moves],
    }


def _position_rules_report(analysis: PositionAnalysis) -> list[PositionRuleReport]:
    cases = {str(case.rule): case for case in analysis.draw_cases}
    found: list[PositionRuleReport] = []
    for state in rules_report(analysis.ruling.states):
        case = cases.get(state["rule"])
        needed, within = (None, None) if case is None else (case.moves_needed, case.within_limit)
        found.append({**state, "moves_needed": needed, "within_limit": within})
    return found


def value_report(position: Position, probe: Probe) -> ValueReport:
    """Return a position and its value."""
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
    """Return a move with its value and the position after it."""
    return {**_move_facts(move), "after": value_report(move.after, move.probe_after)}


def _ruled_move_report(move: RuledMove) -> RuledMoveReport:
    after = value_report(move.value.after, move.value.probe_after)
    return {
        **_move_facts(move.value),
        "rules_outcome": str(move.prospect),
        "after": {**after, "counters": move.clock.counters.by_name()},
    }


def line_report(tablebase: Tablebase, line: Line, clock: Clock, search: RuleSearch) -> LineReport:
    """Return a line under a ruleset.

    Args:
        tablebase: the tables.
        line: the line.
        clock: the game at the first position of the line.
        search: the search that found the line.

    Raises:
        TableError: a table is there but cannot be read.
    """
    probe = tablebase.get_probe(clock.position)
    return {
        **value_report(clock.position, probe),
        "ruleset": clock.ruleset.name,
        "counters": clock.counters.by_name(),
        "rules_outcome": str(search.prospect(clock, probe=probe)),
        "moves": [move_report(move) for move in line.moves],
        "last_fen": line.positions[-1].to_fen(),
        "end": str(line.end),
        "reason": line.reason,
        "winner": None if line.winner is None else str(line.winner),
        "fired": rules_report(line.fired),
    }


def draw_cases_report(clock: Clock, cases: Iterable[DrawCase]) -> DrawCasesReport:
    """Return the cases of the three-kings and main-road rules in a game.

    Args:
        clock: the position, its counters and the rules.
        cases: the cases, as `draw_cases` finds them.
    """
    return {
        "fen": clock.position.to_fen(),
        "ruleset": clock.ruleset.name,
        "counters": clock.counters.by_name(),
        "cases": [draw_case_report(case) for case in cases],
    }


def draw_case_report(case: DrawCase) -> DrawCaseReport:
    """Return a case of a draw rule."""
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
