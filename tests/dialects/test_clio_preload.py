from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects import clio_trees as trees
from dialects.clio_trees import is_traced, sections, tree
from dialects.generated import TEXTS
from pvc.dialects.base import read_pack
from pvc.dialects.clio_preload import (
    Handbook,
    Limits,
    Project,
    physical_lines,
    safe_prefix_offsets,
    select,
)
from pvc.errors import RefusedError, UsageError
from pvc.model.javascript import length, trim, units
from pvc.model.span import FromBinding, FromSource
from pvc.ops.clio_project import render

LINES = st.sampled_from(
    ["a\n", "\n", "```\n", "~~~\n", "````\n", "- x ```\n", "😀 b\r\n", "\u3000\n"]
)
BOOKS = st.lists(LINES, max_size=12).map("".join)


@given(BOOKS, st.integers(0, 40))
def test_an_excerpt_ends_between_blocks(source: str, limit: int) -> None:
    offsets = safe_prefix_offsets(source, limit)
    assert offsets == sorted(set(offsets))
    assert offsets[0] == 0
    assert all(offset <= limit for offset in offsets[1:])
    for offset in offsets[1:]:
        prefix = units(source)[: offset * 2].decode("utf-16-be")
        assert source.startswith(prefix)
        assert prefix == source or not trim(prefix.split("\n")[-2])
    assert offsets == [at for at in safe_prefix_offsets(source, 10**6) if at <= limit]


@given(st.lists(BOOKS, max_size=3), st.lists(TEXTS, max_size=2), st.integers(450, 900))
def test_a_selection_fits_and_says_what_it_holds(
    books: list[str], support: list[str], chars: int
) -> None:
    handbooks = tuple(Handbook(f"/{i}", source) for i, source in enumerate(books))
    project = Project("".join(books) * 40, handbooks, tuple(support), "N", "R")
    limits = Limits(chars, 60)
    preload = select(project, limits, tools=None)
    assert limits.hold(preload.text)
    for source, book in zip(preload.sources, handbooks, strict=True):
        assert source.available_lines == physical_lines(book.source)
        assert source.complete == (source.included_chars == length(book.source))
        if preload.mode == "partial":
            assert source.included_chars in safe_prefix_offsets(book.source, chars)


def test_not_even_the_notice_fits() -> None:
    with pytest.raises(RefusedError, match="1 handbooks does not fit into 10 UTF-16 units"):
        select(Project("x" * 20, (Handbook("/a", "x"),)), Limits(10), tools=True)


# --- rendered -------------------------------------------------------------------------------

BOOK = "first block\n\n" + "second block, longer\n" * 30


def environment(**project: Any) -> dict[str, Any]:
    given = {
        "text": BOOK,
        "handbookSources": [{"path": "/w/<a>.md", "source": BOOK}],
        "supportFragments": ["<s>1</s>"],
    }
    return {"session": {"providerSupportsTools": True, "project": given | project}}


def test_a_selection_is_rendered_with_its_origins() -> None:
    sources = tree()
    rendered = render(read_pack(sources), environment(maxChars=560))
    assert is_traced(rendered, sources)
    text = sections(rendered)["project-context"]
    assert text.startswith("# Project\n\n<project-preload>\n")
    assert text.endswith(
        '<project-context path="/w/&lt;a&gt;.md">\nfirst block\n\n\n</project-context>\n\n<s>1</s>'
    )
    of_project = {
        span.origin.pointer: rendered.data[span.start : span.end]
        for span in rendered.spans
        if isinstance(span.origin, FromBinding) and span.origin.name == "project"
    }
    assert of_project == {
        "/session/project/handbookSources/0/source": b"first block\n\n",
        "/session/project/supportFragments/0": b"<s>1</s>",
    }
    words = {s.origin.name for s in rendered.spans if isinstance(s.origin, FromSource)}
    assert {"words.preload-notice", "words.preload-read"} <= words


def test_what_fits_is_rendered_as_it_stands() -> None:
    rendered = render(read_pack(tree()), environment(text="  all of it  "))
    assert sections(rendered)["project-context"] == "# Project\n\nall of it"
    (span,) = [s for s in rendered.spans if isinstance(s.origin, FromBinding)]
    assert span.origin == FromBinding("project", "/session/project/text", 2, "", 0)


def test_context_is_given_once() -> None:
    given = environment()
    given["session"]["contextFiles"] = "too"
    with pytest.raises(UsageError, match="both given"):
        render(read_pack(tree()), given)


@given(trees.SESSIONS, st.integers(450, 2000))
def test_every_byte_of_a_selection_has_its_origin(session: dict[str, Any], chars: int) -> None:
    sources = tree()
    session = session | environment(maxChars=chars)["session"] | {"contextFiles": ""}
    assert is_traced(render(read_pack(sources), {"session": session}), sources)
