"""Levels and parameters of zstd, size of frames: bits a position and time, on tables generated before.

python benchmarks/compression.py --data DIR [KKMvKM ...]
"""

import argparse
import tempfile
import time
from pathlib import Path

import zstandard

from tablebase.board.material import Material
from tablebase.tables import format as table_format
from tablebase.tables.files import data_directory
from tablebase.tables.format import COMPRESSION, FRAME_SIZE, Metric, table_name, write_table
from tablebase.tables.table import Table

LEVELS = (1, 6, 9, 10, 12, 15, 19)
METRICS = (Metric.WDL, Metric.DTC, Metric.DTW)  # every material has tables of these


def of_level(level: int, frame_size: int) -> zstandard.ZstdCompressionParameters:
    return zstandard.ZstdCompressionParameters.from_level(
        level, source_size=frame_size, write_content_size=True, write_checksum=True
    )


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
        for metric in METRICS:
            with Table(folder / table_name(material, metric)) as table:
                stored = table.read_all().astype("int8" if metric is Metric.WDL else "uint8")
                values[material, metric] = stored, table.header.ruleset
    positions = sum(Material.parse(text).positions for text in args.materials)
    print("| zstd | frame | " + " | ".join(f"{metric} bits | ns a value" for metric in METRICS) + " |")
    print("| --- " * (2 + 2 * len(METRICS)) + "|")
    choices = [("as written", COMPRESSION, FRAME_SIZE)]
    choices += [(f"level {level}", of_level(level, FRAME_SIZE), FRAME_SIZE) for level in LEVELS]
    choices += [("level 12", of_level(12, size), size) for size in (4096, 8192, 32768)]
    with tempfile.TemporaryDirectory() as out:
        for name, compression, frame in choices:
            table_format.FRAME_SIZE = frame
            cells = []
            for metric in METRICS:
                began = time.perf_counter()
                size = 0
                for (material, of), (stored, ruleset) in values.items():
                    if of is metric:
                        size += write_table(
                            Path(out) / "table",
                            material,
                            metric,
                            ruleset,
                            stored,
                            generator_version="-",
                            compression=compression,
                        ).size
                spent = time.perf_counter() - began
                cells.append(f"{8 * size / positions:.4f} | {spent / positions * 1e9:.0f}")
            print(f"| {name} | {frame} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
