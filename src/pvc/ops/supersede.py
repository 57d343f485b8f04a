"""Adopt a folder's bytes as a new version; older versions are never touched.

Rule 1: the folder is taken as git stores it (HEAD, index, or the worktree after git's own eol and
ident step), never as an editor shows it. With edits no folder is read (`ops.revise`).
Rule 2: a version closes over all that it renders from: the packs it stands on lie inside it.
Rule 3: what cannot be decoded is refused before anything is written, and so is a name that leads
nowhere, unless the caller says that it is meant.
Rule 4: an identical tree is no new version, but where it resolves two: joining them is what it is
for, and either side may be the one that is wanted.
Rule 5: a name has one history: the first version here is refused where a remote has some already.
Rule 6: the version that was looked at is the one that is superseded; if the ref moved since, it is
refused.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pvc.errors import NotFoundError, RefusedError, UsageError
from pvc.model.finding import Assessment, Finding
from pvc.ops import secrets
from pvc.ops.candidate import read_candidate
from pvc.store.entries import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.files import Snapshot, State
    from pvc.model.names import CommitId
    from pvc.ops.candidate import Candidate
    from pvc.ops.revise import Edits
    from pvc.store.repo import Repository
    from pvc.store.versions import Kind, Taken, VersionInfo

_SPOKEN = 5


@dataclass(frozen=True, slots=True)
class Superseded:
    """What `supersede` did, or on a dry run would do.

    `version` is null when the tree is identical to `previous`, or on a dry run; `changed` lists the
    paths that were added, changed or removed, in byte order. `resolves` is this clone's own version
    where `previous` is another's, `reverts` the older one that is had again.
    """

    name: str
    kind: Kind
    previous: VersionInfo | None
    version: VersionInfo | None
    changed: tuple[str, ...]
    findings: tuple[Finding, ...]
    dry_run: bool
    resolves: VersionInfo | None = None
    reverts: VersionInfo | None = None
    folder_differs: tuple[str, ...] = ()
    """Paths that the folder has otherwise than a version that was made without reading it."""
    notes: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()
    """Paths that older versions changed by edits, and that the folder sets back."""

    @property
    def is_new(self) -> bool:
        """Whether there is something to adopt."""
        return bool(self.changed or self.resolves)

    @property
    def number(self) -> int:
        """The number of the version that holds these bytes."""
        before = self.previous.number if self.previous else 0
        return before + 1 if self.is_new else before

    @property
    def status(self) -> str:
        """`adopted`, `identical`, or on a dry run `planned`."""
        if not self.is_new:
            return "identical"
        return "planned" if self.dry_run else "adopted"

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.supersede/1`."""
        return {
            "schema": "pvc.supersede/1",
            "status": self.status,
            "kind": self.kind.removesuffix("s"),
            "name": self.name,
            "version": self.number,
            "commit": self.version.id if self.version else None,
            "superseded": self.previous.id if self.previous else None,
            "resolves": self.resolves.id if self.resolves else None,
            "reverts": self.reverts.id if self.reverts else None,
            "changed": list(self.changed),
            "undone": list(self.undone),
            "folder_differs": list(self.folder_differs),
            "findings": [
                {"code": f.code, "severity": f.severity.value, "message": f.message, "at": f.at}
                for f in self.findings
            ],
        }


def run(  # noqa: PLR0913  # what may be adopted, and how
    repo: Repository,
    name: str,
    reason: str,
    *,
    state: State = "head",
    folder: str | None = None,
    edits: Edits | None = None,
    resolve: str | None = None,
    accept_findings: bool = False,
    accept_uncommitted: bool = False,
    allow_empty: bool = False,
    first: bool = False,
    sign: bool | None = None,
    dry_run: bool = False,
) -> Superseded:
    """Adopt the folder of tree or pack `name`, or `edits` of its newest version, as the next one.

    `folder` is a path from the repository's root; where it is null the folder whose `pvc.toml` has
    this name is looked for. `resolve` is a remote where another clone's version came first: the new
    one follows that, with this clone's own as second parent, so both sides go forward. Raises
    `NotFoundError` (no such folder), `DecodeError` (not in its form), `RefusedError` (findings that
    corrupt, files that no version holds, edits that are not committed), `MovedError` (another
    version came between).
    """
    if not reason.strip():
        raise UsageError("a version needs a reason", hint="-m 'why this is adopted'")
    notes = secrets.heed_words(repo, reason, "reason")
    if edits is None:
        found = read_candidate(repo, name, state, folder)
        if not accept_uncommitted:
            _refuse_uncommitted(repo, found.snapshot)
        base, taken = _base(repo, found.kind, name, resolve), None
    else:
        found, base, taken = _edited(repo, name, edits, resolve)
    if base.previous is None and not first:
        from pvc.ops.fresh import must_be_first

        notes = (*notes, *must_be_first(repo, found.kind, name))
    _refuse_corrupting(found.findings, accept=accept_findings)
    if found.kind == "trees" and not allow_empty:
        _refuse_empty(found)
    is_revert = edits is not None and edits.revert_to is not None
    plan = _Plan(found, base, taken if is_revert else None)
    return replace(plan.carry_out(repo, reason, sign=sign, dry_run=dry_run), notes=notes)


@dataclass(frozen=True, slots=True)
class _Base:
    """What is superseded, and with `resolve` the own version that is joined to it."""

    previous: VersionInfo | None
    resolves: VersionInfo | None = None


@dataclass(frozen=True, slots=True)
class _Plan:
    """A candidate that may be adopted, and upon what."""

    found: Candidate
    base: _Base
    reverts: VersionInfo | None

    def carry_out(
        self, repo: Repository, reason: str, *, sign: bool | None, dry_run: bool
    ) -> Superseded:
        """Write the version where it is a new one, and keep its program."""
        from pvc.ops.programs import compile_version
        from pvc.store.sound import check_sound
        from pvc.store.versions import changed_paths, write_version

        found, previous, resolves = self.found, self.base.previous, self.base.resolves
        kind, name = found.kind, str(found.manifest.name)
        tree = self.reverts.tree if self.reverts else found.tree(repo)
        changed = changed_paths(repo, previous.tree if previous else None, tree)
        version = None
        if changed and dry_run:  # else the whole version is looked at before it is adopted
            check_sound(repo, tree, [previous.id if previous else None])
        if (changed or resolves) and not dry_run:
            version = write_version(
                repo,
                kind=kind,
                name=name,
                tree=tree,
                reason=reason,
                previous=previous,
                resolves=resolves,
                taken=self._taken(),
                sign=sign,
            )
            compile_version(repo, version)
        return Superseded(
            name,
            kind,
            previous,
            version,
            changed,
            found.findings,
            dry_run,
            resolves,
            self.reverts,
            folder_differs=() if dry_run else _folder_differs(repo, found),
            undone=tuple(_undone(repo, previous, found.snapshot)),
        )

    def _taken(self) -> Taken:
        """Say where the bytes come from; those of a revert come from where they came from then."""
        from pvc.store.versions import Taken

        taken, old = self.found.snapshot, self.reverts
        if old:
            return Taken(old.source, old.source_path, old.source_state or "version", old.id)
        return Taken(taken.source_commit, taken.path, taken.state)


def _edited(
    repo: Repository, name: str, edits: Edits, resolve: str | None
) -> tuple[Candidate, _Base, VersionInfo]:
    """Edit the newest version of a tree or pack; also gives the version that was edited."""
    from pvc.ops.revise import read_edited
    from pvc.ops.select import select_version

    newest = select_version(repo, name)
    if newest.name != name:
        raise UsageError(f"`{name}` is one version", hint=f"pvc supersede {newest.name}")
    base = _base(repo, newest.kind, name, resolve)
    previous = base.previous or newest
    found, taken = read_edited(repo, previous, edits)
    return found, base, taken


def _base(repo: Repository, kind: Kind, name: str, resolve: str | None) -> _Base:
    """Find what is superseded. Raises `UsageError` where there is nothing to resolve."""
    from pvc.store.versions import tip

    ours = tip(repo, kind, name)
    if resolve is None:
        return _Base(ours)
    theirs = _theirs(repo, kind, name, resolve)
    must_have_diverged(repo, name, resolve, ours.id if ours else None, theirs.id)
    return _Base(theirs, ours)


def must_have_diverged(
    repo: Repository, label: str, remote: str, ours: CommitId | None, theirs: CommitId
) -> None:
    """Raise `UsageError` where one of two tips goes on from the other: there a sync is enough."""
    if ours is None or repo.is_ancestor(ours, theirs):
        side = "behind"
    elif repo.is_ancestor(theirs, ours):
        side = "ahead of"
    else:
        return
    raise UsageError(
        f"there is nothing to resolve: `{label}` is {side} `{remote}`", hint=f"pvc sync {remote}"
    )


def _undone(repo: Repository, previous: VersionInfo | None, taken: Snapshot) -> Iterator[str]:
    """Name the files that a folder sets back to what they were before they were edited."""
    if previous is None or taken.state == "version":
        return
    from pvc.store.versions import changed_paths, edited_since, walk

    before = edited_since(repo, previous)
    if before is None:
        return
    old = {path: entry.oid for path, entry in walk(repo, before.tree)}
    now = {file.path: file.oid for file in taken.files}
    for path in changed_paths(repo, before.tree, previous.tree):
        if not path.startswith(".pvc/") and now.get(path) == old.get(path):
            yield path


def _refuse_uncommitted(repo: Repository, taken: Snapshot) -> None:
    """Refuse a folder whose edits would not be in the version that is taken from HEAD."""
    dirty = _different(repo, taken) if taken.state == "head" else ()
    if dirty:
        raise RefusedError(
            f"edits in `{shown(taken.path or '.')}` are not committed: {_listed(dirty)}",
            hint="commit them first; or `--worktree` takes the files as they are, `--index` what "
            "is staged",
        )


def _folder_differs(repo: Repository, found: Candidate) -> tuple[str, ...]:
    """Name the files of the tree's folder that are not as in a version made without reading it."""
    from pvc.files import find_trees

    if found.snapshot.state != "version" or repo.worktree is None:
        return ()
    path = find_trees(repo, "worktree").get(str(found.manifest.name))
    return () if path is None else _different(repo, replace(found.snapshot, path=path))


def _different(repo: Repository, taken: Snapshot) -> tuple[str, ...]:
    """Name the files that the folder in the worktree has otherwise, in byte order."""
    from pvc.files import read_folder

    if repo.worktree is None:
        return ()
    try:
        there = read_folder(repo, taken.path or ".", "worktree")
    except NotFoundError:  # not checked out, so nothing in it was edited
        return ()
    now = {(file.path, file.mode, file.oid) for file in there.files}
    old = {(file.path, file.mode, file.oid) for file in taken.files}
    return tuple(sorted({path for path, *_ in now ^ old}, key=os.fsencode))


def _listed(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - _SPOKEN} more" if len(paths) > _SPOKEN else ""
    return ", ".join(f"`{shown(path)}`" for path in paths[:_SPOKEN]) + more


def _theirs(repo: Repository, kind: Kind, name: str, remote: str) -> VersionInfo:
    """Find the newest version that the last sync saw on a remote."""
    from pvc.store.versions import at_commit

    oid = repo.ref(f"refs/pvc/remotes/{remote}/{kind}/{name}")
    if oid is None:
        raise NotFoundError(f"no `{name}` was seen on `{remote}`", hint=f"pvc sync {remote}")
    return at_commit(repo, oid)


def _refuse_empty(found: Candidate) -> None:
    """Refuse a tree that renders to nothing whatever it is given."""
    if found.pack.recipe or found.pack.layout.merge is not None:
        return  # a launch brings text of its own
    if any(piece.data for section in found.pack.sections for piece in section.pieces):
        return
    patterns = ", ".join(f"`{pattern}`" for pattern in found.manifest.files)
    raise RefusedError(
        "the tree renders to nothing: no file of the prompt has any text",
        at=found.snapshot.path or ".",
        hint=f"`files` in pvc.toml takes {patterns}; --allow-empty adopts it as it is",
    )


def _refuse_corrupting(findings: tuple[Finding, ...], *, accept: bool) -> None:
    corrupting = Assessment.of(findings).corrupting
    if corrupting and not accept:
        first = corrupting[0]
        more = f" (and {len(corrupting) - 1} more)" if len(corrupting) > 1 else ""
        raise RefusedError(
            f"{first.message}{more}",
            at=first.at,
            hint="\n".join(
                line for line in (first.hint, "--accept-findings adopts it as it is") if line
            ),
        )
