"""Adopt a folder's bytes as a new version; older versions are never touched.

Rule 1: the folder is taken as git stores it (HEAD, index, or the worktree after git's own eol and
ident step), never as an editor shows it.
Rule 2: a version closes over all that it renders from: the packs it stands on lie inside it.
Rule 3: what cannot be decoded is refused before anything is written, and so is a name that leads
nowhere, unless the caller says that it is meant.
Rule 4: an identical tree is no new version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.dialects.base import findings_of, read_pack
from pvc.dialects.manifest import parse_manifest
from pvc.errors import NotFoundError, PvcError, RefusedError, UsageError
from pvc.model.finding import Assessment, Finding
from pvc.model.manifest import MANIFEST
from pvc.model.source import Source, Sources

if TYPE_CHECKING:
    from pvc.files import Snapshot, State
    from pvc.model.manifest import Manifest
    from pvc.model.pack import Pack
    from pvc.store.repo import Repository
    from pvc.store.versions import Kind, VersionInfo

KINDS: dict[str, Kind] = {"tree": "trees", "pack": "packs"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A folder that could become a version: its bytes, the packs it stands on, both decoded."""

    snapshot: Snapshot
    manifest: Manifest
    packs: dict[str, VersionInfo]
    pack: Pack
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Superseded:
    """What `supersede` did, or on a dry run would do.

    `version` is null when the tree is identical to `previous`, or on a dry run; `changed` lists the
    paths that were added, changed or removed, in byte order.
    """

    name: str
    kind: Kind
    previous: VersionInfo | None
    version: VersionInfo | None
    changed: tuple[str, ...]
    findings: tuple[Finding, ...]
    dry_run: bool
    uncommitted: str = ""
    """The folder, when the version is identical and files in it are not committed."""

    @property
    def number(self) -> int:
        """The number of the version that holds these bytes."""
        before = self.previous.number if self.previous else 0
        return before + 1 if self.changed else before

    @property
    def status(self) -> str:
        """`adopted`, `identical`, or on a dry run `planned`."""
        if not self.changed:
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
    resolve: str | None = None,
    accept_findings: bool = False,
    dry_run: bool = False,
) -> Superseded:
    """Adopt the folder of tree or pack `name` as its next version.

    `folder` is a path from the repository's root; where it is null the folder whose `pvc.toml` has
    this name is looked for. `resolve` is a remote where another clone's version came first: the new
    one follows that, with this clone's own as second parent, so both sides go forward. Raises
    `NotFoundError` (no such folder), `DecodeError` (not in its form), `RefusedError` (findings that
    corrupt, files that no version holds), `MovedError` (another version came between).
    """
    from pvc.ops.programs import compile_version
    from pvc.store.versions import Taken, changed_paths, tip, version_tree, write_version

    if not reason.strip():
        raise UsageError("a version needs a reason", hint="-m 'why this is adopted'")
    found = read_candidate(repo, name, state, folder)
    _refuse_corrupting(found.findings, accept=accept_findings)
    kind = KINDS[found.manifest.kind]
    ours = tip(repo, kind, name)
    previous = ours if resolve is None else _theirs(repo, kind, name, resolve)
    tree = version_tree(repo, found.snapshot.store(repo), _lock(found), found.packs)
    changed = changed_paths(repo, previous.tree if previous else None, tree)
    version = None
    if changed and not dry_run:
        version = write_version(
            repo,
            kind=kind,
            name=name,
            tree=tree,
            reason=reason,
            previous=previous,
            resolves=None if resolve is None else ours,
            taken=Taken(found.snapshot.source_commit, found.snapshot.path, state),
        )
        compile_version(repo, version)
    uncommitted = "" if changed else _uncommitted(repo, found.snapshot)
    return Superseded(name, kind, previous, version, changed, found.findings, dry_run, uncommitted)


def read_candidate(repo: Repository, name: str, state: State, folder: str | None) -> Candidate:
    """Read and decode a folder as the next version of `name`; writes nothing."""
    from pvc.files import read_folder

    where = _folder_of(repo, name, state) if folder is None else folder
    snapshot = read_folder(repo, where, state)
    files = snapshot.sources
    manifest = _manifest(files, name, snapshot.path)
    packs = _packs(repo, manifest)
    sources = Sources.of([*files, *_pack_files(repo, packs)])
    pack = read_pack(sources)
    return Candidate(snapshot, manifest, packs, pack, findings_of(pack, sources))


def _folder_of(repo: Repository, name: str, state: State) -> str:
    """Find the folder of that name; where it is only in the worktree, say what is to be done."""
    from pvc.files import find_trees

    folders = find_trees(repo, state)
    if name not in folders and state != "worktree":
        there = find_trees(repo, "worktree").get(name)
        if there is not None:
            done, how = ("committed", " && git commit") if state == "head" else ("staged", "")
            raise NotFoundError(
                f"the tree `{name}` is not {done} yet",
                at=there or ".",
                hint=f"git add {there or '.'}{how}; or --worktree takes the files as they stand",
            )
    return folders.one(name)


def _uncommitted(repo: Repository, taken: Snapshot) -> str:
    """Name the folder when the worktree holds other files than were taken from HEAD."""
    from pvc.files import read_folder

    if taken.state != "head" or repo.worktree is None:
        return ""
    try:
        there = read_folder(repo, taken.path or ".", "worktree")
    except PvcError:  # only a remark hangs on it
        return ""
    same = [(file.path, file.oid) for file in there.files] == [
        (file.path, file.oid) for file in taken.files
    ]
    return "" if same else taken.path or "."


def _theirs(repo: Repository, kind: Kind, name: str, remote: str) -> VersionInfo:
    """Find the newest version that the last sync saw on a remote."""
    from pvc.store.versions import at_commit

    oid = repo.ref(f"refs/pvc/remotes/{remote}/{kind}/{name}")
    if oid is None:
        raise NotFoundError(f"no `{name}` was seen on `{remote}`", hint=f"pvc sync {remote}")
    return at_commit(repo, oid)


def _manifest(files: Sources, name: str, folder: str) -> Manifest:
    source = files.get(MANIFEST)
    if source is None:
        raise NotFoundError(f"the folder has no `{MANIFEST}`", at=folder or ".", hint="pvc init")
    manifest = parse_manifest(source.data, at=source.path)
    if manifest.name != name:
        raise UsageError(
            f"the folder holds `{manifest.name}`, not `{name}`", at=f"{folder}/{MANIFEST}"
        )
    return manifest


def _packs(repo: Repository, manifest: Manifest) -> dict[str, VersionInfo]:
    from pvc.store.versions import find

    return {use.name: find(repo, "packs", use.name, use.number) for use in manifest.packs}


def _pack_files(repo: Repository, packs: dict[str, VersionInfo]) -> list[Source]:
    from pvc.store.versions import sources

    return [
        Source(f".pvc/packs/{name}/{file.path}", file.data)
        for name, version in packs.items()
        for file in sources(repo, version)
        if not file.path.startswith(".pvc/")
    ]


def _lock(found: Candidate) -> bytes:
    import tomli_w

    lock: dict[str, object] = {"format": 1, "form": found.pack.form, "rule": found.pack.rule}
    if found.packs:
        lock["packs"] = {
            name: {"version": version.number, "commit": str(version.id)}
            for name, version in sorted(found.packs.items())
        }
    return tomli_w.dumps(lock).encode()


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
