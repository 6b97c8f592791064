"""Kernels on disk behind a checksum: machine code with a flipped bit would crash, or quietly compute something else.

Numba reads back whatever its files hold. Here each begins with the sha256 of the rest; what does not fit is compiled
anew, and replaces it.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
from pathlib import Path
from typing import Any, TypeAlias

from numba.core.caching import IndexDataCacheFile
from numba.core.dispatcher import Dispatcher

log = logging.getLogger("evallearn.compiled")
Overloads: TypeAlias = dict[object, str]
"""The file of the machine code for each signature and machine."""
DIGEST = hashlib.sha256().digest_size


class CheckedFile(IndexDataCacheFile):  # type: ignore[misc]  # Numba has no types
    """The index of a kernel, which names its machine code for each signature and machine, and that code."""

    def _load_index(self) -> Overloads:
        found = self._read(self._index_path)
        if found is None or found[:2] != (self._version, self._source_stamp):
            return {}
        overloads: Overloads = pickle.loads(found[2])  # of this version of Numba
        return overloads

    def _save_index(self, overloads: Overloads) -> None:
        self._write(self._index_path, (self._version, self._source_stamp, self._dump(overloads)))

    def _load_data(self, name: str) -> object:
        found = self._read(self._data_path(name))
        if found is None:  # of an index, `announce` tells that
            log.warning("%s is damaged or gone: that kernel is compiled anew", self._data_path(name))
            raise OSError  # which Numba takes for a file that was removed
        return found

    def _save_data(self, name: str, data: object) -> None:
        self._write(self._data_path(name), data)

    def _read(self, path: str) -> Any:
        """Return what was written there; None if nothing was, or not this."""
        try:
            data = Path(path).read_bytes()
        except FileNotFoundError:
            return None
        if hashlib.sha256(data[DIGEST:]).digest() != data[:DIGEST]:
            return None
        return pickle.loads(data[DIGEST:])

    def _write(self, path: str, content: object) -> None:
        data = self._dump(content)
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(data).digest() + data)


def check_what_is_kept(kernel: Dispatcher) -> None:
    """Let a kernel that Numba keeps on disk be read back only if it is whole."""
    cache: Any = kernel._cache  # type: ignore[attr-defined]  # Numba's own
    kept = getattr(cache, "_cache_file", None)
    if isinstance(kept, IndexDataCacheFile):
        name = Path(kept._index_name).with_suffix(".checked").name  # apart from what Numba itself would read
        cache._cache_file = CheckedFile(kept._cache_path, name, kept._source_stamp)
