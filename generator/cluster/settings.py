"""What all tasks of a run have in common."""

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cached_property

from tablebase.drawrules import RULESETS
from tablebase.format import Metric
from tablebase.ruleset import Ruleset


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
        claim: what is to be found in the store, as long as it is this run's (see claim.py).
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
