"""The chains of a clone: versions, channels and ledgers, each with all of its copies.

    refs/pvc/pins/<writer>                     this clone's own
    refs/pvc/remotes/<remote>/pins/<writer>    what a sync saw, once for each remote
    refs/pvc/remotes/<remote>/inbox/<writer>   the same, of a clone that pushes to the inbox

Rule 1: all copies of one chain lie on one line. Two that do not are two stories, and which of them
is true is not for their order to say.
Rule 2: remote-tracking refs never go back (a sync forces nothing), so they remember. What this
clone writes itself must not end before what a remote was given; what others write may lag.
Rule 3: a chain is walked from its first commit on, each commit once for all copies, so that the
first bad one is known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pvc.errors import CorruptError, NotFoundError, PvcError, UsageError
from pvc.model.names import ChannelName, CommitId, PackName, TreeName
from pvc.ops.hook_guard import symbolic_refs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pvc.ops.verify_report import Report
    from pvc.store.repo import Commit, Repository

KINDS = ("trees", "packs", "channels", "pins")
OTHER_KINDS = ("inbox", "bodies")
LOCAL = "refs/pvc/"
REMOTES = "refs/pvc/remotes/"
_WRITER = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Copy:
    """One ref that holds a chain; `remote` is empty for this clone's own."""

    ref: str
    tip: CommitId
    remote: str = ""


@dataclass
class Chain:
    """One chain: its copies, and its commits, oldest first."""

    kind: str
    name: str
    copies: list[Copy] = field(default_factory=list)
    commits: list[CommitId] = field(default_factory=list)
    known: set[CommitId] = field(default_factory=set)
    is_split: bool = False
    """Whether two of its copies go apart."""

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from all others."""
        return self.kind, self.name

    @property
    def ref(self) -> str:
        """The ref to name in findings: this clone's own where there is one."""
        return self.copies[0].ref

    @property
    def title(self) -> str:
        """What people call it."""
        tree, _, channel = self.name.partition("/")
        words = {"trees": "tree", "packs": "pack", "pins": "ledger"}
        if self.kind == "channels":
            return f"the channel `{tree}@{channel}`"
        return f"the {words[self.kind]} `{self.name}`"


def read_chains(repo: Repository, prefixes: Iterable[str], report: Report) -> list[Chain]:
    """Find the chains below `prefixes`, and walk them."""
    chains: dict[tuple[str, str], Chain] = {}
    prefixes = tuple(prefixes)
    for ref, target in {pair for p in prefixes for pair in symbolic_refs(repo, p.rstrip("/"))}:
        report.add(
            "ref",
            f"`{ref}` leads to `{target}`, so one is moved by the other",
            ref=ref,
            hint=f"git symbolic-ref --delete {ref}",
        )
    for prefix in prefixes:
        for ref, tip in _refs(repo, prefix, report):
            remote, kind, name = split_ref(ref, prefix)
            problem = _name_problem(kind, name)
            if problem:
                report.add("ref", f"`{ref}` {problem}", ref=ref)
            elif kind in KINDS:
                chain = chains.setdefault((kind, name), Chain(kind, name))
                chain.copies.append(Copy(ref, tip, remote))
    for chain in chains.values():
        chain.copies.sort(key=lambda copy: (copy.remote, copy.ref))
        _walk(repo, chain, report)
    return list(chains.values())


def split_ref(ref: str, prefix: str) -> tuple[str, str, str]:
    """Split a ref into remote (empty for this clone's own), kind and name."""
    inner, remote = ref.removeprefix(prefix), ""
    if inner.startswith("remotes/"):
        words = inner.split("/")
        at = next((i for i, word in enumerate(words[2:], 2) if word in (*KINDS, *OTHER_KINDS)), 2)
        remote, inner = "/".join(words[1:at]), "/".join(words[at:])
    kind, _, name = inner.partition("/")
    return remote, "pins" if kind == "inbox" else kind, name


def _refs(repo: Repository, prefix: str, report: Report) -> list[tuple[str, CommitId]]:
    try:
        return list(repo.refs(prefix))
    except CorruptError as error:
        report.add("ref", error.message, path=error.at)
    said = repo.git.run("for-each-ref", "--format=%(refname) %(objectname)", prefix)
    pairs = (line.split(" ") for line in said.out.decode().split("\n")[:-1])
    return [(ref, CommitId(oid)) for ref, oid in pairs]


def _name_problem(kind: str, name: str) -> str:
    """Say what is wrong with a ref's name; empty when nothing is."""
    tree, slash, channel = name.partition("/")
    try:
        match kind:
            case "trees" | "packs" if not slash:
                (TreeName if kind == "trees" else PackName)(name)
            case "channels":
                TreeName(tree)
                ChannelName(channel)
            case "pins" | "bodies" if _WRITER.fullmatch(name):
                return ""
            case _:
                return "is nothing of pvc's"
    except UsageError as error:
        return f"has no legal name: {error.message}"
    return ""


# --- walking ----------------------------------------------------------------------------------


def _walk(repo: Repository, chain: Chain, report: Report) -> None:
    """List the commits that all copies reach, oldest first."""
    ends = repo.shallow()
    for copy in chain.copies:
        stack = [(copy.tip, False)]
        while stack:
            oid, is_done = stack.pop()
            if is_done:
                chain.commits.append(oid)
                continue
            if oid in chain.known:
                continue
            chain.known.add(oid)
            try:
                commit = repo.commit(oid)
            except (NotFoundError, CorruptError) as error:
                report.add_error(
                    repo, "ref", error, what=f"a commit of {chain.title}", ref=copy.ref
                )
                continue
            stack.append((oid, True))
            if oid in ends:
                report.note(f"{chain.title} is cut off at {oid.short}: the clone is shallow")
            else:
                stack += [(parent, False) for parent in reversed(_before(chain.kind, commit))]


def _before(kind: str, commit: Commit) -> tuple[CommitId, ...]:
    """Give the commits of the same chain that a commit stands on."""
    return commit.parents[:-1] if kind == "channels" else commit.parents


# --- copies -----------------------------------------------------------------------------------


def compare_copies(
    repo: Repository, chain: Chain, writer: str, report: Report, earlier: frozenset[str]
) -> None:
    """Hold the copies of a chain against each other; `earlier` are ids that `writer` had before.

    A ledger under such an id is another clone's to go on with (`store.carry`), so it may lag.
    """
    local = chain.copies[0] if not chain.copies[0].remote else None
    for index, copy in enumerate(chain.copies):
        for other in chain.copies[:index]:
            if copy.tip != other.tip:
                may_lag = chain.kind == "pins" and chain.name in earlier
                try:
                    _compare(repo, chain, other, copy, report, may_lag=may_lag)
                except PvcError as error:
                    report.add_error(repo, "ref", error, what=chain.title, ref=copy.ref)
    remote = next((copy for copy in chain.copies if copy.remote), None)
    if local is None and remote and chain.key == ("pins", writer):
        report.add(
            "rollback",
            f"this clone's own ledger is gone; {remote.ref} has it",
            ref=f"{LOCAL}pins/{writer}",
            commit=_readable(repo, remote.tip),
            hint=f"git update-ref {LOCAL}pins/{writer} {remote.tip}",
        )


def _compare(
    repo: Repository, chain: Chain, one: Copy, other: Copy, report: Report, *, may_lag: bool
) -> None:
    if not {one.tip, other.tip} <= chain.known:
        return
    try:
        if repo.is_ancestor(other.tip, one.tip):
            return
        if repo.is_ancestor(one.tip, other.tip):
            if not one.remote and not may_lag:
                _lags(repo, chain, one, other, report)
            return
    except NotFoundError:
        return  # a commit is missing, which the walk has said
    chain.is_split = True
    here, there = (_first_beyond(repo, a.tip, b.tip) for a, b in ((one, other), (other, one)))
    report.add(
        "diverged",
        f"two copies of {chain.title} go apart: {one.ref} and {other.ref}",
        ref=other.ref,
        commit=there,
        since=min((c for c in (here, there) if c), key=lambda c: c.time.seconds, default=None),
        hint=""
        if chain.kind == "pins"
        else "if both are honest, pvc supersede --resolve goes on from both; else keep both",
    )


def _lags(repo: Repository, chain: Chain, local: Copy, remote: Copy, report: Report) -> None:
    """Speak of a local ref that ends before its remote-tracking copy."""
    if chain.kind != "pins":
        report.note(f"{local.ref} is behind {remote.ref}: pvc sync")
        return
    report.add(
        "rollback",
        f"{chain.title} ends before its copy {remote.ref}",
        ref=local.ref,
        commit=_first_beyond(repo, remote.tip, local.tip),
        hint=f"git update-ref {local.ref} {remote.tip} {local.tip}",
    )


def _first_beyond(repo: Repository, tip: CommitId, other: CommitId) -> Commit | None:
    """Find the oldest commit that `tip` reaches and `other` does not."""
    words = ("rev-list", "--first-parent", "--reverse", str(tip), f"^{other}")
    lines = repo.git.output(*words).decode().split("\n")
    return _readable(repo, CommitId(lines[0])) if lines[0] else None


def _readable(repo: Repository, oid: CommitId) -> Commit | None:
    try:
        return repo.commit(oid)
    except (NotFoundError, CorruptError):
        return None


def by_key(chains: Iterable[Chain]) -> dict[tuple[str, str], Chain]:
    """Find chains by kind and name."""
    return {chain.key: chain for chain in chains}


def of_kind(chains: Iterable[Chain], *kinds: str) -> Iterator[Chain]:
    """Choose chains."""
    return (chain for chain in chains if chain.kind in kinds)
