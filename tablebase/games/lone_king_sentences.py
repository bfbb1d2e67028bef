"""What a draw rule on a lone king says about a game, as a sentence."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tablebase.board.counters import Counters
from tablebase.board.position import Color, Position, legal_moves
from tablebase.rules.clock import Clock, RuleState, Unit
from tablebase.rules.outcome import Outcome
from tablebase.rules.ruleset import Rule, RuleName
from tablebase.rules.scope import MOST, Force, Road, Scope

_COUNTS = (
    "no",
    "a",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What there is to explain.

    Attributes:
        clock: the game.
        name: the rule.
        rule: the same as the ruleset has it; None where it has no such rule.
        state: what it says of the game; None likewise.
        stronger: the side that the rule gives moves; None where it does not apply, and nothing below counts.
        outcome: the outcome for that side on the board.
        needed: the moves of its own that it needs; None where they are not known, or it does not win.
        left: the moves of its own that remain.
    """

    clock: Clock
    name: RuleName
    rule: Rule | None
    state: RuleState | None
    stronger: Color | None = None
    outcome: Outcome = Outcome.UNKNOWN
    needed: int | None = None
    left: int = 0


def explain(facts: Facts) -> str:
    """The facts as a sentence, or two."""
    position, rule, state, stronger = facts.clock.position, facts.rule, facts.state, facts.stronger
    if rule is None or state is None:
        return f"The ruleset {facts.clock.ruleset.name} has no such rule."
    if stronger is None:
        return _why_it_does_not_apply(position, facts.name, rule)
    where = "a lone king" if facts.name is RuleName.THREE_KINGS else "a lone king on the main road"
    head = f"{stronger.capitalize()} has {_force(position, stronger)} against {where}"
    if state.fired:
        return f"{head}, and {_count(state)}: the game is a draw."
    if state.fired is None:
        unless = "unless it is won on the board, which no table tells"
        return f"{head}, and {_count(state)}: the game is a draw {unless}."
    return f"{head} {_prospect(facts, rule, state, stronger)}."


def _why_it_does_not_apply(position: Position, name: RuleName, rule: Rule) -> str:
    scope = rule.limits[0].scope
    anywhere = scope.stronger(position, ignore_squares=True)
    if name is RuleName.MAIN_ROAD and anywhere:
        stronger = anywhere[0]
        does_not = "does not stand on the main road"
        if replace(scope, road=Road.LONE_KING).fits(position):
            does_not = "is not alone on the main road"
        return (
            f"{stronger.capitalize()} has {_force(position, stronger)} against a lone king, "
            f"but that king {does_not}."
        )
    if anywhere:
        return (
            f"{anywhere[0].capitalize()} has {_force(position, anywhere[0])} against a lone king, "
            "but another rule stands in place of this one here."
        )
    forces = _forces(scope)
    if name is RuleName.THREE_KINGS:
        return f"This rule is about {forces}, and nothing else, against a lone king."
    return f"This rule is about {forces} against a lone king on the main road."


def _prospect(facts: Facts, rule: Rule, state: RuleState, stronger: Color) -> str:
    """How the stronger side stands, while the rule has not made a draw."""
    outcome, needed = facts.outcome, facts.needed
    if outcome is Outcome.UNKNOWN:
        return f"and {_given(facts, state)}, but no table tells what the position is worth on the board"
    if not legal_moves(facts.clock.position):
        return "and has won the game" if outcome is Outcome.WIN else "but has lost the game"
    if outcome is Outcome.LOSS:
        return "but loses on the board"
    if outcome is Outcome.DRAW:
        return (
            f"but cannot win on the board: the game is a draw, by the rule at the latest "
            f"{_when(state, stronger)}{_condition(facts, rule)}"
        )
    if needed is None:
        hidden = "but a missing table hides whether they are enough"
        return f"and wins on the board; {_allowed(facts, state)}, {hidden}"
    if facts.name is RuleName.THREE_KINGS:
        return _three_kings(facts, state, needed)
    return _main_road(facts, rule, state, needed)


def _three_kings(facts: Facts, state: RuleState, needed: int) -> str:
    if needed > facts.left:
        only = _allowed(facts, state, only=True)
        anew = "a capture on the way begins the count anew"
        return f"and wins on the board in {_moves(needed)}, but {only}, unless {anew}"
    # Where the game has been going on, other rules may leave less time than this one.
    where = "" if facts.clock.counters == Counters() else " on the board"
    return f"and wins{where} in {_moves(needed)}; {_allowed(facts, state)}"


def _main_road(facts: Facts, rule: Rule, state: RuleState, needed: int) -> str:
    if needed == 0:
        return "and wins on the board; whatever that king does now, the rule's count ends"
    if needed <= facts.left:
        return (
            f"and wins on the board; in {_moves(needed)} that king is off the road, captured or blocked"
            f"{'; ' if state.count else ', and '}{_allowed(facts, state)}"
        )
    spares = all(limit.unless_won for limit in rule.limits)
    mercy = "makes no draw of a position that is won on the board"
    kept = f"and wins on the board; that king can keep the road for {_moves(needed)}"
    if state.count:
        return f"{kept}; {_allowed(facts, state)}" + (f"; but the rule {mercy}" if spares else "")
    longer = f"longer than the {_amount(state.limit, state.unit)} of the rule"
    return f"{kept}, {longer}" + (f", which {mercy}" if spares else "")


# Counts in words


def _amount(count: int, unit: Unit) -> str:
    if unit is Unit.PLIES:
        return "1 ply" if count == 1 else f"{count} plies"
    return str(count)


def _moves(count: int) -> str:
    return f"{count} move" if count == 1 else f"{count} moves"


def _count(state: RuleState) -> str:
    """How far the count has come: `5 of 15 moves are made`; or, beyond the limit, what that is."""
    unit = "moves" if state.unit is Unit.OWN_MOVES else "plies"
    if state.count > state.limit:
        return f"{state.count} {unit} are made, the limit is {state.limit}"
    return f"{state.count} of {state.limit} {unit} are made"


def _rest(facts: Facts, state: RuleState) -> str:
    """What remains, once something has been counted."""
    if state.unit is Unit.OWN_MOVES:
        return f"{state.remaining or 'none'} {_remain(state)}"
    least = "" if state.count + state.remaining == state.limit else "at least "
    return f"{least}{_amount(state.remaining, state.unit)} {_remain(state)}, {_moves(facts.left)} of its own"


def _allowed(facts: Facts, state: RuleState, only: bool = False) -> str:
    """The limit as a clause: `the rule allows 15`, or what is left of it."""
    if state.count:
        return f"{_count(state)}, and {'only ' if only and state.remaining else ''}{_rest(facts, state)}"
    own = f", {_moves(facts.left)} of its own" if state.unit is Unit.PLIES else ""
    return f"the rule allows {'only ' if only else ''}{_amount(state.limit, state.unit)}{own}"


def _remain(state: RuleState) -> str:
    return "remains" if state.remaining == 1 else "remain"


def _given(facts: Facts, state: RuleState) -> str:
    if state.count:
        return _allowed(facts, state)
    unit = "moves" if state.unit is Unit.OWN_MOVES else "plies"
    return f"{state.limit} {unit} by the rule"


def _when(state: RuleState, stronger: Color) -> str:
    if state.unit is Unit.PLIES:
        return f"after {_amount(state.remaining, state.unit)}" + (" more" if state.count else "")
    if not state.count:
        return f"after {stronger.capitalize()}'s move {state.limit}"
    if state.remaining:
        return f"after {state.remaining} more of {stronger.capitalize()}'s moves"
    return f"after {stronger.capitalize()}'s next move"


def _condition(facts: Facts, rule: Rule) -> str:
    if facts.name is RuleName.THREE_KINGS:
        return ""
    if rule.limits[0].scope.road is Road.LONE_KING_ONLY:
        return ", if that king, and nothing else, stands on the road then"
    return ", if that king still keeps the road then"


# Forces in words


def _some(count: int, noun: str, plural: str) -> str:
    return f"{_COUNTS[count] if count < len(_COUNTS) else count} {noun if count == 1 else plural}"


def _pieces(kings: str | None, men: str | None) -> str:
    return " and ".join(part for part in (kings, men) if part)


def _force(position: Position, color: Color) -> str:
    """The pieces of a side in words, like `two kings and a man`."""
    men, kings = (position.wm, position.wk) if color is Color.WHITE else (position.bm, position.bk)
    return _pieces(
        _range(kings.bit_count(), kings.bit_count(), "king"), _men(men.bit_count(), men.bit_count())
    )


def _forces(scope: Scope) -> str:
    """The forces of a class in words, like `three kings, or two kings and a man`."""
    words = [_force_of(force) for force in scope.against_lone_king or ()]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])}, or {words[-1]}"


def _force_of(force: Force) -> str:
    return _pieces(_range(*force.kings, "king"), _men(*force.men))


def _men(least: int, most: int) -> str | None:
    return _range(least, most, "man", "men")


def _range(least: int, most: int, noun: str, plural: str | None = None) -> str | None:
    if most == 0:
        return None
    more = " or more" if most == MOST else ""
    count = _COUNTS[least] if least < len(_COUNTS) else str(least)
    return f"{count}{more} {noun if least == 1 and not more else plural or noun + 's'}"
