"""Results: frozen dataclasses of figures, which reports and scripts read by their fields, and files as JSON."""

from __future__ import annotations

from dataclasses import asdict

from evallearn.core.digest import plain_json
from evallearn.core.json_shapes import JsonDict


class Result:
    """Base of frozen dataclasses that hold what was found."""

    def to_json(self) -> JsonDict:
        """Return all fields as plain dicts, lists, numbers and texts."""
        return plain_json(asdict(self))  # type: ignore[call-overload]  # subclasses are dataclasses
