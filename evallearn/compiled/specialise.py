"""Specialise a kernel template to a game and an evaluator, and keep the machine code on disk.

A template is an ordinary Python file that declares the names it is given (see `bindings.py`). It is executed as a
fresh module per set of bindings (the game's functions, the evaluator's function, sizes), which become its globals: no
closures, no generated text. While it is executed Numba's cache folder is `<cache>/<fingerprint of all bindings>`, so
that a kernel is found again by the next process and never when anything below it has changed.

With NUMBA_DISABLE_JIT=1 the same kernels run as plain Python: slow, but a debugger can step through a game's rules.
"""

from __future__ import annotations

import functools
import importlib.util
import linecache
import logging
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TypeAlias

import numpy as np
from numba import config
from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError, UnsupportedBytecodeError

from evallearn.compiled.bindings import Given, bindings_of
from evallearn.compiled.fingerprint import KERNEL_PREFIX, fingerprint, fingerprint_and_functions
from evallearn.compiled.kept import check_what_is_kept
from evallearn.core.rules import Rules
from evallearn.errors import GameError

log = logging.getLogger("evallearn.compiled")
Kernel: TypeAlias = Dispatcher
"""A function that Numba compiles."""
HERE = Path(__file__).parent
TOOLKIT = (HERE / "bits.py", HERE / "rng.py", HERE / "table.py")
"""What templates import themselves, out of the fingerprint's sight: the whole text counts."""
COMPILE_ERRORS = (NumbaError, UnsupportedBytecodeError)
"""What Numba raises where it cannot compile; the second is no NumbaError."""
WITHOUT_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
NOWHERE = Path(os.devnull) / "evallearn"
"""No folder can be made here, so nothing is cached."""
_lock = threading.RLock()
_loaded: dict[str, ModuleType] = {}
_compiled: dict[FunctionType, str] = {}
"""Every function that a kernel of this process was made from, and its fingerprint at that time."""


def cache_folder() -> Path:
    """Return where kernels are kept: $EVALLEARN_CACHE, or the user's cache folder."""
    if given := os.environ.get("EVALLEARN_CACHE"):
        return Path(given).expanduser().absolute()
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evallearn" / "kernels"
    except RuntimeError:  # a user without a home
        return NOWHERE


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def specialise(template: Path, *given: Given, **more: object) -> ModuleType:
    """Return the template as a module of its own for these bindings (the same module for the same bindings).

    given: the game's rules, what was made of other templates, and a model's hooks; more: what cannot be taken from
    them, by name.
    """
    bindings = bindings_of(template, given, more)
    sizes = [(r.n_actions, r.max_actions, r.max_outcomes) for r in given if isinstance(r, Rules)]
    # Sizes of records: a second signature of a recursive function breaks Numba's cache (#6061).
    roots = [sizes, sorted(bindings), *(bindings[k] for k in sorted(bindings))]
    digest, functions = fingerprint_and_functions(roots, [template, *TOOLKIT])
    with _lock:
        if digest not in _loaded:
            _refuse_outdated(functions)
            _loaded[digest] = _execute(template, digest, bindings)
        return _loaded[digest]


def _refuse_outdated(functions: list[FunctionType]) -> None:
    """Refuse a function that was redefined since Numba compiled it: it compiles it once per process.

    With what was compiled first we would get the old code, and we would keep it on disk under the new fingerprint.
    """
    now = {function: fingerprint([function]) for function in reversed(functions)}  # callees first
    outdated = [f"{f.__module__}.{f.__qualname__}" for f, digest in now.items() if _compiled.get(f, digest) != digest]
    if outdated:
        raise GameError(
            f"compiled before something they use was redefined: {', '.join(outdated)}; "
            "run their own definitions again (in a notebook: their cells), in this order, or restart Python"
        )
    _compiled.update(now)


def _execute(template: Path, digest: str, bindings: dict[str, object]) -> ModuleType:
    name = f"{KERNEL_PREFIX}{template.stem}_{digest}"
    spec = importlib.util.spec_from_file_location(name, template)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.__dict__.update(bindings)
    sys.modules[name] = module  # Numba finds the module of a cached function by its name
    folder = cache_folder() / digest
    # Without a writable folder nothing is cached: Numba would fall back to one that is not keyed by the bindings.
    module.__dict__["CACHE"] = not config.DISABLE_JIT and _writable(folder)
    before = config.CACHE_DIR, getattr(config, "CACHE_LOCATOR_CLASSES", "")
    config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = str(folder), ""  # read while @njit(cache=True) is executed
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = before
    if config.DISABLE_JIT:
        _leave_uncompiled(module)
    elif module.__dict__["CACHE"]:
        _set_up(module)
    return module


def _set_up(module: ModuleType) -> None:
    """Check what is read back from disk, and leave out the ways into all other functions, which only kernels call.

    Numba makes one for Python and one for C of every function, which is a tenth to a fifth of the time that it takes.
    """
    kernels: list[Kernel] = [value for value in vars(module).values() if isinstance(value, Dispatcher)]
    for kernel in kernels:  # its own, not those that it was given
        if kernel.py_func.__module__ != module.__name__:
            continue
        if isinstance(kernel._cache, NullCache):  # type: ignore[attr-defined]  # Numba's own
            kernel.targetoptions.update(WITHOUT_WRAPPERS)
        else:
            check_what_is_kept(kernel)


def _leave_uncompiled(module: ModuleType) -> None:
    """Let Python run the kernels where the JIT is off: records need named fields, words may wrap around silently."""

    def runnable(function: FunctionType) -> FunctionType:
        @functools.wraps(function)
        def run(*args: object) -> object:
            with np.errstate(over="ignore"):
                return function(*map(_with_named_fields, args))

        run.signatures = ()  # type: ignore[attr-defined]  # as a dispatcher that has compiled nothing
        return run  # type: ignore[return-value]  # which any function is

    for name, value in list(vars(module).items()):
        if isinstance(value, FunctionType) and value.__module__ == module.__name__:
            setattr(module, name, runnable(value))
    if hasattr(module, "to_fixed_tuple"):
        vars(module)["to_fixed_tuple"] = lambda words, n: tuple(words[:n])


def _with_named_fields(argument: object) -> object:
    """Return an array of records with the fields as attributes, in a tuple too; anything else as it is."""
    if type(argument) is tuple:  # not a state
        return tuple(map(_with_named_fields, argument))
    if isinstance(argument, np.ndarray) and argument.dtype.names:
        return argument.view(np.recarray)
    return argument


def announce(what: str, function: Kernel) -> None:
    """Say that `function` is about to be compiled, unless this process or the disk has it already."""
    if config.DISABLE_JIT or function.signatures or _on_disk(function):
        return
    kept = f"kept in {cache_folder()}" if _writable(cache_folder()) else f"not kept: cannot write to {cache_folder()}"
    log.info("compiling %s (a few seconds; %s)", what, kept)


@contextmanager
def compiling(what: str, function: Kernel) -> Iterator[None]:
    """Announce the first call of `function`, which stands in the block, and explain it where Numba fails."""
    announce(what, function)
    try:
        yield
    except COMPILE_ERRORS as error:
        raise explain_failure(error, what) from None


def _on_disk(function: Kernel) -> bool:
    """Return True if Numba's index has `function` for this machine.

    It reads Numba's internals, so it may only be a guess.
    """
    try:
        index = function._cache._cache_file._load_index()  # type: ignore[attr-defined]  # Numba's own
        machine = function.targetctx.codegen().magic_tuple()
        return any(key[1] == machine for key in index)
    except Exception:  # no cache, another Numba, a damaged index: then we say that we compile
        return False


def explain_failure(error: Exception, what: str) -> GameError:
    """Return Numba's message of some fifty lines, as file:line and the reason."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    reason, at = _reason(text)
    return GameError(
        f"{what} cannot be compiled: {_place(text, at)}{reason}. "
        "Fix that line, or leave out `rules` to stay on the Python backend"
    )


def _reason(text: str) -> tuple[str, int]:
    """Return the innermost complaint and where it stands; Numba tells the calls on the way there first."""
    steps = list(re.finditer(r"\(step: [^)]*\)\n(?!\s*Failed in)\s*([^\n]+)", text))
    innermost = next((m for m in steps if "Function(<function " not in m[1]), steps[-1] if steps else None)
    if innermost is None:
        return re.sub(r"\.*( Raised from .*)?$", "", text.strip().splitlines()[0]), 0
    reason, at = innermost[1].strip(), innermost.start()
    call = re.compile(r"\s*>>> ([^\n]+)").match(text, innermost.end())
    if call:  # "No implementation of function ... found for signature:", which follows
        reason = f"Numba does not know {call[1].strip()}"
    if "type of <class 'function'>" in reason:
        reason += " (mark that function @jitable)"
    return re.sub(r": %\S+ = .*|(?<=.)\.$", "", reason), at


def _place(text: str, at: int) -> str:
    """Return the user's line behind the complaint at `at` in Numba's message, with a colon, or nothing."""
    spots = [
        (Path(os.path.abspath(m[1] or m[3])), int(m[2] or m[4]))
        for m in re.finditer(r'File "([^"]+)", line (\d+)|(?: at |Raised from )(\S[^\n]*?) \((\d+)\)', text[at:])
    ]
    spots = [(file, line) for file, line in spots if "numba" not in file.parts]
    calls = re.findall(r"Function\(<function (\S+) at ", text[:at])
    codes = [f.__code__ for f in _compiled if calls and f.__qualname__ == calls[-1]]
    home = Path(os.path.abspath(codes[-1].co_filename)) if codes else None
    for file, line in spots:  # outside the file of the innermost function stand only the calls that led to it
        if file == home or (home is None and not file.name.endswith("_kernel.py")):
            return f"{_short(file)}:{line}: "
    if home is not None:
        return f"{_short(home)}:{codes[-1].co_firstlineno}: "
    return f"`{linecache.getline(str(spots[0][0]), spots[0][1]).strip()}`: " if spots else ""


def _short(file: Path) -> str:
    return str(file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file)
