"""The command `shashki export`."""

from __future__ import annotations

import argparse
import errno
from pathlib import Path

from tablebase.board.material import Material
from tablebase.cli.main import OK, add_data_option
from tablebase.cli.options import metrics
from tablebase.export import FORMATS, Export, row_type
from tablebase.probe.tablebase import open_tablebase
from tablebase.tables.files import write_atomically
from tablebase.tables.format import Metric


def add_export_command(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    export = subparsers.add_parser(
        "export",
        help="all positions of a material with their values, for NumPy or as Parquet",
        description="Write all positions of a material with their values to one file, for example to train "
        "evaluation functions. A row has four sets of squares, the outcome and the distances.",
        epilog="exit status: 0; 1 if the material has no table or the file cannot be written; 2 for a bad "
        "material or option, or if parquet is asked for and pyarrow is not installed",
        allow_abbrev=False,
    )
    export.add_argument(
        "material", metavar="MATERIAL", help="the pieces, those of the side to move first, e.g. KKMvK"
    )
    export.add_argument("--format", choices=tuple(FORMATS), required=True, help="the format of the file")
    export.add_argument("--output", metavar="FILE", type=Path, required=True, help="the file to write")
    export.add_argument(
        "--metrics",
        metavar="LIST",
        type=metrics,
        default=tuple(Metric),
        help="the values, of wdl,dtc,dtw,dtb (default: all; wdl is always written)",
    )
    add_data_option(export)
    export.set_defaults(run=run_export, extra="export")


def run_export(args: argparse.Namespace) -> int:
    """Write the positions of a material to a file.

    Raises:
        MaterialError: the material cannot be read.
        MissingTableError: the material has no WDL table.
        TableError: a table is there but cannot be read.
        ModuleNotFoundError: pyarrow is not installed, and the format is Parquet.
        OSError: the file cannot be written. No part of it is left then.
    """
    material = Material.parse(args.material)
    output = _file_to_write(args.output)
    distances = tuple(metric for metric in Metric if metric in args.metrics and metric is not Metric.WDL)
    with open_tablebase(args.data) as tablebase:
        export = Export(tablebase, material, distances)
        about = {"material": str(material), "ruleset": tablebase.ruleset.name}
        parts = FORMATS[args.format](export.chunks(), material.positions, row_type(distances), about)
        record = write_atomically(output, parts)
    columns = ", ".join((Metric.WDL, *distances))
    unknown = f"; {export.unknown:,} values have no table and are -128" if export.unknown else ""
    print(
        f"{material}: {material.positions:,} positions with {columns}, {record.size:,} bytes in "
        f"{args.output}{unknown}"
    )
    return OK


def _file_to_write(path: Path) -> Path:
    """Return the file to write, links followed; it may exist.

    This check comes before the work, so that hours of work do not end in an error.

    Raises:
        IsADirectoryError: the path is a directory.
        FileExistsError: the path is a device or a pipe. The finished file is renamed, and would replace it.
        FileNotFoundError: the directory of the file does not exist.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "this is a directory; name a file to write", str(path))
    if path.exists() and not path.is_file():
        message = "this is a device or a pipe; name a file"
        raise FileExistsError(errno.EEXIST, message, str(path))
    target = path.resolve()
    if not target.parent.is_dir():
        message = (
            f"there is no directory {target.parent if path.is_symlink() else path.parent}; make it first"
        )
        raise FileNotFoundError(errno.ENOENT, message, str(path))
    return target
