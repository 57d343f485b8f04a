"""Values that come from Python, as the JSON that they are written as.

Rule 1: a number keeps the very form that Python's own writer gives it, so what is pinned is what an
SDK will send.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pvc.core.json_text import parse
from pvc.errors import UsageError

if TYPE_CHECKING:
    from pvc.core.json_text import Value


def from_python(value: object, at: str) -> Value:
    """Read a Python value as JSON. Raises `UsageError` on what has none."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError(f"no JSON: {str(error)[:1].lower()}{str(error)[1:]}", at=at) from None
    return parse(text, at=at)
