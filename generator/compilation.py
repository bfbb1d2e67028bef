"""Compile the solver's kernels before a run, half of them in a second process."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Thread
from typing import Any, NamedTuple, Self

import numpy as np

from generator.machine import available_cores
from generator.memory import Memory
from generator.plan import Plan
from generator.solver.batch import (
    Batch,
    conversions_with_kings,
    conversions_without_kings,
    dtb_beyond_limit_step,
    dtb_draws_step,
    dtb_step,
    outcome_step,
    passes_with_kings,
    passes_without_kings,
    results_step,
)
from generator.solver.blocks import Blocks
from generator.solver.dtb import slack_buffers
from generator.solver.dtb_scores import NO_TIERS, DtbScores
from generator.solver.parallel import shared_kernels
from generator.solver.solver import empty_results, is_shared
from generator.solver.subsets import subsets
from generator.solver.successors import allocate, find_locations
from generator.solver.workspace import Workspace
from tablebase.board.material import Material
from tablebase.kernels.jit import compile_for, interruptible, is_compiled, reported

Report = Callable[[str, int, int], None]
"""Called with the name of a compiled kernel, how many are compiled, and about how many there will be."""

_Calls = list[tuple[Any, ...]]


class SolverParts(NamedTuple):
    """The parts of the solver that a run needs in addition to those that every run needs.

    Attributes:
        dtw: whether DTW is solved; if not, outcomes without draw rules have a pass of their own.
        balance: whether the material balance is counted, which needs DTB.
        shared: whether threads share a block.
    """

    dtw: bool
    balance: bool
    shared: bool

    @classmethod
    def of(cls, work: Plan) -> Self:
        """Return the parts that a plan needs."""
        balance = any(map(work.ruleset.counts_material_separately, work.order))
        return cls(work.with_scores, balance, work.jobs > 1 and any(map(is_shared, work.order)))

    def count_kernels(self) -> int:
        """Return about how many kernels two processes compile for these parts, as counted with numba 0.68."""
        return 104 + 15 * self.balance + 11 * (not self.dtw) + 36 * self.shared


def _solver_calls(parts: SolverParts) -> tuple[_Calls, _Calls]:
    """Return the solver's kernels with arguments, in two halves that take about as long to compile.

    The arguments have the same types for all materials and metrics: the smallest material serves for all.
    """
    smallest = Material(1, 0, 1, 0)
    placed = Blocks(smallest).place(0, 1)
    batch = Batch(1, 1, placed.men, placed.turned_men, np.ascontiguousarray(placed.first_index.T))
    tables, successors = subsets(1, 0), allocate([smallest], smallest.pieces)
    workspace = Workspace(smallest)
    work, buffers, strip = workspace.capture_work, workspace.buffers, workspace.strip_buffer
    results, tiers = (empty_results(smallest), empty_results(smallest)), (NO_TIERS, NO_TIERS)
    conversions = batch, tables, successors, work, buffers, results, False
    passes = batch, 30, tables, successors, buffers, strip
    first: _Calls = [(passes_with_kings, *passes)]
    second: _Calls = [
        (conversions_with_kings, *conversions),
        (conversions_without_kings, *conversions),
        (passes_without_kings, *passes),
        (results_step, batch, tables, successors, buffers, work, results, False),
    ]
    if parts.balance:
        first += [
            (dtb_step, batch, 30, tables, successors, work, buffers, strip, tiers),
            (dtb_beyond_limit_step, batch, 30, 30, 0, tables, successors, buffers, tiers, slack_buffers(1)),
        ]
        second += [(dtb_draws_step, batch, tables, successors, buffers, tiers)]
    if not parts.dtw:
        first += [(outcome_step, batch, tables, successors, buffers, strip, workspace.exceptions, True)]
    if parts.shared:
        more = shared_kernels(batch, tables, successors, buffers, workspace.exceptions, results)
        first, second = first + more[::2], second + more[1::2]
    return first, second


def compile_second_half(*parts: bool) -> None:
    """Compile the second half of the kernels into the cache; print the name of each."""
    with reported(lambda name: print(name, flush=True)):
        for kernel, *arguments in _solver_calls(SolverParts(*parts))[1]:
            compile_for(kernel, *arguments)


def compile_solver(parts: SolverParts, report: Report = lambda name, done, total: None) -> None:
    """Compile the solver's kernels in this thread, and half of them in a second process; or load them.

    In the main thread, Ctrl-C stops this. In a pool of threads it would have to wait for the end.

    Args:
        parts: the parts to compile.
        report: called for each kernel, by one of two threads at a time.
    """
    total, done, lock = parts.count_kernels(), 0, Lock()

    def count(name: str) -> None:
        nonlocal done
        with lock:
            done += 1
            report(name, done, max(done, total))

    first, second = _solver_calls(parts)
    with interruptible(), reported(count):
        if available_cores() > 1 and not all(is_compiled(*call) for call in second):
            with _second_process(parts, count):
                for kernel, *arguments in first:
                    compile_for(kernel, *arguments)
        # Now load the second half from the cache, or compile it if the other process has failed.
        for kernel, *arguments in first + second:
            compile_for(kernel, *arguments)
        _compile_between_blocks()


def _compile_between_blocks() -> None:
    """Compile the kernels that the calling thread runs between blocks, by running them on small materials."""
    smallest, with_man = Material(1, 0, 1, 0), Material(1, 1, 1, 0)
    DtbScores(with_man, Blocks(with_man), Memory()).tiers_of_run(0)
    find_locations(allocate([smallest], smallest.pieces), 0, 1, 0, 2)


@contextmanager
def _second_process(parts: SolverParts, report: Callable[[str], None]) -> Iterator[None]:
    """Compile the second half in another process during the `with` block, and wait for it at the end.

    If that process fails, this is no error: this process then compiles its kernels.
    """
    # PYTHONPATH: find the modules of this process. New session: a Ctrl-C in the terminal does not reach it.
    helper = subprocess.Popen(
        [
            sys.executable,
            "-P",
            "-c",
            f"from {__name__} import compile_second_half; compile_second_half{tuple(parts)}",
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    def read() -> None:
        assert helper.stdout is not None
        for line in helper.stdout:
            report(line.strip())

    reader = Thread(target=read, daemon=True)
    reader.start()
    try:
        yield
        helper.wait()
    finally:
        helper.terminate()
        helper.wait()
        reader.join()
        assert helper.stdout is not None
        helper.stdout.close()
