"""Put hooks into a repository, and take them away again.

Rule 1: git says where hooks are: `core.hooksPath`, worktrees and submodules are its business.
Rule 2: a hook that is there stays and runs first; taking ours away puts it back as it was.
Rule 3: a folder of hooks that others share is left alone: one that is tracked belongs to the
project, one outside of the repository to all that use it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pvc.errors import RefusedError, UsageError, WriteError
from pvc.ops.hook_guard import ref_prefix, symbolic_refs
from pvc.ops.hook_shims import BEFORE, CLIENT, MARK, SERVER, shim

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pvc.store.repo import Repository


@dataclass(frozen=True, slots=True)
class HookChange:
    """What was done to a hook: `installed`, `renewed`, `chained`, `removed`, `restored`, `kept`."""

    name: str
    done: str


@dataclass(frozen=True, slots=True)
class HookChanges:
    """What was done, and where; nothing on a dry run."""

    folder: str
    changes: tuple[HookChange, ...]
    dry_run: bool = False

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.hook/1`."""
        return {
            "schema": "pvc.hook/1",
            "folder": self.folder,
            "dry_run": self.dry_run,
            "hooks": [{"name": change.name, "done": change.done} for change in self.changes],
        }


def install(repo: Repository, names: Sequence[str], *, dry_run: bool = False) -> HookChanges:
    """Install hooks: those named, else the clone's, or the guard of a bare repository.

    Raises `RefusedError` where the folder of hooks is not this repository's own.
    """
    folder = _folder(repo)
    chosen = tuple(names) or (("pre-receive",) if repo.is_bare else CLIENT)
    _known(chosen)
    if set(chosen) & set(SERVER):
        _no_symbolic(repo)
    changes = tuple(_install_one(folder, name, dry_run=dry_run) for name in chosen)
    return HookChanges(str(folder), changes, dry_run)


def uninstall(repo: Repository, names: Sequence[str], *, dry_run: bool = False) -> HookChanges:
    """Take hooks away: those named, else all of ours."""
    folder = _folder(repo)
    _known(names)
    changes = (_remove_one(folder, n, dry_run=dry_run) for n in names or (*CLIENT, *SERVER))
    return HookChanges(str(folder), tuple(change for change in changes if change), dry_run)


def _known(names: Sequence[str]) -> None:
    for name in names:
        if name not in (*CLIENT, *SERVER):
            raise UsageError(f"pvc has no hook `{name}`", hint=", ".join((*CLIENT, *SERVER)))


def _folder(repo: Repository) -> Path:
    words = ("rev-parse", "--path-format=absolute", "--git-path", "hooks")
    answer = repo.git.run(*words, hooks=True).out.decode(errors="surrogateescape")
    folder = Path(answer.removesuffix("\n")).resolve()
    if folder.is_relative_to(repo.common_dir.resolve()):
        return folder
    own = repo.worktree is not None and folder.is_relative_to(repo.worktree.resolve())
    if own and not repo.git.run("ls-files", "--", str(folder)).out:
        return folder
    why = "is tracked, so it is the project's" if own else "serves other repositories too"
    raise RefusedError(
        f"the folder of hooks {why}",
        at=str(folder),
        hint='let its hooks call `pvc hook run NAME "$@"`; docs/hooks.md shows how',
    )


def _no_symbolic(repo: Repository) -> None:
    """Refuse a server on which a push of one ref moves another one that is guarded."""
    for ref, target in symbolic_refs(repo, ref_prefix(repo)):
        raise RefusedError(
            f"`{ref}` leads to `{target}`, past any guard",
            at=ref,
            hint=f"git symbolic-ref --delete {ref}",
        )


def _command() -> tuple[str, ...]:
    """Say how this very pvc is started: hooks may run without its folder on the PATH."""
    script = Path(sys.executable).with_name("pvc")
    return (str(script),) if script.is_file() else (sys.executable, "-m", "pvc")


def _is_ours(hook: Path) -> bool:
    return hook.is_file() and MARK.encode() in hook.read_bytes()[:200]


def _install_one(folder: Path, name: str, *, dry_run: bool) -> HookChange:
    hook, before = folder / name, folder / f"{name}{BEFORE}"
    done = "installed"
    if _is_ours(hook):
        done = "renewed"
    elif hook.exists() or hook.is_symlink():
        if before.exists() or before.is_symlink():
            raise RefusedError(
                f"there is a `{name}` and a `{before.name}`",
                at=str(folder),
                hint="keep one of them: the second is what the first would be moved to",
            )
        done = "chained"
    if not dry_run:
        _write(folder, hook, before if done == "chained" else None, shim(name, _command()))
    return HookChange(name, done)


def _write(folder: Path, hook: Path, before: Path | None, text: str) -> None:
    """Write a hook by another name and put it in place, so that git never sees half of one."""
    temporary = folder / f"{hook.name}.tmp-pvc"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text)
        temporary.chmod(0o755)
        if before is not None:
            hook.rename(before)
        temporary.replace(hook)
    except OSError as error:
        raise WriteError(f"cannot write: {error.strerror}", at=str(hook)) from error


def _remove_one(folder: Path, name: str, *, dry_run: bool) -> HookChange | None:
    hook, before = folder / name, folder / f"{name}{BEFORE}"
    if not _is_ours(hook):
        return HookChange(name, "kept") if hook.exists() else None
    restores = before.exists() or before.is_symlink()
    if not dry_run:
        if restores:
            before.replace(hook)
        else:
            hook.unlink()
    return HookChange(name, "restored" if restores else "removed")
