"""Positions, moves and the legal moves of Russian draughts.

Squares and sets of squares are those of `tablebase.board.squares`.

Numbers in brackets are articles of the FMJD's Annex 1 (November 2015), the rules of international draughts.
The Russian game follows all of these articles but two, which are marked `unlike`.

- **moving**: a man moves one square forward [3.4]. A king moves any distance along a free diagonal [3.9]. A
  piece never jumps a piece of its own side [4.7].
- **promotion**: a man that ends its move on the last row becomes a king [3.5]. A man that reaches the last
  row *while capturing* becomes a king at once and goes on capturing as a king, if it can [unlike 4.15].
- **capturing**: a man jumps a neighbouring enemy piece, forward or backward [4.1], to the empty square
  behind it [4.2]. A king jumps one enemy piece at any distance, to any free square behind it up to the next
  piece [4.3].
- **compulsion**: a side that can capture must capture [4.2, 4.3]. It may choose any capture, whatever the
  number of pieces [unlike 4.13]. A capture ends only when the piece can capture no more [4.5].
- **the king's landing**: a king may have several free squares behind the captured piece. If it can go on
  capturing from some of them, in any direction, it must land on one of those [4.6].
- **Turkish stroke**: captured pieces leave the board when the whole move is over [4.11]. Until then they
  block the way and may not be jumped again; empty squares may be crossed again [4.8]. The start square of
  the capturing piece counts as empty.
- **the end**: a side that has no move, because it is blocked or has no pieces, has lost [7.2.2, 7.2.3].
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tablebase.board.squares import (
    ALL_SQUARES,
    DOWN_RAYS,
    FIRST_ROW,
    LAST_ROW,
    RAYS,
    SQUARE_NAMES,
    SQUARES,
    UP_RAYS,
    reverse,
    row_and_column,
    squares_of,
)
from tablebase.errors import IllegalMoveError, IllegalPositionError

if TYPE_CHECKING:
    from tablebase.board.notation import Numbering


class Color(StrEnum):
    """One of the two sides, as the text `white` or `black`."""

    WHITE = "white"
    BLACK = "black"

    @property
    def other(self) -> Color:
        """The opponent."""
        return Color.BLACK if self is Color.WHITE else Color.WHITE


class Piece(StrEnum):
    """One of the two kinds of pieces, as the text `man` or `king`."""

    MAN = "man"
    KING = "king"


def _names(squares: int) -> str:
    return ", ".join(SQUARE_NAMES[square] for square in squares_of(squares))


@dataclass(frozen=True, slots=True)
class Position:
    """The pieces on their squares and the side to move. Immutable, compared by value, hashable.

    >>> position = Position.from_fen("W:WKa1,c3:BKh8")
    >>> [str(move) for move in position.legal_moves()]
    ['a1-b2', 'c3-b4', 'c3-d4']
    >>> position.play(position.legal_moves()[0]).to_fen()
    'B:WKb2,c3:BKh8'

    Attributes:
        wm: White's men, a set of squares.
        wk: White's kings, a set of squares.
        bm: Black's men, a set of squares.
        bk: Black's kings, a set of squares.
        turn: the side to move.

    Raises:
        IllegalPositionError: a square holds two pieces, a set has bits beyond the 32 squares, a man stands on
            its own last row, or `turn` is not a colour.
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
        """Convert numpy integers and `"white"` to the types that the other methods rely on."""
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
                    f"{name} = {squares:#x} is not a set of squares; "
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
        """Return the start of a game: twelve men a side on the three nearest rows, White to move."""
        return cls(wm=0x0000_0FFF, wk=0, bm=0xFFF0_0000, bk=0, turn=Color.WHITE)

    @classmethod
    def from_fen(cls, fen: str, numbering: Numbering | str | None = None) -> Position:
        """Return the position of a FEN.

        Args:
            fen: the FEN, in any of the forms that `tablebase.board.notation.parse_fen` accepts.
            numbering: the numbering of numeric squares, a `Numbering` or its text; None refuses them.

        Raises:
            NotationError: the text is not a FEN, or there is no such numbering.
            IllegalPositionError: a square holds two pieces, or a man stands on its own last row.
        """
        from tablebase.board.notation import parse_fen

        return parse_fen(fen, numbering)

    def to_fen(self, numbering: Numbering | str | None = None) -> str:
        """Return the FEN of the position, e.g. `W:WKa1,c3:BKh8`. Equal positions have equal FENs.

        Args:
            numbering: the numbering for numeric squares, a `Numbering` or its text; None writes `a1`.

        Raises:
            NotationError: there is no such numbering.
        """
        from tablebase.board.notation import format_fen

        return format_fen(self, numbering)

    def flip(self) -> Position:
        """Return the mirror: the board turned by 180 degrees, colours and side to move exchanged."""
        return Position(
            reverse(self.bm), reverse(self.bk), reverse(self.wm), reverse(self.wk), self.turn.other
        )

    def legal_moves(self) -> list[Move]:
        """Return the legal moves; an empty list if the side to move has lost."""
        return legal_moves(self)

    def play(self, move: Move) -> Position:
        """Return the position after a legal move.

        Raises:
            IllegalMoveError: the move is not legal in this position.
        """
        return play(self, move)

    @property
    def pieces(self) -> int:
        """Number of pieces on the board, both sides together."""
        return self.occupied.bit_count()

    @property
    def occupied(self) -> int:
        """All squares with a piece, as a set."""
        return self.wm | self.wk | self.bm | self.bk

    # The four sets as the side to move sees them: if Black is to move, the board is turned by 180 degrees.

    @property
    def own_men(self) -> int:
        """Men of the side to move, on the board turned so that they move up."""
        return self.wm if self.turn is Color.WHITE else reverse(self.bm)

    @property
    def own_kings(self) -> int:
        """Kings of the side to move, on the board turned as for `own_men`."""
        return self.wk if self.turn is Color.WHITE else reverse(self.bk)

    @property
    def other_men(self) -> int:
        """Men of the opponent, on the board turned as for `own_men`."""
        return self.bm if self.turn is Color.WHITE else reverse(self.wm)

    @property
    def other_kings(self) -> int:
        """Kings of the opponent, on the board turned as for `own_men`."""
        return self.bk if self.turn is Color.WHITE else reverse(self.wk)

    def __str__(self) -> str:
        """Draw the board as White sees it: men `w` and `b`, kings `W` and `B`, empty dark squares `.`."""
        cells = [[" "] * 8 for _ in range(8)]
        for square in range(SQUARES):
            row, column = row_and_column(square)
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
    """One turn of one player: a quiet move, or a whole capture.

    Attributes:
        path: the squares of the moving piece in order: start, landing squares, end. If several routes lead to
            the same position, this is one of them.
        captured: the squares of the captured pieces, in the order of capture; empty for a quiet move.
        piece: the kind of the moving piece before the move.
        promotes: whether a man becomes a king.
        ambiguous: whether another move of the same position has the same start and end, so that the notation
            needs the full path. Ignored in comparisons.
    """

    path: tuple[int, ...]
    captured: tuple[int, ...]
    piece: Piece
    promotes: bool
    ambiguous: bool = field(default=False, compare=False)

    @property
    def start(self) -> int:
        """Square on which the move begins."""
        return self.path[0]

    @property
    def end(self) -> int:
        """Square on which the move ends; the start square if the capture closes a ring."""
        return self.path[-1]

    @property
    def is_capture(self) -> bool:
        """Whether the move is a capture."""
        return bool(self.captured)

    @property
    def zeroing(self) -> bool:
        """Whether the move is a capture or a man's move, which sets the count of king moves to zero."""
        return bool(self.captured) or self.piece is Piece.MAN

    @property
    def balance_change(self) -> bool:
        """Whether the move changes the material balance: a capture or a promotion."""
        return bool(self.captured) or self.promotes

    def __str__(self) -> str:
        """Return the notation: `c3-d4`, `c3:e5`, or the full path if start and end are ambiguous."""
        squares = self.path if self.ambiguous else (self.path[0], self.path[-1])
        return (":" if self.captured else "-").join([SQUARE_NAMES[square] for square in squares])


_Jumps: TypeAlias = list[tuple[int, list[int]]]  # captured square, landing squares nearest first


class _Side(NamedTuple):
    """A position seen by the side to move; sets of squares on the board as White sees it."""

    men: int
    kings: int
    enemies: int
    empty: int
    forward: tuple[tuple[tuple[int, ...], ...], ...]
    crowning_row: int


class _Capture(NamedTuple):
    """A complete capture."""

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
    """Return the single jumps of a piece: each captured square with the free landing squares behind it.

    `enemies` are the pieces that may still be captured. A square in neither `enemies` nor `empty` blocks the
    piece: it holds a piece of its own side, or a piece captured earlier in the same move.
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
    """Return the complete captures of one piece: one route to every distinct result.

    With `via`, only captures whose route lands on all these squares in this order and ends on the last one.
    """
    # Captured pieces stay on the board until the whole move is over: only the start square becomes empty.
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
                # A second route to the same square with the same captures finds nothing new.
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
    """Whether the side to move can capture, and therefore must."""
    side = _side_to_move(position)
    return any(_jumps(king, True, side.enemies, side.empty) for king in squares_of(side.kings)) or any(
        _jumps(man, False, side.enemies, side.empty) for man in squares_of(side.men)
    )


def legal_moves(position: Position) -> list[Move]:
    """Return the legal moves, one for each resulting position; an empty list if the side to move has lost.

    The order is deterministic: by start square, then by direction, nearest squares first.
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
    count_by_ends = Counter((move.start, move.end) for move in captures)
    return [
        replace(move, ambiguous=True) if count_by_ends[move.start, move.end] > 1 else move
        for move in by_result.values()
    ]


def moves_along(position: Position, squares: Iterable[int]) -> list[Move]:
    """Return the legal moves that have a route along the given squares.

    If routes land on exactly these squares, only their moves are returned. Otherwise a route may land on
    other squares in between. So a capture's start and end are enough if only one capture has them.

    Args:
        position: the position before the move.
        squares: the start, any landing squares in between, and the end, each 0..31.
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
    """Return the position after a move of `legal_moves(position)`, without a check; `play` checks."""
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
    """Return the position after a move, whose path may be any route of a legal move.

    Raises:
        IllegalMoveError: the move is not legal; the message lists the legal moves.
    """
    return position_after(position, find_legal(position, move))


def find_legal(position: Position, move: Move) -> Move:
    """Return the legal move with the given move's start, end, captured pieces and promotion, on any route.

    Raises:
        IllegalMoveError: the move is not legal; the message lists the legal moves.
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
    """Return a phrase for error messages that lists the legal moves."""
    if not moves:
        return "the side to move has no legal move and has lost"
    return "legal moves: " + ", ".join(str(move) for move in moves)
