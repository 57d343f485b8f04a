"""Make a folder a tree: `pvc.toml`, `.gitattributes`, and the built-in packs as refs."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from pvc.dialects.detect import detect
from pvc.dialects.globs import matches
from pvc.dialects.manifest import STANDS_ON, near, parse_manifest
from pvc.errors import (
    NotFoundError,
    PvcError,
    RefusedError,
    UnsupportedError,
    UsageError,
    WriteError,
)
from pvc.model.manifest import MANIFEST, Form
from pvc.model.names import TreeName
from pvc.model.source import Source, Sources
from pvc.store.entries import name_problem, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pvc.model.finding import Finding
    from pvc.store.repo import Repository

# What is stored must be what was written: no checkout or add may convert these bytes.
ATTRIBUTES: Final = b"* -text -ident -filter -working-tree-encoding\n"

STARTER_FILE: Final = "house_rules.md"
STARTER: Final = b"""\
## House rules

Say which files you are about to change before you change them.
"""


@dataclass(frozen=True, slots=True)
class Initialized:
    """The folder (from the repository's root), its form, and the files that were written."""

    name: str
    form: str
    folder: str
    written: tuple[str, ...]
    packs: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    """What `pvc check` says of the folder that a newcomer should hear at once."""

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.init/1`."""
        return {
            "schema": "pvc.init/1",
            "name": self.name,
            "form": self.form,
            "folder": self.folder,
            "written": list(self.written),
            "packs": list(self.packs),
            "findings": [
                {"code": f.code, "severity": f.severity.value, "message": f.message, "at": f.at}
                for f in self.findings
            ],
        }


def run(
    repo: Repository,
    folder: Path,
    *,
    name: str | None = None,
    form: str | None = None,
    globs: tuple[str, ...] = (),
) -> Initialized:
    """Make `folder` a tree, writing only files that are not there yet.

    The form is told by the files (`dialects.detect`); an empty folder gets a starter on the
    built-in pack. A folder that has a `pvc.toml` keeps it. `globs` are the files that the prompt
    is made of, where the form's default is not meant.

    Raises `NotFoundError` (no such folder), `RefusedError` (nothing in it would be sent).
    """
    is_told = form is not None
    folder, relative = inside(repo, folder)
    if not folder.exists():
        TreeName(name or name_from(folder.name))  # a name that is not one is the first thing wrong
    files = _files(repo, folder)
    manifest = folder / MANIFEST
    if MANIFEST in files:
        name, form = _kept(manifest, name, form)
    else:
        name = str(TreeName(name or name_from(folder.name)))
        form = form or (Form.PLAIN if globs else detect(_read(folder, files)))
    wanted = _wanted_files(folder, files, name, Form(form), globs)
    if MANIFEST in wanted:
        _refuse_nothing_to_send(relative or ".", files, wanted, form if is_told else "")
    with _all_or_nothing(folder, wanted):
        _write_files(folder, wanted)
        packs = write_builtin_packs(repo)
    return Initialized(name, form, relative, tuple(wanted), packs, _findings(folder))


def inside(repo: Repository, folder: Path) -> tuple[Path, str]:
    """Resolve a folder, and name it from the top of the repository; empty is the top itself.

    Raises `UsageError` when it lies outside, `RefusedError` when no version can hold such a name.
    """
    if repo.worktree is None:
        raise UnsupportedError("a bare repository has no folders", hint="work in a clone of it")
    folder, top = folder.resolve(), repo.worktree.resolve()
    if not folder.is_relative_to(top):
        raise UsageError(
            f"`{folder}` is outside of the repository",
            at=str(repo.worktree),
            hint="pvc -C DIR works in another repository",
        )
    relative = "" if folder == top else folder.relative_to(top).as_posix()
    if relative and (why := name_problem(relative)):
        raise RefusedError(f"`{shown(relative)}` {why}", hint="name another folder")
    return folder, relative


def _kept(manifest: Path, name: str | None, form: str | None) -> tuple[str, str]:
    """Read name and form of a folder that is a tree already; refuses to change them."""
    found = parse_manifest(manifest.read_bytes(), at=str(manifest))
    for key, here, wanted in (("name", found.name, name), ("form", found.form, form)):
        if wanted not in (None, here):
            raise UsageError(
                f"the folder is a tree already, its {key} `{here}`, not `{wanted}`",
                at=str(manifest),
                hint=f"edit `{key}` there, or leave --{key} out",
            )
    return str(found.name), found.form


def _files(repo: Repository, folder: Path) -> list[str]:
    if not folder.exists():
        raise NotFoundError(
            f"no folder `{folder.name}`", at=_above(repo, folder), hint=_instead(folder)
        )
    if not folder.is_dir():
        raise NotFoundError(
            f"`{folder}` is not a folder", hint="name the folder of the prompt's files"
        )
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.parts
    )


def _above(repo: Repository, folder: Path) -> str:
    top = (repo.worktree or folder).resolve()
    return folder.parent.relative_to(top).as_posix()


def _instead(folder: Path) -> str:
    """Name the folder that was meant, if one there is nearly so called."""
    there = folder.parent
    names = sorted(p.name for p in there.iterdir() if p.is_dir()) if there.is_dir() else []
    names = [name for name in names if not name.startswith(".")]
    new = f"mkdir -p {folder.name} starts a new one"
    meant = near(folder.name, names)
    return f"{meant}{' ' if meant.endswith('?') else '; ' if meant else ''}{new}"


def _refuse_nothing_to_send(
    folder: str, files: list[str], wanted: Mapping[str, bytes], form: str
) -> None:
    """Refuse a tree whose manifest takes none of the files; `form` is the one asked for."""
    manifest = parse_manifest(wanted[MANIFEST])
    own = [path for path in files if not path.rpartition("/")[2].startswith(".")]
    patterns = (manifest.entry,) if manifest.entry else manifest.files
    taken = [path for path in (*own, *wanted) if path != MANIFEST and not path.startswith(".")]
    if any(matches(pattern, path) for pattern in patterns for path in taken):
        return
    if not own and manifest.packs:
        return
    if not own:
        raise RefusedError(
            "an empty folder has nothing to send", at=folder, hint="write the first .md file"
        )
    suffixes = Counter(PurePosixPath(path).suffix or path for path in own)
    counts = ", ".join(f"{count} {suffix}" for suffix, count in suffixes.most_common(6))
    most = suffixes.most_common(1)[0][0]
    whose = f"form `{form}` reads" if form else "any form reads"
    raise RefusedError(
        f"none of its files is one that {whose}: it holds {counts}",
        at=folder,
        hint=f"pvc init {folder} --files '**/*{most}' takes them as they are",
    )


def _findings(folder: Path) -> tuple[Finding, ...]:
    """Check the new tree for names that lead nowhere and for what it stands on."""
    from pvc.core.check import ADOPTING
    from pvc.model.finding import Severity
    from pvc.ops.check import CheckOptions
    from pvc.ops.check import run as check

    found = (one.finding for one in check(str(folder), CheckOptions(paths=(".",))).found)
    return tuple(
        finding
        for finding in found
        if finding.severity is Severity.CORRUPTING
        or finding.code in (*ADOPTING, "foundation-missing")
    )


def _read(folder: Path, files: list[str]) -> Sources:
    """Read as much of each file as tells its form."""
    sources = []
    for path in files:
        with (folder / path).open("rb") as file:
            sources.append(Source(path, file.read(_FRONT_BYTES) if path.endswith(".md") else b""))
    return Sources.of(sources)


_FRONT_BYTES = 64 * 1024


def name_from(stem: str) -> str:
    """Make a tree's name of a folder's or a file's."""
    return stem.lower().replace(" ", "-")


def manifest_of(name: str, form: Form, files: tuple[str, ...] = ()) -> dict[str, object]:
    """Write the manifest of a new tree as a table; `files` are given where no default fits."""
    manifest: dict[str, object] = {"format": 1, "kind": "tree", "name": name, "form": str(form)}
    if files:
        manifest["files"] = list(files)
    if form in STANDS_ON:
        manifest["packs"] = {STANDS_ON[form]: 1}
    return manifest


def _wanted_files(
    folder: Path, files: list[str], name: str, form: Form, globs: tuple[str, ...] = ()
) -> dict[str, bytes]:
    """Choose what is to be written; raises `RefusedError` where something is in its place."""
    import tomli_w

    manifest = manifest_of(name, form, globs)
    wanted: dict[str, bytes] = {".gitattributes": ATTRIBUTES}
    own = [file for file in files if not file.rpartition("/")[2].startswith(".")]
    if not own and form is Form.LOOM:
        wanted[STARTER_FILE] = STARTER
        manifest["packs"] = {"builtin-loom": 1}
    wanted[MANIFEST] = tomli_w.dumps(manifest).encode()
    wanted = {path: data for path, data in wanted.items() if path not in files}
    for path in wanted:
        if os.path.lexists(folder / path):
            raise RefusedError(f"`{path}` is no plain file", at=str(folder), hint="move it away")
    return wanted


def _write_files(folder: Path, wanted: dict[str, bytes]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, data in wanted.items():
            with (folder / path).open("xb") as file:
                file.write(data)
    except OSError as error:
        raise WriteError(f"cannot write: {error.strerror}", at=str(folder)) from error


@contextmanager
def _all_or_nothing(folder: Path, wanted: dict[str, bytes]) -> Iterator[None]:
    """Take the files away again when not all could be done; none of them was there before.

    A half-written one would be taken for the user's own by the next `init`.
    """
    was_there = folder.exists()
    try:
        yield
    except PvcError:
        for path in wanted:
            (folder / path).unlink(missing_ok=True)
        if not was_there and folder.exists():
            folder.rmdir()
        raise


def write_builtin_packs(repo: Repository) -> tuple[str, ...]:
    """Copy the wheel's packs to their refs, with the same commit on every machine."""
    from pvc.packs import builtin_packs
    from pvc.store.versions import tip, write_builtin

    written = []
    for pack in builtin_packs():
        if tip(repo, "packs", pack.name) is None:
            write_builtin(repo, pack.name, pack.files)
            written.append(pack.name)
    return tuple(written)
