"""Games played from tables: a player that follows `best_move`, and those it plays against."""

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import numpy as np

from tablebase import Clock, Color, Material, Metric, Position, Tablebase
from tablebase.board.material import materials
from tablebase.board.position import Move, legal_moves
from tablebase.games.search import RuleSearch, win_oracle
from tablebase.rules.clock import GameStatus
from tablebase.rules.ruleset import Claim
from tablebase.tables.format import table_name
from tablebase.tables.index import sets_at
from tablebase.tables.table import Table

Player = Callable[[Clock], Move]


def best(tablebase: Tablebase) -> Player:
    """Plays the first of the moves."""
    search = RuleSearch(tablebase)

    def choose(clock: Clock) -> Move:
        found = search.best_move(clock)
        assert found is not None
        return found.move

    return choose


def at_random(seed: int) -> Player:
    """Plays any move."""
    random = Random(seed)
    return lambda clock: random.choice(legal_moves(clock.position))


class Broken(AssertionError):
    """A player did not get what the tables promise."""


def win(tablebase: Tablebase, start: Clock, winner: Player, loser: Player) -> int:
    """Play a won position, the side to move or its opponent winning; the plies that it takes.

    Raises:
        Broken: the game is not won, or a draw could have been claimed on the way.
    """
    won = start.position.turn if tablebase.probe_wdl(start.position) > 0 else start.position.turn.other
    board_won = win_oracle(tablebase)
    clock, plies = start, 0
    while True:
        verdict = clock.ruling(board_won).verdict
        if verdict is (GameStatus.WHITE_WON if won is Color.WHITE else GameStatus.BLACK_WON):
            return plies
        if verdict is not GameStatus.OPEN:
            raise Broken(f"{start.to_fen()}: {verdict} at ply {plies}: {clock.to_fen()}")
        clock = clock.play_unchecked((winner if clock.position.turn is won else loser)(clock))
        plies += 1


def hold(tablebase: Tablebase, start: Clock, holder: Player, attacker: Player, side: Color) -> int:
    """Play a drawn position, the side being the one that is content with a draw; the plies that it takes.

    Raises:
        Broken: it loses, or there is no end.
    """
    board_won = win_oracle(tablebase)
    lost = GameStatus.BLACK_WON if side is Color.WHITE else GameStatus.WHITE_WON
    clock = start
    for plies in range(1000):
        ruling = clock.ruling(board_won)
        if ruling.verdict is lost:
            raise Broken(f"{start.to_fen()}: lost at ply {plies}: {clock.to_fen()}")
        if ruling.verdict is not GameStatus.OPEN:
            # A draw by itself, a win even, or one to claim, which both are content with.
            return plies
        clock = clock.play_unchecked((holder if clock.position.turn is side else attacker)(clock))
    raise Broken(f"{start.to_fen()}: no end after 1000 plies")


def farthest(directory: Path, pieces: int, metric: Metric) -> Iterator[Position]:
    """Of each material of so many pieces, a won position with the greatest distance of a metric."""
    for material in materials(pieces):
        path = directory / table_name(material, metric)
        if path.exists():
            with Table(path) as distances, Table(directory / table_name(material, Metric.WDL)) as outcomes:
                won = np.where(outcomes.read_all() == 2, distances.read_all(), -1)
            # A slot that nobody reads may hold anything, so the first that has it need not be a position
            # without a capture: it is looked up like any other.
            if won.max() > 0:
                yield Position(*_as_white(material, int(won.argmax())))


def _as_white(material: Material, index: int) -> tuple[int, int, int, int]:
    own_men, own_kings, other_men, other_kings = sets_at(material, index)
    return own_men, own_kings, other_men, other_kings


def sample(
    tablebase: Tablebase, count: int, seed: int, pieces: int, wanted: Callable[[int], bool]
) -> Iterator[Position]:
    """Random positions of 2 to so many pieces whose outcome is wanted, any material as likely as another."""
    random = Random(seed)
    slices = [material for most in range(2, pieces + 1) for material in materials(most)]
    while count:
        material = random.choice(slices)
        sets = sets_at(material, random.randrange(material.positions))
        position = Position(*sets)
        if random.random() < 0.5:
            position = position.flip()
        if wanted(tablebase.probe_wdl(position)):
            count -= 1
            yield position


def claimable(clock: Clock) -> bool:
    """Whether the side to move could announce a move with which it may claim a draw."""
    return any(
        state.claimable and state.claim is Claim.ANNOUNCED
        for move in legal_moves(clock.position)
        for state in clock.play_unchecked(move).states()
    )
