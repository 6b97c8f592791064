"""Searches of games with more than two players."""
