"""Specialised templates in one process: the same module again, damaged kernels, the folder, the notice."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import toys

from evallearn.compiled import specialise as specialise_module
from evallearn.compiled.game import TEMPLATE, CompiledGame
from evallearn.compiled.specialise import announce, cache_folder, specialise
from evallearn.evaluators import LinearEval
from evallearn.evaluators.batch import TEMPLATE as BATCH


@pytest.fixture
def empty_cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("EVALLEARN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(specialise_module, "_loaded", {})
    return tmp_path / "cache"


def specialised(**changes: Any) -> Any:
    return specialise(TEMPLATE, toys.DOUBLE_MOVE_RULES, **{"N_PLAYERS": 2, **changes})


def test_same_bindings_give_the_same_module(empty_cache):
    first = specialised()
    assert specialised() is first
    assert specialised(THROUGH_DRAWS=True) is not first


def test_cache_is_keyed_by_us_whatever_numba_was_told(empty_cache, monkeypatch):
    from numba import config

    monkeypatch.setattr(config, "CACHE_LOCATOR_CLASSES", "InTreeCacheLocator", raising=False)
    monkeypatch.setattr(config, "CACHE_DIR", "/somewhere/else")
    module = specialised()
    assert Path(module.look._cache.cache_path).is_relative_to(empty_cache)
    assert (config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES) == ("/somewhere/else", "InTreeCacheLocator")


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_kernel_that_is_damaged_on_disk_is_compiled_anew(suffix, empty_cache, monkeypatch, caplog):
    def fresh() -> Any:
        monkeypatch.setattr(specialise_module, "_loaded", {})
        return specialise(BATCH, toys.DOUBLE_MOVE_RULES, evaluate_mover=kernel.evaluate_mover)

    g = toys.DoubleMove()
    words = np.array([g.encode(g.initial())], np.uint64)
    kernel = LinearEval.zero(g).kernel()
    out = np.empty(1, np.float32)
    hits = []
    for damaged in (False, True, False):
        if damaged:
            (file,) = [f for f in empty_cache.rglob(f"*.{suffix}") if "evaluate_rows" in f.name]
            data = bytearray(file.read_bytes())
            data[len(data) // 2] ^= 4
            file.write_bytes(data)
        module = fresh()
        module.evaluate_rows(words, kernel.params.copy(), out)
        assert out.tolist() == [0.0]
        hits.append(sum(module.evaluate_rows.stats.cache_hits.values()))
    assert hits == [0, 0, 1]
    told = [m for m in caplog.messages if "is damaged or gone: that kernel is compiled anew" in m]
    assert len(told) == (suffix == "nbc")


def test_template_that_fails_leaves_nothing_behind(empty_cache, tmp_path):
    from numba import config

    before = config.CACHE_DIR, set(sys.modules)
    (tmp_path / "bad_kernel.py").write_text("raise ValueError('bad template')")
    with pytest.raises(ValueError, match="bad template"):
        specialise(tmp_path / "bad_kernel.py")
    assert (config.CACHE_DIR, set(sys.modules)) == before


@pytest.mark.parametrize("home", ["", "~"])
def test_cache_folder_is_the_users(monkeypatch, home, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("EVALLEARN_CACHE", f"{home}/kernels" if home else "")
    wanted = tmp_path / "kernels" if home else tmp_path / ".cache" / "evallearn" / "kernels"
    assert cache_folder() == wanted
    monkeypatch.delenv("EVALLEARN_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache_folder() == Path("/x/evallearn/kernels")


def test_relative_cache_folder_stays_where_it_was_named(monkeypatch, tmp_path):
    monkeypatch.setenv("EVALLEARN_CACHE", "here")
    monkeypatch.chdir(tmp_path)
    assert cache_folder() == tmp_path / "here"


def test_user_without_a_home_has_no_cache(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    for name in ("EVALLEARN_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert not specialise_module._writable(cache_folder())


class Strange:
    """A dispatcher of some other Numba."""

    signatures = ()


class Broken(Strange):
    @property
    def _cache(self):
        raise RuntimeError("no such thing any more")


@pytest.mark.parametrize("function", [Strange(), Broken()])
def test_notice_never_raises(function, caplog, empty_cache):
    with caplog.at_level(logging.INFO, "evallearn.compiled"):
        announce("something", function)
    assert caplog.messages == [f"compiling something (a few seconds; kept in {empty_cache})"]


@pytest.mark.long
def test_notice_is_given_only_before_the_first_call(caplog, empty_cache):
    with caplog.at_level(logging.INFO, "evallearn.compiled"):
        module = specialised()
        announce("it", module.look)
        assert len(caplog.messages) == 1
        game = CompiledGame(toys.DoubleMove())
        assert game.kernels is module
        caplog.clear()
        announce("it", module.look)
        CompiledGame(toys.DoubleMove())
    assert caplog.messages == []


def test_damaged_index_is_announced_as_a_compilation(caplog, empty_cache):
    module = specialised(THROUGH_DRAWS=True)
    index = Path(module.look._cache._cache_file._index_path)
    index.parent.mkdir(parents=True, exist_ok=True)
    index.write_bytes(b"garbage")
    with caplog.at_level(logging.INFO, "evallearn.compiled"):
        announce("it", module.look)
    assert len(caplog.messages) == 1
