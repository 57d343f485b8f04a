"""What may happen to refs of pvc's: the rules of the server, and the part that a clone can keep.

    trees, packs   forward only; each new commit is the next version, whole and in its form
    channels       forward only; each new commit is the record of a move to a version
    pins, inbox    forward only; old segments stay as they are, new ones are complete; a ledger that
                   another one took may go
    bodies         what a name says; may be rewritten, for a body can be forgotten

Rule 1: nothing is taken on trust from a pusher: every new commit is read and held against the one
before it, its parents, its tree and its bytes.
Rule 2: what exists is asked of the repository, not of the hook's arguments.
Rule 3: a refusal names the ref, what is wrong with it, and what to do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.errors import NotFoundError, PvcError, RefusedError
from pvc.launch.spool import body_path
from pvc.model.digest import Digest
from pvc.model.names import ChannelName, CommitId, PackName, TreeName
from pvc.ops.hook_commits import CommitCheck
from pvc.ops.hook_ledger import check_fold
from pvc.store.repo import Kind
from pvc.store.taken import parts_of
from pvc.store.versions import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.store.repo import Commit, Repository

LOCAL = "refs/pvc"
LEDGERS = ("pins", "inbox")
GUARDED = ("trees", "packs", "channels", "pins")
_WRITER = re.compile(r"[0-9a-f]{32}")
_FORWARD = "git pvc sync goes forward from what is there; nothing is ever rewritten"


@dataclass(frozen=True, slots=True)
class Update:
    """One ref that somebody wants to move; null is no commit."""

    ref: str
    old: CommitId | None
    new: CommitId | None

    @classmethod
    def parse(cls, ref: str, old: str, new: str) -> Update:
        """Read what git hands to a hook: ids, and zeros for nothing."""
        return cls(ref, _commit_id(old), _commit_id(new))


def _commit_id(text: str) -> CommitId | None:
    return None if not text.strip("0") else CommitId(text)


@dataclass(frozen=True, slots=True)
class ServerRules:
    """What a server asks for besides; from its own settings.

    `pvc.requireSigned`: versions and moves are signed, and git can verify them. `pvc.promoter`:
    e-mail addresses whose owners may move channels; with signatures it is more than a courtesy.
    """

    signed: bool = False
    promoters: tuple[str, ...] = ()

    @classmethod
    def of(cls, repo: Repository) -> ServerRules:
        """Read the settings."""
        return cls(repo.config_flag("pvc.requireSigned"), repo.config_all("pvc.promoter"))


def ref_prefix(repo: Repository) -> str:
    """Say where refs of pvc's are in a repository that others push to."""
    return (repo.config("pvc.refPrefix") or LOCAL).rstrip("/")


def check_push(
    repo: Repository, update: Update, prefix: str, rules: ServerRules, *, holders: str = ""
) -> None:
    """Hold a pushed ref against the rules. Raises `RefusedError`; other refs are not ours.

    `holders` is where ledgers are that may have taken others, for a clone that is about to push.
    """
    if not update.ref.startswith(f"{prefix}/"):
        return
    kind, _, name = update.ref.removeprefix(f"{prefix}/").partition("/")
    try:
        _check_name(kind, name)
        if update.new is None and kind in LEDGERS and _is_taken(repo, update, prefix, holders):
            return
        _check_forward(repo, update, may_rewrite=kind == "bodies")
        _PushCheck(repo, update, rules).run(kind, name)
    except RefusedError as error:
        raise RefusedError(error.message, at=error.at or update.ref, hint=error.hint) from None
    except PvcError as error:
        raise RefusedError(
            f"{error.at}: {error.message}" if error.at else error.message,
            at=update.ref,
            hint=error.hint,
        ) from None


def check_move(repo: Repository, update: Update) -> None:
    """Hold a move of a local ref against what is there now: forward, or not at all."""
    kind = update.ref.removeprefix(f"{LOCAL}/").partition("/")[0]
    if kind not in GUARDED or not update.ref.startswith(f"{LOCAL}/"):
        return
    now = repo.ref(update.ref)
    if now is not None and not (update.new is None and _is_packed_away(repo, update.ref, now)):
        _check_forward(repo, Update(update.ref, now, update.new))


def _is_packed_away(repo: Repository, ref: str, now: CommitId) -> bool:
    """Tell whether git drops a loose ref whose value stands in `packed-refs` and stays there.

    `pack-refs` shows that as a deletion. A true one holds the lock of `packed-refs`, to take the
    value out of there as well.
    """
    packed = repo.common_dir / "packed-refs"
    if (repo.common_dir / "packed-refs.lock").exists() or not packed.exists():
        return False
    return f"{now} {ref}" in packed.read_text(errors="replace").split("\n")


def _is_taken(repo: Repository, update: Update, prefix: str, holders: str) -> bool:
    """Tell whether the ledger that would go stands in another one, which goes on from it.

    One that is at the same commit does not count: each of two could be deleted for the other.
    """
    tip = update.old if holders else repo.ref(update.ref)
    if tip is None:
        return False
    words = ("--format=%(objectname)", f"--contains={tip}", f"{holders or prefix}/pins/")
    return any(oid != tip for oid in repo.git.output("for-each-ref", *words).decode().split())


def _check_name(kind: str, name: str) -> None:
    tree, _, channel = name.partition("/")
    match kind:
        case "trees":
            TreeName(name)
        case "packs":
            PackName(name)
        case "channels":
            TreeName(tree)
            ChannelName(channel)
        case "pins" | "inbox" | "bodies":
            if not _WRITER.fullmatch(name):
                raise RefusedError(f"`{name}` is no writer", hint="32 hex digits")
        case _:
            raise RefusedError(
                f"there is nothing called `{kind}` here", hint="trees, packs, channels, pins"
            )


def _check_forward(repo: Repository, update: Update, *, may_rewrite: bool = False) -> None:
    if update.new is None:
        raise RefusedError("it would be deleted", at=update.ref, hint=_FORWARD)
    if repo.kind(update.new) is not Kind.COMMIT:
        raise RefusedError("it would point to what is no commit", at=update.ref)
    if update.old and not may_rewrite and not repo.is_ancestor(update.old, update.new):
        raise RefusedError(f"`{update.old.short}` would be rewritten", at=update.ref, hint=_FORWARD)


class _PushCheck:
    """The new commits of one pushed ref."""

    def __init__(self, repo: Repository, update: Update, rules: ServerRules) -> None:
        self._repo = repo
        self._update = update
        self._commits = CommitCheck(repo, promoters=rules.promoters, must_be_signed=rules.signed)

    def run(self, kind: str, name: str) -> None:
        match kind:
            case "trees" | "packs":
                assert self._update.new is not None  # noqa: S101  # a deletion was refused before
                self._must_pass_old(self._repo.first_parents(self._update.new))
                for commit in self._new():
                    self._commits.version(commit, kind, name)
            case "channels":
                tree, _, channel = name.partition("/")
                self._must_pass_old(self._moves())
                self._channel(tree, channel)
            case "pins" | "inbox":
                self._must_pass_old(self._folds())
                for commit in self._new():
                    check_fold(self._repo, commit)
            case _:
                self._bodies()

    def _new(self, *known: CommitId | None) -> Iterator[Commit]:
        """Give every commit that neither this ref nor one of `known` has yet, newest first."""
        assert self._update.new is not None  # noqa: S101  # a deletion was refused before
        words = [self._update.new, *(f"^{oid}" for oid in (self._update.old, *known) if oid)]
        for line in self._repo.git.output("rev-list", *words).decode().split("\n")[:-1]:
            yield self._repo.commit(CommitId(line))

    def _must_pass_old(self, chain: Iterator[Commit]) -> None:
        """See that the chain runs through what is there: a number names one version for ever."""
        old = self._update.old
        if old is not None and all(commit.id != old for commit in chain):
            raise RefusedError(f"`{old.short}` would no longer be in the chain", hint=_FORWARD)

    def _moves(self) -> Iterator[Commit]:
        """Walk the moves of a channel; the first one has its version as only parent."""
        at = self._update.new
        while at is not None:
            commit = self._repo.commit(at)
            yield commit
            at = commit.parents[0] if len(commit.parents) > 1 else None

    def _channel(self, tree: str, channel: str) -> None:
        """Check all that is new: moves, those that a resolve brings too, and the versions below."""
        tip = self._update.new
        assert tip is not None  # noqa: S101  # a deletion was refused before
        chain = self._update.ref.removesuffix(f"channels/{tree}/{channel}") + f"trees/{tree}"
        new = {commit.id: commit for commit in self._new(self._repo.ref(chain))}
        if tip != self._update.old:
            new[tip] = self._repo.commit(tip)  # it may be a version that is there, so not new
        waiting = [tip]
        while waiting:
            move = new.pop(waiting.pop(), None)
            if move is not None:
                self._commits.move(move, tree, channel)
                waiting += move.parents[:-1]
        for commit in new.values():
            self._commits.version(commit, "trees", tree)

    def _folds(self) -> Iterator[Commit]:
        """Walk a ledger's own folds, past those of the ledgers that it took."""
        at = self._update.new
        while at is not None:
            commit = self._repo.commit(at)
            yield commit
            at = parts_of(self._repo, commit)[0]

    # --- bodies -------------------------------------------------------------------------------

    def _bodies(self) -> None:
        """See that each body is what its name says; those that were here are not read again."""
        assert self._update.new is not None  # noqa: S101  # a deletion was refused before
        old = self._update.old
        known = {path: e.oid for path, e in walk(self._repo, old)} if old else {}
        for path, entry in walk(self._repo, self._update.new):
            if known.get(path) == entry.oid:
                continue
            name = path.replace("/", "")
            if not entry.is_file or path != body_path(name) or len(name) != 64:
                raise RefusedError(f"`{path}` is no body")
            if Digest.of(self._repo.blob(entry.oid)).hex != name:
                raise RefusedError(f"the body `{path}` is not what its name says")


def explain(error: NotFoundError) -> RefusedError:
    """Say that a clone does not have what it would have to compare."""
    return RefusedError(error.message, at=error.at, hint="git fetch first, or pvc sync")
