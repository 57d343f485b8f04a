"""`pvc miss` over captured bodies: owner, price, what the provider says, a user's own facts."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from pvc.errors import NotFoundError, UsageError
from pvc.model.body import Kind, Verdict
from pvc.ops import supersede
from pvc.ops.miss import ADVICE, Missed, MissOptions, run
from pvc.ops.price import SAMPLE_BYTES
from pvc.ops.render import render_version
from pvc.providers.tokens import family_of
from pvc.store.open import open_repository
from pvc.store.versions import find

if TYPE_CHECKING:
    from pathlib import Path

    from pvc.store.repo import Repository
    from workspace import Workspace

MANIFEST = 'format = 1\nname = "agent"\nform = "plain"\nbindings = ["cwd"]\n'
ROLE = "# Role\n\nYou are the agent of a harbour office, and mend its software.\n"
RULES = "# Rules\n\nWork in {cwd}.\nNever force a push to the shared branch.\n"


@dataclass
class Here:
    """A folder in which bodies lie; its repository is opened when asked for."""

    path: Path
    written: list[str] = field(default_factory=list)

    @property
    def directory(self) -> str:
        return str(self.path)

    @cached_property
    def repo(self) -> Repository:
        return open_repository(self.path)

    def body(self, name: str, text: str, model: str = "claude-sonnet-5", **extra: Any) -> str:
        """Write a body with a system text, marked; gives its name."""
        mark = {"type": "ephemeral"}
        block = {"type": "text", "text": text, "cache_control": mark}
        user = {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": mark}]}
        whole = {"model": model, "system": [block], "messages": [user], **extra}
        return self.json(name, whole)

    def json(self, name: str, value: Any) -> str:
        (self.path / name).write_text(json.dumps(value))
        return name

    def miss(self, a: str, b: str, **options: Any) -> Missed:
        return run(self, a, b, MissOptions(**{"relation": "new_session", "seconds": 9, **options}))


@pytest.fixture
def outside(tmp_path: Path) -> Here:
    """A folder outside of any repository."""
    return Here(tmp_path)


LONG = "Look up a sailing before you speak of it, and say which one.\n" * 99


@pytest.fixture
def adopted(workspace: Workspace) -> Here:
    """Two versions of a tree; the second has other words in its role."""
    workspace.commit(
        {"agent/pvc.toml": MANIFEST, "agent/1.md": ROLE, "agent/2.md": RULES}, message="Start"
    )
    supersede.run(workspace.open(), "agent", "First prompt")
    workspace.commit({"agent/1.md": ROLE.replace("mend", "tend")}, message="Tend it")
    supersede.run(workspace.open(), "agent", "We sold the software")
    return Here(workspace.path)


def text(here: Here, number: int, cwd: str = "/srv") -> str:
    version = find(here.repo, "trees", "agent", number)
    return render_version(here.repo, version, {"cwd": cwd}).rendered.data.decode()


def test_the_owner_of_a_captured_byte_is_the_commit_that_wrote_it(adopted: Here) -> None:
    a, b = (adopted.body(f"{n}.json", text(adopted, n)) for n in (1, 2))
    found = adopted.miss(a, b)
    assert found.owner is not None
    assert found.owner.change == "written"
    assert found.owner.run.version is not None
    assert found.owner.run.version.label == "agent@2"
    assert found.owner.run.source is not None
    assert found.owner.run.source.subject == "Tend it"
    assert found.advice.command == "pvc diff agent@1 agent@2"
    assert any("are agent@1" in note for note in found.notes)


def test_the_owner_of_a_captured_value_is_the_value(adopted: Here) -> None:
    a = adopted.body("a.json", text(adopted, 1, "/srv/one"))
    b = adopted.body("b.json", text(adopted, 1, "/srv/two"))
    found = adopted.miss(a, b)
    assert found.owner is not None
    assert found.owner.to_json()["origin"] == {
        "kind": "binding", "path": "2.md", "blob": None, "offset": 5, "name": "cwd", "rule": None,
        "pointer": "/cwd",
    }  # fmt: skip
    assert found.advice.text.startswith("the value `cwd` differs")


def test_a_text_of_no_tree_is_unversioned_and_the_nearest_is_named(adopted: Here) -> None:
    a = adopted.body("a.json", "Never push before the harbour office opens at nine.")
    b = adopted.body("b.json", "Never push before the harbour office opens at ten.")
    found = adopted.miss(a, b)
    assert found.owner is not None
    assert found.owner.to_json()["origin"]["kind"] == "unversioned"  # type: ignore[index]  # a dict
    assert "the nearest: agent" in " ".join(found.notes)


def test_a_tree_that_is_asked_for_must_be_here(outside: Here, adopted: Here) -> None:
    a, b = adopted.body("a.json", "one text"), adopted.body("b.json", "two texts")
    with pytest.raises(NotFoundError, match="no tree `agnet`"):
        adopted.miss(a, b, tree="agnet")
    a, b = outside.body("a.json", "one text"), outside.body("b.json", "two texts")
    assert outside.miss(a, b).owner is not None


def test_a_price_is_asked_from_git_by_the_models_name(adopted: Here, workspace: Workspace) -> None:
    a, b = adopted.body("a.json", LONG), adopted.body("b.json", "x" + LONG)
    assert adopted.miss(a, b).lost.money is None
    workspace.git("config", "pvc.price.claude-sonnet", "3.00 EUR")
    lost = Here(adopted.path).miss(a, b).lost
    assert lost.cost is not None
    assert lost.money == f"{lost.cost * 3 / 1e6:.4f} EUR"
    workspace.git("config", "pvc.price.claude-sonnet-5", "cheap")
    with pytest.raises(UsageError, match="no price"):
        Here(adopted.path).miss(a, b)


def test_tokens_are_scaled_to_the_reported_usage(outside: Here) -> None:
    a, b = outside.body("a.json", LONG), outside.body("b.json", "x" + LONG)
    plain = outside.miss(a, b).lost
    usage = {"input_tokens": 4000, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    response = outside.json("r.json", {"usage": usage})
    scaled = outside.miss(a, b, response_file=response).lost
    assert abs(scaled.tokens - 4000) < 100
    assert scaled.tokens_high - scaled.tokens_low < plain.tokens_high - plain.tokens_low


def said(outside: Here, change: str, response: Any, **more: Any) -> Missed:
    """Compare a body with one that has `change` put in front of its text."""
    a, b = outside.body("a.json", LONG), outside.body("b.json", change + LONG, **more)
    context = outside.json("c.json", {"same_account": True})
    given = outside.json("r.json", response)
    return outside.miss(a, b, response_file=given, context_file=context)


def test_a_diagnosed_miss_overrules_a_predicted_hit(outside: Here) -> None:
    found = said(outside, "", {"diagnostics": {"cache_miss_reason": {"type": "system_changed"}}})
    assert (found.miss.verdict, found.miss.kind) == (Verdict.MISS, Kind.PROVIDER_SIDE)
    assert "nothing differs in these bodies; are they what was sent?" in found.notes[-1]


def test_a_diagnosed_hit_overrules_and_the_difference_is_said(outside: Here) -> None:
    found = said(outside, "x", {"prompt_cache_diagnostics": {"type": "cache_hit"}})
    assert found.miss.verdict is Verdict.HIT
    assert "but the bodies differ at byte 5" in found.notes[-1]


def test_another_level_than_the_providers_is_said(outside: Here) -> None:
    reason = {"diagnostics": {"cache_miss_reason": {"type": "tools_changed"}}}
    found = said(outside, "x", reason)
    assert found.miss.verdict is Verdict.MISS
    assert found.notes[-1].endswith("but the first difference lies in system")
    assert not said(
        outside, "x", {"diagnostics": {"cache_miss_reason": {"type": "system_changed"}}}
    ).notes


def test_reads_where_the_rules_allow_none_are_said(outside: Here) -> None:
    usage = {"input_tokens": 3, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 7}
    assert "50 tokens were read back" in said(outside, "x", {"usage": usage}).notes[-1]


def test_a_users_facts_decide(outside: Here) -> None:
    a, b = outside.body("a.json", LONG), outside.body("b.json", LONG)
    context = outside.json("c.json", {"same_account": True})
    late: dict[str, Any] = {"seconds": 400, "context_file": context}
    assert outside.miss(a, b, **late).miss.kind is Kind.TTL_EXPIRED
    (outside.path / "facts.toml").write_text('[lifetime_seconds]\n"5m" = 600\n')
    assert outside.miss(a, b, **late, facts_file="facts.toml").miss.verdict is Verdict.HIT


def test_every_kind_has_advice() -> None:
    assert set(ADVICE) == {str(kind) for kind in Kind}


def test_tokens_are_counted_where_the_tokenizer_is_installed(outside: Here) -> None:
    pytest.importorskip("splintr", reason="the optional tokenizer is not installed")
    a = outside.json("a.json", {"model": "gpt-5.5", "instructions": LONG, "input": "hi"})
    b = outside.json("b.json", {"model": "gpt-5.5", "instructions": "x" + LONG, "input": "hi"})
    lost = outside.miss(a, b).lost
    assert lost.tokens_low == lost.tokens == lost.tokens_high
    assert lost.how == "counted with o200k_base"


def test_of_a_long_text_a_sample_tells_the_tokens(outside: Here) -> None:
    words = [LONG, "def sail(route: str) -> list[int]:\n    return []\n" * 80]
    long = "".join(words[i % 2] for i in range(90))
    a, b = outside.body("a.json", long), outside.body("b.json", "x" + long)
    lost = outside.miss(a, b).lost
    assert lost.size_bytes > 4 * SAMPLE_BYTES
    whole = family_of("claude-sonnet-5").estimate(long)
    assert abs(lost.tokens - whole.estimate) < 0.05 * whole.estimate
    assert lost.tokens_low < whole.estimate < lost.tokens_high
