"""The files of the page, without a browser: `e2e/` has the page at work."""

import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from paths import ROOT

from tablebase.games.adjudication import ProblemKind
from tablebase.games.pdn import FaultKind

STATIC = ROOT / "server" / "static"
FILES = sorted(path for path in STATIC.rglob("*") if path.is_file())
MODULES = [path for path in FILES if path.suffix == ".js"]
LANGUAGES = [path for path in MODULES if path.parent.name == "lang"]
TEXT = {path: path.read_text("utf-8") for path in FILES}
TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".md": "text/markdown",
}


def name(path: Path) -> str:
    return str(path.relative_to(STATIC))


def imports(path: Path) -> list[tuple[str, Path]]:
    """The imports of a module: the names, and the module that they come from."""
    found = re.findall(r'^import (.+?) from "(.+?)";', TEXT[path], re.MULTILINE | re.DOTALL)
    return [(names, (path.parent / target).resolve()) for names, target in found]


@pytest.mark.parametrize("path", FILES, ids=name)
def test_every_file_is_served(client: FlaskClient, path: Path) -> None:
    with client.get(f"/static/{name(path)}") as response:
        assert response.status_code == 200
        assert response.mimetype == TYPES[path.suffix]
        assert response.data == path.read_bytes()


def test_the_page_itself(client: FlaskClient) -> None:
    with client.get("/") as response:
        assert response.status_code == 200
        assert response.data == (STATIC / "index.html").read_bytes()


@pytest.mark.parametrize("path", FILES, ids=name)
def test_nothing_is_loaded_from_elsewhere(path: Path) -> None:
    allowed = "http://www.w3.org/2000/svg"
    addresses = re.findall(r"""(?:https?:)?//[\w.-]+\.[a-z]+[^\s"'`)]*""", TEXT[path])
    assert set(addresses) <= {allowed}


@pytest.mark.parametrize("path", [path for path in MODULES if path not in LANGUAGES], ids=name)
def test_modules_are_short(path: Path) -> None:
    lines = TEXT[path].splitlines()
    assert len(lines) <= 500
    # The formatter leaves comments and strings alone.
    assert max(map(len, lines)) <= 110


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_imported_names_exist_and_are_used(path: Path) -> None:
    for names, module in imports(path):
        assert module in TEXT, module
        for imported in re.findall(r"\w+", names) if names.startswith("{") else []:
            assert re.search(rf"^export (?:async )?(?:const|class|function) {imported}\b", TEXT[module], re.M)
            rest = TEXT[path].replace(names, "")
            assert re.search(rf"\b{imported}\b", rest), f"{imported} is imported and not used"


def test_no_module_imports_itself_through_others() -> None:
    importers = {path: {module for _, module in imports(path)} for path in MODULES}
    while leaves := {path for path, modules in importers.items() if not modules}:
        importers = {path: modules - leaves for path, modules in importers.items() if path not in leaves}
    assert not importers, "a circle of imports: " + ", ".join(map(name, importers))


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_what_is_exported_is_used(path: Path) -> None:
    tests = [test.read_text("utf-8") for test in Path(__file__).parent.glob("*.py")]
    others = "".join([*(text for other, text in TEXT.items() if other != path), *tests])
    for exported in re.findall(r"^export (?:async )?(?:const|class|function) (\w+)", TEXT[path], re.M):
        assert re.search(rf"\b{exported}\b", others), exported


def test_the_page_asks_only_for_addresses_that_there_are(client: FlaskClient) -> None:
    asked = set(re.findall(r'ask\(["`](/v1/[a-z-]+)', TEXT[STATIC / "api.js"]))
    routes = {re.sub(r"/<.*", "", rule.rule) for rule in client.application.url_map.iter_rules()}
    assert len(asked) >= 7
    assert asked <= routes
    # And nothing but `api.js` asks.
    assert [name(path) for path in MODULES if "fetch(" in TEXT[path]] == ["api.js"]


def test_the_page_preloads_every_module_that_it_imports() -> None:
    index = TEXT[STATIC / "index.html"]
    assert re.findall(r'<script.* src="/static/(.+?)">', index) == ["theme.js", "main.js"]
    preloaded = re.findall(r'<link rel="modulepreload" href="/static/(.+?)">', index)
    imported: set[Path] = set()
    new = {STATIC / "main.js"}
    while new:
        imported |= new
        new = {module for path in new for _, module in imports(path)} - imported
    assert preloaded == sorted(name(path) for path in imported if name(path) != "main.js")
    assert {name(path) for path in MODULES} == {"theme.js", *map(name, imported)}


def test_elements_that_modules_look_for_are_there() -> None:
    ids = set(re.findall(r'\bid(?:="|: ")([\w-]+)"', "".join(TEXT.values())))
    for path in MODULES:
        for wanted in re.findall(r'find\("#([\w-]+)"', TEXT[path]):
            assert wanted in ids, (name(path), wanted)


def test_the_messages_that_the_page_names_are_there() -> None:
    english = TEXT[STATIC / "lang" / "en.js"]
    top = set(re.findall(r"^  (\w+): ", english, re.MULTILINE))
    for key in re.findall(r'data-t(?:-\w+)?="([\w.]+)"', TEXT[STATIC / "index.html"]):
        assert key.split(".")[0] in top, key


def test_the_page_says_what_its_distances_measure() -> None:
    english = TEXT[STATIC / "lang" / "en.js"]
    assert "DTC: plies to the next capture, man's move or end of the game" in english
    assert "DTW: plies to the end of the game, without draw rules" in english
    assert "DTB: plies to the next capture, promotion or end of the game" in english


def test_the_examples_are_won(client: FlaskClient) -> None:
    examples = re.findall(r'"([WB]:W[^"]+)"', TEXT[STATIC / "views" / "analysis.js"])
    assert len(examples) >= 3
    for fen in examples:
        with client.get("/v1/position", query_string={"fen": fen}) as response:
            assert response.get_json()["rules_outcome"] == "win"


@pytest.mark.parametrize("language", ["en", "ru", "lv"])
def test_problems_have_sentences(language: str) -> None:
    """A player reads of a problem in the language of the page: every kind of it has a message there."""
    problems = (STATIC.parent / "problems.py").read_text("utf-8")
    kinds = set(re.findall(r'"([a-z]+(?:-[a-z]+)+|busy)",\s*"[A-Z]', problems))
    assert {"bad-notation", "busy", "bad-table"} <= kinds
    # Only a program asks in such a way.
    kinds -= {"bad-parameter", "bad-body", "unsupported-media-type"}
    wrong = {*map(str, ProblemKind), *map(str, FaultKind)}
    text = TEXT[STATIC / "lang" / f"{language}.js"]
    for kind in kinds | wrong:
        assert re.search(rf'[\s"]{kind}"?: "', text), kind


def test_the_rulesets_have_names(client: FlaskClient) -> None:
    with client.get("/v1/rulesets") as response:
        rulesets = [ruleset["name"] for ruleset in response.get_json()["rulesets"]]
    for language in ("en", "ru", "lv"):
        text = TEXT[STATIC / "lang" / f"{language}.js"]
        for ruleset in rulesets:
            assert re.search(rf'\b"?{ruleset}"?: "', text), (language, ruleset)
