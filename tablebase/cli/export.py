"""The command `shashki export`."""

from __future__ import annotations

import argparse
import errno
from pathlib import Path

from tablebase.cli.main import OK, add_data_option
from tablebase.cli.options import metrics
from tablebase.tables.format import Metric

_FORMATS = ("npy", "parquet")


def add_export_command(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add it to the command line."""
    export = subparsers.add_parser(
        "export",
        help="all positions of a material with their values, for NumPy or as Parquet",
        description="Write all positions of a material with their values to one file, for those who train "
        "evaluation functions: four sets of squares a position, the outcome and the distances.",
        epilog="exit status: 0; 1 where the material has no table, or the file cannot be written; 2 for a "
        "bad material or option, or where pyarrow, which parquet takes, is not installed",
        allow_abbrev=False,
    )
    export.add_argument(
        "material", metavar="MATERIAL", help="the pieces, those of the side to move first, e.g. KKMvK"
    )
    export.add_argument("--format", choices=_FORMATS, required=True, help="what to write")
    export.add_argument("--output", metavar="FILE", type=Path, required=True, help="the file to write")
    export.add_argument(
        "--metrics",
        metavar="LIST",
        type=metrics,
        default=tuple(Metric),
        help="the values, of wdl,dtc,dtw,dtb (default: all; wdl is always among them)",
    )
    add_data_option(export)
    export.set_defaults(run=run_export, extra="export")


def run_export(args: argparse.Namespace) -> int:
    """Write the file.

    Raises:
        MaterialError: the material is none.
        MissingTableError: it has no table.
        TableError: a table is there but cannot be read.
        ModuleNotFoundError: pyarrow is not installed, and Parquet is asked for.
        OSError: the file cannot be written; nothing is left behind then.
    """
    from tablebase.board.material import Material
    from tablebase.export import FORMATS, Export, row_type
    from tablebase.probe.tablebase import open_tablebase
    from tablebase.tables.files import write_atomically

    material = Material.parse(args.material)
    output = _file_to_write(args.output)
    distances = tuple(metric for metric in Metric if metric in args.metrics and metric is not Metric.WDL)
    with open_tablebase(args.data) as tablebase:
        export = Export(tablebase, material, distances)
        about = {"material": str(material), "ruleset": tablebase.ruleset.name}
        parts = FORMATS[args.format](export.chunks(), material.positions, row_type(distances), about)
        record = write_atomically(output, parts)
    columns = ", ".join((Metric.WDL, *distances))
    unknown = f"; {export.unknown:,} values are in no table, and -128" if export.unknown else ""
    print(
        f"{material}: {material.positions:,} positions with {columns}, {record.size:,} bytes in "
        f"{args.output}{unknown}"
    )
    return OK


def _file_to_write(path: Path) -> Path:
    """The file that a path leads to, its links followed; it may be there or not.

    Raises:
        OSError: no file can be there, which is better said before the work than after it. A device or a pipe
            would be replaced by the file, as that is renamed to its name once it is whole.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a directory; name a file to write", str(path))
    if path.exists() and not path.is_file():
        message = "it is a device or a pipe, and the file is written whole or not at all; name a file"
        raise FileExistsError(errno.EEXIST, message, str(path))
    target = path.resolve()
    if not target.parent.is_dir():
        message = (
            f"there is no directory {target.parent if path.is_symlink() else path.parent}; make it first"
        )
        raise FileNotFoundError(errno.ENOENT, message, str(path))
    return target
