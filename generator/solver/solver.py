"""Solving a slice together with its mirror, its blocks spread over threads."""

import threading
from collections.abc import Callable
from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from generator.errors import StoppedError
from generator.memory import Memory
from generator.solver.batch import Batch, solve_batch
from generator.solver.blocks import Blocks, PlacedBlocks
from generator.solver.dtb_scores import NO_TIERS, DtbScores, ScoreTiers
from generator.solver.parallel import Team, solve_in_parallel
from generator.solver.results import BLESSED_LOSS, DRAW, VALUE, Results
from generator.solver.subsets import Subsets, subsets
from generator.solver.successors import (
    LONGEST_PLIES,
    OutcomeExceptions,
    SuccessorTables,
    drop_material,
    mark_drawn,
    parts_of,
    places_of,
    with_more,
)
from generator.solver.workspace import Workspace, batch_size, is_done
from tablebase.board.material import Material
from tablebase.tables.index import sets_at

# The work of one task: enough positions to hide what starting it costs.
_TASK_POSITIONS = 100_000
# A block of at least so many positions is shared by threads. Below, compiling the kernels for that would take
# longer than sharing saves in a whole run.
_SHARED_POSITIONS = 50_000_000
# Results looked through in one go: what numpy makes of them on the way is a few times their size.
_AT_ONCE = 1 << 24
_NO_LIMIT = LONGEST_PLIES

Pair = tuple[Results, Results]
"""The values of a material and of its mirror; the same object twice where it is its own mirror."""


def is_shared(material: Material) -> bool:
    """Whether threads share the only block of a material."""
    return not material.men and material.positions >= _SHARED_POSITIONS


def counts_balance(material: Material) -> bool:
    """Whether the balance of forces can stand for more than one block: both sides have kings, and there are
    men."""
    return bool(material.own_kings and material.other_kings and material.men)


def empty_results(
    material: Material, with_dtb: bool = False, with_scores: bool = True, memory: Memory | None = None
) -> Results:
    """Room for the values of a slice; `dtw` is empty without scores, `dtb` where it is not wanted."""
    memory = memory or Memory()
    count = material.positions
    sizes = count, count * with_scores, count * with_dtb
    found = Results(*(memory.zeros(size, np.uint8) for size in sizes))
    for array in found:
        memory.reserve_disk(array)
    return found


def _tasks(run: tuple[int, int], block_positions: int, jobs: int) -> list[tuple[int, int]]:
    """A run of blocks cut into tasks."""
    first, last = run
    size = max(1, min(_TASK_POSITIONS // block_positions, -(-(last - first) // jobs)))
    return [(start, min(start + size, last)) for start in range(first, last, size)]


def _ruled_away(results: Results) -> list[int]:
    """The indices of all that is won or lost on the board and drawn under the rules."""
    found: list[int] = []
    for first in range(0, len(results.value), _AT_ONCE):
        value = results.value[first : first + _AT_ONCE] & np.uint8(VALUE)
        found += (first + np.flatnonzero((value >= BLESSED_LOSS) & (value != DRAW))).tolist()
    return found


def _copy(room: OutcomeExceptions, count: int) -> OutcomeExceptions:
    return OutcomeExceptions(room.words[:count].copy(), room.lost[:count].copy(), room.won[:count].copy())


def apart_results(material: Material, blocks: int, twins: bool, with_dtb: bool, with_scores: bool) -> Pair:
    """Room for the values of some blocks of a material and its mirror alone: block by block; where a material
    is its own mirror, the two sides of a block one after the other (of its own `twins`, there is one)."""

    def room(count: int) -> Results:
        return Results(
            np.zeros(count, np.uint8),
            np.zeros(count * with_scores, np.uint8),
            np.zeros(count * with_dtb, np.uint8),
        )

    size = blocks * material.block_size
    if material != material.mirror:
        return room(size), room(size)
    one = room(size if twins else 2 * size)
    return one, one


def _bases_apart(material: Material, bases: NDArray[np.int64], first: int) -> NDArray[np.int64]:
    """The bases of blocks in such room, from the block `first` of it on."""
    found = np.full_like(bases, -1)
    found[:, 0] = np.arange(first, first + len(bases))
    twins = bool(len(bases)) and bases[0, 1] < 0
    if material != material.mirror:
        found[:, 1] = found[:, 0]
    elif not twins:
        found[:, 0] *= 2
        found[:, 1] = found[:, 0] + 1
    found[found >= 0] *= material.block_size
    return found


class BlockWork(NamedTuple):
    """A material and its mirror in work.

    Attributes:
        material: the material.
        blocks: its blocks, in runs.
        tables: of the subsets that its kings make.
        limit: plies of the 15-king-moves rule.
        balance: plies that the balance may stand; 0 for no pass to its change.
        scores: those of that pass.
        known: whether values are known, and after tables alone wanted.
        local: each thread's own.
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
    """Threads that solve slices, and what they share.

    Args:
        afters: the after tables of all materials in play.
        limit: plies of the 15-king-moves rule, None for no such rule.
        executor: the threads.
        jobs: how many they are.
        done: called with a number of positions whenever that many more are solved.
        balance: plies that the balance of forces may stand with so many pieces, where both sides have kings;
            None for no such rule.
        memory: where large arrays come from.
        with_dtb: whether results are to have the DTB, where the balance is counted.
    """

    def __init__(
        self,
        afters: SuccessorTables,
        limit: int | None,
        executor: Executor,
        jobs: int,
        done: Callable[[int], None],
        balance: Callable[[int], int | None] = lambda pieces: None,
        memory: Memory | None = None,
        with_dtb: bool = True,
    ) -> None:
        self._afters = afters
        self._memory = memory or Memory()
        self._balance = balance
        self._limit = _NO_LIMIT if limit is None else limit
        self._executor = executor
        self._jobs = jobs
        self._done = done
        self._with_scores = len(afters.score) > 0
        self._with_dtb = with_dtb
        self._stopping = threading.Event()

    @property
    def afters(self) -> SuccessorTables:
        """The after tables as they are now."""
        return self._afters

    @property
    def with_scores(self) -> bool:
        """Whether DTW is worked out."""
        return self._with_scores

    def stop(self) -> None:
        """Let the work in hand end early; what it was about is then unfinished."""
        self._stopping.set()

    def solve(self, material: Material) -> Pair:
        """Solve a material and its mirror, and fill in their after tables; those of all they lead to must be
        there.

        Raises:
            DistanceOverflowError: a distance does not fit the solver.
        """
        with_dtb = self._with_dtb and self._has_balance_pass(material)
        own = self.empty_results(material, with_dtb)
        twin = material == material.mirror
        results = (own, own if twin else self.empty_results(material.mirror, with_dtb))
        self._run(material, results, False)
        return results

    def empty_results(self, material: Material, with_dtb: bool = False) -> Results:
        """Room for the values of a slice, to be given back with `free`."""
        return empty_results(material, with_dtb, self._with_scores, self._memory)

    def free(self, results: Pair) -> None:
        """Give back the memory of results that nobody needs any more."""
        for part in results:
            self._memory.free(part)

    def release(self, pair: Material) -> None:
        """Give back the memory of the after tables of a material and its mirror."""
        for material in {pair, pair.mirror}:
            for part in parts_of(self._afters, material):
                self._memory.discard(part)
            self._afters = drop_material(self._afters, material)

    def _has_balance_pass(self, material: Material) -> bool:
        return counts_balance(material) and self._balance_limit(material) is not None

    def _balance_limit(self, material: Material) -> int | None:
        return self._balance(material.pieces) if material.own_kings and material.other_kings else None

    def positions_drawn_by_both_counters(self, material: Material, results: Pair) -> NDArray[np.int64]:
        """Where those positions of a solved material and its mirror stand, shape [place, 2], word and lane,
        that the king-moves rule alone lets stand and no number of plies of the balance wins: under both they
        are drawn."""
        found = [np.zeros((0, 2), np.int64)]
        for solved, part in {material: results[0], material.mirror: results[1]}.items():
            found += [places_of(self._afters, *sets_at(solved, i)) for i in _ruled_away(part)]
        places = np.concatenate(found)
        words, lanes = places[:, 0], places[:, 1].astype(np.uint32)
        decided = (self._afters.lost[words] | self._afters.won[words]) >> lanes & 1 == 1
        found_there: NDArray[np.int64] = places[decided]
        return found_there

    def forget(self, places: NDArray[np.int64]) -> None:
        """Let positions that are drawn by both rules be drawn for what leads there, too. (Only when a
        material is solved, as DTC is told by the king-moves rule alone within a slice.)"""
        if len(places):
            self._afters = mark_drawn(self._afters, places)

    def restore(self, material: Material, results: Pair) -> None:
        """Fill in the after tables of a material and its mirror from the values of their stored positions."""
        self._run(material, results, True)

    def begin(self, material: Material, known: bool = False) -> BlockWork:
        """Take up a material and its mirror: what is needed to solve their blocks run by run, to be given
        back with `end`.

        Args:
            material: the material.
            known: the values of its stored positions are there, and its after tables alone are wanted.
        """
        balance = self._balance_limit(material)
        with_balance = self._has_balance_pass(material) and not known
        blocks = Blocks(material)
        for solved in {material, material.mirror}:
            for part in parts_of(self._afters, solved):
                self._memory.reserve_disk(part)
        most = max(material.own_kings, material.other_kings)
        return BlockWork(
            material,
            blocks,
            subsets(most, max(most - 1, 0)),
            # Without men every king move counts in both: the smaller limit rules.
            min(self._limit, balance) if balance and not material.men else self._limit,
            balance if with_balance and balance else 0,
            DtbScores(material, blocks, self._memory) if with_balance else None,
            known,
            threading.local(),
        )

    def end(self, work: BlockWork) -> None:
        """Give back the memory of what was taken up."""
        if work.scores:
            work.scores.free()

    def solve_blocks(
        self, work: BlockWork, number: int, first: int, last: int, results: Pair, apart: bool = False
    ) -> list[OutcomeExceptions]:
        """Solve the blocks `first` to `last` - 1, all of them of the run `number`, into the after tables and
        `results`.

        Args:
            work: what was taken up with `begin`.
            number: the run; all blocks that it leads to are solved.
            first: the first of the blocks.
            last: the end of them.
            results: room for the values of both slices; or, where these blocks are solved `apart` from
                others, for theirs alone, as `apart_results` makes it.
            apart: see there.

        Returns:
            What of the blocks is otherwise on the board.
        """
        material = work.material
        board_words: list[OutcomeExceptions] = []  # threads append to it
        tiers = work.scores.of_run(number) if work.scores else (NO_TIERS, NO_TIERS)

        def run(begin: int, end: int) -> None:
            placed = work.blocks.place(begin, end)
            if apart:
                placed = placed._replace(bases=_bases_apart(material, placed.bases, begin - first))
            self._solve_placed(work, placed, results, tiers, board_words)

        tasks = _tasks((first, last), 2 * material.block_size, self._jobs)
        futures = [self._executor.submit(run, *task) for task in tasks]
        for future in futures:
            future.result()
        if self._stopping.is_set():
            raise StoppedError
        self.list_board_words(board_words)
        return board_words

    def _solve_placed(
        self,
        work: BlockWork,
        placed: PlacedBlocks,
        results: Pair,
        tiers: tuple[ScoreTiers, ScoreTiers],
        board_words: list[OutcomeExceptions],
    ) -> None:
        material = work.material
        workshop: Workspace | None = getattr(work.local, "workshop", None)
        if workshop is None:
            workshop = work.local.workshop = Workspace(material, work.scores is not None, self._with_scores)
        size, begin = batch_size(material), 0
        while begin < len(placed.men) and not self._stopping.is_set():
            men, turned_men, bases = (part[begin : begin + size] for part in placed)
            found = solve_batch(
                Batch(
                    material.own_kings, material.other_kings, men, turned_men, np.ascontiguousarray(bases.T)
                ),
                work.limit,
                work.tables,
                self._afters,
                workshop.capture_work,
                workshop.rooms,
                workshop.strip_room,
                workshop.board_words,
                results,
                tiers,
                work.balance,
                work.known,
            )
            if not is_done(workshop, found, material):
                continue
            if found:
                board_words.append(_copy(workshop.board_words, found))
            self._done(material.block_size * int(np.count_nonzero(bases >= 0)))
            begin += size

    def _run(self, material: Material, results: Pair, known: bool) -> None:
        work = self.begin(material, known)
        if self._jobs > 1 and is_shared(material):
            self._solve_together(work, results)
            return
        for number, run in enumerate(work.blocks.runs):
            self.solve_blocks(work, number, *run, results)
        self.end(work)
        if work.scores and work.scores.lacking:
            self.forget(self.positions_drawn_by_both_counters(material, results))

    def _solve_together(self, work: BlockWork, results: Pair) -> None:
        team = Team(self._executor, self._jobs, self._stopping)
        material, block = work.material, work.blocks.place(0, 1)
        workshop = Workspace(material, False, self._with_scores)
        done = False
        while not done:
            found = solve_in_parallel(
                team,
                block,
                material.own_kings,
                material.other_kings,
                work.limit,
                work.tables,
                self._afters,
                workshop.rooms,
                workshop.board_words,
                results,
                work.known,
            )
            done = is_done(workshop, found, material)
        if found:
            self.list_board_words([_copy(workshop.board_words, found)])
        self._done(material.block_size * int(np.count_nonzero(block.bases >= 0)))

    def list_board_words(self, more: list[OutcomeExceptions]) -> None:
        """Take in words that are otherwise on the board."""
        if more:
            board = with_more(self._afters.board, self._afters.guard, more)
            self._afters = self._afters._replace(board=board)
