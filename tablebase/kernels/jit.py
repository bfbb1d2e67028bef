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

import llvmlite
import numba
import numba.core.dispatcher
import numba.core.event
import numpy as np
import platformdirs
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator

F = TypeVar("F", bound=Callable[..., Any])

# numba's own types say nothing of the options and functions used here.
_njit: Any = numba.njit
_unliteral: Any = numba.types.unliteral
_config: Any = numba.config


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
    versions = f"numba {numba.__version__} llvmlite {llvmlite.__version__} numpy {np.__version__}"
    digest = hashlib.sha256(versions.encode())
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


class _SourcesLocator(UserProvidedCacheLocator):
    """Tells numba that kernels lie directly in the folder, and that they fit the sources.

    numba would add a folder named after the path of the source file, and look at that file's time and size.
    The name of our folder is a hash of all sources, so any environment or checkout finds the same kernels.
    """

    def get_cache_path(self) -> str:
        return str(_config.CACHE_DIR)

    def get_source_stamp(self) -> str:
        return Path(_config.CACHE_DIR).name


class _KernelCacheImpl(CompileResultCacheImpl):
    _locator_classes = [_SourcesLocator]  # noqa: RUF012


class _KernelCache(FunctionCache):
    """numba's cache of a kernel, without which all works the same, only slower: what cannot be read there is
    compiled anew, and what cannot be written is not kept."""

    _impl_class = _KernelCacheImpl

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


_NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Leaves out the code by which Python and C call a kernel: half of it for tuples of arrays."""


def kernel(function: F) -> F:
    """Compile a function that Python calls: without objects and the GIL, cached on disk."""
    return cast(F, _cached(function, _nrt=True))


def step(function: F) -> F:
    """Compile a `kernel` that makes and returns no arrays.

    numba then counts no references. Counting them takes half of the code where tuples of many arrays are
    handed on. Compiling fails if the function makes an array.
    """
    return cast(F, _cached(function, _nrt=False))


def inner(function: F) -> F:
    """Compile a `step` that only kernels call. It is cached as a part of its callers."""
    return cast(F, _only_for_kernels(_njit(nogil=True, _nrt=False, **_NO_WRAPPERS)(function)))


def _only_for_kernels(compiled: Any) -> Any:
    """Turn a call from Python, which would crash for lack of a wrapper, into a TypeError."""
    usual: Any = type(compiled)
    if not issubclass(usual, numba.core.dispatcher.Dispatcher):
        return compiled  # with NUMBA_DISABLE_JIT

    def refuse(kernel: Any, *arguments: Any, **keywords: Any) -> None:
        raise TypeError(
            f"only kernels can call {kernel.py_func.__name__}; in Python use for_python({kernel})"
        )

    compiled.__class__ = type("KernelOnly", (usual,), {"__call__": refuse})
    return _one_signature(compiled)


def for_python(compiled: F) -> F:
    """Compile an `inner` or `inlined` kernel once more, as a `step` that Python can call."""
    return step(cast(F, getattr(compiled, "py_func", compiled)))


def inlined(function: F) -> F:
    """Compile a small function that only kernels call, and that is copied into each of them."""
    return cast(F, _only_for_kernels(_njit(nogil=True, forceinline=True, **_NO_WRAPPERS)(function)))


def _cached(function: Any, **options: Any) -> Any:
    folder = cache_dir(Path(function.__code__.co_filename))
    compiled: Any = _njit(nogil=True, cache=False, no_cfunc_wrapper=True, **options)(function)
    if folder is not None and hasattr(compiled, "_cache"):
        _config.CACHE_DIR = str(folder)  # where numba looks when it makes a cache
        compiled._cache = cast(Any, _KernelCache)(function)
    return _one_signature(compiled)


def _one_signature(compiled: Any) -> Any:
    """Compile a kernel once for all values of an argument.

    numba gives a literal, and a counter that starts as one, a type of its own, and would compile the kernel
    once more for that type.
    """
    usual = getattr(compiled, "get_call_template", None)
    if usual is None:
        return compiled  # with NUMBA_DISABLE_JIT

    def get_call_template(arguments: Any, keywords: Any) -> Any:
        plain = tuple(_unliteral(each) for each in arguments)
        return usual(plain, {name: _unliteral(each) for name, each in keywords.items()})

    compiled.get_call_template = get_call_template
    return compiled


def compile_for(compiled: Any, *arguments: Any) -> None:
    """Compile a kernel for arguments of these types, or load it from the cache."""
    if hasattr(compiled, "compile"):
        compiled.compile(tuple(map(numba.typeof, arguments)))


def is_compiled(compiled: Any, *arguments: Any) -> bool:
    """Whether a kernel for arguments of these types is in this process or in the cache.

    True also where kernels are not cached, as no other process could then compile it for this one.
    """
    cache = getattr(compiled, "_cache", None)
    if not isinstance(cache, _KernelCache):
        return True
    types = tuple(map(numba.typeof, arguments))
    return bool(types in compiled.overloads or cache.load_overload(types, compiled.targetctx))


@contextmanager
def reported(report: Callable[[str], None]) -> Iterator[None]:
    """Within the context, `report` the name of each of our kernels after it is compiled.

    Kernels that are loaded from the cache are not reported.
    """

    class Listener(numba.core.event.Listener):
        def on_start(self, event: Any) -> None:
            pass

        def on_end(self, event: Any) -> None:
            function = event.data["dispatcher"].py_func
            if function.__module__.partition(".")[0] in ("generator", "tablebase"):
                report(f"{function.__module__.rpartition('.')[2]}.{function.__name__}")

    with numba.core.event.install_listener("numba:compile", Listener()):
        yield


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
