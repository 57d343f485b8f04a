"""When Clio compiles again, and when that costs a cache: epochs, snapshots, identities. Pure.

Rule 1: an input epoch is three counters: fragments loaded (a failed reload does not count), the
agents domain's revision, and invalidations of sources (one that deletes nothing counts).
Rule 2: a snapshot of a session's sources is taken once per session and folder and then stays, so
that a recompile reads what the session began with. Invalidating a folder deletes the snapshots of
that folder and of those below it; invalidating without a folder deletes all.
Rule 3: the cache identity covers every input that can change a byte. Tool schemas enter it as one
text of plain JSON, so the order of properties inside a schema counts.
Rule 4: only changed bytes are a cold prefix. A recompile that yields the same bytes is no event.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from pvc.dialects.clio_js import collated
from pvc.dialects.clio_json import UNDEFINED, canonical_json, digest, plain_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

T = TypeVar("T")

VERSION = 2
_NUL = "\0"


# --- identity -------------------------------------------------------------------------------


class CacheIdentity(NamedTuple):
    """The canonical JSON of everything that can change a byte, and its SHA-256."""

    canonical: str
    key: str


@dataclass(frozen=True, slots=True)
class CompileKey:
    """What a compile depends on. `session` holds the session's inputs as JSON."""

    target: str | None
    runtime: str | None
    model: str | None
    autonomy: str
    session_id: str
    folder: str
    working_paths: tuple[str, ...]
    window_source: str | None
    epoch: str
    session: Mapping[str, object]
    schemas: tuple[object, ...] = field(default=())


def cache_identity(key: CompileKey) -> CacheIdentity:
    """Compute the identity. Raises `CanonicalError` when an input has no JSON."""
    canonical = canonical_json(
        {
            "version": VERSION,
            "targetId": key.target,
            "runtimeId": key.runtime,
            "wireModelId": key.model,
            "autonomy": key.autonomy,
            "sessionId": key.session_id,
            "cwd": key.folder,
            "workingContextPaths": collated(key.working_paths),
            "contextWindowSource": key.window_source,
            "promptInputEpoch": key.epoch,
            "sessionInputs": dict(key.session),
            "attachedToolSchemaBytes": plain_json(list(key.schemas)),
        }
    )
    return CacheIdentity(canonical, digest(canonical))


def attached_schemas(tools: Iterable[object]) -> list[dict[str, object]]:
    """Reduce tools to what a provider is sent; what is no object is dropped."""
    return [
        {
            "name": _text(tool.get("name")),
            "description": _text(tool.get("description")),
            "parameters": None if (held := tool.get("parameters")) is UNDEFINED else held,
        }
        for tool in tools
        if isinstance(tool, dict)
    ]


def _text(value: object) -> str:
    return value if type(value) is str else ""  # the text of a number is no text


# --- epochs and snapshots -------------------------------------------------------------------


class Epoch(NamedTuple):
    """Three counters; as a text, what a cache compares."""

    fragments: int = 0
    agents: int = 0
    sources: int = 0

    def __str__(self) -> str:
        return f"{self.fragments}:{self.agents}:{self.sources}"


@dataclass(frozen=True, slots=True)
class SourceState(Generic[T]):
    """What one process knows: its epoch, and the snapshots of its sessions.

    A key is a session id and a folder, joined by a NUL, which neither can hold.
    """

    epoch: Epoch = field(default_factory=Epoch)
    snapshots: Mapping[str, T] = field(default_factory=dict)

    def loaded(self) -> SourceState[T]:
        """Count a load of fragments that succeeded."""
        return replace(self, epoch=self.epoch._replace(fragments=self.epoch.fragments + 1))

    def agents(self, revision: int) -> SourceState[T]:
        """Take over the agents domain's revision."""
        return replace(self, epoch=self.epoch._replace(agents=revision))

    def get(self, session: str, folder: str) -> T | None:
        """Find a session's snapshot, or null."""
        return self.snapshots.get(f"{session}{_NUL}{folder}")

    def captured(self, session: str, folder: str, snapshot: T) -> SourceState[T]:
        """Keep a session's first snapshot of a folder; a later one changes nothing."""
        key = f"{session}{_NUL}{folder}"
        if key in self.snapshots:
            return self
        return replace(self, snapshots={**self.snapshots, key: snapshot})

    def invalidated(self, folder: str | None = None) -> SourceState[T]:
        """Delete the snapshots of `folder` and below it, or all."""
        kept = {
            key: snapshot
            for key, snapshot in self.snapshots.items()
            if folder is not None and not _is_below(key.partition(_NUL)[2], folder)
        }
        epoch = self.epoch._replace(sources=self.epoch.sources + 1)
        return replace(self, epoch=epoch, snapshots=kept)


def _is_below(folder: str, ancestor: str) -> bool:
    return folder == ancestor or folder.startswith(ancestor.rstrip("/") + "/")


def reloads_fragments(changed: Iterable[str]) -> bool:
    """Whether a configuration change reloads fragments: by the words in the changed paths."""
    return any("prompt" in path or "fragment" in path for path in changed)


def is_cold(before: str | None, after: str) -> bool:
    """Whether a recompile lost the prefix, by the digests of both texts; a first one did not."""
    return before is not None and before != after
