"""Alignment of two regions word by word: what a person would say was kept.

Rule 1: a word that stands once in either region is compared first when there are many, for the
longest common subsequence alone would follow frequent words.
Rule 2: equal runs that are light against the changes on both sides are crumbs and are dissolved.
Rule 3: blanks between two aligned words are compared as bytes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

from pvc.core.words import BLANK, FIRST_WORD, Interner, Words

_Block = tuple[int, int, int]
"""`(old token, new token, count)`: an equal run."""

_MANY = 200
_MOST_CELLS = 1 << 28
_MOST_BYTES = 1 << 19
_CRUMB_WORDS = 3
_CRUMB_SHARE = 0.5


def aligned(
    old: bytes, new: bytes, region: tuple[int, int, int, int]
) -> list[tuple[int, int, int, int]]:
    """Give the replacements inside `region`, neither side of which is empty."""
    i1, i2, j1, j2 = region
    if i2 - i1 + j2 - j1 > _MOST_BYTES or b"\0" in old[i1:i2] or b"\0" in new[j1:j2]:
        return [region]
    intern = Interner()
    before, after = Words(old, i1, i2, intern), Words(new, j1, j2, intern)
    blocks = _without_crumbs(before, after, _equal_runs(before.chars, after.chars))
    return _replacements(old, new, region, before, after, blocks)


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
    from rapidfuzz.distance import LCSseq

    if len(a) * len(b) > _MOST_CELLS:
        return []
    blocks = LCSseq.editops(a, b).as_matching_blocks()
    return [(i + x.a, j + x.b, x.size) for x in blocks if x.size]


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


def _without_crumbs(before: Words, after: Words, blocks: list[_Block]) -> list[_Block]:
    """Dissolve equal runs that hold little against the changes on both sides, until stable."""
    while True:
        kept = _one_pass(before, after, blocks)
        if len(kept) == len(blocks):
            return kept
        blocks = kept


def _one_pass(before: Words, after: Words, blocks: list[_Block]) -> list[_Block]:
    out: list[_Block] = []
    i = j = 0
    for index, (x, y, size) in enumerate(blocks):
        following = blocks[index + 1] if index + 1 < len(blocks) else None
        x2, y2 = following[:2] if following else (len(before.chars), len(after.chars))
        left = (i, x, j, y)
        right = (x + size, x2, y + size, y2)
        if _is_crumb(before, after, x, size, left, right):
            continue
        out.append((x, y, size))
        i, j = x + size, y + size
    return out


def _is_crumb(
    before: Words,
    after: Words,
    start: int,
    size: int,
    left: tuple[int, int, int, int],
    right: tuple[int, int, int, int],
) -> bool:
    if left[::2] == left[1::2] or right[::2] == right[1::2]:
        return False
    words = before.count(start, start + size)
    if words > _CRUMB_WORDS:
        return False
    (words_left, weight_left), (words_right, weight_right) = (
        _side(before, after, left),
        _side(before, after, right),
    )
    if not words:
        return bool(words_left and words_right)
    light = before.weight(start, start + size) <= _CRUMB_SHARE * min(weight_left, weight_right)
    return light and 2 * words <= words_left + words_right


def _side(before: Words, after: Words, change: tuple[int, int, int, int]) -> tuple[int, int]:
    """Words and word bytes of a change: the larger of what went and what came."""
    i1, i2, j1, j2 = change
    return (
        max(before.count(i1, i2), after.count(j1, j2)),
        max(before.weight(i1, i2), after.weight(j1, j2)),
    )


def _replacements(
    old: bytes,
    new: bytes,
    region: tuple[int, int, int, int],
    before: Words,
    after: Words,
    blocks: list[_Block],
) -> list[tuple[int, int, int, int]]:
    """Turn equal runs of words into replacements of bytes."""
    out: list[tuple[int, int, int, int]] = []
    i, end_i, j, end_j = region
    for x, y, size in blocks:
        first, last = before.starts[x], before.ends[x + size - 1]
        first_new, last_new = after.starts[y], after.ends[y + size - 1]
        _change(old, new, (i, first, j, first_new), out)
        if old[first:last] != new[first_new:last_new]:
            for k in range(size - 1):
                gap = (before.ends[x + k], before.starts[x + k + 1])
                gap_new = (after.ends[y + k], after.starts[y + k + 1])
                _change(old, new, (*gap, *gap_new), out)
        i, j = last, last_new
    _change(old, new, (i, end_i, j, end_j), out)
    return out


def _change(
    old: bytes,
    new: bytes,
    part: tuple[int, int, int, int],
    out: list[tuple[int, int, int, int]],
) -> None:
    """Append `part` without the blanks that are equal at its ends."""
    i1, i2, j1, j2 = part
    if old[i1:i2] == new[j1:j2]:
        return
    while i1 < i2 and j1 < j2 and old[i1] == new[j1] and old[i1] in BLANK:
        i1, j1 = i1 + 1, j1 + 1
    while i1 < i2 and j1 < j2 and old[i2 - 1] == new[j2 - 1] and old[i2 - 1] in BLANK:
        i2, j2 = i2 - 1, j2 - 1
    out.append((i1, i2, j1, j2))
