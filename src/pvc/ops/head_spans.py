"""The head of a request with spans: tools, then the prompt, as `core.stream` writes it.

Rule 1: the bytes are those of `core.stream.head`; spans only say where they came from.
Rule 2: a tool's text that a JSON file of the version declares, word for word, is that file's; any
other tool is under no version, and its pointer says which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.core.declared import Compact
from pvc.core.stream import ANTHROPIC, CHAT, RESPONSES, as_tools, head, one_tool
from pvc.errors import CorruptError
from pvc.model.span import FromSource, FromTool, Glue, Origin, Rendered, Span
from pvc.store.versions import sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pvc.core.json_text import Value
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo

_MARK = Glue("mark")


class _Writer:
    """Bytes and spans, put down in order."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.spans: list[Span] = []
        self.size = 0

    def add(self, data: bytes, origin: Origin, section: str = "") -> None:
        if data:
            self.parts.append(data)
            self.spans.append(Span(self.size, self.size + len(data), origin, section))
            self.size += len(data)

    def add_part(self, rendered: Rendered, start: int, end: int) -> None:
        """Add a range of the prompt with its own spans."""
        at = self.size - start
        inside = (s for s in rendered.spans if s.start < end and s.end > start)
        self.spans += [Span(s.start + at, s.end + at, s.origin, s.section) for s in inside]
        self.parts.append(rendered.data[start:end])
        self.size += end - start


def head_of(
    repo: Repository, version: VersionInfo, rendered: Rendered, tools: Value, shape: str
) -> tuple[Rendered, int]:
    """Write the head of a prompt and its tools; also where the system text begins."""
    shape = shape or ANTHROPIC
    own = as_tools(tools, shape) if tools is not None else []
    writer = _Writer()
    files = _declarations(repo, version) if own else {}
    for number, tool in enumerate(own):
        _add_tool(writer, files, tool, f"/tools/{number}", shape)
    system = writer.size
    starts = (0, *rendered.block_ends)
    blocks = [(a, b) for a, b in zip(starts, rendered.block_ends, strict=False) if a < b]
    _add_system(writer, rendered, blocks, shape)
    data = b"".join(writer.parts)
    if data != head(own or None, [rendered.data[a:b] for a, b in blocks], shape):
        raise CorruptError("a head with spans is not the head")
    return Rendered(data, tuple(writer.spans), (len(data),)), system


def _add_tool(
    writer: _Writer, files: dict[str, Compact], tool: Value, pointer: str, shape: str
) -> None:
    name = str(_field(tool, "name") or "")
    for at, data in one_tool(tool, pointer, shape):
        done = 0
        for offset, path, place, size in _declared(files, tool, at):
            writer.add(data[done:offset], FromTool(name, at, done))
            writer.add(data[offset : offset + size], FromSource(path, name, place))
            done = offset + size
        writer.add(data[done:], FromTool(name, at, done))
        writer.add(b"\0", _MARK)


def _declared(
    files: dict[str, Compact], tool: Value, pointer: str
) -> Iterator[tuple[int, str, int, int]]:
    """Find a leaf of a tool in the file that declares it: `(offset, path, place, length)`."""
    key = pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
    for path, file in files.items():
        found = list(file.find(tool, key, _field(tool, key)))
        if found:
            yield from ((offset, path, place, size) for offset, place, size in found)
            return


def _field(tool: Value, key: str) -> Value:
    """Give a field of a definition, wherever its form has it."""
    if not isinstance(tool, dict):
        return None
    inner = tool.get("function")
    holder = inner if isinstance(inner, dict) and key in inner else tool
    return holder.get(key)


def _declarations(repo: Repository, version: VersionInfo) -> dict[str, Compact]:
    return {s.path: Compact(s.data) for s in sources(repo, version) if s.path.endswith(".json")}


def _add_system(
    writer: _Writer, rendered: Rendered, blocks: Sequence[tuple[int, int]], shape: str
) -> None:
    if shape == RESPONSES:
        if blocks:
            writer.add_part(rendered, 0, len(rendered.data))
            writer.add(b"\0", _MARK)
        return
    if shape == CHAT and blocks:
        writer.add(b"system\0", _MARK)
    for start, end in blocks:
        if shape != CHAT or len(blocks) > 1:
            writer.add(b"text\0", _MARK)
        writer.add_part(rendered, start, end)
        writer.add(b"\0", _MARK)
