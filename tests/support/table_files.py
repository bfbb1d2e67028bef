"""Table files for tests: made, read by the book, damaged, and resealed so that only the damage is wrong."""

import struct
from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

import numpy as np
import zstandard
from naive import Solved

from tablebase.board.material import Material, materials
from tablebase.board.position import Position, legal_moves
from tablebase.rules.outcome import Outcome, Probe
from tablebase.rules.rulesets import OFFICIAL, Ruleset
from tablebase.tables.format import Metric, stored_dtw, table_name, write_table
from tablebase.tables.index import index_of

HEADER_SIZE = 128


def reseal(data: bytes) -> bytes:
    """The file with both checksums of its header made right again."""
    changed = bytearray(data)
    symbols, frames = struct.unpack_from("<I", data, 84)[0], struct.unpack_from("<I", data, 80)[0]
    body_end = HEADER_SIZE + -(-2 * symbols // 8) * 8 + 8 * frames
    struct.pack_into("<I", changed, 120, crc32(changed[HEADER_SIZE:body_end]))
    struct.pack_into("<I", changed, 124, crc32(changed[:124]))
    return bytes(changed)


def read_by_the_book(data: bytes) -> list[int]:
    """All values of a file, read as docs/format.md says and with none of the library's code."""
    assert data[:8] == bytes.fromhex("93 53 48 41 53 48 4B 49")
    assert struct.unpack_from("<HH", data, 8) == (2, 128)
    assert struct.unpack_from("<I", data, 124)[0] == crc32(data[:124])
    (frame_size,) = struct.unpack_from("<I", data, 60)
    (positions,) = struct.unpack_from("<Q", data, 64)
    frames, symbols = struct.unpack_from("<II", data, 80)
    alphabet = struct.unpack_from(f"<{symbols}h", data, 128)
    index_start = 128 + -(-2 * symbols // 8) * 8
    ends = struct.unpack_from(f"<{frames}Q", data, index_start)
    assert struct.unpack_from("<I", data, 120)[0] == crc32(data[128 : index_start + 8 * frames])
    if symbols <= 1:
        assert frames == 0
        return list(alphabet) * positions
    per_byte = max([n for n in range(1, 9) if symbols**n <= 256], default=1)
    value_bytes = 1 if symbols <= 256 else 2
    assert struct.unpack_from("<BB", data, 88) == (per_byte, value_bytes)
    values: list[int] = []
    start = index_start + 8 * frames
    for end in ends:
        decoded = zstandard.decompress(data[start:end])
        assert len(decoded) == frame_size or end == ends[-1]
        assert len(decoded) <= 16384
        if value_bytes == 2:
            values += [alphabet[symbol] for symbol in struct.unpack(f"<{len(decoded) // 2}H", decoded)]
        else:
            values += [
                alphabet[byte // symbols**place % symbols] for byte in decoded for place in range(per_byte)
            ]
        start = end
    assert start == len(data)
    return values[:positions]


def as_probe(value: Solved, position: Position, balance: bool = True) -> Probe:
    """With its DTB, where nothing but kings is on the board, a capture is at hand, or the game is over."""
    counted = balance and position.wk and position.bk
    over = value.dtc == 0 or not (position.wm | position.wk and position.bm | position.bk)
    dtb = value.dtc if counted or over else None
    return Probe(Outcome.from_wdl(value.wdl), value.dtc, value.dtw, dtb)


def write_solved(
    directory: Path,
    solved: Mapping[Position, Solved],
    pieces: int,
    metrics: tuple[Metric, ...] = (Metric.WDL, Metric.DTC, Metric.DTW),
    ruleset: Ruleset = OFFICIAL,
) -> None:
    """Tables of all materials of so many pieces. Slots that must not be read hold values that are wrong."""
    for material in materials(pieces):
        values = {metric: np.zeros(material.positions, np.int16) for metric in Metric}
        stored = {metric: np.zeros(material.positions, np.bool_) for metric in Metric}
        for position, value in solved.items():
            if Material.of(position) != material:
                continue
            index = index_of(position.wm, position.wk, position.bm, position.bk)
            moves = legal_moves(position)
            if moves and moves[0].is_capture:
                values[Metric.WDL][index] = -2 if value.wdl == 2 else 2
                continue
            values[Metric.WDL][index] = value.wdl
            stored[Metric.WDL][index] = True
            if value.dtc is not None:
                values[Metric.DTC][index] = value.dtc
                stored[Metric.DTC][index] = True
            if value.dtw is not None:
                values[Metric.DTW][index] = stored_dtw(value.dtw)
                stored[Metric.DTW][index] = True
        for metric in metrics:
            if metric is not Metric.WDL:
                values[metric][~stored[metric]] = 77
            write_table(
                directory / table_name(material, metric),
                material,
                metric,
                ruleset,
                values[metric],
                generator_version="naive",
            )
