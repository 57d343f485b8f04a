"""Values given at launch → the prompt's bytes, and the digests of all that went in.

Rule 1: an environment's body is canonical JSON, so equal values have one digest; tools are kept as
given, for their order and their keys' order reach the model.
Rule 2: the one renderer is `core.program`; a launch and a fold cannot disagree.
"""

from blake3 import blake3

from pvc.core.json_text import Value, canonical, dump
from pvc.core.program import run
from pvc.errors import CorruptError, DecodeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from pvc.core.entries import Entry
    from pvc.core.program import Program
    from pvc.launch.version import Version
    from pvc.model.span import SpanTuple

EMPTY = b"{}"
"""The body of an empty environment, which is known everywhere and stored nowhere."""
DEFAULT_SHAPE = "anthropic.messages"


class Prompt:
    """A rendered prompt with the bodies it was rendered from.

    An observed one has neither spans nor an environment.
    """

    __slots__ = (
        "_digests",
        "data",
        "ends",
        "environment",
        "head",
        "shape",
        "spans",
        "tools",
        "tools_body",
    )

    def __init__(self, data: bytes, spans: "list[SpanTuple]", ends: tuple[int, ...]) -> None:
        self.data = data
        self._digests: dict[str, str] = {}
        self.spans = spans
        self.ends = ends
        self.environment: bytes | None = None
        self.tools: Value = None
        self.tools_body: bytes | None = None
        self.shape = ""
        self.head: bytes | None = None

    def blocks(self) -> list[bytes]:
        """Cut the bytes at the block ends; an empty prompt has no block."""
        pairs = zip((0, *self.ends), self.ends, strict=False)
        return [self.data[start:end] for start, end in pairs if start < end]

    def digests(self) -> dict[str, str]:
        """Digest each part that is there, under the record's names."""
        parts = {
            "prompt.digest": self.data,
            "environment.digest": self.environment,
            "tools.digest": self.tools_body,
            "head.digest": self.head,
        }
        if not self._digests:
            self._digests = {n: digest(data) for n, data in parts.items() if data is not None}
        return self._digests


def digest(data: bytes) -> str:
    """Give the tagged BLAKE3."""
    return "b3:" + blake3(data).hexdigest()


def render(
    version: "Version",
    environment: dict[str, Value],
    tools: Value,
    shape: str,
    entries: "Sequence[Entry]" = (),
) -> Prompt:
    """Render a version over an environment; the head too, where tools or a shape are given.

    `entries` are what the session added since.
    """
    try:
        prompt = _prompt(version.program, environment, entries)
    except CorruptError:
        if version.compiled_again is None:
            raise
        prompt = _prompt(version.compiled_again(), environment, entries)
    prompt.environment = canonical(environment)
    if tools is not None or shape:
        add_head(prompt, tools, shape or DEFAULT_SHAPE)
    return prompt


def _prompt(
    program: "Program", environment: dict[str, Value], entries: "Sequence[Entry]"
) -> Prompt:
    if entries:
        from pvc.core.entries import with_entries

        program = with_entries(program, entries)
    return Prompt(*run(program, environment))


def add_head(prompt: Prompt, tools: Value, shape: str) -> None:
    """Add tools, and the bytes of tools and prompt as a cache compares them."""
    from pvc.core.stream import as_tools, head

    prompt.shape, prompt.tools = shape, tools
    if tools is not None:
        try:
            prompt.tools_body = dump(tools).encode()
        except UnicodeEncodeError:
            raise DecodeError("half of a surrogate pair has no UTF-8", at="tools") from None
    own = as_tools(tools, shape) if tools is not None else None
    prompt.head = head(own, prompt.blocks(), shape)
