"""Commands that look at tables: `verify`, `stats`, `records` and `check-draws`."""

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from generator.cli.generate import add_generate
from generator.cli.options import add_jobs_option, memory, pieces, sample, seed
from generator.machine import available_cores
from tablebase.board.material import Material
from tablebase.cli.main import BAD_USE, add_data_option
from tablebase.probe.tableset import require_directory
from tablebase.tables.manifest import Manifest, Statistics

# numba takes a second to import: only the commands that need it import its modules.


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the generator's commands to the command line."""
    add_generate(subparsers)
    _add_verify(subparsers)
    _add_stats(subparsers)
    _add_records(subparsers)
    _add_check_draws(subparsers)


def _add_verify(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "verify",
        help="check the table files and every value in them",
        description="Check the files against the manifest. Derive every stored value again from the values "
        "of its successors, and count the statistics again.",
        epilog="exit status: 0 if nothing is wrong; 1 if something is wrong (the message names the first "
        "wrong value), or if the values do not fit in memory; 2 for a bad option or a missing directory",
        allow_abbrev=False,
    )
    add_data_option(parser)
    add_jobs_option(parser)
    parser.add_argument(
        "--sample", type=sample, nargs="?", const=0.01, metavar="PART",
        help="check only a random part of the values (default part: 0.01)",
    )  # fmt: skip
    parser.add_argument("--seed", type=seed, metavar="N", help="random seed of --sample, to repeat it")
    parser.add_argument(
        "--memory",
        type=memory,
        metavar="SIZE",
        help="memory limit for the values, like 8G (default: what is available); if they need more, "
        "--sample reads its values from the files",
    )
    parser.set_defaults(run=_verify, extra="generate")


def _verify(args: argparse.Namespace) -> int:
    from generator.progress import StageBar
    from generator.verify.verify import verify

    if args.seed is not None and args.sample is None:
        print("shashki: --seed requires --sample", file=sys.stderr)
        return BAD_USE
    require_directory(args.data)
    bar = StageBar()
    try:
        report = verify(args.data, args.sample, args.jobs, bar, args.seed, args.memory)
    finally:
        bar.close()
    for note in report.notes:
        print(f"note: {note}")
    for problem in report.findings:
        print(f"shashki: {problem}", file=sys.stderr)
    well = "all that was checked is well" if report.notes else "all is well"
    sample = "" if report.sample is None else f" (a sample of {report.sample:.3g}, seed {report.seed})"
    print(
        f"{args.data}: {report.slices} materials, {report.positions:,} positions, {report.files} files; "
        f"compared {report.compared:,} stored positions{sample} in {report.seconds:.1f} s: "
        f"{well if report.ok else 'NOT in order'}"
    )
    return 0 if report.ok else 1


def _add_stats(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "stats",
        help="counts and longest wins of every material",
        description="Print the counts made while solving: outcomes for the side to move under the draw rules "
        "of the tables, and the longest distances in plies. Win + cursed win is the number of wins without "
        "draw rules.",
        epilog="exit status: 0 on success; 1 without tables; 2 for a bad option or a missing directory",
        allow_abbrev=False,
    )
    add_data_option(parser)
    parser.add_argument(
        "--json", action="store_true", help="print a JSON list, with the positions of the longest distances"
    )
    parser.set_defaults(run=_stats)


def _stats(args: argparse.Namespace) -> int:
    require_directory(args.data)
    slices = Manifest.load(args.data).slices
    in_order = sorted(slices, key=Material.sort_key)
    found = [counted for material in in_order if (counted := slices[material].statistics)]
    if args.json:
        print(json.dumps([asdict(statistics) for statistics in found], indent=1))
    else:
        for line in _stats_table(found):
            print(line)
    return 0


def _stats_table(found: Iterable[Statistics]) -> Iterable[str]:
    columns = (
        "positions",
        "win",
        "cursed win",
        "draw",
        "blessed loss",
        "loss",
        "longest win",
        "loss",
        "DTC win",
        "DTB win",
    )
    yield f"{'material':<10}" + "".join(f"{column:>13}" for column in columns)
    for s in found:
        counts = (s.positions, s.win, s.cursed_win, s.draw, s.blessed_loss, s.loss)
        longest = (
            s.longest_win_plies,
            s.longest_loss_plies,
            s.longest_dtc_win_plies,
            s.longest_dtb_win_plies,
        )
        cells = [f"{count:,}" for count in counts] + [
            "-" if plies is None else str(plies) for plies in longest
        ]
        yield f"{s.material:<10}" + "".join(f"{cell:>13}" for cell in cells)


def _add_records(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "records",
        help="the longest wins, with their lines, as a page of Markdown",
        description="Print a page of Markdown: the longest wins by DTW, DTC and DTB of each material and of "
        "each number of pieces, with lines of best play; cursed wins and blessed losses; and the materials "
        "that are never won, never drawn or never lost.",
        epilog="exit status: 0 on success; 1 if tables are missing or the file cannot be written; 2 for a "
        "bad option or a missing directory",
        allow_abbrev=False,
    )
    add_data_option(parser)
    parser.add_argument(
        "--pieces", type=pieces, metavar="N", help="greatest number of pieces (default: all complete tables)"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="file to write the page to (default: standard output)"
    )
    parser.set_defaults(run=_records)


def _records(args: argparse.Namespace) -> int:
    from generator.reports.records import find_records
    from generator.reports.records_page import records_text

    page = "".join(f"{line}\n" for line in records_text(find_records(args.data, args.pieces)))
    if args.output is None:
        print(page, end="")
    else:
        args.output.write_text(page, encoding="utf-8")
    return 0


def _add_check_draws(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "check-draws",
        help="effect of the draw rules, counted over every position",
        description="Count over every position of the tables what the draw rules change. Against a lone king "
        "on the main road and off it: wins, draws and losses, and the wins that need more moves than a rule "
        "allows, to the end of the game or to force the king off the road. For every material: the outcomes "
        "that the rules change.",
        epilog="exit status: 0 on success; 1 if a table is missing or damaged; 2 for a bad option",
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_data_option(parser)
    parser.set_defaults(run=_check_draws, extra="generate")


def _check_draws(args: argparse.Namespace) -> int:
    from generator.progress import StageBar
    from generator.reports.draws import check_draws, draw_check_text

    bar = StageBar()
    try:
        check = check_draws(args.data, available_cores(), bar)
    finally:
        bar.close()
    if args.json:
        print(json.dumps(asdict(check), indent=1))
    else:
        for line in draw_check_text(check):
            print(line)
    return 0
