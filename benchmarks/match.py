"""A match: the engine `shashki hub` against an alpha-beta player of other people, from won and drawn endings.

python benchmarks/match.py --opponent PYTHON [--data DIR] [--won 500] [--drawn 500] [--depth 6] [--seed 1]

PYTHON is one of an environment that has py-draughts (1.8.4 or later). The endings are drawn at random from
the tables: each material of 3 pieces or more as likely as any other, no capture at hand, and a won one
takes `--least` plies or more. The engine wins the won ones, with White or Black, to move or not, and holds
the drawn ones. Games are judged by `Clock` under the official rules; whoever can claim a draw that helps it
does. The engine is a process of its own, driven by pydraughts; so is the player. The same seed makes the
same games.

Exit status: 0 if every win was won and every draw held, 1 if not.
"""

import argparse
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from draughts.engine import HubEngine

from tablebase import OFFICIAL, Clock, Color, Numbering, Position, Tablebase, open_tablebase
from tablebase.board.notation import format_hub_move, format_hub_position, parse_hub_move
from tablebase.board.position import has_capture
from tablebase.games.search import win_oracle
from tablebase.probe.random import random_position
from tablebase.rules.clock import GameStatus, draw_claims
from tablebase.tables.files import data_directory

NUMBERING = Numbering.B8  # of all that is sent to either side
LONGEST = 1000  # plies; a game that takes more has gone wrong


class Ours:
    """The engine, over the Hub protocol."""

    def __init__(self, command: list[str]) -> None:
        self._engine = HubEngine(command)
        self._engine.configure({"variant": "russian", "ruleset": OFFICIAL.name})
        for squares in ("position-numbering", "move-numbering"):
            self._engine.setoption(squares, NUMBERING.value)
        self._engine.init()

    def choose(self, start: Position, moves: list[str]) -> str:
        move, _ = self._engine.go(format_hub_position(start, NUMBERING), " ".join(moves))
        return move

    def quit(self) -> None:
        with self._engine.p:
            self._engine.quit()


class Theirs:
    """The player, over the lines of benchmarks/alphabeta.py."""

    def __init__(self, python: str, depth: int) -> None:
        script = Path(__file__).with_name("alphabeta.py")
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            [python, "-P", script, str(depth)], stdin=pipe, stdout=pipe, text=True
        )

    def send(self, line: str) -> None:
        assert self._process.stdin
        print(line, file=self._process.stdin, flush=True)

    def choose(self) -> str:
        assert self._process.stdout
        self.send("go")
        answer = self._process.stdout.readline().strip()
        if not answer:
            raise RuntimeError(f"the opponent has ended, with status {self._process.wait(timeout=60)}")
        return answer

    def quit(self) -> None:
        with self._process:  # which ends with its input
            pass


@dataclass(frozen=True)
class Game:
    """How a game went.

    Attributes:
        start: where it began.
        ours: the side of the engine.
        verdict: what has ended it.
        rules: the rules that made a draw, where one did.
        moves: the moves.
    """

    start: Position
    ours: Color
    verdict: GameStatus
    rules: tuple[str, ...]
    moves: list[str]

    @property
    def won(self) -> bool:
        return self.verdict is (GameStatus.WHITE_WON if self.ours is Color.WHITE else GameStatus.BLACK_WON)

    @property
    def lost(self) -> bool:
        return self.verdict in (GameStatus.WHITE_WON, GameStatus.BLACK_WON) and not self.won


def endings(
    tablebase: Tablebase, count: int, random: Random, wanted: Callable[[Position], bool]
) -> Iterator[Position]:
    """So many positions of the wanted kind, with no capture for the side to move."""
    slices = [material for material in tablebase.materials if material.pieces >= 3]
    while count:
        position = random_position(tablebase, random.choice(slices), None, random)
        assert position is not None
        if random.random() < 0.5:
            position = position.flip()
        if not has_capture(position) and wanted(position):
            count -= 1
            yield position


def play(
    tablebase: Tablebase, start: Position, color: Color, must_win: bool, ours: Ours, theirs: Theirs
) -> Game:
    """Play one game; a claim of a draw is made by whoever it helps."""
    board_won = win_oracle(tablebase)
    clock, moves = Clock.start(start, OFFICIAL), list[str]()
    theirs.send(f"new {start.to_fen(NUMBERING)}")
    while len(moves) < LONGEST:
        ruling = clock.ruling(board_won)
        mine = clock.position.turn is color
        fired = [str(state.rule) for state in ruling.fired]
        if ruling.verdict.ends_the_game or ruling.verdict is GameStatus.UNDETERMINED:
            return Game(start, color, ruling.verdict, tuple(fired), moves)
        if mine is not must_win and (claims := draw_claims(clock, ruling, board_won)):
            rules = tuple(f"{claim.state.rule}, claimed" for claim in claims)
            return Game(start, color, GameStatus.DRAWN, rules, moves)
        text = ours.choose(start, moves) if mine else theirs.choose()
        move = parse_hub_move(clock.position, text, NUMBERING)
        if mine:
            theirs.send(f"play {format_hub_move(move, NUMBERING)}")
        moves.append(text)
        clock = clock.play_unchecked(move)
    return Game(start, color, GameStatus.OPEN, ("no end",), moves)


def report(kind: str, games: list[Game], good: Callable[[Game], bool], seconds: float) -> bool:
    """Print how the games of one kind went; whether all went well."""
    bad = [game for game in games if not good(game)]
    plies = sorted(len(game.moves) for game in games)
    rules = Counter(rule for game in games if not game.won and not game.lost for rule in game.rules)
    print(
        f"{kind}: {len(games)} games, {sum(game.won for game in games)} won, "
        f"{sum(not game.won and not game.lost for game in games)} drawn, "
        f"{sum(game.lost for game in games)} lost; "
        f"plies: {sum(plies)} in all, median {plies[len(plies) // 2]}, most {plies[-1]}; {seconds:.0f} s"
    )
    for rule, times in rules.most_common():
        print(f"  drawn by {rule}: {times}")
    for game in bad:
        print(f"  WRONG: {game.start.to_fen()}, engine {game.ours}: {game.verdict}, {' '.join(game.moves)}")
    return not bad


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--opponent", required=True, help="a Python that has py-draughts")
    parser.add_argument(
        "--engine", default=str(Path(sys.executable).with_name("shashki")), help="the command"
    )
    parser.add_argument("--data", help="the directory of the tables")
    parser.add_argument("--won", type=int, default=500, help="how many won endings")
    parser.add_argument("--drawn", type=int, default=500, help="how many drawn endings")
    parser.add_argument("--least", type=int, default=9, help="the least DTW of a won ending, in plies")
    parser.add_argument("--depth", type=int, default=6, help="how deep the opponent looks, in plies")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main() -> int:
    args = arguments()
    data = data_directory(args.data)
    ours, theirs = Ours([args.engine, "hub", "--data", str(data)]), Theirs(args.opponent, args.depth)
    fine = True
    with open_tablebase(data) as tablebase:

        def won(position: Position) -> bool:
            probe = tablebase.probe(position)
            return abs(probe.wdl or 0) == 2 and (probe.dtw or 0) >= args.least

        def drawn(position: Position) -> bool:
            return abs(tablebase.probe_wdl(position)) < 2

        for kind, count, wanted, good in (
            ("won endings", args.won, won, lambda game: game.won),
            (
                "drawn endings",
                args.drawn,
                drawn,
                lambda game: not game.lost and game.verdict is not GameStatus.OPEN,
            ),
        ):
            random = Random(f"{args.seed}, {kind}")  # so that one kind can be played without the other
            games, began = [], time.monotonic()
            for start in endings(tablebase, count, random, wanted):
                turn = start.turn
                if wanted is won:
                    color = turn if tablebase.probe_wdl(start) > 0 else turn.other
                else:
                    color = random.choice(list(Color))
                games.append(play(tablebase, start, color, wanted is won, ours, theirs))
                if len(games) % 50 == 0:
                    spent = time.monotonic() - began
                    print(f"{kind}: {len(games)} games, {spent:.0f} s", file=sys.stderr, flush=True)
            if games:
                fine = report(kind, games, good, time.monotonic() - began) and fine
    ours.quit()
    theirs.quit()
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
