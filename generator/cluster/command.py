"""`shashki generate --cluster`, and the plan of it."""

import argparse
import logging
from contextlib import closing

from generator.cluster.graph import TASK_POSITIONS
from generator.cluster.options import CACHE, Options
from generator.cluster.simulate import simulation_text
from generator.generatecommand import summed_up
from generator.materialgraph import Scope
from generator.progress import Bar
from tablebase.drawrules import RULESETS

_TALKATIVE = (
    "distributed",
    "distributed.client",
    "distributed.gc",
    "asyncio",
    "tornado",
    "tornado.application",
)


def generate_there(args: argparse.Namespace, scope: Scope) -> int:
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
    from generator.cluster.driver import generate_on_cluster  # Dask is not needed for a plan

    # What Dask has to say of lost connections is said in our own words. It sets levels as it is imported.
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with closing(Bar()) as bar:
        summary = generate_on_cluster(args.cluster, address, scope, args.metrics, ruleset, bar, options)
    print(summed_up(summary, scope, address))
    return 0
