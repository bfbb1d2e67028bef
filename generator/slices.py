"""Solving a slice together with its mirror, its blocks spread over threads."""

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.afters import (
    LONGEST_PLIES,
    Afters,
    allocate,
    forget_material,
    forget_outcomes,
    parts_of,
    places_of,
)
from generator.balancescores import NO_TIERS, BalanceScores, Tiers
from generator.blocks import solve_batch
from generator.boardwords import BoardWords, room_for, with_more
from generator.captures import capture_work
from generator.errors import DistanceOverflowError, StoppedError
from generator.events import EVENTS_FULL
from generator.memory import Memory
from generator.menplacements import Blocks, Placed
from generator.results import BLESSED_LOSS, DRAW, LONGEST_DTC, NOT_DECIDED, VALUE, Results
from generator.sides import STRIP, SideRoom
from generator.spread import DTC_TOO_LONG, TOO_LONG
from generator.subsets import Subsets, subsets
from generator.together import Team, solve_together
from tablebase.indexing import sets_at
from tablebase.kernels.jit import interruptible
from tablebase.material import Material

# A batch is about this many words, which stay in the second-level cache, or one block where that is more.
_BATCH_WORDS = 2048
# The work of one task: enough positions to hide what starting it costs.
_TASK_POSITIONS = 100_000
# A block with as many positions is shared by threads: with fewer, waiting for one another takes longer.
_SHARED_POSITIONS = 100_000
# Results looked through in one go: what numpy makes of them on the way is a few times their size.
_AT_ONCE = 1 << 24
_WORD_ARRAYS = 13
_NO_LIMIT = LONGEST_PLIES

Pair = tuple[Results, Results]
"""The values of a material and of its mirror; the same object twice where it is its own mirror."""


def _shape(kings: int, opponent_kings: int) -> tuple[int, int]:
    """Words and columns of a side to move in a block."""
    columns = comb(32, opponent_kings)
    return comb(32, max(kings - 1, 0)) * columns, columns


def _batch(material: Material) -> int:
    """Blocks in a batch."""
    words = (
        _shape(material.own_kings, material.other_kings)[0]
        + _shape(material.other_kings, material.own_kings)[0]
    )
    return max(1, min(_BATCH_WORDS // words, material.blocks))


def _side_room(
    kings: int, opponent_kings: int, blocks: int, events_a_word: int, with_scores: bool, with_balance: bool
) -> SideRoom:
    words, columns = _shape(kings, opponent_kings)
    words *= blocks
    lanes = 32 if kings else 1
    strips = blocks * -(-columns // STRIP)
    # Nothing spreads, and no exit has to wait, where a side has no kings.
    events = 0
    if kings and opponent_kings and (with_scores or with_balance):
        events = words * events_a_word + 32
    return SideRoom(
        starts=np.zeros((5, blocks), dtype=np.int64),
        words=np.zeros((_WORD_ARRAYS, words), dtype=np.uint32),
        board=np.zeros((2, 0 if with_scores else words), dtype=np.uint32),
        value=np.full(words * lanes, NOT_DECIDED, dtype=np.uint8),
        dtw=np.full(words * lanes if with_scores else 0, NOT_DECIDED, dtype=np.uint8),
        dtb=np.full(words * lanes if with_balance else 0, NOT_DECIDED, dtype=np.uint8),
        strips=np.zeros((2, strips), dtype=np.uint8),
        touched=np.zeros(strips * (words // (blocks * columns)), dtype=np.uint8),
        event_first=np.full(256, -1, dtype=np.int32),
        event_next=np.zeros(events, dtype=np.int32),
        event_word=np.zeros(events, dtype=np.int32),
        event_lanes=np.zeros(events, dtype=np.uint32),
    )


class Workshop:
    """One thread's room for the blocks of one material.

    Args:
        material: the material.
        with_balance: whether there is a pass to the balance change.
        with_scores: whether DTW is worked out.
    """

    # A word of 32 lanes can hold 32 different distances, but hardly ever does: begin with less, grow where it
    # fills.
    _EVENTS_A_WORD = 6

    def __init__(self, material: Material, with_balance: bool = False, with_scores: bool = True) -> None:
        self._material = material
        self._with_balance = with_balance
        self._with_scores = with_scores
        self.board_words = room_for(0)
        self._events_a_word = self._EVENTS_A_WORD
        self.capture_work: NDArray[np.int64] = capture_work()
        self.strip_room: NDArray[np.uint32] = np.zeros(3 * STRIP, dtype=np.uint32)
        self.rooms = self._make_rooms()

    def _make_rooms(self) -> tuple[SideRoom, SideRoom]:
        own, other = self._material.own_kings, self._material.other_kings
        blocks = _batch(self._material)
        wanted = self._events_a_word, self._with_scores, self._with_balance
        return _side_room(own, other, blocks, *wanted), _side_room(other, own, blocks, *wanted)

    def grow(self) -> None:
        """Make more room for events."""
        self._events_a_word *= 2
        self.rooms = self._make_rooms()

    def grow_board_words(self, count: int) -> None:
        """Make room for so many words that are otherwise on the board."""
        self.board_words = room_for(max(count, 2 * len(self.board_words.words)))

    @staticmethod
    def size_in_bytes(material: Material, with_balance: bool = True, with_scores: bool = True) -> int:
        """Memory of one workshop as it begins."""
        shapes = (
            _shape(material.own_kings, material.other_kings),
            _shape(material.other_kings, material.own_kings),
        )
        a_word = 4 * _WORD_ARRAYS + 1 + 32 + (32 if with_scores else 8) + (96 if with_balance else 0)
        if with_scores or with_balance:
            a_word += 12 * Workshop._EVENTS_A_WORD
        return _batch(material) * sum(words * a_word for words, _ in shapes)


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
        memory.take(array)
    return found


def _tasks(run: tuple[int, int], block_positions: int, jobs: int) -> list[tuple[int, int]]:
    """A run of blocks cut into tasks."""
    first, last = run
    size = max(1, min(_TASK_POSITIONS // block_positions, -(-(last - first) // jobs)))
    return [(start, min(start + size, last)) for start in range(first, last, size)]


def _is_done(workshop: Workshop, found: int, material: Material) -> bool:
    """Whether `solve_batch`, which has returned `found`, is done. If not, it has more room now.

    Raises:
        DistanceOverflowError: a distance does not fit.
    """
    if found == TOO_LONG:
        raise DistanceOverflowError(material, "win", LONGEST_PLIES)
    if found == DTC_TOO_LONG:
        raise DistanceOverflowError(material, "DTC", LONGEST_DTC)
    if found == EVENTS_FULL:
        workshop.grow()
    elif found > len(workshop.board_words.words):
        workshop.grow_board_words(found)
    else:
        return True
    return False


def _ruled_away(results: Results) -> list[int]:
    """The indices of all that is won or lost on the board and drawn under the rules."""
    found: list[int] = []
    for first in range(0, len(results.value), _AT_ONCE):
        value = results.value[first : first + _AT_ONCE] & np.uint8(VALUE)
        found += (first + np.flatnonzero((value >= BLESSED_LOSS) & (value != DRAW))).tolist()
    return found


def _copy(room: BoardWords, count: int) -> BoardWords:
    return BoardWords(room.words[:count].copy(), room.lost[:count].copy(), room.won[:count].copy())


class Crew:
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
        afters: Afters,
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
        """Room for the values of a slice, to be given back with `let_go`."""
        return empty_results(material, with_dtb, self._with_scores, self._memory)

    def let_go(self, results: Pair) -> None:
        """Give back the memory of results that nobody needs any more."""
        for part in results:
            self._memory.forget(part)

    def release(self, pair: Material) -> None:
        """Give back the memory of the after tables of a material and its mirror."""
        for material in {pair, pair.mirror}:
            for part in parts_of(self._afters, material):
                self._memory.release(part)
            self._afters = forget_material(self._afters, material)

    def _has_balance_pass(self, material: Material) -> bool:
        return counts_balance(material) and self._balance_limit(material) is not None

    def _balance_limit(self, material: Material) -> int | None:
        return self._balance(material.pieces) if material.own_kings and material.other_kings else None

    def _forget_drawn_by_both(self, material: Material, results: Pair) -> None:
        """What the king-moves rule alone lets stand and no number of plies of the balance wins is drawn under
        both: let it be so for what leads here, too. (Only now, as DTC is told by the king-moves rule alone
        within a slice.)"""
        for solved, part in {material: results[0], material.mirror: results[1]}.items():
            indices = _ruled_away(part)
            if not indices:
                continue
            places = np.concatenate([places_of(self._afters, *sets_at(solved, i)) for i in indices])
            words, lanes = places[:, 0], places[:, 1].astype(np.uint32)
            decided = (self._afters.lost[words] | self._afters.won[words]) >> lanes & 1 == 1
            self._afters = forget_outcomes(self._afters, places[decided])

    def restore(self, material: Material, results: Pair) -> None:
        """Fill in the after tables of a material and its mirror from the values of their stored positions."""
        self._run(material, results, True)

    def _run(self, material: Material, results: Pair, known: bool) -> None:
        kings, opponent_kings = material.own_kings, material.other_kings
        most = max(kings, opponent_kings)
        tables: Subsets = subsets(most, max(most - 1, 0))
        blocks = Blocks(material)
        balance = self._balance_limit(material)
        with_balance = self._has_balance_pass(material) and not known
        balance_pass = balance if with_balance and balance else 0
        scores = BalanceScores(material, blocks, self._memory) if with_balance else None
        for solved in {material, material.mirror}:
            for part in parts_of(self._afters, solved):
                self._memory.take(part)
        # Without men every king move counts in both: the smaller limit rules.
        limit = min(self._limit, balance) if balance and not material.men else self._limit
        if self._jobs > 1 and not material.men and material.positions >= _SHARED_POSITIONS:
            self._solve_together(material, limit, tables, blocks.place(0, 1), results, known)
            return
        local = threading.local()
        board_words: list[BoardWords] = []  # of one run of blocks; threads append to it

        def run(first: int, last: int, tiers: tuple[Tiers, Tiers]) -> None:
            workshop: Workshop | None = getattr(local, "workshop", None)
            if workshop is None:
                workshop = local.workshop = Workshop(material, with_balance, self._with_scores)
            placed = blocks.place(first, last)
            size, begin = _batch(material), 0
            while begin < last - first and not self._stopping.is_set():
                men, turned_men, bases = (part[begin : begin + size] for part in placed)
                found = solve_batch(
                    men,
                    turned_men,
                    bases,
                    kings,
                    opponent_kings,
                    limit,
                    tables,
                    self._afters,
                    workshop.capture_work,
                    workshop.rooms,
                    workshop.strip_room,
                    workshop.board_words,
                    results,
                    tiers,
                    balance_pass,
                    known,
                )
                if not _is_done(workshop, found, material):
                    continue
                if found:
                    board_words.append(_copy(workshop.board_words, found))
                self._done(material.block_size * int(np.count_nonzero(bases >= 0)))
                begin += size

        for number, run_of_blocks in enumerate(blocks.runs):
            tiers = scores.of_run(number) if scores else (NO_TIERS, NO_TIERS)
            tasks = _tasks(run_of_blocks, 2 * material.block_size, self._jobs)
            futures = [self._executor.submit(run, *task, tiers) for task in tasks]
            for future in futures:
                future.result()
            if self._stopping.is_set():
                raise StoppedError
            self._list_board_words(board_words)
            board_words.clear()
        if scores:
            scores.let_go()
            if scores.lacking:
                self._forget_drawn_by_both(material, results)

    def _solve_together(
        self, material: Material, limit: int, tables: Subsets, block: Placed, results: Pair, known: bool
    ) -> None:
        team = Team(self._executor, self._jobs, self._stopping)
        workshop = Workshop(material, False, self._with_scores)
        kings, opponent_kings = material.own_kings, material.other_kings
        done = False
        while not done:
            found = solve_together(
                team,
                block,
                kings,
                opponent_kings,
                limit,
                tables,
                self._afters,
                workshop.rooms,
                workshop.board_words,
                results,
                known,
            )
            done = _is_done(workshop, found, material)
        if found:
            self._list_board_words([_copy(workshop.board_words, found)])
        self._done(material.block_size * int(np.count_nonzero(block.bases >= 0)))

    def _list_board_words(self, more: list[BoardWords]) -> None:
        if more:
            board = with_more(self._afters.board, self._afters.guard, more)
            self._afters = self._afters._replace(board=board)


class _Here(Executor):
    """Does the work in the calling thread, at once."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(*args, **kwargs))
        return future


def compile_solver() -> None:
    """Have the solver's kernels compiled (or loaded) in the calling thread. In the main thread Ctrl-C can
    stop this; a pool of threads would wait for its end first."""
    smallest, with_man = Material(1, 0, 1, 0), Material(1, 1, 1, 0)
    tables = allocate([smallest], smallest.pieces)
    crew = Crew(tables, None, _Here(), 1, lambda positions: None)
    with interruptible():
        crew.solve(smallest)
        # What the calling thread itself does between blocks, of any material.
        BalanceScores(with_man, Blocks(with_man), Memory()).of_run(0)
        places_of(tables, 0, 1, 0, 2)
