"""What could become a version: a folder's files or an edited version's, with the packs under them.

Rule 1: all that is judged is judged here, whatever the files came from: names, sizes, the manifest,
the form, its findings. So no way of making a version has fewer checks than another.
Rule 2: nothing is written but a built-in pack that is not here yet (`ops.fresh`). `tree` is where
the bytes become objects, after the judging.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.dialects.base import findings_of, read_layers, read_pack
from pvc.dialects.manifest import parse_manifest
from pvc.errors import NotFoundError, UsageError
from pvc.model.manifest import MANIFEST
from pvc.model.source import Source, Sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pvc.files import Snapshot, State
    from pvc.model.finding import Finding
    from pvc.model.manifest import Manifest
    from pvc.model.names import ObjectId
    from pvc.model.pack import Pack
    from pvc.store.repo import Repository
    from pvc.store.versions import Kind, VersionInfo

KINDS: dict[str, Kind] = {"tree": "trees", "pack": "packs"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """Files that could become a version: their bytes, the packs they stand on, both decoded."""

    snapshot: Snapshot
    manifest: Manifest
    packs: Mapping[str, VersionInfo]
    pack: Pack
    findings: tuple[Finding, ...]

    @property
    def kind(self) -> Kind:
        """Whether it is a tree or a pack."""
        return KINDS[self.manifest.kind]

    def tree(self, repo: Repository) -> ObjectId:
        """Write the tree of the version that it would be."""
        from pvc.store.versions import version_tree

        return version_tree(repo, self.snapshot.store(repo), _lock(self), self.packs)


def read_candidate(repo: Repository, name: str, state: State, folder: str | None) -> Candidate:
    """Read and decode a folder as the next version of `name`; writes nothing."""
    from pvc.files import read_folder

    where = _folder_of(repo, name, state) if folder is None else folder
    snapshot = read_folder(repo, where, state)
    manifest = manifest_of(snapshot, name)
    return decoded(repo, snapshot, manifest, _packs(repo, manifest))


def manifest_of(snapshot: Snapshot, name: str) -> Manifest:
    """Parse the manifest, which must be there and be that of `name`."""
    folder = f"{snapshot.path}/" if snapshot.path else ""
    source = snapshot.sources.get(MANIFEST)
    if source is None:
        where = snapshot.path or "."
        raise NotFoundError(f"the folder has no `{MANIFEST}`", at=where, hint="pvc init")
    manifest = parse_manifest(source.data, at=source.path)
    if manifest.name != name:
        raise UsageError(
            f"the folder holds `{manifest.name}`, not `{name}`", at=f"{folder}{MANIFEST}"
        )
    return manifest


def decoded(
    repo: Repository, snapshot: Snapshot, manifest: Manifest, packs: Mapping[str, VersionInfo]
) -> Candidate:
    """Decode files on their packs. Raises `DecodeError` when they are not in their form."""
    sources = Sources.of([*snapshot.sources, *_pack_files(repo, packs)])
    pack = read_pack(sources)
    if manifest.provider.platform:
        _check_platform(manifest.provider.platform)
    return Candidate(snapshot, manifest, packs, pack, tuple(_findings(sources, pack)))


def _check_platform(platform: str) -> None:
    """Raise `UsageError` unless pvc has facts of the platform that requests are sent to."""
    from pvc.providers.base import load_facts

    try:
        load_facts(platform)
    except UsageError as error:
        raise UsageError(error.message, at=f"{MANIFEST} [provider]", hint=error.hint) from None


def _findings(sources: Sources, pack: Pack) -> Iterator[Finding]:
    """Report what the form says, and placeholders that lead nowhere."""
    from pvc.core.check import ADOPTING, RULES, check
    from pvc.ops.check import subject_of, waivers_of

    yield from findings_of(pack, sources)
    layer = read_layers(sources)[-1]
    there = {source.path: source for source in sources}
    result = check(
        subject_of(layer, pack),
        waivers=waivers_of(layer.manifest, there),
        others={MANIFEST: there[MANIFEST]},
        rules=[rule for rule in RULES if rule.code in ADOPTING],
    )
    yield from (one.finding for one in result.found if one.finding.code in ADOPTING)


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


def _packs(repo: Repository, manifest: Manifest) -> dict[str, VersionInfo]:
    from pvc.ops.fresh import pack_at

    return {use.name: pack_at(repo, use.name, use.number) for use in manifest.packs}


def _pack_files(repo: Repository, packs: Mapping[str, VersionInfo]) -> list[Source]:
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
