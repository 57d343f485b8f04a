"""What is read back of a request: three kinds of loss, and what the answer always holds to."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvc.core.reuse import parted, reuse
from pvc.model.body import Loss, Region, Rules
from pvc.providers.base import read

if TYPE_CHECKING:
    from pvc.core.reuse import Reuse
    from pvc.model.body import Body

ANTHROPIC, CHAT = "anthropic.messages", "openai.chat"
MARK = {"cache_control": {"type": "ephemeral"}}
SYSTEM_FIRST = (Region.SYSTEM, Region.TOOLS, Region.SETTINGS, Region.MESSAGES)
GRAIN = Rules(loss=Loss.GRAIN, grain_tokens=128)
UNIT = Rules(loss=Loss.UNIT)


def marked(texts: list[str], marks: set[int], *, tools: list[str] | None = None) -> Body:
    blocks = [
        {"type": "text", "text": text, **(MARK if number in marks else {})}
        for number, text in enumerate(texts)
    ]
    own = [{"name": name, "description": name, "input_schema": {}} for name in tools or ()]
    return read(json.dumps({"system": blocks, "messages": [], "tools": own}).encode(), ANTHROPIC)


def chat(system: str, *turns: str, tools: list[str] | None = None) -> Body:
    messages = [{"role": "system", "content": system}]
    messages += [
        {"role": "assistant" if number % 2 else "user", "content": text}
        for number, text in enumerate(turns)
    ]
    own: list[dict[str, Any]] = [
        {"type": "function", "function": {"name": name}} for name in tools or ()
    ]
    body = {"model": "gpt-5", "messages": messages, "tools": own}
    return read(json.dumps(body).encode(), CHAT)


def sizes(found: Reuse) -> tuple[int, int, int]:
    return found.scope, found.kept, found.lost


def test_a_rule_at_the_end_of_the_marked_text_loses_all_of_it() -> None:
    a, b = marked(["one"], {0}), marked(["one two"], {0})
    assert sizes(reuse(a, b, relation="new_session")) == (9, 0, 9)
    assert reuse(a, b).kind_of_loss is Loss.MARK


def test_a_mark_in_front_of_the_change_keeps_what_it_covers() -> None:
    a, b = marked(["one", "two"], {0, 1}), marked(["one", "three"], {0, 1})
    assert sizes(reuse(a, b, relation="new_session")) == (18, 9, 9)


def test_by_prefix_a_rule_at_the_end_keeps_what_is_in_front() -> None:
    a, b = chat("one"), chat("one two")
    found = reuse(a, b, GRAIN, relation="new_session")
    assert sizes(found) == (11, 10, 1)
    assert "128 tokens" in found.why


def test_whole_units_are_certain_and_the_rest_is_not() -> None:
    a, b = chat("one", "question", "answer"), chat("one", "question", "other")
    found = reuse(a, b, UNIT, relation="next_turn")
    units = len(b"system\0one\0user\0question\0")
    assert (found.kept, found.least) == (units + len(b"assistant\0"), units)
    assert found.most_lost > found.lost


def test_where_system_is_read_before_tools_an_edited_tool_keeps_it() -> None:
    a, b = chat("one", tools=["read"]), chat("one", tools=["write"])
    assert reuse(a, b, GRAIN, relation="new_session").kept == len(b"function\0")
    row = replace(GRAIN, order=SYSTEM_FIRST)
    assert reuse(a, b, row, relation="new_session").kept == len(b"system\0one\0function\0")


def test_a_setting_that_differs_ends_the_prefix_at_its_place() -> None:
    a, b = chat("one", "q"), chat("one", "q")
    b.settings = (replace(b.settings[0], normal='"other"'),)
    assert reuse(a, b, GRAIN, relation="next_turn").kept == 0


def test_another_account_keeps_nothing_and_an_unknown_one_is_named() -> None:
    a = marked(["one"], {0})
    assert sizes(reuse(a, a, same_account=False, relation="new_session")) == (9, 0, 9)
    found = reuse(a, a, same_account=None, relation="new_session")
    assert (found.kept, found.unknown) == (9, ("same_account", "seconds_between"))


def test_fewer_bytes_than_the_least_tokens_are_not_counted_on() -> None:
    found = reuse(
        chat("one" * 99), chat("one two"), replace(GRAIN, minimum_tokens=1024), relation="next_turn"
    )
    assert (found.kept, found.least) == (len(b"system\0one"), 0)
    assert "1024" in found.why


TEXTS = st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=5)
MARKS = st.sets(st.integers(0, 4), max_size=4)


@given(TEXTS, TEXTS, MARKS, MARKS, st.sampled_from([None, GRAIN, UNIT]))
def test_kept_and_lost_are_the_scope(
    old: list[str], new: list[str], ours: set[int], theirs: set[int], row: Rules | None
) -> None:
    found = reuse(marked(old, ours), marked(new, theirs), row, relation="new_session")
    assert found.kept + found.lost == found.scope
    assert 0 <= found.least <= found.kept <= found.scope


@given(TEXTS, TEXTS, st.integers(0, 4))
def test_another_mark_in_front_never_loses_more(old: list[str], new: list[str], more: int) -> None:
    last_a, last_b = len(old) - 1, len(new) - 1
    without = reuse(marked(old, {last_a}), marked(new, {last_b}), relation="new_session")
    marks_a, marks_b = {last_a, min(more, last_a)}, {last_b, min(more, last_b)}
    more_marks = reuse(marked(old, marks_a), marked(new, marks_b), relation="new_session")
    assert more_marks.scope == without.scope
    assert more_marks.lost <= without.lost


@given(TEXTS, st.text("ab", min_size=1, max_size=3), st.text("ab", min_size=1, max_size=3))
def test_a_change_behind_the_last_mark_loses_nothing(same: list[str], old: str, new: str) -> None:
    last = {len(same) - 1}
    found = reuse(marked([*same, old], last), marked([*same, new], last), relation="new_session")
    assert found.lost == 0


@given(TEXTS, TEXTS, MARKS)
def test_a_request_that_parts_at_a_byte_keeps_what_one_that_differs_there_does(
    old: list[str], new: list[str], marks: set[int]
) -> None:
    a, b = marked(old, marks), marked(new, marks | {len(new) - 1})
    found = reuse(a, b, relation="new_session")
    assert parted(a, found.common, relation="new_session").kept == found.kept


@pytest.mark.parametrize("row", [GRAIN, UNIT])
def test_the_same_request_keeps_all(row: Rules) -> None:
    a = chat("one", "q", "a")
    assert reuse(a, a, row, relation="next_turn").lost == 0
