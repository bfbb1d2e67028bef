"""Positions, moves and the legal moves of Russian draughts.

Squares are numbered 0..31 row by row as White sees them: a1=0, c1=1, e1=2, g1=3, b2=4, ... h8=31. A *set* of
squares is an int whose bit s is square s.

Numbers in brackets are articles of the FMJD's Annex 1 (November 2015), the rules of international draughts.
Of those named, the Russian game differs in the two that are marked so, and shares the rest.

- **moving**: a man moves one square forward [3.4]; a king any distance along a free diagonal [3.9]; own
  pieces are never jumped [4.7].
- **crowning**: a man that comes to rest on the last row is a king from the next move on [3.5]; one that
  reaches it *while capturing* is a king at once and goes on capturing as one, if it can [unlike 4.15].
- **capturing**: a man jumps a neighbouring enemy piece, forward or backward [4.1], to the empty square
  behind it [4.2]; a king jumps one enemy piece at any distance, to any free square behind it up to the next
  piece [4.3].
- **compulsion**: who can capture must [4.2, 4.3]; any capture may be chosen, however few it takes [unlike
  4.13]; a begun one is carried on to its end [4.5].
- **the king's landing**: of the squares behind a captured piece a king must take one from where the capture
  goes on, in whatever direction, the same line included, if there is one [4.6].
- **Turkish stroke**: captured pieces leave the board when the whole move is over [4.11]; until then they
  may not be jumped again and stand in the way; empty squares may be crossed again [4.8]. The square that
  the capturing piece started from counts as empty.
- **the end**: who has no move, blocked or without pieces, has lost [7.2.2, 7.2.3].
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tablebase.errors import IllegalMoveError, IllegalPositionError, NotationError, quote

if TYPE_CHECKING:
    from tablebase.board.notation import Numbering


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
        """Read a FEN, as `tablebase.board.notation.parse_fen` does."""
        from tablebase.board.notation import parse_fen

        return parse_fen(fen, numbering)

    def to_fen(self, numbering: Numbering | str | None = None) -> str:
        """The FEN of this position, e.g. `W:WKa1,c3:BKh8`. Equal positions have equal texts."""
        from tablebase.board.notation import format_fen

        return format_fen(self, numbering)

    def flip(self) -> Position:
        """The same position with the board turned, colours swapped, and the other side to move."""
        return Position(
            reverse(self.bm), reverse(self.bk), reverse(self.wm), reverse(self.wk), self.turn.other
        )

    def legal_moves(self) -> list[Move]:
        """The moves the rules allow here, as `tablebase.board.position.legal_moves` gives them."""

        return legal_moves(self)

    def play(self, move: Move) -> Position:
        """The position after a move.

        Raises:
            IllegalMoveError: the move is not legal here.
        """

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


@dataclass(frozen=True, slots=True)
class Move:
    """One turn of one player, from where the piece stood to where it comes to rest.

    Attributes:
        path: the squares the piece stands on, in order: its start, every landing square, its end. Where
            several routes lead to the same position this is one of them.
        captured: the squares of the captured pieces, in the order of `path`; empty for a quiet move.
        piece: what the piece was before the move.
        promotes: whether a man becomes a king.
        ambiguous: whether another move of the same position has the same start and end, so that only the full
            path tells them apart. No part of a move's identity.
    """

    path: tuple[int, ...]
    captured: tuple[int, ...]
    piece: Piece
    promotes: bool
    ambiguous: bool = field(default=False, compare=False)

    @property
    def start(self) -> int:
        """The square the piece leaves."""
        return self.path[0]

    @property
    def end(self) -> int:
        """The square the piece comes to rest on; that it started from, where a capture closes a ring."""
        return self.path[-1]

    @property
    def is_capture(self) -> bool:
        """Whether the move captures anything."""
        return bool(self.captured)

    @property
    def zeroing(self) -> bool:
        """Whether the move sets the 15-king-moves count back to nought: a capture or a man's move."""
        return bool(self.captured) or self.piece is Piece.MAN

    @property
    def balance_change(self) -> bool:
        """Whether the move changes the balance of forces: a capture or a promotion."""
        return bool(self.captured) or self.promotes

    def __str__(self) -> str:
        """The notation: `c3-d4`, `c3:e5`, or the full path where start and end are ambiguous."""
        squares = self.path if self.ambiguous else (self.path[0], self.path[-1])
        return (":" if self.captured else "-").join([SQUARE_NAMES[square] for square in squares])


_Jumps: TypeAlias = list[tuple[int, list[int]]]  # captured square, landing squares nearest first


class _Side(NamedTuple):
    """A position as the side to move needs it; all sets as they stand on White's board."""

    men: int
    kings: int
    enemies: int
    empty: int
    forward: tuple[tuple[tuple[int, ...], ...], ...]
    crowning_row: int


class _Capture(NamedTuple):
    """A capture carried to its end."""

    path: tuple[int, ...]
    captured: tuple[int, ...]
    is_king: bool


def _side_to_move(position: Position) -> _Side:
    wm, wk, bm, bk = position.wm, position.wk, position.bm, position.bk
    empty = ALL_SQUARES & ~(wm | wk | bm | bk)
    if position.turn is Color.WHITE:
        return _Side(wm, wk, bm | bk, empty, UP_RAYS, LAST_ROW)
    return _Side(bm, bk, wm | wk, empty, DOWN_RAYS, FIRST_ROW)


def _jumps(square: int, is_king: bool, enemies: int, empty: int) -> _Jumps:
    """The single jumps of a piece: each captured square with the squares behind it that are free to land on.

    `enemies` are the pieces that may still be captured. Whatever is neither among them nor `empty` stops the
    piece: its own side's pieces, and pieces captured earlier in the same move.
    """
    jumps = []
    for ray in RAYS[square]:
        line = iter(ray)
        for victim in line:
            if empty >> victim & 1:
                if is_king:
                    continue
                break
            if enemies >> victim & 1:
                landings = []
                for landing in line:
                    if not empty >> landing & 1:
                        break
                    landings.append(landing)
                    if not is_king:
                        break
                if landings:
                    jumps.append((victim, landings))
            break
    return jumps


def _captures_of(start: int, is_king: bool, side: _Side, via: tuple[int, ...] = ()) -> list[_Capture]:
    """The captures of one piece, each carried to its end: one route to every distinct result.

    With `via`, only those with a route that lands on all these squares in this order and rests on the last.
    """
    # Only the start square joins the empty ones here: captured pieces leave when the whole move is over.
    empty = side.empty | 1 << start
    captures: list[_Capture] = []
    seen: set[tuple[int, bool, int, int]] = set()
    landmarks = via[:-1]

    def carry_on(
        path: tuple[int, ...],
        captured: tuple[int, ...],
        is_king: bool,
        enemies: int,
        passed: int,
        jumps: _Jumps,
    ) -> None:
        square = path[-1]
        if not jumps:
            if not via or (passed == len(landmarks) and square == via[-1]):
                captures.append(_Capture(path, captured, is_king))
            return
        if captured and passed < len(landmarks) and square == landmarks[passed]:
            passed += 1
        for victim, landings in jumps:
            remaining = enemies & ~(1 << victim)
            going_on: list[tuple[int, bool, _Jumps]] = []
            resting: list[tuple[int, bool, _Jumps]] = []
            for landing in landings:
                king_now = is_king or bool(side.crowning_row >> landing & 1)
                further = _jumps(landing, king_now, remaining, empty)
                (going_on if further else resting).append((landing, king_now, further))
            for landing, king_now, further in going_on or resting:
                # A second route to the same square with the same captures has nothing new to find.
                state = (landing, king_now, remaining, passed)
                if state not in seen:
                    seen.add(state)
                    carry_on((*path, landing), (*captured, victim), king_now, remaining, passed, further)

    first = _jumps(start, is_king, side.enemies, empty)
    if first:
        carry_on((start,), (), is_king, side.enemies, 0, first)
    return captures


def _captures(side: _Side) -> Iterator[Move]:
    for start in squares_of(side.men | side.kings):
        is_king = bool(side.kings >> start & 1)
        for capture in _captures_of(start, is_king, side):
            yield _as_move(capture, is_king)


def _as_move(capture: _Capture, was_king: bool) -> Move:
    piece = Piece.KING if was_king else Piece.MAN
    return Move(capture.path, capture.captured, piece, capture.is_king and not was_king)


def _quiet_moves(side: _Side) -> list[Move]:
    moves = []
    empty = side.empty
    for start in squares_of(side.men | side.kings):
        if side.kings >> start & 1:
            for ray in RAYS[start]:
                for end in ray:
                    if not empty >> end & 1:
                        break
                    moves.append(Move((start, end), (), Piece.KING, False))
        else:
            for ray in side.forward[start]:
                if ray and empty >> ray[0] & 1:
                    end = ray[0]
                    moves.append(Move((start, end), (), Piece.MAN, bool(side.crowning_row >> end & 1)))
    return moves


def has_capture(position: Position) -> bool:
    """Whether the side to move can capture, and so must."""
    side = _side_to_move(position)
    return any(_jumps(king, True, side.enemies, side.empty) for king in squares_of(side.kings)) or any(
        _jumps(man, False, side.enemies, side.empty) for man in squares_of(side.men)
    )


def legal_moves(position: Position) -> list[Move]:
    """The moves the rules allow, one for each position they lead to; none when the side to move has lost.

    The order is always the same: by start square, then by direction, nearest squares first.
    """
    return list(_legal_moves(position))


# Probing a position, judging its game and searching its moves all need them, one after the other.
@lru_cache(maxsize=1024)
def _legal_moves(position: Position) -> list[Move]:
    side = _side_to_move(position)
    captures = list(_captures(side))
    if not captures:
        return _quiet_moves(side)
    if len(captures) == 1:
        return captures
    by_result: dict[Position, Move] = {}
    for move in captures:
        by_result.setdefault(position_after(position, move), move)
    with_these_ends = Counter((move.start, move.end) for move in captures)
    return [
        replace(move, ambiguous=True) if with_these_ends[move.start, move.end] > 1 else move
        for move in by_result.values()
    ]


def moves_along(position: Position, squares: Iterable[int]) -> list[Move]:
    """The legal moves that have a route along the given squares: start, any landing squares in between, end.

    A route that lands on exactly these squares decides alone; if there is none, every move counts with a
    route that lands on them in this order, among others. So a capture's start and end alone are enough where
    they mean one move only.
    """
    start, *via = squares
    if not via:
        return []
    legal = legal_moves(position)
    if not legal or not legal[0].is_capture:
        return [move for move in legal if move.path == (start, *via)]
    side = _side_to_move(position)
    if not (side.men | side.kings) >> start & 1:
        return []
    was_king = bool(side.kings >> start & 1)
    found = _captures_of(start, was_king, side, tuple(via))
    exact = [capture for capture in found if len(capture.path) == 1 + len(via)]
    results = {position_after(position, _as_move(capture, was_king)) for capture in exact or found}
    return [move for move in legal if position_after(position, move) in results]


def position_after(position: Position, move: Move) -> Position:
    """The position after a move of `legal_moves(position)`. Unchecked; `play` takes a move from anywhere."""
    gone = 0
    for square in move.captured:
        gone |= 1 << square
    start, end = 1 << move.path[0], 1 << move.path[-1]
    white = position.turn is Color.WHITE
    men, kings = (position.wm, position.wk) if white else (position.bm, position.bk)
    if move.piece is Piece.KING:
        kings = kings & ~start | end
    else:
        men &= ~start
        if move.promotes:
            kings |= end
        else:
            men |= end
    if white:
        return Position(men, kings, position.bm & ~gone, position.bk & ~gone, Color.BLACK)
    return Position(position.wm & ~gone, position.wk & ~gone, men, kings, Color.WHITE)


def play(position: Position, move: Move) -> Position:
    """The position after a move, which may take any route.

    Raises:
        IllegalMoveError: the move is not legal here; the message lists the moves that are.
    """
    return position_after(position, find_legal(position, move))


def find_legal(position: Position, move: Move) -> Move:
    """The legal move with the start, end, captured pieces and promotion of the given one, on whatever route.

    Raises:
        IllegalMoveError: there is none; the message lists the legal moves.
    """
    legal = legal_moves(position)
    for other in legal:
        if (
            move.start == other.start
            and move.end == other.end
            and move.piece is other.piece
            and move.promotes == other.promotes
            and set(move.captured) == set(other.captured)
        ):
            return other
    raise IllegalMoveError(f"{move} is not legal in {position.to_fen()}; {describe_moves(legal)}")


def describe_moves(moves: list[Move]) -> str:
    """A list of legal moves as the end of a message to a person."""
    if not moves:
        return "the side to move has no move there: it has lost"
    return "legal there: " + ", ".join(str(move) for move in moves)
