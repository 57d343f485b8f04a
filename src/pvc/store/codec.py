"""Stored bytes ↔ pins and facts, by format number. Pure.

The form of a record is `launch.record`'s, so that there is one writer; here its values get their
types, and segments are put together and taken apart.

Rule 1: what is read is checked by writing it again: one pin has one record.
Rule 2: a segment is records, behind each the `[[prompt]]` table of its prompt unless an earlier one
has it, and as a whole one TOML document. A prompt's digest so stands twice within the 32 KB that
deflate looks back.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from pvc.errors import CorruptError, UsageError
from pvc.launch import record
from pvc.model.digest import Digest
from pvc.model.names import CommitId, SessionId, TreeName
from pvc.model.pin import EntryRef, Pin, Privacy, PromptFacts
from pvc.model.session import Mode
from pvc.model.span import Plane

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pvc.launch.record import Record

PROMPT_TABLE = b"[[prompt]]\n"
IDX_ROW_SIZE = 32
FROM = ".from"
"""Beside a segment that was taken from other ledgers: which (`store.taken`)."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def decode(data: bytes, at: str = "a pin's record") -> Pin:
    """Read one record. Raises `CorruptError` on anything that was never written."""
    values = record.read(data, at)

    def text(name: str) -> str | None:
        return cast("str | None", values.get(name))

    def digest(name: str) -> Digest | None:
        value = text(name)
        return None if value is None else Digest(value)

    tree, commit, version = text("tree"), text("commit"), values.get("version")
    try:
        return Pin(
            session=SessionId(str(values["session"])),
            chain=SessionId(str(values["chain"])),
            n=int(values["n"]),
            time=to_micros(str(values["time"])),
            writer=str(values["writer"]),
            tree=TreeName(tree) if tree else None,
            version=None if version is None else int(version),
            commit=CommitId(commit) if commit else None,
            prompt=Digest(str(values["prompt.digest"])),
            environment=digest("environment.digest"),
            tools=digest("tools.digest"),
            head=digest("head.digest"),
            provider=text("provider"),
            model=text("model"),
            observed=text("observed"),
            supersedes=digest("supersedes"),
            reason=text("reason"),
            entry=_entry(values),
            context=digest("context.digest"),
            privacy=Privacy(text("privacy") or Privacy.INPUTS),
            key=text("key"),
            receipt=Digest.of(data),
        )
    except (UsageError, ValueError) as error:
        raise CorruptError(f"a pin's record is damaged: {error}", at=at) from None


def _entry(values: Record) -> EntryRef | None:
    if "entry.mode" not in values:
        return None
    return EntryRef(
        Mode(str(values["entry.mode"])),
        Digest(str(values.get("entry.digest", ""))),
        str(values.get("entry.author", "")),
    )


def decode_named(data: bytes, name: str, at: str) -> Pin:
    """Read a record of the spool, which must be the one that its file's name stands for."""
    pin = decode(data, at)
    if record.key(pin.session, pin.chain, pin.n) != name:
        raise CorruptError("a pin's record under another's name", at=at)
    return pin


def encode(pin: Pin) -> bytes:
    """Write a pin's record."""
    entry = pin.entry
    values: dict[str, str | int | None] = {
        "session": pin.session,
        "chain": pin.chain,
        "n": pin.n,
        "time": from_micros(pin.time),
        "writer": pin.writer,
        "tree": pin.tree,
        "version": pin.version,
        "commit": pin.commit,
        "prompt.digest": pin.prompt,
        "environment.digest": pin.environment,
        "tools.digest": pin.tools,
        "head.digest": pin.head,
        "provider": pin.provider,
        "model": pin.model,
        "observed": pin.observed,
        "supersedes": pin.supersedes,
        "reason": pin.reason,
        "entry.mode": str(entry.mode) if entry else None,
        "entry.digest": entry.digest if entry else None,
        "entry.author": entry.author if entry else None,
        "context.digest": pin.context,
        "privacy": None if pin.privacy is Privacy.INPUTS else str(pin.privacy),
        "key": pin.key,
    }
    given: Record = {name: value for name, value in values.items() if value is not None}
    given["format"] = record.format_of(given)
    return record.write(given)


def to_micros(text: str) -> int:
    """Read a record's time; raises `ValueError` unless it is in its one form."""
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    micros = (moment - _EPOCH) // timedelta(microseconds=1)
    if from_micros(micros) != text:
        raise ValueError(f"`{text}` is no time of a record")
    return micros


def from_micros(micros: int) -> str:
    """Write a record's time."""
    moment = _EPOCH + timedelta(microseconds=micros)
    return moment.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


# --- prompts --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Unrendered:
    """A prompt that a fold could not render again, or that came out as other bytes (`found`)."""

    found: Digest | None = None


def encode_prompt(pin: Pin, facts: PromptFacts | Unrendered) -> bytes:
    """Write the `[[prompt]]` table of a pin's prompt."""
    lines = [f"digest = {record.quote(pin.prompt)}"]
    lines += [f"tree = {record.quote(pin.tree)}"] if pin.tree else []
    lines += [f"commit = {record.quote(pin.commit)}"] if pin.commit else []
    if isinstance(facts, Unrendered):
        lines.append("rendered = false")
        lines += [f"found = {record.quote(facts.found)}"] if facts.found else []
    else:
        planes = ", ".join(record.quote(f"{plane}:{at}") for plane, at in facts.planes)
        lines += [
            f"bytes = {facts.size_bytes}",
            f"sha256 = {record.quote(facts.sha256)}",
            f"form = {record.quote(facts.form)}",
            f"rule = {facts.rule}",
            *([f"label = {record.quote(facts.label)}"] if facts.label else []),
            *([f"fingerprint = {record.quote(facts.fingerprint)}"] if facts.fingerprint else []),
            f"blocks = [{', '.join(map(str, facts.blocks))}]",
            f"stable = {facts.stable}",
            f"planes = [{planes}]",
        ]
    return PROMPT_TABLE + ("\n".join(lines) + "\n\n").encode()


def decode_prompt(table: bytes, at: str = "a prompt's table") -> PromptFacts | Unrendered:
    """Read a `[[prompt]]` table, in the one form in which `encode_prompt` writes it."""
    try:
        values: dict[str, Any] = dict(_rows(table))
        if not values.get("rendered", True):
            return Unrendered(Digest(values["found"]) if "found" in values else None)
        planes = [text.rpartition(":") for text in values["planes"]]
        _check_types(values)
        return PromptFacts(
            digest=Digest(values["digest"]),
            size_bytes=values["bytes"],
            sha256=values["sha256"],
            form=values["form"],
            rule=values["rule"],
            label=values.get("label", ""),
            fingerprint=values.get("fingerprint", ""),
            blocks=tuple(values["blocks"]),
            stable=values["stable"],
            planes=tuple((Plane(plane), int(start)) for plane, _, start in planes),
        )
    except (ValueError, KeyError, TypeError, AttributeError, UsageError) as error:
        raise CorruptError(f"a prompt's table is damaged: {error}", at=at) from None


def _check_types(values: Mapping[str, Any]) -> None:
    """Raise `TypeError` when a table's values are not of the types that are written."""
    numbers = (values["bytes"], values["rule"], values["stable"], *values["blocks"])
    texts = [values[name] for name in ("sha256", "form", "label", "fingerprint") if name in values]
    are_texts = all(isinstance(text, str) for text in texts)
    if not are_texts or not all(type(number) is int for number in numbers):
        raise TypeError("a value of another type")


def _rows(table: bytes) -> Iterator[tuple[str, object]]:
    """Read a table's lines; a TOML parser would take ten times as long for each of a million."""
    first, *lines = table.decode().split("\n")
    if first != PROMPT_TABLE.decode().strip("\n") or lines[-2:] != ["", ""]:
        raise ValueError("it has no end")
    for line in lines[:-2]:
        name, _, text = line.partition(" = ")
        yield name, _value(text)


def _value(text: str) -> object:
    if text.startswith("[") and text.endswith("]"):
        return [_scalar(item) for item in text[1:-1].split(", ") if item]
    return _scalar(text)


def _scalar(text: str) -> object:
    if text.isascii() and text.isdecimal():
        return int(text)
    return False if text == "false" else record.unquote(text)


def table_digest(table: bytes) -> str:
    """Read the digest of the prompt that a table is about: its first line, as it is written."""
    line = table.removeprefix(PROMPT_TABLE).partition(b"\n")[0]
    return line.decode(errors="replace").removeprefix('digest = "').removesuffix('"')


# --- segments -------------------------------------------------------------------------------


def encode_segment(records: Sequence[bytes], tables: Mapping[int, bytes]) -> bytes:
    """Put records together, each followed by the table that `tables` has for its position."""
    return b"".join(data + tables.get(at, b"") for at, data in enumerate(records))


def split_segment(
    data: bytes, at: str = "a segment"
) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """Take a segment apart into its records and its prompt tables."""
    tables = list(_tables(data))
    records = tuple(table for table in tables if table.startswith(record.TABLE))
    prompts = tuple(table for table in tables if table.startswith(PROMPT_TABLE))
    if len(records) + len(prompts) != len(tables):
        raise CorruptError("a segment is damaged", at=at)
    return records, prompts


def _tables(data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        end = data.find(b"\n\n", start)
        end = len(data) if end < 0 else end + 2
        yield data[start:end]
        start = end


def encode_idx(pins: Sequence[Pin], records: Sequence[bytes], segment: bytes) -> bytes:
    """Write a segment's `.idx`: where the record of each pin stands, sorted."""
    from blake3 import blake3

    rows, offset = [], 0
    for pin, data in zip(pins, records, strict=True):
        offset = segment.index(data, offset)
        rows.append(
            blake3(pin.session.encode()).digest()[:8]
            + bytes.fromhex(pin.prompt.hex)[:8]
            + max(pin.time, 0).to_bytes(8, "big")  # a clock before 1970 was recorded once
            + offset.to_bytes(4, "big")
            + len(data).to_bytes(4, "big")
        )
        offset += len(data)
    return b"".join(sorted(rows))
