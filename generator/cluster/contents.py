"""The index of a store: its manifest, its tables, and the files that tasks left for other tasks."""

import tempfile
from collections.abc import Iterable
from pathlib import Path

from generator.cluster.store import Store
from generator.cluster.tasks import RECORD, TaskRecord, is_of_tasks
from generator.errors import DamagedFileError
from generator.run import incompatible_tables, is_stray, is_whole, open_manifest
from tablebase.board.material import Material
from tablebase.errors import TableError, WrongVersionError
from tablebase.probe.tableset import table_of
from tablebase.rules.ruleset import Ruleset
from tablebase.tables.files import FileRecord
from tablebase.tables.format import HEADER_SIZE, Metric, check_version, table_name
from tablebase.tables.manifest import FILE_NAME as MANIFEST
from tablebase.tables.manifest import Manifest


def remove_all(store: Store) -> None:
    """Remove the tables of a store and the files of tasks.

    The manifest goes last, so that the next run still sees tables of another kind after an interruption.

    Raises:
        StoreError: the store cannot be read or written.
    """
    names = [name for name in store.sizes() if table_of(name) or is_of_tasks(name)]
    store.remove([*names, MANIFEST])


class StoreIndex:
    """Index of the files of a store that matter to a run.

    The store is read once. After that, each change of the store through this class updates the index.

    Args:
        store: the store.
        ruleset: the draw rules of the run.
        digest: digest of the settings of the run.

    Attributes:
        manifest: the manifest of the store, with the tables of finished tasks.
        records: the records of finished tasks, by key.

    Raises:
        IncompatibleTablesError: the store holds tables of another kind; nothing was changed.
        StoreError: the store cannot be read.
    """

    def __init__(self, store: Store, ruleset: Ruleset, digest: str) -> None:
        self._store = store
        self._sizes = store.sizes()
        self.manifest = self._manifest(ruleset)
        self.records = self._records(digest)
        for record in self.usable().values():
            self.manifest.slices.update(record.slice_records())

    def _manifest(self, ruleset: Ruleset) -> Manifest:
        if MANIFEST not in self._sizes:
            self._refuse_other_rules(ruleset)
        with tempfile.TemporaryDirectory() as folder:
            if MANIFEST in self._sizes:
                (Path(folder) / MANIFEST).write_bytes(self._store.read(MANIFEST))
            return open_manifest(Path(folder), ruleset, False, self._store.address)

    def _refuse_other_rules(self, ruleset: Ruleset) -> None:
        """Raise IncompatibleTablesError if a store without a manifest has tables of other draw rules."""
        for name in filter(table_of, self._sizes):
            try:
                head = self._store.read(name, HEADER_SIZE).ljust(HEADER_SIZE, b"\0")
                found = check_version(head, Path(name))
            except (WrongVersionError, TableError) as error:
                raise incompatible_tables(self._store.address, f"other tables ({error})") from None
            if found is not None and found != ruleset:
                kind = f"tables made under other draw rules ({found.name})"
                raise incompatible_tables(self._store.address, kind)

    def _records(self, digest: str) -> dict[str, TaskRecord]:
        """Read the records of tasks that runs with the same settings have finished."""
        names = [name for name in self._sizes if is_of_tasks(name) and name.endswith(RECORD)]
        found = {}
        for content in self._store.read_all(names):
            record = TaskRecord.from_json(content) if content is not None else None
            if record is not None and record.settings == digest:
                found[record.key] = record
        return found

    def usable(self) -> dict[str, TaskRecord]:
        """Return the records of finished tasks whose files all exist, by key."""
        return {
            key: record
            for key, record in self.records.items()
            if all(self._sizes.get(name) == file.size for name, file in _files_of(record).items())
        }

    def is_whole(self, material: Material, metrics: Iterable[Metric]) -> bool:
        """Whether the tables of a material exist and have the sizes that the manifest says."""
        return is_whole(self.manifest, material, metrics, self._sizes.get)

    def add(self, record: TaskRecord) -> None:
        """Add the record of a finished task, and write the manifest if the task wrote tables."""
        self.records[record.key] = record
        self._sizes[record.name] = len(record.to_json())
        self._sizes |= {name: file.size for name, file in record.files.items()}
        if record.slices:
            slices = record.slice_records()
            self.manifest.slices.update(slices)
            for material, entry in slices.items():
                self._sizes |= {table_name(material, metric): of.size for metric, of in entry.files.items()}
            self.save()

    def save(self) -> None:
        """Write the manifest."""
        self._store.write(MANIFEST, self.manifest.to_json().encode())

    def remove(self, names: Iterable[str]) -> None:
        """Remove files from the store."""
        names = [name for name in names if name in self._sizes]
        for name in names:
            del self._sizes[name]
        self._store.remove(names)

    def remove_damaged(self, error: DamagedFileError) -> None:
        """Remove a damaged file with its record and manifest entry, so that the run makes it again."""
        self.remove([error.name])
        for key, record in list(self.records.items()):
            if error.name in _files_of(record):
                del self.records[key]
                self.remove([record.name])
        table = table_of(error.name)
        if table is not None and (entry := self.manifest.slices.get(table[0])):
            entry.files.pop(table[1], None)
            self.save()

    def refresh(self) -> None:
        """List the store again, and remove the records of tasks with missing files.

        A worker would take such a task for done.
        """
        self._sizes = self._store.sizes()
        usable = self.usable()
        for key in self.records.keys() - usable.keys():
            self.remove([self.records.pop(key).name])

    def clear(self, keep: Iterable[str] = ()) -> None:
        """Remove all files that tasks left for other tasks.

        Args:
            keep: keys of the tasks whose files and records stay.
        """
        self._sizes = self._store.sizes()  # interrupted tasks have left files that are not in the index
        kept = set()
        for key in keep:
            record = self.records[key]
            kept |= {record.name, *record.files}
        self.remove(
            [name for name in self._sizes if is_stray(name) or (is_of_tasks(name) and name not in kept)]
        )


def _files_of(record: TaskRecord) -> dict[str, FileRecord]:
    """Return all files that a task has written: those for other tasks, and tables."""
    found = dict(record.files)
    for material, entry in record.slice_records().items():
        found |= {table_name(material, metric): file for metric, file in entry.files.items()}
    return found
