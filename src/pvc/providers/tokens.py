"""Which family of tokenizers a model belongs to, from `facts/tokens.toml`. Pure."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from pvc.core.tokens import Family


def family_of(model: str) -> Family:
    """Give the family of the longest match that begins the model's name."""
    name = model[max(model.find("claude"), 0) :].lower()
    rows = [row for row in _table()["families"] if name.startswith(row["match"])]
    row = max(rows, key=lambda row: len(row["match"]))
    return Family(
        tuple(_table()["weights"][row["weights"]]),
        row["factor"],
        row["low"],
        row["high"],
        row.get("tokenizer"),
    )


@cache
def _table() -> dict[str, Any]:
    data = resources.files("pvc.providers").joinpath("facts", "tokens.toml").read_bytes()
    return tomllib.loads(data.decode())
