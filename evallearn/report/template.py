"""What every report has in common: the page around it, its CSS and script, and the glossaries."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path


def _read(name: str) -> str:
    return "\n" + Path(__file__).with_name(name).read_text(encoding="utf-8")


CSS = _read("page.css")
SCRIPT = _read("page.js")
GLOSSARY = {
    "Elo": "A scale of playing strength. 0 is equal; +100 means an expected score of 64 %, +200 of 76 %, +400 of 91 % "
    "(a draw counts half). Here every figure is the difference to one opponent: the better hand-written heuristic.",
    "Interval": "A match is a sample. If the whole experiment were repeated many times, 95 % of the intervals made "
    "this way would hold the true Elo. Only an interval that leaves out 0 shows who is stronger.",
    "Distinct games": "Two fixed programs repeat themselves, and a repeated game is no new evidence. Openings are "
    "drawn at random and each is played twice with sides swapped; this counts the games that really differ.",
    "Gate": "A match between what a generation has learned and the best evaluator so far, whose games it learned "
    "from. It takes that one's place only if the match makes it sure enough that it is better; the first always does.",
    "Equal depth, equal time": "At equal depth both sides look equally many moves ahead, so only the judgement of the "
    "evaluator counts. At equal time a slower evaluator sees less: this is what a user of the program feels.",
    "Evaluator": "The function that judges a position where the search stops: a number between −1 (lost) and +1 (won).",
    "Calibration": "An evaluator is calibrated if, among the positions it values at 0.5, the mean outcome is 0.5. The "
    "calibration error is the mean distance between the two, weighted by the number of positions.",
    "Log loss": "How surprised the evaluator is by the true outcomes of games it has not seen: 0 is perfect "
    "foresight, and 0.693 a coin toss. The baseline is the best constant guess. Smaller is better.",
}
ARENA_GLOSSARY = {
    "Elo": "A scale of playing strength. 0 is equal; +100 means an expected score of 64 %, +200 of 76 %, +400 of 91 % "
    "(a draw counts half).",
    "95 % interval": "A match is a sample. If it were repeated many times with other openings, 95 % of the intervals "
    "made this way would hold the true figure. Only an interval that leaves out 0 shows who is stronger.",
    "Set": "One opening, played from every seat: by two players twice, sides swapped. So nobody owes anything to the "
    "first move or to a lucky opening.",
    "LOS": "Likelihood of superiority: how sure it is, after these games, which of the two is stronger. 50 % is no "
    "idea, 97.5 % is where the interval begins to leave out 0.",
}
"""What the pages of a match and of a tournament explain."""
MATCH_GLOSSARY = ARENA_GLOSSARY | {
    "Normalised Elo": "The same lead measured in standard deviations of a game. It tells how many games it takes to "
    "see it, and it can be compared between games with few and with many draws.",
    "Pentanomial": "The five counts of sets in which A made 0, ¼, ½, ¾ and all of the points: the statistics are made "
    "of these.",
    "SPRT": "Sequential probability ratio test: after every set it asks whether the results fit H1 (A is so much "
    "stronger) or H0 (it is not) better, and stops as soon as the answer is clear. What is counted by then lies "
    "too far out. An Elo that is corrected for the stop does not, over all matches that such a test may watch; over "
    "those alone that were accepted it still does.",
    "Luck adjustment": "Every roll of the dice changes the value of the position; what it gave beyond the mean of all "
    "rolls is luck. Its sum is taken off the points, which leaves what the players did.",
}


def document(title: str, header: str, nav: str, main: str, footer: str) -> str:
    """Return the whole page. Its security policy lets nothing in from outside and runs no script but ours."""
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{CSS}</style>
</head>
<body>
<header>
{header}
</header>
<nav aria-label="Sections"><div>{nav}</div></nav>
<main>
{main}
</main>
<footer>{footer}</footer>
<script>{SCRIPT}</script>
</body>
</html>
"""
