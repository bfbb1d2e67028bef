"""Parts of a ruleset as data: rules, limits and counts. `tablebase.rules.rulesets` has the rulesets."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tablebase.board.counters import CounterName
from tablebase.board.material import Material
from tablebase.board.position import Position
from tablebase.rules.counting import Count, Event, Span
from tablebase.rules.scope import MOST, Scope


class RuleName(StrEnum):
    """The name of a kind of draw rule, as files, the command line and HTTP write it."""

    KING_MOVES = "king-moves"
    """Too many king moves in a row without a capture."""
    THREE_KINGS = "three-kings"
    """Too many moves with three or more kings against a lone king."""
    MAIN_ROAD = "main-road"
    """Too many moves with three pieces against a lone king on the main road."""
    BALANCE = "balance"
    """Too many plies without a capture or promotion, while both sides have kings."""
    LONE_KING = "lone-king"
    """Too many moves against a lone king."""
    REPETITION = "repetition"
    """The same position, or the same moves, repeated."""


class Claim(StrEnum):
    """The way in which a rule that has fired makes the draw."""

    AUTOMATIC = "automatic"
    """The game is drawn without a claim."""
    SIDE_TO_MOVE = "side-to-move"
    """The side to move may claim it."""
    ANNOUNCED = "announced"
    """The side to move may claim it, also by announcing the move that will make the rule fire."""


class Repeats(StrEnum):
    """The thing that the rule on repetition counts."""

    POSITION = "position"
    """Occurrences of the position with the same side to move, not necessarily in a row."""
    MOVES = "moves"
    """Repetitions in a row of the same king move, or series of king moves, by the last mover."""


@dataclass(frozen=True, slots=True)
class Limit:
    """The values of counters that make a draw in one class of positions.

    Attributes:
        article: the article of the official text.
        scope: the class of positions.
        thresholds: counters with their limits. The draw is made when all limits are reached; the first
            counter is the one that is shown.
        own_moves: whether the limits of a counter of plies are moves of the stronger side. The side that
            moved last has made half of the plies, rounded up.
        unless: classes of positions that are exempt.
        unless_won: whether a position is exempt if it is won for the stronger side without draw rules. Such a
            limit is judged only after a move of that side.
    """

    article: str
    scope: Scope
    thresholds: tuple[tuple[CounterName, int], ...]
    own_moves: bool = False
    unless: tuple[Scope, ...] = ()
    unless_won: bool = False

    def fits(self, position: Position) -> bool:
        """Whether the limit is in force in a position."""
        return self.scope.fits(position) and not any(scope.fits(position) for scope in self.unless)


@dataclass(frozen=True, slots=True)
class Rule:
    """One draw rule of a ruleset.

    Attributes:
        name: the kind of the rule.
        limits: the limits; among those in force in a position, the nearest counts.
        claim: the way in which the rule makes the draw.
    """

    name: RuleName
    limits: tuple[Limit, ...]
    claim: Claim = Claim.AUTOMATIC


@dataclass(frozen=True, slots=True)
class Ruleset:
    """A named set of draw rules.

    A ruleset made from its name and `king_moves_plies` alone has only the rule on king moves.

    Attributes:
        name: the name in tables and manifests; ASCII, at most 32 characters.
        king_moves_plies: the number of plies of king moves in a row, without a capture, that draws the game
            with any number of pieces; None if there is no such rule. A win stands if its next zeroing move,
            or the end of the game, comes no later than this ply.
        articles: the articles of the official text.
        source: the text that the ruleset is taken from.
        rules: the rules, in the order in which they are reported.
        counts: the way in which each counter of these rules counts.
        repeats: the thing that the rule on repetition counts.
        fen_clock: the counter that lidraughts writes as the field `H` of a FEN; None if the ruleset does not
            read this field.
        tables: the name of the ruleset whose tables hold the outcomes of this one from fresh counters; None
            if no tables do. A ruleset with only the rule on king moves has tables of its own.
    """

    name: str
    king_moves_plies: int | None
    articles: tuple[str, ...] = ()
    source: str = ""
    rules: tuple[Rule, ...] = ()
    counts: tuple[Count, ...] = ()
    repeats: Repeats = Repeats.POSITION
    fen_clock: CounterName | None = None
    tables: str | None = None

    def __post_init__(self) -> None:
        if self.king_moves_plies is not None and not self.rules:
            article = "; ".join(self.articles)
            object.__setattr__(self, "rules", (king_moves_rule(self.king_moves_plies, article),))
            object.__setattr__(self, "counts", (KING_PLIES,))
            object.__setattr__(self, "tables", self.tables or self.name)

    def exceeds(self, dtc: int) -> bool:
        """Whether the rule on king moves makes a draw before `dtc` plies have been played."""
        return self.king_moves_plies is not None and dtc > self.king_moves_plies

    def rule(self, name: RuleName) -> Rule | None:
        """Return the rule of that kind, or None."""
        return next((rule for rule in self.rules if rule.name is name), None)

    def balance_plies(self, pieces: int) -> int | None:
        """Return the plies that the rule `balance` allows between two balance changes, or None for no limit.

        Args:
            pieces: the number of pieces on the board; both sides have a king.
        """
        rule = self.rule(RuleName.BALANCE)
        limits = [
            plies
            for limit in (rule.limits if rule else ())
            if limit.scope.pieces[0] <= pieces <= limit.scope.pieces[1] and not limit.own_moves
            for counter, plies in limit.thresholds
            if counter is CounterName.BALANCE_PLIES
        ]
        return min(limits, default=None)

    def counts_balance(self, material: Material) -> bool:
        """Whether the rule `balance` limits games with this material: both sides must have a king."""
        both_kings = material.own_kings and material.other_kings
        return bool(both_kings and self.balance_plies(material.pieces) is not None)

    def counts_material_separately(self, material: Material) -> bool:
        """Whether the rule `balance` counts differently from the rule on king moves in this material.

        It does if there are men: a man's step resets the count of king moves, but not that of the balance.
        """
        return material.men > 0 and self.counts_balance(material)


KING_PLIES = Count(CounterName.KING_PLIES, (Span(Scope(both_kings=True), Event.CAPTURE | Event.MAN_MOVE),))
"""Count of plies in a row by kings only, without a capture, while both sides have a king.

A side without a king moves a man or captures at every turn, so there is nothing to count.
"""


def king_moves_rule(plies: int, article: str, pieces: tuple[int, int] = (0, MOST)) -> Rule:
    """Return the rule that `plies` king moves in a row without a capture make a draw."""
    scope = Scope(pieces=pieces, both_kings=True)
    return Rule(RuleName.KING_MOVES, (Limit(article, scope, ((CounterName.KING_PLIES, plies),)),))


def cite(article: str) -> str:
    """Return `article 7.2.5` for a numbered article, and other texts as they are."""
    return f"article {article}" if article[:1].isdigit() else article
