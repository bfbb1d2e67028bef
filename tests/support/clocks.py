"""Clocks of games that tests play, move by move."""

from tablebase.board.counters import Counters
from tablebase.board.notation import parse_move
from tablebase.board.position import Position
from tablebase.rules.clock import Clock
from tablebase.rules.ruleset import Ruleset
from tablebase.rules.rulesets import OFFICIAL

TWO_EACH = "W:WKc1,Kg1:BKb8,Kf8"


def play(fen: str, moves: str, ruleset: Ruleset = OFFICIAL, counters: Counters | None = None) -> Clock:
    """The clock after moves, written one after another, from a position on."""
    clock = Clock.start(Position.from_fen(fen), ruleset, counters)
    for text in moves.split():
        clock = clock.play(parse_move(clock.position, text))
    return clock
