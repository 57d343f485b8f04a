"""Bodies read into leaves: order and pointers in each shape, notes, refusals, and the facts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pvc.core.json_text import parse
from pvc.errors import DecodeError
from pvc.providers.base import Facts, detect_shape, load_facts, read
from request_bodies import SHAPES, Parts, write

ORDER: dict[str, tuple[str, str, list[tuple[str, str]]]] = {
    "anthropic": (
        "anthropic.messages",
        """{"messages": [
            {"content": "hi", "role": "user"},
            {"role": "assistant", "content": [
                {"signature": "s", "thinking": "hm", "type": "thinking"},
                {"input": {"z": 1.0, "cache_control": 2}, "name": "n",
                 "id": "t1", "type": "tool_use"}
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "is_error": false, "content": [
                    {"text": "x", "type": "text", "cache_control": {}}], "tool_use_id": "t1"},
                {"type": "image", "source": {"data": "AA"}, "alt": null}
            ]},
            {"role": "assistant", "content": null}],
            "tools": [{"type": "custom", "input_schema": {}, "name": "n", "description": "d"}],
            "system": "S"}""",
        [
            ("/tools/0/name", "n"),
            ("/tools/0/description", "d"),
            ("/tools/0/input_schema", "{}"),
            ("/tools/0/type", "custom"),
            ("/system", "text"),
            ("/system", "S"),
            ("/messages/0/role", "user"),
            ("/messages/0/content", "text"),
            ("/messages/0/content", "hi"),
            ("/messages/1/role", "assistant"),
            ("/messages/1/content/0/type", "thinking"),
            ("/messages/1/content/0/thinking", "hm"),
            ("/messages/1/content/0/signature", "s"),
            ("/messages/1/content/1/type", "tool_use"),
            ("/messages/1/content/1/id", "t1"),
            ("/messages/1/content/1/name", "n"),
            ("/messages/1/content/1/input", '{"z":1.0,"cache_control":2}'),
            ("/messages/2/role", "user"),
            ("/messages/2/content/0/type", "tool_result"),
            ("/messages/2/content/0/tool_use_id", "t1"),
            ("/messages/2/content/0/content/0/type", "text"),
            ("/messages/2/content/0/content/0/text", "x"),
            ("/messages/2/content/0/is_error", "false"),
            ("/messages/2/content/1/type", "image"),
            ("/messages/2/content/1/alt", "null"),
            ("/messages/2/content/1/source", '{"data":"AA"}'),
            ("/messages/3/role", "assistant"),
        ],
    ),
    "chat": (
        "openai.chat",
        """{"response_format": {"type": "text"}, "messages": [
            {"role": "developer", "content": [{"text": "D", "type": "text"}], "name": "dev"},
            {"role": "assistant", "content": null, "refusal": null, "tool_calls": [
                {"type": "function", "function": {"arguments": "{}", "name": "n"}, "id": "c1"}]},
            {"role": "tool", "tool_call_id": "c1", "content": "ok"}]}""",
        [
            ("/response_format", '{"type":"text"}'),
            ("/messages/0/role", "developer"),
            ("/messages/0/content/0/type", "text"),
            ("/messages/0/content/0/text", "D"),
            ("/messages/0/name", "dev"),
            ("/messages/1/role", "assistant"),
            ("/messages/1/tool_calls/0/id", "c1"),
            ("/messages/1/tool_calls/0/function/name", "n"),
            ("/messages/1/tool_calls/0/function/arguments", "{}"),
            ("/messages/1/refusal", "null"),
            ("/messages/2/role", "tool"),
            ("/messages/2/content", "ok"),
            ("/messages/2/tool_call_id", "c1"),
        ],
    ),
    "responses": (
        "openai.responses",
        """{"text": {"format": {"type": "text"}}, "instructions": "I", "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "U"}]},
            {"type": "reasoning", "summary": [], "id": "r1"},
            {"type": "function_call", "id": "f1", "arguments": "{}", "name": "n", "call_id": "c1"},
            {"type": "function_call_output", "output": "ok", "call_id": "c1"}],
            "tools": [{"strict": true, "parameters": {}, "name": "n", "type": "function"}]}""",
        [
            ("/tools/0/type", "function"),
            ("/tools/0/name", "n"),
            ("/tools/0/parameters", "{}"),
            ("/tools/0/strict", "true"),
            ("/text/format", '{"type":"text"}'),
            ("/instructions", "I"),
            ("/input/0/type", "message"),
            ("/input/0/role", "user"),
            ("/input/0/content/0/type", "input_text"),
            ("/input/0/content/0/text", "U"),
            ("/input/1/type", "reasoning"),
            ("/input/1/id", "r1"),
            ("/input/1/summary", "[]"),
            ("/input/2/type", "function_call"),
            ("/input/2/call_id", "c1"),
            ("/input/2/name", "n"),
            ("/input/2/arguments", "{}"),
            ("/input/2/id", "f1"),
            ("/input/3/type", "function_call_output"),
            ("/input/3/call_id", "c1"),
            ("/input/3/output", "ok"),
        ],
    ),
}


@pytest.mark.parametrize(("shape", "text", "expected"), ORDER.values(), ids=ORDER)
def test_leaves_come_in_cache_order(shape: str, text: str, expected: list[tuple[str, str]]) -> None:
    body = read(text.encode(), shape)
    assert [(leaf.pointer, leaf.text) for leaf in body.leaves] == expected
    assert body.stream() == "".join(f"{text}\0" for _, text in expected).encode()
    assert detect_shape(parse(text)) == shape


def test_the_system_of_openai_ends_with_the_leading_developer_messages() -> None:
    roles = ["system", "developer", "user", "system"]
    text = json.dumps({"messages": [{"role": role, "content": "x"} for role in roles]})
    regions = [part.region for part in read(text.encode(), "openai.chat").parts if part.count]
    assert regions == ["system", "system", "messages", "messages"]


def test_input_as_a_string_is_one_user_message() -> None:
    short = read(b'{"input": "hi"}', "openai.responses")
    whole = read(b'{"input": [{"role": "user", "content": "hi"}]}', "openai.responses")
    assert short.stream() == whole.stream() == b"message\0user\0hi\0"


def test_markers_stand_on_tools_system_and_message_blocks() -> None:
    body = read(write(Parts(), "anthropic.messages"))
    assert [(m.pointer, m.ttl_seconds) for m in body.markers] == [
        ("/tools/2", 300),
        ("/system/1", 300),
        ("/messages/4/content/0", 300),
    ]


def test_automatic_caching_marks_the_last_block() -> None:
    whole = {"cache_control": {"ttl": "1h"}, "messages": [{"role": "user", "content": "x"}]}
    body = read(json.dumps(whole).encode(), "anthropic.messages")
    assert [(m.element, m.ttl_seconds) for m in body.markers] == [(0, 3600)]


def test_a_lifetime_that_nobody_documents_is_unknown() -> None:
    text = b'{"system": [{"type": "text", "text": "S", "cache_control": {"ttl": "7d"}}]}'
    assert read(text, "anthropic.messages").markers[0].ttl_seconds is None


NOTES = {
    "a repeated key": (b'{"messages": [], "messages": []}', "key `messages` stands twice"),
    "half a surrogate": (
        b'{"messages": [{"role": "user", "content": "\\ud83d"}]}',
        "half of a surrogate pair at `/messages/0/content`",
    ),
    "a long integer": (
        b'{"messages": [], "tools": [{"n": 9007199254740993}]}',
        "integer beyond 2^53 at `/tools/0/n`",
    ),
}


@pytest.mark.parametrize(("text", "note"), NOTES.values(), ids=NOTES)
def test_what_readers_treat_differently_is_noted_and_kept(text: bytes, note: str) -> None:
    assert note in read(text, "openai.chat").notes[0]


def test_an_integer_that_a_float_holds_is_no_note() -> None:
    assert read(b'{"messages": [], "seed": 9007199254740992}', "openai.chat").notes == ()


REFUSED = {
    "no JSON": (b"{", None, "r.json:1:2: the text ends before the JSON value does"),
    "no UTF-8": (b'{"a":\n"\xff"}', None, "r.json:2: byte 0xff is no UTF-8"),
    "no object": (b"[]", None, "r.json: a request body is a JSON object"),
    "no body": (
        b'{"a": 1}',
        None,
        "r.json: not a request body that pvc reads, but a JSON object with the keys `a`",
    ),
    "no shape": (b"{}", "gemini", "r.json: no request shape `gemini`"),
    "messages are no list": (b'{"messages": "x"}', "openai.chat", '/messages: no list: `"x"`'),
    "a message is text": (b'{"messages": ["x"]}', "openai.chat", "/messages/0: a message is an"),
    "as above, Anthropic": (b'{"messages": [1]}', "anthropic.messages", "/messages/0: a message"),
    "tools are no list": (b'{"tools": {}}', "anthropic.messages", "/tools: no list: `{}`"),
}


@pytest.mark.parametrize(("text", "shape", "said"), REFUSED.values(), ids=REFUSED)
def test_a_malformed_body_is_refused_with_its_place(
    text: bytes, shape: str | None, said: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        read(text, shape, at="r.json")
    assert str(caught.value).startswith(said)
    assert caught.value.hint or said.endswith("object")


@pytest.mark.parametrize("shape", SHAPES)
def test_the_shape_is_told_from_the_body(shape: str) -> None:
    assert read(write(Parts(), shape)).shape == shape


def settings(**fields: Any) -> dict[str, str | None]:
    body = read(json.dumps({"system": "S", **fields}).encode(), "anthropic.messages")
    return {setting.name: setting.normal for setting in body.settings}


@pytest.mark.parametrize(
    ("model", "thinking", "effort"),
    [
        ("claude-opus-4-8-20260401", '{"type":"disabled"}', '{"effort":"high"}'),
        ("us.anthropic.claude-opus-5-v1:0", '{"type":"adaptive"}', '{"effort":"high"}'),
        ("claude-opus-5-5", '{"type":"adaptive"}', '{"effort":"medium"}'),
        ("some-other-model", None, None),
    ],
)
def test_defaults_of_a_setting_go_by_model(
    model: str, thinking: str | None, effort: str | None
) -> None:
    found = settings(model=model)
    assert (found["thinking"], found["output_config"]) == (thinking, effort)


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_the_facts_that_ship_are_dated_and_name_their_source(provider: str) -> None:
    facts = load_facts(provider)
    assert len(facts.as_of) == len("2026-01-01")
    assert facts.source
    assert all(model.source for _, model in facts.models)


def test_facts_of_the_longest_match_count() -> None:
    facts = load_facts("anthropic")
    assert facts.model("claude-opus-4-7").minimum_tokens == 2048
    assert facts.model("claude-opus-4-1-20250805").minimum_tokens == 1024
    assert facts.model("claude-fable-5-1").minimum_tokens == 512
    assert facts.model("other").source == ""


def test_a_users_own_facts_are_used() -> None:
    text = b"""as_of = "2027-01-01"
source = "ours"
models = []
[rules]
default_ttl = "9m"
lookback_elements = 2
[lifetime_seconds]
"9m" = 540
[price]
read = 0.1
[price.write]
"""
    body = read(write(Parts(), "anthropic.messages"), facts=Facts.parse(text))
    assert (body.markers[0].ttl_seconds, body.rules.lookback_elements) == (540, 2)


@pytest.mark.parametrize(("text", "said"), [(b"= 1", "no facts file"), (b"", "no 'as_of' in the")])
def test_bad_facts_are_refused(text: bytes, said: str) -> None:
    with pytest.raises(DecodeError, match=said):
        Facts.parse(text)
