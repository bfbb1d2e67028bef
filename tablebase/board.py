"""The board: its squares, lines and sides, and `Position`, the value that everything else is about.

Squares are numbered 0..31 row by row as White sees them: a1=0, c1=1, e1=2, g1=3, b2=4, ... h8=31. A *set* of
squares is an int whose bit s is square s.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from tablebase.errors import IllegalPositionError, NotationError, quote

if TYPE_CHECKING:
    from tablebase.notation import Numbering
    from tablebase.rules import Move

SQUARES = 32
ALL_SQUARES = 0xFFFF_FFFF
FIRST_ROW = 0x0000_000F
LAST_ROW = 0xF000_0000


class Color(StrEnum):
    """The two sides; the text of one is `white` or `black`."""

    WHITE = "white"
    BLACK = "black"

    @property
    def other(self) -> Color:
        """The opponent."""
        return Color.BLACK if self is Color.WHITE else Color.WHITE


class Piece(StrEnum):
    """The two kinds of pieces; the text of one is `man` or `king`."""

    MAN = "man"
    KING = "king"


def _row_and_column(square: int) -> tuple[int, int]:
    row, place = divmod(square, 4)
    return row, 2 * place + row % 2


def _ray(square: int, up: int, right: int) -> tuple[int, ...]:
    row, column = _row_and_column(square)
    squares = []
    while 0 <= (row := row + up) < 8 and 0 <= (column := column + right) < 8:
        squares.append(4 * row + column // 2)
    return tuple(squares)


SQUARE_NAMES: tuple[str, ...] = tuple(
    "abcdefgh"[column] + str(row + 1) for row, column in map(_row_and_column, range(SQUARES))
)
"""The algebraic name of each square, by number."""

_SQUARE_BY_NAME = {name: square for square, name in enumerate(SQUARE_NAMES)}

UP_RAYS: tuple[tuple[tuple[int, ...], ...], ...] = tuple(
    (_ray(square, 1, -1), _ray(square, 1, 1)) for square in range(SQUARES)
)
"""For each square, the squares that follow it up-left and up-right as White sees them, nearest first."""

DOWN_RAYS: tuple[tuple[tuple[int, ...], ...], ...] = tuple(
    (_ray(square, -1, -1), _ray(square, -1, 1)) for square in range(SQUARES)
)
"""For each square, the squares that follow it down-left and down-right, nearest first."""

RAYS: tuple[tuple[tuple[int, ...], ...], ...] = tuple(
    up + down for up, down in zip(UP_RAYS, DOWN_RAYS, strict=True)
)
"""For each square, its four rays: up-left, up-right, down-left, down-right. A ray off the board is empty."""

MAIN_ROAD: int = sum(1 << square for square in (0, *_ray(0, 1, 1)))
"""The long diagonal a1-h8, as a set."""

_REVERSED_BYTES = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


def square_name(square: int) -> str:
    """The algebraic name of square 0..31, e.g. `a1` for 0. Raises IndexError for any other number."""
    if square < 0:
        raise IndexError(f"no square has the number {square}; squares are 0..31")
    return SQUARE_NAMES[square]


def parse_square(name: str) -> int:
    """The number 0..31 of an algebraic square, e.g. 0 for `a1`.

    Raises:
        NotationError: the text names no square of the board, or a light one, on which no piece ever stands.
    """
    square = _SQUARE_BY_NAME.get(name)
    if square is not None:
        return square
    if len(name) == 2 and name[0] in "abcdefgh" and name[1] in "12345678":
        raise NotationError(
            f"{quote(name)} is a light square; pieces stand on dark squares only, like a1 or b2"
        )
    raise NotationError(f"{quote(name)} is no square; squares are written like a1 or h8")


def squares_of(squares: int) -> Iterator[int]:
    """The numbers of the squares in a set, rising."""
    while squares:
        lowest = squares & -squares
        yield lowest.bit_length() - 1
        squares ^= lowest


def reverse(squares: int) -> int:
    """The set as it stands on the board turned by 180 degrees: square s becomes 31 - s."""
    return int.from_bytes(squares.to_bytes(4, "little").translate(_REVERSED_BYTES), "big")


def _names(squares: int) -> str:
    return ", ".join(SQUARE_NAMES[square] for square in squares_of(squares))


@dataclass(frozen=True, slots=True)
class Position:
    """Where the pieces stand and whose turn it is. Immutable; equal by value; usable as a dictionary key.

    Attributes:
        wm: White's men, a set of squares.
        wk: White's kings.
        bm: Black's men.
        bk: Black's kings.
        turn: the side to move.

    Raises:
        IllegalPositionError: two pieces on one square, a square beyond the 32, or a man on its own last row,
            where it would have become a king.
    """

    wm: int
    wk: int
    bm: int
    bk: int
    turn: Color = Color.WHITE

    def __post_init__(self) -> None:
        wm, wk, bm, bk = self.wm, self.wk, self.bm, self.bk
        if not (type(wm) is type(wk) is type(bm) is type(bk) is int and type(self.turn) is Color):
            self._normalize()
            wm, wk, bm, bk = self.wm, self.wk, self.bm, self.bk
        every = wm | wk | bm | bk
        if (
            not 0 <= every <= ALL_SQUARES
            or every.bit_count() != wm.bit_count() + wk.bit_count() + bm.bit_count() + bk.bit_count()
            or wm & LAST_ROW
            or bm & FIRST_ROW
        ):
            self._refuse()

    def _normalize(self) -> None:
        """Turn numpy integers and `"white"` into the types that the other methods rely on."""
        for name in ("wm", "wk", "bm", "bk"):
            object.__setattr__(self, name, operator.index(getattr(self, name)))
        try:
            object.__setattr__(self, "turn", Color(self.turn))
        except ValueError:
            raise IllegalPositionError(
                f"the turn is {self.turn!r}; it must be Color.WHITE or Color.BLACK"
            ) from None

    def _refuse(self) -> None:
        seen = 0
        for name in ("wm", "wk", "bm", "bk"):
            squares = getattr(self, name)
            if not 0 <= squares <= ALL_SQUARES:
                raise IllegalPositionError(
                    f"{name} = {squares:#x} is no set of squares; "
                    "a set is an int of 32 bits, bit 0 = a1 ... bit 31 = h8"
                )
            if seen & squares:
                raise IllegalPositionError(
                    f"more than one piece on {_names(seen & squares)}; a square holds one piece at most"
                )
            seen |= squares
        for color, stuck in (("white", self.wm & LAST_ROW), ("black", self.bm & FIRST_ROW)):
            if stuck:
                raise IllegalPositionError(
                    f"{color} man on {_names(stuck)}, its own last row, "
                    "where it would have become a king; put a king there, or the man elsewhere"
                )

    @classmethod
    def start(cls) -> Position:
        """The position in which a game begins: twelve men each on the three rows nearest, White to move."""
        return cls(wm=0x0000_0FFF, wk=0, bm=0xFFF0_0000, bk=0, turn=Color.WHITE)

    @classmethod
    def from_fen(cls, fen: str, numbering: Numbering | str | None = None) -> Position:
        """Read a FEN, as `tablebase.notation.parse_fen` does."""
        from tablebase.notation import parse_fen

        return parse_fen(fen, numbering)

    def to_fen(self, numbering: Numbering | str | None = None) -> str:
        """The FEN of this position, e.g. `W:WKa1,c3:BKh8`, as `tablebase.notation.format_fen` writes it.
        Equal positions have equal texts."""
        from tablebase.notation import format_fen

        return format_fen(self, numbering)

    def flip(self) -> Position:
        """The same position with the board turned, colours swapped, and the other side to move."""
        return Position(
            reverse(self.bm), reverse(self.bk), reverse(self.wm), reverse(self.wk), self.turn.other
        )

    def legal_moves(self) -> list[Move]:
        """The moves the rules allow here, as `tablebase.rules.legal_moves` gives them."""
        from tablebase.rules import legal_moves

        return legal_moves(self)

    def play(self, move: Move) -> Position:
        """The position after a move.

        Raises:
            IllegalMoveError: the move is not legal here.
        """
        from tablebase.rules import play

        return play(self, move)

    @property
    def pieces(self) -> int:
        """How many pieces stand on the board, both sides together."""
        return self.occupied.bit_count()

    @property
    def occupied(self) -> int:
        """Every square with a piece on it, as a set."""
        return self.wm | self.wk | self.bm | self.bk

    # The four sets as the side to move sees them from its own side of the board.

    @property
    def own_men(self) -> int:
        """The men of the side to move; the board turned, where needed, so that they move up."""
        return self.wm if self.turn is Color.WHITE else reverse(self.bm)

    @property
    def own_kings(self) -> int:
        """The kings of the side to move, on the board turned as for `own_men`."""
        return self.wk if self.turn is Color.WHITE else reverse(self.bk)

    @property
    def other_men(self) -> int:
        """The men of the side that is not to move, on the board turned as for `own_men`."""
        return self.bm if self.turn is Color.WHITE else reverse(self.wm)

    @property
    def other_kings(self) -> int:
        """The kings of the side that is not to move, on the board turned as for `own_men`."""
        return self.bk if self.turn is Color.WHITE else reverse(self.wk)

    def __str__(self) -> str:
        """The board as White sees it: `w` and `b` are men, `W` and `B` kings, `.` an empty dark square."""
        cells = [[" "] * 8 for _ in range(8)]
        for square in range(SQUARES):
            row, column = _row_and_column(square)
            bit = 1 << square
            cells[row][column] = next(
                (
                    letter
                    for letter, squares in zip("wWbB", (self.wm, self.wk, self.bm, self.bk), strict=True)
                    if squares & bit
                ),
                ".",
            )
        lines = [f"{row + 1} {' '.join(cells[row])}".rstrip() for row in reversed(range(8))]
        return "\n".join([*lines, "  a b c d e f g h", f"{self.turn} to move"])
