"""What a question costs: in Python, compiled, and beside python-chess's Syzygy probing, in the same run.

python benchmarks/probing.py --data DIR [--positions 2000] [--many 1000000] [--syzygy DIR]

All times are of the processor, so that other work on the machine hardly counts; the files are in the system's
cache. `--syzygy` takes the package `chess` and a directory of Syzygy tables, as `data/syzygy/regular` of its
source archive (`pip download --no-deps --no-binary chess chess`), which has 3 and 4 pieces.
"""

import argparse
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from tablebase import Metric, PositionArray, Tablebase, open_tablebase
from tablebase.board.material import materials
from tablebase.board.position import Position
from tablebase.tables.files import data_directory
from tablebase.tables.index import sets_at

T = TypeVar("T")
Costs = dict[str, tuple[float, float, float]]


def random_positions(count: int, pieces: int, seed: int) -> list[Position]:
    """Positions of so many pieces, each as likely as any other, White to move."""
    choose = random.Random(seed)
    slices = list(materials(pieces))
    chosen = choose.choices(slices, [material.positions for material in slices], k=count)
    found = []
    for material in chosen:
        own_men, own_kings, other_men, other_kings = sets_at(material, choose.randrange(material.positions))
        found.append(Position(own_men, own_kings, other_men, other_kings))
    return found


def microseconds(ask: Callable[[T], object], positions: list[T]) -> tuple[float, float, float]:
    """Median, mean and 99th percentile of one call, of processor time."""
    spent = []
    for position in positions:
        began = time.thread_time()
        ask(position)
        spent.append(1e6 * (time.thread_time() - began))
    return statistics.median(spent), statistics.fmean(spent), statistics.quantiles(spent, n=100)[98]


def costs_of(folder: Path, compiled: bool, positions: list[Position]) -> Costs:
    """Cold: frames are decoded (the files are in the system's cache); warm: the same positions once more."""
    costs: Costs = {}
    for name, ask in (
        ("probe_wdl", Tablebase.probe_wdl),
        ("probe, all metrics", Tablebase.probe),
        ("moves, all with values", Tablebase.moves),
    ):
        with open_tablebase(folder, compiled=compiled) as tablebase:
            for warmth in ("cold", "warm"):
                costs[f"{name}, {warmth}"] = microseconds(lambda p: ask(tablebase, p), positions)  # noqa: B023
    return costs


def chess_costs(folder: Path, count: int, seed: int) -> Costs:
    """The same two questions about random legal positions of 4 pieces that the tables answer."""
    import chess.syzygy

    def value(tables: Any, board: Any) -> tuple[int, int]:
        return tables.probe_wdl(board), tables.probe_dtz(board)

    def moves(tables: Any, board: Any) -> list[tuple[int, int]]:
        values = []
        for move in list(board.legal_moves):
            board.push(move)
            values.append(value(tables, board))
            board.pop()
        return values

    def boards(tables: Any) -> Iterator[Any]:
        choose = random.Random(seed)
        names = sorted(path.stem for path in folder.glob("*.rtbw") if len(path.stem) == 5)
        while True:
            board = chess.Board(None)
            white, black = choose.choice(names).split("v")
            pieces = white + black.lower()
            for square, piece in zip(choose.sample(range(64), len(pieces)), pieces, strict=True):
                board.set_piece_at(square, chess.Piece.from_symbol(piece))
            board.turn = choose.random() < 0.5
            if board.is_valid():
                try:
                    moves(tables, board)
                except chess.syzygy.MissingTableError:
                    continue
                yield board

    costs: Costs = {}
    with chess.syzygy.open_tablebase(str(folder)) as tables:
        found = boards(tables)
        asked = [next(found) for _ in range(count)]
    for name, ask in (
        ("probe_wdl", lambda tables, board: tables.probe_wdl(board)),
        ("moves, all with values", moves),
    ):
        with chess.syzygy.open_tablebase(str(folder)) as tables:
            for warmth in ("cold", "warm"):
                costs[f"{name}, {warmth}"] = microseconds(lambda board: ask(tables, board), asked)  # noqa: B023
    return costs


def print_costs(title: str, costs: Costs, others: Costs) -> None:
    print(f"\n{title}\n\n| question | median | mean | 99 % | chess, median | chess, mean | ratio of means |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, (median, mean, late) in costs.items():
        beside = "| | |"
        if name in others:
            beside = f"{others[name][0]:.0f} | {others[name][1]:.0f} | {others[name][1] / mean:.1f} |"
        print(f"| {name} | {median:.1f} | {mean:.1f} | {late:.0f} | {beside}")


def print_many(folder: Path, pieces: int, count: int) -> None:
    """Positions a second, of arrays: twice, for the tables to be decoded and then to be there."""
    print("\n`probe_many`, positions a second:\n")
    print("| | outcomes | outcomes, DTC, DTW and DTB |\n| --- | --- | --- |")
    for name, compiled, number in (("Python", False, min(count, 10_000)), ("compiled", True, count)):
        boards = PositionArray.of(random_positions(number, pieces, 2))
        speeds = []
        for distances in ((), (Metric.DTC, Metric.DTW, Metric.DTB)):
            with open_tablebase(folder, compiled=compiled) as tablebase:
                for _ in range(2):
                    began = time.process_time()
                    tablebase.probe_many(boards.sets, boards.black, distances)
                    speeds.append(number / (time.process_time() - began))
        print(f"| {name}, cold | {speeds[0]:,.0f} | {speeds[2]:,.0f} |")
        print(f"| {name}, warm | {speeds[1]:,.0f} | {speeds[3]:,.0f} |")


def print_processes(folder: Path) -> None:
    for command in (["--version"], ["probe", "W:WKa1,Kc1,Kg1:BKh8", "--data", str(folder)]):
        spent = []
        for _ in range(5):
            began = time.perf_counter()
            program = "import sys; from tablebase.cli.main import main; sys.exit(main())"
            subprocess.run([sys.executable, "-c", program, *command], check=False, stdout=subprocess.DEVNULL)
            spent.append(time.perf_counter() - began)
        print(f"shashki {command[0]}: {statistics.median(spent):.2f} s, the whole process")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data")
    parser.add_argument("--positions", type=int, default=2000)
    parser.add_argument("--many", type=int, default=1_000_000)
    parser.add_argument("--syzygy", type=Path)
    args = parser.parse_args()
    folder = data_directory(args.data)
    with open_tablebase(folder, compiled=True) as tablebase:
        pieces = tablebase.pieces
        positions = random_positions(args.positions, pieces, 1)
        began = time.perf_counter()
        boards = PositionArray.of(positions[:1])
        tablebase.probe_many(boards.sets, boards.black, list(Metric))
        tablebase.probe(positions[0])
        print(f"kernels ready after {time.perf_counter() - began:.1f} s")
    median, mean, late = microseconds(Position.legal_moves, positions)
    print(f"{pieces} pieces, microseconds; legal_moves(): {median:.1f}, mean {mean:.1f}, 99 % {late:.0f}")
    others = chess_costs(args.syzygy, args.positions, 1) if args.syzygy else {}
    print_costs("Python", costs_of(folder, False, positions), others)
    print_costs("Compiled", costs_of(folder, True, positions), others)
    print_many(folder, pieces, args.many)
    print()
    print_processes(folder)


if __name__ == "__main__":
    main()
