"""Form `panto`: a prompt of separate blocks, from the files of three layers.

    SYSTEM.md                        the built-in seed: a pack's, or the tree's own
    layers/base/SYSTEM.md            the seed of the layer, whole; the highest layer that has one
    layers/user/SYSTEM.md            takes the place of all below it
    layers/project/SYSTEM.md
    layers/<layer>/APPEND_SYSTEM.md  a block of its own, of every layer that has one

Rule 1: the seed comes first, then the appended blocks of project, user, base. That the nearest
layer speaks first is a choice of the form; what counts is that it is always the same.
Rule 2: a file is taken as it is, its line feeds included. An empty `SYSTEM.md` is there, so it
wins: whoever empties it means it (docs/decisions/0009-panto-readings.md).
Rule 3: packs lie below the tree. A file of the tree takes the place of the pack's of its path.
Rule 4: a seed that is not used is a fragment: the version knows it, the prompt has none of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pvc.dialects import scan
from pvc.dialects.base import only_planes
from pvc.dialects.panto_wire import JOINT
from pvc.errors import DecodeError
from pvc.model.finding import Finding, Severity
from pvc.model.manifest import Form, Kind
from pvc.model.pack import Field, Layout, Pack, Section, Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pvc.dialects.base import Layer
    from pvc.model.source import Source, Sources
    from pvc.model.span import Plane

    Files = dict[str, tuple[Source, Plane]]

T = TypeVar("T")

RULE = 1
LAYERS = ("base", "user", "project")
"""From the lowest to the highest."""
SEED = "SYSTEM.md"
APPEND = "APPEND_SYSTEM.md"
FOLDER = "layers/"
WIRES = ("string", "messages")

FIELDS = (Field("wire", "choice", choices=WIRES),)
LAYOUT = Layout(joint=JOINT, wire="wire")


def resolve(layers: Mapping[str, Mapping[str, T]], builtin: T) -> tuple[T, ...]:
    """Choose the seed and the appended blocks, in the order in which they are sent."""
    high = tuple(reversed(LAYERS))
    seeds = (layers[name][SEED] for name in high if SEED in layers.get(name, {}))
    appends = (layers[name][APPEND] for name in high if APPEND in layers.get(name, {}))
    return (next(seeds, builtin), *appends)


def path_of(layer: str, name: str) -> str:
    """Name a layer's file as a tree does."""
    return f"{FOLDER}{layer}/{name}"


def decode(layers: tuple[Layer, ...]) -> Pack:
    """Read the files of every layer. Raises `DecodeError` when there is no seed."""
    files: Files = {}
    for layer in layers:
        only_planes(layer)
        for source in layer.files:
            inner = layer.inner(source)
            _check(source, inner)
            files[inner] = source, layer.plane(source)
    rendered = _resolved(files, is_pack=layers[-1].manifest.kind is Kind.PACK)
    unused = [name for name in sorted(files) if name not in rendered]
    return Pack(
        form=Form.PANTO,
        rule=RULE,
        sections=(
            *(_section(name, files) for name in rendered),
            *(_section(name, files, fragment=True) for name in unused),
        ),
        bindings=(),
        fields=FIELDS,
        layout=LAYOUT,
    )


def _check(source: Source, inner: str) -> None:
    scan.decoded(source)
    legal = {SEED, *(path_of(layer, name) for layer in LAYERS for name in (SEED, APPEND))}
    if inner not in legal:
        raise DecodeError(
            f"`{inner}` is no file of a layer",
            at=source.path,
            hint=f"{FOLDER}{{{','.join(LAYERS)}}}/{{{SEED},{APPEND}}}; or leave it out of `files`",
        )


def _resolved(files: Files, *, is_pack: bool) -> tuple[str, ...]:
    """Order the files that are sent; a pack need not have a seed, the tree on it may."""
    layers = {
        layer: {name: path for name in (SEED, APPEND) if (path := path_of(layer, name)) in files}
        for layer in LAYERS
    }
    names = resolve(layers, SEED)
    if names[0] not in files:
        if is_pack:
            return names[1:]
        raise DecodeError(
            f"no layer has a `{SEED}`, and there is no built-in one",
            hint=f"add `{path_of('base', SEED)}`, or stand on the pack `builtin-panto`",
        )
    return names


def _section(name: str, files: Files, *, fragment: bool = False) -> Section:
    source, plane = files[name]
    return Section(name, (Text(source.data, source.path, 0),), plane, fragment)


def findings(pack: Pack, sources: Sources | None = None) -> tuple[Finding, ...]:
    """Report a seed that wins and says nothing."""
    del sources  # the place is the file itself
    seed = pack.sections[0] if pack.sections else None
    if seed is None or not seed.name.endswith(f"/{SEED}") or seed.template.strip():
        return ()
    return (
        Finding(
            "seed-empty",
            Severity.SHAPING,
            f"`{seed.name}` is empty, and the seeds below it are not used",
            section=seed.name,
            at=seed.name,
        ),
    )
