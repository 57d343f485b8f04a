"""The dynamic plane: only what changed is told, and the prompt never moves."""

from __future__ import annotations

from random import Random
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from pvc.core.json_text import Number
from pvc.errors import NotFoundError, RefusedError
from pvc.ops import fold
from pvc.ops.context import delivered, run
from pvc.ops.session import show, tip
from pvc.packs import builtin_packs
from pvc.store.versions import write_builtin
from sessions import FILES, Sessions

if TYPE_CHECKING:
    from pvc.core.json_text import Value
    from workspace import Workspace

NAMES = ("wiki", "date", "notes", "branch")


@pytest.fixture
def sessions(workspace: Workspace) -> Sessions:
    made = Sessions(workspace)
    made.adopt()
    made.pin()
    return made


def edited(random: Random, current: dict[str, bytes]) -> dict[str, bytes]:
    """Some sections new, some changed, some gone, in any order."""
    after = dict(current)
    for name in random.sample(NAMES, random.randrange(len(NAMES))):
        after.pop(name, None)
        if random.random() < 0.7:
            after[name] = random.choice([b"", b"one\n", b"two\n", b"\xc3\xa9\n"])
    return after


def test_two_hundred_updates_replay_to_what_was_current_and_say_nothing_twice(
    sessions: Sessions,
) -> None:
    random = Random(8)  # noqa: S311  # not a secret: the same edits each time
    repo = sessions.repo
    prompt = tip(repo, "s")
    current: dict[str, bytes] = {}
    told: dict[str, bytes] = {}
    steps = {}
    for _ in range(200):
        current = edited(random, current)
        there = {name: text for name, text in current.items() if text}
        found = run(repo, "s", current, {})
        assert set(found.changed) == {n for n, text in there.items() if told.get(n) != text}
        assert set(found.withdrawn) == told.keys() - there.keys()
        for name, text in there.items():
            assert (f"### {name}\n\n{text.decode().strip()}" in found.message) == (
                name in found.changed
            )
        told = there
        if found.pin:
            steps[found.pin.n] = there
        else:
            assert (found.changed, found.withdrawn, found.message) == ((), (), "")
        assert tip(repo, "s") == prompt
    assert [*steps] == [*range(len(steps))]
    fold.run(repo)
    for n, there in steps.items():
        texts = delivered(repo, "s", n)
        assert {name: text.encode() for name, text in texts.items()} == there
    assert show(repo, "s").pin == prompt


def test_a_delivery_never_changes_the_prompts_digest(sessions: Sessions) -> None:
    sessions.change("Be brief.")
    before = show(sessions.repo, "s")
    found = run(sessions.repo, "s", {"wiki": b"W"}, {"date": "2031-02-03"})
    assert found.pin
    assert found.pin.prompt == before.pin.prompt
    assert show(sessions.repo, "s").rendered == before.rendered
    assert sessions.pin().status == "same"
    assert fold.run(sessions.repo).flagged == ()


def test_an_update_in_the_common_words(sessions: Sessions) -> None:
    run(sessions.repo, "s", {"wiki": b"W\n", "notes": b"N"}, {})
    found = run(sessions.repo, "s", {"wiki": b"\nW {x}\n\n"}, {"date": "2031-02-03"})
    assert found.message == (
        "## Context update\n\n- date: 2031-02-03\n\n### wiki\n\nW {x}\n\nNo longer current: notes\n"
    )
    whole = run(sessions.repo, "s", {"wiki": b"\nW {x}\n\n"}, {"date": "2031-02-03"}, whole=True)
    assert whole.pin is None
    assert "### wiki" in whole.message


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("rules", 'add `dynamic = ["rules"]` to pvc.toml and supersede; dynamic are branch, date'),
        ("a.md", "it stands in the prompt: pvc supersede adopts a change"),
    ],
)
def test_only_what_the_version_lists_may_be_told(sessions: Sessions, name: str, hint: str) -> None:
    with pytest.raises(RefusedError, match="may not change within a session of agent@1") as caught:
        run(sessions.repo, "s", {name: b"x"}, {})
    assert hint in caught.value.hint
    with pytest.raises(NotFoundError):
        delivered(sessions.repo, "s")


def test_the_allowlist_is_that_of_the_pinned_version(sessions: Sessions) -> None:
    sessions.adopt({**FILES, "agent/pvc.toml": str(FILES["agent/pvc.toml"]).replace("wiki", "w")})
    assert run(sessions.repo, "s", {"wiki": b"W"}, {}).changed == ("wiki",)


def test_a_harness_tells_its_own_dynamic_sections_too(workspace: Workspace) -> None:
    made = Sessions(workspace)
    made.adopt(
        {
            "agent/pvc.toml": 'format = 1\nname = "agent"\nform = "harness"\n'
            '[[section]]\npath = "wiki.md"\n',
            "agent/systemprompt.md": "You are an agent.\n",
            "agent/wiki.md": "Harbours.\n",
        }
    )
    made.pin(sections=[])
    assert show(made.repo, "s").rendered.data == b"You are an agent.\n"
    assert run(made.repo, "s", {}, {}).changed == ("wiki",)
    assert run(made.repo, "s", {"references": b"R"}, {}).changed == ("references",)


HARNESS: dict[str, bytes | str] = {
    "agent/pvc.toml": 'format = 1\nname = "agent"\nform = "harness"\ndynamic = ["note"]\n',
    "agent/systemprompt.md": "You are an agent.\n",
}


def with_note(text: str, name: str = "note") -> dict[str, list[Value]]:
    """Give the values of a launch that brings one dynamic section."""
    row: Value = {"id": name, "order": Number(60), "text": text, "dynamic": True}
    return {"sections": [row]}


def test_what_earlier_launches_brought_is_not_current(workspace: Workspace) -> None:
    """Dynamic text is not in the prompt: launches with other text are `same` and not recorded."""
    made = Sessions(workspace)
    made.adopt(HARNESS)
    statuses = [
        made.pin(sections=values["sections"]).status
        for values in (with_note("note 1"), with_note("note 2"))
    ]
    assert [*statuses, made.pin(sections=[]).status] == ["pinned", "same", "same"]
    found = run(made.repo, "s", {}, {})
    assert (found.changed, found.withdrawn, found.message, found.pin) == ((), (), "", None)


@pytest.mark.parametrize("name", ["note", "app.work"])
def test_what_is_not_given_again_is_withdrawn_and_never_comes_back(
    workspace: Workspace, name: str
) -> None:
    made = Sessions(workspace)
    made.adopt(HARNESS)
    first, second = with_note("note 1", name), with_note("note 2", name)
    made.pin(sections=first["sections"])
    told = [run(made.repo, "s", {}, {}, environment=values) for values in (first, second, second)]
    assert [(one.changed, one.withdrawn) for one in told] == [
        ((name,), ()),
        ((name,), ()),
        ((), ()),
    ]
    assert "note 2" in told[1].message
    gone = [run(made.repo, "s", {}, {}) for _ in range(2)]
    assert [(one.changed, one.withdrawn) for one in gone] == [((), (name,)), ((), ())]
    assert delivered(made.repo, "s") == {}


def test_a_section_that_is_given_counts_before_the_launchs_and_the_trees(
    workspace: Workspace,
) -> None:
    made = Sessions(workspace)
    row = '[[section]]\npath = "wiki.md"\n'
    files = HARNESS | {"agent/pvc.toml": f"{HARNESS['agent/pvc.toml']!s}{row}"}
    made.adopt(files | {"agent/wiki.md": "Harbours.\n"})
    made.pin(sections=with_note("note 1")["sections"])
    found = run(made.repo, "s", {"note": b"note 3"}, {}, environment=with_note("note 2"))
    assert found.current == ("note", "wiki")
    assert "note 3" in found.message
    assert "note 2" not in found.message
    assert run(made.repo, "s", {}, {}).withdrawn == ("note",)
    assert delivered(made.repo, "s") == {"wiki": "Harbours.\n"}


SKILL = "---\ndescription: {}\n---\nDo it.\n"


def test_skills_that_were_adopted_since_are_told_as_a_delta(workspace: Workspace) -> None:
    made = Sessions(workspace)
    files: dict[str, bytes | str] = {
        "agent/pvc.toml": 'format = 1\nname = "agent"\nform = "harness"\ndynamic = ["skills"]\n',
        "agent/systemprompt.md": "You are an agent.\n",
        "agent/skills/same/SKILL.md": SKILL.format("Stay."),
        "agent/skills/deploy/SKILL.md": SKILL.format("Ship."),
        "agent/skills/old/SKILL.md": SKILL.format("Go."),
    }
    made.adopt(files)
    made.pin(sections=[])
    assert run(made.repo, "s", {}, {}, skills=True).changed == ()
    workspace.git("rm", "-q", "agent/skills/old/SKILL.md")
    del files["agent/skills/old/SKILL.md"]
    files["agent/skills/deploy/SKILL.md"] = SKILL.format("Ship it twice.")
    files["agent/skills/tidy/SKILL.md"] = SKILL.format("x" * 200)
    made.adopt(files, "Other skills")
    found = run(made.repo, "s", {}, {}, skills=True)
    assert found.message == (
        "## Context update\n\n### skills\n\n"
        f"- changed: deploy — Ship it twice.\n- gone: old\n- new: tidy — {'x' * 159}…\n"
    )
    assert run(made.repo, "s", {}, {}, skills=True).pin is None
    assert tip(made.repo, "s").label == "agent@1"


def test_skills_too_need_their_place_on_the_list(sessions: Sessions) -> None:
    with pytest.raises(RefusedError, match="section `skills` may not change"):
        run(sessions.repo, "s", {}, {}, skills=True)


def test_raku_tells_a_run_in_its_own_words_and_keeps_its_record(workspace: Workspace) -> None:
    made = Sessions(workspace)
    (pack,) = [pack for pack in builtin_packs() if pack.name == "builtin-raku"]
    write_builtin(made.repo, pack.name, pack.files)
    made.adopt(
        {
            "agent/pvc.toml": 'format = 1\nname = "agent"\nform = "raku"\ndynamic = ["date", "n"]\n'
            "packs = {builtin-raku = 1}\n",
            "agent/identity.md": "You are an agent.\n",
        }
    )
    made.pin(extra={})
    first = run(made.repo, "s", {"n": b"Note.\n"}, {"date": "2031-02-03"})
    closing = next(file.data for file in pack.files if file.path.startswith("words/")).decode()
    assert first.message == (
        f"## Current context\n\n- date: 2031-02-03\n\nNote.\n\n{closing.rstrip()}"
    )
    second = run(made.repo, "s", {}, {"date": "2031-02-03"})
    assert "No longer current: n\n\n" in second.message
    assert "2031-02-03" not in second.message


def test_two_that_deliver_at_once_both_count(sessions: Sessions) -> None:
    def one(name: str) -> None:
        for i in range(6):
            run(sessions.repo, "s", {name: b"%d" % i}, {})

    threads = [Thread(target=one, args=(name,)) for name in ("wiki", "notes")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    newest = tip(sessions.repo, "s", "main:context")
    for n in range(newest.n + 1):
        assert delivered(sessions.repo, "s", n)


def test_a_session_that_was_only_observed_has_no_allowlist(sessions: Sessions) -> None:
    from pvc.launch.call import Call

    call = Call()
    call.session, call.observed, call.observed_bytes = "o", "rendered", b"sent"
    sessions.pinner().pin([call])
    with pytest.raises(RefusedError, match="pinned from bytes that were sent"):
        run(sessions.repo, "o", {"wiki": b"W"}, {})
