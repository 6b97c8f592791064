"""The one place that says which version this is; it imports nothing."""

__version__ = "0.1.0"
