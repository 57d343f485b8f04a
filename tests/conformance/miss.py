"""Cases of two request bodies: which byte differs first, of what kind, and what is lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from conformance.compare import differences
from pvc.core.miss import Context, compare
from pvc.providers.base import read

if TYPE_CHECKING:
    from pathlib import Path

FOR_PEOPLE = ("case", "note")


def run(folder: Path) -> list[str]:
    """Compare the bodies of a folder, without its name or path."""
    context = json.loads((folder / "context.json").read_bytes())
    expected = json.loads((folder / "expected.json").read_bytes())
    a, b = (
        read((folder / name).read_bytes(), context["provider"]) for name in ("a.json", "b.json")
    )
    actual = compare(a, b, Context(**context)).to_json()
    return differences({k: v for k, v in expected.items() if k not in FOR_PEOPLE}, actual)
