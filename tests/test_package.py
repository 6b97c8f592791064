"""The package itself: what is exported, what an import costs, what a wheel holds, what the README promises."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import evallearn
from evallearn.runs.recipe import recipe_names

ROOT = Path(__file__).parents[1]
HEAVY = ("torch", "sklearn", "pyarrow", "matplotlib", "numba", "scipy", "rich", "click", "safetensors")
FOLDERS = ("search", "games", "data", "train")


def modules_after(code: str) -> set[str]:
    """The modules that are loaded after `code`, in a fresh process."""
    script = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_loads_nothing_heavy() -> None:
    assert not modules_after("import evallearn") & {*HEAVY, "numpy"}


def test_plain_backend_needs_no_compiler() -> None:
    code = (
        "import evallearn as e; g = e.get_game('othello')\n"
        "s = e.AlphaBeta(g, e.FunctionEval(g, lambda s, p: 0.0), backend='python')\n"
        "s.search(g.initial(), e.Limits(depth=1))"
    )
    assert not modules_after(code) & {"numba", "torch", "sklearn", "pyarrow", "matplotlib"}


def test_searching_with_a_kernel_needs_no_trainer() -> None:
    code = (
        "import evallearn as e; g = e.get_game('tic_tac_toe')\n"
        "e.AlphaBeta(g, e.LinearEval.zero(g)).search(g.initial(), e.Limits(depth=1))"
    )
    assert not modules_after(code) & {"torch", "sklearn", "pyarrow", "matplotlib"}


def test_teaching_a_net_and_explaining_an_eval_need_no_scikit_learn() -> None:
    """It takes longer to import than such a command to do its work."""
    assert not modules_after("import evallearn.cli.learn, evallearn.cli.explain") & {"sklearn", "torch", "matplotlib"}


def test_every_exported_name_is_there_and_no_other() -> None:
    tree = ast.parse((ROOT / "evallearn" / "__init__.pyi").read_text())
    listed = [alias for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert all(alias.name == alias.asname for alias in listed), "type checkers take `X as X` alone for public"
    names = [alias.name for alias in listed if alias.name != "__version__"]
    assert evallearn.__all__ == names
    assert set(names) <= set(dir(evallearn))
    assert {name for name in dir(evallearn) if not name.startswith("_")} - {"importlib", "sys"} <= {*names, *loaded()}
    for name in names:
        assert getattr(evallearn, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        evallearn.nothing  # type: ignore[attr-defined]  # noqa: B018  # the access is the test


def loaded() -> set[str]:
    """Return the parts of the package that somebody has imported: Python makes them attributes."""
    return {name.split(".")[1] for name in sys.modules if name.startswith("evallearn.")}


def test_star_import_takes_the_public_names() -> None:
    found: dict[str, object] = {}
    exec("from evallearn import *", found)
    assert set(evallearn.__all__) <= set(found)


def copied(tmp_path: Path) -> Path:
    """A copy of what is packed: setuptools would leave a build folder, and find old files in it next time."""
    source = tmp_path / "source"
    for folder in ("evallearn", *FOLDERS):
        shutil.copytree(ROOT / folder, source / folder, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, source / file)
    return source


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a wheel and an sdist, both made as pip does, by the backend that pyproject.toml names."""
    source = copied(tmp_path_factory.mktemp("packed"))
    build = "from setuptools import build_meta as b; b.build_sdist('dist'); b.build_wheel('dist')"
    subprocess.run([sys.executable, "-c", build], check=True, capture_output=True, cwd=source)
    return source / "dist"


def test_wheel_holds_every_module_once(packed: Path) -> None:
    names = zipfile.ZipFile(next(packed.glob("*.whl"))).namelist()
    modules = sorted(n for n in names if n.endswith(".py"))
    in_tree = [p.relative_to(ROOT) for p in (ROOT / "evallearn").rglob("*.py")]
    wanted = {p.as_posix() for p in in_tree if p.parts[1] not in FOLDERS}
    wanted |= {f"evallearn/{p.relative_to(ROOT).as_posix()}" for f in FOLDERS for p in (ROOT / f).rglob("*.py")}
    assert modules == sorted(wanted)
    assert sorted(n for n in names if n.startswith("evallearn/zoo/")) == zoo_files()
    assert {f"evallearn/runs/recipes/{name}.toml" for name in recipe_names()} <= {*names}
    assert {"evallearn/__init__.pyi", "evallearn/py.typed"} <= set(names)
    assert {n.split("/")[0] for n in names} == {"evallearn", f"evallearn-{evallearn.__version__}.dist-info"}


def zoo_files() -> list[str]:
    found = [p for p in (ROOT / "evallearn" / "zoo").rglob("*") if p.is_file()]
    return sorted(p.relative_to(ROOT).as_posix() for p in found)


def test_sdist_holds_the_zoo(packed: Path) -> None:
    with tarfile.open(next(packed.glob("*.tar.gz"))) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {*zoo_files(), "evallearn/__init__.pyi", "evallearn/py.typed"} <= names


def test_links_show_the_folders_to_a_bare_checkout() -> None:
    for folder in FOLDERS:
        assert (ROOT / "evallearn" / folder).resolve() == (ROOT / folder).resolve()


def python_of_readme() -> str:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks, "README.md shows no Python"
    return "\n".join(blocks)


def test_readme_python_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With fewer games, for the time's sake."""
    monkeypatch.chdir(tmp_path)
    code = python_of_readme()
    for number, fewer in (("games=2000", "games=100"), ("pairs=500", "pairs=20")):
        assert number in code
        code = code.replace(number, fewer)
    exec(compile(code, "README.md", "exec"), {})
    assert re.search(r"log loss 0\.\d+(.|\n)* Elo \[.*\](.|\n)*best column: \d", capsys.readouterr().out)


@pytest.mark.long
def test_readme_tells_what_its_python_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(python_of_readme(), "README.md", "exec"), {})
    elo = re.search(r"([+-]\d+) Elo \[\+(\d+), \+(\d+)\]", capsys.readouterr().out)
    assert elo
    assert "an Elo of {} ({} to {})".format(*elo.groups()) in (ROOT / "README.md").read_text()


def test_ci_runs_the_test_command_of_the_readme() -> None:
    assert "make test" in (ROOT / "README.md").read_text()
    assert (ROOT / ".ci" / "run").read_text().rstrip().endswith("make test")


def test_nothing_in_the_repo_names_this_machine_or_a_registry() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    pattern = re.compile(r"/(?:root|home|work|tmp)/\w|pypi\.org|files\.pythonhosted|download\.pytorch|registry\.npmjs")
    for name in listed.stdout.split():
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".txt", ".yaml", ""} and path.is_file() and path != Path(__file__):
            found = pattern.search(path.read_text(errors="ignore"))
            assert not found, f"{name}: {found and found.group()}"
