"""What a DTB costs where it is searched for, with WDL and DTC at hand, in place of stored.

    python benchmarks/dtb.py --data DIR [--material KKMvKM] [--positions 20] [--seconds 20]

The search: for rising plies of the balance, whether the position is decided with so many left and fresh king
moves, every position remembered. A move is looked at only while the tables let it keep the outcome in time.
"""

import argparse
import statistics
import time
from pathlib import Path
from random import Random

from tablebase.board.material import Material
from tablebase.board.position import Position, legal_moves, position_after
from tablebase.probe.tablebase import Tablebase, open_tablebase
from tablebase.tables.format import Metric, table_name
from tablebase.tables.index import sets_at
from tablebase.tables.table import Table


class OutOfTimeError(Exception):
    """The search has taken too long."""


class Search:
    """The search from one position, within some seconds."""

    def __init__(self, tables: Tablebase, seconds: float) -> None:
        self._tables = tables
        self._fresh = tables.ruleset.king_moves_plies or 0
        self._end = time.perf_counter() + seconds
        self._known: dict[tuple[Position, int, int], bool] = {}

    def dtb(self, position: Position) -> int:
        """The DTB of a position won or lost under the rules."""
        balance = 0
        while not self._decided(position, self._fresh, balance):
            balance += 1
        return balance

    def _decided(self, position: Position, kings: int, balance: int) -> bool:
        """Whether the outcome that the tables tell stands with so many plies left of both counts."""
        if time.perf_counter() > self._end:
            raise OutOfTimeError
        key = position, kings, balance
        if key not in self._known:
            self._known[key] = self._looked_at(position, kings, balance)
        return self._known[key]

    def _looked_at(self, position: Position, kings: int, balance: int) -> bool:
        moves = legal_moves(position)
        if not moves:
            return True
        value = self._tables.probe_wdl(position)
        dtc = self._tables.probe_dtc(position)
        if dtc is None or dtc > min(kings, balance):
            return False
        won = value == 2
        for move in moves:
            after = position_after(position, move)
            keeps = self._tables.probe_wdl(after) == -value
            if keeps and not move.balance_change:
                left = self._fresh if move.zeroing else kings - 1
                keeps = self._decided(after, left, balance - 1)
            if keeps == won:
                return won
        return not won


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--material", default="KKMvKM")
    parser.add_argument("--positions", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20)
    args = parser.parse_args()
    material = Material.parse(args.material)
    random = Random(1)
    with Table(args.data / table_name(material, Metric.WDL)) as table:
        wdl = table.read_all()
    print("| DTB, plies | positions | searched, median s | out of time | probe_dtb, median µs |")
    print("| --- | --- | --- | --- | --- |")
    spans = [(1, 5), (6, 10), (11, 15), (16, 20), (21, 30), (31, 60)]
    with open_tablebase(args.data) as tables:
        places: dict[tuple[int, int], list[tuple[Position, int]]] = {span: [] for span in spans}
        for _ in range(200_000):
            index = random.randrange(material.positions)
            if abs(wdl[index]) != 2:
                continue
            own_men, own_kings, other_men, other_kings = sets_at(material, index)
            position = Position(own_men, own_kings, other_men, other_kings)
            if legal_moves(position)[0].is_capture:
                continue
            dtb = tables.probe_dtb(position)
            assert dtb is not None
            for span, found in places.items():
                if span[0] <= dtb <= span[1] and len(found) < args.positions:
                    found.append((position, dtb))
        for (first, last), found in places.items():
            taken, probed, late = [], [], 0
            for position, dtb in found:
                began = time.perf_counter()
                tables.probe_dtb(position)
                probed.append((time.perf_counter() - began) * 1e6)
                began = time.perf_counter()
                try:
                    if Search(tables, args.seconds).dtb(position) != dtb:
                        raise SystemExit(f"{position.to_fen()}: the search and the table differ")
                except OutOfTimeError:
                    late += 1
                taken.append(time.perf_counter() - began)
            if found:
                print(
                    f"| {first}-{last} | {len(found)} | {statistics.median(taken):.3g} | {late} "
                    f"| {statistics.median(probed):.0f} |"
                )


if __name__ == "__main__":
    main()
