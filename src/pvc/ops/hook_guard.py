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
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pvc.errors import NotFoundError, PvcError, RefusedError
from pvc.launch.spool import body_path
from pvc.model.digest import Digest
from pvc.model.names import ChannelName, CommitId, ObjectId, PackName, TreeName
from pvc.ops.hook_commits import CommitCheck
from pvc.ops.hook_ledger import check_fold
from pvc.store.bodies import FOLDERS
from pvc.store.entries import shown
from pvc.store.repo import Kind
from pvc.store.sound import check_sound
from pvc.store.taken import parts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pvc.store.repo import Commit, Repository

LOCAL = "refs/pvc"
LEDGERS = ("pins", "inbox")
GUARDED = ("trees", "packs", "channels", "pins")
_WRITER = re.compile(r"[0-9a-f]{32}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_HEX = "0123456789abcdef"
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
    asks_fsck: bool = True
    """Whether git's own fsck judges what comes in; a clone about to push leaves that to others."""

    @classmethod
    def of(cls, repo: Repository) -> ServerRules:
        """Read the settings."""
        return cls(repo.config_flag("pvc.requireSigned"), repo.config_all("pvc.promoter"))


CLONE_RULES = ServerRules(asks_fsck=False)
"""What a clone asks of its own push: signatures and people are for the server to judge."""


def ref_prefix(repo: Repository) -> str:
    """Say where refs of pvc's are in a repository that others push to."""
    return (repo.config("pvc.refPrefix") or LOCAL).rstrip("/")


def check_push(  # where it comes from, and what comes with it
    repo: Repository,
    update: Update,
    prefix: str,
    rules: ServerRules,
    *,
    holders: str = "",
    tips: Mapping[str, CommitId | None] | None = None,
) -> None:
    """Hold a pushed ref against the rules. Raises `RefusedError`; other refs are not ours.

    `holders` is where ledgers are that may have taken others, for a clone that is about to push.
    `tips` says where the refs of the same push will be.
    """
    if not update.ref.startswith(f"{prefix}/"):
        if _loosely(update.ref).startswith(f"{_loosely(prefix)}/"):
            raise RefusedError(
                f"some file systems take it for a ref below `{prefix}`",
                at=shown(update.ref),
                hint="choose another name",
            )
        return
    kind, _, name = update.ref.removeprefix(f"{prefix}/").partition("/")
    try:
        _check_name(kind, name)
        if update.new is None and kind in LEDGERS and _is_taken(repo, update, prefix, holders):
            return
        _check_forward(repo, update, may_rewrite=kind == "bodies")
        _PushCheck(repo, update, rules, tips or {}).run(kind, name)
    except RefusedError as error:
        raise RefusedError(error.message, at=error.at or update.ref, hint=error.hint) from None
    except PvcError as error:
        raise RefusedError(
            f"{error.at}: {error.message}" if error.at else error.message,
            at=update.ref,
            hint=error.hint,
        ) from None


def _loosely(ref: str) -> str:
    """Write a ref's name as a disk may compare it: without case, composition, unseen characters."""
    seen = "".join(char for char in ref if unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())


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


def symbolic_refs(repo: Repository, prefix: str) -> list[tuple[str, str]]:
    """List refs that lead to another one, where either is below `prefix`: nobody guards such.

    A push of the first moves the second, and a hook is told of the first alone.
    """
    said = repo.git.output("for-each-ref", "--format=%(refname) %(symref)").decode(errors="replace")
    pairs = (line.split(" ", 1) for line in said.split("\n") if not line.endswith(" ") and line)
    below = f"{_loosely(prefix)}/"
    return [
        (ref, target)
        for ref, target in pairs
        if _loosely(ref).startswith(below) or _loosely(target).startswith(below)
    ]


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

    def __init__(
        self,
        repo: Repository,
        update: Update,
        rules: ServerRules,
        tips: Mapping[str, CommitId | None],
    ) -> None:
        self._repo = repo
        self._update = update
        self._rules = rules
        self._tips = tips
        self._known: tuple[CommitId | None, ...] = ()
        """What else is here that the pushed commits stand on."""
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
        if self._rules.asks_fsck and self._update.new is not None:
            # last, for all that is here is within its bounds by now
            check_sound(self._repo, self._update.new, [self._update.old, *self._known])

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
        there = self._repo.ref(chain)
        newest = self._tips.get(chain) or there
        self._known += (there,)
        new = {commit.id: commit for commit in self._new(there)}
        if tip != self._update.old:
            new[tip] = self._repo.commit(tip)  # it may be a version that is there, so not new
        waiting = [tip]
        while waiting:
            move = new.pop(waiting.pop(), None)
            if move is not None:
                self._commits.move(move, tree, channel)
                self._must_be_in(newest, move.parents[-1], tree)
                waiting += move.parents[:-1]
        for commit in new.values():
            self._commits.version(commit, "trees", tree)

    def _must_be_in(self, newest: CommitId | None, version: CommitId, tree: str) -> None:
        """See that a version is in the tree's chain, or goes on from it: a fork is neither."""
        if newest is None or self._repo.is_ancestor(version, newest):
            return
        if not self._repo.is_ancestor(newest, version):
            raise RefusedError(
                f"`{version.short}` is not in the chain of `{tree}`",
                hint="pvc sync, and promote a version of the chain",
            )

    def _folds(self) -> Iterator[Commit]:
        """Walk a ledger's own folds, past those of the ledgers that it took."""
        at = self._update.new
        while at is not None:
            commit = self._repo.commit(at)
            yield commit
            at = parts_of(self._repo, commit)[0]

    # --- bodies -------------------------------------------------------------------------------

    def _bodies(self) -> None:
        """See that each body is what its name says, in every commit that is new."""
        assert self._update.new is not None  # noqa: S101  # a deletion was refused before
        old = self._update.old
        known = self._repo.commit(old).tree if old else None
        check = _BodyCheck(self._repo)
        for commit in self._new():
            if len(commit.parents) > 1:
                raise RefusedError(f"`{commit.id.short}` has {len(commit.parents)} parents")
            check.folder("", commit.tree, known)


class _BodyCheck:
    """Bodies of one push; each folder is looked at once at each place where it stands."""

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._seen: set[tuple[str, ObjectId]] = set()

    def folder(self, prefix: str, tree: ObjectId, known: ObjectId | None) -> None:
        """Check a folder of bodies, less what the one that was here has too."""
        if tree == known or (prefix, tree) in self._seen:
            return
        self._seen.add((prefix, tree))
        before = {row.name: row for row in self._repo.tree(known)} if known else {}
        is_last = len(prefix) == FOLDERS
        for row in self._repo.tree(tree):
            name, old = prefix + row.name, before.get(row.name)
            path = "/".join((*prefix, row.name))
            if row == old:
                continue
            if row.is_tree and not is_last and len(row.name) == 1 and row.name in _HEX:
                self.folder(name, row.oid, old.oid if old and old.is_tree else None)
            elif not row.is_file or path != body_path(name) or not _DIGEST.fullmatch(name):
                raise RefusedError(f"`{shown(path)}` is not a body")
            elif Digest.of(self._repo.blob(row.oid)).hex != name:
                raise RefusedError(f"the body `{path}` is not what its name says")


def explain(error: NotFoundError) -> RefusedError:
    """Say that a clone does not have what it would have to compare."""
    return RefusedError(error.message, at=error.at, hint="git fetch first, or pvc sync")
