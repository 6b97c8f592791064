"""Flat Monte Carlo and Monte Carlo tree search."""
