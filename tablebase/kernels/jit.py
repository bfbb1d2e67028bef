"""The one place where numba's (untyped) decorators are applied, and where compiled kernels are kept.

numba's on-disk cache looks at the file a kernel stands in, not at the kernels and constants it takes from
other files: a changed helper would leave a stale solver on disk, and a stale solver writes wrong tables. So
the cache folder of a kernel is keyed by a hash of its file, of this one, and of every file of the project
that these import, together with the versions that made the machine code. What is edited while a process
runs is not kept by it.
"""

import _thread
import functools
import hashlib
import os
import re
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar, cast

import numba
import numpy as np
import platformdirs
from numba.core.caching import FunctionCache

F = TypeVar("F", bound=Callable[..., Any])


_BEGAN = time.time() - time.process_time()  # of this process, or a little later
_HERE = Path(__file__)
_ROOT = _HERE.parents[2]  # where the packages are
_IMPORT = re.compile(r"^ *(?:from +([\w.]+) +import +(\([^)]*\)|.*)|import +([\w.]+))", re.MULTILINE)


def _file_of(module: str) -> Path | None:
    """The file of a module of this project."""
    path = _ROOT.joinpath(*module.split("."))
    found = (each for each in (path.with_suffix(".py"), path / "__init__.py") if each.is_file())
    return next(found, None)


@functools.cache
def _imported(path: Path) -> frozenset[Path]:
    """The files of this project that a file imports, wherever in it."""
    modules: set[str] = set()
    for origin, names, module in _IMPORT.findall(path.read_text(encoding="utf-8")):
        modules.add(module or origin)
        modules.update(f"{origin}.{name}" for name in re.findall(r"\w+", names) if origin)
    return frozenset(filter(None, map(_file_of, modules)))


def _sources(path: Path) -> set[Path]:
    """A file and this one, all that they import, and all that those import."""
    found: set[Path] = set()
    new = {path, _HERE}
    while new:
        found |= new
        new = {imported for each in new for imported in _imported(each)} - found
    return found


def _source_hash(path: Path) -> str:
    digest = hashlib.sha256(f"numba {numba.__version__} numpy {np.__version__}".encode())
    for source in sorted(_sources(path)):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@functools.cache
def cache_dir(path: Path) -> Path | None:
    """The folder of a file's compiled kernels for these very sources, or None where none is writable
    (kernels are then compiled anew in each process).

    Args:
        path: the file that the kernels stand in.
    """
    if any(source.stat().st_mtime > _BEGAN for source in _sources(path)):
        return None  # what this process has of it may be older than what stands there
    base = os.environ.get("SHASHKI_KERNEL_CACHE")
    folder = Path(base) if base else Path(platformdirs.user_cache_dir("shashki")) / "kernels"
    folder = folder / _source_hash(path)
    return folder if _writable(folder) else None


class _KernelCache(FunctionCache):
    """numba's cache of a kernel, without which all works the same, only slower: what cannot be read there is
    compiled anew, and what cannot be written is not kept."""

    def load_overload(self, *arguments: Any) -> Any:
        usual: Any = super()
        try:
            return usual.load_overload(*arguments)
        except Exception:  # damaged pickles raise anything
            with suppress(OSError):
                usual.flush()
            return None

    def save_overload(self, *arguments: Any) -> None:
        usual: Any = super()
        with suppress(OSError):
            usual.save_overload(*arguments)


def kernel(function: F) -> F:
    """Compile `function` with numba: no objects, no GIL, cached on disk."""
    folder = cache_dir(Path(function.__code__.co_filename))
    if folder is not None:
        cast(Any, numba.config).CACHE_DIR = str(folder)  # where numba looks when it is told to cache
    compiled: Any = numba.njit(nogil=True, cache=folder is not None)(function)
    if folder is not None and hasattr(compiled, "_cache"):
        compiled._cache = cast(Any, _KernelCache)(function)
    return cast(F, compiled)


def inlined(function: F) -> F:
    """A small kernel that is copied into its callers (never called from Python, so never cached itself)."""
    return cast(F, numba.njit(nogil=True, forceinline=True)(function))


@contextmanager
def interruptible() -> Iterator[None]:
    """While kernels are compiled in the main thread: let Ctrl-C stop that.

    LLVM calls back into Python, and an exception that comes up in there is dropped with a message. A Ctrl-C
    that meets this fate is sent again, until it is heard. Where it is heard in the midst of making an object,
    something else may fail for the half of it that is missing: that is no news, and not what has happened.
    """
    usual, handler = sys.unraisablehook, signal.getsignal(signal.SIGINT)
    was_asked = False

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal was_asked
        was_asked = True
        if callable(handler):
            handler(number, frame)

    def send_again(unraisable: "sys.UnraisableHookArgs") -> None:
        if unraisable.exc_type is KeyboardInterrupt:
            threading.Timer(0.1, _thread.interrupt_main).start()
        elif not was_asked:
            usual(unraisable)

    in_charge = callable(handler) and threading.current_thread() is threading.main_thread()
    if in_charge:
        signal.signal(signal.SIGINT, ask)
    sys.unraisablehook = send_again
    try:
        yield
    except Exception as error:
        if was_asked:
            raise KeyboardInterrupt from error
        raise
    finally:
        sys.unraisablehook = usual
        if in_charge:
            signal.signal(signal.SIGINT, handler)
