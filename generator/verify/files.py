"""The part of verification that looks at files: what is there, whole, and what the manifest says it is."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from generator.verify.problems import Problem
from tablebase.board.material import Material
from tablebase.errors import TableError
from tablebase.tables.files import generate_command
from tablebase.tables.format import Metric, table_name
from tablebase.tables.manifest import Manifest
from tablebase.tables.table import Table


def _again(directory: Path, material: Material) -> str:
    """What to do for a slice to be made again: a run keeps what is whole."""
    return f"run {generate_command(directory, material=str(material))}"


def manifest_problems(manifest: Manifest, directory: Path) -> Iterator[Problem]:
    """What a manifest lacks for its values to be checked at all."""
    if not manifest.slices:
        yield Problem(f"the manifest of {directory} names no tables; run {generate_command(directory)}")
    for material, record in manifest.slices.items():
        if Metric.WDL not in record.files:
            yield Problem(
                f"the manifest names no {table_name(material, Metric.WDL)}, and distances mean nothing "
                f"without outcomes; {_again(directory, material)}",
                material,
                Metric.WDL,
            )
        for needed in sorted(material.after_a_move() - manifest.slices.keys(), key=str):
            yield Problem(
                f"the manifest has {material}, but not {needed}, which its moves lead to; "
                f"{_again(directory, material)}",
                material,
            )
        counted = record.statistics
        if counted is None:
            again = _again(directory, material)
            yield Problem(f"the manifest has no statistics of {material}; {again}", material)
        elif counted.positions != material.positions:
            yield Problem(
                f"the statistics of {material} are of {counted.positions} positions, "
                f"where the slice has {material.positions}; "
                f"delete {table_name(material, Metric.WDL)}, and {_again(directory, material)}",
                material,
            )


def listed_files(manifest: Manifest) -> list[tuple[Material, Metric]]:
    """The tables that a manifest names."""
    return [
        (material, metric)
        for material, record in manifest.slices.items()
        for metric in Metric
        if metric in record.files
    ]


def unlisted_files(manifest: Manifest, directory: Path) -> list[str]:
    """The names of table files in a directory that its manifest does not name."""
    listed = {table_name(*file) for file in listed_files(manifest)}
    endings = {f".{metric}" for metric in Metric}
    return sorted(p.name for p in directory.iterdir() if p.suffix in endings and p.name not in listed)


def file_problem(manifest: Manifest, directory: Path, material: Material, metric: Metric) -> Problem | None:
    """What is wrong with a table's file, if anything: absence, length, SHA-256, header."""
    path = directory / table_name(material, metric)
    wrong = _wrong_bytes(manifest, path, material, metric) or _wrong_header(manifest, path, material, metric)
    if wrong is None:
        return None
    delete = "delete the file and " if path.exists() else ""
    return Problem(f"{wrong}; {delete}{_again(directory, material)}", material, metric)


def _wrong_bytes(manifest: Manifest, path: Path, material: Material, metric: Metric) -> str | None:
    record = manifest.slices[material].files[metric]
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest() if size == record.size else ""
    except FileNotFoundError:
        return f"{path} is in the manifest, but there is no such file"
    except IsADirectoryError:
        return f"{path} is in the manifest, but it is a directory"
    if size != record.size:
        return f"{path} has {size} bytes, where the manifest says {record.size}"
    if digest == record.sha256:
        return None
    return f"{path} is not the file that the manifest names: its SHA-256 is another ({_damage(path)})"


def _damage(path: Path) -> str:
    try:
        with Table(path) as table:
            table.read_all()
    except TableError as error:
        return str(error)
    return "it can be read all the same"


def _wrong_header(manifest: Manifest, path: Path, material: Material, metric: Metric) -> str | None:
    try:
        with Table(path) as table:
            header = table.header
    except TableError as error:
        return str(error)
    if (header.material, header.metric) != (material, metric):
        return f"{path} says of itself that it is {table_name(header.material, header.metric)}"
    if header.ruleset != manifest.ruleset:
        return (
            f"{path} assumes the rules {header.ruleset.name}, where the manifest says {manifest.ruleset.name}"
        )
    return None
