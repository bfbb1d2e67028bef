"""What a store holds: its manifest, its tables, and what tasks have left there to go on from."""

import tempfile
from collections.abc import Iterable
from pathlib import Path

from generator.cluster.store import Store
from generator.cluster.tasks import RECORD, Record, is_of_tasks
from generator.errors import DamagedFileError, IncompatibleTablesError
from generator.run import is_stray, is_table_name, is_whole, open_manifest
from tablebase.board.material import Material
from tablebase.errors import TableError, WrongVersionError
from tablebase.rules.ruleset import Ruleset
from tablebase.tables.files import FileRecord
from tablebase.tables.format import HEADER_SIZE, Metric, check_version, table_name
from tablebase.tables.manifest import FILE_NAME as MANIFEST
from tablebase.tables.manifest import Manifest


def remove_all(store: Store) -> None:
    """Remove a store's tables, and what tasks have left; the manifest last, so that what is left of another
    kind is known for it until then."""
    names = [name for name in store.sizes() if is_table_name(name) or is_of_tasks(name)]
    store.remove([*names, MANIFEST])


class Contents:
    """What a store holds for a run: read once, kept true by whoever changes it.

    Args:
        store: the store.
        ruleset: the rules of the run.
        digest: of the settings of the run.

    Raises:
        IncompatibleTablesError: its tables are of another kind; nothing was changed.
        StoreError: the store refuses.
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
            self._refuse_others(ruleset)
        with tempfile.TemporaryDirectory() as folder:
            if MANIFEST in self._sizes:
                (Path(folder) / MANIFEST).write_bytes(self._store.read(MANIFEST))
            return open_manifest(Path(folder), ruleset, False, self._store.address)

    def _refuse_others(self, ruleset: Ruleset) -> None:
        """Of tables without a manifest, as a run leaves them that was stopped early: those of other rules."""
        for name in filter(is_table_name, self._sizes):
            try:
                head = self._store.read(name, HEADER_SIZE).ljust(HEADER_SIZE, b"\0")
                found = check_version(head, Path(name))
            except (WrongVersionError, TableError) as error:
                raise self._other_tables(f"other tables ({error})") from None
            if found is not None and found != ruleset:
                raise self._other_tables(f"tables made under other draw rules ({found.name})")

    def _other_tables(self, kind: str) -> IncompatibleTablesError:
        return IncompatibleTablesError(
            f"{self._store.address} holds {kind}, and a run cannot go on with those; nothing was changed: "
            "empty it, or name another store, or add --replace to remove its tables and make all again"
        )

    def _records(self, digest: str) -> dict[str, Record]:
        """The tasks that have been done by a run with these settings."""
        names = [name for name in self._sizes if is_of_tasks(name) and name.endswith(RECORD)]
        found = {}
        for content in self._store.read_all(names):
            record = Record.from_json(content) if content is not None else None
            if record is not None and record.settings == digest:
                found[record.key] = record
        return found

    def usable(self) -> dict[str, Record]:
        """The tasks whose files are all there still, by key."""
        return {
            key: record
            for key, record in self.records.items()
            if all(self._sizes.get(name) == file.size for name, file in _files_of(record).items())
        }

    def is_whole(self, material: Material, metrics: Iterable[Metric]) -> bool:
        """Whether a material's tables of these metrics are there."""
        return is_whole(self.manifest, material, metrics, self._sizes.get)

    def add(self, record: Record) -> None:
        """A task is done."""
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
        """Remove files that nobody needs any more."""
        names = [name for name in names if name in self._sizes]
        for name in names:
            del self._sizes[name]
        self._store.remove(names)

    def remove_damaged(self, error: DamagedFileError) -> None:
        """Remove a file that is not what was written there, and what says that it is: it is made again."""
        self.remove([error.name])
        for key, record in list(self.records.items()):
            if error.name in _files_of(record):
                del self.records[key]
                self.remove([record.name])
        stem, _, suffix = error.name.rpartition(".")
        if is_table_name(error.name):
            entry = self.manifest.slices.get(Material.parse(stem))
            if entry:
                entry.files.pop(Metric(suffix), None)
                self.save()

    def look_again(self) -> None:
        """See what is there still, and remove the records of tasks whose files are not: a worker would take
        its task for done."""
        self._sizes = self._store.sizes()
        usable = self.usable()
        for key in self.records.keys() - usable.keys():
            self.remove([self.records.pop(key).name])

    def clear(self, keep: Iterable[str] = ()) -> None:
        """Remove all that tasks have left to one another, but for the files of the records that are kept."""
        self._sizes = self._store.sizes()  # tasks that were cut short have left what nobody knows of
        kept = set()
        for key in keep:
            record = self.records[key]
            kept |= {record.name, *record.files}
        self.remove(
            [name for name in self._sizes if is_stray(name) or (is_of_tasks(name) and name not in kept)]
        )


def _files_of(record: Record) -> dict[str, FileRecord]:
    """All that a task has left: what other tasks go on from, and tables."""
    found = dict(record.files)
    for material, entry in record.slice_records().items():
        found |= {table_name(material, metric): file for metric, file in entry.files.items()}
    return found
