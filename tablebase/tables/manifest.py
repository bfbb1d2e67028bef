"""`manifest.json` of a data directory: every file with its size and SHA-256, each slice's statistics."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from tablebase.board.material import Material
from tablebase.errors import ManifestError, WrongVersionError
from tablebase.rules.outcome import Outcome
from tablebase.rules.rulesets import OFFICIAL, RULESETS, Ruleset
from tablebase.tables.files import FileRecord, generate_command, write_atomically
from tablebase.tables.format import FORMAT_VERSION, Metric

FILE_NAME = "manifest.json"
COUNTS_BY_PLIES = ("dtw_wins", "dtw_losses", "dtc_wins", "dtc_losses")
"""The statistics that are lists of counts, by plies."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What was counted of one slice while it was solved: `shashki stats` shows exactly these.

    Attributes:
        material: the slice, as text.
        positions: how many there are; the sum of the next five.
        longest_win_plies: the greatest DTW of a win or cursed win, and below it a position that has it.
        longest_loss_plies: the greatest DTW of a loss or blessed loss.
        longest_dtc_win_plies: the greatest DTC of a win.
        longest_dtb_win_plies: the greatest DTB of a win, in a slice that has a `.dtb` table.
        dtw_wins: how many wins and cursed wins have each DTW, from 0 plies to the longest.
        dtw_losses: the same of losses and blessed losses.
        dtc_wins: how many wins have each DTC, from 0 plies to the longest.
        dtc_losses: the same of losses.

    The `longest_*` are None where there is no such position, or where the slice was solved without that
    distance; the last four are None for the second reason alone, or where the tables are from before they
    were counted.
    """

    material: str
    positions: int
    win: int
    cursed_win: int
    draw: int
    blessed_loss: int
    loss: int
    longest_win_plies: int | None = None
    longest_win_fen: str | None = None
    longest_loss_plies: int | None = None
    longest_loss_fen: str | None = None
    longest_dtc_win_plies: int | None = None
    longest_dtc_win_fen: str | None = None
    longest_dtb_win_plies: int | None = None
    longest_dtb_win_fen: str | None = None
    dtw_wins: tuple[int, ...] | None = None
    dtw_losses: tuple[int, ...] | None = None
    dtc_wins: tuple[int, ...] | None = None
    dtc_losses: tuple[int, ...] | None = None

    def count(self, outcome: Outcome) -> int:
        """How many positions have an outcome (not `UNKNOWN`) for the side to move."""
        number: int = getattr(self, outcome.value.replace("-", "_"))
        return number


@dataclass(slots=True)
class SliceRecord:
    """What a manifest keeps of one slice: its files by metric, its statistics (None until known)."""

    files: dict[Metric, FileRecord] = field(default_factory=dict)
    statistics: Statistics | None = None


@dataclass(slots=True)
class Manifest:
    """The contents of a data directory, as its generator has recorded them.

    Attributes:
        generator_version: of the program that wrote it last.
        ruleset: the move-count rules that all its tables assume.
        slices: what is there, by material, in the order in which it was made.
    """

    generator_version: str
    ruleset: Ruleset = OFFICIAL
    slices: dict[Material, SliceRecord] = field(default_factory=dict)

    @classmethod
    def load(cls, directory: Path | str) -> Manifest:
        """Read the manifest of a data directory.

        Raises:
            ManifestError: there is none, or it is damaged.
            WrongVersionError: the tables have another format version or other rules than this program knows.
        """
        path = Path(directory) / FILE_NAME
        try:
            data = json.loads(path.read_bytes())
        except FileNotFoundError:
            raise ManifestError(
                f"there is no {path}: no tables have been generated there; "
                f"run {generate_command(path.parent)}, or name another directory with --data"
            ) from None
        except (ValueError, RecursionError) as error:
            raise _damaged(path, f"it is not JSON ({error})") from None
        try:
            return cls._from_json(data, path)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _damaged(path, f"{type(error).__name__}: {error}") from None

    def sizes(self) -> dict[Metric, int]:
        """Bytes of all tables, by metric."""
        return {
            metric: sum(entry.files[metric].size for entry in self.slices.values() if metric in entry.files)
            for metric in Metric
        }

    def save(self, directory: Path | str) -> None:
        """Write the manifest into a data directory, whole or not at all.

        Raises:
            OSError: it cannot be written; the one that was there before still is.
        """
        write_atomically(Path(directory) / FILE_NAME, [self.to_json().encode()])

    def to_json(self) -> str:
        """JSON with a line for each material."""
        head = {
            "format_version": FORMAT_VERSION,
            "generator_version": self.generator_version,
            "ruleset": {"name": self.ruleset.name, "king_moves_plies": self.ruleset.king_moves_plies},
        }
        materials = ",\n".join(
            f"{json.dumps(str(material))}: {json.dumps(slice_to_json(self.slices[material]))}"
            for material in sorted(self.slices, key=Material.sort_key)
        )
        return f'{json.dumps(head)[:-1]}, "materials": {{\n{materials}\n}}}}\n'

    @classmethod
    def _from_json(cls, data: Any, path: Path) -> Manifest:
        version = data["format_version"]
        if version != FORMAT_VERSION:
            raise WrongVersionError(
                f"{path} is of format version {version}, this program reads {FORMAT_VERSION}: "
                "generate the tables again, or use the program that made them"
            )
        name, plies = data["ruleset"]["name"], data["ruleset"]["king_moves_plies"]
        ruleset = RULESETS.get(name)
        if ruleset is None or ruleset.king_moves_plies != plies:
            raise WrongVersionError(
                f"the tables of {path} were made under other draw rules, {name} (king moves: {plies} plies), "
                f"than this program knows ({', '.join(RULESETS)}): generate the tables again"
            )
        slices = {
            Material.parse(text): slice_from_json(text, entry) for text, entry in data["materials"].items()
        }
        return cls(_checked(data, "generator_version", str), ruleset, slices)


def slice_to_json(of: SliceRecord) -> dict[str, Any]:
    """What JSON says of one slice."""
    return {
        "files": {str(metric): record._asdict() for metric, record in of.files.items()},
        "stats": of.statistics and asdict(of.statistics),
    }


def slice_from_json(material: str, data: Any) -> SliceRecord:
    """What `slice_to_json` made of the slice of a material.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it is not that.
    """
    files = {Metric(metric): _file_record(record) for metric, record in data["files"].items()}
    return SliceRecord(files, _statistics(material, data["stats"]))


def _file_record(data: Any) -> FileRecord:
    digest = _checked(data, "sha256", str)
    if len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise ValueError(f"{digest!r} is no SHA-256")
    return FileRecord(_checked(data, "size", int), digest)


def _statistics(material: str, data: Any) -> Statistics | None:
    if data is None:
        return None
    values: dict[str, Any] = {}
    for key in fields(Statistics):
        if key.name in COUNTS_BY_PLIES:
            values[key.name] = _counts(data, key.name)
            continue
        kind = str if key.name == "material" or key.name.endswith("_fen") else int
        # Manifests from before there was a DTB do not have its fields.
        missing = key.name not in data and key.name.startswith("longest_dtb_")
        optional = missing or (key.name.startswith("longest_") and data[key.name] is None)
        values[key.name] = None if optional else _checked(data, key.name, kind)
    if values["material"] != material:
        raise ValueError(f"the statistics of {material} say they are of {values['material']}")
    return Statistics(**values)


def _counts(data: Any, key: str) -> tuple[int, ...] | None:
    counts = data.get(key)  # manifests from before they were counted do not have them
    if counts is None:
        return None
    if type(counts) is not list or any(type(count) is not int or count < 0 for count in counts):
        raise ValueError(f"{key} is no list of counts")
    return tuple(counts)


def _checked(data: Any, key: str, kind: type[Any]) -> Any:
    value = data[key]
    if type(value) is not kind:
        raise TypeError(f"{key} is {value!r}, which is not of type {kind.__name__}")
    return value


def _damaged(path: Path, what: str) -> ManifestError:
    return ManifestError(
        f"{path} is damaged: {what}; delete it and run {generate_command(path.parent)}, which writes it again"
    )
