"""Differences between what was expected and what came out, each in one short line.

Rule 1: only the keys that are expected are compared; lists are compared whole. A key expected as
null may be absent.
Rule 2: `starts_with` and `ends_with` speak of the `text` beside them.
Rule 3: kinds count: true is not 1.
"""

from __future__ import annotations

import json
from typing import Any

_AROUND = 24
_LONGEST = 160


def differences(expected: Any, actual: Any, at: str = "") -> list[str]:
    """Compare two values of JSON; nothing differs when the list is empty."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        return [line for key in expected for line in _key(key, expected[key], actual, at)]
    if isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            return [f"{at}: {len(expected)} entries expected, {len(actual)} came: {_short(actual)}"]
        pairs = enumerate(zip(expected, actual, strict=True))
        return [line for i, (a, b) in pairs for line in differences(a, b, f"{at}/{i}")]
    if isinstance(expected, str) and isinstance(actual, str) and expected != actual:
        return [_text(expected, actual, at)]
    if expected == actual and isinstance(expected, bool) == isinstance(actual, bool):
        return []
    return [f"{at}: {_short(expected)} expected, {_short(actual)} came"]


def _key(key: str, expected: Any, actual: dict[str, Any], at: str) -> list[str]:
    text = actual.get("text")
    if key in ("starts_with", "ends_with") and key not in actual and isinstance(text, str):
        holds = text.startswith(expected) if key == "starts_with" else text.endswith(expected)
        return [] if holds else [f"{at}/text: does not {key}: {_short(expected)}"]
    if key not in actual and expected is not None:
        return [f"{at}/{key}: {_short(expected)} expected, absent in {_short(actual)}"]
    return differences(expected, actual.get(key), f"{at}/{key}")


def _text(expected: str, actual: str, at: str) -> str:
    pairs = zip(expected, actual, strict=False)
    same = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(expected), len(actual)))
    start = max(same - _AROUND, 0)
    a, b = expected[start : same + _AROUND], actual[start : same + _AROUND]
    return f"{at}: at character {same}: {_short(a)} expected, {_short(b)} came"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, default=repr)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
