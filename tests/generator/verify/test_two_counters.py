"""The verifier under two counts at once: against plain sweeps over the readable rules, with tight limits."""

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import naive
import numpy as np
import pytest
from naive_two_counters import CHANGE, DEEPEST, KING, STEP, Graph, Solution, decide, graph_of, kind_of, solve
from tight_rules import tight
from two_counter_tables import MAN_AND_KING, SLICES, change, position_at, write

from generator.verify.two_counters import NEVER, TwoCounts, balance_plies, king_plies
from generator.verify.values import InMemoryValues
from generator.verify.verify import verify
from tablebase import Outcome, Tablebase, open_tablebase
from tablebase.board.material import Material
from tablebase.board.position import Position, legal_moves, position_after
from tablebase.kernels.index import sets_at
from tablebase.rules.ruleset import Ruleset
from tablebase.rules.rulesets import CLUB, FMJD64, KING_MOVES_ONLY, OFFICIAL, RULESETS
from tablebase.tables.format import Metric, table_name
from tablebase.tables.index import index_of
from tablebase.tables.manifest import Manifest
from tablebase.tables.table import Table

KINGS, BALANCE = 3, 2  # plies; in kings alone the balance is the tighter, as in the rules
TIGHT = tight("tight", KINGS, BALANCE)
TIGHT_KINGS = tight("tight-kings", KINGS, None)

LITTLE = 1000  # bytes of memory, so that values are looked up in the files
WAYS = [(None, None), (1.0, None), (1.0, LITTLE)]
"""Of verifying every value: part of a sample, memory."""


@pytest.fixture(scope="module")
def graph() -> Graph:
    return graph_of(SLICES)


@pytest.fixture(scope="module")
def both(graph: Graph) -> Solution:
    return solve(graph, KINGS, BALANCE)


@pytest.fixture(scope="module")
def kings_alone(graph: Graph) -> Solution:
    return solve(graph, KINGS, None)


@pytest.fixture(scope="module")
def dtw(graph: Graph) -> dict[int, int]:
    by_number = {
        number: [(kind != KING, after) for kind, after in moves] for number, moves in enumerate(graph.moves)
    }
    return naive._distances_to_win(by_number)  # type: ignore[arg-type]


@pytest.fixture(scope="module", autouse=True)
def _known_rulesets() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for ruleset in (TIGHT, TIGHT_KINGS):
            patch.setitem(RULESETS, ruleset.name, ruleset)
        yield


@pytest.fixture(scope="module")
def tables(
    graph: Graph, both: Solution, dtw: dict[int, int], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    directory = tmp_path_factory.mktemp("tight")
    write(directory, graph, both, dtw, TIGHT)
    return directory


@pytest.fixture
def copy(tables: Path, tmp_path: Path) -> Path:
    shutil.copytree(tables, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture(scope="module")
def lost_by_both(graph: Graph, both: Solution) -> list[Position]:
    """The positions that the count of king moves lets stand, and both counts do not."""
    return [graph.positions[n] for n in graph.group(3, 1) if both.alone[n] and not both.fresh[n]]


def values_of(
    directory: Path, slices: tuple[Material, ...], ruleset: Ruleset, pool: ThreadPoolExecutor
) -> InMemoryValues:
    values = InMemoryValues(directory, slices, (Metric.WDL, Metric.DTC), ruleset, pool, 2)
    values.fill(lambda positions: None)
    return values


# Which slices


def test_materials_with_two_counts() -> None:
    def told(material: str, ruleset: Ruleset) -> tuple[bool, int | None, int | None]:
        slice_ = Material.parse(material)
        return (
            ruleset.counts_material_separately(slice_),
            balance_plies(slice_, ruleset),
            king_plies(slice_, ruleset),
        )

    assert told("KMvK", OFFICIAL) == (True, 10, 30)
    assert told("KKMvKM", OFFICIAL) == (True, 60, 30)
    assert told("KMMvKMM", OFFICIAL) == (True, 120, 30)
    assert told("KKvK", OFFICIAL) == (False, 10, 10)  # each king move counts for both, and the less is 10
    assert told("KKvKK", OFFICIAL) == (False, 60, 30)
    assert told("KMvMM", OFFICIAL) == (False, None, 30)  # a side without a king
    assert told("KMMMvKMMM", OFFICIAL) == (False, None, 30)  # beyond 7 pieces
    assert told("KMvK", FMJD64) == (False, None, 30)  # own moves, and not where the position is won
    assert told("KKMvKM", FMJD64) == (True, 60, 30)
    for ruleset in (KING_MOVES_ONLY, CLUB):
        assert told("KKMvKM", ruleset) == (False, None, 30)


# Against the naive solver


def test_every_position_needs_what_the_naive_solver_says(
    tables: Path, graph: Graph, both: Solution, lost_by_both: list[Position]
) -> None:
    pair = (MAN_AND_KING, MAN_AND_KING.mirror)
    with ThreadPoolExecutor(2) as pool:
        values = values_of(tables, SLICES, TIGHT, pool)
        before = values.arena.wdl.copy()
        counts = values.count_together(pair)
    assert counts is not None
    start = values.arena.layout.start
    found = dict.fromkeys(range(DEEPEST), 0)
    for number in graph.group(3, 1):
        position = graph.positions[number]
        index = index_of(position.wm, position.wk, position.bm, position.bk)
        slot = int(start[values.slice_id(Material.of(position))]) + index
        needed = int(counts.balance_needed[slot - counts.first])
        assert min(needed, DEEPEST + 1) == both.needed[number], position.to_fen()
        assert (needed != NEVER) == bool(both.alone[number]), position.to_fen()
        # What the arena holds now is the outcome under the count of king moves alone, with its DTC.
        if both.alone[number]:
            assert values.arena.wdl[slot] == both.alone[number], position.to_fen()
            if graph.moves[number] and not legal_moves(position)[0].is_capture:
                assert values.arena.dtc[slot] == both.dtc[number], position.to_fen()
        found[needed] = found.get(needed, 0) + 1
    assert all(found[needed] for needed in range(DEEPEST))  # every step of the staircase is there
    assert len(counts.changed(BALANCE)) == len(lost_by_both) > 100
    assert len(counts.wrong(BALANCE)) == 0
    counts.restore(values.arena)
    assert np.array_equal(values.arena.wdl, before)


def test_loss_with_an_escape_is_not_lost(tables: Path, graph: Graph, both: Solution) -> None:
    """Who wins on the board is taken from the tables; one that contradicts itself gets no outcome."""
    lost, after = next(
        (n, graph.moves[n][0][1])
        for n in graph.group(3, 1)
        if both.fresh[n] == -2 and both.dtc[n] > 1 and all(kind == KING for kind, _ in graph.moves[n])
    )
    with ThreadPoolExecutor(2) as pool:
        values = values_of(tables, SLICES, TIGHT, pool)

        def slot(number: int) -> int:
            position = graph.positions[number]
            index = index_of(position.wm, position.wk, position.bm, position.bk)
            return int(values.arena.layout.start[values.slice_id(Material.of(position))]) + index

        for outcome, decided in ((2, True), (0, False)):
            values.arena.wdl[slot(after)] = outcome
            counts = values.count_together((MAN_AND_KING, MAN_AND_KING.mirror))
            assert counts is not None
            assert (counts.balance_needed[slot(lost) - counts.first] != NEVER) == decided


def test_a_slice_that_is_its_own_mirror_agrees_with_a_search(tables4: Path) -> None:
    """Tables made under other limits serve as well: what a change of balance leads to is taken from them."""
    material, kings, balance = Material.parse("KMvKM"), 2, 4
    with ThreadPoolExecutor(2) as pool, open_tablebase(tables4) as tablebase:
        ruleset = tight("any", kings, balance)
        values = values_of(tables4, tuple(Manifest.load(tables4).slices), ruleset, pool)
        counts = values.count_together((material,))
        assert counts is not None
        outcome = searcher(tablebase, kings)
        wdl, needs = counts.stored, counts.balance_needed
        random = Random(5)
        places = []
        for alike in (
            needs <= 1,
            needs == 2,
            needs == 3,
            needs == 4,
            (needs > 4) & (needs < NEVER),
            needs == NEVER,
        ):
            for won in (2, -2):
                places += random.choices(np.flatnonzero(alike & (wdl == won)), k=30)
        # A block whose men stand alike is its own partner.
        places += [place for place in _alike(values, material) if wdl[place]][::40]
        for place in map(int, places):
            position = position_at(material, place)
            needed = int(needs[place])
            for plies in range(1, balance + 1):
                found = outcome(position, kings, plies)
                assert found == (int(wdl[place]) if needed <= plies else 0), (position.to_fen(), plies)


def _alike(values: InMemoryValues, material: Material) -> Iterator[int]:
    number = values.slice_id(material)
    for place in range(0, material.positions, material.block_size):
        own_men, _, other_men, _ = sets_at(values.arena.layout, number, place)
        if Position(own_men, 0, other_men, 0).flip().bm == own_men:
            yield from range(place, place + material.block_size)


def searcher(tablebase: Tablebase, most: int) -> Callable[[Position, int, int], int]:
    """Outcomes by looking ahead, with so many plies of king moves left, and of the balance."""

    @cache
    def outcome(position: Position, kings: int, balance: int) -> int:
        moves = legal_moves(position)
        if not moves:
            return -2
        if not kings or not balance:
            return 0

        def value(kind: int, number: int) -> int:
            after = position_after(position, moves[number])
            if kind == CHANGE:
                wdl = tablebase.probe_wdl(after) if after.wm | after.wk and after.bm | after.bk else -2
                return wdl if abs(wdl) == 2 else 0
            return outcome(after, most if kind == STEP else kings - 1, balance - 1)

        return decide(
            [
                (kind_of(position, position_after(position, move), move.zeroing), number)
                for number, move in enumerate(moves)
            ],
            value,
        )

    return outcome


# A whole set


def test_a_set_true_to_both_counts_passes(tables: Path) -> None:
    report = verify(tables, jobs=2)
    assert report.ok, list(map(str, report.findings))
    assert report.counted
    assert report.notes == []


def test_a_set_under_one_count_passes_as_such_and_not_under_both(
    graph: Graph, kings_alone: Solution, dtw: dict[int, int], tmp_path: Path
) -> None:
    for ruleset in (TIGHT_KINGS, TIGHT):
        (tmp_path / ruleset.name).mkdir()
        write(tmp_path / ruleset.name, graph, kings_alone, dtw, ruleset)
    assert verify(tmp_path / TIGHT_KINGS.name).ok
    report = verify(tmp_path / TIGHT.name)
    assert [problem.metric for problem in report.findings] == [Metric.WDL]


def test_wins_that_fail_under_both_must_be_stored_as_cursed(
    copy: Path, graph: Graph, both: Solution, lost_by_both: list[Position]
) -> None:
    """Else each of them is named, and nothing before it."""
    some = lost_by_both[::50]
    indices = [index_of(position.wm, position.wk, position.bm, position.bk) for position in some]
    assert {index % 2 for index in indices} == {0, 1}  # with a wrong DTC and with the right one, see `write`
    for position, index in zip(some, indices, strict=True):
        material = Material.of(position)
        wdl = both.alone[graph.positions.index(position)]
        change(copy, material, {index: wdl})
        (problem,) = verify(copy).findings
        assert (problem.material, problem.metric, problem.index) == (material, Metric.WDL, index)
        assert problem.stored is Outcome.from_wdl(wdl)
        assert problem.derived is Outcome.from_wdl(wdl // 2)
        assert position.to_fen() in str(problem)
        assert f"at most {KINGS} plies of king moves and {BALANCE} plies" in str(problem)
        change(copy, material, {index: wdl // 2})
    assert verify(copy).ok


@pytest.mark.parametrize("won", [2, -2])
@pytest.mark.parametrize("part", [0.1, 0.8])
def test_a_win_that_stands_must_not_be_stored_as_cursed(
    copy: Path, graph: Graph, both: Solution, won: int, part: float
) -> None:
    having = [
        graph.positions[n]
        for n in graph.group(3, 1)
        if both.fresh[n] == won and both.dtc[n] > 1 and not legal_moves(graph.positions[n])[0].is_capture
    ]
    position = having[int(part * len(having))]
    material = Material.of(position)
    index = index_of(position.wm, position.wk, position.bm, position.bk)
    change(copy, material, {index: won // 2})
    (problem,) = verify(copy).findings
    assert (problem.material, problem.metric, problem.index) == (material, Metric.WDL, index)
    assert (problem.stored, problem.derived) == (Outcome.from_wdl(won // 2), Outcome.from_wdl(won))


def quiet_places(graph: Graph, both: Solution, outcome: int) -> list[tuple[Material, int]]:
    """The stored positions of this outcome in the slices where two counts run: slice and index."""
    return [
        (Material.of(position), index_of(position.wm, position.wk, position.bm, position.bk))
        for n in graph.group(3, 1)
        if both.fresh[n] == outcome
        for position in [graph.positions[n]]
        if position.bm | position.bk
        and Material.of(position) in (MAN_AND_KING, MAN_AND_KING.mirror)
        and not (graph.moves[n] and legal_moves(position)[0].is_capture)
    ]


@pytest.mark.parametrize(("sample", "memory"), WAYS)
@pytest.mark.parametrize("outcome", [2, -2])
def test_one_wrong_dtb_is_named(
    copy: Path, graph: Graph, both: Solution, outcome: int, sample: float | None, memory: int | None
) -> None:
    """In a sample too, where the positions before it seem wrong as well."""
    places = quiet_places(graph, both, outcome)
    assert len(places) > 20
    for material, index in places[:: len(places) // 3]:
        with Table(copy / table_name(material, Metric.DTB)) as table:
            right = table.value(index)
        for wrong in (right - 1, right + 1):
            change(copy, material, {index: wrong}, Metric.DTB)
            (problem,) = verify(copy, sample=sample, memory=memory).findings
            assert (problem.material, problem.metric, problem.index) == (material, Metric.DTB, index)
            assert (problem.stored, problem.derived) == (wrong, right)
            assert f"{material}.dtb is wrong" in str(problem)
            change(copy, material, {index: right}, Metric.DTB)


def test_dtb_of_other_positions_is_ignored(copy: Path, graph: Graph, both: Solution) -> None:
    stored = {*quiet_places(graph, both, 2), *quiet_places(graph, both, -2)}
    for material in (MAN_AND_KING, MAN_AND_KING.mirror):
        with Table(copy / table_name(material, Metric.DTB)) as table:
            values = table.read_all()
        others = {i: 77 - int(values[i]) for i in range(len(values)) if (material, i) not in stored}
        change(copy, material, others, Metric.DTB)
    for sample, memory in WAYS:
        assert verify(copy, sample=sample, memory=memory).ok


def test_a_wrong_longest_dtb_is_found(copy: Path) -> None:
    manifest = Manifest.load(copy)
    record = manifest.slices[MAN_AND_KING]
    assert record.statistics is not None
    right = record.statistics
    assert right.longest_dtb_win_plies == BALANCE
    for changes in (
        {"longest_dtb_win_plies": BALANCE + 1},
        {"longest_dtb_win_plies": None},
        {"longest_dtb_win_fen": None},
        {"longest_dtb_win_fen": "W:WKa1,a3:BKh4"},
    ):
        record.statistics = replace(right, **changes)  # type: ignore[arg-type]
        manifest.save(copy)
        (problem,) = verify(copy).findings
        assert "longest_dtb_win" in str(problem)


def test_dtb_tables_are_missed_only_where_they_fit(copy: Path) -> None:
    report = verify(copy)
    assert report.metrics == tuple(Metric)
    assert report.notes == []
    manifest = Manifest.load(copy)
    assert {m for m, record in manifest.slices.items() if Metric.DTB in record.files} == {
        MAN_AND_KING,
        MAN_AND_KING.mirror,
    }
    del manifest.slices[MAN_AND_KING].files[Metric.DTB]
    manifest.save(copy)
    (copy / table_name(MAN_AND_KING, Metric.DTB)).unlink()
    report = verify(copy)
    assert report.ok
    assert Metric.DTB not in report.metrics
    assert any("1 of 2 slices have a .dtb table" in note for note in report.notes)


@pytest.mark.parametrize("memory", [None, LITTLE])
def test_a_sample_checks_what_both_counts_make_of_its_positions(
    copy: Path, graph: Graph, both: Solution, lost_by_both: list[Position], memory: int | None
) -> None:
    report = verify(copy, sample=1.0, memory=memory)
    assert report.ok, list(map(str, report.findings))
    assert not any("cursed" in note for note in report.notes)
    position = lost_by_both[0]
    index = index_of(position.wm, position.wk, position.bm, position.bk)
    wdl = both.alone[graph.positions.index(position)]
    change(copy, Material.of(position), {index: wdl})
    (problem,) = verify(copy, sample=1.0, memory=memory).findings
    assert (problem.material, problem.index) == (Material.of(position), index)
    assert problem.derived is Outcome.from_wdl(wdl // 2)


@pytest.mark.parametrize("memory", [None, LITTLE])
def test_sample_without_dtb_finds_wrong_outcomes_only(
    copy: Path, graph: Graph, both: Solution, memory: int | None
) -> None:
    manifest = Manifest.load(copy)
    for material in (MAN_AND_KING, MAN_AND_KING.mirror):
        del manifest.slices[material].files[Metric.DTB]
        (copy / table_name(material, Metric.DTB)).unlink()
    manifest.save(copy)
    report = verify(copy, sample=1.0, memory=memory)
    assert report.ok, list(map(str, report.findings))
    assert any("without .dtb tables a sample does not check" in note for note in report.notes)
    assert (report.left_out > 0) == report.probed == (memory is not None)
    assert any(f"{report.left_out:,} of the compared" in note for note in report.notes) == report.probed
    lost = next(graph.positions[n] for n in graph.group(3, 1) if both.fresh[n] == -2 and both.dtc[n] > 1)
    index = index_of(lost.wm, lost.wk, lost.bm, lost.bk)
    change(copy, Material.of(lost), {index: 2})
    (problem,) = verify(copy, sample=1.0, memory=memory).findings
    assert (problem.material, problem.index) == (Material.of(lost), index)


# All of 5 pieces

UNDER_BOTH = {"W:WKg3,Kb8,b2:BKh4,c5", "W:WKc7,Kb8,b2:BKd8,c5"}
"""The only positions of up to 5 pieces that are won with 30 plies of king moves, and not with 60 plies of the
balance as well, as a prototype found first, which searched ahead from those with a long way to a capture or
promotion."""


@pytest.mark.whole
def test_of_5_pieces_two_positions_fail_under_both(tables5: Path, tmp_path: Path) -> None:
    report = verify(tables5)
    assert report.ok, list(map(str, report.findings))
    found = set()
    with ThreadPoolExecutor(2) as pool:
        values = values_of(tables5, tuple(Manifest.load(tables5).slices), OFFICIAL, pool)
        start = values.arena.layout.start
        for material in Manifest.load(tables5).slices:
            if not OFFICIAL.counts_material_separately(material) or values.slice_id(
                material
            ) > values.slice_id(material.mirror):
                continue
            counts = values.count_together(tuple(dict.fromkeys((material, material.mirror))))
            plies = balance_plies(material, OFFICIAL)
            assert counts is not None
            assert plies is not None
            for slot in counts.changed(plies):
                number = int(np.searchsorted(start, slot, side="right")) - 1
                sets = sets_at(values.arena.layout, number, int(slot - start[number]))
                found.add(Position(*map(int, sets)).to_fen())
                assert counts.balance_needed[slot - counts.first] == plies + 1
            counts.restore(values.arena)
    assert found == UNDER_BOTH
    shutil.copytree(tables5, tmp_path / "copy")
    for fen in sorted(UNDER_BOTH):
        position = Position.from_fen(fen)
        index = index_of(position.wm, position.wk, position.bm, position.bk)
        change(tmp_path / "copy", Material.of(position), {index: 2})
        (problem,) = verify(tmp_path / "copy").findings
        assert (problem.fen, problem.derived) == (fen, Outcome.CURSED_WIN)
        change(tmp_path / "copy", Material.of(position), {index: 1})


def test_counts_of_a_slice_in_a_small_arena_use_slots() -> None:
    needed = np.array([1, 4, 6, NEVER, NEVER], np.uint16)
    counts = TwoCounts(100, needed, np.array([2, -1, 2, 1, 0], np.int8))
    assert counts.wrong(5).tolist() == [101, 102]
    assert counts.changed(5).tolist() == [102]
