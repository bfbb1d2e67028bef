"""Which program this is: workers of another one would write other files."""

import functools
import hashlib
from pathlib import Path

from generator.pairfiles import generator_version
from tablebase.format import FORMAT_VERSION

_ROOT = Path(__file__).parents[2]


@functools.cache
def identity() -> str:
    """The version of this program, and a digest of the sources that tables depend on."""
    digest = hashlib.sha256(str(FORMAT_VERSION).encode())
    for package in ("generator", "tablebase"):
        for path in sorted((_ROOT / package).rglob("*.py")):
            digest.update(str(path.relative_to(_ROOT)).encode() + b"\0" + path.read_bytes())
    return f"{generator_version()} ({digest.hexdigest()[:12]})"
