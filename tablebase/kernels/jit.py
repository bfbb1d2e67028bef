"""The one place where numba's (untyped) decorators are applied, and where compiled kernels are kept.

numba's on-disk cache looks at the file a kernel stands in, not at the kernels it calls from other files: a
changed helper would leave a stale solver on disk, and a stale solver writes wrong tables. So the cache folder
of a kernel is keyed by a hash of every source file of its package and of this one, together with the versions
that made the machine code.
"""

import _thread
import functools
import hashlib
import os
import signal
import sys
import tempfile
import threading
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


_HERE = Path(__file__).parent


def _source_hash(package: Path) -> str:
    digest = hashlib.sha256(f"numba {numba.__version__} numpy {np.__version__}".encode())
    for folder in dict.fromkeys((_HERE, package)):
        for path in sorted(folder.glob("*.py")):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@functools.cache
def cache_dir(package: Path = _HERE) -> Path | None:
    """The folder of a package's compiled kernels for these very sources, or None where none is writable
    (kernels are then compiled anew in each process).

    Args:
        package: the folder of its sources.
    """
    base = os.environ.get("SHASHKI_KERNEL_CACHE")
    folder = Path(base) if base else Path(platformdirs.user_cache_dir("shashki")) / "kernels"
    folder = folder / _source_hash(package)
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
    folder = cache_dir(Path(function.__code__.co_filename).parent)
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
