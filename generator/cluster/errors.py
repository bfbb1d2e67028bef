"""What can go wrong on a cluster, each with what to do about it. They travel from a worker to the command, so
each is made of plain arguments alone."""

from generator.errors import GenerationError


class ClusterError(GenerationError):
    """The cluster cannot do the work, or has stopped doing it."""


class StoreError(ClusterError):
    """The store cannot be read or written."""


class OtherStoreError(StoreError):
    """A worker does not see the store that the command does."""


class OtherProgramError(ClusterError):
    """A worker runs another program than the command does."""


class DamagedFileError(ClusterError):
    """A file (`name`, in the store) is not what was written there."""

    def __init__(self, name: str, detail: str) -> None:
        super().__init__(name, detail)
        self.name = name
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.name} is damaged ({self.detail})"
