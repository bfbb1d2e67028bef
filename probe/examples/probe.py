"""Use the C library from Python by ctypes. Only the standard library is needed.

cc -O2 -fPIC -shared probe/shashki_probe.c -lzstd -o libshashki_probe.so
python probe/examples/probe.py ./libshashki_probe.so data
"""

import ctypes
import sys
from typing import Any, Final

WHITE: Final = 0
ALL: Final = 1 | 2 | 4  # SHASHKI_DTC | SHASHKI_DTW | SHASHKI_DTB
READ: Final = 0


class Position(ctypes.Structure):
    """`shashki_position`."""

    _fields_ = [
        (name, ctypes.c_uint32) for name in ("white_men", "white_kings", "black_men", "black_kings", "side")
    ]


class Value(ctypes.Structure):
    """`shashki_value`."""

    _fields_ = [(name, ctypes.c_int32) for name in ("wdl", "dtc", "dtw", "dtb")]


class Move(ctypes.Structure):
    """`shashki_move`."""

    _fields_ = [
        ("after", Position),
        ("value", Value),
        ("captured", ctypes.c_uint32),
        ("path_length", ctypes.c_uint8),
        ("path", ctypes.c_uint8 * 32),
        ("king", ctypes.c_uint8),
        ("promotes", ctypes.c_uint8),
        ("notation", ctypes.c_char * 96),
    ]


def load(path: str) -> Any:
    """Load the library and declare the functions that this example uses."""
    library = ctypes.CDLL(path)
    tables = ctypes.c_void_p
    library.shashki_open.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(tables)]
    library.shashki_close.argtypes = [tables]
    library.shashki_close.restype = None
    library.shashki_last_error.restype = ctypes.c_char_p
    position = ctypes.POINTER(Position)
    library.shashki_probe.argtypes = [tables, position, ctypes.c_uint, ctypes.c_int, ctypes.POINTER(Value)]
    library.shashki_probe_moves.argtypes = [
        tables,
        position,
        ctypes.POINTER(Move),
        ctypes.c_size_t,
        ctypes.POINTER(ctypes.c_size_t),
    ]
    return library


def square_set(*names: str) -> int:
    """Return the set of the squares with these names: a1 is bit 0, c1 bit 1, h8 bit 31."""
    return sum(1 << (4 * (int(name[1]) - 1) + "abcdefgh".index(name[0]) // 2) for name in names)


def main() -> None:
    """Print the values of a position and of its moves."""
    library = load(sys.argv[1])

    def check(error: int) -> None:
        if error:
            raise SystemExit(library.shashki_last_error().decode())

    tables = ctypes.c_void_p()
    check(library.shashki_open(sys.argv[2].encode(), 64 << 20, ctypes.byref(tables)))
    position = Position(square_set("d4", "g5"), 0, square_set("b6", "h6"), 0, WHITE)
    value, moves, count = Value(), (Move * 128)(), ctypes.c_size_t()
    check(library.shashki_probe(tables, position, ALL, READ, value))
    check(library.shashki_probe_moves(tables, position, moves, len(moves), count))
    print("outcome", value.wdl, "DTC", value.dtc, "DTW", value.dtw, "DTB", value.dtb)
    for move in moves[: count.value]:
        print(move.notation.decode(), move.value.wdl, move.value.dtc, move.value.dtw)
    library.shashki_close(tables)


if __name__ == "__main__":
    main()
