"""Rules outcomes of games in progress, as far as the tables alone decide them.

Tables hold values from fresh counters. The bounds below derive the outcome with other counters. They are
exact where they decide, and `maybe` elsewhere. Readers of Syzygy's tables for chess combine DTZ and the
half-move clock in the same way. The search of `tablebase.games.search` decides some of the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tablebase.board.counters import CounterName
from tablebase.board.position import Color, Position
from tablebase.rules.clock import Clock, GameStatus
from tablebase.rules.outcome import Outcome, Probe, RulesOutcome
from tablebase.rules.ruleset import Claim, Limit, Repeats, RuleName, Ruleset
from tablebase.rules.rulesets import KING_MOVES_ONLY, OFFICIAL
from tablebase.rules.scope import Road

_ONE_RULE_IS_ENOUGH_TO = 4
"""Up to this number of pieces the rule on the material balance changes no outcome of the rule on king moves,
from fresh counters; `docs/draws.md` has the counts. With more pieces both rules together change some."""

_SAFE_FROM_REPEATED_MOVES = 2
"""Number of moves to the end in which no side can make the same moves three times in a row."""


def unruled_outcome(probe: Probe) -> Outcome:
    """Return the outcome without draw rules: a cursed win is a win, a blessed loss is a loss."""
    return {Outcome.CURSED_WIN: Outcome.WIN, Outcome.BLESSED_LOSS: Outcome.LOSS}.get(
        probe.outcome, probe.outcome
    )


def prospect_of(
    clock: Clock, verdict: GameStatus, probe: Probe, tables: Ruleset, seen_twice: Iterable[Probe] = ()
) -> RulesOutcome:
    """Return the rules outcome of a game for its side to move, as far as bounds decide it.

    Args:
        clock: the position and its counters.
        verdict: the status of the game by its rules.
        probe: the value of the position from fresh counters.
        tables: the ruleset that this value assumes.
        seen_twice: the values of the positions `Clock.seen_twice`, whose third occurrence is a draw.
    """
    match verdict:
        case GameStatus.WHITE_WON | GameStatus.BLACK_WON:
            return RulesOutcome.LOSS
        case GameStatus.DRAWN:
            return RulesOutcome.DRAW
        case GameStatus.UNDETERMINED:
            return RulesOutcome.UNKNOWN
    found = _bound(clock, probe, tables, tuple(seen_twice))
    if verdict is GameStatus.CLAIMABLE and found in (RulesOutcome.LOSS, RulesOutcome.MAYBE_LOSS):
        return RulesOutcome.DRAW
    return found


def _bound(clock: Clock, probe: Probe, tables: Ruleset, seen_twice: tuple[Probe, ...]) -> RulesOutcome:
    board = unruled_outcome(probe)
    if board is Outcome.UNKNOWN:
        return RulesOutcome.UNKNOWN
    # Draw rules take nothing from a side that holds the draw without them.
    if board is Outcome.DRAW or _is_too_late(clock, probe, tables):
        return RulesOutcome.DRAW
    certain = _is_in_time(clock, probe, tables, seen_twice)
    found = RulesOutcome.WIN if certain else RulesOutcome.MAYBE_WIN
    return found if board is Outcome.WIN else -found


# The ruleset of a game compared with that of the tables, from fresh counters


def _are_as_strict(tables: Ruleset, ruleset: Ruleset, position: Position) -> bool:
    """Whether every win of the tables is a win under the ruleset."""
    return _agree(tables, ruleset, position) or (tables.name, ruleset.tables) == (
        OFFICIAL.name,
        KING_MOVES_ONLY.name,
    )


def _are_no_stricter(tables: Ruleset, ruleset: Ruleset, position: Position) -> bool:
    """Whether every win under the ruleset is a win of the tables."""
    return _agree(tables, ruleset, position) or (tables.name, ruleset.tables) == (
        KING_MOVES_ONLY.name,
        OFFICIAL.name,
    )


def _agree(tables: Ruleset, ruleset: Ruleset, position: Position) -> bool:
    if tables.name == ruleset.tables:
        return True
    alike = {OFFICIAL.name, KING_MOVES_ONLY.name}
    return {tables.name, ruleset.tables} == alike and (
        position.pieces <= _ONE_RULE_IS_ENOUGH_TO or _counts_run_as_one(position)
    )


def _counts_run_as_one(position: Position) -> bool:
    """Whether the rule on the balance makes no draw before the rule on king moves, now or after captures.

    Without men every move but a capture counts for both rules, so it is enough to compare their limits.
    """
    king_plies = OFFICIAL.king_moves_plies or 0
    limits = map(OFFICIAL.balance_plies, range(_ONE_RULE_IS_ENOUGH_TO + 1, position.pieces + 1))
    return not position.wm | position.bm and all(limit is None or limit >= king_plies for limit in limits)


# Bounds


def _is_too_late(clock: Clock, probe: Probe, tables: Ruleset) -> bool:
    """Whether the rules certainly make a draw of a win without draw rules.

    The winner has to force a zeroing move before a count of king moves is full; this takes at least DTC
    plies. It has to force a balance change before any other count is full; this takes at least DTB plies.
    """
    if not _are_no_stricter(tables, clock.ruleset, clock.position):
        return False
    if not probe.outcome.is_decided:
        return True
    winner = _winner(clock, probe)
    for limit in _limits_against(clock, winner):
        if limit.unless_won or limit.own_moves or not _is_steady(limit):
            continue
        least = (
            probe.dtc
            if _is_about_king_moves(limit)
            else _first_known(_to_balance_change(clock, probe), probe.dtc)
        )
        if least is not None and not _has_room(clock, limit, least):
            return True
    return False


def _is_in_time(clock: Clock, probe: Probe, tables: Ruleset, seen_twice: tuple[Probe, ...]) -> bool:
    """Whether a win without draw rules is certainly a win under them.

    This holds if on some way to win of known length no count becomes full and no position occurs for the
    third time. Each way comes nearer to its goal with every ply. So positions as far from the goal, or
    farther, do not occur on it.
    """
    winner = _winner(clock, probe)
    if clock.ruleset.repeats is Repeats.MOVES:
        short = probe.dtw is not None and (probe.dtw + 1) // 2 <= _SAFE_FROM_REPEATED_MOVES
        return short and _has_room_to_the_end(clock, probe, winner)
    decided = [other for other in seen_twice if other.outcome.is_decided]
    if probe.outcome.is_decided and _are_as_strict(tables, clock.ruleset, clock.position):
        limits = tuple(_limits_against(clock, winner))
        counts = {counter for limit in limits for counter, _ in limit.thresholds}
        if not decided and not any(clock.counters[counter] for counter in counts):
            return True
        # The shortest way to a balance change, after which all counters are fresh. DTB heeds the limit of
        # king moves only if their count is fresh.
        others = tuple(limit for limit in limits if not _is_about_king_moves(limit))
        least = _to_balance_change(clock, probe)
        if (
            least is not None
            and all(_is_as_far(_to_balance_change(clock, other), least) for other in decided)
            and _have_room(clock, limits if clock.counters.king_plies else others, least)
        ):
            return True
        # The shortest way to a zeroing move, if the rules count king moves alone.
        if (
            not others
            and probe.dtc is not None
            and all(_is_as_far(other.dtc, probe.dtc) for other in decided)
            and _have_room(clock, limits, probe.dtc)
        ):
            return True
    return (
        probe.dtw is not None
        and all(_is_as_far(other.dtw, probe.dtw) for other in seen_twice if other.wdl)
        and _has_room_to_the_end(clock, probe, winner)
    )


def _to_balance_change(clock: Clock, probe: Probe) -> int | None:
    """Return the DTB of a position with the pieces of the clock; None if it is unknown.

    Without men it equals DTC: captures are the only balance changes and the only zeroing moves.
    """
    men = clock.position.wm | clock.position.bm
    return probe.dtc if probe.dtb is None and not men else probe.dtb


def _is_as_far(distance: int | None, least: int) -> bool:
    return distance is not None and distance >= least


def _has_room_to_the_end(clock: Clock, probe: Probe, winner: Color) -> bool:
    """Whether no count becomes full on the shortest way to the end of the game.

    This includes limits that come into force on the way; the number of pieces never grows.
    """
    pieces = clock.position.pieces
    limits = [limit for limit in _limits(clock.ruleset) if limit.scope.pieces[0] <= pieces]
    return probe.dtw is not None and _have_room(
        clock, [limit for limit in limits if not _spares(limit, clock, winner)], probe.dtw
    )


# Limits


def _limits(ruleset: Ruleset) -> Iterator[Limit]:
    """Yield the limits that make a draw without a claim, except that of repetition."""
    for rule in ruleset.rules:
        if rule.claim is Claim.AUTOMATIC and rule.name is not RuleName.REPETITION:
            yield from rule.limits


def _limits_against(clock: Clock, winner: Color) -> Iterator[Limit]:
    """Yield the limits that can make a draw of a win before the next balance change."""
    for limit in _limits(clock.ruleset):
        if not limit.scope.fits(clock.position, ignore_squares=True) or _spares(limit, clock, winner):
            continue
        # An exception that holds for these pieces on any squares holds until the next balance change.
        if not any(scope.road is Road.ANYTHING and scope.fits(clock.position) for scope in limit.unless):
            yield limit


def _spares(limit: Limit, clock: Clock, winner: Color) -> bool:
    """Whether a limit exempts a win of that side."""
    return limit.unless_won and limit.scope.stronger(clock.position, ignore_squares=True) == (winner,)


def _is_steady(limit: Limit) -> bool:
    """Whether a limit is in force until the next balance change, on whatever squares the pieces are."""
    return all(scope.road is Road.ANYTHING for scope in (limit.scope, *limit.unless))


def _is_about_king_moves(limit: Limit) -> bool:
    return all(counter is CounterName.KING_PLIES for counter, _ in limit.thresholds)


def _have_room(clock: Clock, limits: Iterable[Limit], plies: int) -> bool:
    return all(_has_room(clock, limit, plies) for limit in limits)


def _has_room(clock: Clock, limit: Limit, plies: int) -> bool:
    """Whether a count stays within its limit for `plies` plies, the last of which resets it or wins."""
    own = {count.counter for count in clock.ruleset.counts if count.own_moves}
    stronger = limit.scope.stronger(clock.position, ignore_squares=True)
    moves_first = not stronger or clock.position.turn in stronger

    def with_all(counter: CounterName) -> int:
        """Return the count after all plies, as if the last one did not reset it."""
        count = clock.counters[counter]
        if counter in own:
            return count + (plies // 2 + 1 if moves_first else (plies + 1) // 2)
        return (count + plies) // 2 + 1 if limit.own_moves else count + plies

    return any(with_all(counter) <= most for counter, most in limit.thresholds)


def _winner(clock: Clock, probe: Probe) -> Color:
    """Return the side that wins without draw rules."""
    turn = clock.position.turn
    return turn if unruled_outcome(probe) is Outcome.WIN else turn.other


def _first_known(*distances: int | None) -> int | None:
    return next((distance for distance in distances if distance is not None), None)
