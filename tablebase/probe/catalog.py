"""The materials of a data directory: their tables, files and statistics."""

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
    """The materials of an open tablebase, with their records in the manifest of a data directory.

    A material without a record in the manifest is in the catalog too, without statistics.

    Args:
        tablebase: the tables.
        directory: their data directory.

    Raises:
        WrongVersionError: the manifest has another format version, or a ruleset that is unknown here.
    """

    def __init__(self, tablebase: Tablebase, directory: Path) -> None:
        self.tablebase = tablebase
        self.materials = tuple(tablebase.materials)
        """Every material with a WDL table, in the order of `Tablebase.materials`."""
        self.problem: str | None = None
        """The reason why the manifest was not read; None if it was."""
        self._records: dict[Material, SliceRecord] = {}
        try:
            self._records = Manifest.load(directory).slices
        except ManifestError as error:
            self.problem = str(error)
        self.version = self._version(directory)
        """A hash of the contents of all tables, 16 hexadecimal digits."""

    def statistics(self, material: Material) -> Statistics | None:
        """Return the statistics of a material; None if the manifest has none."""
        return self._records.get(material, _NOTHING).statistics

    def may_have(self, material: Material, outcome: Outcome) -> bool:
        """Whether a material may have positions of an outcome: True if it has no statistics."""
        counted = self.statistics(material)
        return counted is None or counted.count(outcome) > 0

    def metrics(self, material: Material) -> list[Metric]:
        """Return the metrics of the tables of a material, WDL first."""
        return [metric for metric in Metric if self.tablebase.has_table(material, metric)]

    def files(self, material: Material) -> dict[Metric, FileRecord]:
        """Return the size and checksum of each table of a material that the manifest has a record of."""
        recorded = self._records.get(material, _NOTHING).files
        return {metric: recorded[metric] for metric in self.metrics(material) if metric in recorded}

    def _version(self, directory: Path) -> str:
        digest = sha256(self.tablebase.ruleset.name.encode())
        for material in self.materials:
            recorded = self.files(material)
            for metric in self.metrics(material):
                name = table_name(material, metric)
                # Without a checksum, the size and time of the file stand for its contents.
                known: object = (
                    recorded[metric].sha256 if metric in recorded else _file_status(directory / name)
                )
                digest.update(f"{name} {known}\n".encode())
        return digest.hexdigest()[:16]


def _file_status(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns
