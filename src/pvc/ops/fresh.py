"""What a fresh clone lacks: versions that a `git clone` does not bring, and the built-in packs.

Rule 1: a tree that a `pvc.toml` names and that has no version here may have a long history
elsewhere. Where there is a remote, no answer advises a first version before `pvc sync`.
Rule 2: a remote is asked only where a first version would be made (`must_be_first`), and for some
seconds at most. One that does not answer is a note: work goes on without a network.
Rule 3: a built-in pack has one commit on every machine, so writing it from the program makes no
second history.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from pvc.errors import CorruptError, MovedError, NotFoundError, PvcError, RefusedError
from pvc.launch.refs import REMOTES
from pvc.ops.hook_guard import ref_prefix
from pvc.packs import builtin_packs
from pvc.store.sync import remotes
from pvc.store.versions import REFS, find, tip, write_builtin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.files import State
    from pvc.store.repo import Repository
    from pvc.store.versions import Kind, VersionInfo

PATIENCE_S = 10.0
"""So long all remotes together are waited for before a first version is made."""
FETCHES = "pvc sync fetches them"
_BRANCHES = "refs/heads/pvc/"
"""Where `pvc.refPrefix` puts the refs for hosts that take only heads and tags."""


class UnfetchedError(NotFoundError):
    """A folder here is a tree, and its versions are not in this clone."""


def unfetched(repo: Repository) -> tuple[str, ...]:
    """Name the trees that a `pvc.toml` here names, that have no version, and may have one afar."""
    from pvc.files import find_trees

    if not remotes(repo):
        return ()
    names: dict[str, None] = {}
    states: tuple[State, ...] = ("head", "worktree")
    for state in states:
        try:
            names |= dict.fromkeys(map(str, find_trees(repo, state)))
        except PvcError:  # it only makes another answer clearer; whoever reads the folder says why
            continue
    return tuple(sorted(name for name in names if not _has_ref(repo, name)))


def said(name: str) -> str:
    """Say in one line that versions were not fetched."""
    return f"{name} has no versions in this clone; {FETCHES}"


def must_be_fetched(repo: Repository, word: str) -> None:
    """Raise `UnfetchedError` where a word names a tree whose versions are elsewhere."""
    name = word.partition("@")[0].partition(":")[0]
    if name in unfetched(repo):
        raise UnfetchedError(
            f"`{name}` has no versions in this clone",
            hint=f"{FETCHES}; where the remote has none,"
            f" pvc supersede {name} -m REASON makes the first",
        )


def _has_ref(repo: Repository, name: str) -> bool:
    try:
        return any(repo.ref(f"{REFS}{kind}/{name}") for kind in ("trees", "packs"))
    except CorruptError:  # a damaged ref is no missing one; whoever reads it says so
        return True


# --- a first version ---------------------------------------------------------------------------


def must_be_first(repo: Repository, kind: Kind, name: str) -> Iterator[str]:
    """Ask the remotes whether they have versions of a name that has none here; gives notes.

    Raises `RefusedError` where one has some, or was seen to have some.
    """
    for ref, _ in repo.refs(f"{REMOTES}*/{kind}/{name}"):
        raise _second(ref.removeprefix(REMOTES).removesuffix(f"/{kind}/{name}"), name, "")
    until = time.monotonic() + PATIENCE_S
    here = f"{ref_prefix(repo)}/"
    for remote in remotes(repo):
        words = ("ls-remote", "--refs", "--", remote, f"{kind}/{name}")
        done = repo.git.run_alone(*words, seconds=max(until - time.monotonic(), 0.1))
        if done.code != 0:
            yield (
                f"`{remote}` could not be asked for versions of `{name}`: {done.reason}; if it has"
                " some, this begins a second history"
            )
            continue
        there = {line.partition("\t")[2] for line in done.out.decode(errors="replace").split("\n")}
        for prefix in dict.fromkeys((here, REFS, _BRANCHES)):
            if f"{prefix}{kind}/{name}" in there:
                raise _second(remote, name, "" if prefix == here else prefix.rstrip("/"))


def _second(remote: str, name: str, prefix: str) -> RefusedError:
    first = f"`git config pvc.refPrefix {prefix}`, then " if prefix else ""
    return RefusedError(
        f"`{remote}` has versions of `{name}`, and this clone has none of them",
        hint=f"{first}{FETCHES}",
    )


# --- packs -------------------------------------------------------------------------------------


def pack_at(repo: Repository, name: str, number: int) -> VersionInfo:
    """Find a version of a pack; a built-in one that is not here is written from the program."""
    if tip(repo, "packs", name) is None:
        for pack in builtin_packs():
            if pack.name == name:
                with suppress(MovedError):  # another process wrote it
                    write_builtin(repo, name, pack.files)
                break
        else:
            if remotes(repo):
                raise NotFoundError(f"no pack `{name}` here", hint="pvc sync fetches it")
    return find(repo, "packs", name, number)
