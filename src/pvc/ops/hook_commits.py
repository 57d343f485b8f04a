"""One version, or one move of a channel, held against its parents, its trailers and its bytes.

A server's guard asks before it lets a commit in; `pvc verify` asks of those that are in.

Rule 1: a version is whole by itself: plain files, a manifest, text in its form, and a lock whose
packs are in it, byte for byte as their own versions are. A pack's version that is not in this
repository is no fault; it is noted in `absent`.
Rule 2: a move has a record: which channel, from where, to which version, and why; its bytes are
that version's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pvc.dialects.base import read_pack
from pvc.dialects.manifest import parse_manifest
from pvc.errors import NotFoundError, RefusedError, UnsupportedError
from pvc.model.manifest import MANIFEST
from pvc.model.toml_text import parse_toml
from pvc.store.channels import MOST_PARENTS, TRAILER
from pvc.store.entries import entry_problems, shown
from pvc.store.versions import at_commit, pack_commits, sources, split_message, walk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pvc.model.names import CommitId, ObjectId
    from pvc.model.pack import Pack
    from pvc.model.source import Sources
    from pvc.store.repo import Commit, Repository
    from pvc.store.versions import VersionInfo

RESERVED = ".pvc/"
LOCK = ".pvc/lock.toml"
PACKS = ".pvc/packs/"
LOCK_FORMAT = 1
LOCK_KEYS = ("format", "form", "rule", "packs")
LOCK_PACK_KEYS = ("version", "commit")


class CommitCheck:
    """Checks commits of one repository. Raises `RefusedError`, or what reading them raises."""

    def __init__(
        self, repo: Repository, *, promoters: tuple[str, ...] = (), must_be_signed: bool = False
    ) -> None:
        self._repo = repo
        self._promoters = promoters
        self._must_be_signed = must_be_signed
        self.absent: set[str] = set()
        """Versions of packs that locks name and this repository does not hold."""

    # --- versions -----------------------------------------------------------------------------

    def version(self, commit: Commit, kind: str, name: str) -> None:
        """See that a commit is the next version of `name`, and whole."""
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
        blobs = dict(walk(self._repo, version.tree))
        rows = [entry._replace(name=path) for path, entry in blobs.items()]
        for row in rows:
            if row.name.startswith(RESERVED) and row.name != LOCK and not _is_of_pack(row.name):
                raise RefusedError(
                    f"`{version.label}` holds `{shown(row.name)}`, which is not a part of a version"
                )
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
        numbers = {}
        if version.kind == "trees":
            packs = pack_commits(self._repo, version)
            numbers = self._packs(version, packs, {p: entry.oid for p, entry in blobs.items()})
        try:
            pack = read_pack(files)
        except UnsupportedError:
            return  # a form of a newer pvc: its bytes are whole, which is what can be said here
        if version.kind == "trees":
            _lock_agrees(version, files, pack, numbers)

    def _packs(
        self, version: VersionInfo, packs: Mapping[str, CommitId], blobs: Mapping[str, ObjectId]
    ) -> dict[str, int]:
        """See that the packs inside are those that the lock names; gives their numbers."""
        numbers = {}
        inside = {path.split("/")[2] for path in blobs if path.startswith(PACKS)}
        if inside != packs.keys():
            name = min(inside ^ packs.keys())
            where = "names no" if name in inside else "names a"
            raise RefusedError(f"the lock of `{version.label}` {where} pack `{name}`", at=LOCK)
        for name, oid in packs.items():
            try:
                pack = self._at(oid, "packs", name)
            except NotFoundError:
                self.absent.add(f"{name} {oid}")
                continue
            own = {p: e.oid for p, e in walk(self._repo, pack.tree) if not p.startswith(RESERVED)}
            folder = f"{PACKS}{name}/"
            held = {p.removeprefix(folder): o for p, o in blobs.items() if p.startswith(folder)}
            if own != held:
                path = min(p for p in own.keys() | held.keys() if own.get(p) != held.get(p))
                raise RefusedError(
                    f"`{version.label}` holds other bytes than `{pack.label}`", at=folder + path
                )
            numbers[name] = pack.number
        return numbers

    # --- channels -----------------------------------------------------------------------------

    def move(self, commit: Commit, tree: str, channel: str) -> None:
        """See that a move has a record: which channel, from where, to which version, and why."""
        names = (channel, f"{tree}/{channel}")
        reason, trailers = split_message(commit.message)
        if trailers.get(TRAILER) not in names or not reason:
            raise RefusedError(
                f"`{commit.id.short}` is no record of a move of `{tree}@{channel}`",
                hint="pvc promote writes one",
            )
        if not 1 <= len(commit.parents) <= MOST_PARENTS:
            raise RefusedError(f"a move with {len(commit.parents)} parents")
        version = self._at(commit.parents[-1], "trees", tree)
        if version.tree != commit.tree:
            raise RefusedError(f"the move to `{version.label}` holds other bytes than the version")
        for before in commit.parents[:-1]:
            if split_message(self._repo.commit(before).message)[1].get(TRAILER) not in names:
                raise RefusedError("the move before is no move", hint="pvc promote writes one")
        if self._promoters and commit.author.email not in self._promoters:
            raise RefusedError(
                f"`{commit.author.email}` may not move `{tree}@{channel}`",
                hint="the server's `pvc.promoter` names who may",
            )
        self._signature(f"{tree}@{channel}", commit.id)

    def _signature(self, label: str, oid: CommitId) -> None:
        if self._must_be_signed and self._repo.git.run("verify-commit", oid).code != 0:
            raise RefusedError(
                f"`{label}` has no signature that this server can verify",
                hint="git config commit.gpgSign true, with a key that the server knows",
            )


def _is_of_pack(path: str) -> bool:
    """Whether a file below `.pvc/` belongs to a pack."""
    return path.startswith(PACKS) and path.count("/") > PACKS.count("/")


def _lock_agrees(
    version: VersionInfo, files: Sources, pack: Pack, numbers: Mapping[str, int]
) -> None:
    """See that a lock's form, rule and pack numbers are those of what it stands beside."""
    source = files.get(LOCK)
    if source is None:
        raise RefusedError(f"`{version.label}` has no `{LOCK}`")
    lock: Any = parse_toml(source.data, LOCK)
    if lock.get("format") != LOCK_FORMAT:
        raise RefusedError(
            f"the lock of `{version.label}` is of format `{lock.get('format')}`",
            at=LOCK,
            hint="a newer pvc wrote it",
        )
    unknown = [key for key in lock if key not in LOCK_KEYS]
    unknown += [
        f"packs.{name}.{key}"
        for name, pack in lock.get("packs", {}).items()
        for key in pack
        if key not in LOCK_PACK_KEYS
    ]
    if unknown:
        raise RefusedError(
            f"the lock of `{version.label}` has the unknown key `{shown(min(unknown))}`",
            at=LOCK,
        )
    for name, number in numbers.items():
        said = lock["packs"][name].get("version")
        if said != number:
            raise RefusedError(
                f"the lock of `{version.label}` says `{name}@{said}`, but names {number}", at=LOCK
            )
    for key, own in (("form", pack.form), ("rule", pack.rule)):
        if lock.get(key) != own:
            raise RefusedError(
                f"the lock of `{version.label}` says {key} `{lock.get(key)}`, not `{own}`",
                at=LOCK,
            )
