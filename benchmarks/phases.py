"""Where the solver's time goes, material by material, on one core and in memory.

python benchmarks/phases.py [--pieces 5]
"""

import argparse
import time
from collections import Counter

import numpy as np

from generator import afters, blocks, exits, slices
from generator import sides as sides_of
from generator.menplacements import blocks_of
from generator.plan import both, pairs
from generator.spread import spread_on_board, spread_under_rules
from generator.subsets import subsets
from tablebase.drawrules import KING_MOVES_ONLY
from tablebase.material import Material

PHASES = ("list blocks", "exits", "board pass", "rules pass", "after tables", "results")


def solve(pair: Material, tables_after: afters.Afters) -> Counter[str]:
    """Solve a pair of materials phase by phase; seconds a phase."""
    spent: Counter[str] = Counter()
    clock = time.perf_counter()

    def lap(phase: str) -> None:
        nonlocal clock
        now = time.perf_counter()
        spent[phase] += now - clock
        clock = now

    kings, opponents = pair.own_kings, pair.other_kings
    own = slices.empty_results(pair)
    results = (own, own if pair == pair.mirror else slices.empty_results(pair.mirror))
    tables = subsets(max(kings, opponents), max(kings, opponents, 1) - 1)
    shop = slices.Workshop(pair)
    for _ in range(3):
        shop.grow()
    clock = time.perf_counter()
    found = blocks_of(pair)
    lap("list blocks")
    size = slices._batch(pair)
    for first, last in found.runs:
        for start in range(first, last, size):
            batch = slice(start, min(start + size, last))
            bases = found.bases[batch]
            sides = (
                sides_of.make_side(kings, opponents, found.men[batch], bases, 0, tables_after, shop.rooms[0]),
                sides_of.make_side(
                    opponents, kings, found.turned_men[batch], bases, 1, tables_after, shop.rooms[1]
                ),
            )
            count = 2 if sides[1].blocks else 1
            last_event = 0
            for s in range(count):
                last_event = max(
                    last_event,
                    exits.find_exits(
                        sides[s], tables, tables_after, shop.capture_work, False, results[s], bases[:, s]
                    ),
                )
            lap("exits")
            spread_on_board(sides, count, tables, tables_after.score, last_event, shop.strip_room)
            lap("board pass")
            limit = KING_MOVES_ONLY.king_moves_plies or afters.LONGEST_PLIES
            spread_under_rules(sides, count, tables, limit, shop.strip_room)
            lap("rules pass")
            for s in range(count):
                blocks._finish_afters(sides[s], tables, tables_after)
            lap("after tables")
            for s in range(count):
                blocks._gather_all(sides[s], tables, results[s], bases[:, s])
            lap("results")
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pieces", type=int, default=5)
    args = parser.parse_args()
    every = [material for pair in pairs(args.pieces) for material in both(pair)]
    for pair in pairs(3):  # compiles
        solve(pair, afters.allocate(every, args.pieces))
    tables_after = afters.allocate(every, args.pieces)
    total: Counter[str] = Counter()
    positions = 0
    print(f"| material | positions | {' | '.join(PHASES)} | ns a position |")
    print("| --- " * (len(PHASES) + 3) + "|")

    def row(name: str, count: int, spent: Counter[str]) -> None:
        cells = [f"{spent[phase] / count * 1e9:.0f}" for phase in (*PHASES,)]
        print(f"| {name} | {count:,} | {' | '.join(cells)} | {spent.total() / count * 1e9:.0f} |", flush=True)

    for pair in pairs(args.pieces):
        spent = solve(pair, tables_after)
        count = sum(material.positions for material in both(pair))
        total += spent
        positions += count
        if pair.pieces == args.pieces:
            row(str(pair), count, spent)
    row("all", positions, total)
    assert np.any(tables_after.score)


if __name__ == "__main__":
    main()
