"""What is one to a cache is read as one, and only where it is: markers, spellings, endpoints."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from pvc.core.miss import Context, Miss, compare
from pvc.errors import DecodeError
from pvc.model.body import Kind, Verdict
from pvc.providers.base import detect_shape, is_anthropic, read

GUIDE = "Look up a sailing before you speak of it, and say which one. " * 40
CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
EPHEMERAL = {"type": "ephemeral"}
ANTHROPIC, CHAT, RESPONSES, CONVERSE = (
    *("anthropic.messages", "openai.chat", "openai.responses"),
    "bedrock.converse",
)


def miss(a: Any, b: Any, shape: str, **known: Any) -> Miss:
    bodies = [read(json.dumps(body).encode(), shape) for body in (a, b)]
    context = {"relation": "next_turn", "seconds_between": 20, "same_account": True, **known}
    return compare(bodies[0], bodies[1], Context(shape, **context))


def place(found: Miss) -> tuple[str | None, str | None]:
    assert found.first_divergence is not None
    return found.first_divergence.path_a, found.first_divergence.path_b


# --- the attribution line -----------------------------------------------------------------------

HEADER = "x-anthropic-billing-header: cc_version=2.1.269.7f3; cc_entrypoint=cli; cch="


def attributed(token: str, *, model: str = "claude-opus-5", rest: str = GUIDE, **more: Any) -> Any:
    system = [
        {"type": "text", "text": f"{HEADER}{token};"},
        {"type": "text", "text": rest, "cache_control": EPHEMERAL},
    ]
    messages = [{"role": "user", "content": "Which boats?"}]
    return {"model": model, "system": system, "messages": messages, **more}


@pytest.mark.parametrize(("one", "other"), [("1a9f0", "c04e7"), ("1a9f0", "c04e77aa"), ("1", "")])
def test_the_token_of_the_line_counts_as_equal_for_anthropic(one: str, other: str) -> None:
    found = miss(attributed(one), attributed(other), ANTHROPIC)
    assert (found.verdict, found.kind, found.first_divergence) == (Verdict.HIT, Kind.NONE, None)


ELSEWHERE = [
    *("deepseek-v4-pro", "glm-5", "anthropic/claude-opus-5", "us.anthropic.claude-opus-5-v1:0"),
    *("claude-opus-5@20260901", "kimi-k3", "MiniMax-M2", "", "bedrock/claude-opus-5"),
]


@pytest.mark.parametrize("model", ELSEWHERE)
def test_elsewhere_the_token_is_text(model: str) -> None:
    found = miss(attributed("1a9f0", model=model), attributed("c04e7", model=model), ANTHROPIC)
    assert (found.verdict, found.kind) == (Verdict.MISS, Kind.RANDOM_ID)


def test_a_body_of_bedrock_or_vertex_says_that_it_is_not_anthropics() -> None:
    version = {"anthropic_version": "vertex-2023-10-16"}
    found = miss(attributed("1a9f0", **version), attributed("c04e7", **version), ANTHROPIC)
    assert found.kind == Kind.RANDOM_ID


@pytest.mark.parametrize(("own", "kind"), [(False, Kind.RANDOM_ID), (True, Kind.NONE)])
def test_what_is_known_of_the_endpoint_goes_before_the_model(own: bool, kind: Kind) -> None:  # noqa: FBT001 # two cases
    assert miss(attributed("1a9f0"), attributed("c04e7"), ANTHROPIC, own_endpoint=own).kind == kind


@pytest.mark.parametrize(("one", "other"), [("1a9f0", "c04e7"), ("1a9f0", "c04e77aa")])
def test_a_change_behind_the_token_is_found_and_shown_as_it_stands(one: str, other: str) -> None:
    a, b = attributed(one), attributed(other)
    b["system"][0]["text"] = b["system"][0]["text"].replace("=cli", "=sdk")
    found = miss(a, b, ANTHROPIC)
    assert place(found) == ("/system/0/text", "/system/0/text")
    assert found.first_divergence is not None
    assert found.first_divergence.near_a == f"rypoint=cli; cch={one};"
    assert found.first_divergence.near_b == f"rypoint=sdk; cch={other};"


def test_only_the_value_of_a_first_block_is_left_out() -> None:
    lines = [f"{HEADER}1a9f0;\nBe brief.", f"{HEADER}c04e7;\nBe kind."]
    a, b = (
        {"model": "claude-opus-5", "system": t, "messages": [], "cache_control": EPHEMERAL}
        for t in lines
    )
    assert miss(a, b, ANTHROPIC).kind == Kind.PROMPT_TEXT_EDIT
    a, b = attributed("1"), attributed("2")
    for body in (a, b):
        body["system"].insert(0, {"type": "text", "text": "Be brief."})
    assert miss(a, b, ANTHROPIC).kind == Kind.RANDOM_ID
    a, b = attributed("1"), attributed("2")
    a["system"][0]["text"], b["system"][0]["text"] = (
        "client: x; cch=1a9f0;",
        "client: x; cch=c04e7;",
    )
    assert miss(a, b, ANTHROPIC).kind == Kind.RANDOM_ID
    a, b = attributed("1"), attributed("1")
    del b["system"][0]
    assert miss(a, b, ANTHROPIC).verdict == Verdict.MISS


def test_a_model_that_changed_is_still_a_model_that_changed() -> None:
    found = miss(attributed("1"), attributed("2", model="claude-sonnet-5"), ANTHROPIC)
    assert found.kind == Kind.MODEL


@pytest.mark.parametrize(
    ("endpoint", "own"),
    [
        *(("https://api.anthropic.com/v1/messages", True), ("api.anthropic.com", True)),
        *(("anthropic", True), ("https://api.anthropic.com:443", True)),
        *(("https://anthropic.com.evil.example", False), ("openrouter", False), ("", False)),
        *(("https://bedrock-runtime.us-east-1.amazonaws.com", False), ("bedrock", False)),
        ("https://api.deepseek.com/anthropic", False),
    ],
)
def test_an_endpoint_is_anthropics_by_its_host(endpoint: str, own: bool) -> None:  # noqa: FBT001 # two cases
    assert is_anthropic(endpoint) is own


# --- deferred tools -------------------------------------------------------------------------------


def tool(name: str, shape: str, **more: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    if shape == ANTHROPIC:
        return {"name": name, "description": f"Does {name}.", "input_schema": schema, **more}
    function = {"name": name, "description": f"Does {name}.", "parameters": schema}
    if shape == CHAT:
        return {"type": "function", "function": function, **more}
    return {"type": "function", **function, **more}


def with_tools(tools: list[Any], shape: str) -> Any:
    if shape == RESPONSES:
        return {"model": "gpt-5.5", "tools": tools, "instructions": GUIDE, "input": "Boats?"}
    user = {"role": "user", "content": "Boats?"}
    if shape == CHAT:
        system = {"role": "system", "content": GUIDE}
        return {"model": "gpt-5.5", "tools": tools, "messages": [system, user]}
    block = {"type": "text", "text": GUIDE, "cache_control": EPHEMERAL}
    return {"model": "claude-opus-5", "tools": tools, "system": [block], "messages": [user]}


@pytest.mark.parametrize("shape", [ANTHROPIC, CHAT, RESPONSES])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_deferred_tool_may_come_go_and_change(shape: str, at: int) -> None:
    plain = [tool(name, shape) for name in ("read", "edit")]
    for change in ({}, {"note": "x"}):
        late = list(plain)
        late.insert(at, tool("late", shape, defer_loading=True, **change))
        for a, b in ((plain, late), (late, plain)):
            found = miss(with_tools(a, shape), with_tools(b, shape), shape)
            assert (found.verdict, found.kind) == (Verdict.HIT, Kind.NONE)


@pytest.mark.parametrize("shape", [ANTHROPIC, CHAT, RESPONSES])
def test_a_tool_that_is_no_longer_deferred_was_added(shape: str) -> None:
    plain = [tool(name, shape) for name in ("read", "edit")]
    deferred = [*plain, tool("late", shape, defer_loading=True)]
    loaded = [*plain, tool("late", shape)]
    found = miss(with_tools(deferred, shape), with_tools(loaded, shape), shape)
    assert (found.verdict, found.kind) == (Verdict.MISS, Kind.TOOL_SET)
    found = miss(with_tools(loaded, shape), with_tools(deferred, shape), shape)
    assert (found.verdict, found.kind) == (Verdict.MISS, Kind.TOOL_SET)
    assert miss(with_tools(plain, shape), with_tools(plain[::-1], shape), shape).kind == (
        Kind.TOOL_ORDER
    )


# --- settings -------------------------------------------------------------------------------------

READ, NOT_READ = (
    {"prompt_tokens_details": {"cached_tokens": 1024}},
    {"prompt_tokens_details": {"cached_tokens": 0}},
)
SETTINGS: dict[str, dict[str, Any]] = {
    RESPONSES: {
        "/prompt_cache_key": ({"prompt_cache_key": "a"}, {"prompt_cache_key": "b"}),
        "/reasoning/effort": ({"reasoning": {"effort": "low"}}, {"reasoning": {"effort": "high"}}),
        "/text/verbosity": ({"text": {"verbosity": "low"}}, {"text": {"verbosity": "high"}}),
        "/service_tier": ({"service_tier": "flex"}, {"service_tier": "priority"}),
    },
    CHAT: {
        "/prompt_cache_key": ({"prompt_cache_key": "a"}, {}),
        "/reasoning_effort": ({"reasoning_effort": "low"}, {"reasoning_effort": "high"}),
        "/verbosity": ({"verbosity": "low"}, {}),
        "/service_tier": ({}, {"service_tier": "flex"}),
    },
}
SETTING_ROWS = [(shape, at, *pair) for shape, of in SETTINGS.items() for at, pair in of.items()]


@pytest.mark.parametrize(("shape", "at", "one", "other"), SETTING_ROWS)
def test_a_setting_of_openai_loses_everything(shape: str, at: str, one: Any, other: Any) -> None:
    body = with_tools([tool("read", shape)], shape) | {"model": "gpt-5.6-luna"}
    for a, b in ((one, other), (other, one)):
        found = miss(body | a, body | b, shape, usage_b=NOT_READ)
        assert (found.verdict, found.kind, found.reusable_bytes) == (Verdict.MISS, Kind.SETTING, 0)
        assert found.first_divergence is not None
        assert (found.first_divergence.offset, place(found)) == (0, (at, at))
    assert miss(body | one, body | one, shape).verdict == Verdict.HIT


@pytest.mark.parametrize(
    ("shape", "one"),
    [
        (RESPONSES, {"service_tier": "auto"}),
        (RESPONSES, {"text": {"verbosity": "medium"}}),
        (CHAT, {"verbosity": "medium", "service_tier": "auto"}),
        (CHAT, {"temperature": 1, "max_tokens": 7, "metadata": {"x": "y"}, "stream": True}),
    ],
)
def test_a_default_that_is_spelt_out_is_no_setting(shape: str, one: Any) -> None:
    body = with_tools([tool("read", shape)], shape)
    for a, b in ((body, body | one), (body | one, body)):
        assert miss(a, b, shape).kind == Kind.NONE


def test_before_gpt_5_6_a_cache_key_may_be_the_cause_and_need_not() -> None:
    body = with_tools([tool("read", CHAT)], CHAT) | {"model": "gpt-5.5"}
    a, b = body | {"prompt_cache_key": "a"}, body | {"prompt_cache_key": "b"}
    found = miss(a, b, CHAT, usage_b=NOT_READ)
    assert (found.verdict, found.kind) == (Verdict.MISS, Kind.SETTING)
    assert "need not be" in found.evidence
    assert miss(a, b, CHAT, usage_b=READ).verdict == Verdict.HIT
    found = miss(a, b, CHAT)
    assert (found.verdict, found.unknown) == (Verdict.UNKNOWN, ("usage_b",))
    edited = deepcopy(b)
    edited["messages"][0]["content"] = GUIDE.replace("sailing", "boat")
    assert miss(a, edited, CHAT, usage_b=READ).kind == Kind.PROMPT_TEXT_EDIT
    keyed = {"model": "openai/gpt-6.1-sol"}
    assert miss(a | keyed, b | keyed, CHAT, usage_b=READ).kind == Kind.SETTING


@pytest.mark.parametrize(("one", "other"), [("fast", None), (None, "fast"), ("fast", "standard")])
def test_speed_loses_system_and_messages(one: str | None, other: str | None) -> None:
    tools = [tool("read", ANTHROPIC, cache_control=EPHEMERAL)]
    a, b = (
        with_tools(tools, ANTHROPIC) | ({"speed": speed} if speed else {}) for speed in (one, other)
    )
    found = miss(a, b, ANTHROPIC)
    assert (found.verdict, found.kind, place(found)) == (
        *(Verdict.MISS, Kind.SETTING),
        ("/speed", "/speed"),
    )
    assert found.first_divergence is not None
    assert found.reusable_bytes == found.first_divergence.offset > 0


def test_the_standard_speed_is_the_default() -> None:
    body = with_tools([tool("read", ANTHROPIC)], ANTHROPIC)
    assert miss(body, body | {"speed": "standard"}, ANTHROPIC).kind == Kind.NONE


# --- one text in two spellings ----------------------------------------------------------------

TEXT = "Which boats leave the north pier?"


def spelt(shape: str, text: str, *, listed: bool) -> Any:
    """One message, and one tool result, with the text as a string or as the only part of a list."""

    def content(kind: str) -> Any:
        return [{"type": kind, "text": text}] if listed else text

    if shape == RESPONSES:
        turns = [
            {"role": "user", "content": content("input_text")},
            {"type": "function_call_output", "call_id": "c1", "output": content("input_text")},
        ]
        return {"model": "gpt-5.5", "instructions": GUIDE, "input": turns}
    if shape == CHAT:
        turns = [
            {"role": "system", "content": content("text")},
            {"role": "user", "content": content("text")},
            {"role": "tool", "tool_call_id": "c1", "content": content("text")},
        ]
        return {"model": "gpt-5.5", "messages": turns}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": content("text")}
    turns = [{"role": "user", "content": content("text")}, {"role": "user", "content": [result]}]
    return {
        "model": "claude-opus-5",
        "system": content("text"),
        "messages": turns,
        "cache_control": EPHEMERAL,
    }


@pytest.mark.parametrize("shape", [ANTHROPIC, CHAT, RESPONSES])
@pytest.mark.parametrize("listed", [False, True])
def test_a_string_is_one_text_part(shape: str, listed: bool) -> None:  # noqa: FBT001 # two cases
    a, b = (spelt(shape, TEXT, listed=each) for each in (listed, not listed))
    found = miss(a, b, shape, usage_b=READ)
    assert (found.verdict, found.kind, found.first_divergence) == (Verdict.HIT, Kind.NONE, None)
    assert found.reusable_bytes == found.scope_bytes


@pytest.mark.parametrize("shape", [ANTHROPIC, CHAT, RESPONSES])
@pytest.mark.parametrize("listed", [False, True])
def test_a_change_of_the_text_is_found_in_both_spellings(shape: str, listed: bool) -> None:  # noqa: FBT001 # two cases
    a = spelt(shape, TEXT, listed=listed)
    b = spelt(shape, TEXT.replace("north", "south"), listed=not listed)
    found = miss(a, b, shape)
    assert found.first_divergence is not None
    assert found.first_divergence.leaf_byte_offset == TEXT.index("north")
    for body, pointer in zip((a, b), place(found), strict=True):
        value = body
        for token in (pointer or "").split("/")[1:]:
            value = value[int(token) if isinstance(value, list) else token]
        assert isinstance(value, str)


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text", "text": TEXT}, {"type": "text", "text": TEXT}],
        [{"type": "text", "text": TEXT + " "}],
        [{"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}],
        [],
        "",
    ],
)
def test_what_is_not_the_same_text_stays_a_difference(content: Any) -> None:
    a, b = spelt(CHAT, TEXT, listed=False), spelt(CHAT, TEXT, listed=False)
    b["messages"][1]["content"] = content
    for one, other in ((a, b), (b, a)):
        assert miss(one, other, CHAT).verdict == Verdict.MISS


# --- Claude through a gateway -------------------------------------------------------------------


def gateway(turns: int, marked: list[int], *, model: str = "anthropic/claude-sonnet-4.6") -> Any:
    """A conversation of so many calls and results; markers on the messages with these numbers."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": GUIDE}]
    messages.append({"role": "user", "content": "Begin."})
    for n in range(turns):
        messages.append(
            {"role": "assistant", "content": None, "tool_calls": [CALL | {"id": f"c{n}"}]}
        )
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "content": f"Result {n}."})
    for n in marked:
        text = messages[n]["content"]
        messages[n]["content"] = [{"type": "text", "text": text, "cache_control": EPHEMERAL}]
    return {"model": model, "messages": messages}


def test_a_rolling_marker_of_a_gateway_is_a_hit() -> None:
    found = miss(gateway(2, [0, 5]), gateway(4, [0, 9]), CHAT, usage_b=READ)
    assert (found.verdict, found.kind) == (Verdict.HIT, Kind.NONE)
    assert found.scope_bytes == found.reusable_bytes > len(GUIDE)


@pytest.mark.parametrize(("seconds", "kind"), [(300, Kind.NONE), (301, Kind.TTL_EXPIRED)])
def test_an_entry_behind_a_gateway_lives_five_minutes(seconds: float, kind: Kind) -> None:
    found = miss(gateway(2, [0, 5]), gateway(3, [0, 7]), CHAT, seconds_between=seconds)
    assert found.kind == kind


def test_an_entry_of_an_hour_lives_an_hour() -> None:
    a, b = gateway(2, [5]), gateway(3, [7])
    for body, at in ((a, 5), (b, 7)):
        body["messages"][at]["content"][0]["cache_control"] = {"type": "ephemeral", "ttl": "1h"}
    assert miss(a, b, CHAT, seconds_between=3600).kind == Kind.NONE
    assert miss(a, b, CHAT, seconds_between=3601).kind == Kind.TTL_EXPIRED


@pytest.mark.parametrize(("more", "kind"), [(9, Kind.NONE), (10, Kind.LOOKBACK_EXCEEDED)])
def test_the_window_behind_a_gateway_is_of_claudes_blocks(more: int, kind: Kind) -> None:
    """Each call and each result is a block, so ten more of both are twenty."""
    found = miss(gateway(1, [3]), gateway(1 + more, [3 + 2 * more]), CHAT)
    assert found.kind == kind


def test_calls_of_one_message_are_blocks_too() -> None:
    a = gateway(1, [3])
    b = deepcopy(a)
    b["messages"][3] = {"role": "tool", "tool_call_id": "c0", "content": "Result 0."}
    many = [CALL | {"id": f"d{n}"} for n in range(12)]
    b["messages"].append({"role": "assistant", "content": "All.", "tool_calls": many})
    b["messages"] += [{"role": "tool", "tool_call_id": c["id"], "content": "Ok."} for c in many]
    b["messages"][-1]["cache_control"] = EPHEMERAL
    assert miss(a, b, CHAT).kind == Kind.LOOKBACK_EXCEEDED


def test_a_gateways_markers_on_messages_tools_and_the_whole() -> None:
    a, b = gateway(1, []), gateway(2, [])
    for body in (a, b):
        body["tools"] = [tool("read", CHAT, cache_control=EPHEMERAL)]
        body["messages"][-1]["cache_control"] = EPHEMERAL
    assert (found := miss(a, b, CHAT)).kind == Kind.NONE
    whole = [gateway(n, []) | {"cache_control": EPHEMERAL} for n in (1, 2)]
    assert miss(whole[0], whole[1], CHAT).kind == Kind.NONE
    b["messages"][0]["content"] = GUIDE.replace("sailing", "boat")
    found = miss(a, b, CHAT)
    assert (found.kind, 0 < found.reusable_bytes < 200) == (Kind.PROMPT_TEXT_EDIT, True)


def test_markers_that_are_in_one_body_alone() -> None:
    plain, marked = gateway(1, []), gateway(2, [5])
    zero = {"usage_b": NOT_READ}
    assert miss(plain, marked, CHAT, **zero).kind == Kind.BREAKPOINT_MISSING
    assert miss(gateway(1, [3]), gateway(2, []), CHAT, **zero).kind == Kind.BREAKPOINT_MISSING
    found = miss(plain, gateway(2, []), CHAT, **zero)
    assert (found.kind, found.scope_bytes) == (Kind.BREAKPOINT_MISSING, 0)
    assert miss(plain, gateway(2, []), CHAT, usage_b=READ).kind == Kind.NONE


def test_another_model_of_a_gateway_has_no_marks() -> None:
    model = "deepseek/deepseek-v4-pro"
    found = miss(gateway(1, [3], model=model), gateway(2, [], model=model), CHAT, usage_b=READ)
    assert (found.verdict, found.kind) == (Verdict.HIT, Kind.NONE)
    assert found.scope_bytes == found.reusable_bytes


def test_settings_that_a_gateway_passes_on_lose_the_messages() -> None:
    a, b = gateway(1, [0, 3]), gateway(2, [0, 5]) | {"tool_choice": "required"}
    found = miss(a, b, CHAT)
    assert (found.kind, place(found)) == (Kind.SETTING, ("/tool_choice", "/tool_choice"))
    assert found.reusable_bytes == len("system\0text\0") + len(GUIDE) + 1
    assert miss(a, gateway(2, [0, 5]) | {"tool_choice": "auto"}, CHAT).kind == Kind.NONE


# --- Converse -------------------------------------------------------------------------------------


def converse(guide: str = GUIDE, *, turns: int = 1, ttl: str | None = None) -> Any:
    point = {"cachePoint": {"type": "default", **({"ttl": ttl} if ttl else {})}}
    spec = {"name": "read", "description": "Reads.", "inputSchema": {"json": {"type": "object"}}}
    messages: list[dict[str, Any]] = [{"role": "user", "content": [{"text": "Which boats?"}]}]
    for n in range(turns):
        use = {"toolUseId": f"t{n}", "name": "read", "input": {"n": n}}
        result = {"toolUseId": f"t{n}", "content": [{"text": f"Result {n}."}], "status": "success"}
        messages.append({"role": "assistant", "content": [{"toolUse": use}]})
        messages.append({"role": "user", "content": [{"toolResult": result}]})
    messages[-1]["content"].append(point)
    return {
        "modelId": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "system": [{"text": guide}, point],
        "toolConfig": {"tools": [{"toolSpec": spec}], "toolChoice": {"auto": {}}},
        "messages": messages,
    }


def as_messages(body: Any) -> Any:
    """The Anthropic body of the same request."""

    def block(given: Any) -> Any:
        if "toolUse" in given:
            use = given["toolUse"]
            return {
                "type": "tool_use",
                "id": use["toolUseId"],
                "name": "read",
                "input": use["input"],
            }
        if "toolResult" in given:
            result = given["toolResult"]
            text = result["content"][0]["text"]
            return {"type": "tool_result", "tool_use_id": result["toolUseId"], "content": text}
        return {"type": "text", **given}

    def blocks(given: Any) -> Any:
        return [block(each) for each in given if "cachePoint" not in each]

    return {
        "model": body["modelId"],
        "tools": [{"name": "read", "description": "Reads.", "input_schema": {"type": "object"}}],
        "system": blocks(body["system"]),
        "messages": [m | {"content": blocks(m["content"])} for m in body["messages"]],
    }


@pytest.mark.parametrize("turns", [0, 1, 3])
def test_a_converse_body_has_the_stream_of_the_anthropic_body(turns: int) -> None:
    body = converse(turns=turns)
    one = read(json.dumps(body).encode(), CONVERSE)
    other = read(json.dumps(as_messages(body)).encode(), ANTHROPIC)
    assert one.stream() == other.stream()
    assert [leaf.pointer for leaf in one.leaves] == [leaf.pointer for leaf in other.leaves]
    assert [mark.element for mark in one.markers] == [1, one.element_count - 1]


def test_a_converse_body_is_known_by_itself() -> None:
    assert detect_shape(converse()) == CONVERSE
    bare: Any = {"messages": [{"role": "user", "content": [{"text": "Hello"}]}]}
    assert detect_shape(bare) == CONVERSE
    for shape in (ANTHROPIC, CHAT):
        assert detect_shape(spelt(shape, TEXT, listed=True)) != CONVERSE


@pytest.mark.parametrize(
    ("b", "known", "kind"),
    [
        (converse(turns=2), {}, Kind.NONE),
        (converse(turns=2), {"seconds_between": 301}, Kind.TTL_EXPIRED),
        (converse(GUIDE + "Be kind.", turns=2), {}, Kind.PROMPT_TEXT_EDIT),
        (converse(f"Now 09:00:51.\n{GUIDE}", turns=2), {}, Kind.CLOCK),
        (converse(turns=12), {}, Kind.LOOKBACK_EXCEEDED),
        (converse(turns=2) | {"modelId": "us.anthropic.claude-opus-5-v1:0"}, {}, Kind.MODEL),
    ],
)
def test_a_miss_of_converse_has_its_kind(b: Any, known: Any, kind: str) -> None:
    assert miss(converse(), b, CONVERSE, **known).kind == kind


def test_a_cache_point_of_an_hour_and_one_with_nothing_before_it() -> None:
    found = miss(converse(ttl="1h"), converse(turns=2, ttl="1h"), CONVERSE, seconds_between=3000)
    assert found.kind == Kind.NONE
    body = converse()
    body["system"].insert(0, {"cachePoint": {"type": "default"}})
    assert len(read(json.dumps(body).encode(), CONVERSE).markers) == 2


@pytest.mark.parametrize("key", ["system", "messages"])
def test_a_converse_body_with_a_text_where_a_list_belongs_is_refused(key: str) -> None:
    with pytest.raises(DecodeError, match="not a list"):
        read(json.dumps(converse() | {key: "Be brief."}).encode(), CONVERSE)


def test_what_converse_has_alone_is_compared_all_the_same() -> None:
    a, b = converse(), converse(turns=2)
    for body, name in ((a, "one"), (b, "two")):
        body["messages"][0]["content"].insert(0, {"document": {"name": name, "format": "pdf"}})
    assert miss(a, b, CONVERSE).verdict == Verdict.MISS


# --- a proxy's record ---------------------------------------------------------------------------


def record(body: Any, call_type: str = "acompletion", **more: Any) -> Any:
    held = "input" if call_type == "aresponses" else "messages"
    parameters = {k: v for k, v in body.items() if k not in (held, "model")}
    return {
        "id": "r-1",
        "call_type": call_type,
        "model": body["model"],
        "messages": body[held],
        "model_parameters": parameters,
        "response": {"usage": {}},
        **more,
    }


@pytest.mark.parametrize(
    ("shape", "call_type"),
    [(CHAT, "acompletion"), (RESPONSES, "aresponses"), (ANTHROPIC, "anthropic_messages")],
)
def test_a_record_is_the_request_that_it_records(shape: str, call_type: str) -> None:
    body = with_tools([tool("read", shape)], shape)
    logged = record(body, call_type)
    assert detect_shape(logged) == shape
    one, other = (read(json.dumps(each).encode(), shape) for each in (logged, body))
    assert [(leaf.pointer, leaf.data) for leaf in one.leaves] == [
        (leaf.pointer, leaf.data) for leaf in other.leaves
    ]
    assert (one.markers, one.settings) == (other.markers, other.settings)
    swapped = record(with_tools([tool("edit", shape), tool("read", shape)], shape), call_type)
    two = record(with_tools([tool("read", shape), tool("edit", shape)], shape), call_type)
    assert miss(two, swapped, shape).kind == Kind.TOOL_ORDER


@pytest.mark.parametrize(
    ("where", "kind"),
    [
        ({"api_base": "https://api.anthropic.com"}, Kind.NONE),
        ({"custom_llm_provider": "anthropic"}, Kind.NONE),
        ({"custom_llm_provider": "bedrock"}, Kind.RANDOM_ID),
        ({"api_base": "https://gateway.example/v1"}, Kind.RANDOM_ID),
    ],
)
def test_a_record_says_where_it_was_sent(where: Any, kind: Kind) -> None:
    a, b = (
        record(attributed(token), "anthropic_messages", **where) for token in ("1a9f0", "c04e7")
    )
    assert miss(a, b, ANTHROPIC).kind == kind


@pytest.mark.parametrize(
    "messages",
    [None, "redacted-by-litellm", [{"role": "user", "content": "redacted-by-litellm"}]],
)
def test_a_record_without_its_messages_is_refused(messages: Any) -> None:
    logged = record(with_tools([], CHAT)) | {"messages": messages}
    with pytest.raises(DecodeError, match="without its messages"):
        read(json.dumps(logged).encode(), CHAT)
