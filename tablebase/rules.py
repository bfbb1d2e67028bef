"""The moves of Russian draughts, in plain Python: the rules to which every faster kernel is held.

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

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from tablebase.board import (
    ALL_SQUARES,
    DOWN_RAYS,
    FIRST_ROW,
    LAST_ROW,
    RAYS,
    SQUARE_NAMES,
    UP_RAYS,
    Color,
    Piece,
    Position,
    squares_of,
)
from tablebase.errors import IllegalMoveError


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
