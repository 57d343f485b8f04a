"""What git says of commits in `blame --porcelain`: who wrote them, who committed them, subject."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pvc.store.repo import Repository

Facts = tuple[tuple[str, str], ...]

_KEYS = ("author", "author-mail", "author-time", "author-tz")
_FORMAT = "%H%n%an%n<%ae>%n%at%n%ad%n%cn%n<%ce>%n%ct%n%cd%n%s"


def facts_of(repo: Repository, commits: Iterable[str]) -> dict[str, Facts]:
    """Read the facts of some commits, in git's words and order."""
    listing = "".join(f"{commit}\n" for commit in sorted(commits))
    if not listing:
        return {}
    words = ("log", "-z", "--no-walk=unsorted", "--stdin", "--no-show-signature", "--no-color")
    out = repo.git.output(*words, "--date=format:%z", f"--format={_FORMAT}", data=listing.encode())
    return dict(map(_facts, out.decode("utf-8", "replace").rstrip("\0\n").split("\0")))


def _facts(row: str) -> tuple[str, Facts]:
    commit, *values, subject = row.split("\n")
    keys = (*_KEYS, *(key.replace("author", "committer") for key in _KEYS))
    return commit, (*zip(keys, values, strict=True), ("summary", subject))
