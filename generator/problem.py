"""What the verifier finds wrong."""

from dataclasses import dataclass

from tablebase.format import Metric
from tablebase.material import Material
from tablebase.outcome import Outcome


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong; `str()` is the message. What does not apply is None.

    Attributes:
        message: what is wrong, where, and what to do.
        material: the slice.
        metric: the table.
        index: of the position in its slice.
        fen: the position.
        stored: what the table holds: an outcome, or plies; None also for a value that is neither.
        derived: what follows from the successors.
    """

    message: str
    material: Material | None = None
    metric: Metric | None = None
    index: int | None = None
    fen: str | None = None
    stored: Outcome | int | None = None
    derived: Outcome | int | None = None

    def __str__(self) -> str:
        return self.message
