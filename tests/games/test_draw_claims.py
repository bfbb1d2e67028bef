"""Draws that could be claimed: left open where a game stops, or missed on the way."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tablebase import Adjudication, Adjudicator, Color, open_tablebase
from tablebase.games.adjudication import Ending, ResultCheck
from tablebase.report.text import game_text, sentence
from tablebase.rules.clock import GameStatus
from tablebase.rules.outcome import RulesOutcome

Judge = Callable[[str, str], Adjudication]


@pytest.fixture(scope="module")
def judge(tables4: Path) -> Iterator[Judge]:
    """Judges the one game of some moves from a FEN on."""
    with open_tablebase(tables4) as tablebase:

        def judge(moves: str, start: str) -> Adjudication:
            (judged,) = Adjudicator(tablebase).games(f'[FEN "{start}"]\n{moves}')
            return judged

        yield judge


def test_a_claim(judge: Judge) -> None:
    back_and_forth = "1. a1-b2 h2-g1 2. b2-a1 g1-h2 3. a1-b2 h2-g1 4. b2-a1"
    start = "W:WKa1,Kc1:BKh2,Kf8"
    announced = judge(f"{back_and_forth} 1-1", start)
    assert (announced.ending, announced.agreement) == (Ending.CUT_SHORT, ResultCheck.AGREES)
    (claim,) = announced.claims
    assert (str(claim.state.rule), claim.state.article, claim.state.count) == ("repetition", "7.2.3", 3)
    assert (claim.player, str(claim.move)) == (Color.BLACK, "g1-h2")
    how = "by repetition (article 7.2.3, 3 times)"
    assert f"Black could claim a draw, {how}, announcing g1-h2." in sentence(announced)
    claimed = judge(f"{back_and_forth} g1-h2 1-1", start)
    assert [played.ply for played in claimed.plies if played.after.ruling.fired] == [8]
    assert claimed.plies[-1].after.ruling.verdict is GameStatus.CLAIMABLE
    assert (claimed.ending, claimed.agreement) == (Ending.CUT_SHORT, ResultCheck.AGREES)
    assert [(claim.player, claim.move) for claim in claimed.claims] == [(Color.WHITE, None)]
    assert f"White could claim a draw, {how}. " in sentence(claimed)
    assert "can be claimed" in sentence(claimed)
    # A claim is for players to make: a win may be written all the same, and the game may go on.
    assert judge(f"{back_and_forth} g1-h2 0-2", start).agreement is ResultCheck.NOT_DECIDED
    assert judge(f"{back_and_forth} g1-h2 5. a1-b2", start).problems == ()
    earlier = judge("1. a1-b2 h2-g1 2. b2-a1 g1-h2 1-1", start)
    assert (earlier.claims, earlier.agreement) == ((), ResultCheck.NOT_DECIDED)


@pytest.mark.parametrize(
    ("start", "moves", "move", "told"),
    [
        # Black's move would make the position come up for the third time; played unclaimed, it loses.
        (
            "W:WKc3,Ka1,Kc1:BKb8",
            "1. c3-d2 b8-a7 2. d2-c3 a7-b8 3. c3-d2 b8-a7 4. d2-c3 a7-b8",
            "a7-b8",
            ", announcing",
        ),
        # It has come up already, and Black moves on.
        (
            "B:WKc3,Ka1,Kc1:BKb8",
            "1... b8-a7 2. c3-d2 a7-b8 3. d2-c3 b8-a7 4. c3-d2 a7-b8 5. d2-c3 b8-h2",
            None,
            "",
        ),
    ],
)
def test_a_claim_that_is_missed_is_a_mistake(
    judge: Judge, start: str, moves: str, move: str | None, told: str
) -> None:
    judged = judge(moves, start)
    mistake = judged.mistakes[-1]
    assert (mistake.ply, mistake.player) == (len(judged.plies), Color.BLACK)
    assert (mistake.rules_before, mistake.rules_after) == (RulesOutcome.DRAW, RulesOutcome.LOSS)
    assert mistake.saving_moves == ()
    assert mistake.claim is not None
    assert (str(mistake.claim.state.rule), mistake.claim.state.article) == ("repetition", "7.2.3")
    assert mistake.claim.player is Color.BLACK
    assert (mistake.claim.move and str(mistake.claim.move)) == move
    how = f"by repetition (article 7.2.3, 3 times){told}"
    assert f"; a claim of the draw would have kept it, {how}" in " ".join(game_text(judged, 80).split())
    assert all(earlier.claim is None for earlier in judged.mistakes[:-1])
