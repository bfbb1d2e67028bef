"""The examples in docstrings do what they show."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for package in ("tablebase", "generator", "server")
    for path in sorted((ROOT / package).rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_are_right(module: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert tried
    assert not failed


def test_the_most_used_names_have_examples() -> None:
    finder = doctest.DocTestFinder(recurse=False, exclude_empty=True)
    tablebase = importlib.import_module("tablebase")
    for name in ("Position", "parse_move", "Material", "Clock", "find_ruleset"):
        assert any(test.examples for test in finder.find(getattr(tablebase, name))), name
