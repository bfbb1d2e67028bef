"""Solve one block on several threads: a material without men is a single block, whatever its size.

The passes are those of `solve_batch`, ply by ply. The steps that take the time are kernels that do a part
each, without the interpreter's lock; each step waits for all parts of the step before.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.errors import StoppedError
from generator.solver.batch import Batch, fill_draws, init_pass, write_results, write_successors
from generator.solver.blocks import PlacedBlocks
from generator.solver.captures import capture_work
from generator.solver.conversions import restore_known_values, score_captures
from generator.solver.outcome_pass import list_exceptions, needs_outcome_pass
from generator.solver.passes import (
    DTC_TOO_LONG,
    TOO_LONG,
    apply_dtc,
    apply_dtw,
    begin_dtc_ply,
    begin_dtw_ply,
    find_dtw,
    find_wins_and_losses,
)
from generator.solver.results import LONGEST_DTC, Results
from generator.solver.side import Side, SideBuffers, make_side, strip_buffer
from generator.solver.subsets import Subsets
from generator.solver.successors import LONGEST_PLIES, OutcomeExceptions, SuccessorTables
from tablebase.kernels.jit import for_python

_score_captures = for_python(score_captures)
_restore_known_values = for_python(restore_known_values)
_init_pass = for_python(init_pass)
_fill_draws = for_python(fill_draws)
_write_successors = for_python(write_successors)
_write_results = for_python(write_results)
_needs_outcome_pass = for_python(needs_outcome_pass)
_list_exceptions = for_python(list_exceptions)
_apply_dtc = for_python(apply_dtc)
_apply_dtw = for_python(apply_dtw)
_begin_dtc_ply = for_python(begin_dtc_ply)
_begin_dtw_ply = for_python(begin_dtw_ply)
_find_wins_and_losses = for_python(find_wins_and_losses)
_find_dtw = for_python(find_dtw)


class ThreadBuffers(NamedTuple):
    """Buffers of one thread.

    Attributes:
        capture_work: int64, from `capture_work()`.
        strip_buffer: uint32 [3 * STRIP].
    """

    capture_work: NDArray[np.int64]
    strip_buffer: NDArray[np.uint32]


class KernelPool:
    """Threads that each do a part of one block's work.

    Args:
        executor: the threads.
        parts: how many threads there are.
        stopping: set by any thread to end the work early.
    """

    def __init__(self, executor: Executor, parts: int, stopping: threading.Event) -> None:
        self._executor = executor
        self._stopping = stopping
        self.parts = parts
        self.thread_buffers = [ThreadBuffers(capture_work(), strip_buffer()) for _ in range(parts)]

    def run(self, work: Callable[[int], Any], count: int) -> list[Any]:
        """Call `work(0)` to `work(count - 1)`, the first in the calling thread; return their results.

        Raises:
            StoppedError: the work was stopped.
        """
        if self._stopping.is_set():
            raise StoppedError
        futures = [self._executor.submit(work, number) for number in range(1, count)]
        return [work(0), *(future.result() for future in futures)]

    def run_parts(self, kernel: Callable[..., Any], *arguments: Any, buffer: str = "") -> list[Any]:
        """Call a kernel for every part, with a `buffer` (a field of ThreadBuffers) before part and parts.

        Raises:
            StoppedError: the work was stopped.
        """

        def call(part: int) -> Any:
            thread_buffers = (getattr(self.thread_buffers[part], buffer),) if buffer else ()
            return kernel(*arguments, *thread_buffers, part, self.parts)

        return self.run(call, self.parts)


def solve_in_parallel(
    pool: KernelPool,
    block: PlacedBlocks,
    kings: int,
    opponent_kings: int,
    limit: int,
    tables: Subsets,
    successors: SuccessorTables,
    buffers: tuple[SideBuffers, SideBuffers],
    exceptions: OutcomeExceptions,
    results: tuple[Results, Results],
    known: bool,
) -> int:
    """Solve the only block of a material without men, in which both sides have kings.

    Args:
        pool: the threads.
        block: the block.
        kings: kings of the first side.
        opponent_kings: kings of its opponent.
        limit: plies that the king-moves rule allows.
        tables: tables over the sets of kings.
        successors: the successor tables; those of all positions that conversions lead to are filled in.
        buffers: the buffers of both sides.
        exceptions: takes the words that are different without draw rules, if there are no scores.
        results: the values of both slices.
        known: whether `results` have the values of stored positions, so that only the successor tables are
            written.

    Returns:
        How many words belong into `exceptions`: if they do not fit, call again with a larger list. Or an
            error:
        EVENTS_FULL (call again with more events), TOO_LONG or DTC_TOO_LONG.

    Raises:
        StoppedError: the work was stopped; the block is unfinished.
    """
    first_index = np.ascontiguousarray(block.first_index.T)
    sides = (
        make_side(kings, opponent_kings, block.men, first_index[0], successors, buffers[0]),
        make_side(opponent_kings, kings, block.turned_men, first_index[1], successors, buffers[1]),
    )
    count = 2 if sides[1].blocks else 1
    for s in range(count):
        pool.run_parts(_score_captures, sides[s], tables, successors, buffer="capture_work")
        if known:
            _restore_known_values(sides[s], tables, results[s], first_index[s])
    last_slots = pool.run(lambda s: _init_pass(sides[s], successors.score), count)
    if min(last_slots) < 0:
        return int(min(last_slots))
    if len(successors.score):
        error = _dtw_pass(pool, sides, count, tables, successors.score, max(last_slots))
        if error:
            return error
        for s in range(count):
            pool.run_parts(_fill_draws, sides[s], tables, successors.score, sides[s].score_start)
    at_rest = _dtc_pass(pool, sides, count, tables, min(limit, LONGEST_DTC), False)
    if not at_rest and limit > LONGEST_DTC:
        return DTC_TOO_LONG
    pool.run(lambda s: _write_successors(sides[s], successors), count)
    found = 0
    if not len(successors.score) and (not at_rest or _needs_outcome_pass(sides, count)):
        if not _dtc_pass(pool, sides, count, tables, LONGEST_PLIES, True):
            return TOO_LONG
        for s in range(count):
            found = _list_exceptions(sides[s], successors, exceptions, found)
        if found > len(exceptions.words):
            return found
    if not known:
        for s in range(count):
            pool.run_parts(
                _write_results, sides[s], tables, results[s], first_index[s], False, buffer="capture_work"
            )
    return found


def _dtc_pass(
    pool: KernelPool, sides: tuple[Side, Side], count: int, tables: Subsets, limit: int, unruled: bool
) -> bool:
    """Run the DTC or outcome pass, as `dtc_pass` does on one thread."""
    for ply in range(limit + 1):
        _begin_dtc_ply(sides, count, ply, unruled)
        pool.run_parts(_find_wins_and_losses, sides, count, tables, ply, buffer="strip_buffer")
        decided = pool.run_parts(_apply_dtc, sides, count, tables, ply, unruled)
        if ply >= 2 and not any(decided):
            return True
    return False


def _dtw_pass(
    pool: KernelPool,
    sides: tuple[Side, Side],
    count: int,
    tables: Subsets,
    scores: NDArray[np.uint8],
    last: int,
) -> int:
    """Run the DTW pass, as `dtw_pass` does on one thread."""
    ply = idle = 0
    while ply // 2 <= last or idle < 2:
        if ply > LONGEST_PLIES:
            return TOO_LONG
        _begin_dtw_ply(sides, count, ply)
        pool.run_parts(_find_dtw, sides, count, tables, ply, buffer="strip_buffer")
        decided = pool.run_parts(_apply_dtw, sides, count, tables, scores, ply)
        idle = 0 if any(decided) else idle + 1
        ply += 1
    return 0


def shared_kernels(
    batch: Batch,
    tables: Subsets,
    successors: SuccessorTables,
    buffers: tuple[SideBuffers, SideBuffers],
    exceptions: OutcomeExceptions,
    results: tuple[Results, Results],
) -> list[tuple[Any, ...]]:
    """Return the kernels of `solve_in_parallel`, each with arguments of the types that it is called with."""
    side = make_side(
        batch.kings, batch.opponent_kings, batch.men, batch.first_index[0], successors, buffers[0]
    )
    sides, scores = (side, side), successors.score
    work, strip = capture_work(), strip_buffer()
    return [
        (_score_captures, side, tables, successors, work, 0, 1),
        (_apply_dtw, sides, 1, tables, scores, 0, 0, 1),
        (_apply_dtc, sides, 1, tables, 0, False, 0, 1),
        (_find_dtw, sides, 1, tables, 0, strip, 0, 1),
        (_find_wins_and_losses, sides, 1, tables, 0, strip, 0, 1),
        (_restore_known_values, side, tables, results[0], batch.first_index[0]),
        (_write_results, side, tables, results[0], batch.first_index[0], False, work, 0, 1),
        (_init_pass, side, scores),
        (_begin_dtw_ply, sides, 1, 0),
        (_begin_dtc_ply, sides, 1, 0, False),
        (_fill_draws, side, tables, scores, side.score_start, 0, 1),
        (_write_successors, side, successors),
        (_needs_outcome_pass, sides, 1),
        (_list_exceptions, side, successors, exceptions, 0),
    ]
