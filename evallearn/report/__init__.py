"""The pages: one HTML file for a run, a match or a tournament, openable without a network."""

from evallearn.report.learn_page import render as render
from evallearn.report.learn_page import write_report as write_report
from evallearn.report.match_page import render_match as render_match
from evallearn.report.match_page import write_match_report as write_match_report
from evallearn.report.quality import render_quality as render_quality
from evallearn.report.quality import write_quality as write_quality
from evallearn.report.tournament_page import render_tournament as render_tournament
from evallearn.report.tournament_page import write_tournament_report as write_tournament_report
