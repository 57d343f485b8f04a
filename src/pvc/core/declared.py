"""Where a JSON file declares a tool, to the byte, though it is laid out for reading.

A head holds compact JSON, a file is indented. Between the two only white space outside of strings
differs; so the file is compacted, with the place of each byte kept, and the tool is looked for
there.

Rule 1: exact or nothing: another key order or another escape is another text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pvc.core.json_text import dump

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.core.json_text import Value

_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"|[^ \t\r\n"]+', re.DOTALL)


class Compact:
    """A JSON text without its white space."""

    def __init__(self, data: bytes) -> None:
        tokens = list(_TOKENS.finditer(data))
        self.data = b"".join(token[0] for token in tokens)
        self._places = [at for token in tokens for at in range(token.start(), token.end())]

    def find(self, tool: Value, key: str, value: Value) -> Iterator[tuple[int, int, int]]:
        """Give where the value of a tool's key stands: `(offset in the value, place, length)`.

        A string is looked for without its quotes. Nothing where the file does not have the tool.
        """
        whole = dump(tool).encode("utf-8", "surrogatepass")
        start = self.data.find(whole)
        named = f"{dump(key)}:{dump(value)}".encode("utf-8", "surrogatepass")
        inside = whole.find(named)
        if start < 0 or inside < 0:
            return
        text = dump(value).encode("utf-8", "surrogatepass")
        at = start + inside + len(named) - len(text)
        if isinstance(value, str) and text.startswith(b'"'):
            if b"\\" in text:
                return  # escapes: bytes of the text are no bytes of the file
            at, text = at + 1, text[1:-1]
        yield from self._stretches(at, len(text))

    def _stretches(self, at: int, size: int) -> Iterator[tuple[int, int, int]]:
        places = self._places
        first = at
        for here in range(at + 1, at + size + 1):
            if here == at + size or places[here] != places[here - 1] + 1:
                yield first - at, places[first], here - first
                first = here
