"""The command `shashki generate`, on this machine or on a cluster."""

import argparse
import logging
import sys
from contextlib import closing

from generator.cli.options import add_jobs_option, cluster, cores, materials, memory, pieces, positions
from generator.errors import NO_ROOM
from generator.machine import available_cores
from generator.materials import RunScope, with_mirror
from tablebase.cli.main import BAD_USE, add_data_option
from tablebase.cli.options import metrics
from tablebase.rules.rulesets import KING_MOVES_ONLY, OFFICIAL, RULESETS
from tablebase.tables.format import Metric

_NOISY_LOGGERS = (
    "distributed",
    "distributed.client",
    "distributed.gc",
    "asyncio",
    "tornado",
    "tornado.application",
)


def run_on_cluster(args: argparse.Namespace, scope: RunScope) -> int:
    """Run `shashki generate` on a cluster, or plan the run for --dry-run; return the exit status."""
    from generator.cluster.schedule import simulation_text
    from generator.cluster.settings import CACHE, Options
    from generator.cluster.tasks import TASK_POSITIONS
    from generator.progress import Bar

    options = Options(
        args.jobs,
        args.memory,
        args.cache or CACHE,
        args.task_positions or TASK_POSITIONS,
        replace=args.replace,
    )
    ruleset = RULESETS[args.ruleset]
    if args.dry_run:
        for line in simulation_text(scope, args.metrics, ruleset, options, args.cluster_size or 1):
            print(line)
        return 0
    address = args.store or str(args.data.absolute())
    from generator.cluster.driver import generate_on_cluster

    # Silence Dask: our own messages report lost connections. Dask sets log levels when it is imported.
    for name in _NOISY_LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with closing(Bar()) as bar:
        summary = generate_on_cluster(args.cluster, address, scope, args.metrics, ruleset, bar, options)
    print(summary)
    return 0


# numba takes a second to import, so functions import the modules that need it.


def add_generate(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `generate`."""
    parser = subparsers.add_parser(
        "generate",
        help="solve endgames and write their tables",
        description="Solve all materials up to a number of pieces, or named materials and all that they "
        "lead to, and write their tables. Existing tables are kept. A stopped run continues where it was.",
        epilog="exit status: 0 success; 1 the plan does not fit, another run writes there, writing fails, or "
        "the existing tables are of another kind; 2 bad option; 130 stopped by Ctrl-C",
        allow_abbrev=False,
    )
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument(
        "--pieces",
        type=pieces,
        default=5,
        metavar="N",
        help="largest number of pieces, both sides together (default: 5; at most 8, or 12 with --dry-run)",
    )
    wanted.add_argument(
        "--materials",
        type=materials,
        default=(),
        metavar="LIST",
        help="solve only these materials, their mirrors and all that they lead to, like KKKKKKvKK,KKKMvKK "
        "(same limits as for --pieces)",
    )
    add_data_option(parser)
    add_jobs_option(parser)
    parser.add_argument(
        "--metrics",
        type=metrics,
        default=tuple(Metric),
        metavar="LIST",
        help="metrics to store, of wdl,dtc,dtw,dtb (default: all; wdl is always stored: the others need it)",
    )
    parser.add_argument(
        "--memory",
        type=memory,
        metavar="SIZE",
        help="memory to use at most, like 8G (default: all that is available); if the plan needs more, large "
        "arrays are mapped from scratch files in the directory of the tables",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print the plan and the memory and disk that it needs"
    )
    parser.add_argument(
        "--replace", action="store_true", help="remove all existing tables first, and make them again"
    )
    parser.add_argument(
        "--ruleset",
        choices=(OFFICIAL.name, KING_MOVES_ONLY.name),
        default=OFFICIAL.name,
        help="draw rules that outcomes hold under, from fresh counters: `official` has the 15-king-moves "
        "rule and the rule on the material balance (default); `king-moves-only` has the first alone",
    )
    _add_cluster_options(parser)
    parser.set_defaults(run=_generate, extra="generate")


def _add_cluster_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "on a cluster", "make the same tables with the workers of a Dask cluster (docs/cluster.md)"
    )
    group.add_argument(
        "--cluster",
        type=cluster,
        metavar="ADDRESS",
        help="address of the Dask scheduler, like tcp://10.0.0.1:8786, or local:K to start K workers on this "
        "machine",
    )
    group.add_argument(
        "--store",
        metavar="ADDRESS",
        help="where the workers read and write: a folder that all machines share, or any fsspec address, "
        "like s3://bucket/folder (default: the directory of --data)",
    )
    group.add_argument(
        "--cache",
        type=memory,
        metavar="SIZE",
        help="disk space of each worker for copies of files of the store (default: 20G)",
    )
    group.add_argument(
        "--task-positions",
        type=positions,
        metavar="N",
        help="largest number of positions of a task; larger materials are split into groups of blocks "
        "(default: 1G)",
    )
    group.add_argument(
        "--cluster-size",
        type=cores,
        metavar="CORES",
        help="with --dry-run: estimate the time of a cluster with this number of cores, from measured rates",
    )


def _generate(args: argparse.Namespace) -> int:
    if wrong := _option_conflict(args):
        print(f"shashki: {wrong}", file=sys.stderr)
        return BAD_USE
    from generator.plan import MOST_PIECES, MOST_PIECES_TO_PLAN
    from generator.run import too_many_pieces

    scope = RunScope.of(args.materials) if args.materials else RunScope(args.pieces)
    if scope.pieces > (MOST_PIECES_TO_PLAN if args.dry_run else MOST_PIECES):
        print(
            f"shashki: {too_many_pieces(scope.pieces)}; --dry-run plans up to {MOST_PIECES_TO_PLAN}",
            file=sys.stderr,
        )
        return BAD_USE
    try:
        if args.cluster or args.cluster_size:
            args.extra = "cluster"  # the extra to name if a package is missing
            return run_on_cluster(args, scope)
        return _generate_here(args, scope)
    except KeyboardInterrupt:
        if not args.dry_run:
            print(
                f"\nshashki: stopped; finished work is kept: run {_resume_hint(args)} to continue",
                file=sys.stderr,
                flush=True,
            )
        raise


def _resume_hint(args: argparse.Namespace) -> str:
    """Return the name of the command that continues a stopped run."""
    return "the same command without --replace" if args.replace else "the same command"


def _option_conflict(args: argparse.Namespace) -> str | None:
    """Return what is wrong with a combination of options, or None."""
    if args.cluster_size and not args.dry_run:
        return "--cluster-size requires --dry-run"
    of_cluster = {
        "--store": args.store, "--cache": args.cache, "--task-positions": args.task_positions
    }  # fmt: skip
    for name, given in of_cluster.items():
        if given is not None and not (args.cluster or args.cluster_size):
            return f"{name} requires --cluster or --cluster-size"
    if args.store == "":
        return "--store is empty; name a folder or an address like s3://bucket/folder"
    return None


def _generate_here(args: argparse.Namespace, scope: RunScope) -> int:
    from generator.progress import Bar
    from generator.run import generate

    jobs = args.jobs or available_cores()
    if args.dry_run:
        return _dry_run(args, scope, jobs)
    ruleset = RULESETS[args.ruleset]
    try:
        with closing(Bar()) as bar:
            summary = generate(args.data, scope, args.metrics, jobs, ruleset, bar, args.memory, args.replace)
    except OSError as error:
        other = error.filename is not None and str(error.filename) != str(args.data)
        print(
            f"shashki: cannot write to {args.data}: {f'{error.filename}: ' if other else ''}"
            f"{error.strerror or error}; finished work is kept: "
            f"{'free disk space' if error.errno in NO_ROOM else 'remove the cause'}, then run "
            f"{_resume_hint(args)} to continue",
            file=sys.stderr,
        )
        return 1
    print(summary)
    return 0


def _dry_run(args: argparse.Namespace, scope: RunScope, jobs: int) -> int:
    from generator.errors import PlanError
    from generator.machine import available_disk, available_memory, format_bytes
    from generator.run import check_plan, is_mapped, make_plan, replacing_note, required_space

    work = make_plan(args.data, scope, args.metrics, jobs, RULESETS[args.ruleset], args.replace)
    if args.replace and (note := replacing_note(args.data)):
        print(f"note: {note}")
    for pair in work.todo:
        names = " and ".join(str(material) for material in with_mirror(pair))
        print(f"{names:<24}{sum(material.positions for material in with_mirror(pair)):>18,} positions")
    print(f"materials  {len(work.materials):,} to solve, of {scope}")
    print(f"positions  {work.positions:,}")
    print(f"metrics    {','.join(work.metrics)}")
    limit = args.memory or available_memory()
    memory, disk = required_space(work, limit)
    source = "given" if args.memory else "available"
    print(f"memory     about {format_bytes(memory)}, of {format_bytes(limit)} {source}")
    free = format_bytes(available_disk(args.data))
    scratch = f", {format_bytes(disk - work.disk)} of it for a while" if is_mapped(work, limit) else ""
    print(f"disk       about {format_bytes(disk)}{scratch}, of {free} free in {args.data}")
    try:
        check_plan(args.data, work, limit)
    except PlanError as error:
        print(f"shashki: {error}", file=sys.stderr)
        return 1
    return 0
