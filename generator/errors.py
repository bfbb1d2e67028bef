"""Errors of generation. Each message says what is wrong and what to do."""

import errno

from tablebase.board.material import Material
from tablebase.errors import TablebaseError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers of the system for a full disk, an exceeded quota or file size limit."""


class GenerationError(TablebaseError):
    """Tables cannot be generated."""


class DistanceOverflowError(GenerationError):
    """A distance is longer than the solver can hold.

    Args:
        material: the material that has the distance.
        what: the kind of distance: "win" or "DTC".
        longest: the longest distance that the solver can hold, in plies.
    """

    def __init__(self, material: Material, what: str, longest: int) -> None:
        super().__init__(
            f"{material} has a {what} of more than {longest} plies, and this version's solver counts up to "
            f"{longest}; nothing was written for this material. Please report this as a program error."
        )


class StoppedError(GenerationError):
    """The run was asked to stop."""


class PlanError(GenerationError):
    """The plan does not fit this machine."""


class IncompatibleTablesError(GenerationError):
    """The directory or store holds tables that a run cannot continue."""


class StoreBusyError(GenerationError):
    """Another run writes to the same directory or store."""


class ClusterError(GenerationError):
    """The cluster cannot do the work, or has stopped."""


class StoreError(ClusterError):
    """The store cannot be read or written."""


class StoreMismatchError(StoreError):
    """A worker does not see the same store as the command."""


class ProgramMismatchError(ClusterError):
    """A worker runs another version of the program than the command."""


class DamagedFileError(ClusterError):
    """A file is not what was written.

    Attributes:
        name: the name of the file in the store.
        detail: what is wrong with it.
    """

    def __init__(self, name: str, detail: str) -> None:
        super().__init__(name, detail)
        self.name = name
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.name} is damaged ({self.detail})"
