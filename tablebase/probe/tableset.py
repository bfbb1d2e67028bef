"""The table files of one or more data directories, and up to how many pieces they are complete."""

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
"""What one table is about."""


def require_directory(path: Path) -> None:
    """Check that a path is a directory.

    Raises:
        DataDirectoryError: it is not.
    """
    if path.is_dir():
        return
    if path.exists():
        raise DataDirectoryError(f"{path} is not a directory; name a directory that holds tables")
    raise DataDirectoryError(
        f"{path} is not a directory; make tables there with {generate_command(path)}, "
        "or name another directory"
    )


def check_is_file(path: Path) -> None:
    """Raises NotATableError for what has the name of a table but is no file."""
    if path.is_file():
        return
    if path.is_dir():
        what = "a directory"
    elif path.is_symlink() and not path.exists():
        what = "a link that leads nowhere"
    else:
        what = "no ordinary file"
    raise NotATableError(
        f"{path} has the name of a table but is {what}; "
        f"remove it, and make the table with {generate_command(path.parent)}"
    )


def table_of(name: str) -> TableKey | None:
    """Return the material and metric that a file's name stands for; None if it is not the name of a table."""
    stem, _, suffix = name.rpartition(".")
    try:
        return Material.parse(stem), Metric(suffix)
    except (MaterialError, ValueError):
        return None


_MOST_MAKEABLE = 8  # pieces; beyond, the memory of no present machine is enough


class TableSet:
    """Tables of one ruleset, by slice and metric. Any number of threads may ask.

    Args:
        ruleset: the rules that the tables must assume; None for those of the first table that is added.
        cache_bytes: how much memory decoded frames may take, of all tables together.
    """

    def __init__(self, ruleset: Ruleset | None, cache_bytes: int) -> None:
        self._ruleset = ruleset
        self._cache = FrameCache(cache_bytes)
        self._directories: list[Path] = []
        self._paths: dict[TableKey, Path] = {}
        self._tables: dict[TableKey, Table] = {}
        self._balance_metrics: dict[Material, Metric | None] = {}
        self._lock = Lock()
        self._closed = False
        self.pieces = 0
        """The greatest number of pieces up to which all outcomes are there; 0 for an empty set."""
        self.slices: tuple[Material, ...] = ()
        """Every material whose outcomes are there; another tuple once a directory has been added."""

    @property
    def ruleset(self) -> Ruleset:
        """The rules that the tables assume; the official ones while there are no tables."""
        return self._ruleset or OFFICIAL

    @property
    def cache_used_bytes(self) -> int:
        """How many bytes of decoded frames are kept now."""
        return self._cache.used_bytes

    def add_directory(self, path: Path | str) -> int:
        """Add the tables of a directory, as `Tablebase.add_directory` says."""
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
        self._balance_metrics.clear()
        self._directories.append(directory)
        self._paths |= found
        complete = complete_up_to(lambda material: self.has(material, Metric.WDL))
        self.pieces = complete if complete > 1 else 0
        self.slices = tuple(material for material, metric in self._paths if metric is Metric.WDL)
        return len(found)

    def has(self, material: Material, metric: Metric) -> bool:
        """Whether a slice's table is in the set."""
        return (material, metric) in self._paths

    def balance_metric(self, material: Material) -> Metric | None:
        """The metric that tells the DTB of a slice; None where its balance is not counted."""
        if material not in self._balance_metrics:
            metric = None
            if self.ruleset.counts_balance(material):
                # Without men every move but a capture is counted in both.
                metric = Metric.DTB if self.ruleset.counts_material_separately(material) else Metric.DTC
            self._balance_metrics[material] = metric
        return self._balance_metrics[material]

    def table(self, material: Material, metric: Metric) -> Table:
        """The table of a slice, open.

        Raises:
            MissingTableError: the set has no such table; the message names it, and how to make it.
            TableError: its file cannot be read.
            ClosedError: the set has been closed.
        """
        key = material, metric
        table = self._tables.get(key)
        if table is not None:
            return table
        with self._lock:
            if self._closed:
                raise ClosedError("the tablebase has been closed; open it again to ask it anything")
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
                f"the table {path} is gone since the tablebase was opened; generate it again"
            ) from None
        header = table.header
        alphabet = header.alphabet
        if (header.material, header.metric) != key:
            table.close()
            raise DamagedHeaderError(
                f"{path} is the table {table_name(header.material, header.metric)} under another name; "
                "give it its own name again"
            )
        if header.metric is Metric.WDL and alphabet and not (alphabet[0] >= -2 and alphabet[-1] <= 2):
            table.close()
            wrong = next(wdl for wdl in alphabet if not -2 <= wdl <= 2)
            raise DamagedHeaderError(f"{path} is damaged: its alphabet has {wrong}; generate it again")
        return table

    def _missing(self, material: Material, metric: Metric) -> MissingTableError:
        most = max((key[0].pieces for key in self._paths), default=0)
        if not self._directories:
            return MissingTableError(
                f"there is no table {table_name(material, metric)}, as the tablebase has no directory; "
                "add one with add_directory"
            )
        where = " or ".join(map(str, self._directories))
        # All of so many pieces where a set is on its way there; else that material, with what it leads to.
        steps = self.pieces and material.pieces <= self.pieces + 1
        alone = str(material) if self._paths and not steps else None
        advice = f"make it with {generate_command(self._directories[0], material.pieces, alone)}"
        if material.pieces > _MOST_MAKEABLE:
            advice = f"tables of more than {_MOST_MAKEABLE} pieces are out of reach today"
        if 0 < most < material.pieces:
            complete = "" if self.pieces == most else f", complete up to {self.pieces}"
            return TooManyPiecesError(
                f"{material} has {material.pieces} pieces, and the tables in {where} hold up to "
                f"{most}{complete}: there is no {table_name(material, metric)}; {advice}"
            )
        return MissingTableError(f"there is no table {table_name(material, metric)} in {where}; {advice}")

    def close(self) -> None:
        """Close all tables. Closing twice is no error."""
        with self._lock:
            self._closed = True
            for table in self._tables.values():
                table.close()
            self._tables.clear()


def _one_ruleset(known: Ruleset | None, found: Ruleset | None, file: Path) -> Ruleset | None:
    """The rules of a set, when one more table of it has been looked at."""
    if known is not None and found is not None and found != known:
        raise WrongVersionError(
            f"{file} was made under other draw rules, {found.name}, than the rest, {known.name}: "
            "generate the tables again"
        )
    return known or found
