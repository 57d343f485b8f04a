"""The back end over pygit2: objects out of packs, objects and refs onto the disk.

Rule 1: only a transaction compares and sets a ref atomically; `create_reference` looks before it
locks, so that two processes may both be told that they created it. So: lock, look again, set.
Rule 2: libgit2 never waits for a lock. It fails at once, in several wordings, and also when two
processes make the same folder; such failures are tried again.
Rule 3: git has already decided whether this repository may be used (`safe.directory`), from
settings that libgit2 does not read. Its own check is off.
Rule 4: libgit2 syncs nothing unless told; we tell it once a process. Then it syncs the folders that
it writes files in, but not those that it makes folders in; that is left to us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pygit2
from pygit2.enums import ObjectType, Option

from pvc.errors import CorruptError, MovedError, NotFoundError, PvcError, WriteError
from pvc.launch.refs import damaged
from pvc.store import objects
from pvc.store.base import BaseRepository, attempts, check_ref_name, moved
from pvc.store.child import DISK_REFUSES, STALE_LOCK
from pvc.store.repo import Kind

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pvc.model.names import CommitId, ObjectId
    from pvc.store.base import Settings
    from pvc.store.child import Git

pygit2.option(Option.ENABLE_FSYNC_GITDIR, True)
pygit2.option(Option.SET_OWNER_VALIDATION, False)
pygit2.option(Option.ENABLE_STRICT_HASH_VERIFICATION, False)  # `BaseRepository.raw` does it

_T = TypeVar("_T")
_TYPES = {
    Kind.BLOB: ObjectType.BLOB,
    Kind.TREE: ObjectType.TREE,
    Kind.COMMIT: ObjectType.COMMIT,
    Kind.TAG: ObjectType.TAG,
}
_KINDS = {int(number): kind for kind, number in _TYPES.items()}
_PASSING = (
    "failed to lock",
    "failed to create locked file",
    "failed to create temporary file",
    "old reference value does not match",
    "failed to make directory",
)
_SYMBOLIC = 2


class PygitRepository(BaseRepository):
    """A repository that libgit2 can open."""

    def __init__(
        self, git: Git, *, common_dir: Path, is_bare: bool, settings: Settings | None = None
    ) -> None:
        super().__init__(git, common_dir=common_dir, is_bare=is_bare, settings=settings)
        try:
            self._repo = pygit2.Repository(str(self.git_dir))
        except (pygit2.GitError, OSError) as error:
            raise CorruptError(
                f"cannot open the repository: {error}", at=str(self.git_dir)
            ) from None
        self._odb = self._repo.odb

    def close(self) -> None:
        """Let go of open packs."""
        self._repo.free()

    # --- refs ---------------------------------------------------------------------------------

    def ref(self, name: str) -> CommitId | None:
        """Read where a ref points now."""
        check_ref_name(name)
        try:
            found = self._repo.lookup_reference(name)
            target = found.resolve().target if found.type == _SYMBOLIC else found.target
        except KeyError:
            return None
        except (pygit2.GitError, OSError):
            raise damaged(name, f"{self.common_dir}/{name}") from None
        return objects.trusted_commit(str(target))

    def _set_ref(self, name: str, old: CommitId | None, new: CommitId, message: str) -> None:
        def move() -> None:
            with self._repo.transaction() as transaction:
                self._lock(transaction, name, old)
                transaction.set_target(name, str(new), message=message or None)

        self._try(move, f"cannot move `{name}`", ref=name)
        if old is None:
            self._sync_ref(name)

    def _remove_ref(self, name: str, old: CommitId) -> None:
        def delete() -> None:
            with self._repo.transaction() as transaction:
                self._lock(transaction, name, old)
                transaction.remove(name)

        self._try(delete, f"cannot remove `{name}`", ref=name)

    def _lock(
        self, transaction: pygit2.transaction.ReferenceTransaction, name: str, old: CommitId | None
    ) -> None:
        transaction.lock_ref(name)
        now = self.ref(name)
        if now != old:
            raise MovedError(moved(name, old, now), hint="read it again and try once more")

    # --- objects ------------------------------------------------------------------------------

    def _packed(self, oid: ObjectId) -> tuple[Kind, bytes]:
        kind, size = self._packed_header(oid)
        objects.check_size(oid, kind, size)
        return kind, self._asked(self._odb.read, oid)[1]

    def _packed_header(self, oid: ObjectId) -> tuple[Kind, int]:
        number, size = self._asked(self._odb.read_header, oid)
        return _KINDS[int(number)], size

    @staticmethod
    def _asked(ask: Callable[[str], tuple[int, _T]], oid: ObjectId) -> tuple[int, _T]:
        try:
            return ask(oid)
        except KeyError:
            raise NotFoundError(f"object `{oid}` is not in this repository") from None
        except (pygit2.GitError, OSError) as error:
            raise CorruptError(f"object `{oid}` is damaged: {error}") from None

    def _exists(self, oid: ObjectId) -> bool:
        return oid in self._odb

    def _try(self, action: Callable[[], _T], what: str, *, ref: str) -> _T:
        """Run `action`, again while another process holds what it needs, such as `ref`."""
        for is_last in attempts():
            try:
                return action()
            except PvcError:
                raise
            except (pygit2.GitError, OSError) as error:
                text = str(error)
                is_lock = any(words in text for words in _PASSING)
                if is_lock and not is_last and self.remove_stale_lock(ref):
                    continue
                is_disk = any(words in text for words in DISK_REFUSES)
                if is_last or not is_lock or is_disk:
                    hint = STALE_LOCK if is_lock and not is_disk else ""
                    raise WriteError(
                        f"{what}: {text}", at=str(self.common_dir), hint=hint
                    ) from None
        raise AssertionError("the last attempt returns or raises")
