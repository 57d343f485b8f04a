"""Secrets in what is about to be kept, named by where they stand; the rule is `core.check_secrets`.

Rule 1: what is JSON is looked at value by value, as it was meant, not as it is escaped.
Rule 2: a message shows the first letters and never the secret.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.core.check_secrets import spots
from pvc.core.json_text import parse
from pvc.core.secret_signs import shows_sign
from pvc.errors import PvcError, RefusedError
from pvc.launch.settings import chosen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.core.json_text import Value
    from pvc.store.repo import Repository

_HERE = "it is kept in this clone"
_EVERYWHERE = "it is kept for good, and every sync sends it"
MOST_NAMED = 3
"""How many are named one by one; one is enough to look for the others."""


def heed(repo: Repository, data: bytes, what: str) -> tuple[str, ...]:
    """Look at a body that a command is about to keep, as `pvc.secrets` says; gives notes.

    Raises `RefusedError` where secrets are refused. A launch looks by itself (`launch.pin`).
    """
    return _heed(repo, data, what, _HERE)


def heed_words(repo: Repository, words: str, what: str) -> tuple[str, ...]:
    """Check words that go into a record or a commit, which every sync sends, in the same way."""
    return _heed(repo, words.encode("utf-8", "surrogatepass"), what, _EVERYWHERE)


def _heed(repo: Repository, data: bytes, what: str, where: str) -> tuple[str, ...]:
    rule = chosen("secrets", repo.config("pvc.secrets") or "")
    found = () if rule == "allow" or not shows_sign(data) else named(data, what)
    if found and rule == "refuse":
        raise RefusedError(found[0], hint="take it out, or `git config pvc.secrets warn`")
    return tuple(f"{words}; {where}" for words in found)


def named(data: bytes, what: str) -> tuple[str, ...]:
    """Say in words which secrets stand in a body; `what` it is, such as `value` or `tools`."""
    found = [
        f"the {what} `{pointer}` holds {spot.what}: `{spot.shown}`"
        if pointer
        else f"the {what} holds {spot.what}: `{spot.shown}`"
        for pointer, text in _texts(data)
        for spot in spots(text)
    ]
    more = len(found) - MOST_NAMED
    return (*found[:MOST_NAMED], *((f"and {more} more in the {what}",) if more > 0 else ()))


def _texts(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Give the texts of a JSON value by pointer; of anything else the bytes themselves."""
    try:
        value = parse(data.decode())
    except (PvcError, UnicodeDecodeError):
        yield "", data
        return
    yield from _walk(value, "")


def _walk(value: Value, pointer: str) -> Iterator[tuple[str, bytes]]:
    if isinstance(value, dict):
        for key, item in value.items():
            name = key.replace("~", "~0").replace("/", "~1")
            yield from _walk(item, f"{pointer}/{name}")
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _walk(item, f"{pointer}/{at}")
    elif type(value) is str:
        yield pointer, value.encode(errors="surrogatepass")
