"""The verdict: scope, entries, look-back, lifetimes, settings, counters, and what is not known."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pvc.core.miss import Context, Miss, compare, infer_relation
from pvc.errors import DecodeError
from pvc.model.body import Body, Kind, Verdict
from pvc.providers.base import read
from request_bodies import SHAPES, Parts, write

ANTHROPIC = "anthropic.messages"
MARK = {"type": "ephemeral"}
Block = dict[str, Any]


def text(words: str, mark: Block | None = None) -> Block:
    return {"type": "text", "text": words, **({"cache_control": mark} if mark else {})}


def body(system: list[Block], *messages: list[Block], **extra: Any) -> Body:
    turns = [
        {"role": "assistant" if i % 2 else "user", "content": blocks}
        for i, blocks in enumerate(messages)
    ]
    whole = {"model": "claude-sonnet-4-5", "system": system, "messages": turns, **extra}
    return read(json.dumps(whole).encode(), ANTHROPIC)


def context(**known: Any) -> Context:
    return Context(
        **{
            "provider": ANTHROPIC,
            "relation": "next_turn",
            "seconds_between": 60,
            "same_account": True,
            "usage_b": {"cache_read_input_tokens": 5},
            **known,
        }
    )


FIRST = body([text("S", MARK)], [text("U", MARK)])
SECOND = body([text("S", MARK)], [text("U")], [text("A")], [text("V", MARK)])
SYSTEM_END = len(b"text\0S\0")
SCOPE = len(b"text\0S\0user\0text\0U\0")


def outcome(found: Miss) -> tuple[str, str, int, int]:
    return str(found.kind), str(found.verdict), found.scope_bytes, found.reusable_bytes


def test_an_appended_turn_is_a_hit() -> None:
    assert outcome(compare(FIRST, SECOND, context())) == ("none", "hit", SCOPE, SCOPE)


def test_a_new_session_is_asked_for_tools_and_system_alone() -> None:
    other = body([text("S", MARK)], [text("another question", MARK)])
    found = compare(FIRST, other, context(relation="new_session"))
    assert outcome(found) == ("none", "hit", SYSTEM_END, SYSTEM_END)


LIFETIMES = [
    (300, None, "none"),
    (300.5, None, "ttl_expired"),
    (3600, "1h", "none"),
    (3601, "1h", "ttl_expired"),
]


@pytest.mark.parametrize(("seconds", "ttl", "kind"), LIFETIMES)
def test_an_entry_lives_as_long_as_its_marker_says(
    seconds: float, ttl: str | None, kind: str
) -> None:
    mark = {**MARK, "ttl": ttl} if ttl else MARK
    first = body([text("S", mark)], [text("U", mark)])
    assert compare(first, SECOND, context(seconds_between=seconds)).kind == kind


def test_a_longer_lived_entry_in_front_is_still_read() -> None:
    first = body([text("S", {**MARK, "ttl": "1h"})], [text("U", MARK)])
    found = compare(first, SECOND, context(seconds_between=900))
    assert outcome(found) == ("ttl_expired", "miss", SCOPE, SYSTEM_END)


@pytest.mark.parametrize(("added", "kind"), [(19, "none"), (20, "lookback_exceeded")])
def test_a_marker_looks_at_its_element_and_nineteen_before_it(added: int, kind: str) -> None:
    wide = [text(f"part {n}") for n in range(added - 1)]
    later = body([text("S", MARK)], [text("U")], [*wide, text("end", MARK)])
    found = compare(FIRST, later, context())
    assert (found.kind, found.reusable_bytes) == (kind, SCOPE if kind == "none" else SYSTEM_END)


def test_blocks_inside_a_tool_result_are_not_counted() -> None:
    parts = [text(f"part {n}") for n in range(40)]
    result = {"type": "tool_result", "tool_use_id": "t", "content": parts, "cache_control": MARK}
    later = body([text("S", MARK)], [text("U")], [text("A")], [result])
    assert compare(FIRST, later, context()).kind == "none"


def test_elements_are_counted_across_regions() -> None:
    first = body([text("S", MARK)], [text("U")])
    wide = [text(f"part {n}") for n in range(19)]
    later = body([text("S")], [*wide, text("end", MARK)])
    found = compare(first, later, context(relation="new_session"))
    assert (found.kind, found.reusable_bytes) == ("lookback_exceeded", 0)


def test_without_a_marker_at_or_after_the_scope_a_breakpoint_is_missing() -> None:
    later = body([text("S", MARK)], [text("U")], [text("A")])
    found = compare(FIRST, later, context())
    assert outcome(found) == ("breakpoint_missing", "miss", SCOPE, SYSTEM_END)


def test_expiry_comes_before_reach() -> None:
    later = body([text("S")], [text("U")], [text("A")])
    assert compare(FIRST, later, context(seconds_between=301)).kind == "ttl_expired"


def test_a_divergence_comes_before_expiry() -> None:
    later = body([text("T", MARK)], [text("U", MARK)])
    found = compare(FIRST, later, context(seconds_between=301))
    assert (found.kind, found.reusable_bytes) == ("prompt_text_edit", 0)


SETTINGS: dict[str, tuple[dict[str, Any], dict[str, Any], str, int]] = {
    "tool choice": ({}, {"tool_choice": {"type": "any"}}, "setting", SYSTEM_END),
    "default tool choice": ({}, {"tool_choice": {"type": "auto"}}, "none", SCOPE),
    "null is absent": ({"thinking": None}, {}, "none", SCOPE),
    "thinking on": (
        {},
        {"thinking": {"type": "enabled", "budget_tokens": 1}},
        "setting",
        SYSTEM_END,
    ),
    "thinking off is the default": ({}, {"thinking": {"type": "disabled"}}, "none", SCOPE),
    "effort": ({}, {"output_config": {"effort": "low"}}, "setting", SYSTEM_END),
    "default effort": ({"output_config": {"effort": "high"}}, {}, "none", SCOPE),
    "key order": (
        {"tool_choice": {"type": "tool", "name": "x"}},
        {"tool_choice": {"name": "x", "type": "tool"}},
        "none",
        SCOPE,
    ),
    "model": ({}, {"model": "claude-opus-4-1"}, "model", 0),
    "what takes no part": ({"max_tokens": 1}, {"stream": True, "temperature": 0}, "none", SCOPE),
}


@pytest.mark.parametrize(("of_a", "of_b", "kind", "reusable"), SETTINGS.values(), ids=SETTINGS)
def test_a_setting_loses_what_lies_after_its_place(
    of_a: dict[str, Any], of_b: dict[str, Any], kind: str, reusable: int
) -> None:
    first = body([text("S", MARK)], [text("U", MARK)], **of_a)
    later = body([text("S", MARK)], [text("U")], [text("A")], [text("V", MARK)], **of_b)
    found = compare(first, later, context())
    assert (found.kind, found.reusable_bytes) == (kind, reusable)


def test_a_message_setting_is_nothing_to_a_new_session() -> None:
    later = body([text("S", MARK)], [text("U", MARK)], tool_choice={"type": "any"})
    found = compare(FIRST, later, context(relation="new_session"))
    assert (found.verdict, found.first_divergence) == (Verdict.HIT, None)


def test_a_setting_that_differs_is_shown_as_json_with_its_place() -> None:
    later = body([text("S", MARK)], [text("U", MARK)], tool_choice={"type": "any"})
    found = compare(FIRST, later, context()).first_divergence
    assert found is not None
    assert found.to_json() == {
        "offset": SYSTEM_END,
        "region": "settings",
        "path_a": "/tool_choice",
        "path_b": "/tool_choice",
        "leaf_byte_offset": None,
        "leaf_char_offset": None,
        "near_a": None,
        "near_b": '{"type":"any"}',
    }


def test_a_byte_before_a_setting_is_the_first_divergence() -> None:
    later = body([text("T", MARK)], [text("U", MARK)], tool_choice={"type": "any"})
    found = compare(FIRST, later, context()).first_divergence
    assert found is not None
    assert (found.offset, found.region) == (5, "system")


def test_another_account_is_the_kind_whatever_else_differs() -> None:
    later = body([text("T", MARK)], [text("U", MARK)], model="claude-opus-4-1")
    found = compare(FIRST, later, context(same_account=False))
    assert outcome(found) == ("account", "miss", SCOPE, 0)
    assert found.first_divergence is not None


def test_another_account_alone_has_no_place() -> None:
    found = compare(FIRST, SECOND, context(same_account=False))
    assert (found.kind, found.first_divergence) == (Kind.ACCOUNT, None)


COUNTERS: list[tuple[object, str, str]] = [
    ({"cache_read_input_tokens": 0}, "provider_side", "miss"),
    ({"cache_read_input_tokens": 1}, "none", "hit"),
    ({"input_tokens": 9}, "none", "hit"),
    (None, "none", "hit"),
]


@pytest.mark.parametrize(("usage", "kind", "verdict"), COUNTERS)
def test_counters_overrule_at_zero_only(usage: object, kind: str, verdict: str) -> None:
    first = body([text("S" * 6000, MARK)], [text("U", MARK)])
    found = compare(first, first, context(usage_b=usage))
    assert (str(found.kind), str(found.verdict)) == (kind, verdict)
    assert found.reusable_bytes == found.scope_bytes == len(first)


def test_a_scope_below_the_minimum_was_never_to_be_read_back() -> None:
    found = compare(FIRST, SECOND, context(usage_b={"cache_read_input_tokens": 0}))
    assert (found.verdict, found.kind) == (Verdict.HIT, Kind.NONE)
    assert "1024 tokens" in found.evidence


def test_a_read_does_not_overrule_a_divergence() -> None:
    later = body([text("T", MARK)], [text("U", MARK)])
    found = compare(FIRST, later, context(usage_b={"cache_read_input_tokens": 900}))
    assert found.verdict == Verdict.MISS


UNKNOWN = [
    ({"same_account": None}, ("same_account",)),
    ({"seconds_between": None}, ("seconds_between",)),
    ({"same_account": None, "seconds_between": None}, ("same_account", "seconds_between")),
]


@pytest.mark.parametrize(("known", "missing"), UNKNOWN)
def test_a_hit_that_rests_on_what_is_not_known_is_unknown(
    known: dict[str, Any], missing: tuple[str, ...]
) -> None:
    found = compare(FIRST, SECOND, context(usage_b=None, **known))
    assert (found.verdict, found.unknown, found.kind) == (Verdict.UNKNOWN, missing, Kind.NONE)
    assert compare(FIRST, SECOND, context(**known)).verdict == Verdict.HIT


def test_a_divergence_needs_nothing_else_to_be_known() -> None:
    later = body([text("T", MARK)], [text("U", MARK)])
    found = compare(FIRST, later, Context())
    assert (found.verdict, found.unknown) == (Verdict.MISS, ())


def test_the_relation_is_told_from_the_first_message_when_nobody_says() -> None:
    other = body([text("S", MARK)], [text("W", MARK)], [text("A")])
    assert infer_relation(FIRST, SECOND) == "next_turn"
    assert infer_relation(FIRST, other) == "new_session"


def test_a_stream_that_ends_first_has_no_path_on_its_side() -> None:
    shorter = body([text("S", MARK)])
    found = compare(FIRST, shorter, context()).first_divergence
    assert found is not None
    assert (found.offset, found.path_a, found.path_b) == (SYSTEM_END, "/messages/0/role", None)
    assert (found.near_a, found.near_b) == ("user", None)


def test_a_place_inside_a_character_counts_whole_characters_before_it() -> None:
    first, later = (body([text(f"né{c}", MARK)], [text("U", MARK)]) for c in "éê")
    found = compare(first, later, context()).first_divergence
    assert found is not None
    assert (found.leaf_byte_offset, found.leaf_char_offset) == (4, 2)
    assert (found.near_a, found.near_b) == ("néé", "néê")


def test_what_was_appended_to_tools_is_a_change_of_tools() -> None:
    tools: list[dict[str, Any]] = [
        {"name": n, "description": "d", "input_schema": {}} for n in ("one", "two")
    ]
    first = body([text("S", MARK)], [text("U", MARK)], tools=tools[:1])
    later = body([text("S", MARK)], [text("U", MARK)], tools=tools)
    found = compare(first, later, context())
    assert found.first_divergence is not None
    assert (found.kind, found.first_divergence.region) == ("tool_set", "tools")
    assert found.first_divergence.path_a == "/system/0/type"
    assert found.first_divergence.path_b == "/tools/1/name"


@pytest.mark.parametrize(
    ("shape", "key", "path"),
    [
        ("openai.chat", "response_format", "/response_format"),
        ("openai.responses", "text", "/text/format"),
    ],
)
def test_an_output_format_stands_in_the_stream_and_is_a_setting(
    shape: str, key: str, path: str
) -> None:
    a, b = Parts(), Parts()
    for parts, kind in ((a, "json_object"), (b, "text")):
        form = {"type": kind}
        parts.extra = {key: {"format": form} if key == "text" else form}
    found = compare(
        read(write(a, shape)), read(write(b, shape)), Context(shape, "next_turn", 1, True)
    )
    assert found.first_divergence is not None
    place = found.first_divergence
    assert (found.kind, place.region, place.path_a) == ("setting", "settings", path)
    assert (place.near_a, place.near_b) == ('{"type":"json_object"}', '{"type":"text"}')
    assert found.reusable_bytes == place.offset


@pytest.mark.parametrize("shape", SHAPES[1:])
def test_openai_reads_the_common_leading_bytes(shape: str) -> None:
    a, b = Parts(), Parts()
    b.turns[-1] = ("user", "Mark the third one as open.")
    found = compare(
        read(write(a, shape)), read(write(b, shape)), Context(shape, "next_turn", 9999, True)
    )
    assert found.first_divergence is not None
    assert found.reusable_bytes == found.first_divergence.offset > 0
    fresh = compare(
        read(write(a, shape)), read(write(b, shape)), Context(shape, "new_session", 9999, True)
    )
    assert (fresh.verdict, fresh.first_divergence) == (Verdict.HIT, None)
    assert fresh.scope_bytes < found.scope_bytes


def test_two_shapes_are_not_compared() -> None:
    other = read(write(Parts(), "openai.chat"))
    with pytest.raises(DecodeError, match="two shapes cannot be compared"):
        compare(FIRST, other, Context())


def test_the_answer_as_json_leaves_out_what_nobody_filled_in() -> None:
    assert set(compare(FIRST, SECOND, context()).to_json()) == {
        "kind",
        "verdict",
        "first_divergence",
        "scope_bytes",
        "reusable_bytes",
        "kind_alternatives",
        "evidence",
    }
