"""The pages: one HTML file for a run, a match or a tournament, openable without a network."""

from evallearn.report.learn_page import render, write_report
from evallearn.report.match_page import render_match, write_match_report
from evallearn.report.quality import render_quality, write_quality
from evallearn.report.tournament_page import render_tournament, write_tournament_report

__all__ = [
    "render",
    "render_match",
    "render_quality",
    "render_tournament",
    "write_match_report",
    "write_quality",
    "write_report",
    "write_tournament_report",
]
