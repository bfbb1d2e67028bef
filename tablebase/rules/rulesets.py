"""All rulesets, as data with their sources. `docs/draws.md` describes them in words.

`official` is compiled from the published texts. Articles are those of FMJD-64, as far as it has them. A
*move* in a text counts as a turn of each player, two plies, unless the text says that it is one side's own.
"""

from __future__ import annotations

from dataclasses import replace

from tablebase.board.counters import CounterName
from tablebase.errors import RulesetError, quote
from tablebase.rules.counting import Count, Event, Span
from tablebase.rules.ruleset import (
    KING_PLIES,
    Claim,
    Limit,
    Repeats,
    Rule,
    RuleName,
    Ruleset,
    king_moves_rule,
)
from tablebase.rules.scope import MOST, Force, Road, Scope

__all__ = [
    "CLASSIC",
    "CLUB",
    "FMJD64",
    "KING_MOVES_ONLY",
    "LIDRAUGHTS",
    "NO_THREE_KINGS_COUNT",
    "OFFICIAL",
    "ROAD_WITH_THREE_MEN",
    "RULESETS",
    "Ruleset",
    "find_ruleset",
]

_BALANCE_CHANGE = Event.CAPTURE | Event.PROMOTION

# Forces against a lone king

_ANY = Force((0, MOST), (0, MOST))
_KINGS_ALONE = Force((3, MOST), (0, 0))
_THREE_KINGS = Force((3, 3), (0, 0))
_THREE_WITH_A_KING = (_THREE_KINGS, Force((2, 2), (1, 1)), Force((1, 1), (2, 2)))
_THREE_MEN = Force((0, 0), (3, 3))
_TWO_AT_MOST = (Force((1, 2), (0, 0)), Force((1, 1), (1, 1)))

# Scopes


def _both_kings(least: int, most: int) -> Scope:
    return Scope(pieces=(least, most), both_kings=True)


_THREE_KINGS_SCOPE = Scope(against_lone_king=(_KINGS_ALONE,))
_ROAD_SCOPE = Scope(against_lone_king=_THREE_WITH_A_KING, road=Road.LONE_KING)
_ROAD_SCOPE_WITH_MEN = replace(_ROAD_SCOPE, against_lone_king=(*_THREE_WITH_A_KING, _THREE_MEN))

# How the counters of the official rules count

_BALANCE_PLIES = Count(CounterName.BALANCE_PLIES, (Span(Scope(both_kings=True), _BALANCE_CHANGE),))
_THREE_KINGS_MOVES = Count(
    CounterName.THREE_KINGS_MOVES, (Span(_THREE_KINGS_SCOPE, _BALANCE_CHANGE | Event.ENTRY),), own_moves=True
)


def _road_moves(scope: Scope) -> Count:
    """Return the count of moves on the main road.

    A promotion within the scope does not reset it. A capture always enters or leaves the scope.
    """
    return Count(CounterName.ROAD_MOVES, (Span(scope, Event.CAPTURE | Event.ENTRY),), own_moves=True)


# The rules


def _repetition(article: str, claim: Claim) -> Rule:
    return Rule(RuleName.REPETITION, (Limit(article, Scope(), ((CounterName.REPETITIONS, 3),)),), claim=claim)


def _three_kings(article: str, scope: Scope) -> Rule:
    return Rule(RuleName.THREE_KINGS, (Limit(article, scope, ((CounterName.THREE_KINGS_MOVES, 15),)),))


def _main_road(article: str, scope: Scope) -> Rule:
    return Rule(RuleName.MAIN_ROAD, (Limit(article, scope, ((CounterName.ROAD_MOVES, 5),), unless_won=True),))


def _balance_limit(article: str, least: int, most: int, plies: int) -> Limit:
    return Limit(article, _both_kings(least, most), ((CounterName.BALANCE_PLIES, plies),))


_KING_MOVES_PLIES = 30
_KING_MOVES = king_moves_rule(_KING_MOVES_PLIES, "7.2.5")
_LONG_BALANCES = (_balance_limit("7.2.6", 4, 5, 60), _balance_limit("7.2.6", 6, 7, 120))
_BALANCE = Rule(RuleName.BALANCE, (_balance_limit("7.2.8", 2, 3, 10), *_LONG_BALANCES))


def _ruleset(
    name: str,
    source: str,
    rules: tuple[Rule, ...],
    counts: tuple[Count, ...],
    king_moves_plies: int | None = _KING_MOVES_PLIES,
    tables: str | None = "official",
) -> Ruleset:
    articles = tuple(f"{rule.name}: {limit.article}" for rule in rules for limit in rule.limits)
    return Ruleset(
        name, king_moves_plies, tuple(dict.fromkeys(articles)), source, rules, counts, tables=tables
    )


OFFICIAL = _ruleset(
    name="official",
    source=(
        "compiled from the published texts; articles as in the rules of the game of FMJD-64, the section for "
        "draughts 64 of the world federation (fmjd64.org, rules of the game)"
    ),
    rules=(
        _KING_MOVES,
        _three_kings("7.2.4", _THREE_KINGS_SCOPE),
        _main_road("7.2.7", _ROAD_SCOPE),
        _BALANCE,
        _repetition("7.2.3", Claim.ANNOUNCED),
    ),
    counts=(KING_PLIES, _THREE_KINGS_MOVES, _road_moves(_ROAD_SCOPE), _BALANCE_PLIES),
)
"""The default ruleset."""

NO_THREE_KINGS_COUNT = _ruleset(
    name="no-three-kings-count",
    source="a Latvian text of the rules: no count for three kings, and repetition ends the game by itself",
    rules=(
        _KING_MOVES,
        _main_road("7.2.7", _ROAD_SCOPE),
        _BALANCE,
        _repetition("7.2.3", Claim.AUTOMATIC),
    ),
    counts=(KING_PLIES, _road_moves(_ROAD_SCOPE), _BALANCE_PLIES),
)

ROAD_WITH_THREE_MEN = _ruleset(
    name="road-with-three-men",
    source="a Croatian codex: the rule on the main road also for three men",
    rules=(
        _KING_MOVES,
        _three_kings("7.2.4", _THREE_KINGS_SCOPE),
        _main_road("7.2.7", _ROAD_SCOPE_WITH_MEN),
        _BALANCE,
        _repetition("7.2.3", Claim.ANNOUNCED),
    ),
    counts=(KING_PLIES, _THREE_KINGS_MOVES, _road_moves(_ROAD_SCOPE_WITH_MEN), _BALANCE_PLIES),
)

# Article 7.2.8, read strictly: the stronger side's own fifth move without a won position makes the draw, not
# five moves of each side. In king against king, either side is the stronger one.
_OWN_FIFTH_MOVE = Limit(
    "7.2.8",
    Scope(against_lone_king=_TWO_AT_MOST),
    ((CounterName.BALANCE_PLIES, 5),),
    own_moves=True,
    unless_won=True,
)

FMJD64 = _ruleset(
    name="fmjd64",
    source="FMJD-64, rules of the game (fmjd64.org), articles 7.2.3 to 7.2.8, each read strictly",
    rules=(
        _KING_MOVES,
        _three_kings("7.2.4", _THREE_KINGS_SCOPE),
        _main_road("7.2.7", _ROAD_SCOPE),
        Rule(RuleName.BALANCE, (_OWN_FIFTH_MOVE, *_LONG_BALANCES)),
        _repetition("7.2.3", Claim.ANNOUNCED),
    ),
    counts=(KING_PLIES, _THREE_KINGS_MOVES, _road_moves(_ROAD_SCOPE), _BALANCE_PLIES),
)

_AGAINST_THE_KING = Scope(against_lone_king=(_ANY,))
_THREE_KINGS_EXACTLY = Scope(against_lone_king=(_THREE_KINGS,))

CLASSIC = replace(
    _ruleset(
        name="classic",
        source=(
            "an older text: the same moves three times running, three kings against one 15 moves, "
            "one or more pieces against a single king 30 moves while the balance stands"
        ),
        rules=(
            _three_kings("three kings against one", _THREE_KINGS_EXACTLY),
            Rule(
                RuleName.LONE_KING,
                (
                    Limit(
                        "one or more pieces against a single king",
                        _AGAINST_THE_KING,
                        ((CounterName.BALANCE_PLIES, 60),),
                    ),
                ),
            ),
            _repetition("the same moves repeated", Claim.SIDE_TO_MOVE),
        ),
        counts=(
            Count(
                CounterName.THREE_KINGS_MOVES,
                (Span(_THREE_KINGS_EXACTLY, _BALANCE_CHANGE | Event.ENTRY),),
                own_moves=True,
            ),
            Count(CounterName.BALANCE_PLIES, (Span(_AGAINST_THE_KING, _BALANCE_CHANGE | Event.ENTRY),)),
        ),
        king_moves_plies=None,
        tables=None,
    ),
    repeats=Repeats.MOVES,
)

CLUB = _ruleset(
    name="club",
    source="what clubs play by: the third repetition, or 15 moves of each side by kings only",
    rules=(_KING_MOVES, _repetition("7.2.3", Claim.ANNOUNCED)),
    counts=(KING_PLIES,),
    tables="king-moves-only",
)

# lidraughts has one shared clock, here `balance_plies`. Numbers and conditions are those of `drawingMoves`
# and `updatePositionHashes` in its Russian.scala, which test the position after a ply, in this order.
_L_TWO = Scope(against_lone_king=_TWO_AT_MOST)
_L_ROAD = Scope(against_lone_king=_THREE_WITH_A_KING, road=Road.LONE_KING_ONLY)
_L_KINGS = Scope(against_lone_king=(_KINGS_ALONE,))
_L_LONE = (_L_TWO, _L_ROAD, _L_KINGS)
_L_MANY = _both_kings(8, MOST)
_CLOCK = CounterName.BALANCE_PLIES

LIDRAUGHTS = replace(
    _ruleset(
        name="lidraughts",
        source="modules/draughts/src/main/variant/Russian.scala of the server's code, RoepStoep/lidraughts",
        rules=(
            Rule(
                RuleName.KING_MOVES, (Limit("7.2.5", _L_MANY, ((_CLOCK, 30),), unless=(_L_ROAD, _L_KINGS)),)
            ),
            Rule(RuleName.THREE_KINGS, (Limit("7.2.4", _L_KINGS, ((_CLOCK, 30),), unless=(_L_ROAD,)),)),
            Rule(
                RuleName.MAIN_ROAD,
                (
                    Limit("7.2.7", _L_ROAD, ((CounterName.ROAD_MOVES, 10), (_CLOCK, 10))),
                    Limit("7.2.7", _L_ROAD, ((_CLOCK, 30),)),
                ),
            ),
            Rule(
                RuleName.BALANCE,
                (
                    Limit("7.2.8", _L_TWO, ((_CLOCK, 10),)),
                    Limit("7.2.6", _both_kings(4, 5), ((_CLOCK, 60),), unless=_L_LONE),
                    Limit("7.2.6", _both_kings(6, 7), ((_CLOCK, 120),), unless=_L_LONE),
                ),
            ),
            _repetition("7.2.3", Claim.SIDE_TO_MOVE),
        ),
        counts=(
            Count(
                _CLOCK,
                (
                    Span(_L_TWO, Event.FIRST_KING | Event.CAPTURE_INTO),
                    Span(_L_ROAD, Event.FIRST_KING | Event.CAPTURE),
                    Span(_L_KINGS, _BALANCE_CHANGE),
                    Span(_both_kings(4, 7), _BALANCE_CHANGE),
                    Span(_L_MANY, _BALANCE_CHANGE | Event.MAN_MOVE),
                ),
            ),
            Count(CounterName.ROAD_MOVES, (Span(_L_ROAD, Event.NONE),), kept_outside=True),
        ),
        king_moves_plies=None,
        tables=None,
    ),
    fen_clock=_CLOCK,
)

KING_MOVES_ONLY = Ruleset(
    name="king-moves-only",
    king_moves_plies=_KING_MOVES_PLIES,
    articles=(
        "Draws of the official rules of Russian draughts: 15 moves in a row by kings only, "
        "no man moved and nothing captured (15 of each player: 30 plies)",
    ),
    source="article 7.2.5 of `official`, alone: the rule that WDL and DTC tables were first made under",
    rules=(_KING_MOVES,),
    counts=(KING_PLIES,),
    tables="king-moves-only",
)

RULESETS: dict[str, Ruleset] = {
    ruleset.name: ruleset
    for ruleset in (
        OFFICIAL,
        NO_THREE_KINGS_COUNT,
        ROAD_WITH_THREE_MEN,
        FMJD64,
        CLASSIC,
        CLUB,
        LIDRAUGHTS,
        KING_MOVES_ONLY,
    )
}
"""Every ruleset of this version, by name."""


def find_ruleset(name: str) -> Ruleset:
    """Return the ruleset of that name.

    >>> find_ruleset("official").king_moves_plies
    30

    Raises:
        RulesetError: there is no such ruleset; the message lists all rulesets.
    """
    try:
        return RULESETS[name]
    except KeyError:
        known = ", ".join(RULESETS)
        raise RulesetError(f"{quote(name)} is not a ruleset; the rulesets are {known}") from None
