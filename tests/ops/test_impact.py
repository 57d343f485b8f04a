"""`pvc impact` over a real repository: folders, versions, pinned sessions, other orders."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import pvc
from pvc.errors import NotFoundError
from pvc.ops.impact import Impact, ImpactOptions, run
from pvc.ops.init import run as init
from pvc.ops.supersede import run as supersede
from pvc.report.impact import to_lines, to_markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.store.repo import Repository
    from workspace import Workspace

MANIFEST = 'format = 1\nname = "agent"\nform = "plain"\nbindings = ["cwd"]\n'
ROLE, RULES, PLACE = "You mend ships.\n", "Ask first.\n", "Work in {cwd}.\n"
PROMPT = b"You mend ships.\n\nAsk first.\n\nWork in /srv.\n"
SCOPE = len(b"text\0" + PROMPT + b"\0")
CHAT = 'shape = "openai-chat"'


LOOM_VALUES = {
    "workspace": "/srv",
    "platform": "linux",
    "shell": "/bin/sh",
    "enforcement": "PlatformEnforced",
    "network": {"kind": "NetworkBlocked"},
}


@pytest.fixture
def repo(workspace: Workspace) -> Iterator[Repository]:
    """A repository with `agent@1` of three sections, pinned by two sessions with one prompt."""
    workspace.commit({"agent/pvc.toml": MANIFEST, "agent/notes/n.txt": "n\n"})
    workspace.commit({"agent/1.md": ROLE, "agent/2.md": RULES, "agent/3.md": PLACE})
    opened = workspace.open()
    supersede(opened, "agent", "first")
    for session in ("s1", "s2"):
        pvc.open(workspace.path).pin("agent", session, {"cwd": "/srv"})
    yield opened
    opened.close()


def impact(repo: Repository, other: str | None = None, **options: object) -> Impact:
    given = replace(ImpactOptions(now_us=time.time_ns() // 1000), **options)  # type: ignore[arg-type]  # names of options
    return run(repo, "agent@1", other, given)


def sent_to(workspace: Workspace, repo: Repository, provider: str, **files: str) -> None:
    """Say in the manifest whom requests are sent to, adopt that, and change files after it."""
    workspace.commit({"agent/pvc.toml": f"{MANIFEST}[provider]\n{provider}\n"})
    supersede(repo, "agent", "whom it is sent to")
    workspace.commit({f"agent/{name}.md": text for name, text in files.items()})


def test_by_prefix_an_edit_in_the_middle_loses_what_is_behind_it(
    workspace: Workspace, repo: Repository
) -> None:
    sent_to(workspace, repo, CHAT, **{"2": "Ask never.\n"})
    options = ImpactOptions(now_us=time.time_ns() // 1000, environment={"cwd": "/srv"})
    result = run(repo, "agent@2", None, options)
    at = PROMPT.index(b"first")
    lost = len(PROMPT) + 1 - at  # the zero byte behind the text belongs to it
    assert (result.first_moved_byte, result.lost.size_bytes) == (at, lost)
    assert [(m.name, m.change, m.lost_bytes) for m in result.sections] == [
        ("1.md", "same", 0), ("2.md", "changed", 6), ("3.md", "same", 14),
    ]  # fmt: skip
    assert [cost.label for cost in result.costs] == ["OpenAI, by prefix"]


def test_under_one_mark_an_edit_anywhere_loses_all(workspace: Workspace, repo: Repository) -> None:
    workspace.commit({"agent/2.md": "Ask never.\n"})
    result = impact(repo, environment={"cwd": "/srv"})
    at = PROMPT.index(b"first")
    assert (result.first_moved_byte, result.lost.size_bytes) == (at, SCOPE)
    assert [(m.name, m.change, m.lost_bytes) for m in result.sections] == [
        ("1.md", "same", 15), ("2.md", "changed", 10), ("3.md", "same", 14),
    ]  # fmt: skip
    (prefix,) = result.prefixes
    assert set(prefix.sessions) == {"s1", "s2"}
    assert (prefix.first_moved_byte, prefix.lost.size_bytes) == (at, SCOPE)
    assert (result.hit, result.unaffected, result.unknown) == (2, 0, 0)


def test_where_nothing_says_what_requests_are_both_classes_are_answered(
    workspace: Workspace, repo: Repository
) -> None:
    workspace.commit({"agent/4.md": "More.\n"})
    found = impact(repo, environment={"cwd": "/srv"})
    lines = [cost.in_words() for cost in found.costs]
    first = "Anthropic, one marker at the end of the system text: all "
    assert lines[0].startswith(f"{first}{SCOPE} bytes are written again, ")
    assert lines[1] == "OpenAI, by prefix: 0 bytes"
    assert found.costs[1].reuse.lost == 1  # the byte that ended the text
    assert (found.lost.size_bytes, found.hit) == (SCOPE, 2)


def test_head_index_and_worktree_are_three_candidates(
    workspace: Workspace, repo: Repository
) -> None:
    workspace.write({"agent/2.md": "Staged.\n"})
    workspace.git("add", "--all")
    workspace.write({"agent/2.md": "Not staged, and longer.\n"})
    sizes = [
        impact(repo, state=state).prompt_bytes[1] - impact(repo).prompt_bytes[0]
        for state in ("head", "index", "worktree")
    ]
    assert sizes == [0, len("Staged.") - len(RULES) + 1, len("Not staged, and longer.") - 10]


def test_what_is_not_in_the_prompt_costs_nothing(workspace: Workspace, repo: Repository) -> None:
    workspace.commit({"agent/notes/n.txt": "other\n", "agent/skills/x/run.sh": "echo\n"})
    result = impact(repo)
    assert result.paths == (("notes/n.txt", False), ("skills/x/run.sh", False))
    assert (result.first_moved_byte, result.lost.size_bytes, result.lost.cost) == (None, 0, 0.0)
    assert (result.hit, result.unaffected) == (0, 2)


def test_a_mark_in_front_of_the_rule_at_the_end_keeps_what_it_covers(
    workspace: Workspace, repo: Repository
) -> None:
    """Plain text is one block, so its marks are one; a pin that says more has an answer."""
    sent_to(workspace, repo, 'shape = "anthropic"\nmodel = "claude-opus-5"', **{"4": "More.\n"})
    found = run(repo, "agent@2", None, ImpactOptions(now_us=time.time_ns() // 1000))
    assert [(cost.asked.model, cost.markers) for cost in found.costs] == [("claude-opus-5", 1)]
    assert found.lost.size_bytes == found.costs[0].reuse.scope


def test_what_an_adoption_lost_is_not_lost_again(workspace: Workspace, repo: Repository) -> None:
    workspace.commit({"agent/2.md": "Ask never.\n"})
    supersede(repo, "agent", "second")
    workspace.commit({"agent/2.md": "Ask often.\n"})
    options = ImpactOptions(now_us=time.time_ns() // 1000)
    assert run(repo, "agent@2", None, options).hit == 0
    for session in ("s3", "s4"):
        pvc.open(workspace.path).pin("agent", session, {"cwd": "/srv"})
    (prefix,) = run(repo, "agent@2", None, options).prefixes
    assert set(prefix.sessions) == {"s3", "s4"}


def test_old_pins_and_pins_of_other_trees_do_not_count(
    workspace: Workspace, repo: Repository
) -> None:
    workspace.commit({"agent/1.md": "Other.\n"})
    later = time.time_ns() // 1000 + 3600 * 1_000_000
    result = impact(repo, now_us=later, since="60s")
    assert (result.hit, result.unaffected, result.unknown) == (0, 0, 0)
    assert impact(repo, now_us=later, since="2h").hit == 2


def test_a_session_without_its_values_counts_over_placeholders(
    workspace: Workspace, repo: Repository
) -> None:
    workspace.commit({"agent/1.md": "Other.\n"})
    exact = impact(repo)
    for body in (workspace.path / ".git/pvc/spool/b").iterdir():
        body.unlink()
    result = impact(repo)
    assert (result.hit, result.unknown, result.about) == (2, 0, 2)
    (was,), (prefix,) = exact.prefixes, result.prefixes
    longer = len("{cwd}") - len("/srv")
    assert prefix.is_about
    assert not was.is_about
    assert prefix.first_moved_byte == was.first_moved_byte
    assert prefix.lost.size_bytes == was.lost.size_bytes + longer
    text = "\n".join(to_lines(result))
    assert f"2 sessions, about {prefix.lost.size_bytes} bytes from byte 0" in text
    assert "The values of 2 of them are not in this clone; placeholders stand in" in text
    assert result.to_json()["sessions"]["about"] == 2  # type: ignore[index]  # an object


def test_an_edit_of_what_a_value_that_is_not_here_chooses_is_not_called_harmless(
    workspace: Workspace,
) -> None:
    """Which fragment was sent is not known: an edit of any of them may move the prompt."""
    opened = workspace.open()
    (workspace.path / "loom").mkdir()
    init(opened, workspace.path / "loom")
    workspace.commit({"loom/_network_open.md": "Free to call.\n"})
    supersede(opened, "loom", "first")
    pvc.open(workspace.path).pin("loom", "s", LOOM_VALUES)
    workspace.commit({"loom/_network_open.md": "Free to call out.\n"})
    now = ImpactOptions(now_us=time.time_ns() // 1000)
    assert run(opened, "loom", None, now).unaffected == 1
    for body in (workspace.path / ".git/pvc/spool/b").iterdir():
        body.unlink()
    found = run(opened, "loom", None, now)
    assert (found.hit, found.unaffected, found.about) == (1, 0, 1)


def test_two_versions_are_compared(workspace: Workspace, repo: Repository) -> None:
    workspace.commit({"agent/1.md": "You mend boats.\n"})
    supersede(repo, "agent", "second")
    result = impact(repo, "agent@2")
    assert (result.base, result.candidate) == ("agent@1", "agent@2")
    assert result.first_moved_byte == ROLE.index("ships")


def test_a_binding_that_comes_or_goes_is_no_fault(workspace: Workspace, repo: Repository) -> None:
    workspace.commit(
        {"agent/pvc.toml": MANIFEST.replace("cwd", "dir"), "agent/3.md": "In {dir}.\n"}
    )
    result = impact(repo)
    assert result.sections[2].change == "changed"
    assert result.unknown == 2


def test_past_adoptions_are_replayed_in_another_order(
    workspace: Workspace, repo: Repository
) -> None:
    for number in (2, 3):
        workspace.commit({"agent/1.md": f"You mend {number} ships.\n"})
        supersede(repo, "agent", f"v{number}")
    options = ImpactOptions(now_us=time.time_ns() // 1000, what_if="")
    what_if = run(repo, "agent", None, options).what_if
    assert what_if
    assert what_if.order == ("2.md", "3.md", "1.md")
    assert [one.label for one in what_if.reordered] == ["agent@2", "agent@3"]
    assert [one.provider for one in (what_if, *what_if.others)] == ["anthropic", "openai"]
    marked, by_prefix = (
        [b.lost_bytes - a.lost_bytes for a, b in zip(one.as_adopted, one.reordered, strict=True)]
        for one in (what_if, *what_if.others)
    )
    assert marked == [0, 0]  # one mark at the end: no order helps
    assert all(less < 0 for less in by_prefix)
    with pytest.raises(NotFoundError, match="no section `9"):
        run(repo, "agent", None, replace(options, what_if="9.md"))


def test_words_for_people_name_what_moved(workspace: Workspace, repo: Repository) -> None:
    workspace.commit({"agent/2.md": "Ask never.\n", "agent/notes/n.txt": "x\n"})
    text = "\n".join(to_lines(impact(repo, environment={"cwd": "/srv"}), listing=True))
    assert text.startswith("agent@1 to head: the prompt moves from byte 21 of 43 on.\n  Anthropic")
    assert "notes/n.txt: not in the prompt, 0 bytes lost" in text
    assert "\n    s1" in text
    assert "the same edit in plane dynamic (byte 43) loses 0" in text


def test_a_comment_is_a_table_that_names_cannot_leave(
    workspace: Workspace, repo: Repository
) -> None:
    workspace.commit({"agent/0|`<b>.md": "x\n"})
    lines = list(to_markdown(impact(repo)))
    (row,) = [line for line in lines if "added" in line]
    assert row.startswith("| `0\\|'<b>.md` | added |")
