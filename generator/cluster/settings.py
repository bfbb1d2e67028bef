"""Settings of a run on a cluster, and the digest of the program that workers must share."""

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
def identity() -> str:
    """The version of this program, and a digest of the sources that tables depend on."""
    digest = hashlib.sha256(str(FORMAT_VERSION).encode())
    for package in ("generator", "tablebase"):
        for path in sorted((_ROOT / package).rglob("*.py")):
            digest.update(str(path.relative_to(_ROOT)).encode() + b"\0" + path.read_bytes())
    return f"{__version__} ({digest.hexdigest()[:12]})"


CACHE = 20_000_000_000
"""Bytes that each worker keeps of the store on its disk, if nothing else is said."""
PATIENCE = 180.0
"""Seconds for which a store may refuse, or a scheduler be gone, before a run gives up."""


@dataclass(frozen=True)
class Options:
    """How a run on a cluster goes about it.

    Attributes:
        jobs: threads of a task; None for one a core that its worker may use.
        memory: bytes that a task may take, with less than it needs mapped from the worker's disk; None for
            what the largest worker offers.
        cache: bytes that each worker keeps of the store on its disk.
        task_positions: the most positions of a task.
        patience: seconds for which store or scheduler may be away.
        replace: remove the tables that are there, and make all again.
    """

    jobs: int | None = None
    memory: int | None = None
    cache: int = CACHE
    task_positions: int = TASK_POSITIONS
    patience: float = PATIENCE
    replace: bool = False


@dataclass(frozen=True)
class Settings:
    """What all tasks of a run have in common.

    Attributes:
        program: the identity of the program that a worker has to be.
        store: the address of the store.
        ruleset: the name of the rules that outcomes hold under.
        metrics: what to store.
        most_pieces: of all materials.
        jobs: threads of a task; None for one a core that the worker may use.
        memory: bytes that a task may take: with less than it needs, its large arrays are mapped.
        cache: bytes that a worker may keep of the store on its disk.
        patience: seconds for which the store may refuse.
        claim: what is to be found in the store, as long as it is this run's (see generator/cluster/lease.py).
        round: names the round of tasks: what a worker has in memory from another one is no good.
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
    claim: str = ""
    round: str = ""

    @property
    def rules(self) -> Ruleset:
        """The rules that outcomes hold under."""
        return RULESETS[self.ruleset]

    @property
    def wanted(self) -> tuple[Metric, ...]:
        """What to store."""
        return tuple(Metric(name) for name in self.metrics)

    @property
    def with_scores(self) -> bool:
        """Whether DTW is worked out."""
        return Metric.DTW in self.wanted

    @cached_property
    def digest(self) -> str:
        """Of what tasks must agree in to go on from each other."""
        parts = {name: asdict(self)[name] for name in ("program", "ruleset", "metrics")}
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
