"""Algorithms as their inventors wrote them down."""
