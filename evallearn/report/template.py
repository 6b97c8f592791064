"""What every report has in common: the page around it, its CSS, its few lines of script, and the glossary."""

from __future__ import annotations

import base64
import hashlib

CSS = """
:root {
  color-scheme: light dark;
  --font: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  --page: #f5f6f8; --card: #ffffff; --ink: #1a202c; --muted: #5b6577; --grid: #dfe3ea; --bar: #e9ecf2;
  --linear: #1f5fd6; --neural: #c2570c; --other: #7a8497; --good: #11703c; --bad: #b3261e;
  --good-soft: #e3f4ea; --bad-soft: #fce8e6; --even-soft: #eceff4;
  --search: #7b3fc4; --engine: #0b7a75; --plus: 31, 95, 214; --minus: 205, 70, 20;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #0f131a; --card: #181e28; --ink: #e8ebf1; --muted: #a2adbf; --grid: #313a49; --bar: #28303e;
    --linear: #74a9ff; --neural: #ffa45c; --other: #96a1b5; --good: #6fdc9c; --bad: #ff9d94;
    --good-soft: #16301f; --bad-soft: #3a1c1a; --even-soft: #262e3b;
    --search: #c19bff; --engine: #5fd3c9; --plus: 74, 138, 255; --minus: 240, 110, 50;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 var(--font); }
main, header, footer { max-width: 1160px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 44px; }
.kicker { margin: 0 0 10px; color: var(--muted); font-size: 14px; letter-spacing: .02em; overflow-wrap: anywhere; }
h1 { margin: 0 0 24px; max-width: 34em; font-size: clamp(21px, 3.1vw, 30px); line-height: 1.32; font-weight: 650;
  letter-spacing: -.012em; text-wrap: pretty; overflow-wrap: anywhere; }
h2 { margin: 0 0 6px; font-size: 21px; letter-spacing: -.01em; }
h3 { margin: 0 0 8px; font-size: 15px; overflow-wrap: anywhere; }
p { margin: 0 0 12px; max-width: 46em; }
section { margin: 40px 0 0; scroll-margin-top: 56px; }
section > p { color: var(--muted); }
nav { position: sticky; top: 0; z-index: 3; margin-top: 28px; background: var(--page);
  border-bottom: 1px solid var(--grid); }
nav div { display: flex; gap: 22px; max-width: 1160px; margin: 0 auto; padding: 10px 20px; overflow-x: auto;
  white-space: nowrap; scrollbar-width: none; }
nav a { color: var(--muted); text-decoration: none; font-size: 14px; }
nav a:hover, nav a:focus-visible { color: var(--ink); text-decoration: underline; text-underline-offset: 4px; }
.grid { display: grid; gap: 16px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 320px), 1fr)); }
.tiles { grid-template-columns: repeat(auto-fit, minmax(min(100%, 190px), 1fr)); gap: 12px; }
.wide { grid-template-columns: minmax(0, 1fr); }
.card { margin: 0; padding: 18px 20px; background: var(--card); border: 1px solid var(--grid); border-radius: 12px;
  min-width: 0; }
.card + .card, .grid + .card, .card + .grid, .grid + .grid { margin-top: 16px; }
.grid > .card { margin-top: 0; }
.card + p { margin-top: 16px; }
.tile { padding: 14px 16px; max-width: 360px; }
.tile b { display: block; font-size: 27px; line-height: 1.2; font-weight: 680; letter-spacing: -.02em;
  font-variant-numeric: tabular-nums; }
.tile small { font-size: 13.5px; color: var(--muted); display: block; overflow-wrap: anywhere; line-height: 1.4; }
.badge { display: inline-block; margin-top: 8px; padding: 2px 9px; border-radius: 99px; font-size: 12.5px;
  font-weight: 600; background: var(--even-soft); color: var(--muted); overflow-wrap: anywhere; }
.win { background: var(--good-soft); color: var(--good); }
.loss { background: var(--bad-soft); color: var(--bad); }
figure svg { display: block; width: 100%; max-width: 640px; height: auto; margin: 0 auto; overflow: visible; }
figure svg * { stroke-linejoin: round; stroke-linecap: butt; }
figcaption { margin-top: 10px; color: var(--muted); font-size: 14px; }
.beside { display: grid; gap: 12px 36px; grid-template-columns: minmax(0, 1.55fr) minmax(0, 1fr); align-items: center; }
.beside figcaption p:last-child { margin-bottom: 0; }
.scroll { overflow-x: auto; padding: 6px 0 0; }
.scroll > h3 { margin-left: 18px; position: sticky; left: 18px; padding-top: 8px; }
table { width: 100%; border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { padding: 8px 9px; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--grid); }
tbody tr:last-child > *, tfoot tr:last-child > * { border-bottom: 0; }
tfoot tr:first-child > * { border-top: 2px solid var(--grid); }
th { font-weight: 600; }
thead th { padding: 0; color: var(--muted); font-size: 13px; vertical-align: bottom; }
th.text, td.text, th:first-child { text-align: left; }
th:first-child, thead th:first-child button { padding-left: 18px; }
td:last-child, thead th:last-child button { padding-right: 18px; }
thead th:first-child, thead th:last-child { padding: 0; }
tbody th, tfoot th, thead th:first-child { position: sticky; left: 0; background: var(--card); }
tbody tr:hover > * { background: color-mix(in srgb, var(--card), var(--linear) 7%); }
th button { width: 100%; padding: 8px 9px; border: 0; background: none; color: inherit; font: inherit;
  text-align: inherit; cursor: pointer; white-space: nowrap; }
th button::after { content: " ↕"; opacity: .3; }
th[aria-sort=ascending] button::after { content: " ↑"; opacity: 1; }
th[aria-sort=descending] button::after { content: " ↓"; opacity: 1; }
th button:hover, th[aria-sort] button { color: var(--ink); }
:focus-visible { outline: 2px solid var(--linear); outline-offset: 2px; border-radius: 4px; }
.swatch { display: inline-block; width: 10px; height: 10px; margin-right: 8px; border-radius: 50%;
  background: var(--other); }
.swatch.linear, .swatch.learned { background: var(--linear); }
.swatch.neural, .swatch.handwritten { background: var(--neural); }
.swatch.search { background: var(--search); }
.swatch.engine { background: var(--engine); }
.agent { display: inline-block; vertical-align: middle; max-width: 300px; overflow: hidden; text-overflow: ellipsis; }
.agent small { display: block; color: var(--muted); font-size: 12.5px; font-weight: 400; line-height: 1.3; }
.tile .agent { display: block; max-width: none; }
.tile b.long { font-size: 20px; line-height: 1.62; letter-spacing: -.03em; }
.results, .gauge { position: relative; display: flex; height: 8px; margin-top: 12px; border-radius: 4px;
  background: var(--bar); overflow: hidden; }
.results i:first-child { background: rgb(var(--plus)); }
.results i:last-child { background: rgb(var(--minus)); }
.gauge { overflow: visible; margin-bottom: 6px; }
.gauge i { position: absolute; top: -3px; width: 4px; height: 14px; margin-left: -2px; border-radius: 2px;
  background: var(--ink); }
.why { display: inline-block; min-width: 260px; white-space: normal; overflow-wrap: anywhere; }
.gauge + small { display: flex; justify-content: space-between; }
.alarm { margin-top: 16px; border-left: 5px solid var(--bad); background: var(--bad-soft); }
.alarm h3 { color: var(--bad); }
.alarm ul { margin: 0; padding-left: 20px; }
.heat td, .heat tbody tr:hover td { background: rgba(var(--tint), var(--a, 0)); }
.heat td.plus { --tint: var(--plus); }
.heat td.minus { --tint: var(--minus); }
.heat td { width: calc(78% / var(--n)); min-width: 66px; text-align: center; border: 2px solid var(--card);
  border-radius: 6px; }
.heat td small { display: block; font-size: 12px; opacity: .8; }
.cross thead th { padding: 9px; text-align: center; }
.cross thead th:first-child { padding: 9px 9px 9px 18px; text-align: left; font-weight: 400; }
.heat thead button { text-align: center; }
.heat thead th:first-child button { text-align: left; }
.share { width: 34%; }
.share i { display: block; height: 9px; border-radius: 3px; background: var(--linear); opacity: .75; min-width: 1px; }
code, pre { font: 13.5px/1.5 var(--mono); overflow-wrap: anywhere; }
pre { margin: 0; padding: 14px 16px; background: var(--bar); border-radius: 8px; white-space: pre-wrap;
  user-select: all; }
td code { white-space: normal; }
.pairs td { text-align: left; white-space: normal; overflow-wrap: anywhere; }
.pairs th, .steps tbody th { font-weight: 500; color: var(--muted); }
.pairs th { white-space: normal; vertical-align: top; width: 38%; }
dl { display: grid; gap: 6px 24px; grid-template-columns: minmax(110px, max-content) 1fr; margin: 0; }
dt { font-weight: 600; }
dd { margin: 0; color: var(--muted); max-width: 50em; }
footer { padding-top: 36px; padding-bottom: 48px; color: var(--muted); font-size: 14px; }
@media (max-width: 720px) {
  header { padding-top: 26px; }
  main, header, footer, nav div { padding-left: 14px; padding-right: 14px; }
  .card { padding: 14px; }
  .tiles { grid-template-columns: 1fr 1fr; }
  .card.scroll { padding: 4px 0 0; }
  .beside { grid-template-columns: minmax(0, 1fr); }
  .agent { max-width: 42vw; }
  dl { grid-template-columns: 1fr; gap: 2px; }
  dd { margin-bottom: 10px; }
}
.card.scroll { padding: 4px 0 0; }
@media print {
  @page { margin: 14mm; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { background: #fff; font-size: 11pt; }
  nav, th button::after { display: none; }
  main, header, footer { padding: 0; max-width: none; }
  .card, tr, figure, h2 + p { break-inside: avoid; }
  h2, h3, section > p { break-after: avoid; }
  .grid { grid-template-columns: repeat(auto-fit, minmax(190px, 1fr)); }
  .wide { grid-template-columns: minmax(0, 1fr); }
  .scroll { overflow: visible; }
  table { font-size: 8.5pt; }
  th, td, th button { padding-left: 5px; padding-right: 5px; }
}
"""

SCRIPT = """
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, i) => head.firstElementChild.addEventListener("click", () => {
    const numeric = [...body.rows].some(r => r.cells[i].dataset.v);
    const was = head.getAttribute("aria-sort");
    const up = was ? was !== "ascending" : !numeric;  // numbers: the largest first
    const order = (a, b) => {
      const [x, y] = [a, b].map(r => numeric ? r.cells[i].dataset.v ?? "" : r.cells[i].textContent.trim());
      if (x === "" || y === "") return (x === "") - (y === "");  // what is not known goes last
      const d = numeric ? x - y : x.localeCompare(y);
      return up ? d : -d;
    };
    heads.forEach(h => h.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    body.append(...[...body.rows].sort(order));
  }));
}
"""

GLOSSARY = {
    "Elo": "A scale of playing strength. 0 is equal; +100 means an expected score of 64 %, +200 of 76 %, +400 of 91 % "
    "(a draw counts half). Here every figure is the difference to one opponent: the better hand-written heuristic.",
    "Interval": "A match is a sample. If the whole experiment were repeated many times, 95 % of the intervals made "
    "this way would hold the true Elo. Only an interval that leaves out 0 shows who is stronger.",
    "Distinct games": "Two fixed programs repeat themselves, and a repeated game is no new evidence. Openings are "
    "drawn at random and each is played twice with sides swapped; this counts the games that really differ.",
    "Gate": "A match between what a generation has learned and the best Eval so far, whose games it learned from. It "
    "takes that one's place only if the match makes it sure enough that it is better; the first one does in any case.",
    "Equal depth, equal time": "At equal depth both sides look equally many moves ahead, so only the judgement of the "
    "Eval counts. At equal time a slower Eval sees less: this is what a user of the program feels.",
    "Eval": "The function that judges a position where the search stops: a number between −1 (lost) and +1 (won).",
    "Calibration": "An Eval is calibrated if, among the positions it values at 0.5, the mean outcome is 0.5. The "
    "calibration error is the mean distance between the two, weighted by the number of positions.",
    "Log loss": "How surprised the Eval is by the true outcomes of games it has not seen: 0 is perfect foresight, and "
    "0.693 a coin toss. The baseline is the best constant guess. Smaller is better.",
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
