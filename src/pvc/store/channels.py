"""Channels: movable names of a tree's versions, every move an ordinary commit.

    refs/pvc/channels/agent/production      move ──► move ──► move      first parents
                                             │        │        │
                                           agent@5  agent@7  agent@6    last parents

Rule 1: a move's tree is the version's, its first parent the move before, its last parent the
version. The first move of a channel has the version alone. So an ordinary push of a channel
carries all that it names.
Rule 2: a move is written once. Going back to an older version is one more move, with a reason.
Rule 3: two clones that moved one channel are joined by a move with three parents: the other
clone's move, this clone's, and the version. Both sides go forward.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pvc.errors import CorruptError, UsageError
from pvc.model.names import ChannelName, TreeName
from pvc.store.sound import check_sound
from pvc.store.versions import (
    FORMAT,
    VersionInfo,
    at_ref,
    join_message,
    must_be_here,
    split_message,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.model.names import CommitId
    from pvc.store.repo import Moment, Person, Repository

REFS: Final = "refs/pvc/channels/"
TRAILER: Final = "Pvc-Channel"
MOST_PARENTS = 3


@dataclass(frozen=True, slots=True)
class ChannelMove:
    """One move: which channel of which tree came to which version, by whom and why.

    `before` are the moves that it goes on from: none for the first, two where it resolves.
    """

    tree: str
    channel: str
    id: CommitId
    version: VersionInfo
    before: tuple[CommitId, ...]
    author: Person
    time: Moment
    reason: str

    @property
    def label(self) -> str:
        """The channel as people write it: `agent@production`."""
        return f"{self.tree}@{self.channel}"

    @property
    def subject(self) -> str:
        """The first line of the reason."""
        return self.reason.split("\n", 1)[0]

    def to_json(self) -> dict[str, object]:
        """Keys of a move, in `pvc.promote/1` and `pvc.log/1`."""
        return {
            "channel": self.channel,
            "commit": self.id,
            "version": self.version.number,
            "version_commit": self.version.id,
            "before": list(self.before),
            "author": str(self.author),
            "time": self.time.seconds,
            "reason": self.reason,
        }


def ref_of(tree: str, channel: str) -> str:
    """Name the ref of a channel; raises `UsageError` on what can be no name of one."""
    return f"{REFS}{TreeName(tree)}/{ChannelName(channel)}"


def names(repo: Repository, tree: str) -> tuple[str, ...]:
    """List the channels of a tree, in byte order."""
    prefix = f"{REFS}{TreeName(tree)}/"
    return tuple(ref.removeprefix(prefix) for ref, _ in repo.refs(prefix))


def tip(repo: Repository, tree: str, channel: str) -> ChannelMove | None:
    """Find the newest move, or null where there is no such channel."""
    ref = ref_of(tree, channel)
    oid = repo.ref(ref)
    if oid is None:
        return None
    must_be_here(repo, ref, oid)
    return at_move(repo, oid, tree, channel)


def at_move(repo: Repository, oid: CommitId, tree: str, channel: str) -> ChannelMove:
    """Read a move, which must be one of that channel. Raises `CorruptError` on anything else."""
    commit = repo.commit(oid)
    at = f"commit {oid.short}"
    reason, trailers = split_message(commit.message)
    if trailers.get(TRAILER) not in (channel, f"{tree}/{channel}"):
        raise CorruptError(f"no record of a move of `{tree}@{channel}`", at=at)
    if not 1 <= len(commit.parents) <= MOST_PARENTS:
        raise CorruptError(f"a move with {len(commit.parents)} parents", at=at)
    version = at_ref(repo, commit.parents[-1], ref_of(tree, channel), "trees", tree)
    if version.tree != commit.tree or version.id != commit.parents[-1]:
        raise CorruptError(f"the move to `{version.label}` holds other bytes", at=at)
    return ChannelMove(
        tree, channel, oid, version, commit.parents[:-1], commit.author, commit.time, reason
    )


def chain(repo: Repository, tree: str, channel: str) -> Iterator[ChannelMove]:
    """Walk the moves of a channel, newest first, along the moves that were gone on from."""
    oid = repo.ref(ref_of(tree, channel))
    return iter(()) if oid is None else chain_from(repo, oid, tree, channel)


def chain_from(repo: Repository, oid: CommitId, tree: str, channel: str) -> Iterator[ChannelMove]:
    """Walk the moves below a commit, that one first; raises where one is no move."""
    ends = repo.shallow()
    at: CommitId | None = oid
    while at is not None:
        move = at_move(repo, at, tree, channel)
        yield move
        at = move.before[0] if move.before and at not in ends else None


def write_move(
    repo: Repository,
    version: VersionInfo,
    channel: str,
    reason: str,
    *,
    previous: ChannelMove | None,
    resolves: ChannelMove | None = None,
    sign: bool | None = None,
) -> ChannelMove:
    """Commit a move to `version` after `previous`, and move the ref.

    `resolves` is this clone's own move where `previous` is another clone's. Raises `MovedError`
    when the ref is no longer where it was seen; then, and when it cannot be signed, nothing moved.
    """
    cleaned = reason.replace("\r\n", "\n").strip("\n ")
    if not cleaned or "\0" in cleaned:
        raise UsageError("a move needs a reason", hint="-m 'why it may go there'")
    ref = ref_of(version.name, channel)
    before = [move.id for move in (previous, resolves) if move]
    trailers = {TRAILER: f"{version.name}/{channel}", "Pvc-Format": str(FORMAT)}
    message = join_message(cleaned, trailers)
    oid = repo.write_commit(version.tree, [*before, version.id], message, sign=sign)
    check_sound(repo, oid, [*before, version.id])
    repo.move_ref(ref, before[-1] if before else None, oid, message=f"pvc promote: {version.label}")
    return at_move(repo, oid, version.name, channel)
