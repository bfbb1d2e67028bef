"""Compiled kernels are kept on disk, and never outlive the sources they were made from."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from paths import ROOT

from tablebase.kernels import jit

REPORT_CACHE = """
from tablebase.kernels.movegen import has_capture
assert has_capture(1, 0, 1 << 4, 0)
print(sum(has_capture.stats.cache_hits.values()), sum(has_capture.stats.cache_misses.values()))
"""


def run(code: str, root: Path, cache: Path, *more: Path) -> str:
    path = os.pathsep.join(map(str, (root, *more)))
    environment = {**os.environ, "SHASHKI_KERNEL_CACHE": str(cache), "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    assert run(REPORT_CACHE, ROOT, tmp_path) == "0 1"
    assert run(REPORT_CACHE, ROOT, tmp_path) == "1 0"


def test_kernels_are_compiled_again_without_a_writable_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file is no folder")
    for _ in range(2):
        assert run(REPORT_CACHE, ROOT, tmp_path / "file") == "0 1"


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("part", [0, 0.5])
def test_damaged_kernels_are_compiled_again(tmp_path: Path, kind: str, part: float) -> None:
    assert run(REPORT_CACHE, ROOT, tmp_path) == "0 1"
    for path in tmp_path.rglob(f"*has_capture*.{kind}"):
        os.truncate(path, int(part * path.stat().st_size))
    assert run(REPORT_CACHE, ROOT, tmp_path) == "0 1"
    assert run(REPORT_CACHE, ROOT, tmp_path) == "1 0"


def test_a_full_disk_only_disables_the_cache(tmp_path: Path) -> None:
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
    for _ in range(2):
        assert run(full + REPORT_CACHE, ROOT, tmp_path) == "0 1"


def test_kernels_of_edited_files_are_not_cached(tmp_path: Path) -> None:
    """The process still has the constants of before, and would keep their kernels under the hash of after."""
    shutil.copytree(ROOT / "tablebase", tmp_path / "tablebase", ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        "import tablebase.kernels.bits\n"
        "from pathlib import Path\n"
        "path = Path(tablebase.kernels.bits.__file__)\n"
        "path.write_text(path.read_text() + '# edited')\n"
    )
    assert run(code + REPORT_CACHE, tmp_path, tmp_path / "cache") == "0 1"
    assert not list((tmp_path / "cache").rglob("*has_capture*"))
    assert run(REPORT_CACHE, tmp_path, tmp_path / "cache") == "0 1"
    assert run(REPORT_CACHE, tmp_path, tmp_path / "cache") == "1 0"


def test_imports_are_found() -> None:
    """Those that the language knows are those that are looked for, in every file of the project."""
    for package in ("generator", "tablebase"):
        for path in (ROOT / package).rglob("*.py"):
            modules: set[str] = set()
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Import):
                    modules.update(alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom):
                    assert node.module is not None, f"{path}: a relative import is not looked for"
                    assert node.level == 0, f"{path}: a relative import is not looked for"
                    modules.add(node.module)
                    modules.update(f"{node.module}.{alias.name}" for alias in node.names)
            assert jit._imported(path) == set(filter(None, map(jit._file_of, modules))), path


FOLDERS = """
from tablebase.kernels.jit import cache_dir
from pathlib import Path
for name in ("tablebase/kernels/bits.py", "tablebase/kernels/movegen.py", "generator/solver/passes.py"):
    print(cache_dir(Path(name).absolute()))
"""


@pytest.mark.parametrize(
    ("changed", "new"),
    [
        ("tablebase/kernels/jit.py", [True, True, True]),
        ("tablebase/kernels/bits.py", [True, True, True]),
        ("tablebase/kernels/movegen.py", [False, True, False]),
        ("generator/solver/passes.py", [False, False, True]),
        ("generator/solver/results.py", [False, False, True]),  # constants, by way of others
        ("tablebase/board/material.py", [False, False, True]),
        ("generator/run.py", [False, False, False]),
        ("generator/cli/inspect.py", [False, False, False]),
    ],
)
def test_a_changed_source_has_another_folder(tmp_path: Path, changed: str, new: list[bool]) -> None:
    """Of all kernels that take something from it, and of no others."""
    for package in ("generator", "tablebase"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    before = run(FOLDERS, tmp_path, tmp_path / "cache").split()
    assert before == run(FOLDERS, tmp_path, tmp_path / "cache").split()
    assert len(set(before)) == 3
    with (tmp_path / changed).open("a") as file:
        file.write("\n# changed\n")
    then = run(FOLDERS, tmp_path, tmp_path / "cache").split()
    assert [one != other for one, other in zip(before, then, strict=True)] == new


MAKES_AN_ARRAY = """
import numpy as np
from numba.core.errors import NumbaError
from tablebase.kernels.jit import for_python, inner, step

@inner
def first_of_new(count):
    return np.ones(count)[0]

@step
def first(values, count):
    part = values[:count]
    return part[0] + len(part)

assert first(np.ones(5), 3) == 4
[assembly] = first.inspect_llvm().values()
assert "NRT_" not in assembly
try:
    for_python(first_of_new)(3)
except NumbaError:
    print("refused")
try:
    first_of_new(3)
except TypeError as error:
    print(error)
"""


def test_a_step_counts_no_references_and_can_make_no_arrays(tmp_path: Path) -> None:
    """What `step` is for rests on an option of numba's that it does not document."""
    (tmp_path / "kernels.py").write_text(MAKES_AN_ARRAY)
    assert run("import kernels", ROOT, tmp_path / "cache", tmp_path).startswith(
        "refused\nonly kernels can call first_of_new"
    )


ONE_SIGNATURE = """
from tablebase.kernels.jit import inner, step

@inner
def double(value):
    return 2 * value

@step
def total(count):
    found = double(0) + double(7) + double(count)
    for number in range(count):
        found += double(number)
    return found

assert total(3) == 14 + 6 + 6
print(len(double.signatures), len(total.signatures))
"""


def test_a_kernel_is_compiled_once_for_all_values(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(ONE_SIGNATURE)
    assert run("import kernels", ROOT, tmp_path / "cache", tmp_path) == "1 1"


def test_another_checkout_finds_the_same_kernels(tmp_path: Path) -> None:
    for age, copy in enumerate(("one", "two"), 1):
        shutil.copytree(
            ROOT / "tablebase", tmp_path / copy / "tablebase", ignore=shutil.ignore_patterns("__pycache__")
        )
        for path in (tmp_path / copy).rglob("*.py"):
            os.utime(path, (1e9 + age, 1e9 + age))
    assert run(REPORT_CACHE, tmp_path / "one", tmp_path / "cache") == "0 1"
    assert run(REPORT_CACHE, tmp_path / "two", tmp_path / "cache") == "1 0"
