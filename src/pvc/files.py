"""The disk edge: folders as git stores them, at HEAD, in the index or in the worktree.

Rule 1: bytes are what git stores or would store. All three states become a tree of git's; for the
index and the worktree it is built in an index and an object folder that are thrown away, so git
itself does the line ends, `$Id$` and encodings, and the repository is not touched.
Rule 2: an external filter is never run. A worktree file that has one is refused; its committed or
staged bytes can be adopted.
Rule 3: what cannot be in a version is refused before any of its bytes are read, every such entry
in one error: what is no plain file, what some file system cannot hold beside the others, what a
terminal or a path would take for something else, what is too large.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from pvc.errors import CorruptError, DecodeError, NotFoundError, RefusedError, UsageError
from pvc.model import bounds
from pvc.model.names import TreeName
from pvc.model.source import Source, Sources
from pvc.model.toml_text import parse_toml
from pvc.store.child import Git, failure
from pvc.store.entries import (
    entry_problems,
    is_lfs_pointer,
    name_problem,
    not_plain,
    refuse,
    shown,
    size_problems,
    too_large,
    too_many,
)
from pvc.store.objects import object_id, trusted
from pvc.store.repo import MODE_EXECUTABLE, MODE_FILE, MODE_GITLINK, MODE_LINK, Entry, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pvc.model.names import CommitId, ObjectId
    from pvc.store.repo import Repository

State = Literal["head", "index", "worktree"]

MANIFEST = "pvc.toml"

PLAIN_MODES = (MODE_FILE, MODE_EXECUTABLE)
_SPOKEN = {"head": "HEAD", "index": "the index", "worktree": "the worktree"}


@dataclass(frozen=True, slots=True)
class File:
    """A file of a folder: its path below it, git's mode and id, and its bytes."""

    path: str
    mode: int
    oid: ObjectId
    data: bytes


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A folder at one moment. `source_commit` is HEAD then; null before the first commit.

    The state `version` is no folder's: files of a version that were edited (`ops.revise`).
    """

    path: str
    state: State | Literal["version"]
    files: tuple[File, ...]
    source_commit: CommitId | None

    @property
    def sources(self) -> Sources:
        """The files as a dialect reads them."""
        return Sources.of(Source(file.path, file.data) for file in self.files)

    def store(self, repo: Repository) -> tuple[Entry, ...]:
        """Give rows for `store.versions`; bytes that git may not have yet become objects now."""
        if self.state in ("worktree", "version"):
            for file in self.files:
                repo.write_blob(file.data)
        return tuple(Entry(file.path, file.mode, file.oid) for file in self.files)


def read_folder(repo: Repository, path: str, state: State = "head") -> Snapshot:
    """Read the folder at `path`, relative to the top of the repository; `.` is all of it.

    Raises `NotFoundError` where there is none, `RefusedError` where a version cannot hold it.
    """
    folder = _normal(path)
    if folder and (why := name_problem(folder)):
        raise RefusedError(f"`{shown(folder)}` {why}", hint="rename the folder")
    with _as_tree(repo, folder, state) as (git, tree):
        rows = _list_tree(git, tree)
        refuse(entry_problems(rows))
        refuse(size_problems(rows, _sizes(git, rows)))
        datas = _blobs(git, rows, repo.object_format)
    files = tuple(
        File(row.name, row.mode, row.oid, data) for row, data in zip(rows, datas, strict=True)
    )
    refuse([f"`{f.path}` is an LFS pointer, not the text" for f in files if is_lfs_pointer(f.data)])
    return Snapshot(folder, state, files, repo.head())


def _normal(path: str) -> str:
    parts = PurePosixPath(path).parts
    if path.startswith("/") or ".." in parts or "\0" in path:
        raise UsageError(f"`{path}` is no folder of this repository")
    return "/".join(parts)


# --- three states, one tree -----------------------------------------------------------------


@contextmanager
def _as_tree(repo: Repository, folder: str, state: State) -> Iterator[tuple[Git, str]]:
    """Give a git and a tree that it sees, valid inside of the `with`."""
    if state == "head":
        if repo.head() is None:
            raise NotFoundError("nothing is committed yet", hint="commit, or use `--index`")
        yield repo.git, f"HEAD:{folder}"
        return
    if repo.worktree is None:
        raise UsageError(f"a bare repository has no {state}")
    with scratch_index(repo) as git:
        if state == "worktree":
            _stage_worktree(git, repo.worktree, folder)
        yield git, _write_tree(git, folder, state)


@contextmanager
def scratch_index(repo: Repository) -> Iterator[Git]:
    """Give a git whose index is a copy and whose new objects are thrown away."""
    variables = dict(repo.git.environment)
    index = Path(variables.get("GIT_INDEX_FILE") or repo.git_dir / "index")
    real_objects = variables.get("GIT_OBJECT_DIRECTORY") or str(repo.common_dir / "objects")
    with tempfile.TemporaryDirectory(prefix="pvc-") as name:
        scratch = Path(name)
        (scratch / "objects").mkdir()
        if index.exists():
            shutil.copy2(index, scratch / "index")  # its time too: git trusts entries older than it
        variables |= {
            "GIT_INDEX_FILE": str(scratch / "index"),
            "GIT_OBJECT_DIRECTORY": str(scratch / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": real_objects,
            "GIT_LITERAL_PATHSPECS": "1",
        }
        yield replace(repo.git, environment=tuple(variables.items()))


def _write_tree(git: Git, folder: str, state: State) -> str:
    words = ["write-tree", *([f"--prefix={folder}/"] if folder else [])]
    done = git.run(*words)
    if done.code == 0:
        return done.out.decode().removesuffix("\n")
    if "not found" in done.err:
        raise _no_folder(folder, state)
    if "unmerged" in done.err:
        path = done.err.partition(":")[0]
        raise UsageError(f"`{path}` is in conflict", hint="finish the merge, then `git add` it")
    raise failure(done, "write-tree")


def _no_folder(folder: str, state: State) -> NotFoundError:
    hint = "" if state == "worktree" else "`--worktree` reads what is not committed yet"
    return NotFoundError(f"`{folder}` is no folder of {_SPOKEN[state]}", hint=hint)


def _stage_worktree(git: Git, worktree: Path, folder: str) -> None:
    """Stage what is in the folder now: tracked and new files, not ignored ones."""
    pathspec = ["--", folder] if folder else []
    words = ("ls-files", "-z", "-v", "--cached", "--others", "--exclude-standard", *pathspec)
    tagged = {row[2:]: row[:1] for row in git.output(*words).split(b"\0")[:-1]}
    paths = sorted(tagged)
    refuse([*_worktree_problems(worktree, paths), *_filter_problems(git, paths)])
    _drop_flags(git, worktree, tagged)
    _update_index(git, paths, "--add", "--remove", "--replace", "--ignore-skip-worktree-entries")


def _drop_flags(git: Git, worktree: Path, tagged: Mapping[bytes, bytes]) -> None:
    """Let git look at files that it was told not to look at.

    What a sparse checkout left out is not there and stays as it is staged.
    """
    assumed = [path for path, tag in tagged.items() if tag.islower()]
    skipped = [path for path, tag in tagged.items() if tag in b"Ss"]
    there = [path for path in skipped if os.path.lexists(worktree / os.fsdecode(path))]
    for paths, flag in ((assumed, "--no-assume-unchanged"), (there, "--no-skip-worktree")):
        if paths:
            _update_index(git, paths, flag)


def _update_index(git: Git, paths: Sequence[bytes], *options: str) -> None:
    listing = b"".join(path + b"\0" for path in paths)
    git.output("update-index", *options, "-z", "--stdin", data=listing, error=UsageError)


def _worktree_problems(worktree: Path, paths: Sequence[bytes]) -> Iterator[str]:
    if len(paths) > bounds.MAX_FILES:
        yield too_many(len(paths))
        return
    for raw in paths:
        path = raw.decode(errors="surrogateescape")
        try:
            status = (worktree / path).lstat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        if stat.S_ISLNK(status.st_mode):
            yield not_plain(path, MODE_LINK)
        elif stat.S_ISDIR(status.st_mode):  # in place of a tracked file, or a repository
            if path.endswith("/") or (worktree / path / ".git").exists():
                yield not_plain(path.rstrip("/"), MODE_GITLINK)
        elif not stat.S_ISREG(status.st_mode):
            yield f"`{shown(path)}` is no plain file"
        elif status.st_size > bounds.MAX_FILE_BYTES:
            yield too_large(path, status.st_size)


def _filter_problems(git: Git, paths: Sequence[bytes]) -> Iterator[str]:
    """Refuse what git would pass through a program of the user's settings."""
    listing = b"".join(path + b"\0" for path in paths)
    fields = git.output("check-attr", "-z", "--stdin", "filter", data=listing).split(b"\0")
    for path, value in zip(fields[::3], fields[2::3], strict=False):
        if value not in (b"unspecified", b"unset", b"set"):
            yield (
                f"`{shown(path.decode(errors='surrogateescape'))}` passes the filter "
                f"`{value.decode(errors='replace')}`, which pvc does not run"
            )


# --- what a tree holds ----------------------------------------------------------------------


def _list_tree(git: Git, tree: str) -> tuple[Entry, ...]:
    """List a tree's files, links and submodules, by path."""
    done = git.run("ls-tree", "-r", "-z", "--full-tree", tree)
    if done.code != 0:
        if "Not a valid object name" in done.err or "not a tree object" in done.err:
            raise _no_folder(tree.partition(":")[2], "head")
        raise failure(done, "ls-tree")
    rows = []
    for row in done.out.split(b"\0")[:-1]:
        head, _, path = row.partition(b"\t")
        mode, _, oid = head.decode().split(" ")
        rows.append(Entry(path.decode(errors="surrogateescape"), int(mode, 8), trusted(oid)))
    return tuple(rows)


def _sizes(git: Git, rows: Sequence[Entry]) -> list[int]:
    listing = "".join(f"{row.oid}\n" for row in rows).encode()
    words = ("cat-file", "--buffer", "--batch-check=%(objectsize)")
    lines = git.output(*words, data=listing).decode().split("\n")[:-1]
    for row, line in zip(rows, lines, strict=True):
        if not line.isdecimal():
            raise NotFoundError(f"the bytes of `{shown(row.name)}` are not in this repository")
    return [int(line) for line in lines]


def _blobs(git: Git, rows: Sequence[Entry], object_format: str) -> list[bytes]:
    """Read all files through one child, and see that each is what its id says."""
    listing = "".join(f"{row.oid}\n" for row in rows).encode()
    out = memoryview(git.output("cat-file", "--buffer", "--batch", data=listing))
    datas = []
    at = 0
    for row in rows:
        line_end = bytes(out[at : at + 200]).index(b"\n")
        size = int(bytes(out[at : at + line_end]).split(b" ")[2])
        start = at + line_end + 1
        datas.append(bytes(out[start : start + size]))
        at = start + size + 1
        if object_id(Kind.BLOB, datas[-1], object_format) != row.oid:
            raise CorruptError(f"object `{row.oid}` of `{shown(row.name)}` is damaged")
    return datas


# --- folders by name ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Folders(Mapping[str, str]):
    """Folders by the name in their `pvc.toml`; asking for a name that two have is an error."""

    found: tuple[tuple[str, str], ...]
    """Pairs of name and folder, in order of both."""
    unreadable: tuple[tuple[str, str], ...] = ()
    """Manifests that gave no name: path, and what is wrong."""

    def __getitem__(self, name: str) -> str:
        folders = [folder for found, folder in self.found if found == name]
        if not folders:
            raise KeyError(name)
        if len(folders) > 1:
            spoken = " and ".join(f"`{shown(folder) or '.'}`" for folder in folders)
            raise UsageError(f"`{name}` is the name of {spoken}", hint="give one another name")
        return folders[0]

    def one(self, name: str) -> str:
        """Give the folder of a name; raises `NotFoundError` with the near name."""
        if name in self:
            return self[name]
        near = get_close_matches(name, self, n=1)
        if near:
            hint = f"did you mean `{near[0]}`?"
        elif self.unreadable:
            path, why = self.unreadable[0]
            hint = f"`{shown(path)}` cannot be read: {shown(why)}"
        else:
            known = ", ".join(f"`{each}`" for each in self)
            hint = f"there is {known}" if known else "`pvc init DIR` makes a folder a tree"
        raise NotFoundError(f"no folder has a `{MANIFEST}` with the name `{name}`", hint=hint)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for name, _ in self.found))

    def __len__(self) -> int:
        return len({name for name, _ in self.found})


def find_trees(repo: Repository, state: State = "head") -> Folders:
    """Find the folders with a `pvc.toml` that names them.

    A file that is no TOML or has no name is kept apart: it may be somebody's test, and must not
    stand in the way of other folders.
    """
    found: list[tuple[str, str]] = []
    unreadable: list[tuple[str, str]] = []
    for path, data in _manifests(repo, state):
        try:
            name = parse_toml(data, path).get("name")
        except DecodeError as error:
            unreadable.append((path, str(error).removeprefix(path).lstrip(":")))
            continue
        try:
            found.append((TreeName(_text(name)), path.rpartition("/")[0]))
        except UsageError as error:
            unreadable.append((path, error.message if name else "it has no `name`"))
    return Folders(tuple(sorted(found)), tuple(unreadable))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _manifests(repo: Repository, state: State) -> Iterator[tuple[str, bytes]]:
    """Give path and bytes of each manifest, in order of path."""
    if state == "worktree":
        yield from _worktree_manifests(repo)
        return
    if state == "head":
        rows = _list_tree(repo.git, "HEAD") if repo.head() else ()
    else:
        rows = repo.index() if repo.worktree else ()
    chosen = [row for row in rows if _is_manifest(row.name) and row.mode in PLAIN_MODES]
    for row, size in zip(chosen, _sizes(repo.git, chosen), strict=True):
        if size <= bounds.MAX_MANIFEST_BYTES:
            yield row.name, repo.blob(row.oid)


def _worktree_manifests(repo: Repository) -> Iterator[tuple[str, bytes]]:
    if repo.worktree is None:
        return
    out = repo.git.output("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for path in sorted({raw.decode(errors="surrogateescape") for raw in out.split(b"\0")}):
        file = repo.worktree / path
        if _is_manifest(path) and file.is_file() and not file.is_symlink():
            with file.open("rb") as opened:
                yield path, opened.read(bounds.MAX_MANIFEST_BYTES)


def _is_manifest(path: str) -> bool:
    return path.rpartition("/")[2] == MANIFEST
