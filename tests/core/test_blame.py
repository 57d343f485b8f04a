from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.generated import FakeHistory
from pvc.core.blame import annotate
from pvc.core.diff import Granularity

CASES = sorted((Path(__file__).parents[1] / "cases/blame").glob("*.json"))


def versions_of(history: FakeHistory, path: str, **options: Any) -> list[int]:
    """The version that introduced each byte of `path`."""
    numbers = history.numbers()
    runs = annotate(history, **options).runs(path)
    return [numbers[run.commit] for run in runs for _ in range(run.start, run.end)]


def load_case(path: Path) -> tuple[dict[str, Any], FakeHistory]:
    case = json.loads(path.read_bytes())
    encoding = case["options"].get("encoding", "utf-8")
    trees = [{p: t.encode(encoding) for p, t in tree.items()} for tree in case["versions"]]
    return case, FakeHistory.of(trees)


@pytest.mark.parametrize("granularity", Granularity)
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_hand_checked_cases(path: Path, granularity: Granularity) -> None:
    case, history = load_case(path)
    for name, pieces in case["expect"].items():
        got = versions_of(history, name, moves=case["options"]["moves"], granularity=granularity)
        wanted = [piece["v"] for piece in pieces for _ in piece["text"].encode()]
        assert len(got) == len(wanted)
        for at, (version, accepted) in enumerate(zip(got, wanted, strict=True)):
            allowed = accepted if isinstance(accepted, list) else [accepted]
            earlier = granularity is Granularity.BYTE and version < max(allowed)
            assert version in allowed or earlier, f"{name} byte {at}: {version}, not {accepted}"
