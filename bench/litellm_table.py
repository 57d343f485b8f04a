"""Cut out of LiteLLM's price table what pvc's provider table can be compared with.

    python bench/litellm_table.py model_prices_and_context_window_backup.json VERSION \
        > tests/providers/litellm.json

The installed package takes 200 MB, its table 3.5 MB, and the test needs a few lines of it: for each
row of pvc's, the models that the row decides. Prices are multiples of the input price.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pvc.providers.base import PLATFORMS, bare_model, load_facts

NAMES = {"google": "gemini", "qwen": "dashscope", "bedrock": "bedrock_converse"}
"""LiteLLM's names of platforms, where they are not pvc's."""
MOST = 2
"""So many models of each row are kept."""


def main() -> int:
    """Print the cut."""
    table = json.loads(Path(sys.argv[1]).read_bytes())
    rows: dict[str, dict[str, Any]] = {}
    for platform in PLATFORMS:
        seen: dict[str, int] = {}
        for name, row in sorted(table.items()):
            if row.get("litellm_provider") != NAMES.get(platform, platform):
                continue
            found = _row(platform, name)
            figures = _figures(row)
            if found is None or not figures or seen.get(found, 0) >= MOST:
                continue
            seen[found] = seen.get(found, 0) + 1
            rows.setdefault(platform, {})[name] = figures
    print(json.dumps({"litellm": sys.argv[2], "rows": rows}, indent=1, sort_keys=True))
    return 0


def _row(platform: str, name: str) -> str | None:
    """Name the row of pvc's table that decides a model."""
    bare = bare_model(name)
    matches = [match for match, _ in load_facts(platform).models if bare.startswith(match)]
    return max(matches, key=len, default=None)


def _figures(row: dict[str, Any]) -> dict[str, float]:
    price = row.get("input_cost_per_token")
    columns = {
        "read": "cache_read_input_token_cost",
        "write": "cache_creation_input_token_cost",
        "1h": "cache_creation_input_token_cost_above_1hr",
        "12h": "cache_creation_input_token_cost_above_12hr",
    }
    found = {
        key: round(row[name] / price, 4) for key, name in columns.items() if price and row.get(name)
    }
    if least := row.get("prompt_cache_min_tokens"):
        found["minimum"] = int(least)
    return found


if __name__ == "__main__":
    sys.exit(main())
