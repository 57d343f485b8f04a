"""Move a channel to a version, on the record.

Rule 1: what a channel names is what its newest move says; a move that changes nothing is not made.
Rule 2: going back is a move as any other: the record says that it was done, by whom and why.
Rule 3: a session that is pinned stays where it is; a channel says where new ones start.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pvc.errors import NotFoundError, UsageError
from pvc.model.names import ChannelName
from pvc.ops import secrets

if TYPE_CHECKING:
    from pvc.store.channels import ChannelMove
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo


@dataclass(frozen=True, slots=True)
class Promoted:
    """What `promote` did, or on a dry run would do; `move` is null when it did nothing."""

    channel: str
    version: VersionInfo
    previous: ChannelMove | None
    move: ChannelMove | None
    resolves: ChannelMove | None = None
    notes: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """`promoted`, `same`, or on a dry run `planned`."""
        if self.is_there:
            return "same"
        return "promoted" if self.move else "planned"

    @property
    def is_there(self) -> bool:
        """Whether the channel names this version already, so that there is nothing to record."""
        there = self.previous is not None and self.previous.version.id == self.version.id
        return there and self.resolves is None

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.promote/1`."""
        before = self.previous
        return {
            "schema": "pvc.promote/1",
            "status": self.status,
            "tree": self.version.name,
            "channel": self.channel,
            "version": self.version.number,
            "commit": self.version.id,
            "previous": before.to_json() if before else None,
            "resolves": self.resolves.to_json() if self.resolves else None,
            "move": self.move.to_json() if self.move else None,
        }


def run(
    repo: Repository,
    word: str,
    channel: str,
    reason: str,
    *,
    resolve: str | None = None,
    sign: bool | None = None,
    dry_run: bool = False,
) -> Promoted:
    """Move `channel` of a tree to the version that `word` names: `agent`, `agent@7`, `agent@beta`.

    `resolve` is a remote where another clone moved the channel: the new move goes on from both.
    Raises `MovedError` when somebody else moved it meanwhile.
    """
    from pvc.ops.programs import keep_program
    from pvc.ops.select import select_version
    from pvc.store.channels import tip, write_move

    if not reason.strip():
        raise UsageError("a move needs a reason", hint="-m 'why it may go there'")
    notes = secrets.heed_words(repo, reason, "reason")
    channel = ChannelName(channel)
    version = select_version(repo, word)
    if version.kind != "trees":
        raise UsageError(f"`{version.name}` is a pack", hint="a channel is one of a tree's")
    previous, resolves = tip(repo, version.name, channel), None
    if resolve is not None:
        previous, resolves = _joined(repo, version.name, channel, resolve, previous)
    planned = Promoted(channel, version, previous, None, resolves, notes)
    if dry_run or planned.is_there:
        return planned
    move = write_move(
        repo, version, channel, reason, previous=previous, resolves=resolves, sign=sign
    )
    keep_program(repo, version, named_by=move.id)
    return replace(planned, move=move)


def _joined(
    repo: Repository, tree: str, channel: str, remote: str, ours: ChannelMove | None
) -> tuple[ChannelMove, ChannelMove]:
    """Find the remote's move beside this clone's; raises where there is nothing to resolve."""
    from pvc.ops.supersede import must_have_diverged
    from pvc.store.channels import at_move, ref_of

    ref = ref_of(tree, channel).replace("refs/pvc/", f"refs/pvc/remotes/{remote}/", 1)
    oid = repo.ref(ref)
    label = f"{tree}@{channel}"
    if oid is None:
        raise NotFoundError(f"no `{label}` was seen on `{remote}`", hint=f"pvc sync {remote}")
    theirs = at_move(repo, oid, tree, channel)
    must_have_diverged(repo, label, remote, ours.id if ours else None, oid)
    assert ours is not None  # noqa: S101  # without one there was nothing to resolve
    return theirs, ours
