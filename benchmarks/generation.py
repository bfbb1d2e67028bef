"""How long a generation takes, beside a yardstick of the same machine in the same run.

    python benchmarks/generation.py [--pieces 5] [--jobs 1,2] [--runs 1] [--ruleset official]

Kernels are compiled before the clock starts. The yardstick is perft 10 from the start position by the scalar
kernel on one core: machines differ and are noisy, so quote the ratios.
"""

import argparse
import resource
import statistics
import tempfile
import time
from pathlib import Path

from generator.perft import perft
from generator.run import generate
from tablebase.board import Position
from tablebase.drawrules import RULESETS


def perft_seconds() -> float:
    began = time.perf_counter()
    perft(Position.start(), 10)
    return time.perf_counter() - began


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pieces", type=int, default=5)
    parser.add_argument("--jobs", default="1,2")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--ruleset", choices=RULESETS, default="official")
    args = parser.parse_args()
    perft(Position.start(), 1)
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        generate(Path(folder), 3)
        print(f"warming up (compiling, where nothing is cached): {time.perf_counter() - began:.1f} s")
    print("| jobs | seconds | CPU seconds | yardsticks | positions/s | of one core, ns a position |")
    print("| --- | --- | --- | --- | --- | --- |")
    for jobs in map(int, args.jobs.split(",")):
        rows = []
        for _ in range(args.runs):
            with tempfile.TemporaryDirectory() as folder:
                yardstick = perft_seconds()
                cpu = cpu_seconds()
                summary = generate(Path(folder), args.pieces, jobs=jobs, ruleset=RULESETS[args.ruleset])
                cpu = cpu_seconds() - cpu
                yardstick = (yardstick + perft_seconds()) / 2
                rows.append((summary.seconds, cpu, summary.seconds / yardstick))
        seconds, cpu, ratio = (statistics.median(column) for column in zip(*rows, strict=True))
        positions = summary.plan.positions
        print(
            f"| {jobs} | {seconds:.1f} | {cpu:.1f} | {ratio:.1f} | {positions / seconds:,.0f} "
            f"| {cpu / positions * 1e9:.0f} |"
        )
    sizes = summary.sizes
    print(f"{positions:,} positions; " + ", ".join(f"{m} {8 * sizes[m] / positions:.3f} bits" for m in sizes))
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
