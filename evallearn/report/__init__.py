"""The report: one HTML file that shows what a run learned, openable without a network."""

from evallearn.report.page import render, write_report

__all__ = ["render", "write_report"]
