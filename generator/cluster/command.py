"""`shashki generate --cluster`, and the plan of it."""

import argparse
import logging
import sys

from generator.cluster.graph import TASK_POSITIONS
from generator.cluster.options import CACHE, Options
from generator.cluster.simulate import simulation_text
from generator.generatecommand import summed_up
from generator.materialgraph import Scope
from generator.plan import MOST_PIECES, MOST_PIECES_TO_PLAN
from generator.progress import Bar
from generator.run import beyond
from tablebase.cli import BAD_USE
from tablebase.drawrules import RULESETS

_TALKATIVE = ("distributed", "distributed.client", "distributed.gc", "asyncio", "tornado")


def generate_there(args: argparse.Namespace) -> int:
    """Do what the arguments of `shashki generate` say, on a cluster; returns the exit status."""
    scope = Scope.of(args.materials) if args.materials else Scope(args.pieces)
    if scope.pieces > (MOST_PIECES_TO_PLAN if args.dry_run else MOST_PIECES):
        print(
            f"shashki: {beyond(scope.pieces)}; --dry-run plans up to {MOST_PIECES_TO_PLAN}", file=sys.stderr
        )
        return BAD_USE
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
    from generator.cluster.driver import generate_on_cluster  # Dask is not needed for a plan

    # What Dask has to say of lost connections is said in our own words. It sets levels as it is imported.
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    bar = Bar()
    try:
        summary = generate_on_cluster(args.cluster, address, scope, args.metrics, ruleset, bar, options)
    except KeyboardInterrupt:
        bar.close()
        print(
            "\nshashki: stopped; what is finished is kept, run the same command "
            f"{'without --replace ' if args.replace else ''}to go on",
            file=sys.stderr,
            flush=True,
        )
        raise
    finally:
        bar.close()
    print(summed_up(summary, scope, address))
    return 0
