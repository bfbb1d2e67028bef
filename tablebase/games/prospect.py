"""What a position of a game in progress is worth under the draw rules, as far as tables tell it alone.

Tables know positions from fresh counters. What they say of a game whose counters have come some way is exact
where the bounds below prove it, and `maybe` elsewhere: never a wrong certainty. Some of what they leave open
is settled by looking ahead: `tablebase.games.search`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum

from tablebase.board.counters import CounterName
from tablebase.board.position import Color, Position
from tablebase.rules.clock import Clock, GameStatus
from tablebase.rules.outcome import Outcome, Probe
from tablebase.rules.ruleset import Claim, Limit, Repeats, RuleName, Ruleset
from tablebase.rules.rulesets import KING_MOVES_ONLY, OFFICIAL
from tablebase.rules.scope import Road

_ONE_RULE_IS_ENOUGH_TO = 4
"""Up to so many pieces the rule on the balance of forces changes no outcome of the 15-king-moves rule, from
fresh counters: `docs/draws.md` has the count. Beyond, a few positions are known where the two together do."""

_SAFE_FROM_REPEATED_MOVES = 2
"""With so few moves to go nobody makes the same moves three times running, whatever went before."""


class RulesOutcome(StrEnum):
    """How a game ends under the draw rules, counters as they are, when both sides play best."""

    WIN = "win"
    MAYBE_WIN = "maybe-win"
    """A win or a draw: won on the board, but it is not proved that the rules leave time for it."""
    DRAW = "draw"
    MAYBE_LOSS = "maybe-loss"
    """A loss or a draw."""
    LOSS = "loss"
    UNKNOWN = "unknown"

    def __neg__(self) -> RulesOutcome:
        """The same prospect as the opponent sees it."""
        return _OPPOSITE.get(self, self)

    @property
    def rank(self) -> int | None:
        """1 for a win, 0 for a draw, -1 for a loss; None where it is none of these for certain."""
        return _RANK.get(self)


_RANK = {RulesOutcome.WIN: 1, RulesOutcome.DRAW: 0, RulesOutcome.LOSS: -1}
_OPPOSITE = {
    RulesOutcome.WIN: RulesOutcome.LOSS,
    RulesOutcome.MAYBE_WIN: RulesOutcome.MAYBE_LOSS,
    RulesOutcome.MAYBE_LOSS: RulesOutcome.MAYBE_WIN,
    RulesOutcome.LOSS: RulesOutcome.WIN,
}


def board_outcome(probe: Probe) -> Outcome:
    """The outcome without draw rules: a cursed win is a win, a blessed loss is a loss."""
    return {Outcome.CURSED_WIN: Outcome.WIN, Outcome.BLESSED_LOSS: Outcome.LOSS}.get(
        probe.outcome, probe.outcome
    )


def prospect_of(
    clock: Clock, verdict: GameStatus, probe: Probe, tables: Ruleset, seen_twice: Iterable[Probe] = ()
) -> RulesOutcome:
    """What the position of a clock is worth to its side to move.

    Args:
        clock: the position and its counters.
        verdict: what the rules say of it.
        probe: its value from fresh counters.
        tables: the ruleset which that value assumes.
        seen_twice: the values of the positions that would make a draw if they came up once more:
            `Clock.seen_twice`.
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
    board = board_outcome(probe)
    if board is Outcome.UNKNOWN:
        return RulesOutcome.UNKNOWN
    # Rules that only draw take nothing from who can hold the draw on the board.
    if board is Outcome.DRAW or _is_too_late(clock, probe, tables):
        return RulesOutcome.DRAW
    certain = _is_in_time(clock, probe, tables, seen_twice)
    found = RulesOutcome.WIN if certain else RulesOutcome.MAYBE_WIN
    return found if board is Outcome.WIN else -found


# How the ruleset of a game and that of the tables stand to each other, from fresh counters


def _are_as_strict(tables: Ruleset, ruleset: Ruleset, position: Position) -> bool:
    """Whether what is won by the tables is won under the ruleset, from fresh counters."""
    return _agree(tables, ruleset, position) or (tables.name, ruleset.tables) == (
        OFFICIAL.name,
        KING_MOVES_ONLY.name,
    )


def _are_no_stricter(tables: Ruleset, ruleset: Ruleset, position: Position) -> bool:
    """Whether what is won under the ruleset is won by the tables, from fresh counters."""
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
    """Whether the count of the balance makes no draw before that of king moves, with so many pieces or after
    captures: without men every move counts for both, and the latter's limit is no longer."""
    king_plies = OFFICIAL.king_moves_plies or 0
    limits = map(OFFICIAL.balance_plies, range(_ONE_RULE_IS_ENOUGH_TO + 1, position.pieces + 1))
    return not position.wm | position.bm and all(limit is None or limit >= king_plies for limit in limits)


# Bounds


def _is_too_late(clock: Clock, probe: Probe, tables: Ruleset) -> bool:
    """Whether the rules make a draw of a win on the board for certain.

    The winner has to force a zeroing move to a won position before a count of king moves is full, for which
    DTC is the least, and a change of the balance before any other count is, for which DTB is.
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
    """Whether a win on the board is one under the rules for certain: there is a way to win whose length is
    known and on which no count becomes full, and no position comes up for the third time.

    Each way comes nearer to its goal with every ply, so that positions as far from it, or farther, do not
    come up.
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
        # The shortest way to a change of the balance, after which all counters are fresh. DTB takes the king
        # moves into account where they are freshly counted.
        others = tuple(limit for limit in limits if not _is_about_king_moves(limit))
        least = _to_balance_change(clock, probe)
        if (
            least is not None
            and all(_is_as_far(_to_balance_change(clock, other), least) for other in decided)
            and _have_room(clock, limits if clock.counters.king_plies else others, least)
        ):
            return True
        # The shortest way to a zeroing move, where king moves are all that is counted.
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
    """The DTB of the position, or of another with the same pieces. Without men each capture is one, and there
    is no other zeroing move."""
    men = clock.position.wm | clock.position.bm
    return probe.dtc if probe.dtb is None and not men else probe.dtb


def _is_as_far(distance: int | None, least: int) -> bool:
    return distance is not None and distance >= least


def _has_room_to_the_end(clock: Clock, probe: Probe, winner: Color) -> bool:
    """Whether no count becomes full on the shortest way to the end of the game, whatever comes into force on
    it: pieces do not become more."""
    pieces = clock.position.pieces
    limits = [limit for limit in _limits(clock.ruleset) if limit.scope.pieces[0] <= pieces]
    return probe.dtw is not None and _have_room(
        clock, [limit for limit in limits if not _spares(limit, clock, winner)], probe.dtw
    )


# Limits


def _limits(ruleset: Ruleset) -> Iterator[Limit]:
    """The limits that make a draw by themselves, repetition aside."""
    for rule in ruleset.rules:
        if rule.claim is Claim.AUTOMATIC and rule.name is not RuleName.REPETITION:
            yield from rule.limits


def _limits_against(clock: Clock, winner: Color) -> Iterator[Limit]:
    """The limits that can make a draw of a win before the balance of forces changes."""
    for limit in _limits(clock.ruleset):
        if not limit.scope.fits(clock.position, ignore_squares=True) or _spares(limit, clock, winner):
            continue
        # An exception that holds in this balance of forces, wherever pieces stand, holds all the way.
        if not any(scope.road is Road.ANYTHING and scope.fits(clock.position) for scope in limit.unless):
            yield limit


def _spares(limit: Limit, clock: Clock, winner: Color) -> bool:
    """Whether a limit makes no draw of a win of that side."""
    return limit.unless_won and limit.scope.stronger(clock.position, ignore_squares=True) == (winner,)


def _is_steady(limit: Limit) -> bool:
    """Whether a limit is in force until the balance of forces changes, wherever pieces stand."""
    return all(scope.road is Road.ANYTHING for scope in (limit.scope, *limit.unless))


def _is_about_king_moves(limit: Limit) -> bool:
    return all(counter is CounterName.KING_PLIES for counter, _ in limit.thresholds)


def _have_room(clock: Clock, limits: Iterable[Limit], plies: int) -> bool:
    return all(_has_room(clock, limit, plies) for limit in limits)


def _has_room(clock: Clock, limit: Limit, plies: int) -> bool:
    """Whether a limit is not reached in so many plies, the last of which begins its count anew or wins."""
    own = {count.counter for count in clock.ruleset.counts if count.own_moves}
    stronger = limit.scope.stronger(clock.position, ignore_squares=True)
    moves_first = not stronger or clock.position.turn in stronger

    def with_all(counter: CounterName) -> int:
        """The count with all those plies, as if the last went on with it like the others."""
        count = clock.counters[counter]
        if counter in own:
            return count + (plies // 2 + 1 if moves_first else (plies + 1) // 2)
        return (count + plies) // 2 + 1 if limit.own_moves else count + plies

    return any(with_all(counter) <= most for counter, most in limit.thresholds)


def _winner(clock: Clock, probe: Probe) -> Color:
    """The side that wins on the board."""
    turn = clock.position.turn
    return turn if board_outcome(probe) is Outcome.WIN else turn.other


def _first_known(*distances: int | None) -> int | None:
    return next((distance for distance in distances if distance is not None), None)
