from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from pvc.core import program
from pvc.core.compile import compile_pack
from pvc.core.guidance import fence
from pvc.dialects import loom
from pvc.dialects.base import findings_of, read_pack
from pvc.dialects.loom_write import encode
from pvc.model.source import Source, Sources
from pvc.model.span import Rendered, lift
from pvc.packs import BuiltinPack, builtin_packs

if TYPE_CHECKING:
    from pvc.model.pack import Pack

BUDGET_BYTES = 6_000
GUIDANCE, _ = fence(
    [
        ("~/.config/agent/instructions.md", "user-default", b"Answer in English.\n"),
        ("AGENTS.md", "workspace", b"- Run `make check` before you are done.\n" * 20),
    ]
)
TYPICAL: dict[str, Any] = {
    "workspace": "/home/ada/src/orrery",
    "platform": "linux/x86_64",
    "shell": "/bin/bash",
    "tools": ["bash", "edit", "fetch", "grep", "notes", "read", "spawn", "todo", "wait", "write"],
    "available_tools": ["read - show a file", "bash - run a command in the workspace"],
    "enforcement": "PlatformEnforced",
    "network": {"kind": "NetworkProxied", "allow": ["docs.example.org", "*.example.com"]},
    "protected_paths": [".git", "secrets"],
    "repository_guidance": GUIDANCE,
}
# Names of what a kernel enforces with: a map of the holes for whoever writes into a prompt.
LAYERS = ("seccomp", "namespace", "landlock", "cgroup", "bubblewrap", "kernel", "syscall", "chroot")


def default() -> Pack:
    return read_pack(Sources.of(builtin("builtin-loom").files))


def builtin(name: str) -> BuiltinPack:
    return next(pack for pack in builtin_packs() if pack.name == name)


def render(**values: Any) -> Rendered:
    return lift(*program.run(compile_pack(default()), TYPICAL | values))


def section(rendered: Rendered, name: str) -> str:
    found = rendered.section_range(name)
    assert found
    return rendered.data[found[0] : found[1]].decode()


def test_the_wheel_has_its_packs_under_their_own_names() -> None:
    names = [pack.name for pack in builtin_packs()]
    assert names == sorted(names)
    forms = ("clio", "clio-memory", "harness", "loom", "panto", "raku")
    assert {f"builtin-{name}" for name in forms} == {*names}
    for pack in builtin_packs():
        (manifest,) = [source.data for source in pack.files if source.path == "pvc.toml"]
        assert f'name = "{pack.name}"'.encode() in manifest
    loom_files = [source.path for source in builtin("builtin-loom").files]
    assert loom_files == ["default.loom", "pvc.toml"]


def test_the_pack_is_complete_and_in_canonical_order() -> None:
    pack = default()
    assert findings_of(pack) == ()
    names = [section.name for section in pack.sections]
    assert names == [*loom.CANONICAL_SECTIONS, *loom.REQUIRED_FRAGMENTS]
    encoded = encode(pack)
    assert loom.read(Source("default.loom", encoded)).label == pack.label == "builtin-1"


@pytest.mark.parametrize("enforcement", [choice for choice, _ in loom.ENFORCEMENT])
def test_a_typical_prompt_stays_within_the_budget(enforcement: str) -> None:
    assert len(render(enforcement=enforcement).data) <= BUDGET_BYTES


def test_every_host_has_an_enforcement_line_of_its_own() -> None:
    sections = [
        section(render(enforcement=choice, protected_paths=[], network="NetworkOpen"), "sandbox")
        for choice, _ in loom.ENFORCEMENT
    ]
    firsts = {text.split("\n\n")[0] for text in sections}
    assert len(firsts) == len(sections)
    assert all(len(text.split("\n\n")) == 2 for text in sections)


def test_posture_is_told_as_behaviour() -> None:
    words = b" ".join(section.template for section in default().sections).decode().lower()
    assert [layer for layer in LAYERS if layer in words] == []


def test_a_degraded_host_is_a_failure_and_not_a_denial() -> None:
    text = section(render(enforcement="DegradedRefusing"), "sandbox").split("\n\n")[0]
    assert "failure of the host" in text
    assert "not a denial" in text
    assert re.search(r"no permission lifts it.* trying again .*does not help", text)


def test_the_identity_says_that_the_window_ends_and_notes_stay() -> None:
    text = section(render(), "identity")
    assert "context window is finite" in text
    assert "replaced by the notes that you have written" in text
    others = [part.template for part in default().sections if part.name != "identity"]
    assert not [text for text in others if b"window" in text]


def test_guidance_is_framed_with_the_words_of_its_fences() -> None:
    text = section(render(), "repository_guidance")
    frame, _, fenced = text.partition("\n\n<instructions ")
    assert f"<instructions {fenced}" == GUIDANCE
    for word in ("`<instructions>`", "path", "origin", "`workspace`", "`user-default`"):
        assert word in frame
    assert "one such block at most, and it comes first" in frame


@pytest.mark.parametrize(
    ("values", "gone"),
    [
        ({"available_tools": []}, "available_tools"),
        ({"repository_guidance": None}, "repository_guidance"),
        ({"repository_guidance": " \n"}, "repository_guidance"),
    ],
)
def test_a_section_with_nothing_to_say_is_not_there(values: dict[str, Any], gone: str) -> None:
    rendered = render(**values)
    assert rendered.section_range(gone) is None
    assert b"\n\n\n" not in rendered.data


def test_every_fact_of_the_environment_is_told() -> None:
    text = render(network={"kind": "NetworkProxied", "allow": ["only.example.org"]}).data.decode()
    for fact in ("/home/ada/src/orrery", "linux/x86_64", "/bin/bash", "spawn", "only.example.org"):
        assert fact in text
    assert ".git, secrets" in text
