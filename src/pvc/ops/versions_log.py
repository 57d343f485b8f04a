"""Who adopted what and why, which bytes moved, where channels came, who runs on it.

Rule 1: a log reads commits, refs and the index of pins; its cost follows what it lists, and never
the number of pins that were ever made, but for one pass over the index that counts sessions.
Rule 2: what is not in this clone's chain is not left out: the side that lost its number to a
resolve, and what a remote has otherwise.
Rule 3: the wheel's packs that no tree stands on are of no interest until somebody asks for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from pvc.errors import CorruptError, NotFoundError, UsageError
from pvc.model.names import CommitId
from pvc.ops.log import version_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pvc.ops.moves import Comparison, Move
    from pvc.store.channels import ChannelMove
    from pvc.store.repo import Repository
    from pvc.store.versions import Kind, VersionInfo

BUILT_IN = "builtin-"
MOST_MOVES = 1000
"""So many of the newest moves of each channel are looked at."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A channel's move to a version, and from where; `is_there` where it is the newest."""

    move: ChannelMove
    before: VersionInfo | None
    is_there: bool
    prompt: Move | None = None
    """Which bytes of the prompt moved for those who follow the channel."""
    resolved: ChannelMove | None = None
    """The move of the side that this one joined, where it is here."""

    def to_json(self) -> dict[str, object]:
        """One entry of `channels` in `pvc.log/1`."""
        prompt = self.prompt
        return self.move.to_json() | {
            "from": self.before.number if self.before else None,
            "from_commit": self.before.id if self.before else None,
            "is_there": self.is_there,
            "kept_bytes": prompt.kept if prompt else None,
            "lost_bytes": prompt.lost if prompt else None,
            "costs": [cost.to_json() for cost in prompt.costs] if prompt else [],
            "resolved": self.resolved.to_json() if self.resolved else None,
        }


@dataclass(frozen=True, slots=True)
class Entry:
    """One version of a log; of a pack, or without a name asked for, only the version is known."""

    version: VersionInfo
    moves: tuple[Move, ...] | None = None
    arrivals: tuple[Arrival, ...] = ()
    sessions: int | None = None
    resolved: VersionInfo | None = None
    """The side that this version joined, where it is here."""
    resolved_sessions: int | None = None

    def to_json(self) -> dict[str, object]:
        """One entry of `versions` in `pvc.log/1`."""
        return version_json(self.version) | {
            "moves": None if self.moves is None else [move.to_json() for move in self.moves],
            "channels": [arrival.to_json() for arrival in self.arrivals],
            "sessions": self.sessions,
            "resolved": version_json(self.resolved) | {"sessions": self.resolved_sessions}
            if self.resolved
            else None,
        }


@dataclass(frozen=True, slots=True)
class Apart:
    """What a remote has otherwise: `ref` is its name in this clone, `label` what it names there."""

    remote: str
    ref: str
    label: str
    commit: CommitId
    author: str
    time: int
    reason: str

    def to_json(self) -> dict[str, object]:
        """One entry of `diverged` in `pvc.log/1`."""
        keys = ("remote", "ref", "label", "commit", "author", "time", "reason")
        return {key: getattr(self, key) for key in keys}


@dataclass(frozen=True, slots=True)
class VersionsLog:
    """Versions, newest first, and what remotes have otherwise."""

    entries: tuple[Entry, ...]
    diverged: tuple[Apart, ...] = ()
    unfetched: tuple[str, ...] = ()
    """Trees that folders here name, whose versions are not in this clone."""

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.log/1`."""
        return {
            "schema": "pvc.log/1",
            "versions": [entry.to_json() for entry in self.entries],
            "diverged": [apart.to_json() for apart in self.diverged],
            "unfetched": list(self.unfetched),
        }


def versions_log(
    repo: Repository, word: str | None, limit: int, *, packs: bool = False
) -> VersionsLog:
    """List the versions of `NAME`, or those up to `NAME@7` or `NAME@channel`.

    Without a word, the newest version of each tree, and of the packs that matter; with `packs`
    that of every pack.
    """
    from pvc.ops.select import select_version

    if word is None:
        return _newest(repo, limit, packs=packs)
    named = select_version(repo, word)
    versions = tuple(islice(_below(repo, named), limit + 1))
    apart = tuple(_apart(repo, named.kind, named.name))
    if named.kind != "trees":
        entries = [Entry(version, resolved=_side(repo, version)) for version in versions]
        return VersionsLog(tuple(entries[:limit]), apart)
    return VersionsLog(_entries(repo, versions, word)[:limit], apart)


def _newest(repo: Repository, limit: int, *, packs: bool) -> VersionsLog:
    from pvc.ops.fresh import unfetched
    from pvc.store.versions import names, tip

    kinds: tuple[Kind, ...] = ("packs",) if packs else ("trees", "packs")
    tips = [tip(repo, kind, name) for kind in kinds for name in names(repo, kind)]
    found = [version for version in tips if version]
    used = {pack for version in found for pack in _stands_on(repo, version)}
    shown = [
        version for version in found if packs or not _is_built_in(version) or version.name in used
    ]
    return VersionsLog(tuple(map(Entry, shown[:limit])), unfetched=unfetched(repo))


def _stands_on(repo: Repository, version: VersionInfo) -> Iterable[str]:
    from pvc.store.versions import pack_commits

    if version.kind != "trees":
        return ()
    try:
        return pack_commits(repo, version)
    except CorruptError:  # it is listed all the same; whatever renders it says what is wrong
        return ()


def _is_built_in(version: VersionInfo) -> bool:
    return version.kind == "packs" and version.name.startswith(BUILT_IN)


def _below(repo: Repository, newest: VersionInfo) -> Iterator[VersionInfo]:
    """Walk the chain from a version on; what is above it is passed by."""
    from pvc.store.versions import chain

    versions = chain(repo, newest.kind, newest.name)
    return (version for version in versions if version.number <= newest.number)


def _entries(repo: Repository, versions: tuple[VersionInfo, ...], word: str) -> tuple[Entry, ...]:
    from pvc.ops.moves import Comparison, moves_of

    compare = Comparison(repo, versions[0].name)
    moves = moves_of(compare, versions)
    arrivals = _arrivals(compare, versions, word.partition("@")[2])
    sessions = _sessions(repo, versions[0].name)
    sides = [_side(repo, version) for version in versions]
    return tuple(
        Entry(
            version,
            moved,
            tuple(arrivals.get(version.id, ())),
            sessions.get(version.id, 0),
            side,
            sessions.get(side.id, 0) if side else None,
        )
        for version, moved, side in zip(versions, moves, sides, strict=True)
    )


def _sessions(repo: Repository, tree: str) -> dict[CommitId, int]:
    """Count sessions by version, of all versions: one above those listed may hold a session."""
    from pvc.store.ledger import Ledger

    words = ("rev-list", f"refs/pvc/trees/{tree}")  # all parents: sides of a resolve hold some too
    commits = repo.git.output(*words).decode().split("\n")[:-1]
    return Ledger(repo).sessions_on(map(CommitId, commits))


def _side(repo: Repository, version: VersionInfo) -> VersionInfo | None:
    from pvc.store.versions import at_commit

    if len(version.parents) < 2:
        return None
    try:
        return at_commit(repo, version.parents[1])
    except NotFoundError:  # a shallow clone
        return None


# --- channels -------------------------------------------------------------------------------


def _arrivals(
    compare: Comparison, versions: tuple[VersionInfo, ...], only: str
) -> dict[CommitId, list[Arrival]]:
    """Give the moves of a tree's channels to these versions, by version and newest first.

    `only` is the channel that was asked for, if it was one.
    """
    from pvc.store.channels import chain, names

    tree = versions[0].name
    known = names(compare.repo, tree)
    found: dict[CommitId, list[Arrival]] = {version.id: [] for version in versions}
    for channel in (only,) if only in known else known:
        moves = list(islice(chain(compare.repo, tree, channel), MOST_MOVES + 1))
        for at, move in enumerate(moves[:MOST_MOVES]):
            if move.version.id in found:
                found[move.version.id].append(_arrival(compare, moves, at))
    for rows in found.values():
        rows.sort(key=lambda row: row.move.time.seconds, reverse=True)
    return found


def _arrival(compare: Comparison, moves: list[ChannelMove], at: int) -> Arrival:
    """Set a move beside the one before it, which says what the prompt was until then."""
    move = moves[at]
    before = moves[at + 1].version if at + 1 < len(moves) else None
    prompt = compare.versions(before, move.version) if before else None
    return Arrival(move, before, at == 0, prompt, _joined(compare.repo, move))


def _joined(repo: Repository, move: ChannelMove) -> ChannelMove | None:
    from pvc.store.channels import at_move

    if len(move.before) < 2:
        return None
    try:
        return at_move(repo, move.before[1], move.tree, move.channel)
    except NotFoundError:  # a shallow clone
        return None


# --- remotes --------------------------------------------------------------------------------


def _apart(repo: Repository, kind: Kind, name: str) -> Iterator[Apart]:
    """Find where a remote went on otherwise, as the last sync saw it."""
    patterns = [f"{kind}/{name}", *([f"channels/{name}/*"] if kind == "trees" else [])]
    for pattern in patterns:
        for seen, theirs in repo.refs(f"refs/pvc/remotes/*/{pattern}"):
            remote, _, rest = seen.removeprefix("refs/pvc/remotes/").partition("/")
            try:
                if _is_apart(repo, repo.ref(f"refs/pvc/{rest}"), theirs):
                    yield _read_apart(repo, remote, rest, theirs)
            except (CorruptError, NotFoundError, UsageError):
                continue  # no version and no move: the sync that fetched it said so


def _is_apart(repo: Repository, ours: CommitId | None, theirs: CommitId) -> bool:
    if ours is None or ours == theirs:
        return False
    return not (repo.is_ancestor(ours, theirs) or repo.is_ancestor(theirs, ours))


def _read_apart(repo: Repository, remote: str, rest: str, oid: CommitId) -> Apart:
    from pvc.store.channels import at_move
    from pvc.store.versions import at_ref

    kind, _, name = rest.partition("/")
    tree, _, channel = name.partition("/")
    if channel:
        move = at_move(repo, oid, tree, channel)
        label, author, time, subject = move.version.label, move.author, move.time, move.subject
    else:
        version = at_ref(repo, oid, rest, "packs" if kind == "packs" else "trees", tree)
        label, author, time = version.label, version.author, version.time
        subject = version.subject
    return Apart(remote, f"refs/pvc/{rest}", label, oid, str(author), time.seconds, subject)
