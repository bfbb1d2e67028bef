"""The generator's part of the command line: `shashki generate`, and what looks at its tables."""

import argparse
import errno
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from generator.cores import available_cores
from generator.materialgraph import Scope, both
from tablebase.cli import BAD_USE, add_data_option
from tablebase.datadir import generate_command
from tablebase.drawrules import KING_MOVES_ONLY, OFFICIAL, RULESETS
from tablebase.errors import DataDirectoryError, MaterialError, quote
from tablebase.format import Metric
from tablebase.manifest import Manifest, Statistics
from tablebase.material import Material
from tablebase.options import metrics

# numba takes a second to import: the modules that need it are imported by the commands that do.


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the generator's commands."""
    _add_generate(subparsers)
    _add_verify(subparsers)
    _add_stats(subparsers)
    _add_records(subparsers)
    _add_check_draws(subparsers)


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_LONGEST_NUMBER = 9  # digits


def _number(text: str) -> int:
    """A number of not too many digits; -1 for anything else."""
    return int(text) if text.isdecimal() and len(text) <= _LONGEST_NUMBER else -1


def _pieces(text: str) -> int:
    pieces = _number(text)
    if pieces < 2:
        raise argparse.ArgumentTypeError(
            f"{quote(text)} is no number of pieces: 2 or more, both sides together"
        )
    return pieces


def _jobs(text: str) -> int:
    jobs = _number(text)
    if jobs < 1:
        raise argparse.ArgumentTypeError(f"{quote(text)} is no number of threads: 1 or more")
    return jobs


def _seed(text: str) -> int:
    seed = int(text) if text.isdecimal() and len(text) <= 2 * _LONGEST_NUMBER else -1
    if seed < 0:
        raise argparse.ArgumentTypeError(f"{quote(text)} is no seed: a whole number, 0 or more")
    return seed


def _materials(text: str) -> tuple[Material, ...]:
    try:
        found = tuple(Material.parse(name.strip()) for name in text.split(",") if name.strip())
    except MaterialError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not found:
        raise argparse.ArgumentTypeError("no material is named; write them like KKKvK,KKMvKM")
    return found


def _sample(text: str) -> float:
    try:
        sample = float(text)
    except ValueError:
        sample = 0.0
    if not 0 < sample <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no part of the positions: more than 0, at most 1")
    return sample


def _add_jobs_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jobs", type=_jobs, metavar="J", help="threads to use (default: one a core)")


def _memory(text: str) -> int:
    number, unit = text[:-1], text[-1:].upper()
    if unit.isdecimal():
        number, unit = text, ""
    try:
        size = float(number) * _UNITS[unit]
    except (ValueError, KeyError):
        size = 0.0
    if not 0 < size < float("inf"):
        raise argparse.ArgumentTypeError(
            f"{quote(text)} is no amount of memory: bytes, or a number with K, M, G or T, like 8G"
        )
    return int(size)


def _add_generate(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
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
        type=_pieces,
        default=5,
        metavar="N",
        help="the most pieces, both sides together (default: 5; at most 8, or 12 with --dry-run)",
    )
    wanted.add_argument(
        "--materials",
        type=_materials,
        default=(),
        metavar="LIST",
        help="instead of all materials: these, their mirrors and all that they lead to, like "
        "KKKKKKvKK,KKKMvKK (of as many pieces at most)",
    )
    add_data_option(parser)
    _add_jobs_option(parser)
    parser.add_argument(
        "--metrics",
        type=metrics,
        default=tuple(Metric),
        metavar="LIST",
        help="what to store, of wdl,dtc,dtw,dtb (default: all; wdl is always among them, the others need it)",
    )
    parser.add_argument(
        "--memory",
        type=_memory,
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
    parser.set_defaults(run=_generate, extra="generate")


def _generate(args: argparse.Namespace) -> int:
    from generator.plan import MOST_PIECES, MOST_PIECES_TO_PLAN
    from generator.progress import Bar
    from generator.run import beyond, generate
    from generator.sizes import readable

    scope = Scope.of(args.materials) if args.materials else Scope(args.pieces)
    if scope.pieces > (MOST_PIECES_TO_PLAN if args.dry_run else MOST_PIECES):
        print(
            f"shashki: {beyond(scope.pieces)}; --dry-run plans up to {MOST_PIECES_TO_PLAN}", file=sys.stderr
        )
        return BAD_USE
    jobs = args.jobs or available_cores()
    again = "the same command without --replace" if args.replace else "the same command"
    if args.dry_run:
        return _dry_run(args, scope, jobs)
    bar = Bar()
    try:
        summary = generate(
            args.data,
            scope,
            args.metrics,
            jobs,
            RULESETS[args.ruleset],
            bar,
            args.memory,
            args.replace,
        )
    except KeyboardInterrupt:
        bar.close()
        print(
            f"\nshashki: stopped; what is finished is kept, run {again} to go on",
            file=sys.stderr,
            flush=True,
        )
        raise
    except OSError as error:
        bar.close()
        other = error.filename is not None and str(error.filename) != str(args.data)
        print(
            f"shashki: cannot write to {args.data}: {f'{error.filename}: ' if other else ''}"
            f"{error.strerror or error}; what is finished is kept: "
            f"{'make room' if error.errno in _NO_ROOM else 'mend it'}, then run {again} to go on",
            file=sys.stderr,
        )
        return 1
    bar.close()
    sizes = ", ".join(f"{metric} {readable(size)}" for metric, size in summary.sizes.items() if size)
    if not summary.plan.todo:
        print(f"nothing to do: {scope} are in {args.data} ({sizes})")
        return 0
    rate = summary.plan.positions / summary.seconds
    compiled = f", after {summary.compiling:.1f} s of compiling" if summary.compiling >= 1 else ""
    print(
        f"solved {len(summary.plan.materials)} materials, {summary.plan.positions:,} positions, in "
        f"{summary.seconds:.1f} s ({rate:,.0f} a second{compiled}); tables in {args.data}: {sizes}"
    )
    return 0


def _dry_run(args: argparse.Namespace, scope: Scope, jobs: int) -> int:
    from generator.errors import PlanError
    from generator.plan import available_disk, available_memory
    from generator.run import check_plan, is_mapped, make_plan, needs, replacing_note
    from generator.sizes import readable

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
    print(
        f"memory     about {readable(memory)}, of {readable(limit)} {'given' if args.memory else 'available'}"
    )
    free = readable(available_disk(args.data))
    scratch = f", {readable(disk - work.disk)} of it for a while" if is_mapped(work, limit) else ""
    print(f"disk       about {readable(disk)}{scratch}, of {free} free in {args.data}")
    try:
        check_plan(args.data, work, limit)
    except PlanError as error:
        print(f"shashki: {error}", file=sys.stderr)
        return 1
    return 0


def _add_verify(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "verify",
        help="check the tables' files, and every value in them",
        description="Check the files against the manifest, and derive every stored value, and the "
        "statistics, once more from the values of its successors.",
        epilog="exit status: 0 all is well; 1 something is wrong, and the first wrong place is named, or "
        "the values do not fit in memory; 2 for a bad option, or a directory that is not there",
        allow_abbrev=False,
    )
    add_data_option(parser)
    _add_jobs_option(parser)
    parser.add_argument(
        "--sample", type=_sample, nargs="?", const=0.01, metavar="PART",
        help="derive only a part of the values, chosen at random (default part: 0.01)",
    )  # fmt: skip
    parser.add_argument("--seed", type=_seed, metavar="N", help="of the sample, to repeat it")
    parser.add_argument(
        "--memory",
        type=_memory,
        metavar="SIZE",
        help="memory that the values may take, like 8G (default: what is available): where all of them take "
        "more, those of a sample are looked up in the files",
    )
    parser.set_defaults(run=_verify, extra="generate")


def _verify(args: argparse.Namespace) -> int:
    from generator.progress import StageBar
    from generator.verify import verify

    if args.seed is not None and args.sample is None:
        print("shashki: --seed is of a sample; add --sample, or leave it away", file=sys.stderr)
        return BAD_USE
    _check_directory(args.data)
    bar = StageBar()
    try:
        report = verify(args.data, args.sample, args.jobs, bar, args.seed, args.memory)
    finally:
        bar.close()
    for note in report.notes:
        print(f"note: {note}")
    for problem in report.problems:
        print(f"shashki: {problem}", file=sys.stderr)
    well = "all that was checked is well" if report.notes else "all is well"
    sample = "" if report.sample is None else f" (a sample of {report.sample:.3g}, seed {report.seed})"
    print(
        f"{args.data}: {report.slices} materials, {report.positions:,} positions, {report.files} files; "
        f"compared {report.compared:,} stored positions{sample} in {report.seconds:.1f} s: "
        f"{well if report.ok else 'NOT in order'}"
    )
    return 0 if report.ok else 1


def _check_directory(directory: Path) -> None:
    if not directory.is_dir():
        raise DataDirectoryError(
            f"{directory} is no directory; make tables there with {generate_command(directory)}, "
            "or name another one with --data"
        )


def _add_stats(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "stats",
        help="counts and longest wins of every material",
        description="What was counted while solving: outcomes for the side to move under the draw rules "
        "of the tables (win + cursed win is what is won on the board), and the longest distances, in plies.",
        epilog="exit status: 0; 1 where there are no tables; 2 for a bad option, or a directory that is not "
        "there",
        allow_abbrev=False,
    )
    add_data_option(parser)
    parser.add_argument(
        "--json", action="store_true", help="a JSON list, with the positions that are longest"
    )
    parser.set_defaults(run=_stats)


def _stats(args: argparse.Namespace) -> int:
    _check_directory(args.data)
    slices = Manifest.load(args.data).slices
    in_order = sorted(slices, key=Material.place)
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
        description="The longest wins by DTW, DTC and DTB, of each material and of each number of pieces, "
        "with lines of best play; cursed wins and blessed losses; and what is never won, never drawn or "
        "never lost: a page of Markdown.",
        epilog="exit status: 0; 1 where tables of so many pieces are missing, or the file cannot be written; "
        "2 for a bad option, or a directory that is not there",
        allow_abbrev=False,
    )
    add_data_option(parser)
    parser.add_argument(
        "--pieces", type=_pieces, metavar="N", help="the most pieces (default: all those that are there)"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="where to write the page (default: the standard output)"
    )
    parser.set_defaults(run=_records)


def _records(args: argparse.Namespace) -> int:
    from generator.records import find_records
    from generator.recordstext import records_text

    page = "".join(f"{line}\n" for line in records_text(find_records(args.data, args.pieces)))
    if args.output is None:
        print(page, end="")
    else:
        args.output.write_text(page, encoding="utf-8")
    return 0


def _add_check_draws(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "check-draws",
        help="what the draw rules do, counted over every position",
        description="Count over every position of the tables: against a lone king, on the main road and off "
        "it, what is won, drawn and lost, and how many wins need more than the rule's moves (to the end of "
        "the game; and to force the king off the road); and for every material, the outcomes that the rules "
        "change.",
        epilog="exit status: 0; 1 where a table that it takes is missing or damaged; 2 for a bad option",
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_data_option(parser)
    parser.set_defaults(run=_check_draws, extra="generate")


def _check_draws(args: argparse.Namespace) -> int:
    from generator.drawcheck import check_draws
    from generator.drawchecktext import draw_check_text
    from generator.progress import StageBar

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
