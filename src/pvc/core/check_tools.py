"""Rules about tools: the list that is sent, and the prose that speaks of them.

Rule 1: prose names a tool only where it says so: a name in code marks, or one that is written like
an identifier, next to the word `tool`. Anything less would take every verb for a tool.
Rule 2: a list that is sorted, or in the order of its schema's properties, has an order that stays;
one that is neither may come out of a set, and a set comes out differently in every process.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pvc.core.check_subject import Hit, without_fences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pvc.core.check_subject import Subject, TextFile
    from pvc.core.check_tool_list import Tool, ToolList

MOST_COMPARED = 200
"""So many unknown names get a hint with the near name."""
_NAME = rb"[A-Za-z_][\w.-]{1,63}"
_MARKED = rb"`(?P<marked>" + _NAME + rb")`"
_IDENTIFIER = rb"(?P<bare>[A-Z][a-z]+(?:[A-Z][a-z0-9]*)+|[a-z][a-z0-9]*(?:_[a-z0-9]+)+)"
_BEFORE = re.compile(rb"(?:" + _MARKED + rb"|\b" + _IDENTIFIER + rb")\s+tools?\b(?![\w`-])")
_AFTER = re.compile(
    rb"\b(?:the\s+)?tools?\s+(?:named|called)?\s*"
    + _MARKED
    + rb"(?P<more>(?:(?:\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+)`"
    + _NAME
    + rb"`)*)",
    re.IGNORECASE,
)
_MORE = re.compile(rb"`(" + _NAME + rb")`")
_ARGUMENT = re.compile(
    rb"`(?P<one>[A-Za-z_]\w{0,63})`\s+(?:argument|parameter|property)\b"
    rb"|\b(?:argument|parameter|property)\s+`(?P<two>[A-Za-z_]\w{0,63})`",
    re.IGNORECASE,
)
_SENTENCE = re.compile(rb"(?:[^.!?\n]|[.!?](?=\S)|\n(?![ \t]*\n))+")


def unknown_tools(subject: Subject) -> Iterator[Hit]:
    """See prose that names a tool which is not among those that are sent."""
    if subject.tools is None:
        return
    names = subject.tools.by_name.keys()
    near = _Near(names)
    for file in subject.files:
        for start, end, name in _named(file):
            if name not in names:
                yield Hit(file.path, start, end, f"there is no tool `{name}`", near[name], name)


def _named(file: TextFile) -> Iterator[tuple[int, int, str]]:
    """Give each name of a tool in the prose, with its bytes, in order."""
    text = without_fences(file.data)
    found: set[tuple[int, int]] = set()
    for match in _BEFORE.finditer(text):
        found.add(match.span("marked" if match["marked"] else "bare"))
    for match in _AFTER.finditer(text):
        found.add(match.span("marked"))
        found.update(more.span(1) for more in _MORE.finditer(text, *match.span("more")))
    for start, end in sorted(found):
        yield start, end, text[start:end].decode()


def unknown_arguments(subject: Subject) -> Iterator[Hit]:
    """See a sentence about one tool that names an argument which its schema lacks."""
    if subject.tools is None:
        return
    tools = subject.tools.by_name
    near = {name: _Near(tool.arguments) for name, tool in tools.items()}
    for file in subject.files:
        named = list(_named(file))  # in order
        starts = [start for start, _, _ in named]
        for sentence in _SENTENCE.finditer(without_fences(file.data)):
            first = bisect_left(starts, sentence.start())
            last = bisect_left(starts, sentence.end(), first)
            names = {name for _, _, name in named[first:last]}
            tool = tools.get(names.pop()) if len(names) == 1 else None
            if tool:
                yield from _arguments(file, sentence, tool, near[tool.name])


def _arguments(file: TextFile, sentence: re.Match[bytes], tool: Tool, near: _Near) -> Iterator[Hit]:
    for match in _ARGUMENT.finditer(sentence[0]):
        group = "one" if match["one"] else "two"
        name = match[group].decode()
        if name not in tool.arguments:
            yield Hit(
                file.path,
                sentence.start() + match.start(group),
                sentence.start() + match.end(group),
                f"tool `{tool.name}` has no argument `{name}`",
                near[name],
                name,
            )


class _Near:
    """Hints for names that are not among the known ones, each worked out once.

    Looking for the near name goes through all that are known, so only the first names get one.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._names = sorted(known)
        self._hints: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._hints:
            close = None
            if len(self._hints) < MOST_COMPARED:
                close = get_close_matches(name, self._names, 1, 0.5)
            known = "known: " + ", ".join(self._names[:12]) if self._names else ""
            self._hints[name] = f"did you mean `{close[0]}`?" if close else known
        return self._hints[name]


def duplicate_tools(subject: Subject) -> Iterator[Hit]:
    """See two tools of one name."""
    seen: set[str] = set()
    for tools, tool, _ in _tools(subject):
        is_second = tool.name in seen
        seen.add(tool.name)
        if is_second:
            yield Hit(
                tools.path,
                tool.part.start,
                tool.part.end,
                f"two tools are called `{tool.name}`",
                "rename one of them",
                tool.name,
            )


def tool_order(subject: Subject) -> Iterator[Hit]:
    """See tools that are not in order of their names."""
    if subject.tools is None:
        return
    names = subject.tools.names
    for number in range(1, len(names)):
        if names[number] < names[number - 1]:
            part = subject.tools.tools[number].part
            yield Hit(
                subject.tools.path,
                part.start,
                part.end,
                f"`{names[number]}` stands behind `{names[number - 1]}`",
                "sort tools by name, or see that their order is fixed in the code",
                names[number],
            )
            return


def required_order(subject: Subject) -> Iterator[Hit]:
    """See a `required` list without an order that stays."""
    for tools, tool, _ in _tools(subject):
        for required in tool.required:
            places = {name: at for at, name in enumerate(required.properties)}
            known = [name for name in required.names if name in places]
            in_schema = sorted(known, key=places.__getitem__)
            if len(known) > 1 and known not in (sorted(known), in_schema):
                yield Hit(
                    tools.path,
                    required.part.start,
                    required.part.end,
                    f"`required` of `{tool.name}` is in no order that stays",
                    "sort it: a list made from a set is another one in every process",
                    tool.name,
                )


def required_unknown(subject: Subject) -> Iterator[Hit]:
    """See a `required` list that names what its schema has not."""
    for tools, tool, _ in _tools(subject):
        for required in tool.required:
            known, near = frozenset(required.properties), _Near(required.properties)
            for name in required.names:
                if name not in known:
                    yield Hit(
                        tools.path,
                        required.part.start,
                        required.part.end,
                        f"`{tool.name}` requires `{name}`, which is no property of it",
                        near[name],
                        name,
                    )


def _tools(subject: Subject) -> Iterator[tuple[ToolList, Tool, int]]:
    if subject.tools is not None:
        for number, tool in enumerate(subject.tools.tools):
            yield subject.tools, tool, number
