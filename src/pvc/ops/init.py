"""Make a folder a tree: `pvc.toml`, `.gitattributes`, and the built-in packs as refs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pvc.dialects.manifest import parse_manifest
from pvc.errors import NotFoundError, UnsupportedError, UsageError, WriteError
from pvc.model.manifest import MANIFEST
from pvc.model.names import TreeName

if TYPE_CHECKING:
    from pathlib import Path

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

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.init/1`."""
        return {
            "schema": "pvc.init/1",
            "name": self.name,
            "form": self.form,
            "folder": self.folder,
            "written": list(self.written),
            "packs": list(self.packs),
        }


def run(
    repo: Repository, folder: Path, *, name: str | None = None, form: str | None = None
) -> Initialized:
    """Make `folder` a tree, writing only files that are not there yet.

    The form is told by the files: `.loom` → loom, else Markdown → plain; an empty folder gets a
    starter on the built-in pack. A folder that has a `pvc.toml` keeps it.
    """
    if repo.worktree is None:
        raise UnsupportedError("a bare repository has no folders", hint="work in a clone of it")
    folder = folder.resolve()
    if not folder.is_relative_to(repo.worktree.resolve()):
        raise UsageError(
            f"`{folder}` is outside of the repository",
            at=str(repo.worktree),
            hint="pvc -C DIR works in another repository",
        )
    files = _files(folder)
    manifest = folder / MANIFEST
    if manifest.exists():
        name, form = _kept(manifest, name, form)
    else:
        name = str(TreeName(name or _name_from(folder)))
        form = form or _form_of(files)
    packs = _write_builtin_packs(repo)
    written = _write_files(folder, files, name, form)
    relative = folder.relative_to(repo.worktree.resolve()).as_posix()
    return Initialized(name, form, "" if relative == "." else relative, written, packs)


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


def _files(folder: Path) -> list[str]:
    if folder.exists() and not folder.is_dir():
        raise NotFoundError(
            f"`{folder}` is no folder", hint="name the folder of the prompt's files"
        )
    found = folder.rglob("*") if folder.exists() else ()
    return sorted(
        path.relative_to(folder).as_posix()
        for path in found
        if path.is_file() and ".git" not in path.parts
    )


def _form_of(files: list[str]) -> str:
    if any(file.endswith(".loom") for file in files):
        return "loom"
    return "plain" if any(file.endswith(".md") for file in files) else "loom"


def _name_from(folder: Path) -> str:
    return folder.name.lower().replace(" ", "-")


def _write_files(folder: Path, files: list[str], name: str, form: str) -> tuple[str, ...]:
    import tomli_w

    manifest: dict[str, object] = {"format": 1, "kind": "tree", "name": name, "form": form}
    wanted: dict[str, bytes] = {".gitattributes": ATTRIBUTES}
    if not any(file.endswith((".md", ".loom")) for file in files) and form == "loom":
        wanted[STARTER_FILE] = STARTER
        manifest["packs"] = {"builtin-loom": 1}
    wanted[MANIFEST] = tomli_w.dumps(manifest).encode()
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, data in wanted.items():
            if path not in files:
                with (folder / path).open("xb") as file:
                    file.write(data)
                written.append(path)
    except OSError as error:
        raise WriteError(f"cannot write: {error.strerror}", at=str(folder)) from error
    return tuple(written)


def _write_builtin_packs(repo: Repository) -> tuple[str, ...]:
    """Copy the wheel's packs to their refs, with the same commit on every machine."""
    from pvc.packs import builtin_packs
    from pvc.store.versions import tip, write_builtin

    written = []
    for pack in builtin_packs():
        if tip(repo, "packs", pack.name) is None:
            write_builtin(repo, pack.name, pack.files)
            written.append(pack.name)
    return tuple(written)
