"""The cases of `tests/cases/miss`: two bodies and the answer that must come out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pvc.core.miss import Context, compare
from pvc.providers.base import read

CASES = Path(__file__).parents[1] / "cases" / "miss"


def load(case: str, name: str) -> Any:
    return json.loads((CASES / case / f"{name}.json").read_bytes())


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.iterdir() if path.is_dir()))
def test_a_case_gets_its_answer(case: str) -> None:
    context = load(case, "context")
    a, b = (
        read((CASES / case / f"{side}.json").read_bytes(), context["provider"]) for side in "ab"
    )
    answer = compare(a, b, Context(**context)).to_json()
    expected = load(case, "expected")
    assert {key: answer[key] for key in expected.keys() - {"case", "note"}} == {
        key: value for key, value in expected.items() if key not in ("case", "note")
    }
    assert answer["evidence"]
