"""Notation of positions and moves: FEN, moves of PDN 3.0 (GameType 25), and the Hub protocol.

A FEN is written as `W:WKa1,c3:BKh8`: side to move, White's pieces, Black's pieces; kings before men, squares
rising from a1 to h8. A move is written as `c3-d4` or `c3:e5`, with the full path if start and end are
ambiguous. `parse_fen` and `parse_move` accept more forms.

Different programs number the squares 1-32 differently. So numbers are read and written only if the caller
names the numbering.

The Hub protocol, which the draughts program Scan introduced, writes a position as the side to move and one
letter for each square in the order of the numbers: men `w` and `b`, kings `W` and `B`, empty squares `e`. A
quiet move is `10-14`. A capture is start, end and the squares of all captured pieces in any order,
`10x26x14x22`. The protocol was made for the board of 10 x 10, which has one numbering; here the caller
chooses one of three.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NoReturn

from tablebase.board.counters import Counters
from tablebase.board.position import (
    Color,
    Move,
    Position,
    describe_moves,
    find_legal,
    legal_moves,
    moves_along,
)
from tablebase.board.squares import SQUARE_NAMES, SQUARES, parse_square, square_name, squares_of
from tablebase.errors import CounterError, IllegalMoveError, IllegalPositionError, NotationError, quote

GAME_TYPE = "25,W,8,8,A0,0"
"""GameType tag of Russian draughts in PDN 3.0: game 25, White first, 8x8, algebraic squares."""


class Numbering(StrEnum):
    """One of PDN's three numberings of the squares, named by the square with number 1."""

    A1 = "a1"
    """PDN (N0) and pydraughts: 1-4 are the first row from White's left."""
    B8 = "b8"
    """PDN's N2, lidraughts, py-draughts and CheckerBoard: 1-4 are the last row from White's left."""
    G1 = "g1"
    """PDN's N1: 1-4 are the first row from White's right."""

    def square(self, number: int) -> int:
        """Return the square 0..31 that has the given number, 1..32.

        Raises:
            NotationError: the number is not one of 1..32.
        """
        if not 1 <= number <= 32:
            raise NotationError(f"{number} is not a square; squares are numbered 1 to 32")
        row, column = divmod(number - 1, 4)
        if self is Numbering.A1:
            return 4 * row + column
        if self is Numbering.B8:
            return 4 * (7 - row) + column
        return 4 * row + (3 - column)

    def number(self, square: int) -> int:
        """Return the number 1..32 of a square 0..31: the inverse of `square`."""
        return next(number for number in range(1, 33) if self.square(number) == square)


_COLORS = {"W": Color.WHITE, "w": Color.WHITE, "B": Color.BLACK, "b": Color.BLACK}
_CLOCK_FIELD = re.compile(r"[HF][0-9]{1,6}")
# Written by their names, because readers cannot tell them from Latin letters.
_LOOK_ALIKES = str.maketrans(
    {
        "\N{CYRILLIC SMALL LETTER A}": "a",
        "\N{CYRILLIC SMALL LETTER ES}": "c",
        "\N{CYRILLIC SMALL LETTER IE}": "e",
        "\N{CYRILLIC SMALL LETTER HA}": "x",
        "\N{CYRILLIC CAPITAL LETTER A}": "A",
        "\N{CYRILLIC CAPITAL LETTER VE}": "B",
        "\N{CYRILLIC CAPITAL LETTER ES}": "C",
        "\N{CYRILLIC CAPITAL LETTER IE}": "E",
        "\N{CYRILLIC CAPITAL LETTER EN}": "H",
        "\N{CYRILLIC CAPITAL LETTER HA}": "X",
        "\N{CYRILLIC CAPITAL LETTER KA}": "K",
    }
)
_NUMBER = re.compile(r"[0-9]{1,2}")
_RANGE = re.compile(r"([0-9]{1,2})\s*-\s*([0-9]{1,2})")
_MOVE = re.compile(r"[a-h0-9]+(\s*[-:x]\s*[a-h0-9]+)+")
_MOVE_IN_LETTERS = re.compile(r"([a-h])([1-8]?)((?:(?:\s*[-:x]\s*)?[a-h][1-8])+)\s*[:x]?")


def find_numbering(numbering: Numbering | str | None) -> Numbering | None:
    """Return the numbering of that name; None for None.

    Raises:
        NotationError: there is no such numbering; the message lists the numberings.
    """
    try:
        return None if numbering is None else Numbering(numbering)
    except ValueError:
        names = ", ".join(repr(known.value) for known in Numbering)
        raise NotationError(
            f"{numbering!r} is not a numbering of the squares; name one by its square 1: {names}"
        ) from None


def in_latin_letters(text: str) -> str:
    """Replace Cyrillic letters by the Latin ones that look the same, for users of both keyboards."""
    return text.translate(_LOOK_ALIKES)


def _read_square(text: str, numbering: Numbering | None) -> int:
    if not _NUMBER.fullmatch(text):
        return parse_square(text)
    if numbering is None:
        raise NotationError(
            f"square {text} is a number, and numbers mean different squares in different programs; "
            "write squares like a1, or name the numbering by its square 1: 'a1' (PDN, pydraughts), "
            "'b8' (lidraughts, py-draughts, CheckerBoard) or 'g1' (PDN's N1)"
        )
    return numbering.square(int(text))


def format_fen(position: Position, numbering: Numbering | str | None = None) -> str:
    """Return the FEN of a position, e.g. `W:WKa1,c3:BKh8`; equal positions have equal FENs.

    Args:
        position: the position.
        numbering: the numbering for numeric squares, a `Numbering` or its text; None writes `a1`.

    Raises:
        NotationError: there is no such numbering.
    """
    numbers = find_numbering(numbering)
    turn = "W" if position.turn is Color.WHITE else "B"
    white = _format_side(position.wm, position.wk, numbers)
    black = _format_side(position.bm, position.bk, numbers)
    return f"{turn}:W{white}:B{black}"


def _format_side(men: int, kings: int, numbering: Numbering | None) -> str:
    return ",".join(["K" + name for name in _names(kings, numbering)] + _names(men, numbering))


def _names(squares: int, numbering: Numbering | None) -> list[str]:
    if numbering is None:
        return [SQUARE_NAMES[square] for square in squares_of(squares)]
    return [str(number) for number in sorted(map(numbering.number, squares_of(squares)))]


def parse_fen(text: str, numbering: Numbering | str | None = None) -> Position:
    """Return the position of a FEN.

    The sides may come in either order, and a side may have no pieces (`B` alone). The letters of the sides
    may be in either case. Blanks around every part, one dot at the end, and Cyrillic letters that look like
    Latin ones are accepted. With a numbering, numbers and ranges of numbers (`1-12`, `K1-4`) are accepted.

    Counters of draw rules (`C29,12,0,0,1`) and the fields `H0` and `F1` of lidraughts may follow the pieces.
    They are checked and ignored; `Clock.from_fen` reads them.

    Args:
        text: the FEN.
        numbering: the numbering of numeric squares, a `Numbering` or its text; None refuses them.

    Raises:
        NotationError: the text is not a FEN (the message quotes the wrong part), or there is no such
            numbering.
        IllegalPositionError: a square holds two pieces, or a man stands on its own last row.
    """
    numbers = find_numbering(numbering)
    body = in_latin_letters(text).strip().removesuffix(".")
    turn_text, *fields = [part.strip() for part in body.split(":")]
    turn = _COLORS.get(turn_text)
    if turn is None:
        raise NotationError(
            f"FEN {quote(text)} begins with {quote(turn_text)}; it must begin with the side to move, W: or B:"
        )
    pieces: dict[Color, tuple[int, int]] = {}
    for field in fields[:2]:
        color = _COLORS.get(field[:1])
        if color is None:
            raise NotationError(
                f"field {quote(field)} of FEN {quote(text)} is not a list of pieces; "
                "it must begin with W or B, as in WKa1,c3"
            )
        if color in pieces:
            raise NotationError(f"FEN {quote(text)} lists the {color} pieces twice; list each side once")
        pieces[color] = _parse_side(field[1:].strip(), color, numbers)
    for color in Color:
        if color not in pieces:
            letter = color[0].upper()
            raise NotationError(
                f"FEN {quote(text)} has no field for {color}; add :{letter} even if it has no pieces"
            )
    for field in fields[2:]:
        if field.startswith("C"):
            _check_counters(field, text)
        elif not _CLOCK_FIELD.fullmatch(field):
            raise NotationError(
                f"field {quote(field)} after the pieces of FEN {quote(text)} is unknown; "
                "remove it (only counters may follow the pieces: H or F and a number, or C and five numbers)"
            )
    return Position(*pieces[Color.WHITE], *pieces[Color.BLACK], turn)


def _check_counters(field: str, fen: str) -> None:
    try:
        Counters.from_field(field)
    except CounterError as error:
        raise NotationError(f"FEN {quote(fen)}: {error}") from None


def _parse_side(text: str, color: Color, numbering: Numbering | None) -> tuple[int, int]:
    """Return the men and the kings of one side, as two sets."""
    men = kings = 0
    for item in text.split(",") if text else []:
        name = item.strip()
        if not name:
            raise NotationError(f"{quote(text)}, the {color} pieces, has a comma with no piece beside it")
        is_king = name.startswith("K")
        squares = _read_squares(name[1:].strip() if is_king else name, numbering, color, item)
        for square in squares:
            if (men | kings) >> square & 1:
                raise IllegalPositionError(
                    f"more than one piece on {square_name(square)}: "
                    f"it is named twice among the {color} pieces; a square holds one piece at most"
                )
            if is_king:
                kings |= 1 << square
            else:
                men |= 1 << square
    return men, kings


def _read_squares(name: str, numbering: Numbering | None, color: Color, item: str) -> list[int]:
    try:
        ends = _RANGE.fullmatch(name)
        if ends is None:
            return [_read_square(name, numbering)]
        for end in ends.groups():
            _read_square(end, numbering)
        first, last = map(int, ends.groups())
        if first > last:
            raise NotationError(f"range {first}-{last} runs backward; write the smaller number first")
        return [_read_square(str(number), numbering) for number in range(first, last + 1)]
    except NotationError as error:
        raise NotationError(f"{color} piece {quote(item.strip())}: {error}") from None


def format_move(position: Position, move: Move, numbering: Numbering | str | None = None) -> str:
    """Return the notation of a move: `c3-d4`, `c3:e5`, or the full path if start and end are ambiguous.

    Args:
        position: the position before the move.
        move: the move.
        numbering: the numbering for numeric squares (`10-14`, `10x19`), a `Numbering` or its text; None
            writes `c3`.

    Raises:
        IllegalMoveError: the move is not legal in the position.
        NotationError: there is no such numbering.
    """
    legal, numbers = find_legal(position, move), find_numbering(numbering)
    if numbers is None:
        return str(legal)
    squares = legal.path if legal.ambiguous else (legal.start, legal.end)
    return ("x" if legal.captured else "-").join(str(numbers.number(square)) for square in squares)


def parse_move(position: Position, text: str, numbering: Numbering | str | None = None) -> Move:
    """Return the legal move of a position that a text describes.

    >>> position = Position.from_fen("W:WKa1,c3:Bd4,d6")
    >>> move = parse_move(position, "c3:e5:c7")
    >>> str(move), move.captured == (parse_square("d4"), parse_square("d6"))
    ('c3:c7', True)
    >>> parse_move(position, "c:c7") == move
    True

    Squares may be joined by `:`, `x` or `-`, whatever the kind of the move, with blanks around them.
    Algebraic squares may also be joined directly (`c3d4`), and a `:` or `x` may follow the last one. Cyrillic
    letters that look like Latin ones are accepted.

    A capture may be given by start and end, or with any of its landing squares along any route, if only one
    move fits. A move that lands on exactly the given squares is preferred. The letter of the start square is
    enough (`cd4`, `c:e5`) if only one move fits.

    Args:
        position: the position before the move.
        text: the move, without number or annotation.
        numbering: the numbering of numeric squares, a `Numbering` or its text; None refuses them.

    Raises:
        NotationError: the text is not a move, or it fits several moves, which the message lists, or there is
            no such numbering.
        IllegalMoveError: the move is not legal; the message lists the legal moves.
    """
    numbers = find_numbering(numbering)
    stripped = in_latin_letters(text).strip()
    in_letters = _MOVE_IN_LETTERS.fullmatch(stripped)
    if in_letters is not None:
        names = re.findall("[a-h][1-8]", stripped)
    elif _MOVE.fullmatch(stripped):
        names = [name.strip() for name in re.split("[-:x]", stripped)]
    else:
        raise NotationError(f"{quote(text)} is not a move; write moves like c3-d4 or c3:e5")
    try:
        squares = [_read_square(name, numbers) for name in names]
    except NotationError as error:
        raise NotationError(f"move {quote(text)}: {error}") from None
    if in_letters is None or in_letters[2]:
        fitting = moves_along(position, squares)
    else:
        starts = sorted({move.start for move in legal_moves(position)})
        of_file = [start for start in starts if square_name(start)[0] == in_letters[1]]
        fitting = [move for start in of_file for move in moves_along(position, (start, *squares))]
    if len(fitting) == 1:
        return fitting[0]
    _refuse_move(position, stripped, fitting)


def _refuse_move(position: Position, text: str, fitting: list[Move]) -> NoReturn:
    if fitting:
        routes = ", ".join(str(move) for move in fitting)
        raise NotationError(f"move {quote(text)} is ambiguous; write one of {routes}")
    legal = describe_moves(legal_moves(position))
    raise IllegalMoveError(f"{quote(text)} is not a legal move in {format_fen(position)}; {legal}")


_PIECES = "wWbB"
_EMPTY = "e"
_POSITION = re.compile(rf"[WB][{_PIECES}{_EMPTY}]{{{SQUARES}}}")
_HUB_MOVE = re.compile(r"[0-9]{1,2}(-[0-9]{1,2}|(x[0-9]{1,2}){2,})")


def format_hub_position(position: Position, numbering: Numbering) -> str:
    """Return a position in the form of the Hub protocol, 33 letters."""
    letters = [_EMPTY] * SQUARES
    for letter, squares in zip(_PIECES, (position.wm, position.wk, position.bm, position.bk), strict=True):
        for number in range(1, SQUARES + 1):
            if squares >> numbering.square(number) & 1:
                letters[number - 1] = letter
    return ("W" if position.turn is Color.WHITE else "B") + "".join(letters)


def parse_hub_position(text: str, numbering: Numbering) -> Position:
    """Return the position of a text in the form of the Hub protocol.

    Raises:
        NotationError: the text is not a position of this board.
        IllegalPositionError: a man stands on its own last row.
    """
    if not _POSITION.fullmatch(text):
        raise NotationError(
            f"{quote(text)} is not a position of this board; write W or B for the side to move and {SQUARES} "
            "letters, w, b, W, B or e"
        )
    sets = dict.fromkeys(_PIECES + _EMPTY, 0)
    for number, letter in enumerate(text[1:], start=1):
        sets[letter] |= 1 << numbering.square(number)
    wm, wk, bm, bk = (sets[letter] for letter in _PIECES)
    return Position(wm, wk, bm, bk, Color.WHITE if text[0] == "W" else Color.BLACK)


def format_hub_move(move: Move, numbering: Numbering) -> str:
    """Return a move in the form of the Hub protocol, captured pieces by rising numbers."""
    start, end = numbering.number(move.start), numbering.number(move.end)
    if not move.captured:
        return f"{start}-{end}"
    return "x".join(map(str, (start, end, *sorted(map(numbering.number, move.captured)))))


def parse_hub_move(position: Position, text: str, numbering: Numbering) -> Move:
    """Return the legal move of a position that a text in the form of the Hub protocol describes.

    Raises:
        NotationError: the text is not a move of the Hub protocol.
        IllegalMoveError: the move is not legal; the message lists the legal moves.
    """
    if not _HUB_MOVE.fullmatch(text):
        raise NotationError(
            f"{quote(text)} is not a move of the Hub protocol; write moves like 10-14, or "
            "10x26x14x22: start, end, captured pieces"
        )
    start, end, *captured = (numbering.square(int(number)) for number in re.split("[-x]", text))
    legal = legal_moves(position)
    for move in legal:
        if (move.start, move.end) == (start, end) and sorted(move.captured) == sorted(captured):
            return move
    raise IllegalMoveError(
        f"{quote(text)} is not a legal move in {position.to_fen()} where {numbering} is square 1; "
        f"{describe_moves(legal)}"
    )
