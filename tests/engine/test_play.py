"""A player that follows `best_move` gets what the tables promise, under the official rules."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playing import at_random, best, farthest, hold, sample, win

from tablebase import OFFICIAL, Clock, Color, Metric, Position, Tablebase, open_tablebase

DRAWN_BY_TWO_RULES = ("W:WKg3,Kb8,b2:BKh4,c5", "W:WKc7,Kb8,b2:BKd8,c5")
"""Won under each of the rules on king moves and on the balance of forces, but not under both."""


def won_games(tablebase: Tablebase, directory: Path, pieces: int, count: int) -> Iterator[Position]:
    """Won or lost positions: of each material the farthest from a zeroing move and from a balance change, and
    random ones."""
    for most in range(2, pieces + 1):
        for metric in (Metric.DTC, Metric.DTB):
            yield from farthest(directory, most, metric)
    yield from sample(tablebase, count, 1, pieces, lambda wdl: abs(wdl) == 2)


def check_wins(directory: Path, pieces: int, count: int) -> int:
    """Play won positions against the best defence and a random one; how many games."""
    games = 0
    with open_tablebase(directory) as tablebase:
        player = best(tablebase)
        for position in won_games(tablebase, directory, pieces, count):
            for loser in (player, at_random(games)):
                win(tablebase, Clock.start(position, OFFICIAL), player, loser)
                games += 1
    return games


def check_draws(directory: Path, pieces: int, count: int, more: tuple[str, ...] = ()) -> int:
    """Hold drawn positions with either side against the best play and a random one; how many games."""
    games = 0
    with open_tablebase(directory) as tablebase:
        player = best(tablebase)
        drawn = sample(tablebase, count, 2, pieces, lambda wdl: abs(wdl) < 2)
        for position in (*map(Position.from_fen, more), *drawn):
            for side in Color:
                for attacker in (player, at_random(games)):
                    hold(tablebase, Clock.start(position, OFFICIAL), player, attacker, side)
                    games += 1
    return games


def test_player_wins_won_positions(tables4: Path) -> None:
    assert check_wins(tables4, 4, 30) > 100


def test_player_holds_drawn_positions(tables4: Path) -> None:
    assert check_draws(tables4, 4, 15) == 60


@pytest.mark.whole
def test_player_wins_a_thousand_positions(tables5: Path) -> None:
    assert check_wins(tables5, 5, 1000) > 2000


@pytest.mark.whole
def test_player_holds_a_thousand_positions(tables5: Path) -> None:
    assert check_draws(tables5, 5, 1000, DRAWN_BY_TWO_RULES) == 4008
