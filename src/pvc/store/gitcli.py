"""The back end over the git command: serves what libgit2 cannot, and checks the other one.

Reftable, SHA-256, partial clones, a quarantine during `pre-receive`: all that the installed git
opens works here. It costs a child of some milliseconds for each write; reads go through one child
that stays.

Rule 1: a ref moves by `git update-ref --stdin` with both values; git's own wait for a lock is
short, so a lock that stays is tried again.
Rule 2: git syncs files and not the folders that they stand in; that is left to us.
Rule 3: an object that the reading child calls missing is missing; one on which it dies is damaged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pvc.errors import CorruptError, MovedError, NotFoundError, PvcError, WriteError
from pvc.launch.refs import damaged
from pvc.model.names import CommitId
from pvc.store import objects
from pvc.store.base import BaseRepository, attempts, broken_ref, check_ref_name, moved
from pvc.store.child import failure
from pvc.store.repo import Kind

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from pvc.model.names import ObjectId

_T = TypeVar("_T")


class GitCliRepository(BaseRepository):
    """A repository that only the installed git can open."""

    _reader: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        """End the reading child."""
        reader, self._reader = self._reader, None
        if reader is None or reader.stdin is None or reader.stdout is None:
            return
        reader.stdin.close()
        reader.stdout.close()
        reader.wait()

    def __del__(self) -> None:
        self.close()

    # --- refs ---------------------------------------------------------------------------------

    def ref(self, name: str) -> CommitId | None:
        """Read where a ref points now."""
        check_ref_name(name)
        done = self._git.run("rev-parse", "--verify", "--quiet", "--end-of-options", name)
        if broken_ref(done.err):
            raise damaged(name, f"{self.common_dir}/{name}")
        return CommitId(done.out.decode().removesuffix("\n")) if done.code == 0 else None

    def _set_ref(self, name: str, old: CommitId | None, new: CommitId, message: str) -> None:
        zero = "0" * len(new)
        self._update(name, old, f"update {name}\0{new}\0{old or zero}\0", message)
        self._sync_ref(name)

    def _remove_ref(self, name: str, old: CommitId) -> None:
        self._update(name, old, f"delete {name}\0{old}\0", "")

    def _update(self, name: str, old: CommitId | None, line: str, message: str) -> None:
        words = ["update-ref", "--no-deref", "--stdin", "-z"]
        if message:
            words += ["-m", message]
        for is_last in attempts():
            now = self.ref(name)
            if now != old:
                raise MovedError(moved(name, old, now), hint="read it again and try once more")
            done = self._git.run(*words, data=line.encode(), holds=self._turn_handle)
            if done.code == 0:
                return
            if done.is_locked and not is_last and self.remove_stale_lock(name):
                continue
            if is_last or not (done.is_locked or self.ref(name) != old):
                raise failure(done, "update-ref", WriteError)

    # --- objects ------------------------------------------------------------------------------

    def _packed(self, oid: ObjectId) -> tuple[Kind, bytes]:
        kind, size = self._packed_header(oid)
        objects.check_size(oid, kind, size)
        return self._asked(oid, self._contents)

    def _packed_header(self, oid: ObjectId) -> tuple[Kind, int]:
        return self._asked(oid, self._info)

    def _exists(self, oid: ObjectId) -> bool:
        try:
            self._packed_header(oid)
        except NotFoundError:
            return False
        return True

    def _asked(self, oid: ObjectId, ask: Callable[[subprocess.Popen[bytes], ObjectId], _T]) -> _T:
        if self._reader is None:
            self._reader = self._git.start("cat-file", "--batch-command")
        try:
            return ask(self._reader, oid)
        except PvcError:
            raise
        except (OSError, EOFError, ValueError):
            self.close()
            if self.is_partial:
                raise NotFoundError(
                    f"object `{oid}` was promised by a remote and is not here", hint="pvc sync"
                ) from None
            raise CorruptError(f"object `{oid}` is damaged: git cannot read it") from None

    @staticmethod
    def _info(
        reader: subprocess.Popen[bytes], oid: ObjectId, verb: str = "info"
    ) -> tuple[Kind, int]:
        if reader.stdin is None or reader.stdout is None:
            raise EOFError
        reader.stdin.write(f"{verb} {oid}\n".encode())
        reader.stdin.flush()
        head = reader.stdout.readline().split()
        if head[1:] == [b"missing"]:
            raise NotFoundError(f"object `{oid}` is not in this repository")
        if len(head) != 3:
            raise EOFError
        return Kind(head[1].decode()), int(head[2])

    def _contents(self, reader: subprocess.Popen[bytes], oid: ObjectId) -> tuple[Kind, bytes]:
        kind, size = self._info(reader, oid, "contents")
        data = reader.stdout.read(size + 1) if reader.stdout else b""
        if len(data) != size + 1:
            raise EOFError
        return kind, data[:size]
