"""One changed text, cut the ways in which the rules of `core.kind` look at it.

    old   … Local time: Tuesday 14 July 2026, 09:41:07 CEST …
    new   … Local time: Tuesday 14 July 2026, 09:41:52 CEST …
            └─ line_start                          └─ at      (both the same on the two sides)

Rule 1: only what stands at the first divergence decides. Texts are long and may change in many
places; each cut here begins at that place and is bounded.
Rule 2: a change may have one side only, when lines or a whole block were added or taken away.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pvc.core.divergence import common_prefix

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from pvc.model.body import Kind, Region

WINDOW_LINES = 400
WINDOW_CHARS = 20_000
_BOUNDARY = set(" \t\r\n\"'`<>()[]{},;=|")
_SENTENCE_ENDS = (". ", "! ", "? ", "\n")
_SEGMENT = re.compile(r"[^-_./\\:~@#?&+%]+")
_TAG = re.compile(r"(?<!\w)<(/?)([A-Za-z][\w.-]*)[^<>]*?(/?)>")  # `List<Name>` is no tag
_HEADING = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+(.+)|\*\*(.+?)\*\*:?|([^\n]{1,120}):)[ \t]*$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Match:
    """A rule's answer: the kind, what was seen, and whether it rests on more than a cue word.

    `other` is the kind to name beside it; without one the next rule that fits gives it.
    """

    kind: Kind
    evidence: str
    sure: bool = True
    other: Kind | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a difference comes from, known from versions, whatever its words look like.

    `edit`: files of one tree say something else, `said` names the version. `move`: files or parts
    of them changed places. `value`: what was given for the placeholder `name`, with what it was
    and is. `tree`: the texts are of two trees.
    """

    how: Literal["edit", "move", "value", "tree"]
    said: str = ""
    name: str = ""
    values: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Change:
    """Two texts that part at character `at`; `leaf` is the last word of the leaf's pointer.

    `injected` is true for text that a harness puts in front of the model (system, tools, what
    stands in a user message between tags), false for what was said and done in the conversation.
    `opening` is true for the first system text, where a harness says who the model is.
    `moved_to` and `moved_from` tell whether a text stands elsewhere in the later body, or stood
    elsewhere in the earlier one.
    """

    old: str
    new: str
    at: int
    region: Region
    leaf: str
    injected: bool
    opening: bool
    moved_to: Callable[[str], bool]
    moved_from: Callable[[str], bool]
    seconds_between: float | None = None

    @cached_property
    def line_start(self) -> int:
        """Where the line that holds the place begins; past `at` if lines were added at the end.

        A line that is very long is taken from a few thousand characters before the place on.
        """
        if {self.old[self.at : self.at + 1], self.new[self.at : self.at + 1]} == {"", "\n"}:
            return self.at + 1
        return max(self.old.rfind("\n", 0, self.at) + 1, self.at - WINDOW_CHARS // 4)

    @cached_property
    def before(self) -> str:
        """The line up to the place."""
        return self.old[self.line_start : self.at]

    @cached_property
    def lines(self) -> tuple[str, str]:
        """The line that holds the place, on each side."""
        start, place = self.line_start, max(self.at, self.line_start)
        return _line(self.old, start, place), _line(self.new, start, place)

    @cached_property
    def label(self) -> str:
        """What stands in the line before the word that holds the place."""
        shared = len(self.before)
        while shared and self.before[shared - 1] not in _BOUNDARY:
            shared -= 1
        return self.before[:shared]

    @cached_property
    def tokens(self) -> tuple[str, str]:
        """The word that holds the place: up to a space, quote, bracket, comma or equals sign."""
        start, at = len(self.label), len(self.before)
        return _word(self.lines[0], start, at), _word(self.lines[1], start, at)

    @cached_property
    def middles(self) -> tuple[str, str]:
        """What differs in the two lines, from the first such word to the last."""
        old, new = (line[len(self.label) :] for line in self.lines)
        ends = common_prefix(old[::-1], new[::-1])
        while ends and old[len(old) - ends] not in _BOUNDARY:
            ends -= 1
        return old[: len(old) - ends], new[: len(new) - ends]

    @cached_property
    def windows(self) -> tuple[list[str], list[str]]:
        """Lines from the place's line on, on each side, bounded."""
        start, end = self.line_start, self.line_start + WINDOW_CHARS
        old, new = (text[start:end] for text in (self.old, self.new))
        return (
            old.split("\n")[:WINDOW_LINES] if old else [],
            new.split("\n")[:WINDOW_LINES] if new else [],
        )

    @cached_property
    def hunk(self) -> tuple[list[str], list[str]]:
        """Lines taken away and lines added at the place, up to the next line that both have."""
        old, new = self.windows
        first: dict[str, int] = {}
        for j, line in enumerate(new):
            if line.strip():
                first.setdefault(line, j)
        meets = [(i + first[line], i, first[line]) for i, line in enumerate(old) if line in first]
        _, i, j = min(meets, default=(0, len(old), len(new)))
        return old[:i], new[:j]

    @cached_property
    def only_side(self) -> list[str]:
        """Lines that stand on one side only; empty when lines changed on both."""
        removed, added = ([line for line in side if line.strip()] for side in self.hunk)
        return [] if removed and added else removed or added

    @cached_property
    def goes_on(self) -> bool:
        """Whether the line goes on as it did after the word that changed, or need not."""
        if self.injected:
            return True
        start = len(self.label)
        old, new = (
            line[start + len(token) :][:24]
            for line, token in zip(self.lines, self.tokens, strict=True)
        )
        return old == new

    @cached_property
    def sentences(self) -> tuple[str, str]:
        """The sentence that holds the place, on each side."""
        ends = [(self.old.rfind(mark, 0, self.at), len(mark)) for mark in _SENTENCE_ENDS]
        start = max((at + size for at, size in ends if at >= 0), default=0)
        return _sentence(self.old, start, self.at), _sentence(self.new, start, self.at)

    @cached_property
    def _above(self) -> str:
        """What stands before the word that holds the place, bounded."""
        end = self.line_start + len(self.label)
        return self.old[max(0, self.line_start - WINDOW_CHARS) : end]

    @cached_property
    def _tags(self) -> tuple[list[tuple[str, int]], list[tuple[int, int]]]:
        """Tags of `_above`: the open ones, each with its start, and the ranges of closed ones."""
        opened: list[tuple[str, int]] = []
        closed: list[tuple[int, int]] = []
        for tag in _TAG.finditer(self._above):
            names = [name for name, _ in opened]
            if not tag[1] and not tag[3]:
                opened.append((tag[2], tag.start()))
            elif tag[1] and tag[2] in names:
                first = names.index(tag[2])
                closed.append((opened[first][1], tag.end()))
                del opened[first:]
        return opened, closed

    @cached_property
    def open_tags(self) -> list[str]:
        """Names of the tags that are open before the place, the outermost first."""
        return [name for name, _ in self._tags[0]]

    @cached_property
    def section(self) -> str:
        """The innermost open tags and the nearest heading or lead-in, as words."""
        return words(" ".join([*self.open_tags[-2:], self.lead_in]))

    @cached_property
    def _block(self) -> int:
        """Where in `_above` the line right above the innermost open tag that begins a line starts.

        What stands further up says nothing about the place. 0 without such a tag.
        """
        text = self._above
        opens = [at for _, at in self._tags[0] if text[at - 1 : at] in ("", "\n")]
        return text.rfind("\n", 0, len(text[: opens[-1]].rstrip())) + 1 if opens else 0

    @cached_property
    def lead_in(self) -> str:
        """The nearest heading or line that ends with a colon before the place's line.

        What stands within a tag that is closed again says nothing about the text after it.
        """
        text = self._above[: len(self._above) - len(self.label)]
        found = [
            next(filter(None, match.groups()))
            for match in _HEADING.finditer(text, self._block)
            if not any(start <= match.start() < end for start, end in self._tags[1])
        ]
        return found[-1] if found else ""

    @cached_property
    def lines_above(self) -> list[str]:
        """The lines above the place's line that may say what it belongs to, bounded."""
        text = self._above[self._block : len(self._above) - len(self.label)]
        return text.rstrip("\n").rsplit("\n", 200)[-200:]


def words(name: str) -> str:
    """Write a tag or heading so that its words stand apart."""
    name = _CAMEL.sub(" ", name)
    return name.replace("_", " ").replace("-", " ").replace(".", " ")


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def quoted(text: str) -> str:
    """Write a value for a sentence, cut when long."""
    text = text.strip()
    return "nothing" if not text else f"`{text[:60]}…`" if len(text) > 60 else f"`{text}`"


def became(old: str, new: str) -> str:
    """Say that one value became another."""
    return f"{quoted(old)} became {quoted(new)}"


def _line(text: str, start: int, at: int) -> str:
    end = text.find("\n", at, start + WINDOW_CHARS)
    return text[start : end if end >= 0 else start + WINDOW_CHARS]


def _word(text: str, start: int, at: int) -> str:
    end = at
    while end < len(text) and text[end] not in _BOUNDARY:
        end += 1
    return text[start:end]


def _sentence(text: str, start: int, at: int) -> str:
    ends = [end for mark in _SENTENCE_ENDS if (end := text.find(mark, at)) >= 0]
    return text[start : min(ends, default=len(text)) + 1][:WINDOW_CHARS]


def segment_at(token: str, at: int) -> tuple[str, int]:
    """Give the part of a name, cut at its punctuation, that holds character `at`, and its start."""
    for match in _SEGMENT.finditer(token):
        if match.start() <= at <= match.end():
            return match[0], match.start()
    return "", at
