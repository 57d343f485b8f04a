"""Exchange versions, channels and pins with a remote; git does the talking.

    fold ──► fetch ──► fast-forward ──► push
             remotes/<remote>/…   trees, packs, channels   what the remote lacks

Rule 1: nothing is forced, in either direction, but bodies: these may be forgotten, and a chain of
them is then rewritten by its writer, from the value that was seen (`store.forget`). What else does
not fast-forward is reported by name.
Rule 2: a local ref moves by compare-and-swap, and only to a commit that is what its name says.
Rule 3: of the ledgers all are pushed that this clone wrote, under whatever id, and no other's; its
bodies only with `pvc.pushBodies`.
Whatever bodies a remote holds are fetched: who pushed them meant them to be read.
Where `pvc.inbox` is set, this clone's ledger goes to the inbox: machines that live for a session
would fill a hub with refs.
Rule 4: `pvc.refPrefix` says where these refs are on the remote, for hosts that take only heads and
tags. In a clone they are always below `refs/pvc/`.
Rule 5: a ledger's ref is taken away from the remote only after the remote has a ledger that took
it (`store.take`), and only from the tip that was taken. What this clone saw of it is let go then.
Rule 6: a partial clone gets versions and pins whole: no launch waits for a network.
Rule 7: settings for ordinary fetches (mirrors, pruning, filters, tags) do not hold here; a filter
would leave versions without their text, a mirror's refspec would force our refs; loose objects
could be pruned before a ref has them (`store.landing`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pvc.errors import (
    CorruptError,
    MovedError,
    NotFoundError,
    PvcError,
    RefusedError,
    UsageError,
)
from pvc.launch import writer
from pvc.launch.refs import PINS
from pvc.model.names import ChannelName, CommitId, PackName, TreeName
from pvc.store.base import check_ref_name
from pvc.store.bodies import BODIES
from pvc.store.carry import own_ledgers, part
from pvc.store.channels import at_move, chain_from
from pvc.store.fetch import Fetch, fill
from pvc.store.forget import heed
from pvc.store.index import new_segments
from pvc.store.remote_words import (
    Answer,
    answers_of_push,
    failed,
    said_by_hooks,
)
from pvc.store.sound import check_sound
from pvc.store.sync_result import (
    FORWARDED,
    LOCAL,
    Divergence,
    Move,
    Refusal,
    Side,
    SyncResult,
)
from pvc.store.versions import at_commit, at_ref, check_chain, files_of
from pvc.store.withheld import Withheld

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pvc.model.digest import Digest
    from pvc.store.carry import Carried
    from pvc.store.consolidate import Consolidated
    from pvc.store.fold import FoldResult
    from pvc.store.remote_words import Said
    from pvc.store.repo import Repository
    from pvc.store.take import Judge

_VERSIONS = tuple(f"{LOCAL}/{kind}/" for kind in FORWARDED)
_ROUNDS = 3  # others push too; after that many the user may try again


def sync(
    repo: Repository,
    remote: str | None = None,
    *,
    fold: Callable[[], FoldResult],
    take: Callable[[Exchange], Consolidated] | None = None,
    judge: Judge | None = None,
) -> SyncResult:
    """Fold, then exchange with `remote`; without one with `origin` or the only one there is.

    `judge` is asked of folds that another clone wrote under this one's id (`store.carry`). At the
    end `take` takes what nobody writes there any more, if that is wanted (`store.consolidate`).
    Raises `NotFoundError` when there is no such remote or it does not answer.
    """
    chosen = _choose(repo, remote)
    result = SyncResult(chosen, fold())
    if chosen is None:
        return replace(result, forgotten=len(heed(repo).reckoning.gone))
    exchange = Exchange(repo, chosen, judge)
    exchange.run()
    consolidated = take(exchange) if take else None
    return replace(
        result,
        taken=consolidated.taken if consolidated else None,
        removed=consolidated.removed if consolidated else (),
        fetched=tuple(exchange.fetched),
        forwarded=tuple(exchange.forwarded),
        carried=tuple(exchange.carried),
        pushed=tuple(exchange.pushed),
        refused=tuple(exchange.refused),
        diverged=tuple(exchange.diverged),
        hint=exchange.elsewhere(),
        forgotten=len(exchange.forgotten),
    )


def remotes(repo: Repository) -> tuple[str, ...]:
    """List the names of the remotes, in git's order."""
    return tuple(repo.git.output("remote").decode(errors="surrogateescape").split("\n")[:-1])


def _choose(repo: Repository, remote: str | None) -> str | None:
    known = remotes(repo)
    if remote is not None and remote not in known:
        near = get_close_matches(remote, known, 1)
        hint = f"did you mean `{near[0]}`?" if near else "`git remote add NAME URL` makes one"
        raise NotFoundError(f"there is no remote `{remote}`", hint=hint)
    if remote is not None or not known:
        return remote
    if "origin" in known or len(known) == 1:
        return "origin" if "origin" in known else known[0]
    raise UsageError("which remote? there are " + ", ".join(f"`{name}`" for name in known))


@dataclass
class Exchange:
    """One sync with one remote, in rounds of fetch, fast-forward and push."""

    repo: Repository
    remote: str
    judge: Judge | None = None
    fetched: list[Move] = field(default_factory=list)
    forwarded: list[Move] = field(default_factory=list)
    pushed: list[Move] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    diverged: list[Divergence] = field(default_factory=list)
    carried: list[Carried] = field(default_factory=list)
    forgotten: set[Digest] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._is_there: frozenset[str] = frozenset()
        self._bodies_there: dict[str, CommitId] = {}
        """Where the remote is in truth, though some of it was forgotten here."""
        self._withheld = Withheld(self.repo)
        self._held: set[str] = set()
        self._unfollowed: set[str] = set()
        """What the remote has under these names is nothing that could be fetched."""
        self._prefix = _prefix(self.repo)
        self.writer = writer.read(f"{self.repo.common_dir}/pvc")
        self._seen = f"{LOCAL}/remotes/{self.remote}"
        settings = (
            "fetch.output=full",
            "fetch.fsckObjects=true",
            "fetch.unpackLimit=1",  # a pack, which git keeps until the refs have moved
            f"remote.{self.remote}.mirror=false",
        )
        self._settings = [word for setting in settings for word in ("-c", setting)]

    def run(self) -> None:
        """Fetch, go forward, push; once more while pushes fail because the remote moved."""
        for _ in range(_ROUNDS):
            count = len(self.fetched)
            unfetched = self._fetch()
            if self.refused and len(self.fetched) == count:
                return  # nobody was quicker: the remote means it
            self.refused, self.diverged = unfetched, []
            self._heed()
            self._part()
            self._held = self._forward()
            if self.push():
                return

    @property
    def own(self) -> str:
        """Name this clone's ledger."""
        return f"{LOCAL}/pins/{self.writer}"

    def ledgers(self) -> Iterator[tuple[str, CommitId]]:
        """Give the ledgers of others that are on the remote, as this clone saw them."""
        for prefix in ledgers_at(self._seen):
            for seen, tip in self.repo.refs(prefix):
                if seen in self._is_there and not seen.endswith(f"/{self.writer}"):
                    yield seen, tip

    def holder(self) -> CommitId | None:
        """Give the commit that the remote has for this clone's ledger."""
        seen = self._seen_of(self.own)
        is_there = seen in self._is_there or any(move.ref == self.own for move in self.pushed)
        return self.repo.ref(seen) if is_there else None

    def remove(self, ledgers: Iterable[tuple[str, CommitId]], holder: CommitId) -> list[Move]:
        """Take refs away from the remote, each from the tip that is held elsewhere now."""
        there = {self._there(seen): (seen, tip) for seen, tip in ledgers}
        if not there:
            return []
        leases = [f"--force-with-lease={name}:{tip}" for name, (_, tip) in there.items()]
        answers, said = self._push_specs([f":{name}" for name in there], *leases)
        removed = []
        for name, (seen, tip) in there.items():
            answer = answers.get(name, Answer("!", "no answer"))
            if answer.is_refused:
                self.refused.append(self._refusal(name, answer.words, said))
            else:
                removed.append(Move(self._here(name), tip, holder))
                self._forget(seen, tip)
        return removed

    def _forget(self, seen: str, tip: CommitId) -> None:
        """Let go of what was seen of a ledger that another one holds."""
        try:
            self.repo.delete_ref(seen, tip)
        except MovedError:
            return  # another sync saw more of it meanwhile

    def elsewhere(self) -> str:
        """Where the remote shows nothing of pvc's: say where an ordinary fetch saw some."""
        if self._is_there or self.pushed or self._prefix.startswith("refs/heads/"):
            return ""
        return _ELSEWHERE if self.repo.refs(f"refs/remotes/{self.remote}/pvc/") else ""

    # --- fetch --------------------------------------------------------------------------------

    def _fetch(self) -> list[Refusal]:
        """See where the remote is; gives what it wants to rewrite."""
        unmoved = self._withheld.still_at(self.remote, self._seen, self._prefix)
        before = dict(self.repo.refs(f"{self._seen}/"))
        fetch = Fetch(self.repo, self.remote, self._settings, prefix=self._prefix, seen=self._seen)
        fetch.run(unmoved)
        self._is_there = frozenset((*fetch.is_there, *unmoved))
        self._unfollowed = {LOCAL + each.seen.removeprefix(self._seen) for each in fetch.unfetched}
        if self.repo.is_partial:
            fill(self.repo, self.remote, self._settings, LOCAL)
        refused = [
            Refusal(self._there(each.seen), each.reason, each.hint) for each in fetch.unfetched
        ]
        now = self.repo.refs(f"{self._seen}/")
        self._bodies_there = {ref: new for ref, new in now if ref in self._is_there}
        self._bodies_there |= unmoved
        for ref, new in now:
            if before.get(ref) != new:
                self.fetched.append(Move(ref, before.get(ref), new))
                refused += self._damage(ref, before.get(ref), new)
        self._forget_taken()
        return refused

    def _forget_taken(self) -> None:
        """Let go of ledgers that are gone from the remote and stand in another one there.

        One that is gone and stands nowhere is kept as evidence.
        """
        seen = [row for prefix in ledgers_at(self._seen) for row in self.repo.refs(prefix)]
        gone = [(ref, tip) for ref, tip in seen if ref not in self._is_there]
        if not gone:
            return
        words = [tip for _, tip in gone] + [f"^{tip}" for ref, tip in seen if ref in self._is_there]
        listing = self.repo.git.output("rev-list", "--stdin", data="\n".join(words).encode())
        elsewhere = frozenset(listing.decode().split("\n"))
        for ref, tip in gone:
            if tip not in elsewhere:
                self._forget(ref, tip)

    def _damage(self, ref: str, old: CommitId | None, new: CommitId) -> Iterator[Refusal]:
        """Say what a fetched ledger holds in no form; all else of it counts."""
        if ref.startswith(ledgers_at(self._seen)):
            damage: list[CorruptError] = []
            list(new_segments(self.repo, ref, old, new, damage=damage))
            for error in damage:
                yield Refusal(self._there(ref), error.message, _ANOTHERS)

    def _there(self, seen: str) -> str:
        """Name a ref as the remote does."""
        return self._prefix + seen.removeprefix(self._seen)

    def _heed(self) -> None:
        """Let go of what was forgotten; what hinders that hinders nothing else."""
        let_go = heed(self.repo)
        self.forgotten |= let_go.reckoning.gone
        self.refused += [Refusal(error.at, error.message, error.hint) for error in let_go.damage]

    def _part(self) -> None:
        """Part with clones that write under an id of this clone's, and go on under another."""
        for ref, _ in own_ledgers(self.repo):
            seen = self._seen_of(ref)
            there = self._seen_at(seen)
            is_junk = self._here(self._there_of(ref)) in self._unfollowed
            if there is None and not is_junk:
                continue
            try:
                carried = part(self.repo, ref, None if is_junk else there, self.judge)
            except PvcError as error:
                self.refused.append(Refusal(ref, str(error), error.hint))
                continue
            if carried is not None:
                self.carried.append(carried)
        self.writer = writer.read(f"{self.repo.common_dir}/pvc")

    # --- fast-forward -------------------------------------------------------------------------

    def _forward(self) -> set[str]:
        """Move local refs forward; gives the ones that must not be pushed."""
        held = {self._here(refusal.ref) for refusal in self.refused}
        for seen, theirs in self.repo.refs(f"{self._seen}/"):
            kind = seen.removeprefix(f"{self._seen}/").partition("/")[0]
            ref = LOCAL + seen.removeprefix(self._seen)
            if kind in FORWARDED and not self._forward_one(ref, theirs):
                held.add(ref)
        return held | set(self._waiting(held))

    def _waiting(self, held: set[str]) -> Iterator[str]:
        """Name the channels that name a version which cannot be pushed yet; no one else has it."""
        for ref, move in self.repo.refs(f"{LOCAL}/channels/"):
            tree = ref.removeprefix(f"{LOCAL}/channels/").partition("/")[0]
            there = self.repo.ref(f"{self._seen}/trees/{tree}")
            if ref not in held and f"{LOCAL}/trees/{tree}" in held and there:
                try:
                    version = at_commit(self.repo, move)
                except (CorruptError, NotFoundError) as error:
                    self.refused.append(Refusal(ref, str(error), error.hint))
                    yield ref
                    continue
                if not self.repo.is_ancestor(version.id, there):
                    why = f"`{version.label}` is not in the chain that `{self.remote}` has"
                    self.refused.append(Refusal(ref, why, f"bring `{tree}` together first"))
                    yield ref

    def _here(self, there: str) -> str:
        """Name the remote's ref as this clone does."""
        return LOCAL + there.removeprefix(self._prefix)

    def _forward_one(self, ref: str, theirs: CommitId) -> bool:
        """Bring one ref forward; false when the two cannot be brought together."""
        for _ in range(_ROUNDS):
            ours = self.repo.ref(ref)
            try:
                if ours == theirs or (ours and self.repo.is_ancestor(theirs, ours)):
                    return True
                side = _side(self.repo, ref, theirs)
                if ours and not self.repo.is_ancestor(ours, theirs):
                    self.diverged.append(Divergence(ref, _side(self.repo, ref, ours), side))
                    return False
                _check_new(self.repo, ref, theirs, until=ours)
                self.repo.move_ref(ref, ours, theirs, message=f"pvc sync: {self.remote}")
            except MovedError:
                continue
            except (CorruptError, NotFoundError, RefusedError, UsageError) as error:
                self.refused.append(Refusal(ref, str(error), error.hint))
                return False
            self.forwarded.append(Move(ref, ours, theirs))
            return True
        self.refused.append(Refusal(ref, "it keeps moving", "try again"))
        return False

    # --- push ---------------------------------------------------------------------------------

    def push(self) -> bool:
        """Push what the remote lacks; true when it took all of it."""
        moves = []
        for ref, new in self._own_refs():
            seen = self._seen_of(ref)
            there = self._seen_at(seen)
            if ref not in self._held and there != new and not self._has_all_of(ref, new, there):
                moves.append(Move(ref, there, new))
        return self._push_moves([move for move in moves if self._may_leave(move)])

    def _may_leave(self, move: Move) -> bool:
        """See that a ref is what its name says, and that other clones can fetch it."""
        try:
            self.repo.commit(move.new)
            if move.ref.startswith(_VERSIONS):
                _side(self.repo, move.ref, move.new)
                check_sound(self.repo, move.new, [move.old])
        except PvcError as error:
            self._held.add(move.ref)
            self.refused.append(Refusal(move.ref, str(error), error.hint))
            return False
        return True

    def _seen_at(self, seen: str) -> CommitId | None:
        """Give where a ref was on the remote when it was last looked at."""
        if seen.startswith(f"{self._seen}/bodies/"):
            return self._bodies_there.get(seen)
        return self.repo.ref(seen) if seen in self._is_there else None

    def _has_all_of(self, ref: str, tip: CommitId, there: CommitId | None) -> bool:
        """Tell whether the remote has all of a ledger that is not at this tip there.

        Another one took it, or it is one of an earlier id of this clone's, whose other writer goes
        on: its ref is not wanted there.
        """
        if not ref.startswith(PINS):
            return False
        if there is not None:
            return self.repo.is_ancestor(tip, there)
        words = ("--format=%(objectname) %(refname)", f"--contains={tip}")
        kinds = (f"{self._seen}/pins/",) if ref == self.own else ledgers_at(self._seen)
        rows = self.repo.git.output("for-each-ref", *words, *kinds).decode().split("\n")[:-1]
        holders = (row.split(" ", 1) for row in rows)
        return any(
            (oid != tip or ref != self.own) and name in self._is_there for oid, name in holders
        )

    def _push_moves(self, moves: list[Move]) -> bool:
        """Push these; where the guard of the remote names some of them, the others once more.

        A server takes nothing of a push while it refuses one ref.
        """
        took_all = True
        while moves:
            specs = [f"{move.new}:{self._there_of(move.ref)}" for move in moves]
            leases = [
                f"--force-with-lease={self._there_of(move.ref)}:{move.old}"
                for move in moves
                if move.old and move.ref.startswith(f"{LOCAL}/bodies/")
            ]
            answers, said = self._push_specs(specs, *leases)
            named = [move for move in moves if self._there_of(move.ref) in said.guard]
            took_all &= self._settle(named or moves, answers, said)
            moves = [move for move in moves if move not in named] if named else []
        return took_all

    def _push_specs(self, specs: Iterable[str], *words: str) -> tuple[dict[str, Answer], Said]:
        """Push, and give what git answered for each ref and what hooks had to say."""
        words = ("push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no", *words)
        done = self.repo.git.run(*self._settings, *words, "--", self.remote, *specs, hooks=True)
        answers = answers_of_push(done.out.decode(errors="replace"))
        if done.code != 0 and not any(answer.is_refused for answer in answers.values()):
            raise failed(self.remote, done)
        return answers, said_by_hooks(done.err)

    def _settle(self, moves: Iterable[Move], answers: dict[str, Answer], said: Said) -> bool:
        """Take in what the remote said of each ref; true when it took all of them."""
        refused = []
        for move in moves:
            there = self._there_of(move.ref)
            answer = answers.get(there, Answer("!", "no answer"))
            if answer.is_refused:
                refused.append(self._refusal(there, answer.words, said))
            else:
                self.pushed.append(move)
                self._remember(move)
        self.refused += refused
        return not refused

    def _there_of(self, ref: str) -> str:
        """Name a ref of this clone as the remote does."""
        if ref.startswith(PINS) and self.repo.config_flag("pvc.inbox"):
            return f"{self._prefix}/inbox/{ref.removeprefix(PINS)}"
        return self._prefix + ref.removeprefix(LOCAL)

    def _seen_of(self, ref: str) -> str:
        """Name what this clone saw of one of its refs on the remote."""
        return self._seen + self._there_of(ref).removeprefix(self._prefix)

    def _remember(self, move: Move) -> None:
        """Note where the remote is now, as a fetch would."""
        ref = self._seen_of(move.ref)
        try:
            self.repo.move_ref(ref, self.repo.ref(ref), move.new)
            self._withheld.drop(ref)
        except MovedError:
            return  # another sync fetched meanwhile: what it saw is newer

    def _own_refs(self) -> Iterator[tuple[str, CommitId]]:
        for kind in FORWARDED:
            yield from self.repo.refs(f"{LOCAL}/{kind}/")
        ledgers = dict(own_ledgers(self.repo))
        yield from ledgers.items()
        for name in sorted({self.writer, *(ref.removeprefix(PINS) for ref in ledgers)} - {""}):
            tip = self.repo.ref(self._bodies_from(name))
            if tip:
                yield f"{BODIES}{name}", tip

    def _bodies_from(self, name: str) -> str:
        """Name the ref whose value the remote is to have for bodies.

        Without `pvc.pushBodies`, and for an earlier id: only what it has, and less.
        """
        is_all = name == self.writer and self.repo.config_flag("pvc.pushBodies")
        return f"{BODIES}{name}" if is_all else f"{self._seen}/bodies/{name}"

    def _refusal(self, there: str, words: str, said: Said) -> Refusal:
        """Say why the remote did not take a ref, in the words of its guard where it has one."""
        if there in said.guard:
            return Refusal(there, *said.guard[there])
        if "fetch first" in words or "non-fast-forward" in words:
            return Refusal(there, words, _COPY if "/pins/" in there else "sync again")
        reason = ": ".join((words, *said.others[:1]))
        is_new_there = not any(ref.startswith(f"{self._seen}/") for ref in self._is_there)
        if is_new_there and not self._prefix.startswith("refs/heads/"):
            return Refusal(there, reason, _OTHER_PREFIX)
        return Refusal(there, reason)


def ledgers_at(seen: str) -> tuple[str, str]:
    """Name where the ledgers of a remote are, as this clone saw them."""
    return f"{seen}/pins/", f"{seen}/inbox/"


def _prefix(repo: Repository) -> str:
    """Read where the refs are on the remote: a plain name, or a `+` in it would force."""
    prefix = (repo.config("pvc.refPrefix") or LOCAL).rstrip("/")
    try:
        check_ref_name(prefix)
    except UsageError:
        prefix = ""
    if not prefix.startswith("refs/"):
        raise UsageError("`pvc.refPrefix` is no name below `refs/`", hint="such as refs/heads/pvc")
    return prefix


_COPY = "another clone writes under this one's id: sync again, and this one goes on under a new one"
_OTHER_PREFIX = (
    "some hosts take only heads and tags: `git config pvc.refPrefix refs/heads/pvc`, in every clone"
)
_ELSEWHERE = "they may be elsewhere: `git config pvc.refPrefix refs/heads/pvc`"
_ANOTHERS = "another clone's; it is left out here"


def _side(repo: Repository, ref: str, tip: CommitId) -> Side:
    """Read a tip as what its ref's name says; raises where it is something else."""
    kind, name = ref.removeprefix(f"{LOCAL}/").split("/", 1)
    tree, slash, channel = name.partition("/")
    (PackName if kind == "packs" else TreeName)(tree)
    if kind == "channels":
        ChannelName(channel)
    elif slash:
        raise UsageError(f"`{name}` is no name")
    if channel:
        move = at_move(repo, tip, tree, channel)
        return Side(tip, move.version.label, move.subject)
    version = at_ref(repo, tip, ref, "packs" if kind == "packs" else "trees", tree)
    return Side(tip, version.label, version.subject)


def _check_new(repo: Repository, ref: str, tip: CommitId, *, until: CommitId | None) -> None:
    """Walk what a tip adds; raises where it is no chain of versions, or of moves."""
    check_sound(repo, tip, [until])  # it may have been here before, so no fetch looked at it
    tree, _, channel = ref.removeprefix(f"{LOCAL}/channels/").partition("/")
    if not ref.startswith(f"{LOCAL}/channels/"):
        check_chain(repo, tip, until=until)
        return
    for move in chain_from(repo, tip, tree, channel):
        if move.id == until:
            return
        if move.id == tip:
            files_of(repo, move.version)
