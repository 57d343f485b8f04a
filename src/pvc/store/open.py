"""Open a repository: discovered as git does it, served by the back end that can.

Rule 1: git discovers. Its variables (`GIT_DIR` and the rest), worktrees, submodules, bare
repositories and `safe.directory` then mean here what they mean there.
Rule 2: libgit2 is used where it is known to be right: the classic ref store, SHA-1, nothing
promised by a remote, no quarantine. Everything else, and every extension that we do not know,
goes through the git command.
Rule 3: a launch opens it `offline`: no child fetches what a partial clone was promised.
Rule 4: relative paths in git's variables are made absolute now, for children start elsewhere.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pvc.errors import NotFoundError, UnsupportedError
from pvc.launch.child import OFFLINE
from pvc.store.base import read_settings
from pvc.store.child import Done, Git

if TYPE_CHECKING:
    from pvc.store.base import Settings
    from pvc.store.repo import Repository

BackEnd = Literal["pygit", "gitcli"]

_QUESTIONS = (
    "--path-format=absolute",
    "--absolute-git-dir",
    "--git-common-dir",
    "--is-bare-repository",
    "--show-object-format",
    "--show-toplevel",  # last: it fails where nothing is checked out
)
_PATH_VARIABLES = ("GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY")
_GIT_ONLY_VARIABLES = (
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
)
_KNOWN_EXTENSIONS = frozenset(
    ("extensions.noop", "extensions.objectformat", "extensions.worktreeconfig")
)


def open_repository(
    directory: Path | str = ".", *, back_end: BackEnd | None = None, offline: bool = False
) -> Repository:
    """Open the repository that `directory` is in; `offline`, nothing asks the network.

    Raises `NotFoundError` outside of one, `UnsupportedError` where git itself refuses it.
    """
    try:
        start = Path(directory).absolute()
    except FileNotFoundError:
        raise NotFoundError(
            "the working folder is gone", hint="`cd` to one that is there"
        ) from None
    if not start.is_dir():
        raise NotFoundError(f"there is no folder `{directory}`")
    variables = (*_path_variables(start), *(OFFLINE.items() if offline else ()))
    done = Git(start, environment=variables).run("rev-parse", *_QUESTIONS)
    lines = done.out.decode(errors="surrogateescape").split("\n")[:-1]
    if len(lines) < 4:
        raise _refused(done, directory)
    git_dir, common_dir, bare, object_format = lines[:4]
    worktree = Path(lines[4]) if len(lines) == 5 else None
    git = Git(worktree or Path(git_dir), Path(git_dir), worktree, variables)
    is_bare = bare == "true"
    settings = read_settings(git)
    if back_end is None:
        back_end = "pygit" if _libgit2_serves(object_format, settings) else "gitcli"
    if back_end == "pygit":
        from pvc.store.pygit import PygitRepository

        return PygitRepository(git, common_dir=Path(common_dir), is_bare=is_bare, settings=settings)
    from pvc.store.gitcli import GitCliRepository

    return GitCliRepository(
        git,
        common_dir=Path(common_dir),
        is_bare=is_bare,
        object_format=object_format,
        settings=settings,
    )


def _path_variables(start: Path) -> tuple[tuple[str, str], ...]:
    """Make git's path variables absolute, as seen from where pvc was told to work."""
    return tuple(
        (name, str(start / os.environ[name])) for name in _PATH_VARIABLES if os.environ.get(name)
    )


def _libgit2_serves(object_format: str, settings: Settings) -> bool:
    """Say whether libgit2 sees all of this repository, and sees it right."""
    if object_format != "sha1" or any(os.environ.get(name) for name in _GIT_ONLY_VARIABLES):
        return False
    extensions = {name for name in settings if name.startswith("extensions.")}
    promised = any(name.endswith(".promisor") for name in settings)
    return extensions <= _KNOWN_EXTENSIONS and not promised


def _refused(done: Done, directory: Path | str) -> NotFoundError | UnsupportedError:
    """Say why git does not open what is there."""
    if "dubious ownership" in done.err:
        return UnsupportedError(
            "this repository belongs to somebody else, so git does not trust it",
            at=str(directory),
            hint=f"git config --global --add safe.directory {Path(directory).absolute()}",
        )
    if "not a git repository" in done.err:
        return NotFoundError(
            "not a git repository", at=str(directory), hint="run `git init`, or name one with `-C`"
        )
    return UnsupportedError(f"git does not open this repository: {done.reason}", at=str(directory))
