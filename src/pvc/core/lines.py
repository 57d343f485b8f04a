"""Lines that two texts both have verbatim and once: the same lines, kept or moved.

Nobody changed such a line, however similar its neighbors are, so these lines are matched before
any words are compared (`core.diff`, rule 8).

Rule 1: a line needs at least two words to count; `else:` or `---` alone says nothing.
Rule 2: where lines cross, the heaviest chain is kept and the others have moved.
Rule 3: a moved line is compared with nothing else. It is taken out of both texts while the text
around it is compared, and put back as one deletion and one insertion.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from pvc.core.anchors import chain
from pvc.core.words import SIZE_BITS, Lexicon

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pvc.core.anchors import Anchor, Region

TWO_WORDS = 2 << SIZE_BITS
_TWO_WORDS = re.compile(rb"[0-9A-Za-z_][^0-9A-Za-z_\x80-\xff]+[0-9A-Za-z_]")
Range = tuple[int, int]
"""`(start, end)`, half-open."""


def whole(old: bytes, new: bytes, region: Region) -> Region:
    """Widen a region to whole lines; the texts before and after it must be equal."""
    i1, i2, j1, j2 = region
    front = i1 - (old.rfind(b"\n", 0, i1) + 1)
    i1, j1 = i1 - front, j1 - front
    if _starts_line(old, i2) and _starts_line(new, j2):
        return i1, i2, j1, j2
    back = (old.find(b"\n", i2) + 1 or len(old)) - i2
    return i1, i2 + back, j1, j2 + back


def _starts_line(text: bytes, at: int) -> bool:
    return at == 0 or text[at - 1] == 0x0A


def matched(
    old: bytes, new: bytes, region: Region, lexicon: Lexicon
) -> tuple[list[Anchor], list[Anchor]]:
    """Find the lines of a region of whole lines that stayed, and those that moved.

    Both ascend in the new text; a line feed belongs to its line where both texts have it.
    """
    i1, i2, j1, j2 = region
    if i1 == i2 or j1 == j2:
        return [], []
    theirs = _once(old[i1:i2].split(b"\n"), i1)
    mine = _once(new[j1:j2].split(b"\n"), j1) if theirs else {}
    found = [
        (theirs[line], at, len(line) + _ends(old, theirs[line], line, new, at))
        for line, at in mine.items()
        if line in theirs and _has_two_words(line, lexicon)
    ]
    kept = chain(found)
    if len(kept) == len(found):
        return kept, []
    stayed = set(kept)
    return kept, [line for line in found if line not in stayed]


def _once(lines: list[bytes], start: int) -> dict[bytes, int]:
    """Find where each line starts that the region has once, in order."""
    starts = accumulate((len(line) + 1 for line in lines), initial=start)
    counts = Counter(lines)
    return {line: at for line, at in zip(lines, starts, strict=False) if counts[line] == 1}


def _ends(old: bytes, a: int, line: bytes, new: bytes, b: int) -> bool:
    """Whether both texts have a line feed after the line; the last line may lack it."""
    return a + len(line) < len(old) and b + len(line) < len(new)


def _has_two_words(line: bytes, lexicon: Lexicon) -> bool:
    if _TWO_WORDS.search(line):  # most lines; the others have letters beyond ASCII, or one word
        return True
    return sum(lexicon.size(lexicon[chunk]) for chunk in line.split()) >= TWO_WORDS


class Rest:
    """What is left of `text[start:end]` when some ranges are taken out of it."""

    __slots__ = ("data", "end", "start", "stretches")

    def __init__(self, text: bytes, start: int, end: int, out: Sequence[Range]) -> None:
        edges = [start, *(at for cut in sorted(out) for at in cut), end]
        ranges = list(zip(edges[::2], edges[1::2], strict=True))
        sizes = accumulate((b - a for a, b in ranges), initial=0)
        self.data = b"".join([text[a:b] for a, b in ranges]) if out else text[start:end]
        self.start, self.end = start, end
        self.stretches = [(at, a, b - a) for at, (a, b) in zip(sizes, ranges, strict=False)]
        """`(place in data, place in text, length)`, ascending."""


def put_back(old: Rest, new: Rest, parts: Sequence[Region]) -> Iterator[Region]:
    """Turn the edits of two rests into edits of their texts.

    What the rests have in common is cut wherever a line was taken out on either side; everything
    between those pieces is an edit.
    """
    i, j = old.start, new.start
    at = to = 0
    for i1, i2, j1, j2 in [*parts, (len(old.data), 0, len(new.data), 0)]:
        for a, b, length in _pieces(old, new, (at, i1), (to, j1)):
            if i < a or j < b:
                yield i, a, j, b
            i, j = a + length, b + length
        at, to = i2, j2
    if i < old.end or j < new.end:
        yield i, old.end, j, new.end


def _pieces(old: Rest, new: Rest, kept: Range, kept_new: Range) -> Iterator[tuple[int, int, int]]:
    """Give a stretch that both rests have as pieces `(place in old, place in new, length)`."""
    size = kept[1] - kept[0]
    marks = {0, size}
    for rest, start in ((old, kept[0]), (new, kept_new[0])):
        marks.update(at - start for at, _, _ in rest.stretches if 0 < at - start < size)
    for a, b in pairwise(sorted(marks)):
        yield _place(old, kept[0] + a), _place(new, kept_new[0] + a), b - a


def _place(rest: Rest, at: int) -> int:
    """Where in the text the byte at `at` of the rest is."""
    start, place, _ = next(s for s in reversed(rest.stretches) if s[0] <= at and s[2])
    return place + at - start


# --- ranges -----------------------------------------------------------------------------------


def without(ranges: Sequence[Range], taken: Sequence[Range]) -> list[Range]:
    """Take ascending ranges out of ascending ranges; each taken one lies within one of them."""
    out = []
    waiting = list(reversed(taken))
    for start, end in ranges:
        at = start
        while waiting and waiting[-1][0] < end:
            cut = waiting.pop()
            out.append((at, cut[0]))
            at = cut[1]
        out.append((at, end))
    return [(start, end) for start, end in out if start < end]


def within(ranges: Sequence[Range], start: int, length: int) -> list[Range]:
    """Give what lies in `length` bytes from `start` on, counted from there."""
    cut = ((max(a - start, 0), min(b - start, length)) for a, b in ranges)
    return [(a, b) for a, b in cut if a < b]
