"""The two wires of the form `panto`, and its session log.

    string     one text: each block without its trailing line feeds, a rule between two blocks
    messages   each block a system message of its own, as it stands, before all other messages

The log is JSON lines; a system message holds its mode beside its content:

    {"message":{"role":"system","mode":"replace","content":[{"type":"text","text":"…"}]}}

Rule 1: only line feeds are stripped, and only at the end: a carriage return is a byte of the text.
Rule 2: every block takes its rule, an empty one too, as the document has no exception; a text that
is empty as a whole is left out.
Rule 3: the writer always records the mode; a reader takes a missing one for `append`. Fields that
it does not know stay unread: the line belongs to the tool that wrote it.
Rule 4: a last line without its line feed that does not parse was cut off while it was written. It
is given apart, never guessed at; anywhere else such a line is an error with its number.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.errors import DecodeError
from pvc.model.session import SYSTEM, Message, Mode, effective, entries_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

JOINT = b"\n\n---\n\n"
TRAILING = b"\n"


def joined(blocks: Iterable[bytes]) -> bytes | None:
    """Join surviving blocks for a wire with one string; null when there is nothing to send."""
    return JOINT.join([block.rstrip(TRAILING) for block in blocks]) or None


def leading(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Put the surviving system blocks first, one message each, then all others in order."""
    system = [Message(SYSTEM, block) for block in effective(entries_of(messages))]
    return (*system, *(message for message in messages if message.role != SYSTEM))


# --- the log ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Log:
    """A session log as it was read; `cut` is what stands after the last whole line."""

    messages: tuple[Message, ...]
    cut: bytes = b""


def write_line(message: Message, **fields: object) -> bytes:
    """Write one line of a log; `fields` stand in front of the message."""
    content = [{"type": "text", "text": message.data.decode()}]
    inner: dict[str, object] = {"role": message.role, "content": content}
    if message.role == SYSTEM:
        mode = str(message.mode or Mode.APPEND)
        inner = {"role": message.role, "mode": mode, "content": content}
    if message.author:
        fields["author"] = message.author
    line = json.dumps({**fields, "message": inner}, ensure_ascii=False, separators=(",", ":"))
    return line.encode() + b"\n"


def read_log(data: bytes, at: str = "log") -> Log:
    """Read a log. Raises `DecodeError` with the line that is none."""
    *lines, rest = data.split(b"\n")
    messages = [_line(line, f"{at}:{n}") for n, line in enumerate(lines, 1) if line.strip()]
    cut = b""
    if rest.strip():
        try:
            messages.append(_line(rest, f"{at}:{len(lines) + 1}"))
        except DecodeError:
            cut = rest
    return Log(tuple(message for message in messages if message is not None), cut)


def _line(line: bytes, at: str) -> Message | None:
    try:
        value = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        what = "not UTF-8" if isinstance(error, UnicodeDecodeError) else "not JSON"
        raise DecodeError(f"a line of the log is {what}", at=at) from None
    if not isinstance(value, dict):
        raise DecodeError("a line of the log is no object", at=at)
    message = value.get("message")
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        return None  # a line of another kind
    author = value.get("author")
    return read_message(message, author if isinstance(author, str) else "", at)


def read_message(message: dict[str, object], author: str = "", at: str = "log") -> Message:
    """Read the message of one line."""
    role = str(message["role"])
    return Message(role, _text(message.get("content"), role, at), _mode(message, role, at), author)


def _mode(message: dict[str, object], role: str, at: str) -> Mode | None:
    if role != SYSTEM:
        return None
    mode = Mode.APPEND if message.get("mode") is None else message["mode"]
    if mode not in tuple(Mode):
        raise DecodeError(f"no mode `{mode}`", at=at, hint="`append` or `replace`")
    return Mode(str(mode))


def _text(content: object, role: str, at: str) -> bytes:
    """Join the text of a content's typed blocks; of others only the system's must be text."""
    parts = [content] if isinstance(content, str) else []
    for block in content if isinstance(content, list) else ():
        text = block.get("text") if isinstance(block, dict) else None
        if isinstance(text, str):
            parts.append(text)
        elif role == SYSTEM:
            raise DecodeError("a system message holds a block that is no text", at=at)
    try:
        return "".join(parts).encode()
    except UnicodeEncodeError:
        raise DecodeError("half of a surrogate pair has no UTF-8", at=at) from None
