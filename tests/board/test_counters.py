"""Counters of the draw rules, and their field in a FEN."""

from dataclasses import fields

import pytest
from clocks import TWO_EACH
from hypothesis import given
from hypothesis import strategies as st

from tablebase.board.counters import CounterName, Counters
from tablebase.board.notation import parse_fen, parse_move
from tablebase.board.position import Position
from tablebase.errors import CounterError, IllegalPositionError, NotationError
from tablebase.rules.clock import Clock, GameStatus
from tablebase.rules.rulesets import LIDRAUGHTS, OFFICIAL


@given(st.builds(Counters, *[st.integers(0, 999_999)] * 5))
def test_counters_round_trip_through_their_field(counters: Counters) -> None:
    assert Counters.from_field(counters.to_field()) == counters


def test_names_of_counters() -> None:
    assert [field.name for field in fields(Counters)] == list(CounterName)
    assert Counters(1, 2, 3, 4, 5)[CounterName.ROAD_MOVES] == 4
    assert Counters(29, 12, 0, 3, 1).to_field() == "C29,12,0,3,1"


@pytest.mark.parametrize(
    ("counters", "said"),
    [
        ({"king_plies": -1}, "king_plies is '-1'"),
        ({"balance_plies": 1_000_000}, "balance_plies is '1000000'"),
        ({"road_moves": 1.5}, "road_moves is '1.5'"),
        ({"repetitions": "2"}, "repetitions is '2'"),
        ({"three_kings_moves": True}, "three_kings_moves is 'True'"),
    ],
)
def test_invalid_counts_are_rejected_by_name(counters: dict[str, int], said: str) -> None:
    with pytest.raises(CounterError, match=said):
        Counters(**counters)


@pytest.mark.parametrize(
    "text", ["", "C", "C1,2,3,4", "C1,2,3,4,5,6", "C1,2,3,4,-5", "c1,2,3,4,5", "C٣,2,3,4,5"]
)
def test_invalid_fields_of_counters_are_rejected(text: str) -> None:
    with pytest.raises(CounterError, match="C and five numbers"):
        Counters.from_field(text)


def test_a_fen_may_carry_counters() -> None:
    fen = f"{TWO_EACH}:C29,12,0,0,2"
    assert parse_fen(fen) == Position.from_fen(TWO_EACH)
    clock = Clock.from_fen(fen)
    assert clock.counters == Counters(29, 12, 0, 0, 2)
    assert clock.to_fen() == fen
    assert Clock.from_fen(TWO_EACH).to_fen() == f"{TWO_EACH}:C0,0,0,0,1"
    assert Clock.from_fen(f" {TWO_EACH} : C29,12,0,0,2 .").to_fen() == fen
    assert Clock.from_fen(f"{TWO_EACH}:\u042129,12,0,0,2").to_fen() == fen  # a Cyrillic letter
    assert Clock.from_fen("W:WK1,K3:BK32:C7,7,0,0,1", numbering="a1").counters.king_plies == 7


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("C29", "C and five numbers"),
        ("C3,3,0", "'C3,3,0' is not a field of counters"),
        ("C9999999,0,0,0,1", "five numbers from 0 to 999999"),
        ("C-1,0,0,0,1", "'C-1,0,0,0,1' is not a field of counters"),
        ("C1,2,3,4,", "C and five"),
        ("C1,2,3,4,5:C1,2,3,4,5", "2 fields of counters"),
    ],
)
def test_fens_with_invalid_counters_are_rejected(field: str, said: str) -> None:
    with pytest.raises(NotationError, match=said):
        Clock.from_fen(f"{TWO_EACH}:{field}")


def test_the_fields_of_lidraughts_are_its_clock() -> None:
    fen = f"{TWO_EACH}:H58:F71"
    assert Clock.from_fen(fen, LIDRAUGHTS).counters == Counters(balance_plies=58)
    assert Clock.from_fen(fen).counters == Counters()
    assert Clock.from_fen(f"{TWO_EACH}:C1,59,0,0,1:H58:F71", LIDRAUGHTS).counters.balance_plies == 59
    clock = Clock.from_fen(fen, LIDRAUGHTS)
    for text in ("g1-h2", "f8-a3"):
        assert clock.ruling().verdict is GameStatus.OPEN
        clock = clock.play(parse_move(clock.position, text))
    assert clock.ruling().verdict is GameStatus.DRAWN


@given(
    st.text()
    | st.lists(st.sampled_from(["W:WKa1:BKh8", ":", "C", "1", ",", "0,0,0,0,1", "H", "F", "-", "."])).map(
        "".join
    )
)
def test_any_text_makes_a_clock_or_a_tablebase_error(text: str) -> None:
    for ruleset in (OFFICIAL, LIDRAUGHTS):
        try:
            clock = Clock.from_fen(text, ruleset)
        except (NotationError, IllegalPositionError):
            continue
        assert Clock.from_fen(clock.to_fen(), ruleset) == clock
