"""How a counter changes from ply to ply, as data: where it counts, and which events reset it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Flag, auto

from tablebase.board.counters import CounterName
from tablebase.board.position import Color, Move, Piece, Position
from tablebase.rules.scope import Scope


class Event(Flag):
    """An event of a ply that resets a count to zero."""

    NONE = 0
    CAPTURE = auto()
    PROMOTION = auto()
    MAN_MOVE = auto()
    """A man has moved, also by a capture or a promotion."""
    ENTRY = auto()
    """The ply has led into the scope from outside."""
    CAPTURE_INTO = auto()
    """A capture has led into the scope from outside."""
    FIRST_KING = auto()
    """A promotion has given its side its only king."""


@dataclass(frozen=True, slots=True)
class Ply:
    """One turn of one player, with the positions before and after it."""

    before: Position
    move: Move
    after: Position

    @property
    def mover(self) -> Color:
        """The player who made the move."""
        return self.before.turn

    def events(self, scope: Scope) -> Event:
        """Return the events of the ply; `ENTRY` and `CAPTURE_INTO` refer to `scope`."""
        happened = Event.NONE
        entered = not scope.fits(self.before)
        if self.move.is_capture:
            happened |= Event.CAPTURE | (Event.CAPTURE_INTO if entered else Event.NONE)
        if self.move.piece is Piece.MAN:
            happened |= Event.MAN_MOVE
        if self.move.promotes:
            happened |= Event.PROMOTION
            kings = self.after.wk if self.mover is Color.WHITE else self.after.bk
            if kings.bit_count() == 1:
                happened |= Event.FIRST_KING
        if entered:
            happened |= Event.ENTRY
        return happened


@dataclass(frozen=True, slots=True)
class Span:
    """A class of positions in which a counter counts, with the events that reset it there."""

    scope: Scope
    restarts: Event


@dataclass(frozen=True, slots=True)
class Count:
    """The way in which one counter counts.

    Attributes:
        counter: the name of the counter.
        spans: the classes in which it counts; the first that fits the position after a ply is in force.
        own_moves: whether it counts the moves of the stronger side only, not every ply.
        kept_outside: whether it keeps its value outside all spans; otherwise it becomes 0 there.
    """

    counter: CounterName
    spans: tuple[Span, ...]
    own_moves: bool = False
    kept_outside: bool = False

    def span(self, position: Position) -> Span | None:
        """Return the span in force in a position, or None if no span fits."""
        return next((span for span in self.spans if span.scope.fits(position)), None)

    def at_start(self, count: int, position: Position) -> int:
        """Return the count at the first known position: `count`, or 0 if no span fits."""
        return count if self.kept_outside or self.span(position) is not None else 0

    def after(self, count: int, ply: Ply) -> int:
        """Return the count after a ply; `count` is the count before it."""
        span = self.span(ply.after)
        if span is None:
            return count if self.kept_outside else 0
        if span.restarts & ply.events(span.scope):
            return 0
        counted = not self.own_moves or ply.mover in span.scope.stronger(ply.after)
        return count + counted
