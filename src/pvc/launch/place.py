"""Where the pins go: the repository's folders, found without a git library.

Rule 1: what git would find is found: `GIT_DIR`, a `.git` folder, a `.git` file of a worktree or
submodule, a bare repository, nothing above `GIT_CEILING_DIRECTORIES`.
Rule 2: a folder that belongs to somebody else is served only if git itself would serve it
(`safe.directory`); git is asked, for the setting may stand in any of its files.
Rule 3: worktrees share one `pvc/` folder, below the common git folder.
"""

import os

from pvc.errors import NotFoundError, UnsupportedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pvc.launch.known import OpenIndex

POINTER = "gitdir:"


class Place:
    """A repository's folders: its own git folder, the one that worktrees share, and pvc's in it."""

    __slots__ = ("common_dir", "git_dir", "home", "index")

    def __init__(self, git_dir: str, common_dir: str) -> None:
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.home = common_dir + "/pvc"
        self.index: OpenIndex | None = None
        """What `known` keeps open from one look-up to the next."""

    def git(self, *words: str) -> bytes | None:
        """Run git in the repository and give its standard output; null when it fails."""
        from pvc.launch.child import output

        return output([f"--git-dir={self.git_dir}", *words])

    @property
    def is_reftable(self) -> bool:
        """Whether refs are kept where only git reads them."""
        return os.path.isdir(self.common_dir + "/reftable")


def find(start: str = ".") -> Place:
    """Find the repository that `start` lies in; raises `NotFoundError` where there is none."""
    try:
        folder = os.path.abspath(start or ".")
    except FileNotFoundError:
        raise NotFoundError(
            "the working folder is gone", hint="`cd` to one that is there"
        ) from None
    given = os.environ.get("GIT_DIR")
    git_dir = os.path.join(folder, given) if given else _above(folder)
    if given and os.path.isfile(git_dir):
        git_dir = _pointed(git_dir, os.path.dirname(git_dir))
    if not git_dir or not is_git_dir(git_dir):
        raise NotFoundError(
            "not in a git repository", at=given or start, hint="`git init` here, or use `-C DIR`"
        )
    git_dir = os.path.normpath(git_dir)
    if not given:
        _owned(git_dir, folder)
    return Place(git_dir, _common_dir(git_dir))


def is_git_dir(path: str) -> bool:
    """Tell whether `path` is a git folder, a worktree's own one included."""
    if not os.path.lexists(path + "/HEAD"):
        return False
    if os.path.exists(path + "/commondir"):
        return True
    return os.path.isdir(path + "/objects") and os.path.isdir(path + "/refs")


def _above(folder: str) -> str:
    ceilings = os.environ.get("GIT_CEILING_DIRECTORIES", "").split(":")
    while True:
        inner = folder + "/.git"
        if os.path.isdir(inner) and is_git_dir(inner):
            return inner
        if os.path.isfile(inner):
            return _pointed(inner, folder)
        if is_git_dir(folder):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder or parent in ceilings:
            return ""
        folder = parent


def _pointed(pointer: str, folder: str) -> str:
    with open(pointer, encoding="utf-8", errors="surrogateescape") as file:
        text = file.read(8192)
    if not text.startswith(POINTER):
        raise NotFoundError("this file names no git folder", at=pointer, hint="`gitdir: PATH`")
    return os.path.join(folder, text[len(POINTER) :].strip(" \r\n"))


def _common_dir(git_dir: str) -> str:
    given = os.environ.get("GIT_COMMON_DIR")
    if given:
        return os.path.abspath(given)
    try:
        with open(git_dir + "/commondir", encoding="utf-8", errors="surrogateescape") as file:
            return os.path.normpath(os.path.join(git_dir, file.read(8192).rstrip("\r\n")))
    except FileNotFoundError:
        return git_dir


def _owned(git_dir: str, folder: str) -> None:
    owner, user = os.stat(git_dir).st_uid, os.geteuid()
    if owner == user or (user == 0 and str(owner) == os.environ.get("SUDO_UID")):
        return
    from pvc.launch.child import output

    if output(["-C", folder, "rev-parse", "--git-dir"]) is None:
        raise UnsupportedError(
            "this repository belongs to somebody else",
            at=git_dir,
            hint=f"git config --global --add safe.directory {os.path.dirname(git_dir)}",
        )
