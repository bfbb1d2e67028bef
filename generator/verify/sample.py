"""Values of a sample of positions, derived from the table files without loading whole slices.

The rule by which a value follows from its successors' is that of `generator.verify.derive`; here it takes
them from a tree, where there is no room for whole slices.

A DTB does not follow from its successors', which are told from a fresh count of king moves, where this count
can bind. Where it cannot, the two counts run as one, and DTB follows as DTC does, with changes of balance in
place of zeroing moves: in all positions in which what follows is no more plies than kings may move in a row.
In the others it is a bound: with a count that need not be kept, no win takes longer.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.verify.derive import (
    DTB,
    DTC,
    NO_LIMIT,
    NOTHING,
    SUMMARY,
    WDL,
    add,
    begin,
    finish,
    positions_at,
    wrong_metric,
)
from generator.verify.problems import Difference, Problem, culprit, problem_of
from generator.verify.slices import Done, SliceSet
from generator.verify.two_counters import balance_plies
from tablebase.board.material import Material
from tablebase.kernels.bits import popcount, reverse, signed
from tablebase.kernels.capture_tree import (
    CAPTURE,
    INDEX,
    NO_SLICE,
    OVER,
    PARENT,
    SLICE,
    by_slice,
    expand_all,
    new_tree,
)
from tablebase.kernels.index import Layout
from tablebase.kernels.jit import interruptible, kernel
from tablebase.kernels.movegen import count_quiet_moves, has_capture, quiet_moves
from tablebase.rules.rulesets import Ruleset
from tablebase.tables.format import Metric
from tablebase.tables.table import FrameCache, Table


@kernel
def stored_among(layout: Layout, which: int, indices: NDArray[np.int64]) -> tuple[NDArray[np.bool_], int]:
    """Which positions of a slice, at rising indices, have no capture, so that tables store them; and how many
    moves those have, all together."""
    positions = positions_at(layout, which, indices)
    stored = np.zeros(len(positions), np.bool_)
    moves = 0
    for row in range(len(positions)):
        sets = positions[row]
        if not has_capture(sets[0], sets[1], sets[2], sets[3]):
            stored[row] = True
            moves += count_quiet_moves(sets[0], sets[1], sets[2], sets[3])
    return stored, moves


@kernel
def plant_slice(
    layout: Layout, which: int, indices: NDArray[np.int64], moves: bool, tree: NDArray[np.int64]
) -> int:
    """Write positions of a slice to the first rows of a tree.

    Args:
        layout, which, indices: the positions, at rising indices.
        moves: whether what their quiet moves lead to is written behind them; none of them has a capture then.
        tree: by `new_tree`, with room for all.

    Returns:
        How many rows were written.
    """
    positions = positions_at(layout, which, indices)
    count = len(positions)
    for row in range(len(positions)):
        sets = positions[row]
        tree[row, :4] = sets
        tree[row, PARENT] = -1
        tree[row, SLICE] = which
        tree[row, INDEX] = indices[row]
        if moves:
            found = quiet_moves(sets[0], sets[1], sets[2], sets[3], tree[count:])
            for child in range(count, count + found):
                tree[child, PARENT] = row
            count += found
    return count


@kernel
def derive(
    tree: NDArray[np.int64],
    roots: int,
    count: int,
    limit: int,
    to_balance: bool,
    wdl: NDArray[np.int8],
    distance: NDArray[np.int32],
    dtw: NDArray[np.int32],
    derived: NDArray[np.int64],
) -> None:
    """Derive the values of the first rows of a tree from those that stand behind them.

    Args:
        tree: grown.
        roots: how many rows come first.
        count: how many rows there are.
        limit: plies to the next move that sets the count to nought, or NO_LIMIT.
        to_balance: which moves those are: captures and promotions; else captures and moves of men.
        wdl: int8 (count): the outcome of each row that stands in a table or has no move; of rows with a
            capture it is written, as the following two are.
        distance: int32 (count): DTC, or DTB where it is asked for.
        dtw: int32 (count).
        derived: int64 (roots, 3): outcome, distance and DTW, written; of rows without anything behind them
            those of a position without a move.
    """
    summary = np.empty(SUMMARY, np.int64)
    derived[:, 0] = -2
    derived[:, 1:] = 0
    row = count - 1
    while row >= roots:
        # What one row leads to stands together.
        parent = tree[row, PARENT]
        at_once = tree[parent, SLICE] == CAPTURE
        own_men, own_kings = reverse(tree[parent, 0]), popcount(tree[parent, 1])
        begin(summary)
        while row >= roots and tree[row, PARENT] == parent:
            if to_balance:
                zeroing = at_once or popcount(tree[row, 3]) != own_kings
            else:
                zeroing = at_once or tree[row, 2] != own_men
            add(summary, signed(wdl[row]), signed(distance[row]), signed(dtw[row]), zeroing, limit)
            row -= 1
        outcome, plies, length = finish(summary)
        if parent < roots:
            derived[parent, 0], derived[parent, 1], derived[parent, 2] = outcome, plies, length
        else:
            wdl[parent], distance[parent], dtw[parent] = outcome, plies, length


@kernel
def wrong_metrics(
    derived: NDArray[np.int64],
    wdl: NDArray[np.int8],
    dtc: NDArray[np.int32],
    dtw: NDArray[np.int32],
    has_dtc: bool,
    has_dtw: bool,
) -> NDArray[np.int64]:
    """The first metric of each row of `derived` whose stored value is another: int64, NOTHING if none is."""
    metrics = np.empty(len(derived), np.int64)
    for row in range(len(derived)):
        metrics[row] = wrong_metric(
            signed(wdl[row]),
            signed(dtc[row]),
            signed(dtw[row]),
            derived[row, 0],
            derived[row, 1],
            derived[row, 2],
            has_dtc,
            has_dtw,
        )
    return metrics


# Positions a task: with their trees some 100 MB. The more, the fewer frames are decoded twice.
_CHUNK = 1 << 14
_ROWS_A_MOVE = 2  # of a tree, at first

Distances = NDArray[np.int32]


class _Chunk(NamedTuple):
    """Positions of a slice to compare; `sampled`: how many of them belong to the sample."""

    number: int
    indices: NDArray[np.int64]
    sampled: int


class _Compared(NamedTuple):
    """How many positions were compared, what differs, and how many differ as two counts may make them."""

    positions: int
    found: list[Difference]
    left_out: int


@dataclass(frozen=True)
class _Looked:
    """A tree with what tables store of its rows; rows with a capture get their values when some are derived.

    Attributes:
        tree: grown.
        roots: how many rows are positions asked about.
        count: how many rows there are.
        wdl: int8 (count).
        dtc, dtw, dtb: int32 (count), plies. DTC and DTB are those of the positions asked about and of what
            their moves lead to.
    """

    tree: NDArray[np.int64]
    roots: int
    count: int
    wdl: NDArray[np.int8]
    dtc: Distances
    dtw: Distances
    dtb: Distances

    def derived(self, limit: int, to_balance: bool = False) -> NDArray[np.int64]:
        """Outcome, DTC (or DTB) and DTW of the positions asked about: int64 (roots, 3)."""
        out = np.empty((self.roots, 3), np.int64)
        distance = self.dtb if to_balance else self.dtc
        derive(self.tree, self.roots, self.count, limit, to_balance, self.wdl, distance, self.dtw, out)
        return out


@dataclass(frozen=True)
class _Balance:
    """What DTB says of the positions asked about.

    Attributes:
        wdl: int64: the outcome that follows.
        needed: int64: the DTB that follows, or a bound.
        settled: bool: whether both are certain, as the count of king moves cannot bind.
        right: bool: whether what is stored agrees, as far as this goes.
    """

    wdl: NDArray[np.int64]
    needed: NDArray[np.int64]
    settled: NDArray[np.bool_]
    right: NDArray[np.bool_]


class SampledValues(SliceSet):
    """Values of a set of tables, looked up when they are needed: memory for a few chunks, one a thread.

    Args as of `SliceSet`. A context manager, which closes the tables.

    Attributes:
        left_out: how many positions `compare_sample` has left out: their values do not follow from those of
            their successors, and may be right all the same, as two counts together make draws there.
    """

    def __init__(
        self,
        directory: Path,
        slices: Iterable[Material],
        metrics: Sequence[Metric],
        ruleset: Ruleset,
        pool: Executor,
        jobs: int,
    ) -> None:
        super().__init__(directory, slices, metrics, ruleset, pool, jobs)
        self.left_out = 0
        self._cache = FrameCache()
        self._tables: dict[tuple[Material, Metric], Table] = {}
        self._open = ExitStack()
        self._lock = Lock()
        self._right: Difference | None = None

    def __enter__(self) -> "SampledValues":
        return self

    def __exit__(self, *_: object) -> None:
        self._close_tables()

    def compile(self) -> None:
        """Have the kernels compiled (or loaded) in the calling thread, where Ctrl-C can stop that."""
        with interruptible():
            self._compare(_Chunk(0, np.empty(0, np.int64), 0))

    def compare_sample(
        self, part: float, seed: int, examples: Mapping[Material, Sequence[int]], done: Done
    ) -> tuple[int, Problem | None]:
        """Compare the values of some positions with their successors': how many, and the first that is wrong.

        Args:
            part: of the positions of each slice, chosen at random.
            seed: of the choice.
            examples: indices of more positions, by slice.
            done: told of each number of positions of the sample that are done with.

        Raises:
            TableError: a table cannot be read.
        """
        compared = 0
        for pair in (pair for tier in self.tiers for pair in tier):
            found: list[Difference] = []
            chunks = (chunk for material in pair for chunk in self._chunks(material, part, seed, examples))
            for chunk, result in self.run(self._compare, chunks):
                compared += result.positions
                found += result.found
                self.left_out += result.left_out
                done(chunk.sampled)
            if found:
                return compared, problem_of(self, culprit(self, found, False))
            self._close_tables()  # of many slices there are more files than may be open
        return compared, None

    def _chunks(
        self, material: Material, part: float, seed: int, examples: Mapping[Material, Sequence[int]]
    ) -> Iterator[_Chunk]:
        number = self.number(material)
        sampled = self.sampled(number, part, seed)
        for first in range(0, len(sampled), _CHUNK):
            indices = sampled[first : first + _CHUNK]
            yield _Chunk(number, indices, len(indices))
        more = np.setdiff1d(np.array(examples.get(material, ()), np.int64), sampled)
        if len(more):
            yield _Chunk(number, more, 0)

    def values_at(self, material: Material, indices: Sequence[int]) -> NDArray[np.int64]:
        """Outcome, DTC, DTW and DTB of positions of a slice, those with a capture from what captures lead to:
        int64 (len(indices), 4); plies, of which those of a metric that is not there mean nothing."""
        number = self.number(material)
        asked, back = np.unique(np.array(indices, np.int64), return_inverse=True)
        looked = self._look_up(number, asked, None)
        roots = looked.roots
        taking = looked.tree[:roots, SLICE] == CAPTURE
        values = np.stack([looked.wdl, looked.dtc, looked.dtw, looked.dtb])[:, :roots].T.astype(np.int64)
        values[taking] = looked.derived(NO_LIMIT)[taking][:, [0, 1, 2, 1]]
        found: NDArray[np.int64] = values[back]
        return found

    # Comparing

    def differing(self, number: int, indices: NDArray[np.int64]) -> list[Difference]:
        """Of some positions of a slice, at rising indices, those that do not follow from their successors."""
        return self._compare(_Chunk(number, indices, 0)).found

    @contextmanager
    def put_right(self, suspect: Difference) -> Iterator[None]:
        """For a while, take what follows from its successors for what is stored."""
        self._right = suspect
        try:
            yield
        finally:
            self._right = None

    def _compare(self, chunk: _Chunk) -> _Compared:
        number, material = chunk.number, self.slices[chunk.number]
        stored, moves = stored_among(self.layout, number, chunk.indices)
        indices = chunk.indices[stored]
        looked = self._look_up(number, indices, moves)
        has_dtc, has_dtw = Metric.DTC in self.metrics, Metric.DTW in self.metrics
        derived = looked.derived(self.king_limit(material) if has_dtc else NO_LIMIT)
        wdl = looked.wdl[: looked.roots].astype(np.int64)
        if not has_dtc:
            # Nothing tells whether a king move comes too late, so what is right either way is let pass.
            cursed = looked.derived(0)[:, 0]
            derived[:, 0] = np.where(cursed == wdl, cursed, derived[:, 0])
        metrics = wrong_metrics(derived, looked.wdl, looked.dtc, looked.dtw, has_dtc, has_dtw)
        dtb = looked.dtb[: looked.roots].astype(np.int64)
        left_out = np.zeros(looked.roots, np.bool_)
        if self.ruleset.counts_material_separately(material):
            left_out = self._open_rows(looked, number, metrics, derived)
            of_dtc = metrics == DTC
            metrics[left_out] = NOTHING
            if Metric.DTB in self.metrics:
                balance = self._balance(looked, material)
                wrong = ~balance.right & (metrics == NOTHING)
                outcomes = wrong & balance.settled & (balance.wdl != wdl)
                metrics[wrong] = DTB
                metrics[outcomes] = WDL
                derived[outcomes, 0] = balance.wdl[outcomes]
                more = (abs(wdl) == 2) & (dtb > balance.needed)
                left_out = ~wrong & np.where(balance.settled, left_out & of_dtc, left_out | more)
                dtb = np.where(balance.settled | wrong, balance.needed, dtb)
        found = [
            Difference(number, *values)
            for values in np.column_stack([indices, metrics, derived, dtb])[metrics != NOTHING].tolist()
        ]
        return _Compared(looked.roots, found, int(left_out.sum()))

    def _open_rows(
        self, looked: _Looked, number: int, metrics: NDArray[np.int64], derived: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Which of the positions asked about differ as two counts may make them."""
        roots = looked.roots
        mirror = self.number(self.slices[number].mirror)
        after = looked.tree[roots : looked.count]
        cursed = (after[:, SLICE] == mirror) & (abs(looked.wdl[roots:]) == 1)
        drawn_near = abs(looked.wdl[:roots]) == 1
        # Captures lead to fewer pieces, so that what stands in the mirror is a move on.
        drawn_near[after[cursed, PARENT]] = True
        found = np.zeros(roots, np.bool_)
        for row in np.flatnonzero((metrics != NOTHING) & drawn_near).tolist():
            values = int(metrics[row]), int(looked.wdl[row]), int(derived[row, 0])
            found[row] = self.may_come_of_two_counts(number, *values)
        return found

    def _balance(self, looked: _Looked, material: Material) -> _Balance:
        plies = balance_plies(material, self.ruleset)
        assert plies is not None
        derived = looked.derived(plies, to_balance=True)
        wdl, needed = derived[:, 0], derived[:, 1]
        decided = abs(wdl) == 2
        settled = ~decided | (needed <= min(plies, self.king_limit(material)))
        stored_wdl, stored = looked.wdl[: looked.roots], looked.dtb[: looked.roots]
        stored_decided = abs(stored_wdl) == 2
        same = np.where(decided, (stored_wdl == wdl) & (stored == needed), ~stored_decided)
        within = ~stored_decided | (stored >= needed) & (stored <= plies)
        return _Balance(wdl, needed, settled, np.where(settled, same, within))

    # Looking up

    def _look_up(self, number: int, indices: NDArray[np.int64], moves: int | None) -> _Looked:
        """The tree of some positions of a slice with their `moves`, so many; None: of the positions alone."""
        roots = len(indices)
        tree = new_tree(roots + _ROWS_A_MOVE * (moves or 0))
        near = plant_slice(self.layout, number, indices, moves is not None, tree)
        # With moves, positions without a capture have been placed; else, they are to be told from the others.
        tree, count = expand_all(self.layout, tree, 0 if moves is None else roots, near)
        places = tree[:count, SLICE]
        if (places <= NO_SLICE).any():
            raise KeyError("a move leads to a slice that the set does not hold")
        wdl = np.zeros(count, np.int8)
        dtc, dtw, dtb = (np.zeros(count, np.int32) for _ in range(3))
        wdl[places == OVER] = -2
        for which, rows, inside in self._groups(tree, count):
            # Clipped, not wrapped, so that a value out of range cannot turn into a right one.
            wdl[rows] = np.clip(self._stored(which, Metric.WDL, inside), -100, 100)
            asked = np.searchsorted(rows, near)  # rows rise
            decided = abs(wdl[rows[:asked]]) == 2
            close, close_inside = rows[:asked][decided], inside[:asked][decided]
            if Metric.DTC in self.metrics:
                dtc[close] = np.clip(self._stored(which, Metric.DTC, close_inside), 0, None)
            if Metric.DTB in self.metrics_of(self.slices[which]):
                # Below nought is far beyond what is ever right, read without a sign.
                dtb[close] = self._stored(which, Metric.DTB, close_inside).view(np.uint16)
            if Metric.DTW in self.metrics:
                lengths = wdl[rows] != 0
                halves = np.clip(self._stored(which, Metric.DTW, inside[lengths]), 0, None).astype(np.int32)
                dtw[rows[lengths]] = 2 * halves + (wdl[rows[lengths]] > 0)
            if self._right is not None and self._right.which == which:
                mended = rows[inside == self._right.place]
                wdl[mended], dtc[mended] = self._right.wdl, self._right.dtc
                dtw[mended], dtb[mended] = self._right.dtw, self._right.dtb
        return _Looked(tree, roots, count, wdl, dtc, dtw, dtb)

    def _groups(
        self, tree: NDArray[np.int64], count: int
    ) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
        """Each slice by number, with the rows of a tree that stand in it, rising, and their indices."""
        starts = np.empty(len(self.slices) + 1, np.int64)
        rows, indices = np.empty(count, np.int64), np.empty(count, np.int64)
        by_slice(tree, count, starts, rows, indices)
        for which in np.flatnonzero(np.diff(starts)).tolist():
            span = slice(starts[which], starts[which + 1])
            yield which, rows[span], indices[span]

    def _stored(self, which: int, metric: Metric, indices: NDArray[np.int64]) -> NDArray[np.int16]:
        key = self.slices[which], metric
        with self._lock:
            table = self._tables.get(key)
            if table is None:
                table = self._tables[key] = self._open.enter_context(self.open_table(*key, self._cache))
        return table.values(indices)

    def _close_tables(self) -> None:
        with self._lock:
            self._open.close()
            self._tables.clear()
