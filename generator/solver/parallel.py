"""One block solved by several threads together: a material without men is a single block, whatever its size.

The passes are those of `solve_batch`, ply by ply; the steps of a ply that take the time are kernels that work
on one part each, without the interpreter's lock, and each step waits for all parts of the one before.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.errors import StoppedError
from generator.solver.batch import Batch, fill_draws, finish_afters, gather, prepare
from generator.solver.blocks import PlacedBlocks
from generator.solver.captures import capture_work
from generator.solver.conversions import take_captures, take_known
from generator.solver.outcome_pass import exits_differ, list_board_words
from generator.solver.passes import (
    DTC_TOO_LONG,
    TOO_LONG,
    apply_at_once,
    apply_on_board,
    begin_at_once,
    begin_on_board,
    find_both,
    find_on_board,
)
from generator.solver.results import LONGEST_DTC, Results
from generator.solver.side import Side, SideBuffers, make_side, strip_room
from generator.solver.subsets import Subsets
from generator.solver.successors import LONGEST_PLIES, OutcomeExceptions, SuccessorTables
from tablebase.kernels.jit import for_python

_take_captures = for_python(take_captures)
_take_known = for_python(take_known)
_prepare = for_python(prepare)
_fill_draws = for_python(fill_draws)
_finish_afters = for_python(finish_afters)
_gather = for_python(gather)
_exits_differ = for_python(exits_differ)
_list_board_words = for_python(list_board_words)
_apply_at_once = for_python(apply_at_once)
_apply_on_board = for_python(apply_on_board)
_begin_at_once = for_python(begin_at_once)
_begin_on_board = for_python(begin_on_board)
_find_both = for_python(find_both)
_find_on_board = for_python(find_on_board)


class Tools(NamedTuple):
    """What each thread works with."""

    capture_work: NDArray[np.int64]
    strip_room: NDArray[np.uint32]


class Team:
    """Threads that take a part each of one block's work.

    Args:
        executor: the threads.
        parts: how many they are.
        stopping: set from anywhere to end the work early.
    """

    def __init__(self, executor: Executor, parts: int, stopping: threading.Event) -> None:
        self._executor = executor
        self._stopping = stopping
        self.parts = parts
        self.tools = [Tools(capture_work(), strip_room()) for _ in range(parts)]

    def each(self, work: Callable[[int], Any], count: int) -> list[Any]:
        """`work(0)` to `work(count - 1)`, one of them in the calling thread; what they return.

        Raises:
            StoppedError: the work is to end early.
        """
        if self._stopping.is_set():
            raise StoppedError
        futures = [self._executor.submit(work, number) for number in range(1, count)]
        return [work(0), *(future.result() for future in futures)]

    def each_part(self, kernel: Callable[..., Any], *arguments: Any, tool: str = "") -> list[Any]:
        """A kernel for every part, its `tool` (a field of Tools) before part and parts."""

        def run(part: int) -> Any:
            tools = (getattr(self.tools[part], tool),) if tool else ()
            return kernel(*arguments, *tools, part, self.parts)

        return self.each(run, self.parts)


def solve_in_parallel(
    team: Team,
    block: PlacedBlocks,
    kings: int,
    opponent_kings: int,
    limit: int,
    tables: Subsets,
    afters: SuccessorTables,
    rooms: tuple[SideBuffers, SideBuffers],
    board_words: OutcomeExceptions,
    results: tuple[Results, Results],
    known: bool,
) -> int:
    """Solve the only block of a material without men, as `solve_batch` does (see there for arguments, and for
    what is returned). Both sides have kings.

    Raises:
        StoppedError: the team was told to stop; the block is unfinished.
    """
    bases = np.ascontiguousarray(block.bases.T)
    sides = (
        make_side(kings, opponent_kings, block.men, bases[0], afters, rooms[0]),
        make_side(opponent_kings, kings, block.turned_men, bases[1], afters, rooms[1]),
    )
    count = 2 if sides[1].blocks else 1
    for s in range(count):
        team.each_part(_take_captures, sides[s], tables, afters, tool="capture_work")
        if known:
            _take_known(sides[s], tables, results[s], bases[s])
    last_slots = team.each(lambda s: _prepare(sides[s], afters.score), count)
    if min(last_slots) < 0:
        return int(min(last_slots))
    if len(afters.score):
        error = _spread_on_board(team, sides, count, tables, afters.score, max(last_slots))
        if error:
            return error
        for s in range(count):
            team.each_part(_fill_draws, sides[s], tables, afters.score, sides[s].score_start)
    at_rest = _spread_at_once(team, sides, count, tables, min(limit, LONGEST_DTC), False)
    if not at_rest and limit > LONGEST_DTC:
        return DTC_TOO_LONG
    team.each(lambda s: _finish_afters(sides[s], afters), count)
    found = 0
    if not len(afters.score) and (not at_rest or _exits_differ(sides, count)):
        if not _spread_at_once(team, sides, count, tables, LONGEST_PLIES, True):
            return TOO_LONG
        for s in range(count):
            found = _list_board_words(sides[s], afters, board_words, found)
        if found > len(board_words.words):
            return found
    if not known:
        for s in range(count):
            team.each_part(_gather, sides[s], tables, results[s], bases[s], False, tool="capture_work")
    return found


def _spread_at_once(
    team: Team, sides: tuple[Side, Side], count: int, tables: Subsets, limit: int, on_board: bool
) -> bool:
    for ply in range(limit + 1):
        _begin_at_once(sides, count, ply, on_board)
        team.each_part(_find_both, sides, count, tables, ply, tool="strip_room")
        decided = team.each_part(_apply_at_once, sides, count, tables, ply, on_board)
        if ply >= 2 and not any(decided):
            return True
    return False


def _spread_on_board(
    team: Team, sides: tuple[Side, Side], count: int, tables: Subsets, scores: NDArray[np.uint8], last: int
) -> int:
    ply = idle = 0
    while ply // 2 <= last or idle < 2:
        if ply > LONGEST_PLIES:
            return TOO_LONG
        _begin_on_board(sides, count, ply)
        team.each_part(_find_on_board, sides, count, tables, ply, tool="strip_room")
        decided = team.each_part(_apply_on_board, sides, count, tables, scores, ply)
        idle = 0 if any(decided) else idle + 1
        ply += 1
    return 0


def shared_kernels(
    batch: Batch,
    tables: Subsets,
    afters: SuccessorTables,
    rooms: tuple[SideBuffers, SideBuffers],
    board_words: OutcomeExceptions,
    results: tuple[Results, Results],
) -> list[tuple[Any, ...]]:
    """The kernels of `solve_in_parallel`, with arguments of the types that they are called with."""
    side = make_side(batch.kings, batch.opponent_kings, batch.men, batch.bases[0], afters, rooms[0])
    sides, scores = (side, side), afters.score
    work, strip = capture_work(), strip_room()
    return [
        (_take_captures, side, tables, afters, work, 0, 1),
        (_apply_on_board, sides, 1, tables, scores, 0, 0, 1),
        (_apply_at_once, sides, 1, tables, 0, False, 0, 1),
        (_find_on_board, sides, 1, tables, 0, strip, 0, 1),
        (_find_both, sides, 1, tables, 0, strip, 0, 1),
        (_take_known, side, tables, results[0], batch.bases[0]),
        (_gather, side, tables, results[0], batch.bases[0], False, work, 0, 1),
        (_prepare, side, scores),
        (_begin_on_board, sides, 1, 0),
        (_begin_at_once, sides, 1, 0, False),
        (_fill_draws, side, tables, scores, side.score_start, 0, 1),
        (_finish_afters, side, afters),
        (_exits_differ, sides, 1),
        (_list_board_words, side, afters, board_words, 0),
    ]
