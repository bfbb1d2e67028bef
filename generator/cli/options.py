"""Types of the options of the generator's commands: text to values, or what is wrong with it."""

import argparse

from tablebase.board.material import Material
from tablebase.errors import MaterialError, quote

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_LONGEST_NUMBER = 9  # digits


def _number(text: str) -> int:
    """A number of not too many digits; -1 for anything else."""
    return int(text) if text.isdecimal() and len(text) <= _LONGEST_NUMBER else -1


def pieces(text: str) -> int:
    """A number of pieces."""
    found = _number(text)
    if found < 2:
        raise argparse.ArgumentTypeError(
            f"{quote(text)} is no number of pieces: 2 or more, both sides together"
        )
    return found


def jobs(text: str) -> int:
    """A number of threads."""
    found = _number(text)
    if found < 1:
        raise argparse.ArgumentTypeError(f"{quote(text)} is no number of threads: 1 or more")
    return found


def cores(text: str) -> int:
    """A number of cores."""
    found = _number(text)
    if found < 1:
        raise argparse.ArgumentTypeError(f"{quote(text)} is no number of cores: 1 or more")
    return found


def seed(text: str) -> int:
    """A seed of random numbers."""
    found = int(text) if text.isdecimal() and len(text) <= 2 * _LONGEST_NUMBER else -1
    if found < 0:
        raise argparse.ArgumentTypeError(f"{quote(text)} is no seed: a whole number, 0 or more")
    return found


def materials(text: str) -> tuple[Material, ...]:
    """Materials."""
    try:
        found = tuple(Material.parse(name.strip()) for name in text.split(",") if name.strip())
    except MaterialError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not found:
        raise argparse.ArgumentTypeError("no material is named; write them like KKKvK,KKMvKM")
    return found


def sample(text: str) -> float:
    """A part of the positions."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no part of the positions: more than 0, at most 1")
    return found


def memory(text: str) -> int:
    """An amount of memory, in bytes."""
    return _amount(text, "amount of memory: bytes, or a number with K, M, G or T, like 8G")


def positions(text: str) -> int:
    """A number of positions."""
    return _amount(text, "number of positions: 1 or more, or a number with K, M or G, like 200M")


def _amount(text: str, what: str) -> int:
    """A number, 1 or more, that may have a unit."""
    number, unit = text[:-1], text[-1:].upper()
    if unit.isdecimal():
        number, unit = text, ""
    try:
        size = float(number) * _UNITS[unit]
    except (ValueError, KeyError):
        size = 0.0
    if not 1 <= size < float("inf"):
        raise argparse.ArgumentTypeError(f"{quote(text)} is no {what}")
    return int(size)


def add_jobs_option(parser: argparse.ArgumentParser) -> None:
    """Add `--jobs`."""
    parser.add_argument("--jobs", type=jobs, metavar="J", help="threads to use (default: one a core)")


_SCHEMES = ("tcp://", "tls://", "ucx://", "ws://", "wss://")


def cluster(text: str) -> str:
    """The address of a cluster."""
    kind, _, number = text.partition(":")
    if kind == "local":
        if _number(number) < 1:
            raise argparse.ArgumentTypeError(
                f"{quote(text)} is no cluster on this machine: local:K, for K worker processes"
            )
    elif not text.startswith(_SCHEMES):
        raise argparse.ArgumentTypeError(
            f"{quote(text)} is no address of a scheduler: one is like tcp://10.0.0.1:8786; or local:K, for K "
            "worker processes on this machine"
        )
    return text
