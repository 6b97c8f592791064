"""Exact values of small games, and AND-OR search."""
