"""The C library: builds, examples and the manual docs/probe.md, the reference in the header, threads."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import c_probe as probec
import pytest
from needed_tools import need
from paths import ROOT

PROBE = ROOT / "probe"
EXAMPLE = """tables of up to 3 pieces, official rules; distances in plies
position     win           DTC 4  DTW 7  DTB 6
"""


@pytest.fixture(scope="module", autouse=True)
def compiler(tmp_path_factory: pytest.TempPathFactory) -> None:
    probec.build(tmp_path_factory.mktemp("probe"))


def run(*command: str | Path, **variables: str) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, **variables}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def tool(name: str) -> str:
    found = shutil.which(name)
    need(found, f"there is no {name}")
    assert found is not None
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
    """Run the commands in their order; only the installation prefix differs."""
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
    number = re.findall(r"^[0-9.]*[0-9]", project_version())[0]
    assert run(pkg_config, "--modversion", "shashki_probe", **path) == number + "\n"
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
def test_cmake_project(tables3: Path, tmp_path: Path, installed: bool) -> None:
    """The target has the same name in both cases; the project's own libraries stay static."""
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


HEADER = (PROBE / "shashki_probe.h").read_text("utf-8")
# A function with the comment above it: comment, result, name, parameters.
FUNCTION = re.compile(r"/\*\*\n((?: \*.*\n)+?) \*/\nSHASHKI_API ([\w *]*?)(shashki_\w+)\(([^)]*)\);")


def test_exported_symbols(tmp_path: Path) -> None:
    nm = tool("nm")
    library = probec.build(tmp_path)  # with -fvisibility=hidden
    exported = {line.split()[-1] for line in run(nm, "-D", "--defined-only", library).splitlines()}
    assert exported == set(re.findall(r"^\w[\w *]*?(shashki_\w+)\(", HEADER, re.MULTILINE))


def test_functions_are_documented() -> None:
    """Each with its parameters in their order, its result and threads."""
    functions = list(FUNCTION.finditer(HEADER))
    assert len(functions) == len(re.findall(r"^\w.*\(", HEADER, re.MULTILINE)) > 10
    for function in functions:
        comment, result, name, parameters = function.groups()
        names = re.findall(r"(\w+)(?:,|$)", "" if parameters == "void" else parameters)
        assert re.findall(r"@param(?:\[out\])? +(\w+) {2,}\S", comment) == names, name
        assert ("@return " in comment) == (result != "void "), name
        assert "@par Threads\n" in comment, name


def test_types_are_documented() -> None:
    types = re.findall(r"^(?:enum|typedef struct) (\w+) \{\n(.*?)^\}", HEADER, re.MULTILINE | re.DOTALL)
    assert len(types) >= 9
    for name, body in types:
        assert re.search(rf"\*/\n(?:enum|typedef struct) {name} ", HEADER), name
        for before, member in re.findall(r"(.*\n|)^    (?! |/\*)(.*)", body, re.MULTILINE):
            assert "/**< " in member or before.endswith("*/\n"), (name, member)


def project_version() -> str:
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"])


def test_version(tmp_path: Path) -> None:
    """The header has the version of the whole project; the compiled library returns it."""
    assert re.findall(r'^#define SHASHKI_VERSION "(.*)"$', HEADER, re.MULTILINE) == [project_version()]
    library = probec.load(probec.build(tmp_path))
    assert library.shashki_version().decode() == project_version()


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
