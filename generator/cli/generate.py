"""The command `shashki generate`, on this machine or on a cluster."""

import argparse
import logging
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from generator.cli.options import add_jobs_option, cluster, cores, materials, memory, pieces, positions
from generator.cluster.schedule import simulation_text
from generator.cluster.settings import CACHE, Options
from generator.cluster.tasks import TASK_POSITIONS
from generator.errors import NO_ROOM
from generator.materials import Scope, both
from generator.plan import available_cores
from generator.progress import Bar
from tablebase.cli.main import BAD_USE, add_data_option
from tablebase.cli.options import metrics
from tablebase.rules.rulesets import KING_MOVES_ONLY, OFFICIAL, RULESETS
from tablebase.tables.format import Metric

if TYPE_CHECKING:
    from generator.run import Summary


_TALKATIVE = (
    "distributed",
    "distributed.client",
    "distributed.gc",
    "asyncio",
    "tornado",
    "tornado.application",
)


def run_on_cluster(args: argparse.Namespace, scope: Scope) -> int:
    """Do what the arguments of `shashki generate` say, on a cluster; returns the exit status."""
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

    # What Dask has to say of lost connections is said in our own words. It sets levels as it is imported.
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with closing(Bar()) as bar:
        summary = generate_on_cluster(args.cluster, address, scope, args.metrics, ruleset, bar, options)
    print(summary_text(summary, scope, address))
    return 0


# numba takes a second to import: the modules that need it are imported by the commands that do.


def add_generate(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "generate",
        help="solve endgames and write their tables",
        description="Solve every material with both sides present, up to a number of pieces, and write its "
        "tables; or some materials, and all that they lead to. What is there already is kept; a run that was "
        "stopped goes on where it was.",
        epilog="exit status: 0; 1 where the plan does not fit, another run is at work there, or writing "
        "fails, or the tables there are of another kind; 2 for a bad option; 130 stopped by Ctrl-C",
        allow_abbrev=False,
    )
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument(
        "--pieces",
        type=pieces,
        default=5,
        metavar="N",
        help="the most pieces, both sides together (default: 5; at most 8, or 12 with --dry-run)",
    )
    wanted.add_argument(
        "--materials",
        type=materials,
        default=(),
        metavar="LIST",
        help="instead of all materials: these, their mirrors and all that they lead to, like "
        "KKKKKKvKK,KKKMvKK (of as many pieces at most)",
    )
    add_data_option(parser)
    add_jobs_option(parser)
    parser.add_argument(
        "--metrics",
        type=metrics,
        default=tuple(Metric),
        metavar="LIST",
        help="what to store, of wdl,dtc,dtw,dtb (default: all; wdl is always among them, the others need it)",
    )
    parser.add_argument(
        "--memory",
        type=memory,
        metavar="SIZE",
        help="memory that it may take, like 8G (default: what is available): with less than the plan needs, "
        "large arrays are mapped from a scratch file beside the tables",
    )
    parser.add_argument("--dry-run", action="store_true", help="print what would be done and what it takes")
    parser.add_argument(
        "--replace", action="store_true", help="remove the tables that are there, and make all again"
    )
    parser.add_argument(
        "--ruleset",
        choices=(OFFICIAL.name, KING_MOVES_ONLY.name),
        default=OFFICIAL.name,
        help="the draw rules that outcomes hold under, from fresh counts: the 15-king-moves rule and the "
        "rule on the balance of forces together, as the official rules have them (the default), or the first "
        "of them alone",
    )
    _add_cluster_options(parser)
    parser.set_defaults(run=_generate, extra="generate")


def _add_cluster_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "on a cluster", "the same tables, made by the workers of a Dask cluster (docs/cluster.md)"
    )
    group.add_argument(
        "--cluster",
        type=cluster,
        metavar="ADDRESS",
        help="of its scheduler, like tcp://10.0.0.1:8786; or local:K for K worker processes on this machine",
    )
    group.add_argument(
        "--store",
        metavar="ADDRESS",
        help="where its machines read and write: a folder that all of them have, or any address that fsspec "
        "knows, like s3://bucket/folder (default: the directory of --data)",
    )
    group.add_argument(
        "--cache",
        type=memory,
        metavar="SIZE",
        help="what each worker may keep of the store on its disk (default: 20G)",
    )
    group.add_argument(
        "--task-positions",
        type=positions,
        metavar="N",
        help="cut materials of more positions into groups of blocks of so many (default: 1G)",
    )
    group.add_argument(
        "--cluster-size",
        type=cores,
        metavar="CORES",
        help="with --dry-run: how long a cluster of so many cores would take, by the rates measured here",
    )


def _generate(args: argparse.Namespace) -> int:
    if wrong := _misplaced(args):
        print(f"shashki: {wrong}", file=sys.stderr)
        return BAD_USE
    from generator.plan import MOST_PIECES, MOST_PIECES_TO_PLAN
    from generator.run import beyond

    scope = Scope.of(args.materials) if args.materials else Scope(args.pieces)
    if scope.pieces > (MOST_PIECES_TO_PLAN if args.dry_run else MOST_PIECES):
        print(
            f"shashki: {beyond(scope.pieces)}; --dry-run plans up to {MOST_PIECES_TO_PLAN}", file=sys.stderr
        )
        return BAD_USE
    try:
        if args.cluster or args.cluster_size:
            args.extra = "cluster"  # what lacks now is of that
            return run_on_cluster(args, scope)
        return _generate_here(args, scope)
    except KeyboardInterrupt:
        if not args.dry_run:
            print(
                f"\nshashki: stopped; what is finished is kept, run {_again(args)} to go on",
                file=sys.stderr,
                flush=True,
            )
        raise


def _again(args: argparse.Namespace) -> str:
    """What goes on with what a run has left."""
    return "the same command without --replace" if args.replace else "the same command"


def _misplaced(args: argparse.Namespace) -> str | None:
    """What is wrong with options that are there without others."""
    if args.cluster_size and not args.dry_run:
        return "--cluster-size is of a plan; add --dry-run, or leave it away"
    of_cluster = {
        "--store": args.store, "--cache": args.cache, "--task-positions": args.task_positions
    }  # fmt: skip
    for name, given in of_cluster.items():
        if given is not None and not (args.cluster or args.cluster_size):
            return f"{name} is of a run on a cluster; add --cluster, or leave it away"
    if args.store == "":
        return "--store is empty; name a folder or an address like s3://bucket/folder, or leave it away"
    return None


def _generate_here(args: argparse.Namespace, scope: Scope) -> int:
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
            f"{error.strerror or error}; what is finished is kept: "
            f"{'make room' if error.errno in NO_ROOM else 'mend it'}, then run {_again(args)} to go on",
            file=sys.stderr,
        )
        return 1
    print(summary_text(summary, scope, str(args.data)))
    return 0


def summary_text(summary: "Summary", scope: Scope, place: str) -> str:
    """What a run has done, in a line."""
    from generator.plan import format_bytes

    sizes = ", ".join(f"{metric} {format_bytes(size)}" for metric, size in summary.sizes.items() if size)
    if not summary.plan.todo:
        return f"nothing to do: {scope} are in {place} ({sizes})"
    rate = summary.plan.positions / summary.seconds
    compiled = f", after {summary.compiling:.1f} s of compiling" if summary.compiling >= 1 else ""
    return (
        f"solved {len(summary.plan.materials)} materials, {summary.plan.positions:,} positions, in "
        f"{summary.seconds:.1f} s ({rate:,.0f} a second{compiled}); tables in {place}: {sizes}"
    )


def _dry_run(args: argparse.Namespace, scope: Scope, jobs: int) -> int:
    from generator.errors import PlanError
    from generator.plan import available_disk, available_memory, format_bytes
    from generator.run import check_plan, is_mapped, make_plan, needs, replacing_note

    work = make_plan(args.data, scope, args.metrics, jobs, RULESETS[args.ruleset], args.replace)
    if args.replace and (note := replacing_note(args.data)):
        print(f"note: {note}")
    for pair in work.todo:
        names = " and ".join(str(material) for material in both(pair))
        print(f"{names:<24}{sum(material.positions for material in both(pair)):>18,} positions")
    print(f"materials  {len(work.materials):,} to solve, of {scope}")
    print(f"positions  {work.positions:,}")
    print(f"metrics    {','.join(work.metrics)}")
    limit = args.memory or available_memory()
    memory, disk = needs(work, limit)
    whose = "given" if args.memory else "available"
    print(f"memory     about {format_bytes(memory)}, of {format_bytes(limit)} {whose}")
    free = format_bytes(available_disk(args.data))
    scratch = f", {format_bytes(disk - work.disk)} of it for a while" if is_mapped(work, limit) else ""
    print(f"disk       about {format_bytes(disk)}{scratch}, of {free} free in {args.data}")
    try:
        check_plan(args.data, work, limit)
    except PlanError as error:
        print(f"shashki: {error}", file=sys.stderr)
        return 1
    return 0
