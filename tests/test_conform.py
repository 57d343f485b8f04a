from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance.compare import differences

CONFORM = Path(__file__).parent / "conform.py"
VECTORS = Path(__file__).parent / "vectors"
FILL: dict[str, Any] = {
    "system": "loom",
    "op": "fill",
    "input": {"template": "{a}", "bindings": [["a", "1"]]},
    "expected_output": {"text": "1"},
}
BLAME: dict[str, Any] = {
    "versions": [{"a": "one\n"}, {"a": "one\ntwo\n"}],
    "expect": {"a": [{"text": "one\n", "v": 0}, {"text": "two\n", "v": 1}]},
}


def conform(*paths: Path) -> tuple[int, list[str]]:
    done = subprocess.run(
        [sys.executable, CONFORM, *paths], capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout.splitlines()


def put(folder: Path, **files: object) -> Path:
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"{name}.json").write_text(text)
    return folder


@pytest.mark.parametrize("system", ["loom", "panto", "raku-agent", "xingular"])
def test_every_vector_passes(system: str) -> None:
    code, lines = conform(VECTORS / system)
    assert (code, lines) == (0, [f"{len([*(VECTORS / system).iterdir()])} passed, 0 failed"])


def test_cases_are_known_by_what_they_hold(tmp_path: Path) -> None:
    deep = tmp_path / "any" / "name"
    deep.mkdir(parents=True)
    put(deep, x=FILL, y=BLAME, z={"else": 1})
    (deep / "notes.txt").write_text("not looked at")
    code, lines = conform(tmp_path)
    assert code == 0
    assert lines == [f"not a case: {deep / 'z.json'}", "2 passed, 0 failed"]


def test_a_failure_says_what_differs(tmp_path: Path) -> None:
    put(tmp_path, x=FILL | {"expected_output": {"text": "2"}})
    code, lines = conform(tmp_path / "x.json")
    assert code == 1
    assert lines == [
        f"FAILED {tmp_path / 'x.json'}",
        '    /text: at character 0: "2" expected, "1" came',
        "0 passed, 1 failed",
    ]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (FILL | {"system": "moon"}, "not built: moon"),
        (FILL | {"op": "sing"}, "not built: loom sing"),
        (FILL | {"input": {}}, "KeyError: 'bindings'"),
        ("{", "Expecting property name"),
        (BLAME | {"expect": {"a": [{"text": "one\ntwo\n", "v": 1}]}}, "a: byte 0: version 1 expec"),
        (BLAME | {"expect": {"a": [{"text": "one\n", "v": 0}]}}, "the expected texts are not"),
    ],
)
def test_what_is_not_built_or_breaks_is_a_failure(
    tmp_path: Path, content: object, line: str
) -> None:
    code, lines = conform(put(tmp_path, x=content, y=FILL))
    assert code == 1
    assert line in "\n".join(lines)
    assert lines[-1] == "1 passed, 1 failed"


def test_nothing_to_run_is_no_success(tmp_path: Path) -> None:
    assert conform(tmp_path) == (1, ["0 passed, 0 failed"])
    assert conform()[0] == 2


@pytest.mark.parametrize(
    ("expected", "actual", "lines"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, 0),
        ({"a": None}, {}, 0),
        ({"a": {"b": [1, {"c": 2}]}}, {"a": {"b": [1, {"c": 2, "d": 3}]}}, 0),
        ({"starts_with": "ab", "ends_with": "cd"}, {"text": "abcd"}, 0),
        ({"starts_with": "b", "ends_with": "c"}, {"text": "abcd"}, 2),
        ({"a": 1}, {}, 1),
        ({"a": 1}, {"a": True}, 1),
        ({"a": False}, {"a": None}, 1),
        ([1, 2], [1], 1),
        ([1, 2], [2, 1], 2),
        ({"a": []}, {"a": {}}, 1),
    ],
)
def test_only_what_is_expected_is_compared(expected: Any, actual: Any, lines: int) -> None:
    assert len(differences(expected, actual)) == lines
