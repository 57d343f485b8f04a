"""What may happen to refs of pvc's: the rules of the server, and the part that a clone can keep.

    trees, packs   forward only; each new commit is the next version, whole and in its form
    channels       forward only; each new commit is the record of a move to a version
    pins           forward only; old segments stay as they are, new ones are complete
    bodies         what a name says; may be rewritten, for a body can be forgotten

Rule 1: nothing is taken on trust from a pusher: every new commit is read and held against the one
before it, its parents, its tree and its bytes.
Rule 2: what exists is asked of the repository, not of the hook's arguments.
Rule 3: a refusal names the ref, what is wrong with it, and what to do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from pvc.dialects.base import read_pack
from pvc.dialects.manifest import parse_manifest
from pvc.errors import NotFoundError, PvcError, RefusedError, UnsupportedError
from pvc.launch.spool import body_path
from pvc.model.digest import Digest
from pvc.model.manifest import MANIFEST
from pvc.model.names import ChannelName, CommitId, PackName, TreeName
from pvc.ops.hook_ledger import check_fold
from pvc.store.entries import entry_problems
from pvc.store.repo import Kind
from pvc.store.versions import at_commit, pack_commits, sources, split_message, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.store.repo import Commit, Repository
    from pvc.store.versions import VersionInfo

LOCAL = "refs/pvc"
GUARDED = ("trees", "packs", "channels", "pins")
RESERVED = ".pvc/"
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


def check_push(repo: Repository, update: Update, prefix: str, rules: ServerRules) -> None:
    """Hold a pushed ref against the rules. Raises `RefusedError`; other refs are not ours."""
    if not update.ref.startswith(f"{prefix}/"):
        return
    kind, _, name = update.ref.removeprefix(f"{prefix}/").partition("/")
    try:
        _check_name(kind, name)
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
        case "pins" | "bodies":
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
        self._rules = rules

    def run(self, kind: str, name: str) -> None:
        match kind:
            case "trees" | "packs":
                assert self._update.new is not None  # noqa: S101  # a deletion was refused before
                self._must_pass_old(self._repo.first_parents(self._update.new))
                for commit in self._new():
                    self._version(commit, kind, name)
            case "channels":
                tree, _, channel = name.partition("/")
                self._must_pass_old(self._moves())
                for commit in takewhile(lambda move: move.id != self._update.old, self._moves()):
                    self._channel_move(commit, tree, channel)
            case "pins":
                for commit in self._new():
                    check_fold(self._repo, commit)
            case _:
                self._bodies()

    def _new(self) -> Iterator[Commit]:
        """Give every commit that this repository's ref does not have yet, newest first."""
        assert self._update.new is not None  # noqa: S101  # a deletion was refused before
        words = [self._update.new, *([f"^{self._update.old}"] if self._update.old else [])]
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

    # --- versions -----------------------------------------------------------------------------

    def _version(self, commit: Commit, kind: str, name: str) -> None:
        version = self._at(commit.id, kind, name)
        if len(commit.parents) > 2:
            raise RefusedError(f"`{version.label}` has {len(commit.parents)} parents")
        for parent in commit.parents:
            self._at(parent, kind, name)
        if commit.parents:
            before = self._at(commit.parents[0], kind, name)
            if before.number + 1 != version.number:
                raise RefusedError(
                    f"`{version.label}` follows `{before.label}`",
                    hint="versions are counted one by one; pvc supersede makes the next",
                )
        self._contents(version)
        self._signature(version.label, commit.id)

    def _at(self, oid: CommitId, kind: str, name: str) -> VersionInfo:
        version = at_commit(self._repo, oid)
        if version.id != oid or (version.kind, version.name) != (kind, name):
            raise RefusedError(f"`{oid.short}` is `{version.label}`, no version of `{name}`")
        return version

    def _contents(self, version: VersionInfo) -> None:
        """See that a version is whole: plain files, its manifest and lock, all in its form."""
        rows = [entry._replace(name=path) for path, entry in walk(self._repo, version.tree)]
        odd = [row.name for row in rows if not row.is_file]
        problems = [f"`{path}` is no plain file" for path in odd]
        problems += entry_problems([r for r in rows if not r.name.startswith(RESERVED)])
        if problems:
            raise RefusedError(f"`{version.label}` cannot hold this: {problems[0]}")
        files = sources(self._repo, version)
        source = files.get(MANIFEST)
        if source is None:
            raise RefusedError(f"`{version.label}` has no `{MANIFEST}`")
        manifest = parse_manifest(source.data)
        if (f"{manifest.kind}s", str(manifest.name)) != (version.kind, version.name):
            raise RefusedError(f"`{version.label}` holds the {manifest.kind} `{manifest.name}`")
        if version.kind == "trees":
            pack_commits(self._repo, version)
        try:
            read_pack(files)
        except UnsupportedError:
            return  # a form of a newer pvc: its bytes are whole, which is what can be said here

    # --- channels -----------------------------------------------------------------------------

    def _channel_move(self, commit: Commit, tree: str, channel: str) -> None:
        """See that a move has a record: which channel, from where, to which version, and why."""
        reason, trailers = split_message(commit.message)
        said = trailers.get("Pvc-Channel", "")
        if said not in (channel, f"{tree}/{channel}") or not reason:
            raise RefusedError(
                f"`{commit.id.short}` is no record of a move of `{tree}@{channel}`",
                hint="pvc promote writes one",
            )
        if not 1 <= len(commit.parents) <= 2:
            raise RefusedError(f"a move with {len(commit.parents)} parents")
        version = self._at(commit.parents[-1], "trees", tree)
        if version.tree != commit.tree:
            raise RefusedError(f"the move to `{version.label}` holds other bytes than the version")
        if len(commit.parents) == 2:
            before = split_message(self._repo.commit(commit.parents[0]).message)[1]
            if "Pvc-Channel" not in before:
                raise RefusedError("the move before is no move", hint="pvc promote writes one")
        if self._rules.promoters and commit.author.email not in self._rules.promoters:
            raise RefusedError(
                f"`{commit.author.email}` may not move `{tree}@{channel}`",
                hint="the server's `pvc.promoter` names who may",
            )
        self._signature(f"{tree}@{channel}", commit.id)

    def _signature(self, label: str, oid: CommitId) -> None:
        if self._rules.signed and self._repo.git.run("verify-commit", oid).code != 0:
            raise RefusedError(
                f"`{label}` has no signature that this server can verify",
                hint="git config commit.gpgSign true, with a key that the server knows",
            )

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
