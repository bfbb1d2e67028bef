"""To and from other programs of this game: pydraughts' boards and moves, and whose square numbers are whose.

Nothing of these programs is imported here. A pydraughts board is known by the attributes that are used of it
(version 0.6.7 has them), so that whoever has such boards need not have a certain version of it.
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
"""How each program numbers the squares of this game, for FENs and moves that it writes or reads.

pydraughts and lidraughts write letters and digits too. CheckerBoard has White on 21-32 in this game, as in
English checkers; so do its engines (KestoG).
"""

_RUSSIAN = "russian"


class PydraughtsMove(Protocol):
    """A move of pydraughts, `draughts.Move`.

    Attributes:
        hub_move: start, end and captured squares by their numbers.
    """

    hub_move: str


AnyMove = TypeVar("AnyMove", bound=PydraughtsMove)


class PydraughtsBoard(Protocol[AnyMove]):
    """A board of pydraughts, `draughts.Board`.

    Attributes:
        variant: the game; `russian` is this one.
        initial_fen: the position in which its game began.
        fen: the position on it.
        move_stack: the moves between these.
    """

    variant: str
    initial_fen: str
    move_stack: list[AnyMove]

    @property
    def fen(self) -> str:
        """The position on it."""

    def legal_moves(self) -> Sequence[AnyMove]:
        """The moves that it takes for legal."""


def position_of(board: PydraughtsBoard[AnyMove]) -> Position:
    """The position on a pydraughts board; for the way back, `draughts.Board("russian", position.to_fen())`.

    Raises:
        ArgumentError: it is a board of another game.
        NotationError, IllegalPositionError: its position is none of this game.
    """
    _check_game(board)
    return parse_fen(board.fen)


def clock_of(
    board: PydraughtsBoard[AnyMove], ruleset: Ruleset = OFFICIAL, counters: Counters | None = None
) -> Clock:
    """The game on a pydraughts board, counted from its first position on.

    Args:
        board: the board with its moves.
        ruleset: the rules to judge by.
        counters: how far each count had come in the first position; None: they begin there.

    Raises:
        ArgumentError: it is a board of another game.
        NotationError, IllegalPositionError: its first position is none of this game.
        NotationError: a move is a null move.
        IllegalMoveError: a move is not legal here.
    """
    _check_game(board)
    clock = Clock.start(parse_fen(board.initial_fen), ruleset, counters)
    for move in board.move_stack:
        clock = clock.play_unchecked(move_of(clock.position, move))
    return clock


def move_of(position: Position, move: PydraughtsMove) -> Move:
    """The move that a pydraughts move of a position is.

    Raises:
        NotationError: it is a null move.
        IllegalMoveError: it is not legal here.
    """
    return parse_hub_move(position, move.hub_move, NUMBERINGS["pydraughts"])


def pydraughts_move(board: PydraughtsBoard[AnyMove], move: Move) -> AnyMove:
    """The move for `board.push`: that of the board's own legal moves which is the given one.

    Raises:
        ArgumentError: it is a board of another game, or it does not take the move for legal.
        IllegalMoveError: the move is not legal in its position.
        NotationError, IllegalPositionError: as `position_of`.
    """
    position = position_of(board)
    wanted = find_legal(position, move)
    for theirs in board.legal_moves():
        if move_of(position, theirs) == wanted:
            return theirs
    raise ArgumentError(f"the board does not take {wanted} for a legal move of {position.to_fen()}")


def _check_game(board: PydraughtsBoard[AnyMove]) -> None:
    if board.variant != _RUSSIAN:
        raise ArgumentError(f"the board is one of the variant {board.variant!r}; this game is {_RUSSIAN!r}")
