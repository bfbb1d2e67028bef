"""The C library is built, installed and used as docs/probe.md says; its examples run; threads share it."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import probec
import pytest

ROOT = Path(__file__).parent.parent
PROBE = ROOT / "probe"
EXAMPLE = """tables of up to 3 pieces, official rules; distances in plies
position     win           DTC 4  DTW 7  DTB 6
"""


@pytest.fixture(scope="module", autouse=True)
def compiler(tmp_path_factory: pytest.TempPathFactory) -> None:
    probec.build(tmp_path_factory.mktemp("probe"))  # skips where there is none


def run(*command: str | Path, **variables: str) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, **variables}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"there is no {name}")
    return found


def test_example_in_c(tables3: Path, tmp_path: Path) -> None:
    program = tmp_path / "example"
    run("cc", "-O2", "-Iprobe", "probe/examples/probe.c", "probe/shashki_probe.c", "-lzstd", "-o", program)
    assert run(program, tables3, "W:WKa7,e1:BKg3").startswith(EXAMPLE)
    for wrong in ("", "W", "W:Wa2:Bb2", "W:WKa7,e1:BKg", "X:Wa1:Bb2"):
        done = subprocess.run([program, tables3, wrong], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (2, ""), wrong


def test_example_of_the_manual(tables4: Path, tmp_path: Path) -> None:
    manual = (ROOT / "docs" / "probe.md").read_text("utf-8")
    (source,) = re.findall(r"^```c\n(.*?)^```$", manual, re.MULTILINE | re.DOTALL)
    (tmp_path / "manual.c").write_text(source, "utf-8")
    program = tmp_path / "manual"
    run(
        *("cc", "-std=c99", "-Wall", "-Werror", "-Iprobe", tmp_path / "manual.c", "probe/shashki_probe.c"),
        *("-lzstd", "-o", program),
    )
    for line in run(program, tables4).splitlines():
        assert f"`{line}`" in manual


def test_example_in_cpp(tables3: Path, tmp_path: Path) -> None:
    tool("c++")
    run("cc", "-O2", "-c", "probe/shashki_probe.c", "-o", tmp_path / "library.o")
    options = ("-std=c++11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Iprobe")
    program = tmp_path / "example"
    run(
        *("c++", *options, "probe/examples/probe.cpp", tmp_path / "library.o"),
        *("-lzstd", "-lpthread", "-o", program),
    )
    assert "of 465 positions\nbest of 9 moves: c1-a3, outcome 0\n" in run(program, tables3)


def test_example_in_python(tables4: Path, tmp_path: Path) -> None:
    library = probec.build(tmp_path)
    printed = run(sys.executable, "probe/examples/probe.py", library, tables4)
    assert printed.startswith("outcome 2 DTC 1 DTW 7 DTB -1\ng5-f6 2 1 7\n")


def test_commands_of_the_manual(tables4: Path, tmp_path: Path) -> None:
    """As they are printed, one block after another, but for where things are installed."""
    tool("cmake"), tool("pkg-config"), tool("c++")
    manual = (ROOT / "docs" / "probe.md").read_text("utf-8")
    (source,) = re.findall(r"^```c\n(.*?)^```$", manual, re.MULTILINE | re.DOTALL)
    for name in ("engine.c", "engine.cpp"):
        (tmp_path / name).write_text(source, "utf-8")
    shutil.copytree(PROBE, tmp_path / "probe")
    installed = tmp_path / "installed"
    libraries = [installed / "lib", installed / "lib64"]
    paths = {
        "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
        "PKG_CONFIG_PATH": ":".join(str(library / "pkgconfig") for library in libraries),
    }
    blocks = re.findall(r"^```sh\n(.*?)^```$", manual, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 3
    for commands in blocks:
        here = commands.replace("--prefix /usr/local", f"--prefix '{installed}'")
        printed = run("sh", "-c", f"set -e; cd '{tmp_path}'; rm -f a.out\n{here}./a.out '{tables4}'", **paths)
        assert all(f"`{line}`" in manual for line in printed.splitlines()[-2:])


@pytest.mark.parametrize("shared", ["ON", "OFF"])
def test_cmake_and_pkg_config(tables3: Path, tmp_path: Path, shared: str) -> None:
    cmake, pkg_config = tool("cmake"), tool("pkg-config")
    run(cmake, "-S", "probe", "-B", tmp_path / "build", f"-DBUILD_SHARED_LIBS={shared}")
    run(cmake, "--build", tmp_path / "build")
    run(cmake, "--install", tmp_path / "build", "--prefix", tmp_path / "a root")
    (described,) = (tmp_path / "a root").rglob("shashki_probe.pc")
    path = {"PKG_CONFIG_PATH": str(described.parent)}
    header = (PROBE / "shashki_probe.h").read_text("utf-8")
    (version,) = re.findall(r'#define SHASHKI_PROBE_VERSION "(.*)"', header)
    assert run(pkg_config, "--modversion", "shashki_probe", **path) == version + "\n"
    options = shlex.split(run(pkg_config, "--cflags", "--libs", "shashki_probe", **path))
    program = tmp_path / "example"
    run("cc", "probe/examples/probe.c", *options, "-o", program)
    printed = run(program, tables3, "W:WKa7,e1:BKg3", LD_LIBRARY_PATH=str(described.parent.parent))
    assert printed.startswith(EXAMPLE)


PROJECT = """cmake_minimum_required(VERSION 3.13)
project(engine C)
{there}
add_library(other other.c)
get_target_property(kind other TYPE)
if(NOT kind STREQUAL STATIC_LIBRARY)
  message(FATAL_ERROR "the library of the project became ${{kind}}")
endif()
add_executable(engine {probe}/examples/probe.c)
target_link_libraries(engine shashki::shashki_probe)
"""


@pytest.mark.parametrize("installed", [True, False])
def test_a_project_of_cmake(tables3: Path, tmp_path: Path, installed: bool) -> None:
    """The target has one name, installed or a part of the project, whose own libraries stay what they are."""
    cmake = tool("cmake")
    there = f"add_subdirectory({PROBE} probe)"
    if installed:
        run(cmake, "-S", "probe", "-B", tmp_path / "build")
        run(cmake, "--build", tmp_path / "build")
        run(cmake, "--install", tmp_path / "build", "--prefix", tmp_path / "a root")
        there = "find_package(shashki_probe REQUIRED)"
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(there=there, probe=PROBE), "utf-8")
    (tmp_path / "other.c").write_text("int other;\n", "utf-8")
    run(cmake, "-S", tmp_path, "-B", tmp_path / "engine", f"-DCMAKE_PREFIX_PATH={tmp_path / 'a root'}")
    run(cmake, "--build", tmp_path / "engine")
    assert run(tmp_path / "engine" / "engine", tables3, "W:WKa7,e1:BKg3").startswith(EXAMPLE)


def test_names_that_are_seen_outside(tmp_path: Path) -> None:
    """All begin with the name of the library, and all are documented."""
    nm = tool("nm")
    library = probec.build(tmp_path)
    defined = {line.split()[-1] for line in run(nm, "-D", "--defined-only", library).splitlines()}
    header = (PROBE / "shashki_probe.h").read_text("utf-8")
    declared = set(re.findall(r"^\w[\w *]*?(shashki_\w+)\(", header, re.MULTILINE))
    assert defined == declared
    manual = (ROOT / "docs" / "probe.md").read_text("utf-8")
    for name in [*declared, *re.findall(r"\b(SHASHKI_\w+)\b", header)]:
        assert re.search(rf"\b{name}\b", manual) or name == "SHASHKI_PROBE_H", name


def stress(tmp_path: Path, *options: str) -> Path:
    program = tmp_path / "stress"
    sources = ("probe/tests/stress.c", "probe/shashki_probe.c", "-lzstd", "-lpthread")
    done = subprocess.run(
        ["cc", "-g", "-O1", *options, *sources, "-o", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    if done.returncode and options:
        pytest.skip(f"the compiler has no {options[0]}")
    assert done.returncode == 0, done.stderr
    return program


@pytest.mark.parametrize("cache", ["0", "40000", "300000"])
def test_threads(tables4: Path, tmp_path: Path, cache: str) -> None:
    assert ": 0 wrong" in run(stress(tmp_path), tables4, "8", "4000", cache)


@pytest.mark.whole
@pytest.mark.parametrize("sanitizer", ["thread", "address,undefined"])
def test_threads_under_a_sanitizer(tables4: Path, tmp_path: Path, sanitizer: str) -> None:
    program = stress(tmp_path, f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all")
    assert ": 0 wrong" in run(program, tables4, "8", "4000", "300000")
