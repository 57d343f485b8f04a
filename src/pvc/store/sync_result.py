"""What a sync did, for people and for programs: moves, refusals, and what diverged.

Rule 1: keys of `pvc.sync/1` are a contract (docs/format.md §8).
Rule 2: what came or went is one line each; a sync of nothing says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.model.names import CommitId
    from pvc.store.carry import Carried
    from pvc.store.fold import FoldResult
    from pvc.store.take import TakeResult

LOCAL = "refs/pvc"
FORWARDED = ("trees", "packs", "channels")
_BUILT_IN = f"{LOCAL}/packs/builtin-"


@dataclass(frozen=True, slots=True)
class Move:
    """A ref that went from one commit to another; `old` is null where it is new."""

    ref: str
    old: CommitId | None
    new: CommitId

    def to_json(self) -> dict[str, str | None]:
        """Keys of a move in `pvc.sync/1`."""
        return {"ref": self.ref, "old": self.old, "new": self.new}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A ref that stayed where it was, and why."""

    ref: str
    reason: str
    hint: str = ""

    def to_json(self) -> dict[str, str]:
        """Keys of a refusal in `pvc.sync/1`."""
        return {"ref": self.ref, "reason": self.reason, "hint": self.hint}


@dataclass(frozen=True, slots=True)
class Side:
    """One tip of two that diverged: `agent@8`, and why it was adopted."""

    commit: CommitId
    label: str
    reason: str

    def to_json(self) -> dict[str, str]:
        """Keys of a side in `pvc.sync/1`."""
        return {"commit": self.commit, "label": self.label, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Divergence:
    """Two clones went on from the same version."""

    ref: str
    ours: Side
    theirs: Side

    @property
    def answer(self) -> str:
        """The command that joins the two; which version a channel shall name is left open."""
        kind, _, name = self.ref.removeprefix(f"{LOCAL}/").partition("/")
        tree, _, channel = name.partition("/")
        return f"pvc promote {tree}@V {channel}" if kind == "channels" else f"pvc supersede {tree}"

    def to_json(self) -> dict[str, object]:
        """Keys of a divergence in `pvc.sync/1`."""
        return {"ref": self.ref, "ours": self.ours.to_json(), "theirs": self.theirs.to_json()}


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What a sync did. `remote` is null where it only folded."""

    remote: str | None
    folded: FoldResult
    fetched: tuple[Move, ...] = ()
    forwarded: tuple[Move, ...] = ()
    carried: tuple[Carried, ...] = ()
    """Ledgers that another clone writes too, and what this clone goes on with."""
    pushed: tuple[Move, ...] = ()
    refused: tuple[Refusal, ...] = ()
    diverged: tuple[Divergence, ...] = ()
    taken: TakeResult | None = None
    """Ledgers that went into this clone's own; null where none were to be taken."""
    removed: tuple[Move, ...] = ()
    """Ledgers' refs taken away from the remote: what they were at, and the fold that holds them."""
    hint: str = ""
    """Where there was nothing: where to look instead."""
    forgotten: int = 0
    """How many bodies this clone let go of, because they were forgotten elsewhere."""

    @property
    def has_findings(self) -> bool:
        """Whether there is something that somebody must look at."""
        folded = self.folded
        return bool(
            self.diverged or self.refused or folded.flagged or folded.damaged or folded.mended
        )

    def to_json(self) -> dict[str, object]:
        """Keys of `pvc.sync/1`."""
        return {
            "schema": "pvc.sync/1",
            "remote": self.remote,
            "folded": self.folded.pins,
            "flagged": [pin.receipt for pin in self.folded.flagged],
            "damaged": list(self.folded.damaged),
            "unsigned": self.folded.unsigned or None,
            "mended": list(self.folded.mended),
            "fetched": [move.to_json() for move in self.fetched],
            "forwarded": [move.to_json() for move in self.forwarded],
            "carried": [carried.to_json() for carried in self.carried],
            "pushed": [move.to_json() for move in self.pushed],
            "refused": [refusal.to_json() for refusal in self.refused],
            "diverged": [divergence.to_json() for divergence in self.diverged],
            "taken": None if self.taken is None else self.taken.to_json(),
            "removed": [move.to_json() for move in self.removed],
            "hint": self.hint or None,
            "forgotten": self.forgotten,
        }

    def to_lines(self) -> Iterator[str]:
        """Say it to a person."""
        yield from self._folded_lines()
        records = [move for move in self.fetched if self._kind(move) not in FORWARDED]
        for move in records:
            ref = move.ref.removeprefix(f"{LOCAL}/remotes/{self.remote}/")
            yield f"fetched {ref} to {move.new.short}"
        if self.forgotten:
            yield f"let go of {_count(self.forgotten, 'body', 'bodies')} that were forgotten"
        for carried in self.carried:
            yield f"another clone writes {carried.ledger.removeprefix(LOCAL + '/')} too:"
            name = carried.to.removeprefix(LOCAL + "/")
            yield f"  this clone goes on as {name}, {_count(carried.pins, 'pin')} carried over"
        for words, moves in (("forwarded", self.forwarded), ("pushed", self.pushed)):
            built_in = [move for move in moves if move.ref.startswith(_BUILT_IN)]
            if built_in:  # every clone has the very same
                yield f"{words} {_count(len(built_in), 'built-in pack')}"
            for move in moves:
                if move not in built_in:
                    yield f"{words} {move.ref.removeprefix(LOCAL + '/')} to {move.new.short}"
        if self.taken is not None:
            ledgers = _count(len(self.taken.ledgers), "ledger")
            yield f"took {_count(self.taken.pins, 'pin')} of {ledgers}"
        for move in self.removed:
            yield f"removed {move.ref.removeprefix(LOCAL + '/')}, which {move.new.short} holds"
        for refusal in self.refused:
            yield f"refused {refusal.ref}: {refusal.reason}"
            if refusal.hint:
                yield f"hint: {refusal.hint}"
        for split in self.diverged:
            yield f"{split.ref.removeprefix(LOCAL + '/')} diverged:"
            yield f"  here   {split.ours.label} {split.ours.commit.short} {split.ours.reason}"
            yield f"  there  {split.theirs.label} {split.theirs.commit.short} {split.theirs.reason}"
            yield f"hint: `{split.answer} --resolve {self.remote} -m REASON` goes on from both"
        done = (
            records, self.forwarded, self.carried, self.pushed, self.refused, self.diverged,
            self.removed,
        )  # fmt: skip
        if self.remote and not any(done):
            yield f"nothing to exchange with {self.remote}"
        if self.hint:
            yield f"hint: {self.hint}"

    def _folded_lines(self) -> Iterator[str]:
        yield f"folded {_count(self.folded.pins, 'pin')}"
        if self.folded.unsigned:
            yield f"not signed: {self.folded.unsigned}"
        for pin in self.folded.flagged:
            yield f"session {pin.session}: {pin.receipt} does not render to what was pinned"
        for words in self.folded.mended:
            yield f"mended: {words}"
            yield f"hint: {_MENDED}"
        for path in self.folded.damaged:
            yield f"damaged, left where it is: {path}"

    def _kind(self, fetched: Move) -> str:
        """Tell what a fetched ref holds: `trees`, …, `bodies`."""
        return fetched.ref.removeprefix(f"{LOCAL}/remotes/{self.remote}/").partition("/")[0]


_MENDED = (
    "`pvc verify` says what is missing; a clone or a backup that has that commit brings it back"
)


def _count(number: int, noun: str, plural: str = "") -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"
