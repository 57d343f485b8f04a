"""Where two prompts of one session part: the first byte that differs, and whose it is.

Loaded only when a pin is refused. Rule 1: tools stand in front of the prompt in every request, so a
difference there is the first. Rule 2: `byte` counts in the prompt, or in the head's stream for a
tool; excerpts are for reading.
"""

from pvc.core.json_text import Number, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pvc.launch.prompt import Prompt
    from pvc.model.span import SpanTuple

BEFORE, AFTER = 8, 28
"""Characters of an excerpt in front of the place and behind it."""


def of_prompts(pinned: "Prompt", given: "Prompt") -> dict[str, Value]:
    """Describe the first byte in which two prompts differ."""
    if pinned.tools_body != given.tools_body:
        found = _of_tools(pinned, given)
        if found is not None:
            return found
    at = first_difference(pinned.data, given.data)
    span = _changed(_span_at(pinned, at), _span_at(given, at))
    return {
        "region": "system",
        "byte": Number(at),
        "pinned": excerpt(pinned.data, at),
        "given": excerpt(given.data, at),
        "section": span[4] if span else "",
        "owner": owner(span),
    }


def _span_at(prompt: "Prompt", at: int) -> "SpanTuple | None":
    return next((span for span in prompt.spans if span[0] <= at < span[1]), None)


def _changed(old: "SpanTuple | None", new: "SpanTuple | None") -> "SpanTuple | None":
    """Choose whose the difference is: a shorter value, not what follows it."""
    # pinned  Work in |/srv/harbour|.
    # given   Work in |/srv/harbo|.      the first byte that differs is the file's here
    if old and old[2][0] == "binding" and not (new and new[2][0] == "binding"):
        return old
    return new or old


def of_setting(name: str, pinned: str, given: str) -> dict[str, Value]:
    """Describe a setting that a cache is kept apart by."""
    return {
        "region": "settings",
        "byte": Number(0),
        "owner": name,
        "pinned": pinned,
        "given": given,
    }


def in_words(divergence: dict[str, Value]) -> str:
    """Say in one phrase where the place is and whose."""
    if divergence["region"] == "settings":
        return f"the {divergence['owner']} is another"
    place = "prompt" if divergence["region"] == "system" else "head"
    return f"first at byte {divergence['byte']} of the {place}, from {divergence['owner']}"


def first_difference(a: bytes, b: bytes) -> int:
    """Give the index of the first byte that differs, which may be the shorter one's end."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def excerpt(data: bytes, at: int) -> Value:
    """Cut some characters around a byte; null where there is nothing."""
    if at >= len(data):
        return None
    before = data[max(at - 4 * BEFORE, 0) : at].decode(errors="replace")[-BEFORE:]
    return before + data[at : at + 4 * AFTER].decode(errors="replace")[:AFTER]


def owner(span: "SpanTuple | None") -> str:
    """Say in words where a span's bytes came from."""
    if span is None:
        return "nothing under version control"
    origin, section = span[2], f" in section `{span[4]}`" if span[4] else ""
    if origin[0] == "source":
        return f"`{origin[1]}`{section}"
    if origin[0] == "binding" and origin[2].startswith("/entries/"):
        return f"entry {origin[2].removeprefix('/entries/')} of the session"
    if origin[0] == "binding" and not origin[3]:
        return f"the value `{origin[2]}`{section}"
    if origin[0] == "binding":
        return f"the value `{origin[2]}` for `{{{origin[1]}}}`{section}"
    return f"the form's own words{section}"


def _of_tools(pinned: "Prompt", given: "Prompt") -> dict[str, Value] | None:
    """Describe the first leaf that differs; null when only what a cache does not see does."""
    a, b = _leaves(pinned, given.shape), _leaves(given, given.shape)
    at = 0
    for i in range(max(len(a), len(b))):
        old, new = a[i] if i < len(a) else None, b[i] if i < len(b) else None
        if old == new and old is not None:
            at += len(old[1]) + 1
            continue
        inside = first_difference(old[1] if old else b"", new[1] if new else b"")
        named = new or old
        return {
            "region": "tools",
            "byte": Number(at + inside),
            "pinned": excerpt(old[1], inside) if old else None,
            "given": excerpt(new[1], inside) if new else None,
            "pointer": named[0] if named else "",
            "owner": f"the tools' `{named[0] if named else ''}`",
        }
    return None


def _leaves(prompt: "Prompt", shape: str) -> list[tuple[str, bytes]]:
    from pvc.core.stream import as_tools, tool_leaves

    if prompt.tools is None:
        return []
    shape = shape or prompt.shape
    return list(tool_leaves(as_tools(prompt.tools, shape), shape))
