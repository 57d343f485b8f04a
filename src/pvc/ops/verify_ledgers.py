"""Ledgers: every fold against the one before it, every record once, and what folds witness.

Rule 1: a fold is read from its segments and held against what its message says, oldest first, so
that the first bad one is named.
Rule 2: one session, chain and number has one record. The same record in two ledgers is one pin (a
copied clone); two records with two prompts are both kept and reported, unless one names the other.
Rule 3: a pin that supersedes another names its receipt, so a record that was dropped leaves a gap.
Rule 4: what a fold saw of other chains they must still hold, in some copy here. A chain that was
only ever seen at a remote that this clone does not have is a note; a hub, which has no remotes, is
what others saw.
Rule 5: pins testify for versions as folds do for ledgers: a version that a session was told is in
its tree's chain.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pvc.errors import CorruptError, NotFoundError, PvcError
from pvc.launch.index import read_tips
from pvc.ops.hook_ledger import read_fold
from pvc.ops.verify_chains import by_key, of_kind
from pvc.ops.verify_seen import Seen
from pvc.store.fold_message import FoldMessage
from pvc.store.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pvc.model.names import CommitId
    from pvc.model.pin import Pin, PromptFacts
    from pvc.ops.hook_ledger import Fold
    from pvc.ops.verify_chains import Chain
    from pvc.ops.verify_report import Report
    from pvc.store.codec import Unrendered
    from pvc.store.fold_message import Witness
    from pvc.store.repo import Commit, Repository


SKEW_S = 3600
"""Clocks decide nothing; one that is off by more than this is worth a note."""


@dataclass(frozen=True, slots=True)
class PinInFold:
    """A pin, and where it stands; what its fold said of its prompt, where it said anything."""

    pin: Pin
    ref: str
    fold: Commit
    path: str
    byte: int
    facts: PromptFacts | Unrendered | None = None


@dataclass
class Ledgers:
    """The ledgers of a clone, on their way through a verification."""

    repo: Repository
    chains: Sequence[Chain]
    report: Report
    since_s: int | None = None
    _keys: Seen = field(default_factory=Seen)
    _receipts: Seen = field(default_factory=Seen)
    _superseding: list[PinInFold] = field(default_factory=list)
    _versions: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._ledger = Ledger(self.repo)
        self._ends = self.repo.shallow()

    # --- messages -----------------------------------------------------------------------------

    def witness(self, chains: Sequence[Chain]) -> int:
        """Hear what all folds say of other chains; gives how many pins they say they hold."""
        seen: dict[tuple[str, str, CommitId], tuple[Chain, Commit, Witness]] = {}
        pins = 0
        for chain in of_kind(self.chains, "pins"):
            for oid in chain.commits:
                commit = self.repo.commit(oid)
                try:
                    message = FoldMessage.decode(commit.message, str(oid))
                except CorruptError as error:
                    self.report.add("fold", error.message, ref=chain.ref, commit=commit)
                    continue
                pins += 0 if message.taken else message.pins
                for each in message.witnesses:
                    seen.setdefault((each.kind, each.name, each.commit), (chain, commit, each))
        known = by_key(chains)
        in_ledgers = {oid for chain in of_kind(chains, "pins") for oid in chain.known}
        remotes = {copy.remote for chain in chains for copy in chain.copies if copy.remote}
        for (kind, name, oid), (chain, commit, each) in seen.items():
            there = known.get((kind, name))
            if oid in there.known if there is not None else kind == "pins" and oid in in_ledgers:
                continue
            if there is None and remotes and each.remote not in remotes:
                self.report.note(f"{each.ref} was seen by another clone; it is not here")
            else:
                self._contradicted(chain, commit, each, there)
        return pins

    def _contradicted(
        self, chain: Chain, commit: Commit, seen: Witness, there: Chain | None
    ) -> None:
        what = "no copy of it is here" if there is None else "no copy of it here holds that"
        self.report.add(
            "rollback",
            f"{chain.title} saw {seen.kind}/{seen.name} at {seen.commit.short}; {what}",
            ref=there.ref if there else seen.ref,
            commit=commit,
            hint="pvc sync, in case it was not fetched; else it was rewritten, cut or dropped after"
            " that time: look for the commit in other clones",
        )

    def index_remembers(self) -> None:
        """Hold ledgers against what the index of this clone covered last."""
        tips = read_tips(f"{self.repo.common_dir}/pvc")
        copies = {copy.ref: chain for chain in self.chains for copy in chain.copies}
        in_ledgers = {oid for chain in of_kind(self.chains, "pins") for oid in chain.known}
        for ref, oid in tips.refs.items() if tips else ():
            chain = copies.get(ref)
            if oid not in (chain.known if chain else in_ledgers):
                now = "is gone" if chain is None else "no longer holds it"
                self.report.add(
                    "rollback",
                    f"the index of this clone covered {ref} up to {oid[:12]}; it {now}",
                    ref=ref,
                    hint=f"git update-ref {ref} {oid}, where that is what was lost",
                )

    # --- folds --------------------------------------------------------------------------------

    def pins(self) -> Iterator[PinInFold]:
        """Read all folds and give their pins."""
        read: set[CommitId] = set()  # a ledger that another one took stands in both
        for chain in of_kind(self.chains, "pins"):
            self.report.counts["ledgers"] += 1
            own = Seen()
            is_new = self.since_s is None
            for oid in chain.commits:
                if oid in read:
                    continue
                read.add(oid)
                commit = self.repo.commit(oid)
                is_new = is_new or commit.time.seconds >= (self.since_s or 0)
                try:
                    fold = read_fold(self.repo, commit, contents=is_new, is_cut=oid in self._ends)
                    self._problems(chain, commit, fold)
                    # The folds that a take took are walked too.
                    pins = [] if fold.is_take else [*self._pins_of(chain, commit, fold, own)]
                except Exception as error:  # noqa: BLE001  # one fold hides no other
                    self.report.add_error(self.repo, "fold", error, ref=chain.ref, commit=commit)
                    continue
                yield from pins
        self._gaps()

    def _problems(self, chain: Chain, commit: Commit, fold: Fold) -> None:
        self.report.step("folds")
        self.report.counts["tombstones"] += 0 if fold.is_take else len(fold.forgotten)
        for each in fold.problems:
            if each.byte is None and each.is_missing:
                error = NotFoundError(each.message, at=each.path, hint=each.hint)
                self.report.add_error(self.repo, "fold", error, ref=chain.ref, commit=commit)
                continue
            code = "record" if each.byte is not None and each.is_damage else "fold"
            self.report.add(
                code,
                each.message,
                ref=chain.ref,
                commit=commit,
                path=each.path,
                byte=each.byte,
                hint=each.hint and f"{each.hint}: the fold before has the bytes that were",
            )

    def _pins_of(self, chain: Chain, commit: Commit, fold: Fold, own: Seen) -> Iterator[PinInFold]:
        for placed in fold.pins:
            pin = placed.pin
            here = PinInFold(
                pin, chain.ref, commit, placed.path, placed.byte, fold.prompts.get(pin.prompt)
            )
            self._key(here, own, is_split=chain.is_split)
            if pin.time > (commit.time.seconds + SKEW_S) * 1_000_000:
                self.report.note(f"{chain.title} has pins that are dated after their fold")
            self.report.step("pins")
            yield here

    def _key(self, here: PinInFold, own: Seen, *, is_split: bool) -> None:
        pin = here.pin
        key = f"{pin.session}\0{pin.chain}\0{pin.n}".encode()
        if not own.add(key):
            if not (is_split and pin.receipt.encode() in self._receipts):
                self._add("duplicate", f"{named(pin)} stands twice in one ledger", here)
        elif not self._keys.add(key):
            self._twin(here)
        self._receipts.add(pin.receipt.encode())
        if pin.supersedes is not None:
            self._superseding.append(here)

    def _twin(self, here: PinInFold) -> None:
        """Look at a pin whose session, chain and number another ledger has too."""
        pin = here.pin
        try:
            found = self._ledger.session(pin.session, pin.chain)
        except PvcError as error:  # the fold that holds it is a finding
            self.report.note(f"{named(pin)} could not be compared with its twins: {error.message}")
            return
        twins = [one for one in found if one.n == pin.n and one.receipt != pin.receipt]
        for other in twins:
            if other.prompt == pin.prompt:
                self.report.note(f"{named(pin)} was pinned twice, with one prompt")
            elif pin.receipt != other.supersedes and other.receipt != pin.supersedes:
                self._add("duplicate", f"{named(pin)} was pinned twice, with two prompts", here)

    def _gaps(self) -> None:
        for here in self._superseding if self.since_s is None else ():
            before = here.pin.supersedes
            if before is not None and before.encode() not in self._receipts:
                self._add(
                    "gap", f"{named(here.pin)} supersedes {before.short}, which is not here", here
                )

    def version(self, here: PinInFold, trees: dict[tuple[str, str], Chain]) -> None:
        """See that the version that a pin names is in the chain of its tree, once for each."""
        pin = here.pin
        if pin.tree is None or pin.commit is None or (pin.tree, pin.commit) in self._versions:
            return
        self._versions.add((pin.tree, pin.commit))
        chain = trees.get(("trees", str(pin.tree)))
        if chain is None or pin.commit not in chain.known:
            self._add(
                "rollback",
                f"{named(pin)} was told {pin.label} ({pin.commit.short}), which is in no copy of"
                f" the tree `{pin.tree}` here",
                here,
            )

    def _add(self, code: str, message: str, here: PinInFold) -> None:
        self.report.add(
            code, message, ref=here.ref, commit=here.fold, path=here.path, byte=here.byte
        )


def named(pin: Pin) -> str:
    """Say which pin it is."""
    chain = "" if pin.chain == "main" else f" chain `{pin.chain}`"
    number = f" pin {pin.n}" if pin.n else ""
    return f"session `{pin.session}`{chain}{number}"
