import csv
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from naive_moves import routes
from paths import GOLDEN
from strategies import positions, random_positions

from tablebase.board.notation import GAME_TYPE, Numbering, format_fen, format_move, parse_fen, parse_move
from tablebase.board.position import Color, Position, legal_moves, position_after
from tablebase.board.squares import parse_square, square_name
from tablebase.errors import IllegalMoveError, IllegalPositionError, NotationError

TWO_ROUTES = "W:WKf8,a5,h4,a3,e3,g3,b2,h2:Bh8,g7,c5,e5,g5"  # two captures f8-b4 take different pieces


# Reading and writing positions


@given(positions())
def test_positions_round_trip_through_their_fen(position: Position) -> None:
    assert Position.from_fen(position.to_fen()) == position


def test_fens_are_written_in_one_order() -> None:
    assert format_fen(Position.from_fen("B:Bh8,Kb6,a7:Wc3,Ka1,a3")) == "B:WKa1,a3,c3:BKb6,a7,h8"
    assert format_fen(Position.start()) == (
        "W:Wa1,c1,e1,g1,b2,d2,f2,h2,a3,c3,e3,g3:Bb6,d6,f6,h6,a7,c7,e7,g7,b8,d8,f8,h8"
    )


@pytest.mark.parametrize(
    "text",
    [
        "W:BKh8:WKa1,c3",
        "w:wKa1,c3:bKh8",
        " W : W Ka1 , c3 : B K h8 ",
        "W:WKa1,c3:BKh8.",
        "W:Wc3,Ka1:BKh8 .\n",
        "W:WKa1,c3:BKh8:H0:F1",
        "W:WKa1,c3:BKh8:H12:F34.",
        "W:W\u041a\u04301,\u04413:\u0412Kh8:\u04213,3,0,0,1:\u041d12",  # Cyrillic letters
    ],
)
def test_fens_are_read_generously(text: str) -> None:
    assert parse_fen(text) == Position.from_fen("W:WKa1,c3:BKh8")


@pytest.mark.parametrize("text", ["W:WKa1:B", "B:We5:B", "W:W:BKh8", "B:W:B"])
def test_a_side_may_be_empty(text: str) -> None:
    assert parse_fen(text).to_fen() == text


def test_fields_after_the_pieces_are_no_pieces() -> None:  # KestoG perft.txt
    text = "W:Wc5,e5,d4,g3,d2,f2,a1,c1,e1,g1:Bf8,h8,a7,c7,e7,g7,b6,h6,a5,g5:H0:F1"
    assert text in {case["position_fen_or_moves"] for case in bug_cases()}
    level = [parse_fen(text)]
    counts = []
    for _ in range(5):
        level = [position_after(position, move) for position in level for move in legal_moves(position)]
        counts.append(len(level))
    assert counts == [11, 52, 211, 709, 3299]


def bug_cases() -> list[dict[str, str]]:
    cases: list[dict[str, str]] = json.loads((GOLDEN / "bug_cases.json").read_text(encoding="utf-8"))
    return cases


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "begins with ''"),
        ("X:Wa1:Bh8", "begins with 'X'"),
        ("White:Wa1:Bh8", "begins with 'White'"),
        ("Wa1:Bh8", "begins with 'Wa1'"),
        ("W", "no field for white; add :W"),
        ("W:Wa1", "no field for black; add :B"),
        ("W:Wa1:Wc3", "lists the white pieces twice"),
        ("W:Wa1:Bh8:Wc3", "'Wc3' after the pieces"),
        ("W:Wa1:Bh8:", "'' after the pieces"),
        ("W:Wa1:Bh8:H", "'H' after the pieces"),
        ("W:Wa1:H0:Bh8", "field 'H0'"),
        ("W:Wa1:Ba8", "black piece 'a8': 'a8' is a light square"),
        ("W:Wi9:Bh8", "white piece 'i9': 'i9' is not a square"),
        ("W:WA1:Bh8", "white piece 'A1': 'A1' is not a square"),
        ("W:WDa1:Bh8", "white piece 'Da1'"),
        ("W:WKKa1:Bh8", "'KKa1'"),
        ("W:Wa1-c1:Bh8", "'a1-c1' is not a square"),
        ("W:Wa1,,c3:Bh8", "comma with no piece"),
        ("W:Wa1,:Bh8", "comma with no piece"),
        ("W:Wa1 c3:Bh8", "'a1 c3' is not a square"),
        ("W:Wa1:Bh8..", "'h8.' is not a square"),
        ("W:W١:Bh8", "is not a square"),
        ("W:W²:Bh8", "is not a square"),
    ],
)
def test_invalid_fens_are_rejected_and_quoted(text: str, said: str) -> None:
    with pytest.raises(NotationError) as caught:
        parse_fen(text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("W:Wa1,a1:Bh8", "more than one piece on a1"),
        ("W:Wa1,Ka1:Bh8", "more than one piece on a1"),
        ("W:Wa1:BKa1", "more than one piece on a1"),
        ("W:Wb8:Bh8", "white man on b8"),
        ("W:Wa1:Bc1,g1,h8", "black man on c1, g1"),
    ],
)
def test_impossible_positions_are_rejected_with_their_square(text: str, said: str) -> None:
    with pytest.raises(IllegalPositionError) as caught:
        parse_fen(text)
    assert said in str(caught.value)


def test_messages_cut_long_texts() -> None:
    for text in ("W" * 100_000, "W:W" + "q" * 100_000 + ":B", "W:W:B:" + "9" * 100_000):
        with pytest.raises(NotationError) as caught:
            parse_fen(text)
        assert len(str(caught.value)) < 500


# Numbered squares


def numberings() -> list[dict[str, str]]:
    with (GOLDEN / "numberings.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("numbering", Numbering)
def test_the_three_numberings(numbering: Numbering) -> None:
    rows = numberings()
    assert len(rows) == 32
    for row in rows:
        square, number = parse_square(row["square"]), int(row[f"{numbering}_is_1"])
        assert numbering.square(number) == square
        assert numbering.number(square) == number
    assert square_name(numbering.square(1)) == numbering


@pytest.mark.parametrize("number", [0, 33, 99])
def test_numbers_beyond_the_board_are_refused(number: int) -> None:
    with pytest.raises(NotationError, match="numbered 1 to 32"):
        Numbering.A1.square(number)
    with pytest.raises(NotationError, match="numbered 1 to 32"):
        parse_fen(f"W:W{number}:B", "a1")


def test_squares_31_and_32_of_the_russian_sites() -> None:  # adugin/draughts rules-oracle.md
    assert [square_name(Numbering.B8.square(number)) for number in (31, 32)] == ["e1", "g1"]
    assert GAME_TYPE == "25,W,8,8,A0,0"


@pytest.mark.parametrize("text", ["W:W21:B1", "W:W21-32:B1-12:H0:F1", "W:Wa1:BK5"])
def test_numbers_are_refused_unless_the_numbering_is_named(text: str) -> None:
    with pytest.raises(NotationError, match="name the numbering"):
        parse_fen(text)


def test_numbers_are_read_in_the_numbering_named() -> None:
    assert parse_fen("W:W21-32:B1-12:H0:F1", "b8") == Position.start()
    for numbering in (Numbering.A1, Numbering.G1):
        assert parse_fen("W:W1-12:B21-32", numbering) == Position.start()
    assert parse_fen("W:WK1,9:BK32", "a1").to_fen() == "W:WKa1,a3:BKh8"
    assert parse_fen("W:WK1,9:BK32", "b8").to_fen() == "W:WKb8,b6:BKg1"
    assert parse_fen("W:WK1,9:BK32", "g1").to_fen() == "W:WKg1,g3:BKb8"
    assert Position.from_fen("W:WK1 - 4:B30", "g1").to_fen() == "W:WKa1,Kc1,Ke1,Kg1:Bf8"
    assert parse_fen("W:Wa1,2:Bh8", "a1").to_fen() == "W:Wa1,c1:Bh8"


def test_a_numbering_unknown_or_a_range_backward_is_refused() -> None:
    with pytest.raises(NotationError, match="'a1', 'b8', 'g1'"):
        parse_fen("W:W1:B", "h8")
    with pytest.raises(NotationError, match="runs backward"):
        parse_fen("W:W4-1:B", "a1")
    with pytest.raises(NotationError, match="33 is not a square"):
        parse_fen("W:W30-33:B", "a1")
    with pytest.raises(IllegalPositionError, match="more than one piece on c1"):
        parse_fen("W:W1-4,2:B", "a1")


# Reading and writing moves


def read(fen: str, text: str, numbering: str | None = None) -> str:
    return str(parse_move(Position.from_fen(fen), text, numbering))


def test_moves_are_written_short_if_unambiguous() -> None:
    assert [str(move) for move in Position.from_fen("W:Wc3:Bh8").legal_moves()] == ["c3-b4", "c3-d4"]
    assert [str(move) for move in Position.from_fen("W:Wc3:Bd4,d6").legal_moves()] == ["c3:c7"]


def test_moves_are_written_in_full_if_ambiguous() -> None:  # pydraughts issue 42
    position = Position.from_fen(TWO_ROUTES)
    assert [str(move) for move in position.legal_moves()] == ["h4:b6", "f8:b4", "f8:h6:f4:d6:b4"]
    assert all(move.ambiguous == (move.start != parse_square("h4")) for move in position.legal_moves())


@pytest.mark.parametrize("text", ["c3:c7", "c3xc7", "c3-c7", "c3:e5:c7", "c3xe5xc7", "c3-e5-c7", " c3 : c7 "])
def test_a_capture_is_read_however_it_is_joined(text: str) -> None:
    assert read("W:Wc3:Bd4,d6", text) == "c3:c7"


@pytest.mark.parametrize(
    "text", ["c3-d4", "c3:d4", "c3xd4", "c3 - d4", "\u04413-d4", "\u0441d4", "c3\u0445d4"]
)
def test_a_quiet_move_is_read_however_it_is_joined(text: str) -> None:
    assert read("W:Wc3:Bh8", text) == "c3-d4"


@pytest.mark.parametrize("text", ["cd4", "c3d4", "c-d4", "c:d4", "c3-d4:", " cd4 ", "cd4x"])
def test_a_quiet_move_is_read_in_short(text: str) -> None:
    assert read("W:Wc3,g3:Bh8", text) == "c3-d4"


@pytest.mark.parametrize(
    "text", ["cc7", "c:c7", "cc7:", "c3c7", "c3e5c7", "ce5c7", "ce5:c7:", "c : c7", "cxe5xc7"]
)
def test_a_capture_is_read_in_short(text: str) -> None:
    assert read("W:Wc3:Bd4,d6", text) == "c3:c7"


def test_the_letter_of_a_file_is_enough_where_one_move_fits() -> None:
    two = "W:Wc3,c5,e1:Bh8"
    assert read(two, "cb4") == "c3-b4"
    assert read(two, "cd6") == "c5-d6"
    with pytest.raises(IllegalMoveError, match="c5-b6, c5-d6"):
        read(two, "cd8")
    kings = "W:WKa1,Ka7:Bh6"
    with pytest.raises(NotationError, match="ambiguous; write one of a1-d4, a7-d4"):
        read(kings, "ad4")
    assert (read(kings, "a1d4"), read(kings, "ac5")) == ("a1-d4", "a7-c5")
    # One of two pieces of the file has to capture, so that the other does not count.
    assert read("W:Wc3,c5:Bd4", "ce5") == "c3:e5"
    assert read(TWO_ROUTES, "fb4") == "f8:b4"


def test_numbered_squares_of_a_move_need_a_numbering() -> None:
    assert read("W:Wc3:Bh8", "10-14", "a1") == "c3-d4"
    assert read("W:Wc3:Bh8", "22-18", "b8") == "c3-d4"
    assert read("W:Wc3:Bd4,d6", "11x27", "g1") == "c3:c7"
    with pytest.raises(NotationError, match="name the numbering"):
        read("W:Wc3:Bh8", "10-14")
    with pytest.raises(NotationError, match="numbered 1 to 32"):
        read("W:Wc3:Bh8", "10-44", "a1")


def test_the_exact_route_is_preferred_to_longer_ones() -> None:
    assert read(TWO_ROUTES, "f8:b4") == "f8:b4"
    assert read(TWO_ROUTES, "f8:h6:b4") == "f8:h6:f4:d6:b4"
    assert read(TWO_ROUTES, "f8:d6:b4") == "f8:h6:f4:d6:b4"


def test_ambiguous_moves_are_rejected_with_their_readings() -> None:
    crossing = "W:WKd8,e5:Bf2,b4,f4,f6"  # d8 to a5 over f6 and b4, and f4 or f2 between
    with pytest.raises(NotationError, match="ambiguous; write one of d8:g5:d2:a5, d8:h4:e1:a5"):
        read(crossing, "d8:a5")
    assert read(crossing, "d8:g5:d2:a5") == read(crossing, "d8:d2:a5") == "d8:g5:d2:a5"
    assert read(crossing, "d8:h4:e1:a5") == read(crossing, "d8xh4xa5") == "d8:h4:e1:a5"


@pytest.mark.parametrize(
    "text",
    ["", "c3", "c3:", ":c3", "c3 d4", "cd", "cd4 4", "c3--d4", "c3:i9", "c3:c4", "c3c4", "cc4", "c-", "3d4"],
)
def test_nearly_valid_moves_are_rejected(text: str) -> None:
    with pytest.raises(NotationError):
        read("W:Wc3:Bh8", text)


@pytest.mark.parametrize(
    "text",
    ["Kc3-d4", "c3-d4!", "0-0", "e2e4", "c3-d4-", "1014", "c14", "*"],
)
def test_invalid_moves_are_rejected(text: str) -> None:
    with pytest.raises(NotationError):
        read("W:Wc3:Bh8", text)


@pytest.mark.parametrize("text", ["c3-e5", "c3-b2", "d4-e5", "h8-g7", "c3-b4-a5", "c3-c3"])
def test_illegal_moves_are_rejected_with_the_legal_ones(text: str) -> None:
    with pytest.raises(IllegalMoveError, match="legal moves: c3-b4, c3-d4"):
        read("W:Wc3:Bh8", text)


def test_a_capture_must_be_carried_to_its_end() -> None:
    with pytest.raises(IllegalMoveError, match="legal moves: c3:c7"):
        read("W:Wc3:Bd4,d6", "c3:e5")


def test_format_move_rejects_illegal_moves() -> None:
    position = Position.from_fen("W:Wc3:Bh8")
    other = Position.from_fen("W:We3:Bh8").legal_moves()[0]
    with pytest.raises(IllegalMoveError, match="e3-d4 is not legal"):
        format_move(position, other)
    assert [format_move(position, move) for move in position.legal_moves()] == ["c3-b4", "c3-d4"]


def check_moves_survive_their_text(position: Position) -> None:
    moves = position.legal_moves()
    texts = [format_move(position, move) for move in moves]
    assert len(set(texts)) == len(texts)
    for move, text in zip(moves, texts, strict=True):
        assert text == str(move)
        assert parse_move(position, text) == move
        assert parse_move(position, text.replace(":", "x")) == move


def test_moves_of_random_positions_round_trip_in_short() -> None:
    alone = shared = 0
    for position in random_positions(1500, seed=4):
        moves = position.legal_moves()
        for move in moves:
            start, *landings = map(square_name, move.path)
            assert parse_move(position, start + "".join(landings)) == move
            short = start[0] + "".join(landings)
            of_file = [other for other in moves if square_name(other.start)[0] == start[0]]
            if len({other.start for other in of_file}) == 1:
                assert parse_move(position, short) == move
                alone += 1
            elif not move.is_capture and [other.end for other in of_file].count(move.end) > 1:
                with pytest.raises(NotationError, match="ambiguous"):
                    parse_move(position, short)
                shared += 1
    assert alone > 1000
    assert shared > 50


def test_moves_of_random_positions_round_trip() -> None:
    for position in random_positions(1500, seed=2):
        check_moves_survive_their_text(position)


@given(positions())
def test_moves_round_trip(position: Position) -> None:
    check_moves_survive_their_text(position)


def test_every_route_of_a_capture_reads_as_a_move_to_its_result() -> None:
    several = 0
    for position in random_positions(1500, seed=3):
        found = list(routes(position))
        several += len(found) > len({after for _, after in found})
        for text, after in found:
            assert position.play(parse_move(position, text)) == after, f"{text} in {position.to_fen()}"
    assert several > 20


# Any text at all


@given(st.text())
@example("W:W\x00:B")
@example("W:Wa1:B" + ":H0" * 1000)
def test_any_text_is_a_position_or_a_tablebase_error(text: str) -> None:
    check_fen_text(text)


@given(
    st.lists(st.sampled_from(["W", "B", "K", ":", ",", ".", "-", " ", "a1", "h8", "7", "12", "H0"])).map(
        "".join
    )
)
def test_any_text_like_a_fen_is_a_position_or_a_tablebase_error(text: str) -> None:
    check_fen_text(text)


@given(positions(), st.data())
def test_a_changed_fen_is_a_position_or_a_tablebase_error(position: Position, data: st.DataObject) -> None:
    text = position.to_fen()
    at = data.draw(st.integers(0, len(text)))
    check_fen_text(text[:at] + data.draw(st.sampled_from([*"WBKabch18:,.- ", ""])) + text[at + 1 :])


def check_fen_text(text: str) -> None:
    for numbering in (None, *Numbering):
        try:
            position = parse_fen(text, numbering)
        except (NotationError, IllegalPositionError):
            continue
        assert parse_fen(position.to_fen()) == position
        assert isinstance(position.turn, Color)


@given(positions(max_pieces=8), st.text() | st.text("abcdefgh12345678:-x ", max_size=12))
def test_any_text_is_a_legal_move_or_a_tablebase_error(position: Position, text: str) -> None:
    for numbering in (None, *Numbering):
        try:
            move = parse_move(position, text, numbering)
        except (NotationError, IllegalMoveError):
            continue
        assert move in position.legal_moves()
