"""What the commit of a fold says of itself, written and read in one place. Pure.

    fold 300 pins

    Pins: 300
    Segments: 4..5
    First: 2026-11-29T23:51:46.123456Z
    Last: 2026-11-29T23:58:01.000000Z
    Chain: b3:…
    Witness: refs/pvc/remotes/origin/pins/9f3c… 5b1e…

Rule 1: everything but the witnesses follows from the segments, so that whoever reads a fold can
make it again and compare.
Rule 2: the digest chain runs beside git's own, in BLAKE3 over the segments' bytes: it holds
whatever git's object format is, and whatever becomes of SHA-1.
Rule 3: a witness says where another chain stood when this fold was made. Chains only grow, so it
stays true; a chain that no longer holds the commit was rewritten, cut or dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pvc.errors import CorruptError, UsageError
from pvc.launch.refs import REMOTES
from pvc.model.digest import Digest
from pvc.model.names import CommitId
from pvc.store.codec import from_micros, to_micros

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WITNESSED = ("trees", "packs", "channels", "pins")


class Witness(NamedTuple):
    """Where another chain stood: the remote-tracking ref of the clone that folded, its commit."""

    ref: str
    commit: CommitId

    @property
    def remote(self) -> str:
        """What that clone calls the remote at which it saw the chain."""
        return self.ref.removeprefix(REMOTES).partition(f"/{self.kind}/")[0]

    @property
    def kind(self) -> str:
        """`trees`, `packs`, `channels` or `pins`; empty for anything else."""
        parts = self.ref.removeprefix(REMOTES).split("/")
        return next((part for part in parts[1:-1] if part in WITNESSED), "")

    @property
    def name(self) -> str:
        """The chain's name below its kind: a writer, a tree, `tree/channel`."""
        return self.ref.partition(f"/{self.kind}/")[2]


def witnesses(refs: Iterable[tuple[str, CommitId]], writer: str) -> Iterator[Witness]:
    """Choose what a fold of `writer` testifies: what it saw at remotes of chains not its own."""
    for ref, commit in sorted(refs):
        seen = Witness(ref, commit)
        if ref.startswith(REMOTES) and seen.kind and (seen.kind, seen.name) != ("pins", writer):
            yield seen


@dataclass(frozen=True, slots=True)
class FoldMessage:
    """The trailers of a fold. Times are microseconds since 1970."""

    pins: int
    first_segment: int
    last_segment: int
    first: int
    last: int
    chain: Digest
    witnesses: tuple[Witness, ...] = ()
    taken: int = 0
    """How many other ledgers it took (`store.taken`): then its first line says so."""

    @property
    def subject(self) -> str:
        """The first line."""
        pins = f"{self.pins} pin{'' if self.pins == 1 else 's'}"
        return f"take {pins} of {self.taken} ledgers" if self.taken else f"fold {pins}"

    @property
    def trailers(self) -> dict[str, str]:
        """What follows from the segments, as it is written."""
        return {
            "Pins": str(self.pins),
            "Segments": f"{self.first_segment}..{self.last_segment}",
            "First": from_micros(self.first),
            "Last": from_micros(self.last),
            "Chain": str(self.chain),
        }

    def encode(self) -> str:
        """Write the message."""
        lines = [self.subject, ""]
        lines += [f"{name}: {value}" for name, value in self.trailers.items()]
        lines += [f"Witness: {ref} {commit}" for ref, commit in self.witnesses]
        return "\n".join(lines) + "\n"

    @classmethod
    def decode(cls, message: str, at: str) -> FoldMessage:
        """Read a message. Raises `CorruptError` unless writing it again gives the same text."""
        try:
            first, _, last = trailer(message, "Segments").partition("..")
            found = cls(
                int(trailer(message, "Pins")),
                int(first),
                int(last),
                to_micros(trailer(message, "First")),
                to_micros(trailer(message, "Last")),
                Digest(trailer(message, "Chain")),
                tuple(_witness(line) for line in _lines(message, "Witness")),
                _taken(message),
            )
        except (ValueError, UsageError) as error:
            raise CorruptError(f"a fold's message is damaged: {error}", at=at) from None
        if found.encode() != message:
            raise CorruptError("a fold's message is in no form of a fold", at=at)
        return found


def next_chain(before: str, segments: Iterable[Digest]) -> Digest:
    """Go on from a fold's chain (empty for the first one) over the digests of new segments."""
    links = [before, *segments] if before else [*segments]
    return Digest.of(b"".join(bytes.fromhex(Digest(link).hex) for link in links))


def trailer(message: str, name: str) -> str:
    """Read one trailer. Raises `CorruptError` where it is missing."""
    for value in _lines(message, name):
        return value
    raise CorruptError(f"a fold without `{name}`")


def _lines(message: str, name: str) -> Iterator[str]:
    prefix = f"{name}: "
    for line in message.split("\n"):
        if line.startswith(prefix):
            yield line.removeprefix(prefix)


def _taken(message: str) -> int:
    """Read from the first line how many ledgers were taken."""
    words = message.partition("\n")[0].split(" ")
    return int(words[-2]) if words[0] == "take" and words[-1] == "ledgers" else 0


def _witness(line: str) -> Witness:
    ref, _, commit = line.partition(" ")
    return Witness(ref, CommitId(commit))
