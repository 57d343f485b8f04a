"""A real git repository in a temporary folder, driven through the installed git."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.model.names import CommitId, ObjectId
from pvc.store.open import BackEnd, open_repository

if TYPE_CHECKING:
    from pathlib import Path

    from pvc.store.repo import Repository

FIRST_SECOND = 1_700_000_000


@dataclass
class Workspace:
    """A repository at `path`. Each commit is one minute after the one before."""

    path: Path
    commits: int = 0

    def git(self, *words: str, data: bytes | None = None, code: int = 0) -> str:
        """Run git here and give its output; the exit code must be as expected."""
        done = subprocess.run(
            ["git", *words], cwd=self.path, input=data, capture_output=True, check=False
        )
        assert done.returncode == code, done.stderr.decode()
        return done.stdout.decode(errors="surrogateescape").removesuffix("\n")

    def write(self, files: dict[str, bytes | str]) -> None:
        """Write files into the worktree."""
        for name, data in files.items():
            file = self.path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data if isinstance(data, bytes) else data.encode())

    def commit(
        self, files: dict[str, bytes | str] | None = None, *, message: str = "work"
    ) -> CommitId:
        """Write files, stage everything that is here, commit it."""
        self.write(files or {})
        self.git("add", "--all")
        self.commits += 1
        when = f"@{FIRST_SECOND + 60 * self.commits} +0100"
        os.environ.update(GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when)
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return CommitId(self.git("rev-parse", "HEAD"))

    def oid(self, revision: str) -> ObjectId:
        """Ask git for the id of a revision."""
        return ObjectId(self.git("rev-parse", "--verify", revision))

    def open(self, back_end: BackEnd | None = None) -> Repository:
        """Open it with pvc."""
        return open_repository(self.path, back_end=back_end)
