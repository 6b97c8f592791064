"""Well-mixed numbers from counters: seeds of games and plies, hash keys of states."""

from __future__ import annotations

MASK64 = 0xFFFFFFFFFFFFFFFF


def scramble(x: int) -> int:
    """A bijection of 64-bit words whose output looks random: the finaliser of SplitMix64."""
    x &= MASK64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK64
    return x ^ (x >> 31)
