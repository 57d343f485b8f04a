"""What remotes still hold of bodies that were forgotten here: a note for the next sync.

A ref `refs/pvc/remotes/<remote>/bodies/<writer>` without the forgotten bodies no longer says where
the remote is. `pvc/withheld` does, one line a ref: its name, the remote's commit, ours.

Rule 1: a line counts as long as the ref is what it says; a fetch that brought something newer has
made it void. Derived: without it a sync fetches once more what it then lets go of again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pvc.errors import CorruptError, UsageError
from pvc.launch import disk
from pvc.model.names import CommitId

if TYPE_CHECKING:
    from pvc.store.repo import Repository


class Note(NamedTuple):
    """Where a remote is, and what stands here for it."""

    theirs: CommitId
    ours: CommitId


class Withheld:
    """The notes of one clone. Written under the lock of folds."""

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._path = f"{repo.common_dir}/pvc/withheld"

    def read(self) -> dict[str, Note]:
        """Give the notes that still count, by ref."""
        rows = [line.split(b" ") for line in (disk.read(self._path) or b"").split(b"\n")]
        try:
            notes = {
                row[0].decode(): Note(CommitId(row[1].decode()), CommitId(row[2].decode()))
                for row in rows
                if len(row) == 3
            }
        except (UnicodeDecodeError, UsageError):
            raise CorruptError("the notes on what is withheld are damaged", at=self._path) from None
        return {name: note for name, note in notes.items() if self._repo.ref(name) == note.ours}

    def note(self, ref: str, theirs: CommitId, ours: CommitId) -> None:
        """Note that a ref is about to become `ours`, where the remote has `theirs`."""
        notes = self.read()
        known = notes.get(ref)
        notes[ref] = Note(known.theirs if known else theirs, ours)
        self._write(notes)

    def drop(self, ref: str) -> None:
        """Drop a note: the remote was brought to where this clone is."""
        notes = self.read()
        if notes.pop(ref, None):
            self._write(notes)

    def still_at(self, remote: str, seen: str, prefix: str) -> dict[str, CommitId]:
        """Give the refs below `seen` whose bodies the remote has as they were, and its commit.

        They are not to be fetched: that would bring back what this clone has let go of.
        """
        notes = {ref: note for ref, note in self.read().items() if ref.startswith(f"{seen}/")}
        if not notes:
            return {}
        names = {prefix + ref.removeprefix(seen): ref for ref in notes}
        done = self._repo.git.run("ls-remote", "--refs", "--", remote, *names)
        rows = [line.split("\t") for line in done.out.decode(errors="replace").split("\n")[:-1]]
        there = {names[name]: oid for oid, name in rows if name in names}
        return {ref: n.theirs for ref, n in notes.items() if there.get(ref) == n.theirs}

    def _write(self, notes: dict[str, Note]) -> None:
        lines = [f"{name} {note.theirs} {note.ours}\n" for name, note in sorted(notes.items())]
        disk.replace(self._path, "".join(lines).encode())
