"""Adopt a folder's bytes as a new version; older versions are never touched.

Rule 1: the folder is taken as git stores it (HEAD, index, or the worktree after git's own eol and
ident step), never as an editor shows it.
Rule 2: a version closes over all that it renders from: the packs it stands on lie inside it.
Rule 3: what cannot be decoded is refused before anything is written, and so is a placeholder or
fragment that leads nowhere, unless the caller says that it is meant.
Rule 4: an identical tree is no new version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.errors import NotFoundError, RefusedError, UsageError
from pvc.model.finding import Assessment, Finding

if TYPE_CHECKING:
    from pvc.files import Snapshot, State
    from pvc.model.manifest import Manifest
    from pvc.model.pack import Pack
    from pvc.model.source import Sources
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo


@dataclass(frozen=True, slots=True)
class Superseded:
    """What `supersede` did, or with `dry_run` would do.

    `version` is null when the tree is identical to `previous` or on a dry run; `changed` lists
    paths that were added, changed or removed, in byte order.
    """

    name: str
    kind: str
    version: VersionInfo | None
    previous: VersionInfo | None
    number: int
    changed: tuple[str, ...]
    findings: tuple[Finding, ...]
    dry_run: bool

    @property
    def identical(self) -> bool:
        """Whether there was nothing to adopt."""
        return not self.changed

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.supersede/1`."""
        return {
            "schema": "pvc.supersede/1",
            "status": "identical" if self.identical else "planned" if self.dry_run else "adopted",
            "kind": self.kind,
            "name": self.name,
            "version": self.number,
            "commit": self.version.id if self.version else None,
            "superseded": self.previous.id if self.previous else None,
            "changed": list(self.changed),
            "findings": [
                {"code": f.code, "severity": f.severity.value, "message": f.message, "at": f.at}
                for f in self.findings
            ],
        }


def run(
    repo: Repository,
    name: str,
    reason: str,
    *,
    state: State = "head",
    folder: str | None = None,
    accept_findings: bool = False,
    dry_run: bool = False,
) -> Superseded:
    """Adopt the folder of tree or pack `name` as its next version.

    `folder` is the path from the repository's root; it is looked for when null. Raises
    `NotFoundError` (no such folder), `DecodeError` (not in its form), `RefusedError` (corrupting
    findings), `MovedError` (somebody adopted another version meanwhile).
    """
    from pvc.dialects.base import read_pack
    from pvc.dialects.manifest import lock_toml
    from pvc.files import read_folder
    from pvc.store.versions import tip, version_entries, write_version

    if not reason.strip():
        raise UsageError("a version needs a reason", hint="-m 'why this is adopted'")
    snapshot = read_folder(repo, folder or folder_of(repo, name, state), state)
    manifest = manifest_of(snapshot, name)
    packs = packs_of(repo, manifest)
    pack = read_pack(sources_of(repo, snapshot, packs))
    findings = _findings(pack, accept=accept_findings)
    kind = "trees" if manifest.kind == "tree" else "packs"
    previous = tip(repo, kind, name)
    lock = lock_toml(pack, {n: (v.number, v.id) for n, v in packs.items()})
    entries = version_entries(repo, snapshot.entries, lock, packs)
    changed = _changed(repo, previous, entries)
    version = None
    if changed and not dry_run:
        version = write_version(
            repo,
            kind=kind,
            name=name,
            tree=entries,
            reason=reason,
            source=snapshot.source_commit,
            source_path=snapshot.path,
            source_state=state,
            previous=previous,
        )
        _warm(repo, version)
    number = (previous.number if previous else 0) + (1 if changed else 0)
    return Superseded(name, kind, version, previous, number, changed, findings, dry_run)
