"""A game of a person against the tables, in lines of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tablebase.board.notation import Numbering, parse_move
from tablebase.board.position import Color, Move
from tablebase.engine.engine import Choice, Engine
from tablebase.errors import IllegalMoveError, NotationError
from tablebase.games.prospect import RulesOutcome
from tablebase.games.search import win_oracle
from tablebase.probe.line import lost_in_words
from tablebase.probe.tablebase import Tablebase
from tablebase.report.sentences import outcome_sentence, rule_list, status_sentence
from tablebase.report.text import numbered, rules_table, wrapped
from tablebase.rules.clock import Clock, DrawClaim, GameStatus, Ruling, draw_claims

HELP = (
    "Type a move, like c3-d4, c3:e5 or cd4; `hint` for the best one, `undo` to take back your last one, "
    "`moves` for those that are legal, `draw` to claim a draw, `quit` to end."
)

Read = Callable[[str], str | None]
"""A function that shows a prompt and returns the line typed; None at the end of the input."""

Write = Callable[[str], None]
"""A function that shows a text and ends its last line."""


class _Ply(NamedTuple):
    """A move of the game, with the clock before it."""

    before: Clock
    move: Move


class PlaySession:
    """A game of a person against the tables.

    Args:
        tablebase: the tables.
        clock: the game at its beginning, with its ruleset.
        side: the side of the person.
        read: reads a line from the person.
        write: shows a text to the person.
        numbering: the meaning of squares typed as numbers; None refuses them.
        width: the width of texts, in columns.
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
        """Play until the game ends, the person ends it, or the input ends.

        Raises:
            TableError: a table is there but cannot be read.
        """
        self._tell(f"You play {self._side}, under the ruleset {self._clock.ruleset.name}. {HELP}")
        while True:
            ruling = self._clock.ruling(self._board_won)
            if (end := self._end(ruling)) is not None:
                self._show(ruling)
                return self._close(end)
            is_person = self._clock.position.turn is self._side
            end = self._ask(ruling) if is_person else self._answer(ruling)
            if end is not None:
                return self._close(end)

    def _end(self, ruling: Ruling) -> str | None:
        """Return how the game has ended, as a sentence; None while it goes on."""
        if ruling.verdict in (GameStatus.WHITE_WON, GameStatus.BLACK_WON):
            return lost_in_words(self._clock.position)
        if ruling.verdict in (GameStatus.DRAWN, GameStatus.UNDETERMINED):
            return status_sentence(ruling)
        return None

    def _close(self, end: str) -> None:
        self._tell(end)
        if self._played:
            self._tell(numbered([ply.move for ply in self._played], self._first))

    def _tell(self, text: str) -> None:
        self._write(wrapped(text, self._width))

    def _show(self, ruling: Ruling) -> None:
        """Show the board and the counts of the draw rules."""
        applying = [state for state in ruling.states if state.applies]
        parts = ["", str(self._clock.position), "", *([rules_table(applying), ""] if applying else [])]
        self._write("\n".join(parts))

    # The tables' turn

    def _answer(self, ruling: Ruling) -> str | None:
        """Make the best move, or claim a draw; return how the game has ended, None while it goes on."""
        choice = self._choose()
        if choice.ruled.prospect in (RulesOutcome.DRAW, RulesOutcome.MAYBE_LOSS, RulesOutcome.LOSS):
            for claim in draw_claims(self._clock, ruling, self._board_won):
                return self._claimed(claim)
        self._tell(f"{self._clock.position.turn.capitalize()} plays {choice.move}.{_by_search(choice)}")
        self._make(choice.move)
        return None

    def _choose(self) -> Choice:
        choice = self._engine.choose(self._clock)
        assert choice is not None, "asked only where there are moves"
        return choice

    def _make(self, move: Move) -> None:
        self._played.append(_Ply(self._clock, move))
        self._clock = self._clock.play_unchecked(move)

    def _claimed(self, claim: DrawClaim) -> str:
        announced = "" if claim.move is None else f", announcing {claim.move}"
        rule = rule_list([claim.state])
        return f"{claim.player.capitalize()} claims a draw{announced}, by {rule}: the game is drawn."

    # The person's turn

    def _ask(self, ruling: Ruling) -> str | None:
        """Carry out what the person types; return how the game has ended, None while it goes on."""
        self._show(ruling)
        if ruling.verdict is GameStatus.CLAIMABLE:
            self._tell(status_sentence(ruling))
        while (line := self._read(f"{self._side}> ")) is not None:
            match line.strip().lower():
                case "":
                    continue
                case "quit" | "exit":
                    break
                case "help" | "?":
                    self._tell(HELP)
                case "hint":
                    self._hint()
                case "moves":
                    self._tell(" ".join(map(str, self._clock.position.legal_moves())))
                case "undo":
                    if self._undo():
                        return None
                    self._tell("There is no move of yours to take back.")
                case "draw":
                    for claim in draw_claims(self._clock, ruling, self._board_won):
                        return self._claimed(claim)
                    self._tell("No rule lets you claim a draw here.")
                case _:
                    try:
                        move = parse_move(self._clock.position, line.lower(), self._numbering)
                    except (NotationError, IllegalMoveError) as error:
                        self._tell(f"{error}.")
                    else:
                        self._make(move)
                        return None
        return "The game is not finished."

    def _undo(self) -> bool:
        """Take back the person's last move and return True; return False if there is none."""
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
            self._tell(f"{choice.move}. {outcome_sentence(turn, choice.ruled.prospect, ruleset)}")
        else:
            self._tell(f"{choice.move}.{_by_search(choice)}")


def _by_search(choice: Choice) -> str:
    """Return a sentence on a move that a search found because no table tells the best one."""
    if choice.found is None:
        return ""
    return f" No table tells the best move here: it was found by looking {choice.found.depth} plies ahead."
