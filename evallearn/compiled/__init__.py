"""The compiled backend: rules, searches and evaluators specialised by Numba to one game, cached on disk."""

from evallearn.compiled.bits import jitable, lowest_bit, popcount, u64
from evallearn.compiled.rng import mix64

__all__ = ["jitable", "lowest_bit", "mix64", "popcount", "u64"]
