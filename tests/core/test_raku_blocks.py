from __future__ import annotations

from typing import Any

import pytest

from pvc.core import raku_blocks
from pvc.errors import UsageError

TOOL = {"function": {"name": "re\u0301ad", "description": "  Look.\n", "parameters": {}}}


def text(rope: raku_blocks.Rope) -> str:
    return b"".join(piece[0] for piece in rope).decode()


def origins(rope: raku_blocks.Rope) -> list[tuple[bytes, str, int]]:
    return [(data, origin[-1], offset) for data, origin, offset, _ in rope if origin[0] == "tool"]


def test_values_beside_extra_are_its_first_three_bullets() -> None:
    given = {"platform": "box", "os": "", "date": "2031-02-03"}
    rope = raku_blocks.environment(given, {"os": "reef 2", "cwd": None, "a": False})
    assert text(rope) == (
        "## Environment\n\n- platform: box\n- os: reef 2\n- date: 2031-02-03\n- a: False"
    )
    pointers = [origin[2] for _, origin, _, _ in rope if origin[0] == "binding"]
    assert pointers == ["/platform", "/extra/os", "/date", "/extra/a"]


def test_what_is_not_given_is_unknown_and_nothing_given_is_no_block() -> None:
    assert "- os: unknown\n" in text(raku_blocks.environment({"platform": "box"}, None))
    assert raku_blocks.environment({"platform": ""}, {"cwd": None}) == []


def test_the_block_of_extras_alone_is_there_in_any_case() -> None:
    unknown = "## Environment\n\n- platform: unknown\n- os: unknown\n- date: unknown"
    assert text(raku_blocks.env_block({})) == unknown
    assert text(raku_blocks.env_block({"z": "1", "e\u0301": "2", "y": None})) == (
        unknown + "\n- z: 1\n- é: 2"
    )


PARAMETERS: list[tuple[dict[str, Any], str]] = [
    ({"properties": {"a": {"type": ""}}}, "- a ()"),
    ({"properties": {"a": {"type": []}}, "required": ["a"]}, "- a (, required)"),
    ({"properties": {"a": {"type": 5, "description": 7}}}, "- a (5) - 7"),
    ({"properties": {"a": {"type": None, "description": None}}}, "- a"),
    ({"properties": {"1": {}, "0": {}}, "required": [1]}, "- 1 (required)\n- 0"),
    ({"properties": {"z": {}, "e\u0301": {}}, "required": ["é"]}, "- é (required)\n- z"),
]


@pytest.mark.parametrize(("parameters", "lines"), PARAMETERS)
def test_what_a_schema_says_is_a_text_whatever_it_is(
    parameters: dict[str, Any], lines: str
) -> None:
    tool = {"function": {"name": "t", "description": False, "parameters": parameters}}
    assert text(raku_blocks.tools([tool])) == f"## Tools\n\n### t\nFalse\n\nParameters:\n{lines}"


def test_a_tools_bytes_name_their_place_in_its_definition() -> None:
    rope = raku_blocks.tools([TOOL], "/tools")
    assert text(rope) == "## Tools\n\n### réad\nLook.\n\nTakes no arguments."
    assert origins(rope) == [
        (b"r", "/tools/0/function/name", 0),
        (b"ad", "/tools/0/function/name", 4),
        (b"Look.", "/tools/0/function/description", 2),
    ]


@pytest.mark.parametrize("extra", [[], "x", {"a": {"b": 1}}])
def test_extra_is_a_flat_object(extra: Any) -> None:
    with pytest.raises(UsageError, match="/extra"):
        raku_blocks.environment({}, extra)
