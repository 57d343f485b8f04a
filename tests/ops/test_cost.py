"""What impact, diff and log predict, and a refusal says, is what miss says of the two pins."""

from __future__ import annotations

import json
import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import pytest

from pvc.launch.call import Call
from pvc.launch.entry import SessionPinner
from pvc.launch.place import find
from pvc.ops import diff, impact, miss, supersede, versions_log
from pvc.ops.cost import prompt_bytes, stream_bytes
from pvc.providers.base import read

if TYPE_CHECKING:
    from pvc.core.json_text import Value
    from pvc.launch.answer import Answer
    from pvc.store.repo import Repository
    from workspace import Workspace

HEAD = 'format = 1\nname = "agent"\nform = "harness"\npacks = {house = 1}\n'
MARKERS = '[markers]\nafter = ["foundation:1h", "surface"]\n'
HOUSE = {
    "house/pvc.toml": 'format = 1\nkind = "pack"\nname = "house"\nform = "harness"\n'
    '[[section]]\npath = "framing.md"\nplane = "foundation"\n',
    "house/framing.md": "Be civil.\n",
}
FILES = {"guardrails": "Ask first.\n", "systemprompt": "You mend ships.\n"}
EDITS = {
    "a rule at the end": {"systemprompt": "You mend ships.\nNever at night.\n"},
    "the middle": {"guardrails": "Ask twice.\n"},
    "nothing of it": {},
}
TOOLS: Value = [{"name": "read", "description": "Reads.", "input_schema": {"type": "object"}}]


class Sent(NamedTuple):
    """Whom a tree's requests are sent to."""

    shape: str
    model: str
    markers: str = ""
    tools: Value = None

    def __str__(self) -> str:
        return self.model + "-marks" * bool(self.markers)


SENT = [
    Sent("anthropic.messages", "claude-opus-5"),
    Sent("anthropic.messages", "claude-opus-5", MARKERS, TOOLS),
    Sent("openai.chat", "gpt-5"),
    Sent("openai.responses", "gpt-5.6-luna", "", TOOLS),
    Sent("openai.chat", "deepseek/deepseek-v4-pro"),
    Sent("openai.chat", "minimax/MiniMax-M3", "", TOOLS),
]


@dataclass
class Here:
    """Where commands are given."""

    repo: Repository
    directory: str


class Tree:
    """A tree of three planes whose versions are adopted and pinned."""

    def __init__(self, workspace: Workspace, sent: Sent) -> None:
        self.workspace, self.sent = workspace, sent
        workspace.commit({**HOUSE})
        with closing(workspace.open()) as repo:
            supersede.run(repo, "house", "first")
        self.adopt(FILES, "first")

    def adopt(self, files: dict[str, str], reason: str) -> None:
        manifest = HEAD + self.sent.markers
        written = {f"agent/{name}.md": text for name, text in files.items()}
        self.workspace.commit({"agent/pvc.toml": manifest, "agent/x": reason, **written})
        with closing(self.workspace.open()) as repo:
            supersede.run(repo, "agent", reason)

    def pin(self, session: str, version: str, tools: Value = None) -> Answer:
        call = Call()
        call.tree, call.session, call.environment = version, session, {}
        call.provider, call.model = self.sent.shape, self.sent.model
        call.tools = tools or self.sent.tools
        call.check()
        return SessionPinner(find(str(self.workspace.path))).pin([call])[0]


@pytest.mark.parametrize(
    "sent", SENT, ids=lambda sent: f"{sent.model}{'-marks' * bool(sent.markers)}"
)
def test_what_is_predicted_is_what_miss_says_to_the_byte(workspace: Workspace, sent: Sent) -> None:
    tree = Tree(workspace, sent)
    assert tree.pin("s1", "agent@1").status == "pinned"
    for number, (said, edit) in enumerate(EDITS.items(), 2):
        tree.adopt({**FILES, **edit}, said)
        assert tree.pin(f"s{number}", f"agent@{number}").status == "pinned"
    with closing(workspace.open()) as repo:
        here = Here(repo, str(workspace.path))
        log = versions_log.versions_log(repo, "agent", 50).entries
        for number in range(2, 2 + len(EDITS)):
            found = miss.run(here, "session:s1", f"session:s{number}", miss.MissOptions()).miss
            lost = found.scope_bytes - found.reusable_bytes
            between = diff.diff(here, "session:s1", f"session:s{number}", {})
            (cost,) = between.costs
            assert (cost.reuse.scope, cost.reuse.kept) == (found.scope_bytes, found.reusable_bytes)
            options = impact.ImpactOptions(now_us=time.time_ns() // 1000, environment={})
            of_trees = impact.run(repo, "agent@1", f"agent@{number}", options)
            shared = {s: p.lost.size_bytes for p in of_trees.prefixes for s in p.sessions}
            assert shared.get("s1", 0) == lost
            if sent.tools is None:
                assert [c.reuse.lost for c in of_trees.costs] == [lost]
                assert (
                    diff.diff(here, "agent@1", f"agent@{number}", {"sections": []}).lost.size_bytes
                    == lost
                )
        if sent.tools is None:
            (move,) = log[-2].moves or ()
            of_two = miss.run(here, "session:s1", "session:s2", miss.MissOptions()).miss
            assert (move.kept, move.lost) == (
                of_two.reusable_bytes,
                of_two.scope_bytes - of_two.reusable_bytes,
            )


@pytest.mark.parametrize(
    "sent", SENT, ids=lambda sent: f"{sent.model}{'-marks' * bool(sent.markers)}"
)
def test_a_refusal_says_what_miss_says(workspace: Workspace, sent: Sent) -> None:
    tree = Tree(workspace, sent)
    tree.pin("s1", "agent@1", TOOLS)
    other: Value = [{"name": "write", "description": "Writes.", "input_schema": {}}]
    refused = tree.pin("s1", "agent", other)
    assert refused.status == "refused"
    tree.pin("s2", "agent@1", other)
    with closing(workspace.open()) as repo:
        here = Here(repo, str(workspace.path))
        found = miss.run(here, "session:s1", "session:s2", miss.MissOptions()).miss
    assert refused.divergence
    told = json.loads(refused.as_json())["first_divergence"]
    assert told["lost_bytes"] == found.scope_bytes - found.reusable_bytes
    assert [row["scope_bytes"] for row in told["costs"]] == [found.scope_bytes]


def test_a_rule_at_the_end_is_not_free_in_the_gate_that_miss_contradicts(
    workspace: Workspace,
) -> None:
    """The commonest edit: nothing marked in front of it, so all of it is written again."""
    tree = Tree(workspace, Sent("anthropic.messages", "claude-opus-5"))
    tree.pin("s1", "agent@1")
    tree.adopt({**FILES, **EDITS["a rule at the end"]}, "a rule")
    with closing(workspace.open()) as repo:
        options = impact.ImpactOptions(now_us=time.time_ns() // 1000)
        found = impact.run(repo, "agent@1", "agent@2", options)
    assert (found.hit, found.unaffected) == (1, 0)
    assert found.lost.size_bytes > 0


def test_whom_requests_are_sent_to_is_said_once_for_older_versions_too(
    workspace: Workspace,
) -> None:
    tree = Tree(workspace, Sent("", ""))
    tree.pin("s1", "agent@1")
    tree.sent = Sent("", "", '[provider]\nshape = "openai-chat"\nmodel = "gpt-5"\n')
    tree.adopt({**FILES, **EDITS["a rule at the end"]}, "a rule")
    tree.pin("s2", "agent@2")
    with closing(workspace.open()) as repo:
        here = Here(repo, str(workspace.path))
        for words in (("agent@1", "agent@2"), ("session:s1", "session:s2")):
            (cost,) = diff.diff(here, *words, {"sections": []}).costs
            assert (cost.label, cost.asked.model) == ("OpenAI, by prefix", "gpt-5")
            assert cost.in_words().endswith("; fewer than the 1024 tokens cached at least")
        found = miss.run(here, "session:s1", "session:s2", miss.MissOptions()).miss
        assert found.scope_bytes - found.reusable_bytes == cost.reuse.lost


def test_a_pin_that_does_not_say_its_shape_has_that_of_the_other(workspace: Workspace) -> None:
    tree = Tree(workspace, Sent("", ""))
    tree.pin("s1", "agent@1")
    tree.sent = Sent("openai.responses", "gpt-5")
    tree.pin("s2", "agent@1")
    with closing(workspace.open()) as repo:
        here = Here(repo, str(workspace.path))
        for pair in (("session:s1", "session:s2"), ("session:s2", "session:s1")):
            found = miss.run(here, *pair, miss.MissOptions()).miss
            assert found.scope_bytes > 0


def test_places_in_the_prompt_and_in_the_stream_are_one_another() -> None:
    system = [{"type": "text", "text": text} for text in ("one", "two and more")]
    body = read(json.dumps({"system": system, "messages": []}).encode(), "anthropic.messages")
    assert [prompt_bytes(body, stream_bytes(body, at)) for at in range(15)] == [*range(15)]
    assert stream_bytes(body, 3) == len(b"text\0one\0text\0")
