"""What git says while it fetches and pushes, read.

Rule 1: words of a remote are shown, and decide nothing but which ref they speak of. Whatever they
hold, a line of it is a line of text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pvc.errors import NotFoundError, PvcError
from pvc.store.child import STALE_LOCK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.store.child import Done

_REMOTE = "remote: "
_GUARD = re.compile(r"pvc: refused (\S+?): (.*)")
_HINT = re.compile(r" *hint: (.*)")
_SAID_LINES = 3
"""Lines of another hook that are passed on; the rest is in the server's own log."""


class Answer(NamedTuple):
    """What the remote said of one pushed ref: git's flag, its summary."""

    flag: str
    words: str

    @property
    def is_refused(self) -> bool:
        """Whether the ref stayed where it was."""
        return self.flag == "!"


class Said(NamedTuple):
    """Words of the remote's hooks: those of pvc's guard by ref, with hint, and all others."""

    guard: dict[str, tuple[str, str]]
    others: tuple[str, ...]


def rejected_by_fetch(stderr: str) -> Iterator[tuple[str, str]]:
    """Read ` ! [rejected]  refs/… -> refs/…  (why)`; names hold no blanks."""
    for line in stderr.split("\n"):
        if line.startswith(" ! ") and " -> " in line:
            name, _, why = line.partition(" -> ")[2].partition(" ")
            yield name, why.strip().strip("()")


def why_not_updated(stderr: str, name: str, words: str) -> str:
    """Say why a ref could not be written in this clone; empty where that was not it."""
    if "unable to update local ref" not in words:
        return ""
    text = stderr.replace(":\n\t", ": ")
    for line in text.split("\n"):
        if line.startswith("error: ") and f"'{name}'" in line:
            return line.removeprefix("error: ").strip()
    return words


def named_by_fetch(stderr: str) -> Iterator[str]:
    """Read ` = [up to date]  refs/… -> refs/…` and its like: our names of what is there."""
    for line in stderr.split("\n"):
        if line.startswith(" ") and " -> " in line:
            yield line.partition(" -> ")[2].partition(" ")[0]


def answers_of_push(stdout: str) -> dict[str, Answer]:
    """Read `flag TAB from:to TAB summary` lines by the remote's ref."""
    answers = {}
    for line in stdout.split("\n"):
        fields = line.split("\t")
        if len(fields) == 3 and len(fields[0]) == 1:
            answers[fields[1].partition(":")[2]] = Answer(fields[0], fields[2])
    return answers


def said_by_hooks(stderr: str) -> Said:
    """Read the lines that the remote's hooks wrote, as `report.hook` writes ours."""
    guard: dict[str, tuple[str, str]] = {}
    others = []
    last = ""
    for line in stderr.split("\n"):
        text = line.partition(_REMOTE)[2].rstrip()
        if not text:
            continue
        if found := _GUARD.fullmatch(text):
            last = found[1]
            guard[last] = (found[2], "")
        elif last and (found := _HINT.fullmatch(text)):
            guard[last] = (guard[last][0], found[1])
        elif not text.startswith("error: hook declined"):  # git's own: the answer says it
            last = ""
            others.append(text.strip())
    return Said(guard, tuple(others[:_SAID_LINES]))


def failed(remote: str, done: Done) -> PvcError:
    """Make the error of an exchange that came to nothing."""
    _, bad, ref = done.reason.partition("bad object refs/")
    if bad:
        return NotFoundError(
            f"ref `refs/{ref}` names a commit that is not in this repository",
            hint=f"`git update-ref -d refs/{ref}`, then `pvc sync` brings the remote's",
        )
    answers = f"`git ls-remote {remote}` shows whether it answers"
    return NotFoundError(
        f"cannot exchange with `{remote}`: {done.reason}",
        hint=STALE_LOCK if done.is_locked else answers,
    )
