"""Expectiminimax: `search.py` is the way in."""
