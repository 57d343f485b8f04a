from __future__ import annotations

from cProfile import Profile
from itertools import pairwise
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pvc.core import align_words
from pvc.core.diff import Edit, Granularity, edits

WORDS = ["the ", "of ", "a", "Stop. ", "rule", ",", "\n", "\n\n", "  ", "\r\n", "{x}"]
SCRAPS = st.sampled_from([*WORDS, "é", "ß ", "漢", "字", "😀", "«"]).map(str.encode)
STRAY = st.sampled_from([b"\x80", b"\xff", b"\0", b"\xe6\xbc", b"\xf0\x9f"])
TEXT = st.lists(SCRAPS, max_size=40).map(b"".join)
BYTES = st.lists(SCRAPS | STRAY, max_size=40).map(b"".join)


def applied(old: bytes, new: bytes, found: tuple[Edit, ...]) -> bytes:
    out, at = b"", 0
    for edit in found:
        out += old[at : edit.old_start] + new[edit.new_start : edit.new_end]
        at = edit.old_end
    return out + old[at:]


def texts(old: bytes, new: bytes, **options: object) -> list[tuple[bytes, bytes]]:
    found = edits(old, new, **options)  # type: ignore[arg-type] # the options of one call
    return [(old[e.old_start : e.old_end], new[e.new_start : e.new_end]) for e in found]


@given(BYTES, BYTES, st.sampled_from(Granularity))
@example(b"", b"", Granularity.WORD)
@example(b"a b c d.", b"e f g h", Granularity.WORD)
@example(b"a b c d.", b"e f g h.", Granularity.WORD)
def test_edits_ascend_apart_and_give_the_new_text(
    old: bytes, new: bytes, granularity: Granularity
) -> None:
    found = edits(old, new, granularity=granularity)
    assert applied(old, new, found) == new
    for a, b in pairwise(found):
        assert a.old_end <= b.old_start
        assert a.new_end <= b.new_start
        assert (a.old_end, a.new_end) != (b.old_start, b.new_start)
    assert all(e.old_start < e.old_end or e.new_start < e.new_end for e in found)


def _mutated(random: Random, scraps: list[bytes]) -> list[bytes]:
    """A copy with some scraps cut, doubled, moved or given other blanks."""
    out = list(scraps)
    for _ in range(random.randint(1, 6)):
        at, size = random.randrange(len(out)), random.randint(1, 40)
        piece = out[at : at + size]
        match random.randrange(4):
            case 0:
                del out[at : at + size]
            case 1:
                out[at:at] = piece[::-1]
            case 2:
                out[at : at + size] = []
                place = random.randrange(len(out))
                out[place:place] = piece
            case _:
                out[at : at + size] = [part.replace(b" ", b"\n") for part in piece]
    return out


@given(seed=st.integers(0, 1 << 32), reflow=st.booleans())
def test_edits_of_large_texts_give_the_new_text_and_cut_nothing(seed: int, *, reflow: bool) -> None:
    random = Random(seed)  # noqa: S311 - text for tests, not secrets
    words = ["the ", "of ", "é ", "漢 ", "{x} ", "rule, ", "stop. ", "😀 "]
    scraps = [word.encode() for word in random.choices(words, k=900)]
    old = b"".join(scraps)
    new = old.replace(b" ", b"\n", 400) if reflow else b"".join(_mutated(random, scraps))
    found = edits(old, new)
    assert applied(old, new, found) == new
    for edit in found:
        old[edit.old_start : edit.old_end].decode()
        new[edit.new_start : edit.new_end].decode()
    if reflow:
        assert {*texts(old, new)} == {(b" ", b"\n")}


@given(TEXT, TEXT, st.sampled_from(Granularity))
@example("😀".encode(), "😁".encode(), Granularity.BYTE)
@example("éa".encode(), "èa".encode(), Granularity.BYTE)
def test_no_edit_cuts_a_code_point(old: bytes, new: bytes, granularity: Granularity) -> None:
    for edit in edits(old, new, granularity=granularity):
        old[edit.old_start : edit.old_end].decode()
        new[edit.new_start : edit.new_end].decode()


@given(TEXT, TEXT)
def test_byte_granularity_only_narrows_what_is_new(old: bytes, new: bytes) -> None:
    words = edits(old, new)
    for edit in edits(old, new, granularity=Granularity.BYTE):
        assert any(
            word.new_start <= edit.new_start and edit.new_end <= word.new_end for word in words
        )


@given(st.lists(st.sampled_from([b"rule", b"of", b"the,", b"x."]), max_size=30), st.randoms())
def test_a_reflow_changes_blanks_alone(words: list[bytes], random: Random) -> None:
    old, new = (b"".join(w + random.choice([b" ", b"\n", b"  "]) for w in words) for _ in "ab")
    assert not b"".join(a + b for a, b in texts(old, new)).strip()
    assert edits(old, new, ignore_space=True) == ()


@given(st.lists(SCRAPS.filter(lambda scrap: b"\r" not in scrap), max_size=40).map(b"".join))
def test_crlf_brings_carriage_returns_alone(old: bytes) -> None:
    new = old.replace(b"\n", b"\r\n")
    assert {*texts(old, new)} <= {(b"", b"\r")}


@given(TEXT, st.data())
def test_a_deletion_brings_nothing(old: bytes, data: st.DataObject) -> None:
    words = old.split(b" ")
    start = data.draw(st.integers(0, len(words)))
    end = data.draw(st.integers(start, len(words)))
    new = b" ".join(words[:start] + words[end:])
    kept = edits(old, new)
    assert sum(e.new_end - e.new_start for e in kept) <= sum(e.old_end - e.old_start for e in kept)
    if new and old.count(new) == 1 and (old.startswith(new) or old.endswith(new)):
        assert all(e.new_start == e.new_end for e in kept)


PLACED = {
    "a line of a list": (b"- a\n- c\n", b"- a\n- b\n- c\n", (b"", b"- b\n")),
    "a paragraph": (b"One.\n\nTwo.\n", b"One.\n\nMid.\n\nTwo.\n", (b"", b"Mid.\n\n")),
    "a sentence": (b"Be kind. Go.", b"Be kind. Be brief. Go.", (b"", b"Be brief. ")),
    "the later of two equal words": (b"go on", b"go go on", (b"", b"go ")),
    "a deleted line": (b"- a\n- b\n- c\n", b"- a\n- c\n", (b"- b\n", b"")),
    "a rewritten sentence and its full stop": (
        b"Stay. One two three four. Go.",
        b"Stay. Five six seven eight. Go.",
        (b"One two three four.", b"Five six seven eight."),
    ),
    "a file name is no full stop": (
        b"one two three four.py",
        b"five six seven eight.py",
        (b"one two three four", b"five six seven eight"),
    ),
}


@pytest.mark.parametrize(("old", "new", "wanted"), PLACED.values(), ids=PLACED)
def test_an_edit_stands_where_an_editor_would_make_it(
    old: bytes, new: bytes, wanted: tuple[bytes, bytes]
) -> None:
    assert texts(old, new) == [wanted]


@pytest.mark.parametrize("front", [b"", b"# A\n"])
def test_of_a_line_that_is_doubled_the_later_one_is_new(front: bytes) -> None:
    (edit,) = edits(front + b"- a\n- b\n", front + b"- a\n- a\n- b\n")
    assert (edit.new_start, edit.new_end) == (len(front) + 4, len(front) + 8)


def test_byte_granularity_keeps_the_common_ends_of_one_word() -> None:
    old, new = b"It is colour blind", b"It is colourless blind"
    assert texts(old, new) == [(b"colour", b"colourless")]
    assert texts(old, new, granularity=Granularity.BYTE) == [(b"", b"less")]
    two = b"It is colours now blind"
    assert texts(old, two, granularity=Granularity.BYTE) == texts(old, two)
    assert texts(b"x \x80", b"x a", granularity=Granularity.BYTE) == [(b"\x80", b"a")]


def test_ignoring_space_leaves_word_edits() -> None:
    assert texts(b"a  b c", b"a b d", ignore_space=True) == [(b"c", b"d")]


def _words(random: Random, size: int) -> bytes:
    vocabulary = [b"%x" % random.randrange(16 ** random.randint(1, 7)) for _ in range(3000)]
    return b" ".join(random.choices(vocabulary, k=size // 5))[:size]


def _numbers(random: Random, size: int) -> bytes:
    return b"\n".join(b"%d,%d" % (k, random.randrange(99)) for k in range(size // 8))


def _hard_pairs() -> dict[str, tuple[bytes, bytes]]:
    random = Random(5)  # noqa: S311 - text for tests, not secrets
    size = 1 << 16
    one, two = _words(random, size), _words(random, size)
    third = b" ".join(w + b"x" * (k % 3 == 0) for k, w in enumerate(one.split()))
    signs = [bytes(random.choices(b".,;:", k=size)) for _ in "ab"]
    return {
        "unrelated words": (one, two),
        "every third word": (one, third),
        "unrelated signs": (signs[0], signs[1]),
        "unrelated bytes": (random.randbytes(size).replace(b"\0", b"."), random.randbytes(size)),
        "a column of numbers": (_numbers(random, size), _numbers(random, size)),
        "one letter": (b"a" * size, b"a" * (size - 1) + b"b"),
        "one line": (b"the same line\n" * (size // 14), b"the same line\nother\n" * (size // 20)),
        "stray bytes": (b"\x80" * size, b"\x81" * size),
    }


@pytest.mark.parametrize(("old", "new"), _hard_pairs().values(), ids=_hard_pairs())
def test_no_pair_of_64_kib_costs_more_than_ten_calls_a_byte(
    old: bytes, new: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls are counted, for seconds depend on who else is at work; so are the aligner's cells."""
    cells: list[int] = []
    subsequence = align_words._subsequence

    def counted(a: str, b: str, i: int, j: int) -> list[tuple[int, int, int]]:
        if len(a) * len(b) <= align_words._MOST_CELLS:  # more are not aligned at all
            cells.append(len(a) * len(b))
        return subsequence(a, b, i, j)

    monkeypatch.setattr(align_words, "_subsequence", counted)
    profile = Profile()
    found = profile.runcall(edits, old, new)
    calls = sum(entry.callcount for entry in profile.getstats())
    assert calls <= 10 * (len(old) + len(new))
    assert sum(cells) <= 1 << 30
    assert applied(old, new, found) == new
