"""Positions and moves as the Hub protocol of draughts engines writes them (version 2, as used by Scan 3.1).

A position is the side to move and then a letter for each square in the order of its numbers: `w` and `b` are
men, `W` and `B` kings, `e` is empty. A move is `10-14`, or a capture by start, end and the squares of all
captured pieces in any order, `10x26x14x22`. The protocol was made for the large board, on which there is one
numbering; here the caller names one of the three.
"""

from __future__ import annotations

import re

from tablebase.board import SQUARES, Color, Position
from tablebase.errors import IllegalMoveError, NotationError, quote
from tablebase.notation import Numbering
from tablebase.rules import Move, describe_moves, legal_moves

_PIECES = "wWbB"
_EMPTY = "e"
_POSITION = re.compile(rf"[WB][{_PIECES}{_EMPTY}]{{{SQUARES}}}")
_MOVE = re.compile(r"[0-9]{1,2}(-[0-9]{1,2}|(x[0-9]{1,2}){2,})")


def format_hub_position(position: Position, numbering: Numbering) -> str:
    """A position as the Hub protocol writes it: 33 letters."""
    letters = [_EMPTY] * SQUARES
    for letter, squares in zip(_PIECES, (position.wm, position.wk, position.bm, position.bk), strict=True):
        for number in range(1, SQUARES + 1):
            if squares >> numbering.square(number) & 1:
                letters[number - 1] = letter
    return ("W" if position.turn is Color.WHITE else "B") + "".join(letters)


def parse_hub_position(text: str, numbering: Numbering) -> Position:
    """Read what `format_hub_position` writes.

    Raises:
        NotationError: the text is no such position.
        IllegalPositionError: it is one that cannot be: a man on its own last row.
    """
    if not _POSITION.fullmatch(text):
        raise NotationError(
            f"{quote(text)} is no position of this board; it is W or B for the side to move and {SQUARES} "
            "letters, w, b, W, B or e"
        )
    sets = dict.fromkeys(_PIECES + _EMPTY, 0)
    for number, letter in enumerate(text[1:], start=1):
        sets[letter] |= 1 << numbering.square(number)
    wm, wk, bm, bk = (sets[letter] for letter in _PIECES)
    return Position(wm, wk, bm, bk, Color.WHITE if text[0] == "W" else Color.BLACK)


def format_hub_move(move: Move, numbering: Numbering) -> str:
    """A move as the Hub protocol writes it, captured pieces by rising numbers."""
    start, end = numbering.number(move.start), numbering.number(move.end)
    if not move.captured:
        return f"{start}-{end}"
    return "x".join(map(str, (start, end, *sorted(map(numbering.number, move.captured)))))


def parse_hub_move(position: Position, text: str, numbering: Numbering) -> Move:
    """Read a move of a position.

    Raises:
        NotationError: the text is no move.
        IllegalMoveError: it is a move, but no legal one here; the message lists those that are.
    """
    if not _MOVE.fullmatch(text):
        raise NotationError(
            f"{quote(text)} is no move of the Hub protocol; moves are written like 10-14, or "
            "10x26x14x22: start, end, captured pieces"
        )
    start, end, *captured = (numbering.square(int(number)) for number in re.split("[-x]", text))
    legal = legal_moves(position)
    for move in legal:
        if (move.start, move.end) == (start, end) and sorted(move.captured) == sorted(captured):
            return move
    raise IllegalMoveError(
        f"{quote(text)} is no legal move in {position.to_fen()} where {numbering} is square 1; "
        f"{describe_moves(legal)}"
    )
