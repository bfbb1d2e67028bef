"""What a game in progress is worth, by looking at everything until a count is full: slow, but plain."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from tablebase import Clock, Counters, Position, Tablebase
from tablebase.board.position import legal_moves
from tablebase.games.search import win_oracle
from tablebase.rules.clock import GameStatus
from tablebase.rules.rulesets import Ruleset


def plainly(tablebase: Tablebase, ruleset: Ruleset, horizon: int) -> Callable[[Clock], int]:
    """A function that tells 1, 0 or -1 for the side to move of a clock, repetition left out of it.

    Where forces have changed the tables tell the rest, if the counters are fresh then. A game that goes on
    for more than `horizon` plies is a failed test.
    """
    board_won = win_oracle(tablebase)

    @cache
    def value(position: Position, counters: Counters, plies: int) -> int:
        clock = Clock.start(position, ruleset, counters)
        ruling = clock.ruling(board_won)
        if ruling.verdict in (GameStatus.WHITE_WON, GameStatus.BLACK_WON):
            return -1
        if ruling.verdict is GameStatus.DRAWN:
            return 0
        assert plies < horizon
        best = -1
        for move in legal_moves(position):
            after = clock.play_unchecked(move)
            known = after.counters
            counted = Counters(
                known.king_plies, known.balance_plies, known.three_kings_moves, known.road_moves
            )
            # A promotion may leave the moves on the main road counted, which make no draw of a win.
            if (move.is_capture or move.promotes) and replace(counted, road_moves=0) == Counters():
                wdl = tablebase.probe_wdl(after.position)
                best = max(best, (wdl == -2) - (wdl == 2))
            else:
                best = max(best, -value(after.position, counted, plies + 1))
            if best == 1:
                break
        return best

    return lambda clock: value(clock.position, clock.counters, 0)
