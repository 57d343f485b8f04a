"""Which files a check reads, and from where: worktree, index, a commit, a version, a bare folder.

Rule 1: bytes are what git stores or would store. Worktree files pass git's own line-end step in an
index that is thrown away; one with an external filter is read as it stands, for none is ever run.
Rule 2: a folder with a `pvc.toml` is a prompt as a whole. A file that belongs to none is checked
alone, and only where it was asked for: by its name, or by its folder if its name ends like text.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pvc.core.check import fix
from pvc.errors import NotFoundError, RefusedError, UsageError
from pvc.files import MANIFEST, scratch_index
from pvc.model.bounds import MAX_FILE_BYTES
from pvc.model.names import ObjectId
from pvc.store.entries import RESERVED, entry_problems, shown
from pvc.store.repo import MODE_FILE, MODE_LINK, Entry
from pvc.store.versions import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pvc.core.check import Located
    from pvc.store.repo import Repository

TEXT_SUFFIXES = (".md", ".markdown", ".loom", ".prompt", ".txt")
_LEGAL = frozenset(("license", "licence", "copying", "notice", "authors"))
_NO_ID = ObjectId("0" * 40)
_SKIPPED = frozenset((".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__"))


class Place(Protocol):
    """Where files are: their paths, and the bytes of some of them."""

    def paths(self) -> tuple[str, ...]:
        """List every file, in byte order."""
        ...

    def read(self, paths: Sequence[str]) -> dict[str, bytes]:
        """Read files; those that are no plain files are left out."""
        ...

    def entries(self) -> tuple[Entry, ...]:
        """List everything with its mode, links and submodules too, so that it can be refused."""
        ...


@dataclass(frozen=True, slots=True)
class Disk:
    """A folder outside of any repository."""

    root: Path

    def paths(self) -> tuple[str, ...]:
        """List every file, except for what tools keep for themselves."""
        found = []
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if name not in _SKIPPED]
            inner = Path(folder).relative_to(self.root)
            found += [(inner / name).as_posix() for name in names]
        return _sorted(found)

    def entries(self) -> tuple[Entry, ...]:
        """List files and links."""
        return _on_disk(self.root, self.paths())

    def read(self, paths: Sequence[str]) -> dict[str, bytes]:
        """Read files as they stand."""
        return {path: data for path in paths if (data := _read_file(self.root / path)) is not None}


@dataclass(frozen=True, slots=True)
class Worktree:
    """The files of a worktree, tracked and new, not ignored ones."""

    repo: Repository
    root: Path

    def paths(self) -> tuple[str, ...]:
        """List them as git does."""
        words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        raw = set(self.repo.git.output(*words).split(b"\0")[:-1])
        paths = [path.decode(errors="surrogateescape") for path in raw]
        return _sorted(path for path in paths if (self.root / path).is_file())

    def entries(self) -> tuple[Entry, ...]:
        """List files and links."""
        return _on_disk(self.root, self.paths())

    def read(self, paths: Sequence[str]) -> dict[str, bytes]:
        """Read files as git would store them now."""
        there = [path for path in paths if _is_plain(self.root / path)]
        filtered = self._filtered(there)
        raw = {path: _read_file(self.root / path) or b"" for path in there if path in filtered}
        return raw | self._as_stored([path for path in there if path not in filtered])

    def _filtered(self, paths: Sequence[str]) -> frozenset[str]:
        """Name the files that an external filter would change."""
        answers = self.repo.git.output(
            "check-attr", "-z", "--stdin", "filter", data=_listing(paths)
        ).split(b"\0")
        plain = (b"unspecified", b"unset", b"set")
        return frozenset(
            path.decode(errors="surrogateescape")
            for path, value in zip(answers[::3], answers[2::3], strict=False)
            if value not in plain
        )

    def _as_stored(self, paths: Sequence[str]) -> dict[str, bytes]:
        with scratch_index(self.repo) as git:
            git.output(
                "update-index", "--add", "--remove", "--replace", "-z", "--stdin",
                data=_listing(paths), error=UsageError,
            )  # fmt: skip
            wanted = set(paths)
            rows = git.output("ls-files", "-s", "-z").split(b"\0")[:-1]
            found = []
            for row in rows:
                head, _, path = row.partition(b"\t")
                name = path.decode(errors="surrogateescape")
                if name in wanted:
                    found.append((name, head.split(b" ")[1]))
            request = b"".join(oid + b"\n" for _, oid in found)
            out = git.output("cat-file", "--buffer", "--batch", data=request)
        return dict(zip((name for name, _ in found), _contents(out, len(found)), strict=True))


@dataclass(frozen=True, slots=True)
class Stored:
    """Files that git has: of a tree, or of the index."""

    repo: Repository
    rows: dict[str, Entry]

    @classmethod
    def of_tree(cls, repo: Repository, tree: ObjectId) -> Stored:
        """Take what is below a tree."""
        return cls(repo, {path: entry._replace(name=path) for path, entry in walk(repo, tree)})

    @classmethod
    def of_index(cls, repo: Repository) -> Stored:
        """Take what is in the index."""
        return cls(repo, {entry.name: entry for entry in repo.index()})

    def paths(self) -> tuple[str, ...]:
        """List the plain files."""
        return _sorted(path for path, entry in self.rows.items() if entry.is_file)

    def entries(self) -> tuple[Entry, ...]:
        """List all rows."""
        return tuple(self.rows.values())

    def read(self, paths: Sequence[str]) -> dict[str, bytes]:
        """Read their blobs."""
        return {path: self.repo.blob(self.rows[path].oid) for path in paths if path in self.rows}


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is checked: folders of prompts with the files below them, and files by themselves."""

    folders: tuple[tuple[str, tuple[str, ...]], ...]
    loose: tuple[str, ...]
    only: tuple[str, ...]
    """Findings count in these files and below these folders; none means everywhere."""

    def counts(self, path: str) -> bool:
        """Whether a finding in this file was asked for."""
        return not self.only or any(_is_in(path, one) for one in self.only)


def choose(paths: Sequence[str], asked: Sequence[str]) -> Chosen:
    """Choose what to check among `paths`; `asked` are files and folders, `.` is everything.

    Raises `NotFoundError` on one that is not there.
    """
    for one in asked:
        if not any(_is_in(path, one) for path in paths):
            raise NotFoundError(f"no file `{one}` here", hint="PATH is a file, a folder or TREE@V")
    folders = [path.removesuffix(MANIFEST).rstrip("/") for path in paths if _is_manifest(path)]
    # The innermost folder with a manifest owns a file.
    owner = {path: _owner(path, folders) for path in paths}
    wanted = [
        folder
        for folder in folders
        if not asked or any(_is_in(folder, one) or _is_in(one, folder) for one in asked)
    ]
    inside = tuple((f, tuple(path for path in paths if _is_in(path, f))) for f in wanted)
    loose = tuple(
        path
        for path in paths
        if owner[path] is None
        and any(path == one or (_is_in(path, one) and is_text(path)) for one in asked)
    )
    return Chosen(inside, loose, tuple(one for one in asked if one != "."))


def _owner(path: str, folders: Sequence[str]) -> str | None:
    return max((f for f in folders if _is_in(path, f)), key=len, default=None)


def _is_in(path: str, folder: str) -> bool:
    return folder in ("", ".", path) or path.startswith(f"{folder}/")


def _is_manifest(path: str) -> bool:
    return path.rpartition("/")[2] == MANIFEST


def is_text(path: str) -> bool:
    """Return True if a file is prose by its name; a licence is, but no model reads it."""
    name = path.rpartition("/")[2].lower()
    return name.endswith(TEXT_SUFFIXES) and name.partition(".")[0] not in _LEGAL


def folder_problems(place: Place, folder: str) -> list[str]:
    """Say what a version could not hold of a folder."""
    prefix = f"{folder}/" if folder else ""
    rows = [
        entry._replace(name=entry.name.removeprefix(prefix))
        for entry in place.entries()
        if _is_in(entry.name, folder)
    ]
    return list(entry_problems([row for row in rows if not row.name.startswith(f"{RESERVED}/")]))


def _on_disk(root: Path, paths: Iterable[str]) -> tuple[Entry, ...]:
    """List files of a disk as git would, without their ids, which nobody asks for here."""
    modes = [(path, MODE_LINK if (root / path).is_symlink() else MODE_FILE) for path in paths]
    return tuple(Entry(path, mode, _NO_ID) for path, mode in modes)


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_FILE_BYTES


def _read_file(path: Path) -> bytes | None:
    return path.read_bytes() if _is_plain(path) else None


def _sorted(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(paths, key=lambda path: path.encode(errors="surrogateescape")))


def _listing(paths: Iterable[str]) -> bytes:
    return b"".join(path.encode(errors="surrogateescape") + b"\0" for path in paths)


def _contents(out: bytes, count: int) -> list[bytes]:
    """Take the answers of `git cat-file --batch` apart."""
    datas, at = [], 0
    for _ in range(count):
        line_end = out.index(b"\n", at)
        size = int(out[at:line_end].split(b" ")[2])
        datas.append(out[line_end + 1 : line_end + 1 + size])
        at = line_end + 1 + size + 1
    return datas


# --- fixes ------------------------------------------------------------------------------------


def refuse_links(directory: str, words: Iterable[str]) -> None:
    """Refuse to mend a file through a folder that is a link: the file may be anyone's.

    Only links below where the check starts count: a whole work folder may stand behind one.
    """
    start = Path(directory).resolve()
    repo = repository_at(directory)
    top = repo.worktree.resolve() if repo and repo.worktree else start
    for word in words:
        path = Path(os.path.normpath(start / word))  # the links that the word names, not past them
        for folder in path.parents:
            if folder != top and folder.is_relative_to(top) and folder.is_symlink():
                raise RefusedError(
                    f"`{shown(word)}` leads through the link `{shown(str(folder))}`",
                    hint=f"name the file itself: {shown(str(path.resolve()))}",
                )


def mend(root: Path, found: Iterable[Located]) -> tuple[str, ...]:
    """Mend files of the worktree; gives those that are other bytes now."""
    codes: dict[str, set[str]] = {}
    for one in found:
        codes.setdefault(one.path, set()).add(one.finding.code)
    fixed = []
    for path, wanted in codes.items():
        file = root / path
        if not file.is_file() or file.resolve() != file:
            continue  # a link, or behind one
        before = file.read_bytes()
        after = fix(before, path, wanted)
        if after != before:
            _write(file, after)
            fixed.append(path)
    return tuple(fixed)


def _write(file: Path, data: bytes) -> None:
    """Replace a file whole, keeping its mode."""
    from pvc.launch.main import write_out

    mode = file.stat().st_mode
    write_out(str(file), data)
    file.chmod(mode & 0o7777)


# --- where to look ----------------------------------------------------------------------------


def repository_at(directory: str) -> Repository | None:
    """Open the repository around a folder; null where there is none."""
    from pvc.store.open import open_repository

    try:
        return open_repository(directory)
    except NotFoundError:
        if not Path(directory).is_dir():
            raise
        return None


def root_of(repo: Repository | None, directory: str) -> Path:
    """Give the folder that paths are shown from."""
    if repo is None or repo.worktree is None:
        return Path(directory).resolve()
    return repo.worktree.resolve()


def place_of(
    repo: Repository | None, directory: str, *, index: bool = False, rev: str = ""
) -> Place:
    """Choose where files are read from. Raises `NotFoundError` on a commit that is not here."""
    if repo is None:
        if index or rev:
            raise NotFoundError("not a git repository", at=directory)
        return Disk(root_of(repo, directory))
    if index:
        return Stored.of_index(repo)
    if rev or repo.worktree is None:
        rev = rev or "HEAD"
        tree = repo.rev_parse(f"{rev}^{{tree}}")
        if tree is None:
            raise NotFoundError(f"`{rev}` is no commit here", hint="a branch, HEAD~1, A..B")
        return Stored.of_tree(repo, tree)
    return Worktree(repo, root_of(repo, directory))


def relative(root: Path, directory: str, word: str) -> str:
    """Name a path as seen from `root`; raises `UsageError` where it lies outside."""
    path = (Path(directory).resolve() / word).resolve()
    if not path.is_relative_to(root):
        raise UsageError(f"`{word}` is outside of what is checked", at=str(root))
    return path.relative_to(root).as_posix()
