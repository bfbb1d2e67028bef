"""The set of table files in one or more data directories."""

from __future__ import annotations

from pathlib import Path
from threading import Lock

from tablebase.board.material import Material, complete_up_to
from tablebase.errors import (
    ClosedError,
    DamagedHeaderError,
    DataDirectoryError,
    MaterialError,
    MissingTableError,
    NotATableError,
    TooManyPiecesError,
    WrongVersionError,
)
from tablebase.rules.rulesets import OFFICIAL, Ruleset
from tablebase.tables.files import generate_command
from tablebase.tables.format import HEADER_SIZE, Metric, check_version, table_name
from tablebase.tables.table import FrameCache, Table

TableKey = tuple[Material, Metric]
"""The material and the metric of a table."""


def require_directory(path: Path) -> None:
    """Check that a path is a directory.

    Raises:
        DataDirectoryError: it is not.
    """
    if path.is_dir():
        return
    if path.exists():
        raise DataDirectoryError(f"{path} is not a directory; name a directory with tables")
    raise DataDirectoryError(
        f"there is no directory {path}; make tables there with {generate_command(path)}, or name another one"
    )


def check_is_file(path: Path) -> None:
    """Raise NotATableError if a path with the name of a table is not a file."""
    if path.is_file():
        return
    if path.is_dir():
        what = "a directory"
    elif path.is_symlink() and not path.exists():
        what = "a broken link"
    else:
        what = "not a regular file"
    raise NotATableError(
        f"{path} has the name of a table but is {what}; "
        f"remove it, and make the table with {generate_command(path.parent)}"
    )


def table_of(name: str) -> TableKey | None:
    """Return the material and metric that a file name stands for; None if it is not the name of a table."""
    stem, _, suffix = name.rpartition(".")
    try:
        return Material.parse(stem), Metric(suffix)
    except (MaterialError, ValueError):
        return None


_MAX_GENERATED_PIECES = 8  # no machine of today has the memory for more


class TableSet:
    """Tables of one ruleset, by material and metric. Any number of threads may use it.

    Args:
        ruleset: the rules that the tables must assume; None takes those of the first table added.
        cache_bytes: memory for decoded frames of all tables together, in bytes.
    """

    def __init__(self, ruleset: Ruleset | None, cache_bytes: int) -> None:
        self._ruleset = ruleset
        self._cache = FrameCache(cache_bytes)
        self._directories: list[Path] = []
        self._paths: dict[TableKey, Path] = {}
        self._tables: dict[TableKey, Table] = {}
        self._dtb_metrics: dict[Material, Metric | None] = {}
        self._lock = Lock()
        self._closed = False
        self.pieces = 0
        """Largest n such that every material of up to n pieces has a WDL table; 0 if the set is empty."""
        self.materials: tuple[Material, ...] = ()
        """Every material with a WDL table; a new tuple after each `add_directory`."""

    @property
    def ruleset(self) -> Ruleset:
        """The rules that the tables assume; the official ones if there are no tables."""
        return self._ruleset or OFFICIAL

    @property
    def cache_used_bytes(self) -> int:
        """Memory that decoded frames take now, in bytes."""
        return self._cache.used_bytes

    def add_directory(self, path: Path | str) -> int:
        """Add the tables of a directory, but no second table of a material and metric.

        After an error no table is added.

        Returns:
            The number of tables added.

        Raises:
            DataDirectoryError: there is no such directory.
            WrongVersionError: a table has another format version or was made under other rules.
            NotATableError: something in the directory has the name of a table but is not a file.
        """
        directory = Path(path)
        require_directory(directory)
        found = {}
        rules = self._ruleset
        for file in sorted(directory.iterdir()):
            key = table_of(file.name)
            if key is not None and key not in self._paths:
                check_is_file(file)
                with file.open("rb") as opened:
                    head = opened.read(HEADER_SIZE)
                if len(head) == HEADER_SIZE:
                    rules = _one_ruleset(rules, check_version(head, file), file)
                found[key] = file
        self._ruleset = rules
        self._dtb_metrics.clear()
        self._directories.append(directory)
        self._paths |= found
        complete = complete_up_to(lambda material: self.has(material, Metric.WDL))
        self.pieces = complete if complete > 1 else 0
        self.materials = tuple(material for material, metric in self._paths if metric is Metric.WDL)
        return len(found)

    def has(self, material: Material, metric: Metric) -> bool:
        """Whether the set has the table of a material and metric."""
        return (material, metric) in self._paths

    def dtb_metric(self, material: Material) -> Metric | None:
        """Return the metric whose table holds the DTB of a material; None if the rules do not count it."""
        if material not in self._dtb_metrics:
            metric = None
            if self.ruleset.counts_balance(material):
                # Without men both rules count every move but a capture, so DTB is DTC.
                metric = Metric.DTB if self.ruleset.counts_material_separately(material) else Metric.DTC
            self._dtb_metrics[material] = metric
        return self._dtb_metrics[material]

    def table(self, material: Material, metric: Metric) -> Table:
        """Return the open table of a material and metric.

        Raises:
            MissingTableError: the set has no such table; the message names it and the command that makes it.
            TooManyPiecesError: (a MissingTableError) the set has no table of so many pieces.
            TableError: the file cannot be read.
            ClosedError: the set is closed.
        """
        key = material, metric
        table = self._tables.get(key)
        if table is not None:
            return table
        with self._lock:
            if self._closed:
                raise ClosedError("the tablebase is closed; open it again to probe it")
            if key not in self._tables:
                if key not in self._paths:
                    raise self._missing(material, metric)
                self._tables[key] = self._open(key)
            return self._tables[key]

    def _open(self, key: TableKey) -> Table:
        path = self._paths[key]
        try:
            table = Table(path, self._cache)
        except FileNotFoundError:
            raise MissingTableError(
                f"the table {path} was removed after the tablebase was opened; generate it again"
            ) from None
        header = table.header
        alphabet = header.alphabet
        if (header.material, header.metric) != key:
            table.close()
            raise DamagedHeaderError(
                f"{path} is the table {table_name(header.material, header.metric)} under another name; "
                "rename it"
            )
        if header.metric is Metric.WDL and alphabet and not (alphabet[0] >= -2 and alphabet[-1] <= 2):
            table.close()
            wrong = next(wdl for wdl in alphabet if not -2 <= wdl <= 2)
            raise DamagedHeaderError(
                f"{path} is damaged: its alphabet has the outcome {wrong}; generate it again"
            )
        return table

    def _missing(self, material: Material, metric: Metric) -> MissingTableError:
        most = max((key[0].pieces for key in self._paths), default=0)
        if not self._directories:
            return MissingTableError(
                f"there is no table {table_name(material, metric)}: the tablebase has no directory; "
                "add one with add_directory"
            )
        where = " or ".join(map(str, self._directories))
        # A set that is complete up to one piece less needs all materials of so many pieces. Another set needs
        # this material and those that its moves lead to.
        steps = self.pieces and material.pieces <= self.pieces + 1
        alone = str(material) if self._paths and not steps else None
        advice = f"make it with {generate_command(self._directories[0], material.pieces, alone)}"
        if material.pieces > _MAX_GENERATED_PIECES:
            advice = f"tables of more than {_MAX_GENERATED_PIECES} pieces are out of reach today"
        if 0 < most < material.pieces:
            complete = "" if self.pieces == most else f", complete up to {self.pieces}"
            return TooManyPiecesError(
                f"{material} has {material.pieces} pieces, and the tables in {where} hold up to "
                f"{most}{complete}: there is no {table_name(material, metric)}; {advice}"
            )
        return MissingTableError(f"there is no table {table_name(material, metric)} in {where}; {advice}")

    def close(self) -> None:
        """Close all tables. A second call does nothing."""
        with self._lock:
            self._closed = True
            for table in self._tables.values():
                table.close()
            self._tables.clear()


def _one_ruleset(known: Ruleset | None, found: Ruleset | None, file: Path) -> Ruleset | None:
    """Return the rules of a set after one more table; `found` are those of the table.

    Raises:
        WrongVersionError: the table was made under other rules than the set.
    """
    if known is not None and found is not None and found != known:
        raise WrongVersionError(
            f"{file} was made under the ruleset {found.name}, the other tables under {known.name}; "
            "generate the tables again"
        )
    return known or found
