"""`pvc miss` between two pins of one tree: the kind and the owner are known, not guessed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from pvc.launch.call import Call
from pvc.launch.pin import Pinner
from pvc.launch.place import find
from pvc.model.body import Kind, Verdict
from pvc.ops import promote, supersede
from pvc.ops.miss import Missed, MissOptions, run
from pvc.ops.revise import Edits

if TYPE_CHECKING:
    from pvc.store.repo import Repository
    from workspace import Workspace

MANIFEST = 'format = 1\nname = "agent"\nform = "plain"\nbindings = ["who"]\n'
ROLE = "You keep the timetable of the harbor.\n"
RULES = "Be brief. Answer in one sentence.\n"
TOOLS = "Say what you are about to do.\n"
BASE = {"10-role.md": ROLE, "20-rules.md": RULES, "30-tools.md": TOOLS}
Files = dict[str, str]


@dataclass
class Chain:
    """A tree that two people work on: Ada starts it, adopts and pins; Bob edits."""

    workspace: Workspace
    files: Files

    @property
    def directory(self) -> str:
        return str(self.workspace.path)

    @property
    def repo(self) -> Repository:
        return self.workspace.open()

    def commit(self, files: Files, message: str, who: str = "Bob") -> str:
        """Make the folder hold these files, by one commit."""
        for path in self.files.keys() - files.keys():
            (self.workspace.path / "agent" / path).unlink()
        self.files = dict(files)
        written: dict[str, bytes | str] = {f"agent/{path}": text for path, text in files.items()}
        self.workspace.write({"agent/pvc.toml": MANIFEST, **written})
        self.workspace.git("add", "--all")
        os.environ.update(GIT_AUTHOR_NAME=who, GIT_COMMITTER_NAME=who)
        self.workspace.git("commit", "--quiet", "--allow-empty", "-m", message)
        os.environ.update(GIT_AUTHOR_NAME="Ada", GIT_COMMITTER_NAME="Ada")
        return self.workspace.git("rev-parse", "HEAD")

    def adopt(self, reason: str = "adopt", **options: Any) -> None:
        supersede.run(self.repo, "agent", reason, accept_findings=True, **options)

    def pin(self, session: str, tree: str = "agent", who: str = "Ann") -> None:
        call = Call()
        call.tree, call.session, call.environment = tree, session, {"who": who}
        call.allow_empty = True
        answer = Pinner(find(self.directory)).pin([call])[0]
        assert answer.error is None, answer.error

    def step(self, files: Files, session: str, message: str = "edit") -> str:
        """Bob edits, Ada adopts and pins; gives Bob's commit."""
        commit = self.commit(files, message)
        self.adopt(message, allow_empty=True)
        self.pin(session)
        return commit

    def miss(self, a: str, b: str) -> Missed:
        return run(self, f"session:{a}", f"session:{b}", MissOptions())


@pytest.fixture
def chain(workspace: Workspace) -> Chain:
    for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
        os.environ.pop(name, None)  # adoptions are asked whether they came between two launches
    made = Chain(workspace, {})
    made.commit(BASE, "start", "Ada")
    made.adopt("First")
    made.pin("a")
    return made


def facts(found: Missed) -> tuple[str, str, str, str | None]:
    """The kind, and whom it is given to: what was done, in which version, by which commit."""
    owner = found.owner
    assert owner is not None
    version = owner.run.version
    assert version is not None, owner
    source = owner.run.source
    return (str(found.miss.kind), owner.change, version.label, source.commit if source else None)


def with_text(path: str, text: str) -> Files:
    return {**BASE, path: text}


WRITTEN = {
    "a line at the end": with_text("20-rules.md", RULES + "Appended rule.\n"),
    "a person's word": with_text("20-rules.md", RULES + "reader: Ada\n"),
    "a word of state": with_text("20-rules.md", RULES.replace("brief", "on branch main")),
    "a date": with_text("20-rules.md", RULES.replace("brief", "2026-03-10")),
    "a role": with_text("10-role.md", ROLE.replace("keep the timetable", "review code")),
    "a file at the end": {**BASE, "40-wiki.md": "Wiki.\n"},
    "a file in front": {**BASE, "05-wiki.md": "Wiki.\n"},
}
REMOVED = {
    "a sentence gone": with_text("20-rules.md", "Be brief.\n"),
    "the last file gone": {path: text for path, text in BASE.items() if path < "30"},
    "the first file gone": {path: text for path, text in BASE.items() if path > "20"},
}
EDITS: dict[str, tuple[Files, str, str]] = {
    **{name: (files, "prompt_text_edit", "written") for name, files in WRITTEN.items()},
    **{name: (files, "prompt_text_edit", "removed") for name, files in REMOVED.items()},
    "blanks": (with_text("20-rules.md", RULES.replace(". ", ".  ")), "whitespace", "written"),
    "line ends": (with_text("30-tools.md", TOOLS.replace("\n", "\r\n")), "line_endings", "written"),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_of_a_source_is_an_edit_and_its_commits(chain: Chain, name: str) -> None:
    files, kind, change = EDITS[name]
    commit = chain.step(files, "b")
    found = chain.miss("a", "b")
    assert facts(found) == (kind, change, "agent@2", commit)
    assert "adopted between" in found.advice.text or kind == "line_endings"


SLIDES = {
    "heading up": ("## Rules\n\nBe brief.\n", "# Rules\n\nBe brief.\n"),
    "heading down": ("# Rules\n\nBe brief.\n", "## Rules\n\nBe brief.\n"),
    "italic to bold": ("Be *brief*.\n", "Be **brief**.\n"),
    "bold to italic": ("Be **brief**.\n", "Be *brief*.\n"),
    "a shorter fence": ("````\nx\n````\n", "```\nx\n```\n"),
    "fewer braces": ("Say {{n}}.\n", "Say {n}.\n"),
    "a doubled line": ("One.\nTwo.\n", "One.\nOne.\nTwo.\n"),
    "a blank line more": ("One.\n\nTwo.\n", "One.\n\n\nTwo.\n"),
}


@pytest.mark.parametrize("name", SLIDES)
def test_a_run_of_signs_that_changes_is_of_the_new_version(chain: Chain, name: str) -> None:
    old, new = SLIDES[name]
    chain.step(with_text("20-rules.md", old), "b")
    commit = chain.step(with_text("20-rules.md", new), "c")
    assert facts(chain.miss("b", "c"))[2:] == ("agent@3", commit)


def test_small_commits_tell_what_the_version_alone_does_not(chain: Chain) -> None:
    # Between the two versions the first line became the fence; of the two commits, one took the
    # line out, and the other a word behind the fence, which no commit wrote.
    chain.step(with_text("20-rules.md", "Run it.\n```sh\n"), "b")
    commit = chain.commit(with_text("20-rules.md", "```sh\n"), "take out the line")
    chain.step(with_text("20-rules.md", "```\n"), "c", "take out the word")
    assert facts(chain.miss("b", "c")) == ("prompt_text_edit", "removed", "agent@3", commit)


def test_a_file_that_is_renamed_in_the_order_is_its_movers(chain: Chain) -> None:
    first = {**{k: v for k, v in BASE.items() if k != "20-rules.md"}, "05-rules.md": RULES}
    last = {**{k: v for k, v in BASE.items() if k != "20-rules.md"}, "70-rules.md": RULES}
    commit = chain.step(first, "b")
    assert facts(chain.miss("a", "b")) == ("block_moved", "written", "agent@2", commit)
    commit = chain.step(last, "c")
    assert facts(chain.miss("b", "c")) == ("block_moved", "written", "agent@3", commit)


def test_text_that_a_merged_branch_removed_is_that_branchs(chain: Chain) -> None:
    git = chain.workspace.git
    main = git("symbolic-ref", "--short", "HEAD")
    git("checkout", "-q", "-b", "topic")
    commit = chain.commit(with_text("20-rules.md", "Answer in one sentence.\n"), "Drop brevity")
    git("checkout", "-q", main)
    chain.files = dict(BASE)
    chain.commit({**BASE, "30-tools.md": TOOLS + "More.\n"}, "other", "Ada")
    git("merge", "-q", "--no-ff", "-m", "Merge pull request 12", "topic")
    chain.adopt("second")
    chain.pin("b")
    assert facts(chain.miss("a", "b"))[1:] == ("removed", "agent@2", commit)


def test_an_empty_prompt_is_removed_not_written(chain: Chain) -> None:
    commit = chain.step(dict.fromkeys(BASE, ""), "b", "Empty it")
    assert facts(chain.miss("a", "b"))[1:] == ("removed", "agent@2", commit)


def test_after_a_rollback_nothing_was_adopted_between(chain: Chain) -> None:
    commit = chain.step(with_text("20-rules.md", "Be kind.\n"), "b")
    chain.pin("c", "agent@1")
    found = chain.miss("b", "c")
    assert facts(found)[2:] == ("agent@2", commit)
    assert found.owner is not None
    assert found.owner.undone
    assert "agent@1, older than agent@2" in found.advice.text
    assert "adopted between" not in found.advice.text


def test_a_channel_that_went_back_is_named(chain: Chain) -> None:
    chain.commit(with_text("20-rules.md", "Be kind.\n"), "edit")
    chain.adopt("second")
    promote.run(chain.repo, "agent@2", "production", "Ready")
    chain.pin("b", "agent@production")
    promote.run(chain.repo, "agent@1", "production", "It was rude")
    chain.pin("c", "agent@production")
    found = chain.miss("b", "c")
    assert "agent@production was moved to it by Ada" in found.advice.text
    assert "It was rude" in found.advice.text


def test_a_version_that_both_sessions_could_have_had_did_not_come_between(chain: Chain) -> None:
    chain.commit(with_text("20-rules.md", "Be kind.\n"), "edit")
    when = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "@1700000000 +0000")
    os.environ.update(when)
    chain.adopt("second")
    for name in when:
        del os.environ[name]
    chain.pin("b", "agent@1")
    chain.pin("c", "agent@2")
    found = chain.miss("b", "c")
    assert facts(found)[2] == "agent@2"
    assert "both had been adopted before" in found.advice.text
    assert "adopted between" not in found.advice.text


def test_a_revert_is_its_own_change(chain: Chain) -> None:
    chain.step(with_text("20-rules.md", "Be kind.\n"), "b")
    chain.adopt("back", edits=Edits(revert_to=1))
    chain.pin("c")
    found = chain.miss("b", "c")
    assert facts(found)[2] == "agent@3"
    assert any("takes up an older version" in note for note in found.notes)


def test_a_value_is_no_edit(chain: Chain) -> None:
    chain.step(with_text("20-rules.md", "Serve {who}.\n"), "b")
    chain.pin("c", who="Mira Holm")
    found = chain.miss("b", "c")
    assert found.advice.text.startswith("the value `who` differs")
    assert "adopted between" not in found.advice.text


# --- generated histories ----------------------------------------------------------------------

LINES = [
    "Be brief.", "Answer in one sentence.", "## Rules", "# Rules", "- a", "- b", "",
    "Today is Monday.", "user: Ada", "You are a reviewer.", "Work in /srv.", "```", "````",
    "Never force a push.",
]  # fmt: skip
TEXT_KINDS = {
    *(Kind.PROMPT_TEXT_EDIT, Kind.CATALOG, Kind.LIST_ORDER, Kind.BLOCK_MOVED, Kind.WHITESPACE),
    *(Kind.LINE_ENDINGS, Kind.UNICODE_FORM, Kind.TEMPLATE_ESCAPE),
}


def changed(random: Random, files: Files) -> Files:
    """One thing that people do to a folder of prompts."""
    out = dict(files)
    path = random.choice(sorted(out))
    lines = out[path].split("\n")
    at = random.randrange(len(lines))
    match random.randrange(6):
        case 0:
            lines.insert(at, random.choice(LINES))
            out[path] = "\n".join(lines)
        case 1:
            lines[at] = random.choice(LINES)
            out[path] = "\n".join(lines)
        case 2 if len(lines) > 2:
            del lines[at]
            out[path] = "\n".join(lines)
        case 3:
            out[f"{random.randrange(10, 90)}-new.md"] = f"{random.choice(LINES[:2])}\nNew.\n"
        case 4 if len(out) > 2:
            del out[path]
        case _:
            out[f"{random.randrange(10, 90)}-{path[3:]}"] = out.pop(path)
    return out


@pytest.mark.parametrize("seed", range(6))
def test_the_owner_is_always_of_a_version_between(chain: Chain, seed: int) -> None:
    """Between pins at versions a < b the owner is of a version in (a, b], and text is text."""
    random = Random(seed)  # noqa: S311 - text for tests, not secrets
    files, sessions = dict(BASE), ["a"]
    for number in range(5):
        new = changed(random, files)
        while "".join(new.values()).strip() == "":
            new = changed(random, files)
        files = new
        chain.commit(files, f"edit {number}")
        chain.adopt(f"edit {number}")
        sessions.append(f"s{number}")
        chain.pin(sessions[-1])
    numbers = {name: run_of(chain, name) for name in sessions}
    for i, first in enumerate(sessions):
        for second in sessions[i + 1 :]:
            found = chain.miss(first, second)
            if found.miss.verdict is not Verdict.MISS:
                continue
            assert found.miss.kind in TEXT_KINDS, (first, second, found.miss)
            _, _, label, commit = facts(found)
            assert numbers[first] < int(label.partition("@")[2]) <= numbers[second]
            assert commit is not None, (first, second, found.notes)
            back = chain.miss(second, first)
            assert back.owner is not None
            assert back.owner.undone
            assert "adopted between" not in back.advice.text


def run_of(chain: Chain, session: str) -> int:
    from pvc.ops.select import select

    pin = select(chain.repo, f"session:{session}").pin
    assert pin is not None
    assert pin.version is not None
    return pin.version
