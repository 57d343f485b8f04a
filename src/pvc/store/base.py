"""What both back ends share: everything that follows from raw objects, and what git itself answers.

Settings, revisions, the index and the user's identity are asked of git in both, for libgit2 reads
another set of files and variables. What is left to a back end is named at the end of the class.
"""

from __future__ import annotations

import fcntl
import os
import random
import re
import tempfile
import time
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from pvc.errors import CorruptError, MovedError, NotFoundError, UsageError, WriteError
from pvc.launch import disk
from pvc.launch.refs import BODIES, PINS
from pvc.model.bounds import BOUNDED, MAX_MESSAGE_BYTES, mebibytes
from pvc.model.names import CommitId, ObjectId
from pvc.store import landing, loose, objects
from pvc.store.child import failure
from pvc.store.repo import Commit, Entry, Kind, Person, RefMove

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pvc.store.child import Git
    from pvc.store.repo import Moment

_TRUE = frozenset(("", "true", "yes", "on"))
_FALSE = frozenset(("false", "no", "off"))
STALE_LOCK_SECONDS = 60
FOLD_LOCK_SECONDS = 5
_WAITS_SECONDS = (0.002, 0.004, 0.008, 0.016, 0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 1.0, 1.0)
_LANDINGS = 3
"""How often objects are written again that were gone once their ref had moved."""
_DEAD_LOCK_SECONDS = 1.0
_NOT_SIGNED = "nothing was moved; git signs with `user.signingKey`, in the form of `gpg.format`"
_WHO_ARE_YOU = (
    'git config --global user.name "Your Name"\ngit config --global user.email you@example.com'
)


def attempts() -> Iterator[bool]:
    """Yield for each try at something that another process may hold, and wait between them.

    The value says whether it is the last try. Waits are random, or processes that collided once
    would collide again.
    """
    for wait in _WAITS_SECONDS:
        yield False
        time.sleep(wait * random.uniform(0.5, 1.5))  # noqa: S311 - spreads load, hides nothing
    yield True


Settings = dict[str, list[str | None]]
"""Every value of every setting; null stands for a key without a value."""


def read_settings(git: Git) -> Settings:
    """Read the settings that hold in a repository, from all of git's places."""
    settings: Settings = {}
    for row in git.output("config", "--list", "-z").decode(errors="replace").split("\0")[:-1]:
        key, line_feed, value = row.partition("\n")
        settings.setdefault(key, []).append(value if line_feed else None)
    return settings


class _Unverified(AbstractContextManager[None]):
    """While it is open, objects are not hashed again; entered for every object of a walk."""

    __slots__ = ("_before", "_repo")

    def __init__(self, repo: BaseRepository) -> None:
        self._repo = repo
        self._before = True

    def __enter__(self) -> None:
        self._before = self._repo.verify(wanted=False)

    def __exit__(self, *_: object) -> None:
        self._repo.verify(wanted=self._before)


class BaseRepository(ABC):
    """A repository on disk; see `store.repo.Repository` for what each method promises."""

    def __init__(
        self,
        git: Git,
        *,
        common_dir: Path,
        is_bare: bool,
        object_format: str = "sha1",
        settings: Settings | None = None,
    ) -> None:
        if git.git_dir is None:
            raise ValueError("a repository's git knows its folder")
        self._git = git
        self.git_dir: Path = git.git_dir
        self.worktree: Path | None = git.worktree
        self.common_dir: Path = common_dir
        self.is_bare: bool = is_bare
        self.object_format: str = object_format
        self._settings: Settings = read_settings(git) if settings is None else settings
        self._verifies = True
        self._staged: dict[ObjectId, tuple[Kind, bytes]] = {}
        """What was written since a ref last moved; see `store.landing`."""
        self._turn_handle = -1

    @property
    def is_partial(self) -> bool:
        """Whether a remote has promised objects that need not be here."""
        return any(name.endswith(".promisor") for name in self._settings)

    @property
    def git(self) -> Git:
        """Starts git children in this repository, for what the protocol does not cover."""
        return self._git

    def unverified(self) -> AbstractContextManager[None]:
        """Read without hashing each object again."""
        return _Unverified(self)

    def verify(self, *, wanted: bool) -> bool:
        """Say whether objects are hashed as they are read; gives what was said before."""
        before, self._verifies = self._verifies, wanted
        return before

    # --- refs ---------------------------------------------------------------------------------

    def refs(self, prefix: str) -> tuple[tuple[str, CommitId], ...]:
        """List refs below `prefix`; a damaged one is an error, git would leave it out."""
        done = self._git.run("for-each-ref", "--format=%(objectname) %(refname)", prefix)
        broken = broken_ref(done.err)
        if broken:
            raise CorruptError(f"ref `{broken}` is damaged", at=str(self.common_dir / broken))
        if done.code != 0:
            raise failure(done, "for-each-ref")
        rows = (line.split(" ", 1) for line in done.out.decode().split("\n")[:-1])
        return tuple((name, objects.trusted_commit(oid)) for oid, name in rows)

    def head(self) -> CommitId | None:
        """Give the commit that is checked out; a damaged one is not as good as none."""
        oid = self.rev_parse("HEAD^{commit}")
        if oid is None and (named := self.rev_parse("HEAD")) is not None:
            raise CorruptError(f"`HEAD` names `{named}`, which is damaged or not here")
        return None if oid is None else CommitId(oid)

    def move_ref(
        self, name: str, old: CommitId | None, new: CommitId, *, message: str = ""
    ) -> None:
        """Set a ref to `new` if it is still `old`."""
        self.move_refs([RefMove(name, old, new, message)])

    def move_refs(self, moves: Sequence[RefMove]) -> None:
        """Bring what was written onto the disk, move refs to it, and read it back from there."""
        try:
            for move in moves:
                check_ref_name(move.name)
                if self.kind(move.new) is not Kind.COMMIT:
                    raise UsageError(
                        f"`{move.new}` is no commit, so `{move.name}` cannot point to it"
                    )
            self._land(moves, self._staged | self._unheld(moves))
        finally:
            self._staged = {}

    def delete_ref(self, name: str, old: CommitId) -> None:
        """Remove a ref if it is still `old`."""
        with self._turn([name, "packed-refs"]):
            self._remove_ref(name, old)

    def _land(self, moves: Sequence[RefMove], made: dict[ObjectId, tuple[Kind, bytes]]) -> None:
        others = {parent for oid in made for parent in self._parents(oid, made)} - made.keys()
        is_moved = False
        gone: list[ObjectId] = []
        for _ in range(_LANDINGS):
            with self._kept(made):
                if not is_moved:
                    with self._turn([move.name for move in moves]):
                        for move in moves:
                            self._set_ref(*move)
                    is_moved = True
                gone = landing.missing(self._git, made, others) if made else []
                if not gone:
                    self._see_that_it_holds(moves)
                    break
        else:
            self._take_back(moves)
            raise WriteError(
                f"object `{gone[0]}` was gone again when it was read back",
                at=self._object_folders[0],
                hint="nothing was moved; some program removes git's packs from under git",
            )
        if made:
            landing.release_dead(self._object_folders[0])

    @contextmanager
    def _kept(self, made: dict[ObjectId, tuple[Kind, bytes]]) -> Iterator[None]:
        if not made:
            yield
            return
        pack = landing.KeptPack(self._object_folders[0], made, self.object_format)
        try:
            pack.__enter__()
        except OSError as error:
            raise disk.refusal(error, self._object_folders[0], "cannot store objects") from None
        try:
            yield
        finally:
            pack.__exit__()

    def _see_that_it_holds(self, moves: Sequence[RefMove]) -> None:
        """See that each ref is where it was moved to, or further on."""
        for move in moves:
            now = self.ref(move.name)
            if now != move.new and not (now and self.is_ancestor(move.new, now)):
                raise MovedError(moved(move.name, move.new, now), hint="run it again")

    def _take_back(self, moves: Sequence[RefMove]) -> None:
        """Set refs back whose objects cannot be kept: none may name what is not there."""
        for name, old, new, message in moves:
            if old is None:
                self.delete_ref(name, new)
            else:
                with self._turn([name]):
                    self._set_ref(name, new, old, message)

    def _parents(
        self, oid: ObjectId, made: dict[ObjectId, tuple[Kind, bytes]]
    ) -> tuple[CommitId, ...]:
        kind, data = made[oid]
        return objects.parse_commit(oid, data).parents if kind is Kind.COMMIT else ()

    def _unheld(self, moves: Sequence[RefMove]) -> dict[ObjectId, tuple[Kind, bytes]]:
        """Read what new commits need, was not written now, and no ref is sure to hold.

        What stood at the same place in the ref's old commit or in a parent is held: by the ref as
        it was, and then by the ref as it is.
        """
        found: dict[ObjectId, tuple[Kind, bytes]] = {}
        for move in moves:
            waiting = [move.new]
            while waiting:
                oid = waiting.pop()
                if oid in self._staged:
                    commit = self.commit(oid)
                    before = (*commit.parents, *((move.old,) if move.old else ()))
                    held = [self._rows(parent) for parent in before]
                    self._read_unheld(commit.tree, held, found)
                    waiting += commit.parents
        return found

    def _read_unheld(
        self,
        tree: ObjectId,
        held: list[dict[str, Entry]],
        found: dict[ObjectId, tuple[Kind, bytes]],
    ) -> None:
        if tree not in self._staged:
            found[tree] = self.raw(tree)
        for entry in self.tree(tree):
            there = [rows[entry.name] for rows in held if entry.name in rows]
            if entry.is_gitlink or entry in there or entry.oid in found:
                continue
            if entry.is_tree:
                below = [self._rows(other.oid) for other in there if other.is_tree]
                self._read_unheld(entry.oid, below, found)
            elif entry.oid not in self._staged:
                found[entry.oid] = self.raw(entry.oid)

    def _rows(self, oid: ObjectId) -> dict[str, Entry]:
        """Read a folder's entries by name; of one that is not here or damaged nothing is held."""
        try:
            return {entry.name: entry for entry in self.tree(oid)}
        except (NotFoundError, CorruptError):
            return {}

    @contextmanager
    def _turn(self, names: Sequence[str]) -> Iterator[None]:
        """Let one process of pvc move refs at a time, and clear up after one that was killed.

        While it moves them, `pvc/moving` has their names. Who finds names there, and holds the
        lock, knows that their process is dead, and so is its git, which holds the lock too.
        """
        folder = self.common_dir / "pvc"
        if folder.exists() and not folder.is_dir():  # no folder of pvc's can be here, nor a note
            yield
            return
        try:
            folder.mkdir(exist_ok=True)
            handle = os.open(folder / "moving", os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise disk.refusal(error, str(folder), "cannot move a ref") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            for name in os.pread(handle, 1 << 20, 0).decode(errors="replace").split("\n")[:-1]:
                self._remove_dead_lock(name)
            os.ftruncate(handle, 0)
            os.pwrite(handle, "".join(f"{name}\n" for name in names).encode(), 0)
            self._turn_handle = handle
            yield
        except OSError as error:
            raise disk.refusal(error, str(folder / "moving"), "cannot move a ref") from None
        finally:
            self._turn_handle = -1
            with suppress(OSError):  # what stays there is names of refs that have no lock
                os.ftruncate(handle, 0)
            os.close(handle)

    def _remove_dead_lock(self, name: str) -> None:
        """Remove the lock that a dead process left on a ref.

        git itself locks such refs too, for milliseconds (`pack-refs`): a lock that stays the same
        for a second is not git's.
        """
        lock = self.common_dir / f"{name}.lock"
        if (self.common_dir / "reftable").is_dir():
            lock = self.common_dir / "reftable/tables.list.lock"
        end = time.monotonic() + _DEAD_LOCK_SECONDS
        first = _identity_of(lock)
        while first is not None and _identity_of(lock) == first:
            if time.monotonic() > end:
                lock.unlink(missing_ok=True)
                return
            time.sleep(0.02)

    def remove_stale_lock(self, name: str) -> bool:
        """Remove the lock that a killed process left on a ref of pvc's; true when there was one.

        These refs are locked for milliseconds. Looking and removing happen under a lock of their
        own, which ends with its holder, so that nobody removes a lock made after the look.
        """
        if not name.startswith("refs/pvc/"):
            return False
        own = name.startswith((f"{PINS}", f"{BODIES}"))  # nothing else than folds moves these
        handle = os.open(self.common_dir, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            lock = self.common_dir / f"{name}.lock"
            if time.time() - lock.stat().st_mtime < (
                FOLD_LOCK_SECONDS if own else STALE_LOCK_SECONDS
            ):
                return False
            lock.unlink()
        except OSError:
            return False  # it went away, or it is not ours to remove: the next try says so
        finally:
            os.close(handle)
        return True

    def _sync_ref(self, name: str) -> None:
        """Sync the folders that a new ref may have made."""
        folder = self.common_dir
        for part in ("", *name.split("/")[:-1]):
            folder /= part
            if folder.is_dir():  # with a reftable there are no such folders
                disk.sync_folder(str(folder))

    # --- objects ------------------------------------------------------------------------------

    @cached_property
    def _object_folders(self) -> tuple[str, ...]:
        own = dict(self._git.environment).get("GIT_OBJECT_DIRECTORY", "")
        return loose.object_folders(Path(own or self.common_dir / "objects"))

    def raw(self, oid: ObjectId) -> tuple[Kind, bytes]:
        """Read an object: a loose one ourselves, else as the back end does."""
        if (staged := self._staged.get(oid)) is not None:
            return staged
        path = loose.find(self._object_folders, oid)
        found = loose.read(path, oid, partial(objects.check_size, oid)) if path else None
        kind, data = found or self._packed(oid)
        if self._verifies and objects.object_id(kind, data, self.object_format) != oid:
            raise CorruptError(
                f"object `{oid}` is damaged: its bytes have another id", at=path or ""
            )
        return kind, data

    def _of_kind(self, oid: ObjectId, wanted: Kind) -> bytes:
        kind, data = self.raw(oid)
        if kind is not wanted:
            raise CorruptError(f"`{oid}` is a {kind}, not a {wanted}")
        return data

    def size(self, oid: ObjectId) -> int:
        """Ask an object's header how many bytes it has."""
        path = loose.find(self._object_folders, oid)
        found = loose.size_of(path, oid) if path else None
        return self._packed_header(oid)[1] if found is None else found

    def kind(self, oid: ObjectId) -> Kind:
        """Say what kind of object it is."""
        return self.raw(oid)[0]

    def blob(self, oid: ObjectId) -> bytes:
        """Read a file's bytes."""
        return self._of_kind(oid, Kind.BLOB)

    def tree(self, oid: ObjectId) -> tuple[Entry, ...]:
        """Read a folder's entries."""
        kind, data = self.raw(oid)
        if kind is Kind.COMMIT:
            return self.tree(objects.parse_commit(oid, data).tree)
        if kind is not Kind.TREE:
            raise CorruptError(f"`{oid}` is a {kind}, not a {Kind.TREE}")
        return objects.parse_tree(oid, data)

    def commit(self, oid: ObjectId) -> Commit:
        """Read a commit."""
        return objects.parse_commit(oid, self._of_kind(oid, Kind.COMMIT))

    def write_blob(self, data: bytes) -> ObjectId:
        """Take in a file's bytes."""
        return self._stage(Kind.BLOB, data)

    def write_tree(self, entries: Sequence[Entry]) -> ObjectId:
        """Take in a folder."""
        data = objects.encode_tree(entries)
        for entry in entries:
            if not (entry.is_gitlink or entry.oid in self._staged or self._exists(entry.oid)):
                raise NotFoundError(f"object `{entry.oid}` of `{entry.name}` is not here")
        return self._stage(Kind.TREE, data)

    def _stage(self, kind: Kind, data: bytes) -> ObjectId:
        oid = objects.object_id(kind, data, self.object_format)
        self._staged[oid] = (kind, data)
        return oid

    def write_commit(
        self,
        tree: ObjectId,
        parents: Sequence[CommitId],
        message: str,
        *,
        author: Person | None = None,
        identity: Person | None = None,
        moment: Moment | None = None,
        sign: bool | None = None,
    ) -> CommitId:
        """Take in a commit; git makes it where it is to be signed.

        Raises `UsageError` for a message that is too long to be read back.
        """
        if len(message.encode()) > MAX_MESSAGE_BYTES:
            most = mebibytes(MAX_MESSAGE_BYTES)
            raise UsageError(f"the message of a commit is larger than {most}", hint=BOUNDED)
        writer = self._identity("GIT_AUTHOR", author or identity, moment)
        committer = self._identity("GIT_COMMITTER", identity, moment)
        if sign is None:
            sign = identity is None and self.config_flag("commit.gpgSign")
        if sign:
            is_ours = identity is not None
            data = self._signed(tree, parents, message, writer, committer, is_alone=is_ours)
        else:
            data = objects.encode_commit(tree, parents, writer, committer, message)
        return objects.trusted_commit(self._stage(Kind.COMMIT, data))

    def _identity(self, prefix: str, person: Person | None, moment: Moment | None) -> str:
        """Ask git for `Name <email> seconds ±hhmm`; it knows settings, variables and clock."""
        more = {}
        if person is not None:
            more = {f"{prefix}_NAME": person.name, f"{prefix}_EMAIL": person.email}
        if moment is not None:
            more[f"{prefix}_DATE"] = f"@{moment.seconds} +0000"
        done = self._git.run("-c", "user.useConfigOnly=true", "var", f"{prefix}_IDENT", more=more)
        if done.code != 0:
            if "name" not in done.err and "email" not in done.err:
                raise failure(done, "var", UsageError)
            raise UsageError("git does not know who you are", hint=_WHO_ARE_YOU)
        return done.out.decode(errors="replace").removesuffix("\n")

    def _signed(  # what a commit says, and who is asked for the key
        self,
        tree: ObjectId,
        parents: Sequence[CommitId],
        message: str,
        author: str,
        committer: str,
        *,
        is_alone: bool,
    ) -> bytes:
        """Let git make and sign a commit, in a folder of objects that is thrown away."""
        words = ["-c", "i18n.commitEncoding=UTF-8", "commit-tree", "-S", tree]
        for parent in parents:
            words += ["-p", parent]
        with self.with_staged() as variables, tempfile.TemporaryDirectory(prefix="pvc-") as made:
            own, others = self._object_folders[0], variables["GIT_ALTERNATE_OBJECT_DIRECTORIES"]
            folders = {
                "GIT_OBJECT_DIRECTORY": made,
                "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.pathsep.join((own, others)),
            }
            more = {
                **folders,
                **_identity_variables("AUTHOR", author),
                **_identity_variables("COMMITTER", committer),
            }
            run = self._git.run_alone if is_alone else self._git.run
            done = run(*words, data=message.encode(), more=more)
            if done.code != 0:
                error = failure(done, "commit-tree", WriteError)
                raise WriteError(error.message, hint=error.hint or _NOT_SIGNED)
            oid = done.out.decode().removesuffix("\n")
            return self._git.output("cat-file", "commit", oid, more=folders)

    @contextmanager
    def with_staged(self) -> Iterator[dict[str, str]]:
        """Give the variables of a git child that is to see what was written and is not stored."""
        with tempfile.TemporaryDirectory(prefix="pvc-") as scratch:
            packed = landing.encode_pack(self._staged, self.object_format)
            folder = Path(scratch, "pack")
            folder.mkdir()
            (folder / "pack-staged.pack").write_bytes(packed.pack)
            (folder / "pack-staged.idx").write_bytes(packed.idx)
            others = os.environ.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "")
            folders = (scratch, *((others,) if others else ()))
            yield {"GIT_ALTERNATE_OBJECT_DIRECTORIES": os.pathsep.join(folders)}

    # --- questions ----------------------------------------------------------------------------

    def rev_parse(self, text: str) -> ObjectId | None:
        """Resolve `text` as git does."""
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", text)
        done = self._git.run(*words) if "\0" not in text else None
        if done is None or done.code != 0:
            return None
        return ObjectId(done.out.decode().removesuffix("\n"))

    def is_ancestor(self, old: CommitId, new: CommitId) -> bool:
        """Say whether `old` is `new` or reachable from it."""
        if old == new:
            return True
        done = self._git.run("merge-base", "--is-ancestor", old, new)
        if done.code > 1:
            raise failure(done, "merge-base", NotFoundError)
        return done.code == 0

    def first_parents(self, tip: CommitId) -> Iterator[Commit]:
        """Walk `tip`, its first parent, and so on."""
        ends = self.shallow()
        at: CommitId | None = tip
        while at is not None:
            commit = self.commit(at)
            yield commit
            at = commit.parents[0] if commit.parents and at not in ends else None

    def shallow(self) -> frozenset[CommitId]:
        """Name the commits whose parents this clone was not given."""
        try:
            listing = (self.common_dir / "shallow").read_text("ascii")
            return frozenset(CommitId(line) for line in listing.split())
        except FileNotFoundError:
            return frozenset()
        except (UnicodeDecodeError, UsageError):
            at = str(self.common_dir / "shallow")
            raise CorruptError(
                "git's list of where a shallow clone ends is damaged", at=at
            ) from None

    def config(self, name: str) -> str | None:
        """Read a setting's last value."""
        values = self.config_all(name)
        return values[-1] if values else None

    def config_all(self, name: str) -> tuple[str, ...]:
        """Read every value of a setting; one without a value reads as empty."""
        return tuple(value or "" for value in self._settings.get(_setting_key(name), ()))

    def config_flag(self, name: str, *, default: bool = False) -> bool:
        """Read a setting as git reads booleans: no value at all means true, an empty one false."""
        values = self._settings.get(_setting_key(name), [])
        if not values:
            return default
        word = "true" if values[-1] is None else values[-1].lower() or "false"
        if word in _TRUE or word in _FALSE:
            return word in _TRUE
        if word.lstrip("+-").isdecimal():
            return int(word) != 0
        raise UsageError(f"`{name}` is `{word}`, not true or false")

    def index(self) -> tuple[Entry, ...]:
        """List what is staged."""
        entries = []
        for row in self._git.output("ls-files", "--stage", "-z").split(b"\0")[:-1]:
            head, _, path = row.partition(b"\t")
            mode, oid, stage = head.decode().split(" ")
            name = path.decode(errors="surrogateescape")
            if stage != "0":
                raise UsageError(
                    f"`{name}` is in conflict", hint="finish the merge, then `git add` it"
                )
            entries.append(Entry(name, int(mode, 8), objects.trusted(oid)))
        return tuple(entries)

    # --- left to a back end -------------------------------------------------------------------

    @abstractmethod
    def close(self) -> None:
        """End what runs beside us."""

    @abstractmethod
    def ref(self, name: str) -> CommitId | None:
        """Read where a ref points now."""

    @abstractmethod
    def _set_ref(self, name: str, old: CommitId | None, new: CommitId, message: str) -> None:
        """Set a ref to `new` if it is still `old`; its objects are on the disk."""

    @abstractmethod
    def _remove_ref(self, name: str, old: CommitId) -> None:
        """Remove a ref if it is still `old`."""

    @abstractmethod
    def _exists(self, oid: ObjectId) -> bool:
        """Say whether an object is here."""

    @abstractmethod
    def _packed(self, oid: ObjectId) -> tuple[Kind, bytes]:
        """Read an object that is not loose."""

    @abstractmethod
    def _packed_header(self, oid: ObjectId) -> tuple[Kind, int]:
        """Read kind and size of an object that is not loose."""


def _identity_variables(which: str, line: str) -> dict[str, str]:
    person, _, when = line.rpartition("> ")
    name, _, email = person.rpartition(" <")
    return {
        f"GIT_{which}_NAME": name,
        f"GIT_{which}_EMAIL": email,
        f"GIT_{which}_DATE": f"@{when}",
    }


def _identity_of(path: Path) -> tuple[int, int] | None:
    """Tell one file of a name from the next; null where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _setting_key(name: str) -> str:
    """Spell a setting as `git config --list` does: only the middle part keeps its case."""
    first, dot, rest = name.partition(".")
    middle, last_dot, last = rest.rpartition(".")
    return f"{first.lower()}{dot}{middle}{last_dot}{last.lower()}"


def broken_ref(stderr: str) -> str:
    """Find the ref that git says it leaves out because it is damaged."""
    _, found, rest = stderr.partition("ignoring broken ref ")
    return rest.split("\n", 1)[0].strip() if found else ""


_FORBIDDEN_IN_REFS = re.compile(
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(/|$)|\.$|/$|^[./]"
)


def check_ref_name(name: str) -> None:
    """Refuse what `git check-ref-format` refuses."""
    if "/" not in name or _FORBIDDEN_IN_REFS.search(name):
        raise UsageError(f"`{name}` cannot be the name of a ref")


def moved(name: str, old: CommitId | None, now: CommitId | None) -> str:
    """Say how a ref moved under us."""
    there = f"is at `{now}`" if now else "does not exist"
    wanted = f"not at `{old}`" if old else "so it cannot be created"
    return f"`{name}` {there}, {wanted}"
