"""What is known of the materials of a data directory: their tables, and what was counted of them."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from tablebase.board.material import Material
from tablebase.errors import ManifestError
from tablebase.probe.tablebase import Tablebase
from tablebase.rules.outcome import Outcome
from tablebase.tables.files import FileRecord
from tablebase.tables.format import Metric, table_name
from tablebase.tables.manifest import Manifest, SliceRecord, Statistics

_NOTHING = SliceRecord()


class Catalog:
    """The materials of an open set of tables, with what the manifest of their directory says of them.

    Tables without a manifest, or that it does not name, are there like all others: nothing has been counted
    of them.

    Args:
        tablebase: the tables.
        directory: where they are.

    Raises:
        WrongVersionError: the manifest is of another version, or of other rules than this program knows.
    """

    def __init__(self, tablebase: Tablebase, directory: Path) -> None:
        self.tablebase = tablebase
        self.materials = tuple(tablebase.materials)
        """Every material whose outcomes are there, in the order of `Tablebase.materials`."""
        self.problem: str | None = None
        """Why there is no manifest to read; None where it has been read."""
        self._records: dict[Material, SliceRecord] = {}
        try:
            self._records = Manifest.load(directory).slices
        except ManifestError as error:
            self.problem = str(error)
        self.version = self._version(directory)
        """A name for what all tables hold, 16 hexadecimal digits: another where any table is another."""

    def statistics(self, material: Material) -> Statistics | None:
        """What was counted of a material; None where that is not known."""
        return self._records.get(material, _NOTHING).statistics

    def may_have(self, material: Material, outcome: Outcome) -> bool:
        """Whether a material has positions of an outcome, for all that is known."""
        counted = self.statistics(material)
        return counted is None or counted.count(outcome) > 0

    def metrics(self, material: Material) -> list[Metric]:
        """Of which metrics there is a table, outcomes first."""
        return [metric for metric in Metric if self.tablebase.has_table(material, metric)]

    def files(self, material: Material) -> dict[Metric, FileRecord]:
        """The size and checksum of each table of a material, as far as the manifest has them."""
        recorded = self._records.get(material, _NOTHING).files
        return {metric: recorded[metric] for metric in self.metrics(material) if metric in recorded}

    def _version(self, directory: Path) -> str:
        digest = sha256(self.tablebase.ruleset.name.encode())
        for material in self.materials:
            recorded = self.files(material)
            for metric in self.metrics(material):
                name = table_name(material, metric)
                # What no manifest vouches for is told apart by what the system knows of the file.
                known: object = recorded[metric].sha256 if metric in recorded else _seen(directory / name)
                digest.update(f"{name} {known}\n".encode())
        return digest.hexdigest()[:16]


def _seen(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns
