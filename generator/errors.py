"""Errors of generation, each with what to do about it."""

import errno

from tablebase.board.material import Material
from tablebase.errors import TablebaseError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system calls a disk that is full."""


class GenerationError(TablebaseError):
    """Tables cannot be generated."""


class DistanceOverflowError(GenerationError):
    """A distance (a `what`: win or DTC) is longer than the solver can hold."""

    def __init__(self, material: Material, what: str, longest: int) -> None:
        super().__init__(
            f"{material} has a {what} of more than {longest} plies, the most that this version's solver "
            "counts; nothing was written for this material. Please report it: the solver needs wider values."
        )


class StoppedError(GenerationError):
    """Somebody asked the run to stop."""


class PlanError(GenerationError):
    """What is asked for does not fit this machine."""


class IncompatibleTablesError(GenerationError):
    """The directory holds a set of tables that a run cannot go on with."""


class BusyError(GenerationError):
    """Another run writes to the same directory."""


class ClusterError(GenerationError):
    """The cluster cannot do the work, or has stopped doing it."""


class StoreError(ClusterError):
    """The store cannot be read or written."""


class StoreMismatchError(StoreError):
    """A worker does not see the store that the command does."""


class ProgramMismatchError(ClusterError):
    """A worker runs another program than the command does."""


class DamagedFileError(ClusterError):
    """A file (`name`, in the store) is not what was written there."""

    def __init__(self, name: str, detail: str) -> None:
        super().__init__(name, detail)
        self.name = name
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.name} is damaged ({self.detail})"
