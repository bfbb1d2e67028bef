"""The verifier's check of a sample that is read from the table files, without loading whole slices.

A value follows from its successors' values by the rule of `generator.verify.derive`. Here the successors are
in a tree, as there is no memory for whole slices.

If the count of king moves can run out, a DTB does not follow from the successors' DTB, as these assume fresh
counts. If it cannot run out, both counts run as one. DTB then follows as DTC does, with changes of material
in place of zeroing moves. This holds for every position whose derived DTB is at most the limit of king moves.
For others the derived DTB is a lower bound, and a greater one cannot be checked
(docs/decisions/015-two-samplings.md).
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
from generator.verify.findings import Difference, Finding, finding_of, root_cause
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
def stored_among(layout: Layout, slice_id: int, indices: NDArray[np.int64]) -> tuple[NDArray[np.bool_], int]:
    """Return which positions of a slice are stored, as they have no capture, and the number of their moves.

    Args:
        layout: the slices.
        slice_id: the slice.
        indices: shape (n,), int64, rising.

    Returns:
        shape (n,), bool: whether each position is stored; and the number of moves of all stored ones.
    """
    positions = positions_at(layout, slice_id, indices)
    stored = np.zeros(len(positions), np.bool_)
    moves = 0
    for row in range(len(positions)):
        sets = positions[row]
        if not has_capture(sets[0], sets[1], sets[2], sets[3]):
            stored[row] = True
            moves += count_quiet_moves(sets[0], sets[1], sets[2], sets[3])
    return stored, moves


@kernel
def add_roots(
    layout: Layout, slice_id: int, indices: NDArray[np.int64], moves: bool, tree: NDArray[np.int64]
) -> int:
    """Write positions of a slice to the first rows of a tree.

    Args:
        layout: the slices.
        slice_id: the slice.
        indices: shape (n,), int64, rising.
        moves: whether to write the positions after their quiet moves behind them. No position has a capture
            then.
        tree: an array from `new_tree`, with enough rows.

    Returns:
        The number of rows written.
    """
    positions = positions_at(layout, slice_id, indices)
    count = len(positions)
    for row in range(len(positions)):
        sets = positions[row]
        tree[row, :4] = sets
        tree[row, PARENT] = -1
        tree[row, SLICE] = slice_id
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
    """Derive the values of the first rows of a tree from the rows behind them.

    Args:
        tree: an expanded tree.
        roots: the number of first rows, the positions to derive.
        count: the number of all rows.
        limit: plies to the next move that resets the count, or NO_LIMIT.
        to_balance: whether captures and promotions reset the count. If not, captures and men's moves do.
        wdl: shape (count,), int8: the outcomes of rows that are in a table or have no move. Those of capture
            positions are written, here and in the next two.
        distance: shape (count,), int32, plies: DTB with `to_balance`, else DTC.
        dtw: shape (count,), int32, plies.
        derived: shape (roots, 3), int64, written: outcome, distance and DTW. A row without successors gets
            the values of a position without a move.
    """
    summary = np.empty(SUMMARY, np.int64)
    derived[:, 0] = -2
    derived[:, 1:] = 0
    row = count - 1
    while row >= roots:
        # The successors of one row are next to each other.
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
    """Return the first wrong metric of each row of `derived`, or NOTHING: shape (rows,), int64."""
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


# Positions per task: about 100 MB with their trees. Larger chunks decode fewer frames twice.
_CHUNK = 1 << 14
_ROWS_A_MOVE = 2  # rows of a tree to begin with

Distances = NDArray[np.int32]


class _Chunk(NamedTuple):
    """Positions of a slice to compare; `sampled` of them belong to the sample."""

    slice_id: int
    indices: NDArray[np.int64]
    sampled: int


class _Compared(NamedTuple):
    """The number of positions compared, the differences, and the number of positions left out."""

    positions: int
    found: list[Difference]
    left_out: int


@dataclass(frozen=True)
class ProbedTree:
    """A tree of positions with their stored values. Capture positions get values when others are derived.

    Attributes:
        rows: the expanded tree.
        roots: the number of first rows, the positions to compare.
        count: the number of all rows.
        wdl: shape (count,), int8.
        dtc, dtw, dtb: shape (count,), int32, plies. DTC and DTB are read for the roots and their successors
            only.
    """

    rows: NDArray[np.int64]
    roots: int
    count: int
    wdl: NDArray[np.int8]
    dtc: Distances
    dtw: Distances
    dtb: Distances

    def derived(self, limit: int, to_balance: bool = False) -> NDArray[np.int64]:
        """Return outcome, DTC (or DTB) and DTW of the roots: shape (roots, 3), int64."""
        out = np.empty((self.roots, 3), np.int64)
        distance = self.dtb if to_balance else self.dtc
        derive(self.rows, self.roots, self.count, limit, to_balance, self.wdl, distance, self.dtw, out)
        return out


@dataclass(frozen=True)
class _Balance:
    """What DTB shows about the roots of a tree.

    Attributes:
        wdl: int64: the derived outcome.
        needed: int64, plies: the derived DTB, or a lower bound of it.
        settled: bool: whether both are certain, because the count of king moves cannot run out.
        right: bool: whether the stored values agree, as far as this can tell.
    """

    wdl: NDArray[np.int64]
    needed: NDArray[np.int64]
    settled: NDArray[np.bool_]
    right: NDArray[np.bool_]


class SampledValues(SliceSet):
    """Values of a set of tables, read from the files when they are needed.

    Memory holds one chunk of positions for each thread. The arguments are those of `SliceSet`. A context
    manager, which closes the tables.

    Attributes:
        left_out: the number of positions that `compare_sample` left out. Their values do not follow from
            their successors, but may be right, as both counts together make draws.
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
        """Compile or load the kernels in the calling thread, so that Ctrl-C can stop it."""
        with interruptible():
            self._compare(_Chunk(0, np.empty(0, np.int64), 0))

    def compare_sample(
        self, part: float, seed: int, examples: Mapping[Material, Sequence[int]], done: Done
    ) -> tuple[int, Finding | None]:
        """Compare a sample of positions with their successors; return its size and the first finding.

        Args:
            part: the part of the positions of each slice, chosen at random.
            seed: the random seed.
            examples: indices of further positions to compare, by slice.
            done: called with each number of positions of the sample that are done.

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
                return compared, finding_of(self, root_cause(self, found, False))
            self._close_tables()  # many slices have more files than a process may open
        return compared, None

    def _chunks(
        self, material: Material, part: float, seed: int, examples: Mapping[Material, Sequence[int]]
    ) -> Iterator[_Chunk]:
        slice_id = self.slice_id(material)
        sampled = self.sampled(slice_id, part, seed)
        for first in range(0, len(sampled), _CHUNK):
            indices = sampled[first : first + _CHUNK]
            yield _Chunk(slice_id, indices, len(indices))
        more = np.setdiff1d(np.array(examples.get(material, ()), np.int64), sampled)
        if len(more):
            yield _Chunk(slice_id, more, 0)

    def values_at(self, material: Material, indices: Sequence[int]) -> NDArray[np.int64]:
        """Return outcome, DTC, DTW and DTB of positions of a slice.

        Values of capture positions come from the positions after the captures.

        Returns:
            shape (len(indices), 4), int64, plies. The columns of metrics that are not there are arbitrary.
        """
        slice_id = self.slice_id(material)
        asked, back = np.unique(np.array(indices, np.int64), return_inverse=True)
        tree = self._probe_tree(slice_id, asked, None)
        roots = tree.roots
        taking = tree.rows[:roots, SLICE] == CAPTURE
        values = np.stack([tree.wdl, tree.dtc, tree.dtw, tree.dtb])[:, :roots].T.astype(np.int64)
        values[taking] = tree.derived(NO_LIMIT)[taking][:, [0, 1, 2, 1]]
        found: NDArray[np.int64] = values[back]
        return found

    # Comparing

    def differing(self, slice_id: int, indices: NDArray[np.int64]) -> list[Difference]:
        """Return the differences at rising indices of a slice."""
        return self._compare(_Chunk(slice_id, indices, 0)).found

    @contextmanager
    def assume_derived(self, suspect: Difference) -> Iterator[None]:
        """Use the derived values of `suspect` in place of its stored ones, inside a `with` block."""
        self._right = suspect
        try:
            yield
        finally:
            self._right = None

    def _compare(self, chunk: _Chunk) -> _Compared:
        slice_id, material = chunk.slice_id, self.slices[chunk.slice_id]
        stored, moves = stored_among(self.layout, slice_id, chunk.indices)
        indices = chunk.indices[stored]
        tree = self._probe_tree(slice_id, indices, moves)
        has_dtc, has_dtw = Metric.DTC in self.metrics, Metric.DTW in self.metrics
        derived = tree.derived(self.king_limit(material) if has_dtc else NO_LIMIT)
        wdl = tree.wdl[: tree.roots].astype(np.int64)
        if not has_dtc:
            # The limit cannot be applied to king moves: accept what could be right with or without it.
            cursed = tree.derived(0)[:, 0]
            derived[:, 0] = np.where(cursed == wdl, cursed, derived[:, 0])
        metrics = wrong_metrics(derived, tree.wdl, tree.dtc, tree.dtw, has_dtc, has_dtw)
        dtb = tree.dtb[: tree.roots].astype(np.int64)
        left_out = np.zeros(tree.roots, np.bool_)
        if self.ruleset.counts_material_separately(material):
            left_out = self._open_rows(tree, slice_id, metrics, derived)
            of_dtc = metrics == DTC
            metrics[left_out] = NOTHING
            if Metric.DTB in self.metrics:
                balance = self._balance(tree, material)
                wrong = ~balance.right & (metrics == NOTHING)
                outcomes = wrong & balance.settled & (balance.wdl != wdl)
                metrics[wrong] = DTB
                metrics[outcomes] = WDL
                derived[outcomes, 0] = balance.wdl[outcomes]
                more = (abs(wdl) == 2) & (dtb > balance.needed)
                left_out = ~wrong & np.where(balance.settled, left_out & of_dtc, left_out | more)
                dtb = np.where(balance.settled | wrong, balance.needed, dtb)
        found = [
            Difference(slice_id, *values)
            for values in np.column_stack([indices, metrics, derived, dtb])[metrics != NOTHING].tolist()
        ]
        return _Compared(tree.roots, found, int(left_out.sum()))

    def _open_rows(
        self, tree: ProbedTree, slice_id: int, metrics: NDArray[np.int64], derived: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return which roots may differ because of both counts together: shape (roots,), bool."""
        roots = tree.roots
        mirror = self.slice_id(self.slices[slice_id].mirror)
        after = tree.rows[roots : tree.count]
        cursed = (after[:, SLICE] == mirror) & (abs(tree.wdl[roots:]) == 1)
        drawn_near = abs(tree.wdl[:roots]) == 1
        # Captures lead to fewer pieces, so a row in the mirror is one quiet move away.
        drawn_near[after[cursed, PARENT]] = True
        found = np.zeros(roots, np.bool_)
        for row in np.flatnonzero((metrics != NOTHING) & drawn_near).tolist():
            values = int(metrics[row]), int(tree.wdl[row]), int(derived[row, 0])
            found[row] = self.may_come_of_two_counts(slice_id, *values)
        return found

    def _balance(self, tree: ProbedTree, material: Material) -> _Balance:
        plies = balance_plies(material, self.ruleset)
        assert plies is not None
        derived = tree.derived(plies, to_balance=True)
        wdl, needed = derived[:, 0], derived[:, 1]
        decided = abs(wdl) == 2
        settled = ~decided | (needed <= min(plies, self.king_limit(material)))
        stored_wdl, stored = tree.wdl[: tree.roots], tree.dtb[: tree.roots]
        stored_decided = abs(stored_wdl) == 2
        same = np.where(decided, (stored_wdl == wdl) & (stored == needed), ~stored_decided)
        within = ~stored_decided | (stored >= needed) & (stored <= plies)
        return _Balance(wdl, needed, settled, np.where(settled, same, within))

    # Reading from files

    def _probe_tree(self, slice_id: int, indices: NDArray[np.int64], moves: int | None) -> ProbedTree:
        """Return the tree of some positions of a slice.

        It has their `moves` quiet moves, or captures only if that is None.
        """
        roots = len(indices)
        tree = new_tree(roots + _ROWS_A_MOVE * (moves or 0))
        near = add_roots(self.layout, slice_id, indices, moves is not None, tree)
        # With moves, no root has a capture. Else `expand_all` must look for captures of the roots.
        tree, count = expand_all(self.layout, tree, 0 if moves is None else roots, near)
        slices = tree[:count, SLICE]
        if (slices <= NO_SLICE).any():
            raise KeyError("a move leads to a slice that the set does not hold")
        wdl = np.zeros(count, np.int8)
        dtc, dtw, dtb = (np.zeros(count, np.int32) for _ in range(3))
        wdl[slices == OVER] = -2
        for each, rows, inside in self._groups(tree, count):
            # Clip, so that a value out of range cannot wrap to a right one.
            wdl[rows] = np.clip(self._stored(each, Metric.WDL, inside), -100, 100)
            asked = np.searchsorted(rows, near)  # rows rise
            decided = abs(wdl[rows[:asked]]) == 2
            close, close_inside = rows[:asked][decided], inside[:asked][decided]
            if Metric.DTC in self.metrics:
                dtc[close] = np.clip(self._stored(each, Metric.DTC, close_inside), 0, None)
            if Metric.DTB in self.metrics_of(self.slices[each]):
                # Read as unsigned, so that a negative value exceeds every valid DTB and is reported.
                dtb[close] = self._stored(each, Metric.DTB, close_inside).view(np.uint16)
            if Metric.DTW in self.metrics:
                lengths = wdl[rows] != 0
                halves = np.clip(self._stored(each, Metric.DTW, inside[lengths]), 0, None).astype(np.int32)
                dtw[rows[lengths]] = 2 * halves + (wdl[rows[lengths]] > 0)
            if self._right is not None and self._right.slice_id == each:
                mended = rows[inside == self._right.index]
                wdl[mended], dtc[mended] = self._right.wdl, self._right.dtc
                dtw[mended], dtb[mended] = self._right.dtw, self._right.dtb
        return ProbedTree(tree, roots, count, wdl, dtc, dtw, dtb)

    def _groups(
        self, tree: NDArray[np.int64], count: int
    ) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
        """Yield each slice with the rows of a tree that are in it, rising, and their indices."""
        starts = np.empty(len(self.slices) + 1, np.int64)
        rows, indices = np.empty(count, np.int64), np.empty(count, np.int64)
        by_slice(tree, count, starts, rows, indices)
        for slice_id in np.flatnonzero(np.diff(starts)).tolist():
            span = slice(starts[slice_id], starts[slice_id + 1])
            yield slice_id, rows[span], indices[span]

    def _stored(self, slice_id: int, metric: Metric, indices: NDArray[np.int64]) -> NDArray[np.int16]:
        key = self.slices[slice_id], metric
        with self._lock:
            table = self._tables.get(key)
            if table is None:
                table = self._tables[key] = self._open.enter_context(self.open_table(*key, self._cache))
        return table.values(indices)

    def _close_tables(self) -> None:
        with self._lock:
            self._open.close()
            self._tables.clear()
