"""What a question costs in Python, beside the move generator it stands on, in the same run.

python benchmarks/probing.py --data DIR [--positions 2000]
"""

import argparse
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from tablebase import open_tablebase
from tablebase.board import Position
from tablebase.datadir import data_directory
from tablebase.indexing import sets_at
from tablebase.material import materials


def random_positions(count: int, pieces: int, seed: int) -> list[Position]:
    """Positions of so many pieces, each as likely as any other."""
    choose = random.Random(seed)
    slices = list(materials(pieces))
    chosen = choose.choices(slices, [material.positions for material in slices], k=count)
    found = []
    for material in chosen:
        own_men, own_kings, other_men, other_kings = sets_at(material, choose.randrange(material.positions))
        found.append(Position(own_men, own_kings, other_men, other_kings))
    return found


def microseconds(ask: Callable[[Position], object], positions: list[Position]) -> tuple[float, float]:
    """Median and 99th percentile of one call."""
    spent = []
    for position in positions:
        began = time.perf_counter()
        ask(position)
        spent.append(time.perf_counter() - began)
    return statistics.median(spent) * 1e6, statistics.quantiles(spent, n=100)[98] * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data")
    parser.add_argument("--positions", type=int, default=2000)
    args = parser.parse_args()
    folder = data_directory(args.data)
    with open_tablebase(folder) as tablebase:
        positions = random_positions(args.positions, tablebase.pieces, 1)
        yardstick, _ = microseconds(Position.legal_moves, positions)
        print("| question | us, median | us, 99 % | legal_moves() |")
        print("| --- | --- | --- | --- |")
        questions: dict[str, Callable[[Position], object]] = {
            "legal_moves": Position.legal_moves,
            "probe_wdl, cold": tablebase.probe_wdl,
            "probe_wdl, warm": tablebase.probe_wdl,
            "probe, all metrics": tablebase.probe,
            "probe, warm": tablebase.probe,
            "moves, all with values": tablebase.moves,
        }
        for name, ask in questions.items():
            median, late = microseconds(ask, positions)
            print(f"| {name} | {median:.0f} | {late:.0f} | {median / yardstick:.1f} |")
    for command in (["--version"], ["probe", "W:WKa1,Kc1,Kg1:BKh8", "--data", str(folder)]):
        spent = []
        for _ in range(5):
            began = time.perf_counter()
            program = "import sys; from tablebase.cli import main; sys.exit(main())"
            subprocess.run([sys.executable, "-c", program, *command], check=False, stdout=subprocess.DEVNULL)
            spent.append(time.perf_counter() - began)
        print(f"shashki {command[0]}: {statistics.median(spent):.2f} s, the whole process")


if __name__ == "__main__":
    main()
