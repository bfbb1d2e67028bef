"""Squares of the board, the lines that pieces move along, and sets of squares.

Squares are numbered 0..31 row by row as White sees them: a1=0, c1=1, e1=2, g1=3, b2=4, ... h8=31. A *set* of
squares is an int whose bit s is square s.
"""

from collections.abc import Iterator

from tablebase.errors import NotationError, quote

SQUARES = 32
"""Number of dark squares, on which alone pieces stand."""

ALL_SQUARES = 0xFFFF_FFFF
FIRST_ROW = 0x0000_000F
LAST_ROW = 0xF000_0000

OWN_MEN_SQUARES = ALL_SQUARES & ~LAST_ROW
"""Squares that men moving up may stand on, as a set."""
OTHER_MEN_SQUARES = ALL_SQUARES & ~FIRST_ROW
"""Squares that men moving down may stand on, as a set."""


def row_and_column(square: int) -> tuple[int, int]:
    """Return the row and the column of square 0..31, each 0..7 from a1."""
    row, number = divmod(square, 4)
    return row, 2 * number + row % 2


def _ray(square: int, up: int, right: int) -> tuple[int, ...]:
    row, column = row_and_column(square)
    squares = []
    while 0 <= (row := row + up) < 8 and 0 <= (column := column + right) < 8:
        squares.append(4 * row + column // 2)
    return tuple(squares)


SQUARE_NAMES: tuple[str, ...] = tuple(
    "abcdefgh"[column] + str(row + 1) for row, column in map(row_and_column, range(SQUARES))
)
"""Algebraic name of each square, by number."""

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
    """Return the algebraic name of square 0..31, e.g. `a1` for 0.

    Raises:
        IndexError: the number is not one of 0..31.
    """
    if square < 0:
        raise IndexError(f"no square has the number {square}; squares are 0..31")
    return SQUARE_NAMES[square]


def parse_square(name: str) -> int:
    """Return the number 0..31 of an algebraic square, e.g. 0 for `a1`.

    Raises:
        NotationError: the text is not the name of a dark square.
    """
    square = _SQUARE_BY_NAME.get(name)
    if square is not None:
        return square
    if len(name) == 2 and name[0] in "abcdefgh" and name[1] in "12345678":
        raise NotationError(
            f"{quote(name)} is a light square; pieces stand on dark squares only, like a1 or b2"
        )
    raise NotationError(f"{quote(name)} is not a square; write squares like a1 or h8")


def squares_of(squares: int) -> Iterator[int]:
    """Yield the numbers of the squares in a set, in rising order."""
    while squares:
        lowest = squares & -squares
        yield lowest.bit_length() - 1
        squares ^= lowest


def reverse(squares: int) -> int:
    """Return the set on the board turned by 180 degrees: square s becomes 31 - s."""
    return int.from_bytes(squares.to_bytes(4, "little").translate(_REVERSED_BYTES), "big")
