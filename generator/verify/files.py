"""The verifier's check of files: each exists, is whole, and is the one that the manifest names."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from generator.verify.findings import Finding
from tablebase.board.material import Material
from tablebase.errors import TableError
from tablebase.tables.files import generate_command
from tablebase.tables.format import Metric, table_name
from tablebase.tables.manifest import Manifest
from tablebase.tables.table import Table


def _again(directory: Path, material: Material) -> str:
    """Return the advice to solve a slice again. A run keeps files that are whole."""
    return f"run {generate_command(directory, material=str(material))}"


def check_manifest(manifest: Manifest, directory: Path) -> Iterator[Finding]:
    """Yield what a manifest lacks, so that values cannot be checked."""
    if not manifest.slices:
        yield Finding(f"the manifest of {directory} names no tables; run {generate_command(directory)}")
    for material, record in manifest.slices.items():
        if Metric.WDL not in record.files:
            yield Finding(
                f"the manifest does not name {table_name(material, Metric.WDL)}, and distances mean nothing "
                f"without outcomes; {_again(directory, material)}",
                material,
                Metric.WDL,
            )
        for needed in sorted(_led_to(material) - manifest.slices.keys(), key=str):
            yield Finding(
                f"the manifest has {material}, but not {needed}, which its moves lead to; "
                f"{_again(directory, material)}",
                material,
            )
        counted = record.statistics
        if counted is None:
            again = _again(directory, material)
            yield Finding(f"the manifest has no statistics of {material}; {again}", material)
        elif counted.positions != material.positions:
            yield Finding(
                f"the statistics of {material} count {counted.positions} positions, "
                f"but the slice has {material.positions}; "
                f"delete {table_name(material, Metric.WDL)}, and {_again(directory, material)}",
                material,
            )


def _led_to(material: Material) -> set[Material]:
    """Return the slices one quiet move, one captured piece or one promotion away."""
    own_kings, own_men = material.own_kings, material.own_men
    other_kings, other_men = material.other_kings, material.other_men
    found = {material.mirror}
    if own_men:
        found.add(Material(other_kings, other_men, own_kings + 1, own_men - 1))
    if other_kings + other_men > 1:
        if other_kings:
            found.add(Material(other_kings - 1, other_men, own_kings, own_men))
        if other_men:
            found.add(Material(other_kings, other_men - 1, own_kings, own_men))
    return found


def listed_files(manifest: Manifest) -> list[tuple[Material, Metric]]:
    """Return the tables that a manifest names."""
    return [
        (material, metric)
        for material, record in manifest.slices.items()
        for metric in Metric
        if metric in record.files
    ]


def unlisted_files(manifest: Manifest, directory: Path) -> list[str]:
    """Return the names of table files in a directory that its manifest does not name."""
    listed = {table_name(*file) for file in listed_files(manifest)}
    endings = {f".{metric}" for metric in Metric}
    return sorted(p.name for p in directory.iterdir() if p.suffix in endings and p.name not in listed)


def check_file(manifest: Manifest, directory: Path, material: Material, metric: Metric) -> Finding | None:
    """Return what is wrong with a table's file, or None: existence, length, SHA-256 and header."""
    path = directory / table_name(material, metric)
    wrong = _wrong_bytes(manifest, path, material, metric) or _wrong_header(manifest, path, material, metric)
    if wrong is None:
        return None
    delete = "delete the file and " if path.exists() else ""
    return Finding(f"{wrong}; {delete}{_again(directory, material)}", material, metric)


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
        return f"{path} has {size} bytes, but the manifest says {record.size}"
    if digest == record.sha256:
        return None
    return f"{path} differs from the file that the manifest names: wrong SHA-256 ({_damage(path)})"


def _damage(path: Path) -> str:
    try:
        with Table(path) as table:
            table.read_all()
    except TableError as error:
        return str(error)
    return "it can still be read"


def _wrong_header(manifest: Manifest, path: Path, material: Material, metric: Metric) -> str | None:
    try:
        with Table(path) as table:
            header = table.header
    except TableError as error:
        return str(error)
    if (header.material, header.metric) != (material, metric):
        return f"the header of {path} says that it is {table_name(header.material, header.metric)}"
    if header.ruleset != manifest.ruleset:
        return (
            f"{path} assumes the ruleset {header.ruleset.name}, but the manifest says {manifest.ruleset.name}"
        )
    return None
