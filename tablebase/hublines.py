"""A line of the Hub protocol: a command and its arguments, `pos pos=W... moves="9-13 24-20"`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tablebase.errors import NotationError, quote

_ARGUMENT = re.compile(r'\s+([^\s="]+)(?:\s*=\s*(?:"([^"]*)"|([^\s="]+)))?')
_COMMAND = re.compile(r"\s*([^\s=\"]+)")
_NEEDS_QUOTES = re.compile(r'[\s="]|^$')


def parse_hub_line(line: str) -> tuple[str, dict[str, str]]:
    """The command of a line, and its arguments in their order; one without a value has the empty text.

    A line of blanks is the empty command.

    Raises:
        NotationError: the line has another form.
    """
    text = line.rstrip()
    if not text:
        return "", {}
    command = _COMMAND.match(text)
    at, arguments = (command.end() if command else 0), dict[str, str]()
    while command and at < len(text) and (found := _ARGUMENT.match(text, at)):
        arguments[found[1]] = found[2] if found[2] is not None else found[3] or ""
        at = found.end()
    if command is None or at < len(text):
        raise NotationError(f"{quote(text[at:].strip())} is no command or argument; write name=value")
    return command[1], arguments


def format_hub_line(command: str, arguments: Mapping[str, str]) -> str:
    """A line for `parse_hub_line`; quotes in a value become single ones, as the protocol has no way to write
    them."""
    return " ".join([command, *(f"{name}={_value(value)}" for name, value in arguments.items())])


def _value(value: str) -> str:
    plain = re.sub(r"\s+", " ", value).replace('"', "'")
    return f'"{plain}"' if _NEEDS_QUOTES.search(plain) else plain
