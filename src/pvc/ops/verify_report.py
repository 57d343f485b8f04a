"""What a verification found: each finding says what, where, since when, and what to do.

Rule 1: a code names the kind of finding; codes and JSON keys are a contract (`docs/verify.md`).
Rule 2: what cannot be looked at is never passed over: it is a note, or counted as not rendered with
its reason.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pvc.errors import PvcError, fault_of
from pvc.model import bounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from pvc.store.repo import Commit, Repository

SCHEMA = "pvc.verify/1"
HINTS = {
    "version": "pvc log names it; go on from the last good version: pvc supersede --revert-to",
    "move": "move the channel again: its last good move is the parent of this one",
    "fold": "keep this clone as evidence; another clone's copy has the bytes that were",
    "record": "keep this clone as evidence; the record's receipt tells the right one",
    "diverged": "keep both as evidence; receipts and signatures tell which of them is forged",
    "rollback": "fetch it from a clone that still has it, and push it again",
    "duplicate": "pvc show lists both; the receipt that the launch printed names the right one",
    "gap": "pvc sync, in case it is another clone's; else it was dropped",
    "prompt": "the version, the values or the record are not what the session was told from",
    "body": "take the body from another clone, or pvc forget it",
    "cache": "remove the file; it is made again from git's objects",
    "spool": "move the file away; the receipt that the launch printed tells what was in it",
    "signature": "git verify-commit says more; the signers stand in gpg.ssh.allowedSignersFile",
    "replaced": "git replace -d, or remove the line of info/grafts: git shows what is not there",
    "receipt": "keep this clone as evidence; look for the receipt in other clones",
    "ref": "git update-ref puts it back to where another clone has it",
}
"""Codes, and what to do where a finding says nothing better."""


_MISSING = re.compile(r"object `([0-9a-f]{40,64})` is not in this repository")
_FETCH = "take the object from another clone: git fetch --refetch REMOTE, or copy its pack"
_FAULT = "this is a fault in pvc; please report it with this line"


def _path_of(repo: Repository, commit: Commit | None, oid: str) -> str:
    """Find where below a commit an object belongs that is not here; empty where that is not known.

    What else is missing is passed over, and no more is looked at than a version may hold.
    """
    waiting = [("", commit.tree)] if commit else []
    for _ in range(bounds.MAX_ENTRIES):
        if not waiting:
            break
        prefix, tree = waiting.pop()
        try:
            rows = repo.tree(tree)
        except PvcError:
            continue
        for row in rows:
            if row.oid == oid:
                return prefix + row.name
        waiting += [(f"{prefix}{row.name}/", row.oid) for row in rows if row.is_tree]
    return ""


class Since(NamedTuple):
    """The first commit that shows a finding, and the time that it says, in seconds since 1970."""

    commit: str
    time: int


@dataclass(frozen=True, slots=True)
class Found:
    """One finding."""

    code: str
    message: str
    ref: str = ""
    commit: str = ""
    path: str = ""
    byte: int | None = None
    since: Since | None = None
    hint: str = ""

    def to_json(self) -> dict[str, object]:
        """Keys of a finding in `pvc.verify/1`."""
        return {
            "code": self.code,
            "message": self.message,
            "ref": self.ref or None,
            "commit": self.commit or None,
            "path": self.path or None,
            "byte": self.byte,
            "since": self.since._asdict() if self.since else None,
            "hint": self.hint,
        }


COUNTED = (
    "versions", "moves", "ledgers", "folds", "pins", "tombstones", "prompts", "bodies", "programs",
    "spooled", "signatures", "receipts",
)  # fmt: skip


@dataclass
class Report:
    """Gathers findings while the verification goes on."""

    watch: Callable[[int, int], None] | None = None
    found: list[Found] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    not_rendered: Counter[str] = field(default_factory=Counter)
    total: int = 0
    done: int = 0

    def add(
        self,
        code: str,
        message: str,
        *,
        ref: str = "",
        commit: Commit | None = None,
        path: str = "",
        byte: int | None = None,
        since: Commit | None = None,
        hint: str = "",
    ) -> None:
        """Take in a finding. Without `since` it is there since `commit`."""
        first = since or commit
        self.found.append(
            Found(
                code=code,
                message=message,
                ref=ref,
                commit=commit.id if commit else "",
                path=path,
                byte=byte,
                since=Since(first.id, first.time.seconds) if first else None,
                hint=hint or HINTS[code],
            )
        )

    def add_error(
        self,
        repo: Repository,
        code: str,
        error: Exception,
        *,
        what: str = "",
        ref: str = "",
        commit: Commit | None = None,
        path: str = "",
    ) -> None:
        """Take in what stopped a look at one thing; all else is still looked at.

        A fault of ours is a finding too: what could not be looked at was not found clean.
        """
        if isinstance(error, PvcError):
            message, hint, at = error.message, error.hint, error.at
        else:
            message, hint, at = f"pvc cannot look at it: {fault_of(error)}", _FAULT, ""
        missing = _MISSING.search(message)
        if missing is not None:
            hint = hint or _FETCH
            at = _path_of(repo, commit, missing[1]) or at
        self.add(
            code,
            f"{what}: {message}" if what else message,
            ref=ref,
            commit=commit,
            path=path or at,
            hint=hint,
        )

    def note(self, text: str) -> None:
        """Take in what is no finding and worth knowing."""
        self.notes[text] = None

    def step(self, what: str, count: int = 1) -> None:
        """Count what was looked at, and tell whoever watches."""
        self.counts[what] += count
        self.done += count
        if self.watch is not None:
            self.watch(self.done, max(self.total, self.done))

    def result(self) -> Verified:
        """Close the report."""
        return Verified(
            found=tuple(self.found),
            counts={name: self.counts[name] for name in COUNTED},
            not_rendered=tuple(sorted(self.not_rendered.items())),
            notes=tuple(self.notes),
        )


@dataclass(frozen=True, slots=True)
class Verified:
    """What was looked at, and what was found."""

    found: tuple[Found, ...]
    counts: dict[str, int]
    not_rendered: tuple[tuple[str, int], ...] = ()
    """Why prompts could not be rendered again, and how many."""
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.verify/1`."""
        return {
            "schema": SCHEMA,
            "clean": not self.found,
            "verified": self.counts,
            "findings": [found.to_json() for found in self.found],
            "not_rendered": [
                {"reason": reason, "prompts": count} for reason, count in self.not_rendered
            ],
            "notes": list(self.notes),
        }
