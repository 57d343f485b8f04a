"""The one door from files to a pack: which files, in which layers, read by which dialect. Pure.

A version's files are its own, and those of the packs that it stands on:

    pvc.toml                       the manifest
    …                              the tree's own files           plane surface
    .pvc/packs/<pack>/pvc.toml     a pack's manifest
    .pvc/packs/<pack>/…            a pack's files                 plane foundation
    .pvc/lock.toml                 not read: it says whence the packs came

Rule 1: layers come packs first, in byte order of their names, then the tree. How a tree's text
meets a pack's is the business of the form.
Rule 2: the packs that are there are the packs that the manifest names, no more and no fewer.
Rule 3: a dialect is a module of this folder with the functions of `Dialect`, loaded when the first
manifest asks for its form.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from pvc.dialects.globs import is_glob, matches
from pvc.dialects.manifest import STANDS_ON, default_files, near, parse_manifest
from pvc.errors import DecodeError, NotFoundError, UnsupportedError, UsageError
from pvc.model.finding import Assessment, Finding, Severity
from pvc.model.manifest import MANIFEST, Form, Kind
from pvc.model.source import Sources
from pvc.model.span import Plane

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.model.manifest import Manifest
    from pvc.model.pack import Pack
    from pvc.model.source import Source

RESERVED = ".pvc/"
PACKS = ".pvc/packs/"


@dataclass(frozen=True, slots=True)
class Layer:
    """A manifest with the files that it asks for; `folder` is empty or ends in `/`."""

    manifest: Manifest
    folder: str
    files: Sources

    def inner(self, source: Source) -> str:
        """Name a file as the manifest would: relative to the layer's folder."""
        return source.path.removeprefix(self.folder)

    def plane(self, source: Source) -> Plane:
        """Say how often the file's text may change."""
        row = self.manifest.section(self.inner(source))
        if row is not None and row.plane is not None:
            return row.plane
        return Plane.FOUNDATION if self.manifest.kind is Kind.PACK else Plane.SURFACE


class Dialect(Protocol):
    """What a module of this folder gives: one reader of one form."""

    def decode(self, layers: tuple[Layer, ...]) -> Pack:
        """Read the layers. Raises `DecodeError` when their bytes are not in the form."""

    def findings(self, pack: Pack, sources: Sources | None = None) -> tuple[Finding, ...]:
        """Report what is wrong with a pack that could be read; places need the `sources`."""


def dialect(form: Form) -> Dialect:
    """Load the reader of `form`."""
    name = f"{__package__}.{form}"
    try:
        return cast("Dialect", import_module(name))
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise UnsupportedError(f"this pvc cannot read form `{form}`") from None


def read_pack(sources: Sources) -> Pack:
    """Read a version's files, or a folder's that may become one."""
    layers = read_layers(sources)
    return dialect(layers[-1].manifest.form).decode(layers)


def findings_of(pack: Pack, sources: Sources | None = None) -> tuple[Finding, ...]:
    """Report what the pack's form has to say about it, and what its manifest leaves open."""
    own = dialect(Form(pack.form)).findings(pack, sources)
    if not sources:
        return own
    top = read_layers(sources)[-1]
    return (*own, *_empty_globs(top), *_no_foundation(top))


def _empty_globs(layer: Layer) -> Iterator[Finding]:
    """Report each glob of a manifest that means no file; a default one may."""
    paths = [layer.inner(source) for source in layer.files]
    defaults = default_files(layer.manifest.form)
    for pattern in layer.manifest.files:
        is_own = is_glob(pattern) and pattern not in defaults
        if is_own and not any(matches(pattern, path) for path in paths):
            yield Finding(
                "files-empty",
                Severity.CORRUPTING,
                f"`files` asks for `{pattern}`, and no file is so called",
                name=pattern,
                at=layer.folder + MANIFEST,
            )


def _no_foundation(layer: Layer) -> Iterator[Finding]:
    """Report a tree that stands on no pack although its form's text is partly in one."""
    manifest = layer.manifest
    wanted = STANDS_ON.get(manifest.form)
    own = any(layer.inner(source) == "SYSTEM.md" for source in layer.files)
    if wanted is None or manifest.packs or manifest.kind is Kind.PACK:
        return
    if manifest.form is Form.PANTO and own:  # the tree brings the seed itself
        return
    yield Finding(
        "foundation-missing",
        Severity.SHAPING,
        f"the tree stands on no pack, so the text that form `{manifest.form}` adds is missing",
        name=wanted,
        at=layer.folder + MANIFEST,
        hint=f"add it to {MANIFEST}: [packs] {wanted} = 1",
    )


def assess(pack: Pack, sources: Sources | None = None) -> Assessment:
    """Split `findings_of` by whether the pack can be used at all."""
    return Assessment.of(findings_of(pack, sources))


# --- layers ---------------------------------------------------------------------------------


def read_layers(sources: Sources) -> tuple[Layer, ...]:
    """Read the manifests and choose the files; the last layer is the tree itself."""
    top = _layer(sources, "")
    packs = tuple(_layer(sources, folder) for folder in _folders(sources))
    named = {str(use.name) for use in top.manifest.packs}
    for pack in packs:
        _check_pack(pack, top, named)
    for name in sorted(named - {str(pack.manifest.name) for pack in packs}):
        raise NotFoundError(f"pack `{name}` is not among the files", at=f"{MANIFEST} [packs]")
    return (*packs, top)


def _folders(sources: Sources) -> list[str]:
    names = {s.path.removeprefix(PACKS).split("/")[0] for s in sources.under(PACKS)}
    return [f"{PACKS}{name}/" for name in sorted(names)]


def _check_pack(pack: Layer, top: Layer, named: set[str]) -> None:
    name = pack.folder.removeprefix(PACKS)[:-1]
    at = pack.folder + MANIFEST
    if pack.manifest.kind is not Kind.PACK or pack.manifest.name != name:
        raise DecodeError(f"not the manifest of pack `{name}`", at=at)
    if name not in named:
        raise DecodeError(f"pack `{name}` is not named under `[packs]`", at=at)
    if pack.manifest.form is not top.manifest.form:
        raise UsageError(
            f"pack `{name}` is of form `{pack.manifest.form}`, the tree of `{top.manifest.form}`",
            at=f"{MANIFEST} [packs]",
        )


def _layer(sources: Sources, folder: str) -> Layer:
    source = sources.get(folder + MANIFEST)
    if source is None:
        raise NotFoundError(f"no `{folder}{MANIFEST}`", hint="pvc init makes a folder a tree")
    manifest = parse_manifest(source.data, at=source.path)
    there = [s for s in sources.under(folder) if _is_text(s.path.removeprefix(folder))]
    paths = [s.path.removeprefix(folder) for s in there]
    for row in manifest.sections:
        _must_exist(row.path, paths, source.path)
    chosen = set(_chosen(manifest, paths, source.path))
    files = tuple(s for s, path in zip(there, paths, strict=True) if path in chosen)
    return Layer(manifest, folder, Sources(files))


def _is_text(path: str) -> bool:
    return path != MANIFEST and not path.startswith(RESERVED)


def _chosen(manifest: Manifest, paths: list[str], at: str) -> list[str]:
    patterns = (manifest.entry,) if manifest.entry else manifest.files
    for pattern in patterns:
        if not is_glob(pattern):
            _must_exist(pattern, paths, at)
    return [path for path in paths if any(matches(pattern, path) for pattern in patterns)]


def _must_exist(path: str, paths: list[str], at: str) -> None:
    if path not in paths:
        raise UsageError(f"`{path}` is no file here", at=at, hint=near(path, paths))


def only_planes(layer: Layer) -> None:
    """Refuse what a form without order and scopes would have to overlook.

    Every form may list `dynamic` sections: those are told beside the prompt (`ops.context`).
    """
    manifest = layer.manifest
    at = layer.folder + MANIFEST
    for row in manifest.sections:
        if row.order is not None or row.scope or row.complete:
            raise UsageError(f"form `{manifest.form}` takes `plane` alone for `{row.path}`", at=at)
