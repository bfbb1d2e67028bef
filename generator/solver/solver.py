"""Solve a slice together with its mirror, its blocks spread over threads.

The method is retrograde analysis, which Thompson used for chess endgames ("Retrograde Analysis of Certain
Endgames", ICCA Journal, 1986) and the team of Chinook for checkers (R. Lake, J. Schaeffer and P. Lu, "Solving
Large Retrograde Analysis Problems Using a Network of Workstations"; J. Schaeffer and others, "Building the
Checkers 10-piece Endgame Databases", 2003). Here a slice is cut into blocks by the placement of all men, and
the blocks are solved in such an order that captures and men's moves lead to solved positions only. Then the
passes over the king moves of each block solve the rest.

generator/solver/batch.py has the steps of one batch of blocks.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.errors import StoppedError
from generator.memory import Memory
from generator.solver.batch import Batch, solve_batch
from generator.solver.blocks import Blocks
from generator.solver.dtb_scores import NO_TIERS, DtbScores, ScoreTiers
from generator.solver.parallel import KernelPool, solve_in_parallel
from generator.solver.results import BLESSED_LOSS, DRAW, VALUE, Results
from generator.solver.subsets import Subsets, subsets
from generator.solver.successors import (
    LONGEST_PLIES,
    OutcomeExceptions,
    SuccessorTables,
    copy_exceptions,
    drop_material,
    find_locations,
    mark_drawn,
    merge_exceptions,
    parts_of,
)
from generator.solver.workspace import Workspace, batch_size, retry_with_more_space
from tablebase.board.material import Material
from tablebase.tables.index import sets_at

# Positions of one task: enough to hide the cost of starting it.
_TASK_POSITIONS = 100_000
# Threads share a block of at least this many positions. Below, compiling the kernels for that would take
# longer than sharing saves in a whole run.
_SHARED_POSITIONS = 50_000_000
# Results that numpy reads in one step: its temporary arrays are a few times their size.
_CHUNK = 1 << 24
_NO_LIMIT = LONGEST_PLIES

Pair = tuple[Results, Results]
"""The values of a material and of its mirror; the same object twice if the material is its own mirror."""


def is_shared(material: Material) -> bool:
    """Whether several threads solve the only block of a material together."""
    return not material.men and material.positions >= _SHARED_POSITIONS


def counts_balance(material: Material) -> bool:
    """Whether plies without a change of material can reach beyond one block.

    They can if both sides have kings and there are men.
    """
    return bool(material.own_kings and material.other_kings and material.men)


def empty_results(
    material: Material, with_dtb: bool = False, with_scores: bool = True, memory: Memory | None = None
) -> Results:
    """Allocate arrays for the values of a slice; `dtw` is empty without scores, `dtb` without DTB."""
    memory = memory or Memory()
    count = material.positions
    sizes = count, count * with_scores, count * with_dtb
    found = Results(*(memory.zeros(size, np.uint8) for size in sizes))
    for array in found:
        memory.reserve_disk(array)
    return found


def _split_run(run: tuple[int, int], block_positions: int, jobs: int) -> list[tuple[int, int]]:
    """Return the bounds of the tasks of a run of blocks."""
    first, last = run
    size = max(1, min(_TASK_POSITIONS // block_positions, -(-(last - first) // jobs)))
    return [(start, min(start + size, last)) for start in range(first, last, size)]


def _drawn_by_rules(results: Results) -> list[int]:
    """Return the indices of all cursed wins and blessed losses."""
    found: list[int] = []
    for first in range(0, len(results.value), _CHUNK):
        value = results.value[first : first + _CHUNK] & np.uint8(VALUE)
        found += (first + np.flatnonzero((value >= BLESSED_LOSS) & (value != DRAW))).tolist()
    return found


def separate_results(
    material: Material, blocks: int, self_mirrored: bool, with_dtb: bool, with_scores: bool
) -> Pair:
    """Allocate arrays for the values of some blocks only, of a material and of its mirror.

    The values are in order of the blocks. If the material is its own mirror, the two sides of a block follow
    each other.

    Args:
        material: the material.
        blocks: how many blocks there are.
        self_mirrored: whether each block is its own mirror, and so has one side only.
        with_dtb: whether there is a DTB.
        with_scores: whether there is a DTW.
    """

    def allocate(count: int) -> Results:
        return Results(
            np.zeros(count, np.uint8),
            np.zeros(count * with_scores, np.uint8),
            np.zeros(count * with_dtb, np.uint8),
        )

    size = blocks * material.block_size
    if material != material.mirror:
        return allocate(size), allocate(size)
    one = allocate(size if self_mirrored else 2 * size)
    return one, one


def _separate_first_index(
    material: Material, first_index: NDArray[np.int64], first: int
) -> NDArray[np.int64]:
    """Return the first indices of blocks in `separate_results`, from its block number `first` on."""
    found = np.full_like(first_index, -1)
    found[:, 0] = np.arange(first, first + len(first_index))
    self_mirrored = bool(len(first_index)) and first_index[0, 1] < 0
    if material != material.mirror:
        found[:, 1] = found[:, 0]
    elif not self_mirrored:
        found[:, 0] *= 2
        found[:, 1] = found[:, 0] + 1
    found[found >= 0] *= material.block_size
    return found


class SliceState(NamedTuple):
    """A material and its mirror while their blocks are solved.

    Attributes:
        material: the material.
        blocks: its blocks, in runs.
        tables: tables over the sets of its kings.
        limit: plies that the king-moves rule allows.
        balance: plies that the balance rule allows; 0 for no DTB pass.
        scores: the scores of the DTB pass.
        known: whether the values are known, and only the successor tables are missing.
        local: holds the workspace of each thread.
    """

    material: Material
    blocks: Blocks
    tables: Subsets
    limit: int
    balance: int
    scores: DtbScores | None
    known: bool
    local: threading.local


class SliceSolver:
    """A solver of slices, with its threads and the successor tables.

    Args:
        successors: the successor tables of all materials of a run.
        limit: plies that the king-moves rule allows, None for no such rule.
        executor: the threads.
        jobs: how many threads there are.
        done: called with a number of positions whenever this many more are solved.
        balance: returns the plies that the balance rule allows with a number of pieces if both sides have
            kings; None for no such rule.
        memory: allocates large arrays.
        with_dtb: whether results have a DTB if the material balance is counted.
    """

    def __init__(
        self,
        successors: SuccessorTables,
        limit: int | None,
        executor: Executor,
        jobs: int,
        done: Callable[[int], None],
        balance: Callable[[int], int | None] = lambda pieces: None,
        memory: Memory | None = None,
        with_dtb: bool = True,
    ) -> None:
        self._successors = successors
        self._memory = memory or Memory()
        self._balance = balance
        self._limit = _NO_LIMIT if limit is None else limit
        self._executor = executor
        self._jobs = jobs
        self._done = done
        self._with_scores = len(successors.score) > 0
        self._with_dtb = with_dtb
        self._stopping = threading.Event()

    @property
    def successors(self) -> SuccessorTables:
        """The successor tables as they are now."""
        return self._successors

    @property
    def with_scores(self) -> bool:
        """Whether DTW is solved."""
        return self._with_scores

    def stop(self) -> None:
        """Make all calls in progress end early, and leave their slices unfinished."""
        self._stopping.set()

    def solve(self, material: Material) -> Pair:
        """Solve a material and its mirror, and fill in their successor tables.

        The successor tables of all materials that their moves lead to must be filled in.

        Raises:
            DistanceOverflowError: a distance does not fit the solver.
            StoppedError: `stop` was called.
        """
        with_dtb = self._with_dtb and self._has_dtb_pass(material)
        own = self.empty_results(material, with_dtb)
        self_mirrored = material == material.mirror
        results = (own, own if self_mirrored else self.empty_results(material.mirror, with_dtb))
        self._solve_pair(material, results, False)
        return results

    def restore(self, material: Material, results: Pair) -> None:
        """Fill in the successor tables of a material and its mirror from their stored values.

        Raises:
            StoppedError: `stop` was called.
        """
        self._solve_pair(material, results, True)

    def _solve_pair(self, material: Material, results: Pair, known: bool) -> None:
        """Solve a material and its mirror, or only fill in their successor tables if values are `known`."""
        state = self.open_slice(material, known)
        if self._jobs > 1 and is_shared(material):
            self._solve_in_parallel(state, results)
            return
        for number, run in enumerate(state.blocks.runs):
            self.solve_blocks(state, number, *run, results)
        self.close_slice(state)
        if state.scores and state.scores.has_unresolved:
            self.mark_drawn(self.positions_drawn_by_both_counters(material, results))

    def empty_results(self, material: Material, with_dtb: bool = False) -> Results:
        """Allocate arrays for the values of a slice; `free_results` frees them."""
        return empty_results(material, with_dtb, self._with_scores, self._memory)

    def free_results(self, results: Pair) -> None:
        """Free the memory of results."""
        for part in results:
            self._memory.free(part)

    def release(self, pair: Material) -> None:
        """Free the memory of the successor tables of a material and its mirror."""
        for material in {pair, pair.mirror}:
            for part in parts_of(self._successors, material):
                self._memory.discard(part)
            self._successors = drop_material(self._successors, material)

    def _has_dtb_pass(self, material: Material) -> bool:
        return counts_balance(material) and self._balance_limit(material) is not None

    def _balance_limit(self, material: Material) -> int | None:
        return self._balance(material.pieces) if material.own_kings and material.other_kings else None

    def positions_drawn_by_both_counters(self, material: Material, results: Pair) -> NDArray[np.int64]:
        """Find the positions of a solved pair that only both rules together draw.

        The king-moves rule alone leaves them won or lost, but no number of plies of the `balance` count wins
        them.

        Returns:
            Their locations in the successor tables, int64 [location, 2]: word and lane.
        """
        found = [np.zeros((0, 2), np.int64)]
        for solved, part in {material: results[0], material.mirror: results[1]}.items():
            found += [find_locations(self._successors, *sets_at(solved, i)) for i in _drawn_by_rules(part)]
        locations = np.concatenate(found)
        words, lanes = locations[:, 0], locations[:, 1].astype(np.uint32)
        decided = (self._successors.lost[words] | self._successors.won[words]) >> lanes & 1 == 1
        drawn: NDArray[np.int64] = locations[decided]
        return drawn

    def mark_drawn(self, locations: NDArray[np.int64]) -> None:
        """Mark positions that both rules draw as drawn in the successor tables.

        Call this when their material is solved: within a slice, DTC knows the king-moves rule only.

        Args:
            locations: int64 [location, 2], as `positions_drawn_by_both_counters` returns them.
        """
        if len(locations):
            self._successors = mark_drawn(self._successors, locations)

    def open_slice(self, material: Material, known: bool = False) -> SliceState:
        """Allocate what solving a material and its mirror run by run takes; `close_slice` frees it.

        Args:
            material: the material.
            known: whether its stored values are known, and only its successor tables are missing.
        """
        balance = self._balance_limit(material)
        with_dtb = self._has_dtb_pass(material) and not known
        blocks = Blocks(material)
        for solved in {material, material.mirror}:
            for part in parts_of(self._successors, solved):
                self._memory.reserve_disk(part)
        most = max(material.own_kings, material.other_kings)
        return SliceState(
            material,
            blocks,
            subsets(most, max(most - 1, 0)),
            # Without men every king move counts for both rules: the smaller limit decides.
            min(self._limit, balance) if balance and not material.men else self._limit,
            balance if with_dtb and balance else 0,
            DtbScores(material, blocks, self._memory) if with_dtb else None,
            known,
            threading.local(),
        )

    def close_slice(self, state: SliceState) -> None:
        """Free what `open_slice` has allocated."""
        if state.scores:
            state.scores.free()

    def solve_blocks(
        self, state: SliceState, number: int, first: int, last: int, results: Pair, separate: bool = False
    ) -> list[OutcomeExceptions]:
        """Solve the blocks `first` to `last` - 1 into the successor tables and `results`.

        Args:
            state: the material, from `open_slice`.
            number: the run that all these blocks are in; the blocks that it leads to must be solved.
            first: the first block.
            last: the block after the last one.
            results: arrays for the values of both slices, or for those of these blocks.
            separate: whether `results` are for these blocks only, from `separate_results`.

        Returns:
            The exceptions of the blocks: words that are different without draw rules.

        Raises:
            DistanceOverflowError: a distance does not fit the solver.
            StoppedError: `stop` was called.
        """
        exceptions: list[OutcomeExceptions] = []  # threads append to it
        tiers = state.scores.tiers_of_run(number) if state.scores else (NO_TIERS, NO_TIERS)
        separate_from = first if separate else None
        futures = [
            self._executor.submit(self._solve_task, state, *task, results, separate_from, tiers, exceptions)
            for task in _split_run((first, last), 2 * state.material.block_size, self._jobs)
        ]
        for future in futures:
            future.result()
        if self._stopping.is_set():
            raise StoppedError
        self.add_exceptions(exceptions)
        return exceptions

    def _solve_task(
        self,
        state: SliceState,
        first: int,
        last: int,
        results: Pair,
        separate_from: int | None,
        tiers: tuple[ScoreTiers, ScoreTiers],
        exceptions: list[OutcomeExceptions],
    ) -> None:
        """Solve the blocks `first` to `last` - 1 in one thread, batch by batch.

        `results` begin with the block `separate_from`, or have both slices if it is None.
        """
        material, placed = state.material, state.blocks.place(first, last)
        if separate_from is not None:
            first_index = _separate_first_index(material, placed.first_index, first - separate_from)
            placed = placed._replace(first_index=first_index)
        workspace: Workspace | None = getattr(state.local, "workspace", None)
        if workspace is None:
            workspace = Workspace(material, state.scores is not None, self._with_scores)
            state.local.workspace = workspace
        size, begin = batch_size(material), 0
        while begin < len(placed.men) and not self._stopping.is_set():
            men, turned_men, first_index = (part[begin : begin + size] for part in placed)
            found = solve_batch(
                Batch(
                    material.own_kings,
                    material.other_kings,
                    men,
                    turned_men,
                    np.ascontiguousarray(first_index.T),
                ),
                state.limit,
                state.tables,
                self._successors,
                workspace.capture_work,
                workspace.buffers,
                workspace.strip_buffer,
                workspace.exceptions,
                results,
                tiers,
                state.balance,
                state.known,
            )
            if retry_with_more_space(workspace, found, material):
                continue
            if found:
                exceptions.append(copy_exceptions(workspace.exceptions, found))
            self._done(material.block_size * int(np.count_nonzero(first_index >= 0)))
            begin += size

    def _solve_in_parallel(self, state: SliceState, results: Pair) -> None:
        """Solve the only block of a material on all threads together."""
        pool = KernelPool(self._executor, self._jobs, self._stopping)
        material, block = state.material, state.blocks.place(0, 1)
        workspace = Workspace(material, False, self._with_scores)
        retry = True
        while retry:
            found = solve_in_parallel(
                pool,
                block,
                material.own_kings,
                material.other_kings,
                state.limit,
                state.tables,
                self._successors,
                workspace.buffers,
                workspace.exceptions,
                results,
                state.known,
            )
            retry = retry_with_more_space(workspace, found, material)
        if found:
            self.add_exceptions([copy_exceptions(workspace.exceptions, found)])
        self._done(material.block_size * int(np.count_nonzero(block.first_index >= 0)))

    def add_exceptions(self, more: list[OutcomeExceptions]) -> None:
        """Add words that are different without draw rules to the successor tables."""
        if more:
            exceptions = merge_exceptions(
                self._successors.exceptions, self._successors.exception_filter, more
            )
            self._successors = self._successors._replace(exceptions=exceptions)
