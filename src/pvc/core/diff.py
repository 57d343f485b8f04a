"""Matching runs of two texts, exact to the word.

What stays and what is replaced decides who wrote a byte, so the differ prefers what an editor
did over the fewest changed bytes.

Rule 1: edits ascend, do not touch each other, and applied to the old text give the new one.
Rule 2: no edit cuts a code point of valid UTF-8, and at word granularity none cuts a word.
Rule 3: words that two unrelated sentences happen to share are not kept (`_without_crumbs`).
Rule 4: a sentence that was written anew takes its full stop along, though the old one had one too:
a mark of another version than all of its words tells nobody anything.
Rule 5: blanks are compared after the words are aligned, so a reflow changes line breaks alone.
Rule 6: an insertion or deletion that could stand in several places stands where an editor would
have made it: after a blank line, a line, a sentence, a word; the last such place on a tie.
Rule 7: work is bounded. Regions too large for exact alignment become one replacement.
Rule 8: a line that both texts have verbatim and once is the same line, wherever it is: words are
compared between such lines only, so a similar neighbor takes nothing of it (`core.lines`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from pvc.core import anchors, lines
from pvc.core.align_words import aligned, is_reflow, reflowed
from pvc.core.words import (
    BLANK,
    Lexicon,
    common_prefix,
    common_suffix,
    cuts_code_point,
    is_boundary,
    is_one_word,
)

if TYPE_CHECKING:
    from pvc.core.anchors import Anchor

Replacement = tuple[int, int, int, int]
"""`(old_start, old_end, new_start, new_end)`: an edit without its class, for inner loops."""

_MARKS = b".!?"
_SENTENCE_STARTS = (b"\n", b". ", b"! ", b"? ", b": ", b"- ", b"* ")
_SENTENCE_WORDS = 4
_LINE_FEED, _SPACE = b"\n "
_SMALL = 512
_SLIDE_MOST = 1024


class Granularity(StrEnum):
    """How small a part of the text may be new."""

    WORD = "word"
    BYTE = "byte"
    """Of a word that replaces one word, only the letters between the common ends."""


@dataclass(frozen=True, slots=True)
class Edit:
    """`old[old_start:old_end]` is replaced by `new[new_start:new_end]`; either may be empty."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def edits(
    old: bytes,
    new: bytes,
    *,
    granularity: Granularity = Granularity.WORD,
    ignore_space: bool = False,
) -> tuple[Edit, ...]:
    """Compare two texts; with `ignore_space`, leave out edits of nothing but blanks."""
    found, _ = compare(old, new, granularity)
    return tuple(
        Edit(*part) for part in found if not (ignore_space and is_space_only(old, new, part))
    )


def compare(
    old: bytes,
    new: bytes,
    granularity: Granularity = Granularity.WORD,
    lexicon: Lexicon | None = None,
) -> tuple[list[Replacement], list[Anchor]]:
    """Compare two texts; give the edits as tuples, and the lines that only changed their place.

    Such a line is deleted by one edit and inserted by another. A `lexicon` may be shared among
    calls.
    """
    if old == new:
        return [], []
    lexicon = Lexicon() if lexicon is None else lexicon
    region = _trimmed(old, new)
    whole = lines.whole(old, new, region)
    kept, moved = lines.matched(old, new, whole, lexicon)
    i1, i2, j1, j2 = region
    # In a reflow a line of two words may be like one of other words, and no word moved anyway.
    if (kept or moved) and not is_reflow(old[i1:i2], new[j1:j2]):
        raw = [
            part
            for gap in anchors.gaps(kept, whole)
            for part in _beside(old, new, gap, moved, lexicon)
        ]
    else:
        raw = _changes(old, new, region, lexicon)
        moved = []
    out = _settled(old, new, raw)
    if granularity is Granularity.BYTE:
        out = [_within_word(old, new, part) for part in out]
    return out, moved


def _beside(
    old: bytes, new: bytes, gap: Replacement, moved: list[Anchor], lexicon: Lexicon
) -> list[Replacement]:
    """Compare what is between two kept lines, without the lines that moved out of it or in."""
    i1, i2, j1, j2 = gap
    if i1 == i2 or j1 == j2:
        return [gap]
    if old[i1:i2] == new[j1:j2]:
        return []
    gone = lines.Rest(old, i1, i2, [(a, a + n) for a, _, n in moved if i1 <= a < i2])
    came = lines.Rest(new, j1, j2, [(b, b + n) for _, b, n in moved if j1 <= b < j2])
    if gone.data == came.data:
        parts: list[Replacement] = []
    else:
        parts = _changes(gone.data, came.data, _trimmed(gone.data, came.data), lexicon)
    return list(lines.put_back(gone, came, parts))


def _changes(old: bytes, new: bytes, region: Replacement, lexicon: Lexicon) -> list[Replacement]:
    """Compare a region by words."""
    i1, i2, j1, j2 = region
    if i1 == i2 or j1 == j2:
        return [region]
    if max(i2 - i1, j2 - j1) <= _SMALL:
        return aligned(old, new, region, lexicon)
    return _in_large(old, new, region, lexicon)


def _in_large(old: bytes, new: bytes, region: Replacement, lexicon: Lexicon) -> list[Replacement]:
    """Compare a region that is worth looking for anchors in."""
    found = reflowed(old, new, region)
    if found is not None:
        return found
    out: list[Replacement] = []
    for gap in anchors.between(old, new, region):
        a1, a2, b1, b2 = gap
        out += aligned(old, new, gap, lexicon) if a1 < a2 and b1 < b2 else [gap]
    return out


def is_space_only(old: bytes, new: bytes, part: Replacement) -> bool:
    """Whether an edit takes away and brings nothing but blanks."""
    i1, i2, j1, j2 = part
    return not (old[i1:i2].strip(BLANK) or new[j1:j2].strip(BLANK))


def _trimmed(old: bytes, new: bytes) -> Replacement:
    """Leave out the common prefix and suffix, cutting no token."""
    most = min(len(old), len(new))
    start = common_prefix(old, new, 0, 0, most, most // 2 + 1)
    while start and not (is_boundary(old, start) and is_boundary(new, start)):
        start -= 1
    i, j = len(old), len(new)
    back = common_suffix(old, new, i, j, most - start, (most - start) // 2 + 1)
    while back and not (is_boundary(old, i - back) and is_boundary(new, j - back)):
        back -= 1
    return start, i - back, start, j - back


def _settled(old: bytes, new: bytes, parts: list[Replacement]) -> list[Replacement]:
    """Put every edit where an editor would have made it, and join edits that touch."""
    out: list[Replacement] = []
    floor, floor_new = 0, -1
    for index, part in enumerate(parts, 1):
        start, end, start_new, end_new = part
        if start == end or start_new == end_new or old[end : end + 1] in _MARKS:
            following = parts[index] if index < len(parts) else (len(old), 0, len(new), 0)
            start, end, start_new, end_new = _placed(old, new, part, floor, following)
        if floor == start and floor_new == start_new:
            start, _, start_new, _ = out.pop()
        out.append((start, end, start_new, end_new))
        floor, floor_new = end, end_new
    return out


def _placed(
    old: bytes, new: bytes, part: Replacement, floor: int, following: Replacement
) -> Replacement:
    """Slide a pure insertion or deletion, or end a rewritten sentence at its full stop."""
    i1, i2, j1, j2 = part
    if i1 < i2 and j1 < j2:
        more = following[0] > i2 and following[2] > j2 and _ends_with_mark(old, new, part)
        return i1, i2 + more, j1, j2 + more
    room = i1 - floor, following[0] - i2
    by = _shift(new, j1, j2, *room) if i1 == i2 else _shift(old, i1, i2, *room)
    return i1 + by, i2 + by, j1 + by, j2 + by


def _ends_with_mark(old: bytes, new: bytes, part: Replacement) -> bool:
    """Whether `part` rewrites a sentence up to a full stop that both texts have."""
    i1, i2, j1, j2 = part
    mark, after = old[i2 : i2 + 1], old[i2 + 1 : i2 + 2]
    if mark not in _MARKS or not mark or mark != new[j2 : j2 + 1] or after.strip(BLANK):
        return False
    begins = i1 == 0 or old[max(i1 - 3, 0) : i1].endswith(_SENTENCE_STARTS)
    return begins and min(len(old[i1:i2].split()), len(new[j1:j2].split())) >= _SENTENCE_WORDS


def _shift(text: bytes, start: int, end: int, room_left: int, room_right: int) -> int:
    """How far to move `text[start:end]` over equal bytes to the best boundary."""
    left = right = 0
    if room_left and text[start - 1] == text[end - 1]:
        left = common_suffix(text, text, start, end, min(room_left, start, _SLIDE_MOST))
    if room_right and text[start : start + 1] == text[end : end + 1]:
        right = common_prefix(text, text, start, end, min(room_right, len(text) - end, _SLIDE_MOST))
    if not left and not right:
        return 0
    ranked = [
        (_rank(text, start + by) + _rank(text, end + by), by) for by in range(-left, right + 1)
    ]
    return max(ranked)[1]


def _rank(text: bytes, at: int) -> int:
    """How likely an editor's cut is at `at`."""
    if at == len(text):
        return 8
    if at == 0:
        return 6  # of a line that is doubled, the later one is new
    last = text[at - 1]
    if last == _LINE_FEED:
        return 8 if text[max(at - 3, 0) : at].endswith((b"\n\n", b"\n\r\n")) else 6
    if cuts_code_point(text, at):
        return -99
    if not is_boundary(text, at):
        return -9
    if last == _SPACE and text[max(at - 2, 0)] in b".!?:":
        return 4
    return 2 if last in b" \t" else 0


def _within_word(old: bytes, new: bytes, part: Replacement) -> Replacement:
    """Keep the common first and last code points of a word that replaces one word."""
    i1, i2, j1, j2 = part
    if not (is_one_word(old[i1:i2]) and is_one_word(new[j1:j2])):
        return part
    most = min(i2 - i1, j2 - j1)
    front = common_prefix(old, new, i1, j1, most)
    while front and (cuts_code_point(old, i1 + front) or cuts_code_point(new, j1 + front)):
        front -= 1
    back = common_suffix(old, new, i2, j2, most - front)
    while back and (cuts_code_point(old, i2 - back) or cuts_code_point(new, j2 - back)):
        back -= 1
    return i1 + front, i2 - back, j1 + front, j2 - back
