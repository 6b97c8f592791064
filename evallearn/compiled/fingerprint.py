"""A fingerprint of everything that a compiled kernel can see.

Numba's own disk cache looks only at the file that holds the cached function: edit a helper in another file and it
serves the old machine code. So kernels are cached in a folder named by this fingerprint, which walks functions
transitively: bytecode, constants, the globals they name, closures, defaults. An edit anywhere below a root changes
it; comments, blank lines and unrelated functions do not.
"""

from __future__ import annotations

import hashlib
import sys
import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

LIBRARIES = frozenset({"numpy", "numba", "llvmlite"}) | sys.stdlib_module_names
"""Modules that are named, not walked; Numba's cache index carries its own version already."""


class _Walker:
    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.seen: dict[int, int] = {}

    def put(self, *parts: Any) -> None:
        for part in parts:
            data = part if isinstance(part, bytes) else str(part).encode()
            self.hash.update(len(data).to_bytes(4, "little") + data)

    def walk(self, x: Any) -> None:
        x = getattr(x, "py_func", x)  # a Numba dispatcher stands for its Python function
        if isinstance(x, (bool, int, float, complex, str, bytes, type(None))):
            self.put(type(x).__name__, repr(x))
        elif isinstance(x, np.generic):
            self.put("scalar", x.dtype.str, x.tobytes())
        elif isinstance(x, np.dtype):
            self.put("dtype", repr(x))
        elif isinstance(x, np.ndarray):
            self.put("array", x.dtype.str, x.shape, np.ascontiguousarray(x).tobytes())
        elif id(x) in self.seen:
            self.put("seen", self.seen[id(x)])
        else:
            self.seen[id(x)] = len(self.seen)
            self.walk_object(x)

    def walk_object(self, x: Any) -> None:
        if isinstance(x, (tuple, list)):
            self.put("sequence", len(x))
            for item in x:
                self.walk(item)
        elif isinstance(x, dict):
            self.put("mapping", len(x))
            for key in sorted(x, key=str):
                self.put(key)
                self.walk(x[key])
        elif isinstance(x, types.ModuleType):
            self.walk_module(x)
        elif isinstance(x, types.FunctionType):
            self.walk_function(x)
        elif isinstance(x, type):
            self.put("class", x.__qualname__, getattr(x, "_fields", ()))
        else:
            self.put("object", type(x).__qualname__, getattr(x, "__qualname__", ""))

    def walk_module(self, module: types.ModuleType) -> None:
        self.put("module", module.__name__)
        if module.__name__.split(".")[0] in LIBRARIES:
            self.put(getattr(module, "__version__", ""))
        elif module.__file__:
            self.put(Path(module.__file__).read_bytes())  # used as `module.name`: the whole file counts

    def walk_function(self, function: types.FunctionType) -> None:
        if (function.__module__ or "").split(".")[0] in LIBRARIES:
            self.put("library", function.__module__, function.__qualname__)
            return
        self.put("function", function.__qualname__)
        self.walk_code(function.__code__, function.__globals__)
        self.walk(function.__defaults__)
        for cell in function.__closure__ or ():
            try:
                self.walk(cell.cell_contents)
            except ValueError:  # an empty cell: the function refers to itself before it is bound
                self.put("empty cell")

    def walk_code(self, code: types.CodeType, names: dict[str, Any]) -> None:
        self.put("code", code.co_code, code.co_names, code.co_varnames, code.co_argcount, code.co_flags)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self.walk_code(constant, names)
            elif isinstance(constant, frozenset):
                self.put("frozenset", sorted(map(repr, constant)))  # its own order changes with the hash seed
            else:
                self.put(type(constant).__name__, repr(constant))
        for name in code.co_names:  # globals and attribute names alike
            if name in names:
                self.put("global", name)
                self.walk(names[name])


def fingerprint(roots: Iterable[Any], sources: Iterable[Path] = ()) -> str:
    """Twenty hexadecimal digits for `roots` and the whole text of `sources` (for @overload bodies, which are invisible)."""
    walker = _Walker()
    for root in roots:
        walker.walk(root)
    for source in sources:
        walker.put(source.name, source.read_bytes())
    return walker.hash.hexdigest()[:20]
