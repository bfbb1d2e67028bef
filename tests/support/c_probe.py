"""The C library for tests: compiled, loaded by ctypes and wrapped to look like `Tablebase`."""

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from needed_tools import need
from numpy.typing import NDArray
from paths import ROOT

from tablebase.board.position import Color, Position

SOURCES = ROOT / "probe"
NONE, UNKNOWN = -1, -128
DTC, DTW, DTB = 1, 2, 4
READ, CACHED = 0, 1
OK, ARGUMENT, POSITION, NO_TABLE, NOT_CACHED, DIRECTORY, NOT_A_TABLE = 0, -1, -2, -3, -4, -5, -6
VERSION, TRUNCATED, HEADER, FRAME, FILE_READ, MEMORY, TOO_COMPLEX = -7, -8, -9, -10, -11, -12, -13


class CPosition(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("wm", "wk", "bm", "bk", "side")]


class CValue(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int32) for name in ("wdl", "dtc", "dtw", "dtb")]


class CMove(ctypes.Structure):
    _fields_ = [
        ("after", CPosition),
        ("value", CValue),
        ("captured", ctypes.c_uint32),
        ("path_length", ctypes.c_uint8),
        ("path", ctypes.c_uint8 * 32),
        ("king", ctypes.c_uint8),
        ("promotes", ctypes.c_uint8),
        ("notation", ctypes.c_char * 96),
    ]


class CStats(ctypes.Structure):
    _fields_ = [("frames_read", ctypes.c_uint64), ("bytes_read", ctypes.c_uint64)]


class ProbeError(Exception):
    def __init__(self, code: int, text: str) -> None:
        super().__init__(code, text)
        self.code, self.text = code, text


def c_position(position: Position) -> CPosition:
    return CPosition(position.wm, position.wk, position.bm, position.bk, position.turn is Color.BLACK)


def as_position(found: CPosition) -> Position:
    turn = Color.BLACK if found.side else Color.WHITE
    return Position(found.wm, found.wk, found.bm, found.bk, turn)


def c_positions(sets: NDArray[np.uint32], black: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """Return an array whose rows are `shashki_position`."""
    return np.ascontiguousarray(np.column_stack([sets, black]), np.uint32)


def build(folder: Path, source: Path = SOURCES / "shashki_probe.c") -> Path:
    """Compile the library, for which a test needs a compiler and zstd.h."""
    compiler = shutil.which("cc")
    need(compiler, "there is no C compiler, cc")
    assert compiler is not None
    header = subprocess.run(
        [compiler, "-E", "-"], input="#include <zstd.h>\n", capture_output=True, text=True, check=False
    )
    need(header.returncode == 0, "there is no zstd.h (Debian: libzstd-dev)")
    library = folder / "libshashki_probe.so"
    command = [compiler, "-O2", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fPIC", "-shared"]
    command += ["-fvisibility=hidden"]
    done = subprocess.run(
        [*command, f"-I{SOURCES}", str(source), "-o", str(library), "-lzstd"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return library


def load(library: Path) -> Any:
    loaded = ctypes.CDLL(str(library))
    loaded.shashki_last_error.restype = loaded.shashki_error_text.restype = ctypes.c_char_p
    loaded.shashki_ruleset.restype = loaded.shashki_version.restype = ctypes.c_char_p
    loaded.shashki_open.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)]
    return loaded


class CTables:
    """An open set of tables; a context manager."""

    def __init__(self, library: Any, folder: Path, cache_bytes: int = 64 << 20) -> None:
        self.library = library
        self.tables = ctypes.c_void_p()
        self._check(library.shashki_open(bytes(folder), cache_bytes, ctypes.byref(self.tables)))

    def __enter__(self) -> "CTables":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.library.shashki_close(self.tables)

    def _check(self, code: int) -> None:
        if code:
            raise ProbeError(code, self.library.shashki_last_error().decode())

    @property
    def pieces(self) -> int:
        return int(self.library.shashki_pieces(self.tables))

    def one(self, name: str, position: Position) -> int:
        """Call `shashki_probe_NAME`, which returns one number."""
        found = ctypes.c_int()
        ask = getattr(self.library, f"shashki_probe_{name}")
        self._check(ask(self.tables, ctypes.byref(c_position(position)), ctypes.byref(found)))
        return found.value

    def probe(
        self, position: Position, metrics: int = DTC | DTW | DTB, mode: int = READ
    ) -> tuple[int, int, int, int]:
        value = CValue()
        self._check(
            self.library.shashki_probe(
                self.tables, ctypes.byref(c_position(position)), metrics, mode, ctypes.byref(value)
            )
        )
        return value.wdl, value.dtc, value.dtw, value.dtb

    def many(
        self, positions: NDArray[np.uint32], metrics: int = DTC | DTW | DTB, mode: int = READ
    ) -> NDArray[np.int32]:
        """Return an array with a row for each position; columns: WDL, DTC, DTW, DTB."""
        values = np.empty((len(positions), 4), np.int32)
        count = ctypes.c_size_t(len(positions))
        places = (ctypes.c_void_p(array.ctypes.data) for array in (positions, values))
        given, found = places
        self._check(self.library.shashki_probe_many(self.tables, given, count, metrics, mode, found))
        return values

    def moves(self, position: Position, capacity: int = 256) -> list[CMove]:
        moves = (CMove * capacity)()
        count = ctypes.c_size_t()
        self._check(
            self.library.shashki_probe_moves(
                self.tables,
                ctypes.byref(c_position(position)),
                moves,
                ctypes.c_size_t(capacity),
                ctypes.byref(count),
            )
        )
        return moves[: count.value]

    def preload(self, pieces: int, metrics: int) -> int:
        left_out = ctypes.c_size_t()
        self._check(self.library.shashki_preload(self.tables, pieces, metrics, ctypes.byref(left_out)))
        return left_out.value

    def stats(self) -> CStats:
        stats = CStats()
        self.library.shashki_get_stats(self.tables, ctypes.byref(stats))
        return stats


def plain(values: Iterable[int]) -> tuple[int | None, ...]:
    """Replace distances that are absent, and unknown values, by None."""
    wdl, *distances = values
    return (None if wdl == UNKNOWN else wdl, *(None if plies < 0 else plies for plies in distances))


def answer(ask: Callable[[], Any]) -> Any:
    """Return the result of a call, or the code of its error."""
    try:
        return ask()
    except ProbeError as error:
        return error.code
