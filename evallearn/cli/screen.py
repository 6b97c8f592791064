"""Output that any terminal can show: characters that its encoding lacks become ASCII.

Streams get an error handler, so nothing that is written can fail. Consoles replace characters before they lay out
tables, since some become two.
"""

from __future__ import annotations

import codecs
import sys
from contextlib import suppress
from typing import Any

from rich.console import Console
from rich.text import Text

HANDLER = "evallearn_ascii"
"""The name of the error handler."""
INSTEAD = {
    "█": "#", "±": "+-", "…": "~", "✓": "+", "–": "-", "—": "-", "−": "-", "×": "x", "è": "e", "→": "->", "·": ".",
    "━": "-",
    **{chr(0x2800 + dots): "*" for dots in range(256)},  # Braille: something that turns
    "\N{REPLACEMENT CHARACTER}": "?",
}  # fmt: skip
"""What our own texts and rich's are made of. All else, such as a name in a file, is written as JSON writes it."""


class Screen(Console):
    """A console for plain texts, which are printed as they are: no markup, no colours guessed, no emoji."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, highlight=False, emoji=False, soft_wrap=True, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return the text as this console's encoding can show it."""
        return super().render_str(shown(text, self.encoding), **options)


def shown(text: str, encoding: str) -> str:
    """Return the text with ASCII for the characters that the encoding lacks."""
    return text.encode(encoding, HANDLER).decode(encoding)


def set_up_streams() -> None:
    """Let nothing that is written to the terminal fail."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # None, a stand-in of somebody's, or closed
            stream.reconfigure(errors=HANDLER)  # type: ignore[union-attr]  # a real stream has it


def _replaced(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_instead, error.object[error.start : error.end])), error.end


def _instead(character: str) -> str:
    """Return a substitute of our own, or \\u00e9 and the like, which JSON can read back."""
    if character in INSTEAD:
        return INSTEAD[character]
    words = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{words[i : i + 2].hex()}" for i in range(0, len(words), 2))


codecs.register_error(HANDLER, _replaced)
