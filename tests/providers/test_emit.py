"""What is emitted is read back as the head, and markers obey the provider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects.harness_trees import FILES, SECTIONS, render, tree
from pvc.core.json_text import dump, parse
from pvc.core.planes import block_planes
from pvc.core.stream import SHAPES, as_tools, head
from pvc.dialects.base import read_pack
from pvc.errors import UsageError
from pvc.model.body import Region
from pvc.model.manifest import Marker
from pvc.model.span import Plane
from pvc.providers.base import read
from pvc.providers.emit import BlockMarker, emit, plane_markers

if TYPE_CHECKING:
    from pvc.core.json_text import Value

TOOLS = """[
    {"name": "read", "description": "Read.", "input_schema": {"type": "object", "b": 1, "a": 2.0}},
    {"name": "edit", "description": "Edit.", "input_schema": {"type": "object"}}
]"""


def read_back(body: dict[str, Value], shape: str) -> bytes:
    read_body = read(dump(body).encode(), shape)
    regions = (Region.TOOLS, Region.SYSTEM)
    return b"".join(leaf.data + b"\0" for leaf in read_body.leaves if leaf.region in regions)


def markers_in(body: dict[str, Any]) -> list[Any]:
    return [block.get("cache_control") for block in body["system"]]


@given(FILES, SECTIONS, st.sampled_from(SHAPES), st.booleans())
def test_what_is_emitted_is_read_back_as_the_head(
    files: dict[str, str | bytes],
    sections: list[dict[str, Any]],
    shape: str,
    with_tools: bool,  # noqa: FBT001 - drawn by hypothesis, in the order of its strategies
) -> None:
    blocks = render(tree(files, on_pack=True), *sections).blocks
    tools = as_tools(parse(TOOLS), shape) if with_tools else None
    body = emit(shape, blocks, tools=tools, model="m-1")
    assert read_back(body, shape) == head(tools, blocks, shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_shape_is_told_from_the_body_and_tools_stand_in_front(shape: str) -> None:
    body = emit(shape, [b"one", b"\n\ntwo"], tools=as_tools(parse(TOOLS), shape), model="claude-x")
    assert read(dump(body).encode()).shape == shape
    assert [*body][:2] == ["model", "tools"]


@pytest.mark.parametrize("shape", SHAPES)
def test_an_empty_prompt_is_emitted(shape: str) -> None:
    body = emit(shape, [])
    assert "tools" not in body
    assert read_back(body, shape) == head(None, [], shape) == b""


def test_one_marker_stands_on_the_last_block_where_none_is_named() -> None:
    body = emit(SHAPES[0], [b"a", b"b"])
    assert markers_in(body) == [None, {"type": "ephemeral"}]


def test_markers_stand_behind_their_planes() -> None:
    files: dict[str, str | bytes] = {"systemprompt.md": "c1", "tool_guidance.md": "c4"}
    sources = tree(files, on_pack=True)
    rendered = render(sources, {"id": "identity", "text": "id"})
    planes = block_planes(read_pack(sources), rendered)
    assert [{*held} for held in planes] == [
        {Plane.FOUNDATION},
        {Plane.LAUNCH},
        {Plane.SURFACE},
        {Plane.FOUNDATION},
    ]
    wanted = (Marker(Plane.SURFACE, "1h"), Marker(Plane.FOUNDATION), Marker(Plane.DYNAMIC))
    body = emit(SHAPES[0], rendered.blocks, markers=plane_markers(planes, wanted))
    assert markers_in(body) == [
        None,
        None,
        {"type": "ephemeral", "ttl": "1h"},
        {"type": "ephemeral"},
    ]


def test_two_planes_in_one_block_have_one_marker_of_the_longer_lifetime() -> None:
    both = [{Plane.FOUNDATION, Plane.SURFACE}]
    for ttls in (("5m", "1h"), ("1h", ""), ("1h", "1h")):
        wanted = [Marker(Plane.FOUNDATION, ttls[0]), Marker(Plane.SURFACE, ttls[1])]
        assert plane_markers(both, wanted) == ((0, "1h"),)


def test_markers_are_no_content() -> None:
    blocks = [b"a", b"b"]
    marked = emit(SHAPES[0], blocks, markers=[BlockMarker(0, "1h"), BlockMarker(1, "5m")])
    assert read_back(marked, SHAPES[0]) == read_back(emit(SHAPES[0], blocks), SHAPES[0])


MARKED_TOOL = '[{"name": "a", "input_schema": {}, "cache_control": {"type": "ephemeral"}}]'


@pytest.mark.parametrize(
    ("tools", "markers", "message"),
    [
        (None, [BlockMarker(n) for n in range(5)], "5 cache markers, and a request takes 4"),
        (MARKED_TOOL, [BlockMarker(n) for n in range(4)], "5 cache markers"),
        (None, [BlockMarker(0, "5m"), BlockMarker(1, "1h")], "behind a shorter one: 5m, 1h"),
        (None, [BlockMarker(0), BlockMarker(1, "1h")], "behind a shorter one: 5m, 1h"),
        (MARKED_TOOL, [BlockMarker(1, "1h")], "behind a shorter one: 5m, 1h"),
        (None, [BlockMarker(0, "2h")], "no lifetime `2h`"),
        (None, [BlockMarker(6)], "there are 6 blocks"),
        (None, [BlockMarker(0), BlockMarker(0)], "there are 6 blocks"),
    ],
)
def test_what_the_provider_would_refuse_is_refused(
    tools: str | None, markers: list[BlockMarker], message: str
) -> None:
    given_tools = as_tools(parse(tools), SHAPES[0]) if tools else None
    with pytest.raises(UsageError, match=message):
        emit(SHAPES[0], [b"x"] * 6, tools=given_tools, markers=markers)


def test_an_unknown_shape_is_refused() -> None:
    with pytest.raises(UsageError, match="no request shape `x`"):
        emit("x", [b"a"])
