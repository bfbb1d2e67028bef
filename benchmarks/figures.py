"""The figures of docs/performance.md that are cheap to measure, in one go: numbers as JSON, and two plots.

    python benchmarks/figures.py [--pieces 5] [--jobs J] [--scripts generation,phases,probing]
                                 [--data DIR] [--output build/figures.json] [--plots docs]

First all tables of up to `--pieces` pieces are made, under the official rules, kernels compiled before: for
each number of pieces the time from its first material to the first one of more pieces, and what its files
take. They are made in a folder that goes at the end, or kept in `--data`, which must be new. Then the other
scripts of this folder that `--scripts` names are run, on these tables where they take some, and every table
that they print is taken in (`all`: the slow ones too; nothing: none). Those that solve, solve 5 pieces at the
most.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generation import cpu_seconds, perft_seconds
from plot import line_plot

from generator.machine import available_cores
from generator.plan import Plan
from generator.progress import Progress
from generator.run import generate
from tablebase.board.material import Material, materials
from tablebase.board.position import Position
from tablebase.kernels.perft import perft
from tablebase.rules.rulesets import OFFICIAL
from tablebase.tables.format import Metric
from tablebase.tables.manifest import Manifest

HERE = Path(__file__).parent
MOST_TO_SOLVE_AGAIN = 5  # pieces
QUICK = ("generation", "phases", "probing")
SLOW = ("compression", "dtb")
TABLES = "DIR"  # in commands that are shown, where the tables are


@dataclass
class Lap:
    """When the materials of a number of pieces were begun, by the clock and by the processor's time."""

    pieces: int
    clock: float
    cpu: float


class Laps(Progress):
    """Is told of a run, and keeps when each number of pieces was begun."""

    def __init__(self) -> None:
        self.laps: list[Lap] = []

    def begin(self, plan: Plan) -> None:
        """The run begins."""
        self.plan = plan

    def material(self, pair: Material, restoring: bool) -> None:
        """The next pair of materials is begun."""
        if not self.laps or self.laps[-1].pieces != pair.pieces:
            self.lap(pair.pieces)

    def lap(self, pieces: int) -> None:
        """A number of pieces is begun."""
        self.laps.append(Lap(pieces, time.perf_counter(), cpu_seconds()))


def by_pieces(folder: Path, pieces: int, jobs: int) -> list[dict[str, Any]]:
    """Make the tables, and what each number of pieces has taken."""
    laps = Laps()
    generate(folder, pieces, jobs=jobs, ruleset=OFFICIAL, progress=laps)
    laps.lap(pieces + 1)
    slices = Manifest.load(folder).slices
    rows = []
    for lap, after in zip(laps.laps, laps.laps[1:], strict=False):
        every = list(materials(lap.pieces))
        positions = sum(material.positions for material in every)
        seconds = after.clock - lap.clock
        bits = {}
        for metric in Metric:
            there = [m for m in every if metric in slices[m].files]
            if there:
                size = sum(slices[m].files[metric].size for m in there)
                bits[str(metric)] = round(8 * size / sum(m.positions for m in there), 4)
        rows.append(
            {
                "pieces": lap.pieces,
                "materials": len(every),
                "positions": positions,
                "seconds": round(seconds, 3),
                "cpu_seconds": round(after.cpu - lap.cpu, 3),
                "positions_per_second": round(positions / seconds),
                "cpu_ns_per_position": round((after.cpu - lap.cpu) / positions * 1e9, 1),
                "bits_per_position": bits,
            }
        )
    return rows


def run_script(name: str, folder: Path, pieces: int, jobs: int) -> dict[str, Any]:
    """Run another script of this folder; what it has printed, its tables apart."""
    options = {
        "generation": ["--pieces", str(pieces), "--jobs", ",".join(map(str, sorted({1, jobs})))],
        "phases": ["--pieces", str(pieces)],
        "dtb": ["--data", TABLES, "--positions", "5", "--seconds", "10"],
    }.get(name, ["--data", TABLES])
    command = [str(HERE / f"{name}.py"), *(str(folder) if option == TABLES else option for option in options)]
    text = subprocess.run([sys.executable, *command], check=True, stdout=subprocess.PIPE, text=True).stdout
    lines = text.splitlines()
    return {
        "command": " ".join(["python", f"benchmarks/{name}.py", *options]),
        "tables": list(printed_tables(lines)),
        "text": [line for line in lines if line and not line.startswith("|")],
    }


def printed_tables(lines: list[str]) -> Iterator[list[dict[str, str]]]:
    """The tables of a text in Markdown: each a list of rows, cells by the name of their column."""
    columns: list[str] = []
    rows: list[dict[str, str]] = []
    for line in [*lines, ""]:
        if not line.startswith("|"):
            if rows:
                yield rows
            columns, rows = [], []
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not columns:
            columns = cells
        elif set("".join(cells)) - set("-:"):
            rows.append(dict(zip(columns, cells, strict=False)))


def print_rows(rows: list[dict[str, Any]]) -> None:
    metrics = [str(metric) for metric in Metric]
    print(f"| pieces | positions | seconds | positions/s | CPU ns a position | {' | '.join(metrics)} |")
    print("| --- " * (5 + len(metrics)) + "|")
    for row in rows:
        bits = (row["bits_per_position"].get(metric) for metric in metrics)
        print(
            f"| {row['pieces']} | {row['positions']:,} | {row['seconds']:.2f} | "
            f"{row['positions_per_second']:,} | {row['cpu_ns_per_position']:,.0f} | "
            f"{' | '.join('' if size is None else f'{size:.3f}' for size in bits)} |"
        )


def write_plots(rows: list[dict[str, Any]], jobs: int, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rates = {
        "by the clock": [(row["pieces"], row["positions_per_second"]) for row in rows],
        "a core": [(row["pieces"], 1e9 / row["cpu_ns_per_position"]) for row in rows],
    }
    title = f"Solved and written with {jobs} jobs, and by a second of a core's time"
    rate = line_plot(title, "pieces", "positions a second", rates, True)
    (folder / "rate.svg").write_text(rate, encoding="utf-8")
    sizes = {
        metric.upper(): points
        for metric in Metric
        if (
            points := [
                (row["pieces"], row["bits_per_position"][metric])
                for row in rows
                if metric in row["bits_per_position"]
            ]
        )
    }
    size = line_plot("Tables, by pieces", "pieces", "bits a position, headers included", sizes, False)
    (folder / "size.svg").write_text(size, encoding="utf-8")


def scripts(text: str) -> list[str]:
    names = [*QUICK, *SLOW] if text == "all" else [name for name in text.split(",") if name]
    unknown = set(names) - {*QUICK, *SLOW}
    if unknown:
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: not one of {','.join(QUICK + SLOW)}")
    return names


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pieces", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=available_cores())
    parser.add_argument("--scripts", type=scripts, default=list(QUICK), metavar="LIST")
    parser.add_argument("--data", type=Path, metavar="DIR", help="a new folder for the tables, to keep them")
    parser.add_argument("--output", type=Path, default=Path("build/figures.json"))
    parser.add_argument("--plots", type=Path, default=HERE.parent / "docs")
    args = parser.parse_args()
    if args.data is not None and args.data.exists():
        parser.error(
            f"{args.data} is there already: name a new folder, so that every table is made and timed"
        )
    args.output.parent.mkdir(parents=True, exist_ok=True)
    again = min(args.pieces, MOST_TO_SOLVE_AGAIN)
    with tempfile.TemporaryDirectory(dir=args.output.parent) as name:
        folder = Path(name)
        tables = args.data or folder / "tables"
        generate(folder / "warm", 3)  # compiles
        perft(Position.start(), 1)
        yardstick = perft_seconds()
        rows = by_pieces(tables, args.pieces, args.jobs)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        yardstick = (yardstick + perft_seconds()) / 2
        print_rows(rows)
        found: dict[str, Any] = {
            "ruleset": OFFICIAL.name,
            "jobs": args.jobs,
            "yardstick_seconds": round(yardstick, 3),
            "peak_memory_mib": peak // 1024,
            "by_pieces": rows,
            "scripts": {},
        }
        write_plots(rows, args.jobs, args.plots)
        for script in args.scripts:
            print(f"{script} ...", flush=True)
            found["scripts"][script] = run_script(script, tables, again, args.jobs)
            args.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    args.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"numbers in {args.output}, plots in {args.plots}")


if __name__ == "__main__":
    main()
