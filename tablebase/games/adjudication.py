"""A game judged: what the rules say at every ply, who changed the outcome, and whether the result is right.

The moves are followed to the end of the game by the rules, to the end of the text, or to a move that cannot
be played, whichever comes first. ResultCheck, resignation and time are the players' own affair: a result that
no rule contradicts is theirs to write.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from tablebase.board.notation import Numbering, find_numbering, parse_move
from tablebase.board.position import Color, Move, Position
from tablebase.errors import CounterError, IllegalMoveError, IllegalPositionError, NotationError, quote
from tablebase.games.pdn import GameResult, MoveText, PdnGame, read_games
from tablebase.games.prospect import RulesOutcome, board_outcome
from tablebase.games.search import RuleSearch, win_oracle
from tablebase.probe.tablebase import Tablebase
from tablebase.rules.clock import BoardWon, Clock, DrawClaim, GameStatus, Ruling, draw_claims
from tablebase.rules.outcome import Outcome
from tablebase.rules.ruleset import Ruleset, cite
from tablebase.rules.rulesets import OFFICIAL

EFFORT = 5000
"""How many positions are looked at for one game by default, at the most, where the tables alone do not tell
what a position with its counters is worth. Under the official rules hardly any has to be; under lidraughts,
where an ending may take all of them, that takes a second or more."""

_EFFORT_A_PLY = 300  # few are settled by more, and none shall use up what the rest of the game could do with

MAX_PLIES = 1000
"""The most plies of one game that are followed; the longest games that people have played are far shorter."""


class ProblemKind(StrEnum):
    """What is wrong with a game as such; faults of its text have kinds of their own (`FaultKind`)."""

    UNREADABLE_GAME = "unreadable-game"
    """Its GameType or FEN cannot be read, or is of another game: no move is followed."""
    UNREADABLE_MOVE = "unreadable-move"
    """Something that is no move, or that fits several; the game is followed up to it."""
    ILLEGAL_MOVE = "illegal-move"
    """A move that the rules do not allow there; the game is followed up to it."""
    AFTER_THE_END = "after-the-end"
    """Moves after the game was won or drawn by the rules."""
    TOO_LONG = "too-long"
    """More plies than are followed."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a game.

    Attributes:
        kind: what, as the text of a `ProblemKind` or of a `FaultKind`.
        line: the line of the text, from 1 on.
        ply: the ply it is about, from 1 on; None where it is about none.
        move: the text of the move it is about; None where it is about none.
        message: what is wrong, and what has been made of it.
    """

    kind: str
    line: int
    ply: int | None
    move: str | None
    message: str


@dataclass(frozen=True, slots=True)
class Stand:
    """How a game stands between two moves.

    Attributes:
        clock: the position and its counters.
        ruling: what the rules say of them.
        board: the outcome for the side to move on the board, without draw rules: `WIN`, `DRAW`, `LOSS`, or
            `UNKNOWN` where there is no table.
        rules: its prospect under the rules, counters as they are.
        dtw: plies to the end of the game on the board; None for a draw, or where it is not known.
    """

    clock: Clock
    ruling: Ruling
    board: Outcome
    rules: RulesOutcome
    dtw: int | None

    @property
    def position(self) -> Position:
        """The position."""
        return self.clock.position

    @property
    def is_over(self) -> bool:
        """Whether the game has ended here, by a win or by a rule that needs no claim."""
        return self.ruling.verdict in (GameStatus.WHITE_WON, GameStatus.BLACK_WON, GameStatus.DRAWN)

    @property
    def result(self) -> GameResult | None:
        """The result by the rules, where they have ended the game."""
        return _RESULTS.get(self.ruling.verdict)


_RESULTS = {
    GameStatus.WHITE_WON: GameResult.WHITE_WINS,
    GameStatus.BLACK_WON: GameResult.BLACK_WINS,
    GameStatus.DRAWN: GameResult.DRAW,
}


@dataclass(frozen=True, slots=True)
class PlayedMove:
    """One turn of one player.

    Attributes:
        ply: which turn of the game it is, from 1 on.
        text: the move as it is written.
        move: the move.
        player: who made it.
        after: how the game stands after it.
    """

    ply: int
    text: str
    move: Move
    player: Color
    after: Stand


@dataclass(frozen=True, slots=True)
class Mistake:
    """A move after which the game was worth less to the player who made it than before.

    Attributes:
        ply: which turn of the game it was, from 1 on.
        player: who made it.
        move: the move.
        board_before: the outcome on the board for that player before the move.
        board_after: the same after it.
        rules_before: the prospect under the rules for that player before the move.
        rules_after: the same after it.
        keeping: the moves that would have kept what was lost, best first.
        claim: the draw that the player could have claimed instead, where that would have kept it.
    """

    ply: int
    player: Color
    move: Move
    board_before: Outcome
    board_after: Outcome
    rules_before: RulesOutcome
    rules_after: RulesOutcome
    keeping: tuple[Move, ...]
    claim: DrawClaim | None = None


class Ending(StrEnum):
    """How far the moves of a game lead."""

    WON = "won"
    """A side has no move, or no pieces left."""
    DRAWN = "drawn"
    """A rule that needs no claim has made a draw."""
    CUT_SHORT = "cut-short"
    """The moves stop, and no rule has ended the game: resignation, agreement, time, or a part of a game."""
    EMPTY = "empty"
    """There are no moves."""
    STOPPED = "stopped"
    """A move, or the game, cannot be read or played, or the game is longer than is followed."""


class ResultCheck(StrEnum):
    """The written result beside the rules."""

    AGREES = "agrees"
    """It is what the rules make of the moves, or a draw that can be claimed."""
    CONTRADICTS = "contradicts"
    """The rules have ended the game otherwise."""
    NOT_DECIDED = "not-decided"
    """The rules have not ended the game: the result is the players' own."""
    NOTHING_WRITTEN = "nothing-written"


@dataclass(frozen=True, slots=True)
class Adjudication:
    """A game judged.

    Attributes:
        game: the game as it is written.
        ruleset: the rules it is judged by.
        start: how it stands before its first move; None where that cannot be read.
        plies: its moves, as far as they are followed.
        mistakes: those of them that changed the outcome.
        ending: how far they lead.
        problems: what is wrong with the game or its text; empty for most games.
        claims: the draws that could be claimed in the last position, where no rule has ended the game.
    """

    game: PdnGame
    ruleset: Ruleset
    start: Stand | None
    plies: tuple[PlayedMove, ...]
    mistakes: tuple[Mistake, ...]
    ending: Ending
    problems: tuple[Problem, ...]
    claims: tuple[DrawClaim, ...] = field(default=())

    @property
    def last(self) -> Stand | None:
        """How the game stands after the last move that is followed."""
        return self.plies[-1].after if self.plies else self.start

    @property
    def result(self) -> GameResult | None:
        """What the rules make of the moves; None where they have not ended the game."""
        return None if self.last is None else self.last.result

    @property
    def agreement(self) -> ResultCheck:
        """The written result beside the rules."""
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
        """Whether nothing is wrong with the game, and its result does not contradict the rules."""
        return not self.problems and self.agreement is not ResultCheck.CONTRADICTS


class Adjudicator:
    """Judges games under a ruleset, with what tables know. Any number of threads may use it.

    Args:
        tablebase: tells what positions are worth; a set without any tables will do, and tells nothing.
        ruleset: the rules to judge by.
        numbering: what squares written as numbers mean in games whose GameType does not say so; None refuses
            them there.
        effort: how many positions may be looked at for one game where the tables alone do not tell how it
            would end under the rules; beyond that, such a prospect is left open.
        most_plies: how many plies of a game are followed; those beyond are a problem of it.

    Raises:
        NotationError: there is no such numbering.
    """

    def __init__(
        self,
        tablebase: Tablebase,
        ruleset: Ruleset = OFFICIAL,
        numbering: Numbering | str | None = None,
        effort: int = EFFORT,
        most_plies: int = MAX_PLIES,
    ) -> None:
        self._tablebase = tablebase
        self._ruleset = ruleset
        self._numbering = find_numbering(numbering)
        self._effort = effort
        self._most_plies = most_plies
        self._board_won: BoardWon = win_oracle(tablebase)

    def games(self, text: str) -> Iterator[Adjudication]:
        """The games of a PDN text, judged one after the other. No text makes this fail.

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase has been closed.
        """
        return map(self.game, read_games(text))

    def game(self, game: PdnGame) -> Adjudication:
        """One game, judged. Raises as `games` does."""
        search = RuleSearch(self._tablebase, _EFFORT_A_PLY, self._effort)
        problems = [Problem(str(fault.kind), fault.line, None, None, fault.message) for fault in game.faults]
        try:
            numbering = game.numbering(self._numbering)
            start = self._stand(self._first(game, numbering), search)
        except (NotationError, IllegalPositionError, CounterError) as error:
            problems.append(Problem(ProblemKind.UNREADABLE_GAME, game.line, None, None, str(error)))
            return Adjudication(game, self._ruleset, None, (), (), Ending.STOPPED, tuple(problems))
        plies: list[PlayedMove] = []
        mistakes: list[Mistake] = []
        stand, stop = start, None
        for ply, written in enumerate(game.moves, 1):
            if (stop := _reason_to_stop(game, stand, ply, self._most_plies)) is not None:
                break
            try:
                move = parse_move(stand.position, written.plain, numbering)
            except (NotationError, IllegalMoveError) as error:
                stop = _bad_move(error, written, ply)
                break
            before, stand = stand, self._stand(stand.clock.play_unchecked(move), search)
            plies.append(PlayedMove(ply, written.text, move, before.position.turn, stand))
            if (mistake := self._mistake(before, plies[-1], search)) is not None:
                mistakes.append(mistake)
        if stop is not None:
            problems.append(stop)
        ending = _ending(game, stand, stop)
        claims = draw_claims(stand.clock, stand.ruling, self._board_won) if ending is Ending.CUT_SHORT else ()
        return Adjudication(
            game, self._ruleset, start, tuple(plies), tuple(mistakes), ending, tuple(problems), claims
        )

    def _first(self, game: PdnGame, numbering: Numbering | None) -> Clock:
        fen = game.tag("FEN")
        if fen is None:
            return Clock.start(Position.start(), self._ruleset)
        return Clock.from_fen(fen, self._ruleset, numbering)

    def _stand(self, clock: Clock, search: RuleSearch) -> Stand:
        probe = self._tablebase.get_probe(clock.position)
        ruling = clock.ruling(self._board_won)
        prospect = search.prospect(clock, ruling.verdict, probe)
        return Stand(clock, ruling, board_outcome(probe), prospect, probe.dtw)

    def _mistake(self, before: Stand, played: PlayedMove, search: RuleSearch) -> Mistake | None:
        after = played.after
        board_lost = _is_less(-after.board, before.board)
        rules_lost = _is_worse(-after.rules, before.rules)
        if not (board_lost or rules_lost):
            return None
        keeping = []
        for other in search.moves(before.clock):
            if rules_lost and not _is_kept(other.prospect, before.rules):
                continue
            board = -board_outcome(other.value.probe_after)
            if board_lost and not rules_lost and _is_less(board, before.board):
                continue
            keeping.append(other.move)
        claims: tuple[DrawClaim, ...] = ()
        if rules_lost and before.rules is RulesOutcome.DRAW:
            claims = draw_claims(before.clock, before.ruling, self._board_won)
        return Mistake(
            ply=played.ply,
            player=played.player,
            move=played.move,
            board_before=before.board,
            board_after=-after.board,
            rules_before=before.rules,
            rules_after=-after.rules,
            keeping=tuple(keeping),
            claim=next(iter(claims), None),
        )


def _reason_to_stop(game: PdnGame, stand: Stand, ply: int, most_plies: int) -> Problem | None:
    """Why the move of a ply is not followed any more, if it is not."""
    written = game.moves[ply - 1]
    left = len(game.moves) - ply + 1
    if stand.is_over:
        how = " and ".join(f"{state.rule}, {cite(state.article)}" for state in stand.ruling.fired)
        ended = f"was drawn ({how})" if how else f"was won by {stand.position.turn.other}"
        when = f"after ply {ply - 1}" if ply > 1 else "before its first move"
        return Problem(
            ProblemKind.AFTER_THE_END,
            written.line,
            ply,
            written.text,
            f"the game {ended} {when}, and goes on with {_moves(left)} from {quote(written.text)} on, "
            "which are not followed",
        )
    if ply > most_plies:
        return Problem(
            ProblemKind.TOO_LONG,
            written.line,
            ply,
            written.text,
            f"the game has {len(game.moves)} plies; the first {most_plies} are followed",
        )
    return None


def _moves(count: int) -> str:
    return "1 move" if count == 1 else f"{count} moves"


def _bad_move(error: NotationError | IllegalMoveError, written: MoveText, ply: int) -> Problem:
    kind = ProblemKind.ILLEGAL_MOVE if isinstance(error, IllegalMoveError) else ProblemKind.UNREADABLE_MOVE
    return Problem(kind, written.line, ply, written.text, str(error))


def _ending(game: PdnGame, stand: Stand, stop: Problem | None) -> Ending:
    if stand.is_over:
        return Ending.DRAWN if stand.ruling.verdict is GameStatus.DRAWN else Ending.WON
    if stop is not None:
        return Ending.STOPPED
    return Ending.CUT_SHORT if game.moves else Ending.EMPTY


def _is_less(after: Outcome, before: Outcome) -> bool:
    """Whether an outcome, seen by the same player, is worse than another; not where one is unknown."""
    return after.wdl is not None and before.wdl is not None and after.wdl < before.wdl


def _is_worse(after: RulesOutcome, before: RulesOutcome) -> bool:
    return after.rank is not None and before.rank is not None and after.rank < before.rank


def _is_kept(after: RulesOutcome, before: RulesOutcome) -> bool:
    return after.rank is not None and before.rank is not None and after.rank >= before.rank
