"""The large arrays of a run: given back, mapped from a scratch file; the same tables in any memory."""

from pathlib import Path

import numpy as np
import pytest
from generating import finish, same, start

from generator import run
from generator.materials import RunScope, pairs, successor_pairs, with_mirror
from generator.memory import Memory, resident
from generator.plan import plan
from generator.solver.successors import allocate, parts_of, size_in_bytes
from tablebase.board.material import Material
from tablebase.tables.format import Metric


@pytest.fixture(params=["in memory", "mapped"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Memory:
    return Memory(tmp_path if request.param == "mapped" else None)


def test_discarded_part_is_zeros_and_the_rest_stays(memory: Memory) -> None:
    array = memory.zeros(100_000, np.uint32)
    memory.reserve_disk(array)
    array[:] = 7
    memory.discard(array[20_000:60_000])
    # Pages are whole: what shares one with a neighbour stays as it was.
    assert not array[22_000:58_000].any()
    assert (array[:20_000] == 7).all()
    assert (array[60_000:] == 7).all()
    array[30_000] = 5
    assert array[30_000] == 5


def test_free_gives_back_memory_of_a_referenced_array(memory: Memory) -> None:
    array = memory.zeros(50_000_000, np.uint8)
    memory.reserve_disk(array)
    array[:] = 3
    before = resident()
    memory.free([array])
    assert resident() < before - 40_000_000
    assert not array[:40_000_000].any()  # it can be read, but holds nothing any more


def test_an_empty_array_takes_nothing(memory: Memory) -> None:
    array = memory.zeros(0, np.uint8)
    memory.reserve_disk(array)
    memory.discard(array)
    assert array.shape == (0,)


def test_scratch_files_have_no_name(tmp_path: Path) -> None:
    array = Memory(tmp_path).zeros(1000, np.uint8)
    assert array.nbytes == 1000
    assert list(tmp_path.iterdir()) == []


def test_discarding_a_material_leaves_the_others(memory: Memory) -> None:
    names = [Material.parse(name) for name in ("KKvK", "KKKvK", "KMvK")]
    afters = allocate(names, 4, memory)
    for material in names:
        for part in parts_of(afters, material):
            memory.reserve_disk(part)
            part[:] = 1
    for part in parts_of(afters, names[1]):
        memory.discard(part)
        assert part.mean() < 0.5
    assert all(part.all() for name in (names[0], names[2]) for part in parts_of(afters, name))
    assert sum(part.nbytes for part in parts_of(afters, names[0])) == size_in_bytes(names[0])


def test_no_pair_is_freed_before_its_last_use() -> None:
    work = plan(RunScope(6), tuple(Metric), 1, set())
    gone: set[Material] = set()
    for pair in work.order:
        assert not successor_pairs(pair) & gone
        gone |= set(work.last_needed_by[pair])
    assert gone == set(work.order) == set(pairs(6))


def test_freeing_pairs_lowers_the_memory_of_a_plan() -> None:
    work = plan(RunScope(6), tuple(Metric), 1, set())
    all_tables = sum(size_in_bytes(material) for pair in work.order for material in with_mirror(pair))
    assert work.memory < all_tables / 2
    assert work.least_memory < work.memory


PEAK = """
import atexit, resource
atexit.register(lambda: print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024))
"""


@pytest.mark.whole
def test_the_memory_limit_is_held_and_changes_nothing(tables5: Path, tmp_path: Path) -> None:
    """Given less than the plan says, the large arrays are mapped."""
    limit = plan(RunScope(5), tuple(Metric), 2, set()).memory * 9 // 10
    status, out, err = finish(start(tmp_path, 5, "--memory", str(limit), before=PEAK))
    assert status == 0, err
    assert int(out.rpartition("peak ")[2]) <= limit
    assert same(tmp_path, tables5)


def test_mapped_arrays_make_the_same_tables(
    tables3: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "is_mapped", lambda work, memory: True)
    run.generate(tmp_path, 3, jobs=2)
    assert same(tmp_path, tables3)


@pytest.mark.parametrize("text", ["0", "-1", "8X", "G", "", "nan", "inf", "1e400G"])
def test_an_odd_amount_of_memory_is_refused(text: str, tmp_path: Path) -> None:
    status, _, err = finish(start(tmp_path / "new", 2, f"--memory={text}"))
    assert status == 2
    assert "amount of memory" in err
    assert not (tmp_path / "new").exists()
