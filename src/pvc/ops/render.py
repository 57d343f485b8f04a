"""The exact bytes of a version's prompt, or of a folder before it is adopted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.core.compile import compile_pack
from pvc.core.program import run as run_program
from pvc.dialects.base import read_pack
from pvc.dialects.manifest import MANIFEST, parse_manifest
from pvc.model.manifest import Form
from pvc.model.span import FromSource, Rendered, Span, lift
from pvc.store.versions import sources, walk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pvc.model.manifest import Marker
    from pvc.model.names import ObjectId
    from pvc.model.pack import Pack
    from pvc.model.source import Sources
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo


@dataclass(frozen=True, slots=True)
class RenderResult:
    """A rendered prompt and the version that it is of; null for a folder not adopted yet.

    `blobs` are the git objects of the files, by their paths in the version; `markers` are those
    that the tree asks for.
    """

    rendered: Rendered
    name: str
    version: VersionInfo | None
    blobs: Mapping[str, ObjectId]
    pack: Pack
    markers: tuple[Marker, ...] = ()

    def map_json(self) -> dict[str, object]:
        """Keys of `pvc.map/1`: the spans that tile the bytes."""
        return {
            "schema": "pvc.map/1",
            "tree": self.name,
            "version": self.version.number if self.version else None,
            "commit": self.version.id if self.version else None,
            "digest": self.rendered.digest,
            "bytes": len(self.rendered.data),
            "blocks": list(self.rendered.block_ends),
            "spans": [
                {
                    "start": span.start,
                    "end": span.end,
                    "section": span.section or None,
                    "origin": self._origin(span),
                }
                for span in self.rendered.spans
            ],
        }

    def _origin(self, span: Span) -> dict[str, object]:
        from pvc.ops.blame import origin_json

        path = span.origin.path if isinstance(span.origin, FromSource) else ""
        return {**origin_json(span.origin), "blob": self.blobs.get(path)}


def render_pack(pack: Pack, environment: Mapping[str, object]) -> Rendered:
    """Render a pack. Pure: equal pack and environment give equal bytes.

    What no program can do (selecting project context, in form `clio`) is done here.
    """
    if pack.form == Form.CLIO:
        from pvc.ops import clio_project

        return clio_project.render(pack, environment)
    return lift(*run_program(compile_pack(pack), environment))


def render_version(
    repo: Repository, version: VersionInfo, environment: Mapping[str, object]
) -> RenderResult:
    """Render one version; raises `UsageError` when the environment does not fit its form."""
    blobs = {path: entry.oid for path, entry in walk(repo, version.tree)}
    files = sources(repo, version)
    pack, markers = read_pack(files), _markers(files)
    rendered = render_pack(pack, environment)
    return RenderResult(rendered, version.name, version, blobs, pack, markers)


def render_folder(
    repo: Repository, name: str, environment: Mapping[str, object], *, folder: str | None = None
) -> RenderResult:
    """Render the folder of tree `name` as it stands in the worktree, adopted or not."""
    from pvc.ops.candidate import read_candidate

    candidate = read_candidate(repo, name, "worktree", folder)
    blobs = {file.path: file.oid for file in candidate.snapshot.files}
    rendered = render_pack(candidate.pack, environment)
    markers = candidate.manifest.markers
    return RenderResult(rendered, name, None, blobs, candidate.pack, markers)


def _markers(files: Sources) -> tuple[Marker, ...]:
    manifest = files.get(MANIFEST)
    return parse_manifest(manifest.data).markers if manifest else ()
