"""A line that is in a file verbatim and once, before and after a commit, is not that commit's."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import FakeHistory
from core.history_oracle import blame_backwards, bytewise
from pvc.core.blame import annotate
from pvc.core.diff import compare
from pvc.core.lines import Rest, put_back, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

SIMILAR = [
    f"{mark}{verb} {thing} {end}"
    for mark in ("- ", "## ", "")
    for verb in ("Write", "Draft")
    for thing in ("tiers with benefits", "a list of perks")
    for end in ("and keep it short.", "so that sponsors come.", "")
]
OTHER = ["", "---", "else:", "  return", "漢字 漢字", "a b", "\tb a"]
LINES = st.lists(st.sampled_from([*SIMILAR, *OTHER]), max_size=14)


def owners(versions: Sequence[bytes], path: str = "a.md") -> list[int]:
    """The version that wrote each byte of the last text."""
    history = FakeHistory.of([{path: version} for version in versions])
    numbers = history.numbers()
    runs = annotate(history).runs(path)
    return [numbers[run.commit] for run in runs for _ in range(run.start, run.end)]


def once(text: bytes) -> set[bytes]:
    """Lines of two words or more that the text has once."""
    counts = Counter(text.split(b"\n"))
    return {line for line, count in counts.items() if count == 1 and len(line.split()) > 2}


@given(old=LINES, new=LINES, ends=st.booleans())
def test_a_line_that_both_texts_have_once_keeps_its_owner(
    old: list[str], new: list[str], *, ends: bool
) -> None:
    before, after = ("\n".join(lines).encode() + b"\n" * ends for lines in (old, new))
    kept = once(before) & once(after)
    written, at = owners([before, after]), 0
    for line in after.split(b"\n"):
        if line in kept:
            assert set(written[at : at + len(line)]) == {0}, line
        at += len(line) + 1


@given(st.lists(LINES, min_size=2, max_size=5))
def test_walking_backwards_agrees_on_moved_lines(versions: list[list[str]]) -> None:
    history = FakeHistory.of([{"a.md": "\n".join(lines).encode()} for lines in versions])
    assert bytewise(annotate(history)) == blame_backwards(history)


@given(st.permutations(SIMILAR[:9]))
def test_no_byte_is_new_where_lines_only_change_places(lines: list[str]) -> None:
    texts = ["\n".join(each).encode() + b"\n" for each in (SIMILAR[:9], lines)]
    assert set(owners(texts)) == {0}


@given(LINES, LINES, st.data())
def test_what_was_taken_out_is_put_back(
    old: list[str], new: list[str], data: st.DataObject
) -> None:
    """Edits of the rests, put back, are edits of the texts, and no line taken out is kept."""
    texts = ["\n".join(lines).encode() for lines in (old, new)]
    rests = []
    for text in texts:
        edges = data.draw(st.sets(st.integers(0, len(text)), max_size=6).map(sorted))
        cuts = list(zip(edges[::2], edges[1::2], strict=False))
        rests.append(Rest(text, 0, len(text), cuts))
    parts, _ = compare(rests[0].data, rests[1].data)
    out, at = b"", 0
    for i1, i2, j1, j2 in put_back(rests[0], rests[1], parts):
        out += texts[0][at:i1]
        assert len(out) == j1
        out += texts[1][j1:j2]
        at = i2
    assert out + texts[0][at:] == texts[1]


@pytest.mark.parametrize(
    ("old", "new", "region", "expected"),
    [
        (b"a\nb c\nd", b"a\nb x\nd", (4, 5, 4, 5), (2, 6, 2, 6)),
        (b"a\nb", b"a\nc\nb", (2, 2, 2, 4), (2, 2, 2, 4)),
        (b"ab", b"axb", (1, 1, 1, 2), (0, 2, 0, 3)),
        (b"a\nb\n", b"a\n", (2, 4, 2, 2), (2, 4, 2, 2)),
    ],
)
def test_a_region_is_widened_to_whole_lines(
    old: bytes, new: bytes, region: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    i1, i2, j1, j2 = region
    assert whole(old, new, (i1, i2, j1, j2)) == expected


def test_an_insertion_beside_similar_text_takes_whole_lines() -> None:
    old = b"- a\n- Run `memory` (memory tests\n  against baselines.)\n- end\n"
    first, second = b"- note memory\n", b"- Run `speed` (speed\n  more tests against baselines.)\n"
    new = old.replace(b"- a\n", b"- a\n" + first).replace(b"- end\n", second + b"- end\n")
    came = {new[j1:j2] for _, _, j1, j2 in compare(old, new)[0]}
    assert came == {first, second}


def test_a_heading_keeps_its_words_behind_a_section_that_shares_them() -> None:
    old = b"# Models\n\n## Swan \xe2\x80\x94 Lake\n| Swan | x |\n"
    new = old.replace(
        b"## Swan", b"## New\n| Lake Swan \xe2\x80\x94 the large one | May 3 |\n\n## Swan"
    )
    at = new.index(b"## Swan")
    written = owners([old, new])
    assert set(written[at:]) == {0}
    assert written[new.index(b"## New")] == 1
