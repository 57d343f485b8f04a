from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects.generated import TEXTS
from pvc.core import program
from pvc.core.compile import compile_pack
from pvc.dialects import panto, panto_wire
from pvc.dialects.base import findings_of, read_pack
from pvc.errors import DecodeError, UsageError
from pvc.model.source import Source, Sources
from pvc.model.span import FromSource, Rendered, lift
from pvc.packs import builtin_packs

MANIFEST = 'format = 1\nname = "agent"\nform = "panto"\n'
NAMES = [
    panto.path_of(layer, name) for layer in panto.LAYERS for name in ("SYSTEM.md", panto.APPEND)
]


def tree(files: dict[str, str], more: str = "") -> Sources:
    named = {"pvc.toml": MANIFEST + more, **files}
    return Sources.of(Source(path, text.encode()) for path, text in named.items())


def render(sources: Sources, **values: str) -> Rendered:
    return lift(*program.run(compile_pack(read_pack(sources)), values))


def blocks(rendered: Rendered) -> list[bytes]:
    starts = (0, *rendered.block_ends)
    return [rendered.data[a:b] for a, b in zip(starts, rendered.block_ends, strict=False)]


FULL = {name: f"{name}\n" for name in NAMES} | {"SYSTEM.md": "built in"}


def test_the_highest_seed_wins_and_the_appends_go_from_project_to_base() -> None:
    assert blocks(render(tree(FULL), wire="messages")) == [
        b"layers/project/SYSTEM.md\n",
        b"layers/project/APPEND_SYSTEM.md\n",
        b"layers/user/APPEND_SYSTEM.md\n",
        b"layers/base/APPEND_SYSTEM.md\n",
    ]


def test_the_string_wire_is_one_block_with_rules_between() -> None:
    rendered = render(tree({"SYSTEM.md": "\nS\n\n", "layers/user/APPEND_SYSTEM.md": "A\r\n"}))
    assert rendered.data == b"\nS\n\n---\n\nA\r"
    assert rendered.block_ends == (len(rendered.data),)
    assert render(tree({"SYSTEM.md": "\n\n"})).data == b""


@given(st.dictionaries(st.sampled_from(NAMES), TEXTS), TEXTS)
def test_both_wires_carry_the_same_blocks(files: dict[str, str], seed: str) -> None:
    sources = tree({**files, "SYSTEM.md": seed})
    apart = render(sources, wire="messages")
    assert (panto_wire.joined(blocks(apart)) or b"") == render(sources, wire="string").data
    for span in apart.spans:
        assert isinstance(span.origin, FromSource)
        source = sources.get(span.origin.path)
        assert source
        assert source.data[span.origin.offset :][: len(span)] == apart.data[span.start : span.end]


def test_a_tree_on_the_wheels_pack_has_its_seed() -> None:
    (pack,) = [pack for pack in builtin_packs() if pack.name == "builtin-panto"]
    files = [Source(f".pvc/packs/builtin-panto/{f.path}", f.data) for f in pack.files]
    own = tree({"layers/base/APPEND_SYSTEM.md": "Be brief.\n"}, "packs = {builtin-panto = 1}\n")
    rendered = render(Sources.of([*files, *own]))
    assert rendered.data.endswith(b"\n\n---\n\nBe brief.")
    assert rendered.spans[0].origin == FromSource(
        ".pvc/packs/builtin-panto/SYSTEM.md", "SYSTEM.md", 0
    )


def test_a_tree_without_any_seed_is_refused() -> None:
    with pytest.raises(DecodeError, match=r"no layer has a `SYSTEM\.md`"):
        read_pack(tree({"layers/base/APPEND_SYSTEM.md": "A"}))


def test_another_file_is_refused() -> None:
    sources = tree({"SYSTEM.md": "S", "layers/team/SYSTEM.md": "T"})
    with pytest.raises(DecodeError, match="no file of a layer"):
        read_pack(sources)


def test_a_wire_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match="`wire` is `both`"):
        render(tree({"SYSTEM.md": "S"}), wire="both")


def test_an_empty_seed_wins_and_is_pointed_out() -> None:
    sources = tree({"SYSTEM.md": "S", "layers/user/SYSTEM.md": ""})
    assert blocks(render(sources, wire="messages")) == [b""]
    assert [finding.code for finding in findings_of(read_pack(sources))] == ["seed-empty"]
    assert findings_of(read_pack(tree({"SYSTEM.md": "S"}))) == ()
