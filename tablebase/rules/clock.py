"""A game in progress under a ruleset: its counters, what each draw rule says, and claims of draws.

A `Clock` knows a position and how its game came to it, as far as the draw rules ask. `Clock.start` begins
one, `play` goes on by a move to a new one, and `states` and `ruling` tell what the rules say:

    clock = Clock.start(position, ruleset, counters)
    clock = clock.play(move)
    ruling = clock.ruling(board_won)

Whether a position is won on the board, which some rules ask, is for the caller to tell: `board_won`.
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
"""Tells whether a position is won for a side on the board, without any draw rule; None: that is not known."""


class Unit(StrEnum):
    """What a count counts; the text of one is its name."""

    PLIES = "plies"
    """Turns of either player."""
    OWN_MOVES = "own-moves"
    """Turns of the stronger side."""
    TIMES = "times"
    """How many times something has come up."""


@dataclass(frozen=True, slots=True)
class RuleState:
    """What one draw rule says of a position and its game.

    Attributes:
        rule: the rule.
        article: where it stands in the text.
        applies: whether it can make a draw in this position at all. Where it does not, the other values are
            those of its first limit.
        count: how far it has come, in `unit`s.
        limit: how far it may come: reaching it makes the draw.
        unit: what is counted.
        remaining: how many more of them, at least, until the limit is reached; 0 where it is reached.
        fired: whether the rule makes a draw here; None where that depends on whether the position is won on
            the board, and nobody can tell. False wherever the game has been won.
        claim: how the draw comes about once the rule has fired.
        stronger: the side whose moves or whose win it is about; None where there is no such side, or where
            the rule speaks of both.
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
        """Whether the rule has fired, and makes the draw if a player claims it."""
        return self.fired is True and self.claim is not Claim.AUTOMATIC


class GameStatus(StrEnum):
    """What a position and its game come to."""

    OPEN = "open"
    """The game goes on."""
    CLAIMABLE = "claimable"
    """The game goes on unless a draw is claimed, which would be right."""
    DRAWN = "drawn"
    """The game has ended in a draw."""
    UNDETERMINED = "undetermined"
    """It has, unless the position is won on the board, which nobody can tell."""
    WHITE_WON = "white-won"
    BLACK_WON = "black-won"

    @property
    def ends_the_game(self) -> bool:
        """Whether the game has ended for certain: a win, or a draw that needs no claim."""
        return self in (GameStatus.DRAWN, GameStatus.WHITE_WON, GameStatus.BLACK_WON)


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the ruleset says of a position and its game.

    Attributes:
        verdict: the whole of it. A win goes before rules that draw by themselves, and these before claims.
        states: what each rule says, in the ruleset's order.
    """

    verdict: GameStatus
    states: tuple[RuleState, ...]

    @property
    def fired(self) -> tuple[RuleState, ...]:
        """The rules that make the verdict: those that have drawn the game, those that may have, or those that
        can be claimed.
        """
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
    """What is counted until a limit of a ruleset is reached."""
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
    """A position of a game, with those before it that may come up again: a list that shares its tail."""

    position: Position
    times: int
    move: Move | None
    earlier: _Past | None


@dataclass(frozen=True, slots=True)
class Clock:
    """A position with its counters under a ruleset. Immutable: a move leads to another clock.

    Made by `start` and `play`, not by hand.

    Attributes:
        position: the position.
        ruleset: the rules it is judged by.
        counters: how far each count has come, this position included.
    """

    position: Position
    ruleset: Ruleset
    counters: Counters
    _past: _Past = field(repr=False, compare=False)

    @classmethod
    def start(
        cls, position: Position, ruleset: Ruleset = OFFICIAL, counters: Counters | None = None
    ) -> Clock:
        """The clock of a game at the first position that is known of it.

        Args:
            position: that position.
            ruleset: the rules to judge by.
            counters: how far each count has come; None: the counts begin here. One that counts nothing in
                this position is set to 0.
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
        """The clock of a game at a position with its counters, both read from a FEN.

        The counters are those of the field `C` after the pieces, as `Counters.to_field` writes it, in any
        ruleset. Where the ruleset is `lidraughts` and that field is not there, `H` and a number is its shared
        clock. Those that are in neither are as `given` beside the FEN; others begin here.

        Raises:
            NotationError, IllegalPositionError: as `parse_fen`.
            CounterError: a counter is no count, or it is both in the FEN and given beside it.
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
        """The FEN of the position with the counters after it, `W:WKa1:BKh8:C3,3,0,0,1`."""
        return f"{self.position.to_fen()}:{self.counters.to_field()}"

    def play(self, move: Move) -> Clock:
        """The clock after a move.

        Raises:
            IllegalMoveError: the move is not legal in the position.
        """
        return self.play_unchecked(find_legal(self.position, move))

    def play_unchecked(self, move: Move) -> Clock:
        """The clock after a move of `legal_moves(position)`, which is not checked; `play` checks it."""
        ply = Ply(self.position, move, position_after(self.position, move))
        known = {
            count.counter: count.after(self.counters[count.counter], ply) for count in self.ruleset.counts
        }
        if self.ruleset.repeats is Repeats.MOVES:
            past = _Past(ply.after, 1, move, self._past)
            times = _times_running(past)
        else:
            # After a capture or a man's move no earlier position can come up again.
            past = _Past(ply.after, 1, move, None if move.zeroing else self._past)
            times = _times_come_up(past)
            past = past._replace(times=times)
        return Clock(ply.after, self.ruleset, _counters(known, times), past)

    def without_history(self) -> Clock:
        """The same clock, knowing nothing of earlier positions, nor that this one has come up before."""
        once = replace(self.counters, repetitions=1)
        return Clock(self.position, self.ruleset, once, _Past(self.position, 1, None, None))

    @property
    def seen_twice(self) -> frozenset[Position]:
        """The positions that have come up twice or more, and may come up again: once more, and the rule on
        repetition makes a draw. Empty where the ruleset counts the repetition of moves instead."""
        found = []
        at: _Past | None = self._past
        while at is not None:
            if at.times >= 2:
                found.append(at.position)
            at = at.earlier
        return frozenset(found) if self.ruleset.repeats is Repeats.POSITION else frozenset()

    @property
    def winner(self) -> Color | None:
        """The side that has won on the board: the side to move has no move. None while the game goes on."""
        return None if legal_moves(self.position) else self.position.turn.other

    def states(self, board_won: BoardWon | None = None) -> tuple[RuleState, ...]:
        """What each rule says, in the ruleset's order.

        Args:
            board_won: tells whether a position is won on the board, for rules that spare such positions. It
                is asked only where a rule depends on it. None: nothing is known.
        """
        return self.ruling(board_won).states

    def ruling(self, board_won: BoardWon | None = None) -> Ruling:
        """What all rules together say: a win first, then rules that draw by themselves, then claims.

        Args:
            board_won: as for `states`.
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
        """That of `ruling`, for much less work while no count has come to its limit.

        Args:
            board_won: as for `states`.
        """
        limits = (limit for rule in self.ruleset.rules for limit in rule.limits)
        if not any(self._may_be_full(limit) and limit.fits(self.position) for limit in limits):
            winner = self.winner
            return GameStatus.OPEN if winner is None else _won_by(winner)
        return self.ruling(board_won).verdict

    def _may_be_full(self, limit: Limit) -> bool:
        """Whether a limit is reached if it is in force. Of own moves so many plies have one half, rounded up
        or down."""
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
        # Turns alternate, so of so many plies the last mover made half, rounded up, and the other the rest.
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
    """The counters that a FEN has which `parse_fen` has taken, and the field that they are in."""
    fields = [text.strip() for text in in_latin_letters(fen).strip().removesuffix(".").split(":")[3:]]
    ours = [text for text in fields if text[0] == "C"]
    if len(ours) > 1:
        raise NotationError(f"FEN {quote(fen)} has {len(ours)} fields of counters; leave one of them")
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
    """How many times the last position has come up, itself included."""
    earlier = past.earlier
    while earlier is not None:
        if earlier.position == past.position:
            return earlier.times + 1
        earlier = earlier.earlier
    return 1


def _times_running(past: _Past) -> int:
    """How many times running the last mover has made the same moves, one or several."""
    moves = list(_own_king_moves(past))
    most = 1
    for length in range(1, len(moves) // 2 + 1):
        if len(moves) // length <= most:
            break  # there is no room for more times of so long a series
        same = 0
        while same + length < len(moves) and moves[same] == moves[same + length]:
            same += 1
        most = max(most, 1 + same // length)
    return most


def _own_king_moves(past: _Past) -> Iterator[Move]:
    """The last mover's moves in a row that can be made again, the last one first."""
    at: _Past | None = past
    while at is not None and at.move is not None and not at.move.zeroing:
        yield at.move
        at = at.earlier and at.earlier.earlier


@dataclass(frozen=True, slots=True)
class DrawClaim:
    """A draw that could be claimed.

    Attributes:
        state: what the rule says, with the announced move made where there is one.
        player: who could claim it: the side to move.
        move: the move to announce; None where the position is enough as it is.
    """

    state: RuleState
    player: Color
    move: Move | None = None


def draw_claims(clock: Clock, ruling: Ruling, board_won: BoardWon | None = None) -> tuple[DrawClaim, ...]:
    """The draws that the side to move could claim, one a rule, those that take no move first.

    Args:
        clock: the game.
        ruling: what the rules say of it.
        board_won: as for `Clock.ruling`.
    """
    player = clock.position.turn
    found = {state.rule: DrawClaim(state, player) for state in ruling.states if state.claimable}
    if any(rule.claim is Claim.ANNOUNCED for rule in clock.ruleset.rules):
        for move in legal_moves(clock.position):
            for state in clock.play_unchecked(move).ruling(board_won).states:
                if state.claimable and state.claim is Claim.ANNOUNCED:
                    found.setdefault(state.rule, DrawClaim(state, player, move))
    return tuple(found.values())
