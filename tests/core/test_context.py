from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects.harness_trees import tree
from pvc.core.context import current, update
from pvc.dialects import loom
from pvc.dialects.base import read_pack
from pvc.errors import UsageError
from pvc.model.source import Source

STATES = st.dictionaries(st.sampled_from("abcd"), st.sampled_from(["", "1", "2"]))


@given(st.lists(STATES, max_size=5))
def test_whoever_reads_every_update_knows_the_current_state(states: list[dict[str, str]]) -> None:
    known: dict[str, str] = {}
    delivered: dict[str, str] = {}
    for state in states:
        sent = update(delivered, state)
        known |= {name: state[name] for name in sent.changed}
        for name in sent.withdrawn:
            del known[name]
        delivered = dict(sent.delivered)
        assert known == delivered == {name: text for name, text in state.items() if text}


@given(STATES)
def test_the_same_state_twice_is_no_update(state: dict[str, str]) -> None:
    assert not update(update({}, state).delivered, state)


def test_a_section_that_is_empty_now_is_withdrawn_once() -> None:
    sent = update({"wiki": "w", "work": "x"}, {"work": "y", "wiki": ""})
    assert (sent.changed, sent.withdrawn) == (("work",), ("wiki",))
    assert not update(sent.delivered, {"work": "y", "wiki": ""})


def test_current_text_comes_from_the_tree_and_the_launch_in_order() -> None:
    rows = '[[section]]\npath = "wiki.md"\n[[section]]\npath = "references.md"\n'
    pack = read_pack(tree({"memory.md": "m", "wiki.md": "w", "references.md": "r"}, rows))
    sections = [
        {"id": "app.work", "order": 60, "text": "work", "dynamic": True},
        {"id": "wiki", "order": 1, "text": "newer"},
        {"id": "role", "text": "stable"},
    ]
    assert [*current(pack, {"sections": sections}).items()] == [
        ("wiki", "newer"),
        ("references", "r"),
        ("app.work", "work"),
    ]
    assert [*current(pack, {})] == ["references", "wiki"]


def test_an_environment_that_does_not_fit_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown key"):
        current(read_pack(tree({})), {"section": []})


def test_a_form_without_sections_of_a_launch_has_no_dynamic_text() -> None:
    pack = loom.read(Source("p.loom", b"%% loom-prompt-pack 1\n%% version v\n"))
    assert current(pack, {}) == {}
