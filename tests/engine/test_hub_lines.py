"""Lines of the Hub protocol."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablebase.engine.hub import format_hub_line, parse_hub_line
from tablebase.errors import NotationError


@pytest.mark.parametrize(
    ("line", "command", "arguments"),
    [
        ("", "", {}),
        ("  \n", "", {}),
        ("hub\n", "hub", {}),
        ("go think", "go", {"think": ""}),
        ("level moves=9 time=291.587", "level", {"moves": "9", "time": "291.587"}),
        ('  pos  pos=We moves="9-13 24-20"\r\n', "pos", {"pos": "We", "moves": "9-13 24-20"}),
        ('error message=""', "error", {"message": ""}),
        ("set-param name = book value= true", "set-param", {"name": "book", "value": "true"}),
    ],
)
def test_parse_hub_lines(line: str, command: str, arguments: dict[str, str]) -> None:
    assert parse_hub_line(line) == (command, arguments)


@pytest.mark.parametrize("line", ["=", '"quit', 'pos moves="9-13', "pos =x", "pos a=b=c", 'pos a="b"c"'])
def test_malformed_lines_are_refused(line: str) -> None:
    with pytest.raises(NotationError, match="not a command or an argument"):
        parse_hub_line(line)


@given(st.dictionaries(st.from_regex(r"[a-z-]{1,9}", fullmatch=True), st.text(), max_size=4))
def test_formatted_line_is_parsed_back(arguments: dict[str, str]) -> None:
    line = format_hub_line("done", arguments)
    assert "\n" not in line
    command, read = parse_hub_line(line)
    assert (command, list(read)) == ("done", list(arguments))
    for name, value in arguments.items():
        if value == " ".join(value.split()) and '"' not in value:
            assert read[name] == value


@given(st.text())
def test_any_line_is_parsed_or_refused(line: str) -> None:
    with suppress(NotationError):
        command, arguments = parse_hub_line(line)
        assert parse_hub_line(format_hub_line(command, arguments))[0] == command
