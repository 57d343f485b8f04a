"""Versions: chains of ordinary commits, `docs/format.md` §2.

Rule 1: a version is written once; only the tip of its chain moves, and only from where it was seen.
Rule 2: the number counts along first parents. It is read from the commit's own trailer and held
against its parent's, so a chain whose numbers do not follow is corrupt, never guessed at.
Rule 3: only the last paragraph of a message holds trailers, so a reason can say anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, Literal

from pvc.errors import CorruptError, DecodeError, NotFoundError, TooLargeError, UsageError
from pvc.launch import refs
from pvc.model import bounds
from pvc.model.bounds import BOUNDED
from pvc.model.names import CommitId, ObjectId
from pvc.model.source import Source, Sources
from pvc.model.toml_text import parse_toml
from pvc.store.entries import (
    RESERVED,
    check_count,
    check_depth,
    entry_problems,
    refuse,
    shown,
    too_large,
)
from pvc.store.repo import MODE_FILE, MODE_TREE, Entry, Moment, Person
from pvc.store.sound import check_sound

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pvc.store.repo import Commit, Repository

Kind = Literal["trees", "packs"]

FORMAT: Final = 1
REFS: Final = "refs/pvc/"
_NOUNS: Final = {"trees": "tree", "packs": "pack"}
_NAME_KEYS: Final = {"Pvc-Tree": "trees", "Pvc-Pack": "packs"}

# The wheel's packs get one commit everywhere (docs/decisions/0006-builtin-packs.md).
BUILTIN_AUTHOR: Final = Person("pvc", "pvc@localhost")
BUILTIN_MOMENT: Final = Moment(1_795_910_400)  # 2026-11-29T00:00:00Z, the release of number 1


@dataclass(frozen=True, slots=True)
class Taken:
    """Where a version's bytes were taken from: HEAD then, the folder, and in which state.

    The state `version`: from the version before it and what was edited there, from no folder.
    """

    commit: CommitId | None
    path: str
    state: str
    reverts: CommitId | None = None
    """The older version that was taken whole."""

    def trailers(self) -> dict[str, str]:
        """Write it as a version's message has it."""
        source = {"Pvc-Source": str(self.commit)} if self.commit else {}
        folder = {} if self.state == "version" else {"Pvc-Source-Path": self.path}
        reverts = {"Pvc-Reverts": str(self.reverts)} if self.reverts else {}
        return source | folder | {"Pvc-Source-State": self.state} | reverts


@dataclass(frozen=True, slots=True)
class VersionInfo:
    """One version: what its commit says."""

    kind: Kind
    name: str
    number: int
    id: CommitId
    tree: ObjectId
    parents: tuple[CommitId, ...]
    author: Person
    time: Moment
    reason: str
    source: CommitId | None = None
    """The commit of the user's history that it was taken from."""
    source_path: str = ""
    source_state: str = ""
    reverts: CommitId | None = None
    """The older version whose tree this one has again."""

    @property
    def label(self) -> str:
        """The version as people write it: `agent@7`."""
        return f"{self.name}@{self.number}"

    @property
    def subject(self) -> str:
        """The first line of the reason."""
        return self.reason.split("\n", 1)[0]


# --- reading --------------------------------------------------------------------------------


def names(repo: Repository, kind: Kind) -> tuple[str, ...]:
    """List the trees or packs of this clone, in byte order."""
    prefix = f"{REFS}{kind}/"
    return tuple(ref.removeprefix(prefix) for ref, _ in repo.refs(prefix))


def tip(repo: Repository, kind: Kind, name: str) -> VersionInfo | None:
    """Find the newest version, or null when there is none of that name.

    Raises `CorruptError` when the ref holds a version of something else.
    """
    ref = f"{REFS}{kind}/{name}"
    oid = repo.ref(ref)
    if oid is None:
        return None
    must_be_here(repo, ref, oid)
    return at_ref(repo, oid, ref, kind, name)


def must_be_here(repo: Repository, ref: str, oid: CommitId) -> None:
    """Raise `NotFoundError`, with the ways out, where a ref names a commit that is not here."""
    try:
        repo.commit(oid)
    except NotFoundError:
        raise refs.gone(ref, oid) from None


def at_ref(repo: Repository, oid: CommitId, ref: str, kind: Kind, name: str) -> VersionInfo:
    """Read the version that a ref holds, which must be one of the tree or pack it is named for."""
    version = at_commit(repo, oid)
    if (version.kind, version.name) != (kind, name):
        raise CorruptError(f"`{ref}` holds `{version.label}`", at=f"commit {oid.short}")
    return version


def at_commit(repo: Repository, oid: CommitId) -> VersionInfo:
    """Read the version at a commit, or the one that a channel's commit names.

    Raises `NotFoundError` when the commit is not here or is none, `CorruptError` when its trailers
    contradict each other.
    """
    commit = repo.commit(oid)
    if commit.parents and "Pvc-Channel" in split_message(commit.message)[1]:
        commit = repo.commit(commit.parents[-1])
    return _of_commit(commit)


def _of_commit(commit: Commit) -> VersionInfo:
    at = f"commit {commit.id.short}"
    reason, trailers = split_message(commit.message)
    if "Pvc-Version" not in trailers:
        raise NotFoundError(f"commit `{commit.id.short}` is no version", hint="pvc log lists them")
    kinds = [(kind, trailers[key]) for key, kind in _NAME_KEYS.items() if key in trailers]
    number, form = trailers["Pvc-Version"], trailers.get("Pvc-Format", "")
    if len(kinds) != 1 or not _is_number(number):
        raise CorruptError("a version whose trailers contradict each other", at=at)
    if form != str(FORMAT):
        raise CorruptError(f"a version of format `{form}`", at=at, hint="a newer pvc wrote it")
    if (int(number) == 1) != (not commit.parents):
        raise CorruptError(f"version {number} has {len(commit.parents)} parents", at=at)
    source, reverts = trailers.get("Pvc-Source"), trailers.get("Pvc-Reverts")
    kind, name = kinds[0]
    return VersionInfo(
        kind="trees" if kind == "trees" else "packs",
        name=name,
        number=int(number),
        id=commit.id,
        tree=commit.tree,
        parents=commit.parents,
        author=commit.author,
        time=commit.time,
        reason=reason,
        source=None if source is None else _commit_id(source, at),
        source_path=trailers.get("Pvc-Source-Path", ""),
        source_state=trailers.get("Pvc-Source-State", ""),
        reverts=None if reverts is None else _commit_id(reverts, at),
    )


def _is_number(text: str) -> bool:
    """Whether it is a number from 1 as pvc writes it: no other digits, no leading zero."""
    return text.isascii() and text.isdecimal() and text[0] != "0" and len(text) < 10


def _commit_id(text: str, at: str) -> CommitId:
    try:
        return CommitId(text)
    except UsageError:
        raise CorruptError(f"`{text}` in a trailer is no commit", at=at) from None


def chain(repo: Repository, kind: Kind, name: str) -> Iterator[VersionInfo]:
    """Walk a chain, newest first. Raises `CorruptError` where numbers do not follow."""
    newest = tip(repo, kind, name)
    if newest is None:
        raise NotFoundError(f"no {_NOUNS[kind]} `{name}` here", hint=near(name, names(repo, kind)))
    yield from _walk_chain(repo, newest.id)


def _walk_chain(repo: Repository, tip: CommitId) -> Iterator[VersionInfo]:
    after: VersionInfo | None = None
    for commit in repo.first_parents(tip):
        version = _of_commit(commit)
        if after is not None and not _follows(version, after):
            raise CorruptError(
                f"{after.label} follows {version.label}", at=f"commit {after.id.short}"
            )
        yield version
        after = version


def edited_since(repo: Repository, version: VersionInfo) -> VersionInfo | None:
    """Find the last version that a folder gave, below ones that were edited or reverted to.

    Null where `version` itself is a folder's.
    """
    for older in _walk_chain(repo, version.id):
        if older.source_state != "version" and older.reverts is None:
            return None if older.id == version.id else older
    return None


def check_chain(repo: Repository, tip: CommitId, *, until: CommitId | None) -> None:
    """Walk what `tip` adds to `until`; raises `CorruptError` where a chain has a hole.

    What stands at the tip is what launches take next, so it must be within the bounds too.
    """
    for version in _walk_chain(repo, tip):
        if version.id == until:
            return
        if version.id == tip:
            files_of(repo, version)


def _follows(version: VersionInfo, after: VersionInfo) -> bool:
    """Whether `after` is the next version of the same chain."""
    return (version.kind, version.name, version.number + 1) == (
        after.kind,
        after.name,
        after.number,
    )


def find(repo: Repository, kind: Kind, name: str, number: int | None = None) -> VersionInfo:
    """Find a version by its number, the newest without one.

    Raises `NotFoundError` with the near name or the numbers that there are, `CorruptError` when the
    commit that stands there has another number.
    """
    newest = tip(repo, kind, name)
    if newest is None:
        raise NotFoundError(f"no {_NOUNS[kind]} `{name}` here", hint=near(name, names(repo, kind)))
    return newest if number is None else find_below(repo, newest, number)


def find_below(repo: Repository, newest: VersionInfo, number: int) -> VersionInfo:
    """Find a version by its number in the chain that ends at `newest`, another clone's too."""
    kind, name = newest.kind, newest.name
    if number == newest.number:
        return newest
    if not 1 <= number <= newest.number:
        known = f"1 to {newest.number}" if newest.number > 1 else "1"
        raise NotFoundError(f"`{name}` has no version {number}", hint=f"there is {known}")
    oid = repo.rev_parse(f"{newest.id}~{newest.number - number}")
    if oid is None:
        raise NotFoundError(
            f"`{name}@{number}` is not in this clone", hint="git fetch --unshallow brings it"
        )
    found = at_commit(repo, CommitId(oid))
    if (found.kind, found.name, found.number) != (kind, name, number):
        raise CorruptError(f"`{found.label}` stands where `{name}@{number}` should", at=found.id)
    return found


def sources(repo: Repository, version: VersionInfo) -> Sources:
    """Read all files of a version, those under `.pvc/` too."""
    return Sources.of(Source(path, repo.blob(entry.oid)) for path, entry in files_of(repo, version))


def files_of(repo: Repository, version: VersionInfo) -> tuple[tuple[str, Entry], ...]:
    """List all files of a version, once their sizes are known to be within the bounds."""
    rows = tuple(walk(repo, version.tree))
    own = every = 0
    for path, entry in rows:
        size = repo.size(entry.oid) if entry.is_file else 0
        if size > bounds.MAX_FILE_BYTES:
            raise TooLargeError(f"`{version.label}`: {too_large(path, size)}", hint=BOUNDED)
        every += size
        own += 0 if path.startswith(f"{RESERVED}/") else size
        if own > bounds.MAX_FOLDER_BYTES or every > bounds.MAX_VERSION_BYTES:
            most = bounds.mebibytes(bounds.MAX_FOLDER_BYTES)
            packs = bounds.mebibytes(bounds.MAX_VERSION_BYTES)
            raise TooLargeError(
                f"the files of `{version.label}` are too large together: the bound is {most},"
                f" {packs} with packs",
                hint=BOUNDED,
            )
    return rows


def pack_commits(repo: Repository, version: VersionInfo) -> dict[str, CommitId]:
    """Read from a version's lock which commit each of its packs came from."""
    lock = next((e for p, e in walk(repo, version.tree) if p == f"{RESERVED}/lock.toml"), None)
    if lock is None:
        raise CorruptError(f"`{version.label}` has no `{RESERVED}/lock.toml`", at=version.id)
    try:
        packs: Any = parse_toml(repo.blob(lock.oid), lock.oid).get("packs", {})
        return {name: CommitId(pack["commit"]) for name, pack in packs.items()}
    except (KeyError, TypeError, AttributeError, UsageError, DecodeError) as error:
        raise CorruptError(f"the lock of `{version.label}` is damaged: {error}") from None


def walk(repo: Repository, tree: ObjectId) -> Iterator[tuple[str, Entry]]:
    """Give every file below a tree with its path, in git's order.

    Raises `CorruptError` beyond the entries or the depth that a version may have: a few trees that
    name each other spell any number of paths.
    """
    waiting = [("", entry) for entry in reversed(_rows(repo, tree))]
    count = len(waiting)
    while waiting:
        prefix, entry = waiting.pop()
        path = prefix + entry.name
        if not entry.is_tree:
            yield path, entry
            continue
        check_depth(f"{path}/")
        rows = _rows(repo, entry.oid)
        count += len(rows)
        check_count(count, tree)
        waiting += [(f"{path}/", row) for row in reversed(rows)]


def _rows(repo: Repository, tree: ObjectId) -> tuple[Entry, ...]:
    """Read a folder of a version; one that names a path twice is two versions in one."""
    rows = repo.tree(tree)
    if len({row.name for row in rows}) < len(rows):
        seen: set[str] = set()
        twice = next(row.name for row in rows if row.name in seen or seen.add(row.name))  # type: ignore[func-returns-value]
        raise CorruptError(f"tree `{tree[:12]}` names `{shown(twice)}` twice")
    return rows


def near(name: str, known: Iterable[str]) -> str:
    """Word a hint for a name that is not there."""
    known = tuple(known)
    close = get_close_matches(name, known, 1)
    if close:
        return f"did you mean `{close[0]}`?"
    return "known: " + ", ".join(known[:10]) if known else "pvc supersede makes one; pvc sync"


# --- messages -------------------------------------------------------------------------------


def split_message(message: str) -> tuple[str, dict[str, str]]:
    """Split a commit's message into its text and the trailers of the last paragraph."""
    text, _, last = message.rstrip("\n").rpartition("\n\n")
    rows = [line.partition(": ") for line in last.split("\n")]
    if not text or not all(key.startswith("Pvc-") and colon for key, colon, _ in rows):
        return message.rstrip("\n"), {}
    trailers = {key: value for key, _, value in rows}
    if len(trailers) != len(rows):
        raise CorruptError("a trailer stands twice in one message", at=last.split("\n", 1)[0])
    return text, trailers


def join_message(reason: str, trailers: Mapping[str, str]) -> str:
    """Write a message: the reason as given, a blank line, trailers."""
    return f"{reason}\n\n" + "".join(f"{key}: {value}\n" for key, value in trailers.items())


# --- writing --------------------------------------------------------------------------------


def version_tree(
    repo: Repository,
    entries: Iterable[tuple[str, int, ObjectId]],
    lock: bytes,
    packs: Mapping[str, VersionInfo],
) -> ObjectId:
    """Write the tree of a version: the folder's entries, and `.pvc/` with lock and packs.

    Raises `RefusedError` on entries that a version cannot hold.
    """
    rows = [Entry(*row) for row in entries]
    refuse(entry_problems(rows))
    own = _Folder()
    for path, mode, oid in rows:
        own.add(path.split("/"), mode, oid)
    own.add([RESERVED, "lock.toml"], MODE_FILE, repo.write_blob(lock))
    for name, pack in packs.items():
        own.add([RESERVED, "packs", name], MODE_TREE, _without_reserved(repo, pack.tree))
    return own.write(repo)


def _without_reserved(repo: Repository, tree: ObjectId) -> ObjectId:
    return repo.write_tree([entry for entry in repo.tree(tree) if entry.name != RESERVED])


class _Folder:
    """A folder on its way into the object store."""

    def __init__(self) -> None:
        self._folders: dict[str, _Folder] = {}
        self._entries: list[Entry] = []

    def add(self, path: list[str], mode: int, oid: ObjectId) -> None:
        """Put an object at `path`."""
        if len(path) == 1:
            self._entries.append(Entry(path[0], mode, oid))
        else:
            self._folders.setdefault(path[0], _Folder()).add(path[1:], mode, oid)

    def write(self, repo: Repository) -> ObjectId:
        """Store the folder and all below."""
        folders = [
            Entry(name, MODE_TREE, folder.write(repo)) for name, folder in self._folders.items()
        ]
        return repo.write_tree([*self._entries, *folders])


def changed_paths(repo: Repository, old: ObjectId | None, new: ObjectId) -> tuple[str, ...]:
    """List the files that two trees do not share, in byte order of their paths."""
    paths = _Changes(repo).between(old, new, "")
    return tuple(sorted(paths, key=lambda path: path.encode("utf-8", "surrogateescape")))


class _Changes:
    """The files that two trees do not share, counted while they are found."""

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._count = 0

    def between(self, old: ObjectId | None, new: ObjectId | None, prefix: str) -> Iterator[str]:
        if old == new:
            return
        check_depth(prefix)
        before = {entry.name: entry for entry in self._repo.tree(old)} if old else {}
        after = {entry.name: entry for entry in self._repo.tree(new)} if new else {}
        self._count += max(len(before), len(after))
        check_count(self._count, new or old or "")
        for name in before.keys() | after.keys():
            a, b = before.get(name), after.get(name)
            if a == b:
                continue
            folder_a, folder_b = (e.oid if e and e.is_tree else None for e in (a, b))
            if folder_a or folder_b:
                yield from self.between(folder_a, folder_b, f"{prefix}{name}/")
            if any(e and not e.is_tree for e in (a, b)):
                yield prefix + name


def write_version(  # noqa: PLR0913  # what its message and its parents say
    repo: Repository,
    *,
    kind: Kind,
    name: str,
    tree: ObjectId,
    reason: str,
    previous: VersionInfo | None,
    taken: Taken | None = None,
    resolves: VersionInfo | None = None,
    sign: bool | None = None,
) -> VersionInfo:
    """Commit `tree` as the version after `previous` and move the ref.

    `resolves` is this clone's own tip where `previous` is another clone's: it becomes the second
    parent and the ref moves from it, so both sides go forward. Without `sign` it is signed where
    the user's git signs. Raises `MovedError` when the ref is no longer where it was seen: nothing
    is lost, nothing moved. Raises `RefusedError` where no clone could fetch it.
    """
    trailers = _trailers(kind, name, previous) | (taken.trailers() if taken else {})
    message = join_message(_clean(reason), trailers)
    parents = [version.id for version in (previous, resolves) if version]
    oid = repo.write_commit(tree, parents, message, sign=sign)
    check_sound(repo, oid, parents)
    seen = resolves or previous
    repo.move_ref(f"{REFS}{kind}/{name}", seen.id if seen else None, oid)
    return at_commit(repo, oid)


def _trailers(kind: Kind, name: str, previous: VersionInfo | None) -> dict[str, str]:
    return {
        "Pvc-Tree" if kind == "trees" else "Pvc-Pack": name,
        "Pvc-Version": str(previous.number + 1 if previous else 1),
        "Pvc-Format": str(FORMAT),
    }


def _clean(reason: str) -> str:
    """Keep a reason's text; only the line ends around it and CRs go, as `git commit` does it."""
    cleaned = reason.replace("\r\n", "\n").strip("\n ")
    if not cleaned or "\0" in cleaned:
        raise UsageError("a version needs a reason", hint="-m 'why this is adopted'")
    return cleaned


def write_builtin(repo: Repository, name: str, files: Iterable[Source]) -> VersionInfo:
    """Commit one of the wheel's packs as its version 1, the same commit on every machine."""
    entries = [(file.path, MODE_FILE, repo.write_blob(file.data)) for file in files]
    folder = _Folder()
    for path, mode, oid in entries:
        folder.add(path.split("/"), mode, oid)
    trailers = _trailers("packs", name, None)
    message = join_message(f"Release {name} with pvc", trailers)
    oid = repo.write_commit(
        folder.write(repo),
        [],
        message,
        identity=BUILTIN_AUTHOR,
        moment=BUILTIN_MOMENT,
        sign=False,
    )
    repo.move_ref(f"{REFS}packs/{name}", None, oid)
    return at_commit(repo, oid)
