"""What tasks on a cluster take: the rates of generator/cluster/estimate.py, from a run of real tasks.

    python benchmarks/cluster.py --pieces 6 --metrics wdl,dtc

One worker of one core (`local:1`), a store in a temporary folder (TMPDIR). Seconds are those of processors,
so that other work on the machine counts for little. First all tables are made; then those of the last pair
are taken away and made again from the rest, which has to be restored.
"""

import argparse
import tempfile
from collections import defaultdict
from pathlib import Path

from generator.cluster.driver import generate_on_cluster
from generator.cluster.estimate import OUTCOMES, WITH_SCORES, after_bytes
from generator.cluster.settings import Options
from generator.cluster.tasks import AFTER, VALUES, TaskRecord
from generator.materials import pairs, successor_pairs, with_mirror
from generator.progress import Bar
from generator.solver.successors import words
from tablebase.board.material import Material
from tablebase.cli.options import metrics as metrics_option
from tablebase.rules.rulesets import OFFICIAL
from tablebase.tables.manifest import Manifest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pieces", type=int, default=5)
    parser.add_argument("--metrics", type=metrics_option, default=metrics_option("wdl,dtc,dtw,dtb"))
    parser.add_argument("--task-positions", type=float, default=50e6)
    args = parser.parse_args()
    with_scores = "dtw" in args.metrics
    made: list[TaskRecord] = []
    again: list[TaskRecord] = []
    options = Options(jobs=1, task_positions=int(args.task_positions))
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        for records in (made, again):
            bar = Bar()
            generate_on_cluster(
                "local:1", str(store), args.pieces, args.metrics, progress=bar, options=options,
                seen=records.append,
            )  # fmt: skip
            bar.close()
            remove_last(store, args.pieces)
    report(made, again, with_scores)


def remove_last(store: Path, pieces: int) -> None:
    """Of the tables there, remove those of the pair that was solved last."""
    manifest = Manifest.load(store)
    for material in with_mirror(pairs(pieces)[-1]):
        for metric in manifest.slices.pop(material).files:
            (store / f"{material}.{metric}").unlink()
    manifest.save(store)


def block_bytes(pair: Material, with_scores: bool) -> int:
    """Bytes in memory of what all blocks of a pair leave to other tasks, under the official rules."""
    balance = 32 * sum(map(words, with_mirror(pair))) if OFFICIAL.counts_material_separately(pair) else 0
    return after_bytes(pair, with_scores) + balance


def report(made: list[TaskRecord], again: list[TaskRecord], with_scores: bool) -> None:
    """Print each rate, with the one that generator/cluster/estimate.py has."""
    of_kind: dict[str, list[TaskRecord]] = defaultdict(list)
    for record in [*made, *(record for record in again if record.key.startswith("restore"))]:
        of_kind[record.key.partition("-")[0]].append(record)
    whole, blocks, restored, tables = (of_kind[kind] for kind in ("pair", "blocks", "restore", "tables"))
    solved = [*whole, *blocks]

    def total(records: list[TaskRecord], what: str) -> float:
        return sum(record.cores[what] for record in records)

    def positions(records: list[TaskRecord]) -> int:
        return sum(sum(m.positions for m in with_mirror(Material.parse(record.pair))) for record in records)

    def left(records: list[TaskRecord], *kinds: str) -> int:
        return sum(
            file.size for record in records for name, file in record.files.items() if name.endswith(kinds)
        )

    loaded = sum(
        after_bytes(child, with_scores)
        for record in [*whole, *restored]
        for child in successor_pairs(Material.parse(record.pair))
    )
    leaving = [record for record in whole if record.files]
    in_memory = sum(after_bytes(Material.parse(record.pair), with_scores) for record in leaving)
    # Scores to the balance change are left beside after tables.
    of_blocks = sum(
        block_bytes(Material.parse(record.pair), with_scores)
        * record.positions
        / sum(m.positions for m in with_mirror(Material.parse(record.pair)))
        for record in blocks
    )
    block_values = sum(record.positions for record in blocks) * (1 + with_scores)
    known = WITH_SCORES if with_scores else OUTCOMES
    found = {
        "solving": 1e9 * total(solved, "working") / sum(record.positions for record in solved),
        "restoring": 1e9 * total(restored, "working") / positions(restored),
        "tables": 1e9 * total(tables, "storing") / positions(tables),
        "loading": 1e9 * total([*whole, *restored], "loading") / loaded,
        "storing": 1e9 * total(blocks, "storing") / (of_blocks + block_values),
        "packed": left(leaving, AFTER) / in_memory,
        "packed_values": left(blocks, VALUES) / block_values,
        "fixed": min(sum(record.seconds.values()) for record in whole),
    }
    for name, rate in found.items():
        print(f"{name:<36}{rate:>10.3f}{getattr(known, name, float('nan')):>10.3f} in estimate.py")
    for kind, records in of_kind.items():
        seconds = {
            what: round(sum(record.seconds[what] for record in records), 1) for what in records[0].seconds
        }
        most = max(record.memory for record in records)
        print(f"{kind:<10}{len(records):>6} tasks, seconds: {seconds}, most memory {most:,}")


if __name__ == "__main__":
    main()
