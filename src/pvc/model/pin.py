"""The record of one session's prompt: digests of what came out and of every input.

A pin never changes; another one may supersede it by naming its receipt. How a pin is written is
`launch.record`; `store.codec` turns the one into the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pvc.model.digest import Digest
    from pvc.model.names import CommitId, SessionId, TreeName
    from pvc.model.session import Mode
    from pvc.model.span import Plane


class Privacy(StrEnum):
    """What is kept of a pin's inputs, beside its record.

    `inputs`: its values, tools and texts, from which it is rendered again. `bytes`: the rendered
    prompt too. `digest`: nothing. `keyed`: nothing, and the record's digests are keyed.
    """

    INPUTS = "inputs"
    BYTES = "bytes"
    DIGEST = "digest"
    KEYED = "keyed"

    @property
    def keeps_inputs(self) -> bool:
        """Whether the prompt can be rendered again from what is kept."""
        return self in (Privacy.INPUTS, Privacy.BYTES)


@dataclass(frozen=True, slots=True)
class EntryRef:
    """A positioned change of the prompt: the text is a body. `author` may be empty."""

    mode: Mode
    digest: Digest
    author: str = ""


@dataclass(frozen=True, slots=True)
class Pin:
    """What a session was told, by digest.

    `n` counts the pins of one chain from 0. `observed` is `request` or `rendered` when the bytes
    were sent by a harness; only then may the version be missing. `receipt` is the digest of the
    record itself. A pin with an `entry` changes the prompt of the one that it supersedes; one
    with a `context` records a delivery and changes nothing.
    """

    session: SessionId
    chain: SessionId
    n: int
    time: int
    """Microseconds since 1970, by the clock of the machine that pinned."""
    writer: str
    prompt: Digest
    receipt: Digest
    tree: TreeName | None = None
    version: int | None = None
    commit: CommitId | None = None
    environment: Digest | None = None
    tools: Digest | None = None
    head: Digest | None = None
    provider: str | None = None
    model: str | None = None
    observed: str | None = None
    supersedes: Digest | None = None
    reason: str | None = None
    entry: EntryRef | None = None
    context: Digest | None = None
    privacy: Privacy = Privacy.INPUTS
    key: str | None = None
    """Names the key of a record whose digests are keyed."""

    @property
    def label(self) -> str:
        """The version as people write it, `agent@7`; empty where none is named."""
        return f"{self.tree}@{self.version}" if self.tree else ""

    @property
    def bodies(self) -> tuple[tuple[str, Digest], ...]:
        """What is kept beside the record: the part and its digest."""
        if not self.privacy.keeps_inputs:
            return ()
        is_kept = bool(self.observed) or self.privacy is Privacy.BYTES
        parts = (
            ("prompt", self.prompt if is_kept else None),
            ("environment", self.environment),
            ("tools", self.tools),
            ("entry", self.entry.digest if self.entry else None),
            ("context", self.context),
        )
        return tuple((part, digest) for part, digest in parts if digest is not None)

    @property
    def order(self) -> tuple[int, str, int, Digest]:
        """Sort key of a list of pins: by time, which orders lists and decides nothing."""
        return (self.time, self.writer, self.n, self.receipt)


@dataclass(frozen=True, slots=True)
class PromptFacts:
    """What follows from a prompt that was rendered again; stored once for each in a segment.

    `blocks` are the ends of its blocks, `stable` counts the leading bytes that no launch value
    touches, `planes` is the first byte of each run of one plane.
    """

    digest: Digest
    size_bytes: int
    sha256: str
    form: str
    rule: int
    label: str
    fingerprint: str
    blocks: tuple[int, ...]
    stable: int
    planes: tuple[tuple[Plane, int], ...]
