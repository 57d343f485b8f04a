"""Everything that pvc keeps, held against itself, its copies and its witnesses.

    refs ──► chains ──► copies, witnesses
                │
                ├──► versions, moves
                ├──► folds ──► pins ──► rendered again
                └──► signatures
    bodies, programs, spool, replaced objects, receipts

Rule 1: nothing is written but the index, and nothing derived is trusted: index and program cache
are themselves among what is looked at.
Rule 2: a finding stops nothing; all else is looked at too.
Rule 3: what is held in memory are commit ids and some bytes a pin, so that a million pins pass.
Rule 4: nothing is asked of a network, except with `remote`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.core.moment import MICROS
from pvc.errors import NotFoundError, UsageError
from pvc.launch import writer
from pvc.model.digest import TAG, Digest
from pvc.ops.asked import micros_of
from pvc.ops.fresh import must_be_fetched, said, unfetched
from pvc.ops.hook_guard import ref_prefix
from pvc.ops.verify_chains import LOCAL, by_key, compare_copies, read_chains
from pvc.ops.verify_clone import check_bodies, check_programs, check_replaced, spooled
from pvc.ops.verify_ledgers import Ledgers, named
from pvc.ops.verify_pins import Renderer
from pvc.ops.verify_remote import check_remote
from pvc.ops.verify_report import Report, Verified
from pvc.ops.verify_signatures import check_signatures
from pvc.ops.verify_versions import check_moves, check_versions
from pvc.store.codec import Unrendered
from pvc.store.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pvc.model.pin import Pin
    from pvc.ops.verify_chains import Chain
    from pvc.ops.verify_ledgers import PinInFold
    from pvc.store.repo import Repository

SESSION = "session:"
PARTS = ("spool", "cache", "bodies")


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """What is verified, and how far; the options of `pvc verify`."""

    what: tuple[str, ...] = ()
    receipts: tuple[str, ...] = ()
    since: str | None = None
    render: bool = True
    require_signed: bool = False
    remote: str = ""


def run(
    repo: Repository,
    options: VerifyOptions,
    watch: Callable[[int, int], None] | None = None,
) -> Verified:
    """Verify. Raises `NotFoundError` on a word that names nothing here."""
    return _Verification(repo, options, Report(watch)).run()


class _Verification:
    """One verification."""

    def __init__(self, repo: Repository, options: VerifyOptions, report: Report) -> None:
        self.repo = repo
        self.options = options
        self.report = report
        self.renderer = Renderer(repo)
        since = micros_of(options.since, "--since")
        self._since_s = None if since is None else since // MICROS

    def run(self) -> Verified:
        options = self.options
        if not (options.receipts and not options.what):
            self._all() if not options.what else self._some()
        for text in options.receipts:
            self._receipt(text)
        if options.remote:
            check_remote(self.repo, options.remote, self.report)
        return self.report.result()

    # --- what is chosen -----------------------------------------------------------------------

    def _chains(self) -> list[Chain]:
        prefixes = dict.fromkeys((LOCAL, f"{ref_prefix(self.repo)}/"))
        return read_chains(self.repo, prefixes, self.report)

    def _all(self) -> None:
        chains = self._chains()
        self._verify(chains, chains)
        self._look("spool", "the spool", self._spool)
        self._look("body", "bodies", lambda: check_bodies(self.repo, self.report))
        self._look("cache", "the program cache", lambda: check_programs(self.repo, self.report))
        for name in unfetched(self.repo):
            self.report.note(said(name))
        self._look("replaced", "replace refs", lambda: check_replaced(self.repo, self.report))

    def _look(self, code: str, what: str, look: Callable[[], object]) -> None:
        """Look at one part of the clone; what stops that is a finding, and the next follows."""
        try:
            look()
        except Exception as error:  # noqa: BLE001  # one part hides no other
            self.report.add_error(self.repo, code, error, what=what)

    def _some(self) -> None:
        chains = self._chains()
        chosen: list[Chain] = []
        pins: list[Pin] = []
        for word in self.options.what:
            if word in PARTS:
                continue
            found = _named_by(chains, word)
            chosen += found
            pins += [] if found else self._pins(word)
        if chosen:
            self._verify(chosen, chains)
        for pin in pins:
            self._pin(pin)
        if "spool" in self.options.what:
            self._spool()
        if "bodies" in self.options.what:
            check_bodies(self.repo, self.report)
        if "cache" in self.options.what:
            check_programs(self.repo, self.report)

    def _pins(self, word: str) -> tuple[Pin, ...]:
        ledger = Ledger(self.repo)
        if word.startswith(TAG):
            pins = ledger.digest(word)
        else:
            pins = ledger.session(word.removeprefix(SESSION))
        if not pins:
            must_be_fetched(self.repo, word)
            raise NotFoundError(
                f"`{word}` is nothing here that can be verified",
                hint="a tree, pack, TREE@CHANNEL, writer, ref, session:ID, b3:…, or "
                + ", ".join(PARTS),
            )
        return pins

    # --- chains -------------------------------------------------------------------------------

    def _verify(self, chosen: Sequence[Chain], known: Sequence[Chain]) -> None:
        home = f"{self.repo.common_dir}/pvc"
        report, own = self.report, writer.read(home)
        earlier = writer.ids(home) - {own}
        ledgers = Ledgers(self.repo, chosen, report, self._since_s)
        if chosen is known:
            self._look("ref", "the index", ledgers.index_remembers)
        for chain in chosen:
            compare_copies(self.repo, chain, own, report, earlier)
        report.total = ledgers.witness(known) + sum(len(chain.commits) for chain in chosen)
        check_versions(self.repo, chosen, report)
        check_moves(self.repo, chosen, known, report)
        trees = by_key(known)
        for here in ledgers.pins():
            ledgers.version(here, trees)
            self._pin(here.pin, here)
        required = self.options.require_signed
        self._look(
            "signature",
            "signatures",
            lambda: check_signatures(self.repo, chosen, report, required=required),
        )

    def _pin(self, pin: Pin, here: PinInFold | None = None, path: str = "") -> None:
        """Render a pin again, and say what came of it."""
        facts = here.facts if here else None
        if not self.options.render:
            if isinstance(facts, Unrendered) and facts.found:
                self._say("prompt", pin, f"the fold rendered {facts.found.short}", here, path)
            return
        outcome = self.renderer.check(pin, None if isinstance(facts, Unrendered) else facts)
        if outcome.is_known:
            return
        if outcome.absent:
            self.report.not_rendered[outcome.absent] += 1
        elif outcome.code:
            self._say(outcome.code, pin, outcome.message, here, path)
        else:
            self.report.counts["prompts"] += 1

    def _say(self, code: str, pin: Pin, message: str, here: PinInFold | None, path: str) -> None:
        self.report.add(
            code,
            f"{named(pin)}: {message}",
            ref=here.ref if here else "",
            commit=here.fold if here else None,
            path=here.path if here else path,
            byte=here.byte if here else None,
        )

    def _spool(self) -> None:
        for pin, path in spooled(self.repo, self.report):
            self._pin(pin, path=path)

    # --- receipts -----------------------------------------------------------------------------

    def _receipt(self, text: str) -> None:
        """Look for the record that a launch answered with a receipt."""
        session, _, receipt = text.rpartition("=")
        digest = Digest(receipt)
        self.report.step("receipts")
        ledger = Ledger(self.repo)
        found = [pin for pin in ledger.digest(digest) if pin.receipt == digest]
        session = session.removeprefix(SESSION)
        if found and session in ("", found[0].session):
            self._pin(found[0])
            return
        if found:
            words = f"{digest.short} is that of {named(found[0])}, not `{session}`"
            self.report.add("receipt", words)
            return
        there = ledger.session(session) if session else ()
        stands = ", ".join(f"{named(pin)} is {pin.receipt.short} now" for pin in there[:3])
        damage = "; ".join(str(error) for error in ledger.damage[:1])
        self.report.add(
            "receipt",
            f"no record here has the receipt {digest.short}"
            + (f"; {stands}" if stands else "")
            + (f"; {damage}" if damage else ""),
        )


def _named_by(chains: Sequence[Chain], word: str) -> list[Chain]:
    """Find the chains that a word names: a ref or what refs begin with, a name, a writer."""
    if word.startswith("refs/"):
        return [
            chain
            for chain in chains
            if any(f"{copy.ref}/".startswith(f"{word.rstrip('/')}/") for copy in chain.copies)
        ]
    name, at, label = word.partition("@")
    if at and not label.isdecimal():
        return [chain for chain in chains if chain.key == ("channels", f"{name}/{label}")]
    if at and not label:
        raise UsageError(f"`{word}` ends in `@`", hint="TREE, TREE@V or TREE@CHANNEL")
    if at:
        return [chain for chain in chains if chain.key in (("trees", name), ("packs", name))]
    return [
        chain
        for chain in chains
        if chain.name == name or (chain.kind == "channels" and chain.name.startswith(f"{name}/"))
    ]
