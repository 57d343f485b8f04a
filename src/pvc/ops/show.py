"""One pin or one version, whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.errors import NotFoundError, UsageError
from pvc.model.span import Unversioned
from pvc.ops.log import pin_json, version_json
from pvc.ops.pins import rendered_of, version_of
from pvc.ops.select import select

if TYPE_CHECKING:
    from pvc.model.pin import Pin
    from pvc.model.span import Rendered
    from pvc.store.repo import Repository
    from pvc.store.versions import VersionInfo


@dataclass(frozen=True, slots=True)
class Shown:
    """A version, or a pin with its version where that is here.

    `rendered` is the pin's prompt; when null, `missing` says in one line why it cannot be had.
    """

    version: VersionInfo | None
    pin: Pin | None = None
    rendered: Rendered | None = None
    missing: NotFoundError | None = None
    files: tuple[tuple[str, int], ...] = ()

    def bytes_or_raise(self) -> bytes:
        """Give the exact prompt; raises what stands in its way."""
        if self.rendered is None:
            label = self.version.label if self.version else "TREE"
            raise self.missing or UsageError(
                "a version has no bytes without values",
                hint=f"pvc render {label} --env FILE, or --set KEY=TEXT",
            )
        return self.rendered.data

    @property
    def is_kept_copy(self) -> bool:
        """Whether the prompt is given as it was kept, with nothing known of where it came from."""
        spans = self.rendered.spans if self.rendered else ()
        return bool(spans) and all(isinstance(span.origin, Unversioned) for span in spans)

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.show/1`."""
        return {
            "schema": "pvc.show/1",
            "pin": pin_json(self.pin) if self.pin else None,
            "version": version_json(self.version) if self.version else None,
            "bytes": len(self.rendered.data) if self.rendered else None,
            "verified": self.rendered is not None
            and not (self.pin and self.pin.observed)
            and not self.is_kept_copy,
            "missing": str(self.missing) if self.missing else None,
            "files": [{"path": path, "bytes": size} for path, size in self.files],
        }


def run(repo: Repository, word: str, *, render: bool = False) -> Shown:
    """Show what `word` names.

    Raises `CorruptError` when a pin no longer renders to its digest, and with `render` also
    `NotFoundError` when its inputs are not in this clone.
    """
    from pvc.store.versions import sources

    found = select(repo, word)
    if found.pin is None:
        assert found.version is not None  # noqa: S101  # `select` gives one of the two
        files = tuple((file.path, len(file.data)) for file in sources(repo, found.version))
        return Shown(found.version, files=files)
    try:
        rendered = rendered_of(repo, found.pin)
    except NotFoundError as missing:
        if render:
            raise
        return Shown(_version_or_none(repo, found.pin), found.pin, missing=missing)
    version = None if found.pin.observed else _version_or_none(repo, found.pin)
    return Shown(version, found.pin, rendered)


def _version_or_none(repo: Repository, pin: Pin) -> VersionInfo | None:
    try:
        return version_of(repo, pin)
    except NotFoundError:
        return None
