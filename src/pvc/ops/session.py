"""Sessions whose prompt changes: entries are added, and every past position can be shown.

Rule 1: an entry is pinned when this returns, or nothing is.
Rule 2: a text that is true only now is refused, because the prompt lives as long as the session:
it belongs into the dynamic plane, which is told anew (`ops.context`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pvc.core.volatile import find
from pvc.errors import DecodeError, RefusedError, UsageError
from pvc.launch.entry import CONTEXT, Change, SessionPinner
from pvc.launch.place import Place
from pvc.model.names import SessionId
from pvc.model.session import Message, Mode
from pvc.ops import secrets
from pvc.ops.cost import Cost, asked_of_pins, costs, prompt_of, prompt_of_version, tools_if_here
from pvc.ops.told import Teller

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from pvc.model.pin import Pin
    from pvc.model.span import Rendered
    from pvc.ops.price import Lost
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo

MAIN = "main"
AUTHOR = "session"
"""Who adds an entry when nobody says; never configuration."""


@dataclass(frozen=True, slots=True)
class Now:
    """What is true only now, for rule 2: today, and values of the machine by name."""

    today: date
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Added:
    """An entry that is pinned. `costs` is what a cache cannot read back because of it."""

    pin: Pin
    size_bytes: int
    prompt_bytes: int
    costs: tuple[Cost, ...]
    notes: tuple[str, ...] = ()

    @property
    def lost(self) -> Lost:
        """What is lost at worst."""
        return self.costs[0].lost

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.session-add/1`."""
        entry = self.pin.entry
        return {
            "schema": "pvc.session-add/1",
            "session": self.pin.session,
            "chain": self.pin.chain,
            "n": self.pin.n,
            "mode": str(entry.mode) if entry else None,
            "author": entry.author if entry else None,
            "bytes": self.size_bytes,
            "prompt_digest": self.pin.prompt,
            "prompt_bytes": self.prompt_bytes,
            "receipt": self.pin.receipt,
            "lost": self.lost.to_json(),
            "costs": [cost.to_json() for cost in self.costs],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Position:
    """A session's prompt after one of its pins: the exact bytes, and whose each block is."""

    pin: Pin
    rendered: Rendered
    entries: tuple[Pin, ...]
    """The entries that the prompt consists of; blocks in front of them are the version's."""

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.session/1`."""
        starts = (0, *self.rendered.block_ends)
        blocks = [*zip(starts, self.rendered.block_ends, strict=False)]
        return {
            "schema": "pvc.session/1",
            "session": self.pin.session,
            "chain": self.pin.chain,
            "n": self.pin.n,
            "prompt_digest": self.pin.prompt,
            "bytes": len(self.rendered.data),
            "blocks": [{"start": start, "end": end} for start, end in blocks],
            "entries": [entry_json(pin) for pin in self.entries],
            "text": self.rendered.data.decode(errors="replace"),
        }


@dataclass(frozen=True, slots=True)
class SessionLog:
    """All positions of a session, oldest first; `standing` are the numbers that count now."""

    pins: tuple[Pin, ...]
    standing: frozenset[int]

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.session-log/1`."""
        rows = [{**entry_json(pin), "stands": pin.n in self.standing} for pin in self.pins]
        return {"schema": "pvc.session-log/1", "positions": rows}


def entry_json(pin: Pin) -> dict[str, object]:
    """Write one position; `mode` is `version` where a version's blocks began the prompt."""
    return {
        "n": pin.n,
        "mode": str(pin.entry.mode) if pin.entry else "version",
        "author": pin.entry.author if pin.entry else None,
        "text_digest": pin.entry.digest if pin.entry else None,
        "version": pin.label or None,
        "prompt_digest": pin.prompt,
        "time": pin.time,
        "reason": pin.reason,
        "receipt": pin.receipt,
    }


# --- finding --------------------------------------------------------------------------------


def tip(repo: Repository, session: str, chain: str = MAIN) -> Pin:
    """Find the newest pin of a session's chain."""
    return Teller(repo).tip(bare(session), chain)


def bare(session: str) -> str:
    """Take a session's word as its id: `session:ID` and `ID` are the same here."""
    return session.removeprefix("session:")


def show(repo: Repository, session: str, n: int | None = None, chain: str = MAIN) -> Position:
    """Give a session's prompt as it was after its pin `n`, or as it is."""
    teller = Teller(repo)
    newest = teller.tip(bare(session), chain)
    pin = newest if n is None else teller.at(newest, n)
    return Position(pin, teller.rendered(pin), teller.entries(pin))


def log(repo: Repository, session: str, chain: str = MAIN) -> SessionLog:
    """List all positions of a session."""
    teller = Teller(repo)
    newest = teller.tip(bare(session), chain)
    standing = teller.entries(newest)
    numbers = {pin.n for pin in standing}
    if not standing or standing[0].entry is None or standing[0].entry.mode is Mode.APPEND:
        first = standing[0] if standing else newest
        base = next(pin for pin in teller.back(first) if pin.entry is None)
        numbers.add(base.n)
    return SessionLog(teller.chain(newest), frozenset(numbers))


def lines(repo: Repository, session: str, chain: str = MAIN) -> bytes:
    """Write a session's log as JSON lines, in the form of `panto`."""
    from pvc.dialects.panto_wire import write_line
    from pvc.ops.recorded import recorded
    from pvc.store.codec import from_micros

    teller = Teller(repo)
    rows = recorded(teller, teller.tip(bare(session), chain))
    return b"".join(
        write_line(
            Message("system", row.entry.data, row.entry.mode, row.entry.author),
            session=row.pin.session,
            n=row.pin.n,
            time=from_micros(row.pin.time),
        )
        for row in rows
    )


# --- adding ---------------------------------------------------------------------------------


def pinner(repo: Repository) -> SessionPinner:
    """Give what records in this repository."""
    return SessionPinner(Place(str(repo.git_dir), str(repo.common_dir)))


def add(
    repo: Repository,
    session: str,
    change: Change,
    *,
    chain: str = MAIN,
    now: Now | None = None,
) -> Added:
    """Append to a session's prompt, or replace it. Without `now` any text may be added.

    Raises `RefusedError` when the text is true only now.
    """
    session = SessionId(bare(session))
    if chain.endswith(CONTEXT):
        raise UsageError(f"`{chain}` holds deliveries of context, not a prompt")
    if now is not None:
        refuse_volatile(change.data, now, session)
    before = show(repo, session, chain=chain)
    notes = heed_change(repo, change)
    pin = record(repo, session, [change], chain=chain)[-1]
    after = Teller(repo).rendered(pin)
    found = costs_of_change(repo, before.pin, before.rendered, after)
    return Added(pin, len(change.data), len(after.data), found, notes)


def heed_change(repo: Repository, change: Change) -> tuple[str, ...]:
    """Name the secrets of an entry: its text is a body, its author and reason are the ledger's."""
    return (
        *secrets.heed(repo, change.data, "text"),
        *secrets.heed_words(repo, change.author or "", "author"),
        *secrets.heed_words(repo, change.reason or "", "reason"),
    )


def costs_of_change(
    repo: Repository,
    pin: Pin,
    old: Rendered,
    new: Rendered,
    version: VersionInfo | None = None,
) -> tuple[Cost, ...]:
    """Price another prompt for a session's pin: its requests and tools stay.

    Its markers do too, unless the prompt is of another `version`.
    """
    prompt, provider = prompt_of(repo, pin, old)
    asked = asked_of_pins(repo, pin, provider, tools_if_here(repo, pin))
    after = prompt_of_version(repo, version, new) if version else replace(prompt, rendered=new)
    return costs(asked, prompt, after)


def record(
    repo: Repository, session: str, changes: list[Change], *, chain: str = MAIN
) -> tuple[Pin, ...]:
    """Pin entries, one after the other."""
    from pvc.store.codec import decode

    for change in changes:
        try:
            change.data.decode()
        except UnicodeDecodeError as error:
            raise DecodeError(f"byte {error.start} of the text is no UTF-8") from None
        heed_change(repo, change)
    return tuple(decode(known.data) for known in pinner(repo).change(session, chain, changes))


def refuse_volatile(data: bytes, now: Now, session: str) -> None:
    """Refuse a text that is true only now, and say where it belongs."""
    found = find(data.decode(errors="replace"), now.today, now.values)
    if found:
        first = found[0]
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise RefusedError(
            f"`{first.text}` ({first.name}) is true only now, and this prompt lasts as long as its"
            f" session{more}",
            at=f"text:{first.line}:{first.column}",
            hint=f"tell it anew each time: name a section under `dynamic` in pvc.toml, then\n"
            f"pvc context {session} --section NAME=FILE; or add it as it is with"
            " --accept-volatile",
        )
