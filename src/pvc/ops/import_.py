"""Make a tree of prompts that exist already: a folder or one pack file, from anywhere on disk.

Rule 1: every byte is kept. What is not taken is git's own (`.git`, `.gitattributes`, `.gitignore`,
which would change or hide what stands beside them), and it is listed.
Rule 2: what cannot be read in its form is refused before anything is written, with the place.
Rule 3: the folder appears whole, by a rename, and only where there was none or an empty one.
Rule 4: what is understood is what some section of the decoded pack is made of. A file that no
section takes is kept and listed, for nobody should believe that it is sent.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pvc.dialects.base import PACKS, findings_of, read_pack
from pvc.dialects.manifest import STANDS_ON
from pvc.errors import NotFoundError, RefusedError, UsageError, WriteError
from pvc.model.manifest import MANIFEST, Form
from pvc.model.names import ObjectId, TreeName
from pvc.model.source import Source, Sources
from pvc.model.span import Plane
from pvc.ops.init import ATTRIBUTES, inside, manifest_of, name_from, write_builtin_packs
from pvc.store.entries import entry_problems, refuse, size_problems
from pvc.store.repo import MODE_EXECUTABLE, MODE_FILE, MODE_LINK, Entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pvc.model.finding import Finding
    from pvc.model.pack import Pack
    from pvc.store.repo import Repository

GITS_OWN: Final = (".git", ".gitattributes", ".gitignore")
_LOOM: Final = ".loom"


@dataclass(frozen=True, slots=True)
class Understood:
    """What a section is, and the file that it was read from.

    `role` is `prompt` (it stands there at each launch), `dynamic` (told in messages) or `on demand`
    (a fragment or component: where something asks for it).
    """

    path: str
    section: str
    plane: Plane
    role: str


@dataclass(frozen=True, slots=True)
class Imported:
    """A tree's new folder, from the repository's root, and what was found in it."""

    name: str
    form: str
    folder: str
    packs: tuple[str, ...]
    files: int
    size_bytes: int
    understood: tuple[Understood, ...]
    not_understood: tuple[str, ...]
    left_out: tuple[str, ...]
    ignored: tuple[str, ...]
    """Files that git would not take as they lie there."""
    findings: tuple[Finding, ...]

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.import/1`."""
        return {
            "schema": "pvc.import/1",
            "name": self.name,
            "form": self.form,
            "folder": self.folder,
            "packs": list(self.packs),
            "files": self.files,
            "bytes": self.size_bytes,
            "understood": [
                {
                    "path": each.path,
                    "section": each.section,
                    "plane": str(each.plane),
                    "role": each.role,
                }
                for each in self.understood
            ],
            "not_understood": list(self.not_understood),
            "left_out": list(self.left_out),
            "ignored": list(self.ignored),
            "findings": [
                {"code": f.code, "severity": f.severity.value, "message": f.message, "at": f.at}
                for f in self.findings
            ],
        }


def run(
    repo: Repository,
    form: str,
    path: Path,
    directory: Path,
    *,
    name: str | None = None,
    into: Path | None = None,
    globs: tuple[str, ...] = (),
) -> Imported:
    """Import `path` as the tree `name` into `into`, by default the name below `directory`.

    `globs` are the files that the prompt is made of, where the form's default is not meant.

    Raises `NotFoundError` (nothing there), `RefusedError` (something in the way, files that no
    version holds), `DecodeError` (not in the form).
    """
    import tomli_w

    found = _find(path, Form(form))
    name = str(TreeName(name or name_from(path.resolve().stem)))
    target, relative = inside(repo, into or directory / name)
    _refuse_what_is_there(repo, name, target)
    manifest = tomli_w.dumps(
        manifest_of(name, Form(form), globs or _files_key(found, Form(form)))
    ).encode()
    own = [Source(file.path, file.data) for file in found.files]
    sources = Sources.of([*own, Source(MANIFEST, manifest), *_pack_files(Form(form))])
    pack = read_pack(sources)
    write_builtin_packs(repo)
    added = [_File(MANIFEST, manifest), _File(".gitattributes", ATTRIBUTES)]
    _write(target, [*found.files, *added])
    understood = tuple(_understood(pack))
    taken = {each.path for each in understood}
    return Imported(
        name=name,
        form=form,
        folder=relative,
        packs=(STANDS_ON[Form(form)],) if form in STANDS_ON else (),
        files=len(own),
        size_bytes=sum(len(source.data) for source in own),
        understood=understood,
        not_understood=tuple(s.path for s in Sources.of(own) if s.path not in taken),
        left_out=found.left_out,
        ignored=tuple(_ignored(repo, relative, found.files)),
        findings=findings_of(pack, sources),
    )


# --- what is there --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    data: bytes
    mode: int = MODE_FILE


@dataclass(frozen=True, slots=True)
class _Found:
    files: list[_File]
    left_out: tuple[str, ...] = ()


def _find(path: Path, form: Form) -> _Found:
    """Read a folder, or one file under the name that its form knows it by."""
    try:
        if not path.exists():
            raise NotFoundError("no such folder or file", at=str(path))
        if path.is_dir():
            return _find_folder(path)
        name = path.name
        if form is Form.LOOM and not name.endswith((_LOOM, ".md")):
            name = f"{path.stem}{_LOOM}"
        return _Found(list(_read([(name, path)])))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"cannot be read: {reason}", at=str(error.filename or path)) from None


def _find_folder(folder: Path) -> _Found:
    if (folder / MANIFEST).exists():
        raise UsageError(
            f"the folder has a `{MANIFEST}`, so it is a tree already",
            at=str(folder),
            hint="copy it into the repository; pvc supersede adopts it",
        )
    paths: list[tuple[str, Path]] = []
    left_out: list[str] = []
    for base, folders, names in os.walk(folder, onerror=_raise):
        for each in [*folders, *names]:
            path = Path(base, each)
            inner = os.fsencode(path.relative_to(folder)).decode(errors="surrogateescape")
            if each in GITS_OWN:
                left_out.append(inner)
            elif each in names or path.is_symlink():
                paths.append((inner, path))
        folders[:] = sorted(each for each in folders if each not in GITS_OWN)
    if not paths:
        raise NotFoundError("the folder has no files", at=str(folder))
    return _Found(list(_read(sorted(paths))), tuple(sorted(left_out)))


def _raise(error: OSError) -> None:
    raise error


def _read(paths: list[tuple[str, Path]]) -> Iterator[_File]:
    """Read files, once all of them are such as a version holds."""
    states = [path.lstat() for _, path in paths]
    unknown = ObjectId("0" * 40)
    modes = [_mode(state.st_mode) for state in states]
    rows = [Entry(name, mode, unknown) for (name, _), mode in zip(paths, modes, strict=True)]
    odd = [name for (name, _), s in zip(paths, states, strict=True) if not _is_plain(s.st_mode)]
    refuse(
        [
            *entry_problems(rows),
            *(f"`{name}` is no plain file" for name in odd),
            *size_problems(rows, [state.st_size for state in states]),
        ]
    )
    for (name, path), mode in zip(paths, modes, strict=True):
        yield _File(name, path.read_bytes(), mode)


def _mode(mode: int) -> int:
    if stat.S_ISLNK(mode):
        return MODE_LINK
    return MODE_EXECUTABLE if mode & stat.S_IXUSR else MODE_FILE


def _is_plain(mode: int) -> bool:
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def _files_key(found: _Found, form: Form) -> tuple[str, ...]:
    """Name the files where the form's default would overlook a lone one."""
    if form is not Form.PLAIN or len(found.files) > 1 or found.files[0].path.endswith(".md"):
        return ()
    return (found.files[0].path,)


def _pack_files(form: Form) -> list[Source]:
    from pvc.packs import builtin_packs

    return [
        Source(f"{PACKS}{pack.name}/{file.path}", file.data)
        for pack in builtin_packs()
        if pack.name == STANDS_ON.get(form)
        for file in pack.files
    ]


def _understood(pack: Pack) -> Iterator[Understood]:
    """List the sections of the tree's own files, in the order of the pack."""
    for section in pack.sections:
        role = "on demand" if section.fragment else "prompt"
        if section.plane is Plane.DYNAMIC:
            role = "dynamic"
        if section.name.startswith("./"):  # a file of the harness form that has no place
            continue
        for path in dict.fromkeys(piece.path for piece in section.pieces):
            if not path.startswith(PACKS):
                yield Understood(path, section.name, section.plane, role)


# --- writing --------------------------------------------------------------------------------


def _refuse_what_is_there(repo: Repository, name: str, target: Path) -> None:
    from pvc.files import find_trees

    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise RefusedError(
            f"`{target.name}` is there already", at=str(target), hint="--into another folder"
        )
    trees = find_trees(repo, "worktree")
    if name in trees:
        raise RefusedError(
            f"there is a tree `{name}` already", at=trees[name] or ".", hint="--name another"
        )


def _write(target: Path, files: Iterable[_File]) -> None:
    """Write a folder beside its place, and put it there by a rename."""
    scratch = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=".pvc-import-", dir=target.parent))
        for file in files:
            path = scratch / os.fsdecode(file.path.encode())  # a locale need not be UTF-8
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.data)
            if file.mode == MODE_EXECUTABLE:
                path.chmod(path.stat().st_mode | 0o111)
        scratch.chmod(target.parent.stat().st_mode & 0o777)
        scratch.replace(target)
    except OSError as error:
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)
        raise WriteError(f"cannot write: {error.strerror}", at=str(target)) from error


def _ignored(repo: Repository, folder: str, files: list[_File]) -> Iterator[str]:
    """Find the files that the repository's ignore rules would keep out of a commit."""
    prefix = f"{folder}/" if folder else ""
    listing = b"".join(f"{prefix}{file.path}".encode() + b"\0" for file in files)
    done = repo.git.run("check-ignore", "-z", "--stdin", data=listing)
    for raw in done.out.split(b"\0")[:-1]:
        yield raw.decode().removeprefix(prefix)
