"""Boards, moves and square numbers of other programs: pydraughts itself, and what others have printed."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from draughts import Board, Move
from draughts.engines.checkerboard_extra.get_checker_board import get_board
from paths import GOLDEN
from strategies import random_positions

from tablebase import Clock, Color, Counters, Numbering, Position, parse_move
from tablebase.board.notation import format_fen, format_move
from tablebase.errors import ArgumentError, IllegalMoveError, NotationError
from tablebase.games.pydraughts import NUMBERINGS, clock_of, move_of, position_of, pydraughts_move
from tablebase.rules.rulesets import CLUB

PROGRAMS = json.loads((GOLDEN / "programs.json").read_text("utf-8"))


def printed_by(program: str) -> Any:
    return next(entry for entry in PROGRAMS if entry["program"] == program)


# pydraughts


def random_games(count: int, plies: int, start: str = "startpos") -> Iterator[tuple[Board, Clock]]:
    """Games on pydraughts' board, with the clock that was led along by our own moves."""
    random = Random(17)
    for _ in range(count):
        board = Board("russian", start)
        clock = Clock.start(position_of(board))
        while len(board.move_stack) < plies and not clock.verdict().ends_the_game:
            move = random.choice(clock.position.legal_moves())
            board.push(pydraughts_move(board, move))
            clock = clock.play(move)
        yield board, clock


@pytest.mark.parametrize(("seed", "max_pieces"), [(21, 6), (22, 24)])
def test_positions_go_to_pydraughts_and_back(seed: int, max_pieces: int) -> None:
    for position in random_positions(200, seed, max_pieces):
        board = Board("russian", position.to_fen())
        assert position_of(board) == position
        assert board.turn == (2 if position.turn is Color.WHITE else 1)


@pytest.mark.parametrize(("seed", "max_pieces"), [(23, 6), (24, 16)])
def test_moves_go_to_pydraughts_and_back(seed: int, max_pieces: int) -> None:
    for position in random_positions(120, seed, max_pieces):
        board = Board("russian", position.to_fen())
        for move in position.legal_moves():
            theirs = pydraughts_move(board, move)
            assert move_of(position, theirs) == move
            after = Board("russian", position.to_fen())
            after.push(theirs)
            assert position_of(after) == position.play(move), f"{position.to_fen()} {move}"
        for theirs in board.legal_moves():
            assert move_of(position, theirs) in position.legal_moves()


def test_games_of_pydraughts_have_their_clock() -> None:
    endings = 0
    for start in ("startpos", "W:WKc1,Kd2,a3:BKe1,f8"):
        for board, clock in random_games(8, 90, start):
            found = clock_of(board)
            assert (found, position_of(board)) == (clock, clock.position)
            assert found.seen_twice == clock.seen_twice
            endings += clock.counters != Counters()
    assert endings


def test_a_clock_may_begin_with_counters_and_another_ruleset() -> None:
    board = Board("russian", "W:WKa1,Kc1:BKh2,Kf8")
    board.push(Move(board, pdn_move="a1-b2"))
    clock = clock_of(board, CLUB, Counters(king_plies=7))
    assert (clock.ruleset, clock.counters.king_plies) == (CLUB, 8)


def test_boards_of_other_games_are_refused() -> None:
    board = Board("brazilian")
    for ask in (position_of, clock_of):
        with pytest.raises(ArgumentError, match="'brazilian'"):
            ask(board)


def test_moves_of_another_position_are_refused() -> None:
    board = Board("russian")
    (theirs, *_) = board.legal_moves()
    with pytest.raises(IllegalMoveError, match="legal moves: "):
        move_of(Position.from_fen("W:Wa1:Bh8"), theirs)
    with pytest.raises(IllegalMoveError):
        pydraughts_move(board, Position.from_fen("W:Wa1:Bh8").legal_moves()[0])
    with pytest.raises(NotationError, match="0 is not a square"):
        move_of(Position.start(), Move(board, steps_move=[0, 0]))


def test_numbers_of_pydraughts() -> None:
    for position in random_positions(60, 25, 12):
        for theirs in Board("russian", position.to_fen()).legal_moves():
            text = format_move(position, move_of(position, theirs), NUMBERINGS["pydraughts"])
            # Where it writes the whole path, that may be another one with the same result.
            assert text == theirs.pdn_move or theirs.pdn_move.count("x") > 1


# lidraughts


@pytest.mark.parametrize("opening", printed_by("lidraughts")["openings"], ids=lambda one: one["moves"])
def test_openings_of_lidraughts(opening: dict[str, str]) -> None:
    position = Position.start()
    for text in opening["moves"].split():
        position = position.play(parse_move(position, text))
    numbering = NUMBERINGS["lidraughts"]
    assert Position.from_fen(opening["fen"], numbering) == position
    assert format_fen(position, numbering) == opening["fen"].partition(":H")[0]


# CheckerBoard


def checkerboard_number(x: int, y: int) -> int:
    """What its coordinates.c gives for a square of its array in a game it has no case for, as this one."""
    return 4 * (y + 1) - x // 2


def test_numbers_of_checkerboard() -> None:
    """By the array that pydraughts hands to its engines, and by CheckerBoard's own formula."""
    numbering = NUMBERINGS["CheckerBoard"]
    for square in range(32):
        position = Position(0, 1 << square, 0, 0)
        array = get_board(Board("russian", position.to_fen()))
        ((x, y),) = [(x, y) for x in range(8) for y in range(8) if array[x][y]]
        assert numbering.number(square) == checkerboard_number(x, y)


def test_the_line_of_an_engine_of_checkerboard() -> None:
    printed, numbering = printed_by("CheckerBoard"), NUMBERINGS["CheckerBoard"]
    position = Position.from_fen(printed["start"], numbering)
    assert position == Position.start()
    first = parse_move(position, printed["line"].split()[0], numbering)
    ends = [checkerboard_number(x, y) for x, y in printed["first_move_from_to"]]
    assert ends == [numbering.number(first.start), numbering.number(first.end)]
    for text in printed["line"].split():
        move = parse_move(position, text, numbering)
        assert format_move(position, move, numbering) == text
        position = position.play(move)


# Writing numbers


@pytest.mark.parametrize("numbering", Numbering)
def test_written_numbers_are_read_back(numbering: Numbering) -> None:
    for position in random_positions(100, 26, 16):
        assert Position.from_fen(position.to_fen(numbering), numbering) == position
        for move in position.legal_moves():
            assert parse_move(position, format_move(position, move, numbering), numbering) == move


def test_numbers_are_sorted_and_captures_have_an_x() -> None:
    assert Position.start().to_fen("b8").startswith("W:W21,22,23")
    position = Position.from_fen("W:Wc3,Ka1:Bd4,d6,f6")
    assert position.to_fen("b8") == "W:WK29,22:B10,11,18"
    assert format_move(position, parse_move(position, "c3:g7"), "a1") == "10x28"
    assert format_move(position.flip(), position.flip().legal_moves()[0], "g1").count("x") == 1
    with pytest.raises(NotationError, match="not a numbering"):
        position.to_fen("h8")
