"""The operations of Raku's vectors."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pvc.core import raku_blocks
from pvc.dialects import raku
from pvc.dialects.raku_context import RakuError, RunContext, canonical, digest

if TYPE_CHECKING:
    from collections.abc import Callable

Input = dict[str, Any]
Output = dict[str, Any]


def _text(rope: raku_blocks.Rope) -> Output:
    return {"text": b"".join(piece[0] for piece in rope).decode()}


def _env_block(given: Input) -> Output:
    return _text(raku_blocks.env_block(given["extra"]))


def _tool_docs(given: Input) -> Output:
    return _text(raku_blocks.tools(given["tools"]))


def _instructions(given: Input) -> Output:
    with TemporaryDirectory() as name:
        folder = Path(name)
        for file in given["files"]:
            path = folder / file["path"]
            if file["kind"] == "dir":
                path.mkdir(parents=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(b64decode(file["b64"]))
        paths = [folder / path for path in given["paths"] if path is not None]
        files = [(path.name, path.read_bytes()) for path in paths if path.is_file()]
    return {"text": raku.instructions(files).decode()}


def _assemble(given: Input) -> Output:
    try:
        message = raku.assemble(given["identity"], given["sections"])
    except RakuError as error:
        return {"error_code": error.error_code}
    return {
        "text": message.text,
        "role": message.role,
        "sticky": message.is_sticky,
        "sysprompt": message.is_sysprompt,
    }


def _run_context(given: Input) -> Output:
    try:
        facts = given["facts_hash"] if "facts_hash" in given else given.get("facts", [])
        context = RunContext.of(facts, given.get("head", []), given.get("tail", []))
    except RakuError as error:
        return {"error_code": error.error_code}
    return {
        "canonical": context.canonical(),
        "digest": context.digest,
        "head": context.head_message(),
        "tail": context.tail_message(given["closing_lines"]),
        "is-empty": context.is_empty,
        "section-digests": [pair.digest for pair in context.sections],
        "sections": [{"name": pair.name, "rendered": pair.text} for pair in context.sections],
    }


def _data_digest(given: Input) -> Output:
    return {"canonical": canonical(given["value"]), "digest": digest(given["value"])}


OPS: dict[str, Callable[[Input], Output]] = {
    "env-block": _env_block,
    "tool-docs": _tool_docs,
    "instructions": _instructions,
    "assemble": _assemble,
    "run-context": _run_context,
    "data-digest": _data_digest,
}
