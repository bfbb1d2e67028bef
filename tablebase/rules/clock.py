"""A game in progress under a ruleset: its counters, the state of each draw rule, and claims of draws.

A `Clock` holds a position and the part of its game's history that the draw rules need. Some rules depend on
whether a position is won without draw rules. The caller supplies a function for that, `board_won`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from tablebase.board.counters import CounterName, Counters
from tablebase.board.notation import Numbering, in_latin_letters, parse_fen
from tablebase.board.position import Color, Move, Position, find_legal, legal_moves, position_after
from tablebase.errors import CounterError, NotationError, quote
from tablebase.rules.counting import Ply
from tablebase.rules.ruleset import Claim, Limit, Repeats, Rule, RuleName, Ruleset
from tablebase.rules.rulesets import OFFICIAL

BoardWon: TypeAlias = Callable[[Position, Color], bool | None]
"""Function that says whether a position is won for a side without draw rules; None if it is not known."""


class Unit(StrEnum):
    """The unit of a count, as text."""

    PLIES = "plies"
    """Turns of either side."""
    OWN_MOVES = "own-moves"
    """Turns of the stronger side."""
    TIMES = "times"
    """Occurrences of a position or of moves."""


@dataclass(frozen=True, slots=True)
class RuleState:
    """The state of one draw rule in a game.

    Attributes:
        rule: the name of the rule.
        article: the article of the official text.
        applies: whether the rule can make a draw in this position. If it cannot, the other values are those
            of its first limit.
        count: the present count, in `unit`.
        limit: the count that makes the draw, in `unit`.
        unit: the unit of `count`, `limit` and `remaining`.
        remaining: the least number of units until the limit is reached; 0 if it is reached.
        fired: whether the rule makes a draw. None if this depends on whether the position is won without draw
            rules, and that is not known. False if the game has been won.
        claim: the way in which the rule makes the draw.
        stronger: the side whose moves or win the rule is about; None if there is no such side, or if the rule
            is about both.
    """

    rule: RuleName
    article: str
    applies: bool
    count: int
    limit: int
    unit: Unit
    remaining: int
    fired: bool | None
    claim: Claim
    stronger: Color | None

    @property
    def claimable(self) -> bool:
        """Whether the rule has fired and a player must claim the draw."""
        return self.fired is True and self.claim is not Claim.AUTOMATIC


class GameStatus(StrEnum):
    """The status of a game under its ruleset."""

    OPEN = "open"
    """The game goes on."""
    CLAIMABLE = "claimable"
    """The game goes on, but a player may claim a draw."""
    DRAWN = "drawn"
    """The game has ended in a draw."""
    UNDETERMINED = "undetermined"
    """The game is drawn unless the position is won without draw rules, which is not known."""
    WHITE_WON = "white-won"
    BLACK_WON = "black-won"

    @property
    def ends_the_game(self) -> bool:
        """Whether the game has certainly ended: by a win, or by a draw that needs no claim."""
        return self in (GameStatus.DRAWN, GameStatus.WHITE_WON, GameStatus.BLACK_WON)


@dataclass(frozen=True, slots=True)
class Ruling:
    """The status of a game together with the state of each draw rule.

    Attributes:
        verdict: the status of the game. A win comes before automatic draws, and these before claims.
        states: the state of each rule, in the ruleset's order.
    """

    verdict: GameStatus
    states: tuple[RuleState, ...]

    @property
    def fired(self) -> tuple[RuleState, ...]:
        """States of the rules behind the verdict: those that draw, may draw, or allow a claim."""
        match self.verdict:
            case GameStatus.DRAWN:
                return tuple(state for state in self.states if _draws(state))
            case GameStatus.UNDETERMINED:
                return tuple(state for state in self.states if state.fired is None)
            case GameStatus.CLAIMABLE:
                return tuple(state for state in self.states if state.claimable)
            case _:
                return ()


def unit_of(limit: Limit, ruleset: Ruleset) -> Unit:
    """Return the unit in which a limit of a ruleset counts."""
    counter, _ = limit.thresholds[0]
    if counter is CounterName.REPETITIONS:
        return Unit.TIMES
    own = limit.own_moves or any(count.own_moves for count in ruleset.counts if count.counter is counter)
    return Unit.OWN_MOVES if own else Unit.PLIES


def _won_by(winner: Color) -> GameStatus:
    return GameStatus.WHITE_WON if winner is Color.WHITE else GameStatus.BLACK_WON


def _draws(state: RuleState) -> bool:
    return state.fired is True and state.claim is Claim.AUTOMATIC


class _Past(NamedTuple):
    """A position of a game, linked to the earlier positions that may occur again; clocks share the tails."""

    position: Position
    times: int
    move: Move | None
    earlier: _Past | None


@dataclass(frozen=True, slots=True)
class Clock:
    """A position of a game with its counters under a ruleset. Immutable: `play` returns a new clock.

    Create clocks with `start`, `from_fen` and `play`, not with the constructor.

    >>> clock = Clock.from_fen("W:WKa1:BKh6")
    >>> clock = clock.play(clock.position.legal_moves()[0])
    >>> clock.to_fen()
    'B:WKb2:BKh6:C1,1,0,0,1'
    >>> [(str(state.rule), state.remaining) for state in clock.states() if state.applies]
    [('king-moves', 29), ('balance', 9), ('repetition', 2)]

    Attributes:
        position: the position.
        ruleset: the ruleset of the game.
        counters: the counters, with this position included.
    """

    position: Position
    ruleset: Ruleset
    counters: Counters
    _past: _Past = field(repr=False, compare=False)

    @classmethod
    def start(
        cls, position: Position, ruleset: Ruleset = OFFICIAL, counters: Counters | None = None
    ) -> Clock:
        """Return the clock of a game at its first known position.

        Args:
            position: the first known position.
            ruleset: the ruleset of the game.
            counters: the counters at this position; None for fresh counters. A counter that counts nothing
                in this position is set to 0.
        """
        given = counters or Counters()
        known = {count.counter: count.at_start(given[count.counter], position) for count in ruleset.counts}
        times = max(1, given.repetitions)
        past = _Past(position, times, None, None)
        return cls(position, ruleset, _counters(known, times), past)

    @classmethod
    def from_fen(
        cls,
        fen: str,
        ruleset: Ruleset = OFFICIAL,
        numbering: Numbering | str | None = None,
        given: Mapping[CounterName, int] = MappingProxyType({}),
    ) -> Clock:
        """Return the clock of a game at the position and counters of a FEN.

        The counters come from the field `C` after the pieces, which `Counters.to_field` writes. Without this
        field, the ruleset `lidraughts` reads its shared clock from the field `H`. Counters that are neither
        in the FEN nor in `given` are fresh.

        Args:
            fen: the FEN, in any of the forms that `tablebase.board.notation.parse_fen` accepts.
            ruleset: the ruleset of the game.
            numbering: the numbering of numeric squares, a `Numbering` or its text; None refuses them.
            given: counters that are not in the FEN.

        Raises:
            NotationError: the text is not a FEN or has two fields of counters, or there is no such numbering.
            IllegalPositionError: a square holds two pieces, or a man stands on its own last row.
            CounterError: a counter is out of range, or is both in the FEN and in `given`.
        """
        position = parse_fen(fen, numbering)
        text, known = _counters_in_fen(fen, ruleset)
        for counter in given:
            if counter in known:
                raise CounterError(
                    f"{counter} is given twice, as {given[counter]} and by the field {quote(text)} of the "
                    "FEN; leave out one of them"
                )
        return cls.start(position, ruleset, _counters({**known, **given}))

    def to_fen(self) -> str:
        """Return the FEN of the position followed by the counters, `W:WKa1:BKh8:C3,3,0,0,1`."""
        return f"{self.position.to_fen()}:{self.counters.to_field()}"

    def play(self, move: Move) -> Clock:
        """Return the clock after a legal move.

        Raises:
            IllegalMoveError: the move is not legal in the position.
        """
        return self.play_unchecked(find_legal(self.position, move))

    def play_unchecked(self, move: Move) -> Clock:
        """Return the clock after a move of `legal_moves(position)`, without a check; `play` checks."""
        ply = Ply(self.position, move, position_after(self.position, move))
        known = {
            count.counter: count.after(self.counters[count.counter], ply) for count in self.ruleset.counts
        }
        if self.ruleset.repeats is Repeats.MOVES:
            past = _Past(ply.after, 1, move, self._past)
            times = _times_running(past)
        else:
            # No earlier position can occur again after a capture or a man's move.
            past = _Past(ply.after, 1, move, None if move.zeroing else self._past)
            times = _times_come_up(past)
            past = past._replace(times=times)
        return Clock(ply.after, self.ruleset, _counters(known, times), past)

    def without_history(self) -> Clock:
        """Return this clock without earlier positions, and with this position occurring once."""
        once = replace(self.counters, repetitions=1)
        return Clock(self.position, self.ruleset, once, _Past(self.position, 1, None, None))

    @property
    def seen_twice(self) -> frozenset[Position]:
        """Positions that have occurred twice or more and may occur again.

        One more occurrence fires the rule on repetition. Empty if the ruleset counts repeated moves instead.
        """
        found = []
        at: _Past | None = self._past
        while at is not None:
            if at.times >= 2:
                found.append(at.position)
            at = at.earlier
        return frozenset(found) if self.ruleset.repeats is Repeats.POSITION else frozenset()

    @property
    def winner(self) -> Color | None:
        """The side that has won, because the side to move has no legal move; None otherwise."""
        return None if legal_moves(self.position) else self.position.turn.other

    def states(self, board_won: BoardWon | None = None) -> tuple[RuleState, ...]:
        """Return the state of each rule, in the ruleset's order.

        Args:
            board_won: function that says whether a position is won for a side without draw rules, or None if
                it is not known. It is called only if a rule depends on it. None: no position is known.
        """
        return self.ruling(board_won).states

    def ruling(self, board_won: BoardWon | None = None) -> Ruling:
        """Return the status of the game with the states of all rules.

        Args:
            board_won: function that says whether a position is won for a side without draw rules, or None if
                it is not known. It is called only if a rule depends on it. None: no position is known.
        """
        winner = self.winner
        states = tuple(self._state(rule, winner is not None, board_won) for rule in self.ruleset.rules)
        if winner is not None:
            verdict = _won_by(winner)
        elif any(_draws(state) for state in states):
            verdict = GameStatus.DRAWN
        elif any(state.fired is None for state in states):
            verdict = GameStatus.UNDETERMINED
        elif any(state.claimable for state in states):
            verdict = GameStatus.CLAIMABLE
        else:
            verdict = GameStatus.OPEN
        return Ruling(verdict, states)

    def verdict(self, board_won: BoardWon | None = None) -> GameStatus:
        """Return `ruling(board_won).verdict`, much faster while no count has reached its limit.

        Args:
            board_won: function that says whether a position is won for a side without draw rules, or None if
                it is not known. It is called only if a rule depends on it. None: no position is known.
        """
        limits = (limit for rule in self.ruleset.rules for limit in rule.limits)
        if not any(self._may_be_full(limit) and limit.fits(self.position) for limit in limits):
            winner = self.winner
            return GameStatus.OPEN if winner is None else _won_by(winner)
        return self.ruling(board_won).verdict

    def _may_be_full(self, limit: Limit) -> bool:
        """Whether a limit may be reached, if it is in force.

        A side has made half of the plies as own moves; they are rounded up here, so that no draw is missed.
        """
        counters = self.counters
        for counter, most in limit.thresholds:
            count = counters[counter]
            if ((count + 1) // 2 if limit.own_moves else count) < most:
                return False
        return True

    def _state(self, rule: Rule, over: bool, board_won: BoardWon | None) -> RuleState:
        in_force = [limit for limit in rule.limits if limit.fits(self.position)]
        limit = min(in_force or rule.limits[:1], key=self._remaining)
        counter, most = limit.thresholds[0]
        stronger = limit.scope.stronger(self.position)
        applies = bool(in_force)
        return RuleState(
            rule=rule.name,
            article=limit.article,
            applies=applies,
            count=self._count(counter, limit),
            limit=most,
            unit=unit_of(limit, self.ruleset),
            remaining=self._remaining(limit),
            fired=applies and not over and self._fired(limit, stronger, board_won),
            claim=rule.claim,
            stronger=stronger[0] if len(stronger) == 1 else None,
        )

    def _count(self, counter: CounterName, limit: Limit) -> int:
        count = self.counters[counter]
        if not limit.own_moves:
            return count
        # Turns alternate: the last mover has made half of the plies, rounded up, and the opponent the rest.
        moved_last = self.position.turn.other in limit.scope.stronger(self.position)
        return (count + moved_last) // 2

    def _remaining(self, limit: Limit) -> int:
        return max(0, *(most - self._count(counter, limit) for counter, most in limit.thresholds))

    def _fired(self, limit: Limit, stronger: tuple[Color, ...], board_won: BoardWon | None) -> bool | None:
        if self._remaining(limit):
            return False
        if not limit.unless_won:
            return True
        mover = self.position.turn.other
        if mover not in stronger:
            return False
        won = None if board_won is None else board_won(self.position, mover)
        return None if won is None else not won


def _counters_in_fen(fen: str, ruleset: Ruleset) -> tuple[str, dict[CounterName, int]]:
    """Return the field of counters in a FEN that `parse_fen` has accepted, and its counters by name."""
    fields = [text.strip() for text in in_latin_letters(fen).strip().removesuffix(".").split(":")[3:]]
    ours = [text for text in fields if text[0] == "C"]
    if len(ours) > 1:
        raise NotationError(f"FEN {quote(fen)} has {len(ours)} fields of counters; keep one of them")
    if ours:
        counters = Counters.from_field(ours[0])
        return ours[0], {counter: counters[counter] for counter in CounterName}
    if ruleset.fen_clock is not None:
        for text in reversed(fields):
            if text[0] == "H":
                return text, {ruleset.fen_clock: int(text[1:])}
    return "", {}


def _counters(known: Mapping[CounterName, int], times: int = 1) -> Counters:
    return Counters(
        **{CounterName.REPETITIONS.value: times, **{counter.value: known[counter] for counter in known}}
    )


def _times_come_up(past: _Past) -> int:
    """Return how many times the last position has occurred, including now."""
    earlier = past.earlier
    while earlier is not None:
        if earlier.position == past.position:
            return earlier.times + 1
        earlier = earlier.earlier
    return 1


def _times_running(past: _Past) -> int:
    """Return how many times in a row the last mover has made the same move or series of moves."""
    moves = list(_own_king_moves(past))
    most = 1
    for length in range(1, len(moves) // 2 + 1):
        if len(moves) // length <= most:
            break  # a series of this length cannot have been repeated more often
        same = 0
        while same + length < len(moves) and moves[same] == moves[same + length]:
            same += 1
        most = max(most, 1 + same // length)
    return most


def _own_king_moves(past: _Past) -> Iterator[Move]:
    """Yield the last mover's king moves since its last capture or man's move, the last move first."""
    at: _Past | None = past
    while at is not None and at.move is not None and not at.move.zeroing:
        yield at.move
        at = at.earlier and at.earlier.earlier


@dataclass(frozen=True, slots=True)
class DrawClaim:
    """A draw that a player may claim.

    Attributes:
        state: the state of the rule, after the announced move if there is one.
        player: the side that may claim it, which is the side to move.
        move: the move to announce; None if the draw can be claimed without one.
    """

    state: RuleState
    player: Color
    move: Move | None = None


def draw_claims(clock: Clock, ruling: Ruling, board_won: BoardWon | None = None) -> tuple[DrawClaim, ...]:
    """Return the draws that the side to move may claim, one for each rule, those without a move first.

    Args:
        clock: the game.
        ruling: the ruling of `clock`.
        board_won: function that says whether a position is won for a side without draw rules, or None if it
            is not known. None: no position is known.
    """
    player = clock.position.turn
    found = {state.rule: DrawClaim(state, player) for state in ruling.states if state.claimable}
    if any(rule.claim is Claim.ANNOUNCED for rule in clock.ruleset.rules):
        for move in legal_moves(clock.position):
            for state in clock.play_unchecked(move).ruling(board_won).states:
                if state.claimable and state.claim is Claim.ANNOUNCED:
                    found.setdefault(state.rule, DrawClaim(state, player, move))
    return tuple(found.values())
