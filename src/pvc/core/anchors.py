"""Long exact matches of two texts, found without splitting either into words.

Rule 1: a short anchor's probe stands once in either region: a phrase that is repeated says nothing
about which copy became which. A match of some hundred bytes needs no such proof.
Rule 2: anchors ascend in both texts; of those that cross, the heaviest chain is kept.
Rule 3: an anchor ends between tokens, so that what lies between anchors has whole words.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from itertools import accumulate, pairwise

from pvc.core.words import common_prefix, common_suffix, is_boundary

Region = tuple[int, int, int, int]
"""`(old_start, old_end, new_start, new_end)`: a stretch of either text, to be compared."""
Anchor = tuple[int, int, int]
"""`(old_start, new_start, length)`."""

PROBE = 32
SHORTEST = 16
_CERTAIN = 256
_STEP = 48
_BY_LINES = 16 << 10
_BY_WORDS = 64 << 10
_GRAM = 4
_WORD = re.compile(rb"[^ \t\r\n]+")


def between(old: bytes, new: bytes, region: Region) -> list[Region]:
    """Give the stretches of `region` that no anchor covers, ascending; empty ones left out."""
    i1, i2, j1, j2 = region
    large = max(i2 - i1, j2 - j1) > _BY_LINES
    found = _lines(old, new, region) if large else _probes(old, new, region)
    out = gaps(chain(found), region)
    if not large:
        return out
    return [part for gap in out for part in _refined(old, new, gap)]


def _refined(old: bytes, new: bytes, gap: Region) -> list[Region]:
    i1, i2, j1, j2 = gap
    if min(i2 - i1, j2 - j1) <= 512:
        return [gap]
    if min(i2 - i1, j2 - j1) <= _BY_WORDS:
        return gaps(chain(_probes(old, new, gap)), gap)
    return [
        part
        for rest in gaps(chain(_grams(old, new, gap)), gap)
        for part in (_refined(old, new, rest) if rest != gap else [gap])
    ]


def gaps(found: list[Anchor], region: Region) -> list[Region]:
    """Give what ascending anchors leave of a region; empty stretches are left out."""
    i, i2, j, j2 = region
    out = []
    for a, b, length in [*found, (i2, j2, 0)]:
        if a > i or b > j:
            out.append((i, a, j, b))
        i, j = a + length, b + length
    return out


def _probes(old: bytes, new: bytes, region: Region) -> list[Anchor]:
    """Walk the new region in steps that grow while nothing is found."""
    i1, i2, j1, j2 = region
    out: list[Anchor] = []
    at, step, covered, expected = j1, _STEP, j1, i1
    while at + PROBE <= j2:
        probe = new[at : at + PROBE]
        found = old.find(probe, expected, i2)
        if found < 0 and expected > i1:
            found = old.find(probe, i1, expected + PROBE)
        anchor = (0, 0, 0) if found < 0 else _extend(old, new, (i1, i2, covered, j2), found, at)
        if anchor[2] < _CERTAIN and not (found >= 0 and _stands_once(old, new, region, probe)):
            at += step
            step = min(step + step // 4, (j2 - j1) // 8 + _STEP)
            continue
        expected, covered = anchor[0] + anchor[2], anchor[1] + anchor[2]
        at, step = covered + SHORTEST, _STEP
        trimmed = _snap(old, new, anchor)
        if trimmed[2] >= SHORTEST:
            out.append(trimmed)
    return out


def _stands_once(old: bytes, new: bytes, region: Region, probe: bytes) -> bool:
    i1, i2, j1, j2 = region
    return (
        old.find(probe, old.find(probe, i1, i2) + 1, i2) < 0
        and new.find(probe, new.find(probe, j1, j2) + 1, j2) < 0
    )


def _extend(old: bytes, new: bytes, region: Region, a: int, b: int) -> Anchor:
    i1, i2, j1, j2 = region
    back = common_suffix(old, new, a, b, min(a - i1, b - j1))
    length = common_prefix(old, new, a, b, min(i2 - a, j2 - b))
    return a - back, b - back, back + length


def _snap(old: bytes, new: bytes, anchor: Anchor) -> Anchor:
    """Shrink to token boundaries of both texts."""
    a, b, length = anchor
    while length and not (is_boundary(old, a) and is_boundary(new, b)):
        a, b, length = a + 1, b + 1, length - 1
    while length and not (is_boundary(old, a + length) and is_boundary(new, b + length)):
        length -= 1
    return a, b, length


def _grams(old: bytes, new: bytes, region: Region) -> list[Anchor]:
    """Four words in a row that stand once in either region, each grown to its longest match.

    For texts of very long lines: a probe that is looked for everywhere costs the whole text.
    """
    i1, i2, j1, j2 = region
    grams, starts = _all_grams(old, i1, i2)
    theirs, counts = dict(zip(grams, starts, strict=True)), Counter(grams)
    grams, starts = _all_grams(new, j1, j2)
    counts_new = Counter(grams)
    out: list[Anchor] = []
    covered = j1
    for gram, b in zip(grams, starts, strict=True):
        if b < covered or counts_new[gram] > 1 or counts.get(gram) != 1 or len(gram) < SHORTEST:
            continue
        anchor = _extend(old, new, (i1, i2, covered, j2), theirs[gram], b)
        covered = anchor[1] + anchor[2]
        trimmed = _snap(old, new, anchor)
        if trimmed[2] >= SHORTEST:
            out.append(trimmed)
    return out


def _all_grams(text: bytes, start: int, end: int) -> tuple[list[bytes], list[int]]:
    """Give each four words of a region, and where they start."""
    words = list(map(re.Match.span, _WORD.finditer(text, start, end)))
    starts = [at for at, _ in words[: 1 - _GRAM]]
    ends = [at for _, at in words[_GRAM - 1 :]]
    return list(map(text.__getitem__, map(slice, starts, ends))), starts


def _lines(old: bytes, new: bytes, region: Region) -> list[Anchor]:
    """Lines that stand once in either region, each grown to its longest match."""
    i1, i2, j1, j2 = region
    theirs = _once(old[i1:i2].split(b"\n"), i1)
    out: list[Anchor] = []
    covered = j1
    for line, b in _once(new[j1:j2].split(b"\n"), j1).items():
        a = theirs.get(line)
        if a is None or b < covered:
            continue
        anchor = _extend(old, new, (i1, i2, covered, j2), a, b)
        covered = anchor[1] + anchor[2]
        trimmed = _snap(old, new, anchor)
        if trimmed[2] >= SHORTEST:
            out.append(trimmed)
    return out


def _once(lines: list[bytes], start: int) -> dict[bytes, int]:
    """Find where each line of some length stands that stands once, in order."""
    starts = accumulate((len(line) + 1 for line in lines), initial=start)
    counts = Counter(lines)
    return {
        line: at
        for line, at in zip(lines, starts, strict=False)
        if len(line) >= SHORTEST and counts[line] == 1
    }


def chain(anchors: list[Anchor]) -> list[Anchor]:
    """Keep the heaviest of the sequences that ascend in both texts; `anchors` ascend in the new."""
    pairs = pairwise(anchors)
    return anchors if all(p[0] + p[2] <= q[0] for p, q in pairs) else _heaviest(anchors)


def _heaviest(anchors: list[Anchor]) -> list[Anchor]:
    """Weighted longest increasing subsequence over a frontier of (old end, weight, index).

    Anchors come ascending by new start. The frontier ascends in both old end and weight, so the
    best predecessor of an anchor is the last entry that ends before it.
    """
    ends: list[int] = []
    best: list[tuple[int, int]] = []
    previous: list[int] = []
    for index, (a, _, length) in enumerate(anchors):
        place = bisect_left(ends, a + 1)
        weight, before = best[place - 1] if place else (0, -1)
        previous.append(before)
        total = weight + length
        place = bisect_left(ends, a + length)
        if place and best[place - 1][0] >= total:
            continue
        stop = place
        while stop < len(ends) and best[stop][0] <= total:
            stop += 1
        ends[place:stop] = [a + length]
        best[place:stop] = [(total, index)]
    out = []
    at = best[-1][1] if best else -1
    while at >= 0:
        out.append(anchors[at])
        at = previous[at]
    return out[::-1]
