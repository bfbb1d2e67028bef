"""Where the solver's time goes, material by material, on one core and in memory. Seconds are those of the
processor, as other work on the machine is then in the way of caches alone.

python benchmarks/phases.py [--pieces 5] [--without-dtw]
"""

import argparse
import time
from collections import Counter

import numpy as np

from generator.materials import pairs, with_mirror
from generator.solver import batch as blocks
from generator.solver import solver as slices
from generator.solver import successors
from generator.solver.blocks import Blocks
from generator.solver.subsets import subsets
from generator.solver.successors import OutcomeExceptions, merge_exceptions
from generator.solver.workspace import Workspace, batch_size
from tablebase.board.material import Material
from tablebase.rules.rulesets import KING_MOVES_ONLY

PHASES = ("list blocks", "exits", "passes", "board", "results")


def solve(
    pair: Material, tables_after: successors.SuccessorTables
) -> tuple[Counter[str], successors.SuccessorTables]:
    """Solve a pair of materials phase by phase: seconds a phase, and the after tables to go on with."""
    with_scores = len(tables_after.score) > 0
    spent: Counter[str] = Counter()
    clock = time.thread_time()

    def lap(phase: str) -> None:
        nonlocal clock
        now = time.thread_time()
        spent[phase] += now - clock
        clock = now

    kings, opponents = pair.own_kings, pair.other_kings
    own = slices.empty_results(pair, with_scores=with_scores)
    twin = pair == pair.mirror
    results = (own, own if twin else slices.empty_results(pair.mirror, with_scores=with_scores))
    tables = subsets(max(kings, opponents), max(kings, opponents, 1) - 1)
    workspace = Workspace(pair, with_scores=with_scores)
    workspace.grow_exceptions(1 << 20)
    for _ in range(3):
        workspace.grow_events()
    clock = time.thread_time()
    found = Blocks(pair)
    lap("list blocks")
    size = batch_size(pair)
    for first, last in found.runs:
        placed = found.place(first, last)
        lap("list blocks")
        listed: list[OutcomeExceptions] = []
        for start in range(0, last - first, size):
            men, turned, first_index = (part[start : start + size] for part in placed)
            batch = blocks.Batch(kings, opponents, men, turned, np.ascontiguousarray(first_index.T))
            exits = batch, tables, tables_after, workspace.capture_work, workspace.buffers, results, False
            if kings or opponents:
                blocks.conversions_with_kings(*exits)
            if not (kings and opponents):
                blocks.conversions_without_kings(*exits)
            lap("exits")
            limit = KING_MOVES_ONLY.king_moves_plies or successors.LONGEST_PLIES
            passes = blocks.passes_with_kings if kings and opponents else blocks.passes_without_kings
            ended = passes(batch, limit, tables, tables_after, workspace.buffers, workspace.strip_buffer)
            assert ended >= 0
            lap("passes")
            if not with_scores:
                cut = ended == blocks.CUT
                words = blocks.outcome_step(
                    batch,
                    tables,
                    tables_after,
                    workspace.buffers,
                    workspace.strip_buffer,
                    workspace.exceptions,
                    cut,
                )
                assert 0 <= words <= len(workspace.exceptions.words)
                if words:
                    listed.append(successors.copy_exceptions(workspace.exceptions, words))
            lap("board")
            blocks.results_step(
                batch, tables, tables_after, workspace.buffers, workspace.capture_work, results, False
            )
            lap("results")
        if listed:
            exceptions = merge_exceptions(tables_after.exceptions, tables_after.exception_filter, listed)
            tables_after = tables_after._replace(exceptions=exceptions)
        lap("board")
    return spent, tables_after


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pieces", type=int, default=5)
    parser.add_argument("--without-dtw", action="store_true", help="solve for outcomes and DTC alone")
    args = parser.parse_args()
    with_scores = not args.without_dtw
    every = [material for pair in pairs(args.pieces) for material in with_mirror(pair)]
    for pair in pairs(3):  # compiles
        solve(pair, successors.allocate(every, args.pieces, with_scores=with_scores))
    tables_after = successors.allocate(every, args.pieces, with_scores=with_scores)
    total: Counter[str] = Counter()
    positions = 0
    print(f"| material | positions | {' | '.join(PHASES)} | ns a position |")
    print("| --- " * (len(PHASES) + 3) + "|")

    def row(name: str, count: int, spent: Counter[str]) -> None:
        cells = [f"{spent[phase] / count * 1e9:.0f}" for phase in (*PHASES,)]
        print(f"| {name} | {count:,} | {' | '.join(cells)} | {spent.total() / count * 1e9:.0f} |", flush=True)

    for pair in pairs(args.pieces):
        spent, tables_after = solve(pair, tables_after)
        count = sum(material.positions for material in with_mirror(pair))
        total += spent
        positions += count
        if pair.pieces == args.pieces:
            row(str(pair), count, spent)
    row("all", positions, total)
    assert np.any(tables_after.won)


if __name__ == "__main__":
    main()
