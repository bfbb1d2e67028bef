"""How long a command takes in this environment and in another one, in turns.

    python benchmarks/against.py ../other/.venv/bin/shashki [--runs 3] [--cold] -- generate --jobs 1

Each run has a data directory of its own, unless the command names one. With `--cold` each run also has an
empty kernel cache, and compiles; otherwise kernels are compiled before the first run. The script prints the
median of each figure (seconds by the clock; CPU seconds of all processes; peak memory of the largest process)
and the ratio of this environment to the other.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parents[1]
START = "import sys; from tablebase.cli.main import main; sys.exit(main())"


class Figures(NamedTuple):
    """What one run took."""

    seconds: float
    cpu_seconds: float
    peak_bytes: float


def run(shashki: Path, command: list[str], kernels: str) -> Figures:
    """Run a command in a process of its own."""
    with tempfile.TemporaryDirectory() as data:
        environment = {**os.environ, "SHASHKI_KERNEL_CACHE": kernels, "SHASHKI_DATA": data}
        began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        watch = subprocess.run(
            [sys.executable, "-c", WATCH, shashki, *command], env=environment, capture_output=True, text=True
        )
        if watch.returncode:
            raise SystemExit(f"{shashki}: {watch.stderr}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Figures(time.perf_counter() - began, used, float(watch.stdout.split()[-1]))


# A process of its own for each run: the system keeps the peak of all children together.
WATCH = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
sys.exit(done.returncode)
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("other", type=Path, help="the command shashki of another environment")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cold", action="store_true", help="compile the kernels in each run")
    parser.add_argument("command", nargs="+", help="after --: what to run, without `shashki`")
    args = parser.parse_args()
    commands = {"this": HERE, "other": args.other.absolute()}
    taken: dict[str, list[Figures]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as warm:
        for number in range(args.runs if args.cold else args.runs + 1):
            for name, shashki in commands.items():
                if args.cold:
                    with tempfile.TemporaryDirectory() as cold:
                        figures = run(shashki, args.command, cold)
                else:
                    figures = run(shashki, args.command, warm)
                    if number == 0:
                        continue
                taken[name].append(figures)
                print(f"# {name}: {figures}", file=sys.stderr, flush=True)
    print("| | seconds | CPU seconds | peak memory, MB |")
    print("| --- | ---: | ---: | ---: |")
    medians = {
        name: [statistics.median(column) for column in zip(*rows, strict=True)]
        for name, rows in taken.items()
    }
    for name, (seconds, cpu, peak) in medians.items():
        print(f"| {name} | {seconds:.1f} | {cpu:.1f} | {peak / 1e6:.0f} |")
    ratios = [this / other for this, other in zip(medians["this"], medians["other"], strict=True)]
    print(f"| ratio | {' | '.join(f'{ratio:.2f}' for ratio in ratios)} |")


if __name__ == "__main__":
    main()
