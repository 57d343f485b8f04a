from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from dialects.harness_trees import (
    FILES,
    MANIFEST,
    PACK_FOLDER,
    SECTIONS,
    found,
    named,
    pack_files,
    render,
    tree,
)
from pvc.core import program
from pvc.core.compile import compile_pack
from pvc.core.json_text import parse
from pvc.dialects.base import read_pack
from pvc.dialects.harness_files import SECTION_ORDER
from pvc.errors import DecodeError, UsageError
from pvc.model.pack import Merge
from pvc.model.span import FromBinding, FromSource, Glue, Plane

ALL_FOUR: dict[str, str | bytes] = {
    "systemprompt.md": "c1\n",
    "guardrails.md": "c2\n",
    "memory.md": "c3\n",
    "tool_guidance.md": "c4\n",
}


# --- properties -----------------------------------------------------------------------------


@given(FILES, SECTIONS)
def test_every_byte_is_of_the_file_or_value_that_its_span_names(
    files: dict[str, str | bytes], sections: list[dict[str, Any]]
) -> None:
    sources = tree(files, on_pack=True)
    rendered = render(sources, *sections)  # building it holds that the spans tile the bytes
    for span in rendered.spans:
        match span.origin:
            case FromSource(path, _, offset):
                source = sources.get(path)
                assert source is not None
                whole = source.data
            case FromBinding(name, pointer, offset):
                section = sections[int(pointer.split("/")[2])]
                assert section["id"] == name == span.section
                whole = section["text"].encode()
            case other:
                assert other == Glue("joint")
                assert rendered.data[span.start : span.end] == b"\n\n"
                continue
        assert rendered.data[span.start : span.end] == whole[offset : offset + len(span)]


@given(FILES, SECTIONS)
def test_sections_stand_in_ascending_order_then_by_id(
    files: dict[str, str | bytes], sections: list[dict[str, Any]]
) -> None:
    given_orders = {s["id"]: s["order"] for s in sections if "order" in s}
    orders = SECTION_ORDER | given_orders
    names = named(render(tree(files, on_pack=True), *sections))
    keys = [(orders[name] is None, orders[name] or 0, name) for name in names]
    assert keys == sorted(keys)
    assert not {s["id"] for s in sections if s.get("dynamic")} & {*names}
    assert not {"references", "wiki"} & {*names}


@given(FILES, SECTIONS)
def test_the_order_of_the_records_does_not_matter(
    files: dict[str, str | bytes], sections: list[dict[str, Any]]
) -> None:
    sources = tree(files)
    assert render(sources, *sections).data == render(sources, *reversed(sections)).data


@given(FILES, SECTIONS)
def test_components_and_dynamic_sections_cost_no_byte(
    files: dict[str, str | bytes], sections: list[dict[str, Any]]
) -> None:
    lean: dict[str, str | bytes] = {path: text for path, text in files.items() if "/" not in path}
    lean |= {path: text for path, text in files.items() if path.endswith("MANIFEST.md")}
    kept = [s for s in sections if not s.get("dynamic") and s["id"] not in ("references", "wiki")]
    assert render(tree(files), *sections).data == render(tree(lean), *kept).data


@given(FILES)
def test_a_compiled_tree_survives_being_stored(files: dict[str, str | bytes]) -> None:
    compiled = compile_pack(read_pack(tree(files, on_pack=True)))
    assert program.load(program.dump(compiled)) == compiled


# --- the prompt -----------------------------------------------------------------------------


def test_the_slots_of_the_document_stand_in_their_order() -> None:
    files = ALL_FOUR | {"sub_agents/MANIFEST.md": "c5\n", "scripts/MANIFEST.md": "c7\n"}
    rendered = render(tree(files, on_pack=True), {"id": "identity", "text": "id"})
    assert named(rendered) == [
        "framing",
        "identity",
        "systemprompt",
        "guardrails",
        "memory",
        "subagents",
        "scripts",
        "tool_guidance",
        "tool_manifest",
        "context_updates",
    ]


def test_one_blank_line_joins_whatever_line_ends_the_files_have() -> None:
    files: dict[str, str | bytes] = {
        "systemprompt.md": "\r\na  \n\n\n",
        "memory.md": "\n b",
        "guardrails.md": "\n\n",
    }
    assert render(tree(files)).data == b"\r\na  \n\n b"


def test_text_is_never_templated() -> None:
    rendered = render(tree({"memory.md": "{a} {{b}}"}), {"id": "role", "text": "{memory}"})
    assert rendered.data == b"{memory}\n\n{a} {{b}}"


def test_a_change_of_plane_ends_a_block() -> None:
    rendered = render(tree(ALL_FOUR, on_pack=True), {"id": "app.x", "order": 30, "text": "X"})
    starts = (0, *rendered.block_ends[:-1])
    blocks = [rendered.data[a:b] for a, b in zip(starts, rendered.block_ends, strict=True)]
    framing, tools = (pack_files()[PACK_FOLDER + f"{n}.md"] for n in ("framing", "tool_manifest"))
    assert blocks[0] == framing.rstrip(b"\n")
    assert blocks[1:4] == [b"\n\nc1", b"\n\nX", b"\n\nc2\n\nc3\n\nc4"]
    assert blocks[4].startswith(b"\n\n" + tools.rstrip(b"\n"))
    assert len(blocks) == 5


def test_a_tree_of_no_sections_renders_nothing() -> None:
    rendered = render(tree({"skills/a/SKILL.md": "x"}))
    assert (rendered.data, rendered.block_ends) == (b"", (0,))


def test_a_section_of_the_tree_takes_the_place_of_the_packs_own() -> None:
    files = {
        ".pvc/packs/house/pvc.toml": MANIFEST.replace("agent", "house") + 'kind = "pack"\n',
        ".pvc/packs/house/guardrails.md": "house",
        ".pvc/packs/house/memory.md": "house",
    }
    sources = tree({**files, "guardrails.md": "own"}, "packs = {house = 1}\n")
    assert render(sources).data == b"own\n\nhouse"
    assert {part.plane for part in read_pack(sources).sections} == {Plane.SURFACE}


def test_a_file_becomes_a_section_by_its_order() -> None:
    row = '[[section]]\npath = "notes/house.md"\norder = 41\n'
    sources = tree(ALL_FOUR | {"notes/house.md": "H"}, row)
    assert named(render(sources))[:3] == ["systemprompt", "guardrails", "house"]


def test_a_scoped_file_takes_the_place_of_its_global_one() -> None:
    row = '[[section]]\npath = "review/guardrails.md"\norder = 44\nscope = "review"\n'
    sources = tree({"guardrails.md": "all", "review/guardrails.md": "review"}, row)
    part = read_pack(sources).section("guardrails")
    assert part is not None
    assert (part.template, part.order) == (b"review", 44)


# --- sections of a launch -------------------------------------------------------------------


def test_a_scoped_section_takes_the_place_and_the_number() -> None:
    own = {"id": "systemprompt", "order": 41, "text": "other", "scope": "session"}
    assert render(tree(ALL_FOUR), own).data == b"c2\n\nother\n\nc3\n\nc4\n"


def test_a_complete_section_stands_alone() -> None:
    whole = {"id": "whole", "order": 50, "text": "all of it", "complete": True}
    clock = {"id": "app.clock", "order": 51, "text": "now", "dynamic": True}
    assert render(tree(ALL_FOUR, on_pack=True), whole, clock).data == b"all of it"


def test_a_number_of_json_is_an_order() -> None:
    environment = parse('{"sections": [{"id": "a", "order": -3, "text": "A"}]}')
    compiled = compile_pack(read_pack(tree(ALL_FOUR)))
    assert program.run(compiled, environment)[0].startswith(b"A\n\nc1")


@pytest.mark.parametrize(
    ("sections", "at", "message"),
    [
        ([{"id": "memory", "text": ""}], "/sections/0/id", "is there twice"),
        (
            [{"id": "a", "order": 1, "text": ""}, {"id": "a", "order": 2, "text": ""}],
            "/sections/1/id",
            "is there twice",
        ),
        (
            [{"id": "a", "order": 1, "text": "", "scope": s} for s in ("x", "y")],
            "/sections/1/id",
            "is there twice",
        ),
        ([{"id": "", "order": 1, "text": ""}], "/sections/0/id", "has an id"),
        ([{"id": "a", "text": ""}], "/sections/0/order", "has no order"),
        ([{"id": "a", "order": 1}], "/sections/0/text", "has no `text`"),
        ([{"id": "a", "order": "1", "text": ""}], "/sections/0/order", "whole number"),
        ([{"id": "a", "order": 1.5, "text": ""}], "/sections/0/order", "whole number"),
        ([{"id": "a", "order": True, "text": ""}], "/sections/0/order", "whole number"),
        ([{"id": "a", "order": 1, "text": "", "dynamic": 1}], "/sections/0/dynamic", "true or fal"),
        ([{"id": "a", "order": 1, "text": "", "tex": ""}], "/sections/0/tex", "unknown key"),
        ([{"id": "a", "order": 1, "text": 7}], "/sections/0/text", "takes text"),
        (["a"], "/sections/0", "JSON object"),
        ({"id": "a"}, "/sections", "a list of objects"),
        (
            [{"id": "wiki", "text": "", "complete": True}],
            "/sections/0/complete",
            "dynamic and complete",
        ),
        (
            [{"id": "framing", "text": "", "scope": "x"}],
            "/sections/0/id",
            "is foundation text",
        ),
        (
            [{"id": "memory", "text": "", "scope": "x", "dynamic": True}],
            "/sections/0/dynamic",
            "cannot become dynamic",
        ),
        (
            [{"id": i, "order": 1, "text": "", "complete": True} for i in "ab"],
            "",
            "`a` and `b` are both complete",
        ),
    ],
)
def test_a_record_that_does_not_fit_is_refused_with_its_pointer(
    sections: Any, at: str, message: str
) -> None:
    compiled = compile_pack(read_pack(tree(ALL_FOUR, on_pack=True)))
    with pytest.raises(UsageError, match=message) as caught:
        program.run(compiled, {"sections": sections})
    assert caught.value.at == at


# --- trees that cannot be read --------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "more", "message"),
    [
        ({"memory.md": b"a\n\xff"}, "", "not UTF-8"),
        (
            {"guardrails.md": "", "x/guardrails.md": ""},
            '[[section]]\npath = "x/guardrails.md"\n',
            "stands in `guardrails.md` too",
        ),
        ({"x.md": ""}, '[[section]]\npath = "x.md"\n', "has no order"),
        ({"memory.md": ""}, 'dynamic = ["memory"]\n', "cannot be dynamic"),
        ({"memory.md": ""}, '[[section]]\npath="memory.md"\nplane="dynamic"\n', "be dynamic"),
        (
            {"a.md": "", "b.md": ""},
            "".join(f'[[section]]\npath="{n}.md"\norder=1\ncomplete=true\n' for n in "ab"),
            "is complete, and so is",
        ),
    ],
)
def test_a_tree_that_contradicts_itself_is_refused(
    files: dict[str, str | bytes], more: str, message: str
) -> None:
    with pytest.raises((DecodeError, UsageError), match=message):
        read_pack(tree(files, more))


def test_foundation_text_stands_in_one_pack() -> None:
    files = {
        path.replace("builtin-harness", "zed"): data.replace(b"builtin-harness", b"zed")
        for path, data in pack_files().items()
    }
    manifest = MANIFEST + "packs = {builtin-harness = 1, zed = 1}\n"
    with pytest.raises(DecodeError, match=r"foundation text of `\S*builtin-harness/"):
        read_pack(tree({**files, **pack_files(), "pvc.toml": ""}, manifest.removeprefix(MANIFEST)))


# --- dynamic sections and components --------------------------------------------------------


def test_the_dynamic_list_holds_the_two_that_always_are_and_the_flagged() -> None:
    more = 'dynamic = ["clock"]\n[[section]]\npath = "work.md"\norder = 1\nplane = "dynamic"\n'
    pack = read_pack(tree({"work.md": "w"}, more))
    assert isinstance(pack.layout.merge, Merge)
    assert pack.layout.merge.dynamic == ("clock", "references", "wiki", "work")


def test_a_version_knows_its_components() -> None:
    files: dict[str, str | bytes] = {"skills/a/SKILL.md": "s", "skills/a/logo.png": b"\x89\xff"}
    names = [part.name for part in read_pack(tree(files)).sections if part.fragment]
    assert names == ["skills/a/SKILL.md", "skills/a/logo.png"]


@pytest.mark.parametrize(
    "more",
    [
        '[[section]]\npath = "framing.md"\n',
        '[[section]]\npath = "framing.md"\nplane = "foundation"\n',
    ],
)
def test_a_file_that_reaches_for_foundation_text_is_corrupting_and_not_sent(more: str) -> None:
    sources = tree({"framing.md": "obey"}, more, on_pack=True)
    assert render(sources).data == render(tree({}, on_pack=True)).data
    assert [f.code for f in found(sources)] == ["foundation-touched"]
