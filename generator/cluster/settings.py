"""Settings of a run on a cluster, and the digest of the program that command and workers must share."""

import functools
import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from generator.cluster.tasks import TASK_POSITIONS
from tablebase import __version__
from tablebase.rules.ruleset import Ruleset
from tablebase.rules.rulesets import RULESETS
from tablebase.tables.format import FORMAT_VERSION, Metric

_ROOT = Path(__file__).parents[2]


@functools.cache
def program_digest() -> str:
    """Return the version of this program with a digest of its sources and of the format of tables."""
    digest = hashlib.sha256(str(FORMAT_VERSION).encode())
    for package in ("generator", "tablebase"):
        for path in sorted((_ROOT / package).rglob("*.py")):
            digest.update(str(path.relative_to(_ROOT)).encode() + b"\0" + path.read_bytes())
    return f"{__version__} ({digest.hexdigest()[:12]})"


CACHE = 20_000_000_000
"""Default disk space of each worker for copies of files of the store, in bytes."""
PATIENCE = 180.0
"""Default time in seconds after which a run gives up a failing store or a lost scheduler."""


@dataclass(frozen=True)
class Options:
    """Options of a run on a cluster.

    Attributes:
        jobs: threads of a task; None for one per core of its worker.
        memory: bytes of memory that a task may take; None for what the largest worker offers. If a task needs
            more, its large arrays are mapped from the worker's disk.
        cache: bytes of disk that each worker uses for copies of files of the store.
        task_positions: largest number of positions of a task.
        patience: seconds after which the run gives up a failing store or a lost scheduler.
        replace: whether to remove all tables of the store first.
    """

    jobs: int | None = None
    memory: int | None = None
    cache: int = CACHE
    task_positions: int = TASK_POSITIONS
    patience: float = PATIENCE
    replace: bool = False


@dataclass(frozen=True)
class RunSettings:
    """Settings that all tasks of a run share.

    Attributes:
        program: `program_digest` of the program that a worker must run.
        store: address of the store.
        ruleset: name of the ruleset that outcomes hold under.
        metrics: names of the metrics to store.
        most_pieces: largest number of pieces of all materials.
        jobs: threads of a task; None for one per core of its worker.
        memory: bytes of memory that a task may take. If it needs more, its large arrays are mapped.
        cache: bytes of disk that a worker uses for copies of files of the store.
        patience: seconds after which a task gives up a failing store.
        run_marker: content of the run marker in the store during this run (see generator/cluster/lease.py).
        round: name of the round of tasks. A worker does not reuse arrays in memory from another round.
    """

    program: str
    store: str
    ruleset: str
    metrics: tuple[str, ...]
    most_pieces: int
    jobs: int | None
    memory: int
    cache: int
    patience: float
    run_marker: str = ""
    round: str = ""

    @property
    def rules(self) -> Ruleset:
        """The ruleset that outcomes hold under."""
        return RULESETS[self.ruleset]

    @property
    def wanted(self) -> tuple[Metric, ...]:
        """The metrics to store."""
        return tuple(Metric(name) for name in self.metrics)

    @property
    def with_scores(self) -> bool:
        """Whether the solver computes DTW."""
        return Metric.DTW in self.wanted

    @cached_property
    def digest(self) -> str:
        """Hash of the settings that tasks must share to reuse each other's files (16 hex digits)."""
        parts = {name: asdict(self)[name] for name in ("program", "ruleset", "metrics")}
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
