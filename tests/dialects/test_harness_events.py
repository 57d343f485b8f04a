from __future__ import annotations

import pytest
from hypothesis import given

from dialects.harness_trees import FILES, SECTIONS, render, tree
from pvc.dialects.harness_events import (
    PrefixEvent,
    PrefixInputs,
    PrefixMove,
    SectionMove,
    TreeVersion,
    events_between,
    may_change_prefix,
    moved,
    version_used,
)

BASE: dict[str, str | bytes] = {"systemprompt.md": "c1", "guardrails.md": "c2", "memory.md": "c3"}


@pytest.mark.parametrize(
    ("event", "may"),
    [
        ("package version", True),
        ("tree adoption", True),
        ("toolset change", True),
        ("wiki change", False),
        ("Package version", False),
        ("", False),
    ],
)
def test_three_events_may_move_the_prefix(event: str, *, may: bool) -> None:
    assert may_change_prefix(event) is may


def test_the_events_between_two_launches_follow_from_what_went_in() -> None:
    before = PrefixInputs((("builtin-harness", "a1"),), (("memory.md", "b1"),), "b3:1")
    assert events_between(before, before) == ()
    after = PrefixInputs((("builtin-harness", "a2"),), (("memory.md", "b2"),), "b3:2")
    assert events_between(before, after) == tuple(PrefixEvent)
    tools = PrefixInputs(before.packs, before.files, "b3:2")
    assert events_between(before, tools) == (PrefixEvent.TOOLSET,)


def test_each_section_says_whether_it_changed_or_only_moved() -> None:
    after = {**BASE, "guardrails.md": "c2 longer"}
    del after["systemprompt.md"]
    move = moved(
        render(tree(BASE)),
        render(tree(after), {"id": "wide", "order": 99, "text": "w"}),
        (PrefixEvent.ADOPTION,),
    )
    assert move == PrefixMove(
        kept=1,
        lost=9,
        section="guardrails",
        sections=(
            SectionMove("guardrails", "changed", (4, 6), (0, 9)),
            SectionMove("memory", "shifted", (8, 10), (11, 13)),
            SectionMove("wide", "added", None, (15, 16)),
            SectionMove("systemprompt", "removed", (0, 2), None),
        ),
        events=(PrefixEvent.ADOPTION,),
    )


def test_what_is_appended_loses_nothing() -> None:
    move = moved(render(tree(BASE)), render(tree({**BASE, "tool_guidance.md": "c4"})))
    assert (move.kept, move.lost, [m.kind for m in move.sections]) == (10, 0, ["added"])
    assert bool(move)


@given(FILES, SECTIONS)
def test_equal_prompts_do_not_move(
    files: dict[str, str | bytes], sections: list[dict[str, object]]
) -> None:
    rendered = render(tree(files), *sections)
    assert not moved(rendered, render(tree(files), *sections))


@given(FILES, FILES)
def test_the_kept_bytes_are_the_common_ones(
    one: dict[str, str | bytes], two: dict[str, str | bytes]
) -> None:
    a, b = render(tree(one)), render(tree(two))
    move = moved(a, b)
    assert a.data[: move.kept] == b.data[: move.kept]
    assert (
        a.data[move.kept : move.kept + 1] != b.data[move.kept : move.kept + 1] or a.data == b.data
    )
    assert move.kept + move.lost == len(a.data)
    for section in move.sections:
        same = (
            section.before
            and section.after
            and a.data[slice(*section.before)] == b.data[slice(*section.after)]
        )
        assert bool(same) is (section.kind == "shifted")


def test_a_version_inherits_what_the_edit_does_not_name() -> None:
    base = TreeVersion(1, {"systemprompt.md": "s", "memory.md": "m", "guardrails.md": "g"})
    new = base.superseded({"memory.md": "m2", "guardrails.md": None})
    assert new == TreeVersion(2, {"systemprompt.md": "s", "memory.md": "m2"})
    assert base.files["memory.md"] == "m"


def test_a_run_keeps_its_version() -> None:
    assert (version_used(3, 5), version_used(None, 5)) == (3, 5)
