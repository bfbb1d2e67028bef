"""Level of zstd and size of frames: bits a position and time, on tables that were generated before.

python benchmarks/compression.py --data DIR [KKMvKM ...]
"""

import argparse
import tempfile
import time
from pathlib import Path

from tablebase import format as table_format
from tablebase.datadir import data_directory
from tablebase.format import COMPRESSION_LEVEL, FRAME_SIZE, Metric, table_name, write_table
from tablebase.material import Material
from tablebase.table import Table


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data")
    parser.add_argument("materials", nargs="*", default=["KKMvKM", "KKKvKM", "KKMvMM", "KMMvMM"])
    args = parser.parse_args()
    folder = data_directory(args.data)
    values = {}
    for material in map(Material.parse, args.materials):
        for metric in Metric:
            with Table(folder / table_name(material, metric)) as table:
                stored = table.read_all().astype("int8" if metric is Metric.WDL else "uint8")
                values[material, metric] = stored, table.header.ruleset
    positions = sum(Material.parse(text).positions for text in args.materials)
    print("| level | frame | " + " | ".join(f"{metric} bits | ns a value" for metric in Metric) + " |")
    print("| --- " * (2 + 2 * len(Metric)) + "|")
    choices = [(level, FRAME_SIZE) for level in (1, 3, 6, 9, 10, 12, 15, 19)]
    choices += [(COMPRESSION_LEVEL, size) for size in (4096, 8192, 32768)]
    with tempfile.TemporaryDirectory() as out:
        for level, frame in choices:
            table_format.FRAME_SIZE = frame
            cells = []
            for metric in Metric:
                began = time.perf_counter()
                size = 0
                for (material, of), (stored, ruleset) in values.items():
                    if of is metric:
                        path = Path(out) / "table"
                        size += write_table(
                            path, material, metric, ruleset, stored, generator_version="-", level=level
                        ).size
                spent = time.perf_counter() - began
                cells.append(f"{8 * size / positions:.4f} | {spent / positions * 1e9:.0f}")
            print(f"| {level} | {frame} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
