"""Rulesets with limits so tight that they change outcomes of few pieces."""

from dataclasses import replace

from tablebase.board.counters import CounterName
from tablebase.rules.ruleset import Limit, Rule, RuleName, Ruleset, king_moves_rule
from tablebase.rules.rulesets import OFFICIAL
from tablebase.rules.scope import Scope


def tight(name: str, kings: int, balance: int | None) -> Ruleset:
    """So many plies of king moves, and of the balance whatever the pieces; None for no such rule."""
    rules = (king_moves_rule(kings, "none"),)
    if balance is not None:
        limit = Limit("none", Scope(both_kings=True), ((CounterName.BALANCE_PLIES, balance),))
        rules += (Rule(RuleName.BALANCE, (limit,)),)
    return replace(OFFICIAL, name=name, king_moves_plies=kings, rules=rules)
