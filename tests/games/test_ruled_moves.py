"""Play under the draw rules: its budget, and what unknown moves leave open."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tablebase import RULESETS, Clock, LineEnd, MissingTableError, Position, Tablebase, open_tablebase
from tablebase.games.search import RuleSearch, unknown_that_matters
from tablebase.rules.outcome import RulesOutcome

# A capture is at hand, after which the tables alone tell the end of the game.
OPEN = Clock.from_fen("W:WKf2,Kc7,Kh8:BKb2:H14", RULESETS["lidraughts"])
# Giving the man draws; of its other moves no table of up to four pieces knows anything.
UNKNOWN = Clock.start(Position.from_fen("W:WKa1,e1,c3:BKh8,Kb8"))


@pytest.fixture(scope="module")
def tablebase(tables4: Path) -> Iterator[Tablebase]:
    with open_tablebase(tables4) as tablebase:
        yield tablebase


def test_max_total_nodes_limits_all_searches(tablebase: Tablebase) -> None:
    assert RuleSearch(tablebase, 0).prospect(OPEN) is RulesOutcome.MAYBE_WIN
    limited = RuleSearch(tablebase, 5, max_total_nodes=1)
    assert limited.prospect(OPEN) is RulesOutcome.WIN
    assert limited.prospect(OPEN) is RulesOutcome.MAYBE_WIN  # nothing is left
    unlimited = RuleSearch(tablebase, 5)
    assert [unlimited.prospect(OPEN) for _ in range(3)] == [RulesOutcome.WIN] * 3


def test_unknown_move_may_be_better_than_a_draw(tablebase: Tablebase) -> None:
    search = RuleSearch(tablebase)
    moves = search.moves(UNKNOWN)
    assert (moves[0].prospect, moves[-1].prospect) == (RulesOutcome.DRAW, RulesOutcome.UNKNOWN)
    assert unknown_that_matters(moves) is moves[-1]
    line = search.line(UNKNOWN)
    assert (line.end, line.moves) == (LineEnd.UNKNOWN, ())
    with pytest.raises(MissingTableError, match="generate --pieces 5"):
        RuleSearch(tablebase).best_move(UNKNOWN)


def test_unknown_move_is_not_better_than_a_win(tablebase: Tablebase) -> None:
    """By c5-b6; others are not known."""
    winning = Clock.start(Position.from_fen("W:WKc5,g1,h4,g7:Bc7"))
    moves = RuleSearch(tablebase).moves(winning)
    assert (moves[0].prospect, moves[-1].prospect) == (RulesOutcome.WIN, RulesOutcome.UNKNOWN)
    assert unknown_that_matters(moves) is None
    best = RuleSearch(tablebase).best_move(winning)
    assert best is not None
    assert best.move == moves[0].move
