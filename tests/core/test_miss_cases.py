"""The cases of `tests/cases/miss` and `miss-2`: two bodies and the answer that must come out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pvc.core.miss import Context, compare
from pvc.core.reuse import reuse
from pvc.providers.base import read

CASES = Path(__file__).parents[1] / "cases"
FOLDERS = sorted(path for kind in ("miss", "miss-2") for path in (CASES / kind).glob("*/"))


def load(case: Path, name: str) -> Any:
    return json.loads((case / f"{name}.json").read_bytes())


@pytest.mark.parametrize("case", FOLDERS, ids=[path.name for path in FOLDERS])
def test_a_case_gets_its_answer(case: Path) -> None:
    context = load(case, "context")
    a, b = (read((case / f"{side}.json").read_bytes(), context["provider"]) for side in "ab")
    answer = compare(a, b, Context(**context)).to_json()
    expected = load(case, "expected")
    assert {key: answer[key] for key in expected.keys() - {"case", "note"}} == {
        key: value for key, value in expected.items() if key not in ("case", "note")
    }
    assert answer["evidence"]


@pytest.mark.parametrize("case", FOLDERS, ids=[path.name for path in FOLDERS])
def test_what_is_read_back_is_one_function(case: Path) -> None:
    context, expected = load(case, "context"), load(case, "expected")
    a, b = (read((case / f"{side}.json").read_bytes(), context["provider"]) for side in "ab")
    found = reuse(
        a,
        b,
        relation=context["relation"],
        seconds=context["seconds_between"],
        same_account=context["same_account"],
        counted=b.rules.counters(context["usage_b"]),
    )
    assert (found.scope, found.kept) == (expected["scope_bytes"], expected["reusable_bytes"])
    assert found.kept + found.lost == found.scope
