"""Draw the picture of README.md from the cards of the zoo: Elo against the best hand-written heuristic, with intervals.

    python benchmarks/readme_picture.py [--out docs/strength.svg]

The same cards give the same bytes. Run it again after a card has changed.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from evallearn.evaluators import hardest, read_card, zoo_names
from evallearn.evaluators.zoo import zoo_name

ROOT = Path(__file__).resolve().parents[1]
WIDTH, LEFT, RIGHT, TOP, ROW = 720, 186, 24, 34, 20
LOW, HIGH, TICK = -100, 700, 100

STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.muted { fill: #59636e }
.value { font-weight: 600 }
.end { text-anchor: end }
.middle { text-anchor: middle }
.grid { stroke: #d1d9e0 }
.zero { stroke: #59636e; stroke-width: 1.5 }
.interval { stroke-width: 3; stroke-linecap: round }
.ahead { stroke: #0969da; fill: #0969da }
.level { stroke: #818b98; fill: #818b98 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .muted { fill: #9198a1 }
  .grid { stroke: #3d444d }
  .zero { stroke: #9198a1 }
  .ahead { stroke: #4493f8; fill: #4493f8 }
  .level { stroke: #818b98; fill: #818b98 }
}
"""


def x_of(elo: float) -> float:
    """Where an Elo stands on the horizontal axis."""
    return round(LEFT + (elo - LOW) / (HIGH - LOW) * (WIDTH - LEFT - RIGHT), 1)


def signed(elo: float) -> str:
    """An Elo with its sign, but for 0."""
    return f"{elo:+.0f}" if round(elo) else "0"


def text(x: float, y: float, words: str, classes: str) -> str:
    """A text element whose baseline begins, ends or is centred at (x, y), as its classes say."""
    return f'<text x="{x}" y="{y}" class="{classes}">{escape(words)}</text>'


def grid(bottom: int) -> list[str]:
    """Vertical lines with their Elo, that of 0 stronger."""
    parts = []
    for elo in range(LOW, HIGH + 1, TICK):
        x, kind = x_of(elo), "grid" if elo else "zero"
        parts.append(f'<line x1="{x}" x2="{x}" y1="{TOP - 6}" y2="{bottom}" class="{kind}"/>')
        parts.append(text(x, TOP - 12, signed(elo), "middle muted"))
    return parts


def row(card: dict[str, Any], match: dict[str, Any], y: int) -> list[str]:
    """One evaluator: its name, the interval as a line, the Elo as a dot and in figures."""
    kind = "ahead" if match["low"] > 0 else "level"
    low, high, elo = (x_of(match[name]) for name in ("low", "high", "elo"))
    return [
        text(LEFT - 10, y + 4, zoo_name(card["game"], card["name"]), "end"),
        f'<line x1="{low}" x2="{high}" y1="{y}" y2="{y}" class="interval {kind}"/>',
        f'<circle cx="{elo}" cy="{y}" r="4.5" class="{kind}"/>',
        text(high + 8, y + 4, signed(match["elo"]), "value"),
    ]


def picture(cards: list[dict[str, Any]]) -> str:
    """The SVG of all cards that have a match, the strongest first."""
    rows = [(card, match) for card in cards if (match := hardest(card))]
    if not all(match["low"] >= LOW and match["high"] <= HIGH for _, match in rows):
        raise SystemExit(f"an interval leaves the axis from {LOW} to {HIGH}: widen LOW or HIGH")
    rows.sort(key=lambda pair: -pair[1]["elo"])
    bottom = TOP + ROW * len(rows)
    parts = grid(bottom)
    for i, (card, match) in enumerate(rows):
        parts += row(card, match, TOP + ROW * i + ROW // 2)
    title = "Elo of the shipped evaluators against the best hand-written heuristic of their game, with 95 % intervals"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 6}" width="{WIDTH}" role="img">'
    return "\n".join([head, f"<title>{title}</title>", f"<style>{STYLE}</style>", *parts, "</svg>", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "strength.svg")
    out = parser.parse_args().out
    out.write_text(picture([read_card(name) for name in zoo_names()]), encoding="utf-8")
    print(f"wrote {out}")


if __name__ == "__main__":
    main()
