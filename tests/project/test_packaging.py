"""What is installed: the packages, what each may import, and what a person has who installs a part."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PACKAGES = ("tablebase", "generator", "server")
KERNELS = "tablebase/kernels"  # imported only where it is asked for, and numba is there

# What each package may import besides itself and the standard library; llvmlite comes with numba, werkzeug
# with flask.
BASE = {"numpy", "zstandard", "platformdirs"}
EXPORT = {"pyarrow"}  # imported only where Parquet is asked for
MAY_IMPORT = {
    "tablebase": BASE | EXPORT,
    KERNELS: BASE | {"numba", "llvmlite"},
    "generator": BASE | {"tablebase", "numba", "llvmlite", "tqdm"},
    "generator/cluster": BASE | {"tablebase", "numba", "tqdm", "distributed", "fsspec"},
    "server": BASE
    | {
        "tablebase",
        "flask",
        "werkzeug",
        "flask_openapi3",
        "pydantic",
        "prometheus_client",
        "limits",
        "granian",
    },
}


def run(*command: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload, no-any-return]


def names(requirements: list[str]) -> set[str]:
    return {re.match(r"[\w-]+", requirement).group() for requirement in requirements}  # type: ignore[union-attr]


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            yield (node.module or "").partition(".")[0]


def test_dependencies_are_those_that_are_imported() -> None:
    extras = PROJECT["optional-dependencies"]
    assert names(PROJECT["dependencies"]) == BASE
    assert names(extras["fast"]) == MAY_IMPORT[KERNELS] - BASE - {"llvmlite"}
    assert names(extras["export"]) == EXPORT
    assert names(extras["generate"]) == MAY_IMPORT["generator"] - BASE - {"tablebase", "llvmlite"}
    assert names(extras["cluster"]) == MAY_IMPORT["generator/cluster"] - BASE - {"tablebase"}
    assert {name.replace("-", "_") for name in names(extras["serve"])} == MAY_IMPORT["server"] - BASE - {
        "tablebase",
        "werkzeug",
    }


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_arrows_run_one_way(package: str) -> None:
    inner = {ROOT / other for other in MAY_IMPORT if other.startswith(f"{package}/")}
    paths = [path for path in (ROOT / package).rglob("*.py") if not inner & set(path.parents)]
    assert paths
    for path in paths:
        foreign = set(imports(path)) - sys.stdlib_module_names - {package.partition("/")[0]}
        assert foreign <= MAY_IMPORT[package], path


@pytest.mark.parametrize(
    ("command", "extra"), [("generate", "generate"), ("verify", "generate"), ("serve", "serve")]
)
def test_without_its_extra_a_command_says_what_it_needs(tmp_path: Path, command: str, extra: str) -> None:
    code = (
        "import sys\n"
        "for name in ('numba', 'llvmlite', 'tqdm', 'flask', 'werkzeug', 'flask_openapi3', 'pydantic'):\n"
        "    sys.modules[name] = None\n"
        "from tablebase.cli.main import main\n"
        f"sys.exit(main(['{command}', '--data', {str(tmp_path)!r}]))\n"
    )
    done = run(sys.executable, "-c", code)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"shashki: `{command}` needs the package ")
    assert done.stderr.endswith(
        f"which is not installed; pip install 'shashki-tablebase[{extra}]', "
        f"or in a checkout: pip install '.[{extra}]'\n"
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, built outside of the checkout, so that nothing which lies about in it can come along."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    (source / "data").mkdir()
    shutil.copy(ROOT / "data" / "LICENSE", source / "data")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    target = tmp_path_factory.mktemp("wheel")
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--verbose")
    done = run(sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", target, source)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (done.stdout + done.stderr).splitlines()
    warnings = [line for line in lines if "warn" in line.lower() and "byte-compil" not in line]
    assert not warnings
    (found,) = target.glob("*.whl")
    return found


def test_a_wheel_has_the_packages_whole_and_nothing_else(wheel: Path) -> None:
    with ZipFile(wheel) as file:
        inside = set(file.namelist())
    metadata = {name for name in inside if name.partition("/")[0].endswith(".dist-info")}
    wanted = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert inside - metadata == wanted
    assert {f"{package}/py.typed" for package in PACKAGES} | {"server/static/index.html"} < wanted
    assert {"LICENSE", "data/LICENSE"} == {
        name.partition("/licenses/")[2] for name in metadata if "/licenses/" in name
    }


@pytest.mark.whole
@pytest.mark.parametrize("extra", ["", "[fast]", "[generate]", "[cluster]", "[serve]", "[all]"])
def test_a_clean_environment(wheel: Path, tmp_path: Path, tables4: Path, extra: str) -> None:
    """Needs the network, or what pip has in its place."""
    venv.create(tmp_path / "venv", with_pip=True)
    python, shashki = (tmp_path / "venv" / "bin" / name for name in ("python", "shashki"))
    done = run(python, "-m", "pip", "install", f"{wheel}{extra}")
    assert done.returncode == 0, done.stderr
    data = ("--data", str(tables4))
    done = run(shashki, "probe", "W:WKc1,Kd2,Ka3:BKe1", *data, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "White wins in 13 moves." in done.stdout
    generates = run(shashki, "generate", "--dry-run", "--data", tmp_path / "new", cwd=tmp_path)
    serves = run(python, "-c", "from server.app import create_app", cwd=tmp_path)
    assert generates.returncode == (0 if extra in ("[generate]", "[cluster]", "[all]") else 2), (
        generates.stderr
    )
    assert serves.returncode == (0 if extra in ("[serve]", "[all]") else 1), serves.stderr
