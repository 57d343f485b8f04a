"""A folder's `pvc.toml`, parsed: what the folder is, and which of its files are read.

`dialects.manifest` reads it from bytes. A folder with a manifest is a tree or a pack, and nothing
else has to be configured.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pvc.model.names import PackName, TreeName
    from pvc.model.span import Plane

FORMAT = 1
MANIFEST = "pvc.toml"


class Kind(StrEnum):
    """What a folder with a manifest is."""

    TREE = "tree"
    PACK = "pack"


class Form(StrEnum):
    """The source forms (DESIGN §5), each with its dialect."""

    LOOM = "loom"
    PLAIN = "plain"
    HARNESS = "harness"
    CLIO = "clio"
    PANTO = "panto"
    RAKU = "raku"


class PackUse(NamedTuple):
    """A pack that a tree stands on, and the number of its version."""

    name: PackName
    number: int


@dataclass(frozen=True, slots=True)
class SectionRow:
    """What a `[[section]]` says about one file; null means that the form decides."""

    path: str
    order: int | None = None
    plane: Plane | None = None
    scope: str = ""
    complete: bool = False


@dataclass(frozen=True, slots=True)
class Budget:
    """Upper bounds of the rendered prompt; null means none."""

    chars: int | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Marker:
    """A cache marker after the last byte of a plane; an empty `ttl` is the provider's default."""

    plane: Plane
    ttl: str = ""


@dataclass(frozen=True, slots=True)
class Provider:
    """Whom a tree's requests are sent to, as far as its folder says; empty is not said."""

    shape: str = ""
    model: str = ""
    platform: str = ""


@dataclass(frozen=True, slots=True)
class Ignore:
    """A finding that is accepted, and why; an empty `path` means every file."""

    code: str
    reason: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """One `pvc.toml`. `packs` are in byte order of their names, `sections` as they stand.

    `files` are globs, and `entry` is the one file of a form that starts from one; a manifest has
    one of the two.
    """

    kind: Kind
    name: TreeName | PackName
    form: Form
    files: tuple[str, ...] = ()
    entry: str = ""
    bindings: tuple[str, ...] = ()
    packs: tuple[PackUse, ...] = ()
    sections: tuple[SectionRow, ...] = ()
    dynamic: tuple[str, ...] = ()
    budget: Budget = Budget()
    markers: tuple[Marker, ...] = ()
    ignore: tuple[Ignore, ...] = ()
    provider: Provider = Provider()

    def section(self, path: str) -> SectionRow | None:
        """Find what is said about the file at `path`, relative to the manifest's folder."""
        return next((row for row in self.sections if row.path == path), None)
