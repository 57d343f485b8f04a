"""Requests in the order in which they were sent, out of the files that recorders write.

| file | request | answer |
|---|---|---|
| one body | the file | – |
| HAR | `log.entries[].request.postData.text` | `response.content.text` |
| JSON lines: a body a line | the line | – |
| JSON lines: batches | `params`, `body` | – |
| JSON lines of LiteLLM | the line, by `proxy_log` | `response` |
| JSON lines of a recorder | `request.body`, `request`, `body` | `response.body`, `response` |

Rule 1: a request is handed on as its own JSON text, numbers and repeated keys as they were written,
so the reader of bodies sees what it would see in a file.
Rule 2: an entry without a request body (an image, a health check) is not an exchange; the caller
counts it.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from pvc.core.drops import seconds
from pvc.core.json_text import Number, dump, parse
from pvc.errors import DecodeError
from pvc.providers.answers import answer_of
from pvc.providers.formats import format_of, seen_in
from pvc.providers.proxy_log import is_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.core.json_text import Value


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request. `answer` is what came back for it, `time` is in seconds since 1970."""

    label: str
    body_json: bytes
    answer: dict[str, Value] | None = None
    time: float | None = None


def exchanges(data: bytes, at: str) -> Iterator[Exchange | str]:
    """Give the requests of a file in order; for an entry that holds none, what it is instead."""
    text = data.decode("utf-8-sig", "replace")
    first, _, more = text.partition("\n")
    try:
        whole = parse(text, at=at, duplicates=[])
    except DecodeError as error:
        if not more.strip() or not _is_line(first):
            yield error.message
            return
    else:
        yield from _of(whole, at, text)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"{at}:{number}"
        try:
            value = parse(line, at=place, duplicates=[])
        except DecodeError as error:
            yield f"line {number}: {error.message}"
            continue
        yield from _of(value, place, line)


def _is_line(line: str) -> bool:
    """Return True if the first line of a file is a whole JSON value."""
    try:
        parse(line, duplicates=[])
    except DecodeError:
        return False
    return True


def _of(value: Value, at: str, text: str) -> Iterator[Exchange | str]:
    if not isinstance(value, dict):
        yield seen_in(value)
        return
    found = format_of(value)
    if found is not None and found.name == "HAR file":
        yield from _har(value, at)
        return
    if found is None or not found.bodies:
        yield seen_in(value)
        return
    if not found.inside:
        yield Exchange(at, text.encode("utf-8", "surrogatepass"))
        return
    if is_record(value):
        answer = _answer(value.get("response"), at)
        yield Exchange(at, text.encode("utf-8", "surrogatepass"), answer, _time(value))
        return
    request = value.get("request", value.get("params", value.get("body")))
    if isinstance(request, dict) and "body" in request:
        request = request["body"]
    if type(request) is str:
        body = request.encode("utf-8", "surrogatepass")
    elif isinstance(request, dict):
        body = dump(request).encode("utf-8", "surrogatepass")
    else:
        yield seen_in(value)
        return
    response = value.get("response")
    if isinstance(response, dict) and "body" in response:
        response = response["body"]
    yield Exchange(at, body, _answer(response, at), _time(value))


def _har(value: dict[str, Value], at: str) -> Iterator[Exchange | str]:
    log = value["log"]
    entries = log.get("entries") if isinstance(log, dict) else None
    for number, entry in enumerate(entries if isinstance(entries, list) else ()):
        place = f"{at}#{number}"
        request, response = (_part(entry, key) for key in ("request", "response"))
        body = _content(_part(request, "postData"))
        if not body:
            yield f"entry {number}: a request without a body"
            continue
        answer = _content(_part(response, "content"))
        yield Exchange(place, body, _answer(answer, place), _time(entry, "startedDateTime"))


def _part(value: Value, key: str) -> dict[str, Value]:
    held = value.get(key) if isinstance(value, dict) else None
    return held if isinstance(held, dict) else {}


def _content(part: dict[str, Value]) -> bytes:
    """Give the bytes of a HAR's content; what cannot be decoded is empty."""
    text = part.get("text")
    if type(text) is not str:
        return b""
    data = text.encode("utf-8", "surrogatepass")
    if part.get("encoding") != "base64":
        return data
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error:
        return b""


def _answer(given: Value | bytes, at: str) -> dict[str, Value] | None:
    """Read an answer; one that is cut off or in no form that pvc reads tells nothing."""
    if isinstance(given, dict):
        return given
    if type(given) is str:
        given = given.encode("utf-8", "surrogatepass")
    if not isinstance(given, bytes) or not given.strip():
        return None
    try:
        return answer_of(given, at)
    except DecodeError:
        return None


def _time(value: Value, *names: str) -> float | None:
    for name in (*names, "timestamp", "time", "startTime"):
        given = value.get(name) if isinstance(value, dict) else None
        if isinstance(given, Number) and isfinite(number := float(given)):
            return number
        if type(given) is str and (found := seconds(given)) is not None:
            return found
    return None
