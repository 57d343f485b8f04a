"""The head's leaves in each shape, and tools carried from shape to shape."""

from __future__ import annotations

import pytest

from pvc.core import stream
from pvc.core.json_text import Value, dump, parse
from pvc.core.stream import ANTHROPIC, CHAT, RESPONSES
from pvc.errors import DecodeError

SCHEMA = (
    '{"type":"object","properties":{"z":{"type":"string"},"a":{"default":1.0}},"required":["z"]}'
)
FORMS = {
    "mcp": f'{{"tools":[{{"name":"cut","inputSchema":{SCHEMA},"description":"Cut it"}}]}}',
    ANTHROPIC: f'[{{"name":"cut","description":"Cut it","input_schema":{SCHEMA}}}]',
    CHAT: '[{"type":"function","function":'
    f'{{"name":"cut","description":"Cut it","parameters":{SCHEMA}}}}}]',
    RESPONSES: f'[{{"type":"function","name":"cut","description":"Cut it","parameters":{SCHEMA}}}]',
}
HEADS = {
    ANTHROPIC: f"cut\0Cut it\0{SCHEMA}\0text\0one\0text\0two\0",
    CHAT: f"function\0cut\0Cut it\0{SCHEMA}\0system\0text\0one\0text\0two\0",
    RESPONSES: f"function\0cut\0Cut it\0{SCHEMA}\0onetwo\0",
}


@pytest.mark.parametrize("shape", stream.SHAPES)
@pytest.mark.parametrize("form", FORMS)
def test_tools_of_every_form_give_the_same_head(form: str, shape: str) -> None:
    tools = stream.as_tools(parse(FORMS[form]), shape)
    assert stream.head(tools, [b"one", b"two"], shape).decode() == HEADS[shape]


@pytest.mark.parametrize("shape", stream.SHAPES)
def test_tools_in_the_shapes_own_form_stay_as_they_are(shape: str) -> None:
    tools = parse(FORMS[shape])
    assert stream.as_tools(tools, shape) == tools


def leaves(text: str, shape: str) -> list[tuple[str, str]]:
    return [(at, data.decode()) for at, data in stream.tool_leaves(parse(text), shape)]


def test_keys_that_are_not_named_follow_in_code_point_order() -> None:
    tool = '[{"zeta":1e3,"type":"custom","name":"n","cache_control":{"type":"ephemeral"},"B":null}]'
    assert leaves(tool, ANTHROPIC) == [
        ("/tools/0/name", "n"),
        ("/tools/0/B", "null"),
        ("/tools/0/type", "custom"),
        ("/tools/0/zeta", "1e3"),
    ]


def test_nested_keys_of_a_chat_tool_end_their_parents_leaves() -> None:
    function = '{"strict":true,"parameters":{"cache_control":1},"name":"n"}'
    tool = f'[{{"a/b":2,"function":{function},"type":"f"}}]'
    assert leaves(tool, CHAT) == [
        ("/tools/0/type", "f"),
        ("/tools/0/function/name", "n"),
        ("/tools/0/function/parameters", '{"cache_control":1}'),
        ("/tools/0/function/strict", "true"),
        ("/tools/0/a~1b", "2"),
    ]


SYSTEMS: dict[str, tuple[str, str, list[tuple[str, str]]]] = {
    "string": (ANTHROPIC, '"S"', [("/system", "text"), ("/system", "S")]),
    "list": (
        ANTHROPIC,
        '[{"text":"S","cache_control":{},"type":"text"}]',
        [("/system/0/type", "text"), ("/system/0/text", "S")],
    ),
    "instructions": (RESPONSES, '"S"', [("/instructions", "S")]),
    "leading messages": (
        CHAT,
        (
            '[{"role":"system","content":"S"},{"role":"developer","content":'
            '[{"text":"D","type":"text"}]},'
            '{"role":"user","content":"U"},{"role":"system","content":"late"}]'
        ),
        [
            ("/messages/0/role", "system"),
            ("/messages/0/content", "S"),
            ("/messages/1/role", "developer"),
            ("/messages/1/content/0/type", "text"),
            ("/messages/1/content/0/text", "D"),
        ],
    ),
    "none": (ANTHROPIC, "null", []),
}


@pytest.mark.parametrize(("shape", "text", "expected"), SYSTEMS.values(), ids=SYSTEMS)
def test_system_text_in_each_shape(shape: str, text: str, expected: list[tuple[str, str]]) -> None:
    found = [(at, data.decode()) for at, data in stream.system_leaves(parse(text), shape)]
    assert found == expected


def test_one_block_is_a_plain_string_in_chat() -> None:
    assert stream.head(None, [b"S"], CHAT) == b"system\0S\0"


def test_a_head_without_tools_and_text_is_empty() -> None:
    assert [stream.head(None, [], shape) for shape in stream.SHAPES] == [b"", b"", b""]


REFUSED: dict[str, tuple[str, str, str]] = {
    "no list": ('"x"', CHAT, "one JSON array"),
    "no object": ("[1]", CHAT, "/0: a tool is an object"),
    "no name": ('[{"input_schema":{}}]', CHAT, "/0: no tool that can be written for `openai.chat`"),
    "built-in of another": ('{"tools":[{"x":1}]}', ANTHROPIC, "/tools/0: no tool"),
    "no tools": ("{}", CHAT, "no `tools` in the object"),
    "no shape": ("[]", "openai", "no request shape `openai`"),
}


@pytest.mark.parametrize(("text", "shape", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_tool_is_refused(text: str, shape: str, said: str) -> None:
    with pytest.raises(DecodeError) as caught:
        stream.as_tools(parse(text), shape)
    assert said in f"{caught.value} {caught.value.hint}"


def test_a_head_refuses_half_a_surrogate_and_names_it() -> None:
    tools: list[Value] = [{"name": "n", "description": "\ud83d"}]
    with pytest.raises(DecodeError) as caught:
        stream.head(tools, [], ANTHROPIC)
    assert caught.value.at == "/tools/0/description"


@pytest.mark.parametrize(
    ("tools", "names"),
    [
        (
            '[{"name": "b"}, {"name": "a"}, {"name": "B"}, {"name": "\u00e9"}]',
            ["B", "a", "b", "\u00e9"],
        ),
        ('[{"name": "a", "n": 2}, {"name": "a", "n": 1}]', ["a", "a"]),
    ],
)
def test_tools_are_ordered_by_name_and_a_tie_keeps_its_order(tools: str, names: list[str]) -> None:
    value = parse(tools)
    ordered = stream.by_name(value)
    assert isinstance(ordered, list)
    assert [tool.get("name", "") for tool in ordered if isinstance(tool, dict)] == names
    assert stream.by_name(ordered) == ordered
    assert dump(stream.by_name({"tools": value})) == dump({"tools": ordered})


def test_a_builtin_tool_is_ordered_by_its_type() -> None:
    tools = parse('[{"type": "function", "function": {"name": "z"}}, {"type": "web_search"}]')
    ordered = stream.by_name(tools)
    assert isinstance(ordered, list)
    assert [tool["type"] for tool in ordered if isinstance(tool, dict)] == [
        "web_search",
        "function",
    ]


def test_key_order_inside_a_schema_is_content() -> None:
    tools = parse('[{"name": "b", "input_schema": {"z": 1, "a": 2}}, {"name": "a"}]')
    assert dump(stream.by_name(tools)).endswith('"input_schema":{"z":1,"a":2}}]')
