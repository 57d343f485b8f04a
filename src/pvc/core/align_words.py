"""Alignment of two regions word by word: what a person would say was kept.

Rule 1: a word that stands once in either region is compared first when there are many, for the
longest common subsequence alone would follow frequent words.
Rule 2: equal runs that are light against the changes on both sides are crumbs and are dissolved;
one that is all of its line, and more than a word, was kept on purpose.
Rule 3: blanks between two aligned words are compared as bytes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from pvc.core.words import (
    BLANK,
    FIRST_WORD,
    SIZE_BITS,
    SIZE_MASK,
    Lexicon,
    Words,
    blank_differences,
    is_blank_for_blank,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rapidfuzz.distance import Editops

_Region = tuple[int, int, int, int]
_Block = tuple[int, int, int]
"""`(old token, new token, count)`: an equal run."""

_MANY = 200
_MOST_CELLS = 1 << 28
_MOST_BYTES = 1 << 19
_CRUMB_WORDS = 3
_MOST_CRUMB = _CRUMB_WORDS << SIZE_BITS | SIZE_MASK
_GLANCE = 16
"""So many tokens show of most long runs that they are no crumbs."""
_LINE = 2 << SIZE_BITS
"""A line of fewer words (`else:`, `---`) is no line that somebody kept."""
_CRUMB_SHARE = 0.5


def aligned(old: bytes, new: bytes, region: _Region, lexicon: Lexicon) -> list[_Region]:
    """Give the replacements inside `region`, neither side of which is empty."""
    i1, i2, j1, j2 = region
    gone, came = old[i1:i2], new[j1:j2]
    if gone.isalnum() and came.isalnum():
        return [region] if gone != came else []
    if len(gone) + len(came) > _MOST_BYTES or b"\0" in gone or b"\0" in came:
        return [region]
    before, after = Words(old, i1, i2, lexicon), Words(new, j1, j2, lexicon)
    blocks = _without_crumbs(old, new, before, after, _equal_runs(before.chars, after.chars))
    return _replacements(old, new, region, before, after, blocks)


def is_reflow(gone: bytes, came: bytes) -> bool:
    """Return True if all words of a text stayed, and only blanks may have changed."""
    return is_blank_for_blank(gone, came) or (
        gone.translate(None, BLANK) == came.translate(None, BLANK) and gone.split() == came.split()
    )


def reflowed(old: bytes, new: bytes, region: _Region) -> list[_Region] | None:
    """Give the changed blanks of a region whose words all stayed; null of any other."""
    i1, i2, j1, j2 = region
    if not is_reflow(old[i1:i2], new[j1:j2]):
        return None
    out: list[_Region] = []
    for gap in blank_differences(old, new, (i1, i2), (j1, j2)):
        if gap[1] - gap[0] == gap[3] - gap[2] == 1:
            out.append(gap)
        else:
            _change(old, new, gap, out)
    return out


def _equal_runs(a: str, b: str) -> list[_Block]:
    if len(a) <= _MANY or len(b) <= _MANY:
        return _subsequence(a, b, 0, 0)
    out: list[_Block] = []
    i = j = 0
    for x, y, size in [*_unique_runs(a, b), (len(a), len(b), 0)]:
        if x > i and y > j:
            out += _subsequence(a[i:x], b[j:y], i, j)
        if size:
            out.append((x, y, size))
        i, j = x + size, y + size
    return _joined(out)


def _joined(blocks: list[_Block]) -> list[_Block]:
    out: list[_Block] = []
    for x, y, size in blocks:
        if out and out[-1][0] + out[-1][2] == x and out[-1][1] + out[-1][2] == y:
            out[-1] = (out[-1][0], out[-1][1], out[-1][2] + size)
        else:
            out.append((x, y, size))
    return out


def _subsequence(a: str, b: str, i: int, j: int) -> list[_Block]:
    """Align two texts by their longest common subsequence, as equal runs."""
    if len(a) * len(b) > _MOST_CELLS:
        return []
    blocks = _editops()(a, b).as_matching_blocks()
    return [(i + x, j + y, size) for x, y, size in blocks if size]


@cache
def _editops() -> Callable[[str, str], Editops]:
    """Import the aligner when the first two texts need it."""
    from rapidfuzz.distance import LCSseq

    return LCSseq.editops


def _unique_runs(a: str, b: str) -> list[_Block]:
    """Grow runs around the words that stand once in either text, where they ascend in both."""
    theirs = _once(a)
    pairs = [(theirs[char], y) for char, y in _once(b).items() if char in theirs]
    out: list[_Block] = []
    i = j = 0
    for x, y in _ascending(pairs):
        if x < i or y < j:
            continue
        back, ahead = 0, 1
        while x - back > i and y - back > j and a[x - back - 1] == b[y - back - 1]:
            back += 1
        while x + ahead < len(a) and y + ahead < len(b) and a[x + ahead] == b[y + ahead]:
            ahead += 1
        out.append((x - back, y - back, back + ahead))
        i, j = x + ahead, y + ahead
    return out


def _once(text: str) -> dict[str, int]:
    """Find where each word stands that stands once."""
    last = {char: at for at, char in enumerate(text)}
    counts = Counter(text)
    return {char: at for char, at in last.items() if counts[char] == 1 and char >= FIRST_WORD}


def _ascending(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Keep the longest subsequence that ascends in the first numbers too."""
    tops: list[int] = []
    heads: list[int] = []
    before: list[int] = []
    for index, (x, _) in enumerate(pairs):
        place = bisect_left(tops, x)
        before.append(heads[place - 1] if place else -1)
        tops[place : place + 1] = [x]
        heads[place : place + 1] = [index]
    out = []
    at = heads[-1] if heads else -1
    while at >= 0:
        out.append(pairs[at])
        at = before[at]
    return out[::-1]


def _without_crumbs(
    old: bytes, new: bytes, before: Words, after: Words, blocks: list[_Block]
) -> list[_Block]:
    """Dissolve equal runs that hold little against the changes on both sides, until stable."""
    while blocks and len(kept := _one_pass(old, new, before, after, blocks)) < len(blocks):
        blocks = kept
    return blocks


def _one_pass(
    old: bytes, new: bytes, before: Words, after: Words, blocks: list[_Block]
) -> list[_Block]:
    out: list[_Block] = []
    i = j = 0
    following = [*blocks[1:], (len(before.chars), len(after.chars), 0)]
    for block, (x2, y2, _) in zip(blocks, following, strict=True):
        x, y, size = block
        end, end_new = x + size, y + size
        if (
            (i < x or j < y)
            and (end < x2 or end_new < y2)
            and _is_crumb(before, after, block, (i, j, x2, y2))
            and not (
                before.size(x, end) >= _LINE
                and _is_line(old, before.span(x)[0], before.span(end - 1)[1])
                and _is_line(new, after.span(y)[0], after.span(end_new - 1)[1])
            )
        ):
            continue
        out.append(block)
        i, j = end, end_new
    return out


def _is_line(text: bytes, start: int, end: int) -> bool:
    """Whether a range is all that stands on its line or lines; nobody keeps that by chance."""
    before, after = text.rfind(b"\n", 0, start) + 1, text.find(b"\n", end)
    rest = text[end : after if after >= 0 else len(text)]
    return not text[before:start].strip(BLANK) and not rest.strip(BLANK)


def _is_crumb(
    before: Words, after: Words, block: _Block, around: tuple[int, int, int, int]
) -> bool:
    """Whether an equal run is too light to have been kept on purpose.

    `around` is where the changes on either side begin and end. They are what went and what came;
    the larger counts.
    """
    x, y, size = block
    if size > _CRUMB_WORDS and before.size(x, x + min(size, _GLANCE)) > _MOST_CRUMB:
        return False
    sums, sums_new = before.sums(), after.sums()
    run = sums[x + size] - sums[x]
    if run > _MOST_CRUMB:
        return False
    words = run >> SIZE_BITS
    i, j, x2, y2 = around
    left = sums[x] - sums[i], sums_new[y] - sums_new[j]
    right = sums[x2] - sums[x + size], sums_new[y2] - sums_new[y + size]
    words_left, words_right = max(left) >> SIZE_BITS, max(right) >> SIZE_BITS
    if not words:
        return bool(words_left and words_right)
    if 2 * words > words_left + words_right:
        return False
    weight_left = max(left[0] & SIZE_MASK, left[1] & SIZE_MASK)
    weight_right = max(right[0] & SIZE_MASK, right[1] & SIZE_MASK)
    return run & SIZE_MASK <= _CRUMB_SHARE * min(weight_left, weight_right)


def _replacements(
    old: bytes, new: bytes, region: _Region, before: Words, after: Words, blocks: list[_Block]
) -> list[_Region]:
    """Turn equal runs of words into replacements of bytes."""
    out: list[_Region] = []
    i, end_i, j, end_j = region
    for x, y, size in blocks:
        (first, last), (first_new, last_new) = before.span(x), after.span(y)
        if size > 1:
            last, last_new = before.span(x + size - 1)[1], after.span(y + size - 1)[1]
        _change(old, new, (i, first, j, first_new), out)
        if old[first:last] != new[first_new:last_new]:
            for gap in blank_differences(old, new, (first, last), (first_new, last_new)):
                _change(old, new, gap, out)
        i, j = last, last_new
    _change(old, new, (i, end_i, j, end_j), out)
    return out


def _change(old: bytes, new: bytes, part: _Region, out: list[_Region]) -> None:
    """Append `part` without the blanks that are equal at its ends."""
    i1, i2, j1, j2 = part
    if old[i1:i2] == new[j1:j2]:
        return
    while i1 < i2 and j1 < j2 and old[i1] == new[j1] and old[i1] in BLANK:
        i1, j1 = i1 + 1, j1 + 1
    while i1 < i2 and j1 < j2 and old[i2 - 1] == new[j2 - 1] and old[i2 - 1] in BLANK:
        i2, j2 = i2 - 1, j2 - 1
    single = i2 - i1 <= 1 and j2 - j1 <= 1
    if single or i1 == i2 or j1 == j2 or old[i1:i2].strip(BLANK) or new[j1:j2].strip(BLANK):
        out.append((i1, i2, j1, j2))
    else:
        out += _blanks(old[i1:i2].decode(), new[j1:j2].decode(), i1, j1)


def _blanks(a: str, b: str, i: int, j: int) -> list[_Region]:
    """Replace blanks by blanks, keeping line feeds that both have."""
    out: list[_Region] = []
    x = y = 0
    for x2, y2, size in [*_subsequence(a, b, 0, 0), (len(a), len(b), 0)]:
        if x < x2 or y < y2:
            out.append((i + x, i + x2, j + y, j + y2))
        x, y = x2 + size, y2 + size
    return out
