"""An engine in the Hub protocol, which pydraughts and other programs drive.

The protocol is that of Scan 3.1 (`protocol.txt` in rhalbersma/scan). What it leaves open for this game, the
name of the variant and how squares are numbered, is told in docs/engine.md.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from queue import Empty, SimpleQueue
from threading import Event, Thread

from tablebase import __version__
from tablebase.board.notation import Numbering, format_hub_move, parse_hub_move, parse_hub_position
from tablebase.engine.engine import WON, Choice, Engine, Limits
from tablebase.errors import ArgumentError, IllegalMoveError, NotationError, TablebaseError, quote
from tablebase.probe.tablebase import Tablebase
from tablebase.rules.clock import Clock
from tablebase.rules.outcome import RulesOutcome
from tablebase.rules.rulesets import RULESETS, Ruleset, find_ruleset

_ARGUMENT = re.compile(r'\s+([^\s="]+)(?:\s*=\s*(?:"([^"]*)"|([^\s="]+)))?')
_COMMAND = re.compile(r"\s*([^\s=\"]+)")
_NEEDS_QUOTES = re.compile(r'[\s="]|^$')


def parse_hub_line(line: str) -> tuple[str, dict[str, str]]:
    """The command of a line, and its arguments in their order; one without a value has the empty text.

    A line of blanks is the empty command.

    Raises:
        NotationError: the line has another form.
    """
    text = line.rstrip()
    if not text:
        return "", {}
    command = _COMMAND.match(text)
    at, arguments = (command.end() if command else 0), dict[str, str]()
    while command and at < len(text) and (found := _ARGUMENT.match(text, at)):
        arguments[found[1]] = found[2] if found[2] is not None else found[3] or ""
        at = found.end()
    if command is None or at < len(text):
        raise NotationError(f"{quote(text[at:].strip())} is no command or argument; write name=value")
    return command[1], arguments


def format_hub_line(command: str, arguments: Mapping[str, str]) -> str:
    """A line for `parse_hub_line`; quotes in a value become single ones, as the protocol has no way to write
    them."""
    return " ".join([command, *(f"{name}={_value(value)}" for name, value in arguments.items())])


def _value(value: str) -> str:
    plain = re.sub(r"\s+", " ", value).replace('"', "'")
    return f'"{plain}"' if _NEEDS_QUOTES.search(plain) else plain


class HubInput(Iterator[str]):
    """Lines in their order; waits for the next one. One thread at a time may use it.

    Nothing is read behind `quit`, which is an end too.

    Args:
        lines: where they come from, to be used by nobody else.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self._queue: SimpleQueue[str | None] = SimpleQueue()  # None is the end
        self._next: str | None = None
        self._ended = Event()
        self._error: OSError | None = None
        Thread(target=self._read, daemon=True).start()

    def __next__(self) -> str:
        """The next line.

        Raises:
            StopIteration: there are no more.
            OSError: they cannot be read any further.
        """
        if self._next is None:
            self._next = self._queue.get()
        line, self._next = self._next, None
        if line is None:
            self._queue.put(None)  # whoever asks once more is told the same
            raise self._error or StopIteration
        return line

    @property
    def has_ended(self) -> bool:
        """Whether no line will come any more, though some may be waiting."""
        return self._ended.is_set()

    def peek(self) -> str | None:
        """The line that would be next, if it has come; it stays."""
        if self._next is None:
            try:
                self._next = self._queue.get_nowait()
            except Empty:
                return None
            if self._next is None:
                self._queue.put(None)
        return self._next

    def _read(self) -> None:
        try:
            for line in self._lines:
                self._queue.put(line)
                if line.split()[:1] == ["quit"]:
                    break
        except OSError as error:
            self._error = error
        finally:
            self._ended.set()
            self._queue.put(None)


VARIANT = "russian"
"""The name of this game."""

_MOVES_LEFT = 30
"""Of a clock that says nothing of how many moves it is for, a move gets one of so many parts."""

_MAX_CLOCK_SHARE = 0.9
"""No move gets more than this part of what the clock has: the way of an answer takes time as well."""

_WIN_SCORE = 100.0  # men, less a hundredth for each ply to the end, as Scan counts
_FAR_WIN_SCORE = 90.0  # where the plies to the end are not known

Write = Callable[[str], None]


class HubSession:
    """What an engine knows between commands: parameters, the game, the limits of the next search.

    Args:
        tablebase: the tables.
        ruleset: the draw rules of the game, until a parameter says otherwise.
        write: takes each line of an answer, without its end.
    """

    def __init__(self, tablebase: Tablebase, ruleset: Ruleset, write: Write) -> None:
        self._engine = Engine(tablebase)
        self._ruleset = ruleset
        self._write = write
        # As pydraughts' driver has them, the only one known for this game: positions from the row that is
        # farthest from White, as on the large board, and moves as PDN numbers the squares here.
        self._position_numbering = Numbering.B8
        self._move_numbering = Numbering.A1
        self._clock: Clock | None = None
        self._limits = Limits()
        self._input: HubInput | None = None
        self._commands: dict[str, Callable[[Mapping[str, str]], None]] = {
            "hub": self._hub,
            "set-param": self._set_param,
            "init": lambda arguments: self._answer("ready"),
            "ping": lambda arguments: self._answer("pong"),
            "new-game": self._new_game,
            "pos": self._pos,
            "level": self._level,
            "go": self._go,
        }

    def run(self, lines: Iterable[str]) -> None:
        """Answer commands until `quit`, or until there are no more of them.

        What is wrong with a command is answered by `error`, and the next one is waited for. Commands that the
        protocol has for a search that is going on find none here, and are passed over as those that it does
        not have.

        Args:
            lines: the commands. At those of a `HubInput` a search looks while it goes on; others wait for its
                end.
        """
        self._input = lines if isinstance(lines, HubInput) else None
        for line in lines:
            try:
                command, arguments = parse_hub_line(line)
                if command == "quit":
                    return
                if command in self._commands:
                    self._commands[command](arguments)
            except TablebaseError as error:
                self._answer("error", message=str(error))

    def _answer(self, command: str, **arguments: str) -> None:
        named = {name.replace("_", "-"): value for name, value in arguments.items()}
        self._write(format_hub_line(command, named))

    def _hub(self, arguments: Mapping[str, str]) -> None:
        self._answer("id", name="shashki-tablebase", version=__version__, author="its authors")
        for name, (value, values) in self._parameters().items():
            self._answer("param", name=name, value=value, type="enum", values=" ".join(values))
        self._answer("wait")

    def _parameters(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """The parameters, each with its value and those it may have."""
        numberings = tuple(numbering.value for numbering in Numbering)
        return {
            "variant": (VARIANT, (VARIANT,)),
            "ruleset": (self._ruleset.name, tuple(RULESETS)),
            "position-numbering": (self._position_numbering.value, numberings),
            "move-numbering": (self._move_numbering.value, numberings),
        }

    def _set_param(self, arguments: Mapping[str, str]) -> None:
        name, value = arguments.get("name", ""), arguments.get("value", "")
        parameters = self._parameters()
        if name not in parameters:
            raise ArgumentError(f"{quote(name)} is no parameter; there are {', '.join(parameters)}")
        _, values = parameters[name]
        if value not in values:
            raise ArgumentError(f"{name} cannot be {quote(value)}; it may be {', '.join(values)}")
        match name:
            case "ruleset":
                self._ruleset = find_ruleset(value)
            case "position-numbering":
                self._position_numbering = Numbering(value)
            case "move-numbering":
                self._move_numbering = Numbering(value)

    def _new_game(self, arguments: Mapping[str, str]) -> None:
        self._clock = None

    def _pos(self, arguments: Mapping[str, str]) -> None:
        self._clock = None  # of a command that is wrong nothing is left to search
        if "pos" not in arguments:
            raise NotationError("pos has no position; write pos pos=W... moves=...")
        clock = Clock.start(parse_hub_position(arguments["pos"], self._position_numbering), self._ruleset)
        for text in arguments.get("moves", "").split():
            clock = clock.play_unchecked(parse_hub_move(clock.position, text, self._move_numbering))
        self._clock = clock

    def _level(self, arguments: Mapping[str, str]) -> None:
        names = ("depth", "nodes", "move-time", "time", "inc", "moves")
        given = {name: _number(name, arguments) for name in names}
        depth, nodes, seconds = given["depth"], given["nodes"], given["move-time"]
        if seconds is None and given["time"] is not None:
            left, more = given["time"], given["inc"] or 0.0
            part = left / max(1.0, given["moves"] or _MOVES_LEFT) + more
            seconds = min(part, _MAX_CLOCK_SHARE * (left + more))  # `inc` is added before the move
        self._limits = Limits(
            None if depth is None else max(1, int(depth)),
            None if seconds is None else max(0.0, seconds),
            None if nodes is None else max(1, int(nodes)),
        )

    def _go(self, arguments: Mapping[str, str]) -> None:
        # The protocol lets an engine end any search when it likes, so pondering and analysing are the same.
        if self._clock is None:
            raise ArgumentError("there is no position to search; send pos first")
        began = time.monotonic()
        choice = self._engine.choose(self._clock, self._limits, self._poll_commands)
        if choice is None:
            raise IllegalMoveError(
                f"there is no move in {self._clock.position.to_fen()}: the side to move has lost"
            )
        move = format_hub_move(choice.move, self._move_numbering)
        depth, nodes = (choice.found.depth, choice.found.nodes) if choice.found else (1, 1)
        self._answer(
            "info",
            depth=str(depth),
            score=f"{_score(choice):.2f}",
            nodes=str(nodes),
            time=f"{time.monotonic() - began:.3f}",
            pv=move,
        )
        self._answer("done", move=move)

    def _poll_commands(self) -> bool:
        """Answer what may be sent while a search goes on; whether this one is to end.

        Any other command waits for its end, and what comes behind that is not for this search: only the end
        of the input is, as nobody is there any more to read what is found.
        """
        while self._input is not None and (line := self._input.peek()) is not None:
            match line.split():
                case ["ping", *_]:
                    self._answer("pong")
                case ["ponder-hit", *_] | []:
                    pass  # the search ends by its level anyway
                case ["stop", *_]:
                    next(self._input)
                    return True
                case _:
                    break
            next(self._input)
        return self._input is not None and self._input.has_ended


def _number(name: str, arguments: Mapping[str, str]) -> float | None:
    if name not in arguments:
        return None
    try:
        number = float(arguments[name])
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ArgumentError(f"{name} cannot be {quote(arguments[name])}; it is a number")
    return number


def _score(choice: Choice) -> float:
    """What a move is worth to the player who makes it, in men."""
    if choice.found is not None:
        value = choice.found.value
        return math.copysign(_FAR_WIN_SCORE, value) if abs(value) >= WON // 2 else value / 100
    if choice.ruled.prospect not in (RulesOutcome.WIN, RulesOutcome.LOSS):
        return 0.0
    plies = choice.ruled.value.dtw
    score = _FAR_WIN_SCORE if plies is None else _WIN_SCORE - plies / 100
    return score if choice.ruled.prospect is RulesOutcome.WIN else -score
