"""The analysis of a position in its game: all that tables and draw rules tell about it, found once.

JSON reports and terminal text are functions of a `PositionAnalysis`; they derive no fact again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tablebase.board.position import Color, Position
from tablebase.games.lone_kings import DrawCase, draw_cases_of
from tablebase.games.search import RuledMove, RuleSearch, unknown_that_matters, win_oracle
from tablebase.probe.tablebase import Tablebase
from tablebase.rules.clock import Clock, Ruling
from tablebase.rules.outcome import Outcome, Probe, RulesOutcome
from tablebase.rules.ruleset import RuleName
from tablebase.rules.rulesets import Ruleset

SEARCH_EFFORT = 1500
"""The most positions that a search looks at for one analysis, where the tables alone leave the outcome open.
A user waits for the answer, and more positions settle hardly any more outcomes."""


class Cause(StrEnum):
    """The rules that make a draw of a position which is won without draw rules."""

    KING_MOVES = "king-moves"
    """The tables assume this rule only."""
    TOGETHER = "king-moves-and-balance"
    """Both rules together: the rule on king moves alone leaves time for the win."""
    NOT_TOLD = "king-moves-or-balance"
    """One of the two rules, or both: the outcome does not tell."""


@dataclass(frozen=True, slots=True)
class PositionAnalysis:
    """A position in its game, with its value, its rules and its moves.

    Attributes:
        clock: the position, its counters and the ruleset of the game.
        probe: the value of the position from fresh counters.
        ruling: what the rules say about the position and its counters.
        rules_outcome: the outcome for the side to move under the rules, with the counters of the game.
        moves: every legal move, best first under the rules. In a game that a rule has drawn they have their
            values as if the game went on.
        draw_cases: the three-kings rule and the main-road rule in this position.
        cause: the rules that make a cursed win or a blessed loss; None for another outcome.
    """

    clock: Clock
    probe: Probe
    ruling: Ruling
    rules_outcome: RulesOutcome
    moves: list[RuledMove]
    draw_cases: list[DrawCase]
    cause: Cause | None

    @property
    def position(self) -> Position:
        """The position."""
        return self.clock.position

    @property
    def winner(self) -> Color | None:
        """The side that has won the game; None while nobody has."""
        return None if self.moves else self.position.turn.other

    @property
    def outcome_from_moves(self) -> Outcome:
        """The outcome from fresh counters, as far as the moves tell it."""
        return outcome_from_moves([move.value.outcome for move in self.moves])

    @property
    def known_outcome(self) -> Outcome:
        """The outcome from fresh counters: from the position's table, or else from its moves."""
        return self.outcome_from_moves if self.probe.outcome is Outcome.UNKNOWN else self.probe.outcome

    @property
    def rules_outcome_from_moves(self) -> RulesOutcome:
        """The outcome under the rules, as far as the moves tell it, as if no rule had drawn the game yet."""
        if not self.moves or unknown_that_matters(self.moves) is not None:
            return RulesOutcome.UNKNOWN
        return self.moves[0].prospect


def analyse(tablebase: Tablebase, clock: Clock, search: RuleSearch | None = None) -> PositionAnalysis:
    """Analyse a position in its game. Where a table is missing, outcomes are `UNKNOWN`; that is no error.

    Args:
        tablebase: the tables.
        clock: the position, its counters and the rules.
        search: a search over these tables, whose limits several analyses share; None: one for this analysis.

    Raises:
        TableError: a table is there but cannot be read.
        ClosedError: the tablebase has been closed.
    """
    probe = tablebase.get_probe(clock.position)
    ruling = clock.ruling(win_oracle(tablebase))
    search = search or RuleSearch(tablebase, SEARCH_EFFORT)
    rules_outcome, moves = search.evaluate(clock, ruling.verdict, probe)
    known = probe.outcome
    if known is Outcome.UNKNOWN:
        known = outcome_from_moves([move.value.outcome for move in moves])
    cause = cause_of_draw(known, [move.value.probe_after for move in moves], tablebase.ruleset)
    cases = draw_cases_of(tablebase, clock, ruling, probe)
    return PositionAnalysis(clock, probe, ruling, rules_outcome, moves, cases, cause)


def cause_of_draw(outcome: Outcome, after: Iterable[Probe], ruleset: Ruleset) -> Cause | None:
    """Return the rules that make a cursed win or a blessed loss, as far as its moves tell.

    Args:
        outcome: the outcome of the position.
        after: the values of the positions after its moves, all of them, for the opponent.
        ruleset: the rules that these values assume.

    Returns:
        None for another outcome.
    """
    if outcome not in (Outcome.CURSED_WIN, Outcome.BLESSED_LOSS):
        return None
    limit = ruleset.king_moves_plies
    if limit is None or ruleset.rule(RuleName.BALANCE) is None:
        return Cause.KING_MOVES
    # One ply of the limit is for the move itself.
    in_time = [probe.outcome for probe in after if probe.dtc is not None and probe.dtc < limit]
    if outcome is Outcome.CURSED_WIN and Outcome.LOSS in in_time:
        return Cause.TOGETHER
    return Cause.NOT_TOLD


def outcome_from_moves(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of a position from the outcomes of its moves, in any order.

    It is the best of them if that is a win or if all are known; else `UNKNOWN`.
    """
    if Outcome.WIN in outcomes:
        return Outcome.WIN
    if not outcomes or Outcome.UNKNOWN in outcomes:
        return Outcome.UNKNOWN
    return max(outcomes, key=lambda outcome: outcome.wdl or 0)
