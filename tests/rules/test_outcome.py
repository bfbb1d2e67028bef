from dataclasses import replace
from random import Random

import pytest

from tablebase.errors import ArgumentError
from tablebase.rules.outcome import LOST, UNKNOWN, Outcome, Probe, move_order, move_value
from tablebase.rules.rulesets import KING_MOVES_ONLY, OFFICIAL, RULESETS, Ruleset

WIN, CURSED_WIN, DRAW = Outcome.WIN, Outcome.CURSED_WIN, Outcome.DRAW
BLESSED_LOSS, LOSS = Outcome.BLESSED_LOSS, Outcome.LOSS


def test_text_and_numbers() -> None:
    assert [str(outcome) for outcome in Outcome] == [
        "win",
        "cursed-win",
        "draw",
        "blessed-loss",
        "loss",
        "unknown",
    ]
    assert [outcome.wdl for outcome in Outcome] == [2, 1, 0, -1, -2, None]
    for wdl in range(-2, 3):
        assert Outcome.from_wdl(wdl).wdl == wdl
        assert (-Outcome.from_wdl(wdl)).wdl == -wdl
    assert -Outcome.UNKNOWN is Outcome.UNKNOWN
    with pytest.raises(ArgumentError, match="3 is not an outcome"):
        Outcome.from_wdl(3)


def test_the_rule_is_fifteen_moves_of_each_side() -> None:
    assert KING_MOVES_ONLY.king_moves_plies == 30
    assert not KING_MOVES_ONLY.exceeds(30)
    assert KING_MOVES_ONLY.exceeds(31)
    assert not Ruleset("none", None).exceeds(1000)
    assert RULESETS["king-moves-only"] is KING_MOVES_ONLY


@pytest.mark.parametrize(
    ("after", "zeroing", "own"),
    [
        # A king move counts one ply more than the position after it.
        (Probe(LOSS, 4, 8), False, Probe(WIN, 5, 9)),
        (Probe(WIN, 5, 9), False, Probe(LOSS, 6, 10)),
        (Probe(LOSS, 29, 40), False, Probe(WIN, 30, 41)),
        (Probe(WIN, 29, 41), False, Probe(LOSS, 30, 42)),
        # Where all the plies of the rule are needed after it, it comes a ply too late.
        (Probe(LOSS, 30, 40), False, Probe(CURSED_WIN, None, 41)),
        (Probe(WIN, 30, 41), False, Probe(BLESSED_LOSS, None, 42)),
        # A zeroing move makes the count fresh.
        (Probe(LOSS, 30, 40), True, Probe(WIN, 1, 41)),
        (Probe(WIN, 30, 41), True, Probe(LOSS, 1, 42)),
        # So does nothing else that is not decided under the rules.
        (Probe(BLESSED_LOSS, None, 40), True, Probe(CURSED_WIN, None, 41)),
        (Probe(CURSED_WIN, None, 41), False, Probe(BLESSED_LOSS, None, 42)),
        (Probe(DRAW), False, Probe(DRAW)),
        (Probe(DRAW), True, Probe(DRAW)),
        # A move that ends the game, zeroing or not.
        (LOST, False, Probe(WIN, 1, 1)),
        (LOST, True, Probe(WIN, 1, 1)),
        (UNKNOWN, True, UNKNOWN),
        (UNKNOWN, False, UNKNOWN),
        # Distances that are not known stay so; that of a zeroing move is.
        (Probe(LOSS, None, 8), False, Probe(WIN, None, 9)),
        (Probe(LOSS, 4, None), False, Probe(WIN, 5, None)),
        (Probe(WIN, None, None), True, Probe(LOSS, 1, None)),
    ],
)
def test_move_value(after: Probe, zeroing: bool, own: Probe) -> None:
    assert replace(move_value(after, zeroing, False, KING_MOVES_ONLY), dtb=None) == own


@pytest.mark.parametrize(
    ("after", "balance_change", "own"),
    [
        # One ply more than the position after it, a man's step or a king's move.
        (Probe(LOSS, 4, 8, 6), False, Probe(WIN, 1, 9, 7)),
        (Probe(WIN, 4, 9, 59), False, Probe(LOSS, 1, 10, 60)),
        # Where all the plies of the balance are needed after it, it comes a ply too late.
        (Probe(LOSS, 4, 40, 60), False, Probe(CURSED_WIN, None, 41)),
        (Probe(WIN, 4, 41, 60), False, Probe(BLESSED_LOSS, None, 42)),
        # A capture or a promotion makes the count fresh.
        (Probe(LOSS, 4, 40, 60), True, Probe(WIN, 1, 41, 1)),
        (Probe(WIN, 4, 41, None), True, Probe(LOSS, 1, 42, 1)),
        (LOST, False, Probe(WIN, 1, 1, 1)),
        (LOST, True, Probe(WIN, 1, 1, 1)),
        # What is not decided has none; what is not known stays so.
        (Probe(BLESSED_LOSS, None, 40), True, Probe(CURSED_WIN, None, 41)),
        (Probe(DRAW), True, Probe(DRAW)),
        (Probe(LOSS, 4, 8), False, Probe(WIN, 1, 9)),
        (UNKNOWN, True, UNKNOWN),
    ],
)
def test_dtb_of_a_mans_move(after: Probe, balance_change: bool, own: Probe) -> None:
    assert move_value(after, True, balance_change, OFFICIAL, 60) == own


def test_king_moves_may_exceed_either_limit() -> None:
    for after, outcome in ((Probe(LOSS, 29, 40, 59), WIN), (Probe(LOSS, 30, 40, 59), CURSED_WIN)):
        assert move_value(after, False, False, OFFICIAL, 60).outcome is outcome
    assert move_value(Probe(LOSS, 9, 40, 60), False, False, OFFICIAL, 60).outcome is CURSED_WIN
    assert move_value(Probe(LOSS, 9, 40, 60), False, False, OFFICIAL) == Probe(WIN, 10, 41, 61)


def test_no_cursed_wins_without_the_rule() -> None:
    none = Ruleset("none", None)
    assert move_value(Probe(LOSS, 400, 500, 450), False, False, none) == Probe(WIN, 401, 501, 451)


# Best first: wins by DTC, then DTW, both rising; cursed wins by DTW rising; draws; blessed losses by DTW
# falling; losses by DTC, then DTW, both falling; unknown last; ties by notation.
IN_ORDER = [
    (Probe(WIN, 1, 9), "c3-d4"),
    (Probe(WIN, 1, 11), "a1-b2"),
    (Probe(WIN, 3, 5), "a1-c3"),
    (Probe(WIN, 3, 7), "a1-d4"),
    (Probe(WIN, 3, 7), "b2-c3"),
    (Probe(WIN, 3, None), "a1-b2"),
    (Probe(WIN, None, 5), "a1-b2"),
    (Probe(CURSED_WIN, None, 51), "g1-h2"),
    (Probe(CURSED_WIN, None, 53), "a1-b2"),
    (Probe(DRAW), "a1-b2"),
    (Probe(DRAW), "a1-c3"),
    (Probe(BLESSED_LOSS, None, 60), "c1-d2"),
    (Probe(BLESSED_LOSS, None, 58), "a1-b2"),
    (Probe(LOSS, 12, 20), "a1-b2"),
    (Probe(LOSS, 12, 14), "a1-c3"),
    (Probe(LOSS, 4, 40), "a1-d4"),
    (Probe(LOSS, 4, 38), "a1-b2"),
    (Probe(LOSS, 4, None), "a1-b2"),
    (UNKNOWN, "a1-b2"),
    (UNKNOWN, "b2-c3"),
]


def test_order_of_moves() -> None:
    for seed in range(20):
        shuffled = IN_ORDER.copy()
        Random(seed).shuffle(shuffled)
        assert sorted(shuffled, key=lambda pair: move_order(*pair)) == IN_ORDER
