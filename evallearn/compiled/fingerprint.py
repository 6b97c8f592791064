"""A fingerprint of everything that a compiled kernel can see.

Numba's own disk cache looks only at the file that holds the cached function: edit a helper in another file and it
serves the old machine code. So kernels are cached in a folder named by this fingerprint, which walks functions
transitively: bytecode, constants, the globals they name (also as `module.name`), closures, defaults. An edit anywhere
below a root changes it; comments, blank lines and unrelated functions do not.
"""

from __future__ import annotations

import enum
import hashlib
import re
import sys
import sysconfig
import types
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numba.core.types import Type as NumbaType

LIBRARIES = frozenset({"numpy", "numba", "llvmlite"})
"""Modules that are named, not walked, like Python's own; Numba's cache index carries its own version already."""
KERNEL_PREFIX = "evallearn_kernel_"
"""How the modules are called that `specialise` makes."""
INVISIBLE = re.compile(rb"overload|intrinsic|jitable\(")
"""A file with one of these holds code or compiler options that no function refers to: its whole text counts."""


@lru_cache(maxsize=4096)
def _is_library(module: str) -> bool:
    top = module.split(".")[0]
    if top not in sys.stdlib_module_names:
        return top in LIBRARIES
    file = getattr(sys.modules.get(top), "__file__", None)  # a user may have a token.py or a code.py of their own
    return file is None or Path(file).is_relative_to(sysconfig.get_path("stdlib"))


@lru_cache(maxsize=4096)
def _invisible_text(file: str) -> bytes:
    """Return the file's text if it holds invisible code, else nothing.

    It is read once, because this process runs what it has loaded.
    """
    text = Path(file).read_bytes() if Path(file).is_file() else b""
    return text if INVISIBLE.search(text) else b""


class _Walker:
    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.seen: dict[int, int] = {}
        self.attributes: set[tuple[str, str]] = set()
        self.files: set[str] = set()
        self.functions: list[types.FunctionType] = []

    def put(self, *parts: object) -> None:
        for part in parts:
            data = part if isinstance(part, bytes) else str(part).encode()
            self.hash.update(len(data).to_bytes(4, "little") + data)

    def walk(self, x: object, names: Sequence[str] = ()) -> None:
        """Add `x` to the hash, with what it refers to.

        names: what the code that refers to `x` may ask of it, if it is a module.
        """
        if hasattr(x, "py_func"):  # a Numba dispatcher stands for its Python function and its options
            self.put("options", sorted((k, repr(v)) for k, v in getattr(x, "targetoptions", {}).items()))
            x = x.py_func
        if isinstance(x, types.ModuleType):
            self.walk_module(x, names)
        elif isinstance(x, (bool, int, float, complex, str, bytes, type(None))):
            self.put(type(x).__name__, repr(x))
        elif isinstance(x, np.generic):
            self.put("scalar", x.dtype.str, x.tobytes())
        elif isinstance(x, (np.dtype, NumbaType)):
            self.put("dtype", repr(x))
        elif isinstance(x, np.ndarray):
            self.put("array", repr(x.dtype), x.shape, np.ascontiguousarray(x).tobytes())
        elif id(x) in self.seen:
            self.put("seen", self.seen[id(x)])
        else:
            self.seen[id(x)] = len(self.seen)
            self.walk_object(x)

    def walk_object(self, x: object) -> None:
        if isinstance(x, (tuple, list)):
            self.put("sequence", type(x).__name__, len(x))
            for item in x:
                self.walk(item)
        elif isinstance(x, dict):
            self.put("mapping", len(x))
            for key in sorted(x, key=str):
                self.put(key)
                self.walk(x[key])
        elif isinstance(x, (set, frozenset)):
            self.put("set", sorted(map(repr, x)))  # its own order changes with the hash seed
        elif isinstance(x, types.FunctionType):
            self.walk_function(x)
        elif isinstance(x, type):
            self.walk_class(x)
        else:
            self.put("object", type(x).__qualname__, getattr(x, "__qualname__", ""))
            self.walk(getattr(x, "_defn", None))  # an @intrinsic

    def walk_class(self, cls: type) -> None:
        self.put("class", cls.__module__, cls.__qualname__, getattr(cls, "_fields", ()))
        self.walk(getattr(cls, "_field_defaults", None))
        if issubclass(cls, enum.Enum):
            self.put([(name, repr(member.value)) for name, member in cls.__members__.items()])

    def walk_module(self, module: types.ModuleType, names: Sequence[str]) -> None:
        """Add those attributes of a module, used as `module.name`, that the code names."""
        self.put("module", module.__name__)
        if _is_library(module.__name__):
            self.put(getattr(module, "__version__", ""))
            return
        for name in names:
            if (module.__name__, name) not in self.attributes and name in vars(module):
                self.attributes.add((module.__name__, name))
                self.put("attribute", name)
                self.walk(vars(module)[name], names)

    def walk_function(self, function: types.FunctionType) -> None:
        if _is_library(function.__module__ or ""):
            self.put("library", function.__module__, function.__qualname__)
            return
        self.functions.append(function)
        self.put("function", function.__module__, function.__qualname__)  # a cached kernel looks there for globals
        self.walk_file(function.__code__.co_filename)
        self.walk_code(function.__code__, function.__globals__)
        self.walk(function.__defaults__)
        self.walk(function.__kwdefaults__)
        for cell in function.__closure__ or ():
            try:
                self.walk(cell.cell_contents, function.__code__.co_names)
            except ValueError:  # an empty cell: the function refers to itself before it is bound
                self.put("empty cell")

    def walk_file(self, file: str) -> None:
        if file not in self.files:
            self.files.add(file)
            self.put(_invisible_text(file))

    def walk_code(self, code: types.CodeType, names: dict[str, object]) -> None:
        self.put("code", code.co_code, code.co_argcount, code.co_flags)
        self.put(code.co_names, code.co_varnames, code.co_freevars)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self.walk_code(constant, names)
            else:
                self.walk_constant(constant)
        for name in code.co_names:  # globals and attribute names alike
            if name in names:
                self.put("global", name)
                self.walk(names[name], code.co_names)

    def walk_constant(self, x: object) -> None:
        """Add a constant to the hash, without `walk`: equal constants may or may not be one object."""
        if isinstance(x, (tuple, frozenset)):
            items = x if isinstance(x, tuple) else sorted(x, key=repr)
            self.put(type(x).__name__, len(x))
            for item in items:
                self.walk_constant(item)
        else:
            self.put(type(x).__name__, repr(x))


def fingerprint(roots: Iterable[object], sources: Iterable[Path] = ()) -> str:
    """Return twenty hexadecimal digits for `roots` and the whole text of `sources`."""
    return fingerprint_and_functions(roots, sources)[0]


def fingerprint_and_functions(
    roots: Iterable[object], sources: Iterable[Path] = ()
) -> tuple[str, list[types.FunctionType]]:
    """Return the fingerprint, and the functions that were met on the way."""
    roots = list(roots)  # alive during the walk: it knows objects by their id
    walker = _Walker()
    for root in roots:
        walker.walk(root)
    for source in sources:
        walker.put(source.name, source.read_bytes())
    return walker.hash.hexdigest()[:20], walker.functions
