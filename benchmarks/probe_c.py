"""Measure the C library beside `probe_many` in the same run: probes a second, and reads of a cold probe.

python benchmarks/probe_c.py --data DIR [--pieces 5] [--positions 200000]

All times are processor time of all threads together, so that other work on the machine matters little.
Ratios compare numbers of the same run. Positions are uniformly random among those of `--pieces` pieces.
"""

import argparse
import ctypes
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tablebase import Metric, PositionArray, Tablebase, open_tablebase
from tablebase.board.material import materials
from tablebase.tables.files import data_directory
from tablebase.tables.index import sets_at_each

PROBE = Path(__file__).parent.parent / "probe"
ALL = (Metric.DTC, Metric.DTW, Metric.DTB)
EVERY_DISTANCE = 1 | 2 | 4
READ, CACHED = 0, 1
PLENTY = 512 << 20  # bytes of cache: enough for all probed tables
MOVE_BYTES = 192  # more than a shashki_move takes
ROOTS = 2000


class Library:
    """The library, built now, with one open set of tables."""

    def __init__(self, folder: Path, data: Path, cache_bytes: int) -> None:
        built = folder / "libshashki_probe.so"
        if not built.exists():
            source = str(PROBE / "shashki_probe.c")
            command = ["cc", "-O2", "-fPIC", "-shared", source, "-lzstd", "-o", str(built)]
            subprocess.run(command, check=True)
        self.functions = ctypes.CDLL(str(built))
        self.functions.shashki_last_error.restype = ctypes.c_char_p
        self.tables = ctypes.c_void_p()
        size = ctypes.c_size_t(cache_bytes)
        self._check(self.functions.shashki_open(bytes(data), size, ctypes.byref(self.tables)))

    def _check(self, error: int) -> None:
        if error:
            sys.exit(self.functions.shashki_last_error().decode())

    def close(self) -> None:
        self.functions.shashki_close(self.tables)

    def many(self, positions: NDArray[np.uint32], metrics: int = 0, mode: int = READ) -> NDArray[np.int32]:
        values = np.empty((len(positions), 4), np.int32)
        given, found = (ctypes.c_void_p(array.ctypes.data) for array in (positions, values))
        count = ctypes.c_size_t(len(positions))
        self._check(self.functions.shashki_probe_many(self.tables, given, count, metrics, mode, found))
        return values

    def moves(self, positions: NDArray[np.uint32]) -> None:
        moves, count = ctypes.create_string_buffer(64 * MOVE_BYTES), ctypes.c_size_t()
        for row in range(len(positions)):
            given = ctypes.c_void_p(positions[row:].ctypes.data)
            capacity, found = ctypes.c_size_t(64), ctypes.byref(count)
            self._check(self.functions.shashki_probe_moves(self.tables, given, moves, capacity, found))

    def stats(self) -> tuple[int, int]:
        """Return the frames and bytes read so far."""
        stats = (ctypes.c_uint64 * 2)()
        self.functions.shashki_get_stats(self.tables, stats)
        return stats[0], stats[1]


def random_boards(pieces: int, count: int, seed: int) -> PositionArray:
    random = np.random.default_rng(seed)
    slices = list(materials(pieces))
    sizes = np.array([material.positions for material in slices])
    chosen = random.choice(len(slices), count, p=sizes / sizes.sum())
    sets = np.empty((count, 4), np.uint32)
    for number, material in enumerate(slices):
        rows = chosen == number
        sets[rows] = sets_at_each(material, random.integers(0, material.positions, rows.sum()))
    return PositionArray(sets, np.zeros(count, np.bool_))


def seconds(work: Callable[[], object]) -> float:
    """Return the least processor time of three runs: other work only adds to it."""
    spent = []
    for _ in range(3):
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    return min(spent)


def print_warm(library: Library, tablebase: Tablebase, boards: PositionArray) -> None:
    positions = np.ascontiguousarray(np.column_stack([boards.sets, boards.black]), np.uint32)
    number = len(positions)
    library.many(positions, EVERY_DISTANCE)
    print("| warm | C, positions a second | `probe_many`, compiled | ratio |\n| --- | --- | --- | --- |")
    for name, wanted, distances in (("outcomes", 0, ()), ("outcomes and distances", EVERY_DISTANCE, ALL)):
        # The first calls decode the tables in Python. Five calls in C exceed a tick of the clock by far.
        for _ in range(3):
            found = tablebase.probe_many(boards.sets, boards.black, distances)
        in_c = seconds(lambda: [library.many(positions, wanted) for _ in range(5)]) / 5  # noqa: B023
        in_python = seconds(lambda: tablebase.probe_many(boards.sets, boards.black, distances))  # noqa: B023
        assert (library.many(positions, wanted)[:, 0] == found.wdl).all()
        print(f"| {name} | {number / in_c:,.0f} | {number / in_python:,.0f} | {in_python / in_c:.2f} |")
    in_c = seconds(lambda: library.many(positions, 0, CACHED))
    print(f"| outcomes, memory alone | {number / in_c:,.0f} | | |")
    with ThreadPoolExecutor(2) as threads:  # ctypes releases the interpreter's lock
        halves = np.array_split(positions, 2)
        in_c = seconds(lambda: list(threads.map(library.many, [np.ascontiguousarray(h) for h in halves])))
    print(f"| outcomes, two threads: a second of processor time | {number / in_c:,.0f} | | |")
    some = positions[:ROOTS]
    library.moves(some)
    print(f"| roots, all moves with all values | {ROOTS / seconds(lambda: library.moves(some)):,.0f} | | |")


def print_cold(folder: Path, data: Path, boards: PositionArray) -> None:
    positions = np.ascontiguousarray(np.column_stack([boards.sets, boards.black]), np.uint32)[:20_000]
    library = Library(folder, data, 0)
    library.many(positions[:1000], EVERY_DISTANCE)
    print("\n| cold: nothing is kept | microseconds | frames a question | bytes read | ")
    print("| --- | --- | --- | --- |")
    for name, wanted in (("outcomes", 0), ("outcomes and distances", EVERY_DISTANCE)):
        frames, read = library.stats()
        began = time.process_time()
        library.many(positions, wanted)
        spent = time.process_time() - began
        frames, read = (after - before for after, before in zip(library.stats(), (frames, read), strict=True))
        each = len(positions)
        print(f"| {name} | {1e6 * spent / each:.1f} | {frames / each:.2f} | {read / each:,.0f} |")
    library.close()


def arguments() -> Any:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data")
    parser.add_argument("--pieces", type=int, default=5)
    parser.add_argument("--positions", type=int, default=200_000)
    return parser.parse_args()


def main() -> None:
    args = arguments()
    data = data_directory(args.data)
    boards = random_boards(args.pieces, args.positions, 1)
    with tempfile.TemporaryDirectory() as folder, open_tablebase(data, array_bytes=PLENTY) as tablebase:
        library = Library(Path(folder), data, PLENTY)
        print(f"{args.positions:,} random positions of {args.pieces} pieces\n")
        print_warm(library, tablebase, boards)
        library.close()
        print_cold(Path(folder), data, boards)


if __name__ == "__main__":
    main()
