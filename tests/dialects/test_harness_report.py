from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dialects.harness_trees import PACK_FOLDER, found, pack_files, tree
from pvc.dialects.base import findings_of, read_pack
from pvc.model.finding import Severity
from pvc.model.source import Source, Sources

if TYPE_CHECKING:
    from pvc.model.finding import Finding

SKILL = (
    '---\nname: tidy\ntrigger: "WHEN messy USE tidy"\n---\nSee scripts/sweep.sh and scripts/x.\n'
)
CORRUPTING, SHAPING = Severity.CORRUPTING, Severity.SHAPING


def rows(findings: list[Finding]) -> list[tuple[str, Severity, str]]:
    return [(finding.code, finding.severity, finding.at) for finding in findings]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"systemprompt.md": "fine { } }}"}, []),
        (
            {"guardrails.md": "a\nö {{x}}"},
            [("template-brace", CORRUPTING, "guardrails.md:2:4")],
        ),
        ({"skills/a/SKILL.md": "{{x}}"}, []),
        (
            {"systemprompt.md": "x" * 24_000, "memory.md": "y"},
            [("always-on-too-long", CORRUPTING, "systemprompt.md")],
        ),
        ({"systemprompt.md": "x" * 24_000, "skills/a/SKILL.md": "x" * 24_000}, []),
        (
            {"memory.md": "run scripts/a.sh.", "scripts/b.sh": ""},
            [("script-missing", CORRUPTING, "memory.md:1:5")],
        ),
        ({"memory.md": "run scripts/a.sh.", "scripts/a.sh": ""}, []),
        (
            {"skills/tidy/SKILL.md": SKILL, "skills/tidy/scripts/sweep.sh": "", "scripts/y": ""},
            [("script-missing", SHAPING, "skills/tidy/SKILL.md:5:26")],
        ),
        (
            {"guardrails.md": "a\nuse tidy", "skills/tidy/SKILL.md": "x"},
            [("trigger-missing", CORRUPTING, "guardrails.md:2:5")],
        ),
        (
            {
                "systemprompt.md": "use tidy",
                "guardrails.md": "WHEN messy USE tidy\n",
                "skills/tidy/SKILL.md": SKILL.replace("scripts/", ""),
            },
            [],
        ),
        (
            {"memory.md": "facts\n1. ran it 2031-02-03\n2. fixed\n"},
            [("memory-procedure", SHAPING, "memory.md:2:1")],
        ),
        ({"README.md": "about"}, [("file-unplaced", SHAPING, "README.md")]),
        ({"plugins/p/run": "x", "sub_agents/a/AGENT.md": "x"}, []),
    ],
)
def test_gates_report_with_severity_and_place(
    files: dict[str, str | bytes], expected: list[tuple[str, Severity, str]]
) -> None:
    assert rows(found(tree(files, on_pack=True))) == expected


def test_a_missing_trigger_says_which_line_to_add() -> None:
    skill = SKILL.partition("See")[0]
    finding, *_ = found(tree({"memory.md": "tidy", "skills/tidy/SKILL.md": skill}))
    assert finding.hint == "add the line `WHEN messy USE tidy`"


def test_the_cap_says_why() -> None:
    finding, *_ = found(tree({"memory.md": "x" * 24_001}))
    assert "24,001 characters of 24,000: every token of it is paid" in finding.message


def test_without_sources_a_finding_names_the_file() -> None:
    pack = read_pack(tree({"guardrails.md": "\n\n{{x}}"}))
    assert [finding.at for finding in findings_of(pack)] == ["guardrails.md"]


def test_the_pack_of_the_wheel_passes_its_own_gates() -> None:
    files = [Source(p.removeprefix(PACK_FOLDER), data) for p, data in pack_files().items()]
    sources = Sources.of([*files, Source("README.md", b"about")])
    assert [finding.code for finding in found(sources)] == ["file-unplaced"]
