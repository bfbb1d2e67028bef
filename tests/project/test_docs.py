"""The documentation is true: examples give what they say, and nothing is left out.

Examples in `python` blocks are doctests. In `console` blocks a line `$ ...` is a command, and what follows
is its output; `...` stands for what differs from run to run. Both find the tables of up to 4 pieces in
`data`, and what the one `pdn` block has in `game.pdn`. Commands in `sh` blocks are looked at, not run.
"""

import argparse
import doctest
import io
import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from floors import FLOORS
from paths import ROOT

from server.app import DATA_DIRECTORY, create_app, tablebase_of
from tablebase.cli.main import main, make_parser

PAGES = [
    *sorted(ROOT.glob("*.md")),
    ROOT / "data" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "decisions").glob("*.md")),
]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ORIGIN = "http://127.0.0.1:8000"
OPTIONS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def blocks(language: str) -> Iterator[tuple[str, str]]:
    """The blocks of a language, page by page: the name of the page, and its blocks joined."""
    for page in PAGES:
        found = [body for name, body in FENCE.findall(page.read_text("utf-8")) if name == language]
        if found:
            yield page.name, "\n".join(found)


def examples(language: str) -> pytest.MarkDecorator:
    found = dict(blocks(language))
    assert found, f"no page has a block of {language}"
    return pytest.mark.parametrize("text", found.values(), ids=found.keys())


def commands(console: str) -> Iterator[tuple[str, str]]:
    """The commands of a console, each with what it prints."""
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output.rstrip("\n") + "\n"


def parser_of() -> dict[str, argparse.ArgumentParser]:
    """Every command of `shashki`, with its parser."""
    for action in make_parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    raise AssertionError("shashki has no commands")


@pytest.fixture
def here(tables4: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current directory with the tables in `data`, as an example expects it."""
    (tmp_path / "data").symlink_to(tables4)
    ((_, game),) = blocks("pdn")
    (tmp_path / "game.pdn").write_text(game, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHASHKI_DATA", "data")
    return tmp_path


@pytest.fixture
def client(tables4: Path) -> Iterator[FlaskClient]:
    app = create_app({DATA_DIRECTORY: tables4})
    with tablebase_of(app):
        yield app.test_client()


@pytest.fixture
def execute(
    client: FlaskClient, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], str]:
    """Executes a line of a console, without a shell: `shashki`, with what is typed before it, or `curl` and
    what makes JSON readable."""

    def execute(command: str) -> str:
        match shlex.split(command):
            case ["shashki", *arguments]:
                main(arguments)
                return capsys.readouterr().out
            case ["printf", typed, "|", "shashki", *arguments]:
                monkeypatch.setattr(sys, "stdin", io.StringIO(typed.replace("\\n", "\n")))
                main(arguments)
                return capsys.readouterr().out
            case ["curl", "-s", address, "|", "python3", "-m", "json.tool"]:
                assert address.startswith(ORIGIN)
                answer = client.get(address.removeprefix(ORIGIN)).get_json(force=True)
                return json.dumps(answer, indent=4) + "\n"
            case ["curl", "-s", "--data-binary", file, address, "|", "python3", "-m", "json.tool"]:
                body = Path(file.removeprefix("@")).read_bytes()
                answer = client.post(address.removeprefix(ORIGIN), data=body).get_json(force=True)
                return json.dumps(answer, indent=4) + "\n"
        raise AssertionError(f"an example that cannot be tested: {command}")

    return execute


@examples("python")
def test_python_examples(here: Path, text: str) -> None:
    test = doctest.DocTestParser().get_doctest(text, {}, "example", None, 0)
    assert test.examples
    report: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.append, clear_globs=False)
    test.globs["tablebase"].close()
    assert not report, "".join(report)


@examples("console")
def test_console_examples(here: Path, execute: Callable[[str], str], text: str) -> None:
    checker = doctest.OutputChecker()
    for command, expected in commands(text):
        printed = execute(command)
        assert checker.check_output(expected, printed, OPTIONS), f"$ {command}\n{printed}"


def test_commands_to_copy_are_commands() -> None:
    known = parser_of()
    makefile = (ROOT / "Makefile").read_text("utf-8")
    seen = 0
    for page, text in [*blocks("sh"), ("data", (ROOT / "data" / "README.md").read_text("utf-8"))]:
        for line in re.findall(r"^ *shashki .*", text, re.MULTILINE):
            command, *arguments = shlex.split(line, comments=True)[1:]
            assert command in known, f"{page}: {line}"
            known[command].parse_args(arguments)
            seen += 1
        for target in re.findall(r"^ *make ([a-z-]+)", text, re.MULTILINE):
            assert re.search(rf"^{target}:.* ## ", makefile, re.MULTILINE), f"{page}: make {target}"
    assert seen


def test_every_command_and_option_is_documented() -> None:
    sections = re.split(r"^## ", (ROOT / "docs" / "cli.md").read_text("utf-8"), flags=re.MULTILINE)
    section = {text.partition("\n")[0]: text for text in sections}
    for command, parser in parser_of().items():
        assert command in section, f"docs/cli.md has no section on {command}"
        options = {option for action in parser._actions for option in action.option_strings}
        documented = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", section[command]))
        assert documented == options - {"-h", "--help"}, command
    for action in make_parser()._actions:
        for option in action.option_strings:
            assert f"`shashki {option}`" in sections[0] or f"`{option}`" in sections[0], option


def test_every_route_is_documented(client: FlaskClient) -> None:
    api = (ROOT / "docs" / "api.md").read_text("utf-8")
    routes = {
        f"{method} {rule.rule}"
        for rule in client.application.url_map.iter_rules()
        # Below it stand the files of the page, which are none of ours.
        if not rule.rule.startswith("/openapi/") or rule.rule in ("/openapi/", "/openapi/openapi.json")
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert set(re.findall(r"^\| `([A-Z]+ /[^`?]*)[^`]*` \|", api, re.MULTILINE)) == routes


# A game with a mistake and a problem, and one whose draw can be claimed.
GAMES_TO_JUDGE = """[FEN "W:WKc1,Kd2,Ka3:BKe1"] 1. a3-e7 hello
[FEN "W:WKa1,Kc1:BKh2,Kf8"] 1. a1-b2 h2-g1 2. b2-a1 g1-h2 3. a1-b2 h2-g1 4. b2-a1"""


ASKED = {
    "/v1/position": "fen=W:WKc1,Kd2,Ka3:BKe1",
    "/v1/line": "fen=W:WKc1,Kd2,Ka3:BKe1",
    "/v1/draw-cases": "fen=W:WKc1,Kd2,Ka3:BKe1",
    "/v1/game": "",
    "/v1/materials": "",
    "/v1/materials/KKMvK": "",
    "/v1/random": "",
    "/v1/rulesets": "",
    "/health": "",
}


@pytest.mark.parametrize("path", ASKED)
def test_every_field_is_documented(client: FlaskClient, path: str) -> None:
    api = (ROOT / "docs" / "api.md").read_text("utf-8")
    tables = " ".join(re.findall(r"^\|.*", api, re.MULTILINE))

    def names(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            yield from value
            for name, part in value.items():
                if name not in ("tags", "files"):  # the names in them are the game's own, or metrics
                    yield from names(part)
        elif isinstance(value, list):
            for part in value:
                yield from names(part)

    if path == "/v1/game":
        answer = client.post(path, data=GAMES_TO_JUDGE).get_json()
        assert all(any(game[name] for game in answer["games"]) for name in ("problems", "mistakes", "claims"))
    else:
        answer = client.get(f"{path}?{ASKED[path]}").get_json()
    for name in names(answer):
        assert f"`{name}`" in tables or name in ("cases", "rulesets"), name


def test_every_room_is_in_the_picture() -> None:
    section = (
        (ROOT / "docs" / "architecture.md").read_text("utf-8").partition("## Rooms")[2].partition("\n## ")[0]
    )
    first_column = " ".join(re.findall(r"^\| (`.*?) \|", section, re.MULTILINE))
    named = re.findall(r"`([a-z]+/[a-z]+)`", first_column)
    assert named == [f"{package}/{room}" for package, rooms in FLOORS.items() for room in rooms]


def anchor(heading: str) -> str:
    """What a link calls a heading."""
    return re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text("utf-8")):
        if link.startswith("https:"):
            continue
        path, _, heading = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        if heading:
            headings = re.findall(r"^#+ (.*)", target.read_text("utf-8"), re.MULTILINE)
            assert heading in map(anchor, headings), link
