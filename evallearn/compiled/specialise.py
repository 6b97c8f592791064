"""Specialise a kernel template to a game and an Eval, and keep the machine code on disk.

A template is an ordinary Python file. It is executed as a fresh module per set of bindings (the game's functions, the
Eval's function, sizes), which become its globals: no closures, no generated text. While it is executed Numba's cache
folder is `<cache>/<fingerprint of all bindings>`, so that a kernel is found again by the next process and never when
anything below it has changed.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import sys
import tempfile
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

from numba import config
from numba.core.errors import NumbaError

from evallearn.compiled.fingerprint import fingerprint
from evallearn.errors import GameError

log = logging.getLogger("evallearn.compiled")
HERE = Path(__file__).parent
TOOLKIT = (HERE / "bits.py", HERE / "table.py")
"""Files with @overload bodies, which the fingerprint cannot see: their whole text counts."""
_lock = threading.RLock()
_loaded: dict[str, ModuleType] = {}


def cache_folder() -> Path:
    """Where kernels are kept: $EVALLEARN_CACHE, or the user's cache folder."""
    if given := os.environ.get("EVALLEARN_CACHE"):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evallearn" / "kernels"


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def specialise(template: Path, **bindings: Any) -> ModuleType:
    """The template as a module of its own for these bindings (the same module for the same bindings)."""
    digest = fingerprint([sorted(bindings), *(bindings[k] for k in sorted(bindings))], [template, *TOOLKIT])
    with _lock:
        if digest not in _loaded:
            _loaded[digest] = _execute(template, digest, bindings)
        return _loaded[digest]


def _execute(template: Path, digest: str, bindings: dict[str, Any]) -> ModuleType:
    name = f"evallearn_kernel_{template.stem}_{digest}"
    spec = importlib.util.spec_from_file_location(name, template)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.__dict__.update(bindings)
    sys.modules[name] = module  # Numba finds the module of a cached function by its name
    folder, before = cache_folder() / digest, config.CACHE_DIR
    # Without a writable folder nothing is cached: Numba would fall back to one that is not keyed by the bindings.
    module.__dict__["CACHE"] = _writable(folder)
    config.CACHE_DIR = str(folder)  # read while @njit(cache=True) is executed
    try:
        spec.loader.exec_module(module)
    finally:
        config.CACHE_DIR = before
    return module


def announce(what: str, function: Any) -> None:
    """Say that `function` is about to be compiled, unless this process or the disk has it already."""
    if function.signatures:
        return
    cache = function._cache.cache_path if getattr(function, "_cache", None) is not None else None
    name = function.py_func.__name__
    if cache is None or not any(Path(cache).glob(f"*{name}*.nbi")):
        log.info("compiling %s (a few seconds, once; kept in %s)", what, cache_folder())


def explain_failure(error: NumbaError, what: str) -> GameError:
    """Numba's message of some fifty lines, as file:line and the reason."""
    text = str(error)
    places = [p for p in re.findall(r'File "([^"]*)", line (\d+)', text) if "site-packages" not in p[0]]
    reasons = re.findall(
        r"(?:Unknown attribute|No implementation of function|Cannot unify|NameError|Undecided type"
        r"|Unsupported|Use of unsupported|Invalid use of|No matching definition)[^\n]*",
        text,
    )
    where = f"{places[-1][0]}:{places[-1][1]}: " if places else ""
    reason = re.sub(r"\x1b\[[0-9;]*m", "", reasons[-1] if reasons else text.strip().splitlines()[0])
    return GameError(
        f"{what} cannot be compiled: {where}{reason}. Fix that line, or leave out `rules` to stay on the plain floor"
    )
