"""A whole run: solve what is missing, write it, keep the manifest true at every moment."""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from generator.compilation import SolverParts, compile_solver
from generator.errors import IncompatibleTablesError, PlanError
from generator.lock import FILE_NAME as LOCK
from generator.lock import locked
from generator.materials import Scope, both
from generator.memory import Memory
from generator.plan import MOST_PIECES, Plan, available_disk, available_memory, format_bytes, plan
from generator.solver import successors as afters
from generator.solver.files import restore_pair, write_pair
from generator.solver.solver import Pair, SliceSolver
from tablebase import __version__
from tablebase.board.material import Material
from tablebase.errors import ManifestError, MaterialError, TableError, WrongVersionError
from tablebase.rules.rulesets import OFFICIAL, Ruleset
from tablebase.tables.files import TEMPORARY_SUFFIX
from tablebase.tables.format import FORMAT_VERSION, Metric, table_name
from tablebase.tables.manifest import FILE_NAME as MANIFEST
from tablebase.tables.manifest import Manifest
from tablebase.tables.table import Table

ALL_METRICS = tuple(Metric)


class Progress(Protocol):
    """Who is told how far a run has come. Called from several threads."""

    def replacing(self, note: str) -> None:
        """The tables that are there are about to be removed."""

    def note(self, text: str) -> None:
        """Something has happened that a person should know."""

    def begin(self, plan: Plan) -> None:
        """The run begins."""

    def compiled(self, name: str, done: int, total: int) -> None:
        """One more kernel is compiled, the `done`-th of about `total`."""

    def material(self, pair: Material, restoring: bool) -> None:
        """The next pair of materials is begun (or, `restoring`, read back)."""

    def solved(self, positions: int) -> None:
        """So many more positions are solved."""

    def written(self, pair: Material) -> None:
        """A pair's files and their manifest entry are on disk."""


class Silent:
    """Tells nobody."""

    def replacing(self, note: str) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""

    def begin(self, plan: Plan) -> None:
        """Nothing."""

    def compiled(self, name: str, done: int, total: int) -> None:
        """Nothing."""

    def material(self, pair: Material, restoring: bool) -> None:
        """Nothing."""

    def solved(self, positions: int) -> None:
        """Nothing."""

    def written(self, pair: Material) -> None:
        """Nothing."""


@dataclass(frozen=True)
class Summary:
    """What a run has done: its plan, the seconds that took and those of compiling before, bytes of all tables
    of the directory, by metric."""

    plan: Plan
    seconds: float
    compiling: float
    sizes: dict[Metric, int]


def open_manifest(directory: Path, ruleset: Ruleset, replace: bool, name: str = "") -> Manifest:
    """The manifest to go on with: an empty one where there is none, or where all is to be replaced. In errors
    the directory is called by `name`, if it has one.

    Raises:
        IncompatibleTablesError: the tables there are of another kind.
    """
    empty = Manifest(__version__, ruleset)
    if replace:
        return empty
    if not (directory / MANIFEST).exists():
        _refuse_others(directory, ruleset)
        return empty
    try:
        manifest = Manifest.load(directory)
    except WrongVersionError:
        raise _other_tables(name or directory, _kind(directory)) from None
    except ManifestError as error:
        what = str(error).rpartition(";")[0] or str(error)  # its advice is for who has no choice
        raise _other_tables(name or directory, f"a set of tables with a damaged manifest ({what})") from None
    if manifest.ruleset != ruleset:
        kind = f"tables made under other draw rules ({manifest.ruleset.name})"
        raise _other_tables(name or directory, kind)
    manifest.generator_version = __version__
    return manifest


def _refuse_others(directory: Path, ruleset: Ruleset) -> None:
    """Of tables without a manifest, as where it was damaged and removed: refuse what a run would not make."""
    for path in _tables(directory):
        try:
            with Table(path) as table:
                found = table.header.ruleset
        except TableError:
            continue  # damaged: it is made again
        if found != ruleset:
            raise _other_tables(directory, f"tables made under other draw rules ({found.name})")


def _kind(directory: Path) -> str:
    """What tables those are whose manifest is of another version."""
    data = json.loads((directory / MANIFEST).read_bytes())
    found = data["format_version"]
    if found == FORMAT_VERSION:
        return f"tables made under other draw rules ({data['ruleset']})"
    age = "another" if not isinstance(found, int) else "a newer" if found > FORMAT_VERSION else "an older"
    return f"tables of {age} format (version {found}, where this program writes {FORMAT_VERSION})"


def _other_tables(directory: Path | str, kind: str) -> IncompatibleTablesError:
    return IncompatibleTablesError(
        f"{directory} holds {kind}, and a run cannot go on with those; nothing was changed: empty it, or "
        "name another directory with --data, or add --replace to remove its tables and make all again"
    )


def replacing_note(directory: Path) -> str | None:
    """What a run that replaces the tables of `directory` removes; None where there are none."""
    there = len(_tables(directory))
    if not there and not (directory / MANIFEST).exists():
        return None
    return f"the {there} tables in {directory} are removed and made again"


def _tables(directory: Path) -> list[Path]:
    """Every file with the name of a table."""
    return [path for metric in Metric for path in directory.glob(f"*.{metric}") if _material(path.stem)]


def _remove_tables(directory: Path) -> None:
    # The manifest goes last: a run that is stopped before refuses what is left of another kind.
    for path in _tables(directory):
        path.unlink()
    (directory / MANIFEST).unlink(missing_ok=True)


def _remove_strays(directory: Path) -> None:
    """Remove what a killed run was writing, and nothing that is not ours."""
    for path in directory.glob(f"*{TEMPORARY_SUFFIX}"):
        if is_stray(path.name):
            path.unlink()


def is_stray(name: str) -> bool:
    """Whether this is the name of what a killed run was writing."""
    written = name.removesuffix(TEMPORARY_SUFFIX).rpartition(".")[0]
    return name.endswith(TEMPORARY_SUFFIX) and (written == MANIFEST or is_table_name(written))


def _material(text: str) -> Material | None:
    with suppress(MaterialError):
        return Material.parse(text)
    return None


def is_table_name(name: str) -> bool:
    """Whether this is the name of a table's file."""
    stem, _, suffix = name.rpartition(".")
    return suffix in list(Metric) and _material(stem) is not None


def is_whole(
    manifest: Manifest, material: Material, metrics: Iterable[Metric], size_of: Callable[[str], int | None]
) -> bool:
    """Whether a material's tables of these metrics are there, as the manifest has them.

    Args:
        manifest: the manifest.
        material: the material.
        metrics: of its tables; those that it does not have are no matter.
        size_of: the bytes of a file, None where there is none.
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
    scope: Scope,
    metrics: Sequence[Metric],
    jobs: int,
    ruleset: Ruleset = OFFICIAL,
    replace: bool = False,
) -> Plan:
    """What a run in `directory` would do now. Nothing is written.

    Distances are read together with the outcomes, so WDL is always among the metrics.

    Raises:
        IncompatibleTablesError: its tables are of another kind, and not to be replaced.
    """
    return _make_plan(directory, open_manifest(directory, ruleset, replace), scope, metrics, jobs)


def _make_plan(
    directory: Path, manifest: Manifest, scope: Scope, metrics: Sequence[Metric], jobs: int
) -> Plan:
    def size_of(name: str) -> int | None:
        path = directory / name
        return path.stat().st_size if path.is_file() else None

    wanted = wanted_metrics(scope, metrics, manifest.ruleset)
    solved = {pair for pair in scope.pairs if all(is_whole(manifest, m, wanted, size_of) for m in both(pair))}
    return plan(scope, wanted, jobs, solved, manifest.ruleset)


def wanted_metrics(scope: Scope, metrics: Sequence[Metric], ruleset: Ruleset) -> list[Metric]:
    """Those of the metrics that some material has a table of; WDL always."""
    every = [material for pair in scope.pairs for material in both(pair)]
    return [
        metric
        for metric in Metric
        if (metric in metrics or metric is Metric.WDL)
        and any(metric.fits(material, ruleset) for material in every)
    ]


def is_mapped(work: Plan, memory: int) -> bool:
    """Whether a plan takes more memory than it may, so that its large arrays are mapped from a scratch file
    in the directory of the tables."""
    return work.memory_in_turn > memory


def needs(work: Plan, memory: int) -> tuple[int, int]:
    """Bytes of memory and of disk that a plan takes, within so much memory if it can be done."""
    if is_mapped(work, memory):
        return work.least_memory, work.disk + work.memory
    return min(work.memory, max(work.memory_in_turn, memory)), work.disk


def check_plan(directory: Path, work: Plan, memory: int | None = None) -> None:
    """Refuse a plan that does not fit.

    Args:
        directory: where the tables go.
        work: the plan.
        memory: bytes it may take; what the machine has available if None.

    Raises:
        PlanError: more memory or disk than there is; the message says what would fit. Or more pieces than
            this version makes tables of.
    """
    memory = available_memory() if memory is None else memory
    disk = available_disk(directory)

    def fits(plan: Plan) -> bool:
        taken, written = needs(plan, memory)
        return taken <= memory and written <= disk

    if fits(work):
        if work.scope.pieces > MOST_PIECES:
            raise PlanError(beyond(work.scope.pieces))
        return
    taken, written = needs(work, memory)
    lacks = [
        f"{format_bytes(need)} of {what} (available: {format_bytes(there)})"
        for what, need, there in (("memory", taken, memory), ("disk", written, disk))
        if need > there
    ]
    fitting = 1
    while fitting < min(work.scope.pieces - 1, MOST_PIECES) and fits(
        plan(Scope(fitting + 1), work.metrics, work.jobs, set(), work.ruleset)
    ):
        fitting += 1
    would = f"`--pieces {fitting}` would fit" if fitting > 1 else "not even 2 pieces would fit"
    raise PlanError(f"{work.scope} need about {' and '.join(lacks)}; {would}")


def beyond(pieces: int) -> str:
    """What to say to more pieces than tables are made of."""
    return f"tables of more than {MOST_PIECES} pieces are beyond this version, and {pieces} were asked for"


def generate(
    directory: Path,
    wanted: int | Scope,
    metrics: Sequence[Metric] = ALL_METRICS,
    jobs: int = 1,
    ruleset: Ruleset = OFFICIAL,
    progress: Progress | None = None,
    memory: int | None = None,
    replace: bool = False,
) -> Summary:
    """Solve every wanted material that `directory` does not hold yet, and write its tables.

    Stopped at any moment (by an exception, a signal, a full disk) it leaves the directory whole, without the
    materials in hand; run again, it goes on from there. With `replace` whatever tables are there are removed
    first, and all are made again.

    Args:
        directory: where the tables are, and where a scratch file is while it runs, if memory is short.
        wanted: the most pieces (all materials of 2 to so many), or materials and all that they lead to.
        metrics: what to store. Without DTW it takes less memory and time, as only outcomes are worked out.
        jobs: threads.
        ruleset: what outcomes hold under.
        progress: is told how far it has come.
        memory: bytes that it may take, what the machine has available if None. With less than all would take,
            the large arrays are mapped from a scratch file: the same tables, more slowly.
        replace: make all tables again.

    Raises:
        IncompatibleTablesError: the tables there have another format or other rules, or their manifest is
            damaged; nothing was changed.
        PlanError: it does not fit the machine, or the memory it may take.
        BusyError: another run writes to the directory.
        DistanceOverflowError: a distance does not fit the solver.
        OSError: the directory cannot be written to.
        KeyboardInterrupt: as usual; the pair being written is finished first.
    """
    progress = progress or Silent()
    scope = wanted if isinstance(wanted, Scope) else Scope(wanted)
    started = time.perf_counter()
    limit = available_memory() if memory is None else memory
    # What is refused leaves nothing behind. (Where a run was before, its strays may take up the room.)
    work = make_plan(directory, scope, metrics, jobs, ruleset, replace)
    if not (directory / LOCK).exists():
        check_plan(directory, work, limit)
    directory.mkdir(parents=True, exist_ok=True)
    with locked(directory):
        manifest = open_manifest(directory, ruleset, replace)
        _remove_strays(directory)
        work = _make_plan(directory, manifest, scope, metrics, jobs)
        check_plan(directory, work, limit)
        if replace and (note := replacing_note(directory)):
            progress.replacing(note)
            _remove_tables(directory)
        progress.begin(work)
        compiling = _compile(work, progress) if work.todo else 0.0
        if work.todo:
            store = Memory(directory, limit) if is_mapped(work, limit) else Memory()
            _Run(directory, manifest, work, ruleset, progress, store, limit).run()
    return Summary(work, time.perf_counter() - started - compiling, compiling, manifest.sizes())


def _compile(work: Plan, progress: Progress) -> float:
    """Compile the solver, or load it; return the seconds that took."""
    began = time.perf_counter()
    compile_solver(SolverParts.of(work), progress.compiled)
    return time.perf_counter() - began


class _Run:
    def __init__(
        self,
        directory: Path,
        manifest: Manifest,
        work: Plan,
        ruleset: Ruleset,
        progress: Progress,
        memory: Memory,
        limit: int,
    ) -> None:
        self._limit = limit
        self._directory = directory
        self._memory = memory
        self._manifest = manifest
        self._work = work
        self._ruleset = ruleset
        self._progress = progress

    def run(self) -> None:
        work = self._work
        in_memory = [material for pair in work.order for material in both(pair)]
        tables = afters.allocate(in_memory, work.scope.pieces, self._memory, work.with_scores)
        known = set(work.known)
        with (
            self._memory.watched(),
            ThreadPoolExecutor(work.jobs) as threads,
            ThreadPoolExecutor(1) as writer,
        ):
            crew = SliceSolver(
                tables,
                self._ruleset.king_moves_plies,
                threads,
                work.jobs,
                self._progress.solved,
                self._ruleset.balance_plies,
                self._memory,
                Metric.DTB in work.metrics,
            )
            written: Future[None] | None = None
            try:
                for pair in work.order:
                    if written is not None and not work.overlaps(pair, self._limit):
                        written.result()
                    self._progress.material(pair, pair in known)
                    if pair in known:
                        solved = restore_pair(crew, pair, self._directory, self._manifest.slices, threads.map)
                    else:
                        solved = crew.solve(pair)
                    if written is not None:
                        written.result()
                    # A pair is written while the next one is solved.
                    if pair in known:
                        crew.free_results(solved)
                        written = None
                    else:
                        written = writer.submit(self._write, pair, solved, crew, threads)
                    for needless in work.last_needed_by[pair]:
                        crew.release(needless)
                if written is not None:
                    written.result()
            finally:
                crew.stop()
                if written is not None:
                    with suppress(Exception):
                        written.result()

    def _write(self, pair: Material, solved: Pair, crew: SliceSolver, threads: Executor) -> None:
        before = self._manifest.slices
        entries = write_pair(
            self._directory, pair, solved, self._work.metrics, self._ruleset, before, threads.map
        )
        crew.free_results(solved)
        self._manifest.slices.update(entries)
        self._manifest.save(self._directory)
        self._progress.written(pair)
