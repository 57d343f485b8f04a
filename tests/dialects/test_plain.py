from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects.generated import TEXTS
from pvc.core import program
from pvc.core.compile import compile_pack
from pvc.dialects.base import findings_of, read_pack
from pvc.errors import DecodeError, UsageError
from pvc.model.source import Source, Sources
from pvc.model.span import FromBinding, FromSource, Plane, Rendered, lift

MANIFEST = 'format = 1\nname = "agent"\nform = "plain"\n'
PACK = 'format = 1\nkind = "pack"\nname = "house"\nform = "plain"\n'


def tree(files: dict[str, bytes], manifest: str = MANIFEST) -> Sources:
    files = {"pvc.toml": manifest.encode()} | files
    return Sources.of(Source(path, data) for path, data in files.items())


def render(sources: Sources, **values: Any) -> Rendered:
    return lift(*program.run(compile_pack(read_pack(sources)), values))


@given(st.one_of(TEXTS, st.text()))
def test_a_single_file_is_rendered_to_itself(text: str) -> None:
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return
    rendered = render(tree({"AGENTS.md": data}))
    assert rendered.data == data
    assert {type(span.origin) for span in rendered.spans} <= {FromSource}


@given(st.lists(TEXTS, min_size=2, max_size=4))
def test_files_meet_in_one_blank_line_and_keep_their_outer_ends(texts: list[str]) -> None:
    files = {f"{number}.md": text.encode() for number, text in enumerate(texts)}
    held = [text for text in texts if text.strip("\r\n")]
    rendered = render(tree(files)).data.decode()
    if held:
        assert rendered.startswith(held[0].rstrip("\r\n"))
        assert rendered.endswith(held[-1].lstrip("\r\n"))
        assert rendered.strip("\r\n") == "\n\n".join(text.strip("\r\n") for text in held)


def test_files_stand_in_byte_order_of_their_paths() -> None:
    files = {"b.md": b"b", "a/z.md": b"az", "Z.md": b"Z", "a.md": b"a", "é.md": b"e"}
    rendered = render(tree(files))
    assert rendered.data == b"Z\n\na\n\naz\n\nb\n\ne"
    assert [span.section for span in rendered.spans][::2] == [
        "Z.md",
        "a.md",
        "a/z.md",
        "b.md",
        "é.md",
    ]


def test_a_pack_comes_before_the_tree_and_is_foundation() -> None:
    files = {".pvc/packs/house/pvc.toml": PACK.encode(), ".pvc/packs/house/z.md": b"Z\n"}
    sources = tree(files | {"a.md": b"\nA\n"}, MANIFEST + "packs = {house = 2}\n")
    assert render(sources).data == b"Z\n\nA\n"
    planes = [section.plane for section in read_pack(sources).sections]
    assert planes == [Plane.FOUNDATION, Plane.SURFACE]


def test_only_declared_names_are_placeholders() -> None:
    sources = tree({"a.md": b"{cwd} {other} {\xcc\x81cwd}"}, MANIFEST + 'bindings = ["cwd"]\n')
    rendered = render(sources, cwd="/w{cwd}")
    assert rendered.data == b"/w{cwd} {other} {\xcc\x81cwd}"
    assert rendered.spans[0].origin == FromBinding("cwd", "/cwd", 0, "a.md", 0)


def test_a_tree_does_not_change_how_its_pack_is_read() -> None:
    files = {".pvc/packs/house/pvc.toml": PACK.encode(), ".pvc/packs/house/z.md": b"{cwd}"}
    manifest = MANIFEST + 'bindings = ["cwd"]\npacks = {house = 1}\n'
    assert render(tree(files | {"a.md": b"{cwd}"}, manifest), cwd="/w").data == b"{cwd}\n\n/w"


@pytest.mark.parametrize(
    ("values", "message"),
    [({}, "no `cwd`"), ({"cwd": 1}, "takes text"), ({"cwd": "", "x": ""}, "unknown key `x`")],
)
def test_every_declared_name_is_a_required_text(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        render(tree({"a.md": b"{cwd}"}, MANIFEST + 'bindings = ["cwd"]\n'), **values)


def test_a_declared_name_that_nothing_asks_for_is_found() -> None:
    sources = tree({"a.md": b"{cwd}"}, MANIFEST + 'bindings = ["cwd", "day"]\n')
    (finding,) = findings_of(read_pack(sources), sources)
    assert (finding.code, finding.name) == ("binding-unused", "day")


def test_a_file_that_is_no_text_is_refused_with_its_place() -> None:
    with pytest.raises(DecodeError, match="byte 2") as caught:
        read_pack(tree({"a.md": b"a\n\xff"}))
    assert caught.value.at == "a.md:2:1"


def test_a_tree_of_no_files_renders_nothing() -> None:
    assert render(tree({})) == Rendered(b"", (), (0,))
