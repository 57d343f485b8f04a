from __future__ import annotations

from typing import Any

import pytest

from dialects import clio_trees as trees
from dialects.clio_trees import render, sections, tree
from pvc.dialects.clio_worker import GUARDS
from pvc.errors import UsageError
from pvc.model.javascript import trim
from pvc.ops.clio import compile_prompt


def worker(**changes: Any) -> dict[str, Any]:
    return trees.WORKER | changes


def body(word: str) -> str:
    return trim(trees.table(tree()).body(f"words.{word}"))


def test_the_order_of_a_worker_never_changes() -> None:
    given = worker(
        readOnly=True,
        additional=[{"id": "context.project-rules", "body": "Rules."}],
        turnConstraints={"mode": "change"},
    )
    rendered = render(tree(), worker=given)
    assert [*sections(rendered)] == [
        "identity",
        "operating-contract",
        "tool-contract",
        "safety",
        "dispatch.read-only",
        "persona",
        "context.project-rules",
        "turn-scope",
    ]
    contract = sections(rendered)["operating-contract"]
    assert contract == f"Keep the contract.\n\nDo the task.\n\n{body('worker-claim')}"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"persona": {"body": "", "dynamic": True}}, "persona-dynamic"),
        ({"persona": {"body": "\ufeff \n"}}, "persona-empty"),
        ({"hasCanonicalContext": True}, "context-mismatch"),
        ({"toolNames": ["context "]}, "context-mismatch"),
        ({"toolNames": ["context"], "providerSupportsTools": None}, ""),
        (
            {"toolNames": ["context"], "providerSupportsTools": None, "hasCanonicalContext": True},
            "context-mismatch",
        ),
        ({"hasBoundSkills": True}, "skills-without-context"),
        (
            {"toolNames": ["context"], "hasCanonicalContext": True, "hasBoundSkills": True},
            "",
        ),
    ],
)
def test_the_first_guard_that_fails_refuses(changes: dict[str, Any], code: str) -> None:
    messages = dict(GUARDS)
    if not code:
        assert "persona" in sections(render(tree(), worker=worker(**changes)))
        return
    with pytest.raises(UsageError) as raised:
        render(tree(), worker=worker(**changes))
    assert raised.value.message == messages[code].message
    assert raised.value.at == messages[code].pointer


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"providerSupportsTools": False}, "worker-tools-unavailable"),
        ({"providerSupportsTools": None}, "worker-tools-unknown"),
        ({"toolNames": [" "]}, "worker-tools-none"),
    ],
)
def test_the_tool_contract_has_three_cases_besides_the_normal_one(
    changes: dict[str, Any], word: str
) -> None:
    text = sections(render(tree(), worker=worker(**changes)))["tool-contract"]
    assert text.split("\n") == ["# Tool Contract", body("tools-trust"), body(word)]


@pytest.mark.parametrize("mode", ["deny", "fail", "escalate"])
def test_a_permission_has_its_sentence(mode: str) -> None:
    safety = sections(render(tree(), worker=worker(onPermission=mode)))["safety"]
    line, _, rest = safety.partition("\n\n")
    said = f"Autonomy: default. {body('worker-safety')} {body(f'permission-{mode}')}"
    assert (line, rest) == (said, "Be safe.")


def test_a_worker_needs_its_fragments() -> None:
    with pytest.raises(UsageError, match=r"worker identity fragment `identity.clio-coder-worker`"):
        render(tree({"identity.clio-coder-worker": None}), worker=worker())
    with pytest.raises(UsageError, match=r"`dispatch.read-only` is not found"):
        render(tree({"dispatch.read-only": None}), worker=worker(readOnly=True))


def test_the_older_ids_of_a_worker_are_known() -> None:
    older: dict[str, str | bytes | None] = {
        "identity.clio-coder-worker": None,
        "safety.default": None,
        "identity.clio-worker": "An older worker.",
        "safety.auto-edit": "An older level.",
    }
    compiled = compile_prompt(trees.table(tree(older)), {"worker": worker()})
    assert [entry.id for entry in compiled.manifest] == [
        "identity.clio-worker",
        "operating.contract",
        "operating.worker",
        "safety.auto-edit",
        "agent.p",
    ]
    prefix = compiled.prefix.text.encode()
    assert compiled.rendered.data.startswith(prefix)
