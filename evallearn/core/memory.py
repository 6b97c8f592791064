"""Sizes that this machine cannot hold, refused before anything is allocated; and what is said where it was."""

from __future__ import annotations

import os
import re

from evallearn.errors import SpecError

ASKED = re.compile(r"tried to allocate ([\d.,]+ ?\w+)", re.IGNORECASE)
"""In what torch says, on the CPU and on a GPU."""


def require_memory(size: int, what: str) -> None:
    """Refuse `what`, which takes so many bytes, if the machine has less: systems lend more than they have."""
    have = physical_memory()
    if have is not None and size > have:
        raise SpecError(f"{what} takes {shown(size)} of memory, and this machine has {shown(have)}: ask for less")


def physical_memory() -> int | None:
    """Return the bytes of the machine; None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        return None


def shown(size: float) -> str:
    """Return bytes in a unit that people read: `7.5 GB`."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            break
        size /= 1000
    return f"{size:,.3g} {unit}" if size < 1000 else f"{size:,.0f} {unit}"


def told(error: BaseException) -> str | None:
    """Return the sentence about an error that means too little memory; None for any other error."""
    if isinstance(error, MemoryError):
        return f"out of memory ({str(error) or 'no more is free'}): ask for smaller sizes, or end other programs"
    if not isinstance(error, RuntimeError) or "memory" not in str(error):
        return None
    asked = ASKED.search(str(error))
    if asked is None:
        return None
    return f"out of memory (torch tried to allocate {asked[1]}): ask for smaller sizes, or end other programs"
