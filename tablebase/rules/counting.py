"""How a counter goes on from ply to ply, as data: where it counts, what it counts, what begins it anew."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Flag, auto

from tablebase.board.counters import CounterName
from tablebase.board.position import Color, Move, Piece, Position
from tablebase.rules.scope import Scope


class Event(Flag):
    """What a ply can do that begins a count anew; the ply that does it counts 0."""

    NONE = 0
    CAPTURE = auto()
    PROMOTION = auto()
    MAN_MOVE = auto()
    """A man has moved, quietly or not: a promotion too."""
    ENTRY = auto()
    """The position was outside the scope before the ply."""
    CAPTURE_INTO = auto()
    """Both a capture and an entry."""
    FIRST_KING = auto()
    """A promotion that gives its side its only king."""


@dataclass(frozen=True, slots=True)
class Ply:
    """One turn of one player, with the positions before and after it."""

    before: Position
    move: Move
    after: Position

    @property
    def mover(self) -> Color:
        """The player whose turn it was."""
        return self.before.turn

    def events(self, scope: Scope) -> Event:
        """What the ply did, as a count inside the scope sees it."""
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
    """A class of positions in which a count goes on, and the events that begin it anew there."""

    scope: Scope
    restarts: Event


@dataclass(frozen=True, slots=True)
class Count:
    """How one counter counts.

    Attributes:
        counter: which one.
        spans: where it counts; the first whose scope the position after a ply fits is the one in force.
        own_moves: whether it counts only the moves of the side that stands against a lone king, not every
            ply.
        kept_outside: whether it stands still where no span fits; else it is 0 there.
    """

    counter: CounterName
    spans: tuple[Span, ...]
    own_moves: bool = False
    kept_outside: bool = False

    def span(self, position: Position) -> Span | None:
        """The span in force in a position; None outside all of them."""
        return next((span for span in self.spans if span.scope.fits(position)), None)

    def at_start(self, count: int, position: Position) -> int:
        """The count at the first position known: the one given, or 0 where there is nothing to count."""
        return count if self.kept_outside or self.span(position) is not None else 0

    def after(self, count: int, ply: Ply) -> int:
        """The count after a ply, from the one before it."""
        span = self.span(ply.after)
        if span is None:
            return count if self.kept_outside else 0
        if span.restarts & ply.events(span.scope):
            return 0
        counted = not self.own_moves or ply.mover in span.scope.stronger(ply.after)
        return count + counted
