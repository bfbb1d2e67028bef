"""Adjudication of games: the state at every ply, mistakes, and whether the written result is right.

Moves are followed to the end of the game by the rules, to the end of the text, or to a move that cannot be
played. Resignation, agreement and time are the players' own affair: a result that no rule contradicts stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from tablebase.board.notation import Numbering, find_numbering, parse_move
from tablebase.board.position import Color, Move, Position
from tablebase.errors import CounterError, IllegalMoveError, IllegalPositionError, NotationError, quote
from tablebase.games.pdn import GameResult, MoveText, PdnGame, read_games
from tablebase.games.prospect import unruled_outcome
from tablebase.games.search import RuleSearch, win_oracle
from tablebase.probe.tablebase import Tablebase
from tablebase.rules.clock import BoardWon, Clock, DrawClaim, GameStatus, Ruling, draw_claims
from tablebase.rules.outcome import Outcome, RulesOutcome
from tablebase.rules.ruleset import Ruleset, cite
from tablebase.rules.rulesets import OFFICIAL

MAX_NODES = 5000
"""Default limit of positions searched for one game. Under the official rules hardly any game needs a search.
Under lidraughts an endgame may use all of them, which takes a second or more."""

# Few plies need more, and one ply must not use up the limit of the game.
_MAX_NODES_PER_PLY = 300

MAX_PLIES = 1000
"""Default limit of plies followed in one game; the longest games of people are far shorter."""


class ProblemKind(StrEnum):
    """The kind of a problem with a game; faults of its text have the kinds of `FaultKind`."""

    UNREADABLE_GAME = "unreadable-game"
    """The GameType or the FEN cannot be read or is of another game; no move is followed."""
    UNREADABLE_MOVE = "unreadable-move"
    """A text that is not a move, or fits several moves; the game is followed up to it."""
    ILLEGAL_MOVE = "illegal-move"
    """A move that the rules do not allow; the game is followed up to it."""
    AFTER_THE_END = "after-the-end"
    """Moves after the game was won or drawn by the rules."""
    TOO_LONG = "too-long"
    """More plies than the limit."""


@dataclass(frozen=True, slots=True)
class GameProblem:
    """A problem with a game.

    Attributes:
        kind: the text of a `ProblemKind` or a `FaultKind`.
        line: the line of the text, from 1 on.
        ply: the ply of the problem, from 1 on; None if it has none.
        move: the text of the move of the problem; None if it has none.
        message: what is wrong, and what the program did about it.
    """

    kind: str
    line: int
    ply: int | None
    move: str | None
    message: str


@dataclass(frozen=True, slots=True)
class GameState:
    """The state of a game between two moves.

    Attributes:
        clock: the position and its counters.
        ruling: the states of all rules, and the status of the game.
        unruled: the outcome without draw rules for the side to move: `WIN`, `DRAW`, `LOSS`, or `UNKNOWN` if a
            table is missing.
        rules: the rules outcome for the side to move.
        dtw: plies to the end of the game without draw rules; None for a draw or if it is unknown.
    """

    clock: Clock
    ruling: Ruling
    unruled: Outcome
    rules: RulesOutcome
    dtw: int | None

    @property
    def position(self) -> Position:
        """The position of the clock."""
        return self.clock.position

    @property
    def is_over(self) -> bool:
        """Whether the game has ended, by a win or by a rule that needs no claim."""
        return self.ruling.verdict in (GameStatus.WHITE_WON, GameStatus.BLACK_WON, GameStatus.DRAWN)

    @property
    def result(self) -> GameResult | None:
        """The result by the rules; None if they have not ended the game."""
        return _RESULTS.get(self.ruling.verdict)


_RESULTS = {
    GameStatus.WHITE_WON: GameResult.WHITE_WINS,
    GameStatus.BLACK_WON: GameResult.BLACK_WINS,
    GameStatus.DRAWN: GameResult.DRAW,
}


@dataclass(frozen=True, slots=True)
class PlayedMove:
    """A move of a game.

    Attributes:
        ply: the number of the ply, from 1 on.
        text: the move as written.
        move: the move.
        player: the side that made it.
        after: the state of the game after it.
    """

    ply: int
    text: str
    move: Move
    player: Color
    after: GameState


@dataclass(frozen=True, slots=True)
class Mistake:
    """A move that made the outcome worse for its player, with or without draw rules.

    Attributes:
        ply: the number of the ply, from 1 on.
        player: the side that made the move.
        move: the move.
        unruled_before: the outcome without draw rules for that player before the move.
        unruled_after: the same after the move.
        rules_before: the rules outcome for that player before the move.
        rules_after: the same after the move.
        saving_moves: the moves that would have kept the outcome, best first.
        claim: the draw claim that would have kept the outcome; None if there is none.
    """

    ply: int
    player: Color
    move: Move
    unruled_before: Outcome
    unruled_after: Outcome
    rules_before: RulesOutcome
    rules_after: RulesOutcome
    saving_moves: tuple[Move, ...]
    claim: DrawClaim | None = None


class Ending(StrEnum):
    """How the moves of a game end."""

    WON = "won"
    """A side has no legal move or no pieces left."""
    DRAWN = "drawn"
    """A rule that needs no claim made a draw."""
    CUT_SHORT = "cut-short"
    """The moves stop before a rule ends the game: resignation, agreement, time, or a part of a game."""
    EMPTY = "empty"
    """The game has no moves."""
    STOPPED = "stopped"
    """The game or a move cannot be read or played, or the game has more plies than the limit."""


class ResultCheck(StrEnum):
    """The result of comparing the written result with the rules."""

    AGREES = "agrees"
    """It is the result by the rules, or a draw that can be claimed."""
    CONTRADICTS = "contradicts"
    """The rules ended the game with another result."""
    NOT_DECIDED = "not-decided"
    """The rules did not end the game: the result is the players' own."""
    NOTHING_WRITTEN = "nothing-written"


@dataclass(frozen=True, slots=True)
class Adjudication:
    """The adjudication of a game.

    Attributes:
        game: the game as written.
        ruleset: the rules it is judged by.
        start: the state before the first move; None if the first position cannot be read.
        plies: the moves followed.
        mistakes: the moves among them that made the outcome worse.
        ending: how the moves end.
        problems: the problems of the game and faults of its text; empty for most games.
        claims: the draws that can be claimed in the last position, if no rule ended the game.
    """

    game: PdnGame
    ruleset: Ruleset
    start: GameState | None
    plies: tuple[PlayedMove, ...]
    mistakes: tuple[Mistake, ...]
    ending: Ending
    problems: tuple[GameProblem, ...]
    claims: tuple[DrawClaim, ...] = field(default=())

    @property
    def last(self) -> GameState | None:
        """The state after the last move followed; None if the first position cannot be read."""
        return self.plies[-1].after if self.plies else self.start

    @property
    def result(self) -> GameResult | None:
        """The result by the rules; None if they did not end the game."""
        return None if self.last is None else self.last.result

    @property
    def agreement(self) -> ResultCheck:
        """The result of comparing the written result with the rules."""
        written = self.game.written_result
        if written in (None, GameResult.OPEN):
            return ResultCheck.NOTHING_WRITTEN
        if self.result is not None:
            return ResultCheck.AGREES if written is self.result else ResultCheck.CONTRADICTS
        if written is GameResult.DRAW and self.claims and self.ending is Ending.CUT_SHORT:
            return ResultCheck.AGREES
        return ResultCheck.NOT_DECIDED

    @property
    def is_sound(self) -> bool:
        """Whether the game has no problems and its result does not contradict the rules."""
        return not self.problems and self.agreement is not ResultCheck.CONTRADICTS


class Adjudicator:
    """A judge of games under a ruleset, by the tables. Any number of threads may use it.

    Args:
        tablebase: the tables; without tables all outcomes are unknown.
        ruleset: the rules to judge by.
        numbering: the numbering of squares in games without one in their GameType; None refuses numbers
            there.
        max_nodes: limit of positions searched for one game; rules outcomes beyond it stay open.
        max_plies: limit of plies followed in one game; more plies are a problem of it.

    Raises:
        NotationError: the numbering is unknown.
    """

    def __init__(
        self,
        tablebase: Tablebase,
        ruleset: Ruleset = OFFICIAL,
        numbering: Numbering | str | None = None,
        max_nodes: int = MAX_NODES,
        max_plies: int = MAX_PLIES,
    ) -> None:
        self._tablebase = tablebase
        self._ruleset = ruleset
        self._numbering = find_numbering(numbering)
        self._max_nodes = max_nodes
        self._max_plies = max_plies
        self._board_won: BoardWon = win_oracle(tablebase)

    def games(self, text: str) -> Iterator[Adjudication]:
        """Yield the adjudications of the games of a PDN text. Every text can be read.

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        return map(self.game, read_games(text))

    def game(self, game: PdnGame) -> Adjudication:
        """Return the adjudication of a game.

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        search = RuleSearch(self._tablebase, _MAX_NODES_PER_PLY, self._max_nodes)
        problems = [
            GameProblem(str(fault.kind), fault.line, None, None, fault.message) for fault in game.faults
        ]
        try:
            numbering = game.numbering(self._numbering)
            start = self._state(self._first(game, numbering), search)
        except (NotationError, IllegalPositionError, CounterError) as error:
            problems.append(GameProblem(ProblemKind.UNREADABLE_GAME, game.line, None, None, str(error)))
            return Adjudication(game, self._ruleset, None, (), (), Ending.STOPPED, tuple(problems))
        plies: list[PlayedMove] = []
        mistakes: list[Mistake] = []
        state, stop = start, None
        for ply, written in enumerate(game.moves, 1):
            if (stop := _reason_to_stop(game, state, ply, self._max_plies)) is not None:
                break
            try:
                move = parse_move(state.position, written.plain, numbering)
            except (NotationError, IllegalMoveError) as error:
                stop = _bad_move(error, written, ply)
                break
            before, state = state, self._state(state.clock.play_unchecked(move), search)
            plies.append(PlayedMove(ply, written.text, move, before.position.turn, state))
            if (mistake := self._mistake(before, plies[-1], search)) is not None:
                mistakes.append(mistake)
        if stop is not None:
            problems.append(stop)
        ending = _ending(game, state, stop)
        claims = draw_claims(state.clock, state.ruling, self._board_won) if ending is Ending.CUT_SHORT else ()
        return Adjudication(
            game, self._ruleset, start, tuple(plies), tuple(mistakes), ending, tuple(problems), claims
        )

    def _first(self, game: PdnGame, numbering: Numbering | None) -> Clock:
        fen = game.tag("FEN")
        if fen is None:
            return Clock.start(Position.start(), self._ruleset)
        return Clock.from_fen(fen, self._ruleset, numbering)

    def _state(self, clock: Clock, search: RuleSearch) -> GameState:
        probe = self._tablebase.get_probe(clock.position)
        ruling = clock.ruling(self._board_won)
        prospect = search.prospect(clock, ruling.verdict, probe)
        return GameState(clock, ruling, unruled_outcome(probe), prospect, probe.dtw)

    def _mistake(self, before: GameState, played: PlayedMove, search: RuleSearch) -> Mistake | None:
        after = played.after
        unruled_lost = _is_less(-after.unruled, before.unruled)
        rules_lost = _is_worse(-after.rules, before.rules)
        if not (unruled_lost or rules_lost):
            return None
        saving_moves = []
        for other in search.moves(before.clock):
            if rules_lost and not _is_kept(other.prospect, before.rules):
                continue
            board = -unruled_outcome(other.value.probe_after)
            if unruled_lost and not rules_lost and _is_less(board, before.unruled):
                continue
            saving_moves.append(other.move)
        claims: tuple[DrawClaim, ...] = ()
        if rules_lost and before.rules is RulesOutcome.DRAW:
            claims = draw_claims(before.clock, before.ruling, self._board_won)
        return Mistake(
            ply=played.ply,
            player=played.player,
            move=played.move,
            unruled_before=before.unruled,
            unruled_after=-after.unruled,
            rules_before=before.rules,
            rules_after=-after.rules,
            saving_moves=tuple(saving_moves),
            claim=next(iter(claims), None),
        )


def _reason_to_stop(game: PdnGame, state: GameState, ply: int, max_plies: int) -> GameProblem | None:
    """Return the problem that ends a game before the move of a ply; None if the move can be followed."""
    written = game.moves[ply - 1]
    left = len(game.moves) - ply + 1
    if state.is_over:
        how = " and ".join(f"{rule.rule}, {cite(rule.article)}" for rule in state.ruling.fired)
        ended = f"was drawn ({how})" if how else f"was won by {state.position.turn.other}"
        when = f"after ply {ply - 1}" if ply > 1 else "before its first move"
        return GameProblem(
            ProblemKind.AFTER_THE_END,
            written.line,
            ply,
            written.text,
            f"the game {ended} {when}; the text has {_moves(left)} more, from {quote(written.text)} on, "
            "which are ignored",
        )
    if ply > max_plies:
        return GameProblem(
            ProblemKind.TOO_LONG,
            written.line,
            ply,
            written.text,
            f"the game has {len(game.moves)} plies; only the first {max_plies} are followed",
        )
    return None


def _moves(count: int) -> str:
    return "1 move" if count == 1 else f"{count} moves"


def _bad_move(error: NotationError | IllegalMoveError, written: MoveText, ply: int) -> GameProblem:
    kind = ProblemKind.ILLEGAL_MOVE if isinstance(error, IllegalMoveError) else ProblemKind.UNREADABLE_MOVE
    return GameProblem(kind, written.line, ply, written.text, str(error))


def _ending(game: PdnGame, state: GameState, stop: GameProblem | None) -> Ending:
    if state.is_over:
        return Ending.DRAWN if state.ruling.verdict is GameStatus.DRAWN else Ending.WON
    if stop is not None:
        return Ending.STOPPED
    return Ending.CUT_SHORT if game.moves else Ending.EMPTY


def _is_less(after: Outcome, before: Outcome) -> bool:
    """Whether an outcome is worse than another for the same player; False if one is unknown."""
    return after.wdl is not None and before.wdl is not None and after.wdl < before.wdl


def _is_worse(after: RulesOutcome, before: RulesOutcome) -> bool:
    return after.rank is not None and before.rank is not None and after.rank < before.rank


def _is_kept(after: RulesOutcome, before: RulesOutcome) -> bool:
    return after.rank is not None and before.rank is not None and after.rank >= before.rank
