"""A game of a person against the engine, in lines of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tablebase.board.notation import Numbering, parse_move
from tablebase.board.position import Color, Move
from tablebase.engine.engine import Choice, Engine
from tablebase.errors import IllegalMoveError, NotationError
from tablebase.games.search import win_oracle
from tablebase.probe.line import lost_in_words
from tablebase.probe.tablebase import Tablebase
from tablebase.report.sentences import outcome_sentence, rule_list, status_sentence
from tablebase.report.text import numbered, rules_table, wrapped
from tablebase.rules.clock import Clock, DrawClaim, GameStatus, Ruling, draw_claims
from tablebase.rules.outcome import RulesOutcome

HELP = (
    "Type a move, like c3-d4, c3:e5 or cd4; `hint` for the best move, `undo` to take back your last move, "
    "`moves` for the legal moves, `draw` to claim a draw, `quit` to end."
)

Read = Callable[[str], str | None]
"""A function that shows a prompt and returns the next line; None at the end of the input."""

Write = Callable[[str], None]
"""A function that prints a text and a newline."""


class _Ply(NamedTuple):
    """A move of the game with the clock before it."""

    before: Clock
    move: Move


class PlaySession:
    """A game of a person against the engine.

    Args:
        tablebase: the tables.
        clock: the first position with its counters and the ruleset.
        side: the side of the person.
        read: reads a line of the person.
        write: prints a text.
        numbering: the numbering for squares typed as numbers; None refuses such squares.
        width: the width of the texts, in columns.
    """

    def __init__(
        self,
        tablebase: Tablebase,
        clock: Clock,
        side: Color,
        read: Read,
        write: Write,
        *,
        numbering: Numbering | str | None = None,
        width: int = 100,
    ) -> None:
        self._engine = Engine(tablebase)
        self._board_won = win_oracle(tablebase)
        self._clock = clock
        self._first = clock.position.turn
        self._side = side
        self._read = read
        self._write = write
        self._numbering = numbering
        self._width = width
        self._played: list[_Ply] = []

    def run(self) -> None:
        """Play until the game ends, the person quits, or the input ends.

        Raises:
            TableError: a table is there but cannot be read.
            ClosedError: the tablebase is closed.
        """
        self._print(f"You play {self._side}, under the ruleset {self._clock.ruleset.name}. {HELP}")
        while True:
            ruling = self._clock.ruling(self._board_won)
            if (end := self._end(ruling)) is not None:
                self._show(ruling)
                return self._finish(end)
            is_person = self._clock.position.turn is self._side
            end = self._person_turn(ruling) if is_person else self._engine_turn(ruling)
            if end is not None:
                return self._finish(end)

    def _end(self, ruling: Ruling) -> str | None:
        """Return a sentence that says how the game ended; None if it goes on."""
        if ruling.verdict in (GameStatus.WHITE_WON, GameStatus.BLACK_WON):
            return lost_in_words(self._clock.position)
        if ruling.verdict in (GameStatus.DRAWN, GameStatus.UNDETERMINED):
            return status_sentence(ruling)
        return None

    def _finish(self, end: str) -> None:
        self._print(end)
        if self._played:
            self._print(numbered([ply.move for ply in self._played], self._first))

    def _print(self, text: str) -> None:
        self._write(wrapped(text, self._width))

    def _show(self, ruling: Ruling) -> None:
        """Print the board and the states of the draw rules that apply."""
        applying = [state for state in ruling.states if state.applies]
        parts = ["", str(self._clock.position), "", *([rules_table(applying), ""] if applying else [])]
        self._write("\n".join(parts))

    # The engine's turn

    def _engine_turn(self, ruling: Ruling) -> str | None:
        """Play a move of the engine or claim a draw; return a sentence if the game ended."""
        choice = self._choose()
        if choice.ruled.prospect in (RulesOutcome.DRAW, RulesOutcome.MAYBE_LOSS, RulesOutcome.LOSS):
            for claim in draw_claims(self._clock, ruling, self._board_won):
                return self._claim_text(claim)
        self._print(f"{self._clock.position.turn.capitalize()} plays {choice.move}.{_by_search(choice)}")
        self._play(choice.move)
        return None

    def _choose(self) -> Choice:
        choice = self._engine.choose(self._clock)
        assert choice is not None, "the position has a legal move"
        return choice

    def _play(self, move: Move) -> None:
        self._played.append(_Ply(self._clock, move))
        self._clock = self._clock.play_unchecked(move)

    def _claim_text(self, claim: DrawClaim) -> str:
        announced = "" if claim.move is None else f", announcing {claim.move}"
        rule = rule_list([claim.state])
        return f"{claim.player.capitalize()} claims a draw{announced}, by {rule}: the game is drawn."

    # The person's turn

    def _person_turn(self, ruling: Ruling) -> str | None:
        """Read commands until the person moves; return a sentence if the game ended."""
        self._show(ruling)
        if ruling.verdict is GameStatus.CLAIMABLE:
            self._print(status_sentence(ruling))
        while (line := self._read(f"{self._side}> ")) is not None:
            match line.strip().lower():
                case "":
                    continue
                case "quit" | "exit":
                    break
                case "help" | "?":
                    self._print(HELP)
                case "hint":
                    self._hint()
                case "moves":
                    self._print(" ".join(map(str, self._clock.position.legal_moves())))
                case "undo":
                    if self._undo():
                        return None
                    self._print("There is no move of yours to take back.")
                case "draw":
                    for claim in draw_claims(self._clock, ruling, self._board_won):
                        return self._claim_text(claim)
                    self._print("No rule lets you claim a draw here.")
                case _:
                    try:
                        move = parse_move(self._clock.position, line.lower(), self._numbering)
                    except (NotationError, IllegalMoveError) as error:
                        self._print(f"{error}.")
                    else:
                        self._play(move)
                        return None
        return "The game is not finished."

    def _undo(self) -> bool:
        """Take back the person's last move and all after it; return False if there is none."""
        for place in reversed(range(len(self._played))):
            if self._played[place].before.position.turn is self._side:
                self._clock = self._played[place].before
                del self._played[place:]
                return True
        return False

    def _hint(self) -> None:
        choice = self._choose()
        turn, ruleset = self._clock.position.turn, self._clock.ruleset.name
        if choice.found is None:
            self._print(f"{choice.move}. {outcome_sentence(turn, choice.ruled.prospect, ruleset)}")
        else:
            self._print(f"{choice.move}.{_by_search(choice)}")


def _by_search(choice: Choice) -> str:
    """Return the sentence on a move that a search found; empty if the tables decided it."""
    if choice.found is None:
        return ""
    return f" The tables do not decide the best move here: a search of {choice.found.depth} plies found it."
