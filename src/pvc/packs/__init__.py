"""The packs that ship with pvc, in our own words; data only.

Each is a folder here, and its name is the folder's with `builtin-` in front. `pvc init` copies
them to `refs/pvc/packs/` as version 1, so upgrading pvc never moves a tree.
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from pvc.model.names import PackName
from pvc.model.source import Source, Sources

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

FOLDERS = ("clio", "clio-memory", "harness", "loom", "panto", "raku")


class BuiltinPack(NamedTuple):
    """A pack as a folder of files, its `pvc.toml` among them."""

    name: PackName
    files: tuple[Source, ...]


def builtin_packs() -> tuple[BuiltinPack, ...]:
    """Read every pack of the wheel, in byte order of their names."""
    return tuple(BuiltinPack(PackName(f"builtin-{name}"), _files(name)) for name in FOLDERS)


def _files(folder: str) -> tuple[Source, ...]:
    return Sources.of(_below(resources.files(__name__) / folder, "")).files


def _below(folder: Traversable, prefix: str) -> Iterator[Source]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _below(entry, f"{prefix}{entry.name}/")
        else:
            yield Source(prefix + entry.name, entry.read_bytes())
