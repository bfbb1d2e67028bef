"""Types of the options of the generator's commands.

Each function returns the value of an option's text, and raises ArgumentTypeError if the text is invalid.
"""

import argparse

from tablebase.board.material import Material
from tablebase.errors import MaterialError, quote

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_LONGEST_NUMBER = 9  # digits


def _number(text: str) -> int:
    """Return the number that a text of at most _LONGEST_NUMBER digits stands for; -1 for any other text."""
    return int(text) if text.isdecimal() and len(text) <= _LONGEST_NUMBER else -1


def pieces(text: str) -> int:
    """Return a number of pieces, 2 or more."""
    found = _number(text)
    if found < 2:
        raise argparse.ArgumentTypeError(
            f"{quote(text)} is not a number of pieces: 2 or more, both sides together"
        )
    return found


def jobs(text: str) -> int:
    """Return a number of threads, 1 or more."""
    found = _number(text)
    if found < 1:
        raise argparse.ArgumentTypeError(f"{quote(text)} is not a number of threads: 1 or more")
    return found


def cores(text: str) -> int:
    """Return a number of cores, 1 or more."""
    found = _number(text)
    if found < 1:
        raise argparse.ArgumentTypeError(f"{quote(text)} is not a number of cores: 1 or more")
    return found


def seed(text: str) -> int:
    """Return a seed of random numbers, 0 or more."""
    found = int(text) if text.isdecimal() and len(text) <= 2 * _LONGEST_NUMBER else -1
    if found < 0:
        raise argparse.ArgumentTypeError(f"{quote(text)} is not a seed: a whole number, 0 or more")
    return found


def materials(text: str) -> tuple[Material, ...]:
    """Return the materials of a comma-separated list."""
    try:
        found = tuple(Material.parse(name.strip()) for name in text.split(",") if name.strip())
    except MaterialError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not found:
        raise argparse.ArgumentTypeError("no material is named; write materials like KKKvK,KKMvKM")
    return found


def sample(text: str) -> float:
    """Return a part of the positions, more than 0 and at most 1."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a part of the positions: more than 0, at most 1")
    return found


def memory(text: str) -> int:
    """Return an amount of memory or disk, in bytes."""
    return _amount(text, "an amount of memory: bytes, or a number with K, M, G or T, like 8G")


def positions(text: str) -> int:
    """Return a number of positions, 1 or more."""
    return _amount(text, "a number of positions: 1 or more, or a number with K, M or G, like 200M")


def _amount(text: str, what: str) -> int:
    """Return the value of a number, 1 or more, with or without a unit; `what` names it in the error."""
    number, unit = text[:-1], text[-1:].upper()
    if unit.isdecimal():
        number, unit = text, ""
    try:
        size = float(number) * _UNITS[unit]
    except (ValueError, KeyError):
        size = 0.0
    if not 1 <= size < float("inf"):
        raise argparse.ArgumentTypeError(f"{quote(text)} is not {what}")
    return int(size)


def add_jobs_option(parser: argparse.ArgumentParser) -> None:
    """Add the option `--jobs`."""
    parser.add_argument("--jobs", type=jobs, metavar="J", help="number of threads (default: one per core)")


_SCHEMES = ("tcp://", "tls://", "ucx://", "ws://", "wss://")


def cluster(text: str) -> str:
    """Return the address of a cluster."""
    kind, _, number = text.partition(":")
    if kind == "local":
        if _number(number) < 1:
            raise argparse.ArgumentTypeError(
                f"{quote(text)} is not a local cluster: write local:K to start K workers on this machine"
            )
    elif not text.startswith(_SCHEMES):
        raise argparse.ArgumentTypeError(
            f"{quote(text)} is not the address of a scheduler: write tcp://10.0.0.1:8786, or local:K to "
            "start K workers on this machine"
        )
    return text
