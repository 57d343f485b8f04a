"""The git repository as pvc sees it: objects, refs, settings, and one protocol over them.

Two back ends serve it, `store.pygit` and `store.gitcli`; everything above this module is written
against `Repository` and cannot tell them apart (the same tests run on both).

Rule 1: a ref moves only from the value that the caller has seen (`move_ref`), atomically, also
when it is created; there is no way to force one.
Rule 2: what is written gets onto the disk with the ref that moves to it (`store.landing`): before
it moves, synced, where no prune takes it; and it is read back from there. Until then only this
process sees it, and what no ref ever moves to is never stored.
Rule 3: what is missing is `NotFoundError`, what is damaged is `CorruptError`, what the disk
refuses is `WriteError`; no library's own exception gets out.
Rule 4: replace refs and grafts do not exist here: an id names the bytes it was made from.
Rule 5: names of tree and index entries are text; bytes that are no UTF-8 are kept as surrogate
escapes, so that nothing is lost and `files` can refuse them with the path.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pvc.model.names import CommitId, ObjectId
    from pvc.store.child import Git

MODE_TREE = 0o040000
MODE_FILE = 0o100644
MODE_EXECUTABLE = 0o100755
MODE_LINK = 0o120000
MODE_GITLINK = 0o160000


class Kind(StrEnum):
    """What git keeps under an id."""

    BLOB = "blob"
    TREE = "tree"
    COMMIT = "commit"
    TAG = "tag"


class Entry(NamedTuple):
    """One row of a tree, or of the index (then `name` is the whole path).

    A tuple, not a dataclass: blame reads hundreds of thousands of these.
    """

    name: str
    mode: int
    oid: ObjectId

    @property
    def is_tree(self) -> bool:
        """Whether it is a folder."""
        return self.mode == MODE_TREE

    @property
    def is_file(self) -> bool:
        """Whether it is a file, executable or not; a link or a submodule is none."""
        return self.mode in (MODE_FILE, MODE_EXECUTABLE)

    @property
    def is_gitlink(self) -> bool:
        """Whether it is the commit of another repository (a submodule)."""
        return self.mode == MODE_GITLINK


@dataclass(frozen=True, slots=True)
class Person:
    """Who wrote a commit."""

    name: str
    email: str

    def __str__(self) -> str:
        return f"{self.name} <{self.email}>"


WRITER = Person("pvc", "pvc@localhost")
"""Who writes folds and bodies."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Seconds since 1970 and the writer's distance from UTC in minutes, as git keeps them."""

    seconds: int
    offset_minutes: int = 0


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: `author` and `time` say who wrote it and when, not who committed it."""

    id: CommitId
    tree: ObjectId
    parents: tuple[CommitId, ...]
    author: Person
    time: Moment
    message: str


class RefMove(NamedTuple):
    """One ref that moves from the value that was seen; null where it must not exist yet."""

    name: str
    old: CommitId | None
    new: CommitId
    message: str = ""


class Repository(Protocol):
    """One open repository. Cheap to keep, not shared between threads; `close` ends its children."""

    @property
    def git_dir(self) -> Path:
        """This worktree's own git folder."""
        ...

    @property
    def common_dir(self) -> Path:
        """The git folder that worktrees share: refs, objects and `pvc/` are here."""
        ...

    @property
    def worktree(self) -> Path | None:
        """The checked-out folder, or null in a bare repository."""
        ...

    @property
    def is_bare(self) -> bool:
        """Whether nothing is checked out."""
        ...

    @property
    def is_partial(self) -> bool:
        """Whether a remote has promised objects that need not be here."""
        ...

    @property
    def object_format(self) -> str:
        """`sha1` or `sha256`."""
        ...

    @property
    def git(self) -> Git:
        """Starts git children here, for the few verbs that this protocol does not cover."""
        ...

    def close(self) -> None:
        """End what runs beside us; a second call does nothing."""
        ...

    # --- refs ---------------------------------------------------------------------------------

    def ref(self, name: str) -> CommitId | None:
        """Read where a ref points now, afresh each time."""
        ...

    def refs(self, prefix: str) -> tuple[tuple[str, CommitId], ...]:
        """List refs below `prefix` (which ends in `/`), in byte order of their names."""
        ...

    def move_ref(
        self, name: str, old: CommitId | None, new: CommitId, *, message: str = ""
    ) -> None:
        """Set a ref to `new` if it is still `old`; null means that it must not exist yet.

        Raises `MovedError`, naming what is there now. Of any number of processes that try at
        once, one gets through. `message` goes into the reflog where there is one. When it
        returns, all that `new` needs was read back from the disk.
        """
        ...

    def move_refs(self, moves: Sequence[RefMove]) -> None:
        """Move refs one after the other, to what was written before; see `move_ref`."""
        ...

    def delete_ref(self, name: str, old: CommitId) -> None:
        """Remove a ref if it is still `old`, else raise `MovedError`."""
        ...

    def remove_stale_lock(self, name: str) -> bool:
        """Remove the lock that a killed process left on a ref of pvc's; true when there was one."""
        ...

    def head(self) -> CommitId | None:
        """Give the commit that is checked out; null on a branch without one."""
        ...

    # --- objects ------------------------------------------------------------------------------

    def kind(self, oid: ObjectId) -> Kind:
        """Say what kind of object it is."""
        ...

    def size(self, oid: ObjectId) -> int:
        """Say how many bytes an object has, from its header: nothing else is read."""
        ...

    def raw(self, oid: ObjectId) -> tuple[Kind, bytes]:
        """Read an object's kind and its bytes as git hashes them, without the header.

        Raises `TooLargeError` on one beyond the bound of its kind, before it is read.
        """
        ...

    def blob(self, oid: ObjectId) -> bytes:
        """Read a file's bytes."""
        ...

    def tree(self, oid: ObjectId) -> tuple[Entry, ...]:
        """Read a folder's entries in git's order; `oid` may be a commit's, for its tree."""
        ...

    def commit(self, oid: ObjectId) -> Commit:
        """Read a commit."""
        ...

    def write_blob(self, data: bytes) -> ObjectId:
        """Take in a file's bytes; they are stored with the ref that moves to them."""
        ...

    def write_tree(self, entries: Sequence[Entry]) -> ObjectId:
        """Take in a folder, in whatever order its entries come.

        Raises `UsageError` on a name that git does not allow or that stands twice, `NotFoundError`
        on an entry whose object is not here.
        """
        ...

    def write_commit(
        self,
        tree: ObjectId,
        parents: Sequence[CommitId],
        message: str,
        *,
        author: Person | None = None,
        identity: Person | None = None,
        moment: Moment | None = None,
        sign: bool | None = None,
    ) -> CommitId:
        """Take in a commit by the user, signed if the user's git signs.

        `moment` stands for now, in UTC.
        `author` is somebody else who wrote it. `identity` stands for the user as author and
        committer, needs no `user.name`, and is not signed unless `sign` says so; signing asks
        nobody for a passphrase then. Raises `UsageError` when git does not know who the user is,
        `WriteError` when it cannot sign.
        """
        ...

    def with_staged(self) -> AbstractContextManager[Mapping[str, str]]:
        """Give the variables of a git child that is to see what was written and is not stored."""
        ...

    # --- questions ----------------------------------------------------------------------------

    def rev_parse(self, text: str) -> ObjectId | None:
        """Resolve `text` as git does: a ref, `HEAD~2`, an abbreviated id, `main:path`."""
        ...

    def is_ancestor(self, old: CommitId, new: CommitId) -> bool:
        """Whether `old` is `new` or reachable from it."""
        ...

    def first_parents(self, tip: CommitId) -> Iterator[Commit]:
        """`tip`, its first parent, and so on to the root or to where a shallow clone ends."""
        ...

    def unverified(self) -> AbstractContextManager[None]:
        """Read without hashing each object again, as git does; for walks over long histories."""
        ...

    def shallow(self) -> frozenset[CommitId]:
        """Name the commits whose parents this clone was not given."""
        ...

    def config(self, name: str) -> str | None:
        """Read a setting's last value (`pvc.privacy`); null when it is not set."""
        ...

    def config_all(self, name: str) -> tuple[str, ...]:
        """Every value of a setting, in git's order: system, user, repository, command line."""
        ...

    def config_flag(self, name: str, *, default: bool = False) -> bool:
        """Read a setting as git reads booleans; raises `UsageError` on anything else."""
        ...

    def index(self) -> tuple[Entry, ...]:
        """List what is staged, whole paths in byte order; `UsageError` while a merge is open."""
        ...
