from __future__ import annotations

import pytest

from pvc.dialects.harness_files import Component, Dimension, component, judge, not_editable
from pvc.model.finding import Severity

EDITABLE = (
    "systemprompt.md",
    "guardrails.md",
    "memory.md",
    "tool_guidance.md",
    "skills/tidy/SKILL.md",
    "sub_agents/reviewer/AGENT.md",
    "scripts/check.sh",
)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("systemprompt.md", "c1"),
        ("guardrails.md", "c2"),
        ("memory.md", "c3"),
        ("tool_guidance.md", "c4"),
        ("sub_agents/x/AGENT.md", "c5"),
        ("skills/x/SKILL.md", "c6"),
        ("scripts/x", "c7"),
        ("plugins/x", "c8"),
        ("skills/", None),
        ("Memory.md", None),
        ("CONTEXT_GUIDANCE", None),
    ],
)
def test_a_path_says_which_component_it_is(path: str, kind: str | None) -> None:
    assert component(path) == kind


def test_the_editable_surface_is_c1_to_c7() -> None:
    assert not_editable(EDITABLE) == ()


@pytest.mark.parametrize(
    "path",
    [
        "CONTEXT_GUIDANCE",
        "framing.md",
        "pvc.toml",
        ".pvc/packs/builtin-harness/framing.md",
        "plugins/x",
        "skills/../pvc.toml",
        "scripts//x",
        "",
    ],
)
def test_anything_else_refuses_the_whole_proposal(path: str) -> None:
    assert not_editable([*EDITABLE, path]) == (path,)


def test_plugins_stand_behind_trust() -> None:
    assert not_editable(["plugins/x"], trusted=True) == ()
    (finding,) = judge({}, {"plugins/x": "y"})
    assert (finding.code, finding.severity) == ("plugin-untrusted", Severity.CORRUPTING)


@pytest.mark.parametrize(
    ("dimension", "edit", "refused"),
    [
        (Dimension.INV, ["systemprompt.md", "tool_guidance.md", "guardrails.md"], []),
        (Dimension.INV, ["skills/a/SKILL.md", "scripts/b"], []),
        (Dimension.INV, ["memory.md", "sub_agents/a/AGENT.md"], ["memory.md", "sub_agents/a/AGE"]),
        (Dimension.DOM, ["memory.md", "skills/a/SKILL.md"], []),
        (Dimension.DOM, ["guardrails.md"], ["guardrails.md"]),
        (Dimension.DOM, ["guardrails.md", "skills/a/SKILL.md"], []),
        (Dimension.DOM, ["systemprompt.md", "scripts/b"], ["systemprompt.md", "scripts/b"]),
        (None, EDITABLE, []),
    ],
)
def test_a_dimension_shapes_its_own_components(
    dimension: Dimension | None, edit: list[str], refused: list[str]
) -> None:
    findings = judge(dict.fromkeys(edit, "x"), dict.fromkeys(edit, "x"), dimension=dimension)
    corrupting = [finding for finding in findings if finding.severity is Severity.CORRUPTING]
    assert [finding.name[:16] for finding in corrupting] == refused


@pytest.mark.parametrize(
    ("edit", "pointed_out"),
    [
        ({"memory.md": "longer"}, True),
        ({"memory.md": "less"}, False),
        ({"memory.md": None}, False),
        ({"memory.md": "longer", "skills/a/SKILL.md": "x"}, False),
        ({"systemprompt.md": "new"}, True),
    ],
)
def test_prose_that_grows_without_a_component_is_pointed_out(
    edit: dict[str, str | None], *, pointed_out: bool
) -> None:
    findings = judge({"memory.md": "short"}, edit)
    assert [f.code for f in findings] == ["prose-before-component"] * pointed_out
    assert all(f.severity is Severity.SHAPING for f in findings)


def test_components_are_named_as_in_the_document() -> None:
    assert [str(kind) for kind in Component] == [f"c{n}" for n in range(1, 9)]
