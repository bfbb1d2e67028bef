"""`manifest.json` of a data directory: size and SHA-256 of every table, and statistics of each slice."""

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
"""Fields of `Statistics` that are lists of counts by plies."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Statistics of one slice, counted while it was solved; `shashki stats` shows them.

    The `longest_*` are None if there is no such position, or if the slice was solved without that metric. The
    lists are None if the slice was solved without that metric, or by a version that did not count them.

    Attributes:
        material: the slice, as text.
        positions: number of positions; the sum of the next five.
        win: number of wins.
        cursed_win: number of cursed wins.
        draw: number of draws.
        blessed_loss: number of blessed losses.
        loss: number of losses.
        longest_win_plies: the greatest DTW of a win or cursed win.
        longest_win_fen: a position with that DTW.
        longest_loss_plies: the greatest DTW of a loss or blessed loss.
        longest_loss_fen: a position with that DTW.
        longest_dtc_win_plies: the greatest DTC of a win.
        longest_dtc_win_fen: a position with that DTC.
        longest_dtb_win_plies: the greatest DTB of a win, if the slice has a `.dtb` table.
        longest_dtb_win_fen: a position with that DTB.
        dtw_wins: number of wins and cursed wins for each DTW, from 0 plies to the longest.
        dtw_losses: number of losses and blessed losses for each DTW, from 0 plies to the longest.
        dtc_wins: number of wins for each DTC, from 0 plies to the longest.
        dtc_losses: number of losses for each DTC, from 0 plies to the longest.
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
        """Return the number of positions with an outcome for the side to move; not for `UNKNOWN`."""
        number: int = getattr(self, outcome.value.replace("-", "_"))
        return number


@dataclass(slots=True)
class SliceRecord:
    """Files of one slice by metric, and its statistics (None until they are known)."""

    files: dict[Metric, FileRecord] = field(default_factory=dict)
    statistics: Statistics | None = None


@dataclass(slots=True)
class Manifest:
    """The contents of a data directory, as recorded by the generator.

    Attributes:
        generator_version: version of the program that wrote the manifest last.
        ruleset: the draw rules of all tables.
        slices: the slices by material, in the order in which they were made.
    """

    generator_version: str
    ruleset: Ruleset = OFFICIAL
    slices: dict[Material, SliceRecord] = field(default_factory=dict)

    @classmethod
    def load(cls, directory: Path | str) -> Manifest:
        """Return the manifest of a data directory.

        Raises:
            ManifestError: there is no manifest, or it is damaged.
            WrongVersionError: the tables have another format version, or draw rules unknown to this program.
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
        """Return the bytes of all tables of each metric."""
        return {
            metric: sum(entry.files[metric].size for entry in self.slices.values() if metric in entry.files)
            for metric in Metric
        }

    def save(self, directory: Path | str) -> None:
        """Write the manifest to a data directory, completely or not at all.

        Raises:
            OSError: the manifest cannot be written; an earlier one is still there.
        """
        write_atomically(Path(directory) / FILE_NAME, [self.to_json().encode()])

    def to_json(self) -> str:
        """Return the manifest as JSON, with one line for each material."""
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
                f"{path} has format version {version}, this program reads {FORMAT_VERSION}: "
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
    """Return the JSON object of one slice."""
    return {
        "files": {str(metric): record._asdict() for metric, record in of.files.items()},
        "stats": of.statistics and asdict(of.statistics),
    }


def slice_from_json(material: str, data: Any) -> SliceRecord:
    """Return the slice of a JSON object that `slice_to_json` has made.

    Raises:
        KeyError: a field is missing.
        TypeError: a field has a wrong type.
        ValueError: a field has a wrong value.
        AttributeError: the data, or a part of it, is not a JSON object.
    """
    files = {Metric(metric): _file_record(record) for metric, record in data["files"].items()}
    return SliceRecord(files, _statistics(material, data["stats"]))


def _file_record(data: Any) -> FileRecord:
    digest = _checked(data, "sha256", str)
    if len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise ValueError(f"{digest!r} is not a SHA-256")
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
        # Manifests of versions without DTB do not have its fields.
        missing = key.name not in data and key.name.startswith("longest_dtb_")
        optional = missing or (key.name.startswith("longest_") and data[key.name] is None)
        values[key.name] = None if optional else _checked(data, key.name, kind)
    if values["material"] != material:
        raise ValueError(f"the statistics of {material} name another material, {values['material']}")
    return Statistics(**values)


def _counts(data: Any, key: str) -> tuple[int, ...] | None:
    counts = data.get(key)  # manifests of versions that did not count them lack the field
    if counts is None:
        return None
    if type(counts) is not list or any(type(count) is not int or count < 0 for count in counts):
        raise ValueError(f"{key} is not a list of counts")
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
