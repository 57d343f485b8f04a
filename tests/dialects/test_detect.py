from __future__ import annotations

from importlib.util import find_spec

import pytest

from pvc.cli.options import FORMS
from pvc.dialects.detect import detect
from pvc.dialects.manifest import STANDS_ON
from pvc.model.manifest import Form
from pvc.model.source import Source, Sources
from pvc.packs import builtin_packs

FRAGMENT = b"---\nid: identity.clio\nversion: 1\ndescription: Who.\n---\nYou are Clio.\n"
SKILL = b"---\nname: tidy\ndescription: Tidies.\n---\nTidy.\n"


@pytest.mark.parametrize(
    ("files", "form"),
    [
        ({}, "loom"),
        ({"notes.txt": b"x"}, "loom"),
        ({"a.md": b"x", "pack.loom": b""}, "loom"),
        ({"a.md": b"x"}, "plain"),
        ({"identity/clio.md": FRAGMENT}, "clio"),
        ({"README.md": b"x", "identity/clio.md": FRAGMENT}, "clio"),
        ({"identity/clio.md": FRAGMENT.replace(b"\n", b"\r\n")}, "clio"),
        ({"identity/clio.txt": FRAGMENT}, "loom"),
        ({"skills/tidy/SKILL.md": SKILL}, "plain"),
        ({"a.md": b"---\nid: a.b\nid: a.b\n---\n"}, "plain"),
        ({"systemprompt.md": b"x"}, "harness"),
        ({"memory.md": b"x"}, "plain"),
        ({"memory.md": b"x", "guardrails.md": b"x"}, "harness"),
        ({"deep/systemprompt.md": b"x"}, "plain"),
        ({"SYSTEM.md": b"x"}, "panto"),
        ({"layers/user/SYSTEM.md": b""}, "panto"),
        ({"layers/other/SYSTEM.md": b""}, "plain"),
        ({"identity.md": b"x", "AGENTS.md": b"x"}, "raku"),
        ({"identity.md": b"x"}, "plain"),
    ],
)
def test_a_form_is_told_by_what_only_it_has(files: dict[str, bytes], form: str) -> None:
    sources = Sources.of(Source(path, data) for path, data in files.items())
    assert detect(sources) == form


def test_the_command_line_offers_the_forms_that_have_a_dialect() -> None:
    there = [form for form in Form if find_spec(f"pvc.dialects.{form}")]
    assert sorted(FORMS.choices) == sorted(there)


def test_what_a_form_stands_on_is_in_the_wheel() -> None:
    assert {*STANDS_ON.values()} <= {str(pack.name) for pack in builtin_packs()}
