"""Conversion from and to pydraughts, and the square numbers that other programs use.

This module imports none of these programs. It uses the attributes of a pydraughts board (those of version
0.6.7), so it depends on no version of pydraughts.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Protocol, TypeVar

from tablebase.board.counters import Counters
from tablebase.board.notation import Numbering, parse_fen, parse_hub_move
from tablebase.board.position import Move, Position, find_legal
from tablebase.errors import ArgumentError
from tablebase.rules.clock import Clock
from tablebase.rules.ruleset import Ruleset
from tablebase.rules.rulesets import OFFICIAL

NUMBERINGS = MappingProxyType(
    {
        "pydraughts": Numbering.A1,
        "lidraughts": Numbering.B8,
        "py-draughts": Numbering.B8,
        "CheckerBoard": Numbering.B8,
    }
)
"""The numbering that each program uses for this game in FENs and moves.

pydraughts and lidraughts write squares like c3 too. CheckerBoard has White on 21-32, as in English checkers;
so do its engines (KestoG).
"""

_RUSSIAN = "russian"


class PydraughtsMove(Protocol):
    """A move of pydraughts, `draughts.Move`.

    Attributes:
        hub_move: the numbers of the start, the end and the captured squares.
    """

    hub_move: str


AnyMove = TypeVar("AnyMove", bound=PydraughtsMove)


class PydraughtsBoard(Protocol[AnyMove]):
    """A board of pydraughts, `draughts.Board`.

    Attributes:
        variant: the game; `russian` is this one.
        initial_fen: the first position of its game.
        fen: the current position.
        move_stack: the moves played.
    """

    variant: str
    initial_fen: str
    move_stack: list[AnyMove]

    @property
    def fen(self) -> str:
        """The current position."""

    def legal_moves(self) -> Sequence[AnyMove]:
        """Return the legal moves of the board."""


def position_of(board: PydraughtsBoard[AnyMove]) -> Position:
    """Return the position of a pydraughts board.

    The way back is `draughts.Board("russian", position.to_fen())`.

    Raises:
        ArgumentError: the board is of another game.
        NotationError: its FEN cannot be read.
        IllegalPositionError: its position is not legal in this game.
    """
    _check_game(board)
    return parse_fen(board.fen)


def clock_of(
    board: PydraughtsBoard[AnyMove], ruleset: Ruleset = OFFICIAL, counters: Counters | None = None
) -> Clock:
    """Return the clock of the game on a pydraughts board, counted from its first position.

    Args:
        board: the board with its moves.
        ruleset: the rules to judge by.
        counters: the counters in the first position; None starts all counts there.

    Raises:
        ArgumentError: the board is of another game.
        NotationError: its first FEN cannot be read, or a move is a null move.
        IllegalPositionError: its first position is not legal in this game.
        IllegalMoveError: a move is not legal in this game.
    """
    _check_game(board)
    clock = Clock.start(parse_fen(board.initial_fen), ruleset, counters)
    for move in board.move_stack:
        clock = clock.play_unchecked(move_of(clock.position, move))
    return clock


def move_of(position: Position, move: PydraughtsMove) -> Move:
    """Return the move of a position that a pydraughts move stands for.

    Raises:
        NotationError: the move is a null move.
        IllegalMoveError: the move is not legal in this game.
    """
    return parse_hub_move(position, move.hub_move, NUMBERINGS["pydraughts"])


def pydraughts_move(board: PydraughtsBoard[AnyMove], move: Move) -> AnyMove:
    """Return the pydraughts move, for `board.push`, that a move stands for.

    Raises:
        ArgumentError: the board is of another game, or does not accept the move as legal.
        IllegalMoveError: the move is not legal in its position.
        NotationError: the FEN of the board cannot be read.
        IllegalPositionError: the position of the board is not legal in this game.
    """
    position = position_of(board)
    wanted = find_legal(position, move)
    for theirs in board.legal_moves():
        if move_of(position, theirs) == wanted:
            return theirs
    raise ArgumentError(f"the board does not accept {wanted} as a legal move in {position.to_fen()}")


def _check_game(board: PydraughtsBoard[AnyMove]) -> None:
    if board.variant != _RUSSIAN:
        raise ArgumentError(f"the board has the variant {board.variant!r}; this game is {_RUSSIAN!r}")
