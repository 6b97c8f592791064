"""Alpha-beta: `search.py` is the way in."""
