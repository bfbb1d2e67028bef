"""What a position of a game in progress is worth: on the board, and under the draw rules as counters stand.

Tables know positions from fresh counters. What they say of a game whose counters have come some way is exact
where it can be proved by the bounds below, and `maybe` elsewhere: never a wrong certainty. Repetition is left
out of it, as its history is in no table: where it makes a draw, the clock says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum

from tablebase.clock import Clock, Ruling, Verdict
from tablebase.counters import Counter
from tablebase.drawrules import OFFICIAL
from tablebase.outcome import Outcome, Probe
from tablebase.ruleset import Claim, Limit, RuleName, Ruleset

_FRESH_IS_EXACT_TO = 4
"""Up to so many pieces the `official` rules decide no position otherwise, from fresh counters, than the
15-king-moves rule alone: a win comes to its next capture or promotion before the rule on the balance of
forces draws it. Beyond, a few positions are known where the two together do.
"""


class Prospect(StrEnum):
    """How a game ends under the draw rules, counters as they are, when both sides play best."""

    WIN = "win"
    MAYBE_WIN = "maybe-win"
    """A win or a draw: won on the board, but the tables do not prove that the rules leave time for it."""
    DRAW = "draw"
    MAYBE_LOSS = "maybe-loss"
    """A loss or a draw."""
    LOSS = "loss"
    UNKNOWN = "unknown"

    def __neg__(self) -> Prospect:
        """The same prospect as the opponent sees it."""
        return _OPPOSITE.get(self, self)

    @property
    def rank(self) -> int | None:
        """1 for a win, 0 for a draw, -1 for a loss; None where it is none of these for certain."""
        return _RANK.get(self)


_RANK = {Prospect.WIN: 1, Prospect.DRAW: 0, Prospect.LOSS: -1}
_OPPOSITE = {
    Prospect.WIN: Prospect.LOSS,
    Prospect.MAYBE_WIN: Prospect.MAYBE_LOSS,
    Prospect.MAYBE_LOSS: Prospect.MAYBE_WIN,
    Prospect.LOSS: Prospect.WIN,
}


def board_outcome(probe: Probe) -> Outcome:
    """The outcome without draw rules: a cursed win is a win, a blessed loss is a loss."""
    return {Outcome.CURSED_WIN: Outcome.WIN, Outcome.BLESSED_LOSS: Outcome.LOSS}.get(
        probe.outcome, probe.outcome
    )


def prospect_of(clock: Clock, ruling: Ruling, probe: Probe, tables: Ruleset) -> Prospect:
    """What the position of a clock is worth to its side to move.

    Args:
        clock: the position and its counters.
        ruling: what the rules say of it.
        probe: its value from fresh counters.
        tables: the ruleset which that value assumes.
    """
    match ruling.verdict:
        case Verdict.WHITE_WON | Verdict.BLACK_WON:
            return Prospect.LOSS
        case Verdict.DRAWN:
            return Prospect.DRAW
        case Verdict.UNDETERMINED:
            return Prospect.UNKNOWN
    board = board_outcome(probe)
    if board is Outcome.UNKNOWN:
        return Prospect.UNKNOWN
    # Rules that only draw take nothing from who can hold the draw on the board.
    if board is Outcome.DRAW or _is_too_late(clock, probe, tables):
        return Prospect.DRAW
    certain = _is_in_time(clock, probe, tables)
    found = Prospect.WIN if certain else Prospect.MAYBE_WIN
    return found if board is Outcome.WIN else -found


def _is_too_late(clock: Clock, probe: Probe, tables: Ruleset) -> bool:
    """Whether the rules make a draw of a win on the board for certain.

    The winner has to force a zeroing move to a won position before a count is full. DTC is the least plies in
    which that can be done, where the tables are no stricter than the ruleset.
    """
    limit, assumed = clock.ruleset.king_moves_plies, tables.king_moves_plies
    if limit is None or assumed is None or limit > assumed:
        return False
    if not probe.outcome.is_decided:
        return True
    return probe.dtc is not None and any(
        probe.dtc > most - clock.counters[counter]
        for limit in _limits(clock.ruleset)
        if limit.fits(clock.position)
        for counter, most in limit.thresholds
        if counter in (Counter.KING_PLIES, Counter.BALANCE_PLIES)
    )


def _is_in_time(clock: Clock, probe: Probe, tables: Ruleset) -> bool:
    """Whether a win on the board is one under the rules for certain."""
    ruleset, position = clock.ruleset, clock.position
    winner_moves = board_outcome(probe) is Outcome.WIN
    in_force = [limit for limit in _limits(ruleset) if limit.fits(position)]

    def in_time(plies: int | None, limits: Iterable[Limit] = in_force) -> bool:
        """Whether no limit is reached in so many plies, the last of which takes or wins."""
        return plies is not None and all(_has_room(clock, limit, plies, winner_moves) for limit in limits)

    if ruleset.king_moves_plies == tables.king_moves_plies and all(
        counter is Counter.KING_PLIES for limit in _limits(ruleset) for counter, _ in limit.thresholds
    ):
        return probe.outcome.is_decided and in_time(probe.dtc)
    if ruleset is not OFFICIAL or position.pieces > _FRESH_IS_EXACT_TO + 1:
        # Whatever comes into force on the way: pieces do not become more.
        return in_time(
            probe.dtw, [limit for limit in _limits(ruleset) if limit.scope.pieces[0] <= position.pieces]
        )
    # After the next capture or promotion all counters are fresh, and what the tables say is exact; but a
    # promotion does not make the pieces fewer.
    if not probe.outcome.is_decided:
        return False
    if position.pieces > _FRESH_IS_EXACT_TO:
        return in_time(probe.dtw) and _is_short(probe.dtw, ruleset, position.pieces)
    counters = clock.counters
    is_fresh = not (counters.king_plies or counters.balance_plies or counters.three_kings_moves)
    # Without men, the next zeroing move is that capture.
    return is_fresh or in_time(probe.dtw) or (not position.wm | position.bm and in_time(probe.dtc))


def _limits(ruleset: Ruleset) -> Iterator[Limit]:
    """The limits that can make a draw of a win on the board, repetition aside."""
    for rule in ruleset.rules:
        if rule.claim is Claim.AUTOMATIC and rule.name is not RuleName.REPETITION:
            yield from (limit for limit in rule.limits if not limit.unless_won)


def _has_room(clock: Clock, limit: Limit, plies: int, winner_moves: bool) -> bool:
    """Whether a limit is not reached in so many plies, the last of which begins its count anew or wins."""
    own = {count.counter for count in clock.ruleset.counts if count.own_moves}
    own_moves = plies // 2 + 1 if winner_moves else (plies + 1) // 2
    return any(
        (own_moves if counter in own or limit.own_moves else plies) <= most - clock.counters[counter]
        for counter, most in limit.thresholds
    )


def _is_short(plies: int | None, ruleset: Ruleset, pieces: int) -> bool:
    """Whether so many plies are within every limit for so many pieces, from fresh counters."""
    balance = ruleset.balance_plies(pieces)
    return plies is not None and not ruleset.exceeds(plies) and (balance is None or plies <= balance)
