"""Compilation of kernels with numba, and the cache of compiled kernels on disk.

This is the only module that applies numba's decorators, which are untyped.

numba's own cache checks the file of a kernel, but not the kernels and constants that it imports from other
files. After a change of a helper it would load an old solver, which would write wrong tables. So the cache
folder of a kernel is named by a hash. The hash covers the file of the kernel, this file, all files of the
project that they import, and the versions of the compilers. A process does not cache kernels of files that
have changed since it started.
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

# numba does not declare the types of these.
_njit: Any = numba.njit
_unliteral: Any = numba.types.unliteral
_config: Any = numba.config


_BEGAN = time.time() - time.process_time()  # start of this process, or a little later
_HERE = Path(__file__)
_ROOT = _HERE.parents[2]  # where the packages are
_IMPORT = re.compile(r"^ *(?:from +([\w.]+) +import +(\([^)]*\)|.*)|import +([\w.]+))", re.MULTILINE)


def _file_of(module: str) -> Path | None:
    """Return the file of a module of this project, or None."""
    path = _ROOT.joinpath(*module.split("."))
    found = (each for each in (path.with_suffix(".py"), path / "__init__.py") if each.is_file())
    return next(found, None)


@functools.cache
def _imported(path: Path) -> frozenset[Path]:
    """Return the files of this project that a file imports, also inside functions."""
    modules: set[str] = set()
    for origin, names, module in _IMPORT.findall(path.read_text(encoding="utf-8")):
        modules.add(module or origin)
        modules.update(f"{origin}.{name}" for name in re.findall(r"\w+", names) if origin)
    return frozenset(filter(None, map(_file_of, modules)))


def _sources(path: Path) -> set[Path]:
    """Return a file, this file, and all files that they import directly or indirectly."""
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
    """Return the cache folder for the kernels of a file and its present sources.

    None if no folder is writable, or if a source has changed since this process started. Kernels are then
    compiled again in each process.

    Args:
        path: the file that defines the kernels.
    """
    if any(source.stat().st_mtime > _BEGAN for source in _sources(path)):
        return None  # this process may have loaded an older version of the file
    base = os.environ.get("SHASHKI_KERNEL_CACHE")
    folder = Path(base) if base else Path(platformdirs.user_cache_dir("shashki")) / "kernels"
    folder = folder / _source_hash(path)
    return folder if _writable(folder) else None


class _SourcesLocator(UserProvidedCacheLocator):
    """Locator by which numba keeps kernels directly in the cache folder and takes them as up to date.

    By default numba adds a folder named after the path of the source file, and checks that file's time and
    size. The name of our folder is a hash of all sources, so all environments and checkouts share kernels.
    """

    def get_cache_path(self) -> str:
        return str(_config.CACHE_DIR)

    def get_source_stamp(self) -> str:
        return Path(_config.CACHE_DIR).name


class _KernelCacheImpl(CompileResultCacheImpl):
    _locator_classes = [_SourcesLocator]  # noqa: RUF012


class _KernelCache(FunctionCache):
    """numba's cache of one kernel, with all errors ignored.

    A kernel that cannot be read from the cache is compiled, and one that cannot be written is not kept.
    """

    _impl_class = _KernelCacheImpl

    def load_overload(self, *arguments: Any) -> Any:
        usual: Any = super()
        try:
            return usual.load_overload(*arguments)
        except Exception:  # a damaged pickle may raise any exception
            with suppress(OSError):
                usual.flush()
            return None

    def save_overload(self, *arguments: Any) -> None:
        usual: Any = super()
        with suppress(OSError):
            usual.save_overload(*arguments)


_NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options that omit the wrappers for calls from Python and C: half of the code for tuples of arrays."""


def kernel(function: F) -> F:
    """Compile a function that Python calls. It runs without the GIL and is cached on disk."""
    return cast(F, _cached(function, _nrt=True))


def step(function: F) -> F:
    """Compile a `kernel` that neither creates nor returns arrays.

    numba then omits reference counts, which are half of the code if tuples of many arrays are passed on.
    Compilation fails if the function creates an array.
    """
    return cast(F, _cached(function, _nrt=False))


def inner(function: F) -> F:
    """Compile a `step` that only kernels call. It is cached as part of its callers."""
    return cast(F, _only_for_kernels(_njit(nogil=True, _nrt=False, **_NO_WRAPPERS)(function)))


def _only_for_kernels(compiled: Any) -> Any:
    """Make a call from Python raise TypeError; without a wrapper it would crash."""
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
    """Compile an `inner` or `inlined` kernel again, as a `step` that Python can call."""
    return step(cast(F, getattr(compiled, "py_func", compiled)))


def inlined(function: F) -> F:
    """Compile a small function that only kernels call, inlined into each of them."""
    return cast(F, _only_for_kernels(_njit(nogil=True, forceinline=True, **_NO_WRAPPERS)(function)))


def _cached(function: Any, **options: Any) -> Any:
    folder = cache_dir(Path(function.__code__.co_filename))
    compiled: Any = _njit(nogil=True, cache=False, no_cfunc_wrapper=True, **options)(function)
    if folder is not None and hasattr(compiled, "_cache"):
        _config.CACHE_DIR = str(folder)  # numba reads this when it creates a cache
        compiled._cache = cast(Any, _KernelCache)(function)
    return _one_signature(compiled)


def _one_signature(compiled: Any) -> Any:
    """Make numba compile a kernel once for all values of an argument.

    numba gives a literal, and a counter that starts with one, a type of its own. It would compile the kernel
    again for that type.
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
    """Compile a kernel for the types of these arguments, or load it from the cache."""
    if hasattr(compiled, "compile"):
        compiled.compile(tuple(map(numba.typeof, arguments)))


def is_compiled(compiled: Any, *arguments: Any) -> bool:
    """Whether a kernel for the types of these arguments is in this process or in the cache.

    True also if kernels are not cached, because no other process could then compile it for this one.
    """
    cache = getattr(compiled, "_cache", None)
    if not isinstance(cache, _KernelCache):
        return True
    types = tuple(map(numba.typeof, arguments))
    return bool(types in compiled.overloads or cache.load_overload(types, compiled.targetctx))


@contextmanager
def reported(report: Callable[[str], None]) -> Iterator[None]:
    """Return a context in which `report` receives the name of each kernel of the project once compiled.

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
    """Return a context in which Ctrl-C stops the compilation of kernels in the main thread.

    LLVM calls back into Python and swallows exceptions that occur there. A KeyboardInterrupt that is lost in
    this way is sent again until Python sees it. It may interrupt the construction of an object, so that
    another error follows from the unfinished object. Such an error becomes a KeyboardInterrupt.
    """
    usual, handler = sys.unraisablehook, signal.getsignal(signal.SIGINT)
    interrupted = False

    def note_and_handle(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        if callable(handler):
            handler(number, frame)

    def send_again(unraisable: "sys.UnraisableHookArgs") -> None:
        if unraisable.exc_type is KeyboardInterrupt:
            threading.Timer(0.1, _thread.interrupt_main).start()
        elif not interrupted:
            usual(unraisable)

    is_main = callable(handler) and threading.current_thread() is threading.main_thread()
    if is_main:
        signal.signal(signal.SIGINT, note_and_handle)
    sys.unraisablehook = send_again
    try:
        yield
    except Exception as error:
        if interrupted:
            raise KeyboardInterrupt from error
        raise
    finally:
        sys.unraisablehook = usual
        if is_main:
            signal.signal(signal.SIGINT, handler)
