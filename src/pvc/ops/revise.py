"""The next version made from the one before it: `--set`, `--rm`, `--pack`, `--revert-to`.

No checkout is needed, only the chain.

Rule 1: what is not named is inherited: files with their modes, and packs as the very commits that
the version stands on, whatever their chains hold by now.
Rule 2: `--pack` changes one number in `pvc.toml` and no other byte of it.
Rule 3: a revert is the whole tree of an older version, its lock too, so it renders as it did then.
Rule 4: what is made here is a candidate as a folder is, and judged as one (`ops.candidate`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pvc.dialects.manifest_packs import with_pack
from pvc.errors import NotFoundError, UsageError
from pvc.files import File, Snapshot
from pvc.launch.environment import read_input
from pvc.model.manifest import MANIFEST
from pvc.model.names import CommitId, PackName, whole_number
from pvc.ops.candidate import Candidate, decoded, manifest_of
from pvc.ops.fresh import pack_at
from pvc.store.entries import RESERVED, entry_problems, is_lfs_pointer, refuse, shown, size_problems
from pvc.store.objects import object_id
from pvc.store.repo import MODE_EXECUTABLE, MODE_FILE, Entry, Kind
from pvc.store.versions import at_commit, find_below, near, pack_commits, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pvc.model.manifest import Manifest
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo

_PACKS = f"{RESERVED}/packs/"


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file as it is given: its path in the version, its bytes, whether it may be run."""

    path: str
    data: bytes
    is_executable: bool = False


@dataclass(frozen=True, slots=True)
class Edits:
    """What a version has otherwise than the one before it."""

    sets: tuple[NewFile, ...] = ()
    removed: tuple[str, ...] = ()
    packs: tuple[tuple[PackName, int], ...] = ()
    revert_to: int | None = None

    @classmethod
    def of(
        cls,
        sets: Iterable[tuple[str, str]],
        removed: Iterable[str],
        packs: Iterable[tuple[str, str]],
        revert_to: int | None,
        directory: str,
    ) -> Edits | None:
        """Read what the words of a command name; null when they name nothing.

        `sets` are pairs of path and file, `-` for standard input.
        """
        numbers = tuple((PackName(name), _number(name, text)) for name, text in packs)
        edits = cls(
            tuple(_read_file(path, file, directory) for path, file in sets),
            tuple(removed),
            numbers,
            revert_to,
        )
        if revert_to is not None and (edits.sets or edits.removed or edits.packs):
            raise UsageError("a revert takes the whole version", hint="edit in a version after it")
        for path in sorted({file.path for file in edits.sets}.intersection(edits.removed)):
            raise UsageError(f"`{path}` is both set and removed")
        return None if edits == cls() else edits


def _number(name: str, text: str) -> int:
    number = whole_number(text)
    if not number:
        raise UsageError(f"`{text}` is no version of `{name}`", hint=f"--pack {name}=2")
    return number


def _read_file(path: str, file: str, directory: str) -> NewFile:
    data = read_input(file, directory)
    can_run = file != "-" and bool(os.stat(os.path.join(directory, file)).st_mode & 0o100)  # noqa: PTH116, PTH118  # joined as `read_input` does
    return NewFile(path, data, can_run)


def read_edited(repo: Repository, base: VersionInfo, edits: Edits) -> tuple[Candidate, VersionInfo]:
    """Read what `base` would be with the edits; also the version whose files were taken.

    Raises `NotFoundError` on a version, pack or file that is not there, and all that a folder
    would be refused for.
    """
    if edits.revert_to is not None:
        base = find_below(repo, base, edits.revert_to)
    files = {file.path: file for file in _files(repo, base)}
    _edit(files, edits, repo.object_format)
    ordered = tuple(files[path] for path in sorted(files, key=os.fsencode))
    _judge(ordered)
    snapshot = Snapshot("", "version", ordered, None)
    manifest = manifest_of(snapshot, base.name)
    if f"{manifest.kind}s" != base.kind:
        raise UsageError(f"`{base.label}` is no {manifest.kind}", at=MANIFEST)
    return decoded(repo, snapshot, manifest, _packs(repo, base, manifest, edits)), base


def _files(repo: Repository, version: VersionInfo) -> Iterable[File]:
    for path, entry in walk(repo, version.tree):
        if not path.startswith(f"{RESERVED}/"):
            yield File(path, entry.mode, entry.oid, repo.blob(entry.oid))


def _edit(files: dict[str, File], edits: Edits, object_format: str) -> None:
    """Take out and put in what is named."""
    for path in edits.removed:
        if files.pop(path, None) is None:
            raise _no_file(path, files)
    for new in edits.sets:
        mode = MODE_EXECUTABLE if new.is_executable else MODE_FILE
        mode = files[new.path].mode if new.path in files else mode
        files[new.path] = _file(new.path, mode, new.data, object_format)
    for name, number in edits.packs:
        if MANIFEST not in files:
            raise _no_file(MANIFEST, files)
        old = files[MANIFEST]
        data = with_pack(old.data, name, number)
        files[MANIFEST] = _file(MANIFEST, old.mode, data, object_format)


def _file(path: str, mode: int, data: bytes, object_format: str) -> File:
    return File(path, mode, object_id(Kind.BLOB, data, object_format), data)


def _no_file(path: str, files: Mapping[str, File]) -> NotFoundError:
    close = get_close_matches(path, files, 1)
    hint = f"did you mean `{close[0]}`?" if close else near(path, files)
    return NotFoundError(f"the version has no file `{shown(path)}`", hint=hint)


def _judge(files: tuple[File, ...]) -> None:
    """Refuse what a folder would be refused for."""
    rows = [Entry(file.path, file.mode, file.oid) for file in files]
    folders = {"/".join(parts[:n]) for f in files if (parts := f.path.split("/"))
               for n in range(1, len(parts))}  # fmt: skip
    refuse(
        [
            *entry_problems(rows),
            *(f"`{shown(f.path)}` is a file and a folder" for f in files if f.path in folders),
            *size_problems(rows, [len(file.data) for file in files]),
            *(
                f"`{shown(file.path)}` is an LFS pointer, not the text"
                for file in files
                if is_lfs_pointer(file.data)
            ),
        ]
    )


def _packs(
    repo: Repository, base: VersionInfo, manifest: Manifest, edits: Edits
) -> dict[str, VersionInfo]:
    """Find the packs that the manifest names: those of `base`, or what was asked for."""
    kept = pack_commits(repo, base) if base.kind == "trees" else {}
    named = {name for name, _ in edits.packs}
    found = {}
    for use in manifest.packs:
        version = _kept(repo, base, use.name, kept[use.name]) if use.name in kept else None
        if version is None or use.name in named or version.number != use.number:
            version = pack_at(repo, use.name, use.number)
        found[str(use.name)] = version
    return found


def _kept(repo: Repository, base: VersionInfo, name: str, oid: CommitId) -> VersionInfo:
    try:
        return at_commit(repo, oid)
    except NotFoundError:
        raise NotFoundError(
            f"the pack `{name}` that `{base.label}` stands on is not in this clone",
            hint="pvc sync",
        ) from None
