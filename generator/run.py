"""A run on one machine: solve the missing materials, write their tables, keep the manifest up to date."""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from generator.compilation import SolverParts, compile_solver
from generator.errors import IncompatibleTablesError, PlanError
from generator.lock import FILE_NAME as LOCK
from generator.lock import locked
from generator.machine import available_disk, available_memory, format_bytes
from generator.materials import RunScope, with_mirror
from generator.memory import Memory
from generator.plan import MOST_PIECES, Plan, plan
from generator.progress import Progress
from generator.solver import successors
from generator.solver.files import restore_pair, write_pair
from generator.solver.solver import Pair, SliceSolver
from tablebase import __version__
from tablebase.board.material import Material
from tablebase.errors import ManifestError, TableError, WrongVersionError
from tablebase.probe.tableset import table_of
from tablebase.rules.rulesets import OFFICIAL, Ruleset
from tablebase.tables.files import TEMPORARY_SUFFIX
from tablebase.tables.format import FORMAT_VERSION, Metric, table_name
from tablebase.tables.manifest import FILE_NAME as MANIFEST
from tablebase.tables.manifest import Manifest
from tablebase.tables.table import Table

ALL_METRICS = tuple(Metric)


@dataclass(frozen=True)
class Summary:
    """What a run has done.

    Attributes:
        plan: the plan that was carried out.
        seconds: duration of the run, without compiling.
        compiling: seconds of compiling before.
        sizes: bytes of all tables at `place`, by metric.
        place: the data directory or the address of the store.
    """

    plan: Plan
    seconds: float
    compiling: float
    sizes: dict[Metric, int]
    place: str

    def __str__(self) -> str:
        sizes = ", ".join(f"{metric} {format_bytes(size)}" for metric, size in self.sizes.items() if size)
        if not self.plan.todo:
            return f"nothing to do: {self.plan.scope} are in {self.place} ({sizes})"
        rate = self.plan.positions / self.seconds
        compiled = f", after {self.compiling:.1f} s of compiling" if self.compiling >= 1 else ""
        return (
            f"solved {len(self.plan.materials)} materials, {self.plan.positions:,} positions, in "
            f"{self.seconds:.1f} s ({rate:,.0f} a second{compiled}); tables in {self.place}: {sizes}"
        )


def open_manifest(directory: Path, ruleset: Ruleset, replace: bool, name: str = "") -> Manifest:
    """Return the manifest that a run continues; an empty one if there is none, or if all is to be replaced.

    Args:
        directory: the data directory.
        ruleset: the draw rules of the run.
        replace: whether the run replaces all tables.
        name: what errors call the directory, if not by its path.

    Raises:
        IncompatibleTablesError: the directory holds tables of another format or other rules, or its manifest
            is damaged.
    """
    empty = Manifest(__version__, ruleset)
    if replace:
        return empty
    if not (directory / MANIFEST).exists():
        _refuse_other_rules(directory, ruleset)
        return empty
    try:
        manifest = Manifest.load(directory)
    except WrongVersionError:
        raise incompatible_tables(name or directory, _kind(directory)) from None
    except ManifestError as error:
        what = str(error).rpartition(";")[0] or str(error)  # without its advice, which is another here
        raise incompatible_tables(
            name or directory, f"a set of tables with a damaged manifest ({what})"
        ) from None
    if manifest.ruleset != ruleset:
        kind = f"tables made under other draw rules ({manifest.ruleset.name})"
        raise incompatible_tables(name or directory, kind)
    manifest.generator_version = __version__
    return manifest


def _refuse_other_rules(directory: Path, ruleset: Ruleset) -> None:
    """Raise IncompatibleTablesError if a directory without a manifest has tables of other draw rules."""
    for path in _tables(directory):
        try:
            with Table(path) as table:
                found = table.header.ruleset
        except TableError:
            continue  # damaged: the run makes it again
        if found != ruleset:
            raise incompatible_tables(directory, f"tables made under other draw rules ({found.name})")


def _kind(directory: Path) -> str:
    """Describe the tables of a directory whose manifest is of another version."""
    data = json.loads((directory / MANIFEST).read_bytes())
    found = data["format_version"]
    if found == FORMAT_VERSION:
        return f"tables made under other draw rules ({data['ruleset']})"
    age = "another" if not isinstance(found, int) else "a newer" if found > FORMAT_VERSION else "an older"
    return f"tables of {age} format (version {found}, where this program writes {FORMAT_VERSION})"


def incompatible_tables(place: Path | str, kind: str) -> IncompatibleTablesError:
    """Return the error for tables that a run cannot continue.

    Args:
        place: the directory or store that holds them.
        kind: what they are.
    """
    return IncompatibleTablesError(
        f"{place} holds {kind}, which a run cannot continue; nothing was changed: empty it, name another "
        "place with --data or --store, or add --replace to remove its tables and make all again"
    )


def replacing_note(directory: Path) -> str | None:
    """Return a note on the tables that a run with `replace` removes; None if there are none."""
    count = len(_tables(directory))
    if not count and not (directory / MANIFEST).exists():
        return None
    return f"the {count} tables in {directory} are removed and made again"


def _tables(directory: Path) -> list[Path]:
    """Return every file of a directory that has the name of a table."""
    return [path for metric in Metric for path in directory.glob(f"*.{metric}") if table_of(path.name)]


def _remove_tables(directory: Path) -> None:
    # The manifest goes last, so that the next run still sees tables of another kind after an interruption.
    for path in _tables(directory):
        path.unlink()
    (directory / MANIFEST).unlink(missing_ok=True)


def _remove_strays(directory: Path) -> None:
    """Remove the temporary files of killed runs, and no other files."""
    for path in directory.glob(f"*{TEMPORARY_SUFFIX}"):
        if is_stray(path.name):
            path.unlink()


def is_stray(name: str) -> bool:
    """Whether a file's name is that of a temporary file of a run."""
    written = name.removesuffix(TEMPORARY_SUFFIX).rpartition(".")[0]
    return name.endswith(TEMPORARY_SUFFIX) and (written == MANIFEST or table_of(written) is not None)


def is_whole(
    manifest: Manifest, material: Material, metrics: Iterable[Metric], size_of: Callable[[str], int | None]
) -> bool:
    """Whether the tables of a material exist and have the sizes that the manifest says.

    Args:
        manifest: the manifest.
        material: the material.
        metrics: the metrics of the tables; metrics that the material has no table of are ignored.
        size_of: returns the bytes of a file by its name, None if it does not exist.
    """
    entry = manifest.slices.get(material)
    if entry is None or entry.statistics is None:
        return False
    wanted = [metric for metric in metrics if metric.fits(material, manifest.ruleset)]
    return all(
        metric in entry.files and size_of(table_name(material, metric)) == entry.files[metric].size
        for metric in wanted
    )


def make_plan(
    directory: Path,
    scope: RunScope,
    metrics: Sequence[Metric],
    jobs: int,
    ruleset: Ruleset = OFFICIAL,
    replace: bool = False,
) -> Plan:
    """Return the plan of a run in a directory. Nothing is written.

    WDL is always among the metrics of the plan: distances are read together with the outcomes.

    Raises:
        IncompatibleTablesError: the directory holds tables of another kind, and `replace` is false.
    """
    return _make_plan(directory, open_manifest(directory, ruleset, replace), scope, metrics, jobs)


def _make_plan(
    directory: Path, manifest: Manifest, scope: RunScope, metrics: Sequence[Metric], jobs: int
) -> Plan:
    def size_of(name: str) -> int | None:
        path = directory / name
        return path.stat().st_size if path.is_file() else None

    wanted = wanted_metrics(scope, metrics, manifest.ruleset)
    solved = {
        pair for pair in scope.pairs if all(is_whole(manifest, m, wanted, size_of) for m in with_mirror(pair))
    }
    return plan(scope, wanted, jobs, solved, manifest.ruleset)


def wanted_metrics(scope: RunScope, metrics: Sequence[Metric], ruleset: Ruleset) -> list[Metric]:
    """Return those of the metrics that some material of a scope has a table of, and WDL."""
    every = [material for pair in scope.pairs for material in with_mirror(pair)]
    return [
        metric
        for metric in Metric
        if (metric in metrics or metric is Metric.WDL)
        and any(metric.fits(material, ruleset) for material in every)
    ]


def is_mapped(work: Plan, memory: int) -> bool:
    """Whether a plan needs more than `memory` bytes, so that large arrays are mapped from scratch files."""
    return work.memory_in_turn > memory


def required_space(work: Plan, memory: int) -> tuple[int, int]:
    """Return the bytes of memory and of disk that a plan needs if it may take `memory` bytes.

    The first may be more than `memory`: then the plan cannot be carried out.
    """
    if is_mapped(work, memory):
        return work.least_memory, work.disk + work.memory
    return min(work.memory, max(work.memory_in_turn, memory)), work.disk


def check_plan(directory: Path, work: Plan, memory: int | None = None) -> None:
    """Check that a plan fits this machine.

    Args:
        directory: the data directory.
        work: the plan.
        memory: bytes of memory that the run may take; None for all that is available.

    Raises:
        PlanError: the plan needs more memory or disk than there is, and the message says what would fit; or
            it has more pieces than this version makes tables of.
    """
    memory = available_memory() if memory is None else memory
    disk = available_disk(directory)

    def fits(candidate: Plan) -> bool:
        needed_memory, needed_disk = required_space(candidate, memory)
        return needed_memory <= memory and needed_disk <= disk

    if fits(work):
        if work.scope.pieces > MOST_PIECES:
            raise PlanError(too_many_pieces(work.scope.pieces))
        return
    needed_memory, needed_disk = required_space(work, memory)
    lacks = [
        f"{format_bytes(need)} of {what} (available: {format_bytes(available)})"
        for what, need, available in (("memory", needed_memory, memory), ("disk", needed_disk, disk))
        if need > available
    ]
    fitting = 1
    while fitting < min(work.scope.pieces - 1, MOST_PIECES) and fits(
        plan(RunScope(fitting + 1), work.metrics, work.jobs, set(), work.ruleset)
    ):
        fitting += 1
    would = f"`--pieces {fitting}` would fit" if fitting > 1 else "not even 2 pieces would fit"
    raise PlanError(f"{work.scope} need about {' and '.join(lacks)}; {would}")


def too_many_pieces(pieces: int) -> str:
    """Return the message for more pieces than this version makes tables of."""
    return f"this version makes tables of up to {MOST_PIECES} pieces, and {pieces} were asked for"


def generate(
    directory: Path,
    wanted: int | RunScope,
    metrics: Sequence[Metric] = ALL_METRICS,
    jobs: int = 1,
    ruleset: Ruleset = OFFICIAL,
    progress: Progress | None = None,
    memory: int | None = None,
    replace: bool = False,
) -> Summary:
    """Solve every wanted material that `directory` does not hold yet, and write its tables.

    An exception, a signal or a full disk may stop the run at any moment. The directory then still holds a
    valid set of tables, without the materials that were being solved. The next run continues from there.

    Args:
        directory: the data directory; scratch files go there too, if memory is short.
        wanted: the largest number of pieces (all materials of 2 to `wanted` pieces), or a scope.
        metrics: the metrics to store. Without DTW the run takes less memory and time: it computes outcomes
            only.
        jobs: number of threads.
        ruleset: the draw rules that outcomes hold under.
        progress: receives the events of the run.
        memory: bytes of memory that the run may take; None for all that is available. If all arrays together
            need more, the large ones are mapped from scratch files: the tables are the same, the run slower.
        replace: remove all tables in the directory first.

    Raises:
        IncompatibleTablesError: the directory holds tables of another format or other rules, or its manifest
            is damaged; nothing was changed.
        PlanError: the run does not fit the machine or `memory`.
        StoreBusyError: another run writes to the directory.
        TableError: a table that the run reads back is damaged.
        DistanceOverflowError: a distance does not fit the solver.
        OSError: the directory cannot be written to.
        KeyboardInterrupt: the run was interrupted; the pair that was being written is complete.
    """
    progress = progress or Progress()
    scope = wanted if isinstance(wanted, RunScope) else RunScope(wanted)
    started = time.perf_counter()
    limit = available_memory() if memory is None else memory
    # A refused run leaves no files, so the plan is checked before the lock file is made. If there is a lock
    # file already, temporary files of a killed run may take up disk space: then only the check below counts.
    work = make_plan(directory, scope, metrics, jobs, ruleset, replace)
    if not (directory / LOCK).exists():
        check_plan(directory, work, limit)
    directory.mkdir(parents=True, exist_ok=True)
    with locked(directory):
        # Another run may have written tables before this one had the lock: plan again.
        manifest = open_manifest(directory, ruleset, replace)
        _remove_strays(directory)
        work = _make_plan(directory, manifest, scope, metrics, jobs)
        check_plan(directory, work, limit)
        if replace and (note := replacing_note(directory)):
            progress.replacing(note)
            _remove_tables(directory)
        progress.begin(work)
        compiling = 0.0
        if work.todo:
            compiling = _compile(work, progress)
            _solve_all(directory, manifest, work, progress, limit)
    seconds = time.perf_counter() - started - compiling
    return Summary(work, seconds, compiling, manifest.sizes(), str(directory))


def _compile(work: Plan, progress: Progress) -> float:
    """Compile the solver or load it from the cache; return the seconds that it took."""
    began = time.perf_counter()
    compile_solver(SolverParts.of(work), progress.compiled)
    return time.perf_counter() - began


def _solve_all(directory: Path, manifest: Manifest, work: Plan, progress: Progress, limit: int) -> None:
    """Solve or restore the pairs of a plan in their order, and write those that were solved.

    Each pair is written while the next one is solved, if that fits into `limit` bytes of memory.
    """
    memory = Memory(directory, limit) if is_mapped(work, limit) else Memory()
    in_memory = [material for pair in work.order for material in with_mirror(pair)]
    tables = successors.allocate(in_memory, work.scope.pieces, memory, work.with_scores)
    known = set(work.known)
    with memory.watched(), ThreadPoolExecutor(work.jobs) as threads, ThreadPoolExecutor(1) as writer:
        solver = SliceSolver(
            tables,
            work.ruleset.king_moves_plies,
            threads,
            work.jobs,
            progress.solved,
            work.ruleset.balance_plies,
            memory,
            Metric.DTB in work.metrics,
        )

        def write(pair: Material, solved: Pair) -> None:
            before = manifest.slices
            entries = write_pair(directory, pair, solved, work.metrics, work.ruleset, before, threads.map)
            solver.free_results(solved)
            manifest.slices.update(entries)
            manifest.save(directory)
            progress.written(pair)

        written: Future[None] | None = None
        try:
            for pair in work.order:
                if written is not None and not work.overlaps(pair, limit):
                    written.result()
                progress.material(pair, pair in known)
                if pair in known:
                    solved = restore_pair(solver, pair, directory, manifest.slices, threads.map)
                else:
                    solved = solver.solve(pair)
                if written is not None:
                    written.result()
                if pair in known:
                    solver.free_results(solved)
                    written = None
                else:
                    written = writer.submit(write, pair, solved)
                for needless in work.last_needed_by[pair]:
                    solver.release(needless)
            if written is not None:
                written.result()
        finally:
            solver.stop()
            if written is not None:
                with suppress(Exception):
                    written.result()
