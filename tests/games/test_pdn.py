"""PDN: games taken apart as people and programs write them; nothing in a text makes the reader fail."""

from contextlib import suppress
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paths import GOLDEN

from tablebase.board.notation import Numbering
from tablebase.board.position import Color, Position
from tablebase.errors import IllegalPositionError, NotationError
from tablebase.games.pdn import FaultKind, GameResult, PdnGame, decode_pdn, parse_result, read_games

GAMES = GOLDEN / "games.pdn"


def games(text: str) -> list[PdnGame]:
    return list(read_games(text))


def game(text: str) -> PdnGame:
    (only,) = games(text)
    return only


def moves(text: str) -> list[str]:
    return [move.text for move in game(text).moves]


# Moves


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. c3-d4 d6-c5 2. b2-c3", "c3-d4 d6-c5 b2-c3"),
        ("1.c3-d4 d6-c5 2.b2-c3", "c3-d4 d6-c5 b2-c3"),
        ("1... d6-c5 2. b2-c3", "d6-c5 b2-c3"),
        ("1… d6-c5", "d6-c5"),
        ("1. ... d6-c5 2. b2-c3 2... f6-g5", "d6-c5 b2-c3 f6-g5"),
        ("1 c3-d4 d6-c5 2 b2-c3", "c3-d4 d6-c5 b2-c3"),
        ("c3-d4 d6-c5", "c3-d4 d6-c5"),
        ("1. c3-d4! d6-c5?? 2. b2-c3 !? f6-g5?!", "c3-d4 d6-c5 b2-c3 f6-g5"),
        ("1. c3-d4 $1 d6-c5 $14 $2 2. b2-c3 +/- f6-g5 = g3-h4 +-", "c3-d4 d6-c5 b2-c3 f6-g5 g3-h4"),
        ("1. c3-d4* d6-c5 *", "c3-d4 d6-c5"),
        ("1. a1:d4 c5xe3 2. F2Xd4 b6×c5", "a1:d4 c5xe3 F2Xd4 b6×c5"),
        ("1. a1 : d4 : g7 c3\n-d4", "a1 : d4 : g7 c3\n-d4"),
        ("1. 22-18 11x15 2. 5-9", "22-18 11x15 5-9"),
        ("1. 21x14x5 1-1", "21x14x5"),
        (
            "1. cd4 ba5 2.d:b6 a:c5! 3. c3d4* ce5: (3... cb4) 4. F×D4 ab4:{x} 1-1",
            "cd4 ba5 d:b6 a:c5 c3d4 ce5: F×D4 ab4:",
        ),
        ("1. bad4u he4lo cd", "bad4u he4lo cd"),  # for whoever plays them to refuse
        ("1. c3-d9 hello", "c3-d9 hello"),  # for whoever plays them to refuse
    ],
)
def test_moves(text: str, expected: str) -> None:
    assert " ".join(moves(text)) == expected


def test_a_move_in_plain_letters() -> None:
    assert [move.plain for move in game("F2Xd4 b6×c5 c3–d4").moves] == ["f2xd4", "b6xc5", "c3-d4"]
    # In Cyrillic letters that look like these; the text stays as it is written.
    cyrillic = game("1. \u04413 - d4 d6-\u04215 2. b2-\u04303 \u04415\u0445\u04353 3. \u0441:\u04151").moves
    assert [move.plain for move in cyrillic] == ["c3 - d4", "d6-c5", "b2-a3", "c5xe3", "c:e1"]
    assert cyrillic[0].text == "\u04413 - d4"


@pytest.mark.parametrize(
    "between",
    [
        "{a comment with 3. a1-b2 (and) ; signs}",
        "{[%clock w0:10 B0:09]}",
        "; to the end of the line\n",
        "\n% a line for other programs 1-0\n",
        "(1... f6-e5)",
        "(1... f6-e5 2. d4:f6 (2. a3-b4 (2. g3-f4) {)} ) g7:e5) (1... f6-g5)",
        "(1... f6-e5 ; not the end )\n)",
        "{}",
        "(!)",
    ],
)
def test_comments_and_variations_are_skipped(between: str) -> None:
    read = game(f"1. c3-d4 {between} d6-c5 2-0")
    assert [move.text for move in read.moves] == ["c3-d4", "d6-c5"]
    assert (read.result, read.faults) == ("2-0", ())


def test_lines() -> None:
    read = games('\n[Event "1"]\n\n1. c3-d4 {two\nlines} d6-c5\n2. b2-c3\n\n\n[Event "2"]\n1. c3-d4')
    assert [read[0].line, read[1].line] == [2, 9]
    assert [move.line for move in read[0].moves] == [4, 5, 6]
    assert [move.line for move in read[1].moves] == [10]


# Tags


def test_tags() -> None:
    read = game('[Event "The \\"great\\" one \\\\ 1"]\n[ Site  "Рига" ] [fen "W:Wc3:Bd6"]\n\n*')
    assert dict(read.tags) == {"Event": 'The "great" one \\ 1', "Site": "Рига", "fen": "W:Wc3:Bd6"}
    assert read.tag("FEN") == "W:Wc3:Bd6"
    assert read.tag("Round") is None
    assert read.faults == ()


def test_where_a_game_begins() -> None:
    assert game("1. c3-d4").start() == Position.start()
    fen = '[FEN "B:WKa1:BKh8"]\n'
    assert game(fen).start().turn is Color.BLACK
    assert game('[FEN "W:W1,2:B32"]').start(Numbering.A1) == Position.from_fen("W:Wa1,c1:Bh8")
    with pytest.raises(NotationError, match="name the numbering"):
        game('[FEN "W:W1,2:B32"]').start()
    with pytest.raises(IllegalPositionError, match="white man on h8"):
        game('[FEN "W:Wh8:Ba1"]').start()


def test_broken_tag_is_a_fault_and_keeps_its_value() -> None:
    read = game('[FEN "W:Wa1:Bh8]\n[Event "x"]\n1. a1-b2')
    assert [(fault.kind, fault.line) for fault in read.faults] == [(FaultKind.BAD_TAG, 1)]
    assert read.start() == Position.from_fen("W:Wa1:Bh8")
    assert read.tag("Event") == "x"
    with pytest.raises(NotationError):
        game("[FEN]\n1. a1-b2").start()


def test_a_repeated_tag() -> None:
    read = game('[White "A"]\n[White "B"]\n[White "A"]')
    assert read.tag("White") == "A"
    assert [(fault.kind, fault.line) for fault in read.faults] == [(FaultKind.REPEATED_TAG, 2)]
    assert "'A' and 'B'" in read.faults[0].message


@pytest.mark.parametrize(
    ("game_type", "numbering"),
    [
        ("25", None),
        ("25,W,8,8,A0,0", None),
        ("25,W,8,8,A0", None),
        (" 25, w, 8, 8, a0, 0 ", None),
        ("25,W,8,8,S0,0", None),
        ("25,W,8,8,N0,0", Numbering.A1),
        ("25,W,8,8,N1,0", Numbering.G1),
        ("25,W,8,8,N2,0", Numbering.B8),
    ],
)
def test_game_types(game_type: str, numbering: Numbering | None) -> None:
    read = game(f'[GameType "{game_type}"]')
    assert read.numbering() is numbering
    assert read.numbering("b8") is (numbering or Numbering.B8)


def test_default_numbering_without_game_type() -> None:
    assert game("1. 22-18").numbering() is None
    assert game("1. 22-18").numbering("b8") is Numbering.B8


@pytest.mark.parametrize(
    ("game_type", "says"),
    [
        ("20", "another game.*25,W,8,8,A0,0"),
        ("21,B,8,8,N1,0", "another game"),
        ("26,W,8,8,A0,0", "another game"),
        ("25,B,8,8,A0,0", "Black first"),
        ("25,W,10,10,A0,0", "another board"),
        ("25,W,8,8,A0,1", "another board"),
        ("25,W,8,8,A2,0", "notation A2"),
        ("25,W,8,8,N3,0", "notation N3"),
        ("russian", "not a GameType of PDN"),
        ("25,W,8,8", "not a GameType of PDN"),
        ("", "not a GameType of PDN"),
    ],
)
def test_game_types_that_are_refused(game_type: str, says: str) -> None:
    with pytest.raises(NotationError, match=says):
        game(f'[GameType "{game_type}"]').numbering("a1")


# Results


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("2-0", GameResult.WHITE_WINS),
        ("1-0", GameResult.WHITE_WINS),
        ("12-0", GameResult.WHITE_WINS),
        ("8-4", GameResult.WHITE_WINS),
        ("1-1", GameResult.DRAW),
        ("1/2-1/2", GameResult.DRAW),
        ("½-½", GameResult.DRAW),
        ("0.5-0,5", GameResult.DRAW),
        ("6:6", GameResult.DRAW),
        (" 0 - 2 ", GameResult.BLACK_WINS),
        ("0–1", GameResult.BLACK_WINS),
        ("0-0", GameResult.BOTH_LOSE),
        ("*", GameResult.OPEN),
        ("?", GameResult.OPEN),
        ("", GameResult.OPEN),
        ("White", None),
        ("2-", None),
        ("3/4-1/4", None),
    ],
)
def test_results(text: str, result: GameResult | None) -> None:
    assert parse_result(text) is result


@pytest.mark.parametrize("text", ["2-0", "1-1", "0-2", "1-0", "0-1", "1/2-1/2", "½-½", "0-0", "12-0", "*"])
def test_a_result_ends_the_moves(text: str) -> None:
    for read in (game(f"1. c3-d4 d6-c5 {text}"), game(f'[Event "x"]\n1. c3-d4 d6-c5\n{text}')):
        assert [move.text for move in read.moves] == ["c3-d4", "d6-c5"]
        assert read.result == text
        assert read.written_result is parse_result(text)


def test_result_tag_with_any_points() -> None:
    read = game('[Result "8-4"]\n1. c3-d4 d6-c5 8-4')
    assert (len(read.moves), read.result, read.faults) == (2, "8-4", ())


@pytest.mark.parametrize(
    ("tag", "at_the_end", "result", "kinds"),
    [
        ("2-0", "2-0", GameResult.WHITE_WINS, []),
        ("2-0", "1-0", GameResult.WHITE_WINS, []),
        ("2-0", "", GameResult.WHITE_WINS, []),
        ("2-0", "*", GameResult.WHITE_WINS, []),
        ("*", "0-2", GameResult.BLACK_WINS, []),
        ("2-0", "0-2", GameResult.BLACK_WINS, [FaultKind.RESULTS_DIFFER]),
        ("won", "0-2", GameResult.BLACK_WINS, [FaultKind.BAD_RESULT]),
        ("won", "", None, [FaultKind.BAD_RESULT]),
        ("1-1", "1-1 0-2", GameResult.DRAW, [FaultKind.RESULTS_DIFFER]),
    ],
)
def test_two_written_results(
    tag: str, at_the_end: str, result: GameResult | None, kinds: list[FaultKind]
) -> None:
    read = game(f'[Result "{tag}"]\n1. c3-d4 {at_the_end}')
    assert read.written_result is result
    assert [fault.kind for fault in read.faults] == kinds


def test_no_written_result() -> None:
    assert game("1. c3-d4").written_result is None


# Where a game ends


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("", []),
        (" \n {only a comment} ; and another", []),
        ('[Event "1"]\n1. c3-d4 *\n\n[Event "2"]\n1. c3-d4 d6-c5 *', [1, 2]),
        ('[Event "1"]\n1. c3-d4\n[Site "2"]\n1. c3-d4 d6-c5', [1, 2]),  # no result
        ('[Event "1"]\n[Result "*"]\n\n[Event "2"]\n[Result "*"]', [0, 0]),
        ('[Event "1"]\n[Event "2"]', [0, 0]),
        ('[White "1"]\n\n\n[White "2"]\n1. c3-d4', [0, 1]),
        ('[White "1"]\n\n[Black "2"]\n1. c3-d4', [1]),
        ("1. c3-d4 1-1 1. c3-b4 b6-c5 2-0 1. g3-h4", [1, 2, 1]),
        ("2-0", [0]),
    ],
)
def test_games(text: str, lengths: list[int]) -> None:
    read = games(text)
    assert [len(one.moves) for one in read] == lengths
    assert [one.number for one in read] == list(range(1, len(lengths) + 1))


def test_moves_after_the_result() -> None:
    left_out = game("1. c3-d4 d6-c5 1-1\n2. b2-c3 f6-g5 1-1")
    assert (len(left_out.moves), left_out.result) == (2, "1-1")
    assert [(fault.kind, fault.line) for fault in left_out.faults] == [(FaultKind.AFTER_RESULT, 2)]
    assert "2 moves from 'b2-c3' on" in left_out.faults[0].message

    first, second = games('[Event "x"]\n1. c3-d4 1-1\n1. c3-b4 b6-c5 2-0')
    assert [(fault.kind, fault.line) for fault in first.faults] == [(FaultKind.AFTER_RESULT, 3)]
    assert "game 2" in first.faults[0].message
    assert (dict(second.tags), second.result, second.faults) == ({}, "2-0", ())


@pytest.mark.parametrize(
    "opened", ["{ without an end", "(1... f6-e5 {a} (2. a1-b2)", "(1... f6-e5 { (", "{ ( } (("]
)
def test_unclosed_comment_ends_at_the_next_game(opened: str) -> None:
    first, second = games(f'[Event "1"]\n1. c3-d4 {opened}\n d6-c5\n\n[Event "2"]\n1. c3-d4 {{closed}} d6-c5')
    assert [move.text for move in first.moves] == ["c3-d4"]
    assert [(fault.kind, fault.line) for fault in first.faults] == [(FaultKind.UNCLOSED, 2)]
    assert (len(second.moves), second.faults) == (2, ())


def test_stray_closing_brackets_are_read_as_moves() -> None:
    assert moves("1. c3-d4 ) d6-c5 } 2. b2-c3 ]") == ["c3-d4", ")", "d6-c5", "}", "b2-c3", "]"]


# Files


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1251"])
def test_encodings(encoding: str) -> None:
    text = '[White "Куперман"]\n1. c3-d4'
    assert decode_pdn(text.encode(encoding)) == text


def test_games_of_a_server() -> None:
    read = games(decode_pdn(GAMES.read_bytes()))
    # Event 16 runs on after its result with another game, which is game 17 here.
    names = [f"lidraughts game {number}" for number in range(1, 22)]
    assert [one.tag("Event") for one in read] == [*names[:16], None, *names[16:]]
    assert {one.number: (len(one.moves), one.result) for one in read if one.moves} == {
        1: (65, "2-0"),
        2: (18, "0-2"),
        5: (90, "1-1"),
        9: (66, "0-2"),
        12: (108, "0-2"),
        14: (85, "1-1"),
        15: (66, "0-2"),
        16: (26, "0-2"),
        17: (61, "2-0"),
    }
    assert {one.number: [fault.kind for fault in one.faults] for one in read if one.faults} == {
        1: [FaultKind.RESULTS_DIFFER],
        5: [FaultKind.RESULTS_DIFFER],
        9: [FaultKind.RESULTS_DIFFER],
        12: [FaultKind.RESULTS_DIFFER],
        14: [FaultKind.RESULTS_DIFFER],
        15: [FaultKind.RESULTS_DIFFER],
        16: [FaultKind.AFTER_RESULT, FaultKind.RESULTS_DIFFER],
    }
    for one in read:
        assert one.start() == Position.start()
        assert one.numbering() is None


PIECES = st.sampled_from(
    [
        "1.",
        "c3-d4",
        "a1:h8",
        " ",
        "\n",
        "(",
        ")",
        "{",
        "}",
        ";",
        "[",
        "]",
        '"',
        '[Event "x"]',
        "[FEN",
        "2-0",
        "*",
    ]
)


@given(st.text() | st.lists(PIECES).map("".join))
def test_reader_takes_any_text(text: str) -> None:
    read = games(text)
    assert [one.number for one in read] == list(range(1, len(read) + 1))
    lines = text.count("\n") + 1
    for one in read:
        assert one.tags or one.moves or one.result or one.faults
        places = [one.line, *(move.line for move in one.moves), *(fault.line for fault in one.faults)]
        assert all(1 <= place <= lines for place in places)
        for ask in (one.numbering, one.start):
            with suppress(NotationError, IllegalPositionError):
                ask()


@given(st.binary())
def test_reader_takes_any_bytes(data: bytes) -> None:
    games(decode_pdn(data))


@pytest.mark.parametrize(
    "unit", ["{", "(", "(}", "[", '[a "', '[a ""]', "1. ", "1-0 ", "c3-d4 ", "c3-", "\\", "[a]", "{}", "()"]
)
def test_time_is_linear_in_length(unit: str) -> None:
    began = perf_counter()
    games(unit * (200_000 // len(unit)))
    assert perf_counter() - began < 5
