"""The parts of a ruleset as data: rules, limits and counts. `tablebase.rules.rulesets` has the rulesets."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tablebase.board.counters import CounterName
from tablebase.board.material import Material
from tablebase.board.position import Position
from tablebase.rules.counting import Count, Event, Span
from tablebase.rules.scope import MOST, Scope


class RuleName(StrEnum):
    """The kinds of draw rules; the text of one names it everywhere."""

    KING_MOVES = "king-moves"
    """Moves by kings only, without a capture."""
    THREE_KINGS = "three-kings"
    """Three or more kings against a lone king."""
    MAIN_ROAD = "main-road"
    """Three pieces against a lone king on the main road."""
    BALANCE = "balance"
    """Both sides have kings, and no capture or promotion comes."""
    LONE_KING = "lone-king"
    """Any pieces against a lone king."""
    REPETITION = "repetition"
    """The same position, or the same moves, again and again."""


class Claim(StrEnum):
    """How a rule that has fired makes the draw."""

    AUTOMATIC = "automatic"
    """The rule ends the game by itself."""
    SIDE_TO_MOVE = "side-to-move"
    """The side to move may claim it."""
    ANNOUNCED = "announced"
    """So may the player who announces the move that makes it so, before making it."""


class Repeats(StrEnum):
    """What the rule on repetition counts."""

    POSITION = "position"
    """How many times the position has come up with the same side to move, not necessarily in a row."""
    MOVES = "moves"
    """How many times running the player who has just moved has made the same king moves, one or several."""


@dataclass(frozen=True, slots=True)
class Limit:
    """How far counters may come in one class of positions.

    Attributes:
        article: where it stands in the text.
        scope: the class.
        thresholds: counters with the values that make the draw, once all are reached; the first is the one
            that is shown.
        own_moves: whether the thresholds are moves of the stronger side, for a counter of plies: with so many
            plies counted, those of the side that moved last are half of them, rounded up.
        unless: classes of positions that are left out.
        unless_won: whether it spares a position that is won on the board for the stronger side. Such a limit
            is judged after each of that side's own moves, and after these alone.
    """

    article: str
    scope: Scope
    thresholds: tuple[tuple[CounterName, int], ...]
    own_moves: bool = False
    unless: tuple[Scope, ...] = ()
    unless_won: bool = False

    def fits(self, position: Position) -> bool:
        """Whether it is in force in a position."""
        return self.scope.fits(position) and not any(scope.fits(position) for scope in self.unless)


@dataclass(frozen=True, slots=True)
class Rule:
    """One draw rule of a ruleset.

    Attributes:
        name: its kind.
        limits: of those in force in a position the one that is nearest counts.
        claim: how it makes the draw.
    """

    name: RuleName
    limits: tuple[Limit, ...]
    claim: Claim = Claim.AUTOMATIC


@dataclass(frozen=True, slots=True)
class Ruleset:
    """The draw rules that games and outcomes are judged by.

    A ruleset given by its name and `king_moves_plies` alone has that one rule.

    Attributes:
        name: what tables and manifests call it; ASCII, 32 characters at most.
        king_moves_plies: after so many plies in a row of king moves without a capture, by either side, the
            game is drawn, however many pieces there are; None where no such rule is in force. A win stands if
            its next zeroing move, or the end of the game, comes no later than this ply.
        articles: where the rules stand in the official text.
        source: which text the ruleset is taken from.
        rules: the rules, in the order in which they are reported.
        counts: how the counters that these rules look at go on.
        repeats: what the rule on repetition counts.
        fen_clock: the counter that a FEN's field `H` gives, as lidraughts writes it; None: that field is no
            counter of this ruleset.
        tables: the name of the ruleset whose tables tell how a game ends under this one where its counters
            are fresh; None where no tables do. A ruleset of one rule has tables of its own.
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
        """Whether a game that needs `dtc` plies from a fresh count to a zeroing move is drawn first."""
        return self.king_moves_plies is not None and dtc > self.king_moves_plies

    def rule(self, name: RuleName) -> Rule | None:
        """The rule of that kind, if there is one."""
        return next((rule for rule in self.rules if rule.name is name), None)

    def balance_plies(self, pieces: int) -> int | None:
        """The plies that the rule on the balance of forces allows from one capture or promotion to the next
        where both sides have a king and so many pieces stand on the board; None where it sets no such limit.
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
        """Whether the rule on the balance of forces sets a limit to a slice: both sides have a king."""
        both_kings = material.own_kings and material.other_kings
        return bool(both_kings and self.balance_plies(material.pieces) is not None)

    def counts_material_separately(self, material: Material) -> bool:
        """Whether the balance of forces is counted in a slice, and apart from king moves: there are men,
        whose steps give back the one count and not the other."""
        return material.men > 0 and self.counts_balance(material)


KING_PLIES = Count(CounterName.KING_PLIES, (Span(Scope(both_kings=True), Event.CAPTURE | Event.MAN_MOVE),))
"""Plies in a row by kings only and without a capture, while both sides have a king: who has none moves a man,
or captures, every other ply, so that nothing is counted there."""


def king_moves_rule(plies: int, article: str, pieces: tuple[int, int] = (0, MOST)) -> Rule:
    """So many plies in a row by kings only and without a capture: a draw."""
    scope = Scope(pieces=pieces, both_kings=True)
    return Rule(RuleName.KING_MOVES, (Limit(article, scope, ((CounterName.KING_PLIES, plies),)),))


def cite(article: str) -> str:
    """An article in a sentence: `article 7.2.5`, or what a code without numbers calls the rule."""
    return f"article {article}" if article[:1].isdigit() else article
