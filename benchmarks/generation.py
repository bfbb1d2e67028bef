"""How long a generation takes, beside a yardstick of the same machine in the same run.

    python benchmarks/generation.py [--pieces 5 | --materials LIST] [--jobs 1,2] [--runs 1]
                                     [--ruleset official]

Kernels are compiled before the clock starts. The yardstick is perft 10 from the start position by the scalar
kernel on one core: machines differ and are noisy, so quote the ratios. "Machine's cores" is what the machine
itself gives to so many threads: how much more gets done where each of them runs a perft of its own, before
and after the run, than by one alone. "Cores used" is the processor's time by the clock.
"""

import argparse
import resource
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from generator.materials import RunScope
from generator.run import generate
from tablebase.board.material import Material
from tablebase.board.position import Position
from tablebase.kernels.perft import perft
from tablebase.rules.rulesets import RULESETS


def perft_seconds() -> float:
    began = time.perf_counter()
    perft(Position.start(), 10)
    return time.perf_counter() - began


def cores_given(jobs: int) -> float:
    """How many times the work of one thread the machine lets so many threads do, each on its own."""
    alone = perft_seconds()
    with ThreadPoolExecutor(jobs) as threads:
        rates = threads.map(lambda _: 1 / perft_seconds(), range(jobs))
        return alone * sum(rates)


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument("--pieces", type=int, default=5)
    wanted.add_argument("--materials", help="these and all that they lead to, instead of all materials")
    parser.add_argument("--jobs", default="1,2")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--ruleset", choices=RULESETS, default="official")
    args = parser.parse_args()
    scope = RunScope(args.pieces)
    if args.materials:
        scope = RunScope.of(map(Material.parse, args.materials.split(",")))
    perft(Position.start(), 1)
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        generate(Path(folder), 3)
        print(f"warming up (compiling, where nothing is cached): {time.perf_counter() - began:.1f} s")
    print(
        "| jobs | seconds | CPU seconds | cores used | machine's cores | yardsticks | positions/s "
        "| of one core, ns a position |"
    )
    print("| --- " * 8 + "|")
    every = list(map(int, args.jobs.split(",")))
    rows: dict[int, list[tuple[float, ...]]] = {jobs: [] for jobs in every}
    for _ in range(args.runs):
        for jobs in every:
            with tempfile.TemporaryDirectory() as folder:
                yardstick, given = perft_seconds(), cores_given(jobs)
                cpu = cpu_seconds()
                summary = generate(Path(folder), scope, jobs=jobs, ruleset=RULESETS[args.ruleset])
                cpu = cpu_seconds() - cpu
                yardstick, given = (yardstick + perft_seconds()) / 2, (given + cores_given(jobs)) / 2
                rows[jobs].append((summary.seconds, cpu, given, summary.seconds / yardstick))
    positions = summary.plan.positions
    for jobs in every:
        seconds, cpu, given, ratio = (statistics.median(column) for column in zip(*rows[jobs], strict=True))
        print(
            f"| {jobs} | {seconds:.1f} | {cpu:.1f} | {cpu / seconds:.2f} | {given:.2f} | {ratio:.1f} "
            f"| {positions / seconds:,.0f} | {cpu / positions * 1e9:.0f} |"
        )
    sizes = summary.sizes
    print(f"{positions:,} positions; " + ", ".join(f"{m} {8 * sizes[m] / positions:.3f} bits" for m in sizes))
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
