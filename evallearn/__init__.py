"""evallearn learns evaluation functions for games by self-play and proves what they are worth.

    import evallearn
    game = evallearn.get_game("othello")
    evaluator = evallearn.load("othello/linear")
    result = evallearn.AlphaBeta(game, evaluator).search(game.initial(), evallearn.Limits(depth=6))

`__init__.pyi` lists the public names; each is imported where it is first used: `import evallearn` itself is light.
"""

# `python -m evallearn` runs this file while the current folder is still first on sys.path (see __main__.py): it
# imports only what Python has loaded by then. The functions below are called later, once the folder is gone.
import importlib
import sys

from evallearn._version import __version__ as __version__


def _public() -> dict[str, str]:
    """Read the list: public name -> the module that it is imported from."""
    import ast

    with open(f"{__path__[0]}/__init__.pyi", encoding="utf-8") as file:
        imports = [node for node in ast.parse(file.read()).body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names if alias.name[0] != "_"}


def __getattr__(name: str) -> object:
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module 'evallearn' has no attribute {name!r}")
    home = _public()
    if name == "__all__":
        return [*home]
    if name not in home:  # with `obj`, Python suggests the name that is meant
        raise AttributeError(f"module 'evallearn' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    value: object = getattr(importlib.import_module(home[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_public()})
