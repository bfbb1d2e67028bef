"""How a run on a cluster goes about it."""

from dataclasses import dataclass

from generator.cluster.graph import TASK_POSITIONS

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
