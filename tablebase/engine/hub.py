"""The engine in the Hub protocol, which pydraughts and other programs use.

The protocol is that of Scan 3.1 (`protocol.txt` in rhalbersma/scan). It leaves open the name of this variant
and the numbering of its squares; docs/engine.md defines them.
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
    """Return the command of a line and its arguments by name, in order.

    An argument without a value has the value "". A blank line is the command "".

    Raises:
        NotationError: the line does not have the form `command name=value ...`.
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
        raise NotationError(f"{quote(text[at:].strip())} is not a command or an argument; write name=value")
    return command[1], arguments


def format_hub_line(command: str, arguments: Mapping[str, str]) -> str:
    """Return the line that `parse_hub_line` reads back, except for double quotes in values.

    They become single quotes, because the protocol cannot express them.
    """
    return " ".join([command, *(f"{name}={_value(value)}" for name, value in arguments.items())])


def _value(value: str) -> str:
    plain = re.sub(r"\s+", " ", value).replace('"', "'")
    return f'"{plain}"' if _NEEDS_QUOTES.search(plain) else plain


class HubInput(Iterator[str]):
    """An iterator of lines that can look at the next line without waiting for it.

    A thread reads the lines up to `quit` or their end. One thread at a time may use the iterator.

    Args:
        lines: the source of the lines; nothing else may read from it.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self._queue: SimpleQueue[str | None] = SimpleQueue()  # None is the end
        self._next: str | None = None
        self._ended = Event()
        self._error: OSError | None = None
        Thread(target=self._read, daemon=True).start()

    def __next__(self) -> str:
        """Wait for the next line and return it.

        Raises:
            StopIteration: there are no more lines.
            OSError: the source cannot be read.
        """
        if self._next is None:
            self._next = self._queue.get()
        line, self._next = self._next, None
        if line is None:
            self._queue.put(None)  # the end stays the end for the next call
            raise self._error or StopIteration
        return line

    @property
    def has_ended(self) -> bool:
        """Whether the source has ended; lines from it may still be in the queue."""
        return self._ended.is_set()

    def peek(self) -> str | None:
        """Return the next line without taking it; None if it has not arrived, or after the end."""
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
"""The name of this game in the protocol."""

_MOVES_LEFT = 30
"""Number of moves that the time must last for if the level does not say."""

_MAX_CLOCK_SHARE = 0.9
"""Largest share of the remaining time for one move, because sending the answer takes time too."""

_WIN_SCORE = 100.0  # in men, less a hundredth for each ply to the end, as Scan does
_FAR_WIN_SCORE = 90.0  # if the plies to the end are not known

Write = Callable[[str], None]


class HubSession:
    """A session of the engine: its parameters, its game and the limits of the next search.

    Args:
        tablebase: the tables.
        ruleset: the ruleset of the game until the parameter `ruleset` sets another.
        write: receives each line of an answer, without a newline.
    """

    def __init__(self, tablebase: Tablebase, ruleset: Ruleset, write: Write) -> None:
        self._engine = Engine(tablebase)
        self._ruleset = ruleset
        self._write = write
        # The numberings of pydraughts, the only known driver of this game. Positions begin at Black's side,
        # as on the large board; moves use the numbers of PDN.
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
        """Answer commands until `quit` or the end of the lines.

        A bad command is answered by `error`. Unknown commands are ignored. So are commands to a search when
        none runs.

        Args:
            lines: the commands. If they are a `HubInput`, a running search sees new ones; otherwise they wait
                for its end.
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
        """Return the parameters by name, each with its value and its possible values."""
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
            raise ArgumentError(f"{quote(name)} is not a parameter; there are {', '.join(parameters)}")
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
        self._clock = None  # after a bad command there is no game to search
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
        # The protocol allows an engine to end any search, so pondering and analysis are the same search.
        if self._clock is None:
            raise ArgumentError("there is no position to search; send pos first")
        began = time.monotonic()
        choice = self._engine.choose(self._clock, self._limits, self._poll_commands)
        if choice is None:
            raise IllegalMoveError(
                f"{self._clock.position.to_fen()} has no legal move: the side to move has lost"
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
        """Answer the commands for a running search; return whether it must stop.

        Any other command waits, with all after it, until the search ends. The end of the input stops the
        search, because nobody will read its result.
        """
        while self._input is not None and (line := self._input.peek()) is not None:
            match line.split():
                case ["ping", *_]:
                    self._answer("pong")
                case ["ponder-hit", *_] | []:
                    pass  # the level ends the search
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
        raise ArgumentError(f"{name} cannot be {quote(arguments[name])}; it must be a number")
    return number


def _score(choice: Choice) -> float:
    """Return the value of a move for the player who makes it, in men."""
    if choice.found is not None:
        value = choice.found.value
        return math.copysign(_FAR_WIN_SCORE, value) if abs(value) >= WON // 2 else value / 100
    if choice.ruled.prospect not in (RulesOutcome.WIN, RulesOutcome.LOSS):
        return 0.0
    plies = choice.ruled.value.dtw
    score = _FAR_WIN_SCORE if plies is None else _WIN_SCORE - plies / 100
    return score if choice.ruled.prospect is RulesOutcome.WIN else -score
