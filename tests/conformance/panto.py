"""The operations of panto's vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pvc.core.reconcile import fresh, reconcile
from pvc.dialects import panto, panto_wire
from pvc.model.session import Message, Mode, SystemEntry, effective, entries_of

if TYPE_CHECKING:
    from collections.abc import Callable

Input = dict[str, Any]
Output = dict[str, Any]


def _message(given: Input) -> Message:
    mode = Mode(given["mode"]) if given.get("mode") else None
    return Message(given["role"], given["text"].encode(), mode)


def _messages(given: Input) -> list[Message]:
    return [_message(message) for message in given["messages"]]


def _texts(blocks: tuple[bytes, ...]) -> list[str]:
    return [block.decode() for block in blocks]


def _entry(entry: SystemEntry) -> Output:
    return {"role": "system", "mode": str(entry.mode), "text": entry.data.decode()}


def _effective(given: Input) -> Output:
    return {"blocks": _texts(effective(entries_of(_messages(given))))}


def _effective_prefix(given: Input) -> Output:
    return {"blocks": _texts(effective(entries_of(_messages(given)[: given["n"]])))}


def _anthropic_system(given: Input) -> Output:
    text = panto_wire.joined(effective(entries_of(_messages(given))))
    return {"system": None if text is None else text.decode()}


def _openai_messages(given: Input) -> Output:
    ordered = panto_wire.leading(_messages(given))
    return {"messages": [{"role": m.role, "text": m.data.decode()} for m in ordered]}


def _log_read(given: Input) -> Output:
    lines = [line["message"] for line in given["entries"] if "message" in line]
    messages = [panto_wire.read_message(message) for message in lines]
    entries = entries_of(messages)
    blocks = [{"mode": str(e.mode), "text": e.data.decode()} for e in entries]
    return {"system_blocks": blocks, "effective": _texts(effective(entries))}


def _log_write(given: Input) -> Output:
    import json

    line: Output = json.loads(panto_wire.write_line(_message(given["message"])))
    return line


def _resolve(given: Input) -> Output:
    layers = {
        name: {file: text.encode() for file, text in files.items()}
        for name, files in given["layers"].items()
    }
    return {"blocks": _texts(panto.resolve(layers, given["builtin"].encode()))}


def _fresh(given: Input) -> Output:
    return {"entries": [_entry(e) for e in fresh([text.encode() for text in given["blocks"]])]}


def _reconcile(given: Input) -> Output:
    entries = [
        SystemEntry(b["text"].encode(), Mode(b.get("mode") or "append"))
        for b in given["system_blocks"]
    ]
    found = reconcile(entries, [text.encode() for text in given["config_blocks"]])
    return {
        "window": [entries[i].data.decode() for i in found.window],
        "append_entries": [_entry(entry) for entry in found.record],
    }


OPS: dict[str, Callable[[Input], Output]] = {
    "effective": _effective,
    "effective-prefix": _effective_prefix,
    "anthropic-system": _anthropic_system,
    "openai-messages": _openai_messages,
    "log-read": _log_read,
    "log-write": _log_write,
    "resolve-layers": _resolve,
    "fresh": _fresh,
    "reconcile": _reconcile,
}
