"""Cases found by what they hold, not by what they are called.

a JSON object with system, op, input, expected_output     vector
a JSON object with versions, expect                       blame
a folder with a.json, b.json, context.json, expected.json miss
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VECTOR_KEYS = {"system", "op", "input", "expected_output"}
BLAME_KEYS = {"versions", "expect"}
MISS_FILES = {"a.json", "b.json", "context.json", "expected.json"}


class NotBuiltError(Exception):
    """The case asks for something that this pvc does not have."""


@dataclass(frozen=True)
class Case:
    """One case: where it lies, of which kind it is, and what it holds (a miss: its folder)."""

    path: Path
    kind: Literal["vector", "blame", "miss", "broken", "other"]
    content: Any = None


def find(path: Path) -> Iterator[Case]:
    """Find the cases at a file or below a folder, in the order of their paths."""
    if not path.is_dir():
        yield _of_file(path)
        return
    children = sorted(path.iterdir())
    if {child.name for child in children} >= MISS_FILES:
        yield Case(path, "miss", path)
        return
    for child in children:
        if child.is_dir() or child.suffix == ".json":
            yield from find(child)


def _of_file(path: Path) -> Case:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        return Case(path, "broken", str(error))
    if not isinstance(content, dict):
        return Case(path, "other")
    if content.keys() >= VECTOR_KEYS:
        return Case(path, "vector", content)
    return Case(path, "blame" if content.keys() >= BLAME_KEYS else "other", content)
